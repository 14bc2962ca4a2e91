//===- ApplyProfile.cpp - Specialise functions for serving profiles -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"

#include "Netra/IR/NetraOps.h"
#include "Netra/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace netra {
#define GEN_PASS_DEF_NETRAAPPLYPROFILE
#include "Netra/Transforms/Passes.h.inc"
} // namespace netra

using namespace netra;

namespace {

/// For each value of a specialised function, the extents its dynamic
/// dimensions had before they became static: the dimensions themselves.
using DynamicDims = DenseMap<Value, SmallVector<bool>>;

/// Result types by operation and by which dimensions of its operands were
/// dynamic: equal layers need them inferred once.
using InferredTypes = OperationKeyMap<SmallVector<Type>>;

SmallVector<bool> getDynamicDims(Type type) {
  SmallVector<bool> result;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (int64_t extent : tensor.getShape())
      result.push_back(ShapedType::isDynamic(extent));
  return result;
}

bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

std::string spell(const GuardRange &guard) {
  return guard.isExact()
             ? std::to_string(guard.min)
             : std::to_string(guard.min) + ".." + std::to_string(guard.max);
}

/// What the dimensions of an argument are bound to: "m", "2048", ….
FailureOr<SmallVector<StringRef>> getDimNames(func::FuncOp func, unsigned index,
                                              RankedTensorType type) {
  if (auto names = func.getArgAttrOfType<ArrayAttr>(
          index, NetraDialect::getDimsAttrName())) {
    SmallVector<StringRef> result;
    for (Attribute name : names) {
      auto text = dyn_cast<StringAttr>(name);
      result.push_back(text ? text.getValue() : StringRef());
    }
    if (result.size() != size_t(type.getRank())) {
      func.emitError() << "argument #" << index << ": expected netra.dims with "
                       << type.getRank() << " names, found " << result.size();
      return failure();
    }
    return result;
  }
  // Extents of 1 in front, as exported graphs have them, change no element.
  const int64_t *front = llvm::find_if(
      type.getShape(), [](int64_t extent) { return extent != 1; });
  if (type.getNumDynamicDims() == 1 && ShapedType::isDynamic(*front)) {
    SmallVector<StringRef> result(type.getRank());
    result[front - type.getShape().begin()] = "m";
    return result;
  }
  func.emitError() << "argument #" << index << " of type " << type
                   << ": expected netra.dims to name what each dynamic "
                      "dimension is bound to; only a single dynamic dimension "
                      "in front is taken for \"m\"";
  return failure();
}

/// An argument under a profile: its type, and what its dimensions are bound to
/// when a range is left open.
struct BoundArgument {
  Type type;
  ArrayAttr dims;
};

/// Whether dimension `dim` of `type` may have any extent of `guard`. A launch
/// uses the front of a tensor that is planned for the greatest.
LogicalResult checkRange(func::FuncOp func, unsigned index, unsigned dim,
                         RankedTensorType type, StringRef name,
                         const ServingProfile &profile) {
  const GuardRange &guard = profile.guards.at(name.str());
  auto refuse = [&](StringRef why) {
    return func.emitError()
           << "argument #" << index << ": dimension " << dim
           << " is bound to \"" << name << "\", which profile @" << profile.name
           << " guards with the range " << spell(guard) << "; " << why;
  };
  if (guard.min == 0)
    return refuse("an extent that varies is at least 1");
  if (llvm::any_of(type.getShape().take_front(dim),
                   [](int64_t extent) { return extent != 1; }))
    return refuse("only an outermost extent may vary, because a launch uses "
                  "the front of its buffers");
  return success();
}

/// Binds an argument to `profile`.
FailureOr<BoundArgument> bindArgument(func::FuncOp func, unsigned index,
                                      const ServingProfile &profile) {
  Type type = func.getArgumentTypes()[index];
  if (!isDynamic(type))
    return BoundArgument{type, {}};
  auto tensor = cast<RankedTensorType>(type);
  FailureOr<SmallVector<StringRef>> names = getDimNames(func, index, tensor);
  if (failed(names))
    return failure();
  bool isBounded = false;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(extent))
      continue;
    StringRef name = (*names)[dim];
    auto guard = profile.guards.find(name.str());
    if (guard == profile.guards.end()) {
      InFlightDiagnostic diag = func.emitError()
                                << "argument #" << index << ": dimension "
                                << dim << " is bound to \"" << name
                                << "\", on which profile @" << profile.name
                                << " has no guard; it has guards on ";
      llvm::interleaveComma(profile.guards, diag, [&](const auto &entry) {
        diag << "\"" << entry.first << "\"";
      });
      return failure();
    }
    isBounded |= !guard->second.isExact();
    if (!guard->second.isExact() &&
        failed(checkRange(func, index, dim, tensor, name, profile)))
      return failure();
    if (guard->second.max > uint64_t(std::numeric_limits<int64_t>::max())) {
      func.emitError() << "argument #" << index << ": the guard on \"" << name
                       << "\" does not fit an extent";
      return failure();
    }
    extent = int64_t(guard->second.max);
  }
  BoundArgument bound = {RankedTensorType::get(shape, tensor.getElementType(),
                                               tensor.getEncoding()),
                         {}};
  if (!isBounded)
    return bound;
  Builder builder(func.getContext());
  SmallVector<Attribute> dims;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    bool varies = tensor.isDynamicDim(dim) &&
                  !profile.guards.at((*names)[dim].str()).isExact();
    dims.push_back(builder.getStringAttr(
        varies ? (*names)[dim] : StringRef(std::to_string(extent))));
  }
  bound.dims = builder.getArrayAttr(dims);
  return bound;
}

