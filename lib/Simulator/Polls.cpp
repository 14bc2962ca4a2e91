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
  /// Whether it may be a read of LDS that does nothing else.
  bool isPlainRead(uint32_t index) const {
    return mnemonic(index).starts_with("ds_read") ||
           mnemonic(index).starts_with("flat_load");
  }
  /// Whether it may be an atomic operation on LDS that returns a value.
  bool isAtomic(uint32_t index) const {
    return mnemonic(index).contains("_rtn_") ||
           mnemonic(index).starts_with("flat_atomic");
  }
  bool isCompareAndSwap(uint32_t index) const {
    return mnemonic(index).contains("cmpst") ||
           mnemonic(index).contains("cmpswap");
  }
  bool isConditional(uint32_t index) const {
    StringRef name = mnemonic(index);
    return name.consume_front("s_cbranch_") &&
           (name.starts_with("scc") || name.starts_with("vcc") ||
            name.starts_with("exec"));
  }
  /// Whether it accesses memory that is taken to be the lane's own. So are flat
  /// addresses: compilers that do not optimise keep variables there.
  bool isPrivate(uint32_t index) const {
    return mnemonic(index).starts_with("scratch_") ||
           (info(index).cls == InstructionClass::Flat &&
            !mnemonic(index).starts_with("flat_atomic"));
  }
  /// Whether others may see what it does, or it leads elsewhere.
  bool isVisible(uint32_t index) const;

  template <typename Function>
  void forEachNext(uint32_t index, Function &&function) const;
  template <typename Function>
  void forEachBefore(uint32_t index, Function &&function) const;
  /// Of a branch; NoIndex if it leads nowhere, or anywhere.
  uint32_t target(uint32_t index) const;

private:
  bool fallsThrough(uint32_t index) const {
    return mnemonic(index) != "s_branch" && index + 1 < program.code.size();
  }

  DenseMap<uint32_t, SmallVector<uint32_t, 2>> branchesTo;
};

Code::Code(const Program &program) : program(program) {
  for (uint32_t i = 0; i < program.code.size(); ++i)
    if (const uint32_t to = target(i); to != Program::NoIndex)
      branchesTo[to].push_back(i);
}

bool Code::isVisible(uint32_t index) const {
  const InstructionInfo &known = info(index);
  const StringRef name = mnemonic(index);
  switch (known.cls) {
  case InstructionClass::Lds:
    return known.isStore;
  case InstructionClass::VectorMemory:
  case InstructionClass::Flat:
  case InstructionClass::ScalarMemory:
    return known.isStore && !isPrivate(index);
  case InstructionClass::Branch:
    return !isConditional(index) && name != "s_branch";
  default:
    return name == "s_barrier" || name == "s_endpgm";
  }
}

uint32_t Code::target(uint32_t index) const {
  if (mnemonic(index) != "s_branch" && !isConditional(index))
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
  /// What is set from now on depends on the poll, until the instruction is
  /// reached: a branch that the poll decides leads around it.
  void chooseUntil(uint32_t index) {
    isChosen = true;
    choiceEnd = index;
  }
  /// Whether the branch, or the lanes behind the instruction, depend on what
  /// the poll read.
  bool decides(uint32_t index) const;
  /// Where an instruction accesses memory.
  uint64_t address(uint32_t index) const;
  /// What LDS and flat instructions do there: the operands behind the address.
  uint64_t data(uint32_t index) const;
  /// Whether a compare-and-swap compares what the poll read.
  bool compares(uint32_t index) const;
  /// Whether it is an atomic operation that changes the word each time.
  bool changes(uint32_t index) const;

private:
  struct Value {
    uint64_t number = 0;  ///< the same for the same values
    bool depends = false; ///< on what the poll read
  };
  enum class Origin { Before, Constant, Load };
  /// Values are kept by keys: vector registers from 0 on, then these, and
  /// private memory by the numbers of its addresses.
  static constexpr uint64_t Scalars = 1 << 16, Scc = 2 << 16, Lanes = 3 << 16,
                            Exec = Scalars + ExecLo;

  template <typename... Parts> static uint64_t mix(const Parts &...parts) {
    return uint64_t(size_t(hash_combine(parts...))) >> 2; // no key of a map
  }
  static uint64_t keyOf(RegisterFile file, unsigned index) {
    return file == RegisterFile::Vector   ? index
           : file == RegisterFile::Scalar ? Scalars + index
                                          : Scc;
  }
  static uint64_t keyOf(const Operand &op, unsigned word) {
    return keyOf(op.isVector() ? RegisterFile::Vector : RegisterFile::Scalar,
                 op.index + word);
  }
  Value get(uint64_t key) const {
    auto found = known.find(key);
    return found != known.end() ? found->second
                                : Value{mix(Origin::Before, key)};
  }
  void set(uint64_t key, Value value) {
    value.depends |= isChosen;
    known[key] = value;
  }
  Value operand(const Operand &op, unsigned word) const {
    return op.isConstant() ? constant(op.value >> (word ? 32 : 0))
                           : get(keyOf(op, word));
  }
  static Value constant(uint64_t value) {
    return {mix(Origin::Constant, uint32_t(value))};
  }
  static Value both(const Value &a, const Value &b) {
    return {mix(a.number, b.number), a.depends || b.depends};
  }
  bool move(const Instruction &inst, StringRef name);
  bool changeExec(const Instruction &inst, StringRef name);
  void access(const Instruction &inst);
  void compute(const Instruction &inst, StringRef name);

  const Code &code;
  const uint32_t poll;
  uint64_t steps = 0;
  DenseMap<uint64_t, Value> known;
  bool isChosen = false; ///< what is set, until `choiceEnd`
  uint32_t choiceEnd = 0;
};

