// Netra gfx950 kernel: down projection of routed experts and weighted sum, experts' weights read once.
// SPDX-License-Identifier: MIT
//
// What moe/down_reduce.s computes, to the bit, for several tokens, with each expert's weights
// read once, however many tokens chose it.
//
// Constants
//   NETRA_M, E, S  tokens (at most 32), experts, slots of a token; at most 512 rows (m, s)
//   NETRA_N, K     N a multiple of 128, K of 128, at most 512
//   NETRA_QUANTIZE 1: x is bf16
//   NETRA_HAS_RESIDUAL
//
// Schedule. Work-group (tile): 16 columns of all tokens, eight waves. Wave v looks for the
// experts v, v + 8, ... that somebody chose, three at a time, and has their weights and the
// activations of their first sixteen rows in flight before it multiplies (as
// moe/gate_up_grouped.s does); with bf16 activations two at a time, and it asks for the
// activations of each, which it quantizes, when their turn comes. Products go to LDS, 64 bytes for each row and K block; behind
// a barrier each wave adds those of four tokens in the order of slots and blocks.
//
// LDS. Row (m, s) has place m (S | 1) + s, so that four tokens' rows, and sixteen tokens' of
// one slot, lie in different banks; 16-byte pieces of a place are rotated by place / 4.
//
// Arithmetic. As in moe/down_reduce.s.

.include "include/moe_rows.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 32 && NETRA_S >= 1 && NETRA_M * NETRA_S <= 512), "NETRA_M must be 1..32 and NETRA_M * NETRA_S at most 512: eight waves add four tokens each"
netra_require (NETRA_E >= 1), "NETRA_E must be at least 1"
netra_require (NETRA_N > 0 && NETRA_N % 128 == 0), "NETRA_N must be a multiple of 128"
netra_require (NETRA_K > 0 && NETRA_K % 128 == 0 && NETRA_K <= 512), "NETRA_K must be a multiple of 128 up to 512: a wave holds three tiles"

.set DG_WAVES, 8
.set DG_EXPERTS, 3 - NETRA_QUANTIZE              // of a wave, in flight
.set DG_KB, NETRA_K / 128                        // K blocks
.set DG_ROWS, NETRA_M * NETRA_S
.set DG_ROUNDS, (DG_ROWS + 63) / 64
.set DG_PITCH, NETRA_S | 1                       // places of a token
.set DG_PLACES, NETRA_M * DG_PITCH
.set DG_LISTS, DG_WAVES * DG_EXPERTS * DG_ROUNDS * 256

