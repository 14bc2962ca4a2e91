// Netra gfx950 kernel: dense, FP8 E4M3 with block scales, 1 to 16 activation rows.
// SPDX-License-Identifier: MIT
//
//   y[m, n] = epilogue( sum over K blocks b of
//                       sw[n / 128, b] * (sx[m, b] * sum over k in b of x[m, k] w[n, k]) )
//
// x is row-major FP8 [M, K], sx f32 [M, K / 128]; w is FP8 [N, K] in layout n16k16,
//   offset(n, k) = (n / 16) * 16 K + (k / 16) * 256 + (n % 16) * 16 + k % 16,
// sw f32 [ceil(N / 128), K / 128].
//
// Constants
//   NETRA_M       1..16
//   NETRA_N, K    N a multiple of 16 * TILES, K of 128 * WAVES
//   NETRA_TILES   16-row weight tiles of a work-group, 1 or 2; gated: 2, a gate tile
//                 and the matching up tile
//   NETRA_WAVES   waves of a work-group, 1..16, which share the K blocks
//   NETRA_DEPTH   K blocks that a wave keeps in flight
//   NETRA_EPILOGUE, NETRA_HAS_BIAS, NETRA_HAS_RESIDUAL
//
// Schedule. Wave v owns the K blocks v C .. v C + C - 1, C = K / 128 / WAVES. A tile's
// K block is 2 KB in n16k16 and exactly operand A of one MFMA (A's rows are weight rows,
// B's columns activation rows): two dwordx4 loads of 1 KB each, contiguous over the wave.
// All scales, then DEPTH blocks of activations and weights are issued before the first
// wait. Lanes of columns m >= M load row M - 1 again instead of a row that does not
// exist; their columns of D are never stored. No weight byte is read twice.
//
// Arithmetic. One MFMA per tile and block (its internal order is the hardware's); then
// acc = fma(sw, sx * d, acc), blocks ascending; the first wave adds the other waves' sums
// in ascending order; then + bias, activation, (gate times up), + residual, one rounding.

