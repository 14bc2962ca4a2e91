// Netra gfx950 kernel: down projection of routed experts and their weighted sum, FP8 with block scales.
// SPDX-License-Identifier: MIT
//
//   e = expert_ids[m, s]
//   y[m, n] = sum over slots s, K blocks b of expert_weights[m, s] *
//             (sw[e, n / 128, b] * (sx[m, s, b] * sum over k in b of x[m, s, k] w[e, n, k]))
//   result = bf16(y + residual)
//
// x is row-major FP8 [M, S, K] with sx f32 [M, S, K / 128], or bf16 [M, S, K], quantized on
// the way in to the bits of quantize/quantize_blocks.s; w is FP8 [E, N, K], each expert in
// layout n16k16, sw f32 [E, N / 128, K / 128]; result and residual bf16 [M, N]. A slot whose
// id is not in 0 .. E - 1 contributes nothing.
//
// Constants
//   NETRA_M, E, S  tokens, experts, slots of a token (at least 2)
//   NETRA_N, K     multiples of 128
//   NETRA_QUANTIZE 1: x is bf16
//   NETRA_HAS_RESIDUAL
//   NETRA_SCALE_GROUP_MAJOR  1: each token's sx is stored transposed, the scales of a K block
//                  of its slots side by side
//
// Schedule. Work-group (tile, m): 16 columns of one token, two waves. The first has the slots
// 0 .. ceil(S / 2) - 1, the second the others; the second leaves its products, not their sum,
// in LDS (1 KB per 16), and the first adds all in the order of the slots, so that the bits
// are those of one wave. Ids come first; then all loads of a wave are in flight before its
// first wait. The matrix core's operands are as in moe/gate_up.s.
//
// Arithmetic. One MFMA per slot and block (its internal order is the hardware's); acc = 0,
// then acc = acc + weight * (sw * (sx * d)), slots ascending, blocks ascending, four roundings
// each; + residual; one rounding to bf16.

.include "include/moe.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 65535), "NETRA_M must be 1..65535"
netra_require (NETRA_E >= 1), "NETRA_E must be at least 1"
netra_require (NETRA_S >= 2 && NETRA_S <= 32), "NETRA_S must be 2..32: two waves share the slots"
netra_require (NETRA_N > 0 && NETRA_N % 128 == 0), "NETRA_N must be a multiple of 128"
netra_require (NETRA_K > 0 && NETRA_K % 128 == 0), "NETRA_K must be a multiple of 128"

.set DN_KB, NETRA_K / 128                        // K blocks of a slot
.if DN_KB > 2
.set DN_KBS, (DN_KB + 3) / 4 * 4                 // their scales' SGPRs
.else
.set DN_KBS, DN_KB
.endif
.set DN_SLOTS, (NETRA_S + 1) / 2                 // of the first wave
.set DN_SLOTS4, (DN_SLOTS + 3) / 4 * 4
.set DN_C0, DN_SLOTS * DN_KB                     // contributions of the first wave
.set DN_C1, (NETRA_S - DN_SLOTS) * DN_KB         // of the second
.set DN_C4, (DN_C0 + 3) / 4 * 4
.set DN_SETS, (DN_C0 + 15) / 16
.set DN_BYTES, 1 + NETRA_QUANTIZE                // of an activation

netra_require (DN_C0 <= 24 - 4 * NETRA_QUANTIZE), "ceil(NETRA_S / 2) * NETRA_K / 128 must be at most 24 (bf16: 20): a wave holds all its weights"
netra_require (NETRA_SCALE_GROUP_MAJOR == 0 || (NETRA_SCALE_GROUP_MAJOR == 1 && !NETRA_QUANTIZE)), "NETRA_SCALE_GROUP_MAJOR must be 0, or 1 where x has scales"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "an expert's weights must be smaller than 2 GiB"
netra_require (NETRA_E * (NETRA_N / 128) * DN_KB <= 0x1fffffff), "the weight scales must be smaller than 2 GiB"
netra_require (NETRA_M * NETRA_S * NETRA_K * DN_BYTES <= 0x7fffffff && NETRA_M * NETRA_N <= 0x3fffffff), "activations and result must be smaller than 2 GiB"
netra_require (NETRA_BLOCK_X == 128 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 128 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N / 16 && NETRA_GRID_Y == NETRA_M && NETRA_GRID_Z == 1), "the grid must be NETRA_N / 16 x NETRA_M x 1"
netra_require (NETRA_STATIC_LDS == (DN_C1 + 15) / 16 * 1024), "NETRA_STATIC_LDS must be 1024 bytes per 16 blocks of the second wave"

