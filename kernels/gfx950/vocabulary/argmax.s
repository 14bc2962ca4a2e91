// Netra gfx950 kernel: index of the largest logit of each row.
// SPDX-License-Identifier: MIT
//
//   result[m] = the least i with logits[m, i] = max over the row
//   value[m]  = logits[m, result[m]] as f32
// -0 equals +0. NaN is larger than everything, and the first NaN wins.
//
// Constants
//   NETRA_M, V       rows, one work-group each; columns, a multiple of 8. The
//                    machine code does not depend on M
//   NETRA_LOGITS_F32 1: f32 logits, 0: bf16
//   NETRA_HAS_VALUE  1: value is stored
//   NETRA_DEPTH      loads of 16 bytes that each work-item has under way
//
// Schedule. 16 waves read the row once (include/vocabulary.inc), DEPTH kilobytes
// per wave in flight. Each work-item keeps the best chunk of eight (four) logits; lanes,
// then waves choose among them, and one wave reads the winning chunk once more
// to find the element in it.
//
// Arithmetic. Comparisons only; the result does not depend on their order.

.include "include/vocabulary.inc"

netra_require (NETRA_M >= 1), "NETRA_M must be at least 1"
netra_require (NETRA_HAS_VALUE == 0 || NETRA_HAS_VALUE == 1), "NETRA_HAS_VALUE must be 0 or 1"
netra_require (NETRA_DEPTH == 4 || NETRA_DEPTH == 8), "NETRA_DEPTH must be 4 or 8"
netra_require (NETRA_BLOCK_X == 1024 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 1024 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_M x 1 x 1"
netra_require (NETRA_STATIC_LDS == 256), "NETRA_STATIC_LDS must be 256 bytes"

.set S_WAVE, 3
.set S_LEFT, 4
.set S_HAS_NAN, 5
.set S_X, 6
.set S_RESULT, 8
.set S_VALUE, 10
.set S_NEXT, 12
.set S_LAST, 14
.set S_NAN, 16
.set S_MAX, 18
.set S_HIT, 19
.set S_TMP, 20
.set V_OFFSET, 1
.set V_LANE, 2
.set V_BEST, 3
.set V_CHUNK, 4
.set V_NAN, 5
.set V_NUMBER, 6
.set V_T0, 7
.set V_T1, 8
.set V_E, 10                                     // eight logits
.set V_TAIL, 18
.set V_RING, 22                                  // 4 * DEPTH

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_LOGITS
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  .if NETRA_HAS_VALUE
  netra_load_pointer S_VALUE, NETRA_ARG_VALUE
  .endif
  netra_wait_scalar
  vocabulary_begin V_T0, S_TMP
  vocabulary_argmax_begin
  vocabulary_stream vocabulary_argmax_step, V_RING, V_TAIL, NETRA_DEPTH, \name
  vocabulary_argmax_finish 0
  s_cmp_lg_u32 s[S_WAVE], 0
  s_cbranch_scc1 .Largmax_end_\name
  vocabulary_argmax_locate S_TMP, S_LEFT
  s_mov_b64 exec, 1
  s_lshl_b32 s[S_TMP+1], s2, 2
  v_mov_b32 v[V_T0], s[S_TMP+1]
  v_mov_b32 v[V_T1], s[S_TMP]
  global_store_dword v[V_T0], v[V_T1], s[S_RESULT:S_RESULT+1]
  .if NETRA_HAS_VALUE
    v_mov_b32 v[V_BEST], s[S_LEFT]
    global_store_dword v[V_T0], v[V_BEST], s[S_VALUE:S_VALUE+1]
  .endif
.Largmax_end_\name:
  netra_kernel_end \name
.endm
