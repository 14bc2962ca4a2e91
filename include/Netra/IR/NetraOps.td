//===- NetraOps.td - Model-level operations ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAOPS_TD
#define NETRA_IR_NETRAOPS_TD

include "Netra/IR/NetraOpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

//===----------------------------------------------------------------------===//
// Parameters and constants
//===----------------------------------------------------------------------===//

def Netra_ParameterOp : Netra_Op<"parameter", [
    Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a named weight of the model";
  let description = [{
    Declares a weight: either a tensor of the checkpoint, or a tensor packed from
    other parameters before the engine runs.

    ```mlir
    netra.parameter @gate : tensor<5632x2048xbf16> checkpoint("model.layers.0.mlp.gate_proj.weight")
    netra.parameter @gate_up : tensor<11264x2048xbf16, #netra.layout<n16k16>> pack(concat 0 [@gate, @up] then layout n16k16)
    netra.parameter @experts : tensor<256x2048x512xbf16> checkpoint("model.layers.0.mlp.experts.{}.down_proj.weight")
    ```

    A checkpoint name with `{}` stands for a series of tensors, as many as the
    first extent says: 0, 1, … in the place of `{}` name tensors of the other
    extents.

    Constraints:
    - (C1) The type is static.
    - (C2) The parameter has either `checkpoint` or `pack`.
    - (C3) A checkpoint tensor is row-major and its name is not empty; the name
      has at most one `{}`, and then the first extent is 1 to 65536.
    - (C4) The sources of `pack` are symbols of other parameters; none of them is
      made from this one.
    - (C5) The recipe gives exactly the type of the parameter.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<Netra_Tensor>:$type,
    OptionalAttr<StrAttr>:$checkpoint,
    OptionalAttr<Netra_PackAttr>:$pack,
    OptionalAttr<StrAttr>:$sym_visibility);
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::RankedTensorType":$type,
                   "::llvm::StringRef":$checkpoint)>,
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::RankedTensorType":$type,
                   "::netra::PackAttr":$pack)>];
  let assemblyFormat = [{
    custom<VisibleSymbol>($sym_visibility, $sym_name) `:` $type
    (`checkpoint` `(` $checkpoint^ `)`)?
    (`pack` `(` custom<PackBody>($pack)^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
  }];
}

def Netra_GetOp : Netra_Op<"get", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter";
  let description = [{
    ```mlir
    %w = netra.get @gate : tensor<5632x2048xbf16>
    ```

    Constraints:
    - (C1) The symbol names a `netra.parameter`.
    - (C2) The result has the type of the parameter.
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Netra_Tensor:$result);
  let builders = [OpBuilder<(ins "::netra::ParameterOp":$parameter)>];
  let assemblyFormat = "$parameter attr-dict `:` type($result)";
}

