//===- Bundle.h - The engine bundle on disk ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An engine bundle is a directory. engine.json describes the engine and lists
// every other file with size and SHA-256; docs/engine-format.md is the
// reference. Sizes and offsets are bytes; grids are in work-groups.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_BUNDLE_H
#define NETRA_TARGET_BUNDLE_H

#include "Netra/Catalog/Decision.h"
#include "Netra/Catalog/PackRecipe.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace netra {

struct EngineFile {
  std::string path; // relative, forward slashes
  std::string sha256;
  uint64_t bytes = 0;
  bool operator==(const EngineFile &) const = default;
};

struct EngineKernelArgument {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  ArgumentKind kind = ArgumentKind::Pointer;
  ElementType type = ElementType::BF16;
  Access access = Access::Read;
  bool operator==(const EngineKernelArgument &) const = default;
};

struct EngineKernel {
  std::string symbol;
  uint64_t kernargBytes = 0;
  uint64_t staticLds = 0;
  uint64_t vgprs = 0, agprs = 0, sgprs = 0;
  uint64_t maxWorkgroup = 0;
  std::vector<EngineKernelArgument> arguments;
  bool operator==(const EngineKernel &) const = default;
};

struct EngineCodeObject {
  std::string name;
  /// "code/<first 16 digits of textSha256>.hsaco". Of locked code, which the
  /// bundle does not hold, where it lies below a folder of golden code objects.
  std::string path;
  std::string sha256;
  std::string textSha256;
  std::vector<EngineKernel> kernels;
  /// Of locked code: its size.
  std::optional<uint64_t> lockedBytes = std::nullopt;

  bool isLocked() const { return lockedBytes.has_value(); }
  bool operator==(const EngineCodeObject &) const = default;
};

enum class BindingRole : uint8_t { Input, Output, State };

struct EngineBinding {
  std::string name;
  BindingRole role = BindingRole::Input;
  uint64_t index = 0; // position among the bindings of its role
  ElementType type = ElementType::BF16;
  std::vector<int64_t> shape;
  std::string layout = "row_major";
  uint64_t bytes = 0;
  bool operator==(const EngineBinding &) const = default;
};

struct EngineWeight {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  ElementType type = ElementType::BF16;
  std::vector<int64_t> shape;
  std::string layout = "row_major";
  PackRecipe pack;
  bool operator==(const EngineWeight &) const = default;
};

struct EngineWeights {
  uint64_t bytes = 0;
  uint64_t alignment = 256;
  /// "nw_…", over the entries; `finalizeEngine` sets it.
  std::string id;
  std::vector<EngineWeight> entries;
  bool operator==(const EngineWeights &) const = default;
};

/// What a step passes for one argument, or what a fallback reads or writes.
struct EngineSlot {
  enum class Kind : uint8_t { Binding, Weight, Arena, Value, Null };
  Kind kind = Kind::Null;
  uint64_t index = 0;  // Binding: engine binding; Weight: entry
  uint64_t offset = 0; // Binding, Weight: inside it; Arena: inside the arena
  uint64_t bytes = 0;  // Binding, Weight, Arena: bytes reachable from there
  ElementType type = ElementType::I32; // Value
  uint64_t bits = 0;                   // Value, zero-extended
  std::optional<Affine> follows; // Value of each launch; `bits` of the greatest

  static EngineSlot binding(uint64_t index, uint64_t offset, uint64_t bytes) {
    return {Kind::Binding, index, offset, bytes, ElementType::I32, 0, {}};
  }
  static EngineSlot weight(uint64_t index, uint64_t offset, uint64_t bytes) {
    return {Kind::Weight, index, offset, bytes, ElementType::I32, 0, {}};
  }
  static EngineSlot arena(uint64_t offset, uint64_t bytes) {
    return {Kind::Arena, 0, offset, bytes, ElementType::I32, 0, {}};
  }
  static EngineSlot value(ElementType type, uint64_t bits) {
    return {Kind::Value, 0, 0, 0, type, bits, {}};
  }
  static EngineSlot null() { return {}; }
  bool operator==(const EngineSlot &) const = default;
};

/// What a fallback reads or writes.
struct EngineOperand {
  std::string name; // its role in the operation: "x", "weight", …
  ElementType type = ElementType::BF16;
  std::vector<int64_t> shape;
  std::string layout = "row_major";
  EngineSlot slot; // memory
  /// Of an output that is written in place: the number of the input.
  std::optional<uint64_t> updates;
  bool operator==(const EngineOperand &) const = default;
};

/// One step of a plan: a kernel launch or a framework fallback.
struct EngineStep {
  enum class Kind : uint8_t { Launch, Fallback };
  Kind kind = Kind::Launch;
  std::string name;
  std::string operation;       // "netra.dense", "framework.rotary"
  std::vector<uint64_t> after; // earlier steps this one waits for

  // Launch only. Arguments in the order and number of the kernel's.
  std::string tactic, contract;
  uint64_t codeObject = 0, kernel = 0;
  AffineExtents grid = {1, 1, 1};
  std::array<uint64_t, 3> block = {1, 1, 1};
  uint64_t dynamicLds = 0;
  std::vector<EngineSlot> arguments;

