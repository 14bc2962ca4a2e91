//===- NetraFolders.cpp - Model-level operations: folders -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TensorType.h"

#include "Netra/IR/NetraOps.h"

using namespace mlir;
using namespace netra;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

/// True when each value of type `from` is a value of type `to`.
static bool widens(Type from, Type to) {
  if (from.isBF16() || from.isF16())
    return to.isF32() || to.isF64();
  if (from.isF32())
    return to.isF64();
  if (isa<Float8E4M3FNType, Float8E5M2Type>(from))
    return to.isBF16() || to.isF16() || to.isF32() || to.isF64();
  return false;
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getX().getType() == getResult().getType())
    return getX();
  auto source = getX().getDefiningOp<CastOp>();
  if (!source || !widens(tensorType(source.getX()).getElementType(),
                         tensorType(getX()).getElementType()))
    return {};
  // The first cast has lost nothing.
  if (source.getX().getType() == getResult().getType())
    return source.getX();
  getXMutable().assign(source.getX());
  return getResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  // The one dynamic extent is what the number of elements makes it.
  if (getX().getType() == getResult().getType())
    return getX();
  auto source = getX().getDefiningOp<ReshapeOp>();
  if (!source)
    return {};
  getXMutable().assign(source.getX());
  return getResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (getX().getType() == getResult().getType() &&
      llvm::is_sorted(getPermutation()))
    return getX();
  return {};
}

OpFoldResult LayoutConvertOp::fold(FoldAdaptor) {
  if (getX().getType() == getResult().getType())
    return getX();
  auto source = getX().getDefiningOp<LayoutConvertOp>();
  if (!source)
    return {};
  if (source.getX().getType() == getResult().getType())
    return source.getX();
  getXMutable().assign(source.getX());
  return getResult();
}
