// RUN: netra-opt %s --convert-torch-to-netra | FileCheck %s

!b = !torch.vtensor<[4,32],bf16>
!f = !torch.vtensor<[4,32],f32>

// CHECK-LABEL: func.func @activations(
// CHECK-NEXT: netra.activation %arg0 {activation = #netra.activation<silu>} : tensor<4x32xbf16>
// CHECK-NEXT: netra.activation %arg0 {activation = #netra.activation<sigmoid>} : tensor<4x32xbf16>
// CHECK-NEXT: netra.activation %arg0 {activation = #netra.activation<gelu_erf>} : tensor<4x32xbf16>
// CHECK-NEXT: netra.activation %arg0 {activation = #netra.activation<gelu_tanh>} : tensor<4x32xbf16>
func.func @activations(%x: !b) -> (!b, !b, !b, !b) {
  %none = torch.constant.str "none"
  %tanh = torch.constant.str "tanh"
  %0 = torch.aten.silu %x : !b -> !b
  %1 = torch.aten.sigmoid %x : !b -> !b
  %2 = torch.aten.gelu %x, %none : !b, !torch.str -> !b
  %3 = torch.aten.gelu %x, %tanh : !b, !torch.str -> !b
  return %0, %1, %2, %3 : !b, !b, !b, !b
}

// CHECK-LABEL: func.func @silu_spelled_out(
// CHECK-NEXT: netra.activation %arg0 {activation = #netra.activation<silu>}
// CHECK-NEXT: netra.activation %arg0 {activation = #netra.activation<silu>}
// CHECK-NEXT: return
func.func @silu_spelled_out(%x: !b) -> (!b, !b) {
  %s = torch.aten.sigmoid %x : !b -> !b
  %0 = torch.aten.mul.Tensor %x, %s : !b, !b -> !b
  %1 = torch.aten.mul.Tensor %s, %x : !b, !b -> !b
  return %0, %1 : !b, !b
}

// Computed in f32 between conversions, as decompositions have it.
// CHECK-LABEL: func.func @silu_widened(
// CHECK-NEXT: %[[Y:.*]] = netra.activation %arg0 {activation = #netra.activation<silu>} : tensor<4x32xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @silu_widened(%x: !b) -> !b {
  %6 = torch.constant.int 6
  %15 = torch.constant.int 15
  %w = torch.prims.convert_element_type %x, %6 : !b, !torch.int -> !f
  %s = torch.aten.sigmoid %w : !f -> !f
  %m = torch.aten.mul.Tensor %w, %s : !f, !f -> !f
  %y = torch.prims.convert_element_type %m, %15 : !f, !torch.int -> !b
  return %y : !b
}

// CHECK-LABEL: func.func @gated(
// CHECK-NEXT: netra.gated %arg0, %arg1 {activation = #netra.activation<silu>}
// CHECK-NEXT: netra.gated %arg0, %arg1 {activation = #netra.activation<silu>}
// CHECK-NEXT: netra.gated %arg0, %arg1 {activation = #netra.activation<silu>}
// CHECK-NEXT: netra.gated %arg0, %arg1 {activation = #netra.activation<gelu_tanh>}
// CHECK-NEXT: return
func.func @gated(%g: !b, %u: !b) -> (!b, !b, !b, !b) {
  %tanh = torch.constant.str "tanh"
  %a0 = torch.aten.silu %g : !b -> !b
  %0 = torch.aten.mul.Tensor %a0, %u : !b, !b -> !b
  %a1 = torch.aten.silu %g : !b -> !b
  %1 = torch.aten.mul.Tensor %u, %a1 : !b, !b -> !b
  %s = torch.aten.sigmoid %g : !b -> !b
  %a2 = torch.aten.mul.Tensor %s, %g : !b, !b -> !b
  %2 = torch.aten.mul.Tensor %a2, %u : !b, !b -> !b
  %a3 = torch.aten.gelu %g, %tanh : !b, !torch.str -> !b
  %3 = torch.aten.mul.Tensor %a3, %u : !b, !b -> !b
  return %0, %1, %2, %3 : !b, !b, !b, !b
}

