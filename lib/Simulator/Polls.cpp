//===- Polls.cpp - Reads by which waves wait for each other --------------===//
// SPDX-License-Identifier: MIT

#include "Polls.h"
#include "Program.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetOperations.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace netra::sim {

namespace {

/// Loops that wait are short. This bounds what a program of any size costs.
constexpr size_t MostInLoop = 512;
/// How far in front of a loop its first turn may stand, and how far behind an
/// atomic operation the branch that it decides.
constexpr uint32_t MostApart = 128;

/// What is known of the instructions without running them.
class Code {
public:
  explicit Code(const Program &program);

  const Program &program;
  StringRef mnemonic(uint32_t index) const {
    return program.mnemonics[program.info[index].mnemonicId];
  }
  const InstructionInfo &info(uint32_t index) const {
    return program.info[index];
  }
  /// Whether it may be a read of LDS, and of what by its kind.
  bool mayPoll(uint32_t index) const;
  bool isAtomic(uint32_t index) const;
  bool isCompareAndSwap(uint32_t index) const {
    return mnemonic(index).contains("cmpst") ||
           mnemonic(index).contains("cmpswap");
  }
  bool isConditional(uint32_t index) const;
  /// Whether others may see what it does, or it waits for them otherwise.
  bool isVisible(uint32_t index) const;
  /// Whether it reads memory that is not the lane's own.
  bool readsShared(uint32_t index) const {
    return (info(index).cls == InstructionClass::Lds ||
            (info(index).cls == InstructionClass::VectorMemory &&
             !mnemonic(index).starts_with("scratch_"))) &&
           info(index).isLoad;
  }

  /// False where no way leads back to the instruction: over each one of a loop
  /// some branch leads back.
  bool isInCycle(uint32_t index) const { return isInside[index]; }
  template <typename Function>
  void forEachNext(uint32_t index, Function &&function) const;
  template <typename Function>
  void forEachBefore(uint32_t index, Function &&function) const;

  /// Of a branch; NoIndex if it leads nowhere, or anywhere.
  uint32_t target(uint32_t index) const;

private:
  bool fallsThrough(uint32_t index) const;

  DenseMap<uint32_t, SmallVector<uint32_t, 2>> branchesTo;
  BitVector isInside;
};

Code::Code(const Program &program) : program(program) {
  const uint32_t size = uint32_t(program.code.size());
  std::vector<int> opened(size + 1); // branches back, less those that end
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t to = target(i);
    if (to == Program::NoIndex)
      continue;
    branchesTo[to].push_back(i);
    if (to <= i) {
      ++opened[to];
      --opened[i + 1];
    }
  }
  isInside.resize(size);
  int inside = 0;
  for (uint32_t i = 0; i < size; ++i)
    if ((inside += opened[i]))
      isInside.set(i);
}

bool Code::isAtomic(uint32_t index) const {
  // What exchanges lanes reads no LDS.
  const StringRef name = mnemonic(index);
  return info(index).isLoad && !info(index).writes.empty() &&
         (info(index).cls == InstructionClass::Lds
              ? name.contains("_rtn_")
              : name.starts_with("flat_atomic"));
}

bool Code::mayPoll(uint32_t index) const {
  const StringRef name = mnemonic(index);
  return name.starts_with("ds_read") || name.starts_with("flat_load") ||
         isAtomic(index);
}

bool Code::isConditional(uint32_t index) const {
  return mnemonic(index).starts_with("s_cbranch");
}

bool Code::isVisible(uint32_t index) const {
  const InstructionInfo &known = info(index);
  const StringRef name = mnemonic(index);
  switch (known.cls) {
  case InstructionClass::Lds:
    return known.isStore && !name.contains("permute") &&
           !name.contains("swizzle");
  case InstructionClass::VectorMemory:
    return known.isStore && !name.starts_with("scratch_") &&
           (known.isLoad || name.contains("store"));
  case InstructionClass::Flat:
    // Stores by flat addresses are taken to be to private memory: compilers
    // that do not optimise keep variables there.
    return name.starts_with("flat_atomic");
  case InstructionClass::ScalarMemory:
    return known.isStore && !name.starts_with("s_dcache");
  case InstructionClass::Branch:
    return !isConditional(index) && name != "s_branch";
  default:
    return name == "s_barrier" || name == "s_endpgm" || !known.problem.empty();
  }
}

bool Code::fallsThrough(uint32_t index) const {
  const StringRef name = mnemonic(index);
  return name != "s_branch" && !name.starts_with("s_endpgm") &&
         !name.starts_with("s_setpc") && index + 1 < program.code.size();
}

