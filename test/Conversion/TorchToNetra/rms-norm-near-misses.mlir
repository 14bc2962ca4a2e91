// A norm that is nearly one: each part is reported, with what differs.
// RUN: netra-opt %s --convert-torch-to-netra -split-input-file -verify-diagnostics

// expected-remark-re @below {{not converted: {{[0-9]+}} operations: torch.aten.}}
module {
func.func @other_dimension(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int 1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  // expected-error-re @below {{'torch.aten.pow.Tensor_Scalar' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected a mean over the last dimension, found [1]}}
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  // expected-error-re @below {{'torch.aten.mean.dim' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected a mean over the last dimension, found [1]}}
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.add.Scalar' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected a mean over the last dimension, found [1]}}
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.rsqrt' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected a mean over the last dimension, found [1]}}
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.mul.Tensor' is not converted: expected operands of one shape, or one repeated along leading dimensions only, found [1,?,64] and [1,?,1]; nearest pattern: {{.*}}; expected a mean over the last dimension, found [1]}}
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}
}

// -----

// expected-remark-re @below {{not converted: {{[0-9]+}} operations: torch.aten.}}
module {
func.func @no_keepdim(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool false
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  // expected-error-re @below {{'torch.aten.pow.Tensor_Scalar' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected a mean with keepdim = true}}
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  // expected-error-re @below {{'torch.aten.mean.dim' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected a mean with keepdim = true}}
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.add.Scalar' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected a mean with keepdim = true}}
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.rsqrt' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected a mean with keepdim = true}}
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.mul.Tensor' is not converted: expected operands of one shape, or one repeated along leading dimensions only, found [1,?,64] and [1,?,1]; nearest pattern: {{.*}}; expected a mean with keepdim = true}}
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}
}

// -----

// expected-remark-re @below {{not converted: {{[0-9]+}} operations: torch.aten.}}
module {
func.func @cube(%x: !torch.vtensor<[1,?,64],bf16>, %w: !torch.vtensor<[64],bf16>) -> !torch.vtensor<[1,?,64],bf16> {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 3
  %6 = torch.constant.int 6
  %code = torch.constant.int 15
  %last = torch.constant.int -1
  %keep = torch.constant.bool true
  %none = torch.constant.none
  %eps = torch.constant.float 1.000000e-06
  %l = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %f = torch.prims.convert_element_type %x, %6 : !torch.vtensor<[1,?,64],bf16>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  // expected-error-re @below {{'torch.aten.pow.Tensor_Scalar' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected the mean of squares, found another power}}
  %sq = torch.aten.pow.Tensor_Scalar %f, %2 : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],f32>
  // expected-error-re @below {{'torch.aten.mean.dim' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected the mean of squares, found another power}}
  %mean = torch.aten.mean.dim %sq, %l, %keep, %none : !torch.vtensor<[1,?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.add.Scalar' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected the mean of squares, found another power}}
  %var = torch.aten.add.Scalar %mean, %eps, %1 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.rsqrt' is not converted: {{.*}}nearest pattern: root-mean-square norm that ends at 'torch.aten.mul.Tensor' in line {{[0-9]+}}; expected the mean of squares, found another power}}
  %r = torch.aten.rsqrt %var : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
  // expected-error-re @below {{'torch.aten.mul.Tensor' is not converted: expected operands of one shape, or one repeated along leading dimensions only, found [1,?,64] and [1,?,1]; nearest pattern: {{.*}}; expected the mean of squares, found another power}}
  %n = torch.aten.mul.Tensor %f, %r : !torch.vtensor<[1,?,64],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,64],f32>
  %c = torch.prims.convert_element_type %n, %code : !torch.vtensor<[1,?,64],f32>, !torch.int -> !torch.vtensor<[1,?,64],bf16>
  %m = torch.aten.mul.Tensor %w, %c : !torch.vtensor<[64],bf16>, !torch.vtensor<[1,?,64],bf16> -> !torch.vtensor<[1,?,64],bf16>
  return %m : !torch.vtensor<[1,?,64],bf16>
}
}