/// Extents that a dynamic dimension `dim` of a result of `op` may have, best
/// guess first: the extents its operands now have where they were dynamic.
SmallVector<int64_t> getExtentCandidates(Operation *op, unsigned dim,
                                         const DynamicDims &dynamicDims) {
  llvm::SetVector<int64_t> samePosition, others;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    auto dims = dynamicDims.find(operand);
    if (!type || dims == dynamicDims.end())
      continue;
    for (auto [i, extent] : llvm::enumerate(type.getShape()))
      if (dims->second[i])
        (i == dim ? samePosition : others).insert(extent);
  }
  samePosition.insert(others.begin(), others.end());
  return samePosition.takeVector();
}

/// Gives the results of `op`, whose operands are static, static types. The
/// verifier of the operation is the authority on shapes: candidates are tried
/// against it, so that no operation has to be known here.
LogicalResult inferResults(Operation *op, DynamicDims &dynamicDims) {
  struct Hole {
    unsigned result, dim;
    SmallVector<int64_t> candidates;
  };
  SmallVector<Hole> holes;
  for (OpResult result : op->getResults()) {
    if (!isDynamic(result.getType()))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    // A view has the elements of what it views.
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    for (unsigned dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      Hole hole{result.getResultNumber(), dim, {}};
      auto source =
          view ? dyn_cast<RankedTensorType>(view.getViewSource().getType())
               : RankedTensorType();
      if (source && source.hasStaticShape() && type.getNumDynamicDims() == 1) {
        int64_t rest = 1;
        for (int64_t extent : type.getShape())
          if (!ShapedType::isDynamic(extent))
            rest *= extent;
        if (rest > 0 && source.getNumElements() % rest == 0)
          hole.candidates.push_back(source.getNumElements() / rest);
      } else {
        hole.candidates = getExtentCandidates(op, dim, dynamicDims);
      }
      holes.push_back(std::move(hole));
    }
  }
  if (holes.empty())
    return success();

  SmallVector<Type> before(op->getResultTypes());
  for (Value result : op->getResults())
    if (SmallVector<bool> dims = getDynamicDims(result.getType());
        llvm::is_contained(dims, true))
      dynamicDims[result] = dims;

  uint64_t combinations = 1;
  for (const Hole &hole : holes)
    combinations =
        std::min<uint64_t>(4096, combinations * hole.candidates.size());
  for (uint64_t combination = 0; combination < combinations; ++combination) {
    SmallVector<SmallVector<int64_t>> shapes;
    for (Type type : before) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      shapes.push_back(tensor ? SmallVector<int64_t>(tensor.getShape())
                              : SmallVector<int64_t>());
    }
    uint64_t rest = combination;
    for (const Hole &hole : holes) {
      shapes[hole.result][hole.dim] =
          hole.candidates[rest % hole.candidates.size()];
      rest /= hole.candidates.size();
    }
    for (OpResult result : op->getResults())
      if (auto tensor =
              dyn_cast<RankedTensorType>(before[result.getResultNumber()]))
        result.setType(RankedTensorType::get(shapes[result.getResultNumber()],
                                             tensor.getElementType(),
                                             tensor.getEncoding()));
    if (isValid(op))
      return success();
  }
  for (OpResult result : op->getResults())
    result.setType(before[result.getResultNumber()]);
  InFlightDiagnostic diag = op->emitError()
                            << "cannot infer the static shape of result #"
                            << holes.front().result << " of type "
                            << before[holes.front().result]
                            << " from operands of types ";
  llvm::interleaveComma(op->getOperandTypes(), diag);
  return failure();
}

