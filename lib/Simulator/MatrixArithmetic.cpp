//===- MatrixArithmetic.cpp - shapes and layouts of matrix instructions ---===//
// SPDX-License-Identifier: MIT
#include "MatrixArithmetic.h"

#include <algorithm>
#include <charconv>

namespace netra::sim {

unsigned bitWidth(MatrixElement element) {
  switch (element) {
  case MatrixElement::F64:
    return 64;
  case MatrixElement::F32:
    return 32;
  case MatrixElement::F16:
  case MatrixElement::Bf16:
    return 16;
  case MatrixElement::I8:
  case MatrixElement::Fp8:
  case MatrixElement::Bf8:
    return 8;
  case MatrixElement::Fp6:
  case MatrixElement::Bf6:
    return 6;
  case MatrixElement::Fp4:
    return 4;
  }
  return 32;
}

namespace {

bool consume(std::string_view &text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix)
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool consumeNumber(std::string_view &text, unsigned &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

std::optional<MatrixElement> consumeElement(std::string_view &text) {
  struct Name {
    std::string_view text;
    MatrixElement element;
  };
  static constexpr Name names[] = {
      {"f64", MatrixElement::F64}, {"f32", MatrixElement::F32},
      {"f16", MatrixElement::F16}, {"bf16", MatrixElement::Bf16},
      {"i8", MatrixElement::I8},   {"fp8", MatrixElement::Fp8},
      {"bf8", MatrixElement::Bf8},
  };
  for (const Name &name : names)
    if (consume(text, name.text))
      return name.element;
  return std::nullopt;
}

/// Whether \p shape is one that gfx950 has.
bool exists(const MatrixShape &s) {
  struct Entry {
    unsigned m, k, blocks;
  };
  auto among = [&](std::initializer_list<Entry> entries) {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry &e) {
      return e.m == s.m && e.k == s.k && e.blocks == s.blocks;
    });
  };
  if (s.m != s.n)
    return false;
  if (s.chosenFormats)
    return !s.sparse && among({{16, 128, 1}, {32, 64, 1}});
  switch (s.a) {
  case MatrixElement::F64:
    return !s.sparse && among({{16, 4, 1}, {4, 4, 4}});
  case MatrixElement::F32:
    return !s.sparse &&
           among({{32, 1, 2}, {16, 1, 4}, {4, 1, 16}, {32, 2, 1}, {16, 4, 1}});
  case MatrixElement::F16:
  case MatrixElement::Bf16:
    if (s.sparse)
      return among({{16, 32, 1}, {32, 16, 1}, {16, 64, 1}, {32, 32, 1}});
    return among({{32, 4, 2},
                  {16, 4, 4},
                  {4, 4, 16},
                  {32, 8, 1},
                  {16, 16, 1},
                  {16, 32, 1},
                  {32, 16, 1}});
  case MatrixElement::I8:
    if (s.sparse)
      return among({{16, 64, 1}, {32, 32, 1}, {16, 128, 1}, {32, 64, 1}});
    return among({{32, 4, 2},
                  {16, 4, 4},
                  {4, 4, 16},
                  {32, 16, 1},
                  {16, 32, 1},
                  {16, 64, 1},
                  {32, 32, 1}});
  case MatrixElement::Fp8:
  case MatrixElement::Bf8:
    if (s.sparse)
      return among({{16, 64, 1}, {32, 32, 1}, {16, 128, 1}, {32, 64, 1}});
    return among({{16, 32, 1}, {32, 16, 1}});
  default:
    return false;
  }
}

} // namespace

