//===- WaitModel.cpp - Can a weaker wait change a result? ----------------===//
// SPDX-License-Identifier: MIT

#include "WaitModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace netra::mutation {

unsigned WaitModel::operationAt(uint64_t pc, const std::string &text) {
  auto [at, isNew] = byPc.try_emplace(pc, unsigned(operations.size()));
  if (!isNew)
    return at->second;
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
  } else if (isDs) {
    op.cls = Class::Lds;
    const bool delivers = name.starts_with("ds_read") ||
                          name.contains("permute") ||
                          name.contains("swizzle") || name.contains("_rtn_") ||
                          name.contains("_consume") || name.contains("_append");
    if (delivers)
      registersOf(inst.operands[0], op.defined);
    op.readsLds = name.starts_with("ds_read") || name.contains("_rtn_");
    op.writesLds = !name.starts_with("ds_read") && !name.contains("permute") &&
                   !name.contains("swizzle");
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
  operations.push_back(std::move(op));
  return at->second;
}

size_t WaitModel::addTrace(const std::string &trace, uint64_t exec) {
  waves.emplace_back();
  hasBase = false;
  StringRef rest = trace;
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    if (line.starts_with("        ")) {
      // A register that the instruction before changed.
      auto [name, value] = line.trim().split(" = ");
      uint32_t bits = 0;
      if (!name.starts_with("exec_") || value.getAsInteger(16, bits))
        continue;
      exec = name == "exec_lo" ? (exec >> 32 << 32 | bits)
                               : (uint64_t(bits) << 32 | uint32_t(exec));
      continue;
    }
    // "  number  pc  text"
    auto [number, behind] = line.trim().split("  ");
    auto [place, text] = behind.trim().split("  ");
    uint64_t pc = 0;
    if (place.trim().getAsInteger(16, pc))
      continue;
    waves.back().steps.push_back({operationAt(pc, text.trim().str()), exec});
  }
  return waves.back().steps.size();
}

void WaitModel::replay(const WaveHistory &wave, uint64_t changedPc,
                       WaitCounters changed, Dependences &found) const {
  struct Outstanding {
    unsigned instruction;
    const Operation *op;
    uint64_t vector, lds, lanes;
  };
  std::vector<Outstanding> outstanding;
  uint64_t vectorIssued = 0, ldsIssued = 0;
  for (const WaveHistory::Step &step : wave.steps) {
    const Operation &op = operations[step.instruction];
    auto note = [&](const Outstanding &o, const char *what, bool isLoad) {
      found.try_emplace({step.instruction, o.instruction},
                        Dependence{what, isLoad});
    };
    auto issue = [&](uint64_t vector, uint64_t lds) {
      // It is outstanding for at least as long as the same instruction issued
      // before: on the same lanes that one says nothing more.
      llvm::erase_if(outstanding, [&](const Outstanding &o) {
        return o.instruction == step.instruction && !(o.lanes & ~step.exec);
      });
      outstanding.push_back({step.instruction, &op, vector, lds, step.exec});
    };
    if (op.cls == Class::Wait) {
      const WaitCounters c = op.pc == changedPc ? changed : op.counters;
      llvm::erase_if(outstanding, [&](const Outstanding &o) {
        switch (o.op->cls) {
        case Class::Vector:
          return c.vm >= 0 && o.vector + uint64_t(c.vm) <= vectorIssued;
        case Class::Lds:
          return c.lgkm >= 0 && o.lds + uint64_t(c.lgkm) <= ldsIssued;
        case Class::Scalar:
          return c.lgkm == 0;
        default:
          return c.vm == 0 && c.lgkm == 0;
        }
      });
      continue;
    }
    for (const Outstanding &o : outstanding) {
      const bool isScalar = o.op->cls == Class::Scalar;
      if (isScalar || op.runsOnAllLanes || (step.exec & o.lanes)) {
        for (unsigned r : o.op->defined) {
          if (!is_contained(op.named, r))
            continue;
          // Overwritten by a later load of the same order?
          const bool follows =
              op.cls == o.op->cls &&
              (op.cls == Class::Vector || op.cls == Class::Lds) &&
              is_contained(op.defined, r) && count(op.named, r) == 1;
          if (!follows)
            note(o, "uses a register while", true);
          break;
        }
      }
      if (op.cls == Class::Barrier && hasManyWaves &&
          (o.op->writesLds || o.op->loadsToLds))
        note(o, "is passed while", false);
      if (op.readsLds && o.op->loadsToLds)
        note(o, "reads LDS while", false);
      if (op.publishes && hasManyGroups && o.op->storesMemory)
        note(o, "is seen while", false);
    }
    switch (op.cls) {
    case Class::Vector:
      issue(++vectorIssued, 0);
      break;
    case Class::Lds:
      issue(0, ++ldsIssued);
      break;
    case Class::Scalar:
    case Class::Flat:
      issue(0, 0);
      break;
    default:
      break;
    }
  }
}

const WaitModel::Dependences &WaitModel::unchanged() {
  if (!hasBase) {
    base.clear();
    for (const WaveHistory &wave : waves)
      replay(wave, ~uint64_t(0), {}, base);
    hasBase = true;
  }
  return base;
}

std::string
WaitModel::describe(const Dependences::value_type &dependence) const {
  const auto [later, earlier] = dependence.first;
  return "`" + operations[later].text + "` " + dependence.second.what + " `" +
         operations[earlier].text + "` is outstanding";
}

std::string WaitModel::unchangedFault() {
  for (const auto &dependence : unchanged())
    if (dependence.second.isLoad)
      return describe(dependence);
  return "";
}

std::string WaitModel::canChange(uint64_t pc, WaitCounters counters) {
  const Dependences &before = unchanged();
  for (const WaveHistory &wave : waves) {
    Dependences found;
    replay(wave, pc, counters, found);
    for (const auto &dependence : found)
      if (!before.count(dependence.first))
        return describe(dependence);
  }
  return "";
}

std::string WaitModel::nopCanChange(uint64_t pc, unsigned states,
                                    Rules rules) const {
  for (const WaveHistory &wave : waves) {
    std::vector<const std::string *> texts;
    for (const WaveHistory::Step &step : wave.steps)
      texts.push_back(&operations[step.instruction].text);
    // Loops repeat what surrounds an instruction; few passes show all of it.
    unsigned seen = 0;
    for (size_t i = 0; i < wave.steps.size() && seen < 100; ++i) {
      if (operations[wave.steps[i].instruction].pc != pc)
        continue;
      ++seen;
      if (std::string why = tooClose(texts, i, states, rules); !why.empty())
        return why;
    }
  }
  return "";
}

} // namespace netra::mutation
