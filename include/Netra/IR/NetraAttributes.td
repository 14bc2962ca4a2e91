//===- NetraAttributes.td - Attributes of the netra dialect -*- tablegen -*-=//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAATTRIBUTES_TD
#define NETRA_IR_NETRAATTRIBUTES_TD

include "Netra/IR/NetraDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

class Netra_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Netra_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Netra_Activation : I32EnumAttr<"Activation", "elementwise activation", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"SiLU", 1, "silu">,
    I32EnumAttrCase<"Sigmoid", 2, "sigmoid">,
    I32EnumAttrCase<"GELUErf", 3, "gelu_erf">,
    I32EnumAttrCase<"GELUTanh", 4, "gelu_tanh">]> {
  let cppNamespace = "::netra";
  let genSpecializedAttr = 0;
}

def Netra_ActivationAttr
    : EnumAttr<Netra_Dialect, Netra_Activation, "activation"> {
  let summary = "an elementwise activation function";
  let description = [{
    `silu(x) = x / (1 + exp(-x))`, `sigmoid(x) = 1 / (1 + exp(-x))`,
    `gelu_erf(x) = x/2 * (1 + erf(x / sqrt 2))`,
    `gelu_tanh(x) = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`.

    ```mlir
    #netra.activation<silu>
    ```
  }];
  let assemblyFormat = "`<` custom<ActivationWord>($value) `>`";
}

def Netra_Scoring : I32EnumAttr<"Scoring", "scores of experts", [
    I32EnumAttrCase<"Softmax", 0, "softmax">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]> {
  let cppNamespace = "::netra";
  let genSpecializedAttr = 0;
}

def Netra_ScoringAttr : EnumAttr<Netra_Dialect, Netra_Scoring, "scoring"> {
  let summary = "how a router makes scores of logits";
  let description = [{
    `softmax` over all routed experts, or `sigmoid` of each logit.

    ```mlir
    #netra.scoring<softmax>
    ```
  }];
  let assemblyFormat = "`<` custom<ScoringWord>($value) `>`";
}

def Netra_SharedExpert : I32EnumAttr<"SharedExpert", "weight of a shared expert", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"One", 1, "one">,
    I32EnumAttrCase<"Sigmoid", 2, "sigmoid">]> {
  let cppNamespace = "::netra";
  let genSpecializedAttr = 0;
}

def Netra_SharedExpertAttr
    : EnumAttr<Netra_Dialect, Netra_SharedExpert, "shared_expert"> {
  let summary = "whether there is an expert that sees every token, and its weight";
  let description = [{
    `none`: there is no such expert; `one`: its weight is 1; `sigmoid`: its weight
    is the sigmoid of a dot product of the token.

    ```mlir
    #netra.shared_expert<sigmoid>
    ```
  }];
  let assemblyFormat = "`<` custom<SharedExpertWord>($value) `>`";
}

def Netra_BindingKind : I32EnumAttr<"BindingKind", "role of a binding", [
    I32EnumAttrCase<"Input", 0, "input">,
    I32EnumAttrCase<"Output", 1, "output">,
    I32EnumAttrCase<"State", 2, "state">]> {
  let cppNamespace = "::netra";
}

def Netra_PlaceKind : I32EnumAttr<"PlaceKind", "kind of a memory region", [
    I32EnumAttrCase<"Arena", 0, "arena">,
    I32EnumAttrCase<"Binding", 1, "binding">,
    I32EnumAttrCase<"Weight", 2, "weight">]> {
  let cppNamespace = "::netra";
}

def Netra_SlotKind : I32EnumAttr<"SlotKind", "kind of a launch argument", [
    I32EnumAttrCase<"Binding", 0, "binding">,
    I32EnumAttrCase<"Weight", 1, "weight">,
    I32EnumAttrCase<"Arena", 2, "arena">,
    I32EnumAttrCase<"Value", 3, "value">,
    I32EnumAttrCase<"Null", 4, "null">]> {
  let cppNamespace = "::netra";
}

//===----------------------------------------------------------------------===//
// Types and quantization
//===----------------------------------------------------------------------===//

