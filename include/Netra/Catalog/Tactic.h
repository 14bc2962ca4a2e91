//===- Tactic.h - Tactics and profiles as typed values ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The manifests under manifests/<target>/ as C++ values. docs/catalogue.md
// describes the JSON; a value of these types has passed every check there.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_TACTIC_H
#define NETRA_CATALOG_TACTIC_H

#include "Netra/Catalog/Contract.h"
#include "Netra/Catalog/Expression.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace netra {

/// How far a tactic has come. `Rejected` is never chosen, `Experiment` only
/// when asked for.
enum class Maturity : uint8_t { Rejected, Experiment, Verified, Accepted };

llvm::StringRef maturityName(Maturity maturity);
std::optional<Maturity> parseMaturity(llvm::StringRef name);

/// Which values of a dimension a tactic takes; absent limits do not limit.
struct DimensionMatch {
  std::vector<int64_t> values; // when not empty, one of these
  std::optional<int64_t> min, max, multipleOf;

  bool accepts(int64_t value) const;
  /// All values from `least` to `greatest`.
  bool acceptsAll(int64_t least, int64_t greatest) const;
  std::string describe() const;
};

/// Which operands of a role a tactic takes.
struct OperandMatch {
  std::vector<ElementType> types;               // one of
  std::vector<std::string> layouts;             // one of
  std::optional<std::vector<Expression>> shape; // over dimensions
  bool optional = false;
};

/// Which values of an attribute a tactic takes.
struct AttributeMatch {
  bool any = false;                   // every value
  std::vector<AttributeValue> values; // otherwise one of these
  std::optional<double> min, max;     // or a number inside
  std::string describe() const;
};

/// Where the value of an assembler constant or a by-value argument comes from.
struct ConstantSource {
  enum class Kind : uint8_t {
    Expression,  // integer expression
    Attribute,   // attribute value → integer, by `values`
    Present,     // 1 when the operand of role `name` is there, else 0
    F32Bits,     // bits of the attribute rounded to f32
    F64Bits,     // bits of the attribute as f64 (by-value arguments only)
    ElementType, // type of the operand of role `name` → integer, by `values`
  };
  Kind kind = Kind::Expression;
  Expression expression;
  std::string name; // attribute or role
  std::vector<std::pair<AttributeValue, int64_t>> values;
};

struct ArgumentSpec {
  std::string name;
  ArgumentKind kind = ArgumentKind::Pointer;
  Access access = Access::Read;
  std::string role;         // pointer: operand role or "workspace"
  Expression operandOffset; // pointer: bytes
  /// Of a value; of a golden's pointer, what its operand must have.
  std::optional<ElementType> type;
  std::optional<ConstantSource> value;
  /// Of a value: whether each launch passes its own, where dimensions vary.
  bool follows = false;
  /// Where a golden has it; otherwise arguments follow each other.
  std::optional<uint64_t> offset;
};

/// One instance of a tactic, by what its `match` leaves open. What is not named
/// is what the tactic takes when it takes one thing only; optional operands are
/// absent.
struct InstanceSpec {
  struct Operand {
    std::optional<ElementType> type;
    std::optional<std::string> layout;
    std::optional<std::vector<int64_t>> shape;
  };
  std::map<std::string, int64_t> dimensions;
  std::map<std::string, AttributeValue> attributes;
  std::map<std::string, Operand> operands;
  /// All of them; without, those that selection would take.
  std::optional<std::map<std::string, int64_t>> options;
};

/// What has been shown of a tactic. Kinds do not convert into one another.
struct Evidence {
  struct Tests {
    std::string name;
    uint64_t cases = 0, failed = 0;
  };
  /// The machine code that was looked at.
  struct Kernel {
    InstanceSpec instance;
    std::string identitySha256;
  };
  std::string kind; // "simulated" | "assembled" | "device"
  std::string what;
  std::vector<Tests> tests;
  std::vector<Kernel> kernels;
};

