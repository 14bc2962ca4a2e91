// RUN: netra-opt %s --split-input-file --verify-diagnostics --netra-apply-profile=profiles=decode_m1
// RUN: not netra-opt --netra-apply-profile %S/Inputs/mlp_bf16.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not netra-opt --netra-apply-profile=profiles=decode_m2 %S/Inputs/mlp_bf16.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not netra-opt --netra-apply-profile="profiles=decode_m1 library-root=%t.nowhere" %S/Inputs/mlp_bf16.mlir 2>&1 | FileCheck %s --check-prefix=ROOT

// NONE: error: expected at least one profile, profiles=NAME,… (or profile=NAME of the pipeline), found none; the catalogue of gfx950 has decode_m1, 
// UNKNOWN: error: unknown profile "decode_m2"; the catalogue of gfx950 has {{.*}}decode_m1
// ROOT: error: {{.*}}nowhere

// A range on an extent that is not the outermost, and one that admits nothing.

// expected-error @below {{argument #0: dimension 1 is bound to "batch", which profile @decode_m1 guards with the range 1..64; only an outermost extent may vary, because a launch uses the front of its buffers}}
func.func @inner(%x: tensor<4x?xbf16> {netra.dims = ["4", "batch"]}) -> tensor<4x?xbf16> {
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<4x?xbf16>
  return %a : tensor<4x?xbf16>
}

// -----

// expected-error @below {{argument #0: dimension 0 is bound to "sequence", which profile @decode_m1 guards with the range 0..1048576; an extent that varies is at least 1}}
func.func @empty(%x: tensor<?x64xbf16> {netra.dims = ["sequence", "64"]}) -> tensor<?x64xbf16> {
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<?x64xbf16>
  return %a : tensor<?x64xbf16>
}

// -----

// expected-error @below {{argument #0: dimension 0 is bound to "rows", on which profile @decode_m1 has no guard; it has guards on "batch", "m", "sequence"}}
func.func @unknown(%x: tensor<?x64xbf16> {netra.dims = ["rows", "64"]}) -> tensor<?x64xbf16> {
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<?x64xbf16>
  return %a : tensor<?x64xbf16>
}

// -----

// expected-error @below {{argument #0 of type 'tensor<?x?xbf16>': expected netra.dims to name what each dynamic dimension is bound to}}
func.func @unnamed(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<?x?xbf16>
  return %a : tensor<?x?xbf16>
}

// -----

// expected-error @below {{expected a function with a body, found a declaration}}
func.func private @declared(tensor<?x64xbf16>)

// -----

func.func @callee(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  return %x : tensor<?x64xbf16>
}
func.func @caller(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{expected no use of function @callee; inline calls first}}
  %y = func.call @callee(%x) : (tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// A fallback says nothing of how its results depend on its operands.
func.func @fallback(%x: tensor<4x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{cannot infer the static shape of result #0 of type 'tensor<?x64xbf16>' from operands of types 'tensor<4x64xbf16>'}}
  %y = netra.fallback "framework.select" (%x) reason("not supported") : (tensor<4x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// expected-error @below {{expected the name @f.decode_m1 of the function for profile @decode_m1 to be free}}
func.func @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  return %x : tensor<?x64xbf16>
}
netra.parameter @f.decode_m1 : tensor<4xbf16> checkpoint("w")
