// RUN: netra-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// netra.moe_gate_up
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<4x256x128xf8E4M3FN>, %sx: tensor<2x2xf32>, %sw: tensor<4x2x2xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @+1 {{'netra.moe_gate_up' op C1: 'x' must be [M, K] and 'weight' [E, N, K], where 128 divides N and K, found 'tensor<2x256xf8E4M3FN>' and 'tensor<4x256x128xf8E4M3FN>'}}
  %0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) : (tensor<2x256xf8E4M3FN>, tensor<4x256x128xf8E4M3FN>, tensor<2x2xf32>, tensor<4x2x2xf32>, tensor<2x3xi32>) -> tensor<2x3x256xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xf8E4M3FN>, %w: tensor<4x256x256xf8E4M3FN>, %sx: tensor<2x2xf32>, %sw: tensor<4x2x2xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @+1 {{'netra.moe_gate_up' op C1: }}
  %0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) : (tensor<2x3x256xf8E4M3FN>, tensor<4x256x256xf8E4M3FN>, tensor<2x2xf32>, tensor<4x2x2xf32>, tensor<2x3xi32>) -> tensor<2x3x256xf32>
  return
}

// -----

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<4x192x256xf8E4M3FN>, %sx: tensor<2x2xf32>, %sw: tensor<4x2x2xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @+1 {{'netra.moe_gate_up' op C1: }}
  %0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) : (tensor<2x256xf8E4M3FN>, tensor<4x192x256xf8E4M3FN>, tensor<2x2xf32>, tensor<4x2x2xf32>, tensor<2x3xi32>) -> tensor<2x3x256xf32>
  return
}

// -----

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<4x256x256xf8E4M3FN>, %sx: tensor<2x1xf32>, %sw: tensor<4x2x2xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @+1 {{'netra.moe_gate_up' op C2: 'x_scale' must have shape [2, 2], found 'tensor<2x1xf32>'}}
  %0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) : (tensor<2x256xf8E4M3FN>, tensor<4x256x256xf8E4M3FN>, tensor<2x1xf32>, tensor<4x2x2xf32>, tensor<2x3xi32>) -> tensor<2x3x256xf32>
  return
}

// -----

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<4x256x256xf8E4M3FN>, %sx: tensor<2x2xf32>, %sw: tensor<4x2x1xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @+1 {{'netra.moe_gate_up' op C2: 'weight_scale' must have shape [4, 2, 2], found 'tensor<4x2x1xf32>'}}
  %0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) : (tensor<2x256xf8E4M3FN>, tensor<4x256x256xf8E4M3FN>, tensor<2x2xf32>, tensor<4x2x1xf32>, tensor<2x3xi32>) -> tensor<2x3x256xf32>
  return
}

// -----

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<4x256x256xf8E4M3FN>, %sx: tensor<2x2xf32>, %sw: tensor<4x2x2xf32>, %ids: tensor<3x3xi32>) {
  // expected-error @+1 {{'netra.moe_gate_up' op C3: 'expert_ids' must be [M, S] for 'x' of 'tensor<2x256xf8E4M3FN>', found 'tensor<3x3xi32>'}}
  %0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) : (tensor<2x256xf8E4M3FN>, tensor<4x256x256xf8E4M3FN>, tensor<2x2xf32>, tensor<4x2x2xf32>, tensor<3x3xi32>) -> tensor<2x3x256xf32>
  return
}

