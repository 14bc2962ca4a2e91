// Netra gfx950 kernel: gated RMS normalisation of wide heads.
// SPDX-License-Identifier: MIT
//
//   y = bf16( ((x * rsqrt(mean(x^2) + epsilon)) * (weight + weight_offset)) * act(gate) )
// over rows of NETRA_N columns, one per head and token: row = token * H + head, and x, gate
// and result are [M, H * N], so that all rows follow one another. Quantized: rounded = y;
// per 128 columns, scale = max(max |y|, 1e-10) / 448 and result = fp8(y / scale). Heads
// narrower than a wave's 512 columns are gated_rms_norm.s's.
//
// Constants: those of include/norm.inc, which also states the schedule, and
//   NETRA_M          tokens
//   NETRA_H          heads of a token; a work-group for each
//   NETRA_EPSILON    bits of an f32
//   NETRA_ACTIVATION 1 (silu) or 5 (sigmoid)
// Argument rows, with group-major scales, is the number of tokens.
//
// Arithmetic. As rms_norm.s; then activation and product in f32, one rounding.

.include "include/norm.inc"

netra_require (NETRA_H >= 1), "NETRA_H must be at least 1"
netra_require (NETRA_M >= 1 && NETRA_M * NETRA_H * NETRA_H <= 0xffffffff), "NETRA_M * NETRA_H * NETRA_H must be below 2^32: rows are divided by a multiplication"
netra_require (NETRA_HAS_RESIDUAL == 0), "NETRA_HAS_RESIDUAL must be 0: heads have no residual"
netra_require (NETRA_ACTIVATION == 1 || NETRA_ACTIVATION == 5), "NETRA_ACTIVATION must be 1 (silu) or 5 (sigmoid)"
netra_require (NETRA_GRID_X == NETRA_M * NETRA_H), "the grid must be NETRA_M * NETRA_H x 1 x 1"
netra_require (NETRA_STATIC_LDS == 4 * NETRA_WAVES), "NETRA_STATIC_LDS must be 4 * NETRA_WAVES bytes"

.set NORM_BIAS, 0
.set NORM_RUNTIME, 0
.set NORM_GATED, 1

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
