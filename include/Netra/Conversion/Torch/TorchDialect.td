//===- TorchDialect.td - torch-mlir's text, thinly ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CONVERSION_TORCH_TORCHDIALECT_TD
#define NETRA_CONVERSION_TORCH_TORCHDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Torch_Dialect : Dialect {
  let name = "torch";
  let cppNamespace = "::netra::torch";
  let summary = "The textual form of torch-mlir's `torch` dialect";
  let description = [{
    A thin acceptance of the `torch` dialect, as exporters print it: types are
    kept, operations that have a spelling of their own are defined here, and
    every other operation is read and printed in torch-mlir's default form

    ```mlir
    %r:2 = torch.aten.NAME %a, %b {attributes} : T, T -> T, T
    ```

    without being defined. Nothing is verified of an operation that is not
    defined here; `--convert-torch-to-netra` judges what it understands.
  }];
  let extraClassDeclaration = [{
    std::optional<ParseOpHook>
    getParseOperationHook(llvm::StringRef opName) const override;
    llvm::unique_function<void(mlir::Operation *, mlir::OpAsmPrinter &)>
    getOperationPrinter(mlir::Operation *op) const override;
    mlir::Type parseType(mlir::DialectAsmParser &parser) const override;
    void printType(mlir::Type type,
                   mlir::DialectAsmPrinter &printer) const override;

  private:
    void registerTypes();
  }];
}

def TorchConversion_Dialect : Dialect {
  let name = "torch_c";
  let cppNamespace = "::netra::torch";
  let summary = "Borders between torch tensors and builtin tensors";
  let description = [{
    The casts that torch-mlir and its users put where a `!torch.vtensor` meets a
    builtin tensor.
  }];
  let dependentDialects = ["::netra::torch::TorchDialect"];
}

// Types are parsed and printed by the dialect, which knows torch's nested
// spellings; the type names serve MLIR's bookkeeping alone.
class Torch_Type<string name, list<Trait> traits = []>
    : TypeDef<Torch_Dialect, name, traits> {
  let typeName = "torch." # name;
}

class Torch_TensorTypeBase<string name> : Torch_Type<name> {
  let parameters = (ins
    "bool":$hasSizes,
    ArrayRefParameter<"int64_t">:$sizes,
    // Null when the element type is unknown (`unk`).
    OptionalParameter<"::mlir::Type">:$dtype,
    OptionalParameter<"::mlir::Attribute">:$sparsity
  );
  let extraClassDeclaration = [{
    /// The size of a dimension that is not known until run time.
    static constexpr int64_t kUnknownSize = -1;
    /// Rank and element type are both known.
    bool isFullySpecified() const { return getHasSizes() && getDtype(); }
  }];
}

def Torch_VTensorType : Torch_TensorTypeBase<"VTensor"> {
  let summary = "immutable tensor, `!torch.vtensor<[1,?,2048],bf16>`";
}

def Torch_MutableTensorType : Torch_TensorTypeBase<"MutableTensor"> {
  let summary = "mutable tensor, `!torch.tensor<[?,24576],f16>`";
}

def Torch_SimpleType : Torch_Type<"Simple"> {
  let summary = "a type without parameters: `!torch.int`, `!torch.Device`, ...";
  let parameters = (ins StringRefParameter<"the type's keyword">:$kind);
}

def Torch_ContainerType : Torch_Type<"Container"> {
  let summary = "`list`, `optional`, `tuple`, `union` and `dict` of torch types";
  let parameters = (ins
    StringRefParameter<"the container's keyword">:$kind,
    ArrayRefParameter<"::mlir::Type">:$elements
  );
}

class Torch_SimpleTypeConstraint<string kind>
    : Type<CPred<"::netra::torch::isSimpleType($_self, \"" # kind # "\")">,
           "`!torch." # kind # "`", "::netra::torch::SimpleType">,
      BuildableType<"::netra::torch::SimpleType::get($_builder.getContext(), \""
                    # kind # "\")">;

def Torch_Int : Torch_SimpleTypeConstraint<"int">;
def Torch_Float : Torch_SimpleTypeConstraint<"float">;
def Torch_Bool : Torch_SimpleTypeConstraint<"bool">;
def Torch_None : Torch_SimpleTypeConstraint<"none">;
def Torch_Str : Torch_SimpleTypeConstraint<"str">;
def Torch_Device : Torch_SimpleTypeConstraint<"Device">;
def Torch_Number : Torch_SimpleTypeConstraint<"number">;

def Torch_AnyTensor : Type<
    CPred<"::llvm::isa<::netra::torch::VTensorType, ::netra::torch::MutableTensorType>"
          "($_self)">, "torch tensor">;
def Torch_ListType : Type<
    CPred<"::netra::torch::isContainerType($_self, \"list\")">,
    "`!torch.list<...>`", "::netra::torch::ContainerType">;

#endif // NETRA_CONVERSION_TORCH_TORCHDIALECT_TD
