// Netra gfx950 kernel: RMS normalisation of bf16 rows.
// SPDX-License-Identifier: MIT
//
//   s = x + residual (f32; x alone without residual), sum = bf16(s)
//   n = bf16( (s * rsqrt(mean(s^2) + epsilon)) * (weight + weight_offset) )
//   quantized: per 128 columns, scale = max(max |n|, 1e-10) / 448 and
//   result = fp8(n / scale)
// s is used as f32, not re-rounded. The quantized form starts from the bf16 n, so
// that it equals the unquantized form followed by quantize_blocks.
//
// Constants
//   NETRA_M          rows, one work-group each
//   NETRA_N          columns: a multiple of 256, at most 8192
//   NETRA_VEC        elements per lane and load: 8, or 4 when N is no multiple of 512
//   NETRA_WAVES      waves of a work-group: 1, 2, 4, 8 or 16
//   NETRA_EPSILON, NETRA_WEIGHT_OFFSET  bits of an f32
//   NETRA_HAS_RESIDUAL  1: residual is read
//   NETRA_HAS_SUM    1: sum is stored; needs a residual
//   NETRA_QUANTIZE   1: result is FP8 and result_scale is stored
//
// Schedule. A row is cut into vectors of VEC elements; work-item t takes vectors t,
// t + 64 WAVES, ... All loads (x, residual, weight) are issued before the first wait:
// one memory round trip. x stays in registers as f32.
//
// Arithmetic. Work-item: s^2 by fma in ascending order; lanes: netra_wave_reduce;
// waves: netra_workgroup_sum. v_rsq_f32 and v_rcp_f32 (of N) are within 1 ulp. The sum
// of squares is f32: it overflows when |s| reaches about 2^64, and the row becomes 0.

.include "include/rows.inc"

