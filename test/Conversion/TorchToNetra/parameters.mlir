// RUN: netra-opt %s --convert-torch-to-netra -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: netra.parameter @w : tensor<32x64xbf16> checkpoint("model.layers.0.mlp.up_proj.weight")
// CHECK-NOT: util.global
util.global private @w = #stream.parameter.named<"model"::"model.layers.0.mlp.up_proj.weight"> : tensor<32x64xbf16>
util.global private @unused = #stream.parameter.named<"model"::"unused"> : tensor<32x64xbf16>
util.global private @b = dense<1.0> : tensor<32xbf16>

// CHECK-LABEL: func.func @parameters(
// CHECK-NEXT: %[[W:.*]] = netra.get @w : tensor<32x64xbf16>
// CHECK-NEXT: %[[B:.*]] = netra.constant dense<1.000000e+00> : tensor<32xbf16>
// CHECK-NEXT: netra.dense %arg0, %[[W]] bias(%[[B]])
func.func @parameters(%x: !torch.vtensor<[4,64],bf16>) -> !torch.vtensor<[4,32],bf16> {
  %w = util.global.load @w : tensor<32x64xbf16>
  %0 = torch_c.from_builtin_tensor %w : tensor<32x64xbf16> -> !torch.vtensor<[32,64],bf16>
  %b = util.global.load @b : tensor<32xbf16>
  %1 = torch_c.from_builtin_tensor %b : tensor<32xbf16> -> !torch.vtensor<[32],bf16>
  %y = torch.aten.linear %x, %0, %1 : !torch.vtensor<[4,64],bf16>, !torch.vtensor<[32,64],bf16>, !torch.vtensor<[32],bf16> -> !torch.vtensor<[4,32],bf16>
  return %y : !torch.vtensor<[4,32],bf16>
}

// -----

// CHECK-LABEL: func.func @literals(
// CHECK-DAG: netra.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xbf16>
// CHECK-DAG: netra.constant dense<7> : tensor<i64>
// CHECK-DAG: netra.constant dense_resource<blob> : tensor<1xf32>
func.func @literals() -> (!torch.vtensor<[2],bf16>, !torch.vtensor<[],si64>, !torch.vtensor<[1],f32>) {
  %0 = torch.vtensor.literal(dense<[1.0, 2.0]> : tensor<2xbf16>) : !torch.vtensor<[2],bf16>
  %1 = torch.vtensor.literal(dense<7> : tensor<si64>) : !torch.vtensor<[],si64>
  %2 = torch.vtensor.literal(dense_resource<blob> : tensor<1xf32>) : !torch.vtensor<[1],f32>
  return %0, %1, %2 : !torch.vtensor<[2],bf16>, !torch.vtensor<[],si64>, !torch.vtensor<[1],f32>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F"
    }
  }
#-}

// -----

// expected-note @below {{also used here}}
util.global private @a = #stream.parameter.named<"one"::"w"> : tensor<4xf32>
// expected-error @below {{parameter key "w" is used in two scopes}}
util.global private @b = #stream.parameter.named<"two"::"w"> : tensor<4xf32>

// -----

// expected-error @below {{expected the key of a parameter, found an empty string}}
util.global private @a = #stream.parameter.named<"one"::""> : tensor<4xf32>
