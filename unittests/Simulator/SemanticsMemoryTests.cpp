//===- SemanticsMemoryTests.cpp - loads, stores and atomics ---------------===//
// SPDX-License-Identifier: MIT
//
// Every width through every way of addressing, against bytes of the memory's
// contents; every atomic operation against integers.
//
//===----------------------------------------------------------------------===//
#include "LaneTable.h"

#include <cstring>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;

/// Bytes that differ from their neighbours and from those of other places.
uint8_t noise(U place) {
  return uint8_t((place * 0x9e3779b97f4a7c15ull) >> 37 ^ place);
}

/// Where each lane goes: all different, of every alignment, with 16 bytes for
/// each, away from both ends.
uint32_t placeOf(unsigned lane) {
  return 64 + (lane * 37 % 64) * 24 + lane % 5;
}
/// The same in private memory, where lanes have their own.
uint32_t privatePlaceOf(unsigned lane) { return 64 + placeOf(lane) % 890; }

//===----------------------------------------------------------------------===//
// Ways of addressing
//===----------------------------------------------------------------------===//

enum class Space { Memory, Lds, Private };

struct Form {
  const char *prefix;       ///< "global_load_" becomes "global_store_"
  const char *load, *store; ///< operands; D is the data register
  Space space;
  /// Sets the address registers so that lane l reaches place(l) of the space.
  std::function<void(MemoryMachine &, unsigned lane, uint32_t place)> set;
  bool isUniform = false; ///< all lanes reach place 100
};

void setDescriptor(MemoryMachine &m, unsigned first, U base, uint32_t stride,
                   uint32_t records, uint32_t word3 = 0x27000) {
  m.s(first) = uint32_t(base);
  m.s(first + 1) = uint32_t(base >> 32) | stride << 16;
  m.s(first + 2) = records;
  m.s(first + 3) = word3;
}

const std::vector<Form> &forms() {
  static const std::vector<Form> list = {
      {"global_", "D, v[2:3], off offset:24", "v[2:3], D, off offset:24",
       Space::Memory,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         m.setPair(2, l, m.address + place - 24);
       }},
      {"global_", "D, v2, s[4:5] offset:-16", "v2, D, s[4:5] offset:-16",
       Space::Memory,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         m.wave.setPair(4, m.address);
         m.v(2, l) = place + 16;
       }},
      {"flat_", "D, v[2:3] offset:40", "v[2:3], D offset:40", Space::Memory,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         m.setPair(2, l, m.address + place - 40);
       }},
      {"flat_", "D, v[2:3]", "v[2:3], D", Space::Lds,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         m.setPair(2, l, U(0x10000) << 32 | place);
       }},
      {"flat_", "D, v[2:3] offset:8", "v[2:3], D offset:8", Space::Private,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         m.setPair(2, l, U(0x20000) << 32 | (place - 8));
       }},
      {"scratch_", "D, v2, off offset:8", "v2, D, off offset:8", Space::Private,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         m.v(2, l) = place - 8;
       }},
      {"scratch_", "D, off, s4 offset:60", "off, D, s4 offset:60",
       Space::Private,
       [](MemoryMachine &m, unsigned, uint32_t) { m.s(4) = 40; }, true},
      {"scratch_", "D, v2, s4", "v2, D, s4", Space::Private,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         m.s(4) = 40;
         m.v(2, l) = place - 40;
       }},
      {"buffer_", "D, v2, s[8:11], s12 offen offset:16",
       "D, v2, s[8:11], s12 offen offset:16", Space::Memory,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         setDescriptor(m, 8, m.address, 0, 4096);
         m.s(12) = 7;
         m.v(2, l) = place - 23;
       }},
      {"buffer_", "D, v2, s[8:11], 0 idxen", "D, v2, s[8:11], 0 idxen",
       Space::Memory,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         // Records of one byte: the index is the place.
         setDescriptor(m, 8, m.address, 1, 4096);
         m.v(2, l) = place;
       }},
      {"buffer_", "D, v[2:3], s[8:11], 4 idxen offen offset:3",
       "D, v[2:3], s[8:11], 4 idxen offen offset:3", Space::Memory,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         setDescriptor(m, 8, m.address - 20, 8, 512);
         m.v(2, l) = place / 8;
         m.v(3, l) = place % 8 + 13;
       }},
      {"buffer_", "D, off, s[8:11], s12 offset:30",
       "D, off, s[8:11], s12 offset:30", Space::Memory,
       [](MemoryMachine &m, unsigned, uint32_t) {
         setDescriptor(m, 8, m.address, 0, 4096);
         m.s(12) = 70;
       },
       true},
      {"ds_", "D, v2 offset:32", "v2, D offset:32", Space::Lds,
       [](MemoryMachine &m, unsigned l, uint32_t place) {
         m.v(2, l) = place - 32;
       }},
  };
  return list;
}

