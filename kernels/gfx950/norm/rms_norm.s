// Netra gfx950 kernel: RMS normalisation of bf16 rows.
// SPDX-License-Identifier: MIT
//
//   s = x + residual (f32; x alone without residual), sum = bf16(s)
//   n = bf16( (s * rsqrt(mean(s^2) + epsilon)) * (weight + weight_offset) )
//   quantized: rounded = n; per 128 columns, scale = max(max |n|, 1e-10) / 448 and
//   result = fp8(n / scale)
// s is used as f32, not re-rounded. The quantized form starts from the bf16 n, so
// that it equals the unquantized form followed by quantize_blocks.
//
// Constants: those of include/norm.inc, which also states the schedule, and
//   NETRA_M          rows, one work-group each
//   NETRA_EPSILON    bits of an f32
//
// Arithmetic. Work-item: s^2 by fma in ascending order; lanes: netra_wave_reduce;
// waves: netra_workgroup_sum. v_rsq_f32 and v_rcp_f32 (of N) are within 1 ulp. The sum
// of squares is f32: it overflows when |s| reaches about 2^64, and the row becomes 0.

.include "include/norm.inc"

netra_require (NETRA_GRID_X == NETRA_M), "the grid must be NETRA_M x 1 x 1"
netra_require (NETRA_STATIC_LDS == 4 * NETRA_WAVES), "NETRA_STATIC_LDS must be 4 * NETRA_WAVES bytes"

.set NORM_BIAS, 0
.set NORM_RUNTIME, 0
.set NORM_GATED, 0

.macro netra_template name
  netra_kernel_begin \name
  norm_pointers
  norm_identity
  netra_wait_scalar
  norm_rows 2*NETRA_N, 2*NETRA_N
  norm_load_all
  s_mov_b32 s[S_EPSILON], NETRA_EPSILON
  norm_gather norm_squares
  norm_reduce 0
  norm_deviation
  norm_finish
  netra_kernel_end \name
.endm