  // Fallback only.
  std::string family; // "dense"; empty for what has no tactics
  std::string reason;
  std::map<std::string, AttributeValue> attributes;
  std::vector<EngineOperand> inputs, outputs;

  bool operator==(const EngineStep &) const = default;
};

struct EngineProfile {
  std::string name;
  int64_t priority = 0;
  GuardBox guards;
  bool operator==(const EngineProfile &) const = default;
};

struct EnginePlan {
  std::string name;
  EngineProfile profile;
  std::vector<uint64_t> bindings; // indices of engine bindings it uses
  uint64_t arenaBytes = 0;
  uint64_t arenaAlignment = 256;
  std::vector<EngineStep> steps;
  bool operator==(const EnginePlan &) const = default;
};

/// The contents of engine.json.
struct Engine {
  std::string id; // "ne_…"; `finalizeEngine` sets it
  std::string name;
  std::string architecture = "gfx950";
  uint64_t waveSize = 64;
  uint64_t codeObjectVersion = 5;
  std::vector<EngineFile> files; // sorted by path; `finalizeEngine` sets them
  std::vector<EngineCodeObject> codeObjects;
  std::vector<EngineBinding> bindings;
  EngineWeights weights;
  std::vector<EnginePlan> plans;
  /// What must be served without a gap.
  std::vector<GuardBox> domain;
  /// Which plan a launch takes; `decidePlans` makes it.
  DecisionTable decisions;
  bool operator==(const Engine &) const = default;
};

/// The table that follows from the plans and the domain.
llvm::Expected<DecisionTable> decidePlans(const Engine &engine);

/// engine.json as text: keys sorted, two-space indented, trailing newline. The
/// id is written as it is.
std::string writeEngineJson(const Engine &engine);

/// Strict: an unknown or missing key, a wrong type or a value out of range is
/// an error. All faults are reported together, one line each: JSON pointer,
/// expected, found. `path` is used in messages only.
llvm::Expected<Engine> readEngineJson(llvm::StringRef text,
                                      llvm::StringRef path = "engine.json");

/// Every other file of a bundle: relative path → contents.
using BundleFiles = std::map<std::string, std::string>;

/// The reports that follow from a sound engine: memory_plan.json,
/// layout_plan.json and graph_recipe.json. Kernels of the contracts
/// `notCapturable` cannot be part of a graph.
BundleFiles deriveReports(const Engine &engine,
                          const std::set<std::string> &notCapturable);

/// Fills `files`, `weights.id` and `id` from the rest and from `files`.
void finalizeEngine(Engine &engine, const BundleFiles &files);

/// Writes a bundle to `directory`, finalizing a copy of `engine`. Everything is
/// written and synced beside `directory` and then renamed; an existing engine
/// is replaced only by a complete one, and a failed run leaves nothing behind.
/// Fails when `directory` exists and is not an engine, is a file, or cannot be
/// written; "is an engine" means a folder with a readable engine.json and no
/// file that it does not list. File modes follow neither umask nor user: 0644
/// and 0755. Concurrent calls for one directory all succeed; the last one
/// stays.
llvm::Error writeBundle(const Engine &engine, const BundleFiles &files,
                        llvm::StringRef directory);

/// Removes what running calls of `writeBundle` have written so far and stops
/// them for good. For a process that is about to end: a handler of signals in
/// a thread of its own, say.
void abandonStaging();

/// Reads engine.json of a bundle (nothing else).
llvm::Expected<Engine> readBundle(llvm::StringRef directory);

/// The most bytes of the plan's arena that are live during one step, each value
/// aligned: no arena that these lifetimes allow is smaller. The engine need not
/// be verified.
uint64_t getArenaLowerBound(const Engine &engine, const EnginePlan &plan);

/// One fault of a bundle: `where` is a file or a JSON pointer into engine.json.
struct BundleFinding {
  std::string where;
  std::string message;
  std::string str() const { return where + ": " + message; }
};

/// Everything that is wrong inside an engine description (ranges, indices,
/// counts, ordering, overlaps), without looking at files.
std::vector<BundleFinding> verifyEngine(const Engine &engine);

/// Everything that is wrong with a bundle on disk: each file against its size
/// and hash, files that are missing or too many, each code object's metadata
/// against engine.json, reports and sources against engine.json and each other,
/// and all of `verifyEngine`. With `goldenRoot`, a folder of golden code
/// objects, locked code is looked at there; without, its hash is all there is.
/// Fails only when the directory cannot be read at all; a bad engine.json is a
/// finding.
llvm::Expected<std::vector<BundleFinding>>
verifyBundle(llvm::StringRef directory, llvm::StringRef goldenRoot = "");

/// Assembles the sources of a bundle in which `verifyBundle` finds nothing, and
/// reports each that does not give the machine code of its kernel.
std::vector<BundleFinding> reassembleBundle(llvm::StringRef directory);

} // namespace netra

#endif // NETRA_TARGET_BUNDLE_H
