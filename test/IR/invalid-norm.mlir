// RUN: netra-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// netra.rms_norm
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<33xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C1: 'x' must be [M, N] and 'weight' [N] and row-major, found 'tensor<1x32xbf16>' and 'tensor<33xbf16>'}}
  %0 = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x32xbf16>, tensor<33xbf16>) -> tensor<1x32xbf16>
  return
}

// -----

func.func @f(%x: tensor<32xbf16>, %w: tensor<32xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C1: }}
  %0 = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<32xbf16>, tensor<32xbf16>) -> tensor<32xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C2: 'epsilon' must be finite and not negative and 'weight_offset' finite, found -1.000000e+00 : f32 and 0.000000e+00 : f32}}
  %0 = netra.rms_norm %x, %w {epsilon = -1.0 : f32} : (tensor<1x32xbf16>, tensor<32xbf16>) -> tensor<1x32xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C2: }}
  %0 = netra.rms_norm %x, %w {epsilon = 0x7FC00000 : f32} : (tensor<1x32xbf16>, tensor<32xbf16>) -> tensor<1x32xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C2: }}
  %0 = netra.rms_norm %x, %w {epsilon = 1.0 : f32, weight_offset = 0x7F800000 : f32} : (tensor<1x32xbf16>, tensor<32xbf16>) -> tensor<1x32xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>, %r: tensor<1x32xf32>) {
  // expected-error @+1 {{'netra.rms_norm' op C3: 'residual' must have the type of 'x', 'tensor<1x32xbf16>', found 'tensor<1x32xf32>'}}
  %0, %1 = netra.rms_norm %x, %w residual(%r) {epsilon = 1.0e-6 : f32} : (tensor<1x32xbf16>, tensor<32xbf16>, tensor<1x32xf32>) -> (tensor<1x32xbf16>, tensor<1x32xbf16>)
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C3: 'sum' needs 'residual' and must have the type of 'x', 'tensor<1x32xbf16>', found 'tensor<1x32xbf16>' without 'residual'}}
  %0, %1 = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x32xbf16>, tensor<32xbf16>) -> (tensor<1x32xbf16>, tensor<1x32xbf16>)
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>, %r: tensor<1x32xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C3: 'sum' needs 'residual' and must have the type of 'x', 'tensor<1x32xbf16>', found 'tensor<1x32xf32>'}}
  %0, %1 = netra.rms_norm %x, %w residual(%r) {epsilon = 1.0e-6 : f32} : (tensor<1x32xbf16>, tensor<32xbf16>, tensor<1x32xbf16>) -> (tensor<1x32xbf16>, tensor<1x32xf32>)
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C4: 'result' must have shape [1, 32], found 'tensor<2x32xbf16>'}}
  %0 = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x32xbf16>, tensor<32xbf16>) -> tensor<2x32xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C5: 'result_scale' must be present and 'result' be f8E4M3FN exactly when 'quantize' is present, found 'result' of type 'tensor<1x128xf8E4M3FN>' without 'result_scale' and without 'quantize'}}
  %0 = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> tensor<1x128xf8E4M3FN>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C5: }}
  %0, %1 = netra.rms_norm %x, %w quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> (tensor<1x128xbf16>, tensor<1x1xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C6: a block must have one row, found 2}}
  %0, %1 = netra.rms_norm %x, %w quantize(<block = [2, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<2x128xbf16>, tensor<128xbf16>) -> (tensor<2x128xf8E4M3FN>, tensor<1x1xf32>)
  return
}

// -----

func.func @f(%x: tensor<1x100xbf16>, %w: tensor<100xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C6: a block of 128 columns does not divide 100}}
  %0, %1 = netra.rms_norm %x, %w quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<1x100xbf16>, tensor<100xbf16>) -> (tensor<1x100xf8E4M3FN>, tensor<1x1xf32>)
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<256xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C6: 'result_scale' must have shape [1, 2] and element type 'f32', found 'tensor<1x1xf32>'}}
  %0, %1 = netra.rms_norm %x, %w quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<256xbf16>) -> (tensor<1x256xf8E4M3FN>, tensor<1x1xf32>)
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>) {
  // expected-error @+1 {{expected 2 operand types, found 1}}
  %0 = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x32xbf16>) -> tensor<1x32xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<32xbf16>) {
  // expected-error @+1 {{expected 1 to 2 result types, found 0}}
  netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x32xbf16>, tensor<32xbf16>) -> ()
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C7: 'rounded' needs 'quantize' and must be 'tensor<1x128xbf16>', found 'tensor<1x128xf32>'}}
  %0, %1, %2 = netra.rms_norm %x, %w quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x128xf32>)
  return
}

// -----

