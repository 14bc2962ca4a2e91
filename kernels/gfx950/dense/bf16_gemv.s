// Netra gfx950 kernel: dense, bf16, one activation row.
// SPDX-License-Identifier: MIT
//
//   y[n] = epilogue( sum over k of x[k] * w[n, k] )
//
// Constants
//   NETRA_M       1
//   NETRA_N, K    weight rows and columns; K a multiple of 512
//   NETRA_ROWS    weight rows of a work-group: 4, 8 or 16 (gated: half of them
//                 gate rows, half the matching up rows)
//   NETRA_WAVES   waves of a work-group, 1..16, which share K
//   NETRA_DEPTH   512-element chunks of K that a wave keeps in flight
//   NETRA_ACTIVATION, NETRA_GATED, NETRA_HAS_BIAS, NETRA_HAS_RESIDUAL
//   NETRA_RESULT_F32  1: y and the residual are f32; NETRA_BIAS_F32 1: the bias is, as
//                 it must be where y is; 0: bf16
// Work-group g computes rows ROWS * g .. (gated: outputs ROWS / 2 * g ..).
//
// Schedule. K is cut into chunks of 512, of which each wave but the first owns
// C = K / 512 / WAVES, rounded up, and the first the SHORT fewer that are left: wave v has
// chunks v * C - SHORT .. v * C - SHORT + C - 1 as far as they exist, and the first branches
// around its first SHORT. What it waits for then is older than what it has not loaded. One dwordx4 load per (row, chunk) brings 1 KB of one row,
// contiguous over the wave. All loads of DEPTH chunks are issued before the first
// wait, in the order x chunk, rows 0, 1, ...; they are consumed in that order, two
// rows per wait, and a consumed chunk's registers take the chunk DEPTH further on.
// No weight byte is read twice.
//
// Arithmetic. Lane l adds the products of k = 512 c + 8 l .. + 7, two at a time, in
// ascending k and c (v_dot2_f32_bf16, f32 accumulator); netra_fold_sums adds the
// lanes, the first wave adds the waves' partial sums in ascending order, then
// + bias, activation, (gate times up), + residual, one rounding to bf16 or none to f32.

.include "include/kernel.inc"
.include "include/reduce.inc"
.include "include/convert.inc"
.include "include/activation.inc"