/// Copies, and lanes of registers that keep scalars: whichever register it is,
/// since that is copied as a whole.
bool Values::move(const Instruction &inst, StringRef name) {
  static constexpr StringLiteral copies[] = {
      "v_mov_b32",          "v_mov_b64",          "s_mov_b32",
      "s_mov_b64",          "v_accvgpr_read_b32", "v_accvgpr_write_b32",
      "v_readfirstlane_b32"};
  const Operand &to = inst.ops[0], &from = inst.ops[1];
  if (is_contained(copies, name) && inst.encoding == Encoding::Plain) {
    const Value values[2] = {operand(from, 0), operand(from, 1)};
    for (unsigned k = 0; k < to.words; ++k)
      set(keyOf(to, k), values[k]);
    return true;
  }
  const bool isWrite = name == "v_writelane_b32";
  if ((!isWrite && name != "v_readlane_b32") || !inst.ops[2].isConstant())
    return false;
  const uint64_t lane = Lanes + (inst.ops[2].value & 0x3f);
  set(isWrite ? lane : keyOf(to, 0), isWrite ? operand(from, 0) : get(lane));
  return true;
}

/// The beginning and the end of what some lanes do: the old mask is kept, and
/// comes back.
bool Values::changeExec(const Instruction &inst, StringRef name) {
  const bool isBegin = name.ends_with("saveexec_b64");
  if (!isBegin &&
      !StringRef(code.info(inst.index).text).starts_with("s_or_b64 exec, exec"))
    return false;
  for (unsigned k = 0; k < 2; ++k) {
    const Value old = get(Exec + k),
                other = operand(inst.ops[isBegin ? 1 : 2], k);
    if (isBegin)
      set(keyOf(inst.ops[0], k), old);
    set(Exec + k, isBegin ? both(old, other) : other);
  }
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
    for (unsigned word = 0; word < inst.src(k).words; ++word)
      value = mix(value, operand(inst.src(k), word).number);
  }
  return value;
}

uint64_t Values::data(uint32_t index) const {
  const Instruction &inst = code.program.code[index];
  uint64_t value = 0;
  for (unsigned k = 1; k < inst.numSrc(); ++k)
    for (unsigned word = 0; word < inst.src(k).words; ++word)
      value = mix(value, operand(inst.src(k), word).number);
  return value;
}

bool Values::compares(uint32_t index) const {
  // Flat ones have it behind what they write.
  const Operand &op = code.program.code[index].src(1);
  const bool isBehind = code.info(index).cls != InstructionClass::Lds;
  return operand(op, isBehind ? op.words / 2 : 0).depends;
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
         operand(code.program.code[index].src(1), 0).number !=
             constant(0).number;
}

void Values::access(const Instruction &inst) {
  const InstructionInfo &info = code.info(inst.index);
  const bool isPrivate = code.isPrivate(inst.index) && inst.index != poll;
  const uint64_t at = address(inst.index);
  for (const RegisterRange &range : info.writes)
    for (unsigned k = 0; k < range.count; ++k)
      // What others may change is another value each time.
      set(keyOf(range.file, range.first + k),
          isPrivate ? get(mix(at, k))
                    : Value{mix(Origin::Load, steps, k), inst.index == poll});
  if (isPrivate && info.writes.empty())
    for (unsigned k = 0; k < inst.src(1).words; ++k)
      set(mix(at, k), operand(inst.src(1), k));
}

