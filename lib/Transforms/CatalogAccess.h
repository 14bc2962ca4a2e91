//===- CatalogAccess.h - The catalogue as passes see it ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TRANSFORMS_CATALOGACCESS_H
#define NETRA_LIB_TRANSFORMS_CATALOGACCESS_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/InstructionCount.h"

#include "mlir/IR/Operation.h"
#include "mlir/Pass/AnalysisManager.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Hashing.h"

#include <optional>
#include <unordered_map>

namespace netra {

/// What decides which kernel an operation needs: its kind, its own attributes
/// and the types of its operands and results. Operations with equal keys pose
/// equal problems, which a model with many equal layers does all the time. The
/// attributes of a netra operation are its properties, all of them pointers to
/// what the context keeps.
using OperationKey = llvm::SmallVector<const void *, 16>;
OperationKey getOperationKey(mlir::Operation *op);

struct OperationKeyHash {
  size_t operator()(const OperationKey &key) const {
    return llvm::hash_combine_range(key.begin(), key.end());
  }
};
template <typename T>
using OperationKeyMap = std::unordered_map<OperationKey, T, OperationKeyHash>;

/// The catalogue, and what has been asked of it. An analysis, so that the
/// passes of one pipeline share it: manifests are read once, and a problem that
/// forty layers pose in every pass is selected for once. It says nothing of the
/// operations themselves and so outlives every change of them.
class SharedCatalog {
public:
  explicit SharedCatalog(mlir::Operation *) {}
  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &) const {
    return false;
  }

  /// Loads the catalogue of `target`, unless it is the one that is there, and
  /// looks whether `goldenRoot` can be a folder of golden code. On failure the
  /// faults are an error at `op`.
  mlir::LogicalResult load(mlir::Operation *op, llvm::StringRef libraryRoot,
                           llvm::StringRef target,
                           llvm::StringRef goldenRoot = "");

  const Catalog &operator*() const { return *catalog; }
  const Catalog *operator->() const { return &*catalog; }

  /// Catalog::select; no tactic computes a problem that is none, with a layout
  /// that its shape cannot have. What is returned stays as long as the
  /// catalogue.
  const Selection &select(const Problem &problem, const SelectOptions &options);

  /// What counts the instructions of the catalogue's tactics; null when nothing
  /// can be assembled. Stays as long as the catalogue; the folder of goldens is
  /// that of the first call.
  const InstructionCounter *getCounter(llvm::StringRef goldenRoot);

  /// The kernel that the `netra.tactic` attribute of `op` names: tactic,
  /// options and contract id must agree with what the catalogue makes of the
  /// operation now. Emits an error at `op` otherwise.
  mlir::FailureOr<const Instance *> getInstance(mlir::Operation *op);

  /// Tells that `instance` is what getInstance would find for `op`.
  void addInstance(mlir::Operation *op, const Instance &instance);

private:
  std::string root, target;
  std::optional<Catalog> catalog;
  /// Assembles for the counter; both or neither.
  std::optional<KernelBuilder> builder;
  std::optional<AssembledInstructions> counter;
  /// A question to the catalogue.
  struct Question {
    Problem problem;
    SelectOptions options;
    bool operator==(const Question &other) const;
  };
  struct Hash {
    size_t operator()(const Question &question) const;
  };
  std::unordered_map<Question, Selection, Hash> selections;
  /// By key and tactic.
  OperationKeyMap<Instance> instances;
};

/// Emits `error` at `op`; what follows its first line becomes notes.
mlir::LogicalResult emitErrors(mlir::Operation *op, llvm::Error error);

/// True for an operation whose results need memory and whose work needs a
/// kernel or the framework: everything but parameters, views and terminators.
bool isStep(mlir::Operation *op);

/// Whether the verifier of `op` accepts it; it says nothing.
bool isValid(mlir::Operation *op);

} // namespace netra

#endif // NETRA_LIB_TRANSFORMS_CATALOGACCESS_H
