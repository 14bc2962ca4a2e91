//===- LayoutTest.cpp - Layouts and pack recipes --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Layout.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace netra;
using testing::HasSubstr;

using Bytes = std::vector<uint8_t>;
using Shape = std::vector<int64_t>;

static Bytes randomBytes(size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (uint8_t &byte : bytes)
    byte = random();
  return bytes;
}

static Layout parse(llvm::StringRef spelling) {
  return llvm::cantFail(Layout::parse(spelling));
}

template <typename T> static std::string message(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}

static std::string message(llvm::Error error) {
  return llvm::toString(std::move(error));
}

TEST(Layout, Spelling) {
  EXPECT_TRUE(Layout().isRowMajor());
  for (const std::string &name : Layout::knownNames())
    EXPECT_EQ(parse(name).str(), name);
  EXPECT_THAT(message(Layout::parse("n16k32")),
              HasSubstr("expected one of group_major, n16k16, row_major"));
  EXPECT_THAT(message(Layout::parse("n16k16<4>")),
              HasSubstr("expected 0 parameters, found 1"));
  EXPECT_THAT(message(Layout::parse("n16k16<4")), HasSubstr("'>' at the end"));
  EXPECT_THAT(message(Layout::parse("n16k16<a>")), HasSubstr("integer"));
  EXPECT_THAT(message(Layout::parse("")), HasSubstr("expected one of"));
  EXPECT_TRUE(parse("n16k16") == parse("n16k16"));
  EXPECT_FALSE(parse("n16k16") == Layout());
}

// The formulas of the documentation, written again.
static uint64_t expectedOffset(llvm::StringRef name, const Shape &shape,
                               const Shape &index) {
  size_t rank = shape.size();
  if (name == "row_major") {
    uint64_t offset = 0, stride = 1;
    for (size_t d = rank; d-- > 0; stride *= shape[d])
      offset += index[d] * stride;
    return offset;
  }
  uint64_t rows = shape[rank - 2], columns = shape[rank - 1];
  uint64_t r = index[rank - 2], c = index[rank - 1], batch = 0;
  for (size_t d = 0; d + 2 < rank; ++d)
    batch = batch * shape[d] + index[d];
  uint64_t inside =
      name == "group_major"
          ? c * rows + r
          : r / 16 * (16 * columns) + c / 16 * 256 + r % 16 * 16 + c % 16;
  return batch * rows * columns + inside;
}

static void checkLayout(llvm::StringRef name, const Shape &shape,
                        unsigned size) {
  SCOPED_TRACE(name.str() + " " + tensorName(ElementType::I8, shape));
  Layout layout = parse(name);
  ASSERT_EQ(message(layout.verify(shape)), "");
  uint64_t count = llvm::cantFail(elementCount(shape));
  Bytes source = randomBytes(count * size), packed(source.size(), 0xaa),
        back(source.size(), 0x55);
  ASSERT_EQ(message(layout.pack(shape, size, source, packed)), "");
  std::vector<bool> seen(count, false);
  Shape index(shape.size(), 0);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset = layout.offset(shape, index);
    ASSERT_EQ(offset, expectedOffset(name, shape, index));
    ASSERT_LT(offset, count);
    ASSERT_FALSE(seen[offset]);
    seen[offset] = true;
    ASSERT_EQ(std::memcmp(&source[i * size], &packed[offset * size], size), 0);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  ASSERT_EQ(message(layout.unpack(shape, size, packed, back)), "");
  EXPECT_EQ(source, back);

  // In pieces, in any order, the same bytes come out.
  if (shape.empty() || count == 0)
    return;
  Bytes pieces(source.size(), 0x77);
  uint64_t slices = shape[0], sliceBytes = source.size() / slices;
  uint64_t middle = slices / 3;
  for (auto [begin, end] :
       {std::pair(middle, slices), std::pair(uint64_t(0), middle)})
    ASSERT_EQ(message(layout.packSlices(
                  shape, size, begin, end,
                  llvm::ArrayRef(source).slice(begin * sliceBytes,
                                               (end - begin) * sliceBytes),
                  pieces)),
              "");
  EXPECT_EQ(pieces, packed);
}

