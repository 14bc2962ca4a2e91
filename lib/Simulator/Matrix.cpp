//===- Matrix.cpp - MFMA and SMFMAC instructions --------------------------===//
// SPDX-License-Identifier: MIT
#include "MatrixArithmetic.h"
#include "Semantics.h"
#include "Wave.h"

#include <array>
#include <iterator>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

constexpr const char *names[] = {
    "v_mfma_f32_32x32x1_2b_f32",
    "v_mfma_f32_16x16x1_4b_f32",
    "v_mfma_f32_4x4x1_16b_f32",
    "v_mfma_f32_32x32x2_f32",
    "v_mfma_f32_16x16x4_f32",
    "v_mfma_f32_32x32x4_2b_f16",
    "v_mfma_f32_16x16x4_4b_f16",
    "v_mfma_f32_4x4x4_16b_f16",
    "v_mfma_f32_32x32x8_f16",
    "v_mfma_f32_16x16x16_f16",
    "v_mfma_f32_16x16x32_f16",
    "v_mfma_f32_32x32x16_f16",
    "v_mfma_f32_32x32x4_2b_bf16",
    "v_mfma_f32_16x16x4_4b_bf16",
    "v_mfma_f32_4x4x4_16b_bf16",
    "v_mfma_f32_32x32x8_bf16",
    "v_mfma_f32_16x16x16_bf16",
    "v_mfma_f32_16x16x32_bf16",
    "v_mfma_f32_32x32x16_bf16",
    "v_mfma_i32_32x32x4_2b_i8",
    "v_mfma_i32_16x16x4_4b_i8",
    "v_mfma_i32_4x4x4_16b_i8",
    "v_mfma_i32_32x32x16_i8",
    "v_mfma_i32_16x16x32_i8",
    "v_mfma_i32_16x16x64_i8",
    "v_mfma_i32_32x32x32_i8",
    "v_mfma_f64_16x16x4_f64",
    "v_mfma_f64_4x4x4_4b_f64",
    "v_mfma_f32_16x16x32_fp8_fp8",
    "v_mfma_f32_16x16x32_fp8_bf8",
    "v_mfma_f32_16x16x32_bf8_fp8",
    "v_mfma_f32_16x16x32_bf8_bf8",
    "v_mfma_f32_32x32x16_fp8_fp8",
    "v_mfma_f32_32x32x16_fp8_bf8",
    "v_mfma_f32_32x32x16_bf8_fp8",
    "v_mfma_f32_32x32x16_bf8_bf8",
    "v_mfma_f32_16x16x128_f8f6f4",
    "v_mfma_f32_32x32x64_f8f6f4",
    "v_mfma_scale_f32_16x16x128_f8f6f4",
    "v_mfma_scale_f32_32x32x64_f8f6f4",
    "v_smfmac_f32_16x16x32_f16",
    "v_smfmac_f32_32x32x16_f16",
    "v_smfmac_f32_16x16x64_f16",
    "v_smfmac_f32_32x32x32_f16",
    "v_smfmac_f32_16x16x32_bf16",
    "v_smfmac_f32_32x32x16_bf16",
    "v_smfmac_f32_16x16x64_bf16",
    "v_smfmac_f32_32x32x32_bf16",
    "v_smfmac_i32_16x16x64_i8",
    "v_smfmac_i32_32x32x32_i8",
    "v_smfmac_i32_16x16x128_i8",
    "v_smfmac_i32_32x32x64_i8",
    "v_smfmac_f32_16x16x64_fp8_fp8",
    "v_smfmac_f32_16x16x64_fp8_bf8",
    "v_smfmac_f32_16x16x64_bf8_fp8",
    "v_smfmac_f32_16x16x64_bf8_bf8",
    "v_smfmac_f32_32x32x32_fp8_fp8",
    "v_smfmac_f32_32x32x32_fp8_bf8",
    "v_smfmac_f32_32x32x32_bf8_fp8",
    "v_smfmac_f32_32x32x32_bf8_bf8",
    "v_smfmac_f32_16x16x128_fp8_fp8",
    "v_smfmac_f32_16x16x128_fp8_bf8",
    "v_smfmac_f32_16x16x128_bf8_fp8",
    "v_smfmac_f32_16x16x128_bf8_bf8",
    "v_smfmac_f32_32x32x64_fp8_fp8",
    "v_smfmac_f32_32x32x64_fp8_bf8",
    "v_smfmac_f32_32x32x64_bf8_fp8",
    "v_smfmac_f32_32x32x64_bf8_bf8",
};
/// The block scales of one side. Constants and scalars give the exponent field
/// of their f32 value to every lane.
const uint32_t *scaleImage(const Wave &w, const Operand &op,
                           LaneVector &scratch) {
  if (op.isVector())
    return w.row(op.index);
  const uint32_t code = w.scalar32(op) >> 23 & 0xff;
  for (unsigned l = 0; l < w.laneCount; ++l)
    scratch.lane[l] = code * 0x01010101;
  return scratch.lane;
}

