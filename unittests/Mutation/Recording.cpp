//===- Recording.cpp - What the waves of a launch did --------------------===//
// SPDX-License-Identifier: MIT

#include "Recording.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>

using namespace llvm;

namespace netra::mutation {

void normalize(std::vector<ByteRange> &ranges) {
  auto before = [](const ByteRange &a, const ByteRange &b) {
    return a.begin < b.begin;
  };
  if (!std::is_sorted(ranges.begin(), ranges.end(), before))
    std::sort(ranges.begin(), ranges.end(), before);
  size_t kept = 0;
  for (const ByteRange &range : ranges) {
    if (kept && range.begin <= ranges[kept - 1].end)
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

bool meet(const std::vector<ByteRange> &a, const std::vector<ByteRange> &b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].meets(b[j]))
      return true;
    ++(a[i].end <= b[j].begin ? i : j);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static bool touchesNoLds(StringRef name) {
  return name.contains("permute") || name.contains("swizzle") ||
         name == "ds_nop";
}

/// The number behind `key` in the modifiers; 0 without.
static int64_t modifier(StringRef text, StringRef key) {
  const size_t at = text.find((" " + key + ":").str());
  int64_t value = 0;
  if (at != StringRef::npos)
    text.substr(at + key.size() + 2).consumeInteger(0, value);
  return value;
}

/// Bytes of a lane's element, by the last part of the name that tells.
static unsigned elementBytes(StringRef name) {
  for (StringRef part : {"_d16_hi", "_d16"})
    name.consume_back(part);
  // Transposing reads: the bits that a lane gets.
  if (const size_t at = name.find("_tr_b"); at != StringRef::npos)
    name = name.take_front(at);
  static const struct {
    const char *end;
    unsigned bytes;
  } ends[] = {{"dwordx16", 64},
              {"dwordx8", 32},
              {"dwordx4", 16},
              {"dwordx3", 12},
              {"dwordx2", 8},
              {"dword", 4},
              {"short", 2},
              {"byte", 1},
              {"_x2", 8},
              {"_b128", 16},
              {"_b96", 12},
              {"_b64", 8},
              {"_u64", 8},
              {"_i64", 8},
              {"_f64", 8},
              {"_b32", 4},
              {"_u32", 4},
              {"_i32", 4},
              {"_f32", 4},
              {"_b16", 2},
              {"_u16", 2},
              {"_i16", 2},
              {"_b8", 1},
              {"_u8", 1},
              {"_i8", 1},
              {"pk_add_f16", 4},
              {"pk_add_bf16", 4},
              {"pk_add_rtn_f16", 4},
              {"pk_add_rtn_bf16", 4}};
  for (const auto &e : ends)
    if (name.ends_with(e.end))
      return e.bytes;
  return name.contains("_atomic_") ? 4 : 0;
}

void Operation::parseAddress(const InstructionText &inst) {
  StringRef name = inst.mnemonic, all = text;
  const auto &operands = inst.operands;
  auto registerAt = [&](size_t k) {
    std::vector<unsigned> registers;
    if (k < operands.size())
      registersOf(operands[k], registers);
    return registers;
  };
  bytes = elementBytes(name);
  const bool isAtomic = name.contains("_atomic_");
  if (cls == Class::Lds) {
    if (touchesNoLds(name))
      return;
    space = Space::Lds;
    const bool isRead = name.starts_with("ds_read"),
               isWrite = name.starts_with("ds_write");
    use = isRead ? Use::Read : isWrite ? Use::Write : Use::Sync;
    const auto at = registerAt(isRead || name.contains("_rtn_") ? 1 : 0);
    if (at.empty() || at[0] >= FirstAgpr || !bytes || name.contains("addtid") ||
        name.contains("append") || name.contains("consume") ||
        name.contains("gws")) {
      address = Address::Unknown;
      return;
    }
    address = Address::Lds;
    vector = at[0];
    if (name.contains("read2") || name.contains("write2") ||
        name.contains("wrxchg2")) {
      const int64_t unit = bytes * (name.contains("st64") ? 64 : 1);
      offsets = {modifier(all, "offset0") * unit,
                 modifier(all, "offset1") * unit};
    } else {
      offsets = {modifier(all, "offset")};
    }
    return;
  }
  if (cls == Class::Scalar) {
    if (name.starts_with("s_mem"))
      return; // the time
    const auto base = registerAt(1);
    address = name.starts_with("s_load") && base.size() == 2 &&
                      operands.size() > 2 && bytes
                  ? Address::Scalar
                  : Address::Unknown;
    if (address == Address::Unknown)
      return;
    scalar = int(base[0] - FirstSgpr);
    int64_t immediate = 0;
    StringRef offset = operands[2];
    if (offset.consumeInteger(0, immediate)) {
      scalarOffset = int(registerAt(2)[0] - FirstSgpr);
      immediate = modifier(all, "offset");
    }
    offsets = {immediate};
    return;
  }
  if (cls != Class::Vector && cls != Class::Flat) {
    // Stores and atomic operations of scalars.
    if (name.starts_with("s_store") || name.starts_with("s_buffer_store") ||
        name.starts_with("s_atomic") || name.starts_with("s_buffer_atomic")) {
      address = Address::Unknown;
      use = Use::Write;
    }
    return;
  }
  if (name.starts_with("scratch_"))
    return; // a lane's own; a load to LDS is known as such
  use = isAtomic || all.contains(" sc1") ? Use::Sync
        : name.contains("_store_")       ? Use::Write
                                         : Use::Read;
  const bool delivers = !defined.empty();
  const auto at = registerAt(delivers ? 1 : 0);
  if (name.starts_with("buffer_") || at.empty() || !bytes) {
    address = Address::Unknown;
    return;
  }
  address = cls == Class::Flat ? Address::Flat : Address::Memory;
  vector = at[0];
  isWide = at.size() == 2;
  offsets = {modifier(all, "offset")};
  if (cls == Class::Vector && !isWide) {
    const auto base = registerAt(operands.size() - 1);
    if (base.size() == 2 && base[0] >= FirstSgpr)
      scalar = int(base[0] - FirstSgpr);
    else
      address = Address::Unknown;
  }
}

Operation Operation::parse(uint64_t pc, const std::string &text) {
  Operation op;
  op.pc = pc;
  op.text = text;
  const InstructionText inst = InstructionText::parse(text);
  StringRef name = inst.mnemonic, all = op.text;
  const bool isMemory = name.starts_with("global_") ||
                        name.starts_with("buffer_") ||
                        name.starts_with("scratch_"),
             isFlat = name.starts_with("flat_"), isDs = name.starts_with("ds_"),
             isAtomic = name.contains("_atomic_");
  if (name == "s_waitcnt") {
    op.cls = Class::Wait;
    op.counters = WaitCounters::parse(text);
  } else if (name == "s_barrier") {
    op.cls = Class::Barrier;
  } else if (isMemory || isFlat) {
    const bool isLoad = name.contains("_load_"),
               isStore = name.contains("_store_");
    if (isLoad || isStore || isAtomic)
      op.cls = isFlat ? Class::Flat : Class::Vector;
    op.loadsToLds = isLoad && (name.contains("_lds_") || all.ends_with(" lds"));
    const bool delivers =
        (isLoad && !op.loadsToLds) || (isAtomic && all.contains(" sc0"));
    if (delivers)
      registersOf(inst.operands[0], op.defined);
    op.storesMemory = isStore && !name.starts_with("scratch_");
    op.publishes = isAtomic || (isStore && all.contains(" sc1"));
    op.acquires = isAtomic || (isLoad && all.contains(" sc1"));
  } else if (isDs) {
    op.cls = Class::Lds;
    const bool delivers = name.starts_with("ds_read") ||
                          name.contains("permute") ||
                          name.contains("swizzle") || name.contains("_rtn_") ||
                          name.contains("_consume") || name.contains("_append");
    if (delivers)
      registersOf(inst.operands[0], op.defined);
    op.readsLds = name.starts_with("ds_read") || name.contains("_rtn_");
    op.writesLds = !name.starts_with("ds_read") && !touchesNoLds(name);
  } else if (name.starts_with("s_load") || name.starts_with("s_buffer_load") ||
             name.starts_with("s_memtime") ||
             name.starts_with("s_memrealtime")) {
    op.cls = Class::Scalar;
    registersOf(inst.operands[0], op.defined);
  }
  op.runsOnAllLanes = name.contains("mfma") || name.contains("smfmac") ||
                      name.contains("readlane") ||
                      name.contains("readfirstlane") ||
                      name.contains("permlane");
  for (const std::string &operand : inst.operands)
    registersOf(operand, op.named);
  op.parseAddress(inst);
  return op;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Recording::addAccesses(const sim::WaveStep &step, WaveHistory &wave,
                            const Operation &op) {
  auto add = [&](Space space, Use use) -> Access & {
    Access access;
    access.step = unsigned(wave.steps.size() - 1);
    access.interval = unsigned(wave.barriers.size());
    access.operation = wave.steps.back().operation;
    access.space = space;
    access.use = use;
    wave.accesses.push_back(std::move(access));
    return wave.accesses.back();
  };
  if (op.loadsToLds && step.exec)
    add(Space::Lds, Use::Write).isUnknown = true;
  auto pair = [&](int first) {
    return step.scalars[size_t(first)] |
           uint64_t(step.scalars[size_t(first) + 1]) << 32;
  };
  using Address = Operation::Address;
  if (op.address == Address::None)
    return;
  if (op.address == Address::Scalar) {
    const uint64_t at =
        pair(op.scalar) + uint64_t(op.offsets[0]) +
        (op.scalarOffset < 0 ? 0 : step.scalars[size_t(op.scalarOffset)]);
    add(op.space, op.use).ranges = {{at, at + op.bytes}};
    return;
  }
  // One of scalars takes no lanes.
  const bool isVector =
      op.cls != Operation::Class::Other && op.cls != Operation::Class::Scalar;
  if (isVector && !step.exec)
    return;
  if (op.address == Address::Unknown) {
    add(op.space, op.use).isUnknown = true;
    return;
  }
  std::vector<ByteRange> ranges[3]; // by space
  for (unsigned lane = 0; lane < step.lanes; ++lane) {
    if (!(step.exec >> lane & 1))
      continue;
    const uint32_t low = step.vectors[op.vector * step.lanes + lane];
    uint64_t at = low;
    if (op.isWide)
      at |= uint64_t(step.vectors[(op.vector + 1) * step.lanes + lane]) << 32;
    if (op.scalar >= 0)
      at += pair(op.scalar);
    Space space = op.space;
    if (op.address == Address::Flat) {
      // The apertures, in the upper half of the address.
      const uint64_t high = at >> 32;
      space = high == 0x10000   ? Space::Lds
              : high == 0x20000 ? Space::Private
                                : Space::Memory;
      if (space == Space::Lds)
        at = low;
    }
    for (int64_t offset : op.offsets)
      ranges[unsigned(space)].push_back(
          {at + uint64_t(offset), at + uint64_t(offset) + op.bytes});
  }
  for (unsigned space = 0; space < 3; ++space) {
    if (ranges[space].empty())
      continue;
    normalize(ranges[space]);
    add(Space(space), op.use).ranges = std::move(ranges[space]);
  }
}

void Recording::step(const sim::WaveStep &step) {
  if (steps++ >= limit)
    return;
  auto [at, isNew] = byPc.try_emplace(step.pc, unsigned(operations.size()));
  if (isNew) {
    operations.push_back(Operation::parse(step.pc, step.text.str()));
    onLanes.push_back(false);
  }
  if (step.workgroup >= groups.size())
    groups.resize(step.workgroup + 1);
  GroupHistory &group = groups[step.workgroup];
  if (step.wave >= group.waves.size())
    group.waves.resize(step.wave + 1);
  WaveHistory &wave = group.waves[step.wave];
  const unsigned operation = at->second;
  wave.steps.push_back({operation, step.exec});
  const Operation &op = operations[operation];
  if (step.exec || op.cls == Operation::Class::Scalar)
    onLanes[operation] = true;
  addAccesses(step, wave, op);
  if (op.cls == Operation::Class::Barrier)
    wave.barriers.push_back(operation);
}

bool Recording::executesOnLanes(uint64_t pc) const {
  auto at = byPc.find(pc);
  return at != byPc.end() && onLanes[at->second];
}

} // namespace netra::mutation
