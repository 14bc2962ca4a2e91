// RUN: netra-opt %s | netra-opt | FileCheck %s
// RUN: netra-opt --mlir-print-op-generic %s | netra-opt | FileCheck %s
// RUN: netra-opt --emit-bytecode %s | netra-opt | FileCheck %s

// CHECK-LABEL: func.func @rms_norm(
func.func @rms_norm(%x: tensor<?x256xbf16>, %w: tensor<256xf32>, %skip: tensor<?x256xbf16>) {
  // A value beside the quantized result is the sum when there is a residual, and
  // the rounded value otherwise.
  // CHECK: netra.rms_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} quantize(<block = [1, 128], scale = f32>) {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xf32>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32, #netra.layout<group_major>>, tensor<?x256xbf16>){{$}}
  %0, %s0, %r0 = netra.rms_norm %x, %w quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xf32>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32, #netra.layout<group_major>>, tensor<?x256xbf16>)
  // CHECK: netra.rms_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} residual(%{{[a-z0-9_]+}}) quantize(<block = [1, 128], scale = f32>) {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xf32>, tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>, tensor<?x256xbf16>){{$}}
  %1, %s1, %sum1, %r1 = netra.rms_norm %x, %w residual(%skip) quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xf32>, tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>, tensor<?x256xbf16>)
  return
}

// CHECK-LABEL: func.func @layer_norm(
func.func @layer_norm(%x: tensor<?x256xbf16>, %w: tensor<256xbf16>, %b: tensor<256xbf16>, %skip: tensor<?x256xbf16>) {
  // CHECK: netra.layer_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>) -> tensor<?x256xbf16>{{$}}
  %0 = netra.layer_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>) -> tensor<?x256xbf16>
  // CHECK: netra.layer_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} bias(%{{[a-z0-9_]+}}) {epsilon = 9.99999997E-7 : f32, weight_offset = 1.000000e+00 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<256xbf16>) -> tensor<?x256xbf16>{{$}}
  %1 = netra.layer_norm %x, %w bias(%b) {epsilon = 1.0e-6 : f32, weight_offset = 1.000000e+00 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<256xbf16>) -> tensor<?x256xbf16>
  // CHECK: netra.layer_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} bias(%{{[a-z0-9_]+}}) residual(%{{[a-z0-9_]+}}) {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>){{$}}
  %2, %sum2 = netra.layer_norm %x, %w bias(%b) residual(%skip) {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>)
  // CHECK: netra.layer_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} residual(%{{[a-z0-9_]+}}) quantize(<block = [1, 128], scale = f32>) {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32, #netra.layout<group_major>>, tensor<?x256xbf16>){{$}}
  %3, %s3, %sum3 = netra.layer_norm %x, %w residual(%skip) quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32, #netra.layout<group_major>>, tensor<?x256xbf16>)
  // CHECK: netra.layer_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} residual(%{{[a-z0-9_]+}}) quantize(<block = [1, 128], scale = f32>) {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>, tensor<?x256xbf16>){{$}}
  %4, %s4, %sum4, %r4 = netra.layer_norm %x, %w residual(%skip) quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>, tensor<?x256xbf16>)
  return
}

// CHECK-LABEL: func.func @gated_rms_norm(
func.func @gated_rms_norm(%x: tensor<?x512xbf16>, %z: tensor<?x512xbf16>, %w: tensor<128xf32>) {
  // CHECK: netra.gated_rms_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} {activation = #netra.activation<silu>, epsilon = 9.99999997E-7 : f32} : (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<128xf32>) -> tensor<?x512xbf16>{{$}}
  %0 = netra.gated_rms_norm %x, %z, %w {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<128xf32>) -> tensor<?x512xbf16>
  // CHECK: netra.gated_rms_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<sigmoid>, epsilon = 9.99999997E-7 : f32, weight_offset = 1.000000e+00 : f32} : (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<128xf32>) -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32>){{$}}
  %1, %s1 = netra.gated_rms_norm %x, %z, %w quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<sigmoid>, epsilon = 1.0e-6 : f32, weight_offset = 1.000000e+00 : f32} : (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<128xf32>) -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)
  // CHECK: netra.gated_rms_norm %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>, epsilon = 9.99999997E-7 : f32} : (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<128xf32>) -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32, #netra.layout<group_major>>, tensor<?x512xbf16>){{$}}
  %2, %s2, %r2 = netra.gated_rms_norm %x, %z, %w quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<128xf32>) -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32, #netra.layout<group_major>>, tensor<?x512xbf16>)
  return
}

// CHECK-LABEL: func.func @gated(
func.func @gated(%g: tensor<?x512xbf16>, %u: tensor<?x512xbf16>) {
  // CHECK: netra.gated %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} {activation = #netra.activation<silu>, round_activation} : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16>{{$}}
  %0 = netra.gated %g, %u {activation = #netra.activation<silu>, round_activation} : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16>
  // CHECK: netra.gated %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32, #netra.layout<group_major>>, tensor<?x512xbf16>){{$}}
  %1, %s1, %r1 = netra.gated %g, %u quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32, #netra.layout<group_major>>, tensor<?x512xbf16>)
  // CHECK: netra.gated %{{[a-z0-9_]+}} packed quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>, round_activation} : (tensor<?x512xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>){{$}}
  %2, %s2, %r2 = netra.gated %g packed quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>, round_activation} : (tensor<?x512xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>)
  return
}
