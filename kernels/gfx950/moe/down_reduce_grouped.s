// Netra gfx950 kernel: down projection of routed experts and weighted sum, experts' weights read once.
// SPDX-License-Identifier: MIT
//
// What moe/down_reduce.s computes, to the bit, for several tokens, with each expert's weights
// read once for NETRA_UNIT rows that chose it.
//
// Constants
//   NETRA_M, E, S  tokens (at most 32), experts, slots of a token
//   NETRA_N, K     multiples of 128
//   NETRA_CHUNK    K blocks at a time: 1, 2 or 4, a divisor of K / 128
//   NETRA_COLUMNS  8 or 16, of a work-group
//   NETRA_WAVES    4 or 8, of a work-group
//   NETRA_UNIT     rows of an expert that are dealt together, at most
//   NETRA_EXPERTS  units of a round and wave, at most
//   NETRA_PASSES   rows of these, NETRA_COLUMNS in a pass
//   NETRA_SWEEPS   rows (and quads, see below) of a work-item
//   NETRA_TOKENS   M rounded up to a power of two
//   NETRA_QUANTIZE 1: x is bf16
//   NETRA_HAS_RESIDUAL
//   NETRA_SCALE_GROUP_MAJOR  as in moe/down_reduce.s
//
// Schedule. Work-group (strip): NETRA_COLUMNS columns of all tokens. A wave holds all ids, 64 per
// register. Each row (token and slot) is one wave's; if no row before it has the same expert,
// the wave multiplies the expert with the first NETRA_UNIT rows that have it, if NETRA_UNIT
// have it, with the next ones, and so on: a *unit*. It takes as many units at a time as fit
// its registers, a *round*: asks for the rows' activations and for all weights, then
// multiplies, NETRA_COLUMNS rows at a time. Raw products go to LDS; behind a barrier
// a work-item for each row and four columns scales them, behind another they are added.
//   bf16 activations are asked for with the ids, quantized once and left in LDS, 16-byte pieces of a
// row permuted by where the row is in the list of its wave: all rows of a pass are in different
// banks.
//
// Matrix core. Operand A is the strip's columns, operand B as many rows. Where these are 8, rows
// 0 .. 7 of both are an even K block and 8 .. 15 the odd one; of the product, lanes c < 8 of groups 0, 1
// and c >= 8 of groups 2, 3 mean something.
//
// LDS. The products of four columns (a *quad*), a block and a row are 16 bytes; the tokens of a
// slot are neighbours, so that those who chose one expert are in different banks; of more than
// 16 tokens the second 16 are stored by themselves. Scaled, each two
// blocks exchange: the first has columns 0 and 1 of both, the second 2 and 3.
//
// Arithmetic. As in moe/down_reduce.s.

.include "include/moe_deal.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 32 && NETRA_S >= 1 && NETRA_S <= 32), "NETRA_M must be 1..32 and NETRA_S 1..32"
netra_require (NETRA_E >= 1 && NETRA_E <= 65535), "NETRA_E must be 1..65535"
netra_require (NETRA_N > 0 && NETRA_N % 128 == 0 && NETRA_N <= 0x100000), "NETRA_N must be a multiple of 128 up to 1048576"
netra_require (NETRA_K > 0 && NETRA_K % 128 == 0 && NETRA_K <= 4096), "NETRA_K must be a multiple of 128 up to 4096"
netra_require (NETRA_CHUNK == 1 || NETRA_CHUNK == 2 || NETRA_CHUNK == 4), "NETRA_CHUNK must be 1, 2 or 4"
netra_require (NETRA_COLUMNS == 8 || NETRA_COLUMNS == 16), "NETRA_COLUMNS must be 8 or 16"
netra_require (!(NETRA_QUANTIZE && NETRA_CHUNK == 1 && NETRA_COLUMNS == 16)), "with bf16 and NETRA_CHUNK = 1, NETRA_COLUMNS must be 8: the codes of a row take half the banks, those that are read at once one half of them"
netra_require (NETRA_PASSES >= 1 && NETRA_PASSES * NETRA_COLUMNS <= 32), "NETRA_PASSES * NETRA_COLUMNS must be 1..32: a bit for each row"
netra_require (NETRA_WAVES == 4 || NETRA_WAVES == 8), "NETRA_WAVES must be 4 or 8"
netra_require (NETRA_TOKENS >= NETRA_M && NETRA_TOKENS <= 32 && (NETRA_TOKENS & (NETRA_TOKENS - 1)) == 0), "NETRA_TOKENS must be a power of two from NETRA_M up to 32"
netra_require (NETRA_SCALE_GROUP_MAJOR == 0 || (NETRA_SCALE_GROUP_MAJOR == 1 && !NETRA_QUANTIZE)), "NETRA_SCALE_GROUP_MAJOR must be 0, or 1 where x has scales"
netra_require (NETRA_K % (128 * NETRA_CHUNK) == 0), "NETRA_K must be a multiple of 128 * NETRA_CHUNK"

