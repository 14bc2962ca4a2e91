//===- AccessModelTests.cpp - Checkers of accesses against a plain model -===//
// SPDX-License-Identifier: MIT
//
// The checkers `init` and `race` look at runs of lanes and blocks of memory at
// once. Random programs of accesses run under them here, and a model that goes
// through the accesses lane by lane and word by word, with nothing but the
// rules of docs/simulator.md, must find the same faults in the same places as
// often.
//
//===----------------------------------------------------------------------===//

#include "KernelCompiler.h"
#include "gtest/gtest.h"
#include <map>
#include <optional>
#include <random>
#include <tuple>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

constexpr unsigned Lanes = 64, NumOps = 24, FirstByte = 512, Bytes = 1024,
                   TotalBytes = FirstByte + Bytes;
constexpr uint32_t Inactive = ~0u;

enum class Kind { Load, Store, Atomic };

struct Op {
  Kind kind = Kind::Load;
  unsigned width = 4;
  bool isUndefined = false; ///< stores what was never written
  bool waits = true, hasBarrier = false;
  std::string text, use; ///< the access; of a load, what uses its result
  /// By work-group, wave and lane: the first byte.
  std::vector<std::array<uint32_t, Lanes>> address;
};

struct RandomProgram {
  bool isLds;
  unsigned groups, waves;
  std::vector<Op> ops;
  std::vector<uint8_t> isDefined; ///< of memory, before the launch

  RandomProgram(unsigned seed, bool isLds);
  std::string body() const;
};

RandomProgram::RandomProgram(unsigned seed, bool isLds) : isLds(isLds) {
  std::mt19937 random(seed * 2 + isLds);
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  auto pick = [&](std::initializer_list<unsigned> list) {
    return list.begin()[below(unsigned(list.size()))];
  };
  groups = isLds ? 1 : 1 + below(3);
  waves = 1 + below(4);
  isDefined.assign(TotalBytes, 0);
  if (!isLds)
    for (unsigned at = 0; at < TotalBytes;) {
      const unsigned length = 1 + below(pick({4, 64, 512}));
      const bool isHole = below(4) == 0;
      for (unsigned i = 0; i < length && at < TotalBytes; ++i)
        isDefined[at++] = !isHole;
    }
  static constexpr const char *ofLds[] = {"u8",  "u16", "b32",
                                          "b64", "b96", "b128"};
  static constexpr const char *loads[] = {"ubyte",   "ushort",  "dword",
                                          "dwordx2", "dwordx3", "dwordx4"};
  static constexpr const char *stores[] = {"byte",    "short",   "dword",
                                           "dwordx2", "dwordx3", "dwordx4"};
  static constexpr unsigned widths[] = {1, 2, 4, 8, 12, 16};
  for (unsigned i = 0; i < NumOps; ++i) {
    Op op;
    const unsigned dice = below(8);
    op.kind = dice < 4 ? Kind::Load : dice < 7 ? Kind::Store : Kind::Atomic;
    const unsigned form = op.kind == Kind::Atomic ? 2 : below(6);
    op.width = widths[form];
    op.isUndefined = isLds && op.kind == Kind::Store && below(4) == 0;
    op.waits = isLds || op.kind != Kind::Store || below(3);
    op.hasBarrier = below(4) == 0;
    // Instructions are told apart by their offset.
    const std::string vaddr = "v" + std::to_string(30 + i),
                      offset = " offset:" + std::to_string(16 * (i + 1));
    const unsigned words = (op.width + 3) / 4;
    auto registers = [&](unsigned first) {
      return words == 1 ? "v" + std::to_string(first)
                        : "v[" + std::to_string(first) + ":" +
                              std::to_string(first + words - 1) + "]";
    };
    const std::string data = registers(op.isUndefined ? 24 : 20);
    std::string form32 = ofLds[form];
    if (op.kind == Kind::Store && form < 2)
      form32[0] = 'b';
    if (isLds)
      op.text = op.kind == Kind::Load
                    ? "ds_read_" + form32 + " " + registers(10) + ", " + vaddr
                : op.kind == Kind::Store
                    ? "ds_write_" + form32 + " " + vaddr + ", " + data
                    : "ds_add_u32 " + vaddr + ", v20";
    else
      op.text = op.kind == Kind::Load
                    ? std::string("global_load_") + loads[form] + " " +
                          registers(10) + ", " + vaddr + ", s[6:7]"
                : op.kind == Kind::Store
                    ? std::string("global_store_") + stores[form] + " " +
                          vaddr + ", " + data + ", s[6:7]"
                    : "global_atomic_add " + vaddr + ", v20, s[6:7]";
    op.text += offset;
    if (op.kind == Kind::Load)
      op.use = "global_load_dword v4, v3, s[8:9]" + offset;

    const bool isAligned = op.kind == Kind::Atomic || below(4);
    for (unsigned k = 0; k < groups * waves; ++k) {
      std::array<uint32_t, Lanes> lanes;
      const unsigned unit = !isAligned ? 1 : std::min(op.width, 4u);
      const unsigned pattern = below(5);
      const unsigned stride =
          pattern == 0 ? op.width : pick({op.width, 16, 4, 20, 32, 0, unit});
      // Waves often keep to themselves.
      const unsigned room = below(3) ? Bytes / waves / unit : Bytes / unit;
      unsigned base = below(room) * unit;
      if (room != Bytes / unit)
        base += k % waves * (Bytes / waves / unit * unit);
      if (below(2))
        base &= ~15u;
      const unsigned active = below(4);
      for (unsigned l = 0; l < Lanes; ++l) {
        uint64_t at = base + uint64_t(l) * stride;
        if (pattern == 1)
          at = below(Bytes / unit) * unit;
        else if (pattern == 2) // rows of four lanes
          at = base + l / 4 * 64 + l % 4 * op.width;
        const bool isActive = active == 0   ? below(2)
                              : active == 1 ? l >= 7 && l < 40
                                            : true;
        const bool fits = at + op.width <= Bytes && at % unit == 0;
        lanes[l] = isActive && fits ? uint32_t(FirstByte + at) : Inactive;
      }
      op.address.push_back(lanes);
    }
    ops.push_back(std::move(op));
  }
}

