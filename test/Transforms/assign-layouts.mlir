// RUN: netra-opt %s --split-input-file --netra-assign-layouts=library-root=%S/Inputs/library | FileCheck %s
// RUN: netra-opt %s --split-input-file --netra-assign-layouts=library-root=%S/Inputs/library -o %t
// RUN: netra-opt %t --split-input-file | diff - %t

// The better tactic wants another layout of the weight, which is a step of its
// recipe. The checkpoint tensor stays what it is.

// CHECK-LABEL: module @weight
// CHECK: netra.parameter @w : tensor<64x64xbf16> checkpoint("w")
// CHECK-NEXT: netra.parameter @w.n16k16 : tensor<64x64xbf16, #netra.layout<n16k16>> pack(@w then layout n16k16)
// CHECK: %[[W:.*]] = netra.get @w.n16k16
// CHECK-NEXT: netra.dense %{{.*}}, %[[W]] : (tensor<1x64xbf16>, tensor<64x64xbf16, #netra.layout<n16k16>>) -> tensor<1x64xbf16>
module @weight {
  netra.parameter @w : tensor<64x64xbf16> checkpoint("w")
  func.func @f(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
    %w = netra.get @w : tensor<64x64xbf16>
    %y = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<64x64xbf16>) -> tensor<1x64xbf16>
    return %y : tensor<1x64xbf16>
  }
}

// -----

// A recipe gets one more step and keeps the name of its parameter.

// CHECK-LABEL: module @recipe
// CHECK: netra.parameter @ab : tensor<64x64xbf16, #netra.layout<n16k16>> pack(concat 0 [@a, @b] then layout n16k16)
// CHECK: netra.get @ab : tensor<64x64xbf16, #netra.layout<n16k16>>
module @recipe {
  netra.parameter @a : tensor<32x64xbf16> checkpoint("a")
  netra.parameter @b : tensor<32x64xbf16> checkpoint("b")
  netra.parameter @ab : tensor<64x64xbf16> pack(concat 0 [@a, @b])
  func.func @f(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
    %w = netra.get @ab : tensor<64x64xbf16>
    %y = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<64x64xbf16>) -> tensor<1x64xbf16>
    return %y : tensor<1x64xbf16>
  }
}

// -----

// A name with dots in it that needs nothing else keeps all of itself.

// CHECK-LABEL: module @dotted
// CHECK: netra.parameter @a.weight_b.weight : tensor<40x64xbf16> pack(concat 0 [@a.weight, @b.weight])
module @dotted {
  netra.parameter @a.weight : tensor<8x64xbf16> checkpoint("a.weight")
  netra.parameter @b.weight : tensor<32x64xbf16> checkpoint("b.weight")
  netra.parameter @a.weight_b.weight : tensor<40x64xbf16> pack(concat 0 [@a.weight, @b.weight])
  func.func @f(%x: tensor<1x64xbf16>) -> tensor<1x40xbf16> {
    %w = netra.get @a.weight_b.weight : tensor<40x64xbf16>
    %y = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<40x64xbf16>) -> tensor<1x40xbf16>
    return %y : tensor<1x40xbf16>
  }
}

// -----

// The producer writes what the consumer wants: no conversion.

