// Netra gfx950 kernel: bf16 rows to FP8 E4M3 with one f32 scale per 128 columns.
// SPDX-License-Identifier: MIT
//
//   scale = max(max |x|, 1e-10) * f32(1 / 448), result = fp8(x * (1 / scale))
// where 1 / scale is within 1 ulp (v_rcp_f32 and one Newton step). NaN elements do not
// take part in the maximum and become NaN codes; an infinite element makes its group's
// scale infinite and all its codes NaN.
//
// Constants
//   NETRA_M, K       rows and columns, K a multiple of 128; the machine code does
//                    not depend on M
//   NETRA_SCALE_GROUP_MAJOR  1: scale of row m, group g at g * rows + m, with the
//                    argument rows; 0: at m * K / 128 + g
//   NETRA_WAVES      waves of a work-group
//
// Schedule. Work-group (m, c) takes columns 512 WAVES c .. of row m, eight per
// work-item; a group of 128 columns is 16 lanes.

.include "include/rows.inc"

netra_require (NETRA_M >= 1), "NETRA_M must be at least 1"
netra_require (NETRA_K > 0 && NETRA_K % 128 == 0), "NETRA_K must be a multiple of 128"
netra_require (NETRA_SCALE_GROUP_MAJOR == 0 || NETRA_SCALE_GROUP_MAJOR == 1), "NETRA_SCALE_GROUP_MAJOR must be 0 or 1"
netra_require (NETRA_WAVES == 1 || NETRA_WAVES == 4), "NETRA_WAVES must be 1 or 4"
netra_require (NETRA_BLOCK_X == 64 * NETRA_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 * NETRA_WAVES x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M && NETRA_GRID_Y == (NETRA_K + 512 * NETRA_WAVES - 1) / (512 * NETRA_WAVES) && NETRA_GRID_Z == 1), "the grid must be NETRA_M x ceil(NETRA_K / (512 * NETRA_WAVES)) x 1"
netra_require (NETRA_STATIC_LDS == 0), "NETRA_STATIC_LDS must be 0"

.set S_ROW, 2                                    // work-group id x
.set S_COLUMNS, 3                                // work-group id y
.set S_X, 6
.set S_RESULT, 8
.set S_SCALE, 10
.set S_TMP, 12
.set S_ROWS, 14
.set V_COLUMN, 0
.set V_OFFSET, 1
.set V_T0, 2
.set V_T1, 3
.set V_T2, 4
.set V_X, 8                                      // 4 dwords
.set V_VALUE, 12                                 // 8 values

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  netra_load_pointer S_SCALE, NETRA_ARG_RESULT_SCALE
  .if NETRA_SCALE_GROUP_MAJOR
  netra_load_u32 S_ROWS, NETRA_ARG_ROWS
  .endif
  netra_columns8 V_COLUMN, V_OFFSET, NETRA_WAVES, NETRA_K, S_TMP, .Lquantize_end_\name, S_COLUMNS
  netra_wait_scalar
  netra_row_pointer S_X, S_ROW, 2*NETRA_K, S_TMP
  global_load_dwordx4 v[V_X:V_X+3], v[V_OFFSET], s[S_X:S_X+1]
  netra_row_pointer S_RESULT, S_ROW, NETRA_K, S_TMP
  .if NETRA_SCALE_GROUP_MAJOR
  netra_row_pointer S_SCALE, S_ROW, 4, S_TMP
  .else
  netra_row_pointer S_SCALE, S_ROW, NETRA_K/32, S_TMP
  .endif
  netra_wait_memory 0
  netra_bf16_unpack_run V_VALUE, V_X, 4
  .if NETRA_SCALE_GROUP_MAJOR
  netra_store_fp8_group8 V_VALUE, V_COLUMN, S_RESULT, S_SCALE, V_T0, V_T1, V_T2, S_ROWS
  .else
  netra_store_fp8_group8 V_VALUE, V_COLUMN, S_RESULT, S_SCALE, V_T0, V_T1, V_T2
  .endif
.Lquantize_end_\name:
  netra_kernel_end \name
.endm
