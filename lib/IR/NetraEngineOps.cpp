//===- NetraEngineOps.cpp - Engine-level operations -----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/NetraOps.h"

#include "AsmDirectives.h"
#include "Fallback.h"
#include "Netra/Catalog/ContractVerifier.h"
#include "Netra/Catalog/Operations.h"
#include "Netra/Catalog/TargetInfo.h"
#include "Netra/IR/ContractConversion.h"
#include "Netra/IR/EngineDecisions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace netra;

/// custom<Extents>($grid): `(704, 1, 1)`.
static ParseResult parseExtents(OpAsmParser &parser,
                                DenseI64ArrayAttr &extents) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parser.parseInteger(values.emplace_back());
      }))
    return failure();
  extents = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static void printExtents(OpAsmPrinter &printer, Operation *,
                         DenseI64ArrayAttr extents) {
  printer << "(";
  llvm::interleaveComma(extents.asArrayRef(), printer);
  printer << ")";
}

/// True for a positive power of two.
static bool isAlignment(IntegerAttr attribute) {
  int64_t alignment = attribute.getInt();
  return alignment > 0 && llvm::isPowerOf2_64(alignment);
}

#define GET_OP_CLASSES
#include "Netra/IR/NetraEngineOps.cpp.inc"

//===----------------------------------------------------------------------===//
// EngineOp
//===----------------------------------------------------------------------===//

void EngineOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     TargetAttr target) {
  build(builder, state, builder.getStringAttr(name), target, StringAttr(),
        ArrayAttr());
  state.regions.front()->emplaceBlock();
}

LogicalResult EngineOp::verify() {
  if (auto domain = domainFromAttr(getDomainAttr()); !domain)
    return emitOpError("C3: ") << llvm::toString(domain.takeError());
  if (getBody().empty())
    return success();
  bool hasWeights = false;
  int64_t next[3] = {0, 0, 0};
  for (Operation &op : getBody().front()) {
    if (!isa<CodeObjectOp, ContractOp, BindingOp, WeightsOp, PlanOp,
             DecisionOp>(op))
      return emitOpError("C1: an engine holds code objects, contracts, "
                         "bindings, weights, plans and decisions, found '")
             << op.getName() << "'";
    if (isa<WeightsOp>(op) && std::exchange(hasWeights, true))
      return emitOpError("C1: an engine has at most one 'netra.weights'");
    auto binding = dyn_cast<BindingOp>(op);
    if (!binding)
      continue;
    int64_t &expected = next[static_cast<unsigned>(binding.getKind())];
    int64_t index = binding.getIndexAttr().getInt();
    if (index != expected)
      return emitOpError("C2: expected ")
             << stringifyBindingKind(binding.getKind()) << "(" << expected
             << ") next, found " << index << " for @" << binding.getSymName();
    ++expected;
  }
  return success();
}

ContractOp EngineOp::lookupContract(StringRef id) {
  return dyn_cast_or_null<ContractOp>(
      mlir::SymbolTable::lookupSymbolIn(getOperation(), id));
}

WeightsOp EngineOp::getWeights() {
  if (getBody().empty())
    return {};
  // They stand near the end, and are asked for often.
  for (Operation &op : llvm::reverse(getBody().front()))
    if (auto weights = dyn_cast<WeightsOp>(op))
      return weights;
  return {};
}

//===----------------------------------------------------------------------===//
// CodeObjectOp, KernelOp, ContractOp
//===----------------------------------------------------------------------===//

void CodeObjectOp::build(OpBuilder &builder, OperationState &state,
                         StringRef name, StringRef textSha256) {
  build(builder, state, builder.getStringAttr(name),
        textSha256.empty() ? StringAttr() : builder.getStringAttr(textSha256));
  state.regions.front()->emplaceBlock();
}

LogicalResult CodeObjectOp::verify() {
  if (getBody().empty() || getBody().front().empty())
    return emitOpError("C1: a code object holds at least one kernel");
  for (Operation &op : getBody().front())
    if (!isa<KernelOp>(op))
      return emitOpError("C1: a code object holds kernels, found '")
             << op.getName() << "'";
  StringAttr hash = getTextSha256Attr();
  if (hash && (hash.size() != 64 || !llvm::all_of(hash.getValue(), [](char c) {
                 return llvm::isHexDigit(c) && !llvm::isUpper(c);
               })))
    return emitOpError("C2: 'text_sha256' must be 64 lower-case hexadecimal "
                       "digits, found ")
           << hash;
  return success();
}