netra_require (NETRA_S * DG_KB <= 64 && DG_KB * DG_PLACES * 64 <= 65536), "NETRA_S * NETRA_K / 128 must be at most 64, with NETRA_M 1024 in all"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "an expert's weights must be smaller than 2 GiB"
netra_require (NETRA_E * (NETRA_N / 128) * DG_KB <= 0x1fffffff), "the weight scales must be smaller than 2 GiB"
netra_require (NETRA_BLOCK_X == 64 * DG_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 512 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N / 16 && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_N / 16 x 1 x 1"
netra_require (NETRA_STATIC_LDS == DG_KB * DG_PLACES * 64 + DG_LISTS), "NETRA_STATIC_LDS must be 64 bytes per place and K block, and 6144 (bf16: 4096) per 64 rows"

// Scalars
.set S_EXPERT, 4
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
.set S_FOUND, 26
.set S_BASE, 27
.set S_MASK, 28                                  // 2 per 64 rows, 8 of them
.set S_COUNT, 44                                 // 1 per expert in flight
.set S_VALID, 48                                 // 2 per expert
.set S_SW, 56                                    // 4 per expert
// Vectors
.set V_LANE, 0
.set V_WOFF, 1
.set V_GROUP, 2                                  // lane group
.set V_T0, 3
.set V_T1, 4
.set V_OFFSET, 5
.set V_RESIDUAL, 6
.set V_ACC, 7
.set V_ID, 8                                     // 1 per 64 rows, 8 of them
.set V_LIST, 16                                  // 1 per expert: its list in LDS
.set V_PLACE, 19                                 // 1 per expert: the lane's products in LDS
.set V_ROUTE, 22                                 // 2 per expert
.set V_SX, 28                                    // 4 per expert
.set V_D, 40                                     // 4 per K block
.if NETRA_QUANTIZE
.set V_XOFF, 32                                  // 1 per expert: the lane's activations
.set V_F, 40                                     // 32 activations in f32
.set V_B, 72                                     // 8 per K block, of the expert whose turn it is
.set V_RAW, V_B + 8 * DG_KB                      // 16 per K block, in bf16
.set V_A, V_RAW + 16 * DG_KB                     // 8 per expert and K block
.else
.set V_B, 56                                     // 8 per expert and K block
.set V_A, V_B + 8 * DG_EXPERTS * DG_KB           // 8 per expert and K block
.endif
.set V_SUMMAND, 40                               // afterwards: a token's products

// Byte offset in LDS of piece v[V_PIECE] of place v[V_PLACE]: v[V]. V is neither.
.macro dg_address v, v_place, v_piece
  v_lshrrev_b32 v[\v], 2, v[\v_place]
  v_add_u32 v[\v], v[\v], v[\v_piece]
  v_and_b32 v[\v], 3, v[\v]
  v_lshlrev_b32 v[\v], 4, v[\v]
  v_lshl_add_u32 v[\v], v[\v_place], 6, v[\v]
.endm

// Requests the activations, scales and weights of the rows S_BASE .. of expert P.
.macro dg_rows p
  v_and_b32 v[V_T0], 15, v[V_LANE]
  v_add_u32 v[V_T0], s[S_BASE], v[V_T0]
  v_cmp_gt_u32 s[S_VALID+2*(\p):S_VALID+2*(\p)+1], s[S_COUNT+(\p)], v[V_T0]
  s_sub_u32 s[S_TMP], s[S_COUNT+(\p)], 1
  v_min_u32 v[V_T0], s[S_TMP], v[V_T0]           // a row that exists
  v_lshl_add_u32 v[V_T0], v[V_T0], 2, v[V_LIST+(\p)]
  ds_read_b32 v[V_T0], v[V_T0]
  netra_wait_lds
  v_lshlrev_b32 v[V_OFFSET], 2, v[V_T0]
  global_load_dword v[V_ROUTE+2*(\p)], v[V_OFFSET], s[S_ROUTES:S_ROUTES+1]
  .if NETRA_QUANTIZE
  v_mul_u32_u24 v[V_XOFF+(\p)], 2 * NETRA_K, v[V_T0]
  v_lshl_add_u32 v[V_XOFF+(\p)], v[V_GROUP], 5, v[V_XOFF+(\p)]
  .else
  v_mul_u32_u24 v[V_OFFSET], 4 * DG_KB, v[V_T0]
  netra_load_vector_run V_SX+4*(\p), V_OFFSET, S_X_SCALE, DG_KB, dg_scale_loads
  v_mul_u32_u24 v[V_OFFSET], NETRA_K, v[V_T0]
  v_lshl_add_u32 v[V_OFFSET], v[V_GROUP], 4, v[V_OFFSET]
  .set dg_b, 0
  .rept DG_KB
    .set dg_v, V_B + 8 * (DG_KB * (\p) + dg_b)
    global_load_dwordx4 v[dg_v:dg_v+3], v[V_OFFSET], s[S_X:S_X+1] offset:128*dg_b
    global_load_dwordx4 v[dg_v+4:dg_v+7], v[V_OFFSET], s[S_X:S_X+1] offset:128*dg_b+64
    .set dg_b, dg_b + 1
  .endr
  .endif
  .if !(NETRA_S & 1)
    netra_moe_token V_T1, V_T0, NETRA_S, S_TMP   // the places that no row has
    v_add_u32 v[V_T0], v[V_T0], v[V_T1]
  .endif
  dg_address V_PLACE+(\p), V_T0, V_GROUP
.endm

// The wave's next expert that has rows, and all loads for it; ENOUGH when there is none.
.macro dg_find p, enough
.Ldg_find\@:
  s_add_u32 s[S_EXPERT], s[S_EXPERT], DG_WAVES
  s_cmp_ge_u32 s[S_EXPERT], NETRA_E
  s_cbranch_scc1 \enough
  netra_moe_ballot S_MASK, S_COUNT+(\p), V_ID, S_EXPERT, DG_ROWS, S_TMP
  s_cbranch_scc0 .Ldg_find\@
  netra_moe_expert_scales S_TMP, S_EXPERT, 2, S_WEIGHT_SCALE, NETRA_N, DG_KB
  netra_load_scalar_run S_SW+4*(\p), S_TMP, DG_KB
  netra_moe_expert_tile S_TILE, S_EXPERT, 2, S_WEIGHT, NETRA_N, NETRA_K, S_TMP
  .set dg_b, 0
  .rept DG_KB
    netra_moe_load_block V_A+8*(DG_KB*(\p)+dg_b), V_WOFF, S_TILE, dg_b
    .set dg_b, dg_b + 1
  .endr
  netra_moe_list S_MASK, V_LIST+(\p), V_LANE, V_T0, V_T1, DG_ROWS, S_TMP
  s_mov_b32 s[S_BASE], 0
  dg_rows \p                                     // waits for the weight scales, too
  s_add_u32 s[S_FOUND], s[S_FOUND], 1
.endm

// The products of expert P, sixteen rows at a time.
.macro dg_products p
  .if NETRA_QUANTIZE
  .set dg_x, V_B
  .set dg_sx, V_SX
  .else
  .set dg_x, V_B + 8 * DG_KB * (\p)
  .set dg_sx, V_SX + 4 * (\p)
  .endif
  s_mov_b32 s[S_BASE], 0
  .if !NETRA_QUANTIZE
  // Younger: what the later experts of a full round have asked for.
  netra_wait_memory ((DG_EXPERTS - 1 - (\p)) * (4 * DG_KB + 1 + dg_scale_loads))
  .endif
.Ldg_pass\@:
  .if NETRA_QUANTIZE
    .set dg_b, 0
    .rept DG_KB
      netra_moe_load_bf16 V_RAW+16*dg_b, V_XOFF+(\p), S_X, 256*dg_b
      .set dg_b, dg_b + 1
    .endr
    .set dg_b, 0
    .rept DG_KB
      netra_wait_memory (4 * (DG_KB - 1 - dg_b)) // younger: the blocks after it
      netra_moe_quantize V_B+8*dg_b, V_RAW+16*dg_b, V_F, V_SX+dg_b, V_T0, V_T1
      .set dg_b, dg_b + 1
    .endr
    s_nop 1                                      // VALU writes VGPR, MFMA reads it: 2
  .endif
  .set dg_b, 0
  .rept DG_KB
    netra_mfma_fp8_16x16x128 V_D+4*dg_b, V_A+8*(DG_KB*(\p)+dg_b), dg_x+8*dg_b
    .set dg_b, dg_b + 1
  .endr
  netra_mfma_settle_8_passes DG_KB-1             // the first is read first
  .set dg_b, 0
  .rept DG_KB
    .set dg_d, V_D + 4 * dg_b
    .set dg_r, V_ROUTE + 2 * (\p)
    netra_scale_tile_rows dg_d, dg_d, dg_sx+dg_b, S_SW+4*(\p)+dg_b, S_TMP, 1
    v_pk_mul_f32 v[dg_d:dg_d+1], v[dg_d:dg_d+1], v[dg_r:dg_r+1] op_sel_hi:[1,0]
    v_pk_mul_f32 v[dg_d+2:dg_d+3], v[dg_d+2:dg_d+3], v[dg_r:dg_r+1] op_sel_hi:[1,0]
    .set dg_b, dg_b + 1
  .endr
  s_mov_b64 exec, s[S_VALID+2*(\p):S_VALID+2*(\p)+1]
  .set dg_b, 0
  .rept DG_KB
    ds_write_b128 v[V_PLACE+(\p)], v[V_D+4*dg_b:V_D+4*dg_b+3] offset:64*DG_PLACES*dg_b
    .set dg_b, dg_b + 1
  .endr
  s_mov_b64 exec, -1
  s_add_u32 s[S_BASE], s[S_BASE], 16
  s_cmp_ge_u32 s[S_BASE], s[S_COUNT+(\p)]
  s_cbranch_scc1 .Ldg_done\@
  dg_rows \p
  .if !NETRA_QUANTIZE
  netra_wait_memory 0
  .endif
  s_branch .Ldg_pass\@
.Ldg_done\@:
.endm

// Zeros in the places of round ROUND's rows whose id is none of an expert's.
.macro dg_zeros round
  v_cmp_le_u32 s[S_MASK:S_MASK+1], s[S_TMP+1], v[V_ID+(\round)]
  netra_moe_existing S_MASK, \round, DG_ROWS
  s_mov_b64 exec, s[S_MASK:S_MASK+1]
  s_cbranch_execz .Ldg_none\@
  v_add_u32 v[V_T0], 64 * (\round), v[V_LANE]
  .if !(NETRA_S & 1)
    netra_moe_token V_T1, V_T0, NETRA_S, S_TMP
    v_add_u32 v[V_T0], v[V_T0], v[V_T1]
  .endif
  v_lshlrev_b32 v[V_T0], 6, v[V_T0]
  .set dg_b, 0
  .rept 4 * DG_KB
    ds_write_b128 v[V_T0], v[V_D:V_D+3] offset:64*DG_PLACES*(dg_b/4)+16*(dg_b%4)
    .set dg_b, dg_b + 1
  .endr
.Ldg_none\@:
  s_mov_b64 exec, -1
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_moe_load_pointers
  netra_lane_and_wave V_LANE, S_WAVE, V_T0
  v_lshlrev_b32 v[V_WOFF], 4, v[V_LANE]
  v_lshrrev_b32 v[V_GROUP], 4, v[V_LANE]
  s_mul_i32 s[S_TMP], s[S_WAVE], DG_EXPERTS * DG_ROUNDS * 256
  s_add_u32 s[S_TMP], s[S_TMP], DG_KB * DG_PLACES * 64
  .set dg_p, 0
  .rept DG_EXPERTS
    v_mov_b32 v[V_LIST+dg_p], s[S_TMP]
    s_add_u32 s[S_TMP], s[S_TMP], DG_ROUNDS * 256
    v_mov_b32 v[V_ROUTE+2*dg_p+1], 0             // partners of packed operands
    .if DG_KB % 2
      s_mov_b32 s[S_SW+4*dg_p+DG_KB], 0
      v_mov_b32 v[V_SX+4*dg_p+DG_KB], 0
    .endif
    .set dg_p, dg_p + 1
  .endr
  s_sub_u32 s[S_EXPERT], s[S_WAVE], DG_WAVES
  netra_wait_scalar
  netra_moe_load_ids V_ID, V_LANE, V_T0, S_IDS, DG_ROWS
  netra_wait_memory 0

  s_cmp_lg_u32 s[S_WAVE], 0
  s_cbranch_scc1 .Ldg_round_\name
  .set dg_i, 0
  .rept 4
    v_mov_b32 v[V_D+dg_i], 0
    .set dg_i, dg_i + 1
  .endr
  s_mov_b32 s[S_TMP+1], NETRA_E
  .set dg_round, 0
  .rept DG_ROUNDS
    dg_zeros dg_round
    .set dg_round, dg_round + 1
  .endr

.Ldg_round_\name:
  s_mov_b32 s[S_FOUND], 0
  .set dg_p, 0
  .rept DG_EXPERTS
    dg_find dg_p, .Ldg_enough_\name
    .set dg_p, dg_p + 1
  .endr
.Ldg_enough_\name:
  .if !NETRA_QUANTIZE
  s_cmp_eq_u32 s[S_FOUND], DG_EXPERTS
  s_cbranch_scc1 .Ldg_full_\name
  netra_wait_memory 0                            // fewer loads than a full round counts
.Ldg_full_\name:
  .endif
  .set dg_p, 0
  .rept DG_EXPERTS
    s_cmp_le_u32 s[S_FOUND], dg_p
    s_cbranch_scc1 .Ldg_sum_\name
    dg_products dg_p
    .set dg_p, dg_p + 1
  .endr
  s_branch .Ldg_round_\name

  // Wave v, lane group g: token 4 v + g, column l % 16.
.Ldg_sum_\name:
  s_lshl_b32 s[S_TMP], s[S_WAVE], 2
  v_add_u32 v[V_T0], s[S_TMP], v[V_GROUP]        // token
  s_mov_b32 s[S_TMP], 2 * NETRA_N
  v_mul_lo_u32 v[V_OFFSET], v[V_T0], s[S_TMP]
  v_and_b32 v[V_T1], 15, v[V_LANE]
  v_lshl_add_u32 v[V_OFFSET], v[V_T1], 1, v[V_OFFSET]
  s_lshl_b32 s[S_TMP], s2, 5
  v_add_u32 v[V_OFFSET], s[S_TMP], v[V_OFFSET]
  v_cmp_gt_u32 vcc, NETRA_M, v[V_T0]
  s_mov_b64 s[S_VALID:S_VALID+1], vcc
  .if NETRA_HAS_RESIDUAL
    s_mov_b64 exec, vcc
    global_load_ushort v[V_RESIDUAL], v[V_OFFSET], s[S_RESIDUAL:S_RESIDUAL+1]
    s_mov_b64 exec, -1
  .endif
  netra_barrier
  s_mov_b64 exec, s[S_VALID:S_VALID+1]
  s_cbranch_execz .Ldg_end_\name
  v_mul_u32_u24 v[V_T0], DG_PITCH, v[V_T0]       // the token's first place
  v_and_b32 v[V_WOFF], 3, v[V_LANE]
  v_lshlrev_b32 v[V_WOFF], 2, v[V_WOFF]          // in the piece
  v_lshrrev_b32 v[V_T1], 2, v[V_T1]              // piece
  .set dg_s, 0
  .rept NETRA_S
    dg_address V_ACC, V_T0, V_T1
    v_add_u32 v[V_ACC], v[V_ACC], v[V_WOFF]
    .set dg_b, 0
    .rept DG_KB
      ds_read_b32 v[V_SUMMAND+DG_KB*dg_s+dg_b], v[V_ACC] offset:64*DG_PLACES*dg_b
      .set dg_b, dg_b + 1
    .endr
    v_add_u32 v[V_T0], 1, v[V_T0]
    .set dg_s, dg_s + 1
  .endr
  v_mov_b32 v[V_ACC], 0
  netra_wait_lds
  .set dg_b, 0
  .rept NETRA_S * DG_KB
    v_add_f32 v[V_ACC], v[V_ACC], v[V_SUMMAND+dg_b]
    .set dg_b, dg_b + 1
  .endr
  .if NETRA_HAS_RESIDUAL
    netra_wait_memory 0
    v_lshlrev_b32 v[V_RESIDUAL], 16, v[V_RESIDUAL]
    v_add_f32 v[V_ACC], v[V_ACC], v[V_RESIDUAL]
  .endif
  netra_bf16_pack V_ACC, V_ACC, V_ACC
  global_store_short v[V_OFFSET], v[V_ACC], s[S_RESULT:S_RESULT+1]
.Ldg_end_\name:
  netra_kernel_end \name
.endm
