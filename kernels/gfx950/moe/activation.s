// Netra gfx950 kernel: gated activation of routed experts and FP8 quantization.
// SPDX-License-Identifier: MIT
//
//   h = bf16(act(x[r, i]) * x[r, N + i]),  r = m * S + s
//   scale[r, g] = max(1e-10, max |h| over the 128 columns of group g) * f32(1 / 448)
//   result[r, i] = fp8(h * (1 / scale))
//
// x is f32 [M, S, 2 N], gate then up; result FP8 [M, S, N], result_scale f32 [M, S, N / 128].
// The number of rows is a launch argument: work-groups past it do nothing.
//
// Constants: NETRA_M, NETRA_S, NETRA_N (a multiple of 128, at most 16384), NETRA_ACTIVATION
// 1 (silu), 2 (gelu erf) or 3 (gelu tanh), NETRA_SCALE_GROUP_MAJOR 1: a token's scales are
// transposed, those of a group's slots side by side: [M, N / 128, S].
//
// Schedule. One wave per row, eight columns per lane and round of 512 columns; everything a
// row of up to 2048 columns needs is asked for before the first wait, four rounds of longer ones.
//
// Arithmetic. include/moe.inc; NaN does not take part in the maximum and becomes a NaN code.

.include "include/moe.inc"
.include "include/rows.inc"

netra_require (NETRA_M >= 1 && NETRA_S >= 1 && NETRA_M * NETRA_S <= 0x7fffff), "NETRA_M * NETRA_S must be 1..8388607"
netra_require (NETRA_N > 0 && NETRA_N % 128 == 0 && NETRA_N <= 16384), "NETRA_N must be a multiple of 128 up to 16384"
netra_require (NETRA_BLOCK_X == 64 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M * NETRA_S && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_M * NETRA_S x 1 x 1"
netra_require (NETRA_STATIC_LDS == 0), "NETRA_STATIC_LDS must be 0"

netra_require (NETRA_SCALE_GROUP_MAJOR == 0 || NETRA_SCALE_GROUP_MAJOR == 1), "NETRA_SCALE_GROUP_MAJOR must be 0 or 1"

.set ACT_ROUNDS, (NETRA_N + 511) / 512
.set ACT_DEPTH, 4                                // rounds in flight
.if ACT_ROUNDS < ACT_DEPTH
.set ACT_DEPTH, ACT_ROUNDS
.endif

// Scalars
.set S_X, 6
.set S_RESULT, 8
.set S_SCALE, 10
.set S_ROWS, 12
.set NETRA_S_ACT, 14
.set S_TMP, 16
.set S_UP, 18
.set S_SLOTS, 20                                 // between the scales of two groups
// Vectors
.set V_COLUMN, 1
.set V_OFFSET, 2                                 // byte offset of the lane's f32
.set V_T0, 3
.set V_T1, 4
.set V_T2, 5
.set V_H, 6                                      // 8
.set V_IN, 14                                    // 16 per round in flight: gate, up

// EXEC = the lanes that have columns in round ROUND.
.macro act_lanes round
  .if NETRA_N - 512 * (\round) < 512
    .set act_lanes_on, (NETRA_N - 512 * (\round)) / 8
    .if act_lanes_on < 32
      s_mov_b32 exec_lo, (1 << act_lanes_on) - 1
      s_mov_b32 exec_hi, 0
    .else
      s_mov_b32 exec_lo, -1
      s_mov_b32 exec_hi, (1 << (act_lanes_on - 32)) - 1
    .endif
  .else
    s_mov_b64 exec, -1
  .endif
.endm

.macro act_load round
  .set act_v, V_IN + 16 * ((\round) % ACT_DEPTH)
  act_lanes \round
  .if (\round) > 0
    s_add_u32 s[S_X], s[S_X], 2048
    s_addc_u32 s[S_X+1], s[S_X+1], 0
    s_add_u32 s[S_UP], s[S_UP], 2048
    s_addc_u32 s[S_UP+1], s[S_UP+1], 0
  .endif
  global_load_dwordx4 v[act_v:act_v+3], v[V_OFFSET], s[S_X:S_X+1]
  global_load_dwordx4 v[act_v+4:act_v+7], v[V_OFFSET], s[S_X:S_X+1] offset:16
  global_load_dwordx4 v[act_v+8:act_v+11], v[V_OFFSET], s[S_UP:S_UP+1]
  global_load_dwordx4 v[act_v+12:act_v+15], v[V_OFFSET], s[S_UP:S_UP+1] offset:16
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  netra_load_pointer S_SCALE, NETRA_ARG_RESULT_SCALE
  netra_load_u32 S_ROWS, NETRA_ARG_ROWS
  v_lshlrev_b32 v[V_COLUMN], 3, v0
  v_lshlrev_b32 v[V_OFFSET], 5, v0
  netra_wait_scalar
  s_cmp_ge_u32 s2, s[S_ROWS]
  s_cbranch_scc1 .Lact_end_\name
  netra_row_pointer S_X, 2, 8 * NETRA_N, S_TMP
  netra_row_pointer S_RESULT, 2, NETRA_N, S_TMP
  .if NETRA_SCALE_GROUP_MAJOR
    netra_row_pointer S_SCALE, 2, 4, S_TMP
    netra_moe_divide S_SLOTS, 2, NETRA_S         // token: the other scales of those before
    netra_row_pointer S_SCALE, S_SLOTS, 4 * NETRA_S * (NETRA_N / 128 - 1), S_TMP
    s_mov_b32 s[S_SLOTS], NETRA_S
  .else
    netra_row_pointer S_SCALE, 2, NETRA_N / 32, S_TMP
  .endif
  netra_pointer_add_const S_UP, S_X, 4 * NETRA_N
  .set act_issued, 0
  .rept ACT_DEPTH
    act_load act_issued
    .set act_issued, act_issued + 1
  .endr
  .set act_round, 0
  .rept ACT_ROUNDS
    act_lanes act_round
    .set act_in, V_IN + 16 * (act_round % ACT_DEPTH)
    // Younger: the later rounds, and the two stores of each earlier one since.
    .if act_round < ACT_DEPTH
      netra_wait_memory (4 * (act_issued - 1 - act_round) + 2 * act_round)
    .else
      netra_wait_memory (4 * (act_issued - 1 - act_round) + 2 * ACT_DEPTH - 2)
    .endif
    .set act_i, 0
    .rept 8
      netra_moe_activate NETRA_ACTIVATION, V_H+act_i, act_in+act_i, act_in+8+act_i, V_T0, V_T1
      .set act_i, act_i + 1
    .endr
    netra_bf16_round_run V_H, 8
    .if act_round > 0
      v_add_u32 v[V_COLUMN], 512, v[V_COLUMN]
    .endif
    .if NETRA_SCALE_GROUP_MAJOR
      netra_store_fp8_group8 V_H, V_COLUMN, S_RESULT, S_SCALE, V_T0, V_T1, V_T2, S_SLOTS
    .else
      netra_store_fp8_group8 V_H, V_COLUMN, S_RESULT, S_SCALE, V_T0, V_T1, V_T2
    .endif
    .if act_issued < ACT_ROUNDS
      act_load act_issued
      .set act_issued, act_issued + 1
    .endif
    .set act_round, act_round + 1
  .endr
.Lact_end_\name:
  netra_kernel_end \name
.endm
