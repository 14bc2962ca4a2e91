// Matrix products: the weight comes out as [N, K], activations as rows.
// RUN: netra-opt %s --convert-torch-to-netra -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @mm_transposed(
// CHECK-SAME: %[[X:.*]]: tensor<4x64xbf16>, %[[W:.*]]: tensor<32x64xbf16>) -> tensor<4x32xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.dense %[[X]], %[[W]] : (tensor<4x64xbf16>, tensor<32x64xbf16>) -> tensor<4x32xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @mm_transposed(%x: !torch.vtensor<[4,64],bf16>, %w: !torch.vtensor<[32,64],bf16>) -> !torch.vtensor<[4,32],bf16> {
  %m2 = torch.constant.int -2
  %m1 = torch.constant.int -1
  %t = torch.aten.transpose.int %w, %m2, %m1 : !torch.vtensor<[32,64],bf16>, !torch.int, !torch.int -> !torch.vtensor<[64,32],bf16>
  %y = torch.aten.mm %x, %t : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64,32],bf16> -> !torch.vtensor<[4,32],bf16>
  return %y : !torch.vtensor<[4,32],bf16>
}

// CHECK-LABEL: func.func @mm_t(
// CHECK-NEXT: netra.dense %{{.*}}, %arg1 : (tensor<4x64xf16>, tensor<32x64xf16>)
func.func @mm_t(%x: !torch.vtensor<[4,64],f16>, %w: !torch.vtensor<[32,64],f16>) -> !torch.vtensor<[4,32],f16> {
  %t = torch.aten.t %w : !torch.vtensor<[32,64],f16> -> !torch.vtensor<[64,32],f16>
  %d = torch.aten.detach %t : !torch.vtensor<[64,32],f16> -> !torch.vtensor<[64,32],f16>
  %y = torch.aten.mm %x, %d : !torch.vtensor<[4,64],f16>, !torch.vtensor<[64,32],f16> -> !torch.vtensor<[4,32],f16>
  return %y : !torch.vtensor<[4,32],f16>
}

// CHECK-LABEL: func.func @mm_permute(
// CHECK-NEXT: netra.dense %{{.*}}, %arg1 : (tensor<4x64xf32>, tensor<32x64xf32>)
func.func @mm_permute(%x: !torch.vtensor<[4,64],f32>, %w: !torch.vtensor<[32,64],f32>) -> !torch.vtensor<[4,32],f32> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %l = torch.prim.ListConstruct %1, %0 : (!torch.int, !torch.int) -> !torch.list<int>
  %t = torch.aten.permute %w, %l : !torch.vtensor<[32,64],f32>, !torch.list<int> -> !torch.vtensor<[64,32],f32>
  %y = torch.aten.mm %x, %t : !torch.vtensor<[4,64],f32>, !torch.vtensor<[64,32],f32> -> !torch.vtensor<[4,32],f32>
  return %y : !torch.vtensor<[4,32],f32>
}

// A conversion on either side of the transposition stays, once.
// CHECK-LABEL: func.func @converted_weight(
// CHECK: %[[C:.*]] = netra.cast %arg1 : tensor<32x64xf32> to tensor<32x64xf16>
// CHECK-NEXT: netra.dense %arg0, %[[C]] :
// CHECK-NEXT: return
func.func @converted_weight(%x: !torch.vtensor<[4,64],f16>, %w: !torch.vtensor<[32,64],f32>) -> !torch.vtensor<[4,32],f16> {
  %5 = torch.constant.int 5
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %t = torch.aten.transpose.int %w, %0, %1 : !torch.vtensor<[32,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[64,32],f32>
  %c = torch.prims.convert_element_type %t, %5 : !torch.vtensor<[64,32],f32>, !torch.int -> !torch.vtensor<[64,32],f16>
  %c2 = torch.prims.convert_element_type %c, %5 : !torch.vtensor<[64,32],f16>, !torch.int -> !torch.vtensor<[64,32],f16>
  %y = torch.aten.mm %x, %c2 : !torch.vtensor<[4,64],f16>, !torch.vtensor<[64,32],f16> -> !torch.vtensor<[4,32],f16>
  return %y : !torch.vtensor<[4,32],f16>
}

// CHECK-LABEL: func.func @mm_plain(
// CHECK-NEXT: %[[T:.*]] = netra.transpose %arg1 [1, 0] : tensor<64x32xbf16> to tensor<32x64xbf16>
// CHECK-NEXT: netra.dense %arg0, %[[T]] :
func.func @mm_plain(%x: !torch.vtensor<[4,64],bf16>, %w: !torch.vtensor<[64,32],bf16>) -> !torch.vtensor<[4,32],bf16> {
  %y = torch.aten.mm %x, %w : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64,32],bf16> -> !torch.vtensor<[4,32],bf16>
  return %y : !torch.vtensor<[4,32],bf16>
}

