// Netra gfx950 kernel: one draw per row from the softmax of its logits.
// SPDX-License-Identifier: MIT
//
// For row m, with x = logits[m, :], T = temperature[m]:
//   weight  w_i = round(2^31 * 2^((x_i - max x) * log2(e) / T)), an integer
//   order   by logit, descending, equal ones by index, ascending; -0 equals +0
//   top-k   the first top_k of that order; all if top_k <= 0 or top_k >= V
//   top-p   of these the shortest beginning whose weight reaches
//           ceil(P * Z / 2^32), but at least 1, where Z is the weight of all of them
//           and P = floor(2^32 * top_p); all if top_p >= 1 or NaN
//   draw    U = x1 * 2^32 + x0 of Philox4x32-10 with key = seed, counter =
//           (offset low, offset high, m, 0); t = floor(U * W / 2^64), where W is the
//           weight of what is kept; the result is the first kept element whose
//           running sum exceeds t, in the order of the walk
//   walk    work-item t' = 0 .. 1023 after work-item, in each the chunks
//           t' + 1024 r for ascending r, in each the elements in ascending order;
//           a chunk is 8 bf16 or 4 f32 logits
// The result is the argmax, as vocabulary/argmax.s has it, if T is not above 0
// (or NaN), or if the largest logit is infinite or a NaN.
//
// All sums are sums of integers below 2^52: exact, so that their order does not matter and
// every run gives the same bits. What is not exact is w_i: log2(e) / T by
// v_rcp_f32, clamped to 2^-100 .. 2^100, and v_exp_f32 give a relative error of at
// most 2^-22 + |y| * 2^-21, y = (x_i - max x) / T, and rounding adds 1/2.
//
// Constants
//   NETRA_M, V       rows, one work-group each; columns, a multiple of 8, at most
//                    262144. The machine code does not depend on M
//   NETRA_LOGITS_F32 1: f32 logits, 0: bf16
//
// Schedule. 16 waves. The largest logit (include/vocabulary.inc); for top-k and
// top-p a radix selection on the number (key of the logit, complement of the index),
// four bits per pass over the row, all bits of the logit before the low 20 of the index,
// stopped as soon as a whole bin is taken. In a pass each work-item adds 1 (top-k) or
// w_i (top-p) to its own column of 16 bins in LDS, so that no two ever meet; then
// wave b sums bin b. Then the sum of the weights that are kept, per work-item; a
// scan finds the work-item of the draw, and one wave looks through its chunks.

.include "include/vocabulary.inc"