netra_require (NETRA_M == 1), "dense/bf16_gemv.s computes exactly one activation row: NETRA_M must be 1"
netra_require (NETRA_WAVES >= 1 && NETRA_WAVES <= 16), "NETRA_WAVES must be 1..16: a work-group has at most 1024 work-items"
netra_require (NETRA_K > 0 && NETRA_K % 512 == 0), "NETRA_K must be a multiple of 512: waves load whole chunks"
netra_require (NETRA_ROWS == 4 || NETRA_ROWS == 8 || NETRA_ROWS == 16), "NETRA_ROWS must be 4, 8 or 16"
netra_require (NETRA_N > 0 && NETRA_N % NETRA_ROWS == 0), "NETRA_N must be a multiple of NETRA_ROWS: work-groups have no tail rows"
netra_require (NETRA_DEPTH >= 1 && NETRA_DEPTH <= (NETRA_K / 512 + NETRA_WAVES - 1) / NETRA_WAVES), "NETRA_DEPTH must be between 1 and the chunks per wave, K / 512 / WAVES rounded up"
netra_require (NETRA_DEPTH * (NETRA_ROWS + 1) + 2 <= 63), "NETRA_DEPTH * (NETRA_ROWS + 1) + 2 loads must fit the 63 that vmcnt can count"
netra_require (8 + NETRA_ROWS + 4 * NETRA_DEPTH * (NETRA_ROWS + 1) <= 256), "NETRA_ROWS and NETRA_DEPTH need more than 256 VGPRs"
netra_require (NETRA_ACTIVATION >= 0 && NETRA_ACTIVATION <= 5), "NETRA_ACTIVATION must be 0 (none), 1 (silu), 2 (gelu erf), 3 (gelu tanh) or 5 (sigmoid)"
netra_require (NETRA_GATED == 0 || NETRA_GATED == 1), "NETRA_GATED must be 0 or 1"
netra_require (NETRA_RESULT_F32 == 0 || NETRA_RESULT_F32 == 1), "NETRA_RESULT_F32 must be 0 (bf16) or 1 (f32)"
netra_require (NETRA_BIAS_F32 == 0 || (NETRA_BIAS_F32 == 1 && NETRA_HAS_BIAS)), "NETRA_BIAS_F32 must be 0 (bf16), or 1 (f32) with a bias"
netra_require (NETRA_BIAS_F32 == 1 || NETRA_RESULT_F32 == 0 || NETRA_HAS_BIAS == 0), "the bias must be f32 where the result is"
netra_require (NETRA_RESIDUAL_F32 == NETRA_RESULT_F32 * NETRA_HAS_RESIDUAL), "the residual must have the type of the result"
netra_require (NETRA_N * NETRA_K <= 0x7fffffff), "the weight must be smaller than 4 GiB"
netra_require (NETRA_BLOCK_X == 64 * NETRA_WAVES && NETRA_BLOCK_Y == 1 && NETRA_BLOCK_Z == 1), "the work-group must be 64 * NETRA_WAVES x 1 x 1"
netra_require (NETRA_GRID_X == NETRA_N / NETRA_ROWS && NETRA_GRID_Y == 1 && NETRA_GRID_Z == 1), "the grid must be NETRA_N / NETRA_ROWS x 1 x 1"
netra_require (NETRA_STATIC_LDS == 4 * NETRA_ROWS * NETRA_WAVES), "NETRA_STATIC_LDS must be 4 * NETRA_ROWS * NETRA_WAVES bytes"

.set GEMV_CHUNKS, (NETRA_K / 512 + NETRA_WAVES - 1) / NETRA_WAVES // per wave
.set GEMV_SHORT, GEMV_CHUNKS * NETRA_WAVES - NETRA_K / 512 // of them the first wave has not
netra_require (GEMV_SHORT < GEMV_CHUNKS), "NETRA_WAVES must leave a 512-element chunk to the first wave when the others have K / 512 / WAVES, rounded up"
.set GEMV_ROW_BYTES, 2 * NETRA_K
.set GEMV_OUTPUTS, NETRA_ROWS / (1 + NETRA_GATED) // per work-group
.set GEMV_SHIFT, 1 + NETRA_RESULT_F32            // elements of y to bytes

// Scalars
.set S_X, 6
.set S_WEIGHT, 8
.set S_RESULT, 10
.set S_BIAS, 12
.set S_RESIDUAL, 14
.set NETRA_S_ACT, 16                             // condition mask of activations
.set S_WAVE, 5
.set S_OUT, 4                                    // first output of the work-group
.set S_TMP, 18                                   // and 19
.set S_ROW, 20                                   // 2 per row: its address
// Vectors
.set V_LANE, 0
.set V_OFFSET, 1                                 // lane's byte offset in a row
.set V_OUT, 2                                    // lane's byte offset in y
.set V_BIAS, 3
.set V_RESIDUAL, 4
.set V_T0, 5
.set V_T1, 6
.set V_T2, 7
.set V_ACC, 8
.set V_X, V_ACC + NETRA_ROWS                     // 4 per chunk in flight
.set V_W, V_X + 4 * NETRA_DEPTH                  // 4 per row and chunk in flight
.set V_PARTIAL, V_X                              // afterwards: one per wave

// gemv_skip C .. gemv_skipped C: what the wave does with its chunk C, if it
// has it. Clobbers SCC.
.macro gemv_skip c
  .if (\c) < GEMV_SHORT
    s_cmp_eq_u32 s[S_WAVE], 0
    s_cbranch_scc1 1f
  .endif
.endm
.macro gemv_skipped c
  .if (\c) < GEMV_SHORT
1:
  .endif
.endm