// Scalars
.set S_WAVE, 5
.set S_X, 6
.set S_X_SCALE, 8
.set S_WEIGHT, 10
.set S_WEIGHT_SCALE, 12
.set S_ROUTES, 14
.set S_IDS, 16
.set S_RESIDUAL, 18
.set S_RESULT, 20
.set S_TMP, 22
.set S_TILE, 24
.set S_MASK, 26                                  // bit i: slot i of the wave has an expert
.set S_ROW, 27                                   // m * S + the wave's first slot
.set S_ID, 28                                    // DN_SLOTS4
.set S_ROUTE, S_ID + DN_SLOTS4                   // DN_SLOTS4
.set S_SX, S_ROUTE + DN_SLOTS4                   // DN_C4
.set S_SW, S_SX + DN_C4                          // DN_KBS per slot
netra_require (S_SW + DN_SLOTS * DN_KBS <= 100), "too many slots and K blocks per wave: their scales do not fit the SGPRs"
// Vectors
.set V_LANE, 0
.set V_WOFF, 1                                   // lane's byte offset in a block, and in LDS
.set V_XOFF, 2
.set V_T0, 3
.set V_T1, 4
.set V_ACC, 5
.set V_RESIDUAL, 6
.set V_SCALE, 7                                  // of the lane's row of a set
.set V_Q, 8                                      // 4 per set: products of the second wave
.set V_D, 16                                     // 4 per contribution of a batch
.if NETRA_QUANTIZE
.set V_F, V_D                                    // 32 activations in f32
.set V_RAW, V_F + 16                             // in bf16, first set
.set V_X, V_F + 32                               // 8 per set
.set V_RAW1, V_X + 8 * DN_SETS                   // in bf16, second set
.set V_A, V_RAW1 + 16 * (DN_SETS - 1)            // 8 per contribution
.else
.set V_X, V_D + 16
.set V_A, V_X + 8 * DN_SETS
.endif

// All loads of a wave with SLOTS slots.
.macro dn_stream slots
  .set dn_c, (\slots) * DN_KB
  .set dn_set, 0
  .rept (dn_c + 15) / 16
    .if dn_c - 16 * dn_set < 16
      netra_moe_x_offset V_XOFF, V_LANE, V_T0, dn_c-16*dn_set, DN_BYTES
    .else
      netra_moe_x_offset V_XOFF, V_LANE, V_T0, 16, DN_BYTES
    .endif
    .if NETRA_QUANTIZE
      .if dn_set > 0
        netra_pointer_add_const S_X, S_X, 4096
        netra_moe_load_bf16 V_RAW1, V_XOFF, S_X, 0
      .else
        netra_moe_load_bf16 V_RAW, V_XOFF, S_X, 0
      .endif
    .else
      netra_moe_load_x V_X+8*dn_set, V_XOFF, S_X, dn_set
    .endif
    .set dn_set, dn_set + 1
  .endr
  netra_load_scalar_run S_ID, S_IDS, \slots
  netra_load_scalar_run S_ROUTE, S_ROUTES, \slots
  .if !NETRA_QUANTIZE
    .if NETRA_SCALE_GROUP_MAJOR
      .set dn_i, 0
      .rept dn_c
        s_load_dword s[S_SX+dn_i], s[S_X_SCALE:S_X_SCALE+1], 4*(NETRA_S*(dn_i%DN_KB)+dn_i/DN_KB)
        .set dn_i, dn_i + 1
      .endr
    .else
      netra_load_scalar_run S_SX, S_X_SCALE, dn_c
    .endif
  .endif
  s_mov_b32 s[S_MASK], 0
  netra_wait_scalar
  .set dn_i, 0
  .rept \slots
    // Without an expert: the first one's weights, which nobody will look at.
    s_cmp_lt_u32 s[S_ID+dn_i], NETRA_E
    s_cselect_b32 s[S_ID+dn_i], s[S_ID+dn_i], 0
    s_cselect_b32 s[S_TMP], 1 << dn_i, 0
    s_or_b32 s[S_MASK], s[S_MASK], s[S_TMP]
    netra_moe_expert_scales S_TMP, S_ID+dn_i, 2, S_WEIGHT_SCALE, NETRA_N, DN_KB
    netra_load_scalar_run S_SW+DN_KBS*dn_i, S_TMP, DN_KB
    netra_moe_expert_tile S_TILE, S_ID+dn_i, 2, S_WEIGHT, NETRA_N, NETRA_K, S_TMP
    .set dn_b, 0
    .rept DN_KB
      netra_moe_load_block V_A+8*(DN_KB*dn_i+dn_b), V_WOFF, S_TILE, dn_b
      .set dn_b, dn_b + 1
    .endr
    .set dn_i, dn_i + 1
  .endr
  .if NETRA_QUANTIZE
    .set dn_set, 0
    .rept (dn_c + 15) / 16
      // Younger: the second set and the weights.
      netra_wait_memory (4 * ((dn_c + 15) / 16 - 1 - dn_set) + 2 * dn_c)
      .if dn_set == 0
        netra_moe_quantize V_X, V_RAW, V_F, V_SCALE, V_T0, V_T1
      .else
        netra_moe_quantize V_X+8, V_RAW1, V_F, V_SCALE, V_T0, V_T1
      .endif
      .set dn_b, 16 * dn_set
      .rept 16
        .if dn_b < dn_c
          v_readlane_b32 s[S_SX+dn_b], v[V_SCALE], (dn_b % 16) ^ ((dn_b & 8) / 2)
        .endif
        .set dn_b, dn_b + 1
      .endr
      .set dn_set, dn_set + 1
    .endr
  .endif
  netra_wait_scalar                              // weight scales