TEST(Layout, PackIsTheFormulaAndUnpackItsInverse) {
  for (int64_t rows : {16, 32, 80})
    for (int64_t columns : {16, 48, 128})
      for (unsigned size : {1u, 2u, 4u}) {
        checkLayout("n16k16", {rows, columns}, size);
        checkLayout("n16k16", {3, rows, columns}, size);
      }
  for (int64_t rows : {1, 2, 7, 16})
    for (int64_t columns : {1, 3, 16, 33}) {
      checkLayout("group_major", {rows, columns}, 4);
      checkLayout("group_major", {2, 3, rows, columns}, 4);
      checkLayout("row_major", {rows, columns}, 2);
      checkLayout("row_major", {2, rows, columns}, 2);
    }
  checkLayout("row_major", {}, 4);
  checkLayout("row_major", {5}, 8);
  checkLayout("row_major", {4, 0}, 2);
  checkLayout("group_major", {0, 4}, 2);
  checkLayout("n16k16", {0, 16}, 1);
}

TEST(Layout, Refusals) {
  EXPECT_THAT(message(parse("n16k16").verify({16, 24})),
              HasSubstr("multiples of 16, found 24"));
  EXPECT_THAT(message(parse("n16k16").verify({16})),
              HasSubstr("at least 2 dimensions"));
  EXPECT_THAT(message(parse("group_major").verify({})),
              HasSubstr("at least 2 dimensions"));
  EXPECT_THAT(message(Layout().verify({-1})), HasSubstr("found -1"));
  EXPECT_THAT(message(Layout().verify({INT64_MAX, 3})), HasSubstr("2^63"));
  Bytes source(512), destination(511);
  EXPECT_THAT(message(parse("n16k16").pack({16, 32}, 1, source, destination)),
              HasSubstr("destination: expected 512 bytes, found 511"));
  EXPECT_THAT(message(parse("n16k16").unpack({16, 32}, 1, destination, source)),
              HasSubstr("source: expected 512 bytes, found 511"));
  EXPECT_THAT(
      message(parse("n16k16").packSlices({16, 32}, 1, 8, 17, source, source)),
      HasSubstr("inside [0, 16)"));
}

TEST(ElementTypes, NamesAndSizes) {
  for (ElementType type : allElementTypes()) {
    EXPECT_EQ(parseElementType(elementTypeName(type)), type);
    EXPECT_EQ(elementBits(type), elementBytes(type) * 8);
  }
  EXPECT_EQ(parseElementType("bf17"), std::nullopt);
  EXPECT_EQ(tensorName(ElementType::BF16, {1, 2048}), "1x2048xbf16");
  EXPECT_EQ(tensorName(ElementType::F32, {}), "f32");
  EXPECT_EQ(llvm::cantFail(tensorBytes(ElementType::F32, {3, 5})), 60u);
  EXPECT_THAT(message(tensorBytes(ElementType::F64, {int64_t(1) << 61})),
              HasSubstr("2^63 bytes"));
}

//===----------------------------------------------------------------------===//
// Recipes
//===----------------------------------------------------------------------===//

static PackSource source(std::string name, ElementType type, Shape shape) {
  return {std::move(name), type, std::move(shape)};
}

TEST(PackRecipe, ConcatenatesAndShuffles) {
  PackRecipe recipe;
  recipe.sources = {source("gate", ElementType::F8E4M3FN, {32, 64}),
                    source("up", ElementType::F8E4M3FN, {16, 64})};
  recipe.steps = {PackStep::makeLayout("n16k16")};
  PackRecipe::Result result = llvm::cantFail(recipe.verify());
  EXPECT_EQ(result.shape, (Shape{48, 64}));
  EXPECT_EQ(result.bytes, 48u * 64);
  EXPECT_EQ(result.layout.str(), "n16k16");
  Bytes gate = randomBytes(32 * 64, 1), up = randomBytes(16 * 64, 2);
  Bytes packed(result.bytes);
  ASSERT_EQ(message(recipe.execute({gate, up}, packed)), "");
  for (int64_t n = 0; n < 48; ++n)
    for (int64_t k = 0; k < 64; ++k)
      ASSERT_EQ(packed[n / 16 * 16 * 64 + k / 16 * 256 + n % 16 * 16 + k % 16],
                n < 32 ? gate[n * 64 + k] : up[(n - 32) * 64 + k]);
}

