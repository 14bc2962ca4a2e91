//===- Emitter.h - Building netra operations from a plan -------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CONVERSION_TORCHTONETRA_EMITTER_H
#define NETRA_LIB_CONVERSION_TORCHTONETRA_EMITTER_H

#include "Netra/IR/NetraOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace netra::importer {

/// Maps values of the torch graph to builtin tensors while netra operations are
/// built in front of the operations they replace.
///
/// Values that have the same elements in the same row-major order (a tensor and
/// its views) share one set of forms. A form is made when it is first asked
/// for, so a reshape exists only where two neighbours disagree on a shape.
/// Operations must be planned in the order of the block: what is made for one
/// operation is reused by the later ones.
class Emitter {
public:
  explicit Emitter(mlir::MLIRContext *context) : builder(context) {}

  /// Moves to the place of `op` and takes its location.
  void moveTo(mlir::Operation *op) {
    builder.setInsertionPoint(op);
    location = op->getLoc();
  }

  mlir::OpBuilder &getBuilder() { return builder; }

  template <typename OpT, typename... Args> OpT create(Args &&...args) {
    return OpT::create(builder, location, std::forward<Args>(args)...);
  }

  /// The builtin tensor holding `key`, in the shape of its own type.
  mlir::Value full(mlir::Value key);

  /// The builtin tensor holding `key` in `shape`, which has as many elements.
  mlir::Value shaped(mlir::Value key, llvm::ArrayRef<int64_t> shape);

  /// `key` as [rows, last size]; `key` must have such a form.
  mlir::Value rows(mlir::Value key);

  /// `key` as computing operations take it: as rows when its rank is 3 or more
  /// and it has that form, else in its own shape.
  mlir::Value computeForm(mlir::Value key);

  /// A value of the type that `key` has, for an operation that is not
  /// converted.
  mlir::Value original(mlir::Value key);

  /// States that `value`, of whatever shape, holds the elements of `key`.
  void define(mlir::Value key, mlir::Value value);

  /// States that `key` has the elements of `source`, perhaps in another shape.
  void share(mlir::Value key, mlir::Value source);

  /// `value` converted to an element type; `value` itself if it has it.
  mlir::Value cast(mlir::Value value, mlir::Type element);

  /// `value`, a tensor of rank 2, quantized in blocks of one row; products that
  /// share an operand share its quantization.
  QuantizeBlocksOp quantize(mlir::Value value, BlockScaleAttr scale);

  /// The parameter that stands for a global, by the global's operation.
  llvm::DenseMap<mlir::Operation *, ParameterOp> parameters;

private:
  struct Elements {
    llvm::SmallVector<mlir::Value, 2> forms;      // builtin tensors
    llvm::SmallVector<mlir::Value, 1> torchForms; // torch values
  };

  unsigned find(mlir::Value key);

  mlir::OpBuilder builder;
  mlir::Location location = builder.getUnknownLoc();
  llvm::DenseMap<mlir::Value, unsigned> elementsOf;
  std::vector<Elements> elements;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, QuantizeBlocksOp>
      quantizations;
};

} // namespace netra::importer

#endif // NETRA_LIB_CONVERSION_TORCHTONETRA_EMITTER_H
