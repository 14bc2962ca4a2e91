// Netra gfx950 kernel: gate and up projections of routed experts, the plain loop.
// SPDX-License-Identifier: MIT
//
// The arithmetic of moe/gate_up.s without activation. The yardstick for it and not meant for
// use: one wave per token, slot and 16 columns, one K block at a time: load, wait, multiply.
//
// Constants: NETRA_M, E, S, NETRA_N (a multiple of 128), NETRA_K (of 128), NETRA_ACTIVATION 0.
// Arithmetic: acc = acc + sw * (sx * d), three roundings, K blocks ascending.

.include "include/moe_plain.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 65535 && NETRA_E >= 1 && NETRA_S >= 1), "NETRA_M must be 1..65535, NETRA_E and NETRA_S at least 1"
netra_require (NETRA_K > 0 && NETRA_K % 128 == 0), "NETRA_K must be a multiple of 128"
netra_require (NETRA_N > 0 && NETRA_N % 128 == 0), "NETRA_N must be a multiple of 128"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "an expert's weights must be smaller than 2 GiB"
netra_require (NETRA_BLOCK_X == 64 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_S * NETRA_N / 16 && NETRA_GRID_Y == NETRA_M && NETRA_GRID_Z == 1), "the grid must be NETRA_S * NETRA_N / 16 x NETRA_M x 1"

.set S_SLOT, 4
.set S_BLOCK, 5
.set S_X, 6
.set S_WEIGHT, 8
.set S_X_SCALE, 10
.set S_WEIGHT_SCALE, 12
.set S_IDS, 14
.set S_RESULT, 16
.set S_TMP, 18
.set S_TILE, 20
.set S_INDEX, 22
.set S_EXPERT, 23
.set S_SW, 24
.set S_SCALES, 26
.set V_WOFF, 1
.set V_XOFF, 2
.set V_SOFF, 3
.set V_OUT, 4
.set V_SX, 6
.set V_ACC, 8
.set V_D, 12
.set V_B, 16
.set V_A, 24

.macro netra_template name
  netra_kernel_begin \name
  netra_moe_load_pointers
  netra_moe_divide S_SLOT, 2, NETRA_N / 16
  s_mul_i32 s[S_INDEX], s[S_SLOT], NETRA_N / 16
  s_sub_u32 s[S_INDEX], s2, s[S_INDEX]
  netra_plain_lanes
  netra_wait_scalar
  s_mul_i32 s[S_TMP], s3, NETRA_S
  s_add_u32 s[S_SLOT], s[S_TMP], s[S_SLOT]       // m * S + s
  s_lshl_b32 s[S_TMP], s[S_SLOT], 2
  s_load_dword s[S_EXPERT], s[S_IDS:S_IDS+1], s[S_TMP]
  s_mul_i32 s[S_TMP], s[S_SLOT], 4 * NETRA_N
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  s_lshl_b32 s[S_TMP], s[S_INDEX], 6
  netra_pointer_add S_RESULT, S_RESULT, S_TMP
  s_mul_i32 s[S_TMP], s3, NETRA_K
  netra_pointer_add S_X, S_X, S_TMP
  s_mul_i32 s[S_TMP], s3, NETRA_K / 32
  netra_pointer_add S_X_SCALE, S_X_SCALE, S_TMP
  netra_wait_scalar
  s_cmp_ge_u32 s[S_EXPERT], NETRA_E
  s_cbranch_scc1 .Lplain_store_\name
  netra_moe_expert_tile S_TILE, S_EXPERT, S_INDEX, S_WEIGHT, NETRA_N, NETRA_K, S_TMP
  netra_moe_expert_scales S_SCALES, S_EXPERT, S_INDEX, S_WEIGHT_SCALE, NETRA_N, NETRA_K / 128
  s_mov_b32 s[S_BLOCK], 0
.Lplain_loop_\name:
  s_load_dword s[S_SW], s[S_SCALES:S_SCALES+1], 0
  netra_plain_block 0
  netra_plain_scale 0
  netra_pointer_add_const S_SCALES, S_SCALES, 4
  s_add_u32 s[S_BLOCK], s[S_BLOCK], 1
  s_cmp_lt_u32 s[S_BLOCK], NETRA_K / 128
  s_cbranch_scc1 .Lplain_loop_\name
.Lplain_store_\name:
  // Every column of D is the same; the lanes of column 0 store four rows each.
  s_mov_b32 exec_lo, 0x00010001
  s_mov_b32 exec_hi, 0x00010001
  global_store_dwordx4 v[V_OUT], v[V_ACC:V_ACC+3], s[S_RESULT:S_RESULT+1]
  netra_kernel_end \name
.endm