TEST(PackRecipe, ConcatenatesAlongAnyAxis) {
  for (int64_t axis = 0; axis < 3; ++axis) {
    PackRecipe recipe;
    recipe.concatAxis = axis;
    Shape total = {6, 5, 4};
    std::vector<Bytes> data;
    total[axis] = 0;
    for (int64_t extent : {3, 0, 2}) {
      Shape shape = {6, 5, 4};
      shape[axis] = extent;
      total[axis] += extent;
      recipe.sources.push_back(
          source("s" + std::to_string(extent), ElementType::BF16, shape));
      data.push_back(
          randomBytes(2 * llvm::cantFail(elementCount(shape)), 10 + extent));
    }
    PackRecipe::Result result = llvm::cantFail(recipe.verify());
    ASSERT_EQ(result.shape, total);
    Bytes packed(result.bytes);
    ASSERT_EQ(message(recipe.execute({data[0], data[1], data[2]}, packed)), "");
    size_t at = 0;
    for (int64_t a = 0; a < total[0]; ++a)
      for (int64_t b = 0; b < total[1]; ++b)
        for (int64_t c = 0; c < total[2]; ++c, at += 2) {
          Shape index = {a, b, c};
          size_t from = 0;
          if (index[axis] >= 3) {
            from = 2;
            index[axis] -= 3;
          }
          const Shape &shape = recipe.sources[from].shape;
          size_t offset =
              2 * ((index[0] * shape[1] + index[1]) * shape[2] + index[2]);
          ASSERT_EQ(packed[at], data[from][offset]);
          ASSERT_EQ(packed[at + 1], data[from][offset + 1]);
        }
  }
}

TEST(PackRecipe, StripesAreSeamless) {
  // Larger than one stripe, with rows that do not divide it.
  PackRecipe recipe;
  recipe.sources = {source("a", ElementType::BF16, {1100, 3000}),
                    source("b", ElementType::BF16, {1100, 1000})};
  recipe.concatAxis = 1;
  recipe.steps = {PackStep::makeCast(ElementType::F32),
                  PackStep::makeLayout("group_major")};
  Bytes a = randomBytes(1100 * 3000 * 2, 3),
        b = randomBytes(1100 * 1000 * 2, 4);
  PackRecipe::Result result = llvm::cantFail(recipe.verify());
  Bytes packed(result.bytes);
  ASSERT_EQ(message(recipe.execute({a, b}, packed)), "");
  for (uint64_t m = 0; m < 1100; m += 7)
    for (uint64_t g = 0; g < 4000; g += 11) {
      const Bytes &from = g < 3000 ? a : b;
      size_t at = 2 * (g < 3000 ? m * 3000 + g : m * 1000 + g - 3000);
      size_t to = 4 * (g * 1100 + m);
      ASSERT_EQ(packed[to], 0);
      ASSERT_EQ(packed[to + 1], 0);
      ASSERT_EQ(packed[to + 2], from[at]);
      ASSERT_EQ(packed[to + 3], from[at + 1]);
    }
}

static double castOne(ElementType from, ElementType to, Bytes bits) {
  PackRecipe recipe;
  recipe.sources = {source("s", from, {1})};
  recipe.steps = {PackStep::makeCast(to)};
  Bytes out(elementBytes(to));
  EXPECT_EQ(message(recipe.execute({bits}, out)), "");
  if (to == ElementType::F32) {
    float value;
    std::memcpy(&value, out.data(), 4);
    return value;
  }
  double value;
  std::memcpy(&value, out.data(), 8);
  return value;
}

