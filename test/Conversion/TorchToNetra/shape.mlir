// RUN: netra-opt %s --convert-torch-to-netra | FileCheck %s

// CHECK-LABEL: func.func @identities(
// CHECK-NEXT: return %arg0
func.func @identities(%x: !torch.vtensor<[4,32],bf16>) -> !torch.vtensor<[4,32],bf16> {
  %none = torch.constant.none
  %0 = torch.constant.int 0
  %half = torch.constant.float 0.5
  %false = torch.constant.bool false
  %a = torch.aten.detach %x : !torch.vtensor<[4,32],bf16> -> !torch.vtensor<[4,32],bf16>
  %b = torch.aten.clone %a, %none : !torch.vtensor<[4,32],bf16>, !torch.none -> !torch.vtensor<[4,32],bf16>
  %c = torch.aten.contiguous %b, %0 : !torch.vtensor<[4,32],bf16>, !torch.int -> !torch.vtensor<[4,32],bf16>
  %d = torch.aten.alias %c : !torch.vtensor<[4,32],bf16> -> !torch.vtensor<[4,32],bf16>
  %e = torch.aten.dropout %d, %half, %false : !torch.vtensor<[4,32],bf16>, !torch.float, !torch.bool -> !torch.vtensor<[4,32],bf16>
  return %e : !torch.vtensor<[4,32],bf16>
}

// CHECK-LABEL: func.func @views(
// CHECK: netra.reshape %arg0 : tensor<4x32xbf16> to tensor<4x1x32xbf16>
// CHECK: netra.reshape %arg0 : tensor<4x32xbf16> to tensor<128xbf16>
// CHECK: netra.reshape %arg0 : tensor<4x32xbf16> to tensor<4x4x8xbf16>
// CHECK-NOT: netra.reshape
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %arg0
func.func @views(%x: !torch.vtensor<[4,32],bf16>)
    -> (!torch.vtensor<[4,1,32],bf16>, !torch.vtensor<[128],bf16>, !torch.vtensor<[4,4,8],bf16>, !torch.vtensor<[4,32],bf16>) {
  %m1 = torch.constant.int -1
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %4 = torch.constant.int 4
  %8 = torch.constant.int 8
  %a = torch.aten.unsqueeze %x, %1 : !torch.vtensor<[4,32],bf16>, !torch.int -> !torch.vtensor<[4,1,32],bf16>
  %b = torch.aten.flatten.using_ints %x, %0, %m1 : !torch.vtensor<[4,32],bf16>, !torch.int, !torch.int -> !torch.vtensor<[128],bf16>
  %l = torch.prim.ListConstruct %4, %m1, %8 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %c = torch.aten.view %x, %l : !torch.vtensor<[4,32],bf16>, !torch.list<int> -> !torch.vtensor<[4,4,8],bf16>
  %d = torch.aten.squeeze.dim %a, %1 : !torch.vtensor<[4,1,32],bf16>, !torch.int -> !torch.vtensor<[4,32],bf16>
  return %a, %b, %c, %d : !torch.vtensor<[4,1,32],bf16>, !torch.vtensor<[128],bf16>, !torch.vtensor<[4,4,8],bf16>, !torch.vtensor<[4,32],bf16>
}

// CHECK-LABEL: func.func @transpositions(
// CHECK-DAG: netra.transpose %arg0 [1, 0] : tensor<4x32xbf16> to tensor<32x4xbf16>
// CHECK-DAG: netra.reshape %arg1 : tensor<1x1x8x32xbf16> to tensor<1x8x1x32xbf16>
// CHECK-DAG: netra.transpose %arg1 [0, 1, 3, 2] : tensor<1x1x8x32xbf16> to tensor<1x1x32x8xbf16>
func.func @transpositions(%x: !torch.vtensor<[4,32],bf16>, %h: !torch.vtensor<[1,1,8,32],bf16>)
    -> (!torch.vtensor<[32,4],bf16>, !torch.vtensor<[1,8,1,32],bf16>, !torch.vtensor<[1,1,32,8],bf16>) {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %m1 = torch.constant.int -1
  %a = torch.aten.t %x : !torch.vtensor<[4,32],bf16> -> !torch.vtensor<[32,4],bf16>
  %b = torch.aten.transpose.int %h, %1, %2 : !torch.vtensor<[1,1,8,32],bf16>, !torch.int, !torch.int -> !torch.vtensor<[1,8,1,32],bf16>
  %c = torch.aten.transpose.int %h, %2, %m1 : !torch.vtensor<[1,1,8,32],bf16>, !torch.int, !torch.int -> !torch.vtensor<[1,1,32,8],bf16>
  return %a, %b, %c : !torch.vtensor<[32,4],bf16>, !torch.vtensor<[1,8,1,32],bf16>, !torch.vtensor<[1,1,32,8],bf16>
}

// Nothing that is not needed is looked at.
// CHECK-LABEL: func.func @dead(
// CHECK-NEXT: return %arg0
func.func @dead(%x: !torch.vtensor<[4,32],bf16>) -> !torch.vtensor<[4,32],bf16> {
  %1 = torch.constant.int 1
  %n = torch.aten.size.int %x, %1 : !torch.vtensor<[4,32],bf16>, !torch.int -> !torch.int
  %t = torch.constant.bool true
  %g = torch.aten.ge.int %n, %1 : !torch.int, !torch.int -> !torch.bool
  torch.runtime.assert %g, "at least one"
  %m = torch.constant.str "message"
  torch.aten._assert_scalar %n, %m : !torch.int, !torch.str
  %d = torch.aten.some_function %x : !torch.vtensor<[4,32],bf16> -> !torch.vtensor<[4,32],bf16>
  return %x : !torch.vtensor<[4,32],bf16>
}
