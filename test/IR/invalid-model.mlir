// RUN: netra-opt %s -verify-diagnostics -split-input-file

// One test, or more, for each numbered constraint of the model-level operations.

//===----------------------------------------------------------------------===//
// netra.parameter, netra.get, netra.constant
//===----------------------------------------------------------------------===//

// expected-error @+1 {{'netra.parameter' op C1: the type must be static, found 'tensor<?xbf16>'}}
netra.parameter @w : tensor<?xbf16> checkpoint("w")

// -----

// expected-error @+1 {{'netra.parameter' op C2: expected 'checkpoint' or 'pack', found neither}}
netra.parameter @w : tensor<4xbf16>

// -----

netra.parameter @v : tensor<4xbf16> checkpoint("v")
// expected-error @+1 {{'netra.parameter' op C2: expected 'checkpoint' or 'pack', found both}}
netra.parameter @w : tensor<4xbf16> checkpoint("w") pack(@v)

// -----

// expected-error @+1 {{'netra.parameter' op C3: a checkpoint tensor must be row-major and have a name that is not empty, found "" of type 'tensor<4xbf16>'}}
netra.parameter @w : tensor<4xbf16> checkpoint("")

// -----

// expected-error @+1 {{'netra.parameter' op C3: a checkpoint tensor must be row-major}}
netra.parameter @w : tensor<16x16xbf16, #netra.layout<n16k16>> checkpoint("w")

// -----

// expected-error @+1 {{'netra.parameter' op C3: expected at most one {} in the name of a checkpoint tensor, found "a.{}.{}"}}
netra.parameter @w : tensor<4x8xbf16> checkpoint("a.{}.{}")

// -----

// expected-error @+1 {{'netra.parameter' op C3: expected 1 to 65536 as the first extent, which counts the tensors of "a.{}", found 65537}}
netra.parameter @w : tensor<65537x8xbf16> checkpoint("a.{}")

// -----

// expected-error @+1 {{'netra.parameter' op C4: the sources of 'pack' must be symbols, found #netra.pack<"w" : tensor<4xbf16>>}}
netra.parameter @w : tensor<4xbf16> pack("w" : tensor<4xbf16>)

// -----

// expected-error @+1 {{'netra.parameter' op C4: @missing is not a parameter}}
netra.parameter @w : tensor<4xbf16> pack(@missing)

// -----

func.func private @f()
// expected-error @+1 {{'netra.parameter' op C4: @f is not a parameter}}
netra.parameter @w : tensor<4xbf16> pack(@f)

// -----

// expected-error @+1 {{'netra.parameter' op C4: the parameter is made from itself}}
netra.parameter @a : tensor<4xbf16> pack(@b)
netra.parameter @b : tensor<4xbf16> pack(@c)
netra.parameter @c : tensor<4xbf16> pack(@a)

// -----

netra.parameter @a : tensor<4x8xbf16> checkpoint("a")
netra.parameter @b : tensor<4x9xbf16> checkpoint("b")
// expected-error @+1 {{'netra.parameter' op C5: source 1 is 'tensor<4x9xbf16>', which differs from 'tensor<4x8xbf16>' in another extent than that of axis 0}}
netra.parameter @w : tensor<8x8xbf16> pack(concat 0 [@a, @b])

// -----

netra.parameter @a : tensor<2x4x8xbf16> checkpoint("a")
netra.parameter @b : tensor<4x9xbf16> checkpoint("b")
// expected-error @+1 {{'netra.parameter' op C5: source 1 is 'tensor<4x9xbf16>', which differs from 'tensor<2x4x8xbf16>' in another extent than that of axis 0}}
netra.parameter @w : tensor<12x8xbf16> pack(concat 0 [@a, @b])

// -----

netra.parameter @a : tensor<2x4x8xbf16> checkpoint("a")
netra.parameter @b : tensor<8xbf16> checkpoint("b")
// expected-error @+1 {{'netra.parameter' op C5: source 1 is 'tensor<8xbf16>', which cannot be concatenated with 'tensor<2x4x8xbf16>'}}
netra.parameter @w : tensor<12x8xbf16> pack(concat 0 [@a, @b])

// -----