uint32_t Code::target(uint32_t index) const {
  if (info(index).cls != InstructionClass::Branch ||
      (mnemonic(index) != "s_branch" && !isConditional(index)) ||
      mnemonic(index).contains("fork") || mnemonic(index).contains("join"))
    return Program::NoIndex;
  const int64_t to = program.code[index].imm;
  return Program::isNoIndex(to) ? Program::NoIndex : uint32_t(to);
}

template <typename Function>
void Code::forEachNext(uint32_t index, Function &&function) const {
  if (fallsThrough(index))
    function(index + 1);
  if (const uint32_t to = target(index); to != Program::NoIndex)
    function(to);
}

template <typename Function>
void Code::forEachBefore(uint32_t index, Function &&function) const {
  if (index && fallsThrough(index - 1))
    function(index - 1);
  if (auto known = branchesTo.find(index); known != branchesTo.end())
    for (uint32_t from : known->second)
      function(from);
}

/// Follows values through instructions that run one after the other.
class Values {
public:
  /// \p poll is the read whose values are looked for in others; what stands in
  /// front of \p begin tells of constants.
  Values(const Code &code, uint32_t poll, uint32_t begin)
      : code(code), poll(poll) {
    for (uint32_t i = begin - std::min(begin, MostApart); i < begin; ++i)
      step(i);
  }

  void step(uint32_t index);
  /// Whether the branch, or the lanes behind the instruction, depend on what
  /// the poll read.
  bool decides(uint32_t index) const;
  /// Where an instruction accesses memory.
  uint64_t address(uint32_t index) const;
  /// What LDS and flat instructions do there: the operands behind the address.
  uint64_t data(uint32_t index) const;
  /// Whether it is a compare-and-swap that compares what the poll read.
  bool compares(uint32_t index) const;
  /// Whether it is an atomic operation that changes the word each time.
  bool changes(uint32_t index) const;

private:
  enum class Origin { Register, Constant, Load, Memory, Choice };
  static constexpr unsigned Scalars = 1 << 16, Scc = 2 << 16, Lanes = 3 << 16;
  static constexpr unsigned Exec = Scalars + unsigned(ExecLo);

  static unsigned keyOf(RegisterFile file, unsigned index) {
    return file == RegisterFile::Vector   ? index
           : file == RegisterFile::Scalar ? Scalars + index
                                          : Scc;
  }
  uint64_t get(unsigned key) const {
    auto known = registers.find(key);
    return known != registers.end() ? known->second
                                    : mix(Origin::Register, key);
  }
  template <typename... Parts> static uint64_t mix(const Parts &...parts) {
    return uint64_t(size_t(hash_combine(parts...))) >> 2; // no key of a map
  }
  uint64_t operand(const Operand &op, unsigned word) const {
    if (op.isConstant())
      return mix(Origin::Constant,
                 word ? op.value >> 32 : op.value & 0xffffffff);
    return get(keyOf(fileOf(op), op.index + word));
  }
  static RegisterFile fileOf(const Operand &op) {
    return op.isVector() ? RegisterFile::Vector : RegisterFile::Scalar;
  }
  static bool isCopy(StringRef name) {
    static constexpr StringLiteral names[] = {
        "v_mov_b32",          "v_mov_b64",          "s_mov_b32",
        "s_mov_b64",          "v_accvgpr_read_b32", "v_accvgpr_write_b32",
        "v_readfirstlane_b32"};
    return is_contained(names, name);
  }
  void copy(const Instruction &inst);
  void branch(uint32_t index);
  /// A lane of a register that keeps scalars; whichever register it is, since
  /// that is copied as a whole.
  bool spill(const Instruction &inst, StringRef name);
  bool changeExec(const Instruction &inst, StringRef name);
  void load(const Instruction &inst);
  void store(const Instruction &inst);
  bool isTainted(uint64_t value) const { return tainted.contains(value); }
  /// What is left of a value behind a branch around it.
  uint64_t chosen(uint64_t value) {
    if (!isChosen)
      return value;
    value = mix(Origin::Choice, value);
    tainted.insert(value);
    return value;
  }

  const Code &code;
  const uint32_t poll;
  uint64_t steps = 0;
  DenseMap<unsigned, uint64_t> registers;
  DenseMap<uint64_t, uint64_t> memory; ///< by address, the lane's own
  DenseSet<uint64_t> tainted;          ///< values that depend on the poll's
  /// Around the instructions between these leads a branch that the poll's value
  /// decides.
  uint32_t choiceBegin = 0, choiceEnd = 0;
  bool isChosen = false; ///< the instruction is one of them
};

