//===- NetraVocabularyOps.td - From token ids and to them --*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAVOCABULARYOPS_TD
#define NETRA_IR_NETRAVOCABULARYOPS_TD

include "Netra/IR/NetraOpBase.td"

def Netra_LogitTensor : RankedTensorOf<[BF16, F32]>;

def Netra_EmbeddingOp : Netra_Op<"embedding", [Pure, TacticMethodsNotInPlace]> {
  let summary = "rows of a table by token ids";
  let description = [{
    ```
    result[m, n] = round(table[ids[m], n] * scale)     in f32
    ```

    An id that is not in `0 ... V-1` gives a row of zeros.

    ```mlir
    %x = netra.embedding %ids, %table : (tensor<4xi32>, tensor<248320x2048xbf16>) -> tensor<4x2048xbf16>
    %x = netra.embedding %ids, %table {scale = 6.000000e+01 : f32} : (tensor<4xi32>, tensor<262144x3584xbf16>) -> tensor<4x3584xbf16>
    ```

    Constraints:
    - (C1) `ids` is `[M]` and `table` `[V, N]`.
    - (C2) `result` is `[M, N]`.
    - (C3) `scale` is finite.
  }];
  let arguments = (ins
    Netra_I32Tensor:$ids,
    Netra_BF16Tensor:$table,
    DefaultValuedAttr<F32Attr, "1.0f">:$scale);
  let results = (outs Netra_BF16Tensor:$result);
  let assemblyFormat = [{
    $ids `,` $table attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Netra_ArgmaxOp : Netra_Op<"argmax", [Pure, TacticMethodsNotInPlace]> {
  let summary = "index of the largest element of each row";
  let description = [{
    `result[m]` is the index of the largest element of row m of `logits : [M, V]`,
    and `value[m]`, when it is asked for, that element. Of equal elements the one
    with the lowest index wins. A NaN is larger than everything else, and the
    first one wins. -0 and 0 are equal.

    ```mlir
    %token = netra.argmax %logits : tensor<4x248320xbf16> -> tensor<4xi32>
    %token, %best = netra.argmax %logits : tensor<4x248320xf32> -> tensor<4xi32>, tensor<4xf32>
    ```

    Constraints:
    - (C1) `logits` has rank 2 and at least one column.
    - (C2) `result` is `[M]`, and so is `value`.
  }];
  let arguments = (ins Netra_LogitTensor:$logits);
  let results = (outs Netra_I32Tensor:$result, Optional<Netra_F32Tensor>:$value);
  let assemblyFormat = [{
    $logits attr-dict `:` type($logits) `->` type($result) (`,` type($value)^)?
  }];
  let hasVerifier = 1;
}

def Netra_SampleOp : Netra_Op<"sample", [Pure, TacticMethodsNotInPlace]> {
  let summary = "a token of each row, drawn by its probability";
  let description = [{
    Draws one of V tokens for each row, by numbers that differ from row to row:

    1. `p = softmax(logits / temperature)`.
    2. The `top_k` most probable tokens are kept; 0 or less, or V and more, keeps
       all.
    3. Of these, the fewest most probable ones are kept whose share of the sum of
       step 2 reaches `top_p`, but at least one; 1 and more, or NaN, keeps all.
    4. `u` in `[0, 1)` is the first two words of Philox4x32-10, the second above
       the first, divided by 2^64. The key is `seed`; the counter is `offset`, then
       the number of the row, then 0.
    5. Going through the kept tokens, the first one is taken at which the sum of
       their probabilities exceeds `u` times the sum of all of them. The order
       in which this is done is fixed by the tactic.

    Of equal probabilities the lower index comes first. The token is that of
    `netra.argmax` when the temperature is not above 0, or when the largest logit
    is infinite or a NaN. Equal operands give equal tokens: nothing but `seed`,
    `offset` and the row is random, and the caller moves `offset` on.

    ```mlir
    %token = netra.sample %logits temperature(%t) top_k(%k) top_p(%p) seed(%s) offset(%o)
       : (tensor<4x248320xbf16>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi32>
    ```

    Constraints:
    - (C1) `logits` has rank 2 and at least one column.
    - (C2) All other operands and `result` are `[M]`.
  }];
  let arguments = (ins
    Netra_LogitTensor:$logits,
    Netra_F32Tensor:$temperature,
    Netra_I32Tensor:$top_k,
    Netra_F32Tensor:$top_p,
    RankedTensorOf<[I64]>:$seed,
    RankedTensorOf<[I64]>:$offset);
  let results = (outs Netra_I32Tensor:$result);
  let assemblyFormat = [{
    $logits `temperature` `(` $temperature `)` `top_k` `(` $top_k `)`
    `top_p` `(` $top_p `)` `seed` `(` $seed `)` `offset` `(` $offset `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // NETRA_IR_NETRAVOCABULARYOPS_TD
