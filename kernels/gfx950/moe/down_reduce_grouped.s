// Netra gfx950 kernel: down projection of routed experts and weighted sum, experts' weights read once.
// SPDX-License-Identifier: MIT
//
// What moe/down_reduce.s computes, to the bit, for several tokens, with each expert's weights
// read once, however many tokens chose it.
//
// Constants
//   NETRA_M, E, S  tokens (at most 32), experts, slots of a token
//   NETRA_N, K     multiples of 128
//   NETRA_CHUNK    K blocks at a time: 1, 2 or 4, a divisor of K / 128
//   NETRA_TOKENS   M rounded up to a power of two
//   NETRA_QUANTIZE 1: x is bf16
//   NETRA_HAS_RESIDUAL
//
// Schedule. Work-group (strip): 8 columns of all tokens, eight waves. The experts that somebody
// chose, and with them their rows, are dealt to the waves (include/moe_deal.inc), which take
// up to 18 pairs of K blocks at a time: a round. A wave asks for the activations of the first
// 24 rows of the round and for all its weights, then multiplies, eight rows at a time. bf16
// activations are asked for with the ids, quantized once and left in LDS in the order of the
// lists. Raw products go to LDS; behind a barrier they are scaled and added.
//
// Matrix core. Operand A is a pair of K blocks: rows 0 .. 7 are the strip's columns in the even
// block, 8 .. 15 in the odd one. Operand B alike has eight list rows in two blocks. Of the
// product, lanes c < 8 of groups 0, 1 and c >= 8 of groups 2, 3 mean something: list row
// c % 8, columns 4 (g % 2) .. + 3.
//
// LDS. The four products of half a strip, a block and a row are 16 bytes; the tokens of a slot
// are neighbours, so that those who chose one expert are in different banks.
//
// Arithmetic. As in moe/down_reduce.s.

.include "include/moe_deal.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 32 && NETRA_S >= 1 && NETRA_S <= 32), "NETRA_M must be 1..32 and NETRA_S 1..32"
netra_require (NETRA_E >= 1 && NETRA_E <= 4096), "NETRA_E must be 1..4096: LDS has a word for each"
netra_require (NETRA_N > 0 && NETRA_N % 128 == 0 && NETRA_N <= 0x100000), "NETRA_N must be a multiple of 128 up to 1048576"
netra_require (NETRA_K > 0 && NETRA_K % 128 == 0 && NETRA_K <= 4096), "NETRA_K must be a multiple of 128 up to 4096"
netra_require (NETRA_CHUNK == 1 || NETRA_CHUNK == 2 || NETRA_CHUNK == 4), "NETRA_CHUNK must be 1, 2 or 4"
netra_require (NETRA_TOKENS >= NETRA_M && NETRA_TOKENS <= 32 && (NETRA_TOKENS & (NETRA_TOKENS - 1)) == 0), "NETRA_TOKENS must be a power of two from NETRA_M up to 32"
netra_require (NETRA_K % (128 * NETRA_CHUNK) == 0), "NETRA_K must be a multiple of 128 * NETRA_CHUNK"

.set DG_WAVES, 8
.set DG_KB, NETRA_K / 128                        // K blocks
.set DG_PAIRS, (NETRA_CHUNK + 1) / 2             // of a chunk
.set DG_ROWS, NETRA_M * NETRA_S
.if NETRA_TOKENS == 1
.set DG_LOG, 0
.elseif NETRA_TOKENS == 2
.set DG_LOG, 1
.elseif NETRA_TOKENS == 4
.set DG_LOG, 2
.elseif NETRA_TOKENS == 8
.set DG_LOG, 3
.elseif NETRA_TOKENS == 16
.set DG_LOG, 4
.else
.set DG_LOG, 5
.endif
.set DG_ITEMS, NETRA_S * NETRA_TOKENS            // work-items that have rows, and gaps
.set DEAL_EXPERTS, 18 / DG_PAIRS                 // in flight
.if DEAL_EXPERTS > DEAL_CHOSEN
.set DEAL_EXPERTS, DEAL_CHOSEN
.endif
.if NETRA_QUANTIZE
.set DG_PASSES, 1                                // eight rows each, in registers
.elseif DG_ROWS > 16
.set DG_PASSES, 3
.else
.set DG_PASSES, (DG_ROWS + 7) / 8
.endif
.set DG_GROUP, 56 / (4 * DG_KB + 1)              // slots whose products are added together
.if DG_GROUP > NETRA_S
.set DG_GROUP, NETRA_S
.endif
.if DG_GROUP < 1
.set DG_GROUP, 1
.endif
// How bf16 activations are dealt to work-items: 16 bytes each.
.set DG_X_ROWS, 32 / NETRA_CHUNK                 // rows of a step
.if NETRA_CHUNK == 1
.set DG_X_LOG, 4                                 // of the work-items of a row
.elseif NETRA_CHUNK == 2
.set DG_X_LOG, 5
.else
.set DG_X_LOG, 6
.endif
.set DG_X_PART, 1                                // steps of a slot, where it has several
.set DG_X_SLOTS, 1                               // slots of a step, likewise
.if DG_X_ROWS < NETRA_TOKENS
.set DG_X_PART, NETRA_TOKENS / DG_X_ROWS
.else
.set DG_X_SLOTS, DG_X_ROWS / NETRA_TOKENS
.endif
.set DG_X_STEPS, (NETRA_S + DG_X_SLOTS - 1) / DG_X_SLOTS * DG_X_PART