// CHECK-LABEL: module @producer
// CHECK: netra.quantize_blocks {{.*}} -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32, #netra.layout<group_major>>
// CHECK-NOT: netra.layout_convert
// CHECK: netra.dense {{.*}} tensor<4x2xf32, #netra.layout<group_major>>
module @producer {
  netra.parameter @w : tensor<128x256xf8E4M3FN> checkpoint("w")
  netra.parameter @s : tensor<1x2xf32> checkpoint("s")
  func.func @f(%x: tensor<4x256xbf16>) -> tensor<4x128xbf16> {
    %w = netra.get @w : tensor<128x256xf8E4M3FN>
    %s = netra.get @s : tensor<1x2xf32>
    %q, %sx = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<4x256xbf16> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
    %y = netra.dense %q, %w scales(%sx, %s) : (tensor<4x256xf8E4M3FN>, tensor<128x256xf8E4M3FN>, tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x128xbf16>
    return %y : tensor<4x128xbf16>
  }
}

// -----

// So it does for several consumers.

// CHECK-LABEL: module @consumers
// CHECK: netra.quantize_blocks {{.*}} -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32, #netra.layout<group_major>>
// CHECK-NOT: netra.layout_convert
// CHECK-COUNT-2: netra.dense {{.*}} tensor<4x2xf32, #netra.layout<group_major>>
module @consumers {
  netra.parameter @w : tensor<128x256xf8E4M3FN> checkpoint("w")
  netra.parameter @v : tensor<128x256xf8E4M3FN> checkpoint("v")
  netra.parameter @s : tensor<1x2xf32> checkpoint("s")
  func.func @f(%x: tensor<4x256xbf16>) -> (tensor<4x128xbf16>, tensor<4x128xbf16>) {
    %w = netra.get @w : tensor<128x256xf8E4M3FN>
    %v = netra.get @v : tensor<128x256xf8E4M3FN>
    %s = netra.get @s : tensor<1x2xf32>
    %q, %sx = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<4x256xbf16> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
    %y = netra.dense %q, %w scales(%sx, %s) : (tensor<4x256xf8E4M3FN>, tensor<128x256xf8E4M3FN>, tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x128xbf16>
    %z = netra.dense %q, %v scales(%sx, %s) : (tensor<4x256xf8E4M3FN>, tensor<128x256xf8E4M3FN>, tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x128xbf16>
    return %y, %z : tensor<4x128xbf16>, tensor<4x128xbf16>
  }
}

// -----

// An argument is stored as the caller stores it: one conversion, for both users.

// CHECK-LABEL: module @argument
// CHECK: func.func @f(%[[X:.*]]: tensor<4x256xf8E4M3FN>, %[[S:.*]]: tensor<4x2xf32>)
// CHECK: %[[C:.*]] = netra.layout_convert %[[S]] : tensor<4x2xf32> to tensor<4x2xf32, #netra.layout<group_major>>
// CHECK: netra.dense %[[X]], %{{.*}} scales(%[[C]],
// CHECK-NOT: netra.layout_convert
// CHECK: netra.dense %[[X]], %{{.*}} scales(%[[C]],
module @argument {
  netra.parameter @w : tensor<128x256xf8E4M3FN> checkpoint("w")
  netra.parameter @v : tensor<128x256xf8E4M3FN> checkpoint("v")
  netra.parameter @s : tensor<1x2xf32> checkpoint("s")
  func.func @f(%x: tensor<4x256xf8E4M3FN>, %sx: tensor<4x2xf32>) -> (tensor<4x128xbf16>, tensor<4x128xbf16>) {
    %w = netra.get @w : tensor<128x256xf8E4M3FN>
    %v = netra.get @v : tensor<128x256xf8E4M3FN>
    %s = netra.get @s : tensor<1x2xf32>
    %y = netra.dense %x, %w scales(%sx, %s) : (tensor<4x256xf8E4M3FN>, tensor<128x256xf8E4M3FN>, tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x128xbf16>
    %z = netra.dense %x, %v scales(%sx, %s) : (tensor<4x256xf8E4M3FN>, tensor<128x256xf8E4M3FN>, tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x128xbf16>
    return %y, %z : tensor<4x128xbf16>, tensor<4x128xbf16>
  }
}

// -----

// Nothing computes this, so nothing is moved for it; selection will say why.

// CHECK-LABEL: module @unmatched
// CHECK: netra.dense {{.*}} : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>
module @unmatched {
  netra.parameter @w : tensor<64x64xf16> checkpoint("w")
  func.func @f(%x: tensor<1x64xf16>) -> tensor<1x64xf16> {
    %w = netra.get @w : tensor<64x64xf16>
    %y = netra.dense %x, %w : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>
    return %y : tensor<1x64xf16>
  }
}