void Values::copy(const Instruction &inst) {
  const Operand &to = inst.ops[0], &from = inst.ops[1];
  SmallVector<uint64_t, 2> values;
  for (unsigned k = 0; k < to.words; ++k)
    values.push_back(operand(from, k));
  for (unsigned k = 0; k < to.words; ++k) {
    const unsigned key = keyOf(fileOf(to), to.index + k);
    // Behind the branch EXEC is what it was.
    const bool isExec = key == Exec || key == Exec + 1;
    registers[key] = isExec ? values[k] : chosen(values[k]);
  }
}

bool Values::spill(const Instruction &inst, StringRef name) {
  const bool isWrite = name == "v_writelane_b32";
  if ((!isWrite && name != "v_readlane_b32") || !inst.ops[2].isConstant())
    return false;
  const unsigned slot = Lanes + unsigned(inst.ops[2].value & 0x3f);
  if (isWrite)
    registers[slot] = chosen(operand(inst.ops[1], 0));
  else
    registers[keyOf(RegisterFile::Scalar, inst.ops[0].index)] = get(slot);
  return true;
}

/// The beginning and the end of what some lanes do: the old mask is kept, and
/// comes back.
bool Values::changeExec(const Instruction &inst, StringRef name) {
  const InstructionInfo &info = code.info(inst.index);
  if (name.ends_with("saveexec_b64")) {
    const uint64_t old[2] = {get(Exec), get(Exec + 1)};
    for (unsigned k = 0; k < 2; ++k) {
      const uint64_t from = operand(inst.ops[1], k),
                     result = mix(name, old[k], from);
      if (isTainted(from) || isTainted(old[k]))
        tainted.insert(result);
      registers[keyOf(RegisterFile::Scalar, inst.ops[0].index + k)] = old[k];
      registers[Exec + k] = result;
    }
    return true;
  }
  if (!StringRef(info.text).starts_with("s_or_b64 exec, exec, s["))
    return false;
  for (unsigned k = 0; k < 2; ++k)
    registers[Exec + k] = operand(inst.ops[2], k);
  return true;
}

uint64_t Values::address(uint32_t index) const {
  const Instruction &inst = code.program.code[index];
  const InstructionInfo &info = code.info(index);
  uint64_t value =
      mix(inst.imm, unsigned(inst.offset0), unsigned(inst.offset1));
  for (unsigned k = 0; k < inst.numSrc(); ++k) {
    // LDS and flat addresses are one operand, the others two; behind the first
    // stand data.
    const bool hasOne = info.cls != InstructionClass::VectorMemory;
    if (k && (hasOne || (k == 1 && info.writes.empty())))
      continue;
    const Operand &op = inst.src(k); // `off` is no register
    for (unsigned word = 0; word < (op.isConstant() ? 1 : op.words); ++word)
      value = mix(value, operand(op, word));
  }
  return value;
}

uint64_t Values::data(uint32_t index) const {
  const Instruction &inst = code.program.code[index];
  uint64_t value = 0;
  for (unsigned k = 1; k < inst.numSrc(); ++k)
    for (unsigned word = 0; word < inst.src(k).words; ++word)
      value = mix(value, operand(inst.src(k), word));
  return value;
}

bool Values::compares(uint32_t index) const {
  if (!code.isCompareAndSwap(index))
    return false;
  // Flat ones have it behind what they write.
  const Operand &op = code.program.code[index].src(1);
  const bool isBehind = code.info(index).cls != InstructionClass::Lds;
  return isTainted(operand(op, isBehind ? op.words / 2 : 0));
}

bool Values::changes(uint32_t index) const {
  const StringRef name = code.mnemonic(index);
  auto isOneOf = [&](std::initializer_list<StringRef> parts) {
    return any_of(parts, [&](StringRef part) { return name.contains(part); });
  };
  // With the same data these do nothing the second time.
  if (!code.isAtomic(index) ||
      isOneOf({"cmpst", "wrxchg", "swap", "_and", "_or"}))
    return false;
  return !isOneOf({"_add", "_sub", "_xor"}) ||
         operand(code.program.code[index].src(1), 0) !=
             mix(Origin::Constant, uint64_t(0));
}

void Values::load(const Instruction &inst) {
  const InstructionInfo &info = code.info(inst.index);
  const uint64_t at = address(inst.index);
  const bool isPrivate = info.cls == InstructionClass::Flat ||
                         code.mnemonic(inst.index).starts_with("scratch_");
  for (const RegisterRange &range : info.writes)
    for (unsigned k = 0; k < range.count; ++k) {
      // What others may change is another value each time.
      uint64_t value = mix(Origin::Load, at, k, steps);
      if (inst.index == poll)
        tainted.insert(value);
      else if (isPrivate) {
        auto known = memory.find(mix(at, k));
        value =
            known != memory.end() ? known->second : mix(Origin::Memory, at, k);
      }
      registers[keyOf(range.file, range.first + k)] = value;
    }
}