template <MatrixModel Model> void matrix(const Instruction &I, Wave &w) {
  MatrixShape shape = *I.shape;
  if (w.laneCount != 64)
    return w.fail("matrix instructions need waves of 64 lanes");
  if (shape.chosenFormats) {
    shape.a = *matrixFormatOf(I.cbsz);
    shape.b = *matrixFormatOf(I.blgp);
  }
  MatrixOperands o;
  o.registerStride = w.laneCount;
  o.model = Model;
  o.a = w.row(I.src(0).index);
  o.b = w.row(I.src(1).index);
  o.d = w.row(I.dst().index);
  const Operand &third = I.src(2);
  LaneVector scaleA, scaleB;
  if (shape.sparse) {
    o.c = o.d;
    o.index = w.row(third.index);
  } else if (third.isVector()) {
    o.c = w.row(third.index);
  } else {
    o.cConstant = shape.doubleResult() ? w.scalar64(third) : w.scalar32(third);
  }
  if (shape.scaled) {
    o.scaleA = scaleImage(w, I.src(3), scaleA);
    o.scaleB = scaleImage(w, I.src(4), scaleB);
    o.scaleByteA = (I.opSelHi & 1) << 1 | (I.opSel & 1);
    o.scaleByteB = (I.opSelHi >> 1 & 1) << 1 | (I.opSel >> 1 & 1);
  }
  o.cbsz = I.cbsz;
  o.abid = I.abid;
  o.blgp = I.blgp;
  o.saturate = w.mode & ModeFp16Overflow;
  o.flushInputs = !(w.mode >> ModeDenorm32Shift & 1);
  executeMatrix(shape, o);
}

template <MatrixModel Model>
Handler bind(const Instruction &I, const char *&why) {
  const MatrixShape &shape = *I.shape;
  if (shape.chosenFormats &&
      (!matrixFormatOf(I.cbsz) || !matrixFormatOf(I.blgp))) {
    why = "CBSZ or BLGP names no format";
    return nullptr;
  }
  if (!shape.chosenFormats && !shape.sparse && !shape.doubleResult()) {
    if (I.cbsz > 4 || (1u << I.cbsz) > shape.blocks * 1u * 64 ||
        I.abid >= (1u << I.cbsz)) {
      if (I.cbsz || I.abid) {
        why = "CBSZ and ABID name no block";
        return nullptr;
      }
    }
  }
  if (!I.src(0).isVector() || !I.src(1).isVector()) {
    why = "A and B must be vector registers";
    return nullptr;
  }
  return matrix<Model>;
}

constexpr const char *modelNote =
    "layouts exact; f32 sums follow the arithmetic published for CDNA3, which "
    "is not known to be that of CDNA4";

} // namespace

void registerMatrix(SemanticsTable &t, MatrixArithmetic arithmetic) {
  constexpr size_t count = std::size(names);
  static const std::array<MatrixShape, count> shapes = [] {
    std::array<MatrixShape, count> all;
    for (size_t i = 0; i < count; ++i)
      if (std::optional<MatrixShape> shape = matrixShapeOf(names[i]))
        all[i] = *shape;
    return all;
  }();
  for (size_t i = 0; i < count; ++i) {
    const bool exact = shapes[i].integerResult() || shapes[i].doubleResult();
    t.addBinder(
         names[i],
         arithmetic == MatrixArithmetic::Cdna3 ? bind<MatrixModel::Cdna3>
                                               : bind<MatrixModel::Sequential>,
         unsigned(Encoding::Plain), exact ? Fidelity::Exact : Fidelity::Bounded,
         exact ? "" : modelNote)
        .shape = &shapes[i];
  }
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
