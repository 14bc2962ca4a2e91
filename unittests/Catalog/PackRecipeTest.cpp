//===- PackRecipeTest.cpp - From checkpoint tensors to kernel weights -----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PackTesting.h"

#include "Netra/Catalog/PackRecipe.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <thread>

using namespace netra;
using namespace netra::test;
using testing::HasSubstr;

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

/// A stack of matrices and, behind it, the rows of two that stand alone, in the
/// layout of a kernel, and back.
TEST(PackRecipe, RowsFollowEachOtherWhateverGroupsTheyComeIn) {
  PackRecipe recipe;
  recipe.sources = {source("experts", ElementType::BF16, {3, 32, 48}),
                    source("gate", ElementType::BF16, {16, 48}),
                    source("up", ElementType::BF16, {16, 48})};
  recipe.steps = {PackStep::makeReshape({4, 32, 48})};
  std::vector<Bytes> data = {randomBytes(3 * 32 * 48 * 2, 1),
                             randomBytes(16 * 48 * 2, 2),
                             randomBytes(16 * 48 * 2, 3)};
  Bytes rows;
  for (const Bytes &bytes : data)
    rows.insert(rows.end(), bytes.begin(), bytes.end());
  PackRecipe::Result result = llvm::cantFail(recipe.verify());
  EXPECT_EQ(result.shape, (Shape{4, 32, 48}));
  Bytes packed(result.bytes);
  ASSERT_EQ(message(recipe.execute({data[0], data[1], data[2]}, packed)), "");
  EXPECT_EQ(packed, rows);

  recipe.steps.push_back(PackStep::makeLayout("n16k16"));
  ASSERT_EQ(message(recipe.execute({data[0], data[1], data[2]}, packed)), "");
  EXPECT_NE(packed, rows);
  std::vector<Bytes> back = {Bytes(data[0].size()), Bytes(data[1].size()),
                             Bytes(data[2].size())};
  ASSERT_EQ(message(recipe.unpack(packed, {back[0], back[1], back[2]})), "");
  EXPECT_EQ(back, data);

  // Other extents must still agree, and rows must be those of matrices.
  recipe.sources[1] = source("gate", ElementType::BF16, {16, 47});
  EXPECT_THAT(message(recipe.verify()),
              HasSubstr("source 1 (\"gate\"): expected extent 48"));
  recipe.sources[1] = source("gate", ElementType::BF16, {48});
  EXPECT_THAT(message(recipe.verify()), HasSubstr("expected 3 dimensions"));
  recipe.sources[1] = source("gate", ElementType::BF16, {16, 48});
  recipe.concatAxis = 1;
  EXPECT_THAT(message(recipe.verify()), HasSubstr("expected 3 dimensions"));
}

