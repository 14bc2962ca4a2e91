// Netra gfx950 kernel: a router's projection and routing in one launch.
// SPDX-License-Identifier: MIT
//
//   logits = bf16( x . w[e] ), in the order of include/pair_dot.inc, then what stands in
//   include/route.inc: the bits of router/projection.s followed by router/route.s
//
// Constants: those of router/route.s, with NETRA_K the width of x and the weight.
//
// Schedule. Work-group m, 16 waves, does row m. Wave w makes the logits of the experts
// 4 w .. 4 w + 3 of each 64, four at a time (of those that do not exist, the last one's
// again): x stays in registers (as f32 up to K = 2048, as bf16 above)
// while the weight streams through a ring of PR_DEPTH loads of 1 KB, each refilled as soon
// as it has been used. The last four are a code of their own, without refills past the
// end; there the shared gate's row follows the weights through the ring, for which all
// waves but the first switch their lanes off. Logits meet in LDS, and the first wave
// routes. At most 128 registers, so that 16 waves fit a compute unit.

.include "include/route.inc"

netra_require (NETRA_K >= 512 && NETRA_K <= 8192 && NETRA_K % 512 == 0), "NETRA_K must be a multiple of 512, at most 8192"
netra_require (NETRA_BLOCK_X == 1024 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 1024 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_M x 1 x 1"
netra_require (NETRA_STATIC_LDS == 256 * ROUTE_REGS), "NETRA_STATIC_LDS must be four bytes for each logit, NETRA_E rounded up to 64"

.set PR_GROUPS, NETRA_K / 512
.set PR_UNITS, 4 * PR_GROUPS                     // loads of four rows
.set PR_DEPTH, 8 - 4 * (PR_GROUPS % 2)           // divides PR_UNITS
.if NETRA_SHARED == NETRA_SHARED_SIGMOID
.set PR_LAST_UNITS, PR_UNITS + PR_GROUPS
.else
.set PR_LAST_UNITS, PR_UNITS
.endif
.if PR_GROUPS <= 4
.set PR_X_REGS, 8 * PR_GROUPS                    // f32
.else
.set PR_X_REGS, 4 * PR_GROUPS                    // bf16
.endif

// Scalars
.set S_ROW, 5
.set S_X, 6
.set S_WEIGHT, 8
.set S_GATE, 10
.set S_BIAS, 12
.set S_IDS, 14
.set S_WEIGHTS, 16
.set NETRA_S_ACT, 18
.set S_TMP, 20                                   // and 21
.set S_ID, 22
.set S_WAVE, 23
.set S_FIRST, 24                                 // EXEC of what the first wave alone does
.set S_COUNT, 26
.set S_ROWS, 28                                  // four addresses, of the rows to load
.set S_LAST, 36                                  // the last row's, where E is ragged
// Vectors
.set V_LANE, 0
.set V_T0, 1
.set V_T1, 2
.set V_T2, 3
.set V_ID, 4
.set V_WEIGHT, 5
.set V_ACC, 2                                    // 4, before the routing
.set V_DOT, 6
.set V_LOGIT_ADDRESS, 7                          // in LDS
.set V_OFFSET, 8                                 // 4
.set V_T, 12                                     // 4
.set V_B, 16                                     // 8
.set V_BIAS, 24
.set V_X, ((V_BIAS + ROUTE_REGS * NETRA_HAS_BIAS + 1) / 2) * 2
.set V_RING, V_X + PR_X_REGS
// x and the ring have been used when the routing begins.
.set V_LOGIT, V_X
.set V_KEY, V_LOGIT + ROUTE_REGS
.set V_GROUP, V_KEY + ROUTE_REGS

// Load N of the four rows at s[S_ROWS..], or of the gate's row after them. The last load
// of a row moves its address on to the next 64.
.macro pr_load n
  .if (\n) < PR_UNITS
    .set pr_row, S_ROWS + 2 * ((\n) / PR_GROUPS)
    netra_pair_load V_RING+4*((\n)%PR_DEPTH), V_OFFSET, pr_row, (\n)%PR_GROUPS
    .if (\n) % PR_GROUPS == PR_GROUPS - 1
      netra_pointer_add_const pr_row, pr_row, 128*NETRA_K
      .if ROUTE_LAST                             // no further than the last row
      s_sub_u32 s[S_TMP], s[S_LAST], s[pr_row]
      s_subb_u32 s[S_TMP], s[S_LAST+1], s[pr_row+1]
      s_cselect_b32 s[pr_row], s[S_LAST], s[pr_row]
      s_cselect_b32 s[pr_row+1], s[S_LAST+1], s[pr_row+1]
      .endif
    .endif
  .else
    s_mov_b64 exec, s[S_FIRST:S_FIRST+1]
    netra_pair_load V_RING+4*((\n)%PR_DEPTH), V_OFFSET, S_GATE, (\n)%PR_GROUPS
    s_mov_b64 exec, -1
  .endif
.endm

// Adds what load U brought.
.macro pr_use u
  .if (\u) < PR_UNITS
    netra_fold_index pr_a, (\u)/PR_GROUPS, 4
    .set pr_a, V_ACC + pr_a
  .else
    .set pr_a, V_DOT
  .endif
  .set pr_g, (\u) % PR_GROUPS
  .if PR_GROUPS <= 4
    netra_pair_dot pr_a, V_RING+4*((\u)%PR_DEPTH), V_X+8*pr_g, V_T, pr_g
  .else
    netra_bf16_unpack_run V_B, V_X+4*pr_g, 4
    netra_pair_dot pr_a, V_RING+4*((\u)%PR_DEPTH), V_B, V_T, pr_g
  .endif
.endm

// Four rows, whose first PR_DEPTH loads are under way. LAST 0: refills go on with the next
// four rows; 1: they end with these.
.macro pr_batch last
  .set pr_u, 0
  .if \last
    .set pr_units, PR_LAST_UNITS
  .else
    .set pr_units, PR_UNITS
  .endif
  .rept pr_units
    // Younger: the rest of the ring.
    .if (\last) && pr_units - 1 - pr_u < PR_DEPTH - 1
      netra_wait_memory (pr_units - 1 - pr_u)
    .else
      netra_wait_memory (PR_DEPTH - 1)
    .endif
    pr_use pr_u
    .set pr_n, pr_u + PR_DEPTH
    .if pr_n < pr_units
      pr_load pr_n
    .elseif (\last) == 0
      pr_load pr_n-PR_UNITS
    .endif
    .set pr_u, pr_u + 1
  .endr
  netra_fold_rows4 V_ACC, V_T
  netra_bf16_pack V_ACC, V_ACC, V_ACC
  v_lshlrev_b32 v[V_ACC], 16, v[V_ACC]
  s_mov_b64 exec, 0x1111                         // lane 4 g has the logit of row g
  ds_write_b32 v[V_LOGIT_ADDRESS], v[V_ACC]
  s_mov_b64 exec, -1
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  .if NETRA_SHARED == NETRA_SHARED_SIGMOID
  netra_load_pointer S_GATE, NETRA_ARG_SHARED_GATE
  .endif
  .if NETRA_HAS_BIAS
  netra_load_pointer S_BIAS, NETRA_ARG_CORRECTION_BIAS
  .endif
  netra_load_pointer S_IDS, NETRA_ARG_EXPERT_IDS
  netra_load_pointer S_WEIGHTS, NETRA_ARG_EXPERT_WEIGHTS
  s_mov_b32 s[S_ROW], s2
  netra_lane_and_wave V_LANE, S_WAVE, V_T0
  netra_pair_offsets V_OFFSET, V_LANE, PR_GROUPS
  s_cmp_eq_u32 s[S_WAVE], 0
  s_cselect_b64 s[S_FIRST:S_FIRST+1], -1, 0
  s_lshl_b32 s[S_TMP], s[S_WAVE], 4              // four logits of four bytes
  v_add_u32 v[V_LOGIT_ADDRESS], s[S_TMP], v[V_LANE]
  netra_wait_scalar
  netra_row_pointer S_X, S_ROW, 2*NETRA_K, S_TMP
  .if ROUTE_LAST
  netra_pointer_add_const S_LAST, S_WEIGHT, (NETRA_E-1)*2*NETRA_K // at most 1024 rows of 16 KB
  .endif
  .set pr_r, 0
  .rept 4
    s_lshl_b32 s[S_TMP], s[S_WAVE], 2
    .if pr_r
    s_add_u32 s[S_TMP], s[S_TMP], pr_r
    .endif
    .if NETRA_E < 64
    s_min_u32 s[S_TMP], s[S_TMP], NETRA_E - 1
    .endif
    s_mul_i32 s[S_TMP], s[S_TMP], 2*NETRA_K
    netra_pointer_add S_ROWS+2*pr_r, S_WEIGHT, S_TMP
    .set pr_r, pr_r + 1
  .endr
  .if NETRA_HAS_BIAS
    s_mov_b64 exec, s[S_FIRST:S_FIRST+1]
    netra_route_load global_load_dword, V_BIAS, 2, S_BIAS
    s_mov_b64 exec, -1
  .endif
  // bf16 of x goes to the end of its registers, from where it is spread.
  .set pr_r, 0
  .rept PR_GROUPS
    netra_pair_load V_RING-4*PR_GROUPS+4*pr_r, V_OFFSET, S_X, pr_r
    .set pr_r, pr_r + 1
  .endr
  .set pr_r, 0
  .rept PR_DEPTH
    pr_load pr_r
    .set pr_r, pr_r + 1
  .endr
  netra_wait_memory PR_DEPTH                     // x, not the ring
  .if PR_GROUPS <= 4
    netra_bf16_unpack_run V_X, V_RING-4*PR_GROUPS, 4*PR_GROUPS
  .endif
  .if ROUTE_REGS > 1
    s_mov_b32 s[S_COUNT], ROUTE_REGS - 1
.Lpr_loop_\name:
    pr_batch 0
    v_add_u32 v[V_LOGIT_ADDRESS], 256, v[V_LOGIT_ADDRESS]
    s_sub_u32 s[S_COUNT], s[S_COUNT], 1
    s_cmp_lg_u32 s[S_COUNT], 0
    s_cbranch_scc1 .Lpr_loop_\name
  .endif
  pr_batch 1
  netra_barrier
  s_cmp_lg_u32 s[S_WAVE], 0
  s_cbranch_scc1 .Lpr_end_\name
  .if NETRA_SHARED == NETRA_SHARED_SIGMOID
  netra_wave_reduce v_add_f32, V_DOT, V_T
  .endif
  v_lshlrev_b32 v[V_T0], 2, v[V_LANE]
  .set pr_r, 0
  .rept ROUTE_REGS
    ds_read_b32 v[V_LOGIT+pr_r], v[V_T0] offset:256*pr_r
    .set pr_r, pr_r + 1
  .endr
  netra_route_results S_ROW, S_TMP
  netra_wait_lds
  netra_route_row
.Lpr_end_\name:
  netra_kernel_end \name
.endm
