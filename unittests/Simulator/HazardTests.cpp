//===- HazardTests.cpp - Wait states: one too few, and enough ------------===//
// SPDX-License-Identifier: MIT
//
// The states are those of the tables in AMD's CDNA4 manual, except where
// docs/simulator.md says otherwise.
//
//===----------------------------------------------------------------------===//

#include "CheckerFixture.h"
#include "gmock/gmock.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

struct HazardCase {
  const char *name, *first, *second;
  unsigned states;  ///< that `second` needs behind `first`
  const char *rule; ///< part of the report, when there is one
};

const HazardCase cases[] = {
    // Vector registers.
    {"Dpp", "v_mov_b32 v1, v0",
     "v_mov_b32_dpp v2, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", 2,
     "DPP reads it"},
    {"ReadLane", "v_mov_b32 v1, v0", "v_readlane_b32 s20, v1, 0", 1,
     "v_readlane reads it"},
    {"ReadFirstLane", "v_mov_b32 v1, v0", "v_readfirstlane_b32 s20, v1", 1,
     "v_readlane reads it"},
    {"Permlane", "v_mov_b32 v1, v0", "v_permlane32_swap_b32 v2, v1", 2,
     "v_permlane reads it"},
    {"ValuToMatrixA", "v_mov_b32 v1, v0",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 2,
     "a matrix instruction reads it"},
    {"ValuToMatrixC", "v_mov_b32 v41, v0",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 2,
     "a matrix instruction reads it"},
    {"AccumulatorToMatrixC", "v_accvgpr_write_b32 a0, v1",
     "v_mfma_f32_16x16x32_f16 a[0:3], v[0:3], v[4:7], a[0:3]", 2,
     "a matrix instruction reads it"},
    {"ValuToScale", "v_mov_b32 v30, v0",
     "v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[0:7], v[8:15], v[40:43], "
     "v30, v31",
     2, "a matrix instruction reads it"},
    {"Transcendental", "v_exp_f32 v1, v0", "v_ldexp_f32 v2, v1, v0", 1,
     "a transcendental writes"},
    {"TranscendentalToTranscendental", "v_exp_f32 v1, v0", "v_rcp_f32 v2, v1",
     0, ""},
    {"PlainValu", "v_add_f32 v1, v0, v0", "v_add_f32 v2, v1, v1", 0, ""},
    // Results that are moved within a register.
    {"SdwaWord",
     "v_add_f16_sdwa v1, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
     "src0_sel:WORD_0 src1_sel:WORD_0",
     "v_add_f32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"SdwaWholeRegister",
     "v_add_f16_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD "
     "src0_sel:WORD_0 src1_sel:WORD_0",
     "v_add_f32 v2, v1, v1", 0, ""},
    {"SdwaIntoTheSameRegister",
     "v_add_f16_sdwa v1, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
     "src0_sel:WORD_0 src1_sel:WORD_0",
     "v_add_f16_sdwa v1, v2, v3 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE "
     "src0_sel:WORD_0 src1_sel:WORD_0",
     1, "SDWA or op_sel"},
    {"SdwaOverTheSameRegister",
     "v_add_f16_sdwa v1, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
     "src0_sel:WORD_0 src1_sel:WORD_0",
     "v_mov_b32 v1, 0", 0, ""},
    {"OpSelHigh", "v_mad_f16 v1, v2, v3, v4 op_sel:[0,0,0,1]",
     "v_add_f32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"OpSelOfASource", "v_mad_f16 v1, v2, v3, v4 op_sel:[1,1,1,0]",
     "v_add_f32 v2, v1, v1", 0, ""},
    {"OpSelIntoTheSameRegister", "v_mad_f16 v1, v2, v3, v4 op_sel:[0,0,0,1]",
     "v_mad_f16 v1, v2, v3, v4 op_sel:[0,0,0,1]", 1, "SDWA or op_sel"},
    {"PackedFp8High", "v_cvt_pk_fp8_f32 v1, v2, v3 op_sel:[0,0,1]",
     "v_add_u32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"PackedFp8Low", "v_cvt_pk_fp8_f32 v1, v2, v3 op_sel:[0,0,1]",
     "v_cvt_pk_fp8_f32 v1, v2, v3", 1, "SDWA or op_sel"},
    {"StochasticByte1", "v_cvt_sr_fp8_f32 v1, v2, v3 op_sel:[0,0,1,0]",
     "v_add_u32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"StochasticByte2", "v_cvt_sr_bf8_f32 v1, v2, v3 op_sel:[0,0,0,1]",
     "v_add_u32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"StochasticByte0", "v_cvt_sr_fp8_f32 v1, v2, v3", "v_add_u32 v2, v1, v1",
     0, ""},
    {"ScaledStochasticByte1",
     "v_cvt_scalef32_sr_fp8_f32 v1, v2, v3, v4 op_sel:[0,0,1,0]",
     "v_add_u32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"ScaledFp4Byte1",
     "v_cvt_scalef32_pk_fp4_f32 v1, v2, v3, v4 op_sel:[0,0,1,0]",
     "v_add_u32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"ScaledFp4Byte2",
     "v_cvt_scalef32_pk_fp4_f32 v1, v2, v3, v4 op_sel:[0,0,0,1]",
     "v_add_u32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"ScaledFp4Byte0", "v_cvt_scalef32_pk_fp4_f32 v1, v2, v3, v4",
     "v_add_u32 v2, v1, v1", 0, ""},
    {"ScaledF16High", "v_cvt_scalef32_f16_fp8 v1, v2, v3 op_sel:[0,0,1]",
     "v_add_u32 v2, v1, v1", 1, "SDWA or op_sel"},
    {"ScaledF16OfByte1", "v_cvt_scalef32_f16_fp8 v1, v2, v3 op_sel:[1,0,0]",
     "v_add_u32 v2, v1, v1", 0, ""},
    // Dot products. Only SrcC of the same opcode may follow at once.
    {"DotToItsSrcC", "v_dot4_i32_i8 v9, v2, v3, v4",
     "v_dot4_i32_i8 v10, v4, v5, v9", 0, ""},
    {"DotChain", "v_dot4_i32_i8 v9, v2, v3, v9", "v_dot4_i32_i8 v9, v4, v5, v9",
     0, ""},
    {"DotToItsSrcA", "v_dot4_i32_i8 v9, v2, v3, v4",
     "v_dot4_i32_i8 v10, v9, v2, v5", 3, "as SrcA or SrcB"},
    {"DotToSrcAAndSrcC", "v_dot4_i32_i8 v9, v2, v3, v4",
     "v_dot4_i32_i8 v10, v2, v9, v9", 3, "as SrcA or SrcB"},
    {"DotToAnotherDot", "v_dot4_i32_i8 v9, v2, v3, v4",
     "v_dot2_f32_f16 v10, v4, v5, v9", 3, "a different one reads it"},
    {"TiedDotChainF16", "v_dot2c_f32_f16 v9, v2, v3",
     "v_dot2c_f32_f16 v9, v4, v5", 0, ""},
    {"TiedDotChainBf16", "v_dot2c_f32_bf16 v9, v2, v3",
     "v_dot2c_f32_bf16 v9, v4, v5", 0, ""},
    {"TiedDotChainI8", "v_dot4c_i32_i8 v9, v2, v3", "v_dot4c_i32_i8 v9, v4, v5",
     0, ""},
    {"TiedDotChainI4", "v_dot8c_i32_i4 v9, v2, v3", "v_dot8c_i32_i4 v9, v4, v5",
     0, ""},
    {"TiedDotToItsSrcA", "v_dot2c_f32_f16 v9, v2, v3",
     "v_dot2c_f32_f16 v9, v9, v5", 3, "as SrcA or SrcB"},
    {"TiedDotToAnother", "v_dot4c_i32_i8 v9, v2, v3",
     "v_dot2c_f32_f16 v9, v4, v5", 3, "a different one reads it"},
    {"TiedDotToValu", "v_dot2c_f32_f16 v9, v2, v3", "v_add_f32 v4, v9, v9", 3,
     "v_dot writes a VGPR, VALU reads it"},
    {"DotToValu", "v_dot4_i32_i8 v9, v2, v3, v4", "v_add_u32 v5, v9, v9", 3,
     "v_dot writes a VGPR, VALU reads it"},
    {"DotOverwritten", "v_dot4_i32_i8 v9, v2, v3, v4", "v_mov_b32 v9, 0", 3,
     "VALU overwrites it"},
    {"DotToStore", "v_dot4_i32_i8 v9, v2, v3, v4",
     "global_store_dword v[20:21], v9, off", 3,
     "a memory instruction reads it"},
    {"DotToLds", "v_dot4_i32_i8 v9, v2, v3, v4", "ds_write_b32 v20, v9", 3,
     "a memory instruction reads it"},
    {"DotToAddress", "v_dot4_i32_i8 v9, v2, v3, v4", "ds_read_b32 v5, v9", 3,
     "a memory instruction reads it"},
    {"DotToMatrix", "v_dot2c_f32_f16 v1, v2, v3",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 0, ""},
    // Matrix instructions on the same SrcC: their passes do not matter.
    {"Xdl2Chain", "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[40:43]",
     "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[40:43]", 2,
     "reads the same as SrcC"},
    {"XdlChain", "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 0, ""},
    {"XdlToAnotherOpcode",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mfma_f32_16x16x32_f16 v[40:43], v[0:3], v[4:7], v[40:43]", 0, ""},
    {"EightBitToFourBit",
     "v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[0:7], v[8:15], v[40:43]",
     "v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[0:3], v[8:11], v[40:43] cbsz:4 "
     "blgp:4",
     0, ""},
    {"FourBitToEightBit",
     "v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[0:3], v[8:11], v[40:43] cbsz:4 "
     "blgp:4",
     "v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[0:7], v[8:15], v[40:43]", 0, ""},
    {"XdlToSingle",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]", 0, ""},
    {"SingleToXdl", "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 0, ""},
    {"Single2Chain", "v_mfma_f32_4x4x1_16b_f32 v[40:43], v0, v4, v[40:43]",
     "v_mfma_f32_4x4x1_16b_f32 v[40:43], v0, v4, v[40:43]", 2,
     "f32 MFMA writes a VGPR, the next reads the same"},
    {"Single2ToXdl2", "v_mfma_f32_4x4x1_16b_f32 v[40:43], v0, v4, v[40:43]",
     "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[40:43]", 2,
     "f32 MFMA writes a VGPR, the next reads the same"},
    {"Xdl2ToSingle2",
     "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[40:43]",
     "v_mfma_f32_4x4x1_16b_f32 v[40:43], v0, v4, v[40:43]", 2,
     "XDL writes a VGPR, the next reads the same"},
    {"SparseChain", "v_smfmac_f32_16x16x64_bf16 v[40:43], v[0:3], v[8:15], v30",
     "v_smfmac_f32_16x16x64_bf16 v[40:43], v[0:3], v[8:15], v30", 0, ""},
    {"SparseToXdl", "v_smfmac_f32_16x16x64_bf16 v[40:43], v[0:3], v[8:15], v30",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 0, ""},
    {"Double16Chain",
     "v_mfma_f64_16x16x4_f64 v[40:47], v[0:1], v[4:5], v[40:47]",
     "v_mfma_f64_16x16x4_f64 v[40:47], v[0:1], v[4:5], v[40:47]", 0, ""},
    {"Double4Chain",
     "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[4:5], v[40:41]",
     "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[4:5], v[40:41]", 4,
     "f64 4x4x4 MFMA writes a VGPR, the next reads"},
    // An overlapping SrcC.
    {"Xdl2Overlap",
     "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[40:43]",
     "v_mfma_f32_4x4x4_16b_f16 v[42:45], v[0:1], v[4:5], v[42:45]", 4,
     "SrcC of the next overlaps it"},
    {"Xdl4Overlap",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mfma_f32_16x16x32_f16 v[42:45], v[0:3], v[4:7], v[42:45]", 6,
     "SrcC of the next overlaps it"},
    {"Xdl8Overlap",
     "v_mfma_f32_32x32x16_bf16 v[40:55], v[0:3], v[4:7], v[40:55]",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 10,
     "SrcC of the next overlaps it"},
    {"Xdl16Overlap",
     "v_mfma_f32_32x32x4_2b_f16 v[40:71], v[0:1], v[4:5], v[40:71]",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 18,
     "SrcC of the next overlaps it"},
    {"SparseOverlap",
     "v_smfmac_f32_16x16x64_bf16 v[40:43], v[0:3], v[8:15], v30",
     "v_smfmac_f32_16x16x64_bf16 v[42:45], v[0:3], v[8:15], v30", 6,
     "SrcC of the next overlaps it"},
    {"Xdl2OverlapSingle",
     "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[40:43]",
     "v_mfma_f32_4x4x1_16b_f32 v[42:45], v0, v4, v[42:45]", 3,
     "SrcC of an f32 or f64 MFMA"},
    {"Xdl4OverlapSingle",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mfma_f32_16x16x4_f32 v[42:45], v0, v4, v[42:45]", 6,
     "SrcC of an f32 or f64 MFMA"},
    {"Xdl4OverlapDouble",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[4:5], v[40:41]", 6,
     "SrcC of an f32 or f64 MFMA"},
    {"Single2Overlap", "v_mfma_f32_4x4x1_16b_f32 v[40:43], v0, v4, v[40:43]",
     "v_mfma_f32_4x4x1_16b_f32 v[42:45], v0, v4, v[42:45]", 2,
     "f32 MFMA writes a VGPR, SrcC"},
    {"Single8Overlap", "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]",
     "v_mfma_f32_16x16x4_f32 v[42:45], v0, v4, v[42:45]", 8,
     "f32 MFMA writes a VGPR, SrcC"},
    {"Single16Overlap", "v_mfma_f32_32x32x2_f32 v[40:55], v0, v4, v[40:55]",
     "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]", 16,
     "f32 MFMA writes a VGPR, SrcC"},
    {"SingleOverlapXdl", "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]",
     "v_mfma_f32_16x16x32_f16 v[42:45], v[0:3], v[4:7], v[42:45]", 0, ""},
    {"Double16Overlap",
     "v_mfma_f64_16x16x4_f64 v[40:47], v[0:1], v[4:5], v[40:47]",
     "v_mfma_f64_16x16x4_f64 v[44:51], v[0:1], v[4:5], v[44:51]", 17,
     "f64 16x16x4 MFMA writes a VGPR, SrcC"},
    {"Double16OverlapXdl",
     "v_mfma_f64_16x16x4_f64 v[40:47], v[0:1], v[4:5], v[40:47]",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 0, ""},
    {"Double4OverlapSingle",
     "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[4:5], v[40:41]",
     "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]", 4,
     "f64 4x4x4 MFMA writes a VGPR, SrcC"},
    {"Double4OverlapXdl",
     "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[4:5], v[40:41]",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 0, ""},
    // SrcA, SrcB, scales and sparse indices.
    {"Xdl2ToSrcA",
     "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[40:43]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 5, "SrcA"},
    {"Xdl4ToSrcA",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 8, "SrcA"},
    {"Xdl8ToSrcA",
     "v_mfma_f32_32x32x16_bf16 v[40:55], v[0:3], v[4:7], v[40:55]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 12,
     "SrcA"},
    {"Xdl16ToSrcA",
     "v_mfma_f32_32x32x4_2b_f16 v[40:71], v[0:1], v[4:5], v[40:71]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 20,
     "SrcA"},
    {"Single2ToSrcA", "v_mfma_f32_4x4x1_16b_f32 v[40:43], v0, v4, v[40:43]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 4, "SrcA"},
    {"Single8ToSrcA", "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 10,
     "SrcA"},
    {"Single16ToSrcA", "v_mfma_f32_32x32x2_f32 v[40:55], v0, v4, v[40:55]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 18,
     "SrcA"},
    {"Double16ToSrcA",
     "v_mfma_f64_16x16x4_f64 v[40:47], v[0:1], v[4:5], v[40:47]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 19,
     "SrcA"},
    {"Double4ToSrcA",
     "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[4:5], v[40:41]",
     "v_mfma_f32_16x16x32_f16 v[80:83], v[40:43], v[4:7], v[80:83]", 6, "SrcA"},
    {"XdlToScale",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mfma_scale_f32_16x16x128_f8f6f4 v[80:83], v[0:7], v[8:15], v[80:83], "
     "v40, v31",
     8, "SrcA or SrcB"},
    {"XdlToSparseIndex",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_smfmac_f32_16x16x64_bf16 v[80:83], v[0:3], v[8:15], v40", 8,
     "SrcA or SrcB"},
    // Other readers and writers of the result.
    {"Xdl2ToValu",
     "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[40:43]",
     "v_add_f32 v5, v41, v41", 5, "VALU reads it"},
    {"Xdl4ToValu",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_add_f32 v5, v41, v41", 8, "VALU reads it"},
    {"Xdl8ToValu",
     "v_mfma_f32_32x32x16_bf16 v[40:55], v[0:3], v[4:7], v[40:55]",
     "v_add_f32 v5, v41, v41", 12, "VALU reads it"},
    {"Xdl16ToValu",
     "v_mfma_f32_32x32x4_2b_f16 v[40:71], v[0:1], v[4:5], v[40:71]",
     "v_add_f32 v5, v41, v41", 20, "VALU reads it"},
    {"EightBitToValu",
     "v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[0:7], v[8:15], v[40:43]",
     "v_add_f32 v5, v41, v41", 12, "VALU reads it"},
    {"FourBitToValu",
     "v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[0:3], v[8:11], v[40:43] cbsz:4 "
     "blgp:4",
     "v_add_f32 v5, v41, v41", 8, "VALU reads it"},
    {"SparseToValu",
     "v_smfmac_f32_16x16x64_bf16 v[40:43], v[0:3], v[8:15], v30",
     "v_add_f32 v5, v41, v41", 8, "VALU reads it"},
    {"Single2ToValu", "v_mfma_f32_4x4x1_16b_f32 v[40:43], v0, v4, v[40:43]",
     "v_add_f32 v5, v41, v41", 4, "VALU reads it"},
    {"Single8ToValu", "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]",
     "v_add_f32 v5, v41, v41", 10, "VALU reads it"},
    {"Single16ToValu", "v_mfma_f32_32x32x2_f32 v[40:55], v0, v4, v[40:55]",
     "v_add_f32 v5, v41, v41", 18, "VALU reads it"},
    {"Double16ToValu",
     "v_mfma_f64_16x16x4_f64 v[40:47], v[0:1], v[4:5], v[40:47]",
     "v_add_f32 v5, v41, v41", 19, "VALU reads it"},
    {"Double4ToValu",
     "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[4:5], v[40:41]",
     "v_add_f32 v5, v41, v41", 6, "VALU reads it"},
    {"XdlOverwritten",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mov_b32 v42, 0", 8, "VALU overwrites it"},
    {"SingleOverwritten", "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]",
     "v_mov_b32 v42, 0", 10, "VALU overwrites it"},
    {"Xdl4ToLds", "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "ds_write_b32 v20, v41", 8, "a memory instruction reads it"},
    {"Xdl8ToLds", "v_mfma_f32_32x32x16_bf16 v[40:55], v[0:3], v[4:7], v[40:55]",
     "ds_write_b32 v20, v41", 12, "a memory instruction reads it"},
    {"Single8ToLds", "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[40:43]",
     "ds_write_b32 v20, v41", 10, "a memory instruction reads it"},
    {"Double16ToLds",
     "v_mfma_f64_16x16x4_f64 v[40:47], v[0:1], v[4:5], v[40:47]",
     "ds_write_b32 v20, v41", 18, "a memory instruction reads it"},
    {"Double4ToLds",
     "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[4:5], v[40:41]",
     "ds_write_b32 v20, v41", 9, "a memory instruction reads it"},
    {"AccumulatorToStore",
     "v_mfma_f32_16x16x32_f16 a[0:3], v[0:3], v[4:7], a[0:3]",
     "global_store_dword v[20:21], a1, off", 8,
     "a memory instruction reads it"},
    // SrcC is read late, by the XDL only.
    {"Xdl2SrcCOverwritten",
     "v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[4:5], v[80:83]",
     "v_mov_b32 v81, 0", 1, "XDL reads SrcC"},
    {"Xdl4SrcCOverwritten",
     "v_mfma_f32_16x16x32_f16 v[40:43], v[0:3], v[4:7], v[80:83]",
     "v_mov_b32 v81, 0", 3, "XDL reads SrcC"},
    {"Xdl8SrcCOverwritten",
     "v_mfma_f32_32x32x16_bf16 v[40:55], v[0:3], v[4:7], v[80:95]",
     "v_mov_b32 v81, 0", 7, "XDL reads SrcC"},
    {"Xdl16SrcCOverwritten",
     "v_mfma_f32_32x32x4_2b_f16 v[40:71], v[0:1], v[4:5], v[80:111]",
     "v_mov_b32 v81, 0", 15, "XDL reads SrcC"},
    {"SingleSrcCOverwritten",
     "v_mfma_f32_16x16x4_f32 v[40:43], v0, v4, v[80:83]", "v_mov_b32 v81, 0", 0,
     ""},
    {"DoubleSrcCOverwritten",
     "v_mfma_f64_16x16x4_f64 v[40:47], v[0:1], v[4:5], v[80:87]",
     "v_mov_b32 v81, 0", 0, ""},
    {"SparseIndexOverwritten",
     "v_smfmac_f32_16x16x64_bf16 v[40:43], v[0:3], v[8:15], v30",
     "v_mov_b32 v30, 0", 0, ""},
    {"SrcAOverwritten",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]",
     "v_mov_b32 v1, 0", 0, ""},
    // Wide stores.
    {"GlobalStoreX4", "global_store_dwordx4 v[20:21], v[4:7], off",
     "v_mov_b32 v7, 0", 2, "a store of more than 64 bits"},
    {"GlobalStoreX3", "global_store_dwordx3 v[20:21], v[4:6], off",
     "v_mov_b32 v6, 0", 2, "a store of more than 64 bits"},
    {"GlobalStoreX2", "global_store_dwordx2 v[20:21], v[4:5], off",
     "v_mov_b32 v4, 0", 0, ""},
    {"StoreDataByMatrix", "global_store_dwordx4 v[20:21], v[40:43], off",
     "v_mfma_f32_16x16x32_f16 v[40:43], v[0:3], v[4:7], 0", 2,
     "a store of more than 64 bits"},
    {"FlatStoreX4", "flat_store_dwordx4 v[20:21], v[4:7]", "v_mov_b32 v7, 0", 2,
     "a store of more than 64 bits"},
    {"ScratchStoreX4", "scratch_store_dwordx4 off, v[4:7], s20",
     "v_mov_b32 v7, 0", 2, "a store of more than 64 bits"},
    {"BufferStoreX4", "buffer_store_dwordx4 v[4:7], v20, s[8:11], 0 offen",
     "v_mov_b32 v7, 0", 2, "a store of more than 64 bits"},
    {"BufferStoreX4WithOffset",
     "buffer_store_dwordx4 v[4:7], v20, s[8:11], s12 offen", "v_mov_b32 v7, 0",
     0, ""},
    {"GlobalCmpswapX2", "global_atomic_cmpswap_x2 v[20:21], v[4:7], off",
     "v_mov_b32 v7, 0", 2, "a store of more than 64 bits"},
    {"GlobalCmpswapX2Returning",
     "global_atomic_cmpswap_x2 v[24:25], v[20:21], v[4:7], off sc0",
     "v_mov_b32 v7, 0", 2, "a store of more than 64 bits"},
    {"FlatCmpswapX2", "flat_atomic_cmpswap_x2 v[20:21], v[4:7]",
     "v_mov_b32 v7, 0", 2, "a store of more than 64 bits"},
    {"BufferCmpswapX2",
     "buffer_atomic_cmpswap_x2 v[4:7], v20, s[8:11], 0 offen",
     "v_mov_b32 v7, 0", 2, "a store of more than 64 bits"},
    {"BufferCmpswapX2WithOffset",
     "buffer_atomic_cmpswap_x2 v[4:7], v20, s[8:11], s12 offen",
     "v_mov_b32 v7, 0", 0, ""},
    {"GlobalCmpswap", "global_atomic_cmpswap v[20:21], v[4:5], off",
     "v_mov_b32 v5, 0", 0, ""},
    {"LdsWriteB128", "ds_write_b128 v20, v[4:7]", "v_mov_b32 v7, 0", 0, ""},
    // Scalar registers.
    {"LaneSelect", "v_readfirstlane_b32 s20, v0", "v_readlane_b32 s21, v0, s20",
     4, "selects a lane"},
    {"LaneSelectOfWrite", "v_readfirstlane_b32 s20, v0",
     "v_writelane_b32 v1, 0, s20", 4, "selects a lane"},
    {"DivFmas", "v_cmp_eq_u32 vcc, v0, v1", "v_div_fmas_f32 v2, v3, v4, v5", 4,
     "v_div_fmas reads it"},
    {"MemoryScalar", "v_cmp_eq_u32 s[20:21], v0, v0",
     "global_load_dword v2, v1, s[20:21]", 5, "vector memory reads it"},
    {"BufferDescriptor", "v_readfirstlane_b32 s8, v0",
     "buffer_load_dword v2, v1, s[8:11], 0 offen", 5, "vector memory reads it"},
    {"Constant", "v_readfirstlane_b32 s20, v0", "v_add_u32 v2, s20, v1", 2,
     "VALU reads it as a constant"},
    {"VccAsConstant", "v_cmp_eq_u32 vcc, v0, v1", "v_mov_b32 v2, vcc_lo", 2,
     "VALU reads it as a constant"},
    {"Mask", "v_cmp_eq_u32 vcc, v0, v1", "v_cndmask_b32 v2, v0, v1, vcc", 0,
     ""},
    {"Carry", "v_add_co_u32 v2, s[20:21], v0, v1",
     "v_addc_co_u32 v3, s[22:23], v0, v1, s[20:21]", 0, ""},
    {"ScalarByTheScalarUnit", "v_readfirstlane_b32 s20, v0",
     "s_add_u32 s21, s20, 1", 0, ""},
    {"ScalarOverwritten", "v_readfirstlane_b32 s20, v0\n  s_mov_b32 s20, 0",
     "v_add_u32 v2, s20, v1", 0, ""},
    {"Vccz", "v_cmp_eq_u32 vcc, v0, v1", "v_mov_b32 v2, src_vccz", 5,
     "VALU reads VCCZ"},
    {"Execz", "v_cmpx_eq_u32 exec, v0, v1", "v_mov_b32 v2, src_execz", 5,
     "VALU reads EXECZ"},
    {"ExecBeforeDpp", "v_cmpx_eq_u32 exec, v0, v1",
     "v_mov_b32_dpp v2, v3 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", 5,
     "DPP follows"},
    {"ExecAsConstant", "v_cmpx_eq_u32 exec, v0, v1", "v_mov_b32 v2, exec_lo", 2,
     "VALU reads EXEC as a constant"},
    {"ExecBeforeLane", "v_cmpx_eq_u32 exec, v0, v1", "v_writelane_b32 v1, 0, 0",
     4, "v_writelane follows"},
    {"ExecBeforePermlane", "v_cmpx_eq_u32 exec, v0, v1",
     "v_permlane32_swap_b32 v2, v3", 4, "v_permlane follows"},
    {"ExecBeforeMatrix", "v_cmpx_eq_u32 exec, v0, v1",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[4:7], v[40:43]", 4,
     "a matrix instruction follows"},
    {"ExecBeforeValu", "v_cmpx_eq_u32 exec, v0, v1", "v_add_u32 v2, v0, v1", 0,
     ""},
    {"M0BeforeLdsLoad", "s_mov_b32 m0, 0",
     "global_load_lds_dword v[20:21], off", 1, "SALU writes M0"},
    {"M0BeforeAddTid", "s_mov_b32 m0, 0", "ds_write_addtid_b32 v1", 1,
     "SALU writes M0"},
    {"M0BeforeMovrel", "s_mov_b32 m0, 0", "s_movrels_b32 s20, s4", 1,
     "SALU writes M0"},
    {"SetReg", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
     "s_getreg_b32 s20, hwreg(HW_REG_MODE)", 2, "s_setreg writes"},
    {"SetRegTwice", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf", 2, "s_setreg writes"},
};

std::string waitStates(unsigned states) {
  std::string text;
  for (; states > 16; states -= 16)
    text += "  s_nop 15\n";
  if (states)
    text += "  s_nop " + std::to_string(states - 1) + "\n";
  return text;
}

// One kernel holds all cases, and a work-group runs one of them: 2 * k has a
// state too few, and 2 * k + 1 has enough.
TEST(Hazards, OneStateLessIsReportedAndEnoughAreNot) {
  std::string body = "  s_mov_b64 exec, 0\n";
  const unsigned numGroups = 2 * std::size(cases);
  for (unsigned group = 0; group < numGroups; ++group) {
    const HazardCase &c = cases[group / 2];
    const bool isEnough = group % 2;
    if (!isEnough && !c.states)
      continue;
    const std::string number = std::to_string(group);
    body += "  s_cmp_lg_u32 s2, " + number + "\n  s_cbranch_scc1 .Lbehind" +
            number + "\n  " + c.first + "\n" +
            waitStates(isEnough ? c.states : c.states - 1) + "  " + c.second +
            "\n  s_endpgm\n.Lbehind" + number + ":\n";
  }
  DeviceOptions options;
  options.checks = CheckHazard;
  options.threads = 1;
  options.reportLimit = 10 * numGroups;
  Device device(options);
  auto object = assembly(wrapKernel(body, 16, 1024, 256, 128, 64));
  ASSERT_TRUE(object);
  LaunchParams params;
  params.grid = {numGroups, 1, 1};
  params.block = {64, 1, 1};
  auto result = device.launch(object, *object->findKernel("k"), params);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  std::vector<std::vector<std::string>> found(numGroups);
  for (const Finding &finding : result->findings)
    found[finding.workgroup].push_back(finding.str());
  for (unsigned k = 0; k < std::size(cases); ++k) {
    const HazardCase &c = cases[k];
    EXPECT_THAT(found[2 * k + 1], IsEmpty()) << c.name;
    if (!c.states)
      continue;
    // One rule or several that ask for the same.
    EXPECT_THAT(found[2 * k], testing::Contains(HasSubstr(c.rule))) << c.name;
    EXPECT_THAT(
        found[2 * k],
        testing::Each(
            AllOf(HasSubstr("hazard: "),
                  HasSubstr(std::to_string(c.states) + " wait states needed, " +
                            std::to_string(c.states - 1) + " present"))))
        << c.name;
  }
}

TEST_F(Checkers, PackedFmaThatLosesItsAddend) {
  const std::string line = "  v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[2:3] ";
  auto findings =
      check(CheckHazard, line + "op_sel:[0,1,0] op_sel_hi:[1,0,1]\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("lose the addend"));
  EXPECT_THAT(check(CheckHazard, line + "op_sel:[0,0,0]\n"), IsEmpty());
  EXPECT_THAT(check(CheckHazard, line + "op_sel:[1,1,0]\n"), IsEmpty());
}

// The checker looks at an instruction that it has seen before in another way.
// The second pass of this loop goes past the states.
TEST_F(Checkers, HazardsOfInstructionsThatRanBefore) {
  const auto findings = [&](const char *first, const char *states,
                            const char *second, const char *branch) {
    return check(CheckHazard, std::string("  s_mov_b64 exec, 0\n"
                                          "  s_mov_b32 s30, 0\n"
                                          ".Lagain:\n"
                                          "  s_cmp_eq_u32 s30, 0\n  ") +
                                  first + "\n  " + branch + " .Lnow\n  " +
                                  states + "\n.Lnow:\n  " + second + R"(
  s_add_u32 s30, s30, 1
  s_cmp_lt_u32 s30, 2
  s_cbranch_scc1 .Lagain
)");
  };
  const struct {
    const char *first, *states, *second, *text;
  } cases[] = {
      {"v_cmp_eq_u32 s[4:5], v0, v0", "s_nop 4",
       "global_load_dword v2, v1, s[4:5]", "5 wait states needed, 1 present"},
      {"v_dot4_i32_i8 v9, v2, v3, v9", "s_nop 2", "v_add_u32 v4, v9, v9",
       "3 wait states needed, 1 present"},
  };
  for (const auto &c : cases) {
    auto found = findings(c.first, c.states, c.second, "s_cbranch_scc0");
    ASSERT_THAT(found, SizeIs(1)) << c.first;
    EXPECT_THAT(found[0], HasSubstr(c.text));
    EXPECT_THAT(findings(c.first, c.states, c.second, "s_cbranch_execnz"),
                IsEmpty())
        << c.first;
  }
}

} // namespace