/// inferResults, unless an equal operation has been there before.
LogicalResult inferOnce(Operation *op, DynamicDims &dynamicDims,
                        InferredTypes &inferred) {
  if (llvm::none_of(op->getResultTypes(), isDynamic))
    return success();
  OperationKey key = getOperationKey(op);
  for (Value operand : op->getOperands()) {
    uintptr_t bits = 1;
    if (auto dims = dynamicDims.find(operand); dims != dynamicDims.end())
      for (bool isDynamic : dims->second)
        bits = 2 * bits + isDynamic;
    key.push_back(reinterpret_cast<const void *>(bits));
  }
  auto [entry, isNew] = inferred.try_emplace(std::move(key));
  if (isNew) {
    LogicalResult result = inferResults(op, dynamicDims);
    if (succeeded(result))
      llvm::append_range(entry->second, op->getResultTypes());
    else
      inferred.erase(entry); // the next one says so again
    return result;
  }
  for (auto [result, type] : llvm::zip_equal(op->getResults(), entry->second)) {
    if (isDynamic(result.getType()))
      dynamicDims[result] = getDynamicDims(result.getType());
    result.setType(type);
  }
  return success();
}

/// Binds `clone` to `profile` in place.
LogicalResult specialise(func::FuncOp clone, const ServingProfile &profile,
                         InferredTypes &inferred) {
  SmallVector<Type> argumentTypes;
  SmallVector<ArrayAttr> argumentDims;
  for (unsigned i = 0; i < clone.getNumArguments(); ++i) {
    FailureOr<BoundArgument> bound = bindArgument(clone, i, profile);
    if (failed(bound))
      return failure();
    argumentTypes.push_back(bound->type);
    argumentDims.push_back(bound->dims);
  }
  Block &body = clone.getBody().front();
  DynamicDims dynamicDims;
  for (auto [argument, type] :
       llvm::zip_equal(body.getArguments(), argumentTypes)) {
    if (isDynamic(argument.getType()))
      dynamicDims[argument] = getDynamicDims(argument.getType());
    argument.setType(type);
    unsigned index = argument.getArgNumber();
    clone.removeArgAttr(index, NetraDialect::getDimsAttrName());
    if (argumentDims[index])
      clone.setArgAttr(index, NetraDialect::getDimsAttrName(),
                       argumentDims[index]);
  }
  LogicalResult result = success();
  for (Operation &op : body.without_terminator()) {
    // What follows from a value without a shape only repeats its error.
    if (llvm::any_of(op.getOperandTypes(), isDynamic))
      continue;
    if (failed(inferOnce(&op, dynamicDims, inferred)))
      result = failure();
  }
  clone.setFunctionType(
      FunctionType::get(clone.getContext(), argumentTypes,
                        body.getTerminator()->getOperandTypes()));
  return result;
}

GuardAttr makeGuard(MLIRContext *context, const ServingProfile &profile,
                    StringRef name) {
  auto guard = profile.guards.find(name.str());
  if (guard == profile.guards.end())
    return {};
  constexpr uint64_t limit = std::numeric_limits<int64_t>::max();
  return GuardAttr::get(context, int64_t(std::min(guard->second.min, limit)),
                        int64_t(std::min(guard->second.max, limit)));
}

