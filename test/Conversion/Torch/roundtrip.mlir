// Everything is printed in the form that is read: a second reading gives the
// same text.
// RUN: netra-opt %s | netra-opt | FileCheck %s
// RUN: netra-opt %s -o %t.1 && netra-opt %t.1 -o %t.2 && diff %t.1 %t.2
// The generic form reads back to the same text, too.
// RUN: netra-opt %s --mlir-print-op-generic | netra-opt -o %t.3 && diff %t.1 %t.3

// CHECK: util.global private mutable @state : tensor<4xf32>
util.global private mutable @state : tensor<4xf32>
// CHECK: util.global private @ones {noinline} = dense<1.000000e+00> : tensor<4xf32>
util.global private @ones {noinline} = dense<1.0> : tensor<4xf32>
// CHECK: util.global private @blob = dense_resource<blob> : tensor<1xf32>
util.global private @blob = dense_resource<blob> : tensor<1xf32>
// CHECK: util.global private @key = #stream.parameter.named<"key"> : tensor<4xf32>
util.global private @key = #stream.parameter.named<"key"> : tensor<4xf32>
// CHECK: util.global @"a b" = #stream.parameter.named<"scope"::"key \22quoted\22", {config = 1 : i64}> : tensor<4xf32>
util.global public @"a b" : tensor<4xf32> = #stream.parameter.named<"scope"::"key \"quoted\"", {config = 1 : i64}>

// CHECK-LABEL: func.func private @types(
// CHECK-SAME: !torch.vtensor, !torch.vtensor<*,bf16>, !torch.vtensor<[],unk>,
// CHECK-SAME: !torch.vtensor<[1,?,2048],bf16>, !torch.vtensor<[2],ui8>, !torch.vtensor<[2],si64>, !torch.vtensor<[2],f8E4M3FN>, !torch.vtensor<[2],complex<f32>>,
// CHECK-SAME: !torch.tensor, !torch.tensor<[?,24576],f16>,
// CHECK-SAME: !torch.int, !torch.float, !torch.bool, !torch.none, !torch.str, !torch.Device, !torch.Generator, !torch.number, !torch.any,
// CHECK-SAME: !torch.list<optional<vtensor>>, !torch.list<vtensor>, !torch.list<list<int>>, !torch.optional<vtensor<[2],f32>>,
// CHECK-SAME: !torch.tuple<int, list<vtensor>, none, tensor<[2],si8>>, !torch.tuple<>, !torch.dict<str, any>, !torch.list<int>)
func.func private @types(
  !torch.vtensor, !torch.vtensor<*,bf16>, !torch.vtensor<[],unk>,
  !torch.vtensor<[1,?,2048],bf16>, !torch.vtensor<[2],ui8>, !torch.vtensor<[2],si64>, !torch.vtensor<[2],f8E4M3FN>, !torch.vtensor<[2],complex<f32>>,
  !torch.tensor, !torch.tensor<[?,24576],f16>,
  !torch.int, !torch.float, !torch.bool, !torch.none, !torch.str, !torch.Device, !torch.Generator, !torch.number, !torch.any,
  !torch.list<optional<vtensor>>, !torch.list<vtensor>, !torch.list<list<int>>, !torch.optional<vtensor<[2],f32>>,
  !torch.tuple<int, list<vtensor>, none, tensor<[2],si8>>, !torch.tuple<>, !torch.dict<str, any>, !torch.list<!torch.int>)

