//===- SemanticsCompareTests.cpp - v_cmp and v_cmpx -----------------------===//
// SPDX-License-Identifier: MIT
#include "ExactFloat.h"
#include "LaneTable.h"

#include <bit>
#include <cmath>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;

TEST(SemanticsFloat, Comparisons) {
  struct Condition {
    const char *name;
    bool less, equal, greater, unordered;
  };
  const Condition conditions[] = {
      {"f", 0, 0, 0, 0},   {"lt", 1, 0, 0, 0},  {"eq", 0, 1, 0, 0},
      {"le", 1, 1, 0, 0},  {"gt", 0, 0, 1, 0},  {"lg", 1, 0, 1, 0},
      {"ge", 0, 1, 1, 0},  {"o", 1, 1, 1, 0},   {"u", 0, 0, 0, 1},
      {"nge", 1, 0, 0, 1}, {"nlg", 0, 1, 0, 1}, {"ngt", 1, 1, 0, 1},
      {"nle", 0, 0, 1, 1}, {"neq", 1, 0, 1, 1}, {"nlt", 0, 1, 1, 1},
      {"tru", 1, 1, 1, 1}};
  for (const Condition &c : conditions)
    for (const char *type : {"f32", "f64", "f16"}) {
      const Format &f = type[1] == '3' ? f32 : type[1] == '6' ? f64 : f16;
      std::string name = std::string("v_cmp_") + c.name + "_" + type;
      bool wide = f.width() == 64;
      const char *regs = wide ? " v[2:3], v[4:5]" : " v2, v4";
      Sequence s({name + "_e64 s[10:11]," + regs,
                  "v_cmpx_" + name.substr(6) + " vcc," + regs});
      ASSERT_EQ(s.problem(0), "") << name;
      ASSERT_EQ(s.problem(1), "") << name;
      std::vector<uint64_t> edges =
          wide ? doubleEdges()
          : f.width() == 32
              ? floatEdges()
              : std::vector<uint64_t>{0,      0x8000, 0x3c00, 0xbc00, 1,
                                      0x7c00, 0xfc00, 0x7e00, 0x7bff, 0x8001};
      Machine m;
      const uint64_t exec = 0xfedcba9876543210;
      for (U a : edges) {
        m.wave.setExec(exec);
        uint64_t expected = 0;
        for (unsigned l = 0; l < 64; ++l) {
          U b = edges[l % edges.size()];
          for (unsigned word = 0; word < 2; ++word) {
            m.v(2 + word, l) = uint32_t(a >> 32 * word);
            m.v(4 + word, l) = uint32_t(b >> 32 * word);
          }
          bool r;
          if (f.isNan(a) || f.isNan(b))
            r = c.unordered;
          else if ((f.isZero(a) && f.isZero(b)) || a == b)
            r = c.equal;
          else
            r = order(f, a) < order(f, b) ? c.less : c.greater;
          expected |= U(r) << l;
        }
        m.run(s[0]);
        ASSERT_EQ(m.wave.pair(10), expected & exec) << name << std::hex << a;
        ASSERT_EQ(m.wave.exec(), exec);
        m.run(s[1]);
        ASSERT_EQ(m.wave.vcc(), expected & exec) << name;
        ASSERT_EQ(m.wave.exec(), expected & exec) << name;
      }
    }
}

TEST(SemanticsFloat, IntegerComparisonsAndClasses) {
  const struct {
    const char *name;
    bool less, equal, greater;
  } conditions[] = {{"lt", 1, 0, 0}, {"eq", 0, 1, 0}, {"le", 1, 1, 0},
                    {"gt", 0, 0, 1}, {"ne", 1, 0, 1}, {"ge", 0, 1, 1}};
  for (const auto &c : conditions)
    for (const char *type : {"i32", "u32", "i64", "u64", "i16", "u16"}) {
      const unsigned bits = type[1] == '3' ? 32 : type[1] == '6' ? 64 : 16;
      std::string regs = bits == 64 ? " v[2:3], v[4:5]" : " v2, v4";
      Sequence s(
          {std::string("v_cmp_") + c.name + "_" + type + "_e64 vcc," + regs});
      ASSERT_EQ(s.problem(0), "");
      std::vector<U> edges = {0,           1,
                              0x7fff,      0x8000,
                              0xffff,      0x7fffffff,
                              0x80000000,  0xffffffff,
                              0x100000000, 0x8000000000000000,
                              ~U(0),       0x7fffffffffffffff};
      Machine m;
      for (U a : edges) {
        uint64_t expected = 0;
        for (unsigned l = 0; l < 64; ++l) {
          U b = edges[l % edges.size()];
          for (unsigned word = 0; word < 2; ++word) {
            m.v(2 + word, l) = uint32_t(a >> 32 * word);
            m.v(4 + word, l) = uint32_t(b >> 32 * word);
          }
          U x = a << (64 - bits), y = b << (64 - bits);
          bool less = type[0] == 'i' ? int64_t(x) < int64_t(y) : x < y;
          bool r = x == y ? c.equal : less ? c.less : c.greater;
          expected |= U(r) << l;
        }
        m.run(s[0]);
        ASSERT_EQ(m.wave.vcc(), expected) << c.name << type << std::hex << a;
      }
    }
  Machine m;
  const uint32_t classes[] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000,
                              0x80000001, 0x80000000, 0x00000000, 0x00000001,
                              0x3f800000, 0x7f800000};
  for (unsigned l = 0; l < 64; ++l) {
    m.v(1, l) = classes[l % 10];
    m.v(2, l) = 1u << (l / 6);
  }
  m.run("v_cmp_class_f32 vcc, v1, v2");
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(m.wave.vcc() >> l & 1, U(l % 10 == l / 6)) << l;
}

} // namespace
