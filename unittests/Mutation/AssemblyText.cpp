//===- AssemblyText.cpp - Mutants of an assembly text --------------------===//
// SPDX-License-Identifier: MIT

#include "AssemblyText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>
#include <set>

using namespace llvm;

namespace netra::mutation {

InstructionText InstructionText::parse(const std::string &line) {
  StringRef text = StringRef(line).split(';').first.split("//").first.trim();
  InstructionText inst;
  auto [mnemonic, rest] = text.split(' ');
  if (mnemonic.contains('\t'))
    std::tie(mnemonic, rest) = text.split('\t');
  inst.mnemonic = mnemonic.str();
  int depth = 0;
  std::string operand;
  for (char c : rest.trim()) {
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      inst.operands.push_back(StringRef(operand).trim().str());
      operand.clear();
    } else {
      operand += c;
    }
  }
  if (!StringRef(operand).trim().empty())
    inst.operands.push_back(StringRef(operand).trim().str());
  return inst;
}

std::string InstructionText::str() const {
  return mnemonic + " " + join(operands, ", ");
}

bool InstructionText::startsWith(const char *prefix) const {
  return StringRef(mnemonic).starts_with(prefix);
}

void registersOf(const std::string &operand, std::vector<unsigned> &registers) {
  StringRef text = operand;
  constexpr unsigned vcc = FirstSgpr + 106, m0 = FirstSgpr + 124,
                     exec = FirstSgpr + 126;
  while (!text.empty()) {
    const size_t begin = text.find_if(isAlpha);
    text = text.substr(begin == StringRef::npos ? text.size() : begin);
    const size_t length = std::min(text.size(), text.find_if_not([](char c) {
      return isAlnum(c) || c == '_';
    }));
    StringRef word = text.take_front(length);
    text = text.drop_front(length);
    if (word.empty())
      return;
    if (word == "vcc" || word == "vcc_lo" || word == "vcc_hi") {
      registers.push_back(vcc);
      continue;
    }
    if (word == "exec" || word == "exec_lo" || word == "exec_hi") {
      registers.push_back(exec);
      continue;
    }
    if (word == "m0") {
      registers.push_back(m0);
      continue;
    }
    const unsigned base = word[0] == 'v'   ? 0
                          : word[0] == 'a' ? FirstAgpr
                                           : FirstSgpr;
    unsigned first = 0, last = 0;
    if (word[0] != 'v' && word[0] != 'a' && word[0] != 's')
      continue;
    if (word.size() > 1) {
      if (word.drop_front().getAsInteger(10, first))
        continue;
      last = first;
    } else {
      StringRef range = text;
      if (!range.consume_front("[") || range.consumeInteger(10, first))
        continue;
      last = first;
      if (range.consume_front(":") && range.consumeInteger(10, last))
        continue;
    }
    for (unsigned k = first; k <= last && base + k < NumRegisters; ++k)
      registers.push_back(base + k);
  }
}

static int counterOf(StringRef text, StringRef name) {
  const size_t at = text.find(name);
  if (at == StringRef::npos)
    return -1;
  StringRef rest = text.substr(at + name.size());
  int value = -1;
  if (!rest.consume_front("(") || rest.consumeInteger(10, value))
    return -1;
  return value;
}

WaitCounters WaitCounters::parse(const std::string &line) {
  return {counterOf(line, "vmcnt"), counterOf(line, "lgkmcnt")};
}

const char *mutantKindName(MutantKind kind) {
  static const char *const names[NumMutantKinds] = {
      "wait deleted",  "wait weakened",   "nop deleted",
      "nop shortened", "barrier deleted", "address far",
      "address next",  "access wider",    "definition dropped"};
  return names[unsigned(kind)];
}

AssemblyText::AssemblyText(const std::string &text) {
  bool isMetadata = false;
  std::string kernel;
  SmallVector<StringRef> split;
  StringRef(text).split(split, '\n');
  // The assembler prints this of the local symbols that macros count with, but
  // does not read it.
  for (StringRef line : split)
    if (!line.trim().starts_with(".no_dead_strip\t.L"))
      lines.push_back(line.str());
  unsigned accumOffset = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef line = StringRef(lines[i]).split(';').first.split("//").first;
    line = line.trim();
    if (line.starts_with(".amdgpu_metadata"))
      isMetadata = true;
    if (line.starts_with(".end_amdgpu_metadata"))
      isMetadata = false;
    if (line.empty() || isMetadata)
      continue;
    if (line[0] == '.') {
      auto [name, value] = line.split(line.contains('\t') ? '\t' : ' ');
      unsigned number = 0;
      if (name == ".amdhsa_kernel")
        kernel = value.trim().str();
      if (value.trim().getAsInteger(0, number))
        continue;
      if (unsigned *field =
              StringSwitch<unsigned *>(name)
                  .Case(".amdhsa_next_free_vgpr", &vgprs)
                  .Case(".amdhsa_accum_offset", &accumOffset)
                  .Case(".amdhsa_next_free_sgpr", &sgprs)
                  .Case(".amdhsa_group_segment_fixed_size", &ldsBytes)
                  .Case(".amdhsa_private_segment_fixed_size", &scratchBytes)
                  .Default(nullptr))
        *field = number;
      if (name == ".amdhsa_user_sgpr_count" ||
          name.starts_with(".amdhsa_system_sgpr_workgroup"))
        initialSgprs += number;
      continue;
    }
    if (line.ends_with(":") || line.contains(" = "))
      continue;
    instructions.push_back(i);
  }
  if (accumOffset && accumOffset < vgprs) {
    agprs = vgprs - accumOffset;
    vgprs = accumOffset;
  }
  for (size_t i = 0; i < lines.size(); ++i)
    if (StringRef(lines[i]).starts_with(kernel + ":"))
      kernelLabel = i;
  findReachable(kernel);
}

