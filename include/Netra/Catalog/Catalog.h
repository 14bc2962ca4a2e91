//===- Catalog.h - The catalogue and exact selection ------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_CATALOG_H
#define NETRA_CATALOG_CATALOG_H

#include "Netra/Catalog/Cost.h"
#include "Netra/Catalog/Numerics.h"
#include "Netra/Catalog/Tactic.h"
#include "Netra/Catalog/TargetInfo.h"

#include <memory>

namespace netra {

/// One field in which a problem differs from what a tactic takes, e.g.
/// {"dimension K", "a multiple of 512", "5120"} or
/// {"operand weight layout", "n16k16", "row_major"}.
struct Mismatch {
  std::string field;
  std::string expected;
  std::string found;

  /// "dimension K: expected a multiple of 512, found 5000"
  std::string str() const;
  bool operator==(const Mismatch &) const = default;
};

/// Knows the machine code of instances. The catalogue has none; what assembles
/// says what it counts.
class InstructionCounter {
public:
  virtual ~InstructionCounter() = default;
  /// The instructions that the waves of a launch issue, or nothing when they
  /// cannot be told. Called from as many threads as `select` is.
  virtual std::optional<uint64_t> count(const Instance &instance) const = 0;
};

/// A tactic seen against a problem. When `mismatches` is empty, `instance` is
/// complete; otherwise only `tactic` is set.
struct Candidate {
  const Tactic *tactic = nullptr;
  Instance instance;
  Cost cost;
  std::vector<Mismatch> mismatches;

  bool matches() const { return mismatches.empty(); }
};

struct SelectOptions {
  std::string target = "gfx950";
  bool allowExperimental = false;
  /// Whether golden code objects can be had.
  bool allowGolden = false;
  /// How many near misses a selection keeps. With 0 a tactic is looked at up to
  /// about its first difference only, so that the reason why none matches may
  /// name one that is not the nearest.
  unsigned nearestMisses = 3;
  /// Not owned. Without one, tactics of equal estimated time go by rank.
  const InstructionCounter *counter = nullptr;

  bool operator==(const SelectOptions &) const = default;
};

/// What decides where a tactic that matches stands in the order of selection.
struct Standing {
  std::string name;
  Maturity maturity = Maturity::Experiment;
  Cost cost;
  int64_t rank = 0;

  /// Maturity, estimated time, instructions, rank (lower first), name.
  bool precedes(const Standing &other) const;
  /// Why it does, as a sentence without a full stop that names `second`.
  std::string whyBefore(const Standing &second) const;
};
Standing standingOf(const Candidate &candidate);

/// The outcome of a selection.
struct Selection {
  /// The chosen candidate, if any tactic matches.
  std::optional<Candidate> winner;
  /// Why the winner won over the runner-up, or why nothing matches; one
  /// sentence without a full stop.
  std::string reason;
  /// Other tactics that match, in selection order after the winner.
  std::vector<Candidate> runnersUp;
  /// Tactics that do not match, fewest mismatches first, then name.
  std::vector<Candidate> nearest;
};

/// The tactics and profiles of one target, loaded and checked. Immutable after
/// `load`; all const members may be called from several threads. Pointers to
/// tactics and profiles stay valid as long as the catalogue object lives, and
/// when it is moved.
class Catalog {
public:
  /// Loads manifests/<target>/{profiles,tactics,goldens}/*.json and
  /// numerics.json beside them below `libraryRoot`; there need not be goldens.
  /// A golden is a tactic like any other whose code is not assembled.
  /// All faults of all files are reported together: one line each with file,
  /// JSON pointer, expected and found.
  static llvm::Expected<Catalog> load(llvm::StringRef libraryRoot,
                                      llvm::StringRef target);

  /// Where kernels/ and manifests/ lie: `option` when not empty, else the
  /// environment variable NETRA_LIBRARY_ROOT, else ../share/netra beside the
  /// program's folder if there is one, else the path compiled in.
  static std::string findLibraryRoot(llvm::StringRef option = "");

  Catalog(Catalog &&);
  Catalog &operator=(Catalog &&);
  ~Catalog();

  llvm::StringRef getTarget() const;
  llvm::StringRef getLibraryRoot() const;

  /// Sorted by name.
  llvm::ArrayRef<Tactic> tactics() const;
  llvm::ArrayRef<ServingProfile> profiles() const;
  /// The schemes of arithmetic that tactics name.
  const SchemeTable &schemes() const;

  /// Tactics of one family and operation, sorted by name.
  llvm::ArrayRef<const Tactic *> tacticsFor(llvm::StringRef family,
                                            llvm::StringRef operation) const;

  /// Null when there is none of that name.
  const Tactic *findTactic(llvm::StringRef name) const;
  const ServingProfile *findProfile(llvm::StringRef name) const;

  /// Exact matching, then maturity, estimated time, instructions, rank (lower
  /// first), name: a total order. Instructions count when a counter knows those
  /// of all that come first with equal maturity and time. Never fails; what
  /// cannot be matched has no winner and a reason.
  Selection select(const Problem &problem,
                   const SelectOptions &options = {}) const;

private:
  struct Impl;
  explicit Catalog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Parses and checks one manifest. `path` is used in messages only; the
/// template file is not looked for. For tests and tools.
llvm::Expected<Tactic> parseTactic(llvm::StringRef text, llvm::StringRef path);
llvm::Expected<Tactic> parseGolden(llvm::StringRef text, llvm::StringRef path);
llvm::Expected<ServingProfile> parseProfile(llvm::StringRef text,
                                            llvm::StringRef path);

/// Holds `tactic` against `problem`. Options are the first combination that
/// meets the tactic's requirements.
Candidate matchTactic(const Tactic &tactic, const Problem &problem,
                      const SelectOptions &options = {});

/// The estimate of an instance of a tactic.
Cost estimateCost(const Instance &instance);

/// The instance of `tactic` for `problem` with exactly these options, as an
/// engine records them. Fails with all mismatches when it does not match.
llvm::Expected<Instance>
instantiate(const Tactic &tactic, const Problem &problem,
            const std::map<std::string, int64_t> &options);

/// The instance that `spec` names. Fails when something is neither named nor
/// the only thing the tactic takes, or does not match.
llvm::Expected<Instance> instantiate(const Tactic &tactic,
                                     const InstanceSpec &spec);

/// Fails when `goldenRoot`, whoever names it, is no folder; none may be named.
llvm::Error checkGoldenRoot(llvm::StringRef goldenRoot);

/// The bytes of a golden tactic's code object below `goldenRoot`. Fails when
/// the file cannot be read or has another size or hash than the record says.
llvm::Expected<std::vector<uint8_t>> readGoldenFile(const Tactic &tactic,
                                                    llvm::StringRef goldenRoot);

} // namespace netra

#endif // NETRA_CATALOG_CATALOG_H
