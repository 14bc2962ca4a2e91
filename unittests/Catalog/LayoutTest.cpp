//===- LayoutTest.cpp - Layouts -------------------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PackTesting.h"

#include "Netra/Catalog/Layout.h"

#include "llvm/ADT/StringExtras.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <random>
#include <thread>

using namespace netra;
using namespace netra::test;
using testing::HasSubstr;

TEST(Layout, Spelling) {
  EXPECT_TRUE(Layout().isRowMajor());
  // One of each, by name.
  const char *const spellings[] = {"blocked<4,8>",
                                   "group_major",
                                   "interleaved_columns<2,3>",
                                   "interleaved_rows<16,128,128,256,256>",
                                   "k_major",
                                   "n16k16",
                                   "paged_kv<16,2,256>",
                                   "paged_kv_head_major<16,2,256>",
                                   "row_major",
                                   "v_major"};
  std::vector<std::string> names;
  for (const char *spelling : spellings) {
    EXPECT_EQ(parse(spelling).str(), spelling);
    names.push_back(parse(spelling).getName().str());
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(Layout::knownNames(), names);
  EXPECT_EQ(parse("blocked< 4, 8>").str(), "blocked<4,8>");
  EXPECT_THAT(message(Layout::parse("n16k32")),
              HasSubstr("expected one of " + llvm::join(names, ", ")));
  EXPECT_THAT(message(Layout::parse("n16k16<4>")),
              HasSubstr("expected 0 parameters, found 1"));
  EXPECT_THAT(message(Layout::parse("blocked<4>")),
              HasSubstr("expected 2 parameters, found 1"));
  EXPECT_THAT(message(Layout::parse("interleaved_rows<4>")),
              HasSubstr("expected at least 2 parameters, found 1"));
  EXPECT_THAT(message(Layout::parse("paged_kv<4,2,0>")),
              HasSubstr("expected positive parameters, found 0"));
  EXPECT_THAT(message(Layout::parse("blocked<-4,2>")),
              HasSubstr("expected positive parameters, found -4"));
  EXPECT_THAT(message(Layout::parse("n16k16<4")), HasSubstr("'>' at the end"));
  EXPECT_THAT(message(Layout::parse("n16k16<a>")), HasSubstr("integer"));
  EXPECT_THAT(message(Layout::parse("")), HasSubstr("expected one of"));
  EXPECT_TRUE(parse("n16k16") == parse("n16k16"));
  EXPECT_FALSE(parse("n16k16") == Layout());
  EXPECT_FALSE(parse("blocked<4,8>") == parse("blocked<8,4>"));
}

// The formulas of the documentation, written again.
static uint64_t expectedOffset(const std::string &name, const Shape &p,
                               const Shape &shape, const Shape &index) {
  size_t rank = shape.size();
  auto cOrder = [&](const Shape &at) {
    uint64_t offset = 0, stride = 1;
    for (size_t d = rank; d-- > 0; stride *= shape[d])
      offset += at[d] * stride;
    return offset;
  };
  if (name == "row_major" || name == "k_major")
    return cOrder(index);
  // [Q Q | K K | V V V V] to [Q K V V | Q K V V], for two groups of 1, 1, 2.
  auto dealOut = [&](int64_t i) {
    int64_t period = 0;
    for (size_t s = 1; s < p.size(); ++s)
      period += p[s];
    int64_t inGroup = 0;
    for (size_t s = 1; s < p.size(); i -= p[0] * p[s], inGroup += p[s], ++s)
      if (i < p[0] * p[s])
        return i / p[s] * period + inGroup + i % p[s];
    return int64_t(-1);
  };
  if (name == "interleaved_columns" || name == "interleaved_rows") {
    Shape moved = index;
    int64_t &i = name == "interleaved_rows" ? moved[rank - 2] : moved[rank - 1];
    i = dealOut(i);
    return cOrder(moved);
  }
  if (name == "paged_kv" || name == "paged_kv_head_major") {
    uint64_t token = index[rank - 3], h = index[rank - 2], d = index[rank - 1];
    for (size_t i = 0, before = 0; i + 3 < rank; ++i) {
      before = before * shape[i] + index[i];
      if (i + 4 == rank)
        token += before * shape[rank - 3];
    }
    uint64_t page = token / p[0], slot = token % p[0];
    return name == "paged_kv" ? ((page * p[0] + slot) * p[1] + h) * p[2] + d
                              : ((page * p[1] + h) * p[0] + slot) * p[2] + d;
  }
  uint64_t rows = shape[rank - 2], columns = shape[rank - 1];
  uint64_t r = index[rank - 2], c = index[rank - 1], batch = 0;
  for (size_t d = 0; d + 2 < rank; ++d)
    batch = batch * shape[d] + index[d];
  uint64_t inside = 0;
  if (name == "group_major" || name == "v_major")
    inside = c * rows + r;
  else if (name == "n16k16")
    inside = r / 16 * (16 * columns) + c / 16 * 256 + r % 16 * 16 + c % 16;
  else if (name == "blocked")
    inside = r / p[0] * p[0] * columns + c / p[1] * p[0] * p[1] +
             r % p[0] * p[1] + c % p[1];
  else
    ADD_FAILURE() << "a layout without a formula in this test: " << name;
  return batch * rows * columns + inside;
}

static void checkLayout(const std::string &spelling, const Shape &shape,
                        unsigned size) {
  SCOPED_TRACE(spelling + " " + tensorName(ElementType::I8, shape));
  Layout layout = parse(spelling);
  ASSERT_EQ(message(layout.verify(shape)), "");
  uint64_t count = llvm::cantFail(elementCount(shape));
  Bytes source = randomBytes(count * size), packed(source.size(), 0xaa),
        back(source.size(), 0x55);
  ASSERT_EQ(message(layout.pack(shape, size, source, packed)), "");
  ElementMap map = layout.map(shape);
  ASSERT_EQ(map.size(), count);
  std::vector<bool> seen(count, false);
  Shape index(shape.size(), 0);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset = expectedOffset(
        layout.getName().str(), layout.getParameters().vec(), shape, index);
    ASSERT_EQ(map.apply(i), offset);
    ASSERT_EQ(map.applyInverse(offset), i);
    ASSERT_LT(offset, count);
    ASSERT_FALSE(seen[offset]);
    seen[offset] = true;
    ASSERT_EQ(std::memcmp(&source[i * size], &packed[offset * size], size), 0);
    if (i % 7 == 0) {
      ASSERT_EQ(layout.offset(shape, index), offset);
      ASSERT_EQ(layout.index(shape, offset), index);
    }
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  ASSERT_EQ(message(layout.unpack(shape, size, packed, back)), "");
  ASSERT_EQ(source, back);

  // Any range of what is packed, and of what is unpacked.
  std::mt19937 random(count);
  for (int round = 0; round < 4; ++round) {
    uint64_t begin = random() % (count + 1);
    uint64_t end = begin + random() % (count - begin + 1);
    Bytes part((end - begin) * size, 0x11), other(part.size(), 0x22);
    map.gather(begin, end, size, source.data(), part.data());
    ASSERT_TRUE(
        std::equal(part.begin(), part.end(), packed.begin() + begin * size));
    map.inverse().gather(begin, end, size, packed.data(), other.data());
    ASSERT_TRUE(
        std::equal(other.begin(), other.end(), source.begin() + begin * size));
  }

  // In pieces, in any order and at the same time, the same bytes come out.
  if (shape.empty() || count == 0)
    return;
  Bytes pieces(source.size(), 0x77);
  uint64_t slices = shape[0], sliceBytes = source.size() / slices;
  uint64_t middle = slices / 3;
  auto packPart = [&](uint64_t begin, uint64_t end) {
    EXPECT_EQ(message(layout.packSlices(
                  shape, size, begin, end,
                  llvm::ArrayRef(source).slice(begin * sliceBytes,
                                               (end - begin) * sliceBytes),
                  pieces)),
              "");
  };
  if (count > 1000) {
    std::thread other([&] { packPart(middle, slices); });
    packPart(0, middle);
    other.join();
  } else {
    packPart(middle, slices);
    packPart(0, middle);
  }
  ASSERT_EQ(pieces, packed);
}

TEST(Layout, AllSmallShapes) {
  for (int64_t a = 0; a <= 3; ++a)
    for (int64_t b = 0; b <= 6; ++b)
      for (int64_t c = 0; c <= 6; ++c)
        for (const char *name :
             {"row_major", "k_major", "group_major", "v_major"}) {
          checkLayout(name, {a, b, c}, 2);
          if (a == 1)
            checkLayout(name, {b, c}, 4);
        }
  for (int64_t r = 1; r <= 4; ++r)
    for (int64_t c = 1; c <= 4; ++c)
      for (int64_t n = 0; n <= 3; ++n)
        for (int64_t k = 0; k <= 3; ++k)
          checkLayout("blocked<" + std::to_string(r) + "," + std::to_string(c) +
                          ">",
                      {2, n * r, k * c}, 1);
  for (int64_t groups = 1; groups <= 3; ++groups)
    for (int64_t w0 = 1; w0 <= 3; ++w0)
      for (int64_t w1 = 1; w1 <= 3; ++w1) {
        std::string list = std::to_string(groups) + "," + std::to_string(w0) +
                           "," + std::to_string(w1);
        int64_t extent = groups * (w0 + w1);
        checkLayout("interleaved_rows<" + list + ">", {2, extent, 5}, 2);
        checkLayout("interleaved_rows<" + list + ">", {extent, 1}, 1);
        checkLayout("interleaved_rows<" + list + ">", {extent, 0}, 1);
        checkLayout("interleaved_columns<" + list + ">", {3, extent}, 4);
        checkLayout("interleaved_columns<" + list + ",2>",
                    {extent + 2 * groups}, 1);
      }
  for (int64_t page = 1; page <= 4; ++page)
    for (int64_t pages = 0; pages <= 3; ++pages)
      for (int64_t heads = 1; heads <= 3; ++heads)
        for (const char *name : {"paged_kv", "paged_kv_head_major"}) {
          std::string spelling = name + ("<" + std::to_string(page)) + "," +
                                 std::to_string(heads) + ",4>";
          checkLayout(spelling, {pages * page, heads, 4}, 1);
          checkLayout(spelling, {2, pages * page, heads, 4}, 2);
        }
  checkLayout("row_major", {}, 4);
  checkLayout("row_major", {5}, 8);
}

TEST(Layout, RandomShapes) {
  std::mt19937 random(7);
  auto upTo = [&](int64_t most) { return int64_t(random() % most) + 1; };
  for (int round = 0; round < 60; ++round) {
    // 3 has no fast path of its own.
    unsigned size = llvm::ArrayRef<unsigned>{1, 2, 3, 4, 8}[random() % 5];
    checkLayout("n16k16", {16 * upTo(6), 16 * upTo(9)}, size);
    checkLayout("n16k16", {upTo(3), 16 * upTo(3), 16 * upTo(4)}, size);
    checkLayout("group_major", {upTo(90), upTo(90)}, size);
    checkLayout("v_major", {upTo(3), upTo(40), upTo(70)}, size);
    checkLayout("row_major", {upTo(9), upTo(9), upTo(9)}, size);
    int64_t r = upTo(20), c = upTo(40);
    checkLayout("blocked<" + std::to_string(r) + "," + std::to_string(c) + ">",
                {upTo(2), r * upTo(4), c * upTo(4)}, size);
    int64_t groups = upTo(8), extent = 0;
    std::string list = std::to_string(groups);
    for (int64_t left = upTo(5); left > 0; --left) {
      int64_t width = upTo(9);
      list += "," + std::to_string(width);
      extent += groups * width;
    }
    checkLayout("interleaved_rows<" + list + ">", {extent, upTo(20)}, size);
    checkLayout("interleaved_columns<" + list + ">", {upTo(20), extent}, size);
    int64_t page = upTo(16), heads = upTo(4), head = upTo(33);
    list = std::to_string(page) + "," + std::to_string(heads) + "," +
           std::to_string(head);
    checkLayout("paged_kv<" + list + ">", {page * upTo(4), heads, head}, size);
    checkLayout("paged_kv_head_major<" + list + ">",
                {page * upTo(4), heads, head}, size);
  }
}

TEST(Layout, NamedForWhatTheyAreFor) {
  // The state of Qwen3.6: V-major keeps the K values of a row together.
  Shape state = {3, 4, 128, 128};
  EXPECT_EQ(parse("v_major").offset(state, {2, 1, 7, 9}),
            uint64_t(((2 * 4 + 1) * 128 + 9) * 128 + 7));
  EXPECT_EQ(parse("k_major").offset(state, {2, 1, 7, 9}),
            uint64_t(((2 * 4 + 1) * 128 + 7) * 128 + 9));
  // qkvz of 16 key heads of 128 and 32 value heads: the first row of V is the
  // third part of the first group.
  Layout qkvz = parse("interleaved_rows<16,128,128,256,256>");
  EXPECT_EQ(qkvz.offset({12288, 2048}, {4096, 0}), 256u * 2048);
  EXPECT_EQ(qkvz.offset({12288, 2048}, {2048 + 128, 5}),
            (768u + 128) * 2048 + 5);
  // blocked<16,16> is n16k16 by another name.
  Shape shape = {48, 80};
  Bytes source = randomBytes(48 * 80), one(source.size()), two(source.size());
  ASSERT_EQ(message(parse("n16k16").pack(shape, 1, source, one)), "");
  ASSERT_EQ(message(parse("blocked<16,16>").pack(shape, 1, source, two)), "");
  EXPECT_EQ(one, two);
}

// The test of the map itself would notice: offsets that are off by an element
// are not what pack does.
TEST(Layout, TheFormulasTellLayoutsApart) {
  Shape shape = {32, 32};
  for (const char *other : {"row_major", "group_major", "blocked<8,16>",
                            "interleaved_rows<2,8,8>"}) {
    uint64_t differences = 0;
    for (int64_t n = 0; n < 32; ++n)
      for (int64_t k = 0; k < 32; ++k)
        differences += parse(other).offset(shape, {n, k}) !=
                       expectedOffset("n16k16", {}, shape, {n, k});
    EXPECT_GT(differences, 100u) << other;
  }
}

TEST(Layout, Refusals) {
  EXPECT_THAT(message(parse("n16k16").verify({16, 24})),
              HasSubstr("multiples of 16, found 24"));
  EXPECT_THAT(message(parse("n16k16").verify({16})),
              HasSubstr("at least 2 dimensions"));
  EXPECT_THAT(message(parse("blocked<4,8>").verify({4, 12})),
              HasSubstr("multiples of 4 and 8, found 4 and 12"));
  EXPECT_THAT(message(parse("group_major").verify({})),
              HasSubstr("at least 2 dimensions"));
  EXPECT_THAT(message(parse("v_major").verify({4})),
              HasSubstr("at least 2 dimensions"));
  EXPECT_THAT(message(parse("paged_kv<4,2,8>").verify({2, 8})),
              HasSubstr("at least 3 dimensions"));
  EXPECT_THAT(message(parse("paged_kv<4,2,8>").verify({6, 2, 8})),
              HasSubstr("whole pages of 4 tokens, found 6 tokens"));
  EXPECT_THAT(message(parse("paged_kv_head_major<4,2,8>").verify({8, 8, 2})),
              HasSubstr("expected 2 heads of size 8, found 8 of size 2"));
  EXPECT_THAT(message(parse("interleaved_rows<2,3,1>").verify({9, 4})),
              HasSubstr("expected 2 groups of 3 + 1, found an extent of 9"));
  EXPECT_THAT(message(parse("interleaved_columns<2,3,1>").verify({4, 10})),
              HasSubstr("expected 2 groups of 3 + 1, found an extent of 10"));
  EXPECT_THAT(message(parse("interleaved_columns<2,3>").verify({})),
              HasSubstr("at least 1 dimensions"));
  EXPECT_THAT(message(parse("interleaved_rows<1,9223372036854775807,"
                            "9223372036854775807>")
                          .verify({9, 4})),
              HasSubstr("found an extent of 9"));
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
