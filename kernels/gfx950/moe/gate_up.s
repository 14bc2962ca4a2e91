// Netra gfx950 kernel: gate and up projections of routed experts, FP8 with block scales.
// SPDX-License-Identifier: MIT
//
//   e = expert_ids[m, s]
//   y[m, s, n] = sum over K blocks b of
//                sw[e, n / 128, b] * (sx[m, b] * sum over k in b of x[m, k] w[e, n, k])
//   without activation: result[m, s, n] = y[m, s, n], f32
//   with activation:    result[m, s, i] = bf16(act(y[m, s, i]) * y[m, s, N / 2 + i])
//
// x is row-major FP8 [M, K], sx f32 [M, K / 128]; w is FP8 [E, N, K], each expert in layout
// n16k16, sw f32 [E, N / 128, K / 128]; rows 0 .. N / 2 - 1 are the gate. A slot whose id is
// not in 0 .. E - 1 gives zeros and reads no weights.
//
// Constants
//   NETRA_M, E, S  tokens, experts, slots of a token
//   NETRA_N, K     N a multiple of 128 (with activation: 256), K of 128, at most 4096
//   NETRA_DEPTH    K blocks that a wave keeps in flight
//   NETRA_ACTIVATION  0 (none), 1 (silu), 3 (gelu tanh)
//   NETRA_SCALE_GROUP_MAJOR  1: sx is stored transposed, the scales of a K block side by side
//
// Schedule. Work-group (s * tiles + tile, m). Without activation one wave computes 16 columns;
// with it, two waves compute a gate tile and the matching up tile, and the second hands its
// sums over in LDS. A wave asks for the expert id, then for x, all scales and DEPTH blocks of
// weights before its first wait. x is operand A, sixteen K blocks at once (include/moe.inc),
// so that it is read once per wave; weights are operand B and read once.
//
// Arithmetic. One MFMA per block (its internal order is the hardware's); acc = 0, then
// acc = acc + sw * (sx * d), blocks ascending, three roundings. Activation in f32, one rounding.

.include "include/moe.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 65535), "NETRA_M must be 1..65535"
netra_require (NETRA_E >= 1 && NETRA_S >= 1), "NETRA_E and NETRA_S must be at least 1"
netra_require (NETRA_ACTIVATION == 0 || NETRA_ACTIVATION == 1 || NETRA_ACTIVATION == 3), "NETRA_ACTIVATION must be 0 (none), 1 (silu) or 3 (gelu tanh)"

.if NETRA_ACTIVATION != 0
.set GU_WAVES, 2
.else
.set GU_WAVES, 1
.endif
.set GU_KB, NETRA_K / 128                        // K blocks
.set GU_KB4, (GU_KB + 3) / 4 * 4
.set GU_SETS, (GU_KB + 15) / 16
.if GU_KB < 16
.set GU_FIRST, GU_KB                             // blocks of the first set
.else
.set GU_FIRST, 16
.endif
.set GU_TILES, NETRA_N / (16 * GU_WAVES)         // work-groups of a slot

netra_require (NETRA_K > 0 && NETRA_K % 128 == 0 && NETRA_K <= 4096), "NETRA_K must be a multiple of 128 up to 4096: the scales of a wave are in SGPRs"
netra_require (NETRA_N > 0 && NETRA_N % (128 * GU_WAVES) == 0), "NETRA_N must be a multiple of 128, with activation of 256"
netra_require (NETRA_DEPTH >= 1 && NETRA_DEPTH <= GU_KB && NETRA_DEPTH <= 24), "NETRA_DEPTH must be between 1 and K / 128, at most 24"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "an expert's weights must be smaller than 2 GiB"
netra_require (NETRA_E * (NETRA_N / 128) * GU_KB <= 0x1fffffff), "the weight scales must be smaller than 2 GiB"
netra_require (NETRA_M * NETRA_S * NETRA_N <= 0x1fffffff && NETRA_M * NETRA_K <= 0x7fffffff), "result and activations must be smaller than 2 GiB"
netra_require (NETRA_S * GU_TILES * GU_TILES <= 0x7fffffff), "NETRA_S * NETRA_N is too large"
netra_require (NETRA_SCALE_GROUP_MAJOR == 0 || NETRA_SCALE_GROUP_MAJOR == 1), "NETRA_SCALE_GROUP_MAJOR must be 0 or 1"
netra_require (!NETRA_SCALE_GROUP_MAJOR || NETRA_M * GU_KB <= 0x3ffff), "where scales lie block after block, there must be fewer than 262144"
netra_require (NETRA_BLOCK_X == 64 * GU_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1, with activation 128 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_S * GU_TILES && NETRA_GRID_Y == NETRA_M && NETRA_GRID_Z == 1), "the grid must be NETRA_S * NETRA_N / 16 (with activation / 32) x NETRA_M x 1"
netra_require (NETRA_STATIC_LDS == 64 * (GU_WAVES - 1)), "NETRA_STATIC_LDS must be 0, with activation 64 bytes"