class ApplyProfilePass
    : public netra::impl::NetraApplyProfileBase<ApplyProfilePass> {
public:
  using NetraApplyProfileBase::NetraApplyProfileBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto &catalog = getAnalysis<SharedCatalog>();
    if (failed(catalog.load(module, libraryRoot, target)))
      return signalPassFailure();
    SmallVector<const ServingProfile *> chosen;
    if (failed(findProfiles(module, *catalog, chosen)))
      return signalPassFailure();

    SmallVector<func::FuncOp> functions;
    for (auto func : module.getOps<func::FuncOp>())
      if (!func->hasAttr(NetraDialect::getProfileAttrName()))
        functions.push_back(func);
    bool ok = true;
    for (func::FuncOp func : functions)
      ok &= succeeded(checkFunction(module, func));
    if (!ok)
      return signalPassFailure();

    SymbolTable symbols(module);
    for (const ServingProfile *profile : llvm::reverse(chosen))
      ok &= succeeded(declareProfile(symbols, *profile));
    if (!ok)
      return signalPassFailure();
    InferredTypes inferred;
    for (func::FuncOp func : functions) {
      for (const ServingProfile *profile : chosen) {
        auto clone = func.clone();
        clone.setName((func.getName() + "." + profile->name).str());
        clone->setAttr(
            NetraDialect::getProfileAttrName(),
            FlatSymbolRefAttr::get(module.getContext(), profile->name));
        if (symbols.lookup(clone.getName())) {
          func.emitError() << "expected the name @" << clone.getName()
                           << " of the function for profile @" << profile->name
                           << " to be free";
          clone->erase();
          ok = false;
          continue;
        }
        symbols.insert(clone, Block::iterator(func));
        ok &= succeeded(specialise(clone, *profile, inferred));
      }
      symbols.erase(func);
    }
    if (!ok)
      signalPassFailure();
  }

private:
  LogicalResult findProfiles(ModuleOp module, const Catalog &catalog,
                             SmallVectorImpl<const ServingProfile *> &chosen) {
    auto refuse = [&](const llvm::Twine &message) {
      InFlightDiagnostic diag = module.emitError()
                                << message << "; the catalogue of " << target
                                << " has ";
      llvm::interleaveComma(
          catalog.profiles(), diag,
          [&](const ServingProfile &known) { diag << known.name; });
      return failure();
    };
    if (profiles.empty())
      return refuse("expected at least one profile, profiles=NAME,… (or "
                    "profile=NAME of the pipeline), found none");
    for (const std::string &name : profiles) {
      const ServingProfile *profile = catalog.findProfile(name);
      if (!profile)
        return refuse("unknown profile \"" + name + "\"");
      if (llvm::is_contained(chosen, profile))
        return module.emitError()
               << "expected each profile once, found \"" << name << "\" twice";
      chosen.push_back(profile);
    }
    return success();
  }

  LogicalResult checkFunction(ModuleOp module, func::FuncOp func) {
    if (func.isDeclaration())
      return func.emitError()
             << "expected a function with a body, found a declaration";
    if (!func.getBody().hasOneBlock())
      return func.emitError() << "expected one block, found "
                              << func.getBody().getBlocks().size()
                              << "; an engine has no control flow";
    // Operations of the dialect refer to parameters and profiles only.
    Operation *user = nullptr;
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<NetraDialect>(op->getDialect()))
        return WalkResult::advance();
      op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
        if (symbol.getRootReference() == func.getSymNameAttr())
          user = op;
      });
      return user ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (user)
      return user->emitError()
             << "expected no use of function @" << func.getName()
             << "; inline calls first (--inline)";
    return success();
  }

  LogicalResult declareProfile(SymbolTable &symbols,
                               const ServingProfile &profile) {
    Operation *known = symbols.lookup(profile.name);
    if (isa_and_nonnull<ProfileOp>(known))
      return success();
    if (known)
      return known->emitError() << "expected the name @" << profile.name
                                << " to be free for the profile";
    MLIRContext *context = &getContext();
    OpBuilder builder(context);
    auto get = [&](StringRef name) {
      return makeGuard(context, profile, name);
    };
    for (StringRef name : {"m", "batch", "sequence"})
      if (!get(name))
        return getOperation().emitError()
               << "profile @" << profile.name << " has no guard on \"" << name
               << "\"";
    auto op = ProfileOp::create(builder, getOperation().getLoc(), profile.name,
                                get("m"), get("batch"), get("sequence"),
                                get("routed_rows"), get("tensor_parallel"),
                                profile.priority);
    symbols.insert(op, getOperation().getBody()->begin());
    return success();
  }
};

} // namespace
