//===- AssemblyText.cpp - Pieces of a printed instruction -----------------===//
// SPDX-License-Identifier: MIT

#include "AssemblyText.h"
#include "Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace netra::sim {

void splitOperands(StringRef text, SmallVectorImpl<StringRef> &parts) {
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '[' || c == '(')
      ++depth;
    else if (c == ']' || c == ')')
      --depth;
    else if (c == ',' && depth == 0) {
      parts.push_back(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  StringRef last = text.substr(start).trim();
  if (!last.empty() || !parts.empty())
    parts.push_back(last);
}

void splitTokens(StringRef text, SmallVectorImpl<StringRef> &tokens) {
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ' ';
    if (c == '[' || c == '(')
      ++depth;
    else if (c == ']' || c == ')')
      --depth;
    else if (c == ' ' && depth == 0) {
      if (i > start)
        tokens.push_back(text.slice(start, i));
      start = i + 1;
    }
  }
}

std::optional<int64_t> parseInteger(StringRef text) {
  int64_t value = 0;
  bool negative = text.consume_front("-");
  uint64_t magnitude = 0;
  if (text.consume_front("0x") ? text.getAsInteger(16, magnitude)
                               : text.getAsInteger(10, magnitude))
    return std::nullopt;
  value = int64_t(magnitude);
  return negative ? -value : value;
}

uint8_t parseMask(StringRef text) {
  uint8_t mask = 0;
  unsigned bit = 0;
  for (char c : text)
    if (c == '0' || c == '1') {
      if (c == '1')
        mask |= 1u << bit;
      ++bit;
    }
  return mask;
}

std::optional<SdwaSel> parseSel(StringRef text) {
  return StringSwitch<std::optional<SdwaSel>>(text)
      .Case("BYTE_0", SdwaSel::Byte0)
      .Case("BYTE_1", SdwaSel::Byte1)
      .Case("BYTE_2", SdwaSel::Byte2)
      .Case("BYTE_3", SdwaSel::Byte3)
      .Case("WORD_0", SdwaSel::Word0)
      .Case("WORD_1", SdwaSel::Word1)
      .Case("DWORD", SdwaSel::Dword)
      .Default(std::nullopt);
}

bool parseRegister(StringRef text, Operand &op) {
  auto scalar = [&](unsigned index, unsigned words) {
    op.kind = OperandKind::Scalar;
    op.index = index;
    op.words = words;
    return true;
  };
  auto constant = [&](uint64_t value) {
    op.kind = OperandKind::Constant;
    op.value = value;
    return true;
  };
  if (text == "off") {
    op.kind = OperandKind::None;
    return true;
  }
  struct Named {
    StringRef name;
    unsigned index, words;
  };
  static constexpr Named named[] = {{"vcc", VccLo, 2},
                                    {"vcc_lo", VccLo, 1},
                                    {"vcc_hi", VccHi, 1},
                                    {"exec", ExecLo, 2},
                                    {"exec_lo", ExecLo, 1},
                                    {"exec_hi", ExecHi, 1},
                                    {"m0", M0, 1},
                                    {"null", Null, 1},
                                    {"flat_scratch", FlatScratchLo, 2},
                                    {"flat_scratch_lo", FlatScratchLo, 1},
                                    {"flat_scratch_hi", FlatScratchHi, 1},
                                    {"xnack_mask", XnackMaskLo, 2},
                                    {"xnack_mask_lo", XnackMaskLo, 1},
                                    {"xnack_mask_hi", XnackMaskHi, 1}};
  for (const Named &n : named)
    if (text == n.name)
      return scalar(n.index, n.words);
  if (text == "src_vccz" || text == "vccz" || text == "src_execz" ||
      text == "execz" || text == "src_scc" || text == "scc") {
    op.kind = OperandKind::Status;
    op.index = text.contains("vccz")    ? StatusVccz
               : text.contains("execz") ? StatusExecz
                                        : StatusScc;
    return true;
  }
  // As 32-bit operands these give zero: the aperture is in the high half.
  if (text == "src_shared_base")
    return constant(uint64_t(SharedApertureHigh) << 32);
  if (text == "src_shared_limit")
    return constant(uint64_t(SharedApertureHigh) << 32 | 0xffffffffu);
  if (text == "src_private_base")
    return constant(uint64_t(PrivateApertureHigh) << 32);
  if (text == "src_private_limit")
    return constant(uint64_t(PrivateApertureHigh) << 32 | 0xffffffffu);

  unsigned base = 0;
  bool vector = false;
  if (text.consume_front("ttmp"))
    base = Ttmp0;
  else if (text.consume_front("v"))
    vector = true;
  else if (text.consume_front("a")) {
    vector = true;
    base = AccumulationBase;
  } else if (!text.consume_front("s"))
    return false;
  unsigned first = 0, last = 0;
  if (text.consume_front("[")) {
    if (!text.consume_back("]"))
      return false;
    auto [lo, hi] = text.split(':');
    if (lo.getAsInteger(10, first))
      return false;
    last = first;
    if (!hi.empty() && hi.getAsInteger(10, last))
      return false;
  } else {
    if (text.getAsInteger(10, first))
      return false;
    last = first;
  }
  if (last < first || last > 255)
    return false;
  op.kind = vector ? OperandKind::Vector : OperandKind::Scalar;
  op.index = base + first;
  op.words = last - first + 1;
  return true;
}

bool addressesByM0(StringRef text) {
  return text.contains("addtid") || text.starts_with("ds_append") ||
         text.starts_with("ds_consume");
}

} // namespace netra::sim
