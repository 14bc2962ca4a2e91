// RUN: netra-opt %s --split-input-file --netra-assign-layouts="library-root=%S/Inputs/layouts-library allow-experimental=true" -o %t.mlir
// RUN: FileCheck %s --check-prefixes=CHECK,WITHOUT < %t.mlir
// RUN: netra-opt %t.mlir --split-input-file --netra-assign-layouts="library-root=%S/Inputs/layouts-library allow-experimental=true" | diff %t.mlir -

// The same with a kernel that converts.
// RUN: rm -rf %t.library && cp -r %S/Inputs/layouts-library %t.library
// RUN: cp %S/Inputs/layouts-library/convert_layout.json %t.library/manifests/gfx950/tactics
// RUN: netra-opt %s --split-input-file --netra-assign-layouts="library-root=%t.library allow-experimental=true" | FileCheck %s --check-prefixes=CHECK,WITH

// Each product alone has its better tactic in rows, and each sum its better one
// in shuffled tiles. Together everything between the arguments and the result is
// shuffled, though one value is read twice; what the better products write would
// have to be converted for the sums.

// CHECK-LABEL: func.func @chain
// CHECK-NOT: netra.layout_convert
// CHECK: %[[A:.*]] = netra.dense %{{.*}} -> tensor<32x64xbf16, #netra.layout<n16k16>>
// CHECK-NEXT: %[[B:.*]] = netra.dense %{{.*}} -> tensor<32x64xbf16, #netra.layout<n16k16>>
// CHECK-NEXT: %[[S:.*]] = netra.add %[[A]], %[[B]] : tensor<32x64xbf16, #netra.layout<n16k16>>
// CHECK-NEXT: %[[T:.*]] = netra.add %[[S]], %[[A]] : tensor<32x64xbf16, #netra.layout<n16k16>>
// CHECK-NEXT: netra.dense %[[T]], %{{.*}} : (tensor<32x64xbf16, #netra.layout<n16k16>>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
func.func @chain(%x: tensor<32x64xbf16>, %y: tensor<32x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<32x64xbf16> {
  %a = netra.dense %x, %w : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
  %b = netra.dense %y, %w : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
  %s = netra.add %a, %b : tensor<32x64xbf16>
  %t = netra.add %s, %a : tensor<32x64xbf16>
  %r = netra.dense %t, %w : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
  return %r : tensor<32x64xbf16>
}

// -----

// Arguments and results stay as the caller has them. The better sum would need
// three conversions, so that without a kernel for them the other one is taken.

// CHECK-LABEL: func.func @conversion
// WITHOUT-NOT: netra.layout_convert
// WITHOUT: netra.add %{{.*}}, %{{.*}} : tensor<32x64xbf16>{{$}}
// WITHOUT-NOT: netra.layout_convert
// WITH: netra.layout_convert
// WITH-NEXT: netra.layout_convert
// WITH-NEXT: netra.add %{{.*}}, %{{.*}} : tensor<32x64xbf16, #netra.layout<n16k16>>
// WITH-NEXT: netra.layout_convert
func.func @conversion(%x: tensor<32x64xbf16>, %y: tensor<32x64xbf16>) -> tensor<32x64xbf16> {
  %s = netra.add %x, %y : tensor<32x64xbf16>
  return %s : tensor<32x64xbf16>
}

// -----

// A parameter costs nothing at run time: its conversion is a step of its recipe,
// and no conversion needs a kernel here.

// CHECK-LABEL: module @weight
// CHECK: netra.parameter @p.n16k16 : tensor<32x64xbf16, #netra.layout<n16k16>> pack(@p then layout n16k16)
// CHECK-NOT: netra.layout_convert
// CHECK: %[[P:.*]] = netra.get @p.n16k16
// CHECK-NEXT: netra.add %{{.*}}, %[[P]] : tensor<32x64xbf16, #netra.layout<n16k16>>
// CHECK-NOT: netra.layout_convert
module @weight {
  netra.parameter @p : tensor<32x64xbf16> checkpoint("p")
  func.func @f(%x: tensor<32x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<32x64xbf16> {
    %a = netra.dense %x, %w : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
    %p = netra.get @p : tensor<32x64xbf16>
    %s = netra.add %a, %p : tensor<32x64xbf16>
    %r = netra.dense %s, %w : (tensor<32x64xbf16>, tensor<64x64xbf16>) -> tensor<32x64xbf16>
    return %r : tensor<32x64xbf16>
  }
}
