//===- Builder.cpp - Building blocks of imported models -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Builder.h"

using namespace mlir;
using namespace netra;
using namespace netra::importer;

ModelBuilder::ModelBuilder(MLIRContext *context, const ModelDescription &model)
    : model(model), top(context), body(context),
      location(UnknownLoc::get(context)) {
  bf16 = BFloat16Type::get(context);
  f32 = Float32Type::get(context);
  f8 = Float8E4M3FNType::get(context);
  i32 = IntegerType::get(context, 32);
  module = ModuleOp::create(location, model.name);
  function = func::FuncOp::create(location, "decoder",
                                  FunctionType::get(context, {}, {}));
  module->push_back(function);
  body.setInsertionPointToStart(function.addEntryBlock());
  top.setInsertionPoint(function);
}

Value ModelBuilder::addInput(StringRef name, RankedTensorType type) {
  Value argument =
      function.getBody().front().addArgument(type, function.getLoc());
  slots.push_back({name.str(), argument, false});
  return argument;
}

Value ModelBuilder::addState(StringRef name, RankedTensorType type) {
  Value argument = addInput(name, type);
  slots.back().isState = true;
  states[argument] = argument;
  return argument;
}

OwningOpRef<ModuleOp> ModelBuilder::finish(Value logits) {
  MLIRContext *context = body.getContext();
  SmallVector<Value> results = {logits};
  SmallVector<Type> argumentTypes;
  for (const Slot &slot : slots) {
    argumentTypes.push_back(slot.initial.getType());
    if (slot.isState)
      results.push_back(states.lookup(slot.initial));
  }
  func::ReturnOp::create(body, function.getLoc(), results);
  function.setFunctionType(FunctionType::get(context, argumentTypes,
                                             ValueRange(results).getTypes()));
  unsigned result = 1;
  for (auto [index, slot] : llvm::enumerate(slots)) {
    StringAttr name = body.getStringAttr(slot.name);
    if (slot.isState) {
      function.setArgAttr(index, NetraDialect::getStateAttrName(), name);
      function.setResultAttr(result++, NetraDialect::getStateAttrName(), name);
      continue;
    }
    function.setArgAttr(index, NetraDialect::getNameAttrName(), name);
    auto type = cast<RankedTensorType>(slot.initial.getType());
    if (type.hasStaticShape())
      continue;
    SmallVector<Attribute> dims;
    for (int64_t extent : type.getShape())
      dims.push_back(body.getStringAttr(
          ShapedType::isDynamic(extent) ? "m" : std::to_string(extent)));
    function.setArgAttr(index, NetraDialect::getDimsAttrName(),
                        body.getArrayAttr(dims));
  }
  function.setResultAttr(0, NetraDialect::getNameAttrName(),
                         body.getStringAttr("logits"));
  return std::move(module);
}

void ModelBuilder::enter(const Twine &name) {
  location = NameLoc::get(body.getStringAttr(name));
}

RankedTensorType ModelBuilder::rows(ArrayRef<int64_t> rest, Type element) {
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  llvm::append_range(shape, rest);
  return RankedTensorType::get(shape, element ? element : bf16);
}

