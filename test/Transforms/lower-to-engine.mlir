// RUN: netra-opt %s --netra-engine-pipeline="profiles=one,four library-root=%S/Inputs/library" 2>/dev/null | FileCheck %s
// RUN: netra-opt %s --netra-engine-pipeline="profiles=one,four library-root=%S/Inputs/library" -o %t 2>/dev/null
// RUN: netra-opt %t | diff - %t

// Nothing of the model level is left. Weights of both profiles are shared, and
// so is a binding whose type does not depend on the profile.

// CHECK-LABEL: module @model
// CHECK-NEXT: netra.profile @one
// CHECK-NEXT: netra.profile @four
// CHECK-NEXT: netra.engine @model target(#netra.target<gfx950>) {
// CHECK-COUNT-8: netra.contract @nk_
// CHECK-NOT: netra.contract @
// CHECK: netra.code_object @k0 {
// CHECK-NEXT: netra.kernel @test_dense_n16k16_m1_n96 tactic(#netra.tactic<"gfx950.test_dense_n16k16"
// CHECK: netra.binding @x : input(0) tensor<1x64xbf16>
// CHECK-NEXT: netra.binding @scale : input(1) tensor<64xf32>
// CHECK-NEXT: netra.binding @x.four : input(2) tensor<4x64xbf16>
// CHECK-NEXT: netra.binding @y : output(0) tensor<1x64xf32>
// CHECK-NEXT: netra.binding @y.four : output(1) tensor<4x64xf32>
// CHECK-NEXT: netra.weights bytes(12544) alignment(256) {
// CHECK-NEXT: netra.weight @b at(0 : 128) : tensor<64xbf16> pack("b" : tensor<64xbf16>)
// CHECK-NEXT: netra.weight @w at(256 : 12288) : tensor<96x64xbf16, #netra.layout<n16k16>> pack(concat 0 ["u" : tensor<32x64xbf16>, "v" : tensor<64x64xbf16>] then layout n16k16)
// CHECK-NEXT: }

// Each step waits for what it needs and for nothing that follows from it. The
// first two touch nothing in common. The join reads the first step's result and
// overwrites the workspace of the product, hence [0, 2]; that it comes after the
// other call of the framework follows from 2, as for the addition that it comes
// after the product follows from 3.

// CHECK: netra.plan @one profile(@one) arena({{[0-9]+}}) bindings([@x, @scale, @y]) {
// CHECK-NEXT: netra.launch {{.*}}args([#netra.arg<binding @x, 0, 128>, #netra.arg<weight @w, 0, 12288>, #netra.arg<arena, [[D:[0-9]+]], 192>]) after([]) {{.*}}operation("netra.dense") name("model/w/dense")
// CHECK-NEXT: netra.fallback_step "framework.scale" reason("no kernel") inputs([#netra.arg<binding @x, 0, 128>, #netra.arg<binding @scale, 0, 256>]) outputs([#netra.arg<arena, [[S:[0-9]+]], 128>]) types([tensor<1x64xbf16>, tensor<64xf32>, tensor<1x64xbf16>]) after([]) name("model/scale")
// CHECK-NEXT: netra.launch {{.*}}#netra.arg<arena, [[S]], 128>, #netra.arg<binding @x, 0, 128>, #netra.arg<arena, [[P:[0-9]+]], 128>, #netra.arg<arena, [[S2:[0-9]+]], 256>, #netra.arg<i32, 1>]) after([1]) {{.*}}name("model/mul")
// CHECK-NEXT: netra.fallback_step "framework.join" {{.*}}inputs([#netra.arg<arena, [[D]], 192>, #netra.arg<weight @b, 0, 128>]) outputs([#netra.arg<arena, [[S2]], 128>]){{.*}}after([0, 2])
// CHECK-NEXT: netra.launch {{.*}}args([#netra.arg<arena, [[P]], 128>, #netra.arg<arena, [[S2]], 128>]) after([3]) {{.*}}name("model/add")
// CHECK-NEXT: netra.launch {{.*}}#netra.arg<arena, [[P]], 128>, #netra.arg<binding @y, 0, 256>]) after([4])
// CHECK-NEXT: }
// CHECK: netra.plan @four profile(@four) arena({{[0-9]+}}) bindings([@x.four, @scale, @y.four]) {
// CHECK: #netra.arg<i32, 4>
// CHECK-NOT: func.func
// CHECK-NOT: netra.parameter

// A cast that all sources share follows their concatenation.
// RUN: netra-opt %S/Inputs/cast-then-concatenate.mlir --netra-engine-pipeline="profiles=one library-root=%S/Inputs/library" 2>/dev/null | FileCheck %s --check-prefix=CAST
// CAST: netra.weight @both at(0 : 2048) : tensor<32x16xf32> pack(concat 0 ["a" : tensor<16x16xbf16>, "b" : tensor<16x16xbf16>] then cast f32)

module @model {
  netra.parameter @u : tensor<32x64xbf16> checkpoint("u")
  netra.parameter @v : tensor<64x64xbf16> checkpoint("v")
  netra.parameter @b : tensor<64xbf16> checkpoint("b")
  netra.parameter @w : tensor<96x64xbf16> pack(concat 0 [@u, @v])
  func.func @model(%x: tensor<?x64xbf16> {netra.name = "x"}, %scale: tensor<64xf32> {netra.name = "scale"}) -> (tensor<?x64xf32> {netra.name = "y"}) {
    %w = netra.get @w : tensor<96x64xbf16>
    %b = netra.get @b : tensor<64xbf16>
    %d = netra.dense %x, %w : (tensor<?x64xbf16>, tensor<96x64xbf16>) -> tensor<?x96xbf16>
    %s = netra.fallback "framework.scale" (%x, %scale) reason("no kernel") : (tensor<?x64xbf16>, tensor<64xf32>) -> tensor<?x64xbf16>
    %m = netra.mul %s, %x : tensor<?x64xbf16>
    %j = netra.fallback "framework.join" (%d, %b) reason("no kernel") : (tensor<?x96xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16>
    %a = netra.add %m, %j : tensor<?x64xbf16>
    %y = netra.cast %a : tensor<?x64xbf16> to tensor<?x64xf32>
    return %y : tensor<?x64xf32>
  }
}