/// What machine code an instance with these assembler constants must have.
struct TextLock {
  std::map<std::string, int64_t> constants; // all of them
  std::string textSha256;
};

/// Machine code that is taken as it is instead of being assembled.
struct GoldenCode {
  /// Relative to the folder of golden code objects.
  std::string file;
  uint64_t bytes = 0;
  std::string sha256, textSha256, identitySha256;
  uint64_t kernargBytes = 0;
};

/// A rule of arithmetic that docs/numerics.md describes, as a manifest names
/// it: "dense.gemv.v1(ROWS, WAVES)". What a rule means never changes; another
/// rule has another id.
struct NumericScheme {
  std::string id;
  /// Dimensions, options and constants of the tactic that decide the bits.
  std::vector<std::string> parameters;
};

/// One way to compute the problems it matches. Immutable after loading.
struct Tactic {
  std::string name;
  std::string target;
  std::string family, operation;
  Maturity maturity = Maturity::Experiment;
  int64_t rank = 0;
  std::string summary;
  /// Where its code comes from: a template, relative to kernels/<target>/, or a
  /// golden code object; then `templatePath` is empty.
  std::string templatePath;
  std::optional<GoldenCode> golden;
  /// Symbol pattern: text with {NAME} for dimensions, options, constants and
  /// attributes.
  std::string symbol;

  std::map<std::string, DimensionMatch> dimensions;
  std::map<std::string, OperandMatch> operands;
  std::map<std::string, AttributeMatch> attributes;

  /// In manifest order; the last one varies fastest.
  std::vector<std::pair<std::string, std::vector<int64_t>>> options;
  std::vector<Expression> requirements;
  /// Dimensions of which a launch may have fewer than the machine code was made
  /// for: the grid follows them, or work-groups beyond them do nothing.
  std::set<std::string> follows, masks;
  std::map<std::string, ConstantSource> constants;
  std::vector<ArgumentSpec> arguments;

  std::array<Expression, 3> grid, block;
  Expression staticLds, dynamicLds;
  Expression workspaceBytes;
  uint64_t workspaceAlignment = 256;
  Expression vgprs, agprs, sgprs;
  /// What it moves, where that is not countBytes of its problem.
  std::optional<Expression> costBytes;

  std::string accumulation;
  NumericScheme rounding, reductionOrder;
  std::string errorBound;
  bool graphCapture = true;
  bool deterministic = true;
  std::vector<Evidence> evidence;
  std::vector<TextLock> locks;

  /// Path of the manifest relative to the library root, for messages.
  std::string manifestPath;
  /// Of its bytes, where it comes from a file of a library.
  std::string manifestSha256;
};

/// Why a record does not count for a maturity of `level` (Verified or Accepted)
/// of `tactic`, as far as manifests tell: it is of another kind, a test failed,
/// or it is of other code than that of a golden. Empty when it may count; of
/// what code templates give now, `whyEvidenceDoesNotCount` knows.
std::string whyRecordDoesNotCount(const Evidence &evidence,
                                  const Tactic &tactic, Maturity level);

/// A serving point. Guards by name: "m", "batch", "sequence", "routed_rows",
/// "tensor_parallel"; the last two only when the manifest states them.
struct ServingProfile {
  std::string name;
  std::map<std::string, GuardRange> guards;
  int64_t priority = 0;
  std::string summary;
  std::string manifestPath;
};

/// A tactic applied to a problem with chosen options: all that is needed to
/// generate, assemble, verify and launch one kernel.
struct Instance {
  const Tactic *tactic = nullptr; // owned by the Catalog
  std::map<std::string, int64_t> options;
  /// Values of all assembler constants without their NETRA_ prefix: dimensions,
  /// options and the manifest's constants.
  std::map<std::string, int64_t> constants;
  std::string symbol;
  Contract contract;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
};

} // namespace netra

#endif // NETRA_CATALOG_TACTIC_H
