//===- NetraInterfaces.h - Interfaces of netra operations -------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAINTERFACES_H
#define NETRA_IR_NETRAINTERFACES_H

#include "Netra/Catalog/Contract.h"
#include "Netra/IR/NetraAttributes.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>
#include <string>
#include <utility>

namespace netra {

/// A step that a producer can carry out on the `f32` value of its result before
/// rounding it. `main` below is that value.
struct EpilogueStep {
  enum class Kind {
    Activation, ///< activation(main)
    Bias,       ///< main + other, where `other` lacks leading dimensions
    Residual,   ///< main + other, of the same shape
    Multiply,   ///< main * other, of the same shape
    Gated,      ///< activation(main) * other; `other` is null when main is
                ///< [gate | up]
    Quantize,   ///< block quantization of main
  };
  Kind kind;
  /// Activation and Gated.
  Activation activation = Activation::None;
  /// Bias, Residual, Multiply and Gated.
  mlir::Value other = {};
  /// Quantize.
  BlockScaleAttr blockScale = {};
};

} // namespace netra

#include "Netra/IR/NetraInterfaces.h.inc"

#endif // NETRA_IR_NETRAINTERFACES_H