netra.parameter @a : tensor<4x8xbf16> checkpoint("a")
netra.parameter @b : tensor<4x8xf32> checkpoint("b")
// expected-error @+1 {{'netra.parameter' op C5: source 1 is 'tensor<4x8xf32>', which cannot be concatenated with 'tensor<4x8xbf16>'}}
netra.parameter @w : tensor<8x8xbf16> pack(concat 0 [@a, @b])

// -----

netra.parameter @a : tensor<4xbf16> checkpoint("a")
// expected-error @+1 {{'netra.parameter' op C5: axis 1 is not one of 'tensor<4xbf16>'}}
netra.parameter @w : tensor<8xbf16> pack(concat 1 [@a, @a])

// -----

netra.parameter @a : tensor<16x16xbf16> checkpoint("a")
netra.parameter @b : tensor<16x16xbf16, #netra.layout<n16k16>> pack(@a then layout n16k16)
// expected-error @+1 {{'netra.parameter' op C5: source 0 must be static and row-major, found 'tensor<16x16xbf16, #netra.layout<n16k16>>'}}
netra.parameter @w : tensor<16x16xbf16> pack(@b)

// -----

netra.parameter @a : tensor<4xf32> checkpoint("a")
// expected-error @+1 {{'netra.parameter' op C5: elements of type 'f32' cannot be cast exactly to 'bf16'}}
netra.parameter @w : tensor<4xbf16> pack(@a then cast bf16)

// -----

netra.parameter @a : tensor<20x16xbf16> checkpoint("a")
// expected-error @+1 {{'netra.parameter' op C5: layout C2: }}
netra.parameter @w : tensor<20x16xbf16> pack(@a then layout n16k16)

// -----

// expected-error @+1 {{'netra.parameter' op C5: expected a shape of 64 elements, found one of 60}}
netra.parameter @reshaped : tensor<6x10xbf16> pack(@a then reshape [6, 10])
netra.parameter @a : tensor<8x8xbf16> checkpoint("a")

// -----

// expected-error @+1 {{'netra.parameter' op C5: layout C2: layout interleaved_rows<3,2>: expected 3 groups of 2, found an extent of 8}}
netra.parameter @reordered : tensor<8x8xbf16> pack(@a then restore interleaved_rows<3, 2>)
netra.parameter @a : tensor<8x8xbf16> checkpoint("a")

// -----

netra.parameter @a : tensor<4xbf16> checkpoint("a")
// expected-error @+1 {{'netra.parameter' op C5: 'pack' gives 'tensor<8xbf16>', but the parameter is 'tensor<4xbf16>'}}
netra.parameter @w : tensor<4xbf16> pack(concat 0 [@a, @a])

// -----

func.func @f() {
  // expected-error @+1 {{'netra.get' op C1: @missing is not a parameter}}
  %0 = netra.get @missing : tensor<4xbf16>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'netra.get' op C1: @f is not a parameter}}
  %0 = netra.get @f : tensor<4xbf16>
  return
}

// -----

