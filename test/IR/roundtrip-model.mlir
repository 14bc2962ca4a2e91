// RUN: netra-opt %s | netra-opt | FileCheck %s
// RUN: netra-opt --mlir-print-op-generic %s | netra-opt | FileCheck %s
// RUN: netra-opt --emit-bytecode %s | netra-opt | FileCheck %s

// CHECK: netra.parameter @norm : tensor<256xbf16> checkpoint("norm.weight"){{$}}
netra.parameter @norm : tensor<256xbf16> checkpoint("norm.weight")
// CHECK: netra.parameter private @gate : tensor<512x256xbf16> checkpoint("gate \22quoted\22.weight"){{$}}
netra.parameter private @gate : tensor<512x256xbf16> checkpoint("gate \"quoted\".weight")
netra.parameter @up : tensor<512x256xbf16> checkpoint("up.weight")
// CHECK: netra.parameter @experts : tensor<8x512x256xbf16> checkpoint("experts.{}.weight"){{$}}
netra.parameter @experts : tensor<8x512x256xbf16> checkpoint("experts.{}.weight")
// CHECK: netra.parameter @gate_up : tensor<1024x256xbf16> pack(concat 0 [@gate, @up]){{$}}
netra.parameter @gate_up : tensor<1024x256xbf16> pack(concat 0 [@gate, @up])
// CHECK: netra.parameter @gate_up_packed : tensor<1024x256xbf16, #netra.layout<n16k16>> pack(@gate_up then layout n16k16){{$}}
netra.parameter @gate_up_packed : tensor<1024x256xbf16, #netra.layout<n16k16>> pack(@gate_up then layout n16k16)
// CHECK: netra.parameter @norm_wide : tensor<256xf32> pack(@norm then cast f32){{$}}
netra.parameter @norm_wide : tensor<256xf32> pack(@norm then cast f32)
netra.parameter @q : tensor<256x256xf8E4M3FN> checkpoint("q.weight")
netra.parameter @qs : tensor<2x2xf32> checkpoint("q.weight_scale_inv")
netra.parameter @q64 : tensor<4x4xbf16> checkpoint("q.weight_scale_64")
netra.parameter @bias : tensor<512xbf16> checkpoint("bias")

