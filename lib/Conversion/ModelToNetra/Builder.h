//===- Builder.h - Building blocks of imported models -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CONVERSION_MODELTONETRA_BUILDER_H
#define NETRA_LIB_CONVERSION_MODELTONETRA_BUILDER_H

#include "Netra/Catalog/Model.h"
#include "Netra/IR/NetraOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace netra::importer {

/// One tensor of the checkpoint that a projection is made of: the module's name
/// below the checkpoint's prefix, and its rows.
struct ProjectionPart {
  std::string module;
  int64_t rows;
};

/// A product of the experts of a layer, and what the checkpoint has for it: one
/// tensor of all experts, or one of each module below each expert, whose rows
/// follow each other. The shared expert has the latter.
struct ExpertProduct {
  std::string mlp;         // "layers.0.mlp"
  llvm::StringRef name;    // of the packed weight: "gate_up"
  llvm::StringRef stacked; // "gate_up_proj"
  llvm::SmallVector<llvm::StringRef, 2> modules; // "gate_proj", "up_proj"
  int64_t rows, columns; // of one expert, all modules together
};

/// Builds one module with one function. Values are [rows, columns] in bf16
/// where nothing else is said; rows are dynamic.
class ModelBuilder {
public:
  ModelBuilder(mlir::MLIRContext *context, const ModelDescription &model);

  /// Adds an argument, and a result when `state`; call before any operation.
  mlir::Value addInput(llvm::StringRef name, mlir::RankedTensorType type);
  mlir::Value addState(llvm::StringRef name, mlir::RankedTensorType type);
  /// Ends the function: its results are `logits` and the states' last values.
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::Value logits);

  /// What follows stands for this part of the model, e.g. "layers.3.mlp".
  void enter(const llvm::Twine &name);

  /// The last value of the state that `addState` gave as `initial`.
  mlir::Value current(mlir::Value initial) { return states.lookup(initial); }

  /// [rows, `columns`] of `element` (bf16 when null).
  mlir::RankedTensorType rows(llvm::ArrayRef<int64_t> rest,
                              mlir::Type element = {});
  mlir::RankedTensorType fixed(llvm::ArrayRef<int64_t> shape,
                               mlir::Type element = {});

  /// The value of a tensor of the checkpoint; `name` stands below the prefix.
  mlir::Value parameter(const llvm::Twine &name, mlir::RankedTensorType type);
  /// A tensor that does not have the prefix.
  mlir::Value topLevelParameter(llvm::StringRef name,
                                mlir::RankedTensorType type);

  mlir::Value norm(mlir::Value x, const llvm::Twine &module);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value gated(mlir::Value gate, mlir::Value up, Activation activation);

  /// x * [parts]^T. `name` is the module that the parts make together. FP8 when
  /// the model is and `keepBf16` is not set.
  mlir::Value project(mlir::Value x, llvm::ArrayRef<ProjectionPart> parts,
                      const llvm::Twine &name, bool bias = false,
                      bool keepBf16 = false);

  /// x * weight^T with both in bf16.
  mlir::Value product(mlir::Value x, mlir::Value weight,
                      mlir::RankedTensorType type);

  /// `x` as FP8 and its scales, made once for each `x`.
  QuantizeBlocksOp quantize(mlir::Value x);

  /// Rows of the table by token ids, times the model's factor.
  mlir::Value embedding(mlir::Value ids, mlir::Value table);
  /// RMSNorm of heads as wide as the weight `module`.weight, times silu(gate).
  mlir::Value gatedNorm(mlir::Value x, mlir::Value gate,
                        const llvm::Twine &module, int64_t width);
  /// Experts of each token by the logits of the model's router; `x` and
  /// `sharedGate` are null without a gated shared expert.
  RouteOp route(mlir::Value logits, mlir::Value x, mlir::Value sharedGate);

  /// The weight of all experts of a product, and its scale.
  struct ExpertWeight {
    mlir::Value weight, scale;
  };
  /// The weight of all experts, and as one more the shared expert if asked for.
  /// Without a scale in bf16.
  ExpertWeight expertWeight(const ExpertProduct &product, bool withShared);
  /// The same of one matrix of the checkpoint.
  ExpertWeight matrix(const llvm::Twine &name, int64_t rows, int64_t columns);
  /// The feed-forward of the experts that `routed` names, in FP8.
  mlir::Value experts(mlir::Value x, RouteOp routed, ExpertWeight gateUp,
                      ExpertWeight down, Activation activation);

  /// An operation that the dialect does not have.
  struct Fallback {
    llvm::StringRef operation;
    llvm::SmallVector<std::pair<std::string, mlir::Value>> inputs;
    llvm::SmallVector<std::pair<std::string, mlir::RankedTensorType>> outputs;
    /// States (as addState gave them) that it updates; their new values are the
    /// last results.
    llvm::SmallVector<std::pair<std::string, mlir::Value>> updated = {};
    llvm::SmallVector<mlir::NamedAttribute> settings = {};
    std::string reason = "the netra dialect has no operation for it";
  };
  /// The results named in `outputs`.
  llvm::SmallVector<mlir::Value> fallback(Fallback description);
  /// Appends the weight to the inputs of `op`, as `label`, and its scale, as
  /// `label`_scale, when it has one.
  static void addExpertWeight(Fallback &op, llvm::StringRef label,
                              ExpertWeight weight);

  mlir::NamedAttribute setting(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute setting(llvm::StringRef name, double value);
  mlir::NamedAttribute setting(llvm::StringRef name, llvm::StringRef value);
  mlir::NamedAttribute flag(llvm::StringRef name, bool value);

  mlir::Type bf16, f32, f8, i32;
  const ModelDescription &model;

private:
  ParameterOp declare(llvm::StringRef symbol, llvm::StringRef checkpoint,
                      mlir::RankedTensorType type);
  /// The parameter that the rows of `parts` and then the steps make.
  mlir::Value packed(llvm::StringRef symbol, llvm::ArrayRef<ParameterOp> parts,
                     mlir::RankedTensorType type,
                     llvm::ArrayRef<mlir::Attribute> steps = {});
  /// The tensors of a product of experts as one parameter: its weights, or the
  /// scales of those. `symbol` and `suffix` end the names of what is made and
  /// of what is read.
  mlir::Value expertTensor(const ExpertProduct &product, bool withShared,
                           int64_t rows, int64_t columns, mlir::Type element,
                           llvm::StringRef suffix, llvm::StringRef symbol,
                           mlir::Type result);
  /// The step from `element` to `result`, where they differ.
  static llvm::SmallVector<mlir::Attribute> castStep(mlir::Type element,
                                                     mlir::Type result);
  mlir::Value get(ParameterOp parameter);
  mlir::Type scaleType();

  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// For parameters, in front of the function; for its body.
  mlir::OpBuilder top, body;
  mlir::func::FuncOp function;
  mlir::Location location;
  llvm::StringMap<ParameterOp> parameters;
  llvm::DenseMap<mlir::Value, mlir::Value> states;
  llvm::DenseMap<mlir::Value, QuantizeBlocksOp> quantized;
  struct Slot {
    std::string name;
    mlir::Value initial;
    bool isState;
  };
  std::vector<Slot> slots;
};

} // namespace netra::importer

#endif // NETRA_LIB_CONVERSION_MODELTONETRA_BUILDER_H
