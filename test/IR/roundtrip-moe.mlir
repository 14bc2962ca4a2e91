// RUN: netra-opt %s | netra-opt | FileCheck %s
// RUN: netra-opt --mlir-print-op-generic %s | netra-opt | FileCheck %s
// RUN: netra-opt --emit-bytecode %s | netra-opt | FileCheck %s

// CHECK-LABEL: func.func @route(
func.func @route(%l: tensor<?x128xbf16>, %x: tensor<?x2048xbf16>, %w: tensor<128x2048xbf16>, %g: tensor<1x2048xbf16>, %b: tensor<128xf32>) {
  // CHECK: netra.route %{{[a-z0-9_]+}} {normalize, top_k = 8 : i64} : (tensor<?x128xbf16>) -> (tensor<?x8xi32>, tensor<?x8xf32>){{$}}
  %0, %1 = netra.route %l {normalize, top_k = 8 : i64} : (tensor<?x128xbf16>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  // CHECK: netra.route %{{[a-z0-9_]+}} x(%{{[a-z0-9_]+}}) shared_gate(%{{[a-z0-9_]+}}) {normalize, shared_expert = #netra.shared_expert<sigmoid>, top_k = 8 : i64} : (tensor<?x128xbf16>, tensor<?x2048xbf16>, tensor<1x2048xbf16>) -> (tensor<?x9xi32>, tensor<?x9xf32>){{$}}
  %2, %3 = netra.route %l x(%x) shared_gate(%g) {normalize, shared_expert = #netra.shared_expert<sigmoid>, top_k = 8 : i64} : (tensor<?x128xbf16>, tensor<?x2048xbf16>, tensor<1x2048xbf16>) -> (tensor<?x9xi32>, tensor<?x9xf32>)
  // CHECK: netra.route x(%{{[a-z0-9_]+}}) weight(%{{[a-z0-9_]+}}) {shared_expert = #netra.shared_expert<one>, top_k = 8 : i64} : (tensor<?x2048xbf16>, tensor<128x2048xbf16>) -> (tensor<?x9xi32>, tensor<?x9xf32>){{$}}
  %4, %5 = netra.route x(%x) weight(%w) {shared_expert = #netra.shared_expert<one>, top_k = 8 : i64} : (tensor<?x2048xbf16>, tensor<128x2048xbf16>) -> (tensor<?x9xi32>, tensor<?x9xf32>)
  // CHECK: netra.route x(%{{[a-z0-9_]+}}) weight(%{{[a-z0-9_]+}}) shared_gate(%{{[a-z0-9_]+}}) {shared_expert = #netra.shared_expert<sigmoid>, top_k = 8 : i64} : (tensor<?x2048xbf16>, tensor<128x2048xbf16>, tensor<1x2048xbf16>) -> (tensor<?x9xi32>, tensor<?x9xf32>){{$}}
  %6, %7 = netra.route x(%x) weight(%w) shared_gate(%g) {shared_expert = #netra.shared_expert<sigmoid>, top_k = 8 : i64} : (tensor<?x2048xbf16>, tensor<128x2048xbf16>, tensor<1x2048xbf16>) -> (tensor<?x9xi32>, tensor<?x9xf32>)
  // CHECK: netra.route %{{[a-z0-9_]+}} correction_bias(%{{[a-z0-9_]+}}) {groups = 8 : i64, normalize, routed_scale = 2.500000e+00 : f32, scoring = #netra.scoring<sigmoid>, top_groups = 4 : i64, top_k = 8 : i64} : (tensor<?x128xbf16>, tensor<128xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>){{$}}
  %8, %9 = netra.route %l correction_bias(%b) {groups = 8 : i64, normalize, routed_scale = 2.500000e+00 : f32, scoring = #netra.scoring<sigmoid>, top_groups = 4 : i64, top_k = 8 : i64} : (tensor<?x128xbf16>, tensor<128xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  // What is assumed need not be said.
  // CHECK: netra.route %{{.*}} {top_k = 2 : i64} : (tensor<?x128xbf16>)
  %10, %11 = netra.route %l {groups = 1 : i64, routed_scale = 1.0 : f32, scoring = #netra.scoring<softmax>, shared_expert = #netra.shared_expert<none>, top_groups = 1 : i64, top_k = 2 : i64} : (tensor<?x128xbf16>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// CHECK-LABEL: func.func @experts(
func.func @experts(%x: tensor<?x2048xf8E4M3FN>, %sx: tensor<?x16xf32>, %w1: tensor<257x1024x2048xf8E4M3FN, #netra.layout<n16k16>>, %s1: tensor<257x8x16xf32>, %w2: tensor<257x2048x512xf8E4M3FN>, %s2: tensor<257x16x4xf32>, %ids: tensor<?x9xi32>, %ws: tensor<?x9xf32>, %r: tensor<?x2048xbf16>) {
  // CHECK: netra.moe_gate_up %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} scales(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) experts(%{{[a-z0-9_]+}}) : (tensor<?x2048xf8E4M3FN>, tensor<257x1024x2048xf8E4M3FN, #netra.layout<n16k16>>, tensor<?x16xf32>, tensor<257x8x16xf32>, tensor<?x9xi32>) -> tensor<?x9x1024xf32>{{$}}
  %0 = netra.moe_gate_up %x, %w1 scales(%sx, %s1) experts(%ids) : (tensor<?x2048xf8E4M3FN>, tensor<257x1024x2048xf8E4M3FN, #netra.layout<n16k16>>, tensor<?x16xf32>, tensor<257x8x16xf32>, tensor<?x9xi32>) -> tensor<?x9x1024xf32>
  // CHECK: netra.moe_activation %{{[a-z0-9_]+}} {activation = #netra.activation<silu>} : tensor<?x9x1024xf32> -> tensor<?x9x512xf8E4M3FN>, tensor<?x9x4xf32>{{$}}
  %1, %2 = netra.moe_activation %0 {activation = #netra.activation<silu>} : tensor<?x9x1024xf32> -> tensor<?x9x512xf8E4M3FN>, tensor<?x9x4xf32>
  // CHECK: netra.moe_down_reduce %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} scales(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) experts(%{{[a-z0-9_]+}} by %{{[a-z0-9_]+}}) : (tensor<?x9x512xf8E4M3FN>, tensor<257x2048x512xf8E4M3FN>, tensor<?x9x4xf32>, tensor<257x16x4xf32>, tensor<?x9xi32>, tensor<?x9xf32>) -> tensor<?x2048xbf16>{{$}}
  %3 = netra.moe_down_reduce %1, %w2 scales(%2, %s2) experts(%ids by %ws) : (tensor<?x9x512xf8E4M3FN>, tensor<257x2048x512xf8E4M3FN>, tensor<?x9x4xf32>, tensor<257x16x4xf32>, tensor<?x9xi32>, tensor<?x9xf32>) -> tensor<?x2048xbf16>
  // CHECK: netra.moe_gate_up %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} scales(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) experts(%{{[a-z0-9_]+}}) {activation = #netra.activation<gelu_tanh>} : (tensor<?x2048xf8E4M3FN>, tensor<257x1024x2048xf8E4M3FN, #netra.layout<n16k16>>, tensor<?x16xf32>, tensor<257x8x16xf32>, tensor<?x9xi32>) -> tensor<?x9x512xbf16>{{$}}
  %4 = netra.moe_gate_up %x, %w1 scales(%sx, %s1) experts(%ids) {activation = #netra.activation<gelu_tanh>} : (tensor<?x2048xf8E4M3FN>, tensor<257x1024x2048xf8E4M3FN, #netra.layout<n16k16>>, tensor<?x16xf32>, tensor<257x8x16xf32>, tensor<?x9xi32>) -> tensor<?x9x512xbf16>
  // CHECK: netra.moe_down_reduce %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} scales(%{{[a-z0-9_]+}}) experts(%{{[a-z0-9_]+}} by %{{[a-z0-9_]+}}) residual(%{{[a-z0-9_]+}}) : (tensor<?x9x512xbf16>, tensor<257x2048x512xf8E4M3FN>, tensor<257x16x4xf32>, tensor<?x9xi32>, tensor<?x9xf32>, tensor<?x2048xbf16>) -> tensor<?x2048xbf16>{{$}}
  %5 = netra.moe_down_reduce %4, %w2 scales(%s2) experts(%ids by %ws) residual(%r) : (tensor<?x9x512xbf16>, tensor<257x2048x512xf8E4M3FN>, tensor<257x16x4xf32>, tensor<?x9xi32>, tensor<?x9xf32>, tensor<?x2048xbf16>) -> tensor<?x2048xbf16>
  return
}
