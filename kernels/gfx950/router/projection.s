// Netra gfx950 kernel: the router's projection, bf16.
// SPDX-License-Identifier: MIT
//
//   y[m, e] = bf16( sum over k of x[m, k] * w[e, k] )
//
// A kernel whose arguments (result, x, weight) and whose order of arithmetic other code
// relies on, see include/pair_dot.inc.
//
// Constants
//   NETRA_M          rows, 1..64
//   NETRA_N          experts, 1..1024
//   NETRA_K          a multiple of 512, at most 8192
//
// Schedule. Work-group (e, m) is one wave and makes one element. All loads are issued
// before the first wait. With so few experts this fills the machine where a kernel that
// makes several outputs per work-group would not; rows meet the weight in the L2 cache.

.include "include/pair_dot.inc"

netra_require (NETRA_M >= 1 && NETRA_M <= 64), "NETRA_M must be 1..64"
netra_require (NETRA_N >= 1 && NETRA_N <= 1024), "NETRA_N must be 1..1024"
netra_require (NETRA_K >= 512 && NETRA_K <= 8192 && NETRA_K % 512 == 0), "NETRA_K must be a multiple of 512, at most 8192"
netra_require (NETRA_BLOCK_X == 64 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N && NETRA_GRID_Y == NETRA_M && NETRA_GRID_Z == 1), "the grid must be NETRA_N x NETRA_M x 1"
netra_require (NETRA_STATIC_LDS == 0), "NETRA_STATIC_LDS must be 0"

.set PROJECTION_GROUPS, NETRA_K / 512

// Scalars
.set S_RESULT, 6
.set S_X, 8
.set S_WEIGHT, 10
.set S_TMP, 12                                   // and 13
// Vectors
.set V_OFFSET, 1                                 // up to 4
.set V_SUM, 5
.set V_T, 6                                      // 4
.set V_B, 10                                     // eight f32 of x
.set V_X, 18                                     // 4 per group, each
.set V_W, V_X + 4 * PROJECTION_GROUPS

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_RESULT, NETRA_ARG_OUT
  netra_load_pointer S_X, NETRA_ARG_HIDDEN
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_pair_offsets V_OFFSET, 0, PROJECTION_GROUPS
  netra_wait_scalar
  s_mul_i32 s[S_TMP], s2, 2*NETRA_K              // at most 1024 rows of 16 KB
  netra_pointer_add S_WEIGHT, S_WEIGHT, S_TMP
  s_mul_i32 s[S_TMP], s3, 2*NETRA_K
  netra_pointer_add S_X, S_X, S_TMP
  .set projection_g, 0
  .rept PROJECTION_GROUPS
    netra_pair_load V_W+4*projection_g, V_OFFSET, S_WEIGHT, projection_g
    netra_pair_load V_X+4*projection_g, V_OFFSET, S_X, projection_g
    .set projection_g, projection_g + 1
  .endr
  s_mul_i32 s[S_TMP], s3, NETRA_N
  s_add_u32 s[S_TMP], s[S_TMP], s2
  s_lshl_b32 s[S_TMP], s[S_TMP], 1
  .set projection_g, 0
  .rept PROJECTION_GROUPS
    netra_wait_memory (2 * (PROJECTION_GROUPS - 1 - projection_g)) // the later groups
    netra_bf16_unpack_run V_B, V_X+4*projection_g, 4
    netra_pair_dot V_SUM, V_W+4*projection_g, V_B, V_T, projection_g
    .set projection_g, projection_g + 1
  .endr
  netra_wave_reduce v_add_f32, V_SUM, V_T
  netra_bf16_pack V_SUM, V_SUM, V_SUM
  v_mov_b32 v[V_T], s[S_TMP]
  s_mov_b64 exec, 1
  global_store_short v[V_T], v[V_SUM], s[S_RESULT:S_RESULT+1]
  netra_kernel_end \name
.endm