TEST(PackRecipe, CastsAreExact) {
  // Every f16, by its definition.
  for (uint32_t bits = 0; bits < 65536; bits += (bits < 4096 ? 1 : 7)) {
    double sign = bits & 0x8000 ? -1 : 1, mantissa = bits & 1023;
    int exponent = (bits >> 10) & 31;
    double expected = exponent == 0 ? std::ldexp(mantissa, -24)
                      : exponent == 31
                          ? (mantissa != 0 ? NAN : INFINITY)
                          : std::ldexp(1024 + mantissa, exponent - 25);
    expected *= sign;
    Bytes half = {uint8_t(bits), uint8_t(bits >> 8)};
    for (ElementType to : {ElementType::F32, ElementType::F64}) {
      double found = castOne(ElementType::F16, to, half);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(found));
      else
        ASSERT_EQ(found, expected) << bits;
    }
  }
  EXPECT_EQ(castOne(ElementType::BF16, ElementType::F32, {0x80, 0xbf}), -1.0);
  EXPECT_EQ(castOne(ElementType::BF16, ElementType::F64, {0x01, 0x00}),
            std::ldexp(1.0, -133));
  EXPECT_EQ(castOne(ElementType::F32, ElementType::F64, {0, 0, 0x80, 0x3f}),
            1.0);
}

TEST(PackRecipe, Refusals) {
  PackRecipe recipe;
  EXPECT_THAT(message(recipe.verify()), HasSubstr("at least one source"));
  recipe.sources = {source("a", ElementType::BF16, {16, 32}),
                    source("b", ElementType::F16, {16, 32})};
  EXPECT_THAT(message(recipe.verify()),
              HasSubstr("source 1 (\"b\"): expected type bf16"));
  recipe.sources[1] = source("b", ElementType::BF16, {16, 33});
  EXPECT_THAT(message(recipe.verify()), HasSubstr("expected extent 32"));
  recipe.sources[1] = source("b", ElementType::BF16, {16});
  EXPECT_THAT(message(recipe.verify()), HasSubstr("expected 2 dimensions"));
  recipe.sources[1] = source("", ElementType::BF16, {16, 32});
  EXPECT_THAT(message(recipe.verify()), HasSubstr("name of a checkpoint"));
  recipe.sources[1] = source("b", ElementType::BF16, {16, 32});
  recipe.concatAxis = 2;
  EXPECT_THAT(message(recipe.verify()), HasSubstr("concat axis inside [0, 2)"));
  recipe.concatAxis = 0;
  recipe.steps = {PackStep::makeCast(ElementType::F16)};
  EXPECT_THAT(message(recipe.verify()), HasSubstr("bf16 to f16"));
  recipe.steps = {PackStep::makeLayout("n16k16"),
                  PackStep::makeCast(ElementType::F32)};
  EXPECT_THAT(message(recipe.verify()), HasSubstr("only as the last step"));
  recipe.steps = {PackStep::makeLayout("nope")};
  EXPECT_THAT(message(recipe.verify()), HasSubstr("expected one of"));
  recipe.sources = {source("a", ElementType::BF16, {15, 32})};
  recipe.steps = {PackStep::makeLayout("n16k16")};
  EXPECT_THAT(message(recipe.verify()), HasSubstr("multiples of 16"));
  recipe.concatAxis = 1;
  EXPECT_THAT(message(recipe.verify()), HasSubstr("concat axis 0"));
  recipe = {{source("a", ElementType::BF16, {16, 32})}, 0, {}};
  Bytes data(1024), small(1000);
  EXPECT_THAT(message(recipe.execute({small}, data)),
              HasSubstr("expected 1024 bytes, found 1000"));
  EXPECT_THAT(message(recipe.execute({data}, small)),
              HasSubstr("destination: expected 1024 bytes"));
  EXPECT_THAT(message(recipe.execute({}, data)), HasSubstr("1 sources"));
}