// The loads of the wave's chunk C.
.macro gemv_load_chunk c
  .if (\c) > 0 && (\c) % 4 == 0
    v_add_u32 v[V_OFFSET], 4096, v[V_OFFSET]     // the immediate reaches 4 chunks
  .endif
  gemv_skip \c
  .set gemv_slot, (\c) % NETRA_DEPTH
  .set gemv_imm, 1024 * ((\c) % 4)
  global_load_dwordx4 v[V_X+4*gemv_slot:V_X+4*gemv_slot+3], v[V_OFFSET], s[S_X:S_X+1] offset:gemv_imm
  .set gemv_g, 0
  .rept NETRA_ROWS
    .set gemv_r, V_W + 4 * (gemv_slot * NETRA_ROWS + gemv_g)
    global_load_dwordx4 v[gemv_r:gemv_r+3], v[V_OFFSET], s[S_ROW+2*gemv_g:S_ROW+2*gemv_g+1] offset:gemv_imm nt
    .set gemv_g, gemv_g + 1
  .endr
  gemv_skipped \c
.endm

// acc[g] += x . w over the lane's dwords, rows g and g + 1 interleaved so that
// an accumulator is not written by two consecutive instructions.
.macro gemv_dot c, g
  netra_fold_index gemv_a, (\g), NETRA_ROWS
  netra_fold_index gemv_b, (\g)+1, NETRA_ROWS
  .set gemv_slot, (\c) % NETRA_DEPTH
  .set gemv_i, 0
  .rept 4
    .set gemv_x, V_X + 4 * gemv_slot + gemv_i
    .set gemv_r, V_W + 4 * (gemv_slot * NETRA_ROWS + (\g)) + gemv_i
    .if (\c) == 0 && gemv_i == 0 && GEMV_SHORT == 0
      v_dot2_f32_bf16 v[V_ACC+gemv_a], v[gemv_r], v[gemv_x], 0
      v_dot2_f32_bf16 v[V_ACC+gemv_b], v[gemv_r+4], v[gemv_x], 0
    .else
      v_dot2_f32_bf16 v[V_ACC+gemv_a], v[gemv_r], v[gemv_x], v[V_ACC+gemv_a]
      v_dot2_f32_bf16 v[V_ACC+gemv_b], v[gemv_r+4], v[gemv_x], v[V_ACC+gemv_b]
    .endif
    .set gemv_i, gemv_i + 1
  .endr
.endm

// One element of each lane, bf16 in the lower half of its register.
.macro gemv_load_element v, v_offset, s_base, f32
  .if \f32
    global_load_dword v[\v], v[\v_offset], s[\s_base:\s_base+1]
  .else
    global_load_ushort v[\v], v[\v_offset], s[\s_base:\s_base+1]
  .endif
.endm

