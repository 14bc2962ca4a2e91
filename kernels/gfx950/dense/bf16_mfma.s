// Netra gfx950 kernel: dense, bf16, up to 32 activation rows.
// SPDX-License-Identifier: MIT
//
//   y[m, n] = epilogue( sum over k of x[m, k] * w[n, k] )
//
// x bf16 [M, K] and w bf16 [N, K], both row-major.
//
// Constants, and everything that is not about bf16: include/dense_tiles.inc.
//
// Schedule. A K block is 64 elements, 128 bytes of a row. v_mfma_f32_16x16x32_bf16 wants
// of lane l row l % 16 and k = 8 (l / 16) .. + 7: 16 contiguous bytes in a row-major
// weight, 64 for the four lanes of a row. The two loads of a block follow each other, so
// that together they use every 128-byte segment of their 16 rows to the last byte. DEPTH
// blocks of activations and weights are issued before the first wait. No weight byte is
// read twice.
//
// Arithmetic. Two MFMAs per tile, 16 rows and block, k ascending, which add to the sum
// themselves (their internal order is the hardware's); waves and epilogue as
// include/dense_tiles.inc states.

.set DT_ELEMENT, 2
.set DT_BLOCK_STRIDE, 128
.set DT_HALF_STRIDE, 64
.set DT_SCALED, 0
.include "include/dense_tiles.inc"

.macro bmm_multiply c, issued
  .set bmm_slot, (\c) % NETRA_DEPTH
  .set bmm_t, 0
  .rept NETRA_TILES
    dt_wait_tile \c, bmm_t, \issued
    .set bmm_i, 0
    .rept 2 * DT_MT
      .set bmm_h, bmm_i / DT_MT                  // half of the block
      .set bmm_m, bmm_i % DT_MT
      netra_mfma_bf16_16x16x32 V_ACC+4*(DT_MT*bmm_t+bmm_m), V_A+8*(NETRA_TILES*bmm_slot+bmm_t)+4*bmm_h, V_B+8*(DT_MT*bmm_slot+bmm_m)+4*bmm_h, ((\c)==0&&bmm_h==0)
      .set bmm_i, bmm_i + 1
    .endr
    .set bmm_t, bmm_t + 1
  .endr
.endm

.macro netra_template name
  dt_begin \name
  v_mul_u32_u24 v[V_WOFF], 2 * NETRA_K, v[V_COLUMN]
  v_lshl_add_u32 v[V_WOFF], v[V_GROUP], 4, v[V_WOFF]
  dt_load_bias_and_residual \name
  // The stream.
  dt_issue_ahead
  dt_consume bmm_multiply
  netra_mfma_settle_4_passes
  dt_gather \name
  dt_finish \name
.endm
