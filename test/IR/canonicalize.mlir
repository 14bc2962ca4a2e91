// RUN: netra-opt --canonicalize %s | FileCheck %s

netra.parameter @w : tensor<64x32xbf16> checkpoint("w")

// CHECK-LABEL: func.func @dead(
// CHECK-NEXT: return
func.func @dead() {
  %0 = netra.get @w : tensor<64x32xbf16>
  return
}

// A fallback may have effects, and stays.
// CHECK-LABEL: func.func @dead_fallback(
// CHECK: netra.fallback "f"
func.func @dead_fallback(%x: tensor<4xbf16>) {
  %0 = netra.fallback "f" (%x) reason("r") : (tensor<4xbf16>) -> tensor<4xbf16>
  return
}

// CHECK-LABEL: func.func @cast_to_same(
// CHECK-SAME: %[[X:.*]]: tensor<4xbf16>
// CHECK-NEXT: return %[[X]]
func.func @cast_to_same(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = netra.cast %x : tensor<4xbf16> to tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @cast_there_and_back(
// CHECK-SAME: %[[X:.*]]: tensor<4xbf16>
// CHECK-NEXT: return %[[X]]
func.func @cast_there_and_back(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = netra.cast %x : tensor<4xbf16> to tensor<4xf32>
  %1 = netra.cast %0 : tensor<4xf32> to tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @cast_widened_first(
// CHECK-SAME: %[[X:.*]]: tensor<4xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.cast %[[X]] : tensor<4xbf16> to tensor<4xf16>
// CHECK-NEXT: return %[[Y]]
func.func @cast_widened_first(%x: tensor<4xbf16>) -> tensor<4xf16> {
  %0 = netra.cast %x : tensor<4xbf16> to tensor<4xf32>
  %1 = netra.cast %0 : tensor<4xf32> to tensor<4xf16>
  return %1 : tensor<4xf16>
}

// Narrowing first loses bits, so that nothing may go.
// CHECK-LABEL: func.func @cast_narrowed_first(
// CHECK: netra.cast %{{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: netra.cast %{{.*}} : tensor<4xbf16> to tensor<4xf32>
func.func @cast_narrowed_first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = netra.cast %x : tensor<4xf32> to tensor<4xbf16>
  %1 = netra.cast %0 : tensor<4xbf16> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// f16 does not hold every bf16.
// CHECK-LABEL: func.func @cast_between_halves(
// CHECK: netra.cast %{{.*}} : tensor<4xbf16> to tensor<4xf16>
// CHECK: netra.cast %{{.*}} : tensor<4xf16> to tensor<4xbf16>
func.func @cast_between_halves(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = netra.cast %x : tensor<4xbf16> to tensor<4xf16>
  %1 = netra.cast %0 : tensor<4xf16> to tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @reshape_to_same(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16>
// CHECK-NEXT: return %[[X]]
func.func @reshape_to_same(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %0 = netra.reshape %x : tensor<4x8xbf16> to tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @reshape_twice(
// CHECK-SAME: %[[X:.*]]: tensor<1x?x8xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.reshape %[[X]] : tensor<1x?x8xbf16> to tensor<?x2x4xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @reshape_twice(%x: tensor<1x?x8xbf16>) -> tensor<?x2x4xbf16> {
  %0 = netra.reshape %x : tensor<1x?x8xbf16> to tensor<?x8xbf16>
  %1 = netra.reshape %0 : tensor<?x8xbf16> to tensor<?x2x4xbf16>
  return %1 : tensor<?x2x4xbf16>
}

// CHECK-LABEL: func.func @reshape_there_and_back(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16>
// CHECK-NEXT: return %[[X]]
func.func @reshape_there_and_back(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %0 = netra.reshape %x : tensor<4x8xbf16> to tensor<32xbf16>
  %1 = netra.reshape %0 : tensor<32xbf16> to tensor<4x8xbf16>
  return %1 : tensor<4x8xbf16>
}

// The one dynamic extent is what the number of elements makes it.
// CHECK-LABEL: func.func @reshape_dynamic_there_and_back(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xbf16>
// CHECK-NEXT: return %[[X]]
func.func @reshape_dynamic_there_and_back(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = netra.reshape %x : tensor<?x8xbf16> to tensor<?x2x4xbf16>
  %1 = netra.reshape %0 : tensor<?x2x4xbf16> to tensor<?x8xbf16>
  return %1 : tensor<?x8xbf16>
}

// CHECK-LABEL: func.func @transpose_by_nothing(
// CHECK-SAME: %[[X:.*]]: tensor<4x4xbf16>
// CHECK-NEXT: return %[[X]]
func.func @transpose_by_nothing(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  %0 = netra.transpose %x [0, 1] : tensor<4x4xbf16> to tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}

// CHECK-LABEL: func.func @transpose_square(
// CHECK: netra.transpose
func.func @transpose_square(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  %0 = netra.transpose %x [1, 0] : tensor<4x4xbf16> to tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}

// CHECK-LABEL: func.func @layout_there_and_back(
// CHECK-SAME: %[[X:.*]]: tensor<16x32xbf16>
// CHECK-NEXT: return %[[X]]
func.func @layout_there_and_back(%x: tensor<16x32xbf16>) -> tensor<16x32xbf16> {
  %0 = netra.layout_convert %x : tensor<16x32xbf16> to tensor<16x32xbf16, #netra.layout<n16k16>>
  %1 = netra.layout_convert %0 : tensor<16x32xbf16, #netra.layout<n16k16>> to tensor<16x32xbf16>
  return %1 : tensor<16x32xbf16>
}

// CHECK-LABEL: func.func @layout_through_another(
// CHECK-SAME: %[[X:.*]]: tensor<16x32xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.layout_convert %[[X]] : tensor<16x32xbf16> to tensor<16x32xbf16, #netra.layout<n16k16>>
// CHECK-NEXT: return %[[Y]]
func.func @layout_through_another(%x: tensor<16x32xbf16>) -> tensor<16x32xbf16, #netra.layout<n16k16>> {
  %0 = netra.layout_convert %x : tensor<16x32xbf16> to tensor<16x32xbf16, #netra.layout<group_major>>
  %1 = netra.layout_convert %0 : tensor<16x32xbf16, #netra.layout<group_major>> to tensor<16x32xbf16, #netra.layout<n16k16>>
  return %1 : tensor<16x32xbf16, #netra.layout<n16k16>>
}

// CHECK-LABEL: func.func @constants_merge(
// CHECK-NEXT: %[[C:.*]] = netra.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @constants_merge() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = netra.constant dense<1.0> : tensor<4xf32>
  %1 = netra.constant dense<1.0> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