std::string RandomProgram::body() const {
  // s[4:5]: the table of addresses, by work-group, access and work-item. All
  // of a wave's addresses are loaded first.
  std::string text = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v20, 1
  v_mov_b32 v21, 2
  v_mov_b32 v22, 3
  v_mov_b32 v23, 4
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[8:9], s[4:5]
  s_mul_i32 s12, s2, )" +
                     std::to_string(NumOps * waves * Lanes * 4) + R"(
  s_add_u32 s4, s4, s12
  s_addc_u32 s5, s5, 0
  s_mov_b64 s[10:11], exec
)";
  for (unsigned i = 0; i < NumOps; ++i)
    text += "  global_load_dword v" + std::to_string(30 + i) +
            ", v1, s[4:5]\n  s_add_u32 s4, s4, " +
            std::to_string(waves * Lanes * 4) + "\n  s_addc_u32 s5, s5, 0\n";
  text += "  s_waitcnt vmcnt(0)\n";
  for (unsigned i = 0; i < NumOps; ++i) {
    const Op &op = ops[i];
    text += "  v_cmp_ne_u32 vcc, -1, v" + std::to_string(30 + i) +
            "\n  s_and_b64 exec, exec, vcc\n  " + op.text + "\n";
    if (op.waits)
      text += "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
    if (op.kind == Kind::Load) {
      // Zero, but as undefined as what was loaded.
      for (unsigned k = 1; k < (op.width + 3) / 4; ++k)
        text += "  v_add_u32 v10, v10, v" + std::to_string(10 + k) + "\n";
      text += "  v_mul_lo_u32 v3, v10, 0\n  " + op.use + "\n";
    }
    text += "  s_mov_b64 exec, s[10:11]\n";
    if (op.hasBarrier)
      text += "  s_barrier\n";
  }
  return text;
}

/// What of a finding is compared: how often, and where first.
struct Place {
  uint64_t workgroup = 0, address = 0, count = 0;
  unsigned wave = 0;
  int lane = 0;
  bool operator==(const Place &) const = default;
};
using Findings = std::map<std::pair<Check, std::string>, Place>;

std::string print(const Findings &findings) {
  std::string text;
  for (const auto &[key, p] : findings)
    text += std::string(key.first == CheckInit ? "init" : "race") + " `" +
            key.second + "` work-group " + std::to_string(p.workgroup) +
            " wave " + std::to_string(p.wave) + " lane " +
            std::to_string(p.lane) + " address " + std::to_string(p.address) +
            " times " + std::to_string(p.count) + "\n";
  return text;
}