// CHECK-LABEL: func.func @matmul_rank3(
// CHECK-NEXT: %[[R:.*]] = netra.reshape %arg0 : tensor<2x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.dense %[[R]], %arg1 : (tensor<?x64xbf16>, tensor<32x64xbf16>) -> tensor<?x32xbf16>
// CHECK-NEXT: %[[F:.*]] = netra.reshape %[[Y]] : tensor<?x32xbf16> to tensor<2x?x32xbf16>
// CHECK-NEXT: return %[[F]]
func.func @matmul_rank3(%x: !torch.vtensor<[2,?,64],bf16>, %w: !torch.vtensor<[32,64],bf16>) -> !torch.vtensor<[2,?,32],bf16> {
  %t = torch.aten.t %w : !torch.vtensor<[32,64],bf16> -> !torch.vtensor<[64,32],bf16>
  %y = torch.aten.matmul %x, %t : !torch.vtensor<[2,?,64],bf16>, !torch.vtensor<[64,32],bf16> -> !torch.vtensor<[2,?,32],bf16>
  return %y : !torch.vtensor<[2,?,32],bf16>
}

// CHECK-LABEL: func.func @matmul_rank1(
// CHECK: netra.dense {{.*}} : (tensor<1x64xbf16>, tensor<32x64xbf16>) -> tensor<1x32xbf16>
// CHECK-NEXT: netra.reshape {{.*}} : tensor<1x32xbf16> to tensor<32xbf16>
func.func @matmul_rank1(%x: !torch.vtensor<[64],bf16>, %w: !torch.vtensor<[32,64],bf16>) -> !torch.vtensor<[32],bf16> {
  %t = torch.aten.t %w : !torch.vtensor<[32,64],bf16> -> !torch.vtensor<[64,32],bf16>
  %y = torch.aten.matmul %x, %t : !torch.vtensor<[64],bf16>, !torch.vtensor<[64,32],bf16> -> !torch.vtensor<[32],bf16>
  return %y : !torch.vtensor<[32],bf16>
}

// Two products, and the views between them: no reshape but at the borders.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: netra.reshape
// CHECK-NEXT: netra.dense
// CHECK-NEXT: netra.dense
// CHECK-NEXT: netra.reshape
// CHECK-NEXT: return
func.func @chain(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64,64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %64 = torch.constant.int 64
  %n = torch.aten.size.int %x, %1 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.int
  %l2 = torch.prim.ListConstruct %n, %64 : (!torch.int, !torch.int) -> !torch.list<int>
  %l3 = torch.prim.ListConstruct %1, %n, %64 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %t = torch.aten.transpose.int %w, %0, %1 : !torch.vtensor<[64,64],bf16>, !torch.int, !torch.int -> !torch.vtensor<[64,64],bf16>
  %a = torch.aten.view %x, %l2 : !torch.vtensor<[1,?,64],bf16>, !torch.list<int> -> !torch.vtensor<[?,64],bf16>
  %b = torch.aten.mm %a, %t : !torch.vtensor<[?,64],bf16>, !torch.vtensor<[64,64],bf16> -> !torch.vtensor<[?,64],bf16>
  %c = torch.aten._unsafe_view %b, %l3 : !torch.vtensor<[?,64],bf16>, !torch.list<int> -> !torch.vtensor<[1,?,64],bf16>
  %d = torch.aten.view %c, %l2 : !torch.vtensor<[1,?,64],bf16>, !torch.list<int> -> !torch.vtensor<[?,64],bf16>
  %e = torch.aten.mm %d, %t : !torch.vtensor<[?,64],bf16>, !torch.vtensor<[64,64],bf16> -> !torch.vtensor<[?,64],bf16>
  %f = torch.aten.reshape %e, %l3 : !torch.vtensor<[?,64],bf16>, !torch.list<int> -> !torch.vtensor<[1,?,64],bf16>
  return %f : !torch.vtensor<[1,?,64],bf16>
}

