// What cannot be converted is reported, all in one run, each with its reason.
// RUN: netra-opt %s --convert-torch-to-netra -split-input-file -verify-diagnostics

// expected-remark @below {{not converted: 3 operations: torch.aten.gather (1), torch.aten.sort (1), torch.operator "torch.other.thing" (1)}}
module {
  func.func @several(%x: !torch.vtensor<[4,32],bf16>, %i: !torch.vtensor<[4,32],si64>) -> (!torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>) {
    %0 = torch.constant.int 0
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' is not converted: no netra operation computes it}}
    %g = torch.aten.gather %x, %0, %i, %false : !torch.vtensor<[4,32],bf16>, !torch.int, !torch.vtensor<[4,32],si64>, !torch.bool -> !torch.vtensor<[4,32],bf16>
    // expected-error @below {{'torch.aten.sort' is not converted: no netra operation computes it}}
    %v, %j = torch.aten.sort %g, %0, %false : !torch.vtensor<[4,32],bf16>, !torch.int, !torch.bool -> !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],si64>
    // expected-error @below {{'torch.operator "torch.other.thing"' is not converted: no netra operation is known under this name}}
    %o = torch.operator "torch.other.thing"(%v) : (!torch.vtensor<[4,32],bf16>) -> !torch.vtensor<[4,32],bf16>
    %s = torch.aten.silu %o : !torch.vtensor<[4,32],bf16> -> !torch.vtensor<[4,32],bf16>
    return %s, %v : !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>
  }
}

// -----

// expected-remark @below {{not converted: 9 operations}}
module {
  func.func @products(%x: !torch.vtensor<[4,64],bf16>, %w: !torch.vtensor<[64,32],bf16>, %h: !torch.vtensor<[64,32],f16>, %b: !torch.vtensor<[2,64,32],bf16>,
                      %xb: !torch.vtensor<[2,4,64],bf16>, %d: !torch.vtensor<[?,?,64],bf16>, %v: !torch.vtensor<[4,1],bf16>,
                      %f8: !torch.vtensor<[32,64],f8E4M3FN>, %s: !torch.vtensor<[1,1],f32>)
      -> (!torch.vtensor<[4,32],bf16>, !torch.vtensor<[2,4,32],bf16>, !torch.vtensor<[?,?,32],bf16>, !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>, !torch.vtensor<[5,32],bf16>, !torch.vtensor<[4,32],bf16>, !torch.vtensor<[2,4,32],bf16>) {
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    // expected-error @below {{'torch.aten.mm' is not converted: expected operands and result of one element type, bf16, f16 or f32, found !torch.vtensor<[4,64],bf16>, weight elements of f16}}
    %a = torch.aten.mm %x, %h : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64,32],f16> -> !torch.vtensor<[4,32],bf16>
    // expected-error @below {{'torch.aten.matmul' is not converted: expected a right operand of rank 2, the weight, found rank 3}}
    %c = torch.aten.matmul %xb, %b : !torch.vtensor<[2,4,64],bf16>, !torch.vtensor<[2,64,32],bf16> -> !torch.vtensor<[2,4,32],bf16>
    // expected-error @below {{'torch.aten.matmul' is not converted: expected at most one unknown size in what is collapsed to rows, found [?,?,64]}}
    %e = torch.aten.matmul %d, %w : !torch.vtensor<[?,?,64],bf16>, !torch.vtensor<[64,32],bf16> -> !torch.vtensor<[?,?,32],bf16>
    // expected-error @below {{'torch.aten.addmm' is not converted: expected beta and alpha to be the constant 1}}
    %f = torch.aten.addmm %x, %x, %w, %2, %1 : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64,32],bf16>, !torch.int, !torch.int -> !torch.vtensor<[4,32],bf16>
    // expected-error @below {{'torch.aten.addmm' is not converted: expected a summand of [M,N] = [4,32] and bf16, found !torch.vtensor<[4,1],bf16>}}
    %g = torch.aten.addmm %v, %x, %w, %1, %1 : !torch.vtensor<[4,1],bf16>, !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64,32],bf16>, !torch.int, !torch.int -> !torch.vtensor<[4,32],bf16>
    // expected-error @below {{'torch.operator "torch.netra.block_scaled_linear"' is not converted: expected x [M, K] and result [M, N] for a weight [32,64] with K a multiple of 128}}
    %i = torch.operator "torch.netra.block_scaled_linear"(%x, %f8, %s) : (!torch.vtensor<[4,64],bf16>, !torch.vtensor<[32,64],f8E4M3FN>, !torch.vtensor<[1,1],f32>) -> !torch.vtensor<[4,32],bf16>
    // expected-error @below {{'torch.aten.mm' is not converted: expected a result of [4,32] as rows, found [5,32]}}
    %j = torch.aten.mm %x, %w : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[64,32],bf16> -> !torch.vtensor<[5,32],bf16>
    // expected-error @below {{'torch.operator "torch.netra.block_scaled_linear"' is not converted: expected operands x, weight, weight_scale and one result}}
    %k = torch.operator "torch.netra.block_scaled_linear"(%x) : (!torch.vtensor<[4,64],bf16>) -> !torch.vtensor<[4,32],bf16>
    // expected-error @below {{'torch.aten.bmm' is not converted: no netra operation computes it}}
    %l = torch.aten.bmm %xb, %b : !torch.vtensor<[2,4,64],bf16>, !torch.vtensor<[2,64,32],bf16> -> !torch.vtensor<[2,4,32],bf16>
    return %a, %c, %e, %f, %g, %i, %j, %k, %l : !torch.vtensor<[4,32],bf16>, !torch.vtensor<[2,4,32],bf16>, !torch.vtensor<[?,?,32],bf16>, !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>, !torch.vtensor<[4,32],bf16>, !torch.vtensor<[5,32],bf16>, !torch.vtensor<[4,32],bf16>, !torch.vtensor<[2,4,32],bf16>
  }
}