std::string operands(std::string text, const std::string &data) {
  return text.replace(text.find('D'), 1, data);
}
std::string dataRegister(unsigned words) {
  return words == 1 ? "v20" : "v[20:" + std::to_string(19 + words) + "]";
}

uint8_t *bytesOf(MemoryMachine &m, Space space, unsigned lane) {
  return space == Space::Memory ? m.memory()
         : space == Space::Lds  ? m.lds()
                                : m.scratch(lane);
}
void fill(MemoryMachine &m) {
  for (uint32_t i = 0; i < MemoryMachine::Bytes; ++i) {
    m.memory()[i] = noise(i);
    m.lds()[i] = noise(i + 0x10000);
  }
  for (unsigned l = 0; l < 64; ++l)
    for (uint32_t i = 0; i < MemoryMachine::PrivateBytes; ++i)
      m.scratch(l)[i] = noise(i + 0x20000 + l * 0x1000);
}
uint32_t placeIn(const Form &form, unsigned lane) {
  return form.isUniform                 ? 100
         : form.space == Space::Private ? privatePlaceOf(lane)
                                        : placeOf(lane);
}

struct Width {
  const char *load, *ds; ///< names; nullptr: only in the other family
  unsigned bytes, words;
  /// Word k of the result from the bytes, which are little-endian in `raw`.
  std::function<uint32_t(unsigned __int128 raw, unsigned k)> result;
};

uint32_t dword(unsigned __int128 raw, unsigned k) {
  return uint32_t(raw >> (32 * k));
}
const std::vector<Width> &loads() {
  static const std::vector<Width> list = {
      {"ubyte", "u8", 1, 1, dword},
      {"sbyte", "i8", 1, 1,
       [](auto raw, unsigned) { return uint32_t(int8_t(raw)); }},
      {"ushort", "u16", 2, 1, dword},
      {"sshort", "i16", 2, 1,
       [](auto raw, unsigned) { return uint32_t(int16_t(raw)); }},
      // With ECC, which this target has, the other half becomes zero.
      {"ubyte_d16", "u8_d16", 1, 1, dword},
      {"ubyte_d16_hi", "u8_d16_hi", 1, 1,
       [](auto raw, unsigned) { return uint32_t(raw) << 16; }},
      {"sbyte_d16", "i8_d16", 1, 1,
       [](auto raw, unsigned) { return uint32_t(uint16_t(int8_t(raw))); }},
      {"sbyte_d16_hi", "i8_d16_hi", 1, 1,
       [](auto raw, unsigned) { return uint32_t(int8_t(raw)) << 16; }},
      {"short_d16", "u16_d16", 2, 1, dword},
      {"short_d16_hi", "u16_d16_hi", 2, 1,
       [](auto raw, unsigned) { return uint32_t(raw) << 16; }},
      {"dword", "b32", 4, 1, dword},
      {"dwordx2", "b64", 8, 2, dword},
      {"dwordx3", "b96", 12, 3, dword},
      {"dwordx4", "b128", 16, 4, dword},
  };
  return list;
}

