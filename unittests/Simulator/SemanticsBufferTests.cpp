//===- SemanticsBufferTests.cpp - descriptors, formats, float atomics -----===//
// SPDX-License-Identifier: MIT
#include "ExactFloat.h"
#include "LaneTable.h"

#include <cmath>
#include <cstring>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;

struct Words {
  uint32_t stride = 0, records = 4096;
  unsigned dataFormat = 4, numberFormat = 7;
  unsigned select[4] = {4, 5, 6, 7};
  bool swizzles = false, addsThread = false;
  unsigned indexStride = 0; ///< 8 << n
};
void setDescriptor(MemoryMachine &m, const Words &d) {
  m.s(8) = uint32_t(m.address);
  m.s(9) =
      uint32_t(m.address >> 32) | d.stride << 16 | uint32_t(d.swizzles) << 31;
  m.s(10) = d.records;
  m.s(11) = d.select[0] | d.select[1] << 3 | d.select[2] << 6 |
            d.select[3] << 9 | d.numberFormat << 12 | d.dataFormat << 15 |
            d.indexStride << 21 | uint32_t(d.addsThread) << 23;
}
uint32_t dwordAt(MemoryMachine &m, uint32_t place) {
  uint32_t value;
  std::memcpy(&value, m.memory() + place, 4);
  return value;
}
void fill(MemoryMachine &m) {
  for (uint32_t i = 0; i < 4096; ++i) {
    const uint32_t value = i * 0x01000193 + 7;
    std::memcpy(m.memory() + 4 * i, &value, 4);
  }
}
/// Runs an instruction that must be refused; gives the reason.
std::string refusal(MemoryMachine &m, const std::string &line) {
  Sequence s({line});
  if (!s.problem(0).empty())
    return s.problem(0);
  const Instruction &inst = s[0];
  inst.handler(inst, m.wave);
  const std::string reason =
      m.wave.state == WaveStatus::Failed ? m.wave.error : "";
  m.wave.state = WaveStatus::Running;
  return reason;
}

//===----------------------------------------------------------------------===//
// Ranges and swizzling
//===----------------------------------------------------------------------===//

TEST(SemanticsBuffer, RawBuffersEndWithinWideAccesses) {
  MemoryMachine m;
  fill(m);
  setDescriptor(m, {.records = 100});
  for (unsigned l = 0; l < 64; ++l)
    m.v(2, l) = l * 4;
  m.run("buffer_load_dwordx4 v[20:23], v2, s[8:11], 0 offen");
  for (unsigned l = 0; l < 64; ++l)
    for (unsigned k = 0; k < 4; ++k) {
      const uint32_t place = l * 4 + 4 * k;
      ASSERT_EQ(m.v(20 + k, l), place + 4 <= 100 ? dwordAt(m, place) : 0)
          << l << " " << k;
      m.v(20 + k, l) = 0xaaaa0000 + l * 4 + k;
    }
  m.wave.setExec(U(1) << 23); // bytes 92 to 107
  m.run("buffer_store_dwordx4 v[20:23], v2, s[8:11], 0 offen");
  EXPECT_EQ(dwordAt(m, 96), 0xaaaa0000 + 23 * 4 + 1);
  EXPECT_EQ(dwordAt(m, 100), 25 * 0x01000193u + 7);
  // Atomics are all or nothing.
  m.v(20, 23) = 1;
  m.run("buffer_atomic_add_x2 v[20:21], v2, s[8:11], 4 offen offset:1");
  EXPECT_EQ(dwordAt(m, 96), 0xaaaa0000 + 23 * 4 + 1);
}

TEST(SemanticsBuffer, RecordsOfStructuredBuffers) {
  MemoryMachine m;
  fill(m);
  setDescriptor(m, {.stride = 12, .records = 40});
  for (unsigned l = 0; l < 64; ++l) {
    m.v(2, l) = l;
    m.v(20, l) = 1;
  }
  m.run("buffer_load_dword v20, v2, s[8:11], 0 idxen offset:8");
  for (unsigned l = 0; l < 64; ++l)
    ASSERT_EQ(m.v(20, l), l < 40 ? dwordAt(m, l * 12 + 8) : 0) << l;
}