/// The words of a line that may be symbols.
static std::vector<StringRef> wordsOf(StringRef line) {
  auto isPart = [](char c) { return isAlnum(c) || c == '_' || c == '.'; };
  std::vector<StringRef> words;
  line = line.split(';').first;
  while (!(line = line.drop_until(isPart)).empty()) {
    words.push_back(line.take_while(isPart));
    line = line.drop_front(words.back().size());
  }
  return words;
}

/// "	.type	name,@function"
static bool declaresFunction(StringRef line) {
  return line.trim().starts_with(".type") && line.contains(",@function");
}

/// Lines of functions that the kernel calls, or whose address it may take; all
/// where there are no functions.
void AssemblyText::findReachable(const std::string &kernel) {
  std::map<std::string, std::pair<size_t, size_t>> functions; // their lines
  std::set<std::string> names;
  for (const std::string &line : lines)
    if (declaresFunction(line))
      names.insert(wordsOf(line).at(1).str());
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string name = StringRef(lines[i]).split(':').first.str();
    if (name.size() == lines[i].size() || !names.count(name))
      continue;
    size_t end = i + 1;
    while (end < lines.size() && !declaresFunction(lines[end]) &&
           !StringRef(lines[end]).trim().starts_with(".Lfunc_end"))
      ++end;
    functions[name] = {i, end};
  }
  isReachable.assign(lines.size(), true);
  for (const auto &[name, range] : functions)
    std::fill(isReachable.begin() + long(range.first),
              isReachable.begin() + long(range.second), false);
  std::vector<std::string> open = {kernel};
  auto look = [&](StringRef line) {
    for (StringRef word : wordsOf(line))
      if (functions.count(word.str()))
        open.push_back(word.str());
  };
  // Tables of addresses are everyone's.
  for (const std::string &line : lines)
    if (StringRef text = StringRef(line).trim();
        text.starts_with(".quad") || text.starts_with(".long"))
      look(text);
  while (!open.empty()) {
    auto at = functions.find(open.back());
    open.pop_back();
    if (at == functions.end())
      continue;
    const auto [begin, end] = at->second;
    functions.erase(at);
    for (size_t i = begin; i < end; ++i) {
      isReachable[i] = true;
      look(lines[i]);
    }
  }
}

std::string AssemblyText::with(size_t line,
                               const std::string &replacement) const {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    text += i == line ? "\t" + replacement : lines[i];
    text += '\n';
  }
  return text;
}

/// Sets the registers that the launch does not set; of the same size and in as
/// many lines for every pattern.
std::vector<std::string> AssemblyText::startLines(uint32_t pattern) const {
  std::vector<std::string> start = {"\ts_mov_b32 vcc_lo, 0x" +
                                    utohexstr(pattern)};
  const int32_t number = int32_t(pattern);
  const bool isInline = number >= -16 && number <= 64;
  start.push_back(isInline ? "\ts_nop 0" : "");
  auto add = [&](const char *move, const char *file, unsigned first,
                 unsigned end) {
    for (unsigned k = first; k < end; ++k)
      start.push_back("\t" + std::string(move) + " " + file +
                      std::to_string(k) + ", vcc_lo");
  };
  start.push_back("\ts_mov_b32 vcc_hi, vcc_lo");
  start.push_back("\ts_mov_b32 m0, vcc_lo");
  add("s_mov_b32", "s", initialSgprs, std::min(sgprs, 102u));
  add("v_mov_b32", "v", 1, vgprs);
  add("v_accvgpr_write_b32", "a", 0, agprs);
  return start;
}

AssemblyText AssemblyText::withPattern(uint32_t pattern) const {
  std::vector<std::string> all = lines;
  const std::vector<std::string> start = startLines(pattern);
  all.insert(all.begin() + long(kernelLabel) + 1, start.begin(), start.end());
  return AssemblyText(join(all, "\n"));
}

