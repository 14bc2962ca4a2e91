// Netra gfx950 kernel: dense, FP8 with block scales, the plain loop.
// SPDX-License-Identifier: MIT
//
// What dense/fp8_block128.s computes, without bias and residual. The yardstick for it and
// not meant for use: one wave per 16 columns of the result, one weight tile and one K
// block at a time: load, wait, multiply, and the formula as it stands, a multiplication, a
// multiplication and an addition, of two sums by an instruction. Gated: the loop over the
// gate tile's blocks, then over the up tile's.
//
// Constants: NETRA_M 1..16, NETRA_N (a multiple of 16, gated: of 32), NETRA_K (of 128);
// NETRA_ACTIVATION, NETRA_GATED: 0, or an activation and 1.
// Arithmetic: acc = acc + sw * (sx * dot), each rounded, K blocks ascending; gated:
// activation in f32, times up; one rounding to bf16.

.include "include/kernel.inc"
.include "include/convert.inc"
.include "include/activation.inc"
.include "include/mfma.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 16), "NETRA_M must be 1..16"
netra_require (NETRA_K > 0 && NETRA_K % 128 == 0), "NETRA_K must be a multiple of 128"
netra_require (NETRA_GATED == 0 && NETRA_ACTIVATION == 0 || NETRA_GATED == 1 && NETRA_ACTIVATION >= 1 && NETRA_ACTIVATION <= 5), "NETRA_GATED must be 0 without NETRA_ACTIVATION, or 1 with 1 (silu), 2 (gelu erf), 3 (gelu tanh) or 5 (sigmoid)"
.set PLAIN_TILES, 1 + NETRA_GATED
netra_require (NETRA_N > 0 && NETRA_N % (16 * PLAIN_TILES) == 0), "NETRA_N must be a multiple of 16, gated of 32"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "the weight must be smaller than 2 GiB"
netra_require (NETRA_BLOCK_X == 64 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N / (16 * PLAIN_TILES) && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_N / 16 (gated: / 32) x 1 x 1"

.set S_TILE, 4                                   // of 16 weight rows
.set S_X, 6
.set S_WEIGHT, 8
.set S_X_SCALE, 10
.set S_SCALES, 12                                // all of the weight
.set S_RESULT, 14
.set S_TMP, 16
.set S_SW, 18
.set S_BLOCK, 20
.set S_WEIGHT_SCALE, 22                          // of the next block
.set NETRA_S_ACT, 24
.set V_COLUMN, 0
.set V_WOFF, 1
.set V_XOFF, 2
.set V_SOFF, 3
.set V_OUT, 4
.set V_T0, 5
.set V_T1, 6
.set V_SX, 8
.set V_ACC, 10
.set V_D, 14
.set V_B, 18
.set V_A, 26
.set V_GATE, 34                                  // gated: the gate tile's sums

// v[V..V+3] = the sums of tile s[S_TILE], whose weights are at s[S_WEIGHT:S_WEIGHT+1] and
// the vector offset.
.macro plain_tile v, label
  .set plain_r, 0
  .rept 4
    v_mov_b32 v[\v+plain_r], 0
    .set plain_r, plain_r + 1
  .endr
  s_lshr_b32 s[S_TMP], s[S_TILE], 3
  s_mul_i32 s[S_TMP], s[S_TMP], NETRA_K / 32
  netra_pointer_add S_WEIGHT_SCALE, S_SCALES, S_TMP
  s_mov_b32 s[S_BLOCK], 0
\label:
  s_load_dword s[S_SW], s[S_WEIGHT_SCALE:S_WEIGHT_SCALE+1], 0
  global_load_dword v[V_SX], v[V_SOFF], s[S_X_SCALE:S_X_SCALE+1]
  global_load_dwordx4 v[V_B:V_B+3], v[V_XOFF], s[S_X:S_X+1]
  global_load_dwordx4 v[V_B+4:V_B+7], v[V_XOFF], s[S_X:S_X+1] offset:64
  global_load_dwordx4 v[V_A:V_A+3], v[V_WOFF], s[S_WEIGHT:S_WEIGHT+1]
  global_load_dwordx4 v[V_A+4:V_A+7], v[V_WOFF], s[S_WEIGHT:S_WEIGHT+1] offset:1024
  s_waitcnt vmcnt(0) lgkmcnt(0)
  netra_mfma_fp8_16x16x128 V_D, V_A, V_B
  netra_mfma_settle_8_passes
  .set plain_r, 0
  .rept 2
    v_pk_mul_f32 v[V_D+plain_r:V_D+plain_r+1], v[V_D+plain_r:V_D+plain_r+1], v[V_SX:V_SX+1] op_sel_hi:[1,0]
    v_pk_mul_f32 v[V_D+plain_r:V_D+plain_r+1], v[V_D+plain_r:V_D+plain_r+1], s[S_SW:S_SW+1] op_sel_hi:[1,0]
    v_pk_add_f32 v[\v+plain_r:\v+plain_r+1], v[\v+plain_r:\v+plain_r+1], v[V_D+plain_r:V_D+plain_r+1]
    .set plain_r, plain_r + 2
  .endr
  v_add_u32 v[V_WOFF], 2048, v[V_WOFF]
  v_add_u32 v[V_XOFF], 128, v[V_XOFF]
  v_add_u32 v[V_SOFF], 4, v[V_SOFF]
  netra_pointer_add_const S_WEIGHT_SCALE, S_WEIGHT_SCALE, 4
  s_add_u32 s[S_BLOCK], s[S_BLOCK], 1
  s_cmp_lt_u32 s[S_BLOCK], NETRA_K / 128
  s_cbranch_scc1 \label
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_load_pointer S_X_SCALE, NETRA_ARG_X_SCALE
  netra_load_pointer S_SCALES, NETRA_ARG_WEIGHT_SCALE
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  v_lshlrev_b32 v[V_WOFF], 4, v0
  v_lshrrev_b32 v[V_T0], 4, v0
  v_and_b32 v[V_COLUMN], 15, v0
  v_min_u32 v[V_T1], NETRA_M - 1, v[V_COLUMN]
  v_lshlrev_b32 v[V_XOFF], 4, v[V_T0]
  v_mul_u32_u24 v[V_SOFF], NETRA_K, v[V_T1]
  v_add_u32 v[V_XOFF], v[V_XOFF], v[V_SOFF]
  v_mul_u32_u24 v[V_SOFF], NETRA_K / 32, v[V_T1]
  v_mul_u32_u24 v[V_OUT], 2 * NETRA_N / PLAIN_TILES, v[V_T1]
  v_lshl_add_u32 v[V_OUT], v[V_T0], 3, v[V_OUT]
  s_lshl_b32 s[S_TMP], s2, 5
  v_add_u32 v[V_OUT], s[S_TMP], v[V_OUT]
  v_mov_b32 v[V_SX+1], 0                         // partners of packed operands
  s_mov_b32 s[S_SW+1], 0
  s_mov_b32 s[S_TILE], s2
  netra_wait_scalar
  s_mul_i32 s[S_TMP], s2, 16 * NETRA_K
  netra_pointer_add S_WEIGHT, S_WEIGHT, S_TMP
  .if NETRA_GATED
    plain_tile V_GATE, .Lplain_gate_\name
    // The up tile, from where the vector offsets are now.
    s_add_u32 s[S_TILE], s2, NETRA_N / 32
    netra_pointer_add_const S_WEIGHT, S_WEIGHT, (NETRA_N/2-16)*NETRA_K
    s_sub_u32 s[S_X], s[S_X], NETRA_K
    s_subb_u32 s[S_X+1], s[S_X+1], 0
    s_sub_u32 s[S_X_SCALE], s[S_X_SCALE], NETRA_K / 32
    s_subb_u32 s[S_X_SCALE+1], s[S_X_SCALE+1], 0
  .endif
  plain_tile V_ACC, .Lplain_loop_\name
  .if NETRA_GATED
    .set plain_r, 0
    .rept 4
      netra_activate NETRA_ACTIVATION, V_D+plain_r, V_GATE+plain_r, V_T0, V_T1
      .set plain_r, plain_r + 1
    .endr
    v_pk_mul_f32 v[V_ACC:V_ACC+1], v[V_D:V_D+1], v[V_ACC:V_ACC+1]
    v_pk_mul_f32 v[V_ACC+2:V_ACC+3], v[V_D+2:V_D+3], v[V_ACC+2:V_ACC+3]
  .endif
  netra_bf16_pack V_ACC, V_ACC, V_ACC+1
  netra_bf16_pack V_ACC+1, V_ACC+2, V_ACC+3
  .if NETRA_M < 16
    v_cmp_gt_u32 vcc, NETRA_M, v[V_COLUMN]
    s_and_b64 exec, exec, vcc
  .endif
  global_store_dwordx2 v[V_OUT], v[V_ACC:V_ACC+1], s[S_RESULT:S_RESULT+1]
  netra_kernel_end \name
.endm