// -----

!b = !torch.vtensor<[4,32],bf16>
// expected-remark @below {{not converted: 9 operations}}
module {
  func.func @elementwise(%x: !b, %c: !torch.vtensor<[4,1],bf16>, %i: !torch.vtensor<[4,32],si64>, %f: !torch.vtensor<[4,32],f32>)
      -> (!b, !b, !b, !torch.vtensor<[4,32],si64>, !b, !b, !b, !torch.vtensor<[4,32],f8E4M3FN>, !torch.vtensor<[4,32],i1>) {
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %6 = torch.constant.int 6
    %11 = torch.constant.int 11
    %24 = torch.constant.int 24
    %odd = torch.constant.str "odd"
    // expected-error @below {{'torch.aten.add.Tensor' is not converted: expected alpha to be the constant 1}}
    %a = torch.aten.add.Tensor %x, %x, %2 : !b, !b, !torch.int -> !b
    // expected-error @below {{'torch.aten.mul.Tensor' is not converted: expected operands of one shape, or one repeated along leading dimensions only, found [4,32] and [4,1]}}
    %b = torch.aten.mul.Tensor %x, %c : !b, !torch.vtensor<[4,1],bf16> -> !b
    // expected-error @below {{'torch.aten.mul.Scalar' is not converted: expected the constant 1, which changes nothing}}
    %d = torch.aten.mul.Scalar %x, %2 : !b, !torch.int -> !b
    // expected-error @below {{'torch.aten.add.Tensor' is not converted: expected elements of type bf16, f16 or f32, found !torch.vtensor<[4,32],si64>}}
    %e = torch.aten.add.Tensor %i, %i, %1 : !torch.vtensor<[4,32],si64>, !torch.vtensor<[4,32],si64>, !torch.int -> !torch.vtensor<[4,32],si64>
    // expected-error @below {{'torch.aten.gelu' is not converted: expected a constant approximation "none" or "tanh"}}
    %g = torch.aten.gelu %x, %odd : !b, !torch.str -> !b
    // expected-error @below {{'torch.aten.mul.Tensor' is not converted: expected operands that the result type can hold, found !torch.vtensor<[4,32],f32> for a result !torch.vtensor<[4,32],bf16>}}
    %h = torch.aten.mul.Tensor %x, %f : !b, !torch.vtensor<[4,32],f32> -> !b
    // expected-error @below {{'torch.prims.convert_element_type' is not converted: expected a constant dtype that agrees with the result type}}
    %j = torch.prims.convert_element_type %x, %6 : !b, !torch.int -> !b
    // expected-error @below {{'torch.prims.convert_element_type' is not converted: it converts bf16 to f8E4M3FN: torch does not saturate where netra.cast does}}
    %k = torch.prims.convert_element_type %x, %24 : !b, !torch.int -> !torch.vtensor<[4,32],f8E4M3FN>
    // expected-error @below {{'torch.prims.convert_element_type' is not converted: it converts bf16 to i1: conversions from and to bool}}
    %l = torch.prims.convert_element_type %x, %11 : !b, !torch.int -> !torch.vtensor<[4,32],i1>
    return %a, %b, %d, %e, %g, %h, %j, %k, %l : !b, !b, !b, !torch.vtensor<[4,32],si64>, !b, !b, !b, !torch.vtensor<[4,32],f8E4M3FN>, !torch.vtensor<[4,32],i1>
  }
}

