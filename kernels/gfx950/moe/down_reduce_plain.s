// Netra gfx950 kernel: down projection of routed experts and their weighted sum, the plain loop.
// SPDX-License-Identifier: MIT
//
// The arithmetic of moe/down_reduce.s without residual. The yardstick for it and not meant for
// use: one wave per token and 16 columns, one K block of one slot at a time: load, wait,
// (with bf16 activations: quantize,) multiply.
//
// Constants: NETRA_M, E, S, NETRA_N (a multiple of 128), NETRA_K (of 128), NETRA_QUANTIZE.
// Arithmetic: acc = acc + weight * (sw * (sx * d)), four roundings, slots and blocks ascending.

.include "include/moe_plain.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 65535 && NETRA_E >= 1 && NETRA_S >= 1), "NETRA_M must be 1..65535, NETRA_E and NETRA_S at least 1"
netra_require (NETRA_K > 0 && NETRA_K % 128 == 0), "NETRA_K must be a multiple of 128"
netra_require (NETRA_N > 0 && NETRA_N % 128 == 0), "NETRA_N must be a multiple of 128"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "an expert's weights must be smaller than 2 GiB"
netra_require (NETRA_BLOCK_X == 64 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N / 16 && NETRA_GRID_Y == NETRA_M && NETRA_GRID_Z == 1), "the grid must be NETRA_N / 16 x NETRA_M x 1"

.set S_SLOT, 4
.set S_BLOCK, 5
.set S_X, 6
.set S_X_SCALE, 8
.set S_WEIGHT, 10
.set S_WEIGHT_SCALE, 12
.set S_ROUTES, 14
.set S_IDS, 16
.set S_RESULT, 18
.set S_TMP, 20
.set S_TILE, 22
.set S_SCALES, 24
.set S_EXPERT, 26
.set S_ROUTE, 28
.set S_SW, 30
.set V_WOFF, 1
.set V_XOFF, 2
.set V_SOFF, 3
.set V_OUT, 4
.set V_SX, 6
.set V_ACC, 8
.set V_D, 12
.set V_B, 16
.set V_A, 24
.set V_T0, 32
.set V_T1, 33
.set V_RAW, 36
.set V_F, 52

.macro netra_template name
  netra_kernel_begin \name
  netra_moe_load_pointers
  netra_plain_lanes
  v_lshrrev_b32 v[V_OUT], 1, v[V_OUT]            // the result is bf16
  .if NETRA_QUANTIZE
  v_lshlrev_b32 v[V_XOFF], 1, v[V_XOFF]
  .endif
  s_mov_b32 s[S_ROUTE+1], 0                      // the partner of a packed operand
  netra_wait_scalar
  s_mul_i32 s[S_TMP], s3, 2 * NETRA_N
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  s_lshl_b32 s[S_TMP], s2, 5
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  s_mul_i32 s[S_TMP], s3, NETRA_S * NETRA_K * (1 + NETRA_QUANTIZE)
  netra_pointer_add S_X, S_X, S_TMP
  .if !NETRA_QUANTIZE
  s_mul_i32 s[S_TMP], s3, NETRA_S * NETRA_K / 32
  netra_pointer_add S_X_SCALE, S_X_SCALE, S_TMP
  .endif
  s_mul_i32 s[S_TMP], s3, 4 * NETRA_S
  netra_pointer_add S_IDS, S_IDS, S_TMP
  netra_pointer_add S_ROUTES, S_ROUTES, S_TMP
  s_mov_b32 s[S_SLOT], 0
.Lplain_slot_\name:
  s_load_dword s[S_EXPERT], s[S_IDS:S_IDS+1], 0
  s_load_dword s[S_ROUTE], s[S_ROUTES:S_ROUTES+1], 0
  netra_wait_scalar
  s_cmp_ge_u32 s[S_EXPERT], NETRA_E
  s_cbranch_scc1 .Lplain_masked_\name
  netra_moe_expert_tile S_TILE, S_EXPERT, 2, S_WEIGHT, NETRA_N, NETRA_K, S_TMP
  netra_moe_expert_scales S_SCALES, S_EXPERT, 2, S_WEIGHT_SCALE, NETRA_N, NETRA_K / 128
  v_lshlrev_b32 v[V_WOFF], 4, v0
  s_mov_b32 s[S_BLOCK], 0
.Lplain_loop_\name:
  s_load_dword s[S_SW], s[S_SCALES:S_SCALES+1], 0
  .if NETRA_QUANTIZE
    netra_moe_load_bf16 V_RAW, V_XOFF, S_X, 0
    netra_wait_memory 0
    netra_moe_quantize V_B, V_RAW, V_F, V_SX, V_T0, V_T1
  .endif
  netra_plain_block NETRA_QUANTIZE
  netra_plain_scale S_ROUTE
  netra_pointer_add_const S_SCALES, S_SCALES, 4
  s_add_u32 s[S_BLOCK], s[S_BLOCK], 1
  s_cmp_lt_u32 s[S_BLOCK], NETRA_K / 128
  s_cbranch_scc1 .Lplain_loop_\name
  s_branch .Lplain_next_\name
.Lplain_masked_\name:
  v_add_u32 v[V_XOFF], NETRA_K * (1 + NETRA_QUANTIZE), v[V_XOFF]
  v_add_u32 v[V_SOFF], NETRA_K / 32, v[V_SOFF]
.Lplain_next_\name:
  netra_pointer_add_const S_IDS, S_IDS, 4
  netra_pointer_add_const S_ROUTES, S_ROUTES, 4
  s_add_u32 s[S_SLOT], s[S_SLOT], 1
  s_cmp_lt_u32 s[S_SLOT], NETRA_S
  s_cbranch_scc1 .Lplain_slot_\name
  netra_bf16_pack V_ACC, V_ACC, V_ACC+1
  netra_bf16_pack V_ACC+1, V_ACC+2, V_ACC+3
  // Every column of D is the same; the lanes of column 0 store four rows each.
  s_mov_b32 exec_lo, 0x00010001
  s_mov_b32 exec_hi, 0x00010001
  global_store_dwordx2 v[V_OUT], v[V_ACC:V_ACC+1], s[S_RESULT:S_RESULT+1]
  netra_kernel_end \name
.endm
