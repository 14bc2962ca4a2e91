//===- SemanticsLdsTests.cpp - lanes through the LDS hardware -------------===//
// SPDX-License-Identifier: MIT
#include "LaneTable.h"

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;

/// A byte that differs from those of other places.
uint8_t noise(U place) {
  return uint8_t((place * 0x9e3779b97f4a7c15ull) >> 37 ^ place);
}

TEST(SemanticsMemory, PermutationsOfLanes) {
  for (U exec : masks()) {
    MemoryMachine m;
    m.wave.setExec(exec);
    std::array<uint32_t, 64> target;
    for (unsigned l = 0; l < 64; ++l) {
      target[l] = (l * 29 + l / 7) % 64;
      m.v(1, l) = target[l] * 4 + l % 4 + (l % 3) * 256; // high bits ignored
      m.v(2, l) = 5000 + l;
      m.v(3, l) = m.v(4, l) = 1;
    }
    m.run("ds_bpermute_b32 v3, v1, v2 offset:8");
    m.run("ds_permute_b32 v4, v1, v2 offset:8");
    for (unsigned l = 0; l < 64; ++l) {
      const unsigned from = (target[l] + 2) % 64;
      ASSERT_EQ(m.v(3, l), !(exec >> l & 1)   ? 1
                           : exec >> from & 1 ? 5000 + from
                                              : 0)
          << l;
      uint32_t last = 0;
      for (unsigned k = 0; k < 64; ++k)
        if ((exec >> k & 1) && (target[k] + 2) % 64 == l)
          last = 5000 + k;
      ASSERT_EQ(m.v(4, l), exec >> l & 1 ? last : 1) << l;
    }
  }
}

TEST(SemanticsMemory, Swizzles) {
  // The ISA's examples: what lanes 0 to 31 get when lane l holds l + 1.
  struct Example {
    unsigned offset;
    std::vector<unsigned> lanes;
  };
  const Example examples[] = {
      {0xe000, {1, 17, 9,  25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31,
                2, 18, 10, 26, 6, 22, 14, 30, 4, 20, 12, 28, 8, 24, 16, 32}},
      {0xe010,
       {1,  9,  5,  13, 3,  11, 7,  15, 2,  10, 6,  14, 4,  12, 8,  16,
        17, 25, 21, 29, 19, 27, 23, 31, 18, 26, 22, 30, 20, 28, 24, 32}},
      {0xe01f,
       {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}},
      {0xc020, {2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
                18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 1}},
      {0xc420,
       {32, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
      {0xc021, {1,  4,  3,  6,  5,  8,  7,  10, 9,  12, 11, 14, 13, 16, 15, 18,
                17, 20, 19, 22, 21, 24, 23, 26, 25, 28, 27, 30, 29, 32, 31, 2}},
      {0xc421,
       {31, 2,  1,  4,  3,  6,  5,  8,  7,  10, 9,  12, 11, 14, 13, 16,
        15, 18, 17, 20, 19, 22, 21, 24, 23, 26, 25, 28, 27, 30, 29, 32}},
      {0x801b,
       {4,  3,  2,  1,  8,  7,  6,  5,  12, 11, 10, 9,  16, 15, 14, 13,
        20, 19, 18, 17, 24, 23, 22, 21, 28, 27, 26, 25, 32, 31, 30, 29}},
      // and 0x1c, or 2, xor 1: lane 3 of each group of four.
      {1 << 10 | 2 << 5 | 0x1c,
       {4,  4,  4,  4,  8,  8,  8,  8,  12, 12, 12, 12, 16, 16, 16, 16,
        20, 20, 20, 20, 24, 24, 24, 24, 28, 28, 28, 28, 32, 32, 32, 32}}};
  for (const Example &e : examples)
    for (U exec : masks()) {
      MemoryMachine m;
      m.wave.setExec(exec);
      for (unsigned l = 0; l < 64; ++l) {
        m.v(1, l) = l + 1;
        m.v(2, l) = 999;
      }
      m.run("ds_swizzle_b32 v2, v1 offset:" + std::to_string(e.offset));
      for (unsigned l = 0; l < 64; ++l) {
        const unsigned from = e.lanes[l % 32] - 1 + l / 32 * 32;
        ASSERT_EQ(m.v(2, l), !(exec >> l & 1)   ? 999
                             : exec >> from & 1 ? from + 1
                                                : 0)
            << std::hex << e.offset << " lane " << std::dec << l;
      }
    }
}

TEST(SemanticsMemory, TransposingReads) {
  struct Row {
    const char *line;
    unsigned bits, words;
  };
  for (const Row &row :
       {Row{"ds_read_b64_tr_b16 v[20:21], v2 offset:64", 16, 2},
        Row{"ds_read_b64_tr_b8 v[20:21], v2 offset:64", 8, 2},
        Row{"ds_read_b64_tr_b4 v[20:21], v2 offset:64", 4, 2},
        Row{"ds_read_b96_tr_b6 v[20:22], v2 offset:64", 6, 3}}) {
    SCOPED_TRACE(row.line);
    MemoryMachine m;
    // Groups of 16 lanes hold 16 columns; element (r, c) of a group's tile has
    // a value of its own. Lanes hold runs of a row, rows one after the other.
    const unsigned perLane = row.words * 32 / row.bits;
    auto element = [&](unsigned group, unsigned r, unsigned c) {
      return noise(group * 1000 + r * 16 + c) & ((1u << row.bits) - 1);
    };
    auto wide = [&](unsigned group, unsigned r, unsigned c) {
      return row.bits == 16
                 ? element(group, r, c) << 8 | noise(group + r * 31 + c * 7)
                 : element(group, r, c);
    };
    for (unsigned l = 0; l < 64; ++l) {
      const uint32_t at = 64 + l * 37 % 64 * 16;
      m.v(2, l) = at - 64;
      for (unsigned k = 0; k < perLane; ++k) {
        const unsigned linear = l % 16 * perLane + k;
        const U value = wide(l / 16, linear / 16, linear % 16);
        for (unsigned bit = 0; bit < row.bits; ++bit)
          if (value >> bit & 1)
            m.lds()[at + (k * row.bits + bit) / 8] |=
                uint8_t(1u << (k * row.bits + bit) % 8);
      }
    }
    m.run(row.line);
    for (unsigned l = 0; l < 64; ++l)
      for (unsigned k = 0; k < perLane; ++k) {
        U got = 0;
        for (unsigned bit = 0; bit < row.bits; ++bit) {
          const unsigned place = k * row.bits + bit;
          got |= U(m.v(20 + place / 32, l) >> place % 32 & 1) << bit;
        }
        ASSERT_EQ(got, wide(l / 16, k, l % 16)) << "lane " << l << " " << k;
      }
  }
}

} // namespace
