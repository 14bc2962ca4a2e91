//===- Planner.cpp - What becomes of each torch operation -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Planner.h"
#include "GraphReader.h"

#include "Netra/Conversion/IREE/IREE.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace netra;
using namespace netra::importer;

bool netra::importer::isStatement(Operation *op) {
  // Sizes that are asserted here are checked by the guards of a profile.
  static const llvm::StringSet<> assertions = {
      "torch.aten._assert_scalar", "torch.aten.sym_constrain_range",
      "torch.aten.sym_constrain_range_for_size"};
  return isa<torch::SymbolicIntOp, torch::BindSymbolicShapeOp,
             torch::RuntimeAssertOp>(op) ||
         assertions.contains(op->getName().getStringRef());
}

bool netra::importer::isOperandOnly(Operation *op) {
  return isa<
      torch::ConstantIntOp, torch::ConstantFloatOp, torch::ConstantBoolOp,
      torch::ConstantStrOp, torch::ConstantDeviceOp, torch::ConstantNumberOp,
      torch::ConstantNoneOp, torch::PrimListConstructOp, torch::DerefineOp>(op);
}

bool netra::importer::hasEffect(Operation *op) {
  if (isStatement(op))
    return false;
  if (op->getDialect() !=
      op->getContext()->getLoadedDialect<torch::TorchDialect>())
    return !isMemoryEffectFree(op) && !isa<iree::GlobalLoadOp>(op);
  if (op->getNumResults() == 0 || op->getNumRegions() != 0 ||
      isa<torch::OperatorOp>(op))
    return true;
  // torch's in-place operations end in an underscore: aten.add_.Tensor.
  SmallVector<StringRef> words;
  op->getName().getStringRef().split(words, '.');
  return words.size() > 2 && words[2].ends_with("_") &&
         !words[2].ends_with("__");
}

const llvm::StringMap<Planner::Handler> &Planner::handlers() {
  static const llvm::StringMap<Handler> map = {
      {"torch.aten.detach", &Planner::planIdentity},
      {"torch.aten.detach_copy", &Planner::planIdentity},
      {"torch.aten.clone", &Planner::planIdentity},
      {"torch.aten.contiguous", &Planner::planIdentity},
      {"torch.aten.alias", &Planner::planIdentity},
      {"torch.aten.alias_copy", &Planner::planIdentity},
      {"torch.aten.lift_fresh_copy", &Planner::planIdentity},
      {"torch.aten.dropout", &Planner::planIdentity},
      {"torch.tensor_static_info_cast", &Planner::planIdentity},
      {"torch.aten.view", &Planner::planView},
      {"torch.aten._unsafe_view", &Planner::planView},
      {"torch.aten.reshape", &Planner::planView},
      {"torch.aten._reshape_alias", &Planner::planView},
      {"torch.aten.flatten.using_ints", &Planner::planView},
      {"torch.aten.unflatten.int", &Planner::planView},
      {"torch.aten.unsqueeze", &Planner::planView},
      {"torch.aten.squeeze", &Planner::planView},
      {"torch.aten.squeeze.dim", &Planner::planView},
      {"torch.aten.expand", &Planner::planView},
      {"torch.aten.transpose.int", &Planner::planPermutation},
      {"torch.aten.t", &Planner::planPermutation},
      {"torch.aten.numpy_T", &Planner::planPermutation},
      {"torch.aten.permute", &Planner::planPermutation},
      {"torch.prims.convert_element_type", &Planner::planConversion},
      {"torch.aten.to.dtype", &Planner::planConversion},
      {"torch.aten.to.dtype_layout", &Planner::planConversion},
      {"torch.aten._to_copy", &Planner::planConversion},
      {"torch.vtensor.literal", &Planner::planLiteral},
      {"util.global.load", &Planner::planGlobalLoad},
      {"torch_c.from_builtin_tensor", &Planner::planBorder},
      {"torch_c.to_builtin_tensor", &Planner::planBorder},
      {"torch.aten.silu", &Planner::planActivation},
      {"torch.aten.sigmoid", &Planner::planActivation},
      {"torch.aten.gelu", &Planner::planActivation},
      {"torch.aten.mul.Tensor", &Planner::planMul},
      {"torch.aten.add.Tensor", &Planner::planAdd},
      {"torch.aten.mul.Scalar", &Planner::planScalar},
      {"torch.aten.div.Scalar", &Planner::planScalar},
      {"torch.aten.add.Scalar", &Planner::planScalar},
      {"torch.aten.sub.Scalar", &Planner::planScalar},
      {"torch.aten.mm", &Planner::planProduct},
      {"torch.aten.matmul", &Planner::planProduct},
      {"torch.aten.linear", &Planner::planLinear},
      {"torch.aten.addmm", &Planner::planAddmm},
      {"torch.aten.rms_norm", &Planner::planWholeNorm},
      {"torch.aten._fused_rms_norm", &Planner::planWholeNorm},
      {"torch.operator", &Planner::planOperator},
  };
  return map;
}

/// Why an operation without a handler is not converted.
static std::string reasonForUnknown(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (isa<iree::CallOp>(op) || name == "func.call")
    return "the body of a called function is not read; inline it, or export "
           "the operation itself";
  if (isa<torch::OverwriteTensorContentsOp, torch::CopyToValueTensorOp,
          torch::CopyToNonValueTensorOp>(op))
    return "a mutable tensor is state between calls, which must be an argument "
           "and a result of the function";
  if (name.contains("scaled_dot_product"))
    return "no netra operation computes attention";
  if (op->getNumResults() == 1) {
    Type type = op->getResult(0).getType();
    if (torch::isSimpleType(type, "int") ||
        torch::isSimpleType(type, "float") || torch::isSimpleType(type, "bool"))
      return "a number computed from run-time values, which an operation that "
             "is not converted needs";
  }
  if (op->getNumRegions() != 0)
    return "control flow is not part of an exported graph that can be compiled";
  return "no netra operation computes it";
}

Outcome Planner::plan(Operation *op) {
  auto handler = handlers().find(op->getName().getStringRef());
  if (handler != handlers().end()) {
    Handler function = handler->second;
    return (this->*function)(op);
  }
  // x / sqrt(...) is the only division that means something here.
  if (op->getName().getStringRef() == "torch.aten.div.Tensor")
    if (std::optional<Outcome> norm = matchNorm(op))
      return std::move(*norm);
  return Outcome::refuse(reasonForUnknown(op));
}

StringRef Planner::nearMiss(Operation *op) const {
  auto found = nearMisses.find(op);
  return found == nearMisses.end() ? StringRef() : StringRef(found->second);
}

void Planner::recordNearMiss(ArrayRef<Operation *> parts, Operation *root,
                             StringRef name, const std::string &difference) {
  std::string place = concat("'", describe(root), "'");
  if (auto line = root->getLoc()->findInstanceOf<FileLineColLoc>())
    place += concat(" in line ", line.getLine());
  // A part may belong to several attempts; the first, which ends last in the
  // function, has seen the whole pattern.
  std::string text = concat("nearest pattern: ", name, " that ends at ", place,
                            "; ", difference);
  for (Operation *part : parts)
    nearMisses.try_emplace(part, text);
}