.include "include/kernel.inc"
.include "include/convert.inc"
.include "include/activation.inc"
.include "include/mfma.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 16), "NETRA_M must be 1..16: one MFMA tile holds 16 activation rows"
netra_require (NETRA_WAVES >= 1 && NETRA_WAVES <= 16), "NETRA_WAVES must be 1..16: a work-group has at most 1024 work-items"
netra_require (NETRA_K > 0 && NETRA_K % (128 * NETRA_WAVES) == 0), "NETRA_K must be a multiple of 128 * NETRA_WAVES: every wave owns whole scale blocks"
netra_require (NETRA_TILES == 1 || NETRA_TILES == 2), "NETRA_TILES must be 1 or 2"
netra_require (NETRA_EPILOGUE != 4 || NETRA_TILES == 2), "a gated epilogue needs NETRA_TILES = 2: a gate tile and an up tile"
netra_require (NETRA_N > 0 && NETRA_N % (16 * NETRA_TILES) == 0), "NETRA_N must be a multiple of 16 * NETRA_TILES"
netra_require (NETRA_DEPTH >= 1 && NETRA_DEPTH <= NETRA_K / (128 * NETRA_WAVES)), "NETRA_DEPTH must be between 1 and the K blocks per wave, K / 128 / WAVES"
netra_require (NETRA_K / (128 * NETRA_WAVES) <= 31), "K / 128 / WAVES must be at most 31: the immediate offset of an activation load reaches 31 blocks"
netra_require (NETRA_DEPTH * (2 + 2 * NETRA_TILES) <= 48), "NETRA_DEPTH blocks in flight must fit the 63 loads that vmcnt can count, scales included"
netra_require (NETRA_EPILOGUE >= 0 && NETRA_EPILOGUE <= 4), "NETRA_EPILOGUE must be 0 (none), 1 (silu), 2 (gelu erf), 3 (gelu tanh) or 4 (gated silu)"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "the weight must be smaller than 2 GiB"
netra_require (NETRA_BLOCK_X == 64 * NETRA_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 * NETRA_WAVES x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N / (16 * NETRA_TILES) && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_N / (16 * NETRA_TILES) x 1 x 1"
netra_require (NETRA_STATIC_LDS == 1024 * NETRA_TILES * (NETRA_WAVES - 1)), "NETRA_STATIC_LDS must be 1024 * NETRA_TILES * (NETRA_WAVES - 1) bytes"

.set BLK_KB, NETRA_K / 128                       // K blocks
.set BLK_C, BLK_KB / NETRA_WAVES                 // of one wave
.set BLK_C4, (BLK_C + 3) / 4 * 4
.set BLK_LOADS, 2 + 2 * NETRA_TILES              // per K block
.if NETRA_EPILOGUE == NETRA_ACT_GATED_SILU
.set BLK_OUT_TILES, 1                            // tiles of output per work-group
.set BLK_OUT_WIDTH, NETRA_N / 2
.else
.set BLK_OUT_TILES, NETRA_TILES
.set BLK_OUT_WIDTH, NETRA_N
.endif

// Scalars
.set S_X, 6
.set S_WEIGHT, 8
.set S_X_SCALE, 10
.set S_WEIGHT_SCALE, 12
.set S_BIAS, 14
.set S_RESIDUAL, 16
.set S_RESULT, 18
.set NETRA_S_ACT, 20
.set S_TMP, 22
.set S_TILE, 24                                  // 2 per tile: its address
.set S_SW, 28                                    // BLK_C4 per tile: weight scales
.set S_WAVE, 5
.set S_FIRST, 4                                  // first weight tile of the group
netra_require (S_SW + NETRA_TILES * BLK_C4 <= 100), "too many K blocks per wave: their scales do not fit the SGPRs"
// Vectors
.set V_LANE, 0
.set V_WOFF, 1                                   // lane's byte offset in a tile
.set V_XOFF, 2                                   // lane's byte offset in x
.set V_SOFF, 3                                   // lane's byte offset in sx
.set V_OUT, 4                                    // lane's byte offset in y
.set V_T0, 5
.set V_T1, 6
.set V_COLUMN, 7                                 // m of the lane
.set V_BIAS, 8                                   // 2 per tile
.set V_RESIDUAL, 12                              // 2 per output tile
.set V_ACC, 16                                   // 4 per tile
.set V_D, V_ACC + 4 * NETRA_TILES                // 4 per tile
.set V_SX, V_D + 4 * NETRA_TILES                 // BLK_C4
.set V_B, V_SX + BLK_C4                          // 8 per block in flight
.set V_A, V_B + 8 * NETRA_DEPTH                  // 8 per block in flight and tile
.set V_PARTIAL, V_B                              // afterwards: 4 per other wave

.macro blk_load c
  .if (\c) > 0 && (\c) % 2 == 0
    v_add_u32 v[V_WOFF], 4096, v[V_WOFF]         // the immediate reaches 2 blocks
  .endif
  .set blk_slot, (\c) % NETRA_DEPTH
  .set blk_b, V_B + 8 * blk_slot
  global_load_dwordx4 v[blk_b:blk_b+3], v[V_XOFF], s[S_X:S_X+1] offset:128*(\c)
  global_load_dwordx4 v[blk_b+4:blk_b+7], v[V_XOFF], s[S_X:S_X+1] offset:128*(\c)+64
  .set blk_t, 0
  .rept NETRA_TILES
    .set blk_a, V_A + 8 * (NETRA_TILES * blk_slot + blk_t)
    global_load_dwordx4 v[blk_a:blk_a+3], v[V_WOFF], s[S_TILE+2*blk_t:S_TILE+2*blk_t+1] offset:2048*((\c)%2) nt
    global_load_dwordx4 v[blk_a+4:blk_a+7], v[V_WOFF], s[S_TILE+2*blk_t:S_TILE+2*blk_t+1] offset:2048*((\c)%2)+1024 nt
    .set blk_t, blk_t + 1
  .endr
.endm

.macro blk_multiply c, issued
  .set blk_slot, (\c) % NETRA_DEPTH
  .set blk_t, 0
  .rept NETRA_TILES
    // Younger than this tile's block: the tiles after it and the later blocks.
    netra_wait_memory (2 * (NETRA_TILES - 1 - blk_t) + BLK_LOADS * ((\issued) - 1 - (\c)))
    netra_mfma_fp8_16x16x128 V_D+4*blk_t, V_A+8*(NETRA_TILES*blk_slot+blk_t), V_B+8*blk_slot
    .set blk_t, blk_t + 1
  .endr
  netra_mfma_settle_8_passes
  .set blk_t, 0
  .rept NETRA_TILES
    netra_scale_tile_rows V_ACC+4*blk_t, V_D+4*blk_t, V_SX+(\c), S_SW+BLK_C4*blk_t+(\c), S_TMP, ((\c)==0)
    .set blk_t, blk_t + 1
  .endr
.endm

// Adds the other waves' sums of COUNT tiles from TILE on.
.macro blk_gather tile, count
  .set blk_i, 0
  .rept NETRA_WAVES - 1
    .set blk_t, 0
    .rept \count
      .set blk_p, V_PARTIAL + 4 * ((\count) * blk_i + blk_t)
      ds_read_b128 v[blk_p:blk_p+3], v[V_T0] offset:1024*(NETRA_TILES*blk_i+(\tile)+blk_t)
      .set blk_t, blk_t + 1
    .endr
    .set blk_i, blk_i + 1
  .endr
  .set blk_i, 0
  .rept NETRA_WAVES - 1
    .set blk_t, 0
    .rept \count
      .set blk_left, (\count) * (NETRA_WAVES - 1 - blk_i) - blk_t - 1
      .if blk_left > 15
        .set blk_left, 15                        // all that lgkmcnt can count
      .endif
      s_waitcnt lgkmcnt(blk_left)
      .set blk_p, V_PARTIAL + 4 * ((\count) * blk_i + blk_t)
      .set blk_s, V_ACC + 4 * ((\tile) + blk_t)
      v_pk_add_f32 v[blk_s:blk_s+1], v[blk_s:blk_s+1], v[blk_p:blk_p+1]
      v_pk_add_f32 v[blk_s+2:blk_s+3], v[blk_s+2:blk_s+3], v[blk_p+2:blk_p+3]
      .set blk_t, blk_t + 1
    .endr
    .set blk_i, blk_i + 1
  .endr
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_load_pointer S_X_SCALE, NETRA_ARG_X_SCALE
  netra_load_pointer S_WEIGHT_SCALE, NETRA_ARG_WEIGHT_SCALE
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  .if NETRA_HAS_BIAS
  netra_load_pointer S_BIAS, NETRA_ARG_BIAS
  .endif
  .if NETRA_HAS_RESIDUAL
  netra_load_pointer S_RESIDUAL, NETRA_ARG_RESIDUAL
  .endif

  netra_lane_and_wave V_LANE, S_WAVE, V_T0
  s_mul_i32 s[S_FIRST], s2, BLK_OUT_TILES
  v_and_b32 v[V_COLUMN], 15, v[V_LANE]
  v_lshrrev_b32 v[V_T0], 4, v[V_LANE]            // row group
  v_min_u32 v[V_T1], NETRA_M - 1, v[V_COLUMN]    // the row that exists
  // Activations: row * K + 16 * group + the wave's first block.
  v_lshlrev_b32 v[V_XOFF], 4, v[V_T0]
  v_mul_u32_u24 v[V_SOFF], NETRA_K, v[V_T1]
  s_mul_i32 s[S_TMP], s[S_WAVE], 128 * BLK_C
  v_add3_u32 v[V_XOFF], v[V_XOFF], v[V_SOFF], s[S_TMP]
  // Their scales: (row * K / 128 + first block) * 4.
  v_mul_u32_u24 v[V_SOFF], 4 * BLK_KB, v[V_T1]
  s_mul_i32 s[S_TMP], s[S_WAVE], 4 * BLK_C
  v_add_u32 v[V_SOFF], s[S_TMP], v[V_SOFF]
  // Output: (row * width + first column + 4 * group) * 2.
  v_mul_u32_u24 v[V_OUT], 2 * BLK_OUT_WIDTH, v[V_T1]
  v_lshl_add_u32 v[V_OUT], v[V_T0], 3, v[V_OUT]
  s_lshl_b32 s[S_TMP], s[S_FIRST], 5
  v_add_u32 v[V_OUT], s[S_TMP], v[V_OUT]
  // Weights: the wave's first block, 16 bytes per lane.
  s_mul_i32 s[S_TMP], s[S_WAVE], 2048 * BLK_C
  v_lshlrev_b32 v[V_WOFF], 4, v[V_LANE]
  v_add_u32 v[V_WOFF], s[S_TMP], v[V_WOFF]
  netra_wait_scalar

  // Weight scales and address of each tile.
  .set blk_t, 0
  .rept NETRA_TILES
    .if blk_t == 0
      s_mov_b32 s[S_TMP], s[S_FIRST]
    .elseif BLK_OUT_TILES < NETRA_TILES
      s_add_u32 s[S_TMP], s[S_FIRST], NETRA_N / 32
    .else
      s_add_u32 s[S_TMP], s[S_FIRST], blk_t
    .endif
    s_mul_i32 s[S_TILE+2*blk_t], s[S_TMP], 16 * NETRA_K
    s_add_u32 s[S_TILE+2*blk_t], s[S_WEIGHT], s[S_TILE+2*blk_t]
    s_addc_u32 s[S_TILE+2*blk_t+1], s[S_WEIGHT+1], 0
    s_lshr_b32 s[S_TMP], s[S_TMP], 3             // 128-row block
    s_mul_i32 s[S_TMP], s[S_TMP], 4 * BLK_KB
    s_mul_i32 s[S_TMP+1], s[S_WAVE], 4 * BLK_C
    s_add_u32 s[S_TMP], s[S_TMP], s[S_TMP+1]
    s_add_u32 s[S_TMP], s[S_WEIGHT_SCALE], s[S_TMP]
    s_addc_u32 s[S_TMP+1], s[S_WEIGHT_SCALE+1], 0
    netra_load_scalar_run S_SW+BLK_C4*blk_t, S_TMP, BLK_C
    .if BLK_C % 2
      s_mov_b32 s[S_SW+BLK_C4*blk_t+BLK_C], 0
    .endif
    .set blk_t, blk_t + 1
  .endr

  // Bias and residual first, and by the first wave alone.
  .if NETRA_HAS_BIAS || NETRA_HAS_RESIDUAL
    s_cmp_lg_u32 s[S_WAVE], 0
    s_cbranch_scc1 .Lblk_stream_\name
    .if NETRA_HAS_BIAS
      v_lshlrev_b32 v[V_T1], 3, v[V_T0]
      s_lshl_b32 s[S_TMP], s[S_FIRST], 5
      v_add_u32 v[V_T1], s[S_TMP], v[V_T1]
      global_load_dwordx2 v[V_BIAS:V_BIAS+1], v[V_T1], s[S_BIAS:S_BIAS+1]
      .if NETRA_TILES == 2
        .if BLK_OUT_TILES < NETRA_TILES
          v_add_u32 v[V_T1], NETRA_N, v[V_T1]    // the up half
          global_load_dwordx2 v[V_BIAS+2:V_BIAS+3], v[V_T1], s[S_BIAS:S_BIAS+1]
        .else
          global_load_dwordx2 v[V_BIAS+2:V_BIAS+3], v[V_T1], s[S_BIAS:S_BIAS+1] offset:32
        .endif
      .endif
    .endif
    .if NETRA_HAS_RESIDUAL
      .set blk_t, 0
      .rept BLK_OUT_TILES
        global_load_dwordx2 v[V_RESIDUAL+2*blk_t:V_RESIDUAL+2*blk_t+1], v[V_OUT], s[S_RESIDUAL:S_RESIDUAL+1] offset:32*blk_t
        .set blk_t, blk_t + 1
      .endr
    .endif
.Lblk_stream_\name:
  .endif

  // The stream. The packed scaling reads scales in pairs; the partner of a last,
  // unpaired one exists and is ignored.
  .if BLK_C % 2
    v_mov_b32 v[V_SX+BLK_C], 0
  .endif
  netra_load_vector_run V_SX, V_SOFF, S_X_SCALE, BLK_C, blk_scale_loads
  .set blk_issued, 0
  .rept NETRA_DEPTH
    blk_load blk_issued
    .set blk_issued, blk_issued + 1
  .endr
  netra_wait_scalar                              // weight scales
  .set blk_c, 0
  .rept BLK_C
    blk_multiply blk_c, blk_issued
    .if blk_issued < BLK_C
      blk_load blk_issued
      .set blk_issued, blk_issued + 1
    .endif
    .set blk_c, blk_c + 1
  .endr

  // Waves: all but the first leave their sums in LDS.
  .if NETRA_WAVES > 1
    s_cmp_eq_u32 s[S_WAVE], 0
    s_cbranch_scc1 .Lblk_gather_\name
    s_sub_u32 s[S_TMP], s[S_WAVE], 1
    s_mul_i32 s[S_TMP], s[S_TMP], 1024 * NETRA_TILES
    v_lshlrev_b32 v[V_T0], 4, v[V_LANE]
    v_add_u32 v[V_T0], s[S_TMP], v[V_T0]
    .set blk_t, 0
    .rept NETRA_TILES
      ds_write_b128 v[V_T0], v[V_ACC+4*blk_t:V_ACC+4*blk_t+3] offset:1024*blk_t
      .set blk_t, blk_t + 1
    .endr
    netra_barrier
    s_endpgm
.Lblk_gather_\name:
    netra_barrier
    v_lshlrev_b32 v[V_T0], 4, v[V_LANE]
    .if 4 * NETRA_TILES * (NETRA_WAVES - 1) <= 8 * NETRA_DEPTH * (1 + NETRA_TILES)
      blk_gather 0, NETRA_TILES
    .else
      .set blk_g, 0
      .rept NETRA_TILES
        blk_gather blk_g, 1
        .set blk_g, blk_g + 1
      .endr
    .endif
  .endif

  // Register r of lane l: weight row 4 (l / 16) + r of the tile, column m = l % 16.
  .set blk_o, 0
  .rept BLK_OUT_TILES
    .if NETRA_HAS_BIAS
      netra_bf16_unpack_run V_D, V_BIAS+2*blk_o, 2
      .set blk_r, 0
      .rept 4
        v_add_f32 v[V_ACC+4*blk_o+blk_r], v[V_ACC+4*blk_o+blk_r], v[V_D+blk_r]
        .set blk_r, blk_r + 1
      .endr
      .if BLK_OUT_TILES < NETRA_TILES
        netra_bf16_unpack_run V_D, V_BIAS+2, 2
        .set blk_r, 0
        .rept 4
          v_add_f32 v[V_ACC+4+blk_r], v[V_ACC+4+blk_r], v[V_D+blk_r]
          .set blk_r, blk_r + 1
        .endr
      .endif
    .endif
    .set blk_r, 0
    .rept 4
      netra_activate NETRA_EPILOGUE, V_D+blk_r, V_ACC+4*blk_o+blk_r, V_T0, V_T1
      .if BLK_OUT_TILES < NETRA_TILES
        v_mul_f32 v[V_D+blk_r], v[V_D+blk_r], v[V_ACC+4+blk_r]
      .endif
      .set blk_r, blk_r + 1
    .endr
    .if NETRA_HAS_RESIDUAL
      netra_bf16_unpack_run V_ACC+4*blk_o, V_RESIDUAL+2*blk_o, 2
      .set blk_r, 0
      .rept 4
        v_add_f32 v[V_D+blk_r], v[V_D+blk_r], v[V_ACC+4*blk_o+blk_r]
        .set blk_r, blk_r + 1
      .endr
    .endif
    netra_bf16_pack V_D, V_D, V_D+1
    netra_bf16_pack V_D+1, V_D+2, V_D+3
    .if NETRA_M < 16 && blk_o == 0
      v_cmp_gt_u32 vcc, NETRA_M, v[V_COLUMN]
      s_mov_b64 s[S_TMP:S_TMP+1], vcc
    .endif
    .if NETRA_M < 16
      s_mov_b64 exec, s[S_TMP:S_TMP+1]
    .endif
    global_store_dwordx2 v[V_OUT], v[V_D:V_D+1], s[S_RESULT:S_RESULT+1] offset:32*blk_o
    .if NETRA_M < 16
      s_mov_b64 exec, -1
    .endif
    .if blk_o + 1 < BLK_OUT_TILES
      s_nop 1                                    // wide store, then its data overwritten: 2
    .endif
    .set blk_o, blk_o + 1
  .endr
  netra_kernel_end \name
.endm
