//===- IREE.td - what exports carry of util, stream and flow -*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CONVERSION_IREE_IREE_TD
#define NETRA_CONVERSION_IREE_IREE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// util: module-level globals and functions
//===----------------------------------------------------------------------===//

def Util_Dialect : Dialect {
  let name = "util";
  let cppNamespace = "::netra::iree";
  let summary = "Globals and functions of exported programs";
  let description = [{
    The part of IREE's `util` dialect that exported torch graphs use: globals
    that name a parameter, their loads, and helper functions on builtin tensors.
  }];
}

class Util_Op<string mnemonic, list<Trait> traits = []>
    : Op<Util_Dialect, mnemonic, traits>;

def Util_GlobalOp : Util_Op<"global", [Symbol]> {
  let summary = "a module-level variable";
  let description = [{
    ```mlir
    util.global private @w = #stream.parameter.named<"model"::"w">
        : tensor<256xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       UnitAttr:$is_mutable,
                       TypeAttr:$type,
                       OptionalAttr<TypedAttrInterface>:$initial_value);
  let assemblyFormat = [{
    custom<Visibility>($sym_visibility) (`mutable` $is_mutable^)? $sym_name
    attr-dict custom<TypeOrValue>($type, $initial_value)
  }];
}

def Util_GlobalLoadOp
    : Util_Op<"global.load",
              [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a global";
  let arguments = (ins FlatSymbolRefAttr:$global, UnitAttr:$is_immutable);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    (`immutable` $is_immutable^)? $global attr-dict `:` type($result)
  }];
}

def Util_FuncOp : Util_Op<"func", [FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "a function of a program";
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    llvm::ArrayRef<mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    llvm::ArrayRef<mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    mlir::Region *getCallableRegion() {
      return isExternal() ? nullptr : &getBody();
    }
  }];
}

def Util_ReturnOp
    : Util_Op<"return", [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "returns from a `util.func`";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def Util_CallOp : Util_Op<"call"> {
  let summary = "calls a function";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` attr-dict `:`
    functional-type($operands, $results)
  }];
}

//===----------------------------------------------------------------------===//
// stream: the name of a parameter
//===----------------------------------------------------------------------===//

def Stream_Dialect : Dialect {
  let name = "stream";
  let cppNamespace = "::netra::iree";
  let summary = "Parameter names of exported programs";
  let description = [{
    `#stream.parameter.named<"scope"::"key">`, which says that a global's value
    is found under a key of a parameter archive.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Stream_NamedParameterAttr
    : AttrDef<Stream_Dialect, "NamedParameter", [TypedAttrInterface]> {
  let mnemonic = "parameter.named";
  let summary = "a parameter in an archive";
  let parameters = (ins AttributeSelfTypeParameter<"">:$type,
                        // Null when the parameter is in the default scope.
                        OptionalParameter<"::mlir::StringAttr">:$scope,
                        "::mlir::StringAttr":$key,
                        OptionalParameter<"::mlir::DictionaryAttr">:$config);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// flow: placement on devices (tensor-parallel exports)
//===----------------------------------------------------------------------===//

def Flow_Dialect : Dialect {
  let name = "flow";
  let cppNamespace = "::netra::iree";
  let summary = "Placement operations of tensor-parallel exports";
}

class Flow_PlacementOp<string mnemonic, string word>
    : Op<Flow_Dialect, mnemonic, [Pure, AllTypesMatch<["operand", "result"]>]> {
  let arguments = (ins AnyTensor:$operand, Variadic<Index>:$dims,
                       AnyAttr:$target);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$operand `:` type($result) (`{` $dims^ `}`)? `" # word #
                       "` $target attr-dict";
}
def Flow_TensorTransferOp : Flow_PlacementOp<"tensor.transfer", "to"> {
  let summary = "moves a tensor to a device";
}
def Flow_TensorBarrierOp : Flow_PlacementOp<"tensor.barrier", "on"> {
  let summary = "keeps a tensor on a device";
}

def HAL_Dialect : Dialect {
  let name = "hal";
  let cppNamespace = "::netra::iree";
  let summary = "Device names of tensor-parallel exports, kept as text";
  let extraClassDeclaration = [{
    mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser,
                                   mlir::Type type) const override;
  }];
}

#endif // NETRA_CONVERSION_IREE_IREE_TD
