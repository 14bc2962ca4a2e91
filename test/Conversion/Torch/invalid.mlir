// RUN: netra-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{unknown torch type `foo`}}
func.func private @f(!torch.foo<[1],f32>)

// -----

// expected-error @below {{expected a size or `?`}}
func.func private @f(!torch.vtensor<[1,x],f32>)

// -----

// expected-error @below {{expected a size of 0 or more, found -2}}
func.func private @f(!torch.vtensor<[1,-2],f32>)

// -----

// expected-error @below {{expected 1 type inside `list`, found 2}}
func.func private @f(!torch.list<int, int>)

// -----

// expected-error @below {{expected the name of a torch type}}
func.func private @f(!torch<"">)

// -----

// expected-error @below {{torch type is nested more than 64 deep}}
func.func private @f(!torch.list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<list<int>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>)

// -----

func.func @f(%x: !torch.int) {
  // expected-error @below {{`torch.aten.add` has 2 operands but 1 operand types}}
  %0 = torch.aten.add %x, %x : !torch.int -> !torch.int
  return
}

// -----

func.func @f() {
  // expected-error @below {{use of undeclared SSA value name}}
  %0 = torch.aten.neg %x : !torch.int -> !torch.int
  return
}

// -----

func.func @f() {
  // expected-error @below {{integer constant out of range}}
  %0 = torch.constant.int 99999999999999999999
  return
}

// -----

func.func @f() {
  // expected-error @below {{expected a literal of the result's sizes '!torch.vtensor<[3],si32>', found 'tensor<2xi32>'}}
  %0 = torch.vtensor.literal(dense<1> : tensor<2xi32>) : !torch.vtensor<[3],si32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{expected a literal of element type 'f32', found 'i32'}}
  %0 = torch.vtensor.literal(dense<1> : tensor<2xi32>) : !torch.vtensor<[2],f32>
  return
}

// -----

func.func @f(%x: !torch.vtensor<[?,2],f32>, %s: !torch.int) {
  // expected-error @below {{expected one expression for each of the 2 dimensions, found 1}}
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?,2],f32>
  return
}

// -----

func.func @f(%x: !torch.vtensor<[?,2],f32>, %s: !torch.int) {
  // expected-error @below {{expected one symbol in the map for each of the 1 symbolic integers, found 2}}
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0, s1] -> (s0, s1)> : !torch.vtensor<[?,2],f32>
  return
}

// -----

func.func @f(%x: !torch.vtensor<[?,2],f32>, %s: !torch.int) {
  // expected-error @below {{expected a map without dimensions, found 1}}
  torch.bind_symbolic_shape %x, [], affine_map<(d0) -> (d0, 2)> : !torch.vtensor<[?,2],f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected sizes that agree}}
  %0 = torch_c.from_builtin_tensor %x : tensor<4xf32> -> !torch.vtensor<[5],f32>
  return
}

// -----

func.func @f(%x: !torch.vtensor<[4],si64>) {
  // expected-error @below {{expected equal element types}}
  %0 = torch_c.to_builtin_tensor %x : !torch.vtensor<[4],si64> -> tensor<4xi32>
  return
}

// -----

// expected-error @below {{expected an initial value with a type}}
util.global private @g = "text"

// -----

// expected-error @below {{unknown attribute `parameter.foo` in dialect `stream`}}
util.global private @g = #stream.parameter.foo<"a"> : tensor<4xf32>

// -----

func.func @f() {
  // expected-error @below {{expected the name of a util.global, found @missing}}
  %0 = util.global.load @missing : tensor<4xf32>
  return
}

// -----

util.global private @g : tensor<4xf32>
func.func @f() {
  // expected-error @below {{expected the type of @g, 'tensor<4xf32>', found 'tensor<5xf32>'}}
  %0 = util.global.load @g : tensor<5xf32>
  return
}