netra.parameter @w : tensor<4xbf16> checkpoint("w")
func.func @f() {
  // expected-error @+1 {{'netra.get' op C2: @w is 'tensor<4xbf16>', but the result is 'tensor<4xf32>'}}
  %0 = netra.get @w : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'netra.constant' op C1: the type must be static and row-major, found 'tensor<16x16xbf16, #netra.layout<n16k16>>'}}
  %0 = netra.constant dense<1.0> : tensor<16x16xbf16, #netra.layout<n16k16>>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'netra.constant' op result #0 must be ranked tensor of}}
  %0 = netra.constant dense<1> : vector<4xi32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// netra.dense
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<16x64xbf16>) {
  // expected-error @+1 {{'netra.dense' op C1: 'x' must be [M, K] and 'weight' [N, K], found 'tensor<1x32xbf16>' and 'tensor<16x64xbf16>'}}
  %0 = netra.dense %x, %w : (tensor<1x32xbf16>, tensor<16x64xbf16>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x1x32xbf16>, %w: tensor<16x32xbf16>) {
  // expected-error @+1 {{'netra.dense' op C1: }}
  %0 = netra.dense %x, %w : (tensor<1x1x32xbf16>, tensor<16x32xbf16>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<16x32xf16>) {
  // expected-error @+1 {{'netra.dense' op C2: 'x' and 'weight' must have the same element type, found 'bf16' and 'f16'}}
  %0 = netra.dense %x, %w : (tensor<1x32xbf16>, tensor<16x32xf16>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xf8E4M3FN>, %w: tensor<16x128xf8E4M3FN>) {
  // expected-error @+1 {{'netra.dense' op C3: operands of type 'f8E4M3FN' must have both scales with their block scales}}
  %0 = netra.dense %x, %w : (tensor<1x128xf8E4M3FN>, tensor<16x128xf8E4M3FN>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xbf16>, %w: tensor<16x128xbf16>, %s: tensor<1x1xf32>) {
  // expected-error @+1 {{'netra.dense' op C3: operands of type 'bf16' must have neither scales nor block scales}}
  %0 = netra.dense %x, %w scales(%s, %s) : (tensor<1x128xbf16>, tensor<16x128xbf16>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x128xf8E4M3FN>, %w: tensor<16x128xf8E4M3FN>, %s: tensor<1x1xf32>) {
  // expected-error @+1 {{'netra.dense' op C3: operands of type 'f8E4M3FN' must have both scales with their block scales}}
  %0 = "netra.dense"(%x, %w, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (tensor<1x128xf8E4M3FN>, tensor<16x128xf8E4M3FN>, tensor<1x1xf32>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x256xf8E4M3FN>, %w: tensor<16x256xf8E4M3FN>, %sx: tensor<1x1xf32>, %sw: tensor<1x2xf32>) {
  // expected-error @+1 {{'netra.dense' op C4: 'x_scale' must have shape [1, 2] and element type 'f32', found 'tensor<1x1xf32>'}}
  %0 = netra.dense %x, %w scales(%sx, %sw) : (tensor<1x256xf8E4M3FN>, tensor<16x256xf8E4M3FN>, tensor<1x1xf32>, tensor<1x2xf32>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x256xf8E4M3FN>, %w: tensor<144x256xf8E4M3FN>, %sx: tensor<?x2xf32>, %sw: tensor<2x2xbf16>) {
  // expected-error @+1 {{'netra.dense' op C4: 'weight_scale' must have shape [2, 2] and element type 'f32', found 'tensor<2x2xbf16>'}}
  %0 = netra.dense %x, %w scales(%sx, %sw) : (tensor<?x256xf8E4M3FN>, tensor<144x256xf8E4M3FN>, tensor<?x2xf32>, tensor<2x2xbf16>) -> tensor<?x144xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x256xf8E4M3FN>, %w: tensor<16x256xf8E4M3FN>, %sx: tensor<1x4xf32>, %sw: tensor<1x2xf32>) {
  // expected-error @+1 {{'netra.dense' op C4: a block of 'x' must have one row, and blocks of 'x' and 'weight' the same extent along K, found}}
  %0 = netra.dense %x, %w scales(%sx by <block = [1, 64], scale = f32>, %sw) : (tensor<1x256xf8E4M3FN>, tensor<16x256xf8E4M3FN>, tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x256xf8E4M3FN>, %w: tensor<16x256xf8E4M3FN>, %sx: tensor<1x2xf32>, %sw: tensor<1x2xf32>) {
  // expected-error @+1 {{'netra.dense' op C4: a block of 'x' must have one row}}
  %0 = netra.dense %x, %w scales(%sx by <block = [2, 128], scale = f32>, %sw) : (tensor<2x256xf8E4M3FN>, tensor<16x256xf8E4M3FN>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<16x32xbf16>) {
  // expected-error @+1 {{'netra.dense' op C5: 'result' must have shape [1, 16], found 'tensor<1x17xbf16>'}}
  %0 = netra.dense %x, %w : (tensor<1x32xbf16>, tensor<16x32xbf16>) -> tensor<1x17xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x32xbf16>, %w: tensor<16x32xbf16>) {
  // expected-error @+1 {{'netra.dense' op C5: 'result' must have shape [?, 8], found 'tensor<?x16xbf16>'}}
  %0 = netra.dense %x, %w epilogue(gated silu) : (tensor<?x32xbf16>, tensor<16x32xbf16>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<15x32xbf16>) {
  // expected-error @+1 {{'netra.dense' op C5: a gated epilogue needs an even number of weight rows, found 15}}
  %0 = netra.dense %x, %w epilogue(gated silu) : (tensor<1x32xbf16>, tensor<15x32xbf16>) -> tensor<1x7xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<16x32xbf16>, %b: tensor<1x16xbf16>) {
  // expected-error @+1 {{'netra.dense' op C6: 'bias' must be row-major with shape [16] and element type 'bf16' or f32, found 'tensor<1x16xbf16>'}}
  %0 = netra.dense %x, %w bias(%b) : (tensor<1x32xbf16>, tensor<16x32xbf16>, tensor<1x16xbf16>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<16x32xbf16>, %b: tensor<16xf16>) {
  // expected-error @+1 {{'netra.dense' op C6: }}
  %0 = netra.dense %x, %w bias(%b) : (tensor<1x32xbf16>, tensor<16x32xbf16>, tensor<16xf16>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<16x32xbf16>, %r: tensor<1x16xf32>) {
  // expected-error @+1 {{'netra.dense' op C7: 'residual' must have the shape and element type of 'result', 'tensor<1x16xbf16>', found 'tensor<1x16xf32>'}}
  %0 = netra.dense %x, %w residual(%r) : (tensor<1x32xbf16>, tensor<16x32xbf16>, tensor<1x16xf32>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<16x32xbf16>, %r: tensor<2x16xbf16>) {
  // expected-error @+1 {{'netra.dense' op C7: }}
  %0 = netra.dense %x, %w residual(%r) : (tensor<1x32xbf16>, tensor<16x32xbf16>, tensor<2x16xbf16>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xi8>, %w: tensor<16x32xi8>) {
  // expected-error @+1 {{'netra.dense' op operand #0 must be ranked tensor of}}
  %0 = netra.dense %x, %w : (tensor<1x32xi8>, tensor<16x32xi8>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<1x32xbf16>, %w: tensor<16x32xbf16>) {
  // expected-error @+1 {{expected an epilogue, found "silu"}}
  %0 = netra.dense %x, %w epilogue("silu") : (tensor<1x32xbf16>, tensor<16x32xbf16>) -> tensor<1x16xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// netra.gated, netra.quantize_blocks, netra.activation
//===----------------------------------------------------------------------===//

func.func @f(%g: tensor<32xbf16>) {
  // expected-error @+1 {{'netra.gated' op C1: 'gate' must have rank 2, found 'tensor<32xbf16>'}}
  %0 = netra.gated %g, %g {activation = #netra.activation<silu>} : (tensor<32xbf16>, tensor<32xbf16>) -> tensor<32xbf16>
  return
}

// -----

func.func @f(%g: tensor<1x32xbf16>, %u: tensor<1x32xf16>) {
  // expected-error @+1 {{'netra.gated' op C1: 'up' must have the type of 'gate', 'tensor<1x32xbf16>', found 'tensor<1x32xf16>'}}
  %0 = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<1x32xbf16>, tensor<1x32xf16>) -> tensor<1x32xbf16>
  return
}

// -----

func.func @f(%g: tensor<1x33xbf16>) {
  // expected-error @+1 {{'netra.gated' op C1: a packed operand must have an even number of columns, found 33}}
  %0 = netra.gated %g packed {activation = #netra.activation<silu>} : (tensor<1x33xbf16>) -> tensor<1x16xbf16>
  return
}

// -----

func.func @f(%g: tensor<1x32xbf16>) {
  // expected-error @+1 {{'netra.gated' op C2: the activation must not be none}}
  %0 = netra.gated %g, %g {activation = #netra.activation<none>} : (tensor<1x32xbf16>, tensor<1x32xbf16>) -> tensor<1x32xbf16>
  return
}

// -----

func.func @f(%g: tensor<1x32xbf16>) {
  // expected-error @+1 {{'netra.gated' op C3: 'result' must have shape [1, 16] and element type 'bf16', found 'tensor<1x32xbf16>'}}
  %0 = netra.gated %g packed {activation = #netra.activation<silu>} : (tensor<1x32xbf16>) -> tensor<1x32xbf16>
  return
}

// -----

func.func @f(%g: tensor<1x32xbf16>) {
  // expected-error @+1 {{'netra.gated' op C3: 'result' must have shape [1, 32] and element type 'bf16', found 'tensor<1x32xf32>'}}
  %0 = netra.gated %g, %g {activation = #netra.activation<silu>} : (tensor<1x32xbf16>, tensor<1x32xbf16>) -> tensor<1x32xf32>
  return
}

// -----

func.func @f(%g: tensor<1x128xbf16>) {
  // expected-error @+1 {{'netra.gated' op C4: 'result_scale' must be present}}
  %0 = netra.gated %g, %g {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> tensor<1x128xf8E4M3FN>
  return
}

// -----

func.func @f(%g: tensor<1x128xbf16>) {
  // expected-error @+1 {{'netra.gated' op C4: 'result_scale' must be present}}
  %0, %1 = netra.gated %g, %g quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> (tensor<1x128xbf16>, tensor<1x1xf32>)
  return
}

// -----

func.func @f(%g: tensor<1x128xbf16>) {
  // expected-error @+1 {{expected 2 to 3 result types, found 1}}
  %0 = netra.gated %g, %g quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> tensor<1x128xf8E4M3FN>
  return
}

// -----

func.func @f(%g: tensor<1x100xbf16>) {
  // expected-error @+1 {{'netra.gated' op C5: a block of 128 columns does not divide 100}}
  %0, %1 = netra.gated %g, %g quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<1x100xbf16>, tensor<1x100xbf16>) -> (tensor<1x100xf8E4M3FN>, tensor<1x1xf32>)
  return
}

// -----

func.func @f(%g: tensor<1x128xbf16>) {
  // expected-error @+1 {{'netra.gated' op C5: 'result_scale' must have shape [1, 1] and element type 'f32', found 'tensor<1x2xf32>'}}
  %0, %1 = netra.gated %g, %g quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x2xf32>)
  return
}

// -----

func.func @f(%g: tensor<1x128xbf16>) {
  // expected-error @+1 {{'netra.gated' op C6: 'rounded' needs 'quantize' and must be 'tensor<1x128xbf16>', found 'tensor<1x128xf32>'}}
  %0, %1, %2 = netra.gated %g, %g quantize(<block = [1, 128], scale = f32>) {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x128xf32>)
  return
}

// -----

func.func @f(%g: tensor<1x128xf16>) {
  // expected-error @+1 {{'netra.gated' op C7: 'round_activation' needs a 'gate' of bf16, found 'tensor<1x128xf16>'}}
  %0 = netra.gated %g, %g {activation = #netra.activation<silu>, round_activation} : (tensor<1x128xf16>, tensor<1x128xf16>) -> tensor<1x128xf16>
  return
}

// -----

func.func @f(%x: tensor<128xbf16>) {
  // expected-error @+1 {{'netra.quantize_blocks' op C1: 'x' must have rank 2, found 'tensor<128xbf16>'}}
  %0, %1 = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<128xbf16> -> tensor<128xf8E4M3FN>, tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x128xbf16>) {
  // expected-error @+1 {{'netra.quantize_blocks' op C2: a block must have one row, found 128}}
  %0, %1 = netra.quantize_blocks %x {scale = #netra.block_scale<block = [128, 128], scale = f32>} : tensor<2x128xbf16> -> tensor<2x128xf8E4M3FN>, tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x130xbf16>) {
  // expected-error @+1 {{'netra.quantize_blocks' op C2: a block of 128 columns does not divide 130}}
  %0, %1 = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<2x130xbf16> -> tensor<2x130xf8E4M3FN>, tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x128xbf16>) {
  // expected-error @+1 {{'netra.quantize_blocks' op C3: 'result' must have shape [2, 128], found 'tensor<1x128xf8E4M3FN>'}}
  %0, %1 = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<2x128xbf16> -> tensor<1x128xf8E4M3FN>, tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x128xbf16>) {
  // expected-error @+1 {{'netra.quantize_blocks' op C4: 'result_scale' must have shape [2, 1] and element type 'f32', found 'tensor<1x2xf32>'}}
  %0, %1 = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<2x128xbf16> -> tensor<2x128xf8E4M3FN>, tensor<1x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.activation' op C1: the activation must not be none}}
  %0 = netra.activation %x {activation = #netra.activation<none>} : tensor<4xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Elementwise, shape and storage
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<4xbf16>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'netra.add' op C1: 'lhs' and 'rhs' must have the same element type, found 'tensor<4xbf16>' and 'tensor<4xf32>'}}
  %0 = netra.add %x, %y : tensor<4xbf16>, tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xbf16>, %y: tensor<2xbf16>) {
  // expected-error @+1 {{'netra.add' op C2: 'rhs' must have the shape of 'lhs' without some leading dimensions, found 'tensor<2xbf16>' for 'tensor<2x4xbf16>'}}
  %0 = netra.add %x, %y : tensor<2x4xbf16>, tensor<2xbf16>
  return
}

// -----

func.func @f(%x: tensor<16x16xbf16>, %y: tensor<16x16xbf16, #netra.layout<n16k16>>) {
  // expected-error @+1 {{'netra.add' op C3: 'rhs' must have the layout of 'lhs', found}}
  %0 = netra.add %x, %y : tensor<16x16xbf16>, tensor<16x16xbf16, #netra.layout<n16k16>>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'netra.mul' op C1: 'lhs' and 'rhs' must have the same element type, found 'tensor<4xbf16>' and 'tensor<4xf32>'}}
  %0 = netra.mul %x, %y : tensor<4xbf16>, tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>, %y: tensor<2x4xbf16>) {
  // expected-error @+1 {{'netra.mul' op C2: 'rhs' must have the shape of 'lhs' without some leading dimensions, found 'tensor<2x4xbf16>' for 'tensor<4xbf16>'}}
  %0 = netra.mul %x, %y : tensor<4xbf16>, tensor<2x4xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x16x16xbf16>, %y: tensor<16x16xbf16, #netra.layout<n16k16>>) {
  // expected-error @+1 {{'netra.mul' op C3: 'rhs' must be row-major, found}}
  %0 = netra.mul %x, %y : tensor<2x16x16xbf16>, tensor<16x16xbf16, #netra.layout<n16k16>>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.cast' op C1: 'x' and 'result' must have the same shape and layout, found 'tensor<4xbf16>' and 'tensor<5xf32>'}}
  %0 = netra.cast %x : tensor<4xbf16> to tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<16x16xbf16>) {
  // expected-error @+1 {{'netra.cast' op C1: }}
  %0 = netra.cast %x : tensor<16x16xbf16> to tensor<16x16xf32, #netra.layout<n16k16>>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.reshape' op C1: 'x' and 'result' must have the same element type, found 'tensor<4xbf16>' and 'tensor<4xf16>'}}
  %0 = netra.reshape %x : tensor<4xbf16> to tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<16x16xbf16, #netra.layout<n16k16>>) {
  // expected-error @+1 {{'netra.reshape' op C2: 'x' and 'result' must be row-major, found}}
  %0 = netra.reshape %x : tensor<16x16xbf16, #netra.layout<n16k16>> to tensor<256xbf16>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.reshape' op C3: 'x' and 'result' must have the same number of elements, found 'tensor<4xbf16>' and 'tensor<5xbf16>'}}
  %0 = netra.reshape %x : tensor<4xbf16> to tensor<5xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x4xbf16>) {
  // expected-error @+1 {{'netra.reshape' op C3: 'x' and 'result' must both be static, or both have one dynamic extent, found 'tensor<?x4xbf16>' and 'tensor<4xbf16>'}}
  %0 = netra.reshape %x : tensor<?x4xbf16> to tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x4xbf16>) {
  // expected-error @+1 {{'netra.reshape' op C3: 'x' and 'result' must both be static, or both have one dynamic extent}}
  %0 = netra.reshape %x : tensor<?x4xbf16> to tensor<?x?xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x4xbf16>) {
  // expected-error @+1 {{'netra.transpose' op C1: 'permutation' must be a permutation of the 2 dimensions of 'x', found [0, 0]}}
  %0 = netra.transpose %x [0, 0] : tensor<2x4xbf16> to tensor<4x2xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x4xbf16>) {
  // expected-error @+1 {{'netra.transpose' op C1: 'permutation' must be a permutation of the 2 dimensions of 'x', found [0, 1, 2]}}
  %0 = netra.transpose %x [0, 1, 2] : tensor<2x4xbf16> to tensor<4x2xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x4xbf16>) {
  // expected-error @+1 {{'netra.transpose' op C2: 'result' must have shape [4, 2] and element type 'bf16', found 'tensor<2x4xbf16>'}}
  %0 = netra.transpose %x [1, 0] : tensor<2x4xbf16> to tensor<2x4xbf16>
  return
}

// -----

func.func @f(%x: tensor<16x16xbf16, #netra.layout<n16k16>>) {
  // expected-error @+1 {{'netra.transpose' op C3: 'x' and 'result' must be row-major, found}}
  %0 = netra.transpose %x [1, 0] : tensor<16x16xbf16, #netra.layout<n16k16>> to tensor<16x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<16x16xbf16>) {
  // expected-error @+1 {{'netra.layout_convert' op C1: 'x' and 'result' must have the same shape and element type, found}}
  %0 = netra.layout_convert %x : tensor<16x16xbf16> to tensor<16x32xbf16, #netra.layout<n16k16>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// netra.fallback, netra.profile, netra.arena
//===----------------------------------------------------------------------===//

func.func @f() {
  // expected-error @+1 {{'netra.fallback' op C1: the operation and the reason must not be empty}}
  netra.fallback "" () reason("none") : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'netra.fallback' op C1: the operation and the reason must not be empty}}
  netra.fallback "f" () reason("") : () -> ()
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.fallback' op C2: 'operand_names' must hold 1 names, found 2}}
  netra.fallback "f" (%x) reason("r") {operand_names = ["x", "y"]} : (tensor<4xbf16>) -> ()
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.fallback' op C2: 'operand_names' must hold distinct names that are not empty, found "x"}}
  netra.fallback "f" (%x, %x) reason("r") {operand_names = ["x", "x"]} : (tensor<4xbf16>, tensor<4xbf16>) -> ()
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'netra.fallback' op C2: 'result_names' must hold 1 names, found 0}}
  %0 = netra.fallback "f" () reason("r") {result_names = []} : () -> tensor<4xbf16>
  return
}

// -----

func.func @fallback(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.fallback' op C3: 'updates' must hold 1 numbers, found 2}}
  %0 = netra.fallback "f" (%x) reason("r") {updates = array<i64: 0, 0>} : (tensor<4xbf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @fallback(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.fallback' op C3: 'updates' must hold -1 or numbers of operands, found 1}}
  %0 = netra.fallback "f" (%x) reason("r") {updates = array<i64: 1>} : (tensor<4xbf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @fallback(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.fallback' op C3: operand #0 is updated by two results}}
  %0:2 = netra.fallback "f" (%x) reason("r") {updates = array<i64: 0, 0>} : (tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @fallback(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.fallback' op C3: result #0 must have the type 'tensor<4xbf16>' of operand #0, which it updates, found 'tensor<4xf32>'}}
  %0 = netra.fallback "f" (%x) reason("r") {updates = array<i64: 0>} : (tensor<4xbf16>) -> tensor<4xf32>
  return
}

// -----

func.func @fallback(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.fallback' op C4: setting 'n' must be a boolean, a 64-bit integer, an f64 or a string, found 1 : i32}}
  netra.fallback "f" (%x) reason("r") {settings = {n = 1 : i32}} : (tensor<4xbf16>) -> ()
  return
}

// -----

// expected-error @+1 {{'netra.profile' op C1: 'm' must start at 1 or above, found #netra.guard<0..1>}}
netra.profile @p {m = #netra.guard<0..1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}

// -----

// expected-error @+1 {{'netra.profile' op C1: 'tensor_parallel' must start at 1 or above, found #netra.guard<0>}}
netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>, tensor_parallel = #netra.guard<0>}

// -----

// expected-error @+1 {{'netra.profile' op requires attribute 'batch'}}
netra.profile @p {m = #netra.guard<1>, sequence = #netra.guard<0>}

// -----

func.func private @f()
// expected-error @+1 {{'netra.arena' op C1: sizes must not be negative and the lower bound must not exceed the size, found 8 and 4}}
netra.arena @f bytes(4) lower_bound(8) alignment(256)

// -----

func.func private @f()
// expected-error @+1 {{'netra.arena' op C1: }}
netra.arena @f bytes(-4) lower_bound(-8) alignment(256)

// -----

func.func private @f()
// expected-error @+1 {{'netra.arena' op C2: the alignment must be a power of two, found 3}}
netra.arena @f bytes(4) lower_bound(4) alignment(3)

// -----

// expected-error @+1 {{'netra.arena' op C3: @missing is not a function}}
netra.arena @missing bytes(4) lower_bound(4) alignment(256)

// -----

func.func private @f()
netra.arena @f bytes(4) lower_bound(4) alignment(256)
// expected-error @+1 {{'netra.arena' op C3: @f already has an arena}}
netra.arena @f bytes(4) lower_bound(4) alignment(256)