def Netra_LayoutAttr : Netra_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "memory layout of a tensor, used as its encoding";
  let description = [{
    A named permutation of the elements of a tensor, with optional integer
    parameters. Names and meanings are those of the layout registry, which can
    execute each of them in both directions.

    ```mlir
    tensor<11264x2048xbf16, #netra.layout<n16k16>>
    ```

    Constraints:
    - (C1) The name is a known layout and takes these parameters.
    - (C2) The layout can store a tensor of the shape it encodes; this is checked
      when the shape is static.
  }];
  let parameters = (ins
    StringRefParameter<"name of the layout">:$name,
    OptionalArrayRefParameter<"int64_t">:$parameters);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name), [{
    return $_get($_ctxt, name, ::llvm::ArrayRef<int64_t>());
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isRowMajor() const { return getName() == "row_major"; }
    /// Canonical spelling of the layout registry: "n16k16", "blocked<16,32>".
    std::string getSpelling() const;
  }];
}

def Netra_BlockScaleAttr : Netra_Attr<"BlockScale", "block_scale"> {
  let summary = "meaning of the scales of a block-quantized matrix";
  let description = [{
    The element at `[i, j]` of a quantized `[R, C]` matrix `q` means
    `q[i, j] * s[i / block[0], j / block[1]]`, where the scales `s` are a
    `[ceil(R / block[0]), ceil(C / block[1])]` matrix of element type `scale`.

    ```mlir
    #netra.block_scale<block = [128, 128], scale = f32>
    ```

    Constraints:
    - (C1) `block` has two positive extents.
    - (C2) `scale` is `f32` or `bf16`.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents of a block">:$block,
    TypeParameter<"::mlir::Type", "element type of the scales">:$scale);
  let assemblyFormat = "`<` `block` `=` `[` $block `]` `,` `scale` `=` $scale `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// `f32` scales per 1x128 (activations) and per 128x128 (weights).
    static BlockScaleAttr get1x128(::mlir::MLIRContext *context);
    static BlockScaleAttr get128x128(::mlir::MLIRContext *context);

    /// Shape of the scales of a matrix; a dynamic extent stays dynamic.
    ::llvm::SmallVector<int64_t, 2>
    getScaleShape(::llvm::ArrayRef<int64_t> shape) const;
    /// "1x128:f32": the spelling used in contracts.
    std::string getSpelling() const;
  }];
}