/// Experts that a checkpoint holds one by one, gate and up apart: all gates lie
/// in front of all ups, and each expert gets its own two.
TEST(PackRecipe, BringsTheTensorsOfEachExpertTogether) {
  constexpr int64_t experts = 3, rows = 16, columns = 32;
  PackRecipe recipe;
  recipe.sources = {
      source("e.{}.gate", ElementType::F8E4M3FN, {experts, rows, columns}),
      source("s.gate", ElementType::F8E4M3FN, {rows, columns}),
      source("e.{}.up", ElementType::F8E4M3FN, {experts, rows, columns}),
      source("s.up", ElementType::F8E4M3FN, {rows, columns})};
  recipe.steps = {PackStep::makeReorder("interleaved_rows<4,16,16>"),
                  PackStep::makeReshape({experts + 1, 2 * rows, columns}),
                  PackStep::makeLayout("n16k16")};
  PackRecipe::Result result = llvm::cantFail(recipe.verify());
  EXPECT_EQ(result.shape, (Shape{4, 32, 32}));
  constexpr size_t one = rows * columns;
  std::vector<Bytes> data = {randomBytes(3 * one, 1), randomBytes(one, 2),
                             randomBytes(3 * one, 3), randomBytes(one, 4)};
  Bytes packed(result.bytes);
  ASSERT_EQ(
      message(recipe.execute({data[0], data[1], data[2], data[3]}, packed)),
      "");
  for (int64_t e = 0; e <= experts; ++e)
    for (int64_t n = 0; n < 2 * rows; ++n)
      for (int64_t k = 0; k < columns; ++k) {
        size_t from = n < rows ? 0 : 2;
        size_t offset = (n % rows) * columns + k;
        uint8_t expected =
            e < experts ? data[from][e * one + offset] : data[from + 1][offset];
        ASSERT_EQ(packed[e * 2 * one + n / 16 * 16 * columns + k / 16 * 256 +
                         n % 16 * 16 + k % 16],
                  expected);
      }

  EXPECT_EQ(recipe.sources[0].getCount(), 3);
  EXPECT_EQ(recipe.sources[0].getTensor(2),
            source("e.2.gate", ElementType::F8E4M3FN, {rows, columns}));
  EXPECT_EQ(recipe.sources[1].getCount(), 1);
  EXPECT_EQ(recipe.sources[1].getTensor(0), recipe.sources[1]);
  recipe.sources[0].checkpoint = "{}.{}";
  EXPECT_THAT(message(recipe.verify()), HasSubstr("source 0: expected at most "
                                                  "one {}"));
  recipe.sources[0] = source("e.{}", ElementType::F8E4M3FN, {0, 16, 32});
  EXPECT_THAT(message(recipe.verify()),
              HasSubstr("source 0: expected 1 to 65536 as the first extent, "
                        "which counts the tensors of \"e.{}\", found 0"));
  recipe.sources = {source("e.{}", ElementType::BF16, {65536})};
  recipe.steps.clear();
  EXPECT_EQ(llvm::cantFail(recipe.verify()).bytes, 131072u);
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
  recipe.steps = {PackStep::makeReshape({8, 63})};
  EXPECT_THAT(message(recipe.verify()),
              HasSubstr("step 0: expected a shape of 512 elements, found "
                        "8x63xbf16 with 504"));
  recipe.steps = {PackStep::makeReshape({-1, 512})};
  EXPECT_THAT(message(recipe.verify()), HasSubstr("step 0: "));
  recipe.steps = {PackStep::makeReorder("interleaved_rows<3,5>")};
  EXPECT_THAT(message(recipe.verify()),
              HasSubstr("step 0: layout interleaved_rows<3,5>: expected 3 "
                        "groups of 5, found an extent of 16"));
  recipe.steps = {PackStep::makeRestore("nope")};
  EXPECT_THAT(message(recipe.verify()), HasSubstr("step 0: layout \"nope\""));
  recipe.steps = {PackStep::makeLayout("n16k16"),
                  PackStep::makeReorder("n16k16")};
  EXPECT_THAT(message(recipe.verify()), HasSubstr("only as the last step"));
}

//===----------------------------------------------------------------------===//
// Composition and inverse
//===----------------------------------------------------------------------===//

TEST(PackRecipe, StepsPrint) {
  EXPECT_EQ(PackStep::makeLayout("n16k16").str(), "layout n16k16");
  EXPECT_EQ(PackStep::makeCast(ElementType::F32).str(), "cast f32");
  EXPECT_EQ(PackStep::makeReshape({4, 8}).str(), "reshape 4x8");
  EXPECT_EQ(PackStep::makeReorder("k_major").str(), "reorder k_major");
  EXPECT_EQ(PackStep::makeRestore("k_major").str(), "restore k_major");
}

/// A recipe applied in turn: the whole tensor after each step, element by
/// element, through `Layout::offset` and nothing that a recipe uses.
struct InTurn {
  Shape shape;
  unsigned size;
  Bytes bytes;

  void permute(const Layout &layout, bool inverse) {
    Bytes next(bytes.size());
    Shape index(shape.size(), 0);
    for (uint64_t i = 0; i < bytes.size() / size; ++i) {
      uint64_t offset = layout.offset(shape, index);
      uint64_t from = inverse ? offset : i, to = inverse ? i : offset;
      std::memcpy(&next[to * size], &bytes[from * size], size);
      for (size_t d = shape.size(); d-- > 0;) {
        if (++index[d] < shape[d])
          break;
        index[d] = 0;
      }
    }
    bytes = next;
  }

