//===- Manifest.h - engine.json as typed values -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The contents of a bundle's engine.json (format "netra.engine/1") as the
// runtime needs them, and their verification. All sizes and offsets are bytes
// unless said otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_MANIFEST_H
#define NETRA_RUNTIME_MANIFEST_H

#include "CodeObject.h"
#include "Status.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace netra::rt {

struct ManifestFile {
  std::string path, sha256;
  uint64_t bytes = 0;
};

enum class Access : uint8_t { Read, Write, ReadWrite, Value };

struct ManifestArgument {
  std::string name, type;
  uint64_t offset = 0, bytes = 0;
  bool isPointer = false;
  Access access = Access::Value;

  bool writes() const {
    return access == Access::Write || access == Access::ReadWrite;
  }
};

struct ManifestKernel {
  std::string symbol;
  uint64_t kernargBytes = 0, staticLds = 0;
  uint64_t vgprs = 0, agprs = 0, sgprs = 0;
  uint64_t maxWorkgroup = 0;
  std::vector<ManifestArgument> arguments;
};

struct ManifestCodeObject {
  std::string name, sha256, textSha256;
  /// In the bundle; of locked code, whose bytes are elsewhere, below a folder
  /// of golden code objects.
  std::string path;
  std::vector<ManifestKernel> kernels;
  bool isLocked = false;
  uint64_t lockedBytes = 0;
};

struct ManifestBinding {
  std::string name, type, layout;
  netra_role role = NETRA_INPUT;
  uint64_t index = 0, bytes = 0;
  std::vector<int64_t> shape;
};

struct ManifestWeight {
  std::string name, type, layout;
  uint64_t offset = 0, bytes = 0;
  std::vector<int64_t> shape;
};

struct ManifestWeights {
  uint64_t bytes = 0, alignment = 256;
  std::string id;
  std::vector<ManifestWeight> entries;
};

/// The five dimensions a profile can guard, in the order of netra_shape.
enum Dimension {
  DimM,
  DimBatch,
  DimSequence,
  DimRoutedRows,
  DimTensorParallel
};
constexpr unsigned dimensionCount = 5;
extern const char *const dimensionNames[dimensionCount];

using Guards = std::array<netra_range, dimensionCount>;
using Point = std::array<uint64_t, dimensionCount>;

/// What a launch computes from its point: a constant and multiples of it.
struct ManifestAffine {
  uint64_t constant = 0;
  Point factors = {};

  bool isConstant() const { return factors == Point{}; }
  /// Does not overflow inside the guards that it was verified for.
  uint64_t at(const Point &point) const {
    uint64_t sum = constant;
    for (unsigned i = 0; i < dimensionCount; ++i)
      sum += factors[i] * point[i];
    return sum;
  }
  bool operator==(const ManifestAffine &) const = default;
};

/// What a kernel argument or a fallback operand is made of.
struct ManifestSlot {
  enum class Kind : uint8_t { Binding, Weight, Arena, Value, Null };
  Kind kind = Kind::Null;
  uint64_t index = 0, offset = 0, bytes = 0;
  std::string type;  // Value
  uint64_t bits = 0; // Value
  /// Of a value that each launch has its own of; `bits` are the greatest.
  ManifestAffine follows;

  bool operator==(const ManifestSlot &) const = default;
  bool isMemory() const {
    return kind == Kind::Binding || kind == Kind::Weight || kind == Kind::Arena;
  }
};

/// What an operation needs to know besides its operands.
struct ManifestAttribute {
  std::string name, text;
  netra_attribute value = {}; // without `name` and `text`
};

struct ManifestOperand {
  std::string name, type, layout;
  std::vector<int64_t> shape;
  ManifestSlot slot;
  uint64_t updates = UINT64_MAX; // of an output: the input it is in place of
};

struct ManifestStep {
  netra_step_kind kind = NETRA_STEP_LAUNCH;
  std::string name, operation;
  std::vector<uint64_t> after;
  // Launch.
  std::string tactic, contract;
  uint64_t codeObject = 0, kernel = 0, dynamicLds = 0;
  std::array<ManifestAffine, 3> grid = {};
  std::array<uint64_t, 3> block = {1, 1, 1};
  std::vector<ManifestSlot> arguments;
  // Fallback.
  std::string family, reason;
  std::vector<ManifestAttribute> attributes;
  std::vector<ManifestOperand> inputs, outputs;

  /// Whether launches differ in more than their buffers.
  bool varies() const;
};

struct ManifestPlan {
  std::string name, profile;
  int64_t priority = 0;
  Guards guards = {};
  std::vector<uint64_t> bindings;
  uint64_t arenaBytes = 0, arenaAlignment = 256;
  std::vector<ManifestStep> steps;
};

/// What follows for the values of a dimension from `from` to the next case.
struct ManifestCase {
  enum class Kind : uint8_t { Refuse, Plan, Node };
  uint64_t from = 0;
  Kind kind = Kind::Refuse;
  uint64_t index = 0;
};

/// A node of the decision table; the first is where a launch begins.
struct ManifestDecision {
  unsigned dimension = DimM;
  std::vector<ManifestCase> cases;
};

struct Manifest {
  std::string id, name, architecture;
  uint64_t waveSize = 0, codeObjectVersion = 0;
  std::vector<ManifestFile> files;
  std::vector<ManifestCodeObject> codeObjects;
  std::vector<ManifestBinding> bindings;
  ManifestWeights weights;
  std::vector<ManifestPlan> plans;
  std::vector<ManifestDecision> decisions;
};

/// Size of an element of a type spelled as in engine.json; 0 when unknown.
uint64_t elementBytes(std::string_view type);

/// Parses engine.json. Strict: unknown, missing, repeated or wrongly typed keys
/// are errors that name the JSON pointer; the engine id must be the hash of the
/// text.
Status parseManifest(std::string_view text, Manifest &manifest);

/// Checks everything that can be checked inside the manifest.
Status verifyManifest(const Manifest &manifest);

/// Compares a code object with what the manifest states about it.
Status verifyCodeObject(const Manifest &manifest,
                        const ManifestCodeObject &expected,
                        const CodeObjectFacts &found);

/// A verified bundle in memory: the manifest, and the bytes of each code object
/// in the manifest's order.
struct Bundle {
  Manifest manifest;
  std::vector<std::vector<uint8_t>> code;
};

/// Reads and verifies a whole bundle. Locked code is read below `goldenRoot`
/// or, when that is null, below NETRA_GOLDEN_ROOT; without either it is an
/// error if it is needed, and otherwise left empty.
Status readBundle(const std::string &directory, const char *goldenRoot,
                  bool needsCode, Bundle &bundle);

/// Reads a regular file of at most `limit` bytes.
Status readFile(const std::string &path, uint64_t limit,
                std::vector<uint8_t> &contents);

} // namespace netra::rt

#endif // NETRA_RUNTIME_MANIFEST_H
