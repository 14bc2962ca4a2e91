// RUN: netra-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --netra-select-tactics

func.func @dynamic(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{expected static shapes, found 'tensor<?x64xbf16>' for x; run netra-apply-profile first}}
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<?x64xbf16>
  return %a : tensor<?x64xbf16>
}

// -----

func.func @callee(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  return %x : tensor<1x64xbf16>
}
func.func @foreign(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  // expected-error @below {{expected an operation of the netra dialect, found func.call; convert the module first}}
  %a = func.call @callee(%x) : (tensor<1x64xbf16>) -> tensor<1x64xbf16>
  return %a : tensor<1x64xbf16>
}