/// The rules, applied to one word of one lane after the other.
class Model {
public:
  /// For the negative controls: rules that are left out.
  enum Omission { Nothing, Barriers, Holes, Masks, Updates, PlainWrites };

  Model(const RandomProgram &program, uint64_t base, Omission omitted)
      : program(program), base(base), omitted(omitted),
        isDefined(program.isDefined) {}

  Findings run() {
    for (group = 0; group < program.groups; ++group) {
      ++interval;
      lastSync = syncBefore = 0;
      issued.assign(program.waves, NumOps);
      known.done.assign(program.waves, 0);
      known.interval = 0;
      hasWritten = false;
      // Each wave goes to its next barrier.
      for (unsigned first = 0, end; first < NumOps; first = end) {
        for (end = first; end < NumOps && !program.ops[end++].hasBarrier;)
          ;
        for (wave = 0; wave < program.waves; ++wave)
          for (unsigned i = first; i < end; ++i)
            perform(program.ops[i]);
        if (omitted != Barriers)
          ++interval;
      }
    }
    return std::move(findings);
  }

private:
  struct LdsWord {
    unsigned interval = 0;
    std::vector<bool> readers, updaters;
    uint8_t readBytes = 0, writeBytes = 0;
    std::optional<unsigned> writer; ///< the only one
    bool isWritten = false, isAtomic = false;
  };
  struct Event { ///< a read or write of global memory
    unsigned group = 0, wave = 0, interval = 0, tick = 0, sequence = 0;
    uint8_t bytes = 0;
    bool isAtomic = false, isOfMany = false;
  };
  struct GlobalWord {
    std::optional<Event> read, write;
    std::optional<Event> plain; ///< the last such write before atomic ones
    std::optional<unsigned> otherReadTick; ///< of another work-group
  };
  /// Of what a work-group has waited for: of each wave the accesses up to a
  /// number, and all of those before an interval.
  struct Known {
    std::vector<unsigned> done;
    unsigned interval = 0;
  };
  struct Release {
    unsigned group, tick;
    Known known;
  };

  void report(Check check, const std::string &text, int lane,
              uint64_t address) {
    const Place place = {group, address, 1, wave, lane};
    auto [it, isNew] = findings.try_emplace({check, text}, place);
    if (isNew)
      return;
    const uint64_t count = it->second.count + 1;
    if (std::tie(place.workgroup, place.wave, place.lane) <
        std::tie(it->second.workgroup, it->second.wave, it->second.lane))
      it->second = place;
    it->second.count = count;
  }

  void perform(const Op &op) {
    if (!program.isLds) {
      ++issued[wave];
      if (op.kind == Kind::Atomic) {
        syncBefore = lastSync;
        lastSync = ++tick;
        releases.push_back({group, tick, known});
      }
      hasWritten |= op.kind != Kind::Load;
    }
    const auto &lanes = op.address[group * program.waves + wave];
    int undefined = -1;
    isReported = false;
    for (unsigned l = 0; l < Lanes; ++l) {
      if (lanes[l] == Inactive)
        continue;
      for (unsigned at = lanes[l], end = lanes[l] + op.width; at < end;) {
        const unsigned word = at / 4, next = std::min(end, word * 4 + 4);
        uint8_t bytes = 0;
        for (; at < next; ++at)
          bytes |= uint8_t(1 << at % 4);
        if (omitted == Masks)
          bytes = 0xf;
        if (program.isLds)
          raceInLds(op, l, word, bytes);
        else
          raceInMemory(op, l, word, bytes);
      }
      bool isWhole = true;
      for (unsigned i = 0; i < op.width; ++i)
        isWhole &= isDefined[lanes[l] + i] || omitted == Holes;
      for (unsigned i = 0; i < op.width && op.kind != Kind::Load; ++i)
        isDefined[lanes[l] + i] = !op.isUndefined;
      if (!isWhole && op.kind == Kind::Atomic)
        report(CheckInit, op.text, int(l), 0);
      if (!isWhole && op.kind == Kind::Load && undefined < 0)
        undefined = int(l);
    }
    if (op.waits)
      waited();
    if (op.kind == Kind::Load) {
      if (undefined >= 0)
        report(CheckInit, op.use, undefined, 0);
      ++issued[wave];
    }
  }

  void waited() {
    if (!hasWritten)
      return;
    known.done[wave] = issued[wave];
    known.interval = interval;
  }

