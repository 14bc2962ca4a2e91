// Netra gfx950 kernel: gated activation of bf16 rows.
// SPDX-License-Identifier: MIT
//
//   h = bf16( a * up ), a = activation(gate) or bf16( activation(gate) )
//   quantized: per 128 columns, scale = max(max |h|, 1e-10) / 448 and
//   result = fp8(h / scale), from the bf16 h; rounded = h
//
// Constants
//   NETRA_M, N       rows and output columns, N a multiple of 128; the machine
//                    code does not depend on M
//   NETRA_ACTIVATION 1 (silu), 2 (gelu erf), 3 (gelu tanh), 5 (sigmoid)
//   NETRA_ROUND_ACTIVATION  1: the activation is rounded to bf16 before the product
//   NETRA_PACKED     1: one operand [M, 2 N] with [gate | up] in each row; 0: two
//   NETRA_QUANTIZE   1: result is FP8 and result_scale is stored
//   NETRA_SCALE_GROUP_MAJOR  1: scale of row m, group g at g * rows + m, with the
//                    argument rows; 0: at m * N / 128 + g
//   NETRA_ROUNDED    1: h is stored beside the FP8 result
//   NETRA_RUNTIME    1: the arguments width and inv448 stand for N and for 1 / 448, as a
//                    contract has them; width is a multiple of 128, and columns that the
//                    grid does not reach are not computed. 0: N and 1 / 448
//   NETRA_WAVES      waves of a work-group
// The null pointers of a contract are not read.
//
// Schedule. Work-group (m, c) takes columns 512 WAVES c .. of row m, eight per
// work-item: two 16-byte loads, one wait, one store. Work-items past the row do nothing;
// groups of 128 columns are 16 lanes and never cut.
//
// Arithmetic. activation and product in f32, one rounding to bf16 (and that of
// the activation, when asked for).

.include "include/rows.inc"
.include "include/activation.inc"

netra_require (NETRA_M >= 1), "NETRA_M must be at least 1"
netra_require (NETRA_N > 0 && NETRA_N % 128 == 0), "NETRA_N must be a multiple of 128"
netra_require (NETRA_ACTIVATION >= 1 && NETRA_ACTIVATION <= 5 && NETRA_ACTIVATION != 4), "NETRA_ACTIVATION must be 1 (silu), 2 (gelu erf), 3 (gelu tanh) or 5 (sigmoid)"
netra_require (NETRA_PACKED == 0 || NETRA_PACKED == 1), "NETRA_PACKED must be 0 or 1"
netra_require (NETRA_QUANTIZE == 0 || NETRA_QUANTIZE == 1), "NETRA_QUANTIZE must be 0 or 1"
netra_require (NETRA_ROUND_ACTIVATION == 0 || NETRA_ROUND_ACTIVATION == 1), "NETRA_ROUND_ACTIVATION must be 0 or 1"
netra_require (NETRA_SCALE_GROUP_MAJOR == 0 || (NETRA_SCALE_GROUP_MAJOR == 1 && NETRA_QUANTIZE)), "NETRA_SCALE_GROUP_MAJOR must be 0, or 1 with a quantized result"
netra_require (NETRA_ROUNDED == 0 || (NETRA_ROUNDED == 1 && NETRA_QUANTIZE)), "NETRA_ROUNDED must be 0, or 1 with a quantized result"
netra_require (NETRA_RUNTIME == 0 || (NETRA_RUNTIME == 1 && NETRA_PACKED && NETRA_SCALE_GROUP_MAJOR)), "NETRA_RUNTIME must be 0, or 1 with a packed operand and group-major scales"
netra_require (NETRA_WAVES == 1 || NETRA_WAVES == 4), "NETRA_WAVES must be 1 or 4"
netra_require (NETRA_BLOCK_X == 64 * NETRA_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 * NETRA_WAVES x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M && NETRA_GRID_Y == (NETRA_N + 512 * NETRA_WAVES - 1) / (512 * NETRA_WAVES) && NETRA_GRID_Z == 1), "the grid must be NETRA_M x ceil(NETRA_N / (512 * NETRA_WAVES)) x 1"
netra_require (NETRA_STATIC_LDS == 0), "NETRA_STATIC_LDS must be 0"

.set S_ROW, 2                                    // work-group id x
.set S_COLUMNS, 3                                // work-group id y
.set S_GATE, 6
.set S_UP, 8
.set S_RESULT, 10
.set S_SCALE, 12
.set NETRA_S_ACT, 14
.set S_TMP, 16
.set S_ROUNDED, 18
.set S_ROWS, 20
.set S_WIDTH, 21                                 // with NETRA_RUNTIME, like the others
.set S_INV_448, 22
.set S_BYTES, 23
.set V_COLUMN, 0                                 // first column of the work-item
.set V_OFFSET, 1
.set V_T0, 2
.set V_T1, 3
.set V_T2, 4
.set V_Y, 5
.set V_GATE, 8                                   // 4 dwords, then 8 values
.set V_UP, 16
.set V_G, 24                                     // the 4 + 4 loaded dwords
.set V_U, 28

