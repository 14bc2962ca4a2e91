//===- CodeObject.h - What a code object says about itself ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Reads the parts of an AMDGPU HSA code object that the runtime compares with
// engine.json before it loads anything: target, hash of .text, the metadata
// note (MessagePack) and the kernel descriptors. Every offset is checked, so
// any bytes give facts or an error.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_CODEOBJECT_H
#define NETRA_RUNTIME_CODEOBJECT_H

#include "Status.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace netra::rt {

struct ArgumentFacts {
  std::string name;
  std::string valueKind; // "global_buffer", "by_value", "hidden_…"
  uint64_t offset = 0, size = 0;

  bool isHidden() const { return valueKind.starts_with("hidden_"); }
};

struct KernelFacts {
  std::string name;
  std::string symbol; // of the descriptor
  uint64_t kernargBytes = 0;
  uint64_t staticLds = 0;
  uint64_t privateBytes = 0;
  uint64_t vgprs = 0, agprs = 0, sgprs = 0;
  uint64_t maxWorkgroup = 0;
  uint64_t waveSize = 0;
  std::optional<std::array<uint64_t, 3>> requiredWorkgroup;
  std::vector<ArgumentFacts> arguments;
};

struct CodeObjectFacts {
  /// With the modes it needs: "gfx950", "gfx950:xnack+"; "machine 0x4b" when it
  /// is not known by name.
  std::string architecture;
  uint64_t version = 0; // of the code object ABI, 4 to 6
  std::string textSha256;
  std::vector<KernelFacts> kernels;

  const KernelFacts *find(std::string_view name) const;
};

/// `where` names the file in messages. Failures are NETRA_MANIFEST.
Status readCodeObject(std::span<const uint8_t> bytes, const std::string &where,
                      CodeObjectFacts &facts);

} // namespace netra::rt

#endif // NETRA_RUNTIME_CODEOBJECT_H