  void widenBf16() {
    Bytes next;
    for (size_t i = 0; i < bytes.size(); i += 2)
      next.insert(next.end(), {0, 0, bytes[i], bytes[i + 1]});
    bytes = next;
    size = 4;
  }
};

/// Refuses to be read outside; nothing can be had but by reading.
class BoundedReader final : public ByteReader {
public:
  explicit BoundedReader(const Bytes &bytes) : bytes(bytes) {}
  llvm::Error read(uint64_t begin,
                   llvm::MutableArrayRef<uint8_t> destination) const override {
    if (begin + destination.size() > bytes.size())
      return llvm::createStringError("read outside");
    std::copy_n(bytes.begin() + begin, destination.size(), destination.begin());
    return llvm::Error::success();
  }

private:
  const Bytes &bytes;
};

/// A recipe over a matrix of 48 x 64 in up to three sources, of up to four
/// steps, and what applying them in turn makes of random bytes.
static void checkRandomRecipe(unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  PackRecipe recipe;
  std::vector<Bytes> data;
  Shape total = {48, 64};
  bool bf16 = random() % 2;
  ElementType type = bf16 ? ElementType::BF16 : ElementType::F8E4M3FN;
  unsigned size = elementBytes(type), count = random() % 3 + 1;
  recipe.concatAxis = count == 1 ? 0 : random() % 2;
  int64_t left = total[recipe.concatAxis];
  for (unsigned i = 0; i < count; ++i) {
    Shape shape = total;
    shape[recipe.concatAxis] = i + 1 == count ? left : random() % (left + 1);
    left -= shape[recipe.concatAxis];
    recipe.sources.push_back(source("s" + std::to_string(i), type, shape));
    data.push_back(randomBytes(shape[0] * shape[1] * size, seed * 4 + i));
  }
  InTurn turn{total, size, {}};
  if (recipe.concatAxis == 0) {
    for (const Bytes &bytes : data)
      turn.bytes.insert(turn.bytes.end(), bytes.begin(), bytes.end());
  } else {
    for (int64_t row = 0; row < 48; ++row)
      for (unsigned i = 0; i < count; ++i) {
        auto length = recipe.sources[i].shape[1] * size;
        auto from = data[i].begin() + row * length;
        turn.bytes.insert(turn.bytes.end(), from, from + length);
      }
  }
  const char *const layouts[] = {"n16k16",
                                 "blocked<8,4>",
                                 "group_major",
                                 "interleaved_rows<4,3,7,2>",
                                 "interleaved_columns<8,1,3,4>",
                                 "interleaved_rows<3,16>"};
  for (unsigned steps = random() % 4; steps-- > 0;) {
    std::string name = layouts[random() % 6];
    switch (random() % 4) {
    case 0:
      if (turn.size == 2) {
        recipe.steps.push_back(PackStep::makeCast(ElementType::F32));
        turn.widenBf16();
      }
      break;
    case 1:
      recipe.steps.push_back(PackStep::makeReshape({3, 16, 64}));
      recipe.steps.push_back(PackStep::makeReorder("v_major"));
      recipe.steps.push_back(PackStep::makeReshape({48, 64}));
      turn.shape = {3, 16, 64};
      turn.permute(parse("v_major"), false);
      turn.shape = {48, 64};
      break;
    case 2:
      recipe.steps.push_back(PackStep::makeReorder(name));
      turn.permute(parse(name), false);
      break;
    case 3:
      recipe.steps.push_back(PackStep::makeRestore(name));
      turn.permute(parse(name), true);
      break;
    }
  }
  if (random() % 2) {
    std::string name = layouts[random() % 6];
    recipe.steps.push_back(PackStep::makeLayout(name));
    turn.permute(parse(name), false);
  }

  std::vector<llvm::ArrayRef<uint8_t>> inputs(data.begin(), data.end());
  Bytes packed(turn.bytes.size(), 0xaa);
  ASSERT_EQ(message(recipe.execute(inputs, packed)), "");
  ASSERT_EQ(packed, turn.bytes);

  // Undone, in memory.
  std::vector<Bytes> back;
  for (const Bytes &bytes : data)
    back.emplace_back(bytes.size(), 0x55);
  std::vector<llvm::MutableArrayRef<uint8_t>> outputs(back.begin(), back.end());
  ASSERT_EQ(message(recipe.unpack(packed, outputs)), "");
  ASSERT_EQ(back, data);

  // From readers, in pieces of any length at any byte, by two threads.
  Packer packer = llvm::cantFail(Packer::create(recipe));
  std::deque<BoundedReader> held;
  std::vector<const ByteReader *> readers;
  for (const Bytes &bytes : data)
    readers.push_back(&held.emplace_back(bytes));
  BoundedReader packedReader(packed);
  Bytes pieces(packed.size(), 0x33);
  std::vector<Bytes> backPieces;
  for (const Bytes &bytes : data)
    backPieces.emplace_back(bytes.size(), 0x44);
  auto work = [&](unsigned half) {
    std::mt19937 lengths(seed + half);
    auto inPieces = [&](uint64_t bytes, auto call) {
      uint64_t begin = half ? bytes / 2 : 0, end = half ? bytes : bytes / 2;
      while (begin < end) {
        uint64_t length = std::min<uint64_t>(lengths() % 3000 + 1, end - begin);
        EXPECT_EQ(message(call(begin, length)), "");
        begin += length;
      }
    };
    inPieces(packed.size(), [&](uint64_t begin, uint64_t length) {
      return packer.pack(readers, begin,
                         llvm::MutableArrayRef(pieces).slice(begin, length));
    });
    for (size_t i = 0; i < data.size(); ++i)
      inPieces(data[i].size(), [&](uint64_t begin, uint64_t length) {
        return packer.unpack(
            packedReader, i, begin,
            llvm::MutableArrayRef(backPieces[i]).slice(begin, length));
      });
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  ASSERT_EQ(pieces, packed);
  ASSERT_EQ(backPieces, data);
}

TEST(PackRecipe, IsItsStepsInTurnAndHasAnInverse) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    checkRandomRecipe(seed);
    if (HasFatalFailure())
      return;
  }
}