// gated_row S, BYTES: s[S:S+1] moves to the row of a matrix that has BYTES for each
//   column of h.
.macro gated_row s, bytes
  .if NETRA_RUNTIME
    s_mul_i32 s[S_BYTES], s[S_WIDTH], \bytes
    netra_row_pointer \s, S_ROW, s[S_BYTES], S_TMP
  .else
    netra_row_pointer \s, S_ROW, \bytes*NETRA_N, S_TMP
  .endif
.endm

.macro netra_template name
  netra_kernel_begin \name
  .if NETRA_PACKED
    netra_load_pointer S_GATE, NETRA_ARG_PACKED
  .else
    netra_load_pointer S_GATE, NETRA_ARG_GATE
    netra_load_pointer S_UP, NETRA_ARG_UP
  .endif
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  .if NETRA_QUANTIZE
  netra_load_pointer S_SCALE, NETRA_ARG_RESULT_SCALE
  .endif
  .if NETRA_ROUNDED
  netra_load_pointer S_ROUNDED, NETRA_ARG_ROUNDED
  .endif
  .if NETRA_SCALE_GROUP_MAJOR
  netra_load_u32 S_ROWS, NETRA_ARG_ROWS
  .endif
  .if NETRA_RUNTIME
    netra_load_u32 S_WIDTH, NETRA_ARG_WIDTH
    netra_load_u32 S_INV_448, NETRA_ARG_INV448
    netra_wait_scalar
    netra_columns8 V_COLUMN, V_OFFSET, NETRA_WAVES, NETRA_N, S_TMP, .Lgated_end_\name, S_COLUMNS, S_WIDTH
    gated_row S_GATE, 4
    s_lshl_b32 s[S_BYTES], s[S_WIDTH], 1
    netra_pointer_add S_UP, S_GATE, S_BYTES
  .else
    netra_columns8 V_COLUMN, V_OFFSET, NETRA_WAVES, NETRA_N, S_TMP, .Lgated_end_\name, S_COLUMNS
    netra_wait_scalar
    .if NETRA_PACKED
      gated_row S_GATE, 4
      netra_pointer_add_const S_UP, S_GATE, 2*NETRA_N
    .else
      gated_row S_GATE, 2
      gated_row S_UP, 2
    .endif
  .endif
  global_load_dwordx4 v[V_G:V_G+3], v[V_OFFSET], s[S_GATE:S_GATE+1]
  global_load_dwordx4 v[V_U:V_U+3], v[V_OFFSET], s[S_UP:S_UP+1]
  .if NETRA_QUANTIZE
    gated_row S_RESULT, 1
    .if NETRA_SCALE_GROUP_MAJOR
    netra_row_pointer S_SCALE, S_ROW, 4, S_TMP
    .else
    netra_row_pointer S_SCALE, S_ROW, NETRA_N/32, S_TMP
    .endif
    .if NETRA_ROUNDED
    gated_row S_ROUNDED, 2
    .endif
  .else
    gated_row S_RESULT, 2
  .endif
  netra_wait_memory 1
  netra_bf16_unpack_run V_GATE, V_G, 4
  netra_wait_memory 0
  netra_bf16_unpack_run V_UP, V_U, 4
  .set gated_i, 0
  .rept 8
    netra_activate NETRA_ACTIVATION, V_Y, V_GATE+gated_i, V_T0, V_T1
    .if NETRA_ROUND_ACTIVATION
    netra_bf16_pack V_Y, V_Y, V_Y
    v_and_b32 v[V_Y], 0xffff0000, v[V_Y]
    .endif
    v_mul_f32 v[V_GATE+gated_i], v[V_Y], v[V_UP+gated_i]
    .set gated_i, gated_i + 1
  .endr
  .if NETRA_QUANTIZE
    netra_bf16_pack_run V_G, V_GATE, 4
    netra_bf16_unpack_run V_GATE, V_G, 4
    .if NETRA_ROUNDED
    global_store_dwordx4 v[V_OFFSET], v[V_G:V_G+3], s[S_ROUNDED:S_ROUNDED+1]
    .endif
    .if NETRA_RUNTIME
    netra_store_fp8_group8 V_GATE, V_COLUMN, S_RESULT, S_SCALE, V_T0, V_T1, V_T2, S_ROWS, s[S_INV_448]
    .elseif NETRA_SCALE_GROUP_MAJOR
    netra_store_fp8_group8 V_GATE, V_COLUMN, S_RESULT, S_SCALE, V_T0, V_T1, V_T2, S_ROWS
    .else
    netra_store_fp8_group8 V_GATE, V_COLUMN, S_RESULT, S_SCALE, V_T0, V_T1, V_T2
    .endif
  .else
    netra_bf16_pack_run V_GATE, V_GATE, 4
    global_store_dwordx4 v[V_OFFSET], v[V_GATE:V_GATE+3], s[S_RESULT:S_RESULT+1]
  .endif
.Lgated_end_\name:
  netra_kernel_end \name
.endm