// -----

// expected-remark @below {{not converted: 5 operations}}
module {
  func.func @shapes(%x: !torch.vtensor<[4,32],bf16>, %d: !torch.vtensor<[?,?,8],bf16>, %u: !torch.vtensor, %n: !torch.int)
      -> (!torch.vtensor<[4,16],bf16>, !torch.vtensor<[?,8],bf16>, !torch.vtensor<[8,32],bf16>, !torch.vtensor<[32,4],bf16>, !torch.vtensor<[2,64],bf16>) {
    %0 = torch.constant.int 0
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %64 = torch.constant.int 64
    %l = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %wrong = torch.prim.ListConstruct %3, %64 : (!torch.int, !torch.int) -> !torch.list<int>
    // expected-error @below {{'torch.aten.view' is not converted: it is not a reshape of one tensor into another: expected as many elements as [4,32] has, found [4,16]}}
    %a = torch.aten.view %x, %l : !torch.vtensor<[4,32],bf16>, !torch.list<int> -> !torch.vtensor<[4,16],bf16>
    // expected-error @below {{expected at most one unknown size on each side, found [?,?,8] and [?,8]}}
    %b = torch.aten.view %d, %l : !torch.vtensor<[?,?,8],bf16>, !torch.list<int> -> !torch.vtensor<[?,8],bf16>
    // expected-error @below {{expected operand and result of known rank and element type}}
    %c = torch.aten.view %u, %l : !torch.vtensor, !torch.list<int> -> !torch.vtensor<[8,32],bf16>
    // expected-error @below {{'torch.aten.transpose.int' is not converted: expected constant dimensions of a tensor of rank 2}}
    %e = torch.aten.transpose.int %x, %n, %0 : !torch.vtensor<[4,32],bf16>, !torch.int, !torch.int -> !torch.vtensor<[32,4],bf16>
    // expected-error @below {{expected the sizes of the result type [2,64], found a size of 3}}
    %f = torch.aten.view %x, %wrong : !torch.vtensor<[4,32],bf16>, !torch.list<int> -> !torch.vtensor<[2,64],bf16>
    return %a, %b, %c, %e, %f : !torch.vtensor<[4,16],bf16>, !torch.vtensor<[?,8],bf16>, !torch.vtensor<[8,32],bf16>, !torch.vtensor<[32,4],bf16>, !torch.vtensor<[2,64],bf16>
  }
}

// -----

