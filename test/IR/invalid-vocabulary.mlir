// RUN: netra-opt %s --split-input-file --verify-diagnostics

func.func @f(%i: tensor<2x1xi32>, %t: tensor<8x16xbf16>) {
  // expected-error @+1 {{'netra.embedding' op C1: 'ids' must be [M] and 'table' [V, N], found 'tensor<2x1xi32>' and 'tensor<8x16xbf16>'}}
  %0 = netra.embedding %i, %t : (tensor<2x1xi32>, tensor<8x16xbf16>) -> tensor<2x16xbf16>
  return
}

// -----

func.func @f(%i: tensor<2xi32>, %t: tensor<8x16xbf16>) {
  // expected-error @+1 {{'netra.embedding' op C2: 'result' must have shape [2, 16], found 'tensor<2x8xbf16>'}}
  %0 = netra.embedding %i, %t : (tensor<2xi32>, tensor<8x16xbf16>) -> tensor<2x8xbf16>
  return
}

// -----

func.func @f(%i: tensor<2xi32>, %t: tensor<8x16xbf16>) {
  // expected-error @+1 {{'netra.embedding' op C3: 'scale' must be finite, found 0x7FC00000 : f32}}
  %0 = netra.embedding %i, %t {scale = 0x7FC00000 : f32} : (tensor<2xi32>, tensor<8x16xbf16>) -> tensor<2x16xbf16>
  return
}

// -----

func.func @f(%l: tensor<8xbf16>) {
  // expected-error @+1 {{'netra.argmax' op C1: 'logits' must be [M, V] with at least one column, found 'tensor<8xbf16>'}}
  %0 = netra.argmax %l : tensor<8xbf16> -> tensor<1xi32>
  return
}

// -----

func.func @f(%l: tensor<2x0xbf16>) {
  // expected-error @+1 {{'netra.argmax' op C1: }}
  %0 = netra.argmax %l : tensor<2x0xbf16> -> tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<2x8xbf16>) {
  // expected-error @+1 {{'netra.argmax' op C2: 'result' must have shape [2], found 'tensor<3xi32>'}}
  %0 = netra.argmax %l : tensor<2x8xbf16> -> tensor<3xi32>
  return
}

// -----

func.func @f(%l: tensor<2x8xbf16>) {
  // expected-error @+1 {{'netra.argmax' op C2: 'value' must have shape [2], found 'tensor<2x1xf32>'}}
  %0, %1 = netra.argmax %l : tensor<2x8xbf16> -> tensor<2xi32>, tensor<2x1xf32>
  return
}

// -----

func.func @f(%l: tensor<16xf32>, %t: tensor<2xf32>, %k: tensor<2xi32>, %p: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error @+1 {{'netra.sample' op C1: 'logits' must be [M, V]}}
  %0 = netra.sample %l temperature(%t) top_k(%k) top_p(%p) seed(%s) offset(%s) : (tensor<16xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<2x8xf32>, %t: tensor<1xf32>, %k: tensor<2xi32>, %p: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error @+1 {{'netra.sample' op C2: 'temperature' must have shape [2], found 'tensor<1xf32>'}}
  %0 = netra.sample %l temperature(%t) top_k(%k) top_p(%p) seed(%s) offset(%s) : (tensor<2x8xf32>, tensor<1xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @f(%l: tensor<2x8xf32>, %t: tensor<2xf32>, %k: tensor<2xi32>, %p: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error @+1 {{'netra.sample' op C2: 'result' must have shape [2], found 'tensor<1xi32>'}}
  %0 = netra.sample %l temperature(%t) top_k(%k) top_p(%p) seed(%s) offset(%s) : (tensor<2x8xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<1xi32>
  return
}