TEST(PackRecipe, BringsInterleavedRowsInOrder) {
  // in_proj_qkvz of Qwen3-Next, small: 2 key heads of 16, 2 value heads each.
  // Row r of the checkpoint holds the number r.
  PackRecipe recipe;
  recipe.sources = {source("qkvz", ElementType::U8, {192, 16})};
  recipe.steps = {PackStep::makeRestore("interleaved_rows<2,16,16,32,32>")};
  Bytes data;
  for (int row = 0; row < 192; ++row)
    data.insert(data.end(), 16, row);
  Bytes flat(data.size());
  ASSERT_EQ(message(recipe.execute({data}, flat)), "");
  // Q of both heads, K of both, V of both, Z of both.
  size_t at = 0;
  for (auto [begin, width] : {std::pair(0, 16), {16, 16}, {32, 32}, {64, 32}})
    for (int group = 0; group < 2; ++group)
      for (int row = 0; row < width; ++row, at += 16)
        ASSERT_EQ(flat[at], group * 96 + begin + row);
  // And on into the layout of a kernel.
  recipe.steps.push_back(PackStep::makeLayout("n16k16"));
  Bytes packed(data.size());
  ASSERT_EQ(message(recipe.execute({data}, packed)), "");
  for (int n = 0; n < 192; ++n)
    for (int k = 0; k < 16; ++k)
      ASSERT_EQ(packed[n / 16 * 256 + n % 16 * 16 + k], flat[n * 16 + k]);
}

