//===- TorchOps.td - torch operations with their own spelling -*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CONVERSION_TORCH_TORCHOPS_TD
#define NETRA_CONVERSION_TORCH_TORCHOPS_TD

include "Netra/Conversion/Torch/TorchDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Torch_Op<string mnemonic, list<Trait> traits = []>
    : Op<Torch_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

class Torch_ConstantOp<string kind, Type type, dag args, string format>
    : Torch_Op<"constant." # kind,
               [Pure,
                DeclareOpInterfaceMethods<OpAsmOpInterface,
                                          ["getAsmResultNames"]>]> {
  let arguments = args;
  let results = (outs type:$result);
  let assemblyFormat = format # " attr-dict";
}

def Torch_ConstantIntOp
    : Torch_ConstantOp<"int", Torch_Int, (ins I64Attr:$value), "$value"> {
  let summary = "an integer constant";
}
def Torch_ConstantFloatOp
    : Torch_ConstantOp<"float", Torch_Float, (ins F64Attr:$value), "$value"> {
  let summary = "a float constant";
}
def Torch_ConstantBoolOp
    : Torch_ConstantOp<"bool", Torch_Bool, (ins BoolAttr:$value), "$value"> {
  let summary = "a boolean constant";
}
def Torch_ConstantStrOp
    : Torch_ConstantOp<"str", Torch_Str, (ins StrAttr:$value), "$value"> {
  let summary = "a string constant";
}
def Torch_ConstantDeviceOp
    : Torch_ConstantOp<"device", Torch_Device, (ins StrAttr:$value), "$value"> {
  let summary = "a device constant";
}
def Torch_ConstantNumberOp
    : Torch_ConstantOp<"number", Torch_Number, (ins AnyAttr:$value), "$value"> {
  let summary = "a constant of type `number`";
}
def Torch_ConstantNoneOp
    : Torch_ConstantOp<"none", Torch_None, (ins), ""> {
  let summary = "the constant `None`";
}

class Torch_LiteralOp<string mnemonic> : Torch_Op<mnemonic, [Pure]> {
  let summary = "a tensor constant";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Torch_AnyTensor:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}
def Torch_VTensorLiteralOp : Torch_LiteralOp<"vtensor.literal">;
def Torch_TensorLiteralOp : Torch_LiteralOp<"tensor.literal">;

//===----------------------------------------------------------------------===//
// Lists, custom operators, symbolic shapes, mutation
//===----------------------------------------------------------------------===//

def Torch_PrimListConstructOp : Torch_Op<"prim.ListConstruct", [Pure]> {
  let summary = "a list of torch values";
  let arguments = (ins Variadic<AnyType>:$elements);
  let results = (outs Torch_ListType:$result);
  let assemblyFormat = [{
    ($elements^)? attr-dict `:` functional-type($elements, $result)
  }];
}

def Torch_OperatorOp : Torch_Op<"operator"> {
  let summary = "an operator that torch-mlir knows by name only";
  let description = [{
    ```mlir
    %y = torch.operator "torch.netra.block_scaled_linear"(%x, %w, %s)
           : (T, T, T) -> T
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $name `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
}

def Torch_SymbolicIntOp : Torch_Op<"symbolic_int"> {
  let summary = "a named symbolic size and its range";
  let arguments = (ins StrAttr:$symbol_name, I64Attr:$min_val, I64Attr:$max_val);
  let results = (outs Torch_Int:$result);
  let assemblyFormat = [{
    $symbol_name ` ` `{` `min_val` `=` $min_val `,` `max_val` `=` $max_val `}`
    attr-dict `:` qualified(type($result))
  }];
}

def Torch_BindSymbolicShapeOp : Torch_Op<"bind_symbolic_shape"> {
  let summary = "states a tensor's sizes as functions of symbolic integers";
  let description = [{
    ```mlir
    torch.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (1, s0 * 32)> : T
    ```
  }];
  let arguments = (ins Torch_AnyTensor:$operand,
                       Variadic<Torch_Int>:$shape_symbols,
                       AffineMapAttr:$shape_expressions);
  let assemblyFormat = [{
    $operand `,` `[` $shape_symbols `]` `,`
    custom<InlineAffineMap>($shape_expressions) attr-dict `:`
    qualified(type($operand))
  }];
  let hasVerifier = 1;
}

def Torch_OverwriteTensorContentsOp : Torch_Op<"overwrite.tensor.contents"> {
  let summary = "writes a value into a mutable tensor";
  let arguments = (ins Torch_AnyTensor:$value, Torch_AnyTensor:$overwritten);
  let assemblyFormat = [{
    $value `overwrites` $overwritten attr-dict `:` qualified(type($value)) `,`
    qualified(type($overwritten))
  }];
}

def Torch_CopyToValueTensorOp
    : Torch_Op<"copy.to_vtensor", [
        TypesMatchWith<"operand is the mutable form of the result", "result",
                       "operand", "::netra::torch::getMutableForm($_self)">]> {
  let summary = "the present contents of a mutable tensor";
  let arguments = (ins Torch_MutableTensorType:$operand);
  let results = (outs Torch_VTensorType:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($result))";
}

def Torch_CopyToNonValueTensorOp
    : Torch_Op<"copy.to_tensor", [
        TypesMatchWith<"operand is the value form of the result", "result",
                       "operand", "::netra::torch::getValueForm($_self)">]> {
  let summary = "a new mutable tensor with the given contents";
  let arguments = (ins Torch_VTensorType:$operand);
  let results = (outs Torch_MutableTensorType:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($result))";
}

class Torch_CastOp<string mnemonic> : Torch_Op<mnemonic> {
  let summary = "a change of static type that changes no value";
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` qualified(type($operand)) `to`
    qualified(type($result))
  }];
}
def Torch_TensorStaticInfoCastOp : Torch_CastOp<"tensor_static_info_cast">;
def Torch_DerefineOp : Torch_CastOp<"derefine">;

def Torch_RuntimeAssertOp : Torch_Op<"runtime.assert"> {
  let summary = "an assertion left in the graph";
  let arguments = (ins Torch_Bool:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

//===----------------------------------------------------------------------===//
// torch_c
//===----------------------------------------------------------------------===//

class TorchConversion_BorderOp<string mnemonic, Type from, Type to>
    : Op<TorchConversion_Dialect, mnemonic, [Pure]> {
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` qualified(type($operand)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}
def TorchConversion_FromBuiltinTensorOp
    : TorchConversion_BorderOp<"from_builtin_tensor", AnyTensor,
                               Torch_VTensorType> {
  let summary = "a builtin tensor seen as a torch tensor";
}
def TorchConversion_ToBuiltinTensorOp
    : TorchConversion_BorderOp<"to_builtin_tensor", Torch_VTensorType,
                               AnyTensor> {
  let summary = "a torch tensor seen as a builtin tensor";
}

#endif // NETRA_CONVERSION_TORCH_TORCHOPS_TD