// An activated gate that is used elsewhere is computed once.
// CHECK-LABEL: func.func @not_gated(
// CHECK-NEXT: %[[A:.*]] = netra.activation %arg0
// CHECK-NEXT: netra.mul %[[A]], %arg1 : tensor<4x32xbf16>
func.func @not_gated(%g: !b, %u: !b) -> (!b, !b) {
  %a = torch.aten.silu %g : !b -> !b
  %0 = torch.aten.mul.Tensor %a, %u : !b, !b -> !b
  return %a, %0 : !b, !b
}

// CHECK-LABEL: func.func @sums(
// CHECK-NEXT: netra.add %arg0, %arg1 : tensor<4x32xbf16>
// CHECK-NEXT: netra.add %arg0, %arg2 : tensor<4x32xbf16>, tensor<32xbf16>
// CHECK-NEXT: netra.add %arg0, %arg2 : tensor<4x32xbf16>, tensor<32xbf16>
// CHECK-NEXT: netra.mul %arg0, %arg2 : tensor<4x32xbf16>, tensor<32xbf16>
func.func @sums(%x: !b, %y: !b, %v: !torch.vtensor<[32],bf16>) -> (!b, !b, !b, !b) {
  %1 = torch.constant.int 1
  %0 = torch.constant.int 0
  %row = torch.aten.unsqueeze %v, %0 : !torch.vtensor<[32],bf16>, !torch.int -> !torch.vtensor<[1,32],bf16>
  %a = torch.aten.add.Tensor %x, %y, %1 : !b, !b, !torch.int -> !b
  %b = torch.aten.add.Tensor %x, %v, %1 : !b, !torch.vtensor<[32],bf16>, !torch.int -> !b
  %c = torch.aten.add.Tensor %row, %x, %1 : !torch.vtensor<[1,32],bf16>, !b, !torch.int -> !b
  %d = torch.aten.mul.Tensor %v, %x : !torch.vtensor<[32],bf16>, !b -> !b
  return %a, %b, %c, %d : !b, !b, !b, !b
}

// torch widens the narrower operand; the conversion is made visible.
// CHECK-LABEL: func.func @widened(
// CHECK-NEXT: %[[C:.*]] = netra.cast %arg0 : tensor<4x32xbf16> to tensor<4x32xf32>
// CHECK-NEXT: netra.mul %[[C]], %arg1 : tensor<4x32xf32>
func.func @widened(%x: !b, %y: !f) -> !f {
  %0 = torch.aten.mul.Tensor %x, %y : !b, !f -> !f
  return %0 : !f
}

// CHECK-LABEL: func.func @neutral_scalars(
// CHECK-NEXT: return %arg0
func.func @neutral_scalars(%x: !b) -> !b {
  %1 = torch.constant.int 1
  %f1 = torch.constant.float 1.0
  %f0 = torch.constant.float 0.0
  %a = torch.aten.mul.Scalar %x, %f1 : !b, !torch.float -> !b
  %b = torch.aten.div.Scalar %a, %1 : !b, !torch.int -> !b
  %c = torch.aten.add.Scalar %b, %f0, %1 : !b, !torch.float, !torch.int -> !b
  return %c : !b
}

// CHECK-LABEL: func.func @conversions(
// CHECK-NEXT: %[[F:.*]] = netra.cast %arg0 : tensor<4x32xbf16> to tensor<4x32xf32>
// CHECK-NEXT: %[[H:.*]] = netra.cast %[[F]] : tensor<4x32xf32> to tensor<4x32xf16>
// CHECK-NEXT: return %[[F]], %[[H]], %arg0
func.func @conversions(%x: !b) -> (!f, !torch.vtensor<[4,32],f16>, !b) {
  %6 = torch.constant.int 6
  %5 = torch.constant.int 5
  %none = torch.constant.none
  %false = torch.constant.bool false
  %cpu = torch.constant.device "cpu"
  %a = torch.aten.to.dtype %x, %6, %false, %false, %none : !b, !torch.int, !torch.bool, !torch.bool, !torch.none -> !f
  %b = torch.prims.convert_element_type %a, %5 : !f, !torch.int -> !torch.vtensor<[4,32],f16>
  %c = torch.aten.to.dtype_layout %x, %none, %none, %cpu, %none, %false, %false, %none : !b, !torch.none, !torch.none, !torch.Device, !torch.none, !torch.bool, !torch.bool, !torch.none -> !b
  return %a, %b, %c : !f, !torch.vtensor<[4,32],f16>, !b
}