.set DG_KB, NETRA_K / 128                        // K blocks
.set DG_KB2, (DG_KB + 1) / 2 * 2
.set DG_ROWS, NETRA_M * NETRA_S
.set DG_IDS, (DG_ROWS + 63) / 64                 // registers of ids
netra_require (NETRA_EXPERTS >= 1 && NETRA_EXPERTS <= 27 - 2 * DG_IDS), "NETRA_EXPERTS must be 1..27 - 2 * ceil(NETRA_M * NETRA_S / 64): a wave has 102 scalar registers"
netra_require (NETRA_UNIT >= 1 && NETRA_UNIT <= NETRA_PASSES * NETRA_COLUMNS), "NETRA_UNIT must be at most NETRA_PASSES * NETRA_COLUMNS: a unit fits a round"
.set DG_SPAN, 16 / NETRA_COLUMNS                 // blocks of an MFMA
.set DG_STEPS, (NETRA_CHUNK + DG_SPAN - 1) / DG_SPAN // MFMAs of an expert, chunk and pass
.set DG_QUADS, NETRA_COLUMNS / 4
.set DG_QUAD_LOG, DG_QUADS / 2
.if NETRA_COLUMNS == 16
.set DG_PASS_LANES, 0xfffefffe                   // all but the first of a pass
.else
.set DG_PASS_LANES, 0xfefefefe
.endif
.if NETRA_WAVES == 4
.set DG_WAVE_ROWS, 0x11111111                    // of the first wave
.else
.set DG_WAVE_ROWS, 0x01010101
.endif
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
.set DG_ITEMS, NETRA_S * NETRA_TOKENS            // rows, and gaps
// Those of them that work-items have: eight tokens side by side are in different banks.
.if NETRA_TOKENS > 16 && !NETRA_QUANTIZE
.set DG_SWEPT, (NETRA_M + 7) / 8 * 8
.else
.set DG_SWEPT, NETRA_TOKENS
.endif
.set DG_SWEPT_ITEMS, NETRA_S * DG_SWEPT
.set DG_THREADS, 64 * NETRA_WAVES

.set DG_LIMIT, NETRA_COLUMNS * NETRA_PASSES      // rows of a round
.set DG_GROUP, 16 / DG_KB                        // slots that are added together
.if DG_GROUP > NETRA_S
.set DG_GROUP, NETRA_S
.endif
.if DG_GROUP < 1
.set DG_GROUP, 1
.endif
// bf16 activations: 16 bytes of a row per work-item.
.set DG_X_ITEMS, 16 * NETRA_CHUNK                // work-items of a row
.set DG_X_ROWS, DG_THREADS / DG_X_ITEMS          // rows of a step
.set DG_X_STEPS, (DG_ROWS + DG_X_ROWS - 1) / DG_X_ROWS * NETRA_QUANTIZE
.if NETRA_CHUNK == 1
.set DG_X_LOG, 4
.elseif NETRA_CHUNK == 2
.set DG_X_LOG, 5
.else
.set DG_X_LOG, 6
.endif

// LDS
// Products of a block, and of a quad: what a wave reads or writes at once is in different banks.
.set DG_BLOCK, (DG_ITEMS + 15) / 16 * 256 + 512 / NETRA_COLUMNS
.set DG_QUAD, (DG_KB * DG_BLOCK + 255) / 256 * 256 + 1024 / NETRA_COLUMNS
.set LDS_X_SCALE, DG_QUADS * DG_QUAD             // bf16: a word per block and row
// Of up to 16 tokens those of two slots are read at once, rows 63 or 64 apart among them: four
// words between 64 and the next.
.if NETRA_TOKENS <= 16
.set DG_GAP, 4
.else
.set DG_GAP, 0
.endif
.set DG_SCALES, DG_ROWS + DG_ROWS / 64 * DG_GAP
.set LDS_SLOT, LDS_X_SCALE + 4 * DG_KB * DG_SCALES // a word per row: how its codes are permuted
.set LDS_X, (LDS_SLOT + 4 * DG_ROWS + 255) / 256 * 256 // and the codes of a chunk
.set DG_PERMUTED, 16 * NETRA_COLUMNS             // bytes
.set DG_X_PITCH, 128 * NETRA_CHUNK
.if NETRA_QUANTIZE
.set DG_LDS, LDS_X + DG_ROWS * DG_X_PITCH
.set DG_X_BYTES, DG_X_PITCH
.else
.set DG_LDS, LDS_X_SCALE
.set DG_X_BYTES, NETRA_K
.endif