.macro netra_template name
  netra_kernel_begin \name
  netra_load_pointer S_X, NETRA_ARG_X
  netra_load_pointer S_WEIGHT, NETRA_ARG_WEIGHT
  netra_load_pointer S_RESULT, NETRA_ARG_RESULT
  .if NETRA_HAS_BIAS
  netra_load_pointer S_BIAS, NETRA_ARG_BIAS
  .endif
  .if NETRA_HAS_RESIDUAL
  netra_load_pointer S_RESIDUAL, NETRA_ARG_RESIDUAL
  .endif

  netra_lane_and_wave V_LANE, S_WAVE, V_T0
  s_mul_i32 s[S_OUT], s2, GEMV_OUTPUTS
  v_lshlrev_b32 v[V_OFFSET], 4, v[V_LANE]
  s_mul_i32 s[S_TMP], s[S_WAVE], 1024 * GEMV_CHUNKS
  v_add_u32 v[V_OUT], s[S_OUT], v[V_LANE]
  v_lshlrev_b32 v[V_OUT], GEMV_SHIFT, v[V_OUT]
  v_add_u32 v[V_OFFSET], s[S_TMP], v[V_OFFSET]
  s_mul_i32 s[S_TMP], s[S_OUT], GEMV_ROW_BYTES
  s_mul_hi_u32 s[S_TMP+1], s[S_OUT], GEMV_ROW_BYTES
  netra_wait_scalar
  .if GEMV_SHORT                                 // where the first wave's first would be
    s_sub_u32 s[S_X], s[S_X], 1024 * GEMV_SHORT
    s_subb_u32 s[S_X+1], s[S_X+1], 0
    s_sub_u32 s[S_WEIGHT], s[S_WEIGHT], 1024 * GEMV_SHORT
    s_subb_u32 s[S_WEIGHT+1], s[S_WEIGHT+1], 0
  .endif

  // Row addresses.
  s_add_u32 s[S_ROW], s[S_WEIGHT], s[S_TMP]
  s_addc_u32 s[S_ROW+1], s[S_WEIGHT+1], s[S_TMP+1]
  .set gemv_g, 1
  .rept NETRA_ROWS - 1
    .if gemv_g == GEMV_OUTPUTS                   // the first up row
      netra_pointer_add_const S_ROW+2*gemv_g, S_ROW, NETRA_N*NETRA_K
    .else
      netra_pointer_add_const S_ROW+2*gemv_g, S_ROW+2*gemv_g-2, GEMV_ROW_BYTES
    .endif
    .set gemv_g, gemv_g + 1
  .endr

  // Bias and residual of the outputs come first, so that the weights' counts
  // below hold with and without them. Only the first wave needs them.
  .if NETRA_HAS_BIAS || NETRA_HAS_RESIDUAL
    s_cmp_lg_u32 s[S_WAVE], 0
    s_cbranch_scc1 .Lgemv_stream_\name
    .if NETRA_HAS_BIAS
      .set gemv_offset, V_OUT
      .if GEMV_OUTPUTS < NETRA_ROWS              // lanes >= OUTPUTS: up rows
        .set gemv_offset, V_T0
        v_mov_b32 v[V_T0], (NETRA_N / 2 - GEMV_OUTPUTS) << GEMV_SHIFT
        v_cmp_le_u32 vcc, GEMV_OUTPUTS, v[V_LANE]
        v_cndmask_b32 v[V_T0], 0, v[V_T0], vcc
        v_add_u32 v[V_T0], v[V_T0], v[V_OUT]
      .endif
      .if NETRA_BIAS_F32 > NETRA_RESULT_F32      // wider than y
        v_lshlrev_b32 v[V_T0], 1, v[gemv_offset]
        .set gemv_offset, V_T0
      .endif
      s_mov_b64 exec, (1 << NETRA_ROWS) - 1
      gemv_load_element V_BIAS, gemv_offset, S_BIAS, NETRA_BIAS_F32
    .endif
    .if NETRA_HAS_RESIDUAL
      s_mov_b64 exec, (1 << GEMV_OUTPUTS) - 1
      gemv_load_element V_RESIDUAL, V_OUT, S_RESIDUAL, NETRA_RESULT_F32
    .endif
    s_mov_b64 exec, -1
