//===- Emitter.cpp - Building netra operations from a plan ----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "GraphReader.h"

#include "Netra/IR/NetraOps.h"

using namespace mlir;
using namespace netra;
using namespace netra::importer;

/// The elements of `key`. A value that nothing has been said of comes from an
/// operation that is not converted and stands for itself.
unsigned Emitter::find(Value key) {
  auto [entry, inserted] = elementsOf.try_emplace(key, elements.size());
  if (inserted) {
    elements.emplace_back();
    if (isa<RankedTensorType>(key.getType()))
      elements.back().forms.push_back(key);
    else
      elements.back().torchForms.push_back(key);
  }
  return entry->second;
}

Value Emitter::full(Value key) {
  return shaped(key, tensorTypeOf(key).getShape());
}

Value Emitter::shaped(Value key, ArrayRef<int64_t> shape) {
  unsigned index = find(key);
  for (Value form : elements[index].forms)
    if (llvm::cast<RankedTensorType>(form.getType()).getShape() == shape)
      return form;
  if (elements[index].forms.empty()) {
    Value source = elements[index].torchForms.front();
    Value border =
        create<torch::ToBuiltinTensorOp>(tensorTypeOf(source), source);
    elements[index].forms.push_back(border);
    return shaped(key, shape);
  }
  // The first form is the one the others were made from.
  Value source = elements[index].forms.front();
  auto type = llvm::cast<RankedTensorType>(source.getType());
  Value reshaped = create<ReshapeOp>(
      RankedTensorType::get(shape, type.getElementType()), source);
  elements[index].forms.push_back(reshaped);
  return reshaped;
}

Value Emitter::rows(Value key) {
  std::optional<SmallVector<int64_t>> shape = rowsShape(tensorTypeOf(key));
  assert(shape && "planned with a form that the value does not have");
  return shaped(key, *shape);
}

Value Emitter::computeForm(Value key) {
  RankedTensorType type = tensorTypeOf(key);
  return type.getRank() > 2 && rowsShape(type) ? rows(key) : full(key);
}

Value Emitter::original(Value key) {
  if (!elementsOf.contains(key))
    return key;
  if (isa<RankedTensorType>(key.getType()))
    return full(key);
  unsigned index = find(key);
  for (Value form : elements[index].torchForms)
    if (form.getType() == key.getType())
      return form;
  Value border = create<torch::FromBuiltinTensorOp>(key.getType(), full(key));
  elements[index].torchForms.push_back(border);
  return border;
}

void Emitter::define(Value key, Value value) {
  elementsOf[key] = elements.size();
  elements.emplace_back();
  elements.back().forms.push_back(value);
}

void Emitter::share(Value key, Value source) {
  unsigned index = find(source);
  elementsOf[key] = index;
}

Value Emitter::cast(Value value, Type element) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  Value &made = casts[{value, element}];
  if (!made)
    made = create<CastOp>(type.clone(element), value);
  return made;
}

QuantizeBlocksOp Emitter::quantize(Value value, BlockScaleAttr scale) {
  QuantizeBlocksOp &made = quantizations[{value, scale}];
  if (!made)
    made = create<QuantizeBlocksOp>(value, scale);
  return made;
}
