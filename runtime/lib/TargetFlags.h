//===- TargetFlags.h - The target in the flags of an ELF file ---*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What e_flags of a code object of version 4 or later say about its target. The
// runtime, the compiler and the simulator share this file; it needs the
// standard library only. Immutable values: any thread may read them.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_TARGETFLAGS_H
#define NETRA_RUNTIME_TARGETFLAGS_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace netra::hsa {

/// EF_AMDGPU_MACH_AMDGCN_*: the low byte of e_flags.
inline constexpr uint32_t machineGfx950 = 0x4f, machineGfx94Generic = 0x5f;

class TargetFlags {
public:
  /// How code for a mode of the hardware is marked. The two unmarked ones are
  /// spelled alike in a target's name: code that runs in either mode (what LLVM
  /// says of gfx950), and a target that has no such mode.
  enum class Mode : uint8_t { Unsupported, Any, Off, On };

  explicit constexpr TargetFlags(uint32_t flags) : flags(flags) {}

  constexpr uint32_t getMachine() const { return flags & 0xff; }
  constexpr Mode getXnack() const { return Mode((flags >> 8) & 3); }
  constexpr Mode getSramecc() const { return Mode((flags >> 10) & 3); }

  /// The bits that mean nothing. The highest byte is the version of a target
  /// that stands for several.
  constexpr uint32_t getUnknown() const {
    return flags &
           (getMachine() == machineGfx94Generic ? 0x00fff000u : 0xfffff000u);
  }

  /// "gfx950"; "machine 0x4b" when it is not known by name.
  std::string getProcessor() const {
    for (const Processor &entry : processors)
      if (entry.machine == getMachine())
        return entry.name;
    return "machine " + hex(getMachine());
  }

  /// As metadata names it behind "amdgcn-amd-amdhsa--": "gfx950",
  /// "gfx950:sramecc-:xnack+".
  std::string getTarget() const {
    return getProcessor() + suffix(":sramecc", getSramecc()) +
           suffix(":xnack", getXnack());
  }

  /// Why such code does not run on gfx950:sramecc+:xnack-, which is how the
  /// simulator's device is set up; empty when it does.
  std::string whyNotForDevice() const {
    // Code for all of gfx9-4 runs on each of them.
    if (getMachine() != machineGfx950 && getMachine() != machineGfx94Generic)
      return "built for another target, " + getProcessor() +
             "; this device is gfx950, which also runs gfx9-4-generic";
    if (getXnack() == Mode::On || getSramecc() == Mode::Off)
      return "built for " + getTarget() +
             "; this device is gfx950:sramecc+:xnack-";
    if (getUnknown() != 0)
      return "expected ELF flags that name a target, found the unknown bits " +
             hex(getUnknown());
    return {};
  }

  /// Whether `processor` is one that `getProcessor` knows by name.
  static bool isKnown(std::string_view processor) {
    for (const Processor &entry : processors)
      if (entry.name == processor)
        return true;
    return false;
  }

private:
  struct Processor {
    uint32_t machine;
    const char *name;
  };
  // The targets that Netra knows or that are likely to be confused with them.
  static constexpr Processor processors[] = {
      {0x2f, "gfx906"},          {0x30, "gfx908"},
      {0x3f, "gfx90a"},          {0x4c, "gfx942"},
      {machineGfx950, "gfx950"}, {machineGfx94Generic, "gfx9-4-generic"},
      {0x36, "gfx1030"},         {0x41, "gfx1100"},
      {0x46, "gfx1101"},         {0x47, "gfx1102"},
      {0x43, "gfx1150"},         {0x4a, "gfx1151"},
      {0x48, "gfx1200"},         {0x4e, "gfx1201"}};

  static std::string hex(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof(text), "0x%x", value);
    return text;
  }
  static std::string suffix(const char *name, Mode mode) {
    if (mode == Mode::Unsupported || mode == Mode::Any)
      return {};
    return std::string(name) + (mode == Mode::On ? "+" : "-");
  }

  uint32_t flags;
};

} // namespace netra::hsa

#endif // NETRA_RUNTIME_TARGETFLAGS_H
