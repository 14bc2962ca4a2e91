// A head whose logits are f32, and what chooses tokens by them, in one graph and
// without fallbacks: each row chooses by a difference that bf16 logits do not
// have.
//
// RUN: rm -rf %t && mkdir -p %t/1 %t/16 %t/rounded
// RUN: netra-translate --netra-to-engine %s --profile=decode_m1 -o %t/one
// RUN: netra-engine inspect %t/one | FileCheck %s --check-prefixes=INSPECT,M1
// RUN: netra-translate --netra-to-engine %s --profile=decode_m16_b16 -o %t/sixteen
// RUN: netra-engine inspect %t/sixteen | FileCheck %s --check-prefixes=INSPECT,M16
// INSPECT-NOT: fallback
// M1: gfx950.dense_bf16_m1
// M16: gfx950.dense_bf16_m32
// INSPECT-NOT: fallback
// INSPECT: gfx950.argmax
// INSPECT-NOT: fallback
// INSPECT: gfx950.sample
// INSPECT-NOT: fallback
//
// RUN: python3 %S/Inputs/f32_logits.py make 1 %t/1
// RUN: netra-engine run --engine %t/one --hip=sim --check=all --input x=%t/1/x.bin --input w=%t/1/w.bin --input t=%t/1/t.bin --input k=%t/1/k.bin --input p=%t/1/p.bin --input s=%t/1/s.bin --output best=%t/1/best.bin --output drawn=%t/1/drawn.bin | FileCheck %s --check-prefix=CLEAN
// CLEAN: checkers (all): no findings
// RUN: python3 %S/Inputs/f32_logits.py f32 1 %t/1
// RUN: python3 %S/Inputs/f32_logits.py make 16 %t/16
// RUN: netra-engine run --engine %t/sixteen --profile=decode_m16_b16 --hip=sim --check=all --input x=%t/16/x.bin --input w=%t/16/w.bin --input t=%t/16/t.bin --input k=%t/16/k.bin --input p=%t/16/p.bin --input s=%t/16/s.bin --output best=%t/16/best.bin --output drawn=%t/16/drawn.bin | FileCheck %s --check-prefix=CLEAN
// RUN: python3 %S/Inputs/f32_logits.py f32 16 %t/16
//
// With bf16 logits both are equal, and the first of them is chosen.
// RUN: sed 's/x256xf32/x256xbf16/g' %s > %t/rounded.mlir
// RUN: netra-translate --netra-to-engine %t/rounded.mlir --profile=decode_m16_b16 -o %t/rounded/engine
// RUN: python3 %S/Inputs/f32_logits.py make 16 %t/rounded
// RUN: netra-engine run --engine %t/rounded/engine --profile=decode_m16_b16 --hip=sim --input x=%t/rounded/x.bin --input w=%t/rounded/w.bin --input t=%t/rounded/t.bin --input k=%t/rounded/k.bin --input p=%t/rounded/p.bin --input s=%t/rounded/s.bin --output best=%t/rounded/best.bin --output drawn=%t/rounded/drawn.bin
// RUN: python3 %S/Inputs/f32_logits.py bf16 16 %t/rounded
// RUN: not python3 %S/Inputs/f32_logits.py f32 16 %t/rounded

module @head {
  func.func @head(%x: tensor<?x512xbf16> {netra.name = "x"}, %w: tensor<256x512xbf16> {netra.name = "w"}, %t: tensor<?xf32> {netra.name = "t"}, %k: tensor<?xi32> {netra.name = "k"}, %p: tensor<?xf32> {netra.name = "p"}, %s: tensor<?xi64> {netra.name = "s"}) -> (tensor<?xi32> {netra.name = "best"}, tensor<?xi32> {netra.name = "drawn"}) {
    %logits = netra.dense %x, %w : (tensor<?x512xbf16>, tensor<256x512xbf16>) -> tensor<?x256xf32>
    %best = netra.argmax %logits : tensor<?x256xf32> -> tensor<?xi32>
    %drawn = netra.sample %logits temperature(%t) top_k(%k) top_p(%p) seed(%s) offset(%s) : (tensor<?x256xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<?xi32>
    return %best, %drawn : tensor<?xi32>, tensor<?xi32>
  }
}
