// RUN: netra-opt %s | netra-opt | FileCheck %s
// RUN: netra-opt --mlir-print-op-generic %s | netra-opt | FileCheck %s
// RUN: netra-opt --emit-bytecode %s | netra-opt | FileCheck %s

// CHECK-LABEL: func.func @vocabulary(
func.func @vocabulary(%ids: tensor<?xi32>, %table: tensor<1024x512xbf16>, %l: tensor<?x1024xbf16>, %f: tensor<?x1024xf32>, %t: tensor<?xf32>, %k: tensor<?xi32>, %s: tensor<?xi64>) {
  // CHECK: netra.embedding %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : (tensor<?xi32>, tensor<1024x512xbf16>) -> tensor<?x512xbf16>{{$}}
  %0 = netra.embedding %ids, %table : (tensor<?xi32>, tensor<1024x512xbf16>) -> tensor<?x512xbf16>
  // CHECK: netra.embedding %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} {scale = 2.262500e+01 : f32} : (tensor<?xi32>, tensor<1024x512xbf16>) -> tensor<?x512xbf16>{{$}}
  %1 = netra.embedding %ids, %table {scale = 2.262500e+01 : f32} : (tensor<?xi32>, tensor<1024x512xbf16>) -> tensor<?x512xbf16>
  // CHECK: netra.argmax %{{[a-z0-9_]+}} : tensor<?x1024xbf16> -> tensor<?xi32>{{$}}
  %2 = netra.argmax %l : tensor<?x1024xbf16> -> tensor<?xi32>
  // CHECK: netra.argmax %{{[a-z0-9_]+}} : tensor<?x1024xf32> -> tensor<?xi32>, tensor<?xf32>{{$}}
  %3, %v3 = netra.argmax %f : tensor<?x1024xf32> -> tensor<?xi32>, tensor<?xf32>
  // CHECK: netra.sample %{{[a-z0-9_]+}} temperature(%{{[a-z0-9_]+}}) top_k(%{{[a-z0-9_]+}}) top_p(%{{[a-z0-9_]+}}) seed(%{{[a-z0-9_]+}}) offset(%{{[a-z0-9_]+}}) : (tensor<?x1024xbf16>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<?xi32>{{$}}
  %4 = netra.sample %l temperature(%t) top_k(%k) top_p(%t) seed(%s) offset(%s) : (tensor<?x1024xbf16>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<?xi32>
  return
}