TEST(SemanticsMemory, LoadsOfEveryWidthThroughEveryAddress) {
  for (const Form &form : forms()) {
    const bool isDs = std::string(form.prefix) == "ds_";
    std::vector<std::string> lines;
    for (const Width &width : loads())
      lines.push_back(std::string(form.prefix) + (isDs ? "read_" : "load_") +
                      (isDs ? width.ds : width.load) + " " +
                      operands(form.load, dataRegister(width.words)));
    Sequence s(lines);
    ASSERT_EQ(s.size(), lines.size());
    MemoryMachine m;
    fill(m);
    for (size_t k = 0; k < lines.size(); ++k) {
      SCOPED_TRACE(lines[k]);
      ASSERT_EQ(s.problem(k), "");
      const Width &width = loads()[k];
      for (U exec : masks()) {
        m.wave.setExec(exec);
        for (unsigned l = 0; l < 64; ++l) {
          for (unsigned word = 0; word < 4; ++word)
            m.v(20 + word, l) = 0xdeadbeef;
          form.set(m, l, placeIn(form, l));
        }
        m.run(s[k]);
        for (unsigned l = 0; l < 64; ++l) {
          unsigned __int128 raw = 0;
          for (unsigned i = width.bytes; i--;)
            raw = raw << 8 | bytesOf(m, form.space, l)[placeIn(form, l) + i];
          for (unsigned word = 0; word < 4; ++word)
            ASSERT_EQ(m.v(20 + word, l), (exec >> l & 1) && word < width.words
                                             ? width.result(raw, word)
                                             : 0xdeadbeefu)
                << "lane " << l << " word " << word;
        }
      }
    }
  }
}

TEST(SemanticsMemory, StoresOfEveryWidthThroughEveryAddress) {
  struct Store {
    const char *store, *ds;
    unsigned bytes, words, shift;
  };
  const Store stores[] = {
      {"byte", "b8", 1, 1, 0},      {"byte_d16_hi", "b8_d16_hi", 1, 1, 16},
      {"short", "b16", 2, 1, 0},    {"short_d16_hi", "b16_d16_hi", 2, 1, 16},
      {"dword", "b32", 4, 1, 0},    {"dwordx2", "b64", 8, 2, 0},
      {"dwordx3", "b96", 12, 3, 0}, {"dwordx4", "b128", 16, 4, 0}};
  for (const Form &form : forms()) {
    if (form.isUniform)
      continue; // lanes would overwrite each other
    const bool isDs = std::string(form.prefix) == "ds_";
    for (const Store &store : stores) {
      const std::string line = std::string(form.prefix) +
                               (isDs ? "write_" : "store_") +
                               (isDs ? store.ds : store.store) + " " +
                               operands(form.store, dataRegister(store.words));
      SCOPED_TRACE(line);
      Sequence s({line});
      ASSERT_EQ(s.problem(0), "");
      for (U exec : {~U(0), U(0), U(0x8000000180000001)}) {
        MemoryMachine m;
        fill(m);
        std::vector<std::vector<uint8_t>> expected;
        for (unsigned l = 0; l < 64; ++l) {
          const uint8_t *p = bytesOf(m, form.space, l);
          const bool isShared = form.space != Space::Private;
          if (l == 0 || !isShared)
            expected.emplace_back(p, p + (isShared ? 4096 : 1024));
          std::vector<uint8_t> &now = expected[isShared ? 0 : l];
          form.set(m, l, placeIn(form, l));
          uint8_t data[16];
          for (unsigned i = 0; i < 16; ++i)
            data[i] = noise(l * 16 + i + 777);
          for (unsigned word = 0; word < 4; ++word)
            std::memcpy(&m.v(20 + word, l), data + 4 * word, 4);
          for (unsigned i = 0; (exec >> l & 1) && i < store.bytes; ++i)
            now[placeIn(form, l) + i] = data[store.shift / 8 + i];
        }
        m.wave.setExec(exec);
        m.run(s[0]);
        for (size_t l = 0; l < expected.size(); ++l)
          ASSERT_EQ(std::memcmp(bytesOf(m, form.space, unsigned(l)),
                                expected[l].data(), expected[l].size()),
                    0)
              << "lane " << l;
      }
    }
  }
}

