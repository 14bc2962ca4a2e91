// Without a target, everything is merged that can be; with one, what it has
// tactics for. The library has the experts' products with the activation between
// them gone, but neither a residual behind them nor a router with its product.
// RUN: netra-opt %s --split-input-file --netra-fuse | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: netra-opt %s --split-input-file --netra-fuse="target=gfx950 library-root=%S/Inputs/experts-library" | FileCheck %s --check-prefixes=CHECK,SOME
// RUN: netra-opt %s --split-input-file --netra-fuse -o %t
// RUN: netra-opt %t --split-input-file --netra-fuse | diff - %t

// CHECK-LABEL: func.func @experts
// ALL-NOT: netra.dense
// ALL: %[[IDS:.*]], %[[WS:.*]] = netra.route x(%[[X:.*]]) weight(%{{.*}}) shared_gate(%{{.*}})
// SOME: netra.dense
// SOME: %[[IDS:.*]], %[[WS:.*]] = netra.route %{{.*}} x(%{{.*}}) shared_gate(%{{.*}})
// CHECK: %[[H:.*]] = netra.moe_gate_up {{.*}} experts(%[[IDS]]) {activation = #netra.activation<silu>} : {{.*}} -> tensor<4x3x128xbf16>
// CHECK-NOT: netra.moe_activation
// ALL: netra.moe_down_reduce %[[H]], %{{.*}} scales(%{{[a-z0-9_]*}}) experts(%[[IDS]] by %[[WS]]) residual(%{{.*}})
// ALL-NOT: netra.add
// SOME: netra.moe_down_reduce %[[H]], %{{.*}} scales(%{{[a-z0-9_]*}}) experts(%[[IDS]] by %[[WS]]) :
// SOME: netra.add
func.func @experts(%x: tensor<4x256xbf16>, %r: tensor<4x256xbf16>, %wr: tensor<8x256xbf16>, %g: tensor<1x256xbf16>, %w1: tensor<9x256x256xf8E4M3FN>, %s1: tensor<9x2x2xf32>, %w2: tensor<9x256x128xf8E4M3FN>, %s2: tensor<9x2x1xf32>) -> tensor<4x256xbf16> {
  %logits = netra.dense %x, %wr : (tensor<4x256xbf16>, tensor<8x256xbf16>) -> tensor<4x8xbf16>
  %ids, %ws = netra.route %logits x(%x) shared_gate(%g) {normalize, shared_expert = #netra.shared_expert<sigmoid>, top_k = 2 : i64} : (tensor<4x8xbf16>, tensor<4x256xbf16>, tensor<1x256xbf16>) -> (tensor<4x3xi32>, tensor<4x3xf32>)
  %q, %sq = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<4x256xbf16> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  %y = netra.moe_gate_up %q, %w1 scales(%sq, %s1) experts(%ids) : (tensor<4x256xf8E4M3FN>, tensor<9x256x256xf8E4M3FN>, tensor<4x2xf32>, tensor<9x2x2xf32>, tensor<4x3xi32>) -> tensor<4x3x256xf32>
  %h, %sh = netra.moe_activation %y {activation = #netra.activation<silu>} : tensor<4x3x256xf32> -> tensor<4x3x128xf8E4M3FN>, tensor<4x3x1xf32>
  %o = netra.moe_down_reduce %h, %w2 scales(%sh, %s2) experts(%ids by %ws) : (tensor<4x3x128xf8E4M3FN>, tensor<9x256x128xf8E4M3FN>, tensor<4x3x1xf32>, tensor<9x2x1xf32>, tensor<4x3xi32>, tensor<4x3xf32>) -> tensor<4x256xbf16>
  %s = netra.add %o, %r : tensor<4x256xbf16>
  return %s : tensor<4x256xbf16>
}

// -----

// A down product that asks for another activation than the library has stays
// apart from it.

// CHECK-LABEL: func.func @other_activation
// ALL-NOT: netra.moe_activation
// SOME: netra.moe_activation
func.func @other_activation(%q: tensor<4x256xf8E4M3FN>, %sq: tensor<4x2xf32>, %ids: tensor<4x3xi32>, %ws: tensor<4x3xf32>, %w1: tensor<9x256x256xf8E4M3FN>, %s1: tensor<9x2x2xf32>, %w2: tensor<9x256x128xf8E4M3FN>, %s2: tensor<9x2x1xf32>) -> tensor<4x256xbf16> {
  %y = netra.moe_gate_up %q, %w1 scales(%sq, %s1) experts(%ids) : (tensor<4x256xf8E4M3FN>, tensor<9x256x256xf8E4M3FN>, tensor<4x2xf32>, tensor<9x2x2xf32>, tensor<4x3xi32>) -> tensor<4x3x256xf32>
  %h, %sh = netra.moe_activation %y {activation = #netra.activation<gelu_tanh>} : tensor<4x3x256xf32> -> tensor<4x3x128xf8E4M3FN>, tensor<4x3x1xf32>
  %o = netra.moe_down_reduce %h, %w2 scales(%sh, %s2) experts(%ids by %ws) : (tensor<4x3x128xf8E4M3FN>, tensor<9x256x128xf8E4M3FN>, tensor<4x3x1xf32>, tensor<9x2x1xf32>, tensor<4x3xi32>, tensor<4x3xf32>) -> tensor<4x256xbf16>
  return %o : tensor<4x256xbf16>
}

// -----

// A norm takes the addition in front of it first, then the quantization, and
// gives the other readers the value that it quantizes.

// CHECK-LABEL: func.func @norm
// CHECK: %{{.*}}, %{{.*}}, %[[SUM:.*]], %[[N:.*]] = netra.rms_norm %{{.*}}, %{{.*}} residual(%{{.*}}) quantize(<block = [1, 128], scale = f32>)
// CHECK-NOT: netra.quantize_blocks
// CHECK: netra.activation %[[N]]
// CHECK: netra.activation %[[SUM]]
func.func @norm(%x: tensor<4x256xbf16>, %r: tensor<4x256xbf16>, %w: tensor<256xbf16>) -> (tensor<4x256xf8E4M3FN>, tensor<4x2xf32>, tensor<4x256xbf16>, tensor<4x256xbf16>) {
  %s = netra.add %x, %r : tensor<4x256xbf16>
  %n = netra.rms_norm %s, %w {epsilon = 1.0e-6 : f32} : (tensor<4x256xbf16>, tensor<256xbf16>) -> tensor<4x256xbf16>
  %q, %sq = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<4x256xbf16> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  %a = netra.activation %n {activation = #netra.activation<sigmoid>} : tensor<4x256xbf16>
  %b = netra.activation %s {activation = #netra.activation<sigmoid>} : tensor<4x256xbf16>
  return %q, %sq, %a, %b : tensor<4x256xf8E4M3FN>, tensor<4x2xf32>, tensor<4x256xbf16>, tensor<4x256xbf16>
}

// -----

// The library has no norm but that, so that the others stay as they are.

// CHECK-LABEL: func.func @other_norms
// ALL: netra.layer_norm {{.*}} residual(%{{.*}}) quantize(
// ALL: netra.gated_rms_norm {{.*}} quantize(
// ALL-NOT: netra.quantize_blocks
// SOME: netra.add
// SOME: netra.layer_norm
// SOME: netra.quantize_blocks
// SOME: netra.gated_rms_norm
// SOME: netra.quantize_blocks
func.func @other_norms(%x: tensor<4x256xbf16>, %r: tensor<4x256xbf16>, %w: tensor<256xbf16>, %wh: tensor<128xbf16>) -> (tensor<4x256xf8E4M3FN>, tensor<4x2xf32>, tensor<4x256xf8E4M3FN>, tensor<4x2xf32>) {
  %s = netra.add %x, %r : tensor<4x256xbf16>
  %n = netra.layer_norm %s, %w bias(%w) {epsilon = 1.0e-6 : f32} : (tensor<4x256xbf16>, tensor<256xbf16>, tensor<256xbf16>) -> tensor<4x256xbf16>
  %q, %sq = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<4x256xbf16> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  %g = netra.gated_rms_norm %x, %r, %wh {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<4x256xbf16>, tensor<4x256xbf16>, tensor<128xbf16>) -> tensor<4x256xbf16>
  %p, %sp = netra.quantize_blocks %g {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<4x256xbf16> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  return %q, %sq, %p, %sp : tensor<4x256xf8E4M3FN>, tensor<4x2xf32>, tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
}
