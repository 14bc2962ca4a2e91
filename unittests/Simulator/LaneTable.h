//===- LaneTable.h - tables of lane operations and their driver -*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// A row is one instruction over v1, v2, v3 (v[2:3], v[4:5], v[6:7] for 64-bit
// operands) with result v0 (v[0:1]) and a model of one lane. The driver runs
// every row over edge values and random ones, under several execution masks,
// and checks that lanes switched off keep what they had.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_UNITTESTS_SIMULATOR_LANETABLE_H
#define NETRA_UNITTESTS_SIMULATOR_LANETABLE_H

#include "InstructionHarness.h"

#include <functional>
#include <random>

namespace netra::sim::test {

struct Row {
  std::string text;
  unsigned sources; ///< how many of a, b, c the model looks at
  std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c, uint64_t old)>
      model;
  unsigned resultWords = 1;
  uint32_t mode = PlainMode;
};

inline const std::vector<uint64_t> &masks() {
  static const std::vector<uint64_t> list = {~0ull,
                                             0,
                                             1,
                                             1ull << 63,
                                             0x8000000180000001,
                                             0x5555555555555555,
                                             0xffffffff00000000,
                                             0x00000000ffffffff};
  return list;
}

/// Operand values: every pair (or triple) of \p edges, then random ones.
inline std::vector<std::array<uint64_t, 3>>
operandsFor(unsigned sources, const std::vector<uint64_t> &edges,
            unsigned extra, bool wide) {
  std::vector<std::array<uint64_t, 3>> list;
  const size_t n = edges.size();
  if (sources == 1)
    for (uint64_t a : edges)
      list.push_back({a, 0, 0});
  else
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        if (sources == 2) {
          list.push_back({edges[i], edges[j], 0});
          continue;
        }
        // Not every triple: each pair with a few third values.
        for (size_t k = 0; k < 5; ++k)
          list.push_back(
              {edges[i], edges[j], edges[(i * 7 + j * 3 + k * 5) % n]});
      }
  std::mt19937_64 random(n + sources);
  for (unsigned i = 0; i < extra; ++i) {
    std::array<uint64_t, 3> t;
    for (uint64_t &v : t) {
      v = random();
      if (!wide)
        v &= 0xffffffff;
      if (random() % 4 == 0)
        v = edges[random() % n];
    }
    list.push_back(t);
  }
  return list;
}

/// \p wordsOf gives the width of each source in registers.
inline void runTable(const std::vector<Row> &rows,
                     const std::vector<uint64_t> &edges,
                     std::array<unsigned, 3> wordsOf = {1, 1, 1},
                     unsigned extra = 256) {
  std::vector<std::string> lines;
  for (const Row &row : rows)
    lines.push_back(row.text);
  Sequence sequence(lines);
  ASSERT_EQ(sequence.size(), rows.size());
  const bool wide = wordsOf[0] == 2 || wordsOf[1] == 2 || wordsOf[2] == 2;
  // Sources start at v1, v2, v3 or, with 64-bit operands about, v2, v4, v6.
  const unsigned first[3] = {wide ? 2u : 1u, wide ? 4u : 2u, wide ? 6u : 3u};
  for (size_t r = 0; r < rows.size(); ++r) {
    const Row &row = rows[r];
    SCOPED_TRACE(row.text);
    ASSERT_EQ(sequence.problem(r), "");
    auto list = operandsFor(row.sources, edges, extra, wide);
    Machine m;
    m.wave.mode = row.mode;
    unsigned turn = 0;
    for (size_t base = 0; base < list.size(); base += 64, ++turn) {
      const uint64_t exec = masks()[turn % masks().size()];
      m.wave.setExec(exec);
      std::vector<uint64_t> old(64);
      for (unsigned l = 0; l < 64; ++l) {
        const auto &t = list[(base + l) % list.size()];
        for (unsigned k = 0; k < 3; ++k)
          for (unsigned word = 0; word < wordsOf[k]; ++word)
            m.v(first[k] + word, l) = uint32_t(t[k] >> (32 * word));
        old[l] = 0xa5a5000012340000 + l * 0x100000001;
        for (unsigned word = 0; word < row.resultWords; ++word)
          m.v(word, l) = uint32_t(old[l] >> (32 * word));
      }
      m.run(sequence[r]);
      for (unsigned l = 0; l < 64; ++l) {
        const auto &t = list[(base + l) % list.size()];
        uint64_t got = m.v(0, l);
        if (row.resultWords == 2)
          got |= uint64_t(m.v(1, l)) << 32;
        uint64_t before = row.resultWords == 2 ? old[l] : old[l] & 0xffffffff;
        uint64_t expected =
            exec >> l & 1 ? row.model(t[0], t[1], t[2], before) : before;
        if (row.resultWords == 1)
          expected &= 0xffffffff;
        ASSERT_EQ(got, expected)
            << std::hex << "a=" << t[0] << " b=" << t[1] << " c=" << t[2]
            << " old=" << before << std::dec << " lane " << l << " exec "
            << std::hex << exec;
      }
    }
  }
}

inline const std::vector<uint64_t> &integerEdges() {
  static const std::vector<uint64_t> list = {
      0,          1,          2,          3,          4,          5,
      15,         16,         24,         31,         32,         33,
      0x7f,       0x80,       0xff,       0x7fff,     0x8000,     0xffff,
      0x7fffff,   0x800000,   0xffffff,   0x7fffffff, 0x80000000, 0x80000001,
      0xffffffff, 0xfffffffe, 0x55555555, 0xdeadbeef, 0x00080010, 0x0c0d0e01};
  return list;
}
inline const std::vector<uint64_t> &floatEdges() {
  static const std::vector<uint64_t> list = {
      0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40000000,
      0xc0400000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000,
      0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234,
      0x7f800001, 0xffa00005, 0x3f7fffff, 0x3f800001, 0x33800000, 0x4b000000,
      0x4b800001, 0x1fffffff, 0x5f000000, 0x3dcccccd, 0xc2f6e979, 0x7e800000};
  return list;
}

/// Those for which \p holds(value) is true: with them alone, whole blocks of
/// lanes take the way of what is common.
template <typename Function>
std::vector<uint64_t> edgesWhere(const std::vector<uint64_t> &edges,
                                 Function &&holds) {
  std::vector<uint64_t> list;
  for (uint64_t edge : edges)
    if (holds(edge))
      list.push_back(edge);
  return list;
}

inline std::vector<uint64_t> doubleEdges() {
  return {0,
          0x8000000000000000,
          0x3ff0000000000000,
          0xbff8000000000000,
          0x0000000000000001,
          0x800fffffffffffff,
          0x0010000000000000,
          0x7fefffffffffffff,
          0x7ff0000000000000,
          0xfff0000000000000,
          0x7ff8000000000123,
          0xfff0000000000001,
          0x4340000000000001,
          0x3ca0000000000000,
          0x41dfffffffc00000,
          0xc1e0000000000000,
          0x41efffffffe00000,
          0x7fe0000000000000,
          0x1ff0000000000000,
          0x3fe0000000000000,
          0x4004000000000000,
          0xc004000000000000};
}

} // namespace netra::sim::test

#endif // NETRA_UNITTESTS_SIMULATOR_LANETABLE_H