/// Two values are the same when the same operations made them of the same
/// values. On which lanes is no part of that.
void Values::compute(const Instruction &inst, StringRef name) {
  const InstructionInfo &info = code.info(inst.index);
  Value result = {mix(name)};
  for (unsigned k = inst.numDst; k < inst.numOps; ++k)
    if (inst.ops[k].isConstant())
      result.number = mix(result.number, k, inst.ops[k].value);
  for (const RegisterRange &range : info.reads)
    for (unsigned k = 0; k < range.count; ++k)
      result = both(result, get(keyOf(range.file, range.first + k)));
  uint64_t number = 0;
  for (const RegisterRange &range : info.writes)
    for (unsigned k = 0; k < range.count; ++k)
      set(keyOf(range.file, range.first + k),
          {mix(result.number, number++), result.depends});
}

void Values::step(uint32_t index) {
  ++steps;
  const Instruction &inst = code.program.code[index];
  const StringRef name = code.mnemonic(index);
  if (index == choiceEnd)
    isChosen = false;
  switch (code.info(index).cls) {
  case InstructionClass::Lds:
  case InstructionClass::VectorMemory:
  case InstructionClass::Flat:
  case InstructionClass::ScalarMemory:
    return access(inst);
  case InstructionClass::Branch:
    return;
  default:
    if (!move(inst, name) && !changeExec(inst, name))
      compute(inst, name);
  }
}

bool Values::decides(uint32_t index) const {
  const InstructionInfo &info = code.info(index);
  const bool isBranch = code.isConditional(index);
  if ((isBranch ? info.readsExec : info.writesExec) &&
      (get(Exec).depends || get(Exec + 1).depends))
    return true;
  return isBranch && any_of(info.reads, [&](const RegisterRange &range) {
           for (unsigned k = 0; k < range.count; ++k)
             if (get(keyOf(range.file, range.first + k)).depends)
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
  /// it; none if there are too many.
  std::vector<uint32_t> around(uint32_t read) const;
  bool waits(uint32_t read) const;
  /// Whether a read in front of another one, and of the same address, decides
  /// whether the wave gets there (a turn of the loop around it); otherwise,
  /// whether the other one, a compare-and-swap, compares what it read.
  bool isCheckedBy(uint32_t first, uint32_t read, bool isTurn) const;
  bool decidesBranch(uint32_t atomic) const;

  const Code code;
};

std::vector<uint32_t> Finder::around(uint32_t read) const {
  DenseSet<uint32_t> reached[2];
  for (bool isForward : {false, true}) {
    DenseSet<uint32_t> &known = reached[isForward];
    std::vector<uint32_t> open = {read};
    auto visit = [&](uint32_t index) {
      if ((index == read || !code.isVisible(index)) &&
          known.insert(index).second)
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
    code.forEachNext(index, [&](uint32_t next) { self(self, next); });
    loop.push_back(index);
  };
  visit(visit, *std::min_element(open.begin(), open.end()));
  std::reverse(loop.begin(), loop.end());
  return loop;
}

bool Finder::waits(uint32_t read) const {
  const std::vector<uint32_t> loop = around(read);
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
      if (!values.decides(index))
        continue;
      // Also behind one that leads back: there the value has let it pass.
      if (const uint32_t to = code.target(index); to != Program::NoIndex)
        values.chooseUntil(to);
      code.forEachNext(
          index, [&](uint32_t next) { leaves |= !inside.contains(next); });
    }
  // What is computed of what was read is not the same again.
  return leaves && done[1] == done[2];
}

bool Finder::isCheckedBy(uint32_t first, uint32_t read, bool isTurn) const {
  Values values(code, first, first);
  const uint64_t at = values.address(first);
  bool decides = false;
  for (uint32_t index = first; index < read; ++index) {
    if (index != first && code.isVisible(index))
      return false;
    values.step(index);
    decides |= values.decides(index);
  }
  return (isTurn ? decides : values.compares(read)) &&
         values.address(read) == at;
}

bool Finder::decidesBranch(uint32_t atomic) const {
  Values values(code, atomic, atomic);
  const uint32_t end =
      std::min(uint32_t(code.program.code.size()), atomic + MostApart);
  for (uint32_t index = atomic; index < end; ++index) {
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
    const bool isAtomic = code.isAtomic(read);
    if (!isAtomic && !code.isPlainRead(read))
      continue;
    const bool isWait = waits(read);
    if (isWait)
      add(waiting, read);
    if (isWait || (isAtomic && decidesBranch(read)))
      add(learning, read);
    for (uint32_t first = read - std::min(read, MostApart); first < read;
         ++first) {
      const bool isTurn =
          isWait && code.info(first).mnemonicId == code.info(read).mnemonicId;
      if (!isTurn && !(code.isPlainRead(first) && code.isCompareAndSwap(read)))
        continue;
      if (!isCheckedBy(first, read, isTurn))
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
