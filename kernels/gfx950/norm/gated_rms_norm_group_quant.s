// Netra gfx950 kernel: gated RMS normalisation per head with FP8 groups, as a contract.
// SPDX-License-Identifier: MIT
//
// The arithmetic of gated_rms_norm.s behind kernel arguments that other code relies on:
// x, out (bf16), weight, gate, out_fp8, out_scale [heads, tokens]; then u32 in_stride and
// out_stride (elements from row to row), gate_token_stride and gate_head_stride, rows,
// heads, tokens; f32 epsilon and 1 / 448; two pointers nobody reads. heads is NETRA_H.
//
// Constants: those of include/gated_norm.inc, and NETRA_M tokens. A work-group is one
// wave; its rows belong to one token.

.include "include/gated_norm.inc"

netra_require (NETRA_N == 128 && NETRA_WAVES == 1 && NETRA_QUANTIZE && NETRA_HAS_ROUNDED && NETRA_SCALE_GROUP_MAJOR), "the contract is one wave, heads of 128, FP8 and bf16 results and group-major scales"
netra_require (NETRA_H % NETRA_ROWS_PER_WAVE == 0), "NETRA_H must be a multiple of NETRA_ROWS_PER_WAVE"
netra_require (NETRA_M >= 1 && NETRA_M * NETRA_H * NETRA_H <= 0xffffffff && NETRA_M * NETRA_H * NETRA_N <= 0x7fffffff), "NETRA_M * NETRA_H * NETRA_H must be below 2^32 and x smaller than 4 GiB"
netra_require (NETRA_GRID_X == NETRA_M * NETRA_H / NETRA_ROWS_PER_WAVE && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_M * NETRA_H / NETRA_ROWS_PER_WAVE x 1 x 1"

.set S_STRIDES, 28                               // in, out, gate token, gate head

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_ROUNDED, NETRA_ARG_OUT
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_load_pointer S_GATE, NETRA_ARG_GATE
  netra_load_pointer S_RESULT, NETRA_ARG_OUT_FP8
  netra_load_pointer S_SCALE, NETRA_ARG_OUT_SCALE
  s_load_dwordx4 s[S_STRIDES:S_STRIDES+3], s[0:1], NETRA_ARG_IN_STRIDE
  netra_load_u32 S_ROWS, NETRA_ARG_ROWS
  netra_load_u32 S_TOKENS, NETRA_ARG_TOKENS
  netra_load_u32 S_EPSILON, NETRA_ARG_EPSILON
  netra_load_u32 S_INV_448, NETRA_ARG_INV448
  gated_identity
  gated_token
  .set gated_i, 0
  .rept 4                                        // elements of bf16 to bytes
    s_lshl_b32 s[S_STRIDES+gated_i], s[S_STRIDES+gated_i], 1
    .set gated_i, gated_i + 1
  .endr
  v_mul_lo_u32 v[V_OFFSET], v[V_ROW], s[S_STRIDES]
  v_mul_lo_u32 v[V_RESULT_OFFSET], v[V_ROW], s[S_STRIDES+1]
  v_mul_lo_u32 v[V_GATE_OFFSET], v[V_TOKEN], s[S_STRIDES+2]
  v_mul_lo_u32 v[V_T0], v[V_HEAD], s[S_STRIDES+3]
  v_add_u32 v[V_OFFSET], v[V_COLUMN], v[V_OFFSET]
  v_add_u32 v[V_RESULT_OFFSET], v[V_COLUMN], v[V_RESULT_OFFSET]
  v_add3_u32 v[V_GATE_OFFSET], v[V_GATE_OFFSET], v[V_T0], v[V_COLUMN]
  gated_scale_group_major
  gated_load
  gated_finish s[S_INV_448]
  netra_kernel_end \name
.endm