//===----------------------------------------------------------------------===//
// Mutants
//===----------------------------------------------------------------------===//

void AssemblyText::addWaits(size_t line, std::vector<Mutant> &all) const {
  const WaitCounters old = WaitCounters::parse(lines[line]);
  auto add = [&](MutantKind kind, WaitCounters now) {
    std::string text = "s_waitcnt";
    if (now.vm >= 0)
      text += " vmcnt(" + std::to_string(now.vm) + ")";
    if (now.lgkm >= 0)
      text += " lgkmcnt(" + std::to_string(now.lgkm) + ")";
    // The wait was also a wait state.
    if (now.vm < 0 && now.lgkm < 0)
      text = "s_nop 0";
    all.push_back({kind, line, text, now, false});
  };
  if (old.vm >= 0) {
    add(MutantKind::WaitDelete, {-1, old.lgkm});
    if (old.vm < 62)
      add(MutantKind::WaitWeaken, {old.vm + 1, old.lgkm});
  }
  if (old.lgkm >= 0) {
    add(MutantKind::WaitDelete, {old.vm, -1});
    if (old.lgkm < 14)
      add(MutantKind::WaitWeaken, {old.vm, old.lgkm + 1});
  }
}

/// Bytes that a memory instruction moves for each lane; 0: none of interest.
static unsigned accessBytes(StringRef mnemonic) {
  if (mnemonic.contains("permute") || mnemonic.contains("swizzle"))
    return 0;
  return StringSwitch<unsigned>(mnemonic)
      .EndsWith("dwordx16", 64)
      .EndsWith("dwordx8", 32)
      .EndsWith("dwordx4", 16)
      .EndsWith("dwordx3", 12)
      .EndsWith("dwordx2", 8)
      .EndsWith("dword", 4)
      .EndsWith("_b128", 16)
      .EndsWith("_b96", 12)
      .EndsWith("_b64", 8)
      .EndsWith("_u64", 8)
      .EndsWith("_f64", 8)
      .EndsWith("_x2", 8)
      .EndsWith("_b32", 4)
      .EndsWith("_u32", 4)
      .EndsWith("_i32", 4)
      .EndsWith("_f32", 4)
      .EndsWith("short", 2)
      .EndsWith("short_d16_hi", 2)
      .EndsWith("short_d16", 2)
      .EndsWith("_b16", 2)
      .EndsWith("_u16", 2)
      .EndsWith("_i16", 2)
      .EndsWith("byte", 1)
      .EndsWith("_b8", 1)
      .EndsWith("_u8", 1)
      .EndsWith("_i8", 1)
      .Default(4);
}

/// The last operand with its offset replaced; an immediate offset of scalar
/// loads is an operand of its own.
static std::string withOffset(const std::string &operand, unsigned offset) {
  std::string result;
  SmallVector<StringRef> words;
  StringRef(operand).split(words, ' ', -1, false);
  bool isPlaced = false;
  auto place = [&] {
    if (offset && !isPlaced)
      result += (result.empty() ? "" : " ") + ("offset:" + Twine(offset)).str();
    isPlaced = true;
  };
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("offset:"))
      continue;
    // Behind the operand itself, before the other modifiers.
    if (i == 1)
      place();
    result += (result.empty() ? "" : " ") + words[i].str();
  }
  place();
  return result;
}

static unsigned offsetOf(const std::string &operand) {
  const size_t at = operand.find("offset:");
  int value = 0;
  if (at != std::string::npos)
    (void)StringRef(operand).substr(at + 7).consumeInteger(10, value);
  StringRef rest = StringRef(operand).substr(
      at == std::string::npos ? operand.size() : at + 7);
  rest.consumeInteger(10, value);
  return value < 0 ? 0 : unsigned(value);
}

/// The register tuple with `count` registers; "" when it may not be: tuples
/// begin at even registers and end below `limit`.
static std::string widened(const std::string &operand, unsigned count,
                           unsigned limit) {
  std::vector<unsigned> registers;
  registersOf(operand, registers);
  if (registers.empty() || operand[0] != 'v' || registers[0] % 2 ||
      registers[0] + count > limit)
    return "";
  return "v[" + std::to_string(registers[0]) + ":" +
         std::to_string(registers[0] + count - 1) + "]";
}

