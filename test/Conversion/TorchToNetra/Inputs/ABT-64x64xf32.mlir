// Origin: iree-org/iree-test-suites at revision 612f9366 (Apache-2.0 WITH
// LLVM-exception), torch_ops/generated, unchanged below this note.
module @module {
  func.func @main(%arg0: !torch.vtensor<[64,64],f32>, %arg1: !torch.vtensor<[64,64],f32>) -> !torch.vtensor<[64,64],f32> attributes {torch.assume_strict_symbolic_shapes} {
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %0 = torch.aten.transpose.int %arg1, %int0, %int1 : !torch.vtensor<[64,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[64,64],f32>
    %1 = torch.aten.matmul %arg0, %0 : !torch.vtensor<[64,64],f32>, !torch.vtensor<[64,64],f32> -> !torch.vtensor<[64,64],f32>
    return %1 : !torch.vtensor<[64,64],f32>
  }
}
