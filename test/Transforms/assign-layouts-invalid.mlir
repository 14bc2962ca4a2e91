// RUN: netra-opt %s --verify-diagnostics --netra-assign-layouts
// RUN: not netra-opt --netra-assign-layouts=target=gfx000 %S/Inputs/mlp_bf16.mlir 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: {{.*}}gfx000

func.func @dynamic(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{expected static shapes, found 'tensor<?x64xbf16>' for x; run netra-apply-profile first}}
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<?x64xbf16>
  return %a : tensor<?x64xbf16>
}
