// Netra gfx950 kernel: experts and weights of each row from its logits.
// SPDX-License-Identifier: MIT
//
// What is computed stands in include/route.inc.
//
// Constants
//   NETRA_M, E, S    rows, routed experts, slots of a result row
//   NETRA_TOPK       experts selected per row
//   NETRA_GROUPS, NETRA_TOPGROUPS  groups of experts and how many stay; 1, 1 without
//   NETRA_K          width of x; read only with a shared gate
//   NETRA_SCORING    0 softmax, 1 sigmoid
//   NETRA_NORMALIZE  0 none, 1 sum
//   NETRA_SHARED     0 no shared expert, 1 with weight 1, 2 with weight sigmoid(x . gate)
//   NETRA_HAS_BIAS   1: correction_bias is read
//   NETRA_ROUTED_SCALE  bits of an f32
//
// Schedule. Work-group m is one wave and does row m; the machine code does not depend on
// the number of rows. Everything is loaded before the first wait: logits and bias, 64 in a
// row per load, then x and the gate.

.include "include/route.inc"

netra_require (NETRA_BLOCK_X == 64 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_M x 1 x 1"
netra_require (NETRA_STATIC_LDS == 0), "NETRA_STATIC_LDS must be 0"

.if NETRA_SHARED == NETRA_SHARED_SIGMOID
.set ROUTE_DOT_GROUPS, NETRA_K / 512
.else
.set ROUTE_DOT_GROUPS, 0
.endif

// Scalars
.set S_LOGITS, 6
.set S_X, 8
.set S_GATE, 10
.set S_BIAS, 12
.set S_IDS, 14
.set S_WEIGHTS, 16
.set NETRA_S_ACT, 18
.set S_TMP, 20                                   // and 21
.set S_ID, 22
.set S_ROW, 5
// Vectors
.set V_LANE, 0
.set V_T0, 1
.set V_T1, 2
.set V_T2, 3
.set V_ID, 4
.set V_WEIGHT, 5
.set V_DOT, 6
.set V_OFFSET, 8                                 // 4, of x and gate
.set V_T, 12                                     // 4
.set V_B, 16                                     // 8
.set V_LOGIT, 24                                 // ROUTE_REGS, each
.set V_KEY, V_LOGIT + ROUTE_REGS
.set V_BIAS, V_KEY + ROUTE_REGS
.set V_GROUP, V_BIAS                             // the bias has been used
.if NETRA_HAS_BIAS
.set V_X, ((V_BIAS + ROUTE_REGS + 1) / 2) * 2    // 4 per group, each
.else
.set V_X, ((V_BIAS + ROUTE_GROUP_REGS + 1) / 2) * 2
.endif
.set V_G, V_X + 4 * ROUTE_DOT_GROUPS

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_LOGITS, NETRA_ARG_LOGITS
  .if ROUTE_DOT_GROUPS
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_GATE, NETRA_ARG_SHARED_GATE
  netra_pair_offsets V_OFFSET, V_LANE, ROUTE_DOT_GROUPS
  .endif
  .if NETRA_HAS_BIAS
  netra_load_pointer S_BIAS, NETRA_ARG_CORRECTION_BIAS
  .endif
  netra_load_pointer S_IDS, NETRA_ARG_EXPERT_IDS
  netra_load_pointer S_WEIGHTS, NETRA_ARG_EXPERT_WEIGHTS
  s_mov_b32 s[S_ROW], s2
  netra_wait_scalar
  netra_row_pointer S_LOGITS, S_ROW, 2*NETRA_E, S_TMP
  netra_route_load global_load_ushort, V_LOGIT, 1, S_LOGITS
  .if NETRA_HAS_BIAS
    netra_route_load global_load_dword, V_BIAS, 2, S_BIAS
  .endif
  .if ROUTE_DOT_GROUPS
    netra_row_pointer S_X, S_ROW, 2*NETRA_K, S_TMP
    .set route_g, 0
    .rept ROUTE_DOT_GROUPS
      netra_pair_load V_X+4*route_g, V_OFFSET, S_X, route_g
      netra_pair_load V_G+4*route_g, V_OFFSET, S_GATE, route_g
      .set route_g, route_g + 1
    .endr
    .set route_g, 0
    .rept ROUTE_DOT_GROUPS
      netra_wait_memory (2 * (ROUTE_DOT_GROUPS - 1 - route_g)) // the later groups
      netra_bf16_unpack_run V_B, V_X+4*route_g, 4
      netra_pair_dot V_DOT, V_G+4*route_g, V_B, V_T, route_g
      .set route_g, route_g + 1
    .endr
    netra_wave_reduce v_add_f32, V_DOT, V_T0
  .endif
  netra_route_results S_ROW, S_TMP
  netra_wait_memory 0
  .set route_j, 0
  .rept ROUTE_REGS
    v_lshlrev_b32 v[V_LOGIT+route_j], 16, v[V_LOGIT+route_j]
    .set route_j, route_j + 1
  .endr
  netra_route_row
  netra_kernel_end \name
.endm
