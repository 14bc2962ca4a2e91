//===- NopModel.cpp - Can fewer wait states change a result? -------------===//
// SPDX-License-Identifier: MIT

#include "NopModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace netra::mutation {

/// Further apart than any rule asks for.
constexpr unsigned farApart = 20;

namespace {
/// What the rules ask of an instruction.
struct Facts {
  explicit Facts(const std::string &line)
      : inst(InstructionText::parse(line)), name(inst.mnemonic), text(line) {
    isMatrix = name.starts_with("v_mfma") || name.starts_with("v_smfmac");
    isValu = name.starts_with("v_") && !isMatrix;
    isDpp = name.ends_with("_dpp") || text.contains(" row_") ||
            text.contains(" quad_perm") || text.contains(" wave_");
    isPermlane = name.starts_with("v_permlane");
    isSwap = isPermlane || name.starts_with("v_swap");
    isVmem = name.starts_with("global_") || name.starts_with("flat_") ||
             name.starts_with("buffer_") || name.starts_with("scratch_");
    isScalarMemory =
        name.starts_with("s_load_") || name.starts_with("s_buffer_load_");
    isDot = name.starts_with("v_dot");
    isPacked = name.starts_with("v_pk_") ||
               (isDot && !name.contains("c_f") && !name.contains("c_i"));
    isStore = name.contains("_store_");
    // Of those on the XDL: f32 and f64 have read it when they start, and sparse
    // ones have no other SrcC than their result.
    if (name.starts_with("v_mfma") && !name.ends_with("_f32") &&
        !name.ends_with("_f64") && inst.operands.size() > 3)
      registersOf(inst.operands[3], lateSource);
    for (const char *trans : {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_",
                              "v_sin_", "v_cos_"})
      isTrans |= name.starts_with(trans);
    const bool readsFirst = isStore || isSwap || name.contains("fmac") ||
                            name.starts_with("v_dot") ||
                            name.starts_with("v_smfmac");
    // A carry, or the mask of v_div_scale, is the second result.
    const bool writesSecond =
        name.contains("_co_") || name.starts_with("v_addc") ||
        name.starts_with("v_subb") || name.starts_with("v_div_scale") ||
        name.starts_with("v_mad_u64") || name.starts_with("v_mad_i64");
    for (size_t k = 0; k < inst.operands.size(); ++k) {
      if (k == 0 && !isStore)
        registersOf(inst.operands[k], written);
      if (k == 1 && (isSwap || writesSecond))
        registersOf(inst.operands[k], written);
      if (k > 0 || readsFirst)
        registersOf(inst.operands[k], read);
    }
  }

  /// Whether operand `k` names a register of `registers`.
  bool names(size_t k, const std::vector<unsigned> &registers) const {
    std::vector<unsigned> own;
    if (k < inst.operands.size())
      registersOf(inst.operands[k], own);
    return any_of(own, [&](unsigned r) { return is_contained(registers, r); });
  }
  bool reads(const std::vector<unsigned> &registers) const {
    return any_of(read, [&](unsigned r) { return is_contained(registers, r); });
  }
  bool writes(const std::vector<unsigned> &registers) const {
    return any_of(written,
                  [&](unsigned r) { return is_contained(registers, r); });
  }

  InstructionText inst;
  StringRef name, text;
  std::vector<unsigned> written, read;
  std::vector<unsigned> lateSource; ///< SrcC that may not be overwritten yet
  bool isMatrix = false, isValu = false, isDpp = false, isPermlane = false,
       isSwap = false, isVmem = false, isStore = false, isTrans = false,
       isScalarMemory = false, isDot = false, isPacked = false;
};
} // namespace

/// Passes of a matrix instruction, by its shape and formats.
static unsigned passesOf(const Facts &matrix) {
  const StringRef name = matrix.name, text = matrix.text;
  const bool is32 = name.contains("_32x32");
  const unsigned usual = is32 ? 8 : 4;
  if (name.contains("_4x4x"))
    return 2;
  if (name.starts_with("v_smfmac"))
    return usual;
  if (name.contains("f8f6f4")) {
    auto isNarrow = [&](StringRef format) {
      const StringRef code = text.split(format).second.take_front();
      return code == "2" || code == "3" || code == "4";
    };
    return isNarrow("cbsz:") && isNarrow("blgp:") ? usual : 2 * usual;
  }
  const bool isDouble =
      name.ends_with("_f32") || name.contains("_2b_") || name.contains("_4b_");
  return isDouble ? 2 * usual : usual;
}

/// Wait states until others than matrix instructions may use its result.
static unsigned statesOfResult(const Facts &matrix, bool byMemory) {
  if (matrix.name.ends_with("_f64"))
    return matrix.name.contains("_4x4x") ? (byMemory ? 9 : 6)
                                         : (byMemory ? 18 : 19);
  const unsigned passes = passesOf(matrix);
  if (matrix.name.ends_with("_f32"))
    return passes + 2;
  return passes == 2 ? 5 : passes + 4;
}

