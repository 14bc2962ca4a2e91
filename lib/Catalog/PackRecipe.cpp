//===- PackRecipe.cpp - From checkpoint tensors to kernel weights ---------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <cstring>

using namespace llvm;

namespace netra {

/// True when every value of `from` is a value of `to`.
static bool isExactCast(ElementType from, ElementType to) {
  if (from == to)
    return true;
  switch (from) {
  case ElementType::BF16:
  case ElementType::F16:
    return to == ElementType::F32 || to == ElementType::F64;
  case ElementType::F32:
    return to == ElementType::F64;
  default:
    return false;
  }
}

template <typename T> static T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T> static void store(uint8_t *to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

static float widenHalf(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, mantissa = half & 1023;
  if (exponent == 31) // infinity and NaN; the payload is kept
    return bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  if (exponent != 0)
    return bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Zero and subnormals: mantissa * 2^-24 is exact in f32.
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return bit_cast<float>(sign | bit_cast<uint32_t>(magnitude));
}

/// Exact for any value that `isExactCast` allows; a NaN stays one.
static double widen(ElementType type, const uint8_t *from) {
  switch (type) {
  case ElementType::BF16:
    return bit_cast<float>(uint32_t(load<uint16_t>(from)) << 16);
  case ElementType::F16:
    return widenHalf(load<uint16_t>(from));
  default:
    return load<float>(from);
  }
}

static void castElements(ElementType from, ElementType to, uint64_t count,
                         const uint8_t *source, uint8_t *destination) {
  if (from == ElementType::BF16 && to == ElementType::F32) {
    // By bits, so that NaN payloads survive.
    for (uint64_t i = 0; i != count; ++i)
      store(destination + 4 * i, uint32_t(load<uint16_t>(source + 2 * i))
                                     << 16);
    return;
  }
  unsigned size = elementBytes(from);
  for (uint64_t i = 0; i != count; ++i) {
    if (to == ElementType::F32)
      store(destination + 4 * i, widenHalf(load<uint16_t>(source + size * i)));
    else
      store(destination + 8 * i, widen(from, source + size * i));
  }
}

Expected<PackRecipe::Result> PackRecipe::verify() const {
  if (sources.empty())
    return createStringError("pack recipe: expected at least one source");
  const PackSource &first = sources.front();
  auto name = [&](size_t i) {
    return ("pack recipe: source " + Twine(i) + " (\"" + sources[i].checkpoint +
            "\")")
        .str();
  };
  Result result;
  result.type = first.type;
  result.shape = first.shape;
  for (size_t i = 0; i != sources.size(); ++i) {
    const PackSource &source = sources[i];
    if (source.checkpoint.empty())
      return createStringError("pack recipe: source " + Twine(i) +
                               ": expected the name of a checkpoint tensor");
    if (Expected<uint64_t> bytes = tensorBytes(source.type, source.shape);
        !bytes)
      return createStringError(name(i) + ": " + toString(bytes.takeError()));
    if (source.type != first.type)
      return createStringError(
          name(i) + ": expected type " + elementTypeName(first.type) +
          " as in source 0, found " + elementTypeName(source.type));
  }
  if (sources.size() > 1) {
    if (concatAxis < 0 || concatAxis >= int64_t(first.shape.size()))
      return createStringError(
          "pack recipe: expected a concat axis inside [0, " +
          Twine(first.shape.size()) + "), found " + Twine(concatAxis));
    for (size_t i = 1; i != sources.size(); ++i) {
      std::vector<int64_t> shape = sources[i].shape;
      if (shape.size() != first.shape.size())
        return createStringError(
            name(i) + ": expected " + Twine(first.shape.size()) +
            " dimensions as in source 0, found " + Twine(shape.size()));
      for (size_t d = 0; d != shape.size(); ++d)
        if (int64_t(d) != concatAxis && shape[d] != first.shape[d])
          return createStringError(name(i) + ": expected extent " +
                                   Twine(first.shape[d]) + " in dimension " +
                                   Twine(d) + " as in source 0, found " +
                                   Twine(shape[d]));
      if (__builtin_add_overflow(result.shape[concatAxis], shape[concatAxis],
                                 &result.shape[concatAxis]))
        return createStringError(name(i) + ": the concatenated extent does not "
                                           "fit 64 bits");
    }
  } else if (concatAxis != 0) {
    return createStringError(
        "pack recipe: expected concat axis 0 with one source, found " +
        Twine(concatAxis));
  }
  for (size_t i = 0; i != steps.size(); ++i) {
    const PackStep &step = steps[i];
    if (step.kind == PackStep::Kind::Cast) {
      if (!isExactCast(result.type, step.type))
        return createStringError("pack recipe: step " + Twine(i) +
                                 ": expected an exact cast, found " +
                                 elementTypeName(result.type) + " to " +
                                 elementTypeName(step.type));
      result.type = step.type;
      continue;
    }
    if (i + 1 != steps.size())
      return createStringError("pack recipe: step " + Twine(i) +
                               ": expected a layout only as the last step");
    Expected<Layout> layout = Layout::parse(step.layout);
    if (!layout)
      return createStringError("pack recipe: step " + Twine(i) + ": " +
                               toString(layout.takeError()));
    result.layout = *layout;
  }
  if (Error error = result.layout.verify(result.shape))
    return createStringError("pack recipe: " + toString(std::move(error)));
  Expected<uint64_t> bytes = tensorBytes(result.type, result.shape);
  if (!bytes)
    return createStringError("pack recipe: " + toString(bytes.takeError()));
  result.bytes = *bytes;
  return result;
}

Error PackRecipe::execute(ArrayRef<ArrayRef<uint8_t>> data,
                          MutableArrayRef<uint8_t> destination) const {
  Expected<Result> result = verify();
  if (!result)
    return result.takeError();
  if (data.size() != sources.size())
    return createStringError("pack recipe: expected the bytes of " +
                             Twine(sources.size()) + " sources, found " +
                             Twine(data.size()));
  for (size_t i = 0; i != sources.size(); ++i) {
    uint64_t bytes = cantFail(tensorBytes(sources[i].type, sources[i].shape));
    if (bytes != data[i].size())
      return createStringError("pack recipe: source " + Twine(i) + " (\"" +
                               sources[i].checkpoint + "\"): expected " +
                               Twine(bytes) + " bytes, found " +
                               Twine(data[i].size()));
  }
  if (destination.size() != result->bytes)
    return createStringError("pack recipe: destination: expected " +
                             Twine(result->bytes) + " bytes, found " +
                             Twine(destination.size()));
  if (result->bytes == 0)
    return Error::success();

  ElementType sourceType = sources.front().type;
  unsigned sourceSize = elementBytes(sourceType);
  unsigned resultSize = elementBytes(result->type);
  uint64_t rows = result->shape.empty() ? 1 : result->shape.front();
  uint64_t rowElements = result->bytes / resultSize / rows;

  // Turns rows [begin, end), gathered row-major at `from`, into the result.
  std::vector<uint8_t> widened, other;
  auto finish = [&](uint64_t begin, uint64_t end,
                    ArrayRef<uint8_t> from) -> Error {
    uint64_t count = (end - begin) * rowElements;
    ElementType type = sourceType;
    for (const PackStep &step : steps) {
      if (step.kind != PackStep::Kind::Cast || step.type == type)
        continue;
      other.resize(count * elementBytes(step.type));
      castElements(type, step.type, count, from.data(), other.data());
      std::swap(widened, other);
      from = widened;
      type = step.type;
    }
    return result->layout.packSlices(result->shape, resultSize, begin, end,
                                     from, destination);
  };

  constexpr uint64_t stripeBytes = uint64_t(4) << 20;
  uint64_t stripeRows = std::max<uint64_t>(
      1, stripeBytes / (rowElements * std::max(sourceSize, resultSize)));

  if (concatAxis == 0) {
    uint64_t base = 0;
    for (size_t i = 0; i != sources.size(); ++i) {
      uint64_t extent = sources[i].shape.empty() ? 1 : sources[i].shape.front();
      for (uint64_t begin = 0; begin < extent; begin += stripeRows) {
        uint64_t end = std::min(begin + stripeRows, extent);
        if (Error error =
                finish(base + begin, base + end,
                       data[i].slice(begin * rowElements * sourceSize,
                                     (end - begin) * rowElements * sourceSize)))
          return error;
      }
      base += extent;
    }
    return Error::success();
  }

  // Bytes that follow each other in each source and in the concatenation, and
  // how many such pieces make up one row.
  std::vector<uint64_t> pieces;
  for (const PackSource &source : sources) {
    uint64_t piece = sourceSize;
    for (int64_t extent : ArrayRef(source.shape).drop_front(concatAxis))
      piece *= extent;
    pieces.push_back(piece);
  }
  uint64_t piecesPerRow = 1;
  for (int64_t d = 1; d < concatAxis; ++d)
    piecesPerRow *= result->shape[d];
  std::vector<uint8_t> stripe;
  for (uint64_t begin = 0; begin < rows; begin += stripeRows) {
    uint64_t end = std::min(begin + stripeRows, rows);
    stripe.resize((end - begin) * rowElements * sourceSize);
    uint8_t *to = stripe.data();
    for (uint64_t p = begin * piecesPerRow; p != end * piecesPerRow; ++p)
      for (size_t i = 0; i != sources.size(); ++i) {
        if (pieces[i] == 0)
          continue;
        std::memcpy(to, data[i].data() + p * pieces[i], pieces[i]);
        to += pieces[i];
      }
    if (Error error = finish(begin, end, stripe))
      return error;
  }
  return Error::success();
}

} // namespace netra