!b = !torch.vtensor<[4,64],bf16>
// expected-remark @below {{not converted: 3 operations}}
module {
  func.func @norms(%x: !b, %w: !torch.vtensor<[64],bf16>) -> (!b, !b, !b, !torch.vtensor<[4,1],f32>) {
    %4 = torch.constant.int 4
    %64 = torch.constant.int 64
    %l = torch.prim.ListConstruct %64 : (!torch.int) -> !torch.list<int>
    %l2 = torch.prim.ListConstruct %4, %64 : (!torch.int, !torch.int) -> !torch.list<int>
    %eps = torch.constant.float 1.000000e-05
    %none = torch.constant.none
    // expected-error @below {{'torch.aten.rms_norm' is not converted: expected a constant epsilon: what None stands for differs between versions of torch}}
    %a = torch.aten.rms_norm %x, %l, %w, %none : !b, !torch.list<int>, !torch.vtensor<[64],bf16>, !torch.none -> !b
    // expected-error @below {{'torch.aten.rms_norm' is not converted: expected normalized_shape to be the last size of !torch.vtensor<[4,64],bf16>, found [4,64]}}
    %c = torch.aten.rms_norm %x, %l2, %w, %eps : !b, !torch.list<int>, !torch.vtensor<[64],bf16>, !torch.float -> !b
    // expected-error @below {{'torch.aten._fused_rms_norm' is not converted: expected the reciprocal root to be unused}}
    %d, %r = torch.aten._fused_rms_norm %x, %l, %w, %eps : !b, !torch.list<int>, !torch.vtensor<[64],bf16>, !torch.float -> !b, !torch.vtensor<[4,1],f32>
    return %a, %c, %d, %r : !b, !b, !b, !torch.vtensor<[4,1],f32>
  }
}

// -----

// A thing with an effect stays even when nothing uses it.
// expected-remark @below {{not converted: 3 operations}}
module {
  util.global private mutable @state : tensor<4xf32>
  func.func @effects(%m: !torch.tensor<[4],f32>, %x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
    // expected-error @below {{'util.global.load' is not converted: global @state is mutable}}
    %s = util.global.load @state : tensor<4xf32>
    %v = torch_c.from_builtin_tensor %s : tensor<4xf32> -> !torch.vtensor<[4],f32>
    // expected-error @below {{'torch.aten.relu_' is not converted}}
    %r = torch.aten.relu_ %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    // expected-error @below {{'torch.overwrite.tensor.contents' is not converted: a mutable tensor is state between calls}}
    torch.overwrite.tensor.contents %x overwrites %m : !torch.vtensor<[4],f32>, !torch.tensor<[4],f32>
    return %v : !torch.vtensor<[4],f32>
  }
}

// -----

// expected-error @below {{argument 0 of @arguments is a !torch.int: expected a tensor of known rank}}
func.func @arguments(%n: !torch.int, %x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.bool) {
  %b = torch.constant.bool true
  // expected-error @below {{result 1 of @arguments is a !torch.bool: expected a tensor of known rank}}
  return %x, %b : !torch.vtensor<[4],f32>, !torch.bool
}

// -----

// expected-error @below {{expected a body of one block}}
func.func @blocks(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %y = torch.aten.silu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  "torch.branch"()[^next] : () -> ()
^next:
  return %y : !torch.vtensor<[4],f32>
}

// -----

// expected-remark @below {{not converted: 1 operation: func.call (1)}}
module {
  // expected-error @below {{@callee is called by another function}}
  func.func @callee(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
    return %x : !torch.vtensor<[4],f32>
  }
  func.func @caller(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
    // expected-error @below {{'func.call' is not converted: the body of a called function is not read}}
    %y = func.call @callee(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
    return %y : !torch.vtensor<[4],f32>
  }
}

// -----

// expected-error @below {{util.func @f is not converted: expected the torch graph in a func.func}}
util.func public @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  util.return %x : !torch.vtensor<[4],f32>
}