unsigned statesNeeded(const std::string &first, const std::string &second,
                      Rules rules) {
  const Facts p(first), c(second);
  unsigned needed = 0;
  auto need = [&](bool applies, unsigned states) {
    if (applies)
      needed = std::max(needed, states);
  };
  const bool isReadLane = c.name.starts_with("v_readlane") ||
                          c.name.starts_with("v_readfirstlane"),
             isWriteLane = c.name.starts_with("v_writelane"),
             isCarry = c.name.starts_with("v_cndmask") ||
                       c.name.starts_with("v_addc") ||
                       c.name.starts_with("v_subb");
  if (p.isMatrix) {
    // A chain on one accumulator may follow at once, behind most of them.
    const size_t accumulator = c.name.starts_with("v_smfmac") ? 0 : 3;
    bool isChain = c.isMatrix && !p.name.contains("_4x4x") &&
                   accumulator < c.inst.operands.size() &&
                   c.inst.operands[accumulator] == p.inst.operands[0];
    for (size_t k = 1; k < c.inst.operands.size(); ++k)
      isChain &= k == accumulator || !c.names(k, p.written);
    need(c.isMatrix && !isChain && c.reads(p.written), farApart);
    need(!c.isMatrix && (c.reads(p.written) || c.writes(p.written)),
         statesOfResult(p, !c.isValu));
    need(c.isValu && c.writes(p.lateSource), passesOf(p) - 1);
    return needed;
  }
  if (p.isValu) {
    std::vector<unsigned> vectors, scalars;
    for (unsigned r : p.written)
      (r < FirstSgpr ? vectors : scalars).push_back(r);
    need(c.isDpp && c.names(1, vectors), 2);
    need(isReadLane && c.reads(vectors), 1);
    need(c.isPermlane && c.reads(vectors), 2);
    need(c.isMatrix && c.reads(vectors), 2);
    need(p.isTrans && (c.isValu || c.isMatrix) && !c.isTrans &&
             c.reads(vectors),
         1);
    need((p.name.ends_with("_sdwa") ||
          (p.text.contains("op_sel:") && !p.isPacked)) &&
             c.isValu && c.reads(vectors),
         1);
    need(rules == Rules::Compiler && p.isPacked && (c.isValu || c.isMatrix) &&
             (c.reads(vectors) || c.writes(vectors)),
         1);
    // The same opcode may have it as SrcC at once.
    const bool isChain =
        c.name == p.name && !c.names(1, vectors) && !c.names(2, vectors);
    need(p.isDot && !isChain && c.isValu &&
             (c.reads(vectors) || c.writes(vectors)),
         3);
    need(p.isDot && (c.isVmem || c.name.starts_with("ds_")) && c.reads(vectors),
         3);
    const bool readsScalar = c.reads(scalars);
    need((isReadLane || isWriteLane) && c.names(2, scalars), 4);
    need(c.name.starts_with("v_div_fmas"),
         is_contained(scalars, FirstSgpr + 106) ? 4 : 0);
    need(c.isVmem && readsScalar, 5);
    need(c.isValu && readsScalar &&
             (rules == Rules::Compiler ||
              !(isCarry && c.names(c.inst.operands.size() - 1, scalars))),
         2);
    if (p.name.starts_with("v_cmpx")) {
      need(c.isDpp, 5);
      need(isReadLane || isWriteLane || c.isPermlane || c.isMatrix, 4);
    }
    return needed;
  }
  if (p.isVmem &&
      ((p.isStore && (p.name.ends_with("x3") || p.name.ends_with("x4"))) ||
       p.name.contains("cmpswap_x2")))
    need((c.isValu || c.isMatrix) && c.writes(p.read), 2);
  need(rules == Rules::Compiler && c.isDpp && c.reads(p.written), 2);
  need(rules == Rules::Compiler &&
           ((p.isVmem && c.isVmem) || (p.isScalarMemory && c.isScalarMemory)),
       1);
  if (p.name.starts_with("s_setreg"))
    need(c.name.starts_with("s_setreg") || c.name.starts_with("s_getreg"), 2);
  if (p.name.starts_with("s_") && p.text.contains("m0"))
    need(c.text.contains("_lds_") || c.text.ends_with(" lds") ||
             c.name.contains("addtid") || c.name.starts_with("s_sendmsg") ||
             c.name.starts_with("s_movrel"),
         1);
  return needed;
}

static unsigned statesOf(const std::string &text) {
  const InstructionText inst = InstructionText::parse(text);
  unsigned n = 0;
  if (inst.mnemonic == "s_nop" && !inst.operands.empty())
    (void)StringRef(inst.operands[0]).getAsInteger(0, n);
  return n + 1;
}

std::string tooClose(const std::vector<const std::string *> &steps, size_t nop,
                     unsigned states, Rules rules) {
  const unsigned old = statesOf(*steps[nop]);
  unsigned before = 0;
  for (size_t first = nop; first-- > 0 && before < farApart;) {
    unsigned between = before;
    for (size_t second = nop + 1; second < steps.size() && between < farApart;
         ++second) {
      const unsigned needed =
          statesNeeded(*steps[first], *steps[second], rules);
      // Where the passes are not known, any loss may be the one.
      if (needed > between + states &&
          (needed == farApart || needed <= between + old))
        return "`" + *steps[second] + "` comes too close to `" + *steps[first] +
               "`";
      between += statesOf(*steps[second]);
    }
    before += statesOf(*steps[first]);
  }
  return "";
}

} // namespace netra::mutation