def Netra_ConstantOp : Netra_Op<"constant", [
    Pure, ConstantLike,
    TypesMatchWith<"result has the type of value", "value", "result",
                   "$_self">]> {
  let summary = "a tensor known at compile time";
  let description = [{
    ```mlir
    %c = netra.constant dense<1.0> : tensor<2048xf32>
    ```

    Constraints:
    - (C1) The type is a static row-major tensor.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Netra_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Matrix products and norms
//===----------------------------------------------------------------------===//

def Netra_DenseOp : Netra_Op<"dense", [
    Pure, AttrSizedOperandSegments, TacticMethods, FusionMethods]> {
  let summary = "matrix product with a weight, and an epilogue";
  let description = [{
    Computes `result = x * weight^T` for `x : [M, K]` and `weight : [N, K]`, with
    an epilogue. Everything is accumulated in `f32`:

    ```
    acc[m, n]    = sum_k  x[m, k] * weight[n, k]              without scales
                 = sum_kb x_scale[m, kb] * weight_scale[n / 128, kb]
                          * sum_{k in kb} x[m, k] * weight[n, k]  with scales
    acc          = acc + bias[n]                              if there is a bias
    acc          = activation(acc)                            or, when gated,
    acc[m, n]    = activation(acc[m, n]) * acc[m, N/2 + n]    for n < N/2
    acc          = acc + residual[m, n]                       if there is one
    result       = round(acc)                                 once, to nearest even
    ```

    The weight of a gated product holds the gate rows, then the up rows.

    Fusion: takes over a following bias addition, activation, `netra.gated` with a
    sibling product of the same `x` (their weights are concatenated by a recipe),
    and residual addition, in the order above. The roundings of the values
    between them to the result type go.

    ```mlir
    %y = netra.dense %x, %w residual(%r) : (tensor<1x5632xbf16>, tensor<2048x5632xbf16>, tensor<1x2048xbf16>) -> tensor<1x2048xbf16>
    %h = netra.dense %q, %wq scales(%s, %sw) epilogue(gated silu)
       : (tensor<1x2048xf8E4M3FN>, tensor<11264x2048xf8E4M3FN>, tensor<1x16xf32>, tensor<88x16xf32>) -> tensor<1x5632xbf16>
    ```

    `scales(%sx, %sw)` stands for blocks of 1x128 and 128x128 with `f32` scales;
    another meaning is spelled `scales(%sx by <block = [1, 64], scale = f32>, ...)`.
    An epilogue may also be spelled `epilogue(#netra.epilogue<gated silu>)`.

    Constraints:
    - (C1) `x` and `weight` have rank 2 and the same extent K.
    - (C2) `x` and `weight` have the same element type.
    - (C3) Both scales and both block scale attributes are present exactly when the
      element type is `f8E4M3FN`.
    - (C4) The scales have the shape and element type that their block scale
      attributes give; a block of `x` has one row; blocks of `x` and of `weight`
      have the same extent along K.
    - (C5) `result` has rank 2 and shape `[M, N]`, or `[M, N/2]` with a gated
      epilogue, for which N is even.
    - (C6) `bias` is row-major with shape `[N]` and has the element type of
      `result`, or `f32`.
    - (C7) `residual` has the shape and element type of `result`.
  }];
  let arguments = (ins
    Netra_ComputeTensor:$x,
    Netra_ComputeTensor:$weight,
    Optional<Netra_ScaleTensor>:$x_scale,
    Optional<Netra_ScaleTensor>:$weight_scale,
    Optional<Netra_FloatTensor>:$bias,
    Optional<Netra_FloatTensor>:$residual,
    OptionalAttr<Netra_BlockScaleAttr>:$x_block_scale,
    OptionalAttr<Netra_BlockScaleAttr>:$weight_block_scale,
    OptionalAttr<Netra_EpilogueAttr>:$epilogue);
  let results = (outs Netra_FloatTensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$x,
                   "::mlir::Value":$weight)>];
  let assemblyFormat = [{
    $x `,` $weight
    (`scales` `(` custom<RowScale>($x_scale, $x_block_scale)^ `,`
                  custom<SquareScale>($weight_scale, $weight_block_scale) `)`)?
    (`bias` `(` $bias^ `)`)?
    (`residual` `(` $residual^ `)`)?
    (`epilogue` `(` custom<EpilogueBody>($epilogue)^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The epilogue; `none` when the attribute is absent.
    ::netra::EpilogueAttr getEpilogueOrNone();
  }];
}

def Netra_RMSNormOp : Netra_Op<"rms_norm", [
    Pure, AttrSizedResultSegments, TacticMethods, CheckedFusionMethods]> {
  let summary = "root-mean-square normalisation, with an optional residual";
  let description = [{
    Normalises the rows of `x : [M, N]`, in `f32`:

    ```
    s[m, n] = x[m, n] (+ residual[m, n])
    r[m]    = rsqrt(mean_n(s[m, n]^2) + epsilon)
    y[m, n] = s[m, n] * r[m] * (weight[n] + weight_offset)
    sum     = round(s)
    result  = round(y), or the quantized form of y
    ```

    With a residual, the statistics and the result use the `f32` sum, not the
    rounded `sum`. With `quantize`, the result is `f8E4M3FN` with one scale per
    block, computed as `netra.quantize_blocks` does from `y` rounded to the type of
    `x`. That rounded value is the result `rounded`, when it is asked for. The
    weight may be `f32`.

    Fusion: takes over a preceding `netra.add` as its residual (`sum` replaces the
    result of the addition; the statistics no longer see its rounding), and a
    following `netra.quantize_blocks` (which changes no bit). When the unquantized
    result has other users, they read `rounded` instead.

    ```mlir
    %n = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x2048xbf16>, tensor<2048xbf16>) -> tensor<1x2048xbf16>
    %q, %s, %sum = netra.rms_norm %x, %w residual(%skip) quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32}
       : (tensor<1x2048xbf16>, tensor<2048xbf16>, tensor<1x2048xbf16>) -> (tensor<1x2048xf8E4M3FN>, tensor<1x16xf32>, tensor<1x2048xbf16>)
    ```

    Constraints:
    - (C1) `x` has rank 2; `weight` is row-major with shape `[N]`.
    - (C2) `epsilon` is finite and not negative; `weight_offset` is finite.
    - (C3) `residual` and `sum` have the type of `x`; `sum` needs a `residual`.
    - (C4) `result` has the shape of `x`.
    - (C5) `result_scale` is present, and `result` is `f8E4M3FN`, exactly when
      `quantize` is present.
    - (C6) A block of `quantize` has one row and divides N; `result_scale` has the
      shape and element type that `quantize` gives.
    - (C7) `rounded` has the type of `x`; it needs `quantize`, and with a
      `residual` also `sum`.
  }];
  let arguments = (ins
    Netra_FloatTensor:$x,
    Netra_FloatTensor:$weight,
    Optional<Netra_FloatTensor>:$residual,
    F32Attr:$epsilon,
    DefaultValuedAttr<F32Attr, "0.0f">:$weight_offset,
    OptionalAttr<Netra_BlockScaleAttr>:$quantize);
  let results = (outs
    Netra_ComputeTensor:$result,
    Optional<Netra_ScaleTensor>:$result_scale,
    Optional<Netra_FloatTensor>:$sum,
    Optional<Netra_FloatTensor>:$rounded);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$weight,
                   "::mlir::Value":$residual, "::mlir::FloatAttr":$epsilon,
                   CArg<"::mlir::FloatAttr", "{}">:$weightOffset)>];
  let assemblyFormat = [{
    $x `,` $weight (`residual` `(` $residual^ `)`)?
    (`quantize` `(` $quantize^ `)`)? attr-dict `:`
    custom<RMSNormTypes>(ref($residual), ref($quantize), type($x),
      type($weight), type($residual), type($result), type($result_scale),
      type($sum), type($rounded))
  }];
  let hasVerifier = 1;
}

def Netra_GatedOp : Netra_Op<"gated", [
    Pure, AttrSizedResultSegments, TacticMethods, FusionMethods,
    EpilogueMethods]> {
  let summary = "activation of a gate times a value";
  let description = [{
    Computes `y[m, n] = activation(gate[m, n]) * up[m, n]` in `f32`, and
    `result = round(y)`, or with `quantize` what `netra.quantize_blocks` makes of `y`
    rounded to the type of `gate`, which is the result `rounded` when it is asked
    for. In the packed form the one operand is `[M, 2N]` and holds the gate columns,
    then the up columns.

    With `round_activation`, `activation(gate)` is rounded to `bf16` before the
    product, for models that were trained so: two roundings, where the operation
    has one otherwise.

    Fusion: takes over a following `netra.quantize_blocks` (which changes no bit).

    ```mlir
    %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<1x5632xbf16>, tensor<1x5632xbf16>) -> tensor<1x5632xbf16>
    %h = netra.gated %gu packed {activation = #netra.activation<silu>} : (tensor<1x11264xbf16>) -> tensor<1x5632xbf16>
    %q, %s = netra.gated %g, %u quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>}
       : (tensor<1x5632xbf16>, tensor<1x5632xbf16>) -> (tensor<1x5632xf8E4M3FN>, tensor<1x44xf32>)
    ```

    Constraints:
    - (C1) `gate` has rank 2; `up`, if present, has the type of `gate`; the packed
      operand has an even number of columns.
    - (C2) The activation is not `none`.
    - (C3) `result` has the shape of `gate`, or half its columns when packed, and,
      unless quantized, its element type.
    - (C4) `result_scale` is present, and `result` is `f8E4M3FN`, exactly when
      `quantize` is present.
    - (C5) A block of `quantize` has one row and divides the columns of `result`;
      `result_scale` has the shape and element type that `quantize` gives.
    - (C6) `rounded` has the shape of `result` and the element type of `gate`; it
      needs `quantize`.
    - (C7) `round_activation` needs a `gate` of `bf16`.
  }];
  let arguments = (ins
    Netra_FloatTensor:$gate,
    Optional<Netra_FloatTensor>:$up,
    Netra_ActivationAttr:$activation,
    OptionalAttr<Netra_BlockScaleAttr>:$quantize,
    UnitAttr:$round_activation);
  let results = (outs
    Netra_ComputeTensor:$result,
    Optional<Netra_ScaleTensor>:$result_scale,
    Optional<Netra_FloatTensor>:$rounded);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$gate,
                   "::mlir::Value":$up, "::netra::Activation":$activation)>];
  let assemblyFormat = [{
    $gate (`,` $up^) : (`packed`)? (`quantize` `(` $quantize^ `)`)?
    attr-dict `:`
    custom<GatedTypes>(ref($up), ref($quantize), type($gate), type($up),
      type($result), type($result_scale), type($rounded))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isPacked() { return !getUp(); }
  }];
}

