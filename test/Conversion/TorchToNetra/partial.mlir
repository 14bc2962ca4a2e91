// With `partial`, what is not understood stays between border casts.
// RUN: netra-opt %s --convert-torch-to-netra=partial=true -verify-diagnostics | FileCheck %s
// RUN: netra-opt %s --convert-torch-to-netra=partial=true -o %t.1 2>/dev/null
// RUN: netra-opt %t.1 -o %t.2 && diff %t.1 %t.2
// A second run finds nothing more to convert.
// RUN: netra-opt %t.1 --convert-torch-to-netra=partial=true -o %t.3 2>/dev/null && diff %t.1 %t.3
// The default refuses, and prints no module.
// RUN: not netra-opt %s --convert-torch-to-netra -o %t.4 2>/dev/null

// expected-remark @below {{not converted: 2 operations: torch.aten.softmax.int (1), torch.overwrite.tensor.contents (1)}}
module {
  // CHECK-LABEL: func.func @partial(
  // CHECK-SAME: %[[X:.*]]: tensor<1x4x64xf32>, %[[W:.*]]: tensor<64x64xf32>, %[[M:.*]]: !torch.tensor<[1,4,64],f32>) -> tensor<1x4x64xf32>
  func.func @partial(%x: !torch.vtensor<[1,4,64],f32>, %w: !torch.vtensor<[64,64],f32>, %m: !torch.tensor<[1,4,64],f32>) -> !torch.vtensor<[1,4,64],f32> {
    %none = torch.constant.none
    %m1 = torch.constant.int -1
    // CHECK: %[[ROWS:.*]] = netra.reshape %[[X]]
    // CHECK: %[[D:.*]] = netra.dense %[[ROWS]], %[[W]]
    %0 = torch.aten.linear %x, %w, %none : !torch.vtensor<[1,4,64],f32>, !torch.vtensor<[64,64],f32>, !torch.none -> !torch.vtensor<[1,4,64],f32>
    // CHECK: %[[F:.*]] = netra.reshape %[[D]]
    // CHECK: %[[B:.*]] = torch_c.from_builtin_tensor %[[F]] : tensor<1x4x64xf32> -> !torch.vtensor<[1,4,64],f32>
    // CHECK: %[[S:.*]] = torch.aten.softmax.int %[[B]], %int-1, %none
    // expected-remark @below {{'torch.aten.softmax.int' is not converted: no netra operation computes it}}
    %1 = torch.aten.softmax.int %0, %m1, %none : !torch.vtensor<[1,4,64],f32>, !torch.int, !torch.none -> !torch.vtensor<[1,4,64],f32>
    // No border between two operations that stay.
    // CHECK-NEXT: torch.overwrite.tensor.contents %[[S]] overwrites %[[M]]
    // expected-remark @below {{'torch.overwrite.tensor.contents' is not converted}}
    torch.overwrite.tensor.contents %1 overwrites %m : !torch.vtensor<[1,4,64],f32>, !torch.tensor<[1,4,64],f32>
    // CHECK: %[[T:.*]] = torch_c.to_builtin_tensor %[[S]] : !torch.vtensor<[1,4,64],f32> -> tensor<1x4x64xf32>
    // CHECK: %[[R:.*]] = netra.reshape %[[T]]
    // CHECK: netra.activation %[[R]]
    %2 = torch.aten.silu %1 : !torch.vtensor<[1,4,64],f32> -> !torch.vtensor<[1,4,64],f32>
    return %2 : !torch.vtensor<[1,4,64],f32>
  }
}