netra_require (NETRA_M >= 1), "NETRA_M must be at least 1"
netra_require (NETRA_V <= 262144), "NETRA_V must be at most 262144"
netra_require (NETRA_BLOCK_X == 1024 && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 1024 x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_M x 1 x 1"
netra_require (NETRA_STATIC_LDS == 1024 + 16 * 8192), "NETRA_STATIC_LDS must be 132096 bytes"

// LDS
.set LDS_ARGMAX, 0                               // 256 bytes
.set LDS_BINS, 256                               // weight of each bin, 16 * 8
.set LDS_WAVES, 384                              // weight of each wave, 16 * 8
.set LDS_HIT, 512                                // work-item and rest of the draw
.set LDS_COLUMNS, 1024                           // 16 bins of 1024 work-items, 8 bytes each
.set SAMPLE_LAST_SHIFT, 48 - 16 * NETRA_LOGITS_F32 // lowest digit of the key
.set SAMPLE_ROUNDS, (VOC_CHUNKS + 1023) / 1024
.set SAMPLE_DEPTH, 4

// Scalars
.set S_ROW, 2
.set S_WAVE, 3
.set S_LEFT, 4
.set S_HAS_NAN, 5
.set S_X, 6
.set S_NEXT, 8
.set S_LAST, 10
.set S_NAN, 12
.set S_MAX, 14
.set S_HIT, 15
.set S_TMP, 16
.set S_RESULT, 18
.set S_SCALE, 20                                 // log2(e) / T
.set S_TEMPERATURE, 21
.set S_TOP_K, 22
.set S_TOP_P, 23
.set S_SEED, 24
.set S_COUNTER, 26                               // 4 words; first the offset
.set S_ONE, 30                                   // 2^31 as f32
.set S_SHIFT, 31
.set S_KEPT, 32                                  // least number that is kept
.set S_FLOOR, 34                                 // least number that takes part
.set S_NEED, 36
.set S_WEIGHT, 38                                // of what is kept
.set S_MASK, 40
.set S_BEFORE, 42                                // weight of the waves before
.set S_DRAW, 44
.set S_P0, 46                                    // pointers of the arguments, then temporary
.set S_P1, 48
.set S_P2, 50
.set S_P3, 52
.set S_P4, 54
// Vectors
.set V_OFFSET, 1
.set V_LANE, 2
.set V_BEST, 3
.set V_CHUNK, 4
.set V_NAN, 5
.set V_NUMBER, 6
.set V_T0, 7
.set V_T1, 8
.set V_LOW, 9                                    // complement of a chunk's first index
.set V_E, 10                                     // eight logits
.set V_TAIL, 18
.set V_RING, 22                                  // 4 * SAMPLE_DEPTH
.set V_CURRENT, 18
.set V_COMING, 22
.set V_COMPLEMENT, 26                            // complement of the index, then
.set V_KEY, 27                                   // the key of the logit: one number
.set V_BIN, 28                                   // two registers
.set V_ADD, 30                                   // two registers
.set V_SUM, 32                                   // two registers
.set V_OWN, 34                                   // two registers
.set V_COLUMN, 36
.set V_HIGH_COLUMN, 37
.set V_REGISTERS, 38

// EXEC of the round for which S_LEFT rounds remain, itself included.
.macro sample_round_exec
  .if VOC_REST
    s_cmp_eq_u32 s[S_LEFT], 1
    s_cselect_b64 exec, s[S_LAST:S_LAST+1], -1
  .endif
.endm

// sample_walk PROCESS, NAME: PROCESS for each round, with the chunk in
//   V_CURRENT and the complement of its first index in V_LOW; the next one is on
//   its way meanwhile.
.macro sample_walk process, name
  s_mov_b64 s[S_NEXT:S_NEXT+1], s[S_X:S_X+1]
  s_mov_b32 s[S_LEFT], SAMPLE_ROUNDS
  v_mul_u32_u24 v[V_LOW], VOC_CHUNK, v0
  v_not_b32 v[V_LOW], v[V_LOW]
  sample_round_exec
  vocabulary_load V_COMING
.Lsample_round_\name:
  netra_wait_memory 0
  .set sample_d, 0
  .rept 4
    v_mov_b32 v[V_CURRENT+sample_d], v[V_COMING+sample_d]
    .set sample_d, sample_d + 1
  .endr
  s_mov_b64 s[S_MASK:S_MASK+1], exec
  s_sub_u32 s[S_LEFT], s[S_LEFT], 1
  s_cmp_eq_u32 s[S_LEFT], 0
  s_cbranch_scc1 .Lsample_loaded_\name
  sample_round_exec
  vocabulary_load V_COMING
  s_mov_b64 exec, s[S_MASK:S_MASK+1]
.Lsample_loaded_\name:
  \process
  v_add_u32 v[V_LOW], -1024 * VOC_CHUNK, v[V_LOW]
  sample_round_exec
  s_cmp_lg_u32 s[S_LEFT], 0
  s_cbranch_scc1 .Lsample_round_\name
  s_mov_b64 exec, -1
.endm

// The logits of V_CURRENT as f32, from register sample_e on.
.macro sample_unpack
  .if NETRA_LOGITS_F32
    .set sample_e, V_CURRENT
  .else
    .set sample_e, V_E
    netra_bf16_unpack_run V_E, V_CURRENT, 4
  .endif
.endm

// sample_number X, I: v[V_COMPLEMENT:V_KEY] of logit I of the chunk, which is in
//   v[X]. The key is an unsigned number that grows with the logit.
.macro sample_number x, i
  v_add_f32 v[V_T0], 0, v[\x]                    // -0 becomes +0
  v_add_u32 v[V_COMPLEMENT], -(\i), v[V_LOW]
  v_ashrrev_i32 v[V_T1], 31, v[V_T0]
  v_or_b32 v[V_T1], 0x80000000, v[V_T1]
  v_xor_b32 v[V_KEY], v[V_T1], v[V_T0]
  .if NETRA_LOGITS_F32 == 0
  v_and_b32 v[V_KEY], 0xffff0000, v[V_KEY]
  .endif
.endm

// sample_weight W, X: the integer weight of logit v[X]; W may be X.
.macro sample_weight w, x
  v_subrev_f32 v[\w], s[S_MAX], v[\x]
  v_mul_f32 v[\w], s[S_SCALE], v[\w]
  v_exp_f32 v[\w], v[\w]
  s_nop 0                                        // transcendental, then its reader
  v_fma_f32 v[\w], v[\w], s[S_ONE], 0.5
  v_cvt_u32_f32 v[\w], v[\w]
.endm

// sample_add64 D, S: v[D:D+1] += v[S:S+1].
.macro sample_add64 d, s
  v_add_co_u32 v[\d], vcc, v[\d], v[\s]
  v_addc_co_u32 v[\d+1], vcc, v[\d+1], v[\s+1], vcc
.endm

// sample_scan64 V: the inclusive scan of v[V:V+1] over the 64 lanes. Covers:
//   VALU writes VGPR, then DPP reads it (2). Clobbers V_T0, V_T1, vcc.
.macro sample_scan64_step v, control:vararg
  v_mov_b32 v[V_T0], 0
  v_mov_b32 v[V_T1], 0
  s_nop 1
  v_mov_b32_dpp v[V_T0], v[\v] \control
  v_mov_b32_dpp v[V_T1], v[\v+1] \control
  v_add_co_u32 v[\v], vcc, v[\v], v[V_T0]
  v_addc_co_u32 v[\v+1], vcc, v[\v+1], v[V_T1], vcc
.endm
.macro sample_scan64 v
  sample_scan64_step \v, row_shr:1 row_mask:0xf bank_mask:0xf
  sample_scan64_step \v, row_shr:2 row_mask:0xf bank_mask:0xf
  sample_scan64_step \v, row_shr:4 row_mask:0xf bank_mask:0xf
  sample_scan64_step \v, row_shr:8 row_mask:0xf bank_mask:0xf
  sample_scan64_step \v, row_bcast:15 row_mask:0xa bank_mask:0xf
  sample_scan64_step \v, row_bcast:31 row_mask:0xc bank_mask:0xf
.endm

// sample_readlane64 S, V, LANE: VALU wrote v[V:V+1] just before (1 wait state).
.macro sample_readlane64 s, v, lane
  s_nop 0
  v_readlane_b32 s[\s], v[\v], \lane
  v_readlane_b32 s[\s+1], v[\v+1], \lane
.endm

// sample_publish64 V, LDS: lane 63's v[V:V+1] is this wave's entry of the 16 at
//   LDS. Clobbers V_T0, S_TMP.
.macro sample_publish64 v, lds
  s_lshl_b32 s[S_TMP], s[S_WAVE], 3
  v_mov_b32 v[V_T0], s[S_TMP]
  s_brev_b64 exec, 1
  ds_write_b64 v[V_T0], v[\v:\v+1] offset:\lds
  s_mov_b64 exec, -1
  netra_barrier
.endm

// sample_gather64 LDS, REVERSED: v[V_OWN:V_OWN+1] of lanes 0 .. 15 is entry
//   lane (or 15 - lane) of the 16 at LDS, of other lanes 0; V_SUM its scan.
.macro sample_gather64 lds, reversed
  v_mov_b32 v[V_OWN], 0
  v_mov_b32 v[V_OWN+1], 0
  v_lshlrev_b32 v[V_T0], 3, v[V_LANE]
  .if \reversed
  v_sub_u32 v[V_T0], 120, v[V_T0]
  .endif
  s_mov_b64 exec, 0xffff
  ds_read_b64 v[V_OWN:V_OWN+1], v[V_T0] offset:\lds
  netra_wait_lds
  s_mov_b64 exec, -1
  v_mov_b32 v[V_SUM], v[V_OWN]
  v_mov_b32 v[V_SUM+1], v[V_OWN+1]
  sample_scan64 V_SUM
.endm

// Adds the chunk to the columns of the bins: weights with sample_weighs, else ones.
.macro sample_bin_step
  sample_unpack
  .set sample_i, 0
  .rept VOC_CHUNK
    sample_number sample_e+sample_i, sample_i
    v_cmp_le_u64 s[S_NAN:S_NAN+1], s[S_FLOOR:S_FLOOR+1], v[V_COMPLEMENT:V_KEY]
    v_xor_b32 v[V_BIN], s[S_KEPT], v[V_COMPLEMENT]
    v_xor_b32 v[V_BIN+1], s[S_KEPT+1], v[V_KEY]
    v_lshrrev_b64 v[V_BIN:V_BIN+1], s[S_SHIFT], v[V_BIN:V_BIN+1]
    v_cmp_gt_u64 vcc, 16, v[V_BIN:V_BIN+1]
    s_and_b64 vcc, vcc, s[S_NAN:S_NAN+1]
    .if sample_weighs
      sample_weight V_ADD, sample_e+sample_i
      v_cndmask_b32 v[V_ADD], 0, v[V_ADD], vcc
    .else
      v_cndmask_b32_e64 v[V_ADD], 0, 1, vcc
    .endif
    v_and_b32 v[V_BIN], 15, v[V_BIN]
    v_lshl_add_u32 v[V_BIN], v[V_BIN], 13, v[V_COLUMN]
    ds_add_u64 v[V_BIN], v[V_ADD:V_ADD+1]
    .set sample_i, sample_i + 1
  .endr
.endm

// Adds the weights of the chunk that are kept to V_SUM.
.macro sample_sum_step
  sample_unpack
  .set sample_i, 0
  .rept VOC_CHUNK
    sample_number sample_e+sample_i, sample_i
    sample_weight V_ADD, sample_e+sample_i
    v_cmp_le_u64 vcc, s[S_KEPT:S_KEPT+1], v[V_COMPLEMENT:V_KEY]
    v_cndmask_b32 v[V_ADD], 0, v[V_ADD], vcc
    sample_add64 V_SUM, V_ADD
    .set sample_i, sample_i + 1
  .endr
.endm

// sample_select WEIGHS, NAME: S_KEPT becomes the number of the element with which
//   the sum, in descending order of those of at least S_FLOOR, reaches S_NEED; the
//   sum is of weights (WEIGHS 1) or of ones (0). Where all of a bin is needed, the
//   least number of the bin stands for its least element.
.macro sample_select weighs, name
  .set sample_weighs, \weighs
  s_mov_b64 s[S_KEPT:S_KEPT+1], 0
  s_mov_b32 s[S_SHIFT], 60
.Lsample_digit_\name:
  v_mov_b32 v[V_ADD], 0
  .set sample_i, 0
  .rept 8
    ds_write_b64 v[V_COLUMN], v[V_ADD:V_ADD+1] offset:8192*(sample_i % 8)
    ds_write_b64 v[V_HIGH_COLUMN], v[V_ADD:V_ADD+1] offset:8192*(sample_i % 8)
    .set sample_i, sample_i + 1
  .endr
  sample_walk sample_bin_step, select_\name
  netra_barrier
  // Wave b sums bin b: 128 bytes per lane, 16 at a time.
  s_lshl_b32 s[S_TMP], s[S_WAVE], 13
  v_lshlrev_b32 v[V_T0], 4, v[V_LANE]
  v_add_u32 v[V_T0], s[S_TMP], v[V_T0]
  v_mov_b32 v[V_SUM], 0
  v_mov_b32 v[V_SUM+1], 0
  .set sample_j, 0
  .rept 2
    .set sample_i, 0
    .rept 4
      ds_read_b128 v[V_E+4*sample_i:V_E+4*sample_i+3], v[V_T0] offset:LDS_COLUMNS+4096*sample_j+1024*sample_i
      .set sample_i, sample_i + 1
    .endr
    netra_wait_lds
    .set sample_i, 0
    .rept 8
      sample_add64 V_SUM, V_E+2*sample_i
      .set sample_i, sample_i + 1
    .endr
    .set sample_j, sample_j + 1
  .endr
  sample_scan64 V_SUM
  sample_publish64 V_SUM, LDS_BINS
  sample_gather64 LDS_BINS, 1
  // Lane l has bin 15 - l and the sum of the bins from there upwards.
  v_cmp_le_u64 vcc, s[S_NEED:S_NEED+1], v[V_SUM:V_SUM+1]
  s_ff1_i32_b64 s[S_HIT], vcc
  v_sub_co_u32 v[V_SUM], vcc, v[V_SUM], v[V_OWN]
  v_subb_co_u32 v[V_SUM+1], vcc, v[V_SUM+1], v[V_OWN+1], vcc
  sample_readlane64 S_P0, V_SUM, s[S_HIT]
  sample_readlane64 S_P1, V_OWN, s[S_HIT]
  s_sub_u32 s[S_NEED], s[S_NEED], s[S_P0]
  s_subb_u32 s[S_NEED+1], s[S_NEED+1], s[S_P0+1]
  s_sub_u32 s[S_P0], 15, s[S_HIT]
  s_mov_b32 s[S_P0+1], 0
  s_lshl_b64 s[S_P0:S_P0+1], s[S_P0:S_P0+1], s[S_SHIFT]
  s_or_b64 s[S_KEPT:S_KEPT+1], s[S_KEPT:S_KEPT+1], s[S_P0:S_P0+1]
  s_cmp_eq_u64 s[S_NEED:S_NEED+1], s[S_P1:S_P1+1]
  s_cbranch_scc1 .Lsample_selected_\name
  s_cmp_eq_u32 s[S_SHIFT], 0
  s_cbranch_scc1 .Lsample_selected_\name
  s_cmp_eq_u32 s[S_SHIFT], SAMPLE_LAST_SHIFT
  s_cbranch_scc1 .Lsample_index_\name
  s_sub_u32 s[S_SHIFT], s[S_SHIFT], 4
  s_branch .Lsample_digit_\name
.Lsample_index_\name:
  // An index is below 2^20: the high bits of its complement are ones.
  s_or_b32 s[S_KEPT], s[S_KEPT], 0xfff00000
  s_mov_b32 s[S_SHIFT], 16
  s_branch .Lsample_digit_\name
.Lsample_selected_\name:
  // The bin may reach below what takes part.
  s_sub_u32 s[S_P0], s[S_KEPT], s[S_FLOOR]
  s_subb_u32 s[S_P0], s[S_KEPT+1], s[S_FLOOR+1]
  s_cselect_b64 s[S_KEPT:S_KEPT+1], s[S_FLOOR:S_FLOOR+1], s[S_KEPT:S_KEPT+1]
.endm

// sample_sum NAME: S_WEIGHT = the weight of what is kept, S_BEFORE = that of the
//   waves before this one; V_OWN per work-item, V_SUM its scan over the wave.
.macro sample_sum name
  v_mov_b32 v[V_SUM], 0
  v_mov_b32 v[V_SUM+1], 0
  sample_walk sample_sum_step, sum_\name
  v_mov_b32 v[V_E], v[V_SUM]
  v_mov_b32 v[V_E+1], v[V_SUM+1]
  sample_scan64 V_SUM
  v_mov_b32 v[V_E+2], v[V_SUM]
  v_mov_b32 v[V_E+3], v[V_SUM+1]
  sample_publish64 V_SUM, LDS_WAVES
  sample_gather64 LDS_WAVES, 0
  sample_readlane64 S_WEIGHT, V_SUM, 15
  v_sub_co_u32 v[V_SUM], vcc, v[V_SUM], v[V_OWN]
  v_subb_co_u32 v[V_SUM+1], vcc, v[V_SUM+1], v[V_OWN+1], vcc
  sample_readlane64 S_BEFORE, V_SUM, s[S_WAVE]
  v_mov_b32 v[V_OWN], v[V_E]
  v_mov_b32 v[V_OWN+1], v[V_E+1]
  v_mov_b32 v[V_SUM], v[V_E+2]
  v_mov_b32 v[V_SUM+1], v[V_E+3]
.endm

// sample_rest64: V_BIN = S_DRAW - S_BEFORE - (V_SUM - V_OWN), and vcc the lane in
//   whose own part, [0, V_OWN), that is.
.macro sample_rest64
  v_sub_co_u32 v[V_BIN], vcc, v[V_SUM], v[V_OWN]
  v_subb_co_u32 v[V_BIN+1], vcc, v[V_SUM+1], v[V_OWN+1], vcc
  s_sub_u32 s[S_P0], s[S_DRAW], s[S_BEFORE]
  s_subb_u32 s[S_P0+1], s[S_DRAW+1], s[S_BEFORE+1]
  v_mov_b32 v[V_T0], s[S_P0+1]
  v_sub_co_u32 v[V_BIN], vcc, s[S_P0], v[V_BIN]
  v_subb_co_u32 v[V_BIN+1], vcc, v[V_T0], v[V_BIN+1], vcc
  v_cmp_lt_u64 vcc, v[V_BIN:V_BIN+1], v[V_OWN:V_OWN+1]
.endm

// Philox4x32-10: S_COUNTER[4] becomes the output; the key in S_SEED is used up.
.macro sample_philox
  .set sample_i, 0
  .rept 10
    .if sample_i
      s_add_u32 s[S_SEED], s[S_SEED], 0x9e3779b9
      s_add_u32 s[S_SEED+1], s[S_SEED+1], 0xbb67ae85
    .endif
    s_mul_hi_u32 s[S_P0], s[S_COUNTER], 0xd2511f53
    s_mul_i32 s[S_P0+1], s[S_COUNTER], 0xd2511f53
    s_mul_hi_u32 s[S_P1], s[S_COUNTER+2], 0xcd9e8d57
    s_mul_i32 s[S_P1+1], s[S_COUNTER+2], 0xcd9e8d57
    s_xor_b32 s[S_COUNTER], s[S_P1], s[S_COUNTER+1]
    s_xor_b32 s[S_COUNTER], s[S_COUNTER], s[S_SEED]
    s_mov_b32 s[S_COUNTER+1], s[S_P1+1]
    s_xor_b32 s[S_COUNTER+2], s[S_P0], s[S_COUNTER+3]
    s_xor_b32 s[S_COUNTER+2], s[S_COUNTER+2], s[S_SEED+1]
    s_mov_b32 s[S_COUNTER+3], s[S_P0+1]
    .set sample_i, sample_i + 1
  .endr
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_LOGITS
  netra_load_pointer S_P0, NETRA_ARG_TEMPERATURE
  netra_load_pointer S_P1, NETRA_ARG_TOP_K
  netra_load_pointer S_P2, NETRA_ARG_TOP_P
  netra_load_pointer S_P3, NETRA_ARG_SEED
  netra_load_pointer S_P4, NETRA_ARG_OFFSET
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  netra_wait_scalar
  vocabulary_begin V_T0, S_TMP
  s_lshl_b32 s[S_TMP], s[S_ROW], 2
  s_load_dword s[S_TEMPERATURE], s[S_P0:S_P0+1], s[S_TMP]
  s_load_dword s[S_TOP_K], s[S_P1:S_P1+1], s[S_TMP]
  s_load_dword s[S_TOP_P], s[S_P2:S_P2+1], s[S_TMP]
  s_lshl_b32 s[S_TMP], s[S_ROW], 3
  s_load_dwordx2 s[S_SEED:S_SEED+1], s[S_P3:S_P3+1], s[S_TMP]
  s_load_dwordx2 s[S_COUNTER:S_COUNTER+1], s[S_P4:S_P4+1], s[S_TMP]

  vocabulary_argmax_begin
  vocabulary_stream vocabulary_argmax_step, V_RING, V_TAIL, SAMPLE_DEPTH, \name
  vocabulary_argmax_finish LDS_ARGMAX
  netra_wait_scalar
  s_cmp_lg_u32 s[S_HAS_NAN], 0
  s_cbranch_scc1 .Lsample_argmax_\name
  s_and_b32 s[S_TMP], s[S_MAX], 0x7f800000
  s_cmp_eq_u32 s[S_TMP], 0x7f800000
  s_cbranch_scc1 .Lsample_argmax_\name
  s_sub_u32 s[S_TMP], s[S_TEMPERATURE], 1        // +0, -0, negative and NaN are above
  s_cmp_ge_u32 s[S_TMP], 0x7f800000
  s_cbranch_scc1 .Lsample_argmax_\name

  v_rcp_f32 v[V_T0], s[S_TEMPERATURE]
  s_nop 0                                        // transcendental, then its reader
  v_mul_f32 v[V_T0], 0x3fb8aa3b, v[V_T0]         // log2(e)
  v_max_f32 v[V_T0], 0x0d800000, v[V_T0]         // 2^-100
  v_min_f32 v[V_T0], 0x71800000, v[V_T0]         // 2^100
  s_nop 0                                        // VALU writes VGPR, v_readfirstlane
  v_readfirstlane_b32 s[S_SCALE], v[V_T0]
  s_mov_b32 s[S_ONE], 0x4f000000
  v_mov_b32 v[V_ADD+1], 0
  v_lshlrev_b32 v[V_COLUMN], 3, v0
  v_add_u32 v[V_COLUMN], LDS_COLUMNS, v[V_COLUMN]
  v_add_u32 v[V_HIGH_COLUMN], 65536, v[V_COLUMN]
  s_mov_b64 s[S_FLOOR:S_FLOOR+1], 0
  s_mov_b64 s[S_KEPT:S_KEPT+1], 0

  s_sub_u32 s[S_TMP], s[S_TOP_K], 1
  s_cmp_ge_u32 s[S_TMP], NETRA_V - 1             // 0 and negative ones, too
  s_cbranch_scc1 .Lsample_all_\name
  s_mov_b32 s[S_NEED], s[S_TOP_K]
  s_mov_b32 s[S_NEED+1], 0
  sample_select 0, k
.Lsample_all_\name:
  sample_sum all
  s_and_b32 s[S_TMP], s[S_TOP_P], 0x7fffffff
  s_cmp_gt_u32 s[S_TMP], 0x7f800000              // NaN
  s_cbranch_scc1 .Lsample_draw_\name
  s_cmp_ge_i32 s[S_TOP_P], 0x3f800000
  s_cbranch_scc1 .Lsample_draw_\name
  // S_NEED = max(1, ceil(P * S_WEIGHT / 2^32)).
  v_mov_b32 v[V_T0], s[S_TOP_P]
  v_ldexp_f32 v[V_T0], v[V_T0], 32
  v_cvt_u32_f32 v[V_T0], v[V_T0]
  s_nop 0                                        // VALU writes VGPR, v_readfirstlane
  v_readfirstlane_b32 s[S_P0], v[V_T0]
  s_mul_i32 s[S_P1], s[S_P0], s[S_WEIGHT]
  s_mul_hi_u32 s[S_NEED], s[S_P0], s[S_WEIGHT]
  s_mul_i32 s[S_P1+1], s[S_P0], s[S_WEIGHT+1]
  s_mul_hi_u32 s[S_NEED+1], s[S_P0], s[S_WEIGHT+1]
  s_add_u32 s[S_NEED], s[S_NEED], s[S_P1+1]
  s_addc_u32 s[S_NEED+1], s[S_NEED+1], 0
  s_cmp_lg_u32 s[S_P1], 0
  s_addc_u32 s[S_NEED], s[S_NEED], 0
  s_addc_u32 s[S_NEED+1], s[S_NEED+1], 0
  s_cmp_eq_u64 s[S_NEED:S_NEED+1], 0
  s_addc_u32 s[S_NEED], s[S_NEED], 0
  s_mov_b64 s[S_FLOOR:S_FLOOR+1], s[S_KEPT:S_KEPT+1]
  sample_select 1, p
  sample_sum kept

.Lsample_draw_\name:
  s_mov_b32 s[S_COUNTER+2], s[S_ROW]
  s_mov_b32 s[S_COUNTER+3], 0
  sample_philox
  // S_DRAW = the upper half of (x1, x0) * S_WEIGHT.
  s_mul_hi_u32 s[S_P0], s[S_COUNTER], s[S_WEIGHT]
  s_mul_i32 s[S_P0+1], s[S_COUNTER], s[S_WEIGHT+1]
  s_mul_hi_u32 s[S_P1], s[S_COUNTER], s[S_WEIGHT+1]
  s_mul_i32 s[S_P1+1], s[S_COUNTER+1], s[S_WEIGHT]
  s_mul_hi_u32 s[S_P2], s[S_COUNTER+1], s[S_WEIGHT]
  s_mul_i32 s[S_DRAW], s[S_COUNTER+1], s[S_WEIGHT+1]
  s_mul_hi_u32 s[S_DRAW+1], s[S_COUNTER+1], s[S_WEIGHT+1]
  s_add_u32 s[S_DRAW], s[S_DRAW], s[S_P1]
  s_addc_u32 s[S_DRAW+1], s[S_DRAW+1], 0
  s_add_u32 s[S_DRAW], s[S_DRAW], s[S_P2]
  s_addc_u32 s[S_DRAW+1], s[S_DRAW+1], 0
  s_add_u32 s[S_P0], s[S_P0], s[S_P0+1]
  s_addc_u32 s[S_DRAW], s[S_DRAW], 0
  s_addc_u32 s[S_DRAW+1], s[S_DRAW+1], 0
  s_add_u32 s[S_P0], s[S_P0], s[S_P1+1]
  s_addc_u32 s[S_DRAW], s[S_DRAW], 0
  s_addc_u32 s[S_DRAW+1], s[S_DRAW+1], 0

  // The work-item: exactly one has the draw in its part.
  sample_rest64
  s_mov_b64 exec, vcc
  v_mov_b32 v[V_T1], LDS_HIT
  ds_write_b32 v[V_T1], v0
  ds_write_b64 v[V_T1], v[V_BIN:V_BIN+1] offset:8
  s_mov_b64 exec, -1
  netra_barrier
  s_cmp_lg_u32 s[S_WAVE], 0
  s_cbranch_scc1 .Lsample_end_\name
  v_mov_b32 v[V_T1], LDS_HIT
  ds_read_b32 v[V_NUMBER], v[V_T1]
  ds_read_b64 v[V_BIN:V_BIN+1], v[V_T1] offset:8
  netra_wait_lds
  v_readfirstlane_b32 s[S_DRAW], v[V_BIN]
  v_readfirstlane_b32 s[S_DRAW+1], v[V_BIN+1]
  s_mov_b64 s[S_BEFORE:S_BEFORE+1], 0

  // Its chunks, one per lane.
  v_lshl_add_u32 v[V_NUMBER], v[V_LANE], 10, v[V_NUMBER]
  v_lshlrev_b32 v[V_OFFSET], 4, v[V_NUMBER]
  v_mul_u32_u24 v[V_LOW], VOC_CHUNK, v[V_NUMBER]
  v_not_b32 v[V_LOW], v[V_LOW]
  v_mov_b32 v[V_OWN], 0
  v_mov_b32 v[V_OWN+1], 0
  // Lanes without a chunk have weights of 0.
  .set sample_i, 0
  .rept VOC_CHUNK
    .if NETRA_LOGITS_F32
    v_mov_b32 v[V_CURRENT+sample_i], 0
    .else
    v_mov_b32 v[V_E+sample_i], 0
    .endif
    .set sample_i, sample_i + 1
  .endr
  v_cmp_gt_u32 vcc, VOC_CHUNKS, v[V_NUMBER]
  s_mov_b64 exec, vcc
  global_load_dwordx4 v[V_CURRENT:V_CURRENT+3], v[V_OFFSET], s[S_X:S_X+1]
  netra_wait_memory 0
  sample_unpack
  .set sample_i, 0
  .rept VOC_CHUNK
    sample_number sample_e+sample_i, sample_i
    sample_weight sample_e+sample_i, sample_e+sample_i
    v_cmp_le_u64 vcc, s[S_KEPT:S_KEPT+1], v[V_COMPLEMENT:V_KEY]
    v_cndmask_b32 v[sample_e+sample_i], 0, v[sample_e+sample_i], vcc
    v_add_co_u32 v[V_OWN], vcc, v[V_OWN], v[sample_e+sample_i]
    v_addc_co_u32 v[V_OWN+1], vcc, 0, v[V_OWN+1], vcc
    .set sample_i, sample_i + 1
  .endr
  s_mov_b64 exec, -1
  v_mov_b32 v[V_SUM], v[V_OWN]
  v_mov_b32 v[V_SUM+1], v[V_OWN+1]
  sample_scan64 V_SUM
  sample_rest64
  s_ff1_i32_b64 s[S_HIT], vcc
  // The element: as many precede it as have a running sum of at most the rest.
  v_mov_b32 v[V_T1], 0
  v_mov_b32 v[V_OWN], 0
  v_mov_b32 v[V_OWN+1], 0
  .set sample_i, 0
  .rept VOC_CHUNK
    v_add_co_u32 v[V_OWN], vcc, v[V_OWN], v[sample_e+sample_i]
    v_addc_co_u32 v[V_OWN+1], vcc, 0, v[V_OWN+1], vcc
    v_cmp_le_u64 vcc, v[V_OWN:V_OWN+1], v[V_BIN:V_BIN+1]
    v_addc_co_u32 v[V_T1], vcc, 0, v[V_T1], vcc
    .set sample_i, sample_i + 1
  .endr
  v_mul_u32_u24 v[V_T0], VOC_CHUNK, v[V_NUMBER]
  v_add_u32 v[V_T0], v[V_T0], v[V_T1]
  s_nop 0                                        // VALU writes VGPR, v_readlane
  v_readlane_b32 s[S_TMP], v[V_T0], s[S_HIT]
  s_branch .Lsample_store_\name

.Lsample_argmax_\name:
  s_cmp_lg_u32 s[S_WAVE], 0
  s_cbranch_scc1 .Lsample_end_\name
  vocabulary_argmax_locate S_TMP, S_LEFT
.Lsample_store_\name:
  s_mov_b64 exec, 1
  s_lshl_b32 s[S_TMP+1], s[S_ROW], 2
  v_mov_b32 v[V_T0], s[S_TMP+1]
  v_mov_b32 v[V_T1], s[S_TMP]
  global_store_dword v[V_T0], v[V_T1], s[S_RESULT:S_RESULT+1]
.Lsample_end_\name:
  netra_kernel_end \name
.endm