TEST(SemanticsBuffer, ThreadIdsAreAnIndexWithALongStride) {
  MemoryMachine m;
  fill(m);
  // The format's bits are 17:14 of the stride, and nothing is checked.
  setDescriptor(
      m, {.stride = 16, .records = 0, .dataFormat = 0, .addsThread = true});
  m.s(12) = 256;
  for (unsigned l = 0; l < 64; ++l)
    m.v(2, l) = l % 3 * 4;
  m.run("buffer_load_dword v20, v2, s[8:11], s12 offen");
  for (unsigned l = 0; l < 64; ++l)
    ASSERT_EQ(m.v(20, l), dwordAt(m, 256 + l * 16 + l % 3 * 4)) << l;
  EXPECT_NE(refusal(m, "buffer_load_dword v20, v2, s[8:11], s12 idxen"), "");
}

TEST(SemanticsBuffer, SwizzledBuffers) {
  for (unsigned indexStride = 0; indexStride < 4; ++indexStride)
    for (unsigned stride : {4u, 12u, 20u}) {
      MemoryMachine m;
      fill(m);
      setDescriptor(m, {.stride = stride,
                        .records = 90,
                        .swizzles = true,
                        .indexStride = indexStride});
      const unsigned group = 8u << indexStride;
      for (unsigned l = 0; l < 64; ++l) {
        m.v(2, l) = l * 3 % 100;
        m.v(3, l) = l * 4 % stride;
        m.v(24, l) = 0xbb00 + l;
      }
      // Element e of record i lies with those of its group of records.
      auto place = [&](unsigned l, unsigned byte) {
        const unsigned index = l * 3 % 100, offset = l * 4 % stride + byte;
        return index / group * group * stride + offset / 4 * 4 * group +
               index % group * 4 + offset % 4;
      };
      m.run("buffer_load_dword v20, v[2:3], s[8:11], 0 idxen offen");
      m.run("buffer_load_ubyte v21, v[2:3], s[8:11], 0 idxen offen offset:2");
      for (unsigned l = 0; l < 64; ++l) {
        const bool inside = l * 3 % 100 < 90;
        ASSERT_EQ(m.v(20, l), inside ? dwordAt(m, place(l, 0)) : 0) << l;
        ASSERT_EQ(m.v(21, l), inside ? m.memory()[place(l, 2)] : 0) << l;
      }
      m.run("buffer_store_dword v24, v[2:3], s[8:11], 0 idxen offen");
      EXPECT_EQ(dwordAt(m, place(5, 0)), 0xbb05u);
      // What would cross or exceed an element is refused.
      EXPECT_NE(refusal(m, "buffer_load_dwordx2 v[20:21], v2, s[8:11], 0 "
                           "idxen"),
                "");
      EXPECT_NE(refusal(m, "buffer_load_dword v20, v2, s[8:11], 0 idxen "
                           "offset:2"),
                "");
      EXPECT_NE(refusal(m, "buffer_load_dword v20, v3, s[8:11], 0 offen"), "");
    }
  // Scratch by descriptor: lanes side by side.
  MemoryMachine m;
  fill(m);
  setDescriptor(m, {.stride = 64,
                    .records = 0,
                    .dataFormat = 0,
                    .swizzles = true,
                    .addsThread = true,
                    .indexStride = 3});
  for (unsigned l = 0; l < 64; ++l)
    m.v(2, l) = 8;
  m.run("buffer_load_dword v20, v2, s[8:11], 0 offen offset:4");
  for (unsigned l = 0; l < 64; ++l)
    ASSERT_EQ(m.v(20, l), dwordAt(m, 12 * 64 + l * 4)) << l;
}