// -----

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<4x256x256xf8E4M3FN>, %sx: tensor<2x2xf32>, %sw: tensor<4x2x2xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @+1 {{'netra.moe_gate_up' op C4: 'result' must have shape [2, 3, 256] and element type f32 without an activation, found 'tensor<2x3x256xbf16>'}}
  %0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) : (tensor<2x256xf8E4M3FN>, tensor<4x256x256xf8E4M3FN>, tensor<2x2xf32>, tensor<4x2x2xf32>, tensor<2x3xi32>) -> tensor<2x3x256xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<4x256x256xf8E4M3FN>, %sx: tensor<2x2xf32>, %sw: tensor<4x2x2xf32>, %ids: tensor<2x3xi32>) {
  // expected-error @+1 {{'netra.moe_gate_up' op C4: 'result' must have shape [2, 3, 128] and element type bf16 with an activation, found 'tensor<2x3x256xf32>'}}
  %0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%ids) {activation = #netra.activation<silu>} : (tensor<2x256xf8E4M3FN>, tensor<4x256x256xf8E4M3FN>, tensor<2x2xf32>, tensor<4x2x2xf32>, tensor<2x3xi32>) -> tensor<2x3x256xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// netra.moe_activation
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<2x3x384xf32>) {
  // expected-error @+1 {{'netra.moe_activation' op C1: 'x' must be [M, S, 2N], where 128 divides N, found 'tensor<2x3x384xf32>'}}
  %0, %1 = netra.moe_activation %x {activation = #netra.activation<silu>} : tensor<2x3x384xf32> -> tensor<2x3x256xf8E4M3FN>, tensor<2x3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x512xf32>) {
  // expected-error @+1 {{'netra.moe_activation' op C1: }}
  %0, %1 = netra.moe_activation %x {activation = #netra.activation<silu>} : tensor<2x512xf32> -> tensor<2x3x256xf8E4M3FN>, tensor<2x3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x512xf32>) {
  // expected-error @+1 {{'netra.moe_activation' op C2: the activation must not be none}}
  %0, %1 = netra.moe_activation %x {activation = #netra.activation<none>} : tensor<2x3x512xf32> -> tensor<2x3x256xf8E4M3FN>, tensor<2x3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x512xf32>) {
  // expected-error @+1 {{'netra.moe_activation' op C3: 'result' must have shape [2, 3, 256], found 'tensor<2x3x512xf8E4M3FN>'}}
  %0, %1 = netra.moe_activation %x {activation = #netra.activation<silu>} : tensor<2x3x512xf32> -> tensor<2x3x512xf8E4M3FN>, tensor<2x3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x512xf32>) {
  // expected-error @+1 {{'netra.moe_activation' op C4: 'result_scale' must have shape [2, 3, 2], found 'tensor<2x3x4xf32>'}}
  %0, %1 = netra.moe_activation %x {activation = #netra.activation<silu>} : tensor<2x3x512xf32> -> tensor<2x3x256xf8E4M3FN>, tensor<2x3x4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// netra.moe_down_reduce
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<4x128x256xf8E4M3FN>, %sx: tensor<2x3x2xf32>, %sw: tensor<4x1x2xf32>, %ids: tensor<2x3xi32>, %ew: tensor<2x3xf32>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C1: 'x' must be [M, S, K] and 'weight' [E, N, K], where 128 divides N and K, found 'tensor<2x256xf8E4M3FN>' and 'tensor<4x128x256xf8E4M3FN>'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sx, %sw) experts(%ids by %ew) : (tensor<2x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>, tensor<2x3x2xf32>, tensor<4x1x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xf8E4M3FN>, %w: tensor<4x128x256xf8E4M3FN>, %sw: tensor<4x1x2xf32>, %ids: tensor<2x3xi32>, %ew: tensor<2x3xf32>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C2: 'x_scale' must be present exactly when 'x' is f8E4M3FN, found 'x' of type 'tensor<2x3x256xf8E4M3FN>' without 'x_scale'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sw) experts(%ids by %ew) : (tensor<2x3x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>, tensor<4x1x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xbf16>, %w: tensor<4x128x256xf8E4M3FN>, %sx: tensor<2x3x2xf32>, %sw: tensor<4x1x2xf32>, %ids: tensor<2x3xi32>, %ew: tensor<2x3xf32>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C2: 'x_scale' must be present exactly when 'x' is f8E4M3FN, found 'x' of type 'tensor<2x3x256xbf16>' with 'x_scale'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sx, %sw) experts(%ids by %ew) : (tensor<2x3x256xbf16>, tensor<4x128x256xf8E4M3FN>, tensor<2x3x2xf32>, tensor<4x1x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xf8E4M3FN>, %w: tensor<4x128x256xf8E4M3FN>, %sx: tensor<2x2xf32>, %sw: tensor<4x1x2xf32>, %ids: tensor<2x3xi32>, %ew: tensor<2x3xf32>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C2: 'x_scale' must have shape [2, 3, 2], found 'tensor<2x2xf32>'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sx, %sw) experts(%ids by %ew) : (tensor<2x3x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>, tensor<2x2xf32>, tensor<4x1x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xf8E4M3FN>, %w: tensor<4x128x256xf8E4M3FN>, %sx: tensor<2x3x2xf32>, %sw: tensor<4x2xf32>, %ids: tensor<2x3xi32>, %ew: tensor<2x3xf32>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C2: 'weight_scale' must have shape [4, 1, 2], found 'tensor<4x2xf32>'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sx, %sw) experts(%ids by %ew) : (tensor<2x3x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>, tensor<2x3x2xf32>, tensor<4x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xf8E4M3FN>, %w: tensor<4x128x256xf8E4M3FN>, %sx: tensor<2x3x2xf32>, %sw: tensor<4x1x2xf32>, %ids: tensor<2x4xi32>, %ew: tensor<2x3xf32>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C3: 'expert_ids' must have shape [2, 3], found 'tensor<2x4xi32>'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sx, %sw) experts(%ids by %ew) : (tensor<2x3x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>, tensor<2x3x2xf32>, tensor<4x1x2xf32>, tensor<2x4xi32>, tensor<2x3xf32>) -> tensor<2x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xf8E4M3FN>, %w: tensor<4x128x256xf8E4M3FN>, %sx: tensor<2x3x2xf32>, %sw: tensor<4x1x2xf32>, %ids: tensor<2x3xi32>, %ew: tensor<2x4xf32>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C3: 'expert_weights' must have shape [2, 3], found 'tensor<2x4xf32>'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sx, %sw) experts(%ids by %ew) : (tensor<2x3x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>, tensor<2x3x2xf32>, tensor<4x1x2xf32>, tensor<2x3xi32>, tensor<2x4xf32>) -> tensor<2x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xf8E4M3FN>, %w: tensor<4x128x256xf8E4M3FN>, %sx: tensor<2x3x2xf32>, %sw: tensor<4x1x2xf32>, %ids: tensor<2x3xi32>, %ew: tensor<2x3xf32>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C4: 'result' must have shape [2, 128], found 'tensor<2x256xbf16>'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sx, %sw) experts(%ids by %ew) : (tensor<2x3x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>, tensor<2x3x2xf32>, tensor<4x1x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x256xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x256xf8E4M3FN>, %w: tensor<4x128x256xf8E4M3FN>, %sx: tensor<2x3x2xf32>, %sw: tensor<4x1x2xf32>, %ids: tensor<2x3xi32>, %ew: tensor<2x3xf32>, %r: tensor<1x128xbf16>) {
  // expected-error @+1 {{'netra.moe_down_reduce' op C5: 'residual' must have shape [2, 128], found 'tensor<1x128xbf16>'}}
  %0 = netra.moe_down_reduce %x, %w scales(%sx, %sw) experts(%ids by %ew) residual(%r) : (tensor<2x3x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>, tensor<2x3x2xf32>, tensor<4x1x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<1x128xbf16>) -> tensor<2x128xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// netra.route
//===----------------------------------------------------------------------===//

func.func @f(%logits: tensor<2x16xbf16>, %x: tensor<2x64xbf16>) {
  // expected-error @+1 {{'netra.route' op C1: expected 'logits' of rank 2, with 'x' only for a 'shared_gate', or 'x' and 'weight', found}}
  %0, %1 = netra.route %logits x(%x) {top_k = 2 : i64} : (tensor<2x16xbf16>, tensor<2x64xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<16xbf16>) {
  // expected-error @+1 {{'netra.route' op C1: }}
  %0, %1 = netra.route %logits {top_k = 2 : i64} : (tensor<16xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>, %x: tensor<2x64xbf16>, %weight: tensor<16x64xbf16>) {
  // expected-error @+1 {{'netra.route' op C1: }}
  %0, %1 = netra.route %logits x(%x) weight(%weight) {top_k = 2 : i64} : (tensor<2x16xbf16>, tensor<2x64xbf16>, tensor<16x64xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%weight: tensor<16x64xbf16>) {
  // expected-error @+1 {{'netra.route' op C1: }}
  %0, %1 = netra.route weight(%weight) {top_k = 2 : i64} : (tensor<16x64xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>, %x: tensor<3x64xbf16>, %shared_gate: tensor<1x64xbf16>) {
  // expected-error @+1 {{'netra.route' op C2: 'x' must be [M, K], found 'tensor<3x64xbf16>'}}
  %0, %1 = netra.route %logits x(%x) shared_gate(%shared_gate) {top_k = 2 : i64, shared_expert = #netra.shared_expert<sigmoid>} : (tensor<2x16xbf16>, tensor<3x64xbf16>, tensor<1x64xbf16>) -> (tensor<2x3xi32>, tensor<2x3xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x64xbf16>, %weight: tensor<16x32xbf16>) {
  // expected-error @+1 {{'netra.route' op C2: 'weight' must be [E, K] for 'x' of 'tensor<2x64xbf16>', found 'tensor<16x32xbf16>'}}
  %0, %1 = netra.route x(%x) weight(%weight) {top_k = 2 : i64} : (tensor<2x64xbf16>, tensor<16x32xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.route' op C3: 'shared_gate' must be present exactly when 'shared_expert' is sigmoid, found sigmoid without 'shared_gate'}}
  %0, %1 = netra.route %logits {top_k = 2 : i64, shared_expert = #netra.shared_expert<sigmoid>} : (tensor<2x16xbf16>) -> (tensor<2x3xi32>, tensor<2x3xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>, %x: tensor<2x64xbf16>, %shared_gate: tensor<1x64xbf16>) {
  // expected-error @+1 {{'netra.route' op C3: 'shared_gate' must be present exactly when 'shared_expert' is sigmoid, found none with 'shared_gate'}}
  %0, %1 = netra.route %logits x(%x) shared_gate(%shared_gate) {top_k = 2 : i64} : (tensor<2x16xbf16>, tensor<2x64xbf16>, tensor<1x64xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>, %x: tensor<2x64xbf16>, %shared_gate: tensor<64x1xbf16>) {
  // expected-error @+1 {{'netra.route' op C3: 'shared_gate' must have shape [1, 64], found 'tensor<64x1xbf16>'}}
  %0, %1 = netra.route %logits x(%x) shared_gate(%shared_gate) {top_k = 2 : i64, shared_expert = #netra.shared_expert<sigmoid>} : (tensor<2x16xbf16>, tensor<2x64xbf16>, tensor<64x1xbf16>) -> (tensor<2x3xi32>, tensor<2x3xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>, %correction_bias: tensor<8xf32>) {
  // expected-error @+1 {{'netra.route' op C4: 'correction_bias' must be row-major with shape [16], found 'tensor<8xf32>'}}
  %0, %1 = netra.route %logits correction_bias(%correction_bias) {top_k = 2 : i64} : (tensor<2x16xbf16>, tensor<8xf32>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.route' op C5: 'groups' must divide the experts, 'top_groups' be 1 to 'groups' and 'top_k' 1 to the experts of 'top_groups' groups, found [16] experts, groups 3, top_groups 1 and top_k 2}}
  %0, %1 = netra.route %logits {top_k = 2 : i64, groups = 3 : i64} : (tensor<2x16xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.route' op C5: }}
  %0, %1 = netra.route %logits {top_k = 2 : i64, groups = 2 : i64, top_groups = 3 : i64} : (tensor<2x16xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.route' op C5: }}
  %0, %1 = netra.route %logits {top_k = 0 : i64} : (tensor<2x16xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.route' op C5: }}
  %0, %1 = netra.route %logits {top_k = 9 : i64, groups = 2 : i64} : (tensor<2x16xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.route' op C6: 'expert_ids' must have shape [2, 2], found 'tensor<2x3xi32>'}}
  %0, %1 = netra.route %logits {top_k = 2 : i64} : (tensor<2x16xbf16>) -> (tensor<2x3xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.route' op C6: 'expert_weights' must have shape [2, 3], found 'tensor<2x2xf32>'}}
  %0, %1 = netra.route %logits {top_k = 2 : i64, shared_expert = #netra.shared_expert<one>} : (tensor<2x16xbf16>) -> (tensor<2x3xi32>, tensor<2x2xf32>)
  return
}

// -----

func.func @f(%logits: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.route' op C7: 'routed_scale' must be finite, found 0x7F800000 : f32}}
  %0, %1 = netra.route %logits {top_k = 2 : i64, routed_scale = 0x7F800000 : f32} : (tensor<2x16xbf16>) -> (tensor<2x2xi32>, tensor<2x2xf32>)
  return
}