  void raceInLds(const Op &op, unsigned lane, unsigned number, uint8_t bytes) {
    LdsWord &word = lds[number];
    if (word.interval != interval) {
      word = LdsWord();
      word.interval = interval;
      word.readers.resize(program.waves);
      word.updaters.resize(program.waves);
    }
    auto others = [&](const std::vector<bool> &set) {
      for (unsigned k = 0; k < set.size(); ++k)
        if (set[k] && k != wave)
          return true;
      return false;
    };
    const bool isAtomic = op.kind == Kind::Atomic, isOwn = word.writer == wave;
    bool withWrite = false;
    if (word.writer && word.writeBytes & bytes)
      withWrite = isOwn ? !isAtomic && word.isAtomic && others(word.updaters)
                        : !(isAtomic && word.isAtomic);
    const bool withRead = op.kind != Kind::Load && others(word.readers) &&
                          (word.readBytes & bytes);
    note(op, lane, withWrite || withRead, uint64_t(number) * 4);
    if (op.kind == Kind::Load) {
      word.readers[wave] = true;
      word.readBytes |= bytes;
      return;
    }
    const bool staysAtomic = isAtomic && (!word.isWritten || word.isAtomic);
    if (!word.isWritten || staysAtomic || (isOwn && !withWrite))
      word.writer = wave;
    else
      word.writer.reset();
    word.isAtomic = staysAtomic;
    word.isWritten = true;
    if (isAtomic)
      word.updaters[wave] = true;
    word.writeBytes |= bytes;
  }

  bool isOver(const Event &write, unsigned since) const {
    for (const Release &r : releases)
      if (r.group == write.group && r.tick < since &&
          (r.known.done[write.wave] >= write.sequence ||
           r.known.interval > write.interval))
        return true;
    return false;
  }

  /// Of an atomic operation and the plain read before it.
  bool isUpdateUnordered(const GlobalWord &word, uint8_t bytes) const {
    const Event &read = *word.read;
    if (word.write && word.write->isAtomic && word.write->tick > read.tick &&
        (read.bytes & bytes & word.write->bytes) == (read.bytes & bytes))
      return false;
    const bool hasSynchronised = syncBefore > read.tick;
    if (read.group == group)
      return !hasSynchronised && read.interval == interval &&
             (read.isOfMany || read.wave != wave);
    for (const Release &r : releases)
      if (r.group == read.group && r.tick > read.tick)
        return !hasSynchronised;
    return true;
  }

  void raceInMemory(const Op &op, unsigned lane, unsigned number,
                    uint8_t bytes) {
    GlobalWord &word = memory[number];
    const bool isAtomic = op.kind == Kind::Atomic;
    auto isUnordered = [&](const Event &other) {
      if (other.group != group)
        return lastSync <= other.tick;
      return (other.isOfMany || other.wave != wave) &&
             other.interval == interval && lastSync <= other.tick;
    };
    // An atomic operation does not order itself.
    const unsigned since =
        isAtomic && omitted != PlainWrites ? syncBefore : lastSync;
    auto isBehindWrite = [&](const Event &write) {
      if (write.group == group)
        return !isUnordered(write);
      return since > write.tick && (write.isAtomic || isOver(write, since));
    };
    bool conflict = false;
    if (word.write && word.write->bytes & bytes &&
        !(isAtomic && word.write->isAtomic))
      conflict = !isBehindWrite(*word.write);
    if (isAtomic && omitted != PlainWrites && word.plain &&
        word.plain->group != group && word.plain->bytes & bytes)
      conflict |= !isBehindWrite(*word.plain);
    if (!conflict && op.kind == Kind::Store && word.read &&
        word.read->bytes & bytes)
      conflict = isUnordered(*word.read) ||
                 (word.otherReadTick && lastSync <= *word.otherReadTick);
    if (!conflict && isAtomic && word.read && word.read->bytes & bytes)
      conflict = omitted != Updates && isUpdateUnordered(word, bytes);
    note(op, lane, conflict, base + uint64_t(number) * 4);
    Event now = {group, wave, interval, tick, issued[wave], bytes, isAtomic};
    if (op.kind == Kind::Load) {
      if (word.read) {
        now.bytes |= word.read->bytes;
        if (word.read->group != group)
          word.otherReadTick = word.read->tick;
        else
          now.isOfMany = word.read->interval == interval &&
                         (word.read->isOfMany || word.read->wave != wave);
      }
      word.read = now;
      return;
    }
    if (isAtomic && word.write && !word.write->isAtomic)
      word.plain = word.write;
    if (!isAtomic && word.plain && !(word.plain->bytes &= uint8_t(~bytes)))
      word.plain.reset();
    if (word.write && word.write->group == group)
      now.bytes |= word.write->bytes;
    word.write = now;
  }

