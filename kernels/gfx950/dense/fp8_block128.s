// Netra gfx950 kernel: dense, FP8 E4M3 with block scales, 1 to 32 activation rows.
// SPDX-License-Identifier: MIT
//
//   y[m, n] = epilogue( sum over K blocks b of
//                       sw[n / 128, b] * sx[m, b] * sum over k in b of x[m, k] w[n, k] )
//
// x is row-major FP8 [M, K], sx f32 [M, K / 128], row-major or with
// NETRA_SCALE_GROUP_MAJOR = 1 stored transposed; w is FP8 [N, K] in layout n16k16,
//   offset(n, k) = (n / 16) * 16 K + (k / 16) * 256 + (n % 16) * 16 + k % 16,
// sw f32 [ceil(N / 128), K / 128].
//
// Constants, and everything that is not about FP8: include/dense_tiles.inc; and
//   NETRA_SCALE_GROUP_MAJOR  0, or 1: scale of row m, block b at b * M + m
//
// Schedule. Wave v owns the K blocks v C .. v C + C - 1, C = K / 128 / WAVES. A tile's
// K block is 2 KB in n16k16 and exactly operand A of one MFMA (A's rows are weight rows,
// B's columns activation rows): two dwordx4 loads of 1 KB each, contiguous over the wave.
// Two tiles share the activations' registers and loads: where a product has few columns
// that is worth more than a work-group more. DEPTH blocks of activations and weights are
// issued before the first wait, and with every fourth block the activation scales of four
// (group-major: of each with it), since a row's scales are consecutive. No weight byte is
// read twice.
//
// Arithmetic. One MFMA per tile, 16 rows and block (its internal order is the
// hardware's); then acc = fma(d, sx * sw, acc), blocks ascending; waves and epilogue as
// include/dense_tiles.inc states.

.set DT_ELEMENT, 1
.set DT_ROWS, 16
.set DT_BLOCK_STRIDE, 2048
.set DT_HALF_STRIDE, 1024
.set DT_ITEM_STRIDE, 16 / (1 + NETRA_GATED)
.set DT_PAIR_STRIDE, 128                         // eight rows
.set DT_SCALED, 1
.set DT_CHAINS, 1
.set DT_GROUP_MAJOR, 0
.set DT_SCALE_EVERY, 4
.if NETRA_SCALE_GROUP_MAJOR && NETRA_M > 1       // one row is the same both ways
.set DT_GROUP_MAJOR, 1
.set DT_SCALE_EVERY, 1 + NETRA_GATED             // a packed product reads two of them
.endif
.include "include/dense_tiles.inc"

netra_require (NETRA_SCALE_GROUP_MAJOR == 0 || NETRA_SCALE_GROUP_MAJOR == 1), "NETRA_SCALE_GROUP_MAJOR must be 0 or 1"

// v[V_S+...] = sx * sw of block C, a pair for each activation tile: gated, of gate and up
// rows, else only the first.
.macro blk_scales c
  .if NETRA_GATED
    s_mov_b32 s[S_TMP], s[S_SW+(\c)]
    s_mov_b32 s[S_TMP+1], s[S_SW+DT_C4+(\c)]
  .endif
  .set blk_m, 0
  .rept DT_MT
    .set blk_s, V_S + 2 * blk_m
    .set blk_x, V_SX + DT_SX * blk_m + (\c) % DT_SX
    .if !NETRA_GATED
      v_mul_f32 v[blk_s], s[S_SW+(\c)], v[blk_x]
    .elseif blk_x % 2
      v_pk_mul_f32 v[blk_s:blk_s+1], s[S_TMP:S_TMP+1], v[blk_x-1:blk_x] op_sel:[0,1] op_sel_hi:[1,1]
    .else
      v_pk_mul_f32 v[blk_s:blk_s+1], s[S_TMP:S_TMP+1], v[blk_x:blk_x+1] op_sel_hi:[1,0]
    .endif
    .set blk_m, blk_m + 1
  .endr
.endm

