// RUN: netra-opt %s --split-input-file --netra-apply-profile=profiles=decode_m1,decode_m16_b16 | FileCheck %s
// RUN: netra-opt %s --split-input-file --netra-apply-profile=profiles=decode_m1,decode_m16_b16 -o %t
// RUN: netra-opt %t --split-input-file | diff - %t

// One clone per profile, in the order asked for; every type is inferred anew.

// CHECK-LABEL: module @specialises
// CHECK: netra.profile @decode_m1 {batch = #netra.guard<1..64>, m = #netra.guard<1>, priority = 30 : i64, sequence = #netra.guard<0..1048576>}
// CHECK-NEXT: netra.profile @decode_m16_b16 {batch = #netra.guard<16>, m = #netra.guard<16>
// CHECK: func.func @f.decode_m1(%{{.*}}: tensor<1x256xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>) attributes {netra.profile = @decode_m1}
// CHECK: netra.dense {{.*}} : (tensor<1x256xbf16>, tensor<128x256xbf16>) -> tensor<1x128xbf16>
// CHECK: netra.quantize_blocks {{.*}} : tensor<1x128xbf16> -> tensor<1x128xf8E4M3FN>, tensor<1x1xf32>
// CHECK: func.func @f.decode_m16_b16(%{{.*}}: tensor<16x256xbf16>) -> (tensor<16x128xf8E4M3FN>, tensor<16x1xf32>) attributes {netra.profile = @decode_m16_b16}
// CHECK-NOT: func.func @f(
module @specialises {
  netra.parameter @w : tensor<128x256xbf16> checkpoint("w")
  func.func @f(%x: tensor<?x256xbf16>) -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
    %w = netra.get @w : tensor<128x256xbf16>
    %y = netra.dense %x, %w : (tensor<?x256xbf16>, tensor<128x256xbf16>) -> tensor<?x128xbf16>
    %q, %s = netra.quantize_blocks %y {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<?x128xbf16> -> tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
    return %q, %s : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
  }
}

// -----

// Views keep the number of elements; a transposition moves the dimension. The
// argument's dimension is behind an extent of 1, as exported graphs have it.

// CHECK-LABEL: module @shapes
// CHECK: func.func @f.decode_m1(%{{.*}}: tensor<1x1x256xbf16>) -> (tensor<128x2xbf16>, tensor<128x2xbf16>)
// CHECK: netra.reshape {{.*}} : tensor<1x1x256xbf16> to tensor<2x128xbf16>
// CHECK: netra.transpose {{.*}} : tensor<2x128xbf16> to tensor<128x2xbf16>
// CHECK: func.func @f.decode_m16_b16(%{{.*}}: tensor<1x16x256xbf16>) -> (tensor<128x32xbf16>, tensor<128x32xbf16>)
module @shapes {
  func.func @f(%x: tensor<1x?x256xbf16>) -> (tensor<128x?xbf16>, tensor<128x?xbf16>) {
    %r = netra.reshape %x : tensor<1x?x256xbf16> to tensor<?x128xbf16>
    %t = netra.transpose %r [1, 0] : tensor<?x128xbf16> to tensor<128x?xbf16>
    %a = netra.activation %t {activation = #netra.activation<silu>} : tensor<128x?xbf16>
    return %a, %t : tensor<128x?xbf16>, tensor<128x?xbf16>
  }
}

// -----

// Names of dimensions; what they said is in the type afterwards.

// CHECK-LABEL: module @names
// CHECK: func.func @f.decode_m1(%{{.*}}: tensor<64x1xbf16> {netra.name = "x"})
module @names {
  func.func @f(%x: tensor<64x?xbf16> {netra.dims = ["64", "m"], netra.name = "x"}) -> tensor<64x?xbf16> {
    %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<64x?xbf16>
    return %a : tensor<64x?xbf16>
  }
}

// -----

// A range that is left open: tensors have the greatest extent, and the argument
// says what it follows. Extents of 1 in front are none.

// CHECK-LABEL: module @bounded
// CHECK: func.func @f.decode_m1(%{{.*}}: tensor<1x64x256xbf16> {netra.dims = ["1", "batch", "256"]}, %{{.*}}: tensor<1x256xbf16>) -> tensor<128x128xbf16> attributes {netra.profile = @decode_m1}
// CHECK: func.func @f.decode_m16_b16(%{{.*}}: tensor<1x16x256xbf16>, %{{.*}}: tensor<16x256xbf16>) -> tensor<32x128xbf16> attributes {netra.profile = @decode_m16_b16}
module @bounded {
  func.func @f(%x: tensor<1x?x256xbf16> {netra.dims = ["1", "batch", "256"]}, %y: tensor<?x256xbf16>) -> tensor<?x128xbf16> {
    %r = netra.reshape %x : tensor<1x?x256xbf16> to tensor<?x128xbf16>
    return %r : tensor<?x128xbf16>
  }
}