// CHECK-LABEL: func.func @operations
func.func @operations(%a: !torch.vtensor<[?,8],f32>, %m: !torch.tensor<[?,24576],f16>, %t: tensor<4xf32>, %d: tensor<?xf32>, %i: index)
    -> !torch.optional<int> attributes {torch.assume_strict_symbolic_shapes} {
  // Default form, of operations that are not defined.
  // CHECK: %{{.*}}:2 = torch.aten.topk %{{.*}}, %{{.*}} {largest = 1 : i64} : !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32> -> !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si64>
  %r:2 = torch.aten.topk %a, %a {largest = 1 : i64} : !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32> -> !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si64>
  // CHECK: torch.aten.zero_ %{{.*}} : !torch.vtensor<[?,8],f32>
  torch.aten.zero_ %a : !torch.vtensor<[?,8],f32>
  // CHECK: torch.aten.nothing -> !torch.int
  %n = torch.aten.nothing -> !torch.int
  // CHECK: torch.aten.neither
  torch.aten.neither
  // CHECK-NEXT: torch.aten.__and__.Tensor
  %and = torch.aten.__and__.Tensor %a, %a : !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32> -> (!torch.vtensor<[?,8],f32>)
  // Constants, lists and literals.
  // CHECK: %int-3 = torch.constant.int -3
  %c0 = torch.constant.int -3
  // CHECK: torch.constant.float 0x7FF0000000000000
  %c1 = torch.constant.float 0x7FF0000000000000
  // CHECK: torch.constant.float 9.9999999999999995E-7
  %c2 = torch.constant.float 1.000000e-06
  // CHECK: %true = torch.constant.bool true
  %c3 = torch.constant.bool true
  // CHECK: %none = torch.constant.none
  %c4 = torch.constant.none
  // CHECK: %str = torch.constant.str "tanh"
  %c5 = torch.constant.str "tanh"
  // CHECK: %cpu = torch.constant.device "cpu"
  %c6 = torch.constant.device "cpu"
  // CHECK: torch.prim.ListConstruct : () -> !torch.list<int>
  %l0 = torch.prim.ListConstruct : () -> !torch.list<int>
  // CHECK: torch.prim.ListConstruct %{{.*}}, %{{.*}} : (!torch.int, !torch.int) -> !torch.list<int>
  %l1 = torch.prim.ListConstruct %c0, %n : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK: torch.vtensor.literal(dense<0> : tensor<si64>) : !torch.vtensor<[],si64>
  %v0 = torch.vtensor.literal(dense<0> : tensor<si64>) : !torch.vtensor<[],si64>
  // CHECK: torch.vtensor.literal(dense_resource<blob> : tensor<1xf32>) : !torch.vtensor<[1],f32>
  %v1 = torch.vtensor.literal(dense_resource<blob> : tensor<1xf32>) : !torch.vtensor<[1],f32>
  // CHECK: torch.operator "torch.x.y"(%{{.*}}, %{{.*}}) {flag} : (!torch.vtensor<[?,8],f32>, !torch.none) -> (!torch.int, !torch.int)
  %o:2 = torch.operator "torch.x.y"(%a, %c4) {flag} : (!torch.vtensor<[?,8],f32>, !torch.none) -> (!torch.int, !torch.int)
  // CHECK: torch.operator "torch.x.z"() : () -> ()
  torch.operator "torch.x.z"() : () -> ()
  // Symbolic shapes and state.
  // CHECK: %[[S:.*]] = torch.symbolic_int "s0" {min_val = 2, max_val = 9223372036854775807} : !torch.int
  %s = torch.symbolic_int "s0" {min_val = 2, max_val = 9223372036854775807} : !torch.int
  // CHECK: torch.bind_symbolic_shape %{{.*}}, [%[[S]]], affine_map<()[s0] -> (s0 * 32, 8)> : !torch.vtensor<[?,8],f32>
  torch.bind_symbolic_shape %a, [%s], affine_map<()[s0] -> (s0 * 32, 8)> : !torch.vtensor<[?,8],f32>
  // CHECK: torch.copy.to_vtensor %{{.*}} : !torch.vtensor<[?,24576],f16>
  %cp = torch.copy.to_vtensor %m : !torch.vtensor<[?,24576],f16>
  // CHECK: torch.copy.to_tensor %{{.*}} : !torch.tensor<[?,24576],f16>
  %ct = torch.copy.to_tensor %cp : !torch.tensor<[?,24576],f16>
  // CHECK: torch.overwrite.tensor.contents %{{.*}} overwrites %{{.*}} : !torch.vtensor<[?,24576],f16>, !torch.tensor<[?,24576],f16>
  torch.overwrite.tensor.contents %cp overwrites %m : !torch.vtensor<[?,24576],f16>, !torch.tensor<[?,24576],f16>
  // CHECK: torch.runtime.assert %true, "positive"
  torch.runtime.assert %c3, "positive"
  // Borders and placement.
  // CHECK: torch_c.from_builtin_tensor %{{.*}} : tensor<4xf32> -> !torch.vtensor<[4],f32>
  %b0 = torch_c.from_builtin_tensor %t : tensor<4xf32> -> !torch.vtensor<[4],f32>
  // CHECK: torch_c.to_builtin_tensor %{{.*}} : !torch.vtensor<[4],f32> -> tensor<4xf32>
  %b1 = torch_c.to_builtin_tensor %b0 : !torch.vtensor<[4],f32> -> tensor<4xf32>
  // CHECK: flow.tensor.transfer %{{.*}} : tensor<4xf32> to #hal.device.promise<@__device_0>
  %p0 = flow.tensor.transfer %t : tensor<4xf32> to #hal.device.promise<@__device_0>
  // CHECK: flow.tensor.barrier %{{.*}} : tensor<?xf32>{%{{.*}}} on #hal.device.affinity<@__device_0, [1, 2]>
  %p1 = flow.tensor.barrier %d : tensor<?xf32>{%i} on #hal.device.affinity<@__device_0, [1, 2]>
  // CHECK: util.global.load @ones : tensor<4xf32>
  %g = util.global.load @ones : tensor<4xf32>
  // CHECK: util.call @helper(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %u = util.call @helper(%g) : (tensor<4xf32>) -> tensor<4xf32>
  // Regions have no place in the default form.
  // CHECK: "torch.prim.If"(%true) ({
  // CHECK: torch.prim.If.yield
  %z = "torch.prim.If"(%c3) ({
    torch.prim.If.yield %n : !torch.int
  }, {
    torch.prim.If.yield %c0 : !torch.int
  }) : (!torch.bool) -> !torch.int
  // CHECK: torch.derefine %{{.*}} : !torch.int to !torch.optional<int>
  %de = torch.derefine %z : !torch.int to !torch.optional<int>
  return %de : !torch.optional<int>
}

// CHECK-LABEL: util.func private @helper(
// CHECK: util.return %{{.*}} : tensor<4xf32>
util.func private @helper(%a: tensor<4xf32>) -> tensor<4xf32> {
  util.return %a : tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F"
    }
  }
#-}