void Values::store(const Instruction &inst) {
  const uint64_t at = address(inst.index);
  for (unsigned k = 0; k < inst.src(1).words; ++k)
    memory[mix(at, k)] = chosen(operand(inst.src(1), k));
}

void Values::branch(uint32_t index) {
  const uint32_t to = code.target(index);
  if (to == Program::NoIndex || to <= index)
    return;
  if (code.isConditional(index) && decides(index)) {
    choiceBegin = index;
    choiceEnd = to;
  } else if (isChosen && !code.isConditional(index)) {
    // What the branch leads around stands elsewhere, and comes back from there.
    for (uint32_t end = to; end < code.program.code.size(); ++end)
      if (code.target(end) == choiceEnd) {
        choiceBegin = to - 1;
        choiceEnd = end;
        return;
      }
  }
}

void Values::step(uint32_t index) {
  ++steps;
  const Instruction &inst = code.program.code[index];
  const InstructionInfo &info = code.info(index);
  const StringRef name = code.mnemonic(index);
  isChosen = choiceBegin < index && index < choiceEnd;
  switch (info.cls) {
  case InstructionClass::Lds:
  case InstructionClass::VectorMemory:
  case InstructionClass::Flat:
  case InstructionClass::ScalarMemory:
    if (!info.writes.empty())
      load(inst);
    else if (info.isStore && info.cls != InstructionClass::ScalarMemory)
      store(inst);
    return;
  case InstructionClass::Branch:
    branch(index);
    return;
  case InstructionClass::Message:
    return;
  default:
    break;
  }
  if (isCopy(name) && inst.encoding == Encoding::Plain)
    return copy(inst);
  if (spill(inst, name) || changeExec(inst, name))
    return;
  uint64_t result = mix(name, inst.imm);
  bool depends = false;
  for (unsigned k = inst.numDst; k < inst.numOps; ++k)
    if (inst.ops[k].isConstant())
      result = mix(result, k, operand(inst.ops[k], 0), operand(inst.ops[k], 1));
  auto read = [&](unsigned key) {
    const uint64_t value = get(key);
    depends |= isTainted(value);
    result = mix(result, value);
  };
  for (const RegisterRange &range : info.reads)
    for (unsigned k = 0; k < range.count; ++k)
      read(keyOf(range.file, range.first + k));
  // Which lanes a vector instruction runs on is no part of what it computes.
  if (info.readsExec && info.cls == InstructionClass::Salu) {
    read(Exec);
    read(Exec + 1);
  }
  unsigned number = 0;
  for (const RegisterRange &range : info.writes)
    for (unsigned k = 0; k < range.count; ++k) {
      const uint64_t value = mix(result, number++);
      if (depends)
        tainted.insert(value);
      registers[keyOf(range.file, range.first + k)] = chosen(value);
    }
}

bool Values::decides(uint32_t index) const {
  const InstructionInfo &info = code.info(index);
  const bool isBranch = code.isConditional(index);
  if ((isBranch && info.readsExec) || (!isBranch && info.writesExec))
    if (isTainted(get(Exec)) || isTainted(get(Exec + 1)))
      return true;
  return isBranch && any_of(info.reads, [&](const RegisterRange &range) {
           for (unsigned k = 0; k < range.count; ++k)
             if (isTainted(get(keyOf(range.file, range.first + k))))
               return true;
           return false;
         });
}

class Finder {
public:
  explicit Finder(const Program &program) : code(program) {}

  void find(BitVector &waiting, BitVector &learning) const;

private:
  /// The instructions on ways from a read back to itself on which a wave does
  /// nothing that others see, from the first one on, each behind what leads to
  /// it; none if there are too many. \p isAlone leaves out the ways with other
  /// reads.
  std::vector<uint32_t> around(uint32_t read, bool isAlone) const;
  bool waits(uint32_t read, const std::vector<uint32_t> &loop) const;
  /// Whether the read is the first turn of the loop in which \p poll stands, or
  /// a compare-and-swap at its address compares what it read.
  bool isCheckedBy(uint32_t read, uint32_t poll) const;
  bool decidesBranch(uint32_t atomic) const;

  const Code code;
};

