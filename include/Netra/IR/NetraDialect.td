//===- NetraDialect.td - The netra dialect -----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRADIALECT_TD
#define NETRA_IR_NETRADIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"

def Netra_Dialect : Dialect {
  let name = "netra";
  let cppNamespace = "::netra";
  let summary = "Fixed-shape LLM inference, from operations to launches";
  let description = [{
    The `netra` dialect carries a model from what is to be computed down to the
    launches of an engine. It has two levels.

    The **model level** has value semantics: ranked tensors flow between
    operations that are named for what they compute. Passes only add knowledge:
    shapes become static, operations fuse, types get a layout as their
    encoding, operations get a tactic and a placement.

    The **engine level** has no tensors flowing. A `netra.engine` holds code
    objects, bindings, weights and plans, and a plan is a list of launches whose
    arguments are symbols and numbers.

    Two conventions hold everywhere:

    - A tensor whose type has no encoding is stored row-major. Any other
      encoding of a tensor of this dialect is a `#netra.layout`.
    - Every value that an operation computes is rounded exactly once, to nearest
      even, when it is stored to its result type. Intermediate values are held in
      `f32` (`f16`, `bf16` and `f8` operands are widened exactly).

    Attributes that passes put on operations, and that the dialect verifies
    wherever they stand:

    | attribute | on | meaning |
    |---|---|---|
    | `netra.profile` | functions | symbol of the `netra.profile` the function is specialised for |
    | `netra.dims` | function arguments | one name or number per dimension, e.g. `["m", "2048"]` |
    | `netra.name` | function arguments and results | name of the binding |
    | `netra.state` | function arguments and results | name of the state that lives across launches |
    | `netra.tactic` | operations with `TacticOpInterface` | a `#netra.tactic` |
    | `netra.place` | operations | an array with one `#netra.place` per result |
    | `netra.varying` | operations with `TacticOpInterface` | which dimensions of the problem follow which guards |
    | `netra.selected_by_rank` | modules | instructions of machine code had no say in the choice of tactics |
  }];

  let dependentDialects = ["::mlir::func::FuncDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  // The attribute parser is written by hand because `1..64` in a guard is not a
  // sequence of MLIR tokens.
  let useDefaultAttributePrinterParser = 0;

  let extraClassDeclaration = [{
    /// Names of the discardable attributes described above.
    static constexpr ::llvm::StringLiteral getProfileAttrName() {
      return ::llvm::StringLiteral("netra.profile");
    }
    static constexpr ::llvm::StringLiteral getDimsAttrName() {
      return ::llvm::StringLiteral("netra.dims");
    }
    static constexpr ::llvm::StringLiteral getNameAttrName() {
      return ::llvm::StringLiteral("netra.name");
    }
    static constexpr ::llvm::StringLiteral getStateAttrName() {
      return ::llvm::StringLiteral("netra.state");
    }
    static constexpr ::llvm::StringLiteral getTacticAttrName() {
      return ::llvm::StringLiteral("netra.tactic");
    }
    static constexpr ::llvm::StringLiteral getPlaceAttrName() {
      return ::llvm::StringLiteral("netra.place");
    }
    static constexpr ::llvm::StringLiteral getSelectedByRankAttrName() {
      return ::llvm::StringLiteral("netra.selected_by_rank");
    }

    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;

  private:
    /// Registers the attributes; defined where their storage is.
    void registerAttributes();

  public:
  }];
}

class Netra_Op<string mnemonic, list<Trait> traits = []>
    : Op<Netra_Dialect, mnemonic, traits>;

#endif // NETRA_IR_NETRADIALECT_TD
