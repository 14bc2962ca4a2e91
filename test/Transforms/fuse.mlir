// RUN: netra-opt %s --split-input-file --netra-fuse | FileCheck %s
// RUN: netra-opt %s --split-input-file --netra-fuse -o %t
// RUN: netra-opt %t --split-input-file | diff - %t
// Fusing again finds nothing more.
// RUN: netra-opt %t --split-input-file --netra-fuse | diff - %t

// Gate and up become one product over concatenated weights, whose recipe keeps
// the two checkpoint tensors as its sources.

// CHECK-LABEL: module @gated
// CHECK: netra.parameter @gate_up : tensor<256x64xbf16> pack(concat 0 [@gate, @up])
// CHECK: %[[W:.*]] = netra.get @gate_up
// CHECK-NEXT: %[[H:.*]] = netra.dense %{{.*}}, %[[W]] epilogue(gated silu)
// CHECK-NEXT: return %[[H]]
module @gated {
  netra.parameter @gate : tensor<128x64xbf16> checkpoint("gate")
  netra.parameter @up : tensor<128x64xbf16> checkpoint("up")
  func.func @f(%x: tensor<1x64xbf16>) -> tensor<1x128xbf16> {
    %wg = netra.get @gate : tensor<128x64xbf16>
    %wu = netra.get @up : tensor<128x64xbf16>
    %g = netra.dense %x, %wg : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
    %u = netra.dense %x, %wu : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
    %a = netra.activation %g {activation = #netra.activation<silu>} : tensor<1x128xbf16>
    %h = netra.mul %a, %u : tensor<1x128xbf16>
    return %h : tensor<1x128xbf16>
  }
}

// -----

// The later of two takers wins: the norm takes the addition, and gives back the
// sum because something else uses it. The product takes the addition behind it.

// CHECK-LABEL: module @residuals
// CHECK: %[[N:.*]], %[[SUM:.*]] = netra.rms_norm %{{.*}}, %{{.*}} residual(%{{.*}})
// CHECK: netra.dense %[[N]], %{{.*}} residual(%[[SUM]])
// CHECK-NOT: netra.add
module @residuals {
  netra.parameter @n : tensor<64xbf16> checkpoint("n")
  netra.parameter @w : tensor<64x64xbf16> checkpoint("w")
  func.func @f(%x: tensor<1x64xbf16>, %r: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
    %wn = netra.get @n : tensor<64xbf16>
    %w = netra.get @w : tensor<64x64xbf16>
    %d = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<64x64xbf16>) -> tensor<1x64xbf16>
    %s = netra.add %d, %r : tensor<1x64xbf16>
    %n = netra.rms_norm %s, %wn {epsilon = 1.0e-6 : f32} : (tensor<1x64xbf16>, tensor<64xbf16>) -> tensor<1x64xbf16>
    %e = netra.dense %n, %w : (tensor<1x64xbf16>, tensor<64x64xbf16>) -> tensor<1x64xbf16>
    %y = netra.add %e, %s : tensor<1x64xbf16>
    return %y : tensor<1x64xbf16>
  }
}

// -----

// Quantization joins the norm that produces its operand.

// CHECK-LABEL: module @quantized
// CHECK: netra.rms_norm %{{.*}}, %{{.*}} quantize(<block = [1, 128], scale = f32>)
// CHECK-NOT: netra.quantize_blocks
module @quantized {
  netra.parameter @n : tensor<256xbf16> checkpoint("n")
  func.func @f(%x: tensor<1x256xbf16>) -> (tensor<1x256xf8E4M3FN>, tensor<1x2xf32>) {
    %wn = netra.get @n : tensor<256xbf16>
    %n = netra.rms_norm %x, %wn {epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<256xbf16>) -> tensor<1x256xbf16>
    %q, %s = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<1x256xbf16> -> tensor<1x256xf8E4M3FN>, tensor<1x2xf32>
    return %q, %s : tensor<1x256xf8E4M3FN>, tensor<1x2xf32>
  }
}

// -----

// Bias, activation and residual in this order.

// CHECK-LABEL: module @epilogue
// CHECK: netra.dense %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) epilogue(gelu_tanh)
// CHECK-NEXT: return
module @epilogue {
  netra.parameter @w : tensor<64x64xbf16> checkpoint("w")
  netra.parameter @b : tensor<64xbf16> checkpoint("b")
  func.func @f(%x: tensor<1x64xbf16>, %r: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
    %w = netra.get @w : tensor<64x64xbf16>
    %b = netra.get @b : tensor<64xbf16>
    %d = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<64x64xbf16>) -> tensor<1x64xbf16>
    %e = netra.add %d, %b : tensor<1x64xbf16>, tensor<64xbf16>
    %a = netra.activation %e {activation = #netra.activation<gelu_tanh>} : tensor<1x64xbf16>
    %y = netra.add %a, %r : tensor<1x64xbf16>
    return %y : tensor<1x64xbf16>
  }
}

// -----

// Two specialisations share one concatenated weight; unused weights go.

// CHECK-LABEL: module @profiles
// CHECK: netra.parameter @gate :
// CHECK: netra.parameter @up :
// CHECK-COUNT-1: pack(
// CHECK-NOT: netra.parameter
// CHECK: func.func @f.a
// CHECK: netra.get @gate_up
// CHECK: func.func @f.b
// CHECK: netra.get @gate_up
module @profiles {
  netra.parameter @gate : tensor<128x64xbf16> checkpoint("gate")
  netra.parameter @up : tensor<128x64xbf16> checkpoint("up")
  netra.parameter @unused : tensor<128x64xbf16> checkpoint("unused")
  func.func @f.a(%x: tensor<1x64xbf16>) -> tensor<1x128xbf16> {
    %wg = netra.get @gate : tensor<128x64xbf16>
    %wu = netra.get @up : tensor<128x64xbf16>
    %g = netra.dense %x, %wg : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
    %u = netra.dense %x, %wu : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
    %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> tensor<1x128xbf16>
    return %h : tensor<1x128xbf16>
  }
  func.func @f.b(%x: tensor<4x64xbf16>) -> tensor<4x128xbf16> {
    %wg = netra.get @gate : tensor<128x64xbf16>
    %wu = netra.get @up : tensor<128x64xbf16>
    %g = netra.dense %x, %wg : (tensor<4x64xbf16>, tensor<128x64xbf16>) -> tensor<4x128xbf16>
    %u = netra.dense %x, %wu : (tensor<4x64xbf16>, tensor<128x64xbf16>) -> tensor<4x128xbf16>
    %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<4x128xbf16>, tensor<4x128xbf16>) -> tensor<4x128xbf16>
    return %h : tensor<4x128xbf16>
  }
}