std::vector<uint32_t> Finder::around(uint32_t read, bool isAlone) const {
  auto isOpen = [&](uint32_t index) {
    return index == read ||
           (!code.isVisible(index) && !(isAlone && code.readsShared(index)));
  };
  DenseSet<uint32_t> reached[2];
  for (bool isForward : {false, true}) {
    DenseSet<uint32_t> &known = reached[isForward];
    std::vector<uint32_t> open = {read};
    auto visit = [&](uint32_t index) {
      if (isOpen(index) && known.insert(index).second)
        open.push_back(index);
    };
    while (!open.empty()) {
      if (known.size() > MostInLoop)
        return {};
      const uint32_t index = open.back();
      open.pop_back();
      if (isForward)
        code.forEachNext(index, visit);
      else
        code.forEachBefore(index, visit);
    }
    if (!known.contains(read))
      return {};
  }
  DenseSet<uint32_t> &open = reached[0];
  set_intersect(open, reached[1]);
  std::vector<uint32_t> loop;
  auto visit = [&](auto &self, uint32_t index) -> void {
    if (!open.erase(index))
      return;
    // What a branch leads around comes before what it leads to.
    SmallVector<uint32_t, 2> next;
    code.forEachNext(index, [&](uint32_t each) { next.push_back(each); });
    for (uint32_t each : reverse(next))
      self(self, each);
    loop.push_back(index);
  };
  visit(visit, *std::min_element(open.begin(), open.end()));
  std::reverse(loop.begin(), loop.end());
  return loop;
}

bool Finder::waits(uint32_t read, const std::vector<uint32_t> &loop) const {
  if (loop.empty())
    return false;
  const DenseSet<uint32_t> inside(loop.begin(), loop.end());
  Values values(code, read, loop[0]);
  bool leaves = false;
  // Values of the first turn may come from in front of the loop.
  SmallVector<std::pair<uint64_t, uint64_t>, 3> done;
  for (unsigned turn = 0; turn < 3; ++turn)
    for (uint32_t index : loop) {
      if (index == read) {
        if (values.changes(index))
          return false;
        done.push_back({values.address(index), values.data(index)});
      }
      values.step(index);
      if (!code.isConditional(index) || !values.decides(index))
        continue;
      code.forEachNext(
          index, [&](uint32_t next) { leaves |= !inside.contains(next); });
    }
  // What is computed of what was read is not the same again.
  return leaves && done[1] == done[2];
}

bool Finder::isCheckedBy(uint32_t read, uint32_t poll) const {
  const bool isTurn = code.info(read).mnemonicId == code.info(poll).mnemonicId;
  Values values(code, read, read);
  const uint64_t at = values.address(read);
  bool decides = false;
  for (uint32_t index = read; index < poll; ++index) {
    if (index != read && code.isVisible(index))
      return false;
    values.step(index);
    decides |= code.isConditional(index) && values.decides(index);
  }
  return (isTurn ? decides : values.compares(poll)) &&
         values.address(poll) == at;
}

bool Finder::decidesBranch(uint32_t atomic) const {
  Values values(code, atomic, atomic);
  const uint32_t end =
      std::min(uint32_t(code.program.code.size()), atomic + MostApart);
  for (uint32_t index = atomic; index < end; ++index) {
    if (index != atomic && code.isVisible(index))
      return false;
    values.step(index);
    if (values.decides(index))
      return true;
  }
  return false;
}

void Finder::find(BitVector &waiting, BitVector &learning) const {
  const uint32_t size = uint32_t(code.program.code.size());
  auto add = [&](BitVector &to, uint32_t index) {
    waiting.resize(size);
    learning.resize(size);
    to.set(index);
  };
  for (uint32_t read = 0; read < size; ++read) {
    if (!code.mayPoll(read))
      continue;
    if (code.isAtomic(read) && decidesBranch(read))
      add(learning, read);
    const bool isWait =
        code.isInCycle(read) &&
        (waits(read, around(read, false)) || waits(read, around(read, true)));
    if (isWait) {
      add(waiting, read);
      add(learning, read);
    } else if (!code.isCompareAndSwap(read)) {
      continue;
    }
    for (uint32_t first = read - std::min(read, MostApart); first < read;
         ++first) {
      const bool isTurn =
          code.info(first).mnemonicId == code.info(read).mnemonicId;
      if (!code.mayPoll(first) ||
          (isTurn ? !isWait
                  : code.isAtomic(first) || !code.isCompareAndSwap(read)) ||
          !isCheckedBy(first, read))
        continue;
      add(waiting, first);
      if (isTurn)
        add(learning, first);
    }
  }
}

} // namespace

Polls::Polls(const Program &program) {
  Finder(program).find(waiting, learning);
}

} // namespace netra::sim