netra_require (NETRA_M >= 1), "NETRA_M must be at least 1"
netra_require (NETRA_N >= 256 && NETRA_N <= 8192 && NETRA_N % 256 == 0), "NETRA_N must be a multiple of 256, at most 8192"
netra_require (NETRA_VEC == 4 || NETRA_VEC == 8), "NETRA_VEC must be 4 or 8"
netra_require (NETRA_N % (64 * NETRA_VEC) == 0), "NETRA_N must be a multiple of 64 * NETRA_VEC"
netra_require (NETRA_WAVES == 1 || NETRA_WAVES == 2 || NETRA_WAVES == 4 || NETRA_WAVES == 8 || NETRA_WAVES == 16), "NETRA_WAVES must be 1, 2, 4, 8 or 16"
netra_require (NETRA_N > 64 * NETRA_VEC * (NETRA_WAVES / 2)), "NETRA_WAVES is more than the row has vectors for"
netra_require (NETRA_HAS_RESIDUAL == 0 || NETRA_HAS_RESIDUAL == 1), "NETRA_HAS_RESIDUAL must be 0 or 1"
netra_require (NETRA_HAS_SUM == 0 || (NETRA_HAS_SUM == 1 && NETRA_HAS_RESIDUAL)), "NETRA_HAS_SUM must be 0, or 1 with a residual"
netra_require (NETRA_QUANTIZE == 0 || NETRA_QUANTIZE == 1), "NETRA_QUANTIZE must be 0 or 1"
netra_require (NETRA_BLOCK_X == 64 * NETRA_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 * NETRA_WAVES x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_M && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_M x 1 x 1"
netra_require (NETRA_STATIC_LDS == 4 * NETRA_WAVES), "NETRA_STATIC_LDS must be 4 * NETRA_WAVES bytes"

.set RMS_CHUNKS, NETRA_N / (64 * NETRA_VEC)      // wave loads of a row
.set RMS_ITERS, (RMS_CHUNKS + NETRA_WAVES - 1) / NETRA_WAVES
.set RMS_RAGGED, RMS_CHUNKS % NETRA_WAVES        // waves of the last round, 0 = all
.set RMS_DW, NETRA_VEC / 2                       // dwords per vector
netra_require (8 + RMS_ITERS * (NETRA_VEC + 3 * RMS_DW) <= 256), "the row needs more than 256 VGPRs; raise NETRA_WAVES"

// Scalars
.set S_X, 6
.set S_RESIDUAL, 8
.set S_WEIGHT, 10
.set S_RESULT, 12
.set S_SUM, 14
.set S_SCALE, 16
.set S_LAST, 18                                  // EXEC of the last round
.set S_TMP, 20
.set S_EPSILON, 22
.set S_ROW, 4
.set S_WAVE, 5
// Vectors
.set V_LANE, 0
.set V_OFFSET, 1                                 // byte offset of the vector in a bf16 row
.set V_SUMSQ, 2
.set V_T0, 3
.set V_T1, 4
.set V_T2, 5
.set V_INV_N, 6
.set V_TMP_OFFSET, 7
.set V_S, 8                                      // VEC per round
.set V_X, V_S + NETRA_VEC * RMS_ITERS            // VEC / 2 per round, each
.set V_W, V_X + RMS_DW * RMS_ITERS
.set V_R, V_W + RMS_DW * RMS_ITERS

// EXEC of round I: in the last round some waves may have no vector.
.macro rms_round_begin i
  .if RMS_RAGGED && (\i) == RMS_ITERS - 1
    s_mov_b64 exec, s[S_LAST:S_LAST+1]
  .endif
.endm
.macro rms_round_end i
  .if RMS_RAGGED && (\i) == RMS_ITERS - 1
    s_mov_b64 exec, -1
  .endif
.endm

// One vector per lane; round I lies 128 * VEC * WAVES * I bytes further on.
.macro rms_load v, s_base, i
  .if (\i) == 0
    .set rms_o, V_OFFSET
  .else
    v_add_u32 v[V_TMP_OFFSET], 128 * NETRA_VEC * NETRA_WAVES * (\i), v[V_OFFSET]
    .set rms_o, V_TMP_OFFSET
  .endif
  .if NETRA_VEC == 8
    global_load_dwordx4 v[\v:\v+3], v[rms_o], s[\s_base:\s_base+1]
  .else
    global_load_dwordx2 v[\v:\v+1], v[rms_o], s[\s_base:\s_base+1]
  .endif
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  .if NETRA_HAS_RESIDUAL
  netra_load_pointer S_RESIDUAL, NETRA_ARG_RESIDUAL
  .endif
  .if NETRA_HAS_SUM
  netra_load_pointer S_SUM, NETRA_ARG_SUM
  .endif
  .if NETRA_QUANTIZE
  netra_load_pointer S_SCALE, NETRA_ARG_RESULT_SCALE
  .endif
  s_mov_b32 s[S_ROW], s2
  netra_lane_and_wave V_LANE, S_WAVE, V_T0
  .if NETRA_VEC == 8
  v_lshlrev_b32 v[V_OFFSET], 4, v[V_LANE]
  .else
  v_lshlrev_b32 v[V_OFFSET], 3, v[V_LANE]
  .endif
  s_mul_i32 s[S_TMP], s[S_WAVE], 128 * NETRA_VEC
  v_add_u32 v[V_OFFSET], s[S_TMP], v[V_OFFSET]
  .if RMS_RAGGED
    s_cmp_lt_u32 s[S_WAVE], RMS_RAGGED
    s_cselect_b64 s[S_LAST:S_LAST+1], -1, 0
    // Waves without a vector in the last round add zeros.
    .set rms_d, 0
    .rept RMS_DW
      v_mov_b32 v[V_X+RMS_DW*(RMS_ITERS-1)+rms_d], 0
      .if NETRA_HAS_RESIDUAL
      v_mov_b32 v[V_R+RMS_DW*(RMS_ITERS-1)+rms_d], 0
      .endif
      .set rms_d, rms_d + 1
    .endr
  .endif
  netra_wait_scalar
  netra_row_pointer S_X, S_ROW, 2*NETRA_N, S_TMP
  .if NETRA_HAS_RESIDUAL
    netra_row_pointer S_RESIDUAL, S_ROW, 2*NETRA_N, S_TMP
  .endif
  .if NETRA_HAS_SUM
    netra_row_pointer S_SUM, S_ROW, 2*NETRA_N, S_TMP
  .endif
  .if NETRA_QUANTIZE
    netra_row_pointer S_RESULT, S_ROW, NETRA_N, S_TMP
    netra_row_pointer S_SCALE, S_ROW, NETRA_N/32, S_TMP
  .else
    netra_row_pointer S_RESULT, S_ROW, 2*NETRA_N, S_TMP
  .endif

  // Everything that is read, in the order of use.
  .set rms_i, 0
  .rept RMS_ITERS
    rms_round_begin rms_i
    rms_load V_X+RMS_DW*rms_i, S_X, rms_i
    .if NETRA_HAS_RESIDUAL
      rms_load V_R+RMS_DW*rms_i, S_RESIDUAL, rms_i
    .endif
    rms_round_end rms_i
    .set rms_i, rms_i + 1
  .endr
  .set rms_i, 0
  .rept RMS_ITERS
    rms_round_begin rms_i
    rms_load V_W+RMS_DW*rms_i, S_WEIGHT, rms_i
    rms_round_end rms_i
    .set rms_i, rms_i + 1
  .endr
  v_mov_b32 v[V_INV_N], NETRA_N
  v_cvt_f32_u32 v[V_INV_N], v[V_INV_N]
  v_rcp_f32 v[V_INV_N], v[V_INV_N]
  s_mov_b32 s[S_EPSILON], NETRA_EPSILON

  // s, its squares, and the store of sum.
  .set rms_i, 0
  .set rms_stores, 0
  .rept RMS_ITERS
    // Younger than this round's x and residual: later rounds, the weights, and
    // the sums stored so far.
    netra_wait_memory ((RMS_ITERS - 1 - rms_i) * (1 + NETRA_HAS_RESIDUAL) + RMS_ITERS + rms_stores)
    .set rms_v, V_S + NETRA_VEC * rms_i
    netra_bf16_unpack_run rms_v, V_X+RMS_DW*rms_i, RMS_DW
    .if NETRA_HAS_RESIDUAL
      .set rms_d, 0
      .rept RMS_DW
        netra_bf16_unpack V_T0, V_T1, V_R+RMS_DW*rms_i+rms_d
        v_add_f32 v[rms_v+2*rms_d], v[rms_v+2*rms_d], v[V_T0]
        v_add_f32 v[rms_v+2*rms_d+1], v[rms_v+2*rms_d+1], v[V_T1]
        .set rms_d, rms_d + 1
      .endr
    .endif
    .if NETRA_HAS_SUM
      netra_bf16_pack_run V_X+RMS_DW*rms_i, rms_v, RMS_DW
      rms_round_begin rms_i
      .if rms_i == 0
        .set rms_o, V_OFFSET
      .else
        v_add_u32 v[V_TMP_OFFSET], 128 * NETRA_VEC * NETRA_WAVES * rms_i, v[V_OFFSET]
        .set rms_o, V_TMP_OFFSET
      .endif
      .set rms_x, V_X + RMS_DW * rms_i
      .if NETRA_VEC == 8
        global_store_dwordx4 v[rms_o], v[rms_x:rms_x+3], s[S_SUM:S_SUM+1]
      .else
        global_store_dwordx2 v[rms_o], v[rms_x:rms_x+1], s[S_SUM:S_SUM+1]
      .endif
      rms_round_end rms_i
      .set rms_stores, rms_stores + 1
    .endif
    .set rms_e, 0
    .rept NETRA_VEC
      .if rms_i == 0 && rms_e == 0
        v_mul_f32 v[V_SUMSQ], v[rms_v], v[rms_v]
      .else
        v_fma_f32 v[V_SUMSQ], v[rms_v+rms_e], v[rms_v+rms_e], v[V_SUMSQ]
      .endif
      .set rms_e, rms_e + 1
    .endr
    .set rms_i, rms_i + 1
  .endr

  netra_wave_reduce v_add_f32, V_SUMSQ, V_T0
  netra_workgroup_sum V_SUMSQ, NETRA_WAVES, S_WAVE, V_LANE, 0, V_T0
  v_mul_f32 v[V_SUMSQ], v[V_SUMSQ], v[V_INV_N]
  v_add_f32 v[V_SUMSQ], s[S_EPSILON], v[V_SUMSQ]
  v_rsq_f32 v[V_SUMSQ], v[V_SUMSQ]
  .if NETRA_WEIGHT_OFFSET != 0
    s_mov_b32 s[S_TMP], NETRA_WEIGHT_OFFSET
  .endif

  // n, and its store.
  .set rms_i, 0
  .rept RMS_ITERS
    // The weights of later rounds and all stores may be outstanding.
    netra_wait_memory (RMS_ITERS - 1 - rms_i + rms_stores)
    .set rms_v, V_S + NETRA_VEC * rms_i
    rms_round_begin rms_i
    .set rms_d, 0
    .rept RMS_DW
      netra_bf16_unpack V_T0, V_T1, V_W+RMS_DW*rms_i+rms_d
      .if NETRA_WEIGHT_OFFSET != 0
        v_add_f32 v[V_T0], s[S_TMP], v[V_T0]
        v_add_f32 v[V_T1], s[S_TMP], v[V_T1]
      .endif
      v_mul_f32 v[rms_v+2*rms_d], v[rms_v+2*rms_d], v[V_SUMSQ]
      v_mul_f32 v[rms_v+2*rms_d+1], v[rms_v+2*rms_d+1], v[V_SUMSQ]
      v_mul_f32 v[rms_v+2*rms_d], v[rms_v+2*rms_d], v[V_T0]
      v_mul_f32 v[rms_v+2*rms_d+1], v[rms_v+2*rms_d+1], v[V_T1]
      .set rms_d, rms_d + 1
    .endr
    .if NETRA_QUANTIZE
      netra_bf16_round_run rms_v, NETRA_VEC
      netra_group_amax V_T0, rms_v, NETRA_VEC
      netra_row16_reduce v_max_f32, V_T0
      .if NETRA_VEC == 4                         // a group is two rows of 16
        netra_row32_join v_max_f32, V_T0, V_T1
      .endif
      netra_group_scale V_T0, V_T1, V_T0, V_T2
      .if rms_i == 0
        v_mov_b32 v[V_TMP_OFFSET], v[V_OFFSET]
      .else
        v_add_u32 v[V_TMP_OFFSET], 128 * NETRA_VEC * NETRA_WAVES * rms_i, v[V_OFFSET]
      .endif
      v_lshrrev_b32 v[V_T2], 8, v[V_TMP_OFFSET]  // group of 128 columns
      v_lshlrev_b32 v[V_T2], 2, v[V_T2]
      v_lshrrev_b32 v[V_TMP_OFFSET], 1, v[V_TMP_OFFSET]
      .if NETRA_VEC == 8
        netra_fp8_pack8 rms_v, rms_v, V_T1
        global_store_dwordx2 v[V_TMP_OFFSET], v[rms_v:rms_v+1], s[S_RESULT:S_RESULT+1]
        .set rms_leaders, 0x00010001
      .else
        netra_fp8_pack4 rms_v, rms_v, V_T1
        global_store_dword v[V_TMP_OFFSET], v[rms_v], s[S_RESULT:S_RESULT+1]
        .set rms_leaders, 0x00000001
      .endif
      // One lane of each group stores its scale.
      s_and_b32 exec_lo, exec_lo, rms_leaders
      s_and_b32 exec_hi, exec_hi, rms_leaders
      global_store_dword v[V_T2], v[V_T0], s[S_SCALE:S_SCALE+1]
      s_mov_b64 exec, -1
      .set rms_stores, rms_stores + 2
    .else
      netra_bf16_pack_run rms_v, rms_v, RMS_DW
      .if rms_i == 0
        .set rms_o, V_OFFSET
      .else
        v_add_u32 v[V_TMP_OFFSET], 128 * NETRA_VEC * NETRA_WAVES * rms_i, v[V_OFFSET]
        .set rms_o, V_TMP_OFFSET
      .endif
      .if NETRA_VEC == 8
        global_store_dwordx4 v[rms_o], v[rms_v:rms_v+3], s[S_RESULT:S_RESULT+1]
      .else
        global_store_dwordx2 v[rms_o], v[rms_v:rms_v+1], s[S_RESULT:S_RESULT+1]
      .endif
      rms_round_end rms_i
      .set rms_stores, rms_stores + 1
    .endif
    .set rms_i, rms_i + 1
  .endr
  netra_kernel_end \name
.endm
