//===- Contract.h - Problems and exact kernel contracts ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A Problem says what is to be computed and nothing of how. A Contract is the
// complete computational identity of one kernel that computes it: the problem,
// the kernel-argument ABI, the launch, the memory and the numerical rules. No
// model name, path, date, maturity or evidence enters either.
//
// All types here are plain values without hidden state; const access from
// several threads is safe.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_CONTRACT_H
#define NETRA_CATALOG_CONTRACT_H

#include "Netra/Catalog/Affine.h"
#include "Netra/Catalog/ElementType.h"

#include <array>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace netra {

/// One operand or result of a problem. `role` is its name in the family's
/// vocabulary (`x`, `weight`, `result`, …), `shape` its logical shape, `layout`
/// the canonical spelling of its Layout ("row_major", "n16k16").
struct OperandSpec {
  std::string role;
  ElementType type = ElementType::BF16;
  std::vector<int64_t> shape;
  std::string layout = "row_major";

  bool operator==(const OperandSpec &) const = default;
};

/// An attribute of a problem. A double is compared and hashed by its bits, so
/// that -0.0 and 0.0 differ and no decimal spelling is involved.
using AttributeValue = std::variant<bool, int64_t, double, std::string>;

/// "true", "42", "1e-06", "gated_silu": for messages.
std::string toString(const AttributeValue &value);

/// True when both alternatives and, for doubles, all bits agree.
bool isIdentical(const AttributeValue &lhs, const AttributeValue &rhs);

/// What is to be computed.
struct Problem {
  /// Family and operation, e.g. "norm" and "rms_norm".
  std::string family;
  std::string operation;
  /// Named dimensions, e.g. {"M": 1, "N": 11264, "K": 2048}. All non-negative.
  std::map<std::string, int64_t> dimensions;
  /// Operands and results; each role at most once. The order has no meaning:
  /// the canonical form sorts by role.
  std::vector<OperandSpec> operands;
  std::map<std::string, AttributeValue> attributes;
  /// Dimensions that each launch has a value of its own of, and what it
  /// follows; `dimensions` and the shapes then have the greatest. Empty under a
  /// profile that fixes every extent.
  std::map<std::string, Affine> varying;
  /// The ranges of what `varying` follows.
  GuardBox guards;

  /// The operand of `role`, or null.
  const OperandSpec *find(llvm::StringRef role) const;

  /// Checks names (identifiers), extents, duplicate roles, layouts against
  /// shapes, what varies against its guards. The message lists every fault.
  llvm::Error verify() const;

  /// Canonical JSON: keys sorted, no white space, operands sorted by role, each
  /// double as {"f64": "0x<16 hex digits of its bits>"}.
  std::string toJson() const;
  static llvm::Expected<Problem> fromJson(llvm::StringRef text);

  bool operator==(const Problem &other) const;
};

enum class ArgumentKind : uint8_t { Pointer, Value };
enum class Access : uint8_t { Read, Write, ReadWrite, Value };

llvm::StringRef argumentKindName(ArgumentKind kind); // "pointer" | "value"
llvm::StringRef accessName(Access access); // "read" | "write" | "readwrite"
                                           // | "value"
std::optional<ArgumentKind> parseArgumentKind(llvm::StringRef name);
std::optional<Access> parseAccess(llvm::StringRef name);

/// One kernel argument.
struct Argument {
  std::string name;
  ArgumentKind kind = ArgumentKind::Pointer;
  /// Element type of the tensor pointed to, or type of the value.
  ElementType type = ElementType::BF16;
  Access access = Access::Read;
  /// The operand the pointer belongs to, or "workspace"; empty for a value.
  std::string role;
  /// Byte offset and size in the kernarg segment.
  uint64_t offset = 0;
  uint64_t bytes = 8;
  /// Bytes added to the address of the operand (a sub-tensor); 0 for a value.
  uint64_t operandOffset = 0;
  /// Bits of the value, zero-extended; 0 for a pointer.
  uint64_t bits = 0;
  /// The value of each launch, where it follows the serving point; `bits` are
  /// then those of the greatest.
  std::optional<Affine> follows;

  bool operator==(const Argument &) const = default;
};

/// The numerical rules a kernel keeps. Equal rules give equal bits.
struct Numerics {
  /// The element type of sums.
  std::string accumulation;
  /// Schemes that docs/numerics.md describes, each with the values of the
  /// kernel's constants it depends on: "dense.gemv.v1(ROWS=4, WAVES=8)".
  std::string rounding;
  std::string reductionOrder;

  bool operator==(const Numerics &) const = default;
};

/// The complete computational identity of a kernel.
struct Contract {
  std::string target; // "gfx950"
  uint32_t waveSize = 64;
  Problem problem;
  /// In kernarg order.
  std::vector<Argument> arguments;
  /// Size of the kernarg segment, in bytes.
  uint64_t kernargBytes = 0;
  /// In work-groups; launchable at every point inside `problem.guards`.
  AffineExtents grid = {1, 1, 1};
  /// In work-items.
  std::array<uint32_t, 3> block = {1, 1, 1};
  /// In bytes.
  uint64_t staticLds = 0;
  uint64_t dynamicLds = 0;
  uint64_t workspaceBytes = 0;
  uint64_t workspaceAlignment = 256;
  Numerics numerics;
  bool graphCapture = true;
  bool deterministic = true;

  /// The grid at the upper ends of the guards.
  std::array<uint32_t, 3> greatestGrid() const;

  /// Canonical JSON, see Problem::toJson.
  std::string toJson() const;
  static llvm::Expected<Contract> fromJson(llvm::StringRef text);

  /// "nk_" and 24 hexadecimal digits of the SHA-256 of the canonical JSON.
  std::string id() const;

  bool operator==(const Contract &) const = default;
};

/// Lower-case hexadecimal SHA-256 of `bytes`.
std::string sha256Hex(llvm::ArrayRef<uint8_t> bytes);
std::string sha256Hex(llvm::StringRef bytes);

} // namespace netra

#endif // NETRA_CATALOG_CONTRACT_H
