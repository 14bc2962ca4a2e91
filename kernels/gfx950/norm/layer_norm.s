// Netra gfx950 kernel: layer normalisation of bf16 rows.
// SPDX-License-Identifier: MIT
//
//   s = x + residual (f32; x alone without residual), sum = bf16(s)
//   d = s - mean(s)
//   n = bf16( (d * rsqrt(mean(d^2) + epsilon)) * (weight + weight_offset) + bias )
//   quantized: rounded = n; per 128 columns, scale = max(max |n|, 1e-10) / 448 and
//   result = fp8(n / scale)
// s is used as f32, not re-rounded.
//
// Constants: those of include/norm.inc, which also states the schedule, and
//   NETRA_M          rows, one work-group each
//   NETRA_EPSILON    bits of an f32
//   NETRA_HAS_BIAS   1: bias, of the weight's type, is read
//
// Arithmetic. Two passes over the registers, mean first: no difference of large squares.
// Work-item: sums in ascending order, d^2 by fma; lanes: netra_wave_reduce; waves:
// netra_workgroup_sum. v_rsq_f32 and v_rcp_f32 (of N) are within 1 ulp.

.include "include/norm.inc"

netra_require (NETRA_HAS_BIAS == 0 || NETRA_HAS_BIAS == 1), "NETRA_HAS_BIAS must be 0 or 1"
netra_require (NETRA_GRID_X == NETRA_M), "the grid must be NETRA_M x 1 x 1"
netra_require (NETRA_STATIC_LDS == 8 * NETRA_WAVES), "NETRA_STATIC_LDS must be 8 * NETRA_WAVES bytes"

.set NORM_BIAS, NETRA_HAS_BIAS
.set NORM_RUNTIME, 0
.set NORM_GATED, 0

// The ACCUMULATE of the sum, in ascending order.
.macro layer_norm_sum v, first
  .set norm_e, 0
  .rept NETRA_VEC
    .if (\first) && norm_e == 0
      v_mov_b32 v[V_STAT], v[\v]
    .else
      v_add_f32 v[V_STAT], v[V_STAT], v[\v+norm_e]
    .endif
    .set norm_e, norm_e + 1
  .endr
.endm

.macro netra_template name
  netra_kernel_begin \name
  norm_pointers
  norm_identity
  netra_wait_scalar
  norm_rows 2*NETRA_N, 2*NETRA_N
  norm_load_all
  s_mov_b32 s[S_EPSILON], NETRA_EPSILON
  norm_gather layer_norm_sum
  norm_reduce 0
  // d; waves without a vector in the last round keep their zeros.
  .set norm_i, 0
  .rept NORM_ITERS
    norm_round_begin norm_i
    .set norm_e, 0
    .rept NETRA_VEC
      v_sub_f32 v[V_S+NETRA_VEC*norm_i+norm_e], v[V_S+NETRA_VEC*norm_i+norm_e], v[V_STAT]
      .set norm_e, norm_e + 1
    .endr
    norm_round_end norm_i
    .set norm_i, norm_i + 1
  .endr
  .set norm_i, 0
  .rept NORM_ITERS
    norm_squares V_S+NETRA_VEC*norm_i, (norm_i == 0)
    .set norm_i, norm_i + 1
  .endr
  norm_reduce 4*NETRA_WAVES
  norm_deviation
  norm_finish
  netra_kernel_end \name
.endm
