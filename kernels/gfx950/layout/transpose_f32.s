// Netra gfx950 kernel: f32 matrices from one of two transposed layouts to the other.
// SPDX-License-Identifier: MIT
//
//   NETRA_TO_ROWS = 0: result[b][n][m] = x[b][m][n]
//   NETRA_TO_ROWS = 1: result[b][m][n] = x[b][n][m]
//   for b < B, m < M, n < N, each in the order of memory.
//
// Constants
//   NETRA_B, M, N    matrices, rows, columns; the machine code does not depend
//                    on B and M: the rows are an argument
//   NETRA_TO_ROWS    1: the result has the rows side by side, 0: x has them
//
// Schedule. Work-group (i, j, b) moves rows 64 i .. and columns 64 j .. of matrix
// b through LDS, with four waves. Of a tile as x stores it, wave w reads lines
// 16 w .. 16 w + 15, a line of 64 elements with one instruction, and writes it to
// LDS, where lines are 65 dwords apart: the lanes then read columns, lane l
// dword 65 l + c, without bank conflicts, and store them as lines of the result.
// Two serial round trips: arguments, the tile.
//
// Arithmetic. None: the bits are copied.

.include "include/rows.inc"

netra_require (NETRA_B >= 1 && NETRA_B <= 65535), "NETRA_B must be 1..65535"
netra_require (NETRA_M >= 1 && NETRA_N >= 1 && NETRA_M * NETRA_N <= 0x3fffffff), "NETRA_M * NETRA_N must be 1..1073741823"
netra_require (NETRA_N <= 64 * 65535), "NETRA_N must be at most 4194240"
netra_require (NETRA_TO_ROWS == 0 || NETRA_TO_ROWS == 1), "NETRA_TO_ROWS must be 0 or 1"
netra_require (NETRA_BLOCK_X == 256 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 256 x 1 x 1"
netra_require (NETRA_GRID_X == (NETRA_M + 63) / 64 && NETRA_GRID_Y == (NETRA_N + 63) / 64 && NETRA_GRID_Z == NETRA_B), "the grid must be ceil(NETRA_M / 64) x ceil(NETRA_N / 64) x NETRA_B"
netra_require (NETRA_STATIC_LDS == 64 * 65 * 4), "NETRA_STATIC_LDS must be 16640"

.set S_TILE_M, 2                                 // work-group id x, then its first row
.set S_TILE_N, 3                                 // work-group id y, then its first column
.set S_B, 4                                      // work-group id z
.set S_WAVE, 5                                   // then its first line of 16
.set S_X, 6
.set S_RESULT, 8
.set S_M, 10                                     // rows
.set S_N, 11                                     // columns
.set S_TMP, 12                                   // 2
.set S_LEFT, 14                                  // lines that are left
.set S_BYTES, 15                                 // of a line, of a matrix
.set V_LANE, 0
.set V_OFFSET, 1
.set V_LDS, 2
.set V_TILE, 3                                   // 16 values

// Lines of x, how long they are, and where the tile begins; those of the result
// are the other way round.
.if NETRA_TO_ROWS
  .set S_X_LINES, S_N
  .set S_X_LINE, S_TILE_N
  .set S_X_WIDTH, S_M
  .set S_X_FIRST, S_TILE_M
.else
  .set S_X_LINES, S_M
  .set S_X_LINE, S_TILE_M
  .set S_X_WIDTH, S_N
  .set S_X_FIRST, S_TILE_N
.endif

// transpose_lines S, LINES, LINE, WIDTH, FIRST
//   s[S:S+1] += the wave's first line of the tile, v[V_OFFSET] = the lane in it,
//   s[S_BYTES] = bytes to the next one, s[S_LEFT] = lines that are left. Lanes
//   past the end of a line are switched off.
.macro transpose_lines s, lines, line, width, first
  s_add_u32 s[S_TMP], s[\line], s[S_WAVE]
  s_sub_i32 s[S_LEFT], s[\lines], s[S_TMP]       // none when negative
  s_mul_i32 s[S_TMP], s[S_TMP], s[\width]
  s_add_u32 s[S_TMP], s[S_TMP], s[\first]
  s_lshl_b32 s[S_TMP], s[S_TMP], 2
  netra_pointer_add \s, \s, S_TMP
  s_lshl_b32 s[S_BYTES], s[\width], 2
  v_lshlrev_b32 v[V_OFFSET], 2, v[V_LANE]
  s_sub_u32 s[S_TMP], s[\width], s[\first]
  v_cmp_gt_u32 vcc, s[S_TMP], v[V_LANE]
  s_and_b64 exec, exec, vcc
.endm

// transpose_done I, LABEL: goes on at LABEL when the wave has no line number I.
.macro transpose_done i, label
  s_cmp_le_i32 s[S_LEFT], \i
  s_cbranch_scc1 \label
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  netra_load_u32 S_M, NETRA_ARG_ROWS
  netra_lane_and_wave V_LANE, S_WAVE, V_LDS
  s_mov_b32 s[S_N], NETRA_N
  s_lshl_b32 s[S_TILE_M], s[S_TILE_M], 6
  s_lshl_b32 s[S_TILE_N], s[S_TILE_N], 6
  s_lshl_b32 s[S_WAVE], s[S_WAVE], 4
  netra_wait_scalar
  // Matrices may lie beyond 4 GiB; each is smaller.
  s_mul_i32 s[S_BYTES], s[S_M], 4 * NETRA_N
  netra_row_pointer S_X, S_B, s[S_BYTES], S_TMP
  netra_row_pointer S_RESULT, S_B, s[S_BYTES], S_TMP

  transpose_lines S_X, S_X_LINES, S_X_LINE, S_X_WIDTH, S_X_FIRST
  .set transpose_i, 0
  .rept 16
    transpose_done transpose_i, .Ltranspose_read_\name
    global_load_dword v[V_TILE+transpose_i], v[V_OFFSET], s[S_X:S_X+1]
    v_add_u32 v[V_OFFSET], s[S_BYTES], v[V_OFFSET]
    .set transpose_i, transpose_i + 1
  .endr
.Ltranspose_read_\name:
  // Line 16 w + i of the tile, lane l: dword 65 (16 w + i) + l.
  s_mul_i32 s[S_TMP], s[S_WAVE], 65
  v_add_lshl_u32 v[V_LDS], s[S_TMP], v[V_LANE], 2
  netra_wait_memory 0
  .set transpose_i, 0
  .rept 16
    transpose_done transpose_i, .Ltranspose_written_\name
    ds_write_b32 v[V_LDS], v[V_TILE+transpose_i] offset:260*transpose_i
    .set transpose_i, transpose_i + 1
  .endr
.Ltranspose_written_\name:
  netra_barrier
  s_mov_b64 exec, -1

  transpose_lines S_RESULT, S_X_WIDTH, S_X_FIRST, S_X_LINES, S_X_LINE
  // Line 16 w + i of the result's tile is a column of x's: dword 65 l + 16 w + i.
  v_mul_u32_u24 v[V_LDS], 65, v[V_LANE]
  v_add_lshl_u32 v[V_LDS], s[S_WAVE], v[V_LDS], 2
  .set transpose_i, 0
  .rept 16
    transpose_done transpose_i, .Ltranspose_store_\name
    ds_read_b32 v[V_TILE+transpose_i], v[V_LDS] offset:4*transpose_i
    .set transpose_i, transpose_i + 1
  .endr
.Ltranspose_store_\name:
  netra_wait_lds
  .set transpose_i, 0
  .rept 16
    transpose_done transpose_i, .Ltranspose_end_\name
    global_store_dword v[V_OFFSET], v[V_TILE+transpose_i], s[S_RESULT:S_RESULT+1]
    v_add_u32 v[V_OFFSET], s[S_BYTES], v[V_OFFSET]
    .set transpose_i, transpose_i + 1
  .endr
.Ltranspose_end_\name:
  netra_kernel_end \name
.endm
