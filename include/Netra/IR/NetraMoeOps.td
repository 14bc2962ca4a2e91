//===- NetraMoeOps.td - Routers and experts ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Token m is worked on by the experts of its S slots, expert_ids[m, 0 ... S-1].
// An expert that sees every token is the last of the E experts and stands in the
// last slot, so that it needs no operation of its own.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAMOEOPS_TD
#define NETRA_IR_NETRAMOEOPS_TD

include "Netra/IR/NetraOpBase.td"

def Netra_RouteOp : Netra_Op<"route", [
    Pure, AttrSizedOperandSegments, TacticMethodsNotInPlace,
    CheckedFusionMethods]> {
  let summary = "the experts of each token, and their weights";
  let description = [{
    Chooses `top_k` of E experts for each of M tokens, in `f32`. The logits are an
    operand, or the product of `x : [M, K]` and `weight : [E, K]`:

    ```
    logits[m, e] = sum_k x[m, k] * weight[e, k]    rounded to bf16
    score[m]     = softmax(logits[m])  or  sigmoid(logits[m])
    rank[m, e]   = score[m, e] (+ correction_bias[e])
    ```

    The chosen experts are those with the largest `rank`, largest first; of equal
    ones the lower index comes first. With `groups` above 1, the experts are split
    in `groups` runs of equal length, and only those of the `top_groups` groups
    with the largest sum of their two largest ranks are considered, ties again to
    the lower index. A NaN is larger than everything else, so that the experts of a
    token are always different ones.

    ```
    expert_ids[m, s]     = index of the s-th chosen expert       for s < top_k
    expert_weights[m, s] = score[m, expert_ids[m, s]]            not rank
                           / sum over the chosen experts         with normalize;
                                   + 1e-20 with sigmoid
                           * routed_scale
    ```

    With a shared expert there is one slot more: its id is E, and its weight 1, or
    `sigmoid(sum_k x[m, k] * shared_gate[0, k])`; it is not scaled.

    The logits are rounded to `bf16` in both forms: which experts are chosen does
    not depend on whether the product is part of the operation.

    No kernel takes a `correction_bias` with softmax, or groups of one expert each:
    such an operation becomes a fallback.

    Fusion: takes over the `netra.dense` that makes its logits, when that has no
    bias, epilogue or other user.

    ```mlir
    %ids, %weights = netra.route %logits {top_k = 8 : i64, normalize} : (tensor<4x128xbf16>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
    %ids, %weights = netra.route x(%x) weight(%w) shared_gate(%g) {top_k = 8 : i64, normalize, shared_expert = #netra.shared_expert<sigmoid>}
       : (tensor<4x2048xbf16>, tensor<256x2048xbf16>, tensor<1x2048xbf16>) -> (tensor<4x9xi32>, tensor<4x9xf32>)
    ```

    Constraints:
    - (C1) There is either `logits`, of rank 2, or `weight` with `x`; beside
      `logits`, there is an `x` only for a `shared_gate`.
    - (C2) `x` is `[M, K]` and `weight` `[E, K]`; M is that of `logits`.
    - (C3) `shared_gate` is `[1, K]` and present exactly when `shared_expert` is
      `sigmoid`.
    - (C4) `correction_bias` is row-major with shape `[E]`.
    - (C5) `groups` divides E; `top_groups` is 1 to `groups`; `top_k` is 1 to the
      experts of `top_groups` groups.
    - (C6) `expert_ids` and `expert_weights` have shape `[M, top_k]`, or
      `[M, top_k + 1]` with a shared expert.
    - (C7) `routed_scale` is finite.
  }];
  let arguments = (ins
    Optional<Netra_BF16Tensor>:$logits,
    Optional<Netra_BF16Tensor>:$x,
    Optional<Netra_BF16Tensor>:$weight,
    Optional<Netra_BF16Tensor>:$shared_gate,
    Optional<Netra_F32Tensor>:$correction_bias,
    I64Attr:$top_k,
    DefaultValuedAttr<I64Attr, "1">:$groups,
    DefaultValuedAttr<I64Attr, "1">:$top_groups,
    DefaultValuedAttr<Netra_ScoringAttr, "::netra::Scoring::Softmax">:$scoring,
    UnitAttr:$normalize,
    DefaultValuedAttr<Netra_SharedExpertAttr, "::netra::SharedExpert::None">:$shared_expert,
    DefaultValuedAttr<F32Attr, "1.0f">:$routed_scale);
  let results = (outs
    Netra_I32Tensor:$expert_ids, Netra_F32Tensor:$expert_weights);
  let assemblyFormat = [{
    ($logits^)? (`x` `(` $x^ `)`)? (`weight` `(` $weight^ `)`)?
    (`shared_gate` `(` $shared_gate^ `)`)?
    (`correction_bias` `(` $correction_bias^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Experts that are chosen from.
    int64_t getNumExperts();
    /// Columns of the results.
    int64_t getNumSlots();
  }];
}

def Netra_MoeGateUpOp : Netra_Op<"moe_gate_up", [
    Pure, TacticMethodsNotInPlace, CheckedFusionMethods]> {
  let summary = "first product of the experts of each token";
  let description = [{
    Multiplies each token by the gate and up rows of its experts. With
    `e = expert_ids[m, s]`:

    ```
    y[m, s, n] = sum_kb x_scale[m, kb] * weight_scale[e, n / 128, kb]
                        * sum_{k in kb} x[m, k] * weight[e, n, k]
    result     = y                                          f32, without activation
    result[m, s, n] = round(activation(y[m, s, n]) * y[m, s, N/2 + n])   otherwise
    ```

    Blocks are 128 columns of `x` and 128x128 of `weight`. The weight of an expert
    holds the gate rows, then the up rows. A slot whose id is not in `0 ... E-1`
    gives zeros.

    Fusion: takes over a following `netra.moe_activation` whose results only a
    `netra.moe_down_reduce` reads, which then quantizes on its way in. This changes
    no bit, because the rounding to `bf16` is there in both forms.

    ```mlir
    %y = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids)
       : (tensor<4x2048xf8E4M3FN>, tensor<257x1024x2048xf8E4M3FN>, tensor<4x16xf32>, tensor<257x8x16xf32>, tensor<4x9xi32>) -> tensor<4x9x1024xf32>
    %h = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) {activation = #netra.activation<silu>}
       : (tensor<4x2048xf8E4M3FN>, tensor<257x1024x2048xf8E4M3FN>, tensor<4x16xf32>, tensor<257x8x16xf32>, tensor<4x9xi32>) -> tensor<4x9x512xbf16>
    ```

    Constraints:
    - (C1) `x` is `[M, K]` and `weight` `[E, N, K]`, where 128 divides N and K.
    - (C2) `x_scale` is `[M, K / 128]` and `weight_scale` `[E, N / 128, K / 128]`.
    - (C3) `expert_ids` is `[M, S]`.
    - (C4) `result` is `f32` with shape `[M, S, N]`, or `bf16` with shape
      `[M, S, N / 2]` with an activation.
  }];
  let arguments = (ins
    Netra_Fp8Tensor:$x,
    Netra_Fp8Tensor:$weight,
    Netra_F32Tensor:$x_scale,
    Netra_F32Tensor:$weight_scale,
    Netra_I32Tensor:$expert_ids,
    DefaultValuedAttr<Netra_ActivationAttr, "::netra::Activation::None">:$activation);
  let results = (outs Netra_FloatTensor:$result);
  let assemblyFormat = [{
    $x `,` $weight `scales` `(` $x_scale `,` $weight_scale `)`
    `experts` `(` $expert_ids `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Netra_MoeActivationOp : Netra_Op<"moe_activation", [
    Pure, TacticMethodsNotInPlace]> {
  let summary = "activation between the two products of experts, quantized";
  let description = [{
    `x : [M, S, 2N]` holds the gate columns, then the up columns:

    ```
    h[m, s, n] = round to bf16(activation(x[m, s, n]) * x[m, s, N + n])
    ```

    `result` and `result_scale` are what `netra.quantize_blocks` makes of `h` seen
    as `[M * S, N]`, with blocks of 1x128 and `f32` scales.

    ```mlir
    %q, %s = netra.moe_activation %y {activation = #netra.activation<silu>} : tensor<4x9x1024xf32> -> tensor<4x9x512xf8E4M3FN>, tensor<4x9x4xf32>
    ```

    Constraints:
    - (C1) `x` has rank 3; 256 divides its columns.
    - (C2) The activation is not `none`.
    - (C3) `result` has the shape of `x` with half its columns.
    - (C4) `result_scale` has one column for 128 of `result`.
  }];
  let arguments = (ins Netra_F32Tensor:$x, Netra_ActivationAttr:$activation);
  let results = (outs Netra_Fp8Tensor:$result, Netra_F32Tensor:$result_scale);
  let assemblyFormat = [{
    $x attr-dict `:` type($x) `->` type($result) `,` type($result_scale)
  }];
  let hasVerifier = 1;
}

def Netra_MoeDownReduceOp : Netra_Op<"moe_down_reduce", [
    Pure, AttrSizedOperandSegments, TacticMethods, CheckedFusionMethods]> {
  let summary = "second product of the experts, summed over each token's experts";
  let description = [{
    Multiplies each slot by the down rows of its expert and adds the slots of a
    token up by their weights. With `e = expert_ids[m, s]`:

    ```
    d[m, s, n]   = sum_kb x_scale[m, s, kb] * weight_scale[e, n / 128, kb]
                          * sum_{k in kb} x[m, s, k] * weight[e, n, k]
    result[m, n] = round(sum_s expert_weights[m, s] * d[m, s, n] (+ residual[m, n]))
    ```

    Blocks are 128 columns of `x` and 128x128 of `weight`. When `x` is `bf16`, it has
    no scale and is quantized on the way in, exactly as `netra.quantize_blocks` does.
    A slot whose id is not in `0 ... E-1` adds nothing. The weights are used as they
    are.

    Fusion: takes over a following addition of a residual (the rounding of the sum
    of the slots goes).

    ```mlir
    %o = netra.moe_down_reduce %q, %w scales(%s, %sw) experts(%ids by %ws)
       : (tensor<4x9x512xf8E4M3FN>, tensor<257x2048x512xf8E4M3FN>, tensor<4x9x4xf32>, tensor<257x16x4xf32>, tensor<4x9xi32>, tensor<4x9xf32>) -> tensor<4x2048xbf16>
    %o = netra.moe_down_reduce %h, %w scales(%sw) experts(%ids by %ws) residual(%r)
       : (tensor<4x9x512xbf16>, tensor<257x2048x512xf8E4M3FN>, tensor<257x16x4xf32>, tensor<4x9xi32>, tensor<4x9xf32>, tensor<4x2048xbf16>) -> tensor<4x2048xbf16>
    ```

    Constraints:
    - (C1) `x` is `[M, S, K]` and `weight` `[E, N, K]`, where 128 divides N and K.
    - (C2) `x_scale` is `[M, S, K / 128]` and present exactly when `x` is
      `f8E4M3FN`; `weight_scale` is `[E, N / 128, K / 128]`.
    - (C3) `expert_ids` and `expert_weights` are `[M, S]`.
    - (C4) `result` is `[M, N]`.
    - (C5) `residual` has the shape of `result`.
  }];
  let arguments = (ins
    RankedTensorOf<[BF16, F8E4M3FN]>:$x,
    Netra_Fp8Tensor:$weight,
    Optional<Netra_F32Tensor>:$x_scale,
    Netra_F32Tensor:$weight_scale,
    Netra_I32Tensor:$expert_ids,
    Netra_F32Tensor:$expert_weights,
    Optional<Netra_BF16Tensor>:$residual);
  let results = (outs Netra_BF16Tensor:$result);
  let assemblyFormat = [{
    $x `,` $weight `scales` `(` custom<OptionalScale>($x_scale, $weight_scale) `)`
    `experts` `(` $expert_ids `by` $expert_weights `)`
    (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // NETRA_IR_NETRAMOEOPS_TD
