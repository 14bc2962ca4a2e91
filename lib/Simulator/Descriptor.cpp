//===- Descriptor.cpp - What a kernel descriptor gives and asks for ------===//
// SPDX-License-Identifier: MIT

#include "CodeObjectImpl.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using support::endian::read32le;

namespace netra::sim {

std::string missingRegister(const Kernel &kernel, RegisterFile file,
                            unsigned first, unsigned count) {
  if (file == RegisterFile::Scc || !count)
    return {};
  unsigned has = kernel.sgprs, base = 0;
  const char *letter = "s", *directive = "next_free_sgpr";
  if (file == RegisterFile::Scalar) {
    if (first >= FlatScratchLo) // vcc, exec, m0 and the like are always there
      return {};
  } else if (first < AccumulationBase) {
    has = kernel.vgprs;
    letter = "v";
    directive = "next_free_vgpr or accum_offset";
  } else {
    has = kernel.agprs;
    base = AccumulationBase;
    letter = "a";
    directive = "next_free_vgpr or accum_offset";
  }
  const unsigned last = first - base + count - 1;
  if (last < has)
    return {};
  return formatv("{0}{1} is not allocated: the descriptor of {2} gives it {3}; "
                 "raise its {4}",
                 letter, last, kernel.name,
                 has ? formatv("{0}0 to {0}{1}", letter, has - 1).str()
                     : formatv("no {0} registers", letter).str(),
                 directive)
      .str();
}

std::string missingRegister(const Kernel &kernel, const InstructionInfo &info) {
  for (const std::vector<RegisterRange> *ranges : {&info.reads, &info.writes})
    for (const RegisterRange &range : *ranges) {
      std::string missing =
          missingRegister(kernel, range.file, range.first, range.count);
      if (!missing.empty())
        return missing;
    }
  return {};
}

std::shared_ptr<const BitVector>
CodeObject::Impl::unallocated(const Kernel &kernel,
                              const Program &program) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, isNew] =
      beyond.try_emplace({kernel.vgprs, kernel.agprs, kernel.sgprs});
  if (isNew) {
    BitVector found(unsigned(program.info.size()));
    for (unsigned i = 0; i < found.size(); ++i)
      if (StringRef(program.info[i].text).starts_with("s_movrel") ||
          !missingRegister(kernel, program.info[i]).empty())
        found.set(i);
    if (found.any())
      it->second = std::make_shared<BitVector>(std::move(found));
  }
  return it->second;
}

const char *refusedMode(const Kernel &kernel) {
  const uint8_t *descriptor = kernel.descriptor.data();
  const uint32_t rsrc3 = read32le(descriptor + 44),
                 rsrc2 = read32le(descriptor + 52);
  if ((rsrc2 >> 11 & 3) == 3)
    return "asks for work-item ids by the value 3 (ENABLE_VGPR_WORKITEM_ID), "
           "which has no meaning; 0 to 2 stand for x, y and z";
  if (rsrc2 & 0x7f006000)
    return "lets exceptions trap (.amdhsa_exception_*)";
  if (rsrc3 >> 16 & 1)
    return "spreads work-groups over compute units (.amdhsa_tg_split)";
  return nullptr;
}

} // namespace netra::sim