// CHECK: netra.profile @decode_m1 {batch = #netra.guard<1..64>, m = #netra.guard<1>, priority = 30 : i64, sequence = #netra.guard<0..1048576>}
netra.profile @decode_m1 {m = #netra.guard<1>, batch = #netra.guard<1..64>, sequence = #netra.guard<0..1048576>, priority = 30 : i64}
// CHECK: netra.profile @everything {
// CHECK-SAME: routed_rows = #netra.guard<9..16>
// CHECK-SAME: tensor_parallel = #netra.guard<8>
netra.profile @everything {m = #netra.guard<1..16>, batch = #netra.guard<1>, sequence = #netra.guard<0>, routed_rows = #netra.guard<9..16>, tensor_parallel = #netra.guard<8>}

// CHECK: netra.arena @placed bytes(26880) lower_bound(26880) alignment(256){{$}}
netra.arena @placed bytes(26880) lower_bound(26880) alignment(256)
// CHECK: netra.arena @dense bytes(0) lower_bound(0) alignment(64){{$}}
netra.arena @dense bytes(0) lower_bound(0) alignment(64)

// CHECK-LABEL: func.func @dense(
func.func @dense(%x: tensor<1x256xbf16>, %r: tensor<1x512xbf16>, %h: tensor<?x256xf16>, %wh: tensor<?x256xf16>, %f: tensor<4x32xf32>, %wf: tensor<16x32xf32>) {
  // CHECK: %[[W:.*]] = netra.get @gate : tensor<512x256xbf16>
  %w = netra.get @gate : tensor<512x256xbf16>
  // CHECK: %[[WGU:.*]] = netra.get @gate_up_packed : tensor<1024x256xbf16, #netra.layout<n16k16>>
  %wgu = netra.get @gate_up_packed : tensor<1024x256xbf16, #netra.layout<n16k16>>
  // CHECK: %[[B:.*]] = netra.get @bias
  %b = netra.get @bias : tensor<512xbf16>
  // CHECK: netra.dense %{{.*}}, %[[W]] : (tensor<1x256xbf16>, tensor<512x256xbf16>) -> tensor<1x512xbf16>
  %0 = netra.dense %x, %w : (tensor<1x256xbf16>, tensor<512x256xbf16>) -> tensor<1x512xbf16>
  // CHECK: netra.dense %{{.*}}, %[[W]] bias(%[[B]]) residual(%{{.*}}) epilogue(gelu_erf) : (tensor<1x256xbf16>, tensor<512x256xbf16>, tensor<512xbf16>, tensor<1x512xbf16>) -> tensor<1x512xbf16>
  %1 = netra.dense %x, %w bias(%b) residual(%r) epilogue(gelu_erf) : (tensor<1x256xbf16>, tensor<512x256xbf16>, tensor<512xbf16>, tensor<1x512xbf16>) -> tensor<1x512xbf16>
  // CHECK: netra.dense %{{.*}}, %[[WGU]] epilogue(gated silu) : (tensor<1x256xbf16>, tensor<1024x256xbf16, #netra.layout<n16k16>>) -> tensor<1x512xbf16>
  %2 = netra.dense %x, %wgu epilogue(#netra.epilogue<gated silu>) : (tensor<1x256xbf16>, tensor<1024x256xbf16, #netra.layout<n16k16>>) -> tensor<1x512xbf16>
  // CHECK: netra.dense %{{.*}}, %{{.*}} residual(%{{.*}}) : (tensor<1x256xbf16>, tensor<512x256xbf16>, tensor<1x512xbf16>) -> tensor<1x512xbf16>
  %3 = netra.dense %x, %w residual(%r) : (tensor<1x256xbf16>, tensor<512x256xbf16>, tensor<1x512xbf16>) -> tensor<1x512xbf16>
  // CHECK: netra.dense %{{.*}}, %{{.*}} epilogue(none) {test.note = 1 : i64} : (tensor<?x256xf16>, tensor<?x256xf16>) -> tensor<?x?xf16>
  %4 = netra.dense %h, %wh epilogue(none) {test.note = 1 : i64} : (tensor<?x256xf16>, tensor<?x256xf16>) -> tensor<?x?xf16>
  // CHECK: netra.dense %{{.*}}, %{{.*}} : (tensor<4x32xf32>, tensor<16x32xf32>) -> tensor<4x16xf32>
  %5 = netra.dense %f, %wf : (tensor<4x32xf32>, tensor<16x32xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @dense_fp8(
func.func @dense_fp8(%x: tensor<?x256xf8E4M3FN>, %s: tensor<?x2xf32, #netra.layout<group_major>>, %s64: tensor<?x4xbf16>) {
  %w = netra.get @q : tensor<256x256xf8E4M3FN>
  %sw = netra.get @qs : tensor<2x2xf32>
  %sw64 = netra.get @q64 : tensor<4x4xbf16>
  // CHECK: netra.dense %{{.*}}, %{{.*}} scales(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}) epilogue(gated silu) : (tensor<?x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>, tensor<?x2xf32, #netra.layout<group_major>>, tensor<2x2xf32>) -> tensor<?x128xbf16>
  %0 = netra.dense %x, %w scales(%s, %sw) epilogue(gated silu) : (tensor<?x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>, tensor<?x2xf32, #netra.layout<group_major>>, tensor<2x2xf32>) -> tensor<?x128xbf16>
  // CHECK: netra.dense %{{.*}}, %{{.*}} scales(%{{[a-z0-9]*}} by <block = [1, 64], scale = bf16>, %{{[a-z0-9]*}} by <block = [64, 64], scale = bf16>) :
  %1 = netra.dense %x, %w scales(%s64 by <block = [1, 64], scale = bf16>, %sw64 by #netra.block_scale<block = [64, 64], scale = bf16>) : (tensor<?x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>, tensor<?x4xbf16>, tensor<4x4xbf16>) -> tensor<?x256xbf16>
  return
}

// CHECK-LABEL: func.func @norms(
func.func @norms(%x: tensor<?x256xbf16>, %skip: tensor<?x256xbf16>) {
  %w = netra.get @norm : tensor<256xbf16>
  // CHECK: netra.rms_norm %{{.*}}, %{{.*}} {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>) -> tensor<?x256xbf16>
  %0 = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>) -> tensor<?x256xbf16>
  // CHECK: %{{.*}}, %{{.*}} = netra.rms_norm %{{.*}}, %{{.*}} residual(%{{.*}}) {epsilon = 9.99999997E-7 : f32, weight_offset = 1.000000e+00 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>)
  %1, %sum1 = netra.rms_norm %x, %w residual(%skip) {epsilon = 1.0e-6 : f32, weight_offset = 1.0 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>)
  // CHECK: %{{[a-z0-9_]+}} = netra.rms_norm %{{.*}}, %{{.*}} residual(%{{.*}}) {epsilon = 0.000000e+00 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %2 = netra.rms_norm %x, %w residual(%skip) {epsilon = 0.0 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  // CHECK: netra.rms_norm %{{.*}}, %{{.*}} quantize(<block = [1, 128], scale = f32>) {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>)
  %3, %s3 = netra.rms_norm %x, %w quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>)
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = netra.rms_norm %{{.*}}, %{{.*}} residual(%{{.*}}) quantize(<block = [1, 128], scale = f32>) {epsilon = 9.99999997E-7 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>)
  %4, %s4, %sum4 = netra.rms_norm %x, %w residual(%skip) quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<?x256xbf16>, tensor<256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>)
  return
}

// CHECK-LABEL: func.func @activations(
func.func @activations(%g: tensor<1x512xbf16>, %u: tensor<1x512xbf16>, %gu: tensor<1x1024xbf16>) {
  // CHECK: netra.gated %{{.*}}, %{{.*}} {activation = #netra.activation<silu>} : (tensor<1x512xbf16>, tensor<1x512xbf16>) -> tensor<1x512xbf16>
  %0 = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<1x512xbf16>, tensor<1x512xbf16>) -> tensor<1x512xbf16>
  // CHECK: netra.gated %{{.*}} packed {activation = #netra.activation<gelu_tanh>} : (tensor<1x1024xbf16>) -> tensor<1x512xbf16>
  %1 = netra.gated %gu packed {activation = #netra.activation<gelu_tanh>} : (tensor<1x1024xbf16>) -> tensor<1x512xbf16>
  // CHECK: netra.gated %{{.*}}, %{{.*}} quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<1x512xbf16>, tensor<1x512xbf16>) -> (tensor<1x512xf8E4M3FN>, tensor<1x4xf32>)
  %2, %s2 = netra.gated %g, %u quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<1x512xbf16>, tensor<1x512xbf16>) -> (tensor<1x512xf8E4M3FN>, tensor<1x4xf32>)
  // CHECK: netra.gated %{{.*}} packed quantize(<block = [1, 128], scale = f32>)
  %3, %s3 = netra.gated %gu packed quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<1x1024xbf16>) -> (tensor<1x512xf8E4M3FN>, tensor<1x4xf32>)
  // CHECK: netra.quantize_blocks %{{.*}} {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<1x512xbf16> -> tensor<1x512xf8E4M3FN>, tensor<1x4xf32>
  %4, %s4 = netra.quantize_blocks %g {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<1x512xbf16> -> tensor<1x512xf8E4M3FN>, tensor<1x4xf32>
  // CHECK: netra.activation %{{.*}} {activation = #netra.activation<sigmoid>} : tensor<1x512xbf16>
  %5 = netra.activation %g {activation = #netra.activation<sigmoid>} : tensor<1x512xbf16>
  return
}

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: tensor<?x512xbf16>, %y: tensor<?x512xbf16>, %b: tensor<512xbf16>, %s: tensor<bf16>, %i: tensor<3xi64>) {
  // CHECK: netra.add %{{.*}}, %{{.*}} : tensor<?x512xbf16>{{$}}
  %0 = netra.add %x, %y : tensor<?x512xbf16>
  // CHECK: netra.add %{{.*}}, %{{.*}} : tensor<?x512xbf16>, tensor<512xbf16>
  %1 = netra.add %x, %b : tensor<?x512xbf16>, tensor<512xbf16>
  // CHECK: netra.mul %{{.*}}, %{{.*}} : tensor<?x512xbf16>{{$}}
  %2 = netra.mul %x, %y : tensor<?x512xbf16>
  // CHECK: netra.mul %{{.*}}, %{{.*}} : tensor<?x512xbf16>, tensor<bf16>
  %3 = netra.mul %x, %s : tensor<?x512xbf16>, tensor<bf16>
  // CHECK: netra.cast %{{.*}} : tensor<?x512xbf16> to tensor<?x512xf32>
  %4 = netra.cast %x : tensor<?x512xbf16> to tensor<?x512xf32>
  // CHECK: netra.cast %{{.*}} : tensor<3xi64> to tensor<3xf32>
  %5 = netra.cast %i : tensor<3xi64> to tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @shapes(
func.func @shapes(%x: tensor<?x512xbf16>, %w: tensor<64x32xbf16>, %r0: tensor<bf16>) {
  // CHECK: netra.reshape %{{.*}} : tensor<?x512xbf16> to tensor<1x?x512xbf16>
  %0 = netra.reshape %x : tensor<?x512xbf16> to tensor<1x?x512xbf16>
  // CHECK: netra.reshape %{{.*}} : tensor<bf16> to tensor<1x1xbf16>
  %1 = netra.reshape %r0 : tensor<bf16> to tensor<1x1xbf16>
  // CHECK: netra.transpose %{{.*}} [1, 0] : tensor<64x32xbf16> to tensor<32x64xbf16>
  %2 = netra.transpose %w [1, 0] : tensor<64x32xbf16> to tensor<32x64xbf16>
  // CHECK: netra.layout_convert %{{.*}} : tensor<64x32xbf16> to tensor<64x32xbf16, #netra.layout<n16k16>>
  %3 = netra.layout_convert %w : tensor<64x32xbf16> to tensor<64x32xbf16, #netra.layout<n16k16>>
  // CHECK: netra.constant dense<1.000000e+00> : tensor<4xf32>
  %4 = netra.constant dense<1.0> : tensor<4xf32>
  // CHECK: netra.constant dense<[1, 2]> : tensor<2xi64>
  %5 = netra.constant dense<[1, 2]> : tensor<2xi64>
  return
}

// CHECK-LABEL: func.func @fallbacks(
func.func @fallbacks(%q: tensor<1x96xbf16>, %p: tensor<1xi64>) {
  // CHECK: netra.fallback "framework.rotary"(%{{.*}}, %{{.*}}) reason("no tactic: head dimension 96") : (tensor<1x96xbf16>, tensor<1xi64>) -> tensor<1x96xbf16>
  %0 = netra.fallback "framework.rotary" (%q, %p) reason("no tactic: head dimension 96") : (tensor<1x96xbf16>, tensor<1xi64>) -> tensor<1x96xbf16>
  // CHECK: netra.fallback "framework.sync"() reason("why not") : () -> ()
  netra.fallback "framework.sync" () reason("why not") : () -> ()
  // CHECK: netra.fallback "framework.split"(%{{.*}}) reason("no tactic") {operand_names = ["q"], result_names = ["low", "high"]} : (tensor<1x96xbf16>) -> (tensor<1x48xbf16>, tensor<1x48xbf16>)
  %1:2 = netra.fallback "framework.split" (%q) reason("no tactic") {operand_names = ["q"], result_names = ["low", "high"]} : (tensor<1x96xbf16>) -> (tensor<1x48xbf16>, tensor<1x48xbf16>)
  // CHECK: netra.fallback "framework.append"(%{{.*}}, %{{.*}}) reason("no tactic") {settings = {exact = true, mode = "ring", page = 16 : i64, scale = 5.000000e-01 : f64}, updates = array<i64: 0, -1>} : (tensor<1x96xbf16>, tensor<1xi64>) -> (tensor<1x96xbf16>, tensor<1xi64>)
  %2:2 = netra.fallback "framework.append" (%q, %p) reason("no tactic") {settings = {exact = true, mode = "ring", page = 16 : i64, scale = 0.5 : f64}, updates = array<i64: 0, -1>} : (tensor<1x96xbf16>, tensor<1xi64>) -> (tensor<1x96xbf16>, tensor<1xi64>)
  return
}

// Attributes that passes add.
// CHECK-LABEL: func.func @placed(
// CHECK-SAME: %{{.*}}: tensor<1x512xbf16> {netra.dims = ["m", "512"], netra.name = "x"}
// CHECK-SAME: %{{.*}}: tensor<1x512xbf16> {netra.state = "kv"}
// CHECK-SAME: -> (tensor<1x512xbf16> {netra.name = "y"}, tensor<1x512xbf16> {netra.state = "kv"}) attributes {netra.profile = @decode_m1}
func.func @placed(%x: tensor<1x512xbf16> {netra.dims = ["m", "512"], netra.name = "x"}, %kv: tensor<1x512xbf16> {netra.state = "kv"})
    -> (tensor<1x512xbf16> {netra.name = "y"}, tensor<1x512xbf16> {netra.state = "kv"}) attributes {netra.profile = @decode_m1} {
  // CHECK: netra.add %{{.*}}, %{{.*}} {netra.place = [#netra.place<arena, 0, 1024, overwrites = 1>], netra.tactic = #netra.tactic<"gfx950.add", options = {WAVES = 4}, contract = "nk_0123456789abcdef01234567">} : tensor<1x512xbf16>
  %0 = netra.add %x, %kv {netra.tactic = #netra.tactic<"gfx950.add", options = {WAVES = 4}, contract = "nk_0123456789abcdef01234567">, netra.place = [#netra.place<arena, 0, 1024, overwrites = 1>]} : tensor<1x512xbf16>
  return %0, %0 : tensor<1x512xbf16>, tensor<1x512xbf16>
}
