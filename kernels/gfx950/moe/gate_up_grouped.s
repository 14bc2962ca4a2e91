// Netra gfx950 kernel: gate and up projections of routed experts, a wave per chosen expert and tile.
// SPDX-License-Identifier: MIT
//
// What moe/gate_up.s computes, to the bit, for several tokens, with each expert's weights read
// once for a unit of rows that chose it: sixteen, of more than 16 tokens 32.
//
// Constants
//   NETRA_M, E, S  tokens, experts, slots of a token; at most 512 rows (m, s)
//   NETRA_N, K     N a multiple of 128 (with activation: 256), K of 128, at most 4096
//   NETRA_DEPTH    K blocks of activations that a wave keeps in flight
//   NETRA_ACTIVATION  0 (none), 1 (silu), 3 (gelu tanh)
//   NETRA_SCALE_GROUP_MAJOR  as in moe/gate_up.s
//
// Schedule. Work-group (tile, row): one wave, with activation two (gate and up). A wave reads all
// ids and counts the earlier rows with the same expert as its own; the first row of each unit
// works for all of it, the others end. A row whose id is not in 0 .. E - 1 gets zeros.
//   Up to four rows, as most experts have: the matrix core's operands are as in moe/gate_up.s,
// operand A is four K blocks of four rows. All loads are in flight before the first wait.
//   More rows: the wave asks for its whole weight tile, beyond K = 2048 in accumulation registers,
// and, meanwhile, lists its rows in LDS; their activations are operand B, the weights operand
// A. The weight scales come behind the first activations, so that no wait precedes those. Rows
// 16 .. 31 of a unit are a second turn with the weights and their scales that are in registers.
//
// Arithmetic. As in moe/gate_up.s.

.include "include/moe_rows.inc"

netra_require (NETRA_M >= 1 && NETRA_S >= 1 && NETRA_M * NETRA_S <= 512), "NETRA_M * NETRA_S must be 1..512: a wave holds all ids"
netra_require (NETRA_E >= 1 && NETRA_E <= 65535), "NETRA_E must be 1..65535"
netra_require (NETRA_ACTIVATION == 0 || NETRA_ACTIVATION == 1 || NETRA_ACTIVATION == 3), "NETRA_ACTIVATION must be 0 (none), 1 (silu) or 3 (gelu tanh)"

.if NETRA_ACTIVATION != 0
.set GG_WAVES, 2
.else
.set GG_WAVES, 1
.endif
.set GG_ROWS, NETRA_M * NETRA_S
.set GG_ROUNDS, (GG_ROWS + 63) / 64
.if NETRA_M > 16
.set GG_UNIT, 32
.else
.set GG_UNIT, 16
.endif
.set GG_KB, NETRA_K / 128                        // K blocks
.set GG_KB4, (GG_KB + 3) / 4 * 4
.set GG_TILES, NETRA_N / (16 * GG_WAVES)         // work-groups of an expert
.set GG_LIST, GG_ROUNDS * 256                    // bytes of a wave's list
.set GG_ROW_BYTES, 4 * NETRA_N / (GG_WAVES * GG_WAVES)  // of the result
.set GG_TILE_BYTES, 64 / GG_WAVES
.if NETRA_SCALE_GROUP_MAJOR
.set GG_SCALE_BYTES, 4                           // between the scales of two tokens
.else
.set GG_SCALE_BYTES, 4 * GG_KB
.endif