void AssemblyText::addAddresses(size_t line, const InstructionText &inst,
                                unsigned lds, std::vector<Mutant> &all) const {
  const unsigned bytes = accessBytes(inst.mnemonic);
  if (!bytes || inst.operands.empty())
    return;
  auto add = [&](MutantKind kind, const InstructionText &changed,
                 bool isOutside = false) {
    all.push_back({kind, line, changed.str(), {}, isOutside});
  };
  InstructionText changed = inst;
  std::string &last = changed.operands.back();
  if (inst.startsWith("s_load")) {
    unsigned offset = 0;
    if (StringRef(last).getAsInteger(0, offset))
      return; // a register
    last = "0x" + utohexstr(offset + 0x40000);
    add(MutantKind::AddressFar, changed);
    return;
  }
  const bool isDs = inst.startsWith("ds_"),
             isScratch = inst.startsWith("scratch_"),
             isGlobal = inst.startsWith("global_") || inst.startsWith("flat_");
  if (!isDs && !isScratch && !isGlobal)
    return; // buffer accesses outside are defined: zero, or nothing
  StringRef name = inst.mnemonic;
  if (isDs && (name.contains("read2") || name.contains("write2")))
    return; // two offsets in units
  const unsigned far = (isDs ? 65536 : 4096) - (bytes < 4 ? 4 : bytes),
                 old = offsetOf(last);
  last = withOffset(inst.operands.back(), far);
  add(MutantKind::AddressFar, changed,
      isDs ? far >= lds : isScratch && far >= scratchBytes);
  if (old + bytes <= far) {
    last = withOffset(inst.operands.back(), old + bytes);
    add(MutantKind::AddressNext, changed);
  }

  // Wider: the next opcode and a longer tuple of registers.
  static const struct {
    const char *from, *to;
    unsigned words;
  } wider[] = {{"load_dwordx3", "load_dwordx4", 4},
               {"load_dwordx2", "load_dwordx4", 4},
               {"load_dword", "load_dwordx2", 2},
               {"load_ushort", "load_dword", 1},
               {"load_ubyte", "load_ushort", 1},
               {"store_dwordx2", "store_dwordx4", 4},
               {"store_dword", "store_dwordx2", 2},
               {"store_short", "store_dword", 1},
               {"store_byte", "store_short", 1},
               {"read_b64", "read_b128", 4},
               {"read_b32", "read_b64", 2},
               {"read_u16", "read_b32", 1},
               {"write_b64", "write_b128", 4},
               {"write_b32", "write_b64", 2},
               {"write_b16", "write_b32", 1},
               {"write_b8", "write_b16", 1}};
  for (const auto &w : wider) {
    if (!name.ends_with(w.from))
      continue;
    changed = inst;
    changed.mnemonic = name.drop_back(StringRef(w.from).size()).str() + w.to;
    const bool isStore = name.contains("store") || name.contains("write");
    const size_t data = isStore && inst.operands.size() > 1 ? 1 : 0;
    std::string &operand = changed.operands[data];
    auto [registers, modifiers] = StringRef(operand).split(' ');
    std::string more = modifiers.empty() ? "" : " " + modifiers.str();
    if (w.words > 1) {
      std::string tuple = widened(registers.str(), w.words, vgprs);
      if (tuple.empty())
        return;
      operand = tuple + more;
    }
    add(MutantKind::AccessWider, changed);
    return;
  }
}

std::vector<Mutant> AssemblyText::mutants(unsigned launchLdsBytes) const {
  std::vector<Mutant> all;
  for (size_t line : instructions) {
    if (!isReachable[line])
      continue;
    const InstructionText inst = InstructionText::parse(lines[line]);
    StringRef name = inst.mnemonic;
    if (name == "s_waitcnt") {
      addWaits(line, all);
      continue;
    }
    if (name == "s_nop" && inst.operands.size() == 1) {
      unsigned states = 0;
      if (StringRef(inst.operands[0]).getAsInteger(0, states))
        continue;
      all.push_back({MutantKind::NopDelete, line, "", {}, false});
      if (states)
        all.push_back({MutantKind::NopShorten,
                       line,
                       "s_nop " + std::to_string(states - 1),
                       {},
                       false});
      continue;
    }
    if (name == "s_barrier") {
      all.push_back({MutantKind::BarrierDelete, line, "s_nop 0", {}, false});
      continue;
    }
    const bool isLoad = name.contains("_load_") || name.starts_with("ds_read");
    if (isLoad || name.contains("_store_") || name.starts_with("ds_") ||
        name.contains("_atomic_"))
      addAddresses(line, inst, launchLdsBytes, all);
    const bool isMove =
        name.starts_with("v_mov_b") || name.starts_with("v_accvgpr_write") ||
        name.starts_with("v_accvgpr_mov") || name.starts_with("s_mov_b") ||
        name.starts_with("s_movk_i32");
    std::vector<unsigned> defined;
    if ((isLoad || isMove) && !inst.operands.empty() && !name.contains("lds"))
      registersOf(inst.operands[0], defined);
    if (!defined.empty() && defined[0] < FirstSgpr + 102)
      all.push_back({MutantKind::InitDrop, line, "s_nop 0", {}, false});
  }
  return all;
}

} // namespace netra::mutation