def Netra_QuantizeBlocksOp : Netra_Op<"quantize_blocks", [
    Pure, TacticMethodsNotInPlace, EpilogueMethods]> {
  let summary = "dynamic block quantization to FP8";
  let description = [{
    For every block of `x : [M, K]`:

    ```
    amax  = max(max |x| over the block, 1e-10)
    scale = amax * (1 / 448 rounded to f32, 0x3b124925)
    q     = x / scale rounded to nearest even and saturated to f8E4M3FN
    ```

    An implementation may multiply by a reciprocal of the scale, which is allowed
    to change at most one element in a thousand, by one code.

    ```mlir
    %q, %s = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>}
       : tensor<1x2048xbf16> -> tensor<1x2048xf8E4M3FN>, tensor<1x16xf32>
    ```

    Constraints:
    - (C1) `x` has rank 2.
    - (C2) A block has one row and divides K.
    - (C3) `result` has the shape of `x`.
    - (C4) `result_scale` has the shape and element type that `scale` gives.
  }];
  let arguments = (ins Netra_FloatTensor:$x, Netra_BlockScaleAttr:$scale);
  let results = (outs Netra_Fp8Tensor:$result, Netra_ScaleTensor:$result_scale);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::netra::BlockScaleAttr":$scale)>];
  let assemblyFormat = [{
    $x attr-dict `:` type($x) `->` type($result) `,` type($result_scale)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

def Netra_ActivationOp : Netra_Op<"activation", [
    Pure, AllTypesMatch<["x", "result"]>, TacticMethods, FusionMethods,
    EpilogueMethods]> {
  let summary = "elementwise activation";
  let description = [{
    Computes `result = round(activation(x))`, elementwise, in `f32`.

    Fusion: takes over a following `netra.mul` with a value of the same type, as
    `netra.gated` (the rounding of the activation goes).

    ```mlir
    %y = netra.activation %x {activation = #netra.activation<silu>} : tensor<1x5632xbf16>
    ```

    Constraints:
    - (C1) The activation is not `none`.
  }];
  let arguments = (ins Netra_FloatTensor:$x, Netra_ActivationAttr:$activation);
  let results = (outs Netra_FloatTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

class Netra_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Netra_Op<mnemonic, !listconcat([
        Pure, AllTypesMatch<["lhs", "result"]>, TacticMethods,
        EpilogueMethods], traits)> {
  let arguments = (ins Netra_FloatTensor:$lhs, Netra_FloatTensor:$rhs);
  let results = (outs Netra_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs))
  }];
  let hasVerifier = 1;
}

def Netra_AddOp : Netra_BinaryOp<"add"> {
  let summary = "elementwise sum";
  let description = [{
    Computes `result = round(lhs + rhs)` in `f32`. `rhs` may lack leading
    dimensions of `lhs` and is repeated along them.

    ```mlir
    %s = netra.add %x, %y : tensor<1x2048xbf16>
    %b = netra.add %x, %bias : tensor<1x2048xbf16>, tensor<2048xbf16>
    ```

    Constraints:
    - (C1) `lhs` and `rhs` have the same element type.
    - (C2) The shape of `rhs` is that of `lhs` without some leading dimensions.
    - (C3) `lhs` and `rhs` of the same rank have the same layout; otherwise `rhs` is
      row-major.
  }];
}

def Netra_MulOp : Netra_BinaryOp<"mul"> {
  let summary = "elementwise product";
  let description = [{
    Computes `result = round(lhs * rhs)` in `f32`. `rhs` may lack leading
    dimensions of `lhs` and is repeated along them.

    ```mlir
    %p = netra.mul %x, %y : tensor<1x2048xbf16>
    ```

    Constraints:
    - (C1) `lhs` and `rhs` have the same element type.
    - (C2) The shape of `rhs` is that of `lhs` without some leading dimensions.
    - (C3) `lhs` and `rhs` of the same rank have the same layout; otherwise `rhs` is
      row-major.
  }];
}

def Netra_CastOp : Netra_Op<"cast", [Pure, TacticMethods]> {
  let summary = "elementwise conversion to another element type";
  let description = [{
    Converts every element: floats round to nearest even and overflow to infinity
    (to the largest value for `f8` types, which saturate), floats become integers
    by truncation towards zero.

    ```mlir
    %f = netra.cast %x : tensor<1x2048xbf16> to tensor<1x2048xf32>
    ```

    Constraints:
    - (C1) `x` and `result` have the same shape and layout.
  }];
  let arguments = (ins Netra_Tensor:$x);
  let results = (outs Netra_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Shape and storage
//===----------------------------------------------------------------------===//

def Netra_ReshapeOp : Netra_Op<"reshape", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "the same elements under another shape";
  let description = [{
    Gives the elements of `x`, in row-major order, another shape. No element moves,
    so that the result can use the memory of `x`.

    ```mlir
    %y = netra.reshape %x : tensor<1x1x2048xbf16> to tensor<1x2048xbf16>
    ```

    Constraints:
    - (C1) `x` and `result` have the same element type.
    - (C2) Both are row-major.
    - (C3) Both have the same number of elements, if both are static; a dynamic
      tensor has a single dynamic extent, and a static one does not become
      dynamic or the reverse.
  }];
  let arguments = (ins Netra_Tensor:$x);
  let results = (outs Netra_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Netra_TransposeOp : Netra_Op<"transpose", [Pure, TacticMethodsNotInPlace]> {
  let summary = "permutation of the dimensions";
  let description = [{
    Dimension `i` of `result` is dimension `permutation[i]` of `x`.

    ```mlir
    %t = netra.transpose %x [1, 0] : tensor<64x32xbf16> to tensor<32x64xbf16>
    ```

    Constraints:
    - (C1) `permutation` is a permutation of the dimensions of `x`.
    - (C2) `result` has the permuted shape and the element type of `x`.
    - (C3) Both are row-major.
  }];
  let arguments = (ins Netra_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Netra_Tensor:$result);
  let assemblyFormat =
      "$x $permutation attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Netra_LayoutConvertOp : Netra_Op<"layout_convert", [
    Pure, TacticMethodsNotInPlace]> {
  let summary = "the same tensor in another layout";
  let description = [{
    Moves the elements of `x` to where the layout of `result` puts them.

    ```mlir
    %y = netra.layout_convert %x : tensor<64x32xbf16> to tensor<64x32xbf16, #netra.layout<n16k16>>
    ```

    Constraints:
    - (C1) `x` and `result` have the same shape and element type.
  }];
  let arguments = (ins Netra_Tensor:$x);
  let results = (outs Netra_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Fallback, profile, plan
//===----------------------------------------------------------------------===//

def Netra_FallbackOp : Netra_Op<"fallback"> {
  let summary = "an operation left to the framework";
  let description = [{
    An operation that no tactic implements. The framework carries it out through
    a callback of the runtime. Nothing is assumed of its effects, so it is neither
    removed nor merged nor moved.

    `family` is the family of tactics the operation belongs to, where it has one.
    `settings` are the numbers and words that the operation needs besides its
    operands. `updates` has an entry for each result: the number of the operand
    whose memory the operation updates in place, or -1.

    ```mlir
    %z = netra.fallback "framework.rotary" (%q, %p) reason("no tactic: head dimension 96")
       : (tensor<1x96xbf16>, tensor<1xi64>) -> tensor<1x96xbf16>
    %s = netra.fallback "framework.append" (%x, %cache) reason("no tactic") {updates = array<i64: 1>, settings = {page = 16 : i64}}
       : (tensor<1x96xbf16>, tensor<64x96xbf16>) -> tensor<64x96xbf16>
    ```

    Constraints:
    - (C1) Operation and reason are not empty, nor is `family`, if present.
    - (C2) `operand_names` and `result_names`, if present, have one distinct name
      per operand and per result.
    - (C3) `updates`, if present, has one entry per result: -1, or the number of an
      operand that has the type of the result; no operand twice.
    - (C4) A setting is a boolean, a 64-bit integer, an `f64` or a string.
  }];
  let arguments = (ins
    StrAttr:$op_name,
    Variadic<AnyRankedTensor>:$inputs,
    StrAttr:$reason,
    OptionalAttr<StrArrayAttr>:$operand_names,
    OptionalAttr<StrArrayAttr>:$result_names,
    OptionalAttr<DenseI64ArrayAttr>:$updates,
    OptionalAttr<DictionaryAttr>:$settings,
    OptionalAttr<StrAttr>:$family);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::llvm::StringRef":$operation,
                   "::mlir::ValueRange":$inputs, "::llvm::StringRef":$reason)>];
  let assemblyFormat = [{
    $op_name `(` $inputs `)` `reason` `(` $reason `)` attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of the operand that result `number` is an update of.
    ::std::optional<unsigned> getUpdatedOperand(unsigned number);
  }];
}

def Netra_ProfileOp : Netra_Op<"profile", [Symbol]> {
  let summary = "a serving point";
  let description = [{
    The ranges of the serving parameters for which a specialised function, and the
    plan made from it, is valid. Of several profiles that accept a request the one
    with the highest priority is taken.

    ```mlir
    netra.profile @decode_m1 {m = #netra.guard<1>, batch = #netra.guard<1..64>, sequence = #netra.guard<0..1048576>, priority = 30 : i64}
    ```

    Constraints:
    - (C1) `m` and `batch` start at 1 or above, and so do `routed_rows` and
      `tensor_parallel` if present.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    Netra_GuardAttr:$m,
    Netra_GuardAttr:$batch,
    Netra_GuardAttr:$sequence,
    OptionalAttr<Netra_GuardAttr>:$routed_rows,
    OptionalAttr<Netra_GuardAttr>:$tensor_parallel,
    DefaultValuedAttr<I64Attr, "0">:$priority);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

def Netra_ArenaOp : Netra_Op<"arena", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the temporary memory of a specialised function";
  let description = [{
    Size of the memory that the places of kind `arena` in a function index, and
    the least size that liveness allows. Sizes are bytes.

    ```mlir
    netra.arena @mlp.decode_m1 bytes(26880) lower_bound(26880) alignment(256)
    ```

    Constraints:
    - (C1) Sizes are not negative; the lower bound does not exceed the size.
    - (C2) The alignment is a power of two.
    - (C3) The symbol names a function, which has one arena only.
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$function,
    I64Attr:$bytes, I64Attr:$lower_bound,
    DefaultValuedAttr<I64Attr, "256">:$alignment);
  let assemblyFormat = [{
    $function `bytes` `(` $bytes `)` `lower_bound` `(` $lower_bound `)`
    `alignment` `(` $alignment `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // NETRA_IR_NETRAOPS_TD