def Netra_EpilogueAttr : Netra_Attr<"Epilogue", "epilogue"> {
  let summary = "what a matrix product does to its accumulator";
  let description = [{
    An activation, applied to every element of the accumulator, or a gated
    activation. A gated product computes twice the columns, `[gate | up]`, and
    gives `activation(gate) * up`. Bias and residual are operands of the
    operation; their presence says that they are added.

    ```mlir
    #netra.epilogue<none>
    #netra.epilogue<gelu_tanh>
    #netra.epilogue<gated silu>
    ```

    Constraints:
    - (C1) A gated epilogue has an activation other than `none`.
  }];
  let parameters = (ins
    EnumParameter<Netra_Activation>:$activation, "bool":$gated);
  let builders = [AttrBuilder<(ins), [{
    return $_get($_ctxt, ::netra::Activation::None, false);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isNone() const {
      return getActivation() == ::netra::Activation::None && !getGated();
    }
    /// "none", "silu", "gated_silu": the spelling used in contracts.
    std::string getSpelling() const;

    /// What stands between the brackets: `none`, `silu`, `gated silu`.
    static EpilogueAttr parseBody(::mlir::AsmParser &parser);
    void printBody(::mlir::AsmPrinter &printer) const;
  }];
}

//===----------------------------------------------------------------------===//
// Serving
//===----------------------------------------------------------------------===//

// No mnemonic: the dialect parses and prints it, see useDefaultAttributePrinterParser.
def Netra_GuardAttr : AttrDef<Netra_Dialect, "Guard"> {
  let attrName = "netra.guard";
  let summary = "the values a serving parameter may have";
  let description = [{
    An exact value or an inclusive range of unsigned values.

    ```mlir
    #netra.guard<1>
    #netra.guard<1..64>
    ```

    Constraints:
    - (C1) Both bounds are not negative, and the lower one does not exceed the
      upper one.
  }];
  let parameters = (ins "int64_t":$min, "int64_t":$max);
  let builders = [AttrBuilder<(ins "int64_t":$exact), [{
    return $_get($_ctxt, exact, exact);
  }]>];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isExact() const { return getMin() == getMax(); }
    bool contains(int64_t value) const {
      return value >= getMin() && value <= getMax();
    }
    /// "1" or "1..64".
    std::string getSpelling() const;
    /// The inverse of `getSpelling`; null, with a diagnostic, for other text.
    static GuardAttr
    parseSpelling(::mlir::MLIRContext *context, ::llvm::StringRef text,
                  ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
}

def Netra_TargetAttr : Netra_Attr<"Target", "target"> {
  let summary = "the GPU an engine is for";
  let description = [{
    ```mlir
    #netra.target<gfx950>
    ```

    Constraints:
    - (C1) The architecture is one that Netra has a description of.
  }];
  let parameters = (ins StringRefParameter<"LLVM name of the GPU">:$architecture);
  let assemblyFormat = "`<` custom<Keyword>($architecture) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

def Netra_PackSourceAttr : Netra_Attr<"PackSource", "pack_source"> {
  let summary = "a tensor of a checkpoint";
  let description = [{
    Name and type of a tensor as it stands in the checkpoint, row-major. A name
    with `{}` stands for a series of tensors, as many as the first extent says: 0,
    1, … in the place of `{}` name tensors of the other extents.

    ```mlir
    #netra.pack_source<"model.layers.0.mlp.up_proj.weight" : tensor<5632x2048xbf16>>
    #netra.pack_source<"model.layers.0.mlp.experts.{}.down_proj.weight" : tensor<256x2048x512xbf16>>
    ```

    Constraints:
    - (C1) The name is not empty.
    - (C2) The type is a static row-major tensor of an element type that can be
      stored.
    - (C3) The name has at most one `{}`, and then the first extent is 1 to 65536.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$checkpoint, "::mlir::RankedTensorType":$type);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Netra_PackReorderAttr : Netra_Attr<"PackReorder", "pack_reorder"> {
  let summary = "a step of a recipe that renumbers elements";
  let description = [{
    The memory of a tensor in a layout becomes a tensor of its own, row-major.
    With `inverse`, what comes in is that memory, and the tensor comes out: so a
    checkpoint whose rows are interleaved is brought in order.

    ```mlir
    #netra.pack_reorder<layout = #netra.layout<interleaved_rows, 2, 64, 64>, inverse = true>
    ```
  }];
  let parameters = (ins "::netra::LayoutAttr":$layout, "bool":$inverse);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Netra_PackAttr : Netra_Attr<"Pack", "pack"> {
  let summary = "how a parameter is made from others before the engine runs";
  let description = [{
    Sources are concatenated along an axis; then the steps are applied in order.
    A step is a type (exact cast of the elements), a shape (of as many elements),
    a layout whose order the elements take (`reorder`) or leave (`restore`), or,
    at the end, the layout that the result is stored in.
    A source is the symbol of a parameter, or, at the engine level, a
    `#netra.pack_source`.

    ```mlir
    #netra.pack<@gate then layout n16k16>
    #netra.pack<concat 0 [@gate, @up] then cast f32 then layout n16k16>
    #netra.pack<concat 0 ["a.weight" : tensor<64x32xbf16>, "b.weight" : tensor<64x32xbf16>]>
    #netra.pack<@qkvz then restore interleaved_rows<16, 128, 128, 256, 256> then layout n16k16>
    #netra.pack<concat 0 [@expert0, @expert1] then reshape [2, 1024, 2048]>
    ```

    Constraints:
    - (C1) There is at least one source; the axis is not negative, and 0 when
      there is a single source.
    - (C2) Sources are all symbols, or all `#netra.pack_source`s.
    - (C3) A step is a type, a shape, a `#netra.pack_reorder`, or a
      `#netra.layout`, which is the last step.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::Attribute", "symbols or pack sources">:$sources,
    "int64_t":$axis,
    OptionalArrayRefParameter<"::mlir::Attribute",
        "types, shapes, reorderings, a layout">:$steps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True when the sources are symbols of parameters.
    bool isSymbolic() const;

    /// The type that the recipe makes from sources of these types. On failure
    /// the diagnostic says which source or step is wrong.
    ::llvm::FailureOr<::mlir::RankedTensorType> getResultType(
        ::llvm::ArrayRef<::mlir::RankedTensorType> sourceTypes,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;

    /// The same recipe with one more step.
    PackAttr append(::mlir::Attribute step) const;

    /// What stands between the brackets of `#netra.pack<...>` and `pack(...)`.
    static PackAttr parseBody(::mlir::AsmParser &parser);
    void printBody(::mlir::AsmPrinter &printer) const;
  }];
}

//===----------------------------------------------------------------------===//
// Selection and planning
//===----------------------------------------------------------------------===//

def Netra_TacticAttr : Netra_Attr<"Tactic", "tactic"> {
  let summary = "the kernel chosen for an operation";
  let description = [{
    Name of a tactic of the catalogue, the options it is built with, and the id
    of the contract it fulfils.

    ```mlir
    #netra.tactic<"gfx950.dense_bf16_m1", options = {WAVES = 4}, contract = "nk_0123456789abcdef01234567">
    ```

    Constraints:
    - (C1) The name is not empty.
    - (C2) Every option is a 64-bit integer.
    - (C3) The contract is `nk_` and 24 lower-case hexadecimal digits.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    "::mlir::DictionaryAttr":$options,
    "::mlir::StringAttr":$contract);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Netra_PlaceAttr : Netra_Attr<"Place", "place"> {
  let summary = "where a result lies in memory";
  let description = [{
    A range of bytes of the arena, of a binding or of a weight. `overwrites`
    names the operand of the operation whose memory the result takes over.

    ```mlir
    #netra.place<arena, 4096, 11264>
    #netra.place<binding @y, 0, 4096>
    #netra.place<arena, 0, 4096, overwrites = 2>
    ```

    Constraints:
    - (C1) A binding or weight has a symbol, the arena has none.
    - (C2) Offset and size are not negative and their sum fits 63 bits.
    - (C3) `overwrites`, if present, is the number of an operand.
  }];
  let parameters = (ins
    EnumParameter<Netra_PlaceKind>:$kind,
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$symbol,
    "int64_t":$offset, "int64_t":$bytes,
    DefaultValuedParameter<"int64_t", "-1">:$overwrites);
  let builders = [
    AttrBuilder<(ins "::netra::PlaceKind":$kind,
                     "::mlir::FlatSymbolRefAttr":$symbol, "int64_t":$offset,
                     "int64_t":$bytes), [{
      return $_get($_ctxt, kind, symbol, offset, bytes, int64_t(-1));
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The operand whose memory the result takes over.
    std::optional<unsigned> getOverwrittenOperand() const {
      if (getOverwrites() < 0)
        return std::nullopt;
      return static_cast<unsigned>(getOverwrites());
    }
  }];
}

def Netra_ArgAttr : Netra_Attr<"Arg", "arg"> {
  let summary = "one argument of a launch";
  let description = [{
    A pointer into a binding, a weight or the arena, with the number of bytes
    that may be reached from it; a number; or a null pointer.

    ```mlir
    #netra.arg<binding @x, 0, 4096>
    #netra.arg<weight @gate_up, 0, 23068672>
    #netra.arg<arena, 4096, 11264>
    #netra.arg<i32, 1>
    #netra.arg<f32, 9.99999997E-7>
    #netra.arg<null>
    ```

    Constraints:
    - (C1) A binding or weight has a symbol, everything else has none.
    - (C2) Offset and size are not negative and their sum fits 63 bits.
    - (C3) A number is an `i32`, `i64`, `f32` or `f64`.
  }];
  let parameters = (ins
    EnumParameter<Netra_SlotKind>:$kind,
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$symbol,
    "int64_t":$offset, "int64_t":$bytes,
    OptionalParameter<"::mlir::TypedAttr">:$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ArgAttr getBinding(::mlir::MLIRContext *context,
                              ::llvm::StringRef symbol, int64_t offset,
                              int64_t bytes);
    static ArgAttr getWeight(::mlir::MLIRContext *context,
                             ::llvm::StringRef symbol, int64_t offset,
                             int64_t bytes);
    static ArgAttr getArena(::mlir::MLIRContext *context, int64_t offset,
                            int64_t bytes);
    static ArgAttr getValue(::mlir::TypedAttr value);
    static ArgAttr getNull(::mlir::MLIRContext *context);

    /// The argument that points at a placed result.
    static ArgAttr fromPlace(::netra::PlaceAttr place);

    bool isPointer() const {
      return getKind() != ::netra::SlotKind::Value &&
             getKind() != ::netra::SlotKind::Null;
    }
    /// Bits of a number, zero-extended; 0 for everything else.
    uint64_t getBits() const;
  }];
}

#endif // NETRA_IR_NETRAATTRIBUTES_TD
