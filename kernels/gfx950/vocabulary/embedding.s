// Netra gfx950 kernel: rows of an embedding table.
// SPDX-License-Identifier: MIT
//
//   result[m] = bf16( scale * table[ids[m]] ); a row of zeros for an id outside
//   0 .. V - 1. With scale 1 the row is copied bit for bit.
//
// Constants
//   NETRA_M, V, N    rows, rows of the table, columns (a multiple of 8); the
//                    machine code does not depend on M
//   NETRA_SCALE      bits of an f32
//   NETRA_WAVES      waves of a work-group
//
// Schedule. Work-group (m, c) takes columns 512 WAVES c .. of row m, eight per
// work-item. Three serial round trips: arguments, the id, the row. A row of the
// table begins at id * 2 N, in 64 bits: the table may be larger than 4 GiB.
//
// Arithmetic. One product in f32, one rounding to bf16.

.include "include/rows.inc"

netra_require (NETRA_M >= 1), "NETRA_M must be at least 1"
netra_require (NETRA_V >= 1 && NETRA_V <= 0x7fffffff), "NETRA_V must be 1..2147483647"
netra_require (NETRA_N > 0 && NETRA_N % 8 == 0), "NETRA_N must be a multiple of 8"
netra_require (NETRA_WAVES == 1 || NETRA_WAVES == 4), "NETRA_WAVES must be 1 or 4"
netra_require (NETRA_BLOCK_X == 64 * NETRA_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 * NETRA_WAVES x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M && NETRA_GRID_Y == (NETRA_N + 512 * NETRA_WAVES - 1) / (512 * NETRA_WAVES) && NETRA_GRID_Z == 1), "the grid must be NETRA_M x ceil(NETRA_N / (512 * NETRA_WAVES)) x 1"
netra_require (NETRA_STATIC_LDS == 0), "NETRA_STATIC_LDS must be 0"

.set S_ROW, 2                                    // work-group id x
.set S_COLUMNS, 3                                // work-group id y
.set S_ID, 5
.set S_IDS, 6
.set S_TABLE, 8
.set S_RESULT, 10
.set S_TMP, 12
.set V_COLUMN, 0
.set V_OFFSET, 1
.set V_X, 2                                      // 4 dwords
.set V_VALUE, 6                                  // 8 values

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_IDS, NETRA_ARG_IDS
  netra_load_pointer S_TABLE, NETRA_ARG_TABLE
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  netra_columns8 V_COLUMN, V_OFFSET, NETRA_WAVES, NETRA_N, S_TMP, .Lembedding_end_\name, S_COLUMNS
  netra_wait_scalar
  netra_row_pointer S_IDS, S_ROW, 4, S_TMP
  s_load_dword s[S_ID], s[S_IDS:S_IDS+1], 0
  netra_row_pointer S_RESULT, S_ROW, 2*NETRA_N, S_TMP
  .set embedding_d, 0
  .rept 4
    v_mov_b32 v[V_X+embedding_d], 0
    .set embedding_d, embedding_d + 1
  .endr
  netra_wait_scalar
  // As unsigned numbers, negative ids are above V, too.
  s_cmp_ge_u32 s[S_ID], NETRA_V
  s_cbranch_scc1 .Lembedding_store_\name
  netra_row_pointer S_TABLE, S_ID, 2*NETRA_N, S_TMP
  global_load_dwordx4 v[V_X:V_X+3], v[V_OFFSET], s[S_TABLE:S_TABLE+1]
  netra_wait_memory 0
  .if NETRA_SCALE != 0x3f800000
    netra_bf16_unpack_run V_VALUE, V_X, 4
    s_mov_b32 s[S_TMP], NETRA_SCALE
    .set embedding_d, 0
    .rept 8
      v_mul_f32 v[V_VALUE+embedding_d], s[S_TMP], v[V_VALUE+embedding_d]
      .set embedding_d, embedding_d + 1
    .endr
    netra_bf16_pack_run V_X, V_VALUE, 4
  .endif
.Lembedding_store_\name:
  global_store_dwordx4 v[V_OFFSET], v[V_X:V_X+3], s[S_RESULT:S_RESULT+1]
.Lembedding_end_\name:
  netra_kernel_end \name
.endm