LogicalResult KernelOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto engine = (*this)->getParentOfType<EngineOp>();
  if (!engine)
    return success(); // The parents report it.
  // Contracts are the first in an engine; a table would be made for each code
  // object anew.
  StringAttr id = getTactic().getContract();
  if (!engine.lookupContract(id))
    return emitOpError("C1: the engine has no contract ") << id;
  return success();
}

LogicalResult ContractOp::verify() {
  llvm::Expected<const KnownContract &> known =
      lookupContract(getDefinitionAttr());
  if (!known)
    return emitOpError("C1: ") << llvm::toString(known.takeError());
  if (known->id != getSymName())
    return emitOpError("C2: the name must be the id of the contract, @")
           << known->id << ", found @" << getSymName();
  if (llvm::Error error = verifyContract(known->contract))
    return emitOpError("C1: ") << llvm::toString(std::move(error));
  return success();
}

//===----------------------------------------------------------------------===//
// BindingOp, WeightsOp, WeightOp
//===----------------------------------------------------------------------===//

void BindingOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      BindingKind kind, int64_t index, RankedTensorType type) {
  build(builder, state, builder.getStringAttr(name),
        BindingKindAttr::get(builder.getContext(), kind),
        builder.getI64IntegerAttr(index), TypeAttr::get(type));
}

LogicalResult BindingOp::verify() {
  if (getIndexAttr().getInt() < 0 || !getTensorBytes(getTensorType()))
    return emitOpError("C1: the type must be static and the index not "
                       "negative, found ")
           << getTensorType() << " and " << getIndexAttr().getInt();
  return success();
}

void WeightsOp::build(OpBuilder &builder, OperationState &state, int64_t bytes,
                      int64_t alignment) {
  build(builder, state, builder.getI64IntegerAttr(bytes),
        builder.getI64IntegerAttr(alignment));
  state.regions.front()->emplaceBlock();
}

LogicalResult WeightsOp::verify() {
  if (!getBody().empty())
    for (Operation &op : getBody().front())
      if (!isa<WeightOp>(op))
        return emitOpError("C1: expected weights, found '")
               << op.getName() << "'";
  if (getBytesAttr().getInt() < 0 || !isAlignment(getAlignmentAttr()))
    return emitOpError("C4: 'bytes' must not be negative and 'alignment' must "
                       "be a power of two, found ")
           << getBytesAttr().getInt() << " and " << getAlignmentAttr().getInt();
  return success();
}

LogicalResult WeightsOp::verifyRegions() {
  SmallVector<WeightOp> weights(getBody().getOps<WeightOp>());
  for (WeightOp weight : weights)
    if (weight.getOffset() % getAlignment() != 0 ||
        weight.getOffset() + weight.getSize() > getBytes())
      return weight.emitOpError(
                 "breaks C2 of 'netra.weights': it must start at "
                 "a multiple of ")
             << getAlignment() << " and end within " << getBytes()
             << " bytes, found " << weight.getOffset() << " and "
             << weight.getSize();
  // By size as well, so that an empty weight comes before one that starts
  // there.
  llvm::sort(weights, [](WeightOp lhs, WeightOp rhs) {
    return std::pair(lhs.getOffset(), lhs.getSize()) <
           std::pair(rhs.getOffset(), rhs.getSize());
  });
  for (size_t index = 1; index < weights.size(); ++index) {
    WeightOp last = weights[index - 1], next = weights[index];
    if (last.getOffset() + last.getSize() > next.getOffset())
      return next.emitOpError("breaks C3 of 'netra.weights': it overlaps @")
             << last.getSymName();
  }
  return success();
}

void WeightOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     int64_t offset, int64_t size, RankedTensorType type,
                     PackAttr pack) {
  build(builder, state, builder.getStringAttr(name),
        builder.getI64IntegerAttr(offset), builder.getI64IntegerAttr(size),
        TypeAttr::get(type), pack);
}

LogicalResult WeightOp::verify() {
  if (getPack().isSymbolic())
    return emitOpError("C1: the sources of 'pack' must be tensors of the "
                       "checkpoint, found ")
           << getPackAttr();
  SmallVector<RankedTensorType> types;
  for (Attribute source : getPack().getSources())
    types.push_back(cast<PackSourceAttr>(source).getType());
  FailureOr<RankedTensorType> made =
      getPack().getResultType(types, [&] { return emitOpError("C2: "); });
  if (failed(made))
    return failure();
  if (*made != getTensorType())
    return emitOpError("C2: 'pack' gives ")
           << *made << ", but the weight is " << getTensorType();
  std::optional<int64_t> bytes = getTensorBytes(getTensorType());
  int64_t offset = getOffsetAttr().getInt(), size = getSizeAttr().getInt(), end;
  if (!bytes || size != *bytes || offset < 0 ||
      llvm::AddOverflow(offset, size, end))
    return emitOpError("C3: the size must be that of ")
           << getTensorType() << ", " << bytes.value_or(0)
           << ", and the offset not negative, found " << size << " and "
           << offset;
  return success();
}

