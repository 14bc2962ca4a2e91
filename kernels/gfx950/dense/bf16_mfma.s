// Netra gfx950 kernel: dense, bf16, up to 32 activation rows.
// SPDX-License-Identifier: MIT
//
//   y[m, n] = epilogue( sum over k of x[m, k] * w[n, k] )
//
// x bf16 [M, K] and w bf16 [N, K], both row-major.
//
// Everything that is not about bf16: include/dense_tiles.inc.
//
// Schedule. A K block is 64 elements, 128 bytes of a row: the segment in which memory is
// read. v_mfma_f32_16x16x32_bf16 wants of lane l row l % 16 and 16 bytes of k, which for
// sixteen rows of a row-major weight is half a segment of each. The weight is therefore
// read eight rows at a time, whole segments of them, and the lanes of a tile's upper eight
// rows hold the second halves of the rows that the lower eight have the first halves of.
// Activations are loaded as the instruction wants them, the first halves of all rows, then
// the second. Of a product of eight rows with the first halves, the lower eight rows of D
// count; of one with the second halves the upper eight. The others are sums that nobody
// asked for: they lie in registers of their own and are never looked at. That is twice the
// matrix instructions, for which there is time. DEPTH blocks of activations and weights
// are issued before the first wait. No weight byte is read twice. A tile of eight rows has
// the first of the two loads only, and fewer registers for each block: what a K takes that
// would otherwise not pass through a compute unit in two turns.
//
// Constant besides those of include/dense_tiles.inc
//   NETRA_ROWS  weight rows of a tile, 16 or 8
//
// Arithmetic. Per tile, 16 rows and block one MFMA for each half of 32 elements, which
// adds to the sum of these halves itself (its internal order is the hardware's), blocks
// ascending; first halves + second halves; waves and epilogue as include/dense_tiles.inc
// states.

.set DT_ELEMENT, 2
.set DT_BLOCK_STRIDE, 128
.set DT_HALF_STRIDE, 0
.set DT_ITEM_STRIDE, 0
.set DT_PAIR_STRIDE, 0
.set DT_SCALED, 0
.set DT_ROWS, NETRA_ROWS
.set DT_CHAINS, NETRA_ROWS / 4
.include "include/dense_tiles.inc"

netra_require (NETRA_ROWS == 16 || NETRA_ROWS == 8), "NETRA_ROWS must be 16 or 8"

// Sum of eight rows e (the loads of a block) and half h of unit u:
// V_ACC + 4 CHAINS u + 8 e + 4 h.
.macro bmm_multiply c, issued
  .set bmm_slot, (\c) % NETRA_DEPTH
  .set bmm_t, 0
  .rept NETRA_TILES
    dt_wait_tile \c, bmm_t, \issued
    .set bmm_i, 0
    .rept DT_CHAINS * DT_MT
      .set bmm_h, bmm_i % 2
      .set bmm_e, bmm_i / 2 % DT_TILE_LOADS
      .set bmm_m, bmm_i / DT_CHAINS
      netra_mfma_bf16_16x16x32 V_ACC+4*DT_CHAINS*(DT_MT*bmm_t+bmm_m)+8*bmm_e+4*bmm_h, V_A+4*(DT_TILE_LOADS*(NETRA_TILES*bmm_slot+bmm_t)+bmm_e), V_B+8*(DT_MT*bmm_slot+bmm_m)+4*bmm_h, ((\c)==0)
      .set bmm_i, bmm_i + 1
    .endr
    .set bmm_t, bmm_t + 1
  .endr
.endm

// bmm_swap H: in all units, the sums of half H of both eight rows change places by halves
// of the wave: the first register gets the lower lanes of both, the second the upper. The
// last unit comes first, because what its products are settled for is then used at once.
.macro bmm_swap h
  .set bmm_i, 0
  .rept 4 * DT_UNITS
    .set bmm_s, V_ACC + 16 * (DT_UNITS - 1 - bmm_i / 4) + 4 * (\h) + bmm_i % 4
    v_permlane32_swap_b32 v[bmm_s], v[bmm_s+8]
    .set bmm_i, bmm_i + 1
  .endr
.endm

// v[V_ACC + 4 u ..] = the sums of unit u, in the order of D's rows. D's lower eight rows
// are the lower lanes: of the first halves those count, of the second the upper ones.
// Covers: VALU writes VGPR, then v_permlane*_swap reads it (2), and the reverse.
// Of eight rows, the second halves' good sums must come down from the upper lanes.
.macro bmm_join
  .if DT_ROWS == 8
  .set bmm_i, 0
  .rept 4
    v_mov_b32 v[V_B+bmm_i], v[V_ACC+4+bmm_i]
    .set bmm_i, bmm_i + 1
  .endr
  .set bmm_i, 0
  .rept 4
    v_permlane32_swap_b32 v[V_ACC+4+bmm_i], v[V_B+bmm_i]
    .set bmm_i, bmm_i + 1
  .endr
  s_nop 1
  v_pk_add_f32 v[V_ACC:V_ACC+1], v[V_ACC:V_ACC+1], v[V_B:V_B+1]
  v_pk_add_f32 v[V_ACC+2:V_ACC+3], v[V_ACC+2:V_ACC+3], v[V_B+2:V_B+3]
  .else
  bmm_swap 1                                     // the half that is multiplied last
  bmm_swap 0
  s_nop 1
  .set bmm_u, 0
  .rept DT_UNITS
    .set bmm_s, V_ACC + 16 * bmm_u
    v_pk_add_f32 v[V_ACC+4*bmm_u:V_ACC+4*bmm_u+1], v[bmm_s:bmm_s+1], v[bmm_s+12:bmm_s+13]
    v_pk_add_f32 v[V_ACC+4*bmm_u+2:V_ACC+4*bmm_u+3], v[bmm_s+2:bmm_s+3], v[bmm_s+14:bmm_s+15]
    .set bmm_u, bmm_u + 1
  .endr
  .endif
.endm

.macro netra_template name
  dt_begin \name
  // Lane (column, group): row column % 8, bytes 64 (column / 8) + 16 group of it.
  v_and_b32 v[V_T0], 7, v[V_COLUMN]
  .if NETRA_GATED
    v_mul_u32_u24 v[V_WOFF], NETRA_K, v[V_T0]
    dt_up_rows 2*NETRA_K
  .else
    v_mul_u32_u24 v[V_WOFF], 2 * NETRA_K, v[V_T0]
  .endif
  v_lshrrev_b32 v[V_T0], 3, v[V_COLUMN]
  v_add_u32 v[V_WOFF], v[V_T1], v[V_WOFF]
  v_lshl_add_u32 v[V_WOFF], v[V_T0], 6, v[V_WOFF]
  .if DT_ROWS == 16
  v_add_u32 v[V_WOFF2], DT_TILE_BYTES / 2, v[V_WOFF] // eight rows further on
  .endif
  .if !DT_LATE
    dt_load_bias_and_residual \name
  .endif
  // The stream.
  dt_issue_ahead
  dt_consume bmm_multiply, \name
  netra_mfma_settle_4_passes
  bmm_join
  dt_gather \name
  dt_finish \name
.endm
