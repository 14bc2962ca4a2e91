//===- Parameters.cpp - Weights and their packing recipes -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace netra;

PackedParameters::PackedParameters(ModuleOp module) : symbols(module) {
  for (auto parameter : module.getOps<ParameterOp>())
    if (PackAttr pack = parameter.getPackAttr())
      known.try_emplace({pack, parameter.getTensorType()}, parameter);
}

ParameterOp PackedParameters::getOrCreateInLayout(ParameterOp parameter,
                                                  RankedTensorType type) {
  if (parameter.getTensorType() == type)
    return parameter;
  MLIRContext *context = parameter.getContext();
  Attribute layout = type.getEncoding();
  if (!layout)
    layout = LayoutAttr::get(context, "row_major");

  // A recipe stores once: a layout step that is there gives way to the new one.
  SmallVector<Attribute> sources, steps;
  int64_t axis = 0;
  if (PackAttr pack = parameter.getPackAttr()) {
    llvm::append_range(sources, pack.getSources());
    axis = pack.getAxis();
    for (Attribute step : pack.getSteps())
      if (!isa<LayoutAttr>(step))
        steps.push_back(step);
  } else {
    sources.push_back(FlatSymbolRefAttr::get(parameter.getSymNameAttr()));
  }
  if (type.getEncoding())
    steps.push_back(layout);
  auto pack = PackAttr::get(context, sources, axis, steps);

  ParameterOp &entry = known[{pack, type}];
  if (entry)
    return entry;
  // "gate_up" and blocked<16,32> give "gate_up.blocked_16_32".
  std::string suffix;
  for (char c : cast<LayoutAttr>(layout).getSpelling())
    if (llvm::isAlnum(c) || c == '_')
      suffix += c;
    else if (!suffix.empty() && suffix.back() != '_')
      suffix += '_';
  while (!suffix.empty() && suffix.back() == '_')
    suffix.pop_back();
  OpBuilder builder(context);
  auto result = ParameterOp::create(
      builder, parameter.getLoc(),
      (parameter.getSymName() + "." + suffix).str(), type, pack);
  symbols.insert(result, std::next(Block::iterator(parameter)));
  entry = result;
  return result;
}

void netra::cleanParameters(ModuleOp module) {
  // Functions and the recipes of other parameters refer to a parameter, and
  // nothing else does.
  SmallVector<GetOp> gets;
  module->walk([&](GetOp get) { gets.push_back(get); });
  bool changed = true;
  while (changed) {
    changed = false;
    llvm::MapVector<std::pair<Attribute, Attribute>, ParameterOp> byRecipe;
    DenseMap<Attribute, FlatSymbolRefAttr> replacement;
    for (auto parameter : module.getOps<ParameterOp>()) {
      Attribute recipe = parameter.getPackAttr()
                             ? Attribute(parameter.getPackAttr())
                             : Attribute(parameter.getCheckpointAttr());
      auto [it, isNew] = byRecipe.insert(
          {{recipe, TypeAttr::get(parameter.getTensorType())}, parameter});
      if (!isNew)
        replacement[FlatSymbolRefAttr::get(parameter.getSymNameAttr())] =
            FlatSymbolRefAttr::get(it->second.getSymNameAttr());
    }
    DenseSet<StringAttr> used;
    auto use = [&](FlatSymbolRefAttr symbol) {
      if (auto it = replacement.find(symbol); it != replacement.end())
        symbol = it->second;
      used.insert(symbol.getAttr());
      return symbol;
    };
    for (GetOp get : gets)
      get.setParameterAttr(use(get.getParameterAttr()));
    for (auto parameter : module.getOps<ParameterOp>()) {
      PackAttr pack = parameter.getPackAttr();
      if (!pack || !pack.isSymbolic())
        continue;
      SmallVector<Attribute> sources;
      for (Attribute source : pack.getSources())
        sources.push_back(use(cast<FlatSymbolRefAttr>(source)));
      parameter.setPackAttr(PackAttr::get(module.getContext(), sources,
                                          pack.getAxis(), pack.getSteps()));
    }
    for (auto parameter :
         llvm::make_early_inc_range(module.getOps<ParameterOp>()))
      if (!used.contains(parameter.getSymNameAttr())) {
        parameter->erase();
        changed = true;
      }
  }
}

void netra::eraseDeadOps(ModuleOp module) {
  for (Operation &top : module.getOps())
    for (Region &region : top.getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
          if (isOpTriviallyDead(&op))
            op.erase();
}
