// Netra gfx950 kernel: dense, bf16, the plain loop.
// SPDX-License-Identifier: MIT
//
//   y[m, n] = bf16( sum over k of x[m, k] * w[n, k] )
//
// The yardstick for dense/bf16_gemv.s and dense/bf16_mfma.s and not meant for use: one
// wave per weight row and activation row, one 512-element chunk of K at a time: load,
// wait, multiply, two products by an instruction.
//
// Constants: NETRA_M 1..32, NETRA_N, NETRA_K (a multiple of 512).
// Arithmetic: lane l adds the even and the odd ones of k = 512 c + 8 l .. + 7 by fma in
// ascending k and c, two sums, and then one to the other; lanes by netra_wave_reduce; one
// rounding to bf16.

.include "include/kernel.inc"
.include "include/reduce.inc"
.include "include/convert.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 32), "NETRA_M must be 1..32"
netra_require (NETRA_K > 0 && NETRA_K % 512 == 0), "NETRA_K must be a multiple of 512"
netra_require (NETRA_N > 0 && NETRA_N * NETRA_K <= 0x7fffffff), "the weight must be smaller than 4 GiB"
netra_require (NETRA_BLOCK_X == 64 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N && NETRA_GRID_Y == NETRA_M && NETRA_GRID_Z == 1), "the grid must be NETRA_N x NETRA_M x 1"

.set S_X, 6
.set S_WEIGHT, 8
.set S_RESULT, 10
.set S_TMP, 12
.set S_CHUNK, 14
.set V_OFFSET, 0
.set V_T0, 1
.set V_SUM, 2                                    // even k, odd k
.set V_X, 4
.set V_W, 8
.set V_XF, 12
.set V_WF, 14

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  v_lshlrev_b32 v[V_OFFSET], 4, v0
  v_mov_b32 v[V_SUM], 0
  v_mov_b32 v[V_SUM+1], 0
  s_mul_i32 s[S_TMP], s2, 2*NETRA_K
  s_mul_hi_u32 s[S_TMP+1], s2, 2*NETRA_K
  s_mov_b32 s[S_CHUNK], 0
  netra_wait_scalar
  s_add_u32 s[S_WEIGHT], s[S_WEIGHT], s[S_TMP]
  s_addc_u32 s[S_WEIGHT+1], s[S_WEIGHT+1], s[S_TMP+1]
  s_mul_i32 s[S_TMP], s3, 2*NETRA_K
  netra_pointer_add S_X, S_X, S_TMP
.Lplain_loop_\name:
  global_load_dwordx4 v[V_X:V_X+3], v[V_OFFSET], s[S_X:S_X+1]
  global_load_dwordx4 v[V_W:V_W+3], v[V_OFFSET], s[S_WEIGHT:S_WEIGHT+1]
  netra_wait_memory 0
  .set plain_i, 0
  .rept 4
    netra_bf16_unpack V_XF, V_XF+1, V_X+plain_i
    netra_bf16_unpack V_WF, V_WF+1, V_W+plain_i
    v_pk_fma_f32 v[V_SUM:V_SUM+1], v[V_XF:V_XF+1], v[V_WF:V_WF+1], v[V_SUM:V_SUM+1]
    .set plain_i, plain_i + 1
  .endr
  v_add_u32 v[V_OFFSET], 1024, v[V_OFFSET]
  s_add_u32 s[S_CHUNK], s[S_CHUNK], 1
  s_cmp_lt_u32 s[S_CHUNK], NETRA_K / 512
  s_cbranch_scc1 .Lplain_loop_\name
  v_add_f32 v[V_SUM], v[V_SUM], v[V_SUM+1]
  netra_wave_reduce v_add_f32, V_SUM, V_T0
  netra_bf16_pack V_SUM, V_SUM, V_SUM
  s_mul_i32 s[S_TMP], s3, NETRA_N
  s_add_u32 s[S_TMP], s[S_TMP], s2
  v_mov_b32 v[V_T0], s[S_TMP]
  v_lshlrev_b32 v[V_T0], 1, v[V_T0]
  s_mov_b64 exec, 1
  global_store_short v[V_T0], v[V_SUM], s[S_RESULT:S_RESULT+1]
  netra_kernel_end \name
.endm