RankedTensorType ModelBuilder::fixed(ArrayRef<int64_t> shape, Type element) {
  return RankedTensorType::get(shape, element ? element : bf16);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

ParameterOp ModelBuilder::declare(StringRef symbol, StringRef checkpoint,
                                  RankedTensorType type) {
  ParameterOp &known = parameters[symbol];
  if (!known)
    known = ParameterOp::create(top, location, symbol, type, checkpoint);
  return known;
}

Value ModelBuilder::get(ParameterOp parameter) {
  return GetOp::create(body, location, parameter);
}

Value ModelBuilder::parameter(const Twine &name, RankedTensorType type) {
  std::string symbol = name.str();
  return get(declare(symbol, model.checkpointPrefix + symbol, type));
}

Value ModelBuilder::topLevelParameter(StringRef name, RankedTensorType type) {
  return get(declare(name, name, type));
}

Type ModelBuilder::scaleType() {
  return model.scaleType == ElementType::F32 ? f32 : bf16;
}

SmallVector<Attribute> ModelBuilder::castStep(Type element, Type result) {
  if (element == result)
    return {};
  return {TypeAttr::get(result)};
}

Value ModelBuilder::packed(StringRef symbol, ArrayRef<ParameterOp> parts,
                           RankedTensorType type, ArrayRef<Attribute> steps) {
  if (parts.size() == 1 && steps.empty())
    return get(parts.front());
  ParameterOp &known = parameters[symbol];
  if (!known) {
    SmallVector<Attribute> sources;
    for (ParameterOp part : parts)
      sources.push_back(FlatSymbolRefAttr::get(part.getSymNameAttr()));
    auto pack = PackAttr::get(top.getContext(), sources, 0, steps);
    known = ParameterOp::create(top, location, symbol, type, pack);
  }
  return get(known);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value ModelBuilder::norm(Value x, const Twine &module) {
  Value weight = parameter(module + ".weight", fixed({model.hidden}));
  return RMSNormOp::create(body, location, x, weight, Value(),
                           body.getF32FloatAttr(float(model.normEpsilon)),
                           model.normWeightOffset ? body.getF32FloatAttr(float(
                                                        model.normWeightOffset))
                                                  : FloatAttr())
      .getResult();
}

Value ModelBuilder::add(Value lhs, Value rhs) {
  return AddOp::create(body, location, lhs.getType(), lhs, rhs);
}

Value ModelBuilder::gated(Value gate, Value up, Activation activation) {
  return GatedOp::create(body, location, gate.getType(), gate, up, activation)
      .getResult();
}

Value ModelBuilder::embedding(Value ids, Value table) {
  // Frameworks hold the factor in the type of the table.
  llvm::APFloat factor(model.embeddingScale);
  bool losesInfo;
  factor.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return EmbeddingOp::create(body, location, rows({model.hidden}), ids, table,
                             llvm::APFloat(factor.convertToFloat()));
}

Value ModelBuilder::gatedNorm(Value x, Value gate, const Twine &module,
                              int64_t width) {
  return GatedRMSNormOp::create(body, location, x, gate,
                                parameter(module + ".weight", fixed({width})),
                                Activation::SiLU,
                                body.getF32FloatAttr(float(model.normEpsilon)))
      .getResult();
}

RouteOp ModelBuilder::route(Value logits, Value x, Value sharedGate) {
  const ExpertsModel &shape = *model.experts;
  SharedExpert shared = !shape.sharedIntermediate ? SharedExpert::None
                        : sharedGate              ? SharedExpert::Sigmoid
                                                  : SharedExpert::One;
  int64_t slots = shape.topK + (shape.sharedIntermediate ? 1 : 0);
  return RouteOp::create(body, location, rows({slots}, i32), rows({slots}, f32),
                         logits, x, /*weight=*/Value(), sharedGate,
                         /*correction_bias=*/Value(), shape.topK,
                         /*groups=*/1, /*top_groups=*/1, Scoring::Softmax,
                         shape.normalizeTopK, shared,
                         /*routed_scale=*/llvm::APFloat(1.0f));
}

Value ModelBuilder::expertTensor(const ExpertProduct &product, bool withShared,
                                 int64_t rows, int64_t columns, Type element,
                                 StringRef suffix, StringRef symbol,
                                 Type result) {
  const std::string experts = product.mlp + ".experts.";
  const int64_t count = model.experts->count, all = count + withShared;
  const int64_t moduleRows = rows / int64_t(product.modules.size());
  auto read = [&](const std::string &symbolName, const std::string &tensor,
                  ArrayRef<int64_t> shape) {
    return declare(symbolName, model.checkpointPrefix + tensor,
                   fixed(shape, element));
  };
  auto sharedModule = [&](StringRef module) {
    std::string name =
        (product.mlp + ".shared_expert." + module + ".weight" + suffix).str();
    return read(name, name, {moduleRows, columns});
  };
  SmallVector<ParameterOp> parts;
  SmallVector<Attribute> steps = castStep(element, result);
  auto reshape = [&](ArrayRef<int64_t> shape) {
    steps.push_back(DenseI64ArrayAttr::get(top.getContext(), shape));
  };
  bool isPacked = withShared;
  if (!model.experts->perExpertTensors) {
    std::string name = (experts + product.stacked + suffix).str();
    parts.push_back(read(name, name, {count, rows, columns}));
    for (StringRef module : product.modules)
      if (withShared)
        parts.push_back(sharedModule(module));
  } else {
    for (StringRef module : product.modules) {
      std::string end = (module + ".weight" + suffix).str();
      parts.push_back(read(experts + end, experts + "{}." + end,
                           {count, moduleRows, columns}));
      if (withShared)
        parts.push_back(sharedModule(module));
    }
    // All gates lie in front of all ups; each expert has its own two.
    if (product.modules.size() > 1) {
      isPacked = true;
      if (!withShared)
        reshape({all * rows, columns});
      SmallVector<int64_t> parameters = {all};
      parameters.append(product.modules.size(), moduleRows);
      auto layout =
          LayoutAttr::get(top.getContext(), "interleaved_rows", parameters);
      steps.push_back(
          PackReorderAttr::get(top.getContext(), layout, /*inverse=*/false));
    }
  }
  if (isPacked)
    reshape({all, rows, columns});
  return packed((experts + product.name + symbol).str(), parts,
                fixed({all, rows, columns}, result), steps);
}

ModelBuilder::ExpertWeight
ModelBuilder::expertWeight(const ExpertProduct &product, bool withShared) {
  const int64_t rows = product.rows, columns = product.columns;
  Type element = model.fp8Block128 ? f8 : bf16;
  ExpertWeight made;
  made.weight = expertTensor(product, withShared, rows, columns, element, "",
                             "", element);
  if (model.fp8Block128)
    made.scale = expertTensor(product, withShared, rows / 128, columns / 128,
                              scaleType(), "_scale_inv", "_scale", f32);
  return made;
}

ModelBuilder::ExpertWeight ModelBuilder::matrix(const Twine &name, int64_t rows,
                                                int64_t columns) {
  std::string base = name.str();
  if (!model.fp8Block128)
    return {parameter(base, fixed({rows, columns})), Value()};
  RankedTensorType shape = fixed(
      {llvm::divideCeilSigned(rows, 128), llvm::divideCeilSigned(columns, 128)},
      scaleType());
  Value weight = parameter(base, fixed({rows, columns}, f8));
  std::string scale = base + "_scale_inv";
  ParameterOp raw = declare(scale, model.checkpointPrefix + scale, shape);
  return {weight, packed(base + "_scale", raw, fixed(shape.getShape(), f32),
                         castStep(scaleType(), f32))};
}

Value ModelBuilder::experts(Value x, RouteOp routed, ExpertWeight gateUp,
                            ExpertWeight down, Activation activation) {
  Value ids = routed.getExpertIds();
  int64_t slots = cast<RankedTensorType>(ids.getType()).getDimSize(1);
  auto type = cast<RankedTensorType>(gateUp.weight.getType());
  int64_t inner = type.getDimSize(1) / 2;
  QuantizeBlocksOp q = quantize(x);
  Value product = MoeGateUpOp::create(
      body, location, rows({slots, 2 * inner}, f32), q.getResult(),
      gateUp.weight, q.getResultScale(), gateUp.scale, ids, Activation::None);
  auto activated = MoeActivationOp::create(
      body, location, rows({slots, inner}, f8), rows({slots, inner / 128}, f32),
      product, activation);
  return MoeDownReduceOp::create(
      body, location, rows({model.hidden}), activated.getResult(), down.weight,
      activated.getResultScale(), down.scale, ids, routed.getExpertWeights(),
      /*residual=*/Value());
}

QuantizeBlocksOp ModelBuilder::quantize(Value x) {
  QuantizeBlocksOp &made = quantized[x];
  if (!made)
    made = QuantizeBlocksOp::create(
        body, location, x, BlockScaleAttr::get1x128(body.getContext()));
  return made;
}

Value ModelBuilder::project(Value x, ArrayRef<ProjectionPart> parts,
                            const Twine &name, bool bias, bool keepBf16) {
  int64_t columns = cast<RankedTensorType>(x.getType()).getShape().back();
  bool fp8 = model.fp8Block128 && !keepBf16;
  std::string symbol = name.str();
  SmallVector<ParameterOp> weights, scales, biases;
  int64_t total = 0;
  for (const ProjectionPart &part : parts) {
    std::string prefix = model.checkpointPrefix + part.module;
    weights.push_back(declare(part.module + ".weight", prefix + ".weight",
                              fixed({part.rows, columns}, fp8 ? f8 : bf16)));
    if (fp8)
      scales.push_back(declare(
          part.module + ".weight_scale_inv", prefix + ".weight_scale_inv",
          fixed({llvm::divideCeilSigned(part.rows, 128), columns / 128},
                scaleType())));
    if (bias)
      biases.push_back(
          declare(part.module + ".bias", prefix + ".bias", fixed({part.rows})));
    total += part.rows;
  }
  Value weight = packed(symbol + ".weight", weights,
                        fixed({total, columns}, fp8 ? f8 : bf16));
  Value biasValue, xScale, weightScale;
  BlockScaleAttr xBlock, weightBlock;
  if (bias)
    biasValue = packed(symbol + ".bias", biases, fixed({total}));
  if (fp8) {
    QuantizeBlocksOp q = quantize(x);
    x = q.getResult();
    xScale = q.getResultScale();
    xBlock = BlockScaleAttr::get1x128(body.getContext());
    weightBlock = BlockScaleAttr::get128x128(body.getContext());
    weightScale =
        packed(symbol + ".weight_scale", scales,
               fixed({llvm::divideCeilSigned(total, 128), columns / 128}, f32),
               castStep(scaleType(), f32));
  }
  return DenseOp::create(body, location, rows({total}), x, weight, xScale,
                         weightScale, biasValue, /*residual=*/Value(), xBlock,
                         weightBlock, EpilogueAttr());
}

Value ModelBuilder::product(Value x, Value weight, RankedTensorType type) {
  return DenseOp::create(body, location, type, x, weight);
}

void ModelBuilder::addExpertWeight(Fallback &op, StringRef label,
                                   ExpertWeight weight) {
  op.inputs.push_back({label.str(), weight.weight});
  if (weight.scale)
    op.inputs.push_back({label.str() + "_scale", weight.scale});
}

SmallVector<Value> ModelBuilder::fallback(Fallback description) {
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<int64_t> updates(description.outputs.size(), -1);
  SmallVector<StringRef> inputNames, outputNames;
  for (const auto &[name, value] : description.inputs) {
    inputNames.push_back(name);
    inputs.push_back(value);
  }
  for (const auto &[name, type] : description.outputs) {
    outputNames.push_back(name);
    types.push_back(type);
  }
  for (const auto &[name, initial] : description.updated) {
    updates.push_back(inputs.size());
    inputNames.push_back(name);
    outputNames.push_back(name);
    inputs.push_back(current(initial));
    types.push_back(initial.getType());
  }
  auto op = FallbackOp::create(body, location, types, description.operation,
                               inputs, description.reason);
  op.setOperandNamesAttr(body.getStrArrayAttr(inputNames));
  op.setResultNamesAttr(body.getStrArrayAttr(outputNames));
  if (!description.updated.empty())
    op.setUpdates(updates);
  if (!description.settings.empty())
    op.setSettingsAttr(body.getDictionaryAttr(description.settings));
  SmallVector<Value> results(op.getOutputs());
  for (auto [index, entry] : llvm::enumerate(description.updated))
    states[entry.second] = results[description.outputs.size() + index];
  results.truncate(description.outputs.size());
  return results;
}

NamedAttribute ModelBuilder::setting(StringRef name, int64_t value) {
  return body.getNamedAttr(name, body.getI64IntegerAttr(value));
}
NamedAttribute ModelBuilder::setting(StringRef name, double value) {
  return body.getNamedAttr(name, body.getF64FloatAttr(value));
}
NamedAttribute ModelBuilder::setting(StringRef name, StringRef value) {
  return body.getNamedAttr(name, body.getStringAttr(value));
}
NamedAttribute ModelBuilder::flag(StringRef name, bool value) {
  return body.getNamedAttr(name, body.getBoolAttr(value));
}