//===----------------------------------------------------------------------===//
// PlanOp
//===----------------------------------------------------------------------===//

void PlanOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   StringRef profile, int64_t arena, int64_t alignment,
                   ArrayAttr bindings) {
  build(builder, state, builder.getStringAttr(name),
        FlatSymbolRefAttr::get(builder.getContext(), profile),
        builder.getI64IntegerAttr(arena), builder.getI64IntegerAttr(alignment),
        bindings);
  state.regions.front()->emplaceBlock();
}

LogicalResult PlanOp::verify() {
  if (!getBody().empty())
    for (Operation &op : getBody().front())
      if (!isa<LaunchOp, FallbackStepOp>(op))
        return emitOpError("C1: expected launches and fallback steps, found '")
               << op.getName() << "'";
  if (getArenaAttr().getInt() < 0 || !isAlignment(getAlignmentAttr()))
    return emitOpError("C3: 'arena' must not be negative and 'alignment' must "
                       "be a power of two, found ")
           << getArenaAttr().getInt() << " and " << getAlignmentAttr().getInt();
  return success();
}

LogicalResult PlanOp::verifyRegions() {
  for (auto [index, op] : llvm::enumerate(getBody().front())) {
    ArrayRef<int64_t> after = isa<LaunchOp>(op)
                                  ? cast<LaunchOp>(op).getAfter()
                                  : cast<FallbackStepOp>(op).getAfter();
    int64_t last = -1;
    for (int64_t step : after) {
      if (step <= last || step >= static_cast<int64_t>(index))
        return op.emitOpError("breaks C2 of 'netra.plan': step ")
               << index
               << " must wait for earlier steps, each once, in rising order, "
                  "found "
               << step;
      last = step;
    }
  }
  return success();
}

