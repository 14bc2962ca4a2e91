//===- CodeObject.cpp - What a code object says about itself --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CodeObject.h"
#include "CodeObjectImage.h"
#include "MsgPack.h"
#include "Sha256.h"

#include <algorithm>
#include <cstring>

using namespace netra;
using namespace netra::rt;

namespace {

class Parser {
public:
  Parser(std::span<const uint8_t> bytes, const std::string &where)
      : bytes(bytes), where(where) {}

  Status run(CodeObjectFacts &facts) {
    if (std::string fault = image.open(bytes); !fault.empty())
      return bad(std::move(fault));
    facts.architecture = image.getTarget();
    facts.version = image.getVersion();
    std::span<const uint8_t> code = image.getTextBytes();
    facts.textSha256 = Sha256::hash(code.data(), code.size());
    NETRA_RETURN_IF_FAILED(metadata(facts));
    return descriptors(facts);
  }

private:
  Status bad(std::string what) const {
    return {NETRA_MANIFEST, cat(where, ": ", std::move(what))};
  }

  Status metadata(CodeObjectFacts &facts) {
    std::optional<MsgPack> root = MsgPack::parse(image.getMetadata());
    const MsgPack *kernels = root ? root->find("amdhsa.kernels") : nullptr;
    if (!kernels || kernels->kind != MsgPack::Kind::Array)
      return bad("the metadata note does not hold a list amdhsa.kernels");
    std::optional<std::string_view> isa = root->getString("amdhsa.target");
    if (!isa)
      return bad("the metadata note does not name its target, amdhsa.target");
    if (std::string fault = image.checkTarget(*isa); !fault.empty())
      return bad(std::move(fault));
    for (const MsgPack &entry : kernels->elements) {
      KernelFacts kernel;
      auto text = [&](std::string_view key) {
        return std::string(entry.getString(key).value_or(""));
      };
      auto number = [&](std::string_view key) {
        return entry.getUnsigned(key).value_or(0);
      };
      kernel.name = text(".name");
      kernel.symbol = text(".symbol");
      if (kernel.name.empty() || kernel.symbol.empty())
        return bad("a kernel in the metadata has no .name or no .symbol");
      kernel.kernargBytes = number(".kernarg_segment_size");
      kernel.staticLds = number(".group_segment_fixed_size");
      kernel.privateBytes = number(".private_segment_fixed_size");
      // .vgpr_count counts both kinds where there are accumulation registers.
      kernel.vgprs = number(".vgpr_count");
      kernel.agprs = number(".agpr_count");
      kernel.vgprs -= std::min(kernel.vgprs, kernel.agprs);
      kernel.sgprs = number(".sgpr_count");
      kernel.maxWorkgroup = number(".max_flat_workgroup_size");
      kernel.waveSize = number(".wavefront_size");
      if (const MsgPack *required = entry.find(".reqd_workgroup_size");
          required && required->elements.size() == 3)
        kernel.requiredWorkgroup = {required->elements[0].number,
                                    required->elements[1].number,
                                    required->elements[2].number};
      if (const MsgPack *arguments = entry.find(".args")) {
        if (arguments->kind != MsgPack::Kind::Array)
          return bad(cat("kernel ", kernel.name, ": .args is not a list"));
        for (const MsgPack &record : arguments->elements) {
          ArgumentFacts argument;
          argument.name = record.getString(".name").value_or("");
          argument.valueKind = record.getString(".value_kind").value_or("");
          auto offset = record.getUnsigned(".offset");
          auto size = record.getUnsigned(".size");
          if (!offset || !size || argument.valueKind.empty())
            return bad(cat("kernel ", kernel.name,
                           ": an argument lacks .offset, .size or "
                           ".value_kind"));
          argument.offset = *offset;
          argument.size = *size;
          kernel.arguments.push_back(std::move(argument));
        }
      }
      if (facts.find(kernel.name))
        return bad(
            cat("the metadata describes kernel ", kernel.name, " twice"));
      facts.kernels.push_back(std::move(kernel));
    }
    return Status::ok();
  }

  /// The dispatcher reads the descriptor, not the metadata: what both say must
  /// agree.
  Status descriptors(const CodeObjectFacts &facts) {
    for (const KernelFacts &kernel : facts.kernels) {
      std::string fault;
      auto descriptor = image.findDescriptor(kernel.symbol, fault);
      if (!descriptor)
        return bad(std::move(fault));
      uint32_t lds, scratch, kernarg;
      int64_t entry;
      std::memcpy(&lds, descriptor->data(), 4);
      std::memcpy(&scratch, descriptor->data() + 4, 4);
      std::memcpy(&kernarg, descriptor->data() + 8, 4);
      std::memcpy(&entry, descriptor->data() + 16, 8);
      if (lds != kernel.staticLds || scratch != kernel.privateBytes ||
          kernarg != kernel.kernargBytes)
        return bad(cat("kernel ", kernel.name, ": the descriptor states LDS ",
                       lds, ", private ", scratch, ", kernel arguments ",
                       kernarg, " bytes, the metadata ", kernel.staticLds, ", ",
                       kernel.privateBytes, ", ", kernel.kernargBytes));
      uint64_t start = image.findSymbol(kernel.symbol)->value + uint64_t(entry);
      const hsa::Section &text = image.getText();
      if (start < text.address || start - text.address >= text.size)
        return bad(cat("kernel ", kernel.name, " starts outside .text"));
    }
    return Status::ok();
  }

  std::span<const uint8_t> bytes;
  const std::string &where;
  hsa::Image image;
};

} // namespace

const KernelFacts *CodeObjectFacts::find(std::string_view name) const {
  for (const KernelFacts &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

Status netra::rt::readCodeObject(std::span<const uint8_t> bytes,
                                 const std::string &where,
                                 CodeObjectFacts &facts) {
  return Parser(bytes, where).run(facts);
}
