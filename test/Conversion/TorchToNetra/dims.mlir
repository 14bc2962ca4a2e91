// Names of dynamic dimensions come from the symbolic shapes of the export.
// RUN: netra-opt %s --convert-torch-to-netra | FileCheck %s
// RUN: netra-opt %s --convert-torch-to-netra="dims=s0=rows,s7=batch" | FileCheck %s --check-prefix=NAMED
// RUN: not netra-opt %s --convert-torch-to-netra="dims=s0" 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: option dims: expected SYMBOL=NAME, found 's0'

// The only symbol of a function counts rows.
// CHECK: func.func @one(%arg0: tensor<1x?x8xbf16> {netra.dims = ["1", "m", "8"]}, %arg1: tensor<4x8xbf16>)
// NAMED: func.func @one(%arg0: tensor<1x?x8xbf16> {netra.dims = ["1", "rows", "8"]}
func.func @one(%x: !torch.vtensor<[1,?,8],bf16>, %y: !torch.vtensor<[4,8],bf16>) -> (!torch.vtensor<[1,?,8],bf16>, !torch.vtensor<[4,8],bf16>) {
  %s = torch.symbolic_int "s0" {min_val = 1, max_val = 4096} : !torch.int
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (1, s0, 8)> : !torch.vtensor<[1,?,8],bf16>
  return %x, %y : !torch.vtensor<[1,?,8],bf16>, !torch.vtensor<[4,8],bf16>
}

// CHECK: func.func @two(%arg0: tensor<?x?xf32> {netra.dims = ["s7", "s1 * 32"]}, %arg1: tensor<?xf32> {netra.dims = ["s1"]}, %arg2: tensor<?xf32>)
// NAMED: func.func @two(%arg0: tensor<?x?xf32> {netra.dims = ["batch", "s1 * 32"]}
func.func @two(%x: !torch.vtensor<[?,?],f32>, %y: !torch.vtensor<[?],f32>, %z: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %b = torch.symbolic_int "s7" {min_val = 1, max_val = 64} : !torch.int
  %s = torch.symbolic_int "s1" {min_val = 2, max_val = 3} : !torch.int
  torch.bind_symbolic_shape %x, [%b, %s], affine_map<()[s0, s1] -> (s0, s1 * 32)> : !torch.vtensor<[?,?],f32>
  torch.bind_symbolic_shape %y, [%s], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  return %z : !torch.vtensor<[?],f32>
}

// A symbol may be named by an expression; statements that contradict the type,
// or whose symbols are unknown, are worth nothing.
// CHECK: func.func @odd(%arg0: tensor<?xf32> {netra.dims = ["(32*s1)"]}, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>, %arg3: tensor<4x?xf32> {netra.dims = ["4", "s2"]})
func.func @odd(%x: !torch.vtensor<[?],f32>, %y: !torch.vtensor<[?],f32>, %z: !torch.vtensor<[?],f32>, %u: !torch.vtensor<[4,?],f32>) -> !torch.vtensor<[?],f32> {
  %a = torch.symbolic_int "32*s1" {min_val = 64, max_val = 96} : !torch.int
  %b = torch.symbolic_int "s2" {min_val = 2, max_val = 3} : !torch.int
  %c = torch.constant.int 3
  torch.bind_symbolic_shape %x, [%a], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  torch.bind_symbolic_shape %y, [], affine_map<() -> (7)> : !torch.vtensor<[?],f32>
  torch.bind_symbolic_shape %z, [%c], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  torch.bind_symbolic_shape %u, [%b], affine_map<()[s0] -> (s0, s0)> : !torch.vtensor<[4,?],f32>
  return %x : !torch.vtensor<[?],f32>
}
