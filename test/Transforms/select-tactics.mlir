// RUN: netra-opt %s --netra-select-tactics=library-root=%S/Inputs/library -mlir-print-op-on-diagnostic=false 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=QUIET --input-file=%t.log
// RUN: netra-opt %s --netra-select-tactics=library-root=%S/Inputs/library -o %t 2>/dev/null
// RUN: netra-opt %t | diff - %t
// RUN: netra-opt %s --netra-select-tactics="library-root=%S/Inputs/library explain=true" -mlir-print-op-on-diagnostic=false -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: netra-opt %s --netra-select-tactics="library-root=%S/Inputs/library allow-experimental=true" | FileCheck %s --check-prefix=EXPERIMENT

// The first combination of options is taken; the contract is the complete one.

// CHECK-LABEL: func.func @f
// CHECK: netra.dense {{.*}} {netra.tactic = #netra.tactic<"gfx950.test_dense_n16k16", options = {WAVES = 4}, contract = "nk_{{[0-9a-f]+}}">}

// No approximate match: f16 is not bf16. What the operation says is kept.

// CHECK: %[[M:.*]] = netra.fallback "netra.mul"(%{{.*}}, %{{.*}}) reason("{{.*}}gfx950.test_mul_workspace differs in {{.*}}found f16{{.*}}") {family = "{{[a-z]+}}", operand_names = ["lhs", "rhs"], result_names = ["result"]} : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>

// An experiment is not chosen unasked.

// CHECK: netra.fallback "netra.activation"{{.*}}maturity{{.*}}settings = {activation = "silu"}

// A view needs no kernel.

// CHECK: netra.reshape

// QUIET-NOT: tactic gfx950
// QUIET: remark: fallback: {{.*}}test_mul_workspace
// QUIET: remark: fallback: {{.*}}test_activation_experiment
// QUIET-NOT: remark

// EXPLAIN: select-tactics.mlir:[[#@LINE+11]]:8: remark: tactic gfx950.test_dense_n16k16 WAVES=4, contract nk_
// EXPLAIN: remark: nearest miss: gfx950.test_dense_row_major differs in operand weight layout: expected row_major, found n16k16

// EXPERIMENT: netra.activation {{.*}}gfx950.test_activation_experiment

module @m {
netra.parameter @w : tensor<64x64xbf16> checkpoint("w")
netra.parameter @p : tensor<64x64xbf16, #netra.layout<n16k16>> pack(@w then layout n16k16)
func.func @f(%x: tensor<1x64xbf16>, %y: tensor<1x64xf16>) -> (tensor<64xbf16>, tensor<1x64xf16>) {
  %w = netra.get @p : tensor<64x64xbf16, #netra.layout<n16k16>>
  // Both are matched exactly.
  %d = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<64x64xbf16, #netra.layout<n16k16>>) -> tensor<1x64xbf16>
  %m = netra.mul %y, %y : tensor<1x64xf16>
  %a = netra.activation %d {activation = #netra.activation<silu>} : tensor<1x64xbf16>
  %r = netra.reshape %a : tensor<1x64xbf16> to tensor<64xbf16>
  return %r, %m : tensor<64xbf16>, tensor<1x64xf16>
}
}
