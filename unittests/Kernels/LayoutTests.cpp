//===- LayoutTests.cpp - gfx950.layout_convert_f32_* ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "LayoutProblems.h"

using namespace kernels;

namespace {

const char *const transpose = "gfx950.layout_convert_f32_transpose";
const char *const restore = "gfx950.layout_convert_f32_restore";

/// Where the formulas of docs/catalogue.md put element (m, n) of matrix b.
size_t offsetIn(const std::string &layout, int64_t rows, int64_t columns,
                int64_t b, int64_t m, int64_t n) {
  bool sideBySide = layout == "group_major" || layout == "v_major";
  return b * rows * columns + (sideBySide ? n * rows + m : m * columns + n);
}

struct Case {
  int64_t b, m, n;
  std::string from, to;

  netra::Problem problem() const {
    std::vector<int64_t> shape = {b, m, n};
    return convertProblem(b == 1 ? std::vector<int64_t>{m, n} : shape, from,
                          to);
  }
  const char *tactic() const {
    return from == "row_major" || from == "k_major" ? transpose : restore;
  }
};

/// Bits of every kind: NaNs with payloads, denormals, infinities, numbers.
std::vector<uint32_t> makeInput(const Case &c) {
  Random random(c.m * 1000 + c.n);
  std::vector<uint32_t> x(c.b * c.m * c.n);
  for (uint32_t &bits : x)
    bits = static_cast<uint32_t>(random.bits());
  return x;
}

std::string check(const Case &c, const std::vector<uint32_t> &x,
                  const Outcome &run) {
  if (run.outputs.empty())
    return "no result";
  std::vector<uint32_t> result = fromBytes<uint32_t>(run.outputs.at("result"));
  if (result.size() != x.size())
    return "wrong size";
  for (int64_t b = 0; b != c.b; ++b)
    for (int64_t m = 0; m != c.m; ++m)
      for (int64_t n = 0; n != c.n; ++n) {
        uint32_t expected = x[offsetIn(c.from, c.m, c.n, b, m, n)];
        uint32_t found = result[offsetIn(c.to, c.m, c.n, b, m, n)];
        if (found != expected)
          return "element " + std::to_string(b) + ", " + std::to_string(m) +
                 ", " + std::to_string(n) + ": expected " +
                 std::to_string(expected) + ", found " + std::to_string(found);
      }
  return "";
}

TEST(LayoutConvert, MovesEveryElement) {
  for (auto [b, m, n] : {std::tuple<int64_t, int64_t, int64_t>(1, 1, 1),
                         {1, 1, 16},
                         {1, 5, 40},
                         {1, 16, 136},
                         {1, 64, 64},
                         {1, 65, 63},
                         {1, 200, 17},
                         {3, 31, 70},
                         {1, 1, 200}})
    for (auto [rows, columns] :
         {std::pair<const char *, const char *>("row_major", "group_major"),
          {"k_major", "v_major"}})
      for (bool back : {false, true}) {
        // Layouts other than those of scales change the contract only.
        if (std::string(rows) == "k_major" && b == 1)
          continue;
        Case c{b, m, n, back ? columns : rows, back ? rows : columns};
        std::vector<uint32_t> x = makeInput(c);
        Outcome run =
            runEverywhere(c.tactic(), c.problem(), {{"x", toBytes(x)}});
        EXPECT_EQ(check(c, x, run), "")
            << b << "x" << m << "x" << n << " to " << c.to;
      }
}

TEST(LayoutConvert, OneCodeObjectForAnyRowsAndMatrices) {
  for (bool back : {false, true}) {
    auto make = [&](int64_t b, int64_t m) {
      return Case{b, m, 40, back ? "group_major" : "row_major",
                  back ? "row_major" : "group_major"};
    };
    expectOneCodeObject(make(1, 1).tactic(), make(1, 1).problem(),
                        make(7, 70000).problem());
  }
}

TEST(LayoutConvertCounters, WholeLinesOnceWithoutConflicts) {
  for (bool back : {false, true}) {
    Case c{1, 256, 128, back ? "group_major" : "row_major",
           back ? "row_major" : "group_major"};
    netra::sim::Counters counters =
        countersOf(c.tactic(), c.problem(), {{"x", toBytes(makeInput(c))}});
    const uint64_t bytes = 4 * 256 * 128;
    // And two pointers and the rows for each wave.
    EXPECT_EQ(counters.globalLoadBytes, bytes + counters.waves * 20);
    EXPECT_EQ(counters.globalDistinctReadBytes, bytes + 20);
    EXPECT_EQ(counters.globalStoreBytes, bytes);
    EXPECT_EQ(counters.globalDistinctWrittenBytes, bytes);
    EXPECT_EQ(counters.ldsConflictCycles, 0u);
    EXPECT_EQ(counters.maxRoundTrips, 2u); // arguments, the tile
  }
}

TEST(LayoutConvertNegative, WrongKernelsAreNoticed) {
  Case c{2, 70, 40, "row_major", "group_major"};
  std::vector<uint32_t> x = makeInput(c);
  auto wrong = [&](const char *from, const char *to, unsigned occurrence = 1) {
    return noticed(c.tactic(), c.problem(), {{"x", toBytes(x)}}, {},
                   {{"layout/transpose_f32.s", from, to, occurrence}},
                   [&](const Outcome &run) { return check(c, x, run); });
  };
  EXPECT_EQ(wrong("// Schedule.", "// The schedule."), "");
  // The tile is read before other waves have written it.
  EXPECT_NE(wrong("  netra_barrier\n", ""), "");
  EXPECT_NE(wrong("  netra_wait_memory 0\n", "").find("wait"),
            std::string::npos);
  EXPECT_NE(wrong("  netra_wait_lds\n", "").find("wait"), std::string::npos);
  // Another line of LDS, of memory, of the work-group.
  EXPECT_NE(wrong("offset:260*transpose_i", "offset:256*transpose_i"), "");
  EXPECT_NE(wrong("v_mul_u32_u24 v[V_LDS], 65", "v_mul_u32_u24 v[V_LDS], 64"),
            "");
  EXPECT_NE(wrong("s_lshl_b32 s[S_BYTES], s[\\width], 2",
                  "s_lshl_b32 s[S_BYTES], s[\\lines], 2"),
            "");
  // Lines and lanes past the end.
  EXPECT_NE(wrong("s_cmp_le_i32 s[S_LEFT], \\i", "s_cmp_lt_i32 s[S_LEFT], \\i"),
            "");
  EXPECT_NE(wrong("  s_and_b64 exec, exec, vcc\n", ""), "");
  EXPECT_NE(wrong("  s_mov_b64 exec, -1\n", ""), "");
  // The first matrix again.
  EXPECT_NE(wrong("netra_row_pointer S_X, S_B, s[S_BYTES]",
                  "netra_row_pointer S_X, S_B, 0"),
            "");
  EXPECT_NE(wrong("s_mul_i32 s[S_BYTES], s[S_M], 4 * NETRA_N",
                  "s_mul_i32 s[S_BYTES], s[S_M], 2 * NETRA_N"),
            "");
}

} // namespace