TEST(SemanticsBuffer, AnInvalidFormatMeansUnbound) {
  MemoryMachine m;
  fill(m);
  setDescriptor(m, {.dataFormat = 0});
  for (unsigned l = 0; l < 64; ++l) {
    m.v(2, l) = l * 4;
    m.v(20, l) = m.v(21, l) = 5;
  }
  m.run("buffer_load_dword v20, v2, s[8:11], 0 offen");
  m.run("buffer_store_dword v21, v2, s[8:11], 0 offen");
  m.run("buffer_atomic_add v21, v2, s[8:11], 0 offen sc0");
  for (unsigned l = 0; l < 64; ++l) {
    ASSERT_EQ(m.v(20, l), 0u);
    ASSERT_EQ(m.v(21, l), 0u);
    ASSERT_EQ(dwordAt(m, 4 * l), l * 0x01000193 + 7);
  }
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

enum Number { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float = 7 };
struct FormatRow {
  unsigned data;
  std::vector<unsigned> bits; ///< of the channels from the lowest bit up
  std::vector<int> numbers;
};
const std::vector<FormatRow> &formats() {
  static const std::vector<int> narrow = {Unorm,   Snorm, Uscaled,
                                          Sscaled, Uint,  Sint},
                                half = {Unorm, Snorm, Uscaled, Sscaled,
                                        Uint,  Sint,  Float},
                                full = {Uint, Sint, Float}, floats = {Float};
  static const std::vector<FormatRow> list = {
      {1, {8}, narrow},
      {2, {16}, half},
      {3, {8, 8}, narrow},
      {4, {32}, full},
      {5, {16, 16}, half},
      {6, {11, 11, 10}, floats},
      {7, {10, 11, 11}, floats},
      {8, {2, 10, 10, 10}, narrow},
      {9, {10, 10, 10, 2}, narrow},
      {10, {8, 8, 8, 8}, narrow},
      {11, {32, 32}, full},
      {12, {16, 16, 16, 16}, half},
      {13, {32, 32, 32}, full},
      {14, {32, 32, 32, 32}, full},
  };
  return list;
}

/// The value of a field as a long double; exact but for the quotients, which
/// have more digits than any format here.
long double valueOf(U field, unsigned bits, int number) {
  const int64_t integer = int64_t(field << (64 - bits)) >> (64 - bits);
  switch (number) {
  case Unorm:
    return (long double)field / ((1u << bits) - 1);
  case Snorm:
    return std::max((long double)integer / ((1u << (bits - 1)) - 1), -1.0L);
  case Uscaled:
  case Uint:
    return field;
  case Sscaled:
  case Sint:
    return integer;
  default: {
    // Unsigned formats of 10 and 11 bits have the exponent of a half.
    const unsigned mantissa = bits == 10 ? 5 : bits == 11 ? 6 : 10;
    const int e = int(field >> mantissa & 31);
    const long double m = field & ((1u << mantissa) - 1);
    const bool negative = bits == 16 && field >> 15;
    const long double v = std::ldexp(e ? m + (1u << mantissa) : m,
                                     (e ? e : 1) - 15 - int(mantissa));
    return negative ? -v : v;
  }
  }
}
/// Rounds to nearest even by looking at all neighbours there are.
uint32_t nearest(const Format &f, long double v) {
  const bool negative = std::signbit(v);
  const long double magnitude = std::fabs(v);
  auto valueOfBits = [&](uint32_t b) {
    const Exact x = exactOf(f, b);
    return std::ldexp((long double)(U)x.significand, x.exponent);
  };
  uint32_t low = 0, high = uint32_t(f.infinity()) - 1;
  while (low < high) { // the largest not above
    const uint32_t mid = low + (high - low + 1) / 2;
    if (valueOfBits(mid) <= magnitude)
      low = mid;
    else
      high = mid - 1;
  }
  const long double below = magnitude - valueOfBits(low),
                    above = valueOfBits(low + 1) - magnitude;
  const uint32_t picked =
      below < above || (below == above && !(low & 1)) ? low : low + 1;
  return picked | (negative ? uint32_t(f.sign()) : 0);
}

/// A field worth testing: not a NaN, and with an exact 16-bit form when that
/// is asked for.
U testField(unsigned bits, int number, unsigned k, bool isHalf) {
  const U all = bits == 32 ? 0xffffffff : (1u << bits) - 1;
  const U picks[] = {0, 1, all, all >> 1, (all >> 1) + 1, all / 3, all - 1};
  U field = k < 7 ? picks[k] : (k * 0x9e3779b97f4a7c15ull >> 20) & all;
  if (number == Float && bits != 32) {
    const unsigned mantissa = bits == 10 ? 5 : bits == 11 ? 6 : 10;
    if ((field >> mantissa & 31) == 31)
      field ^= U(1) << mantissa; // finite
  }
  if (isHalf && bits == 32)
    field = number == Float  ? uint32_t(0x3f800000 + (k << 13))
            : number == Uint ? k * 97
                             : uint32_t(-int(k) * 97);
  if (isHalf && (number == Uscaled || number == Sscaled) && bits > 10)
    field &= 0x3ff;
  return field;
}

struct Form {
  const char *suffix;
  unsigned components;
  bool isHalf, isHigh;
};
const Form shapes[] = {
    {"x", 1, false, false},      {"xy", 2, false, false},
    {"xyz", 3, false, false},    {"xyzw", 4, false, false},
    {"d16_x", 1, true, false},   {"d16_xy", 2, true, false},
    {"d16_xyz", 3, true, false}, {"d16_xyzw", 4, true, false},
    {"d16_hi_x", 1, true, true},
};

/// One component of a register image, as the instruction gives it.
uint32_t componentOf(U field, unsigned bits, int number, bool isHalf) {
  if (number == Float && bits == (isHalf ? 16u : 32u))
    return uint32_t(field);
  if (number == Float && bits == 32) // exact by choice
    return nearest(f16, std::bit_cast<float>(uint32_t(field)));
  const long double v = valueOf(field, bits, number);
  if (number == Uint || number == Sint)
    return uint32_t(int64_t(v)) & (isHalf ? 0xffff : 0xffffffff);
  return nearest(isHalf ? f16 : f32, v);
}

TEST(SemanticsBuffer, FormatsOfLoadsAndStores) {
  for (const FormatRow &format : formats())
    for (int number : format.numbers)
      for (const Form &shape : shapes)
        for (bool isTyped : {false, true}) {
          if (isTyped && shape.isHigh)
            continue;
          const unsigned words =
              shape.isHalf ? (shape.components + 1) / 2 : shape.components;
          const std::string data =
              words == 1 ? "v20" : "v[20:" + std::to_string(19 + words) + "]";
          const std::string tail =
              std::string(" ") + data + ", v2, s[8:11], 0 " +
              (isTyped
                   ? "format:" + std::to_string(format.data | number << 4) + " "
                   : "") +
              "offen";
          const std::string prefix = isTyped ? "tbuffer_" : "buffer_";
          Sequence s({prefix + "load_format_" + shape.suffix + tail,
                      prefix + "store_format_" + shape.suffix + tail});
          SCOPED_TRACE(s.text(0));
          ASSERT_EQ(s.problem(0), "");
          ASSERT_EQ(s.problem(1), "");
          MemoryMachine m;
          Words d;
          if (!isTyped) {
            d.dataFormat = format.data;
            d.numberFormat = unsigned(number);
            // A component that the format lacks cannot be selected.
            for (size_t k = format.bits.size(); k < 4; ++k)
              d.select[k] = k % 2;
          }
          setDescriptor(m, d);
          std::vector<uint8_t> image(4096);
          std::vector<std::array<uint32_t, 4>> registers(64);
          for (unsigned l = 0; l < 64; ++l) {
            m.v(2, l) = l * 24;
            unsigned position = 0;
            for (size_t c = 0; c < format.bits.size(); ++c) {
              const unsigned bits = format.bits[c];
              const U field =
                  testField(bits, number, l + unsigned(c) * 3, shape.isHalf);
              for (unsigned b = 0; b < bits; ++b, ++position)
                if (field >> b & 1)
                  image[l * 24 + position / 8] |= uint8_t(1 << position % 8);
              if (c < shape.components) {
                const uint32_t value =
                    componentOf(field, bits, number, shape.isHalf);
                if (!shape.isHalf)
                  registers[l][c] = value;
                else
                  registers[l][c / 2] |= value
                                         << (c % 2 || shape.isHigh ? 16 : 0);
              }
            }
            // Components behind the format's.
            const bool isInteger = number == Uint || number == Sint;
            for (unsigned c = unsigned(format.bits.size());
                 !isTyped && c < shape.components; ++c)
              if (c % 2)
                registers[l][shape.isHalf ? c / 2 : c] |=
                    isInteger      ? (shape.isHalf ? 0x10000u : 1u)
                    : shape.isHalf ? 0x3c000000u
                                   : 0x3f800000u;
          }
          std::memcpy(m.memory(), image.data(), image.size());
          m.run(s[0]);
          for (unsigned l = 0; l < 64; ++l)
            for (unsigned k = 0; k < words; ++k)
              ASSERT_EQ(m.v(20 + k, l), registers[l][k])
                  << "lane " << l << " word " << k;
          // The way back, where it is defined: all channels of packed formats,
          // and -1.0 has two codes.
          if (format.bits[0] % 8 && shape.components < format.bits.size())
            continue;
          std::memset(m.memory(), 0, image.size());
          m.run(s[1]);
          for (unsigned l = 0; l < 64; ++l) {
            unsigned position = 0;
            for (size_t c = 0;
                 c < std::min<size_t>(format.bits.size(), shape.components);
                 ++c) {
              U got = 0, expected = 0;
              const unsigned bits = format.bits[c];
              for (unsigned b = 0; b < bits; ++b, ++position) {
                const unsigned byte = l * 24 + position / 8;
                got |= U(m.memory()[byte] >> position % 8 & 1) << b;
                expected |= U(image[byte] >> position % 8 & 1) << b;
              }
              if (number == Snorm && expected == U(1) << (bits - 1))
                expected += 1;
              // A half cannot tell all 16-bit normalised numbers apart.
              if (shape.isHalf && bits == 16 && number <= Snorm)
                continue;
              ASSERT_EQ(got, expected) << "lane " << l << " channel " << c;
            }
          }
        }
}

TEST(SemanticsBuffer, UndefinedFormatsAndSelectsAreRefused) {
  MemoryMachine m;
  for (unsigned data = 1; data < 16; ++data)
    for (unsigned number = 0; number < 8; ++number) {
      bool isDefined = false;
      for (const FormatRow &row : formats())
        for (int n : row.numbers)
          isDefined |= row.data == data && unsigned(n) == number;
      setDescriptor(m, {.dataFormat = data, .numberFormat = number});
      EXPECT_EQ(refusal(m, "buffer_load_format_x v20, v2, s[8:11], 0 offen") ==
                    "",
                isDefined)
          << data << " " << number;
    }
  Words d{.dataFormat = 1, .numberFormat = 4};
  d.select[0] = 5; // a channel that one byte does not have
  setDescriptor(m, d);
  EXPECT_NE(refusal(m, "buffer_load_format_x v20, v2, s[8:11], 0 offen"), "");
  EXPECT_NE(refusal(m, "buffer_store_format_x v20, v2, s[8:11], 0 offen"), "");
  // Values that would have to be clamped or rounded.
  setDescriptor(m, {.dataFormat = 1, .numberFormat = 4});
  m.v(20, 7) = 256;
  EXPECT_NE(refusal(m, "buffer_store_format_x v20, v2, s[8:11], 0 offen"), "");
  setDescriptor(m, {.dataFormat = 2, .numberFormat = 7});
  m.v(20, 7) = 0x3f800001;
  EXPECT_NE(refusal(m, "buffer_store_format_x v20, v2, s[8:11], 0 offen"), "");
}

TEST(SemanticsBuffer, FormatsToLds) {
  MemoryMachine m;
  m.memory()[9] = 200;
  setDescriptor(m, {.dataFormat = 1, .numberFormat = 4});
  m.s(M0) = 64;
  for (unsigned l = 0; l < 64; ++l)
    m.v(2, l) = l;
  m.run("buffer_load_format_x v2, s[8:11], 0 offen lds");
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(m.lds()[64 + 4 * l], l == 9 ? 200 : 0);
}

//===----------------------------------------------------------------------===//
// Atomic operations on floats
//===----------------------------------------------------------------------===//

constexpr Format bf16{8, 7};

/// What a location holds afterwards; `flushIn` and `flushOut` say what happens
/// to denormals.
U addModel(const Format &f, U old, U data, bool flushIn, bool flushOut) {
  if (f.isNan(old))
    return old | f.quiet();
  if (f.isNan(data))
    return data | f.quiet();
  if (flushIn) {
    old = f.flush(old);
    data = f.flush(data);
  }
  U r;
  if (f.isInfinite(old) || f.isInfinite(data)) {
    r = f.isInfinite(old) && f.isInfinite(data) && old != data ? f.nan()
        : f.isInfinite(old)                                    ? old
                                                               : data;
  } else if (f.isZero(old) && f.isZero(data)) {
    r = old & data;
  } else {
    r = roundTo(f, add(exactOf(f, old), exactOf(f, data)));
  }
  return flushOut ? f.flush(r) : r;
}
U chooseModel(const Format &f, U old, U data, bool flush, bool wantMax) {
  auto isSignalling = [&](U v) { return f.isNan(v) && !(v & f.quiet()); };
  if (isSignalling(old))
    return old | f.quiet();
  if (isSignalling(data))
    return data | f.quiet();
  if (f.isNan(old) || f.isNan(data))
    return f.isNan(old) ? data : old;
  auto key = [&](U v) {
    v = flush ? f.flush(v) : v;
    const int64_t magnitude = int64_t(v & ~f.sign());
    return v & f.sign() ? -magnitude - 1 : magnitude;
  };
  return (wantMax ? key(data) > key(old) : key(data) < key(old)) ? data : old;
}

struct FloatAtomic {
  std::string line;
  bool isLds;
  unsigned words;
  std::function<U(U old, U data, uint32_t mode)> model;
};

TEST(SemanticsBuffer, FloatAtomics) {
  auto keepsIn32 = [](uint32_t mode) { return mode >> ModeDenorm32Shift & 1; };
  auto keepsOut32 = [](uint32_t mode) { return mode >> ModeDenorm32Shift & 2; };
  auto keepsIn64 = [](uint32_t mode) { return mode >> ModeDenorm64Shift & 1; };
  auto keepsOut64 = [](uint32_t mode) { return mode >> ModeDenorm64Shift & 2; };
  auto halves = [](U o, U d, auto one) {
    return one(o & 0xffff, d & 0xffff) | one(o >> 16 & 0xffff, d >> 16 & 0xffff)
                                             << 16;
  };
  std::vector<FloatAtomic> rows;
  struct Way {
    const char *prefix, *tail;
  };
  for (const Way &way : {Way{"global_atomic_", "v[2:3], D, off"},
                         Way{"flat_atomic_", "v[2:3], D"},
                         Way{"buffer_atomic_", "D, v4, s[8:11], 0 offen"}}) {
    auto line = [&](const char *name, const char *data) {
      std::string text = std::string(way.prefix) + name + " " + way.tail;
      return text.replace(text.find('D'), 1, data);
    };
    // The L2 cache has rules of its own.
    rows.push_back({line("add_f32", "v24"), false, 1, [](U o, U d, uint32_t) {
                      return addModel(f32, o, d, true, false);
                    }});
    rows.push_back(
        {line("pk_add_f16", "v24"), false, 1, [=](U o, U d, uint32_t) {
           return halves(o, d, [](U x, U y) {
             return addModel(f16, x, y, false, false);
           });
         }});
    rows.push_back(
        {line("pk_add_bf16", "v24"), false, 1, [=](U o, U d, uint32_t) {
           return halves(o, d, [](U x, U y) {
             return addModel(bf16, x, y, false, false);
           });
         }});
    rows.push_back(
        {line("add_f64", "v[24:25]"), false, 2,
         [](U o, U d, uint32_t) { return addModel(f64, o, d, false, false); }});
    for (bool wantMax : {false, true})
      rows.push_back({line(wantMax ? "max_f64" : "min_f64", "v[24:25]"), false,
                      2, [=](U o, U d, uint32_t) {
                        return chooseModel(f64, o, d, false, wantMax);
                      }});
  }
  // The LDS follows MODE, but for sums of doubles.
  for (const char *rtn : {"", "rtn_"}) {
    const std::string r = rtn, one = *rtn ? "v20, " : "",
                      two = *rtn ? "v[20:21], " : "";
    rows.push_back({"ds_add_" + r + "f32 " + one + "v4, v24", true, 1,
                    [=](U o, U d, uint32_t mode) {
                      return addModel(f32, o, d, !keepsIn32(mode),
                                      !keepsOut32(mode));
                    }});
    rows.push_back({"ds_pk_add_" + r + "f16 " + one + "v4, v24", true, 1,
                    [=](U o, U d, uint32_t mode) {
                      return halves(o, d, [&](U x, U y) {
                        return addModel(f16, x, y, !keepsIn64(mode),
                                        !keepsOut64(mode));
                      });
                    }});
    rows.push_back({"ds_pk_add_" + r + "bf16 " + one + "v4, v24", true, 1,
                    [=](U o, U d, uint32_t mode) {
                      return halves(o, d, [&](U x, U y) {
                        return addModel(bf16, x, y, !keepsIn64(mode),
                                        !keepsOut64(mode));
                      });
                    }});
    rows.push_back(
        {"ds_add_" + r + "f64 " + two + "v4, v[24:25]", true, 2,
         [](U o, U d, uint32_t) { return addModel(f64, o, d, false, false); }});
    for (bool wantMax : {false, true}) {
      const std::string name = wantMax ? "ds_max_" : "ds_min_";
      rows.push_back({name + r + "f32 " + one + "v4, v24", true, 1,
                      [=](U o, U d, uint32_t mode) {
                        return chooseModel(f32, o, d, !keepsIn32(mode),
                                           wantMax);
                      }});
      rows.push_back({name + r + "f64 " + two + "v4, v[24:25]", true, 2,
                      [=](U o, U d, uint32_t mode) {
                        return chooseModel(f64, o, d, !keepsIn64(mode),
                                           wantMax);
                      }});
    }
    // The comparand is 1.5; zeros and flushed denormals are equal.
    rows.push_back({"ds_cmpst_" + r + "f32 " + one + "v4, v26, v24", true, 1,
                    [=](U o, U d, uint32_t mode) {
                      const bool flush = !keepsIn32(mode);
                      const U x = flush ? f32.flush(o) : o;
                      const U result =
                          f32.isZero(x) ? d : o; // compared with -0
                      return flush ? f32.flush(result) : result;
                    }});
    rows.push_back({"ds_cmpst_" + r + "f64 " + two + "v4, v[26:27], v[24:25]",
                    true, 2, [=](U o, U d, uint32_t mode) {
                      const bool flush = !keepsIn64(mode);
                      const U x = flush ? f64.flush(o) : o;
                      const U result = f64.isZero(x) ? d : o;
                      return flush ? f64.flush(result) : result;
                    }});
  }
  for (const FloatAtomic &row : rows) {
    SCOPED_TRACE(row.line);
    Sequence s({row.line});
    ASSERT_EQ(s.problem(0), "");
    std::vector<U> edges =
        row.words == 2 ? doubleEdges()
        : row.line.find("16") != std::string::npos
            ? std::vector<U>{0x00000000, 0x80008000, 0x3c003f80, 0x0001007f,
                             0x80018001, 0x03ff7f7f, 0x7bff7bff, 0x7c007f80,
                             0xfc00ff80, 0x7c017f81, 0x7e00fe12, 0x3c01bf81,
                             0x04000080, 0xbc00bf80}
            : floatEdges();
    const auto values = operandsFor(2, edges, 256, row.words == 2);
    for (uint32_t denormals : {0xf0u, 0x00u, 0x50u, 0xa0u})
      for (size_t base = 0; base < values.size(); base += 64) {
        MemoryMachine m;
        m.wave.mode = denormals | ModeDx10Clamp | ModeIeee;
        setDescriptor(m, {});
        for (unsigned l = 0; l < 64; ++l) {
          const auto &t = values[(base + l) % values.size()];
          std::memcpy((row.isLds ? m.lds() : m.memory()) + 8 * l, &t[0],
                      4 * row.words);
          m.setPair(2, l, m.address + 8 * l);
          m.v(4, l) = 8 * l;
          m.setPair(24, l, t[1]);
          m.setPair(26, l, row.words == 2 ? U(1) << 63 : U(0x80000000));
        }
        m.run(s[0]);
        for (unsigned l = 0; l < 64; ++l) {
          const auto &t = values[(base + l) % values.size()];
          U got = 0;
          std::memcpy(&got, (row.isLds ? m.lds() : m.memory()) + 8 * l,
                      4 * row.words);
          ASSERT_EQ(got, row.model(t[0], t[1], m.wave.mode))
              << std::hex << "old " << t[0] << " data " << t[1] << " mode "
              << m.wave.mode;
        }
      }
  }
}

} // namespace