// The activation scales of block C and of those that follow it, DT_SCALE_EVERY in all or
// what is left, of the lane's row: consecutive or, group-major, a load each.
.macro dt_load_scales c
  .set blk_n, DT_C - (\c)
  .if blk_n > DT_SCALE_EVERY
    .set blk_n, DT_SCALE_EVERY
  .endif
  .if DT_GROUP_MAJOR
    .set blk_i, \c
    .rept blk_n
      .set blk_o, 4 * NETRA_M * blk_i
      .if blk_o > 0 && blk_o / 4096 > (blk_o - 4 * NETRA_M) / 4096 // past the immediate
        netra_pointer_add_const S_X_SCALE, S_X_SCALE, 4096
      .endif
      blk_load_scales blk_i, blk_o%4096, 1
      .set blk_i, blk_i + 1
    .endr
  .else
    blk_load_scales \c, 4*(\c), blk_n
  .endif
.endm

.macro blk_load_scales c, offset, count
  .set blk_m, 0
  .rept DT_MT
    netra_load_vector V_SX+DT_SX*blk_m+(\c)%DT_SX, V_SOFF+blk_m, S_X_SCALE, \count, \offset
    .set blk_m, blk_m + 1
  .endr
.endm

.macro blk_multiply c, issued
  .set blk_slot, (\c) % NETRA_DEPTH
  .set blk_t, 0
  .rept NETRA_TILES
    dt_wait_tile \c, blk_t, \issued
    .if blk_t == 0
      blk_scales \c                              // older than the tile
    .endif
    .set blk_m, 0
    .rept DT_MT
      netra_mfma_fp8_16x16x128 V_D+4*(DT_MT*blk_t+blk_m), V_A+8*(NETRA_TILES*blk_slot+blk_t), V_B+8*(DT_MT*blk_slot+blk_m)
      .set blk_m, blk_m + 1
    .endr
    .set blk_t, blk_t + 1
  .endr
  netra_mfma_settle_8_passes DT_UNITS-1          // the products after the first, which is used first
  .set blk_u, 0
  .rept DT_UNITS
    netra_scale_accumulate V_ACC+4*blk_u, V_D+4*blk_u, V_S+2*(blk_u%DT_MT), ((\c)==0), NETRA_GATED
    .set blk_u, blk_u + 1
  .endr
.endm

.macro netra_template name
  dt_begin \name
  // Lane (row, group): 16 bytes for a row of the tile, 256 for a group.
  .if NETRA_GATED
    v_add_lshl_u32 v[V_WOFF], v[V_ITEM], v[V_T1], 3
    dt_up_rows 16
  .else
    v_lshlrev_b32 v[V_WOFF], 4, v[V_ITEM]
  .endif

  // Weight scales of the wave's blocks, one run for each 128 weight rows.
  s_mul_i32 s[S_TMP+1], s[S_WAVE], 4 * DT_C
  netra_pointer_add S_WEIGHT_SCALE, S_WEIGHT_SCALE, S_TMP+1
  .if DT_GROUP_MAJOR
  s_mul_i32 s[S_TMP+1], s[S_WAVE], 4 * DT_C * NETRA_M
  .endif
  netra_pointer_add S_X_SCALE, S_X_SCALE, S_TMP+1
  .set blk_r, 0
  .rept DT_ROW_BLOCKS
    .if blk_r
      s_add_u32 s[S_TMP], s[S_FIRST], DT_WIDTH / DT_COLUMNS // the up rows
      s_lshr_b32 s[S_TMP], s[S_TMP], 3 + NETRA_GATED
    .else
      s_lshr_b32 s[S_TMP], s[S_FIRST], 3 + NETRA_GATED // 128-row block
    .endif
    s_mul_i32 s[S_TMP], s[S_TMP], 4 * DT_BLOCKS
    s_add_u32 s[S_TMP], s[S_WEIGHT_SCALE], s[S_TMP]
    s_addc_u32 s[S_TMP+1], s[S_WEIGHT_SCALE+1], 0
    netra_load_scalar_run S_SW+DT_C4*blk_r, S_TMP, DT_C
    .set blk_r, blk_r + 1
  .endr
  .if !DT_LATE
    dt_load_bias_and_residual \name
  .endif

  // The stream. Partners of scales that are no pairs are ignored; the first is V_T1.
  .if DT_MT > 1 && !NETRA_GATED
    v_mov_b32 v[V_S+3], 0
  .endif
  dt_issue_ahead
  netra_wait_scalar                              // weight scales
  dt_consume blk_multiply, \name
  dt_gather \name
  dt_finish \name
.endm
