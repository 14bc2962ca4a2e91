//===- Storage.cpp - Where the values of a function live ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Storage.h"

using namespace mlir;
using namespace netra;

Value netra::getStorage(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

static StringRef getText(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.getValue() : StringRef();
}

StringRef netra::getArgumentState(func::FuncOp func, unsigned index) {
  return getText(func.getArgAttr(index, NetraDialect::getStateAttrName()));
}

StringRef netra::getResultState(func::FuncOp func, unsigned index) {
  return getText(func.getResultAttr(index, NetraDialect::getStateAttrName()));
}

std::string netra::getArgumentName(func::FuncOp func, unsigned index) {
  StringRef name = getArgumentState(func, index);
  if (name.empty())
    name = getText(func.getArgAttr(index, NetraDialect::getNameAttrName()));
  return name.empty() ? "arg" + std::to_string(index) : name.str();
}

std::string netra::getResultName(func::FuncOp func, unsigned index) {
  StringRef name = getResultState(func, index);
  if (name.empty())
    name = getText(func.getResultAttr(index, NetraDialect::getNameAttrName()));
  return name.empty() ? "result" + std::to_string(index) : name.str();
}

func::ReturnOp netra::getReturn(func::FuncOp func) {
  return cast<func::ReturnOp>(func.getBody().front().getTerminator());
}
