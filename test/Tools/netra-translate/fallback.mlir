// An operation without a kernel is left to the framework: a remark says so where
// it stands, the summary how many, and validation what a caller must expect.

// RUN: rm -rf %t && mkdir %t
// RUN: netra-translate --netra-to-engine %s --profile=decode_m1 -o %t/engine 2>&1 | FileCheck %s
// CHECK: fallback.mlir:[[#@LINE+14]]:10: remark: fallback:
// CHECK: netra-translate: warning: 2 of 3 steps have no kernel and are left to the framework; 'netra-engine explain {{.*}}engine' says why

// RUN: netra-engine validate %t/engine | FileCheck %s --check-prefix=VALID
// VALID: engine: valid
// VALID-NEXT: 2 of 3 steps have no kernel and are left to the framework
// RUN: netra-engine explain %t/engine | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: netra.activation

module @half {
  netra.parameter @w : tensor<512x512xbf16> checkpoint("w")
  func.func @half(%x: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
    %w = netra.get @w : tensor<512x512xbf16>
    %y = netra.dense %x, %w : (tensor<?x512xbf16>, tensor<512x512xbf16>) -> tensor<?x512xbf16>
    %t = netra.add %y, %y : tensor<?x512xbf16>
    %z = netra.activation %t {activation = #netra.activation<silu>} : tensor<?x512xbf16>
    return %z : tensor<?x512xbf16>
  }
}
