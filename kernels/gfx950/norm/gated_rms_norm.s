// Netra gfx950 kernel: gated RMS normalisation per head.
// SPDX-License-Identifier: MIT
//
// What is computed, the constants and the schedule stand in include/gated_norm.inc; and
//   NETRA_M          tokens
//   NETRA_EPSILON    bits of an f32
// x, gate and result are [M, H * N], so that all rows follow one another.

.include "include/gated_norm.inc"

netra_require (NETRA_M >= 1 && NETRA_M * NETRA_H * NETRA_H <= 0xffffffff && NETRA_M * NETRA_H * NETRA_N <= 0x7fffffff), "NETRA_M * NETRA_H * NETRA_H must be below 2^32 and x smaller than 4 GiB"
netra_require (NETRA_GRID_X == (NETRA_M * NETRA_H + NETRA_WAVES * NETRA_ROWS_PER_WAVE - 1) / (NETRA_WAVES * NETRA_ROWS_PER_WAVE) && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be ceil(NETRA_M * NETRA_H / (NETRA_WAVES * NETRA_ROWS_PER_WAVE)) x 1 x 1"

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_GATE, NETRA_ARG_GATE
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  .if NETRA_QUANTIZE
  netra_load_pointer S_SCALE, NETRA_ARG_RESULT_SCALE
  .endif
  .if NETRA_HAS_ROUNDED
  netra_load_pointer S_ROUNDED, NETRA_ARG_ROUNDED
  .endif
  netra_load_u32 S_ROWS, NETRA_ARG_ROWS
  .if NETRA_SCALE_GROUP_MAJOR
  netra_load_u32 S_TOKENS, NETRA_ARG_TOKENS
  .endif
  gated_identity
  s_movk_i32 s[S_TMP], 2*NETRA_N
  v_mul_lo_u32 v[V_OFFSET], v[V_ROW], s[S_TMP]
  v_add_u32 v[V_OFFSET], v[V_COLUMN], v[V_OFFSET]
  v_mov_b32 v[V_GATE_OFFSET], v[V_OFFSET]
  v_mov_b32 v[V_RESULT_OFFSET], v[V_OFFSET]
  .if NETRA_SCALE_GROUP_MAJOR
    gated_token
    gated_scale_group_major
  .elseif NETRA_QUANTIZE
    v_lshrrev_b32 v[V_SCALE_OFFSET], 8, v[V_OFFSET]
    v_lshlrev_b32 v[V_SCALE_OFFSET], 2, v[V_SCALE_OFFSET]
  .endif
  gated_load
  s_mov_b32 s[S_EPSILON], NETRA_EPSILON
  gated_finish
  netra_kernel_end \name
.endm
