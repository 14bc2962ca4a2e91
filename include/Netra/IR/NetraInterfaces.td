//===- NetraInterfaces.td - Interfaces of netra operations -*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAINTERFACES_TD
#define NETRA_IR_NETRAINTERFACES_TD

include "mlir/IR/OpBase.td"

def Netra_TacticOpInterface : OpInterface<"TacticOpInterface"> {
  let cppNamespace = "::netra";
  let description = [{
    An operation that a tactic of the catalogue can implement. Selection,
    planning and lowering know operations through this interface only.
  }];
  let methods = [
    InterfaceMethod<[{
        What is to be computed, in the vocabulary of the catalogue. Requires
        static shapes: a dynamic extent is given as `ShapedType::kDynamic`, with
        which no tactic matches.
      }], "::netra::Problem", "getProblem">,
    InterfaceMethod<[{
        The operands and results by the roles that `getProblem` names them with.
        Absent optional operands and results are left out. Appends.
      }], "void", "getRoles",
      (ins "::llvm::SmallVectorImpl<std::pair<::llvm::StringRef, ::mlir::Value>> &":$inputs,
           "::llvm::SmallVectorImpl<std::pair<::llvm::StringRef, ::mlir::Value>> &":$results)>,
    InterfaceMethod<[{
        Pairs (result number, operand number) for which each element of the
        result depends, of that operand, on the element at the same index only,
        so that the result may take over the operand's memory. Whether a kernel
        may do so is for its contract to say.
      }], "::llvm::SmallVector<std::pair<unsigned, unsigned>>",
      "getInPlaceCandidates", (ins), "", "return {};">,
  ];
}

def Netra_EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::netra";
  let description = [{
    An operation that another one can carry out on its result before storing it.
    A producer asks its consumer for the step it would have to carry out, and so
    never needs to know the operation.
  }];
  let methods = [
    InterfaceMethod<[{
        The step this operation is when `main` is the value passed through, or
        nothing when it is none for that operand.
      }], "std::optional<::netra::EpilogueStep>", "getEpilogueStep",
      (ins "::mlir::OpOperand &":$main)>,
  ];
}

def Netra_FusionOpInterface : OpInterface<"FusionOpInterface"> {
  let cppNamespace = "::netra";
  let description = [{
    An operation that can take over the work of a neighbour: of a user of one of
    its results, or of the operation that defines one of its operands.

    A fused operation keeps every value in `f32` that the two operations would
    have rounded to a tensor's type between them; each element of each result is
    rounded once. Its error is therefore at most that of the unfused sequence, but
    its bits may differ; a description says for each operation which roundings go.

    A pass asks the operations in order, each about the operations that define
    its operands and about its users, until nothing changes. Ties are decided
    here, so that the result does not depend on the order: for instance, a product
    leaves an activation alone that can become a `netra.gated`, to take over that
    one later.
  }];
  let methods = [
    InterfaceMethod<[{
        Whether this operation can take over the work of `neighbour`. When it
        cannot, and `reason` is given, it is set to a sentence without a full
        stop; it stays empty when `neighbour` is nothing that this operation
        could ever take over.
      }], "::llvm::LogicalResult", "canAbsorb",
      (ins "::mlir::Operation *":$neighbour, "std::string *":$reason)>,
    InterfaceMethod<[{
        What the operations that taking over `neighbour` makes will ask of a
        tactic, when `canAbsorb` has succeeded and that may be more than the
        catalogue has. A pass that knows the catalogue fuses only when each of
        these problems has a tactic, in whatever layout of its `weight`. Nothing,
        when every family of tactics has the fused form beside the unfused one.
        Follows from what this operation, `neighbour` and the users of their
        results are, so that equal layers need be asked once.
      }], "::std::vector<::netra::Problem>", "getFusedProblems",
      (ins "::mlir::Operation *":$neighbour), "", "return {};">,
    InterfaceMethod<[{
        Takes over the work of `neighbour`, for which `canAbsorb` has succeeded,
        and returns the operation that now does both. This operation and
        `neighbour` are replaced, and erased. May add a parameter to the nearest
        symbol table; must therefore not be run on several functions of a module
        at the same time.
      }], "::llvm::FailureOr<::mlir::Operation *>", "absorb",
      (ins "::mlir::RewriterBase &":$rewriter, "::mlir::Operation *":$neighbour)>,
  ];
}

#endif // NETRA_IR_NETRAINTERFACES_TD