  /// An access is reported once.
  void note(const Op &op, unsigned lane, bool conflict, uint64_t address) {
    if (conflict && !isReported)
      report(CheckRace, op.text, int(lane), address);
    isReported |= conflict;
  }

  const RandomProgram &program;
  uint64_t base;
  Omission omitted;
  std::vector<uint8_t> isDefined;
  std::map<unsigned, LdsWord> lds;
  std::map<unsigned, GlobalWord> memory;
  unsigned group = 0, wave = 0, interval = 0, tick = 1, lastSync = 0,
           syncBefore = 0;
  bool hasWritten = false, isReported = false;
  std::vector<unsigned> issued;
  Known known;
  std::vector<Release> releases;
  Findings findings;
};

/// Runs a program under the checkers. `base` gets the address of the memory.
Findings runChecked(const RandomProgram &program, uint64_t &base) {
  DeviceOptions options;
  options.checks = CheckMemory | CheckInit | CheckRace;
  if (program.isLds)
    options.checks |= CheckWait;
  options.schedule = Schedule::ToBarrier;
  options.threads = 1;
  options.reportLimit = 1000;
  Device device(options);
  std::vector<uint32_t> table;
  for (unsigned group = 0; group < program.groups; ++group)
    for (unsigned i = 0; i < NumOps; ++i)
      for (unsigned wave = 0; wave < program.waves; ++wave)
        for (uint32_t address :
             program.ops[i].address[group * program.waves + wave])
          table.push_back(address == Inactive ? Inactive
                                              : address - 16 * (i + 1));
  const uint64_t p0 = upload(device, table, "addresses");
  base = *device.allocate(TotalBytes, "memory");
  for (unsigned at = 0; at < TotalBytes; ++at)
    if (program.isDefined[at])
      llvm::cantFail(device.fill(base + at, uint8_t(at), 1));
  Arguments arguments;
  arguments.add(p0).add(base);
  LaunchParams params;
  params.grid = {program.groups, 1, 1};
  params.block = {program.waves * Lanes, 1, 1};
  params.kernarg = arguments.bytes;
  auto object =
      assembly(wrapKernel(program.body(), 16, program.isLds ? TotalBytes : 0));
  auto result = device.launch(object, object->kernels()[0], params);
  Findings findings;
  if (!result) {
    ADD_FAILURE() << toString(result.takeError());
    return findings;
  }
  for (const Finding &f : result->findings)
    findings[{f.check, f.instruction}] = {f.workgroup, f.address, f.count,
                                          f.wave, f.lane};
  return findings;
}

class AccessModel : public testing::TestWithParam<bool> {};

TEST_P(AccessModel, FindsTheSame) {
  const unsigned programs = isFullTest() ? 1000 : 20;
  std::map<Check, unsigned> found;
  std::map<Model::Omission, unsigned> noticed;
  for (unsigned seed = 0; seed < programs; ++seed) {
    const RandomProgram program(seed, GetParam());
    uint64_t base = 0;
    const Findings checked = runChecked(program, base);
    const Findings expected = Model(program, base, Model::Nothing).run();
    ASSERT_EQ(checked, expected)
        << "program " << seed << "; the checkers find\n"
        << print(checked) << "the model expects\n"
        << print(expected) << "in\n"
        << program.body();
    for (const auto &[key, place] : expected)
      ++found[key.first];
    // A model that leaves out a rule must not pass.
    for (Model::Omission omitted : {Model::Barriers, Model::Holes, Model::Masks,
                                    Model::Updates, Model::PlainWrites})
      noticed[omitted] += Model(program, base, omitted).run() != checked;
  }
  EXPECT_GT(found[CheckInit], programs);
  EXPECT_GT(found[CheckRace], programs);
  EXPECT_GT(noticed[Model::Barriers], programs / 10);
  EXPECT_GT(noticed[Model::Holes], programs / 10);
  EXPECT_GT(noticed[Model::Masks], 0u);
  if (!GetParam()) {
    EXPECT_GT(noticed[Model::Updates], 0u);
    EXPECT_GT(noticed[Model::PlainWrites], 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Spaces, AccessModel, testing::Values(false, true),
                         [](const testing::TestParamInfo<bool> &info) {
                           return info.param ? "Lds" : "Global";
                         });

} // namespace