netra_require (NETRA_K > 0 && NETRA_K % 128 == 0 && NETRA_K <= 4096), "NETRA_K must be a multiple of 128 up to 4096: a wave holds its tile"
netra_require (NETRA_N > 0 && NETRA_N % (128 * GG_WAVES) == 0), "NETRA_N must be a multiple of 128, with activation of 256"
netra_require (NETRA_DEPTH >= 1 && NETRA_DEPTH <= GG_KB && NETRA_DEPTH <= 8), "NETRA_DEPTH must be between 1 and K / 128, at most 8"
netra_require (4 * NETRA_DEPTH >= GG_KB), "NETRA_DEPTH must be at least K / 512: four rows' activations take the same registers"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "an expert's weights must be smaller than 2 GiB"
netra_require (NETRA_E * (NETRA_N / 128) * GG_KB <= 0x1fffffff), "the weight scales must be smaller than 2 GiB"
netra_require (GG_ROWS * NETRA_N <= 0x1fffffff), "the result must be smaller than 2 GiB"
netra_require (NETRA_SCALE_GROUP_MAJOR == 0 || NETRA_SCALE_GROUP_MAJOR == 1), "NETRA_SCALE_GROUP_MAJOR must be 0 or 1"
netra_require (!NETRA_SCALE_GROUP_MAJOR || NETRA_M <= 32), "NETRA_M must be at most 32 where scales lie block after block"
netra_require (NETRA_BLOCK_X == 64 * GG_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1, with activation 128 x 1 x 1"
netra_require (NETRA_GRID_X == GG_TILES && NETRA_GRID_Y == GG_ROWS && NETRA_GRID_Z == 1), "the grid must be NETRA_N / 16 (with activation / 32) x NETRA_M * NETRA_S x 1"
netra_require (NETRA_STATIC_LDS == GG_WAVES * GG_LIST + 1024 * (GG_WAVES - 1)), "NETRA_STATIC_LDS must be 256 bytes per wave and 64 rows, with activation 1024 more"

// Scalars
.set S_ALL, 4                                    // rows of the expert
.set S_WAVE, 5
.set S_X, 6
.set S_WEIGHT, 8
.set S_X_SCALE, 10
.set S_WEIGHT_SCALE, 12
.set S_IDS, 14
.set S_RESULT, 16
.set S_TMP, 18
.set S_TILE, 20
.set S_INDEX, 22
.set S_COUNT, 23                                 // rows of the work-group, without those done
.set S_VALID, 24
.set NETRA_S_ACT, 26
.set S_MASK, 28                                  // 2 per 64 rows, 8 of them
.set S_EXPERT, 44
.set S_ROW, 45
.set S_XLANES, 46                                // that load a row or one after it
.set S_SW, 48                                    // GG_KB4
// Vectors
.set V_LANE, 0
.set V_WOFF, 1
.set V_XOFF, 2
.set V_SOFF, 3
.set V_ROW, 4
.set V_OUT, 5
.set V_T0, 6
.set V_T1, 7
.set V_ID, 8                                     // 1 per 64 rows, 8 of them
.set V_LIST, 16                                  // byte address of the lane's entry in LDS
.set V_GROUP, 17                                 // 16 * lane group
.set V_EXCHANGE, 18                              // byte address of the lane's sums in LDS
.set V_XLANE, 16                                 // few rows: the lane's part of V_XOFF
.set V_OLANE, 19                                 // and of V_OUT
.set V_ACC, 20                                   // 4
.set V_UP, 24                                    // 4
.set V_H, 28                                     // 4
.set V_D, 32                                     // 4 per block of a batch
.set V_SX, 48                                    // GG_KB4
.set V_B, V_SX + GG_KB4                          // 8 per block in flight, or per four blocks of few rows
.set V_A, V_B + 8 * NETRA_DEPTH                  // 8 per block, or a[0] .. if that is too many

.macro gg_load b
  .set gg_v, V_B + 8 * ((\b) % NETRA_DEPTH)
  global_load_dwordx4 v[gg_v:gg_v+3], v[V_XOFF], s[S_X:S_X+1] offset:128*(\b)
  global_load_dwordx4 v[gg_v+4:gg_v+7], v[V_XOFF], s[S_X:S_X+1] offset:128*(\b)+64
.endm

// The rows of the expert from s3 on, which is in register K of the mask or in a later one; on to
// COUNTED.
.macro gg_rows_from k, counted
  .if (\k) < GG_ROUNDS - 1
    s_cmp_ge_u32 s3, 64 * (\k) + 64
    s_cbranch_scc1 .Lgg_later\@
  .endif
  netra_moe_rows_from S_MASK, S_COUNT, 3, \k, GG_ROWS, S_TMP
  .if (\k) < GG_ROUNDS - 1
    s_branch \counted
.Lgg_later\@:
  .endif
.endm

// All blocks of the tile, and the product of block B with the activations in V_X.
.macro gg_load_tile
  .set gg_b, 0
  .rept GG_KB
    .if GG_KB > 16
      netra_moe_load_block 8*gg_b, V_WOFF, S_TILE, gg_b, a
    .else
      netra_moe_load_block V_A+8*gg_b, V_WOFF, S_TILE, gg_b
    .endif
    .set gg_b, gg_b + 1
  .endr
.endm
.macro gg_multiply v_d, b, v_x
  .if GG_KB > 16
    netra_mfma_fp8_16x16x128 \v_d, 8*(\b), \v_x, a
  .else
    netra_mfma_fp8_16x16x128 \v_d, V_A+8*(\b), \v_x
  .endif
.endm
// Likewise with the weights as operand B.
.macro gg_multiply_few v_d, v_x, b
  .if GG_KB > 16
    netra_mfma_fp8_16x16x128 \v_d, \v_x, 8*(\b), v, a
  .else
    netra_mfma_fp8_16x16x128 \v_d, \v_x, V_A+8*(\b)
  .endif
.endm

// Many rows: the lane's row is the one at its place of the list, of those that are left, and its
// token's scales and first activations are asked for.
.macro gg_rows
  v_and_b32 v[V_T0], 15, v[V_LANE]
  v_cmp_gt_u32 s[S_VALID:S_VALID+1], s[S_COUNT], v[V_T0]
  s_sub_u32 s[S_TMP], s[S_COUNT], 1
  v_min_u32 v[V_T0], s[S_TMP], v[V_T0]           // a row that exists
  v_lshl_add_u32 v[V_T0], v[V_T0], 2, v[V_LIST]
  ds_read_b32 v[V_ROW], v[V_T0]
  netra_wait_lds
  netra_moe_token V_T0, V_ROW, NETRA_S, S_TMP
  v_mul_u32_u24 v[V_SOFF], GG_SCALE_BYTES, v[V_T0]
  v_mul_u32_u24 v[V_XOFF], NETRA_K, v[V_T0]
  v_add_u32 v[V_XOFF], v[V_XOFF], v[V_GROUP]
  gg_load_row_scales
  .set gg_b, 0
  .rept NETRA_DEPTH
    gg_load gg_b
    .set gg_b, gg_b + 1
  .endr
.endm

// The next sixteen rows, if there are more; otherwise on to DONE.
.macro gg_next name, done
  .if GG_UNIT > 16
    s_cmp_le_u32 s[S_COUNT], 16
    s_cbranch_scc1 \done
    s_sub_u32 s[S_COUNT], s[S_COUNT], 16
    v_add_u32 v[V_LIST], 64, v[V_LIST]           // EXEC: all, as all sixteen were valid
    .if GG_WAVES > 1
      netra_barrier                              // the sums of the last turn are read
    .endif
    gg_rows
    s_branch .Lgg_turn_\name
  .endif
.endm

// The scales of the rows at v[V_SOFF], and of the tile.
.macro gg_load_row_scales
  .if NETRA_SCALE_GROUP_MAJOR
    .set gg_i, 0
    .rept GG_KB
      global_load_dword v[V_SX+gg_i], v[V_SOFF], s[S_X_SCALE:S_X_SCALE+1] offset:4*NETRA_M*gg_i
      .set gg_i, gg_i + 1
    .endr
  .else
    netra_load_vector_run V_SX, V_SOFF, S_X_SCALE, GG_KB, gg_scale_loads
  .endif
.endm
.macro gg_load_tile_scales
  netra_moe_expert_scales S_TMP, S_EXPERT, S_INDEX, S_WEIGHT_SCALE, NETRA_N, GG_KB
  netra_load_scalar_run S_SW, S_TMP, GG_KB
  netra_wait_scalar
.endm

//===----------------------------------------------------------------------===//
// Up to four rows
//===----------------------------------------------------------------------===//

// Lanes 4 i + j of a group load block j of row i, which is row 4 i + j of operand A;
// of the product with block j, register j of lane group i means something: row i, column
// lane % 16. Lanes of rows that do not exist take the last one.
.macro gg_few name
  v_and_b32 v[V_T0], 3, v[V_LANE]
  v_and_b32 v[V_GROUP], 0x30, v[V_LANE]
  v_lshl_or_b32 v[V_XLANE], v[V_T0], 7, v[V_GROUP]
  v_and_b32 v[V_OLANE], 15, v[V_LANE]
  v_lshlrev_b32 v[V_OLANE], 3 - GG_WAVES, v[V_OLANE]
  s_mov_b64 s[S_XLANES:S_XLANES+1], -1
  s_mov_b64 s[S_VALID:S_VALID+1], -1
.Lgg_row_\name:
  netra_moe_first_row S_ROW, S_MASK, GG_ROWS, 1
  netra_moe_divide S_TMP, S_ROW, NETRA_S         // token
  s_mul_i32 s[S_TMP+1], s[S_TMP], NETRA_K
  s_mov_b64 exec, s[S_XLANES:S_XLANES+1]
  v_add_u32 v[V_XOFF], s[S_TMP+1], v[V_XLANE]
  s_mul_i32 s[S_TMP+1], s[S_TMP], GG_SCALE_BYTES
  s_mul_i32 s[S_TMP], s[S_ROW], GG_ROW_BYTES
  s_mov_b64 exec, s[S_VALID:S_VALID+1]
  v_mov_b32 v[V_SOFF], s[S_TMP+1]
  v_add_u32 v[V_OUT], s[S_TMP], v[V_OLANE]
  s_lshl_b64 s[S_VALID:S_VALID+1], s[S_VALID:S_VALID+1], 16
  s_lshl_b64 s[S_XLANES:S_XLANES+1], s[S_XLANES:S_XLANES+1], 4
  s_and_b32 s[S_XLANES], s[S_XLANES], 0xfff0fff0
  s_and_b32 s[S_XLANES+1], s[S_XLANES+1], 0xfff0fff0
  s_sub_u32 s[S_COUNT], s[S_COUNT], 1
  s_cmp_lg_u32 s[S_COUNT], 0
  s_cbranch_scc1 .Lgg_row_\name
  s_mov_b64 exec, -1
  s_not_b64 s[S_VALID:S_VALID+1], s[S_VALID:S_VALID+1]

  gg_load_row_scales
  .set gg_i, 0
  .rept (GG_KB + 3) / 4
    .if GG_KB - 4 * gg_i < 4                     // lanes past the last block take that one
      .set gg_n, GG_KB - 4 * gg_i - 1
      v_max_u32 v[V_T0], gg_n, v[V_T0]
      v_sub_u32 v[V_T0], v[V_T0], gg_n
      v_lshlrev_b32 v[V_T0], 7, v[V_T0]
      v_sub_u32 v[V_XOFF], v[V_XOFF], v[V_T0]
    .endif
    .set gg_v, V_B + 8 * gg_i
    global_load_dwordx4 v[gg_v:gg_v+3], v[V_XOFF], s[S_X:S_X+1] offset:512*gg_i
    global_load_dwordx4 v[gg_v+4:gg_v+7], v[V_XOFF], s[S_X:S_X+1] offset:512*gg_i+64
    .set gg_i, gg_i + 1
  .endr
  gg_load_tile
  gg_load_tile_scales
  v_mov_b32 v[V_ACC], 0
  .set gg_b, 0
  .rept (GG_KB + 3) / 4
    .set gg_n, 4
    .if gg_n > GG_KB - gg_b
      .set gg_n, GG_KB - gg_b
    .endif
    .set gg_i, 0
    .rept gg_n
      netra_wait_memory (2 * (GG_KB - 1 - gg_b - gg_i)) // younger: later blocks
      gg_multiply_few V_D+4*gg_i, V_B+2*gg_b, gg_b+gg_i
      .set gg_i, gg_i + 1
    .endr
    netra_mfma_settle_8_passes 2*(gg_n-1)        // the first is read first
    .set gg_i, 0
    .rept gg_n
      v_mul_f32 v[V_D+5*gg_i], v[V_SX+gg_b+gg_i], v[V_D+5*gg_i]
      v_mul_f32 v[V_D+5*gg_i], s[S_SW+gg_b+gg_i], v[V_D+5*gg_i]
      v_add_f32 v[V_ACC], v[V_ACC], v[V_D+5*gg_i]
      .set gg_i, gg_i + 1
    .endr
    .set gg_b, gg_b + gg_n
  .endr
  .if GG_WAVES == 1
    s_mov_b64 exec, s[S_VALID:S_VALID+1]
    global_store_dword v[V_OUT], v[V_ACC], s[S_RESULT:S_RESULT+1]
  .else
    v_lshlrev_b32 v[V_EXCHANGE], 2, v[V_LANE]
    s_cmp_eq_u32 s[S_WAVE], 0
    s_cbranch_scc1 .Lgg_few_gate_\name
    ds_write_b32 v[V_EXCHANGE], v[V_ACC] offset:GG_WAVES*GG_LIST
    netra_barrier                                // few: written
    s_endpgm
.Lgg_few_gate_\name:
    netra_barrier
    ds_read_b32 v[V_UP], v[V_EXCHANGE] offset:GG_WAVES*GG_LIST
    netra_wait_lds
    netra_moe_activate NETRA_ACTIVATION, V_H, V_ACC, V_UP, V_T0, V_T1
    netra_bf16_pack V_H, V_H, V_H
    s_mov_b64 exec, s[S_VALID:S_VALID+1]
    global_store_short v[V_OUT], v[V_H], s[S_RESULT:S_RESULT+1]
  .endif
  s_endpgm
.endm

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

.macro netra_template name
  netra_kernel_begin \name
  netra_moe_load_pointers
  .if GG_WAVES == 1
    s_mov_b32 s[S_WAVE], 0
  .else
    netra_lane_and_wave V_LANE, S_WAVE, V_T0
  .endif
  s_mul_i32 s[S_INDEX], s[S_WAVE], GG_TILES      // the up tile
  s_add_u32 s[S_INDEX], s[S_INDEX], s2
  netra_wait_scalar
  s_lshl_b32 s[S_TMP], s3, 2
  s_load_dword s[S_EXPERT], s[S_IDS:S_IDS+1], s[S_TMP]
  netra_moe_load_ids V_ID, V_LANE, V_T0, S_IDS, GG_ROWS
  s_mul_i32 s[S_TMP], s2, GG_TILE_BYTES
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  netra_wait_scalar
  netra_wait_memory 0
  s_cmp_lt_u32 s[S_EXPERT], NETRA_E
  s_cbranch_scc1 .Lgg_chosen_\name

  // Zeros, by the first wave.
  s_cmp_lg_u32 s[S_WAVE], 0
  s_cbranch_scc1 .Lgg_end_\name
  .set gg_i, 0
  .rept 4
    v_mov_b32 v[V_ACC+gg_i], 0
    .set gg_i, gg_i + 1
  .endr
  v_lshlrev_b32 v[V_OUT], 4, v[V_LANE]
  s_mul_i32 s[S_TMP], s3, GG_ROW_BYTES
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  s_mov_b64 exec, (1 << (GG_TILE_BYTES / 16)) - 1
  global_store_dwordx4 v[V_OUT], v[V_ACC:V_ACC+3], s[S_RESULT:S_RESULT+1]
  s_endpgm

.Lgg_chosen_\name:
  netra_moe_ballot S_MASK, S_ALL, V_ID, S_EXPERT, GG_ROWS, S_TMP
  .set gg_i, 0
  .rept GG_ROUNDS
    gg_rows_from gg_i, .Lgg_counted_\name
    .set gg_i, gg_i + 1
  .endr
.Lgg_counted_\name:
  s_sub_u32 s[S_TMP], s[S_ALL], s[S_COUNT]       // rows before
  s_and_b32 s[S_TMP], s[S_TMP], GG_UNIT - 1
  s_cbranch_scc1 .Lgg_end_\name
  s_min_u32 s[S_COUNT], s[S_COUNT], GG_UNIT
  v_lshlrev_b32 v[V_WOFF], 4, v[V_LANE]
  netra_moe_expert_tile S_TILE, S_EXPERT, S_INDEX, S_WEIGHT, NETRA_N, NETRA_K, S_TMP
  s_cmp_gt_u32 s[S_COUNT], 4
  s_cbranch_scc1 .Lgg_many_\name
  gg_few \name

.Lgg_many_\name:
  // The whole tile.
  gg_load_tile
  v_and_b32 v[V_GROUP], 0x30, v[V_LANE]
  .if GG_KB % 2                                  // the partner of a packed operand
    v_mov_b32 v[V_SX+GG_KB], 0
  .endif
  // The list, and each lane's place in it.
  s_mul_i32 s[S_TMP], s[S_WAVE], GG_LIST
  v_mov_b32 v[V_LIST], s[S_TMP]
  netra_moe_list S_MASK, V_LIST, V_LANE, V_T0, V_T1, GG_ROWS, S_TMP
  .if GG_WAVES > 1
    v_add_u32 v[V_EXCHANGE], GG_WAVES * GG_LIST, v[V_WOFF]
  .endif
  gg_rows
  gg_load_tile_scales
  .if GG_KB % 2
    s_mov_b32 s[S_SW+GG_KB], 0
  .endif
.Lgg_turn_\name:
  s_mov_b32 s[S_TMP], GG_ROW_BYTES
  v_mul_lo_u32 v[V_OUT], v[V_ROW], s[S_TMP]
  v_lshrrev_b32 v[V_T0], GG_WAVES - 1, v[V_GROUP]
  v_add_u32 v[V_OUT], v[V_OUT], v[V_T0]
  .set gg_i, 0
  .rept 4
    v_mov_b32 v[V_ACC+gg_i], 0
    .set gg_i, gg_i + 1
  .endr
  // Batches of up to four blocks, no more than are in flight.
  .set gg_issued, NETRA_DEPTH
  .set gg_b, 0
  .rept GG_KB
    .if gg_b < GG_KB
      .set gg_n, 4
      .if gg_n > NETRA_DEPTH
        .set gg_n, NETRA_DEPTH
      .endif
      .if gg_n > GG_KB - gg_b
        .set gg_n, GG_KB - gg_b
      .endif
      .set gg_i, 0
      .rept gg_n
        netra_wait_memory (2 * (gg_issued - 1 - gg_b - gg_i)) // younger: later activations
        gg_multiply V_D+4*gg_i, gg_b+gg_i, V_B+8*((gg_b+gg_i)%NETRA_DEPTH)
        .set gg_i, gg_i + 1
      .endr
      netra_mfma_settle_8_passes 2*(gg_n-1)      // the first is read first
      .set gg_i, 0
      .rept gg_n
        .if gg_issued < GG_KB
          gg_load gg_issued
          .set gg_issued, gg_issued + 1
        .endif
        netra_scale_tile_rows V_D+4*gg_i, V_D+4*gg_i, V_SX+gg_b+gg_i, S_SW+gg_b+gg_i, S_TMP, 1
        v_pk_add_f32 v[V_ACC:V_ACC+1], v[V_ACC:V_ACC+1], v[V_D+4*gg_i:V_D+4*gg_i+1]
        v_pk_add_f32 v[V_ACC+2:V_ACC+3], v[V_ACC+2:V_ACC+3], v[V_D+4*gg_i+2:V_D+4*gg_i+3]
        .set gg_i, gg_i + 1
      .endr
      .set gg_b, gg_b + gg_n
    .endif
  .endr

  // Register r of lane l: column 4 (l / 16) + r of the tile, list entry l % 16.
  .if GG_WAVES == 1
    s_mov_b64 exec, s[S_VALID:S_VALID+1]
    global_store_dwordx4 v[V_OUT], v[V_ACC:V_ACC+3], s[S_RESULT:S_RESULT+1]
    gg_next \name, .Lgg_end_\name
  .else
    s_cmp_eq_u32 s[S_WAVE], 0
    s_cbranch_scc1 .Lgg_gate_\name
    ds_write_b128 v[V_EXCHANGE], v[V_ACC:V_ACC+3]
    netra_barrier                                // many: written
    gg_next \name, .Lgg_end_\name
    s_endpgm
.Lgg_gate_\name:
    netra_barrier
    ds_read_b128 v[V_UP:V_UP+3], v[V_EXCHANGE]
    netra_wait_lds
    .set gg_i, 0
    .rept 4
      netra_moe_activate NETRA_ACTIVATION, V_H+gg_i, V_ACC+gg_i, V_UP+gg_i, V_T0, V_T1
      .set gg_i, gg_i + 1
    .endr
    netra_bf16_pack_run V_H, V_H, 2
    s_mov_b64 exec, s[S_VALID:S_VALID+1]
    global_store_dwordx2 v[V_OUT], v[V_H:V_H+1], s[S_RESULT:S_RESULT+1]
    gg_next \name, .Lgg_end_\name
  .endif
.Lgg_end_\name:
  netra_kernel_end \name
.endm
