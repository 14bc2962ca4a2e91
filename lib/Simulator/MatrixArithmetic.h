//===- MatrixArithmetic.h - MFMA and SMFMAC as pure functions ---*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// D = A * B + C for every matrix instruction of gfx950, from images of the
// registers to an image of the registers. Two arithmetic models:
//
//  Cdna3       what was measured on CDNA3 (arXiv 2511.10909) carried over to
//              the shapes of CDNA4: 16-bit inputs in groups of 8 products,
//              narrower ones in groups of 16 whose even and odd k are summed
//              apart. In a group each product (significand in [1,4), exponent
//              the sum of the operands') is truncated toward zero to a grid of
//              24 fractional bits below the group's largest exponent; with the
//              accumulator's exponent joined in, the sum is floored to 31 and
//              the accumulator to 24 fractional bits, and their sum is rounded
//              once to f32, nearest even. Block scales add to the exponent of
//              the sum. Groups of sparse instructions are formed from stored
//              elements.
//  Sequential  a chain of f32 fused multiply-adds in increasing k; with block
//              scales a chain of its own for each block of 32, whose sum is
//              scaled and added with one rounding.
//
// f32 and f64 instructions are chains of fused multiply-adds, and integer
// instructions exact, in both models. NaN results are 0x7fc00000. Functions
// keep no state and are thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_SIMULATOR_MATRIXARITHMETIC_H
#define NETRA_SIMULATOR_MATRIXARITHMETIC_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace netra::sim {

enum class MatrixModel : uint8_t { Cdna3, Sequential };

enum class MatrixElement : uint8_t {
  F64,
  F32,
  F16,
  Bf16,
  I8,
  Fp8,
  Bf8,
  Fp6,
  Bf6,
  Fp4
};

unsigned bitWidth(MatrixElement element);

/// The static part of an instruction.
struct MatrixShape {
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  MatrixElement a = MatrixElement::F32, b = MatrixElement::F32;
  bool sparse = false;        ///< SMFMAC: A holds two of each four elements
  bool chosenFormats = false; ///< f8f6f4: CBSZ and BLGP name the formats
  bool scaled = false;        ///< takes E8M0 block scales

  bool doubleResult() const { return a == MatrixElement::F64; }
  bool integerResult() const { return a == MatrixElement::I8; }
};

/// The shape named by an assembler mnemonic, e.g. "v_mfma_f32_16x16x32_bf16",
/// without encoding suffix; nothing if it names no matrix instruction.
std::optional<MatrixShape> matrixShapeOf(std::string_view mnemonic);

/// The format a CBSZ or BLGP value selects in an f8f6f4 instruction; nothing
/// for the reserved values.
std::optional<MatrixElement> matrixFormatOf(unsigned code);

/// Registers a lane holds for one operand, or for the result.
unsigned matrixInputRegisters(const MatrixShape &shape, bool operandB);
unsigned matrixResultRegisters(const MatrixShape &shape);

/// Where an element lies: lane, and item counted in elements of its width
/// from bit 0 of the operand's first register.
struct MatrixPlace {
  unsigned lane;
  unsigned item;
};
/// \p index is the row of A or the column of B; \p k the position along K, for
/// a sparse A the position among the stored half.
MatrixPlace matrixInputPlace(const MatrixShape &shape, bool operandB,
                             unsigned block, unsigned index, unsigned k);
MatrixPlace matrixResultPlace(const MatrixShape &shape, unsigned block,
                              unsigned row, unsigned column);

/// The registers and modifiers of one execution. Register r of lane l lies at
/// [r * registerStride + l]. The result may overlap any input.
struct MatrixOperands {
  const uint32_t *a = nullptr;
  const uint32_t *b = nullptr;
  const uint32_t *c = nullptr;     ///< null: every element is cConstant
  uint64_t cConstant = 0;          ///< bits of the result's type
  const uint32_t *index = nullptr; ///< sparse: the register of index pairs
  const uint32_t *scaleA = nullptr, *scaleB = nullptr; ///< null: no scaling
  unsigned scaleByteA = 0, scaleByteB = 0; ///< which byte of each lane
  unsigned cbsz = 0, abid = 0, blgp = 0;
  uint32_t *d = nullptr;
  unsigned registerStride = 64;
  bool saturate = false;    ///< MODE.FP16_OVFL: overflow gives +-MAX
  bool flushInputs = false; ///< MODE flushes f32 input denormals
  MatrixModel model = MatrixModel::Cdna3;
};

// Compiled once per host variant; the build defines the variant's name.
#ifndef NETRA_SIM_VARIANT
#define NETRA_SIM_VARIANT baseline
#endif
namespace NETRA_SIM_VARIANT {
/// Executes one instruction; for f8f6f4 \p shape's formats must already be
/// those that CBSZ and BLGP select.
void executeMatrix(const MatrixShape &shape, const MatrixOperands &operands);
} // namespace NETRA_SIM_VARIANT

} // namespace netra::sim

#endif // NETRA_SIMULATOR_MATRIXARITHMETIC_H