// The other spelling has no place for it.
func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C7: 'rounded' needs 'quantize' and must be 'tensor<1x128xbf16>', found 'tensor<1x128xbf16>' without 'quantize'}}
  %0, %1 = "netra.rms_norm"(%x, %w) <{epsilon = 1.0e-6 : f32, resultSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x128xbf16>, tensor<128xbf16>) -> (tensor<1x128xbf16>, tensor<1x128xbf16>)
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.rms_norm' op C7: 'rounded' needs 'quantize', and 'sum' beside a 'residual', and must be 'tensor<1x128xbf16>', found 'tensor<1x128xbf16>' without 'sum'}}
  %0, %1, %2 = "netra.rms_norm"(%x, %w, %x) <{epsilon = 1.0e-6 : f32, quantize = #netra.block_scale<block = [1, 128], scale = f32>, resultSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<1x128xbf16>, tensor<128xbf16>, tensor<1x128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x128xbf16>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// netra.layer_norm
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<64xbf16>) {
  // expected-error @+1 {{'netra.layer_norm' op C1: 'x' must be [M, N] and 'weight' [N] and row-major, found 'tensor<1x128xbf16>' and 'tensor<64xbf16>'}}
  %0 = netra.layer_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<64xbf16>) -> tensor<1x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>, %b: tensor<128xf32>) {
  // expected-error @+1 {{'netra.layer_norm' op C1: 'bias' must be [N] and row-major, with the element type of 'weight', 'tensor<128xbf16>', found 'tensor<128xf32>'}}
  %0 = netra.layer_norm %x, %w bias(%b) {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>, tensor<128xf32>) -> tensor<1x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.layer_norm' op C2: 'epsilon' must be finite}}
  %0 = netra.layer_norm %x, %w {epsilon = -1.0 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> tensor<1x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>, %r: tensor<1x128xf32>) {
  // expected-error @+1 {{'netra.layer_norm' op C3: 'residual' must have the type of 'x'}}
  %0 = netra.layer_norm %x, %w residual(%r) {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>, tensor<1x128xf32>) -> tensor<1x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.layer_norm' op C3: 'sum' needs 'residual'}}
  %0, %1 = netra.layer_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> (tensor<1x128xbf16>, tensor<1x128xbf16>)
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.layer_norm' op C4: 'result' must have shape [1, 128], found 'tensor<2x128xbf16>'}}
  %0 = netra.layer_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> tensor<2x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.layer_norm' op C5: 'result_scale' must be present}}
  %0 = netra.layer_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> tensor<1x128xf8E4M3FN>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.layer_norm' op C6: 'result_scale' must have shape [1, 1]}}
  %0, %1 = netra.layer_norm %x, %w quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x2xf32>)
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.layer_norm' op C7: 'rounded' needs 'quantize' and must be}}
  %0, %1, %2 = netra.layer_norm %x, %w quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>, tensor<2x128xbf16>)
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{expected 1 to 2 result types, found 3}}
  %0, %1, %2 = netra.layer_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> (tensor<1x128xbf16>, tensor<1x128xbf16>, tensor<1x128xbf16>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// netra.gated_rms_norm
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<128xbf16>, %z: tensor<1x256xf32>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C1: 'x' and 'gate' must have rank 2 and the same type}}
  %0 = netra.gated_rms_norm %x, %z, %w {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<1x256xf32>, tensor<128xbf16>) -> tensor<1x256xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<96xbf16>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C2: 'weight' must be [N] and row-major, and N divide the columns of 'x', 'tensor<1x256xbf16>', found 'tensor<96xbf16>'}}
  %0 = netra.gated_rms_norm %x, %x, %w {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<96xbf16>) -> tensor<1x256xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<0xbf16>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C2: }}
  %0 = netra.gated_rms_norm %x, %x, %w {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<0xbf16>) -> tensor<1x256xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C3: the activation must be silu or sigmoid, found gelu_erf}}
  %0 = netra.gated_rms_norm %x, %x, %w {activation = #netra.activation<gelu_erf>, epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<128xbf16>) -> tensor<1x256xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C4: 'epsilon' must be finite}}
  %0 = netra.gated_rms_norm %x, %x, %w {activation = #netra.activation<silu>, epsilon = -1.0 : f32} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<128xbf16>) -> tensor<1x256xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C5: 'result' must have shape [1, 256], found 'tensor<1x128xbf16>'}}
  %0 = netra.gated_rms_norm %x, %x, %w {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<128xbf16>) -> tensor<1x128xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C6: 'result_scale' must be present}}
  %0 = netra.gated_rms_norm %x, %x, %w {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<128xbf16>) -> tensor<1x256xf8E4M3FN>
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C7: 'result_scale' must have shape [1, 2]}}
  %0, %1 = netra.gated_rms_norm %x, %x, %w quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<128xbf16>) -> (tensor<1x256xf8E4M3FN>, tensor<1x1xf32>)
  return
}

// -----

func.func @f(%x: tensor<1x256xbf16>, %w: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.gated_rms_norm' op C8: 'rounded' needs 'quantize' and must be 'tensor<1x256xbf16>', found 'tensor<1x256xf32>'}}
  %0, %1, %2 = netra.gated_rms_norm %x, %x, %w quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<128xbf16>) -> (tensor<1x256xf8E4M3FN>, tensor<1x2xf32>, tensor<1x256xf32>)
  return
}
