//===- Planner.h - What becomes of each torch operation --------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CONVERSION_TORCHTONETRA_PLANNER_H
#define NETRA_LIB_CONVERSION_TORCHTONETRA_PLANNER_H

#include "Emitter.h"
#include "GraphReader.h"

#include "Netra/IR/NetraOps.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>
#include <string>

namespace netra::importer {

/// How the result of one operation is to be computed. Everything between the
/// operation and `inputs` is part of the pattern and needs no plan of its own.
struct Plan {
  llvm::SmallVector<mlir::Value> inputs;
  std::function<void(Emitter &)> emit;
};

/// A plan, or the reason why there is none.
struct Outcome {
  Outcome(Plan plan) : plan(std::move(plan)) {}
  /// The reason is what the parts say one after the other.
  template <typename... Parts> static Outcome refuse(const Parts &...parts) {
    Outcome outcome;
    outcome.reason = concat(parts...);
    return outcome;
  }

  std::optional<Plan> plan;
  std::string reason;

private:
  Outcome() = default;
};

/// An activation function and what it is applied to.
struct ActivationMatch {
  mlir::Value x;
  Activation kind;
};

/// The activation that `value` is the result of: one operation, or
/// x * sigmoid(x).
std::optional<ActivationMatch> matchActivation(mlir::Value value);

/// Plans single operations of one function. Knows the graph, changes nothing.
class Planner {
public:
  explicit Planner(mlir::ModuleOp module) : module(module) {}

  /// Plans `op`, of whose results at least one is needed.
  Outcome plan(mlir::Operation *op);

  /// The pattern that `op` nearly was part of, and what differed; empty if
  /// there is none. Complete once every operation after `op` is planned.
  llvm::StringRef nearMiss(mlir::Operation *op) const;

private:
  using Handler = Outcome (Planner::*)(mlir::Operation *);
  static const llvm::StringMap<Handler> &handlers();

  // PlanShape.cpp: the same elements, or a few of them moved.
  Outcome planIdentity(mlir::Operation *op);
  Outcome planView(mlir::Operation *op);
  Outcome planPermutation(mlir::Operation *op);
  Outcome planConversion(mlir::Operation *op);
  Outcome planLiteral(mlir::Operation *op);
  Outcome planGlobalLoad(mlir::Operation *op);
  Outcome planBorder(mlir::Operation *op);

  // PlanElementwise.cpp
  Outcome makeActivation(mlir::Value result, ActivationMatch match);
  /// An activation computed in f32 between conversions of its operand and its
  /// result, which `conversion` is.
  std::optional<Outcome> matchWidenedActivation(mlir::Operation *conversion);
  Outcome planActivation(mlir::Operation *op);
  Outcome planMul(mlir::Operation *op);
  Outcome planAdd(mlir::Operation *op);
  Outcome planScalar(mlir::Operation *op);

  // PlanProduct.cpp
  struct Weight;
  static Weight findWeight(mlir::Value rhs);
  Outcome makeDense(mlir::Value result, mlir::Value x, Weight weight,
                    mlir::Value bias, mlir::Value residual);
  Outcome planProduct(mlir::Operation *op);
  Outcome planLinear(mlir::Operation *op);
  Outcome planAddmm(mlir::Operation *op);
  Outcome planOperator(mlir::Operation *op);

  // PlanNorm.cpp
  Outcome planWholeNorm(mlir::Operation *op);
  /// A root-mean-square norm that ends at `op`; nothing when it is none.
  std::optional<Outcome> matchNorm(mlir::Operation *op);

  /// Records what kept the pattern `name` that ends at `root` from being
  /// recognised, for each operation seen to be part of it.
  void recordNearMiss(llvm::ArrayRef<mlir::Operation *> parts,
                      mlir::Operation *root, llvm::StringRef name,
                      const std::string &difference);

  mlir::ModuleOp module;
  llvm::DenseMap<mlir::Operation *, std::string> nearMisses;
};

/// `op` has no part in what is computed: statements about shapes, assertions
/// about sizes.
bool isStatement(mlir::Operation *op);

/// True when `op` must stay even if its results are not used.
bool hasEffect(mlir::Operation *op);

/// Numbers and lists, which have no meaning but as operands.
bool isOperandOnly(mlir::Operation *op);

} // namespace netra::importer

#endif // NETRA_LIB_CONVERSION_TORCHTONETRA_PLANNER_H