// CHECK-LABEL: func.func @linear(
// CHECK-NEXT: %[[Y:.*]] = netra.dense %arg0, %arg1 bias(%arg2) : (tensor<4x64xbf16>, tensor<32x64xbf16>, tensor<32xbf16>) -> tensor<4x32xbf16>
// CHECK-NEXT: netra.dense %arg0, %arg1 : (tensor<4x64xbf16>, tensor<32x64xbf16>) -> tensor<4x32xbf16>
func.func @linear(%x: !torch.vtensor<[4,64],bf16>, %w: !torch.vtensor<[32,64],bf16>, %b: !torch.vtensor<[32],bf16>) -> (!torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>) {
  %none = torch.constant.none
  %y = torch.aten.linear %x, %w, %b : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[32,64],bf16>, !torch.vtensor<[32],bf16> -> !torch.vtensor<[4,32],bf16>
  %z = torch.aten.linear %x, %w, %none : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[32,64],bf16>, !torch.none -> !torch.vtensor<[4,32],bf16>
  return %y, %z : !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>
}

// CHECK-LABEL: func.func @addmm(
// CHECK-NEXT: netra.dense %arg0, %arg1 bias(%arg2) :
// CHECK-NEXT: netra.dense %arg0, %arg1 residual(%arg3) :
func.func @addmm(%x: !torch.vtensor<[4,64],bf16>, %w: !torch.vtensor<[32,64],bf16>, %b: !torch.vtensor<[32],bf16>, %r: !torch.vtensor<[4,32],bf16>) -> (!torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>) {
  %1 = torch.constant.int 1
  %t = torch.aten.t %w : !torch.vtensor<[32,64],bf16> -> !torch.vtensor<[64,32],bf16>
  %y = torch.aten.addmm %b, %x, %t, %1, %1 : !torch.vtensor<[32],bf16>, !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64,32],bf16>, !torch.int, !torch.int -> !torch.vtensor<[4,32],bf16>
  %z = torch.aten.addmm %r, %x, %t, %1, %1 : !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64,32],bf16>, !torch.int, !torch.int -> !torch.vtensor<[4,32],bf16>
  return %y, %z : !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>
}

// Two products of one operand share its quantization.
// CHECK-LABEL: func.func @block_scaled(
// CHECK: %[[Q:.*]], %[[S:.*]] = netra.quantize_blocks %{{.*}} {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<?x256xbf16> -> tensor<?x256xf8E4M3FN>, tensor<?x2xf32>
// CHECK-NEXT: netra.dense %[[Q]], %arg1 scales(%[[S]], %arg2) : (tensor<?x256xf8E4M3FN>, tensor<192x256xf8E4M3FN>, tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x192xbf16>
// CHECK-NOT: netra.quantize_blocks
// CHECK: netra.dense %[[Q]]
func.func @block_scaled(%x: !torch.vtensor<[1,?,256],bf16>, %w: !torch.vtensor<[192,256],f8E4M3FN>, %s: !torch.vtensor<[2,2],f32>) -> (!torch.vtensor<[1,?,192],bf16>, !torch.vtensor<[1,?,192],bf16>) {
  %y = torch.operator "torch.netra.block_scaled_linear"(%x, %w, %s) : (!torch.vtensor<[1,?,256],bf16>, !torch.vtensor<[192,256],f8E4M3FN>, !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[1,?,192],bf16>
  %z = torch.operator "torch.netra.block_scaled_linear.default"(%x, %w, %s) : (!torch.vtensor<[1,?,256],bf16>, !torch.vtensor<[192,256],f8E4M3FN>, !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[1,?,192],bf16>
  return %y, %z : !torch.vtensor<[1,?,192],bf16>, !torch.vtensor<[1,?,192],bf16>
}
