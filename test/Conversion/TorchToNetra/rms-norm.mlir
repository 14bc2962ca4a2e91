// Every spelling of a root-mean-square norm becomes one operation.
// RUN: netra-opt %s --convert-torch-to-netra | FileCheck %s

// Llama, Qwen: weight times rounded norm.
// CHECK-LABEL: func.func @weight_first(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @weight_first(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}

// CHECK-LABEL: func.func @norm_first(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @norm_first(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %c, %w : !torch.vtensor<[1,?,64],bf16>, !torch.vtensor<[64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}

// CHECK-LABEL: func.func @root_first(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @root_first(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %r, %f : !torch.vtensor<[1,?,1],f32>, !torch.vtensor<[1,?,64],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}

// CHECK-LABEL: func.func @epsilon_tensor(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @epsilon_tensor(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %lit = torch.vtensor.literal(dense<1.000000e-06> : tensor<f32>) : !torch.vtensor<[],f32>
  %var = torch.aten.add.Tensor %mean, %lit, %1 : !torch.vtensor<[1,?,1],f32>, !torch.vtensor<[],f32>, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}

// CHECK-LABEL: func.func @square_as_product(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @square_as_product(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.mul.Tensor %f, %f : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,64],f32> -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}

// CHECK-LABEL: func.func @dimension_from_front(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @dimension_from_front(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int 2
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}

// Gemma, Qwen3-Next: one is added to the weight, all in f32.
// CHECK-LABEL: func.func @weight_plus_one(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32, weight_offset = 1.000000e+00 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @weight_plus_one(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %wf = torch.prims.convert_element_type %w, %6 : !torch.vtensor<[64],bf16>, !torch.int -> !torch.vtensor<[64],f32>
  %wp = torch.aten.add.Scalar %wf, %1, %1 : !torch.vtensor<[64],f32>, !torch.int, !torch.int -> !torch.vtensor<[64],f32>
  %m = torch.aten.mul.Tensor %n, %wp : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[64],f32> -> !torch.vtensor<[1,?,64],f32>
  %o = torch.prims.convert_element_type %m, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  return %o : !torch.vtensor<[1,?,64],bf16>
}

// CHECK-LABEL: func.func @weight_plus_one_rounded(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32, weight_offset = 1.000000e+00 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @weight_plus_one_rounded(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %wf = torch.prims.convert_element_type %w, %6 : !torch.vtensor<[64],bf16>, !torch.int -> !torch.vtensor<[64],f32>
  %wp = torch.aten.add.Scalar %wf, %1, %1 : !torch.vtensor<[64],f32>, !torch.int, !torch.int -> !torch.vtensor<[64],f32>
  %m = torch.aten.mul.Tensor %wp, %c : !torch.vtensor<[64],f32>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],f32>
  %o = torch.prims.convert_element_type %m, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  return %o : !torch.vtensor<[1,?,64],bf16>
}

// A weight of another type than the activation.
// CHECK-LABEL: func.func @f32_weight(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xf16> to tensor<?x64xf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xf16>, tensor<64xf32>) -> tensor<?x64xf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xf16> to tensor<1x?x64xf16>
// CHECK-NEXT: return
func.func @f32_weight(%x: !torch.vtensor<[1,?,64],f16>, %w: !torch.vtensor<[64],f32>) -> !torch.vtensor<[1,?,64],f16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 5
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],f16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],f32>, !torch.vtensor<[1,?,64],f16> -> !torch.vtensor<[1,?,64],f32>
  %o = torch.prims.convert_element_type %m, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f16>
  return %o : !torch.vtensor<[1,?,64],f16>
}

// CHECK-LABEL: func.func @all_f32(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xf32> to tensor<?x64xf32>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %arg1 {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xf32> to tensor<1x?x64xf32>
// CHECK-NEXT: return
func.func @all_f32(%x: !torch.vtensor<[1,?,64],f32>, %w: !torch.vtensor<[64],f32>) -> !torch.vtensor<[1,?,64],f32> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 6
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.aten.detach %x : !torch.vtensor<[1,?,64],f32> -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %m = torch.aten.mul.Tensor %w, %n : !torch.vtensor<[64],f32>, !torch.vtensor<[1,?,64],f32> -> !torch.vtensor<[1,?,64],f32>
  return %m : !torch.vtensor<[1,?,64],f32>
}

// CHECK-LABEL: func.func @weight_with_unit_dimension(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[W:.*]] = netra.reshape %arg1 : tensor<1x64xbf16> to tensor<64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %[[W]] {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @weight_with_unit_dimension(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[1,64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[1,64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}

// No weight: all ones.
// CHECK-LABEL: func.func @no_weight(
// CHECK-NEXT: %[[X:.*]] = netra.reshape %arg0 : tensor<1x?x64xbf16> to tensor<?x64xbf16>
// CHECK-NEXT: %[[W:.*]] = netra.constant dense<1.000000e+00> : tensor<64xbf16>
// CHECK-NEXT: %[[Y:.*]] = netra.rms_norm %[[X]], %[[W]] {epsilon = 9.99999997E-7 : f32} : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: netra.reshape %[[Y]] : tensor<?x64xbf16> to tensor<1x?x64xbf16>
// CHECK-NEXT: return
func.func @no_weight(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  return %c : !torch.vtensor<[1,?,64],bf16>
}

// CHECK-LABEL: func.func @whole(
// CHECK-NEXT: netra.rms_norm %arg0, %arg1 {epsilon = 9.99999974E-6 : f32} :
// CHECK-NEXT: %[[W:.*]] = netra.constant dense<1.000000e+00> : tensor<64xbf16>
// CHECK-NEXT: netra.rms_norm %arg0, %[[W]] {epsilon = 9.99999974E-6 : f32} :
// CHECK-NEXT: netra.rms_norm %arg0, %arg1 {epsilon = 9.99999974E-6 : f32} :
// CHECK-NEXT: return
func.func @whole(%x: !torch.vtensor<[4,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> (!torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,64],bf16>) {
  %64 = torch.constant.int 64
  %l = torch.prim.ListConstruct %64 : (!torch.int) -> !torch.list<int>
  %eps = torch.constant.float 1.000000e-05
  %none = torch.constant.none
  %a = torch.aten.rms_norm %x, %l, %w, %eps : !torch.vtensor<[4,64],bf16>, !torch.list<int>, !torch.vtensor<[64],bf16>, !torch.float -> !torch.vtensor<[4,64],bf16>
  %b = torch.aten.rms_norm %x, %l, %none, %eps : !torch.vtensor<[4,64],bf16>, !torch.list<int>, !torch.none, !torch.float -> !torch.vtensor<[4,64],bf16>
  %c, %r = torch.aten._fused_rms_norm %x, %l, %w, %eps : !torch.vtensor<[4,64],bf16>, !torch.list<int>, !torch.vtensor<[64],bf16>, !torch.float -> !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,1],f32>
  return %a, %b, %c : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,64],bf16>
}
