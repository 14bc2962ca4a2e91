// RUN: netra-opt %s --netra-select-tactics=library-root=%S/Inputs/library 2>/dev/null | FileCheck %s

// What has no kernel yet goes to the framework with everything that the
// operation says: roles, attributes of its problem, and numbers of its own that
// are called differently.

// CHECK: netra.fallback "netra.route"(%{{.*}}, %{{.*}}) reason("{{.*}}router{{.*}}") {family = "router", operand_names = ["logits", "correction_bias"], result_names = ["expert_ids", "expert_weights"], settings = {accumulation = "f32", groups = 8 : i64, normalize = "sum", routed_scale = 2.500000e+00 : f64, scoring = "sigmoid", shared_expert = "none", top_groups = 4 : i64, top_k = 8 : i64}}
// CHECK: netra.fallback "netra.route"{{.*}}settings = {accumulation = "f32", groups = 8 : i64, normalize = "sum", note = 1 : i64, routed_scale
// CHECK: netra.fallback "netra.route"{{.*}}settings = {accumulation = "f32", groups = 8 : i64, normalize = "sum", routed_scale
// CHECK: netra.fallback "netra.moe_gate_up"{{.*}}operand_names = ["x", "weight", "x_scale", "weight_scale", "expert_ids"], result_names = ["result"], settings = {accumulation = "f32", activation = "none", weight_block_scale = "128x128:f32", x_block_scale = "1x128:f32"}
// CHECK: netra.fallback "netra.embedding"{{.*}}settings = {scale = 1.600000e+01 : f64}
func.func @f(%l: tensor<4x256xbf16>, %b: tensor<256xf32>, %q: tensor<4x256xf8E4M3FN>, %sq: tensor<4x2xf32>, %w: tensor<256x256x256xf8E4M3FN>, %sw: tensor<256x2x2xf32>, %t: tensor<4xi32>, %table: tensor<64x256xbf16>) -> (tensor<4x8x256xf32>, tensor<4x8xf32>, tensor<4x256xbf16>) {
  %ids, %ws = netra.route %l correction_bias(%b) {accumulation = 3 : i64, groups = 8 : i64, normalize, routed_scale = 2.5 : f32, scoring = #netra.scoring<sigmoid>, top_groups = 4 : i64, top_k = 8 : i64} : (tensor<4x256xbf16>, tensor<256xf32>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
  %ids2, %ws2 = netra.route %l correction_bias(%b) {note = 1 : i64, groups = 8 : i64, normalize, routed_scale = 2.5 : f32, scoring = #netra.scoring<sigmoid>, top_groups = 4 : i64, top_k = 8 : i64} : (tensor<4x256xbf16>, tensor<256xf32>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
  %ids3, %ws3 = netra.route %l correction_bias(%b) {groups = 8 : i64, normalize, routed_scale = 2.5 : f32, scoring = #netra.scoring<sigmoid>, top_groups = 4 : i64, top_k = 8 : i64} : (tensor<4x256xbf16>, tensor<256xf32>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
  %y = netra.moe_gate_up %q, %w scales(%sq, %sw) experts(%ids) : (tensor<4x256xf8E4M3FN>, tensor<256x256x256xf8E4M3FN>, tensor<4x2xf32>, tensor<256x2x2xf32>, tensor<4x8xi32>) -> tensor<4x8x256xf32>
  %x = netra.embedding %t, %table {scale = 16.0 : f32} : (tensor<4xi32>, tensor<64x256xbf16>) -> tensor<4x256xbf16>
  return %y, %ws, %x : tensor<4x8x256xf32>, tensor<4x8xf32>, tensor<4x256xbf16>
}