TEST(PackRecipe, JoinsShards) {
  // Two ranks hold [gate | up] each; the whole is [gate | up] of both.
  PackRecipe recipe;
  recipe.sources = {source("rank0", ElementType::U8, {6, 2}),
                    source("rank1", ElementType::U8, {6, 2})};
  recipe.steps = {PackStep::makeRestore("interleaved_rows<2,4,2>")};
  Bytes rank0 = {0, 0, 1, 1, 2, 2, 3, 3, 100, 100, 101, 101};
  Bytes rank1 = {4, 4, 5, 5, 6, 6, 7, 7, 102, 102, 103, 103};
  Bytes whole(24);
  ASSERT_EQ(message(recipe.execute({rank0, rank1}, whole)), "");
  EXPECT_EQ(whole, (Bytes{0, 0, 1, 1, 2,   2,   3,   3,   4,   4,   5,   5,
                          6, 6, 7, 7, 100, 100, 101, 101, 102, 102, 103, 103}));
  // Experts that come one by one become one tensor.
  recipe.steps = {PackStep::makeReshape({2, 6, 2})};
  EXPECT_EQ(llvm::cantFail(recipe.verify()).shape, (Shape{2, 6, 2}));
}

TEST(PackRecipe, UnpackRefusesWhatNoCastMakes) {
  PackRecipe recipe;
  recipe.sources = {source("s", ElementType::BF16, {2, 8})};
  recipe.steps = {PackStep::makeCast(ElementType::F32),
                  PackStep::makeLayout("group_major")};
  Bytes data = randomBytes(32), packed(64), back(32);
  ASSERT_EQ(message(recipe.execute({data}, packed)), "");
  packed[4 * 5] = 1; // below the bits of a bf16; element 5 is row 1, column 2
  EXPECT_THAT(message(recipe.unpack(packed, {back})),
              HasSubstr("element 5: expected a bf16 that was cast to f32"));
  EXPECT_THAT(
      message(recipe.unpack(llvm::ArrayRef(packed).drop_back(), {back})),
      HasSubstr("packed bytes: expected 64 bytes, found 63"));
  EXPECT_THAT(message(recipe.unpack(packed, {})), HasSubstr("1 sources"));

  Packer packer = llvm::cantFail(Packer::create(recipe));
  MemoryReader reader(packed);
  EXPECT_THAT(message(packer.unpack(reader, 1, 0, back)),
              HasSubstr("a source below 1, found 1"));
  EXPECT_THAT(message(packer.unpack(reader, 0, 1, back)),
              HasSubstr("source 0: expected a piece of 32 bytes"));
  EXPECT_THAT(message(packer.pack({&reader}, 1, packed)),
              HasSubstr("result: expected a piece of 64 bytes"));
  EXPECT_THAT(message(packer.pack({}, 0, packed)), HasSubstr("1 sources"));
}

TEST(PackRecipe, EveryCastIsInvertible) {
  using enum ElementType;
  for (auto [from, to] : {std::pair(BF16, F32),
                          {BF16, F64},
                          {F16, F32},
                          {F16, F64},
                          {F32, F64}}) {
    // Every value of 16 bits, NaNs with their payloads; of 32 bits, many.
    Bytes data;
    if (from == F32) {
      data = randomBytes(1 << 18);
      for (uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xff800000u, 1u,
                            0x80000000u, 0x00800000u, 0x7f7fffffu})
        for (int i = 0; i < 4; ++i)
          data.push_back(bits >> (8 * i));
    } else {
      for (uint32_t bits = 0; bits < 65536; ++bits) {
        data.push_back(bits);
        data.push_back(bits >> 8);
      }
    }
    int64_t count = data.size() / elementBytes(from);
    PackRecipe recipe;
    recipe.sources = {source("s", from, {count})};
    recipe.steps = {PackStep::makeCast(to)};
    Bytes packed(count * elementBytes(to)), back(data.size());
    ASSERT_EQ(message(recipe.execute({data}, packed)), "");
    ASSERT_EQ(message(recipe.unpack(packed, {back})), "");
    ASSERT_EQ(back, data) << elementTypeName(from).str();
    // Random bits are hardly ever the result of a cast.
    Bytes wild = randomBytes(packed.size(), 9);
    EXPECT_THAT(message(recipe.unpack(wild, {back})),
                HasSubstr("another value"));
  }
}