.Lgemv_stream_\name:
  .endif

  // The stream.
  .if GEMV_SHORT                                 // no chunk is every wave's first
    .set gemv_g, 0
    .rept NETRA_ROWS
      v_mov_b32 v[V_ACC+gemv_g], 0
      .set gemv_g, gemv_g + 1
    .endr
  .endif
  .set gemv_chunk, 0
  .rept NETRA_DEPTH
    gemv_load_chunk gemv_chunk
    .set gemv_chunk, gemv_chunk + 1
  .endr
  .set gemv_c, 0
  .rept GEMV_CHUNKS
    gemv_skip gemv_c
    .set gemv_h, 0
    .rept NETRA_ROWS / 2
      // Younger than row gemv_h + 1 of this chunk: the rest of its rows, and
      // the whole chunks issued after it.
      netra_wait_memory (NETRA_ROWS - 2 - gemv_h + (gemv_chunk - 1 - gemv_c) * (NETRA_ROWS + 1))
      gemv_dot gemv_c, gemv_h
      .set gemv_h, gemv_h + 2
    .endr
    gemv_skipped gemv_c
    .if gemv_chunk < GEMV_CHUNKS
      gemv_load_chunk gemv_chunk
      .set gemv_chunk, gemv_chunk + 1
    .endif
    .set gemv_c, gemv_c + 1
  .endr

  // Lanes, then waves. Lane group g = lane / (64 / ROWS) holds row g.
  netra_fold_sums V_ACC, NETRA_ROWS
  .if NETRA_ROWS == 4
    v_lshrrev_b32 v[V_T0], 4, v[V_LANE]
    .set gemv_leaders, 0x00010001
  .elseif NETRA_ROWS == 8
    v_lshrrev_b32 v[V_T0], 3, v[V_LANE]
    .set gemv_leaders, 0x01010101
  .else
    v_lshrrev_b32 v[V_T0], 2, v[V_LANE]
    .set gemv_leaders, 0x11111111
  .endif
  v_lshlrev_b32 v[V_T0], 2, v[V_T0]
  s_mul_i32 s[S_TMP], s[S_WAVE], 4 * NETRA_ROWS
  v_add_u32 v[V_T0], s[S_TMP], v[V_T0]
  s_mov_b32 exec_lo, gemv_leaders
  s_mov_b32 exec_hi, gemv_leaders
  ds_write_b32 v[V_T0], v[V_ACC]
  netra_barrier
  s_cmp_lg_u32 s[S_WAVE], 0
  s_cbranch_scc1 .Lgemv_end_\name

  // Lane g < ROWS of the first wave finishes row g.
  s_mov_b64 exec, (1 << NETRA_ROWS) - 1
  v_lshlrev_b32 v[V_T0], 2, v[V_LANE]
  .set gemv_i, 0
  .rept NETRA_WAVES
    ds_read_b32 v[V_PARTIAL+gemv_i], v[V_T0] offset:4*NETRA_ROWS*gemv_i
    .set gemv_i, gemv_i + 1
  .endr
  .if NETRA_HAS_BIAS && !NETRA_BIAS_F32
    v_lshlrev_b32 v[V_BIAS], 16, v[V_BIAS]
  .endif
  netra_wait_lds
  .set gemv_i, 1
  .rept NETRA_WAVES - 1
    v_add_f32 v[V_PARTIAL], v[V_PARTIAL], v[V_PARTIAL+gemv_i]
    .set gemv_i, gemv_i + 1
  .endr
  .if NETRA_HAS_BIAS
    v_add_f32 v[V_PARTIAL], v[V_PARTIAL], v[V_BIAS]
  .endif
  netra_activate NETRA_ACTIVATION, V_ACC, V_PARTIAL, V_T0, V_T1
  .if GEMV_OUTPUTS < NETRA_ROWS
    // Lane g takes the up sum of lane g + OUTPUTS (same row of 16); the sum was
    // written before the activation, so DPP may read it at once.
    v_mov_b32_dpp v[V_T2], v[V_PARTIAL] row_shl:GEMV_OUTPUTS row_mask:0xf bank_mask:0xf bound_ctrl:0
    s_mov_b64 exec, (1 << GEMV_OUTPUTS) - 1
    v_mul_f32 v[V_ACC], v[V_ACC], v[V_T2]
  .endif
  .if NETRA_HAS_RESIDUAL
    .if !NETRA_RESULT_F32
      v_lshlrev_b32 v[V_RESIDUAL], 16, v[V_RESIDUAL]
    .endif
    v_add_f32 v[V_ACC], v[V_ACC], v[V_RESIDUAL]
  .endif
  .if NETRA_RESULT_F32
    global_store_dword v[V_OUT], v[V_ACC], s[S_RESULT:S_RESULT+1]
  .else
    netra_bf16_pack V_ACC, V_ACC, V_ACC
    global_store_short v[V_OUT], v[V_ACC], s[S_RESULT:S_RESULT+1]
  .endif
.Lgemv_end_\name:
  netra_kernel_end \name
.endm