.endm

// Contributions B .. B + COUNT - 1, of one slot, in a batch that began at BATCH. KEEP 1: the
// products stay in V_Q (EXEC has their group); 0: they are added to the sum.
.macro dn_products b, count, batch, keep
  s_bitcmp0_b32 s[S_MASK], (\b) / DN_KB
  s_cbranch_scc1 .Ldn_masked\@
  .set dn_j, \b
  .rept \count
    .set dn_d, V_D + 5 * (dn_j - (\batch))       // register b % 4 of its result
    netra_moe_scale dn_d, S_SX+dn_j, S_SW+DN_KBS*(dn_j/DN_KB)+dn_j%DN_KB
    .if \keep
      v_mul_f32 v[V_Q+4*(dn_j/16)+dn_j%4], s[S_ROUTE+dn_j/DN_KB], v[dn_d]
    .else
      v_mul_f32 v[dn_d], s[S_ROUTE+dn_j/DN_KB], v[dn_d]
      v_add_f32 v[V_ACC], v[V_ACC], v[dn_d]
    .endif
    .set dn_j, dn_j + 1
  .endr
.Ldn_masked\@:
.endm

// The contributions of a wave with C of them, in batches of one lane group.
.macro dn_multiply c, keep
  .set dn_b, 0
  .rept ((\c) + 3) / 4
    .set dn_end, dn_b + 4
    .if dn_end > (\c)
      .set dn_end, \c
    .endif
    netra_moe_group dn_group, dn_b
    .set dn_i, dn_b
    .rept dn_end - dn_b
      netra_wait_memory (2 * ((\c) - 1 - dn_i))  // younger: the blocks after it
      netra_mfma_fp8_16x16x128 V_D+4*(dn_i-dn_b), V_X+8*(dn_i/16), V_A+8*dn_i
      .set dn_i, dn_i + 1
    .endr
    // Between a result and its reader stand the waits and MFMAs after it, what
    // follows here, and two instructions for each slot of the batch up to its own,
    // should the others' be skipped: the least for the last slot's first result.
    .set dn_passed, 0
    .if \keep
      netra_moe_exec_group dn_group
      .set dn_passed, 2
    .elseif dn_b > 0
      netra_moe_hop V_ACC, dn_last, dn_group, V_T0
      .set dn_passed, 4
    .endif
    .set dn_i, (dn_end - 1) / DN_KB              // the last slot, and its first result
    .set dn_n, dn_i - dn_b / DN_KB + 1
    .set dn_i, dn_i * DN_KB
    .if dn_i < dn_b
      .set dn_i, dn_b
    .endif
    netra_mfma_settle_8_passes dn_passed+2*dn_n+2*(dn_end-1-dn_i)
    .set dn_i, dn_b
    .rept 4
      .if dn_i < dn_end
        .set dn_n, DN_KB - dn_i % DN_KB
        .if dn_n > dn_end - dn_i
          .set dn_n, dn_end - dn_i
        .endif
        dn_products dn_i, dn_n, dn_b, \keep
        .set dn_i, dn_i + dn_n
      .endif
    .endr
    .set dn_last, dn_group
    .set dn_b, dn_b + 4
  .endr
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_moe_load_pointers
  netra_lane_and_wave V_LANE, S_WAVE, V_T0
  v_lshlrev_b32 v[V_WOFF], 4, v[V_LANE]
  s_mul_i32 s[S_ROW], s3, NETRA_S
  s_mul_i32 s[S_TMP], s[S_WAVE], DN_SLOTS
  s_add_u32 s[S_ROW], s[S_ROW], s[S_TMP]
  netra_wait_scalar
  s_lshl_b32 s[S_TMP], s[S_ROW], 2
  netra_pointer_add S_IDS, S_IDS, S_TMP
  netra_pointer_add S_ROUTES, S_ROUTES, S_TMP
  s_mul_i32 s[S_TMP], s[S_ROW], DN_BYTES * NETRA_K
  netra_pointer_add S_X, S_X, S_TMP
  .if !NETRA_QUANTIZE
    .if NETRA_SCALE_GROUP_MAJOR
      s_mul_i32 s[S_TMP], s3, NETRA_S * (DN_KB - 1) // the other scales of the tokens before
      s_add_u32 s[S_TMP], s[S_TMP], s[S_ROW]
      s_lshl_b32 s[S_TMP], s[S_TMP], 2
    .else
      s_mul_i32 s[S_TMP], s[S_ROW], 4 * DN_KB
    .endif
    netra_pointer_add S_X_SCALE, S_X_SCALE, S_TMP
  .endif
  s_cmp_lg_u32 s[S_WAVE], 0
  s_cbranch_scc1 .Ldn_second_\name

  // Result and residual: row m, columns 16 s2 .. .
  s_mul_i32 s[S_TMP], s3, NETRA_N
  s_lshl_b32 s[S_TMP+1], s2, 4
  s_add_u32 s[S_TMP], s[S_TMP], s[S_TMP+1]
  s_lshl_b32 s[S_TMP], s[S_TMP], 1
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  .if NETRA_HAS_RESIDUAL
    netra_pointer_add S_RESIDUAL, S_RESIDUAL, S_TMP
    v_and_b32 v[V_T0], 15, v[V_LANE]
    v_lshlrev_b32 v[V_T0], 1, v[V_T0]
    global_load_ushort v[V_RESIDUAL], v[V_T0], s[S_RESIDUAL:S_RESIDUAL+1]
  .endif
  v_mov_b32 v[V_ACC], 0
  dn_stream DN_SLOTS
  dn_multiply DN_C0, 0
  netra_barrier
  .set dn_set, 0
  .rept (DN_C1 + 15) / 16
    ds_read_b128 v[V_D+4*dn_set:V_D+4*dn_set+3], v[V_WOFF] offset:1024*dn_set
    .set dn_set, dn_set + 1
  .endr
  netra_wait_lds
  .set dn_b, 0
  .rept DN_C1
    .if dn_b % 4 == 0
      netra_moe_group dn_group, dn_b
      netra_moe_hop V_ACC, dn_last, dn_group, V_T0
      .set dn_last, dn_group
    .endif
    v_add_f32 v[V_ACC], v[V_ACC], v[V_D+4*(dn_b/16)+dn_b%4]
    .set dn_b, dn_b + 1
  .endr

  // Lane c of the last group has column c of the tile.
  netra_moe_exec_group dn_last
  v_and_b32 v[V_T0], 15, v[V_LANE]
  v_lshlrev_b32 v[V_T0], 1, v[V_T0]
  .if NETRA_HAS_RESIDUAL
    v_lshlrev_b32 v[V_RESIDUAL], 16, v[V_RESIDUAL]
    v_add_f32 v[V_ACC], v[V_ACC], v[V_RESIDUAL]
  .endif
  netra_bf16_pack V_ACC, V_ACC, V_ACC
  global_store_short v[V_T0], v[V_ACC], s[S_RESULT:S_RESULT+1]
  s_endpgm

.Ldn_second_\name:
  .set dn_i, 0
  .rept 4 * ((DN_C1 + 15) / 16)
    v_mov_b32 v[V_Q+dn_i], 0
    .set dn_i, dn_i + 1
  .endr
  dn_stream NETRA_S-DN_SLOTS
  dn_multiply DN_C1, 1
  s_mov_b64 exec, -1
  .set dn_set, 0
  .rept (DN_C1 + 15) / 16
    ds_write_b128 v[V_WOFF], v[V_Q+4*dn_set:V_Q+4*dn_set+3] offset:1024*dn_set
    .set dn_set, dn_set + 1
  .endr
  netra_barrier
  netra_kernel_end \name
.endm