LogicalResult PlanOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // The plan and its profile usually have the same name; the profile is the one
  // beside the engine.
  Operation *engine = (*this)->getParentOp();
  Operation *around = engine ? engine->getParentOp() : nullptr;
  if (!around ||
      !isa_and_present<ProfileOp>(
          symbolTable.lookupNearestSymbolFrom(around, getProfileAttr())))
    return emitOpError("C4: ")
           << getProfileAttr() << " is not a profile beside the engine";
  if (!getBindingsAttr())
    return success();
  llvm::StringSet<> seen;
  for (auto symbol : getBindingsAttr().getAsRange<FlatSymbolRefAttr>()) {
    if (!symbolTable.lookupNearestSymbolFrom<BindingOp>(*this, symbol))
      return emitOpError("C5: ") << symbol << " is not a binding of the engine";
    if (!seen.insert(symbol.getValue()).second)
      return emitOpError("C5: ") << symbol << " is listed twice";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp and FallbackStepOp
//===----------------------------------------------------------------------===//

/// Checks the symbol and the range of one argument of a step.
static LogicalResult verifySlot(Operation *op, StringRef constraint,
                                ArgAttr arg,
                                SymbolTableCollection &symbolTable) {
  auto plan = cast<PlanOp>(op->getParentOp());
  auto engine = cast<EngineOp>(plan->getParentOp());
  int64_t limit = 0;
  switch (arg.getKind()) {
  case SlotKind::Value:
  case SlotKind::Null:
    return success();
  case SlotKind::Arena:
    limit = plan.getArenaAttr().getInt();
    break;
  case SlotKind::Binding: {
    auto binding = symbolTable.lookupSymbolIn<BindingOp>(
        engine, arg.getSymbol().getAttr());
    if (!binding)
      return op->emitOpError()
             << constraint << ": the engine has no binding " << arg.getSymbol();
    if (ArrayAttr used = plan.getBindingsAttr();
        used && !llvm::is_contained(used, arg.getSymbol()))
      return op->emitOpError("breaks C5 of 'netra.plan': ")
             << arg.getSymbol() << " is not among the bindings of the plan";
    limit = getTensorBytes(binding.getTensorType()).value_or(0);
    break;
  }
  case SlotKind::Weight: {
    WeightsOp weights = engine.getWeights();
    auto weight = weights ? symbolTable.lookupSymbolIn<WeightOp>(
                                weights, arg.getSymbol().getAttr())
                          : WeightOp();
    if (!weight)
      return op->emitOpError()
             << constraint << ": the engine has no weight " << arg.getSymbol();
    limit = weight.getSizeAttr().getInt();
    break;
  }
  }
  if (arg.getOffset() + arg.getBytes() > limit)
    return op->emitOpError("breaks C6 of 'netra.plan': ")
           << arg << " reaches beyond the end, which is at " << limit;
  return success();
}

/// Engine of a step whose parents are what they must be, else null.
static EngineOp getEngine(Operation *step) {
  auto plan = dyn_cast_or_null<PlanOp>(step->getParentOp());
  return plan ? dyn_cast_or_null<EngineOp>(plan->getParentOp()) : EngineOp();
}

static LogicalResult verifyAfter(Operation *op, ArrayRef<int64_t> after) {
  for (int64_t step : after)
    if (step < 0)
      return op->emitOpError(
                 "C4: 'after' must not hold negative numbers, found ")
             << step;
  return success();
}

LogicalResult LaunchOp::verify() {
  std::pair<StringRef, ArrayRef<int64_t>> extents[] = {{"grid", getGrid()},
                                                       {"block", getBlock()}};
  for (auto [name, values] : extents)
    if (values.size() != 3 || llvm::any_of(values, [](int64_t extent) {
          return extent < 1 || extent > std::numeric_limits<uint32_t>::max();
        }))
      return emitOpError("C2: '")
             << name << "' must have three positive extents of 32 bits";
  // A product of extents that each are at most 1024 fits 64 bits.
  bool isSmall = llvm::all_of(getBlock(), [](int64_t e) { return e <= 1024; });
  if (!isSmall || getBlock()[0] * getBlock()[1] * getBlock()[2] > 1024)
    return emitOpError("C2: a block has at most 1024 work-items");
  if (getStaticLdsAttr().getInt() < 0 || getDynamicLdsAttr().getInt() < 0)
    return emitOpError("C3: LDS sizes must not be negative, found ")
           << getStaticLdsAttr().getInt() << " and "
           << getDynamicLdsAttr().getInt();
  return verifyAfter(*this, getAfter());
}

/// C6 of a launch: what was promised is what is launched.
static LogicalResult verifyPromises(LaunchOp op, const Contract &contract) {
  auto expect = [&](const Twine &what, const Twine &expected,
                    const Twine &found) {
    return op.emitOpError("C6: expected ")
           << what << " " << expected << " as " << op.getContractAttr()
           << " says, found " << found;
  };
  const Problem &problem = contract.problem;
  if (const OperationDefinition *operation =
          findOperation(problem.family, problem.operation);
      operation && operation->name != op.getOpName())
    return expect("operation", operation->name, op.getOpName());
  std::array<uint32_t, 3> grid = contract.greatestGrid();
  for (size_t d = 0; d != 3; ++d) {
    if (op.getGrid()[d] != grid[d])
      return expect("grid axis " + Twine(d), Twine(grid[d]),
                    Twine(op.getGrid()[d]));
    if (op.getBlock()[d] != contract.block[d])
      return expect("block axis " + Twine(d), Twine(contract.block[d]),
                    Twine(op.getBlock()[d]));
  }
  if (op.getStaticLds() != contract.staticLds ||
      op.getDynamicLds() != contract.dynamicLds)
    return expect(
        "static and dynamic LDS of",
        Twine(contract.staticLds) + " and " + Twine(contract.dynamicLds),
        Twine(op.getStaticLds()) + " and " + Twine(op.getDynamicLds()));
  if (op.getArgs().size() != contract.arguments.size())
    return expect("arguments:", Twine(contract.arguments.size()),
                  Twine(op.getArgs().size()));
  for (auto [slot, argument] : llvm::zip_equal(
           op.getArgs().getAsRange<ArgAttr>(), contract.arguments)) {
    std::string found;
    llvm::raw_string_ostream(found) << slot;
    if (argument.kind == ArgumentKind::Value) {
      if (slot.getKind() != SlotKind::Value || slot.getBits() != argument.bits)
        return expect("argument " + argument.name,
                      "with the bits " + Twine(argument.bits), found);
      continue;
    }
    uint64_t bytes = contract.workspaceBytes;
    if (const OperandSpec *operand = problem.find(argument.role))
      bytes = llvm::cantFail(tensorBytes(operand->type, operand->shape));
    bytes -= std::min(bytes, argument.operandOffset);
    bool fits = slot.isPointer() ? uint64_t(slot.getBytes()) == bytes
                                 : slot.getKind() == SlotKind::Null && !bytes;
    if (!fits)
      return expect("argument " + argument.name,
                    "as a pointer to " + Twine(bytes) + " bytes", found);
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  EngineOp engine = getEngine(*this);
  if (!engine)
    return success(); // The parents report it.
  auto kernel = dyn_cast_or_null<KernelOp>(
      symbolTable.lookupSymbolIn(engine, getKernel()));
  if (!kernel)
    return emitOpError("C1: ")
           << getKernelAttr() << " is not a kernel of the engine";
  if (kernel.getTactic().getName() != getTacticAttr() ||
      kernel.getTactic().getContract() != getContractAttr())
    return emitOpError("C1: the kernel is built from ")
           << kernel.getTactic().getName() << " for "
           << kernel.getTactic().getContract() << ", but the launch states "
           << getTacticAttr() << " and " << getContractAttr();
  const TargetInfo *target = findTarget(engine.getTarget().getArchitecture());
  if (target && (getStaticLds() > target->maxLds ||
                 getDynamicLds() > target->maxLds - getStaticLds()))
    return emitOpError("C3: ") << getStaticLds() << " and " << getDynamicLds()
                               << " bytes of LDS do not fit the "
                               << target->maxLds << " of " << target->name;
  for (ArgAttr arg : getArgs().getAsRange<ArgAttr>())
    if (failed(verifySlot(*this, "C5", arg, symbolTable)))
      return failure();
  auto contract =
      symbolTable.lookupSymbolIn<ContractOp>(engine, getContractAttr());
  if (!contract)
    return success(); // The kernel reports it.
  llvm::Expected<const KnownContract &> known =
      lookupContract(contract.getDefinition());
  if (!known) { // as the contract has reported
    llvm::consumeError(known.takeError());
    return success();
  }
  return verifyPromises(*this, known->contract);
}

LogicalResult FallbackStepOp::verify() {
  if (getOpName().empty() || getReason().empty() || getName().empty() ||
      getFamily().value_or("family").empty())
    return emitOpError("C1: operation, reason and name must not be empty, nor "
                       "a family");
  SmallVector<ArgAttr> slots(getInputs().getAsRange<ArgAttr>());
  SmallVector<Type> types;
  llvm::append_range(slots, getOutputs().getAsRange<ArgAttr>());
  if (getTypes().size() != slots.size())
    return emitOpError("C2: expected a type for each of ")
           << slots.size() << " inputs and outputs, found "
           << getTypes().size();
  for (auto [index, slot, typeAttr] :
       llvm::enumerate(slots, getTypes().getAsRange<TypeAttr>())) {
    auto type = dyn_cast<RankedTensorType>(typeAttr.getValue());
    std::optional<int64_t> bytes =
        type ? getTensorBytes(type) : std::optional<int64_t>();
    if (!bytes)
      return emitOpError("C2: type ")
             << index << " must be a static tensor, found " << typeAttr;
    if (!slot.isPointer() || slot.getBytes() != *bytes)
      return emitOpError("C3: expected a pointer to ")
             << *bytes << " bytes for " << type << ", found " << slot;
    types.push_back(type);
  }
  size_t inputs = getInputs().size();
  ArrayRef<Type> all = types;
  if (failed(verifyFallbackNames(*this, "C6", "operand_names",
                                 getOperandNamesAttr(), inputs)) ||
      failed(verifyFallbackNames(*this, "C6", "result_names",
                                 getResultNamesAttr(), getOutputs().size())) ||
      failed(verifyFallbackUpdates(*this, "C6", getUpdatesAttr(),
                                   all.take_front(inputs),
                                   all.drop_front(inputs))) ||
      failed(verifyFallbackSettings(*this, "C6", getSettingsAttr())))
    return failure();
  for (auto [number, operand] :
       llvm::enumerate(getUpdates().value_or(ArrayRef<int64_t>())))
    if (operand >= 0 && getInputs()[operand] != getOutputs()[number])
      return emitOpError("C7: output ")
             << number << " must be the memory " << getInputs()[operand]
             << " of input " << operand << ", which it updates, found "
             << getOutputs()[number];
  return verifyAfter(*this, getAfter());
}

LogicalResult
FallbackStepOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (!getEngine(*this))
    return success(); // The parents report it.
  for (ArgAttr arg : getInputs().getAsRange<ArgAttr>())
    if (failed(verifySlot(*this, "C5", arg, symbolTable)))
      return failure();
  for (ArgAttr arg : getOutputs().getAsRange<ArgAttr>()) {
    if (arg.getKind() == SlotKind::Weight)
      return emitOpError("C5: an output must not be a weight, found ") << arg;
    if (failed(verifySlot(*this, "C5", arg, symbolTable)))
      return failure();
  }
  return success();
}
