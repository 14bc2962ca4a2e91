// RUN: netra-opt %s --split-input-file --netra-fuse | FileCheck %s

// An intermediate value that something else reads stays.

// CHECK-LABEL: func.func @other_use
// CHECK: netra.dense
// CHECK-SAME: -> tensor<1x64xbf16>
// CHECK-NEXT: netra.activation
netra.parameter @w : tensor<64x64xbf16> checkpoint("w")
func.func @other_use(%x: tensor<1x64xbf16>) -> (tensor<1x64xbf16>, tensor<1x64xbf16>) {
  %w = netra.get @w : tensor<64x64xbf16>
  %d = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<64x64xbf16>) -> tensor<1x64xbf16>
  %a = netra.activation %d {activation = #netra.activation<silu>} : tensor<1x64xbf16>
  return %d, %a : tensor<1x64xbf16>, tensor<1x64xbf16>
}

// -----

// A residual comes after the activation, never before it.

// CHECK-LABEL: func.func @order
// CHECK: netra.dense {{.*}} residual(
// CHECK-NEXT: netra.activation
netra.parameter @w : tensor<64x64xbf16> checkpoint("w")
func.func @order(%x: tensor<1x64xbf16>, %r: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  %w = netra.get @w : tensor<64x64xbf16>
  %d = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<64x64xbf16>) -> tensor<1x64xbf16>
  %s = netra.add %d, %r : tensor<1x64xbf16>
  %a = netra.activation %s {activation = #netra.activation<silu>} : tensor<1x64xbf16>
  return %a : tensor<1x64xbf16>
}

// -----

// Products of different inputs have no common weight.

// CHECK-LABEL: func.func @different_inputs
// CHECK-COUNT-2: netra.dense
// CHECK: netra.gated
netra.parameter @gate : tensor<128x64xbf16> checkpoint("gate")
netra.parameter @up : tensor<128x64xbf16> checkpoint("up")
func.func @different_inputs(%x: tensor<1x64xbf16>, %z: tensor<1x64xbf16>) -> tensor<1x128xbf16> {
  %wg = netra.get @gate : tensor<128x64xbf16>
  %wu = netra.get @up : tensor<128x64xbf16>
  %g = netra.dense %x, %wg : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
  %u = netra.dense %z, %wu : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
  %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> tensor<1x128xbf16>
  return %h : tensor<1x128xbf16>
}

// -----

// A fallback may have effects: it stays although nothing uses its result.

// CHECK-LABEL: func.func @fallback
// CHECK-NEXT: netra.fallback "framework.log"
func.func @fallback(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  %0 = netra.fallback "framework.log" (%x) reason("no kernel") : (tensor<1x64xbf16>) -> tensor<1x64xbf16>
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<1x64xbf16>
  return %a : tensor<1x64xbf16>
}