// LDS
.set DG_HALF, (DG_KB * DG_ITEMS + 15) / 16 * 256 + 128 // products of half a strip; the other's are 32 banks on
.set LDS_X_SCALE, 2 * DG_HALF                    // a word per row and block, these two
.set LDS_SCALE, LDS_X_SCALE + 4 * DG_KB * DG_ITEMS
.set LDS_ROUTE, LDS_SCALE + 4 * DG_KB * DG_ITEMS // a word per row
.set LDS_DEAL, LDS_ROUTE + 2048
.set LDS_PLACE, LDS_DEAL + DEAL_LDS              // of a row in the list, with bf16 only
.set LDS_FIRST, LDS_PLACE + 2048 * NETRA_QUANTIZE // first row, by id
deal_layout
.set LDS_X, LDS_FIRST                            // afterwards: codes
.set DG_X_PITCH, 128 * NETRA_CHUNK + 16
.set DG_LDS, LDS_FIRST + 2048 * DEAL_FIRST_ROUNDS
.if NETRA_QUANTIZE && LDS_X + DG_ROWS * DG_X_PITCH > DG_LDS
.set DG_LDS, LDS_X + DG_ROWS * DG_X_PITCH
.endif

netra_require (DG_ITEMS <= 512), "NETRA_S * NETRA_TOKENS must be at most 512: a work-item has one row"
netra_require (LDS_FIRST + 2048 * DEAL_FIRST_ROUNDS <= 65536), "NETRA_K / 128 * NETRA_S * NETRA_TOKENS is too large for LDS"
netra_require (DG_LDS <= 163840), "the activations of all rows must fit LDS"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "an expert's weights must be smaller than 2 GiB"
netra_require (NETRA_E * (NETRA_N / 128) * DG_KB <= 0x1fffffff), "the weight scales must be smaller than 2 GiB"
netra_require (NETRA_BLOCK_X == 64 * DG_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 512 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N / 8 && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_N / 8 x 1 x 1"
netra_require (NETRA_STATIC_LDS == DG_LDS), "NETRA_STATIC_LDS must be what products, scales, lists and codes take"

// Scalars
.set S_BUCKET, 4                                 // 8 * round + wave
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
.set S_EXPERT, 26
.set S_COUNT, 27                                 // experts of the wave
.set S_LIVE, 28                                  // work-items with a row
.set S_VALID, 30                                 // whose row has an expert
.set S_NONE, 32                                  // whose row has none
.set S_SUM, 34                                   // lanes with a result
.set S_USEFUL, 36                                // lanes with products
.set S_ACTIVE, 38                                // of them those with a row in a pass
.set S_INDEX, 40                                 // 16-row tile of the strip
.set S_NEXT, 41                                  // first expert of the round
.set S_START, 42                                 // in the list: the round's first row
.set S_ROWS, 43                                  // of the round
.set S_LAST, 44
.set S_PASS, 45                                  // first row of the pass
.set S_XB, 46
.set S_LEADERS, 48                               // a lane per 16
// Vectors
.set V_ITEM, 0
.set V_LANE, 1
.set V_T0, 2
.set V_T1, 3
.set V_T2, 4
.set V_T3, 5
.set V_ROW, 6                                    // m S + s
.set V_ID, 7
.set V_FOUR, 8                                   // 4 times the work-item
.set V_ROUTE, 9
.set V_RESIDUAL, 10
.set V_OUT, 11
.set V_TOKEN, 19                                 // until rows are dealt, and for sums again
.set V_WOFF, 12                                  // lane's byte offset in a pair of blocks
.set V_XC, 13                                    // and in a row of activations
.set V_DC, 14                                    // and in a row's products
.set V_EIGHTH, 15                                // lane % 8
.set V_EXPERT, 16                                // lane j: id of the wave's expert j
.set V_START, 17                                 // lane b: first list place of bucket b
.set V_COUNT, 18                                 // lane b: its rows
.set V_FIRST, 19
.set V_BUCKET, 20
.set V_PLACE, 21
.set V_SLOT, 22                                  // 1 per pass: the expert of the lane's row
.set V_DST, V_SLOT + DG_PASSES                   // 1 per pass: where its products go
.if NETRA_QUANTIZE
.set V_XG, 24                                    // work-item's bytes of x
.set V_XP, 25                                    // 4 times its row of a step
.set V_XW, 26                                    // where its codes go
.set V_XS, 27                                    // and the scale
.set V_SW, 28                                    // DG_KB
.set V_RAW, (V_SW + DG_KB + 1) / 2 * 2           // 4 per step
.set V_F, V_RAW + 4 * DG_X_STEPS                 // 8
.set V_D, V_RAW                                  // 4 per pair
.set V_B, V_D + 4 * DG_PAIRS                     // 8 per pair
.if 4 * DG_X_STEPS + 8 > 12 * DG_PAIRS
.set V_A, V_F + 8                                // 8 per expert and pair
.else
.set V_A, V_B + 8 * DG_PAIRS
.endif
.else
.set V_SX, V_SLOT + 2 * DG_PASSES                // DG_KB
.set V_SW, V_SX + (DG_KB + 1) / 2 * 2            // DG_KB
.set V_D, V_SW + (DG_KB + 1) / 2 * 2             // 4 per pair
.set V_B, V_D + 4 * DG_PAIRS                     // 8 per pass and pair
.set V_A, V_B + 8 * DG_PAIRS * DG_PASSES
.endif
.set V_SUMMAND, V_D                              // afterwards: a token's products and scales

//===----------------------------------------------------------------------===//
// bf16 activations
//===----------------------------------------------------------------------===//

// The rows of step J: slot dg_s .. and token dg_m .. .
.macro dg_x_step j
  .set dg_m, (\j) % DG_X_PART * DG_X_ROWS
  .set dg_s, (\j) / DG_X_PART * DG_X_SLOTS
.endm

// Requests all activations of CHUNK.
.macro dg_x_request chunk
  v_lshrrev_b32 v[V_T0], 2, v[V_XP]
  v_lshrrev_b32 v[V_T1], DG_LOG, v[V_T0]         // slot of the step
  v_and_b32 v[V_T0], NETRA_TOKENS - 1, v[V_T0]
  .set dg_j, 0
  .rept DG_X_STEPS
    dg_x_step dg_j
    .if dg_m < NETRA_M
      .if dg_m + DG_X_ROWS / DG_X_SLOTS > NETRA_M
        v_cmp_gt_u32 vcc, NETRA_M - dg_m, v[V_T0]
        s_mov_b64 exec, vcc
      .endif
      .if dg_s + DG_X_SLOTS > NETRA_S
        v_cmp_gt_u32 vcc, NETRA_S - dg_s, v[V_T1]
        s_mov_b64 exec, vcc
      .endif
      netra_pointer_add_const S_XB, S_X, (dg_m*NETRA_S+dg_s)*2*NETRA_K+256*NETRA_CHUNK*(\chunk)
      global_load_dwordx4 v[V_RAW+4*dg_j:V_RAW+4*dg_j+3], v[V_XG], s[S_XB:S_XB+1]
      s_mov_b64 exec, -1
    .endif
    .set dg_j, dg_j + 1
  .endr
.endm

// Quantizes those of step J, 16 work-items a block, and leaves codes and scales in LDS.
.macro dg_x_quantize j, chunk
  dg_x_step \j
  ds_read_b32 v[V_T0], v[V_XP] offset:LDS_PLACE+4*(dg_s*NETRA_TOKENS+dg_m)
  netra_wait_lds
  v_cmp_lt_i32 vcc, -1, v[V_T0]                  // a row that has an expert
  s_mov_b64 exec, vcc
  s_cbranch_execz .Ldg_nobody\@
  netra_bf16_unpack_run V_F, V_RAW+4*(\j), 4
  netra_group_amax V_T1, V_F, 8
  netra_row16_reduce v_max_f32, V_T1
  netra_group_scale V_T1, V_T2, V_T1, V_T3
  netra_fp8_pack8 V_F, V_F, V_T2
  s_and_b64 exec, exec, s[S_LEADERS:S_LEADERS+1]
  ds_write_b32 v[V_XS], v[V_T1] offset:LDS_X_SCALE+4*(dg_s*NETRA_TOKENS+dg_m+DG_ITEMS*NETRA_CHUNK*(\chunk))
  s_mov_b64 exec, vcc
  v_mul_u32_u24 v[V_T2], DG_X_PITCH, v[V_T0]
  v_add_u32 v[V_T2], v[V_T2], v[V_XW]
  ds_write_b64 v[V_T2], v[V_F:V_F+1]
.Ldg_nobody\@:
  s_mov_b64 exec, -1
.endm

.macro dg_x_stage chunk
  .set dg_j, 0
  .rept DG_X_STEPS
    dg_x_step dg_j
    .if dg_m < NETRA_M
      dg_x_quantize dg_j, \chunk
    .endif
    .set dg_j, dg_j + 1
  .endr
  netra_barrier
.endm

//===----------------------------------------------------------------------===//
// A round
//===----------------------------------------------------------------------===//

// Pass J from S_PASS on: each lane's list row, and its activations of CHUNK. Lanes
// past the last row take that one, and no expert.
.macro dg_rows j, chunk
  s_add_u32 s[S_TMP], s[S_PASS], 8 * (\j)
  v_add_u32 v[V_T0], s[S_TMP], v[V_EIGHTH]
  v_cmp_gt_u32 s[S_ACTIVE:S_ACTIVE+1], s[S_ROWS], v[V_T0]
  s_and_b64 s[S_ACTIVE:S_ACTIVE+1], s[S_ACTIVE:S_ACTIVE+1], s[S_USEFUL:S_USEFUL+1]
  v_min_u32 v[V_T0], s[S_LAST], v[V_T0]
  v_add_u32 v[V_T0], s[S_START], v[V_T0]
  v_lshlrev_b32 v[V_T1], 2, v[V_T0]
  ds_read_b32 v[V_T1], v[V_T1] offset:LDS_LIST
  .if NETRA_QUANTIZE
  v_mul_u32_u24 v[V_T0], DG_X_PITCH, v[V_T0]
  v_add_u32 v[V_T0], v[V_T0], v[V_XC]
  .set dg_i, 0
  .rept DG_PAIRS
    ds_read_b128 v[V_B+8*dg_i:V_B+8*dg_i+3], v[V_T0] offset:256*dg_i
    ds_read_b128 v[V_B+8*dg_i+4:V_B+8*dg_i+7], v[V_T0] offset:256*dg_i+64
    .set dg_i, dg_i + 1
  .endr
  .endif
  netra_wait_lds
  .if !NETRA_QUANTIZE
  v_bfe_u32 v[V_T0], v[V_T1], 10, 10
  v_mul_u32_u24 v[V_T0], NETRA_K, v[V_T0]
  v_add_u32 v[V_T0], v[V_T0], v[V_XC]
  .set dg_i, 0
  .rept DG_PAIRS
    .set dg_v, V_B + 8 * (DG_PAIRS * (\j) + dg_i)
    global_load_dwordx4 v[dg_v:dg_v+3], v[V_T0], s[S_X:S_X+1] offset:128*NETRA_CHUNK*(\chunk)+256*dg_i
    global_load_dwordx4 v[dg_v+4:dg_v+7], v[V_T0], s[S_X:S_X+1] offset:128*NETRA_CHUNK*(\chunk)+256*dg_i+64
    .set dg_i, dg_i + 1
  .endr
  .endif
  v_lshrrev_b32 v[V_SLOT+(\j)], 20, v[V_T1]
  v_cndmask_b32 v[V_SLOT+(\j)], -1, v[V_SLOT+(\j)], s[S_ACTIVE:S_ACTIVE+1]
  v_and_b32 v[V_DST+(\j)], 0x3ff, v[V_T1]
  v_lshl_add_u32 v[V_DST+(\j)], v[V_DST+(\j)], 4, v[V_DC]
.endm

// Requests the weights of the round's experts; of those that the wave does not have,
// by no lane, so that every round has as many loads.
.macro dg_weights chunk
  .set dg_p, 0
  .rept DEAL_EXPERTS
    s_add_u32 s[S_TMP], s[S_NEXT], dg_p
    v_readlane_b32 s[S_EXPERT], v[V_EXPERT], s[S_TMP]
    s_cmp_lt_u32 s[S_TMP], s[S_COUNT]
    s_cselect_b64 exec, -1, 0
    .if NETRA_CHUNK == 1                         // no odd block
      s_and_b32 exec_lo, exec_lo, 0x00ff00ff
      s_and_b32 exec_hi, exec_hi, 0x00ff00ff
    .endif
    netra_moe_expert_tile S_TILE, S_EXPERT, S_INDEX, S_WEIGHT, NETRA_N, NETRA_K, S_TMP
    .if (\chunk) > 0
      netra_pointer_add_const S_TILE, S_TILE, 2048*NETRA_CHUNK*(\chunk)
    .endif
    .set dg_i, 0
    .rept DG_PAIRS
      .if dg_i > 0
        netra_pointer_add_const S_TILE, S_TILE, 4096
      .endif
      .set dg_w, V_A + 8 * (DG_PAIRS * dg_p + dg_i)
      global_load_dwordx4 v[dg_w:dg_w+3], v[V_WOFF], s[S_TILE:S_TILE+1] nt
      global_load_dwordx4 v[dg_w+4:dg_w+7], v[V_WOFF], s[S_TILE:S_TILE+1] offset:1024 nt
      .set dg_i, dg_i + 1
    .endr
    s_mov_b64 exec, -1
    .set dg_p, dg_p + 1
  .endr
.endm

// The products of pass J with the round's expert P, if one of its rows chose it.
.macro dg_product p, j, chunk
  netra_wait_memory (2 * DG_PAIRS * (DEAL_EXPERTS - 1 - (\p))) // younger: later experts
  v_cmp_eq_u32 vcc, \p, v[V_SLOT+(\j)]
  s_mov_b64 exec, vcc
  s_cbranch_execz .Ldg_other\@
  .set dg_i, 0
  .rept DG_PAIRS
    netra_mfma_fp8_16x16x128 V_D+4*dg_i, V_A+8*(DG_PAIRS*(\p)+dg_i), V_B+8*(DG_PAIRS*(\j)+dg_i)
    .set dg_i, dg_i + 1
  .endr
  netra_mfma_settle_8_passes DG_PAIRS-1          // the first is read first
  .set dg_i, 0
  .rept DG_PAIRS
    ds_write_b128 v[V_DST+(\j)], v[V_D+4*dg_i:V_D+4*dg_i+3] offset:16*DG_ITEMS*(NETRA_CHUNK*(\chunk)+2*dg_i)
    .set dg_i, dg_i + 1
  .endr
.Ldg_other\@:
  s_mov_b64 exec, -1
.endm

// What the sums need of the work-item's row: scales, the weight of the slot, and zeros
// for everything when the row has no expert.
.macro dg_tables
  s_cmp_eq_u64 s[S_LIVE:S_LIVE+1], 0
  s_cbranch_scc1 .Ldg_nothing\@
  s_mov_b64 exec, s[S_NONE:S_NONE+1]
  s_cbranch_execz .Ldg_all\@
  v_mov_b32 v[V_ROUTE], 0
  .set dg_i, 0
  .rept 4
    v_mov_b32 v[V_D+dg_i], 0
    .set dg_i, dg_i + 1
  .endr
  v_lshlrev_b32 v[V_T0], 4, v[V_ITEM]
  .set dg_i, 0
  .rept DG_KB
    .if NETRA_QUANTIZE
    ds_write_b32 v[V_FOUR], v[V_ROUTE] offset:LDS_X_SCALE+4*DG_ITEMS*dg_i
    .else
    v_mov_b32 v[V_SX+dg_i], 0
    .endif
    ds_write_b128 v[V_T0], v[V_D:V_D+3] offset:16*DG_ITEMS*dg_i
    ds_write_b128 v[V_T0], v[V_D:V_D+3] offset:DG_HALF+16*DG_ITEMS*dg_i
    .set dg_i, dg_i + 1
  .endr
.Ldg_all\@:
  s_mov_b64 exec, s[S_LIVE:S_LIVE+1]
  ds_write_b32 v[V_FOUR], v[V_ROUTE] offset:LDS_ROUTE
  .set dg_i, 0
  .rept DG_KB
    .if !NETRA_QUANTIZE
    ds_write_b32 v[V_FOUR], v[V_SX+dg_i] offset:LDS_X_SCALE+4*DG_ITEMS*dg_i
    .endif
    ds_write_b32 v[V_FOUR], v[V_SW+dg_i] offset:LDS_SCALE+4*DG_ITEMS*dg_i
    .set dg_i, dg_i + 1
  .endr
  s_mov_b64 exec, -1
.Ldg_nothing\@:
.endm

// All rounds of CHUNK. S_COUNT 0: the wave has only rows' scales to bring.
.macro dg_chunk chunk
  s_mov_b32 s[S_NEXT], 0
  s_mov_b32 s[S_BUCKET], s[S_WAVE]
  s_cmp_eq_u32 s[S_COUNT], 0
  s_cbranch_scc1 .Ldg_idle\@
.Ldg_round\@:
  v_readlane_b32 s[S_START], v[V_START], s[S_BUCKET]
  v_readlane_b32 s[S_ROWS], v[V_COUNT], s[S_BUCKET]
  s_mov_b32 s[S_PASS], 0
  s_sub_u32 s[S_LAST], s[S_ROWS], 1
  .if !NETRA_QUANTIZE
    .set dg_pass, 0
    .rept DG_PASSES
      .if dg_pass > 0
        s_cmp_le_u32 s[S_ROWS], 8 * dg_pass
        s_cbranch_scc1 .Ldg_asked\@
      .endif
      dg_rows dg_pass, \chunk
      .set dg_pass, dg_pass + 1
    .endr
.Ldg_asked\@:
  .endif
  dg_weights \chunk
  .if (\chunk) == 0
    s_cmp_lg_u32 s[S_NEXT], 0
    s_cbranch_scc1 .Ldg_pass\@
    s_branch .Ldg_tables\@
  .endif
.Ldg_idle\@:
  .if (\chunk) == 0
    netra_wait_memory 0                          // fewer loads than a round counts
.Ldg_tables\@:
    netra_wait_memory (2 * DG_PAIRS * DEAL_EXPERTS) // younger: the round's weights
    dg_tables
  .endif
  s_cmp_eq_u32 s[S_COUNT], 0
  s_cbranch_scc1 .Ldg_done\@
.Ldg_pass\@:
  .set dg_pass, 0
  .rept DG_PASSES
    .if dg_pass > 0
      s_add_u32 s[S_TMP], s[S_PASS], 8 * dg_pass
      s_cmp_ge_u32 s[S_TMP], s[S_ROWS]
      s_cbranch_scc1 .Ldg_next\@
    .endif
    .if NETRA_QUANTIZE
      dg_rows dg_pass, \chunk
    .endif
    .set dg_p, 0
    .rept DEAL_EXPERTS
      dg_product dg_p, dg_pass, \chunk
      .set dg_p, dg_p + 1
    .endr
    .set dg_pass, dg_pass + 1
  .endr
  s_add_u32 s[S_PASS], s[S_PASS], 8 * DG_PASSES
  s_cmp_ge_u32 s[S_PASS], s[S_ROWS]
  s_cbranch_scc1 .Ldg_next\@
  .if !NETRA_QUANTIZE
    .set dg_pass, 0
    .rept DG_PASSES
      dg_rows dg_pass, \chunk
      .set dg_pass, dg_pass + 1
    .endr
    netra_wait_memory 0
  .endif
  s_branch .Ldg_pass\@
.Ldg_next\@:
  s_add_u32 s[S_BUCKET], s[S_BUCKET], 8
  s_add_u32 s[S_NEXT], s[S_NEXT], DEAL_EXPERTS
  s_cmp_lt_u32 s[S_NEXT], s[S_COUNT]
  s_cbranch_scc1 .Ldg_round\@
.Ldg_done\@:
.endm

// Adds what the N slots from SLOT on contribute: v[V_T2:V_T2+1] += weight of the slot *
// (weight scale * (x scale * product)), a rounding each, for two columns.
.macro dg_sum slot, n
  .if (\n) % 2
    v_mov_b32 v[V_SUMMAND+(\n)], 0               // the partner of a packed operand
  .endif
  .set dg_v, V_SUMMAND + ((\n) + 1) / 2 * 2
  .set dg_j, 0
  .rept \n
    ds_read_b32 v[V_SUMMAND+dg_j], v[V_T1] offset:LDS_ROUTE+4*NETRA_TOKENS*((\slot)+dg_j)
    .set dg_i, 0
    .rept DG_KB
      .set dg_o, DG_ITEMS * dg_i + NETRA_TOKENS * ((\slot) + dg_j)
      ds_read_b64 v[dg_v:dg_v+1], v[V_T0] offset:16*dg_o
      ds_read_b32 v[dg_v+2], v[V_T1] offset:LDS_X_SCALE+4*dg_o
      ds_read_b32 v[dg_v+3], v[V_T1] offset:LDS_SCALE+4*dg_o
      .set dg_v, dg_v + 4
      .set dg_i, dg_i + 1
    .endr
    .set dg_j, dg_j + 1
  .endr
  netra_wait_lds
  .set dg_v, V_SUMMAND + ((\n) + 1) / 2 * 2
  .set dg_j, 0
  .rept \n
    .set dg_r, V_SUMMAND + dg_j / 2 * 2
    .rept DG_KB
      v_pk_mul_f32 v[dg_v:dg_v+1], v[dg_v:dg_v+1], v[dg_v+2:dg_v+3] op_sel_hi:[1,0]
      v_pk_mul_f32 v[dg_v:dg_v+1], v[dg_v:dg_v+1], v[dg_v+2:dg_v+3] op_sel:[0,1] op_sel_hi:[1,1]
      .if dg_j % 2
        v_pk_mul_f32 v[dg_v:dg_v+1], v[dg_v:dg_v+1], v[dg_r:dg_r+1] op_sel:[0,1] op_sel_hi:[1,1]
      .else
        v_pk_mul_f32 v[dg_v:dg_v+1], v[dg_v:dg_v+1], v[dg_r:dg_r+1] op_sel_hi:[1,0]
      .endif
      v_pk_add_f32 v[V_T2:V_T2+1], v[V_T2:V_T2+1], v[dg_v:dg_v+1]
      .set dg_v, dg_v + 4
    .endr
    .set dg_j, dg_j + 1
  .endr
.endm

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

.macro netra_template name
  netra_kernel_begin \name
  netra_moe_load_pointers
  netra_lane_and_wave V_LANE, S_WAVE, V_T0
  v_and_b32 v[V_T0], NETRA_TOKENS - 1, v[V_ITEM]
  v_lshrrev_b32 v[V_T1], DG_LOG, v[V_ITEM]
  v_cmp_gt_u32 s[S_LIVE:S_LIVE+1], NETRA_M, v[V_T0]
  v_cmp_gt_u32 vcc, NETRA_S, v[V_T1]
  s_and_b64 s[S_LIVE:S_LIVE+1], s[S_LIVE:S_LIVE+1], vcc
  v_mad_u32_u24 v[V_ROW], v[V_T0], NETRA_S, v[V_T1]
  v_lshlrev_b32 v[V_FOUR], 2, v[V_ITEM]
  deal_clear
  netra_wait_scalar

  // Results: wave w has tokens 16 w .. , a lane two columns.
  s_mov_b64 s[S_SUM:S_SUM+1], 0
  s_cmp_ge_u32 s[S_WAVE], (NETRA_M + 15) / 16
  s_cbranch_scc1 .Ldg_no_results_\name
  s_lshl_b32 s[S_TMP], s[S_WAVE], 4
  v_lshrrev_b32 v[V_TOKEN], 2, v[V_LANE]
  v_add_u32 v[V_TOKEN], s[S_TMP], v[V_TOKEN]
  v_cmp_gt_u32 s[S_SUM:S_SUM+1], NETRA_M, v[V_TOKEN]
  v_mul_u32_u24 v[V_OUT], 2 * NETRA_N, v[V_TOKEN]
  v_and_b32 v[V_T1], 3, v[V_LANE]
  v_lshl_add_u32 v[V_OUT], v[V_T1], 2, v[V_OUT]
  s_lshl_b32 s[S_TMP], s2, 4
  v_add_u32 v[V_OUT], s[S_TMP], v[V_OUT]
  .if NETRA_HAS_RESIDUAL
    s_mov_b64 exec, s[S_SUM:S_SUM+1]
    global_load_dword v[V_RESIDUAL], v[V_OUT], s[S_RESIDUAL:S_RESIDUAL+1]
    s_mov_b64 exec, -1
  .endif
.Ldg_no_results_\name:

  // What does not depend on an id, behind the ids.
  v_lshlrev_b32 v[V_T1], 2, v[V_ROW]
  s_mov_b64 exec, s[S_LIVE:S_LIVE+1]
  global_load_dword v[V_ID], v[V_T1], s[S_IDS:S_IDS+1]
  global_load_dword v[V_ROUTE], v[V_T1], s[S_ROUTES:S_ROUTES+1]
  .set dg_scale_loads, 0
  .if !NETRA_QUANTIZE
  v_mul_u32_u24 v[V_T0], 4 * DG_KB, v[V_ROW]
  netra_load_vector_run V_SX, V_T0, S_X_SCALE, DG_KB, dg_scale_loads
  .endif
  s_mov_b64 exec, -1
  .set dg_x_loads, 0
  .if NETRA_QUANTIZE
    s_mov_b32 s[S_LEADERS], 0x00010001
    s_mov_b32 s[S_LEADERS+1], 0x00010001
    // Row r of a step is token r % P of slot r / P; column 8 c.
    v_and_b32 v[V_T3], 16 * NETRA_CHUNK - 1, v[V_ITEM]
    v_lshrrev_b32 v[V_XP], DG_X_LOG, v[V_ITEM]     // r
    v_and_b32 v[V_T0], NETRA_TOKENS - 1, v[V_XP]
    v_lshrrev_b32 v[V_T1], DG_LOG, v[V_XP]
    v_mad_u32_u24 v[V_T0], v[V_T0], NETRA_S, v[V_T1]
    v_mul_u32_u24 v[V_XG], 2 * NETRA_K, v[V_T0]
    v_lshl_add_u32 v[V_XG], v[V_T3], 4, v[V_XG]
    v_lshlrev_b32 v[V_XP], 2, v[V_XP]
    v_lshlrev_b32 v[V_XW], 3, v[V_T3]
    v_add_u32 v[V_XW], LDS_X, v[V_XW]
    v_lshrrev_b32 v[V_XS], 4, v[V_T3]            // block
    v_mul_u32_u24 v[V_XS], 4 * DG_ITEMS, v[V_XS]
    v_add_u32 v[V_XS], v[V_XS], v[V_XP]
    dg_x_request 0
    .set dg_j, 0
    .rept DG_X_STEPS
      dg_x_step dg_j
      .if dg_m < NETRA_M
        .set dg_x_loads, dg_x_loads + 1
      .endif
      .set dg_j, dg_j + 1
    .endr
  .endif

  // The lane's part of operands and products.
  s_mov_b32 s[S_USEFUL], 0x00ff00ff
  .if NETRA_CHUNK > 1
    s_mov_b32 s[S_USEFUL+1], 0xff00ff00
  .else
    s_mov_b32 s[S_USEFUL+1], 0
  .endif
  v_and_b32 v[V_EIGHTH], 7, v[V_LANE]
  v_lshrrev_b32 v[V_T0], 4, v[V_LANE]            // group
  v_bfe_u32 v[V_T1], v[V_LANE], 3, 1             // odd block
  v_lshlrev_b32 v[V_WOFF], 4, v[V_EIGHTH]
  v_lshl_add_u32 v[V_WOFF], v[V_T0], 8, v[V_WOFF]
  .if NETRA_CHUNK > 1
  v_lshl_add_u32 v[V_WOFF], v[V_T1], 11, v[V_WOFF]
  .endif
  s_and_b32 s[S_TMP], s2, 1                      // half of the 16-row tile
  s_lshl_b32 s[S_TMP], s[S_TMP], 7
  v_add_u32 v[V_WOFF], s[S_TMP], v[V_WOFF]
  s_lshr_b32 s[S_INDEX], s2, 1
  v_lshlrev_b32 v[V_XC], 4, v[V_T0]
  .if NETRA_CHUNK > 1
  v_lshl_add_u32 v[V_XC], v[V_T1], 7, v[V_XC]
  .endif
  .if NETRA_QUANTIZE
  v_add_u32 v[V_XC], LDS_X, v[V_XC]
  .endif
  v_and_b32 v[V_T0], 1, v[V_T0]
  v_mul_u32_u24 v[V_DC], DG_HALF, v[V_T0]
  v_mul_u32_u24 v[V_T1], 16 * DG_ITEMS, v[V_T1]
  v_add_u32 v[V_DC], v[V_DC], v[V_T1]
  .set dg_i, 0
  .rept DG_KB
    v_mov_b32 v[V_SW+dg_i], 0
    .set dg_i, dg_i + 1
  .endr
  .if NETRA_CHUNK == 1                           // the odd blocks that nobody loads
    .set dg_i, 0
    .rept 8 * DEAL_EXPERTS
      v_mov_b32 v[V_A+dg_i], 0
      .set dg_i, dg_i + 1
    .endr
  .endif
  netra_barrier                                  // LDS has its first values
  // Younger than the ids: weights of slots, scales, bf16 activations.
  netra_wait_memory (1 + dg_scale_loads + dg_x_loads)

  // The first row of each expert.
  s_mov_b32 s[S_TMP], NETRA_E
  v_cmp_gt_u32 s[S_VALID:S_VALID+1], s[S_TMP], v[V_ID]
  s_andn2_b64 s[S_NONE:S_NONE+1], s[S_LIVE:S_LIVE+1], s[S_VALID:S_VALID+1]
  s_mov_b64 exec, s[S_VALID:S_VALID+1]
  s_mov_b32 s[S_TMP], NETRA_N / 128
  v_mul_lo_u32 v[V_T0], v[V_ID], s[S_TMP]
  s_lshr_b32 s[S_TMP], s2, 4
  v_add_u32 v[V_T0], s[S_TMP], v[V_T0]
  s_mov_b32 s[S_TMP], 4 * DG_KB
  v_mul_lo_u32 v[V_T0], v[V_T0], s[S_TMP]
  netra_load_vector_run V_SW, V_T0, S_WEIGHT_SCALE, DG_KB, dg_weight_scale_loads
  deal_experts
  deal_rows
  .if NETRA_QUANTIZE
    ds_write_b32 v[V_FOUR], v[V_PLACE] offset:LDS_PLACE
  .endif
  netra_barrier
  .if NETRA_QUANTIZE
    netra_wait_memory dg_weight_scale_loads      // younger than the activations
    dg_x_stage 0
  .endif

  .set dg_chunk_number, 0
  .rept DG_KB / NETRA_CHUNK
    .if NETRA_QUANTIZE && dg_chunk_number > 0
      netra_barrier                              // the last codes are read
      dg_x_request dg_chunk_number
      netra_wait_memory 0
      dg_x_stage dg_chunk_number
    .endif
    dg_chunk dg_chunk_number
    .set dg_chunk_number, dg_chunk_number + 1
  .endr
  netra_barrier

  s_mov_b64 exec, s[S_SUM:S_SUM+1]
  s_cbranch_execz .Ldg_end_\name
  s_lshl_b32 s[S_TMP], s[S_WAVE], 4
  v_lshrrev_b32 v[V_TOKEN], 2, v[V_LANE]
  v_add_u32 v[V_TOKEN], s[S_TMP], v[V_TOKEN]
  v_bfe_u32 v[V_T0], v[V_LANE], 1, 1
  v_mul_u32_u24 v[V_T0], DG_HALF, v[V_T0]
  v_lshl_add_u32 v[V_T0], v[V_TOKEN], 4, v[V_T0]
  v_and_b32 v[V_T1], 1, v[V_LANE]
  v_lshl_add_u32 v[V_T0], v[V_T1], 3, v[V_T0]    // its products
  v_lshlrev_b32 v[V_T1], 2, v[V_TOKEN]           // its scales
  v_mov_b32 v[V_T2], 0
  v_mov_b32 v[V_T2+1], 0
  .set dg_s, 0
  .rept (NETRA_S + DG_GROUP - 1) / DG_GROUP
    .set dg_n, DG_GROUP
    .if dg_n > NETRA_S - dg_s
      .set dg_n, NETRA_S - dg_s
    .endif
    dg_sum dg_s, dg_n
    .set dg_s, dg_s + dg_n
  .endr
  .if NETRA_HAS_RESIDUAL
    netra_wait_memory 0
    netra_bf16_unpack V_SUMMAND, V_SUMMAND+1, V_RESIDUAL
    v_pk_add_f32 v[V_T2:V_T2+1], v[V_T2:V_T2+1], v[V_SUMMAND:V_SUMMAND+1]
  .endif
  netra_bf16_pack V_T2, V_T2, V_T2+1
  global_store_dword v[V_OUT], v[V_T2], s[S_RESULT:S_RESULT+1]
.Ldg_end_\name:
  netra_kernel_end \name
.endm