std::optional<MatrixShape> matrixShapeOf(std::string_view text) {
  MatrixShape shape;
  if (consume(text, "v_mfma_scale_"))
    shape.scaled = true;
  else if (consume(text, "v_smfmac_"))
    shape.sparse = true;
  else if (!consume(text, "v_mfma_"))
    return std::nullopt;
  std::string_view result = text.substr(0, 4);
  if (result != "f32_" && result != "i32_" && result != "f64_")
    return std::nullopt;
  text.remove_prefix(4);
  if (!consumeNumber(text, shape.m) || !consume(text, "x") ||
      !consumeNumber(text, shape.n) || !consume(text, "x") ||
      !consumeNumber(text, shape.k))
    return std::nullopt;
  std::string_view rest = text;
  unsigned blocks = 0;
  if (consume(rest, "_") && consumeNumber(rest, blocks) && consume(rest, "b")) {
    shape.blocks = blocks;
    text = rest;
  }
  if (!consume(text, "_"))
    return std::nullopt;
  if (text == "f8f6f4") {
    shape.chosenFormats = true;
    shape.a = shape.b = MatrixElement::Fp8;
  } else {
    std::optional<MatrixElement> a = consumeElement(text);
    if (!a || shape.scaled)
      return std::nullopt;
    shape.a = shape.b = *a;
    if (*a == MatrixElement::Fp8 || *a == MatrixElement::Bf8) {
      std::optional<MatrixElement> b;
      if (!consume(text, "_") || !(b = consumeElement(text)))
        return std::nullopt;
      shape.b = *b;
      if (*b != MatrixElement::Fp8 && *b != MatrixElement::Bf8)
        return std::nullopt;
    }
    if (!text.empty())
      return std::nullopt;
  }
  bool resultFits = result == "f64_"   ? shape.a == MatrixElement::F64
                    : result == "i32_" ? shape.a == MatrixElement::I8
                                       : shape.a != MatrixElement::F64 &&
                                             shape.a != MatrixElement::I8;
  if (!resultFits || !exists(shape))
    return std::nullopt;
  return shape;
}

std::optional<MatrixElement> matrixFormatOf(unsigned code) {
  switch (code) {
  case 0:
    return MatrixElement::Fp8;
  case 1:
    return MatrixElement::Bf8;
  case 2:
    return MatrixElement::Fp6;
  case 3:
    return MatrixElement::Bf6;
  case 4:
    return MatrixElement::Fp4;
  default:
    return std::nullopt;
  }
}

namespace {

/// Elements along K that one lane holds.
unsigned elementsPerLane(const MatrixShape &shape, bool operandB) {
  unsigned k = shape.sparse && !operandB ? shape.k / 2 : shape.k;
  return k * shape.m * shape.blocks / 64;
}

} // namespace

unsigned matrixInputRegisters(const MatrixShape &shape, bool operandB) {
  unsigned bits =
      elementsPerLane(shape, operandB) * bitWidth(operandB ? shape.b : shape.a);
  return std::max(1u, bits / 32);
}

unsigned matrixResultRegisters(const MatrixShape &shape) {
  unsigned elements = shape.m * shape.n * shape.blocks / 64;
  return elements * (shape.doubleResult() ? 2 : 1);
}

MatrixPlace matrixInputPlace(const MatrixShape &shape, bool operandB,
                             unsigned block, unsigned index, unsigned k) {
  unsigned perLane = elementsPerLane(shape, operandB);
  unsigned size = operandB ? shape.n : shape.m;
  unsigned group, item;
  bool eightRegisters = matrixInputRegisters(shape, operandB) == 8;
  if (eightRegisters) {
    // Operands of eight registers hold two runs, one from each half of K.
    unsigned run = perLane / 2;
    unsigned half = perLane * (64 / size) / 2;
    group = k % half / run;
    item = k / half * run + k % run;
  } else {
    group = k / perLane;
    item = k % perLane;
  }
  return {index + size * (block + shape.blocks * group), item};
}

MatrixPlace matrixResultPlace(const MatrixShape &shape, unsigned block,
                              unsigned row, unsigned column) {
  unsigned height = shape.doubleResult() ? 1 : 4;
  unsigned rowGroups = shape.m / height;
  unsigned blocksPerItem = std::max(1u, 64 / (shape.n * rowGroups));
  unsigned rowsPerItem = 64 / blocksPerItem / shape.n;
  unsigned groups = shape.m / (height * rowsPerItem);
  return {column + shape.n * (row / height % rowsPerItem +
                              rowsPerItem * (block % blocksPerItem)),
          row % height + height * (row / (height * rowsPerItem) +
                                   groups * (block / blocksPerItem))};
}

} // namespace netra::sim