netra_require (DG_ITEMS <= 512), "NETRA_S * NETRA_TOKENS must be at most 512"
netra_require (DG_QUADS * DG_QUAD <= 65536), "NETRA_K / 128 * NETRA_S * NETRA_TOKENS is too large for LDS"
netra_require (NETRA_SWEEPS == (DG_SWEPT_ITEMS * DG_QUADS + DG_THREADS - 1) / DG_THREADS && NETRA_SWEEPS <= 2), "NETRA_SWEEPS must be what the rows and quads take, at most two per work-item"
netra_require ((LDS_SLOT + 4 * DG_ROWS) * NETRA_QUANTIZE <= 65536), "the scales of x must be in the first 64 KiB of LDS"
netra_require (DG_LDS <= 163840), "the activations of all rows must fit LDS"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "an expert's weights must be smaller than 2 GiB"
netra_require (NETRA_E * (NETRA_N / 128) * DG_KB <= 0x1fffffff), "the weight scales must be smaller than 2 GiB"
netra_require (NETRA_BLOCK_X == DG_THREADS && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 * NETRA_WAVES x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N / NETRA_COLUMNS && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_N / NETRA_COLUMNS x 1 x 1"
netra_require (NETRA_STATIC_LDS == DG_LDS), "NETRA_STATIC_LDS must be what products, scales and codes take"

// Scalars
.set S_HIGH, 3                                   // rows of the round that are of tokens 16 .., a bit each
.set S_WAVE, 4
.set S_INDEX, 5                                  // 16-row tile of the strip
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
.set S_EXPERT, 26                                // and, behind it, its rows
.set S_CHOSE, 27                                 // in the round, a bit each
.set S_FIRST, 28                                 // the round's experts are FIRST .. NETRA_EXPERTS - 1
.set S_LIST, 29                                  // rows of the round so far
.set S_MORE, 30                                  // rows of the expert that are in no round yet
.set S_ROW, 31
.set S_LANES, 32                                 // that take a row or one after it
.set S_SUM, 34                                   // lanes with a result
.set S_VALID, 36                                 // 2 per sweep: whose row has an expert
.set S_NONE, 40                                  // likewise: whose row has none
.set S_XB, 44
.set S_LEADERS, 46                               // a lane per 16
.set S_TOKEN, 44
.set S_PLACED, 45                                // rows of the wave's list so far, in all rounds
.set S_OWN, 48                                   // 2 per register of ids: rows of the wave
.set S_MASK, S_OWN + 2 * DG_IDS                  // likewise: rows of the expert
.set S_SLOT, S_MASK + 2 * DG_IDS                 // 2 per expert of the round: S_EXPERT, S_CHOSE
// Vectors
.set V_ITEM, 0
.set V_LANE, 1
.set V_T0, 2
.set V_T1, 3
.set V_SUM, 4                                    // 2
.set V_RESIDUAL, 6
.set V_OUT, 7
.set V_WOFF, 8                                   // lane's byte offset in the blocks of an MFMA
.set V_XC, 9                                     // and in a row of activations
.set V_DC, 10                                    // and in a row's products
.set V_ROW, 11                                   // bf16, later: 4 times the row of a step
.set V_ID, 12                                    // DG_IDS
.set V_XO, V_ID + DG_IDS                         // 1 per pass: V_XC, and the row
.set V_DST, V_XO + NETRA_PASSES                     // 1 per pass: V_DC, and the row
.set V_ROUTE, (V_DST + NETRA_PASSES + 1) / 2 * 2    // 2 per sweep: weight of the slot,
.set V_PLACE, V_ROUTE + 1                        // and where its products are
.set V_SW, V_ROUTE + 2 * NETRA_SWEEPS               // DG_KB2 per sweep
.if NETRA_QUANTIZE
.set V_SROW, V_SW + DG_KB2 * NETRA_SWEEPS           // 1 per sweep: 4 times the row
.set V_XG, V_SROW + NETRA_SWEEPS                    // work-item's bytes of x
.set V_XW, V_XG + 1                              // where its codes go
.set V_XS, V_XG + 2                              // and the scale
.set V_D, (V_XG + 4) / 2 * 2                     // 4 per step
.set V_A, V_D + 12 * DG_STEPS                    // 8 per expert and step
.else
.set V_SX, V_SW + DG_KB2 * NETRA_SWEEPS             // DG_KB2 per sweep
.set V_D, V_SX + DG_KB2 * NETRA_SWEEPS
.set V_A, V_D + 4 * DG_STEPS + 8 * DG_STEPS * NETRA_PASSES
.endif
.set V_B, V_D + 4 * DG_STEPS                     // 8 per pass and step; bf16: per step
// Before and after the products.
.set V_F, V_D                                    // 8
.set V_RAW, V_D + 8                              // 4 per step
.set V_P, V_D                                    // 16 products, 16 scaled, 4 scales
.set V_SUMMAND, V_D

//===----------------------------------------------------------------------===//
// bf16 activations
//===----------------------------------------------------------------------===//

// EXEC = the work-items with a row in step J, the last of which may be in part.
.macro dg_x_some j
  .if (\j) == DG_X_STEPS - 1 && DG_ROWS % DG_X_ROWS != 0
    v_cmp_gt_u32 vcc, DG_ROWS % DG_X_ROWS * DG_X_ITEMS, v[V_ITEM]
    s_mov_b64 exec, vcc
  .endif
.endm

// Requests all activations of CHUNK.
.macro dg_x_request chunk
  .set dg_j, 0
  .rept DG_X_STEPS
    dg_x_some dg_j
    netra_pointer_add_const S_XB, S_X, dg_j*DG_X_ROWS*2*NETRA_K+256*NETRA_CHUNK*(\chunk)
    global_load_dwordx4 v[V_RAW+4*dg_j:V_RAW+4*dg_j+3], v[V_XG], s[S_XB:S_XB+1]
    .set dg_j, dg_j + 1
  .endr
  s_mov_b64 exec, -1
.endm

// Quantizes them, 16 work-items a block, and leaves codes and scales in LDS.
.macro dg_x_stage chunk
  .set dg_j, 0
  .rept DG_X_STEPS
    dg_x_some dg_j
    s_mov_b64 s[S_TMP:S_TMP+1], exec
    ds_read_b32 v[V_T0], v[V_ROW] offset:LDS_SLOT+4*DG_X_ROWS*dg_j
    netra_bf16_unpack_run V_F, V_RAW+4*dg_j, 4
    netra_group_amax V_T1, V_F, 8
    netra_row16_reduce v_max_f32, V_T1
    netra_group_scale V_T1, V_SUM, V_T1, V_SUM+1
    s_and_b64 exec, exec, s[S_LEADERS:S_LEADERS+1]
    ds_write_b32 v[V_XS], v[V_T1] offset:LDS_X_SCALE+4*(DG_SCALES*NETRA_CHUNK*(\chunk)+DG_X_ROWS*dg_j+DG_X_ROWS*dg_j/64*DG_GAP)
    s_mov_b64 exec, s[S_TMP:S_TMP+1]
    netra_fp8_pack8 V_F, V_F, V_SUM
    s_waitcnt lgkmcnt(1)                         // younger: the scale
    v_xor_b32 v[V_T0], v[V_T0], v[V_XW]
    ds_write_b64 v[V_T0], v[V_F:V_F+1]
    .if dg_j < DG_X_STEPS - 1
      v_add_u32 v[V_XW], DG_X_PITCH * DG_X_ROWS, v[V_XW]
    .endif
    .set dg_j, dg_j + 1
  .endr
  s_mov_b64 exec, -1
  v_subrev_u32 v[V_XW], DG_X_PITCH * DG_X_ROWS * (DG_X_STEPS - 1), v[V_XW]
  netra_barrier
.endm

//===----------------------------------------------------------------------===//
// A round
//===----------------------------------------------------------------------===//

// Requests the activations of CHUNK of pass J.
.macro dg_activations j, chunk
  .set dg_i, 0
  .rept DG_STEPS
    .set dg_v, V_B + 8 * (DG_STEPS * (\j) + dg_i)
    global_load_dwordx4 v[dg_v:dg_v+3], v[V_XO+(\j)], s[S_X:S_X+1] offset:128*(NETRA_CHUNK*(\chunk)+DG_SPAN*dg_i)
    global_load_dwordx4 v[dg_v+4:dg_v+7], v[V_XO+(\j)], s[S_X:S_X+1] offset:128*(NETRA_CHUNK*(\chunk)+DG_SPAN*dg_i)+64
    .set dg_i, dg_i + 1
  .endr
.endm

// bf16: reads them from LDS.
.macro dg_codes j
  .set dg_i, 0
  .rept 2 * DG_STEPS                             // a half block each
    .set dg_v, V_B + 4 * dg_i
    .set dg_o, dg_i / 2 * 128 * DG_SPAN + dg_i % 2 * 64
    .if dg_o % DG_PERMUTED == 0
      ds_read_b128 v[dg_v:dg_v+3], v[V_XO+(\j)] offset:dg_o
    .else
      v_xor_b32 v[V_T0], dg_o % DG_PERMUTED, v[V_XO+(\j)]
      ds_read_b128 v[dg_v:dg_v+3], v[V_T0] offset:dg_o/DG_PERMUTED*DG_PERMUTED
    .endif
    .set dg_i, dg_i + 1
  .endr
  netra_wait_lds
.endm

// Requests the weights of the round's experts. What is missing are the first, so that as many
// loads are behind each whatever their number.
.macro dg_weights chunk
  .if DG_SPAN > NETRA_CHUNK                      // no odd block
    s_mov_b32 exec_lo, 0x00ff00ff
    s_mov_b32 exec_hi, 0x00ff00ff
  .endif
  .set dg_p, 0
  .rept NETRA_EXPERTS
    dg_expert_weights dg_p, \chunk
    .set dg_p, dg_p + 1
  .endr
  .if DG_SPAN > NETRA_CHUNK
    s_mov_b64 exec, -1
  .endif
.endm
.macro dg_expert_weights p, chunk
  s_cmp_gt_u32 s[S_FIRST], \p
  s_cbranch_scc1 .Ldg_missing\@
  netra_moe_expert_tile S_TILE, S_SLOT+2*(\p), S_INDEX, S_WEIGHT, NETRA_N, NETRA_K, S_TMP
  .if (\chunk) > 0
    netra_pointer_add_const S_TILE, S_TILE, 2048*NETRA_CHUNK*(\chunk)
  .endif
  .set dg_i, 0
  .rept DG_STEPS
    .if dg_i > 0
      netra_pointer_add_const S_TILE, S_TILE, 2048*DG_SPAN
    .endif
    .set dg_w, V_A + 8 * (DG_STEPS * (\p) + dg_i)
    global_load_dwordx4 v[dg_w:dg_w+3], v[V_WOFF], s[S_TILE:S_TILE+1] nt
    global_load_dwordx4 v[dg_w+4:dg_w+7], v[V_WOFF], s[S_TILE:S_TILE+1] offset:1024 nt
    .set dg_i, dg_i + 1
  .endr
.Ldg_missing\@:
.endm

// The products of pass J with the round's expert P, if one of its rows chose it.
.macro dg_product p, j, chunk
  s_cmp_gt_u32 s[S_FIRST], \p
  s_cbranch_scc1 .Ldg_other\@
  s_bfe_u32 s[S_TMP], s[S_SLOT+2*(\p)+1], (NETRA_COLUMNS << 16) | (NETRA_COLUMNS * (\j))
  s_cbranch_scc0 .Ldg_other\@
  netra_wait_memory (2 * DG_STEPS * (NETRA_EXPERTS - 1 - (\p))) // younger: later experts
  .if NETRA_QUANTIZE
    .set dg_b, V_B
  .else
    .set dg_b, V_B + 8 * DG_STEPS * (\j)
  .endif
  .set dg_i, 0
  .rept DG_STEPS
    netra_mfma_fp8_16x16x128 V_D+4*dg_i, V_A+8*(DG_STEPS*(\p)+dg_i), dg_b+8*dg_i
    .set dg_i, dg_i + 1
  .endr
  .if NETRA_TOKENS > 16
    s_bfe_u32 s[S_TMP+1], s[S_HIGH], (NETRA_COLUMNS << 16) | (NETRA_COLUMNS * (\j))
    s_and_b32 s[S_TMP+1], s[S_TMP+1], s[S_TMP]
    netra_mfma_settle_8_passes DG_STEPS+5        // the first is read first
    s_xor_b32 s[S_TMP], s[S_TMP], s[S_TMP+1]
    s_cbranch_scc0 .Ldg_high\@
    dg_store \j, \chunk
.Ldg_high\@:
    s_mov_b32 s[S_TMP], s[S_TMP+1]
    s_cmp_lg_u32 s[S_TMP], 0
    s_cbranch_scc0 .Ldg_stored\@
  .else
    netra_mfma_settle_8_passes DG_STEPS+1        // likewise
  .endif
  dg_store \j, \chunk
.Ldg_stored\@:
  s_mov_b64 exec, -1
.Ldg_other\@:
.endm

// Stores the products of the rows of pass J that have a bit in s[S_TMP]. Clobbers EXEC.
.macro dg_store j, chunk
  s_mul_i32 exec_lo, s[S_TMP], 0x10001
  .if NETRA_COLUMNS == 16
    s_mov_b32 exec_hi, exec_lo
  .elseif NETRA_CHUNK > 1
    s_lshl_b32 exec_hi, exec_lo, 8
  .else
    s_mov_b32 exec_hi, 0
  .endif
  .set dg_i, 0
  .rept DG_STEPS
    ds_write_b128 v[V_DST+(\j)], v[V_D+4*dg_i:V_D+4*dg_i+3] offset:DG_BLOCK*(NETRA_CHUNK*(\chunk)+DG_SPAN*dg_i)
    .set dg_i, dg_i + 1
  .endr
.endm

// All rounds of CHUNK.
.macro dg_chunk chunk
  dg_own
  s_mov_b32 s[S_PLACED], 0
.Ldg_round\@:
  dg_collect
  s_cmp_eq_u32 s[S_FIRST], NETRA_EXPERTS
  s_cbranch_scc1 .Ldg_done\@
  .if !NETRA_QUANTIZE
    .set dg_pass, 0
    .rept NETRA_PASSES
      .if dg_pass > 0
        s_cmp_le_u32 s[S_LIST], NETRA_COLUMNS * dg_pass
        s_cbranch_scc1 .Ldg_asked\@
      .endif
      dg_activations dg_pass, \chunk
      .set dg_pass, dg_pass + 1
    .endr
.Ldg_asked\@:
  .endif
  dg_weights \chunk
  .set dg_pass, 0
  .rept NETRA_PASSES
    .if dg_pass > 0
      s_cmp_le_u32 s[S_LIST], NETRA_COLUMNS * dg_pass
      s_cbranch_scc1 .Ldg_round\@
    .endif
    .if NETRA_QUANTIZE
      dg_codes dg_pass
    .endif
    // The round's first unit is the last: before unit i are i rows at least, and with it
    // i + 1 units of rows at most.
    .set dg_p, 0
    .rept NETRA_EXPERTS
      .set dg_i, NETRA_EXPERTS - 1 - dg_p
      .if dg_i < NETRA_COLUMNS * (dg_pass + 1) && (dg_i + 1) * NETRA_UNIT > NETRA_COLUMNS * dg_pass
        dg_product dg_p, dg_pass, \chunk
      .endif
      .set dg_p, dg_p + 1
    .endr
    .set dg_pass, dg_pass + 1
  .endr
  s_branch .Ldg_round\@
.Ldg_done\@:
.endm

//===----------------------------------------------------------------------===//
// Scales and sums
//===----------------------------------------------------------------------===//

// Skips to NONE in waves without a row in sweep J.
.macro dg_sweep j, none
  .if DG_SWEPT_ITEMS * DG_QUADS - (\j) * DG_THREADS < DG_THREADS
    s_cmp_ge_u32 s[S_WAVE], (DG_SWEPT_ITEMS * DG_QUADS - (\j) * DG_THREADS + 63) / 64
    s_cbranch_scc1 \none
  .endif
.endm

// Sweep J: a work-item's row, four columns of which are its, and requests of what does not depend on
// its id. S_NONE: work-items with a row.
.macro dg_item j
  dg_sweep \j, .Ldg_no_item\@
  .set dg_v, V_ITEM
  .if (\j) > 0
    v_add_u32 v[V_ROW], DG_THREADS * (\j), v[V_ITEM]
    .set dg_v, V_ROW
  .endif
  v_lshrrev_b32 v[V_T0], DG_QUAD_LOG, v[dg_v]
  v_and_b32 v[V_T1], DG_QUADS - 1, v[dg_v]
  v_mul_u32_u24 v[V_T1], DG_QUAD, v[V_T1]
  v_lshl_add_u32 v[V_PLACE+2*(\j)], v[V_T0], 4, v[V_T1]
  .if DG_SWEPT == NETRA_TOKENS
    v_lshrrev_b32 v[V_T1], DG_LOG, v[V_T0]       // slot
    v_and_b32 v[V_T0], NETRA_TOKENS - 1, v[V_T0]
  .else
    s_mov_b32 s[S_TMP], (0x100000000 + DG_SWEPT - 1) / DG_SWEPT
    v_mul_hi_u32 v[V_T1], v[V_T0], s[S_TMP]
    v_mul_u32_u24 v[V_ROW], DG_SWEPT, v[V_T1]
    v_sub_u32 v[V_T0], v[V_T0], v[V_ROW]
    v_mul_u32_u24 v[V_ROW], 16 * (NETRA_TOKENS - DG_SWEPT), v[V_T1]
    v_add_u32 v[V_PLACE+2*(\j)], v[V_PLACE+2*(\j)], v[V_ROW]
  .endif
  v_cmp_gt_u32 s[S_NONE+2*(\j):S_NONE+2*(\j)+1], NETRA_S, v[V_T1]
  .if NETRA_M < DG_SWEPT
    v_cmp_gt_u32 vcc, NETRA_M, v[V_T0]
    s_and_b64 s[S_NONE+2*(\j):S_NONE+2*(\j)+1], s[S_NONE+2*(\j):S_NONE+2*(\j)+1], vcc
  .endif
  v_mad_u32_u24 v[V_ROW], v[V_T0], NETRA_S, v[V_T1]
  .if NETRA_SCALE_GROUP_MAJOR                    // the other scales of the tokens before
    v_mul_u32_u24 v[V_T1], 4 * NETRA_S * (DG_KB - 1), v[V_T0]
  .endif
  v_lshlrev_b32 v[V_T0], 2, v[V_ROW]
  .if NETRA_QUANTIZE
    .if DG_GAP
      v_lshrrev_b32 v[V_T1], 6, v[V_ROW]
      v_lshl_add_u32 v[V_SROW+(\j)], v[V_T1], 4, v[V_T0]
    .else
      v_mov_b32 v[V_SROW+(\j)], v[V_T0]
    .endif
  .elseif DG_KB % 2                              // the partner of a packed operand
    v_mov_b32 v[V_SX+DG_KB2*(\j)+DG_KB], 0
  .endif
  .if DG_KB % 2
    v_mov_b32 v[V_SW+DG_KB2*(\j)+DG_KB], 0
  .endif
  s_mov_b64 exec, s[S_NONE+2*(\j):S_NONE+2*(\j)+1]
  global_load_dword v[V_SUM+(\j)], v[V_T0], s[S_IDS:S_IDS+1]
  global_load_dword v[V_ROUTE+2*(\j)], v[V_T0], s[S_ROUTES:S_ROUTES+1]
  .if NETRA_SCALE_GROUP_MAJOR
    v_add_u32 v[V_T0], v[V_T0], v[V_T1]
    .set dg_i, 0
    .rept DG_KB
      global_load_dword v[V_SX+DG_KB2*(\j)+dg_i], v[V_T0], s[S_X_SCALE:S_X_SCALE+1] offset:4*NETRA_S*dg_i
      .set dg_i, dg_i + 1
    .endr
  .elseif !NETRA_QUANTIZE
    v_mul_u32_u24 v[V_T0], 4 * DG_KB, v[V_ROW]
    netra_load_vector_run V_SX+DG_KB2*(\j), V_T0, S_X_SCALE, DG_KB, dg_loads
  .endif
  s_mov_b64 exec, -1
.Ldg_no_item\@:
.endm

// With the id: S_VALID, S_NONE, and a request of the expert's scales.
.macro dg_item_scales j
  dg_sweep \j, .Ldg_no_item\@
  s_mov_b32 s[S_TMP], NETRA_E
  s_mov_b64 exec, s[S_NONE+2*(\j):S_NONE+2*(\j)+1]
  v_cmp_gt_u32 vcc, s[S_TMP], v[V_SUM+(\j)]
  s_and_b64 s[S_VALID+2*(\j):S_VALID+2*(\j)+1], s[S_NONE+2*(\j):S_NONE+2*(\j)+1], vcc
  s_andn2_b64 s[S_NONE+2*(\j):S_NONE+2*(\j)+1], s[S_NONE+2*(\j):S_NONE+2*(\j)+1], vcc
  s_mov_b64 exec, s[S_VALID+2*(\j):S_VALID+2*(\j)+1]
  s_mov_b32 s[S_TMP], NETRA_N / 128 * 4 * DG_KB
  v_mul_u32_u24 v[V_T0], s[S_TMP], v[V_SUM+(\j)]
  netra_load_vector_run V_SW+DG_KB2*(\j), V_T0, S_WEIGHT_SCALE, DG_KB, dg_loads
  s_mov_b64 exec, -1
.Ldg_no_item\@:
.endm

// v[TO:TO+1] = v[FROM:FROM+1] * v[BY].
.macro dg_times v_to, v_from, v_by
  .if (\v_by) % 2
    v_pk_mul_f32 v[\v_to:\v_to+1], v[\v_from:\v_from+1], v[(\v_by)-1:\v_by] op_sel:[0,1] op_sel_hi:[1,1]
  .else
    v_pk_mul_f32 v[\v_to:\v_to+1], v[\v_from:\v_from+1], v[\v_by:(\v_by)+1] op_sel_hi:[1,0]
  .endif
.endm

// Sweep J: product = weight of the slot * (weight scale * (x scale * product)), a rounding
// each; zeros where the row has no expert.
.macro dg_scale j
  dg_sweep \j, .Ldg_no_item\@
  s_mov_b64 exec, s[S_NONE+2*(\j):S_NONE+2*(\j)+1]
  s_cbranch_execz .Ldg_all\@
  .set dg_i, 0
  .rept 4
    v_mov_b32 v[V_P+dg_i], 0
    .set dg_i, dg_i + 1
  .endr
  .set dg_i, 0
  .rept DG_KB
    ds_write_b128 v[V_PLACE+2*(\j)], v[V_P:V_P+3] offset:DG_BLOCK*dg_i
    .set dg_i, dg_i + 1
  .endr
.Ldg_all\@:
  s_mov_b64 exec, s[S_VALID+2*(\j):S_VALID+2*(\j)+1]
  s_cbranch_execz .Ldg_scaled\@
  .set dg_b, 0
  .rept (DG_KB + 3) / 4
    .set dg_n, DG_KB - dg_b
    .if dg_n > 4
      .set dg_n, 4
    .endif
    .set dg_i, 0
    .rept dg_n
      ds_read_b128 v[V_P+4*dg_i:V_P+4*dg_i+3], v[V_PLACE+2*(\j)] offset:DG_BLOCK*(dg_b+dg_i)
      .if NETRA_QUANTIZE
        ds_read_b32 v[V_P+32+dg_i], v[V_SROW+(\j)] offset:LDS_X_SCALE+4*DG_SCALES*(dg_b+dg_i)
      .endif
      .set dg_i, dg_i + 1
    .endr
    .if NETRA_QUANTIZE && dg_n % 2
      v_mov_b32 v[V_P+32+dg_n], 0                // the partner of a packed operand
    .endif
    netra_wait_lds
    .set dg_i, 0
    .rept 2 * dg_n                               // two columns
      .set dg_v, V_P + 2 * dg_i
      .if NETRA_QUANTIZE
        dg_times dg_v, dg_v, V_P+32+dg_i/2
      .else
        dg_times dg_v, dg_v, V_SX+DG_KB2*(\j)+dg_b+dg_i/2
      .endif
      dg_times dg_v, dg_v, V_SW+DG_KB2*(\j)+dg_b+dg_i/2
      .set dg_o, dg_i
      .if dg_i / 4 * 2 + 1 < dg_n                // in a pair of blocks
        .set dg_o, dg_i / 4 * 4 + dg_i % 2 * 2 + dg_i % 4 / 2
      .endif
      dg_times V_P+16+2*dg_o, dg_v, V_ROUTE+2*(\j)
      .set dg_i, dg_i + 1
    .endr
    .set dg_i, 0
    .rept dg_n
      ds_write_b128 v[V_PLACE+2*(\j)], v[V_P+16+4*dg_i:V_P+16+4*dg_i+3] offset:DG_BLOCK*(dg_b+dg_i)
      .set dg_i, dg_i + 1
    .endr
    .set dg_b, dg_b + 4
  .endr
.Ldg_scaled\@:
  s_mov_b64 exec, -1
.Ldg_no_item\@:
.endm

// Adds what the N slots from SLOT on contribute, blocks ascending in each.
.macro dg_sum slot, n
  .set dg_v, V_SUMMAND
  .set dg_j, 0
  .rept \n
    .set dg_o, 16 * NETRA_TOKENS * ((\slot) + dg_j)
    .set dg_i, 0
    .rept DG_KB / 2
      ds_read_b128 v[dg_v:dg_v+3], v[V_T0] offset:2*DG_BLOCK*dg_i+dg_o
      .set dg_v, dg_v + 4
      .set dg_i, dg_i + 1
    .endr
    .if DG_KB % 2
      ds_read_b64 v[dg_v:dg_v+1], v[V_T1] offset:DG_BLOCK*(DG_KB-1)+dg_o
      .set dg_v, dg_v + 2
    .endif
    .set dg_j, dg_j + 1
  .endr
  netra_wait_lds
  .set dg_v, V_SUMMAND
  .rept (\n) * DG_KB
    v_pk_add_f32 v[V_SUM:V_SUM+1], v[V_SUM:V_SUM+1], v[dg_v:dg_v+1]
    .set dg_v, dg_v + 2
  .endr
.endm

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

.macro netra_template name
  netra_kernel_begin \name
  netra_moe_load_pointers
  netra_lane_and_wave V_LANE, S_WAVE, V_T0
  netra_wait_scalar
  netra_moe_load_ids V_ID, V_LANE, V_T0, S_IDS, DG_ROWS
  .set dg_j, 0
  .rept NETRA_SWEEPS
    dg_item dg_j
    .set dg_j, dg_j + 1
  .endr
  .if NETRA_QUANTIZE
    s_mov_b32 s[S_LEADERS], 0x00010001
    s_mov_b32 s[S_LEADERS+1], 0x00010001
    // Row r of a step and its columns 8 c .. .
    v_lshrrev_b32 v[V_T0], DG_X_LOG, v[V_ITEM]   // r
    v_and_b32 v[V_T1], DG_X_ITEMS - 1, v[V_ITEM] // c
    v_mul_u32_u24 v[V_XG], 2 * NETRA_K, v[V_T0]
    v_lshl_add_u32 v[V_XG], v[V_T1], 4, v[V_XG]
    v_mul_u32_u24 v[V_XW], DG_X_PITCH, v[V_T0]
    v_lshl_add_u32 v[V_XW], v[V_T1], 3, v[V_XW]
    v_add_u32 v[V_XW], LDS_X, v[V_XW]
    v_lshrrev_b32 v[V_T1], 4, v[V_T1]            // block
    v_mul_u32_u24 v[V_T1], DG_SCALES, v[V_T1]
    v_add_lshl_u32 v[V_XS], v[V_T1], v[V_T0], 2
    v_lshlrev_b32 v[V_ROW], 2, v[V_T0]
    dg_x_request 0
  .endif

  // Results: a work-item has a token and two columns.
  s_mov_b64 s[S_SUM:S_SUM+1], 0
  s_cmp_ge_u32 s[S_WAVE], (NETRA_M * NETRA_COLUMNS / 2 + 63) / 64
  s_cbranch_scc1 .Ldg_no_results_\name
  v_lshrrev_b32 v[V_T0], DG_QUAD_LOG + 1, v[V_ITEM]
  v_cmp_gt_u32 s[S_SUM:S_SUM+1], NETRA_M, v[V_T0]
  v_mul_u32_u24 v[V_OUT], 2 * NETRA_N, v[V_T0]
  v_and_b32 v[V_T1], 2 * DG_QUADS - 1, v[V_ITEM]
  v_lshl_add_u32 v[V_OUT], v[V_T1], 2, v[V_OUT]
  s_mul_i32 s[S_TMP], s2, 2 * NETRA_COLUMNS
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  .if NETRA_HAS_RESIDUAL
    netra_pointer_add S_RESIDUAL, S_RESIDUAL, S_TMP
    s_mov_b64 exec, s[S_SUM:S_SUM+1]
    global_load_dword v[V_RESIDUAL], v[V_OUT], s[S_RESIDUAL:S_RESIDUAL+1]
    s_mov_b64 exec, -1
  .endif
.Ldg_no_results_\name:

  // The lane's part of operands and products.
  v_and_b32 v[V_XC], 0x30, v[V_LANE]             // 16 * group
  .if NETRA_COLUMNS == 16
    v_lshlrev_b32 v[V_WOFF], 4, v[V_LANE]
    v_lshrrev_b32 v[V_DC], 4, v[V_LANE]
    v_mul_u32_u24 v[V_DC], DG_QUAD, v[V_DC]
    s_mov_b32 s[S_INDEX], s2
    s_lshr_b32 s[S_TMP], s2, 3
  .else
    v_and_b32 v[V_T0], 0x37, v[V_LANE]
    v_lshlrev_b32 v[V_WOFF], 4, v[V_T0]
    v_bfe_u32 v[V_T1], v[V_LANE], 4, 1
    v_mul_u32_u24 v[V_DC], DG_QUAD, v[V_T1]
    .if NETRA_CHUNK > 1
      v_bfe_u32 v[V_T0], v[V_LANE], 3, 1         // odd block
      v_lshl_or_b32 v[V_WOFF], v[V_T0], 11, v[V_WOFF]
      v_lshl_or_b32 v[V_XC], v[V_T0], 7, v[V_XC]
      v_mul_u32_u24 v[V_T0], DG_BLOCK, v[V_T0]
      v_add_u32 v[V_DC], v[V_DC], v[V_T0]
    .endif
    s_and_b32 s[S_TMP], s2, 1                    // half of the 16-row tile
    s_lshl_b32 s[S_TMP], s[S_TMP], 7
    netra_pointer_add S_WEIGHT, S_WEIGHT, S_TMP
    s_lshr_b32 s[S_INDEX], s2, 1
    s_lshr_b32 s[S_TMP], s2, 4
  .endif
  s_mul_i32 s[S_TMP], s[S_TMP], 4 * DG_KB        // scales of 128 columns
  netra_pointer_add S_WEIGHT_SCALE, S_WEIGHT_SCALE, S_TMP
  netra_wait_memory 0
  .set dg_j, 0
  .rept NETRA_SWEEPS
    dg_item_scales dg_j
    .set dg_j, dg_j + 1
  .endr

  .if NETRA_QUANTIZE
    dg_slots
  .endif
  .set dg_chunk_number, 0
  .rept DG_KB / NETRA_CHUNK
    .if NETRA_QUANTIZE
      .if dg_chunk_number > 0
        netra_barrier                            // the last codes are read
        dg_x_request dg_chunk_number
        netra_wait_memory 0
      .endif
      dg_x_stage dg_chunk_number
    .endif
    .if DG_SPAN > NETRA_CHUNK                    // the odd blocks that nobody loads
      .set dg_i, 0
      .rept 8 * NETRA_EXPERTS
        v_mov_b32 v[V_A+dg_i], 0
        .set dg_i, dg_i + 1
      .endr
    .endif
    dg_chunk dg_chunk_number
    .set dg_chunk_number, dg_chunk_number + 1
  .endr
  netra_wait_memory 0                            // waves without experts
  netra_barrier                                  // raw products
  .set dg_j, 0
  .rept NETRA_SWEEPS
    dg_scale dg_j
    .set dg_j, dg_j + 1
  .endr
  netra_barrier                                  // scaled products

  s_mov_b64 exec, s[S_SUM:S_SUM+1]
  s_cbranch_execz .Ldg_end_\name
  v_bfe_u32 v[V_T0], v[V_ITEM], 1, DG_QUAD_LOG
  v_mul_u32_u24 v[V_T0], DG_QUAD, v[V_T0]
  v_lshrrev_b32 v[V_T1], DG_QUAD_LOG + 1, v[V_ITEM] // token
  v_lshl_add_u32 v[V_T0], v[V_T1], 4, v[V_T0]
  v_and_b32 v[V_SUM], 1, v[V_ITEM]
  .if DG_KB % 2
    v_lshl_add_u32 v[V_T1], v[V_SUM], 3, v[V_T0] // the last block
  .endif
  v_mul_u32_u24 v[V_SUM], DG_BLOCK, v[V_SUM]
  v_add_u32 v[V_T0], v[V_T0], v[V_SUM]           // a pair of blocks
  v_mov_b32 v[V_SUM], 0
  v_mov_b32 v[V_SUM+1], 0
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
    netra_bf16_unpack V_SUMMAND, V_SUMMAND+1, V_RESIDUAL
    v_pk_add_f32 v[V_SUM:V_SUM+1], v[V_SUM:V_SUM+1], v[V_SUMMAND:V_SUMMAND+1]
  .endif
  netra_bf16_pack V_SUM, V_SUM, V_SUM+1
  global_store_dword v[V_OUT], v[V_SUM], s[S_RESULT:S_RESULT+1]
.Ldg_end_\name:
  netra_kernel_end \name
.endm