TEST(SemanticsMemory, TwoPlacesAtOnce) {
  for (unsigned words : {1u, 2u})
    for (unsigned scale : {1u, 64u}) {
      const std::string type = words == 1 ? "b32" : "b64",
                        stride = scale == 1 ? "2_" : "2st64_",
                        both = words == 1 ? "v[20:21]" : "v[20:23]",
                        first = words == 1 ? "v24" : "v[24:25]",
                        second = words == 1 ? "v26" : "v[26:27]",
                        offsets = " offset0:3 offset1:9";
      Sequence s({"ds_read" + stride + type + " " + both + ", v2" + offsets,
                  "ds_write" + stride + type + " v2, " + first + ", " + second +
                      offsets,
                  "ds_wrxchg" + stride + "rtn_" + type + " " + both + ", v2, " +
                      first + ", " + second + offsets});
      // Lanes keep out of each other's places.
      const unsigned unit = 4 * words * scale, apart = scale == 1 ? 32 : 16;
      for (size_t k = 0; k < 3; ++k) {
        SCOPED_TRACE(s.text(k));
        ASSERT_EQ(s.problem(k), "");
        MemoryMachine m;
        fill(m);
        const U exec = 0xf0f0f0f00f0f0f0f;
        m.wave.setExec(exec);
        std::vector<uint8_t> before(m.lds(), m.lds() + 65536), after = before;
        auto place = [&](unsigned l, unsigned which) {
          return l * apart + (which ? 9 : 3) * unit;
        };
        for (unsigned l = 0; l < 64; ++l) {
          m.v(2, l) = l * apart;
          for (unsigned word = 0; word < 8; ++word)
            m.v(20 + word, l) = 0xabc00000 + l * 16 + word;
        }
        for (unsigned l = 0; k && l < 64; ++l)
          for (unsigned which = 0; (exec >> l & 1) && which < 2; ++which)
            for (unsigned word = 0; word < words; ++word) {
              const uint32_t value = m.v(24 + 2 * which + word, l);
              std::memcpy(&after[place(l, which) + 4 * word], &value, 4);
            }
        m.run(s[k]);
        EXPECT_EQ(std::memcmp(m.lds(), after.data(), after.size()), 0);
        for (unsigned l = 0; l < 64; ++l)
          for (unsigned j = 0; j < 2 * words; ++j) {
            uint32_t old;
            std::memcpy(&old, &before[place(l, j / words) + j % words * 4], 4);
            ASSERT_EQ(m.v(20 + j, l),
                      k != 1 && (exec >> l & 1) ? old : 0xabc00000 + l * 16 + j)
                << "lane " << l;
          }
      }
    }
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

struct AtomicRow {
  const char *name, *ds; ///< "add", "add_u32"; nullptr: not there
  bool hasTwo = false;
  std::function<U(U old, U data, U second, U mask)> model;
};
int64_t extend(U value, U mask) {
  return mask >> 32 ? int64_t(value) : int64_t(int32_t(uint32_t(value)));
}
const std::vector<AtomicRow> &atomics() {
  static const std::vector<AtomicRow> list = {
      {"swap", "wrxchg_b", false, [](U, U d, U, U) { return d; }},
      {"cmpswap", "cmpst_b", true,
       [](U o, U d, U c, U) { return o == c ? d : o; }},
      {"add", "add_u", false, [](U o, U d, U, U) { return o + d; }},
      {"sub", "sub_u", false, [](U o, U d, U, U) { return o - d; }},
      {nullptr, "rsub_u", false, [](U o, U d, U, U) { return d - o; }},
      {"smin", "min_i", false,
       [](U o, U d, U, U m) { return extend(d, m) < extend(o, m) ? d : o; }},
      {"smax", "max_i", false,
       [](U o, U d, U, U m) { return extend(d, m) > extend(o, m) ? d : o; }},
      {"umin", "min_u", false, [](U o, U d, U, U) { return std::min(o, d); }},
      {"umax", "max_u", false, [](U o, U d, U, U) { return std::max(o, d); }},
      {"and", "and_b", false, [](U o, U d, U, U) { return o & d; }},
      {"or", "or_b", false, [](U o, U d, U, U) { return o | d; }},
      {"xor", "xor_b", false, [](U o, U d, U, U) { return o ^ d; }},
      {"inc", "inc_u", false,
       [](U o, U d, U, U) { return o >= d ? 0 : o + 1; }},
      {"dec", "dec_u", false,
       [](U o, U d, U, U) { return o == 0 || o > d ? d : o - 1; }},
      {nullptr, "mskor_b", true, [](U o, U d, U s, U) { return (o & ~d) | s; }},
  };
  return list;
}

/// Runs `line` on one location per lane of `space` and checks both memory and,
/// if `returns`, what comes back in v20.
void checkAtomic(const std::string &line, Space space, unsigned words,
                 bool isReversed, bool returns,
                 const std::vector<std::array<U, 3>> &values,
                 const std::function<U(U, U, U)> &model,
                 uint32_t mode = PlainMode) {
  SCOPED_TRACE(line);
  Sequence s({line});
  ASSERT_EQ(s.problem(0), "");
  const U mask = words == 2 ? ~U(0) : 0xffffffff;
  for (size_t base = 0; base < values.size(); base += 64) {
    MemoryMachine m;
    m.wave.mode = mode;
    const U exec = masks()[base / 64 % masks().size()];
    m.wave.setExec(exec);
    uint8_t *bytes = bytesOf(m, space, 0);
    m.wave.setPair(4, m.address);
    setDescriptor(m, 8, m.address, 0, 4096);
    auto value = [&](unsigned l) { return values[(base + l) % values.size()]; };
    for (unsigned l = 0; l < 64; ++l) {
      const auto [old, data, second] = value(l);
      std::memcpy(bytes + l * 8, &old, 4 * words);
      m.setPair(2, l,
                (space == Space::Lds ? U(0x10000) << 32 : m.address) + l * 8);
      m.v(4, l) = l * 8;
      // ds_cmpst compares with its first operand.
      const U one = isReversed ? second : data,
              two = isReversed ? data : second;
      m.setPair(24, l, one);
      if (words == 1 && !isReversed && line.compare(0, 3, "ds_"))
        m.v(25, l) = uint32_t(two);
      m.setPair(26, l, two);
      m.setPair(20, l, 0x1111111122222222);
    }
    m.run(s[0]);
    for (unsigned l = 0; l < 64; ++l) {
      const auto [old, data, second] = value(l);
      const bool isOn = exec >> l & 1;
      U after = 0;
      std::memcpy(&after, bytes + l * 8, 4 * words);
      ASSERT_EQ(after, (isOn ? model(old, data, second) : old) & mask)
          << std::hex << "old " << old << " data " << data << " second "
          << second;
      if (returns) {
        const unsigned row = line.compare(0, 6, "buffer") ? 20 : 24;
        U got = m.v(row, l) | (words == 2 ? U(m.v(row + 1, l)) << 32 : 0);
        ASSERT_TRUE(!isOn || got == (old & mask)) << "returned";
      }
    }
  }
}

std::string registers(unsigned first, unsigned words) {
  return words == 1 ? "v" + std::to_string(first)
                    : "v[" + std::to_string(first) + ":" +
                          std::to_string(first + words - 1) + "]";
}

/// All ways of one operation on memory.
void checkMemoryAtomic(const std::string &name, unsigned words,
                       unsigned dataWords,
                       const std::vector<std::array<U, 3>> &values,
                       const std::function<U(U, U, U)> &model) {
  const std::string data = registers(24, dataWords),
                    result = registers(20, words);
  for (bool returns : {false, true}) {
    const std::string to = returns ? result + ", " : "",
                      sc0 = returns ? " sc0" : "";
    checkAtomic("global_atomic_" + name + " " + to + "v[2:3], " + data +
                    ", off" + sc0,
                Space::Memory, words, false, returns, values, model);
    checkAtomic("global_atomic_" + name + " " + to + "v4, " + data +
                    ", s[4:5]" + sc0,
                Space::Memory, words, false, returns, values, model);
    checkAtomic("flat_atomic_" + name + " " + to + "v[2:3], " + data + sc0,
                Space::Memory, words, false, returns, values, model);
    checkAtomic("buffer_atomic_" + name + " " + data +
                    ", v4, s[8:11], 0 offen" + sc0,
                Space::Memory, words, false, returns, values, model);
  }
}

std::vector<std::array<U, 3>> integerTriples(bool wide) {
  auto list = operandsFor(3,
                          {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff,
                           0x8000000000000000, 0x7fffffffffffffff, ~U(0),
                           0x123456789abcdef0},
                          200, true);
  for (auto &t : list) {
    if (t[0] % 3 == 0)
      t[2] = t[0]; // compare and swap succeeds
    if (!wide)
      for (U &v : t)
        v &= 0xffffffff;
  }
  return list;
}

TEST(SemanticsMemory, IntegerAtomics) {
  for (unsigned words : {1u, 2u}) {
    const U mask = words == 2 ? ~U(0) : 0xffffffff;
    const auto values = integerTriples(words == 2);
    for (const AtomicRow &row : atomics()) {
      auto model = [&](U o, U d, U s) { return row.model(o, d, s, mask); };
      if (row.name)
        checkMemoryAtomic(std::string(row.name) + (words == 2 ? "_x2" : ""),
                          words, row.hasTwo ? 2 * words : words, values, model);
      std::string stem = row.ds;
      const std::string type =
          stem.substr(stem.size() - 1) + (words == 2 ? "64" : "32");
      stem.resize(stem.size() - 2);
      const std::string data = registers(24, words) +
                               (row.hasTwo ? ", " + registers(26, words) : "");
      for (bool returns : {false, true}) {
        if (!returns && stem == "wrxchg")
          continue;
        checkAtomic("ds_" + stem + (returns ? "_rtn_" : "_") + type + " " +
                        (returns ? registers(20, words) + ", " : "") + "v4, " +
                        data,
                    Space::Lds, words, stem == "cmpst", returns, values, model);
      }
    }
  }
  checkAtomic("ds_wrap_rtn_b32 v20, v4, v24, v26", Space::Lds, 1, false, true,
              integerTriples(false),
              [](U o, U d, U s) { return o >= d ? o - d : o + s; });
  checkAtomic("ds_condxchg32_rtn_b64 v[20:21], v4, v[24:25]", Space::Lds, 2,
              false, true, integerTriples(true), [](U o, U d, U) {
                const U low = d >> 31 & 1 ? d & 0x7fffffff : o & 0xffffffff;
                const U high = d >> 63 ? d >> 32 & 0x7fffffff : o >> 32;
                return high << 32 | low;
              });
}

TEST(SemanticsMemory, AtomicsOfAllLanesOnOnePlace) {
  for (const char *line :
       {"global_atomic_add v[2:3], v24, off", "ds_add_u32 v4, v24",
        "buffer_atomic_add v24, v5, s[8:11], 0 offen",
        "flat_atomic_add v[2:3], v24"}) {
    SCOPED_TRACE(line);
    MemoryMachine m;
    setDescriptor(m, 8, m.address, 0, 4096);
    for (unsigned l = 0; l < 64; ++l) {
      m.setPair(2, l, m.address + 16);
      m.v(4, l) = m.v(5, l) = 16;
      m.v(24, l) = l;
    }
    m.run(line);
    uint32_t sum = 0;
    std::memcpy(&sum, (std::string(line)[0] == 'd' ? m.lds() : m.memory()) + 16,
                4);
    EXPECT_EQ(sum, 63u * 64 / 2);
  }
}

TEST(SemanticsMemory, AppendAndConsumeCountActiveLanes) {
  MemoryMachine m;
  m.lds()[260] = 100;
  m.s(M0) = 256 << 16;
  m.wave.setExec(0xf0f);
  m.run("ds_append v1 offset:4");
  EXPECT_EQ(m.v(1, 3), 100u);
  EXPECT_EQ(m.v(1, 4), 0u);
  EXPECT_EQ(m.lds()[260], 108);
  m.wave.setExec(0x7);
  m.run("ds_consume v1 offset:4");
  EXPECT_EQ(m.v(1, 2), 108u);
  EXPECT_EQ(m.v(1, 3), 100u);
  EXPECT_EQ(m.lds()[260], 105);
}

TEST(SemanticsMemory, AddressesByThread) {
  MemoryMachine m;
  fill(m);
  m.s(M0) = 0xabc00100; // only the low 16 bits count
  m.run("ds_read_addtid_b32 v1 offset:8");
  for (unsigned l = 0; l < 64; ++l) {
    uint32_t expected;
    std::memcpy(&expected, m.lds() + 0x108 + 4 * l, 4);
    ASSERT_EQ(m.v(1, l), expected);
    m.v(2, l) = 1000 + l;
  }
  m.wave.setExec(~U(1));
  m.run("ds_write_addtid_b32 v2 offset:12");
  for (unsigned l = 0; l < 64; ++l) {
    uint32_t got;
    std::memcpy(&got, m.lds() + 0x10c + 4 * l, 4);
    ASSERT_EQ(got, l ? 1000 + l : m.v(1, 1));
  }
}

TEST(SemanticsMemory, LoadsStraightToLds) {
  struct Row {
    const char *name;
    unsigned bytes, stride;
    bool isSigned;
  };
  const Row rows[] = {{"ubyte", 1, 4, false},    {"sbyte", 1, 4, true},
                      {"ushort", 2, 4, false},   {"sshort", 2, 4, true},
                      {"dword", 4, 4, false},    {"dwordx3", 12, 16, false},
                      {"dwordx4", 16, 16, false}};
  for (const Row &row : rows)
    for (const char *way : {"global", "buffer", "scratch"}) {
      const std::string kind = way;
      if (kind == "scratch" && row.bytes > 4)
        continue;
      const std::string line =
          kind == "global"   ? std::string("global_load_lds_") + row.name +
                                   " v[2:3], off offset:16"
          : kind == "buffer" ? std::string("buffer_load_") + row.name +
                                   " v2, s[8:11], 0 offen offset:16 lds"
                             : std::string("scratch_load_lds_") + row.name +
                                   " v2, off offset:16";
      SCOPED_TRACE(line);
      MemoryMachine m;
      fill(m);
      std::vector<uint8_t> expected(m.lds(), m.lds() + 65536);
      const U exec = 0xff00ff00ff00ff0f;
      m.wave.setExec(exec);
      m.s(M0) = 0xfffc0200; // 18 bits count
      setDescriptor(m, 8, m.address, 0, 1400);
      for (unsigned l = 0; l < 64; ++l) {
        const uint32_t place = privatePlaceOf(l);
        if (kind == "global")
          m.setPair(2, l, m.address + place - 16);
        else
          m.v(2, l) = place - 16;
        if (!(exec >> l & 1))
          continue;
        const uint8_t *from =
            (kind == "scratch" ? m.scratch(l) : m.memory()) + place;
        uint8_t value[16] = {};
        std::memcpy(value, from, row.bytes);
        if (row.isSigned && value[row.bytes - 1] >> 7)
          std::memset(value + row.bytes, 0xff, 4 - row.bytes);
        std::memcpy(&expected[0x210 + l * row.stride], value,
                    std::max(row.bytes, 4u));
      }
      m.run(line);
      EXPECT_EQ(std::memcmp(m.lds(), expected.data(), expected.size()), 0);
    }
}

//===----------------------------------------------------------------------===//
// Scalar memory
//===----------------------------------------------------------------------===//

TEST(SemanticsMemory, ScalarLoadsAndStores) {
  MemoryMachine m;
  fill(m);
  auto dwordAt = [&](unsigned place) {
    uint32_t value;
    std::memcpy(&value, m.memory() + place, 4);
    return value;
  };
  m.wave.setExec(0); // plays no part
  m.wave.setPair(2, m.address);
  m.s(90) = 32;
  setDescriptor(m, 84, m.address, 0, 72);
  for (unsigned words : {1u, 2u, 4u, 8u, 16u})
    for (bool buffer : {false, true}) {
      const std::string name =
          std::string(buffer ? "s_buffer_load_dword" : "s_load_dword") +
          (words > 1 ? "x" + std::to_string(words) : "");
      const std::string to =
          words == 1 ? "s16" : "s[16:" + std::to_string(15 + words) + "]";
      for (const char *offset : {"0x10", "s90", "s90 offset:0x8"}) {
        const std::string line = name + " " + to + ", " +
                                 (buffer ? "s[84:87], " : "s[2:3], ") + offset;
        SCOPED_TRACE(line);
        m.run(line);
        const unsigned at = std::string(offset) == "0x10"  ? 16
                            : std::string(offset) == "s90" ? 32
                                                           : 40;
        for (unsigned k = 0; k < words; ++k)
          EXPECT_EQ(m.s(16 + k),
                    buffer && at + 4 * k + 4 > 72 ? 0 : dwordAt(at + 4 * k));
      }
    }
  for (unsigned k = 0; k < 4; ++k)
    m.s(16 + k) = 0x5000 + k;
  m.run("s_store_dword s16, s[2:3], 0x100");
  EXPECT_EQ(dwordAt(0x100), 0x5000u);
  m.run("s_store_dwordx2 s[16:17], s[2:3], s90");
  EXPECT_EQ(dwordAt(36), 0x5001u);
  m.run("s_store_dwordx4 s[16:19], s[2:3], 0x110");
  EXPECT_EQ(dwordAt(0x11c), 0x5003u);
  const uint32_t beyond = dwordAt(72);
  m.run("s_buffer_store_dwordx4 s[16:19], s[84:87], 0x3c");
  EXPECT_EQ(dwordAt(0x44), 0x5002u);
  EXPECT_EQ(dwordAt(72), beyond) << "beyond the descriptor's end";
}

TEST(SemanticsMemory, ScalarAtomics) {
  for (const AtomicRow &row : atomics()) {
    if (!row.name)
      continue;
    for (unsigned words : {1u, 2u})
      for (bool buffer : {false, true}) {
        const unsigned dataWords = row.hasTwo ? 2 * words : words;
        const std::string data =
            dataWords == 1 ? "s16"
                           : "s[16:" + std::to_string(15 + dataWords) + "]";
        const std::string line =
            std::string(buffer ? "s_buffer_atomic_" : "s_atomic_") + row.name +
            (words == 2 ? "_x2 " : " ") + data +
            (buffer ? ", s[84:87], 0x8 glc" : ", s[2:3], 0x8 glc");
        SCOPED_TRACE(line);
        Sequence s({line});
        ASSERT_EQ(s.problem(0), "");
        MemoryMachine m;
        const U mask = words == 2 ? ~U(0) : 0xffffffff;
        for (const auto &[old, operand, second] : integerTriples(words == 2)) {
          m.wave.setPair(2, m.address);
          setDescriptor(m, 84, m.address, 0, 64);
          std::memcpy(m.memory() + 8, &old, 8);
          m.wave.setPair(16, operand);
          if (words == 1)
            m.s(17) = uint32_t(second);
          else
            m.wave.setPair(18, second);
          m.run(s[0]);
          U after = 0;
          std::memcpy(&after, m.memory() + 8, 4 * words);
          ASSERT_EQ(after, row.model(old, operand, second, mask) & mask);
          ASSERT_EQ(m.wave.pair(16) & mask, old & mask) << "returned";
        }
      }
  }
}

} // namespace
