//===- NetraNormOps.td - Norms beside the RMS norm ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRANORMOPS_TD
#define NETRA_IR_NETRANORMOPS_TD

include "Netra/IR/NetraOpBase.td"

def Netra_LayerNormOp : Netra_Op<"layer_norm", [
    Pure, AttrSizedOperandSegments, AttrSizedResultSegments, TacticMethods,
    CheckedFusionMethods]> {
  let summary = "normalisation by mean and variance, with an optional residual";
  let description = [{
    Normalises the rows of `x : [M, N]`, in `f32`:

    ```
    s[m, n] = x[m, n] (+ residual[m, n])
    mean[m] = mean_n(s[m, n])
    r[m]    = rsqrt(mean_n((s[m, n] - mean[m])^2) + epsilon)
    y[m, n] = (s[m, n] - mean[m]) * r[m] * (weight[n] + weight_offset) (+ bias[n])
    sum     = round(s)
    result  = round(y), or the quantized form of y
    rounded = y rounded to the type of x
    ```

    With a residual, the statistics and the result use the `f32` sum, not the
    rounded `sum`. With `quantize`, the result is `f8E4M3FN` with one scale per
    block, computed as `netra.quantize_blocks` does from `rounded`.

    Fusion: takes over a preceding `netra.add` as its residual, and a following
    `netra.quantize_blocks`, as `netra.rms_norm` does.

    ```mlir
    %n = netra.layer_norm %x, %w bias(%b) {epsilon = 1.0e-5 : f32} : (tensor<1x1024xbf16>, tensor<1024xbf16>, tensor<1024xbf16>) -> tensor<1x1024xbf16>
    %q, %s, %sum = netra.layer_norm %x, %w residual(%skip) quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-5 : f32}
       : (tensor<1x1024xbf16>, tensor<1024xbf16>, tensor<1x1024xbf16>) -> (tensor<1x1024xf8E4M3FN>, tensor<1x8xf32>, tensor<1x1024xbf16>)
    ```

    Constraints:
    - (C1) `x` has rank 2; `weight` is row-major with shape `[N]`, and so is `bias`,
      with the element type of `weight`.
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
    Optional<Netra_FloatTensor>:$bias,
    Optional<Netra_FloatTensor>:$residual,
    F32Attr:$epsilon,
    DefaultValuedAttr<F32Attr, "0.0f">:$weight_offset,
    OptionalAttr<Netra_BlockScaleAttr>:$quantize);
  let results = (outs
    Netra_ComputeTensor:$result,
    Optional<Netra_ScaleTensor>:$result_scale,
    Optional<Netra_FloatTensor>:$sum,
    Optional<Netra_FloatTensor>:$rounded);
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    (`quantize` `(` $quantize^ `)`)? attr-dict `:`
    custom<LayerNormTypes>(ref($bias), ref($residual), ref($quantize), type($x),
      type($weight), type($bias), type($residual), type($result),
      type($result_scale), type($sum), type($rounded))
  }];
  let hasVerifier = 1;
}

def Netra_GatedRMSNormOp : Netra_Op<"gated_rms_norm", [
    Pure, AttrSizedResultSegments, TacticMethods, CheckedFusionMethods]> {
  let summary = "root-mean-square normalisation of each head, times a gate";
  let description = [{
    Normalises each head of each row of `x : [M, H * N]` and multiplies it by the
    activated gate, in `f32`; N is the extent of `weight`:

    ```
    r[m, h]    = rsqrt(mean_n(x[m, h, n]^2) + epsilon)
    y[m, h, n] = x[m, h, n] * r[m, h] * (weight[n] + weight_offset)
                 * activation(gate[m, h, n])
    result     = round(y), or the quantized form of y
    rounded    = y rounded to the type of x
    ```

    With `quantize`, the result is `f8E4M3FN` with one scale per block of the row
    `[H * N]`, computed as `netra.quantize_blocks` does from `rounded`.

    Fusion: takes over a following `netra.quantize_blocks` (which changes no bit).
    When the unquantized result has other users, they read `rounded` instead.

    ```mlir
    %y = netra.gated_rms_norm %x, %z, %w {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32}
       : (tensor<1x4096xbf16>, tensor<1x4096xbf16>, tensor<128xbf16>) -> tensor<1x4096xbf16>
    ```

    Constraints:
    - (C1) `x` and `gate` have rank 2 and the same type.
    - (C2) `weight` is row-major with shape `[N]`, and N divides the columns of `x`.
    - (C3) The activation is `silu` or `sigmoid`.
    - (C4) `epsilon` is finite and not negative; `weight_offset` is finite.
    - (C5) `result` has the shape of `x`.
    - (C6) `result_scale` is present, and `result` is `f8E4M3FN`, exactly when
      `quantize` is present.
    - (C7) A block of `quantize` has one row and divides the columns of `x`;
      `result_scale` has the shape and element type that `quantize` gives.
    - (C8) `rounded` has the type of `x`; it needs `quantize`.
  }];
  let arguments = (ins
    Netra_FloatTensor:$x,
    Netra_FloatTensor:$gate,
    Netra_FloatTensor:$weight,
    Netra_ActivationAttr:$activation,
    F32Attr:$epsilon,
    DefaultValuedAttr<F32Attr, "0.0f">:$weight_offset,
    OptionalAttr<Netra_BlockScaleAttr>:$quantize);
  let results = (outs
    Netra_ComputeTensor:$result,
    Optional<Netra_ScaleTensor>:$result_scale,
    Optional<Netra_FloatTensor>:$rounded);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$gate,
                   "::mlir::Value":$weight, "::netra::Activation":$activation,
                   "::mlir::FloatAttr":$epsilon)>];
  let assemblyFormat = [{
    $x `,` $gate `,` $weight (`quantize` `(` $quantize^ `)`)? attr-dict `:`
    custom<GatedNormTypes>(ref($quantize), type($x), type($gate), type($weight),
      type($result), type($result_scale), type($rounded))
  }];
  let hasVerifier = 1;
}

#endif // NETRA_IR_NETRANORMOPS_TD
