// Netra gfx950 kernel: residual add, RMS normalisation and FP8 groups, as a contract.
// SPDX-License-Identifier: MIT
//
// The arithmetic of rms_norm.s behind kernel arguments that other code relies on: input,
// residual, weight, out (bf16), residual_out, out_fp8, out_scale [N/128, rows]; then u32
// rows, cols, in_stride and res_stride (elements from row to row of the inputs); f32
// epsilon and 1 / 448; two pointers nobody reads. cols is NETRA_N. LDS is dynamic.
//
// Constants: those of include/norm.inc, and NETRA_M rows.

.include "include/norm.inc"

netra_require (NETRA_WAVES == 16 && NETRA_HAS_RESIDUAL && NETRA_HAS_SUM && NETRA_QUANTIZE && NETRA_HAS_ROUNDED && NETRA_SCALE_GROUP_MAJOR), "the contract is 16 waves, a residual, FP8 and bf16 results, the sum, and group-major scales"
netra_require (NETRA_GRID_X == NETRA_M), "the grid must be NETRA_M x 1 x 1"
netra_require (NETRA_STATIC_LDS == 0 && NETRA_DYNAMIC_LDS >= 4 * NETRA_WAVES), "NETRA_STATIC_LDS must be 0 and NETRA_DYNAMIC_LDS at least 4 * NETRA_WAVES bytes"

.set NORM_BIAS, 0
.set NORM_RUNTIME, 1
.set NORM_GATED, 0

.set S_STRIDES, 30                               // in, residual

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_INPUT
  netra_load_pointer S_RESIDUAL, NETRA_ARG_RESIDUAL
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_load_pointer S_ROUNDED, NETRA_ARG_OUT
  netra_load_pointer S_SUM, NETRA_ARG_RESIDUAL_OUT
  netra_load_pointer S_RESULT, NETRA_ARG_OUT_FP8
  netra_load_pointer S_SCALE, NETRA_ARG_OUT_SCALE
  netra_load_u32 S_ROWS, NETRA_ARG_ROWS
  netra_load_pointer S_STRIDES, NETRA_ARG_IN_STRIDE
  netra_load_u32 S_EPSILON, NETRA_ARG_EPSILON
  netra_load_u32 S_INV_448, NETRA_ARG_INV448
  norm_identity
  netra_wait_scalar
  s_lshl_b32 s[S_STRIDES], s[S_STRIDES], 1       // elements of bf16 to bytes
  s_lshl_b32 s[S_STRIDES+1], s[S_STRIDES+1], 1
  norm_rows s[S_STRIDES], s[S_STRIDES+1]
  norm_load_all
  norm_gather norm_squares
  norm_reduce 0
  norm_deviation
  norm_finish
  netra_kernel_end \name
.endm