// Scalars
.set S_SLOT, 4
.set S_WAVE, 5
.set S_X, 6
.set S_WEIGHT, 8
.set S_X_SCALE, 10
.set S_WEIGHT_SCALE, 12
.set S_IDS, 14
.set S_RESULT, 16
.set S_TMP, 18
.set S_TILE, 20                                  // address of the weights
.set S_INDEX, 22                                 // tile of the slot, then of the expert
.set S_ROW, 23                                   // m * S + s
.set S_EXPERT, 24
.set NETRA_S_ACT, 26
.set S_SX, 28                                    // GU_KB4
.set S_SW, S_SX + GU_KB4                         // GU_KB4
// Vectors
.set V_LANE, 0
.set V_WOFF, 1                                   // lane's byte offset in a block
.set V_XOFF, 2
.set V_T0, 3
.set V_ACC, 4
.set V_UP, 5
.set V_H, 6
.set V_T1, 7
.set V_D, 8                                      // 4 per contribution of a batch
.set V_X, 24                                     // 8 per set
.set V_A, V_X + 8 * GU_SETS                      // 8 per block in flight

.macro gu_load b
  netra_moe_load_block V_A+8*((\b)%NETRA_DEPTH), V_WOFF, S_TILE, \b
.endm

// The COUNT blocks from B on, one lane group's; the sum hops there first.
.macro gu_batch b, count
  .set gu_i, 0
  .rept \count
    // Younger: the blocks issued after this one.
    netra_wait_memory (2 * (gu_issued - 1 - (\b) - gu_i))
    netra_mfma_fp8_16x16x128 V_D+4*gu_i, V_X+8*((\b)/16), V_A+8*(((\b)+gu_i)%NETRA_DEPTH)
    .set gu_i, gu_i + 1
  .endr
  // The first result is read first, behind the others' waits and MFMAs.
  netra_mfma_settle_8_passes 2*((\count)-1)
  .set gu_i, 0
  .rept \count
    .if gu_issued < GU_KB
      gu_load gu_issued
      .set gu_issued, gu_issued + 1
    .endif
    .set gu_d, V_D + 5 * gu_i                    // register b % 4 of its result
    netra_moe_scale gu_d, S_SX+(\b)+gu_i, S_SW+(\b)+gu_i
    .if (\b) + gu_i == 0
      v_add_f32 v[V_ACC], 0, v[gu_d]
    .else
      v_add_f32 v[V_ACC], v[V_ACC], v[gu_d]
    .endif
    .set gu_i, gu_i + 1
  .endr
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_moe_load_pointers
  netra_moe_divide S_SLOT, 2, GU_TILES
  s_mul_i32 s[S_INDEX], s[S_SLOT], GU_TILES
  s_sub_u32 s[S_INDEX], s2, s[S_INDEX]
  s_mul_i32 s[S_ROW], s3, NETRA_S
  s_add_u32 s[S_ROW], s[S_ROW], s[S_SLOT]
  .if GU_WAVES > 1
    netra_lane_and_wave V_LANE, S_WAVE, V_T0
  .endif
  netra_moe_x_offset V_XOFF, V_LANE, V_T0, GU_FIRST, 1
  v_lshlrev_b32 v[V_WOFF], 4, v[V_LANE]
  netra_wait_scalar

  // The id first, then what does not depend on it.
  s_lshl_b32 s[S_TMP], s[S_ROW], 2
  s_load_dword s[S_EXPERT], s[S_IDS:S_IDS+1], s[S_TMP]
  netra_moe_row_scales S_SX, S_X_SCALE, 3, S_TMP
  s_mul_i32 s[S_TMP], s3, NETRA_K
  netra_pointer_add S_X, S_X, S_TMP
  .set gu_set, 0
  .rept GU_SETS
    .if gu_set > 0 && GU_KB - 16 * gu_set < 16
      netra_moe_x_offset V_XOFF, V_LANE, V_T0, GU_KB-16*gu_set, 1
    .endif
    netra_moe_load_x V_X+8*gu_set, V_XOFF, S_X, gu_set
    .set gu_set, gu_set + 1
  .endr
  // Result: row and first column of the work-group.
  s_mul_i32 s[S_TMP], s[S_ROW], NETRA_N / GU_WAVES
  s_lshl_b32 s[S_TMP+1], s[S_INDEX], 4
  s_add_u32 s[S_TMP], s[S_TMP], s[S_TMP+1]
  s_lshl_b32 s[S_TMP], s[S_TMP], 3 - GU_WAVES    // f32, or bf16
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  .if GU_WAVES > 1
    s_mul_i32 s[S_TMP], s[S_WAVE], GU_TILES      // the up tile
    s_add_u32 s[S_INDEX], s[S_INDEX], s[S_TMP]
  .endif
  netra_wait_scalar                              // id and activation scales
  s_cmp_ge_u32 s[S_EXPERT], NETRA_E
  s_cbranch_scc1 .Lgu_masked_\name
  netra_moe_expert_tile S_TILE, S_EXPERT, S_INDEX, S_WEIGHT, NETRA_N, NETRA_K, S_TMP
  netra_moe_expert_scales S_TMP, S_EXPERT, S_INDEX, S_WEIGHT_SCALE, NETRA_N, GU_KB
  netra_load_scalar_run S_SW, S_TMP, GU_KB
  .set gu_issued, 0
  .rept NETRA_DEPTH
    gu_load gu_issued
    .set gu_issued, gu_issued + 1
  .endr
  netra_wait_scalar                              // weight scales
  .set gu_b, 0
  .rept (GU_KB + 3) / 4
    netra_moe_group gu_group, gu_b
    .if gu_b > 0
      netra_moe_hop V_ACC, gu_last, gu_group, V_T0
    .endif
    .if GU_KB - gu_b < 4
      gu_batch gu_b, GU_KB-gu_b
    .else
      gu_batch gu_b, 4
    .endif
    .set gu_last, gu_group
    .set gu_b, gu_b + 4
  .endr

  // Lane c of the last group has column c of the tile.
  netra_moe_exec_group gu_last
  v_and_b32 v[V_T0], 15, v[V_LANE]
  .if GU_WAVES == 1
    v_lshlrev_b32 v[V_T0], 2, v[V_T0]
    global_store_dword v[V_T0], v[V_ACC], s[S_RESULT:S_RESULT+1]
    s_endpgm
  .else
    v_lshlrev_b32 v[V_WOFF], 2, v[V_T0]
    v_lshlrev_b32 v[V_XOFF], 1, v[V_T0]
    s_cmp_eq_u32 s[S_WAVE], 0
    s_cbranch_scc1 .Lgu_gate_\name
    ds_write_b32 v[V_WOFF], v[V_ACC]
    netra_barrier
    s_endpgm
.Lgu_gate_\name:
    netra_barrier
    ds_read_b32 v[V_UP], v[V_WOFF]
    netra_wait_lds
    netra_moe_activate NETRA_ACTIVATION, V_H, V_ACC, V_UP, V_T0, V_T1
    netra_bf16_pack V_H, V_H, V_H
    global_store_short v[V_XOFF], v[V_H], s[S_RESULT:S_RESULT+1]
    s_endpgm
  .endif

.Lgu_masked_\name:
  v_mov_b32 v[V_ACC], 0
  netra_moe_exec_group 0
  .if GU_WAVES == 1
    v_lshlrev_b32 v[V_T0], 2, v[V_LANE]
    global_store_dword v[V_T0], v[V_ACC], s[S_RESULT:S_RESULT+1]
  .else
    s_cmp_lg_u32 s[S_WAVE], 0
    s_cbranch_scc1 .Lgu_end_\name
    v_lshlrev_b32 v[V_T0], 1, v[V_LANE]
    global_store_short v[V_T0], v[V_ACC], s[S_RESULT:S_RESULT+1]
.Lgu_end_\name:
  .endif
  netra_kernel_end \name
.endm
