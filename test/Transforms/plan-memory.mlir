// RUN: netra-opt %s --split-input-file --netra-select-tactics=library-root=%S/Inputs/library --netra-plan-memory=library-root=%S/Inputs/library 2>/dev/null | FileCheck %s
// RUN: netra-opt %s --split-input-file --netra-select-tactics=library-root=%S/Inputs/library --netra-plan-memory=library-root=%S/Inputs/library -o %t 2>/dev/null
// RUN: netra-opt %t --split-input-file | diff - %t
// Planning again changes nothing.
// RUN: netra-opt %t --split-input-file --netra-plan-memory=library-root=%S/Inputs/library | diff - %t

// Two casts of 4096 bytes are alive together; the third takes over the space of
// the first. The result is the caller's memory.

// CHECK-LABEL: module @reuse
// CHECK: netra.arena @f bytes(8192) lower_bound(8192) alignment(256)
// CHECK: %[[A:.*]] = netra.fallback "a"{{.*}}netra.place = [#netra.place<arena, [[A:[0-9]+]], 4096>]
// CHECK: netra.fallback "b"{{.*}}netra.place = [#netra.place<arena, {{[0-9]+}}, 4096>]
// CHECK: netra.fallback "c"{{.*}}netra.place = [#netra.place<arena, [[A]], 4096>]
// CHECK: netra.fallback "d"{{.*}}netra.place = [#netra.place<binding @y, 0, 4096>]
module @reuse {
  func.func @f(%x: tensor<4x256xf32>) -> (tensor<4x256xf32> {netra.name = "y"}) {
    %a = netra.fallback "a" (%x) reason("r") : (tensor<4x256xf32>) -> tensor<4x256xf32>
    %b = netra.fallback "b" (%a) reason("r") : (tensor<4x256xf32>) -> tensor<4x256xf32>
    %c = netra.fallback "c" (%b) reason("r") : (tensor<4x256xf32>) -> tensor<4x256xf32>
    %d = netra.fallback "d" (%c) reason("r") : (tensor<4x256xf32>) -> tensor<4x256xf32>
    return %d : tensor<4x256xf32>
  }
}

// -----

// A view takes no space, and what it views lives as long as the view is read.

// CHECK-LABEL: module @views
// CHECK: netra.arena @f bytes(512) lower_bound(512)
// CHECK: netra.fallback "a"{{.*}}#netra.place<arena, [[A:[0-9]+]], 256>
// CHECK-NOT: netra.reshape{{.*}}netra.place
// CHECK: netra.fallback "b"{{.*}}#netra.place<arena, {{[0-9]+}}, 256>
// CHECK: netra.fallback "c"{{.*}}#netra.place<binding @result0, 0, 256>
// CHECK: netra.reshape
module @views {
  func.func @f(%x: tensor<1x128xbf16>) -> tensor<128xbf16> {
    %a = netra.fallback "a" (%x) reason("r") : (tensor<1x128xbf16>) -> tensor<1x128xbf16>
    %v = netra.reshape %a : tensor<1x128xbf16> to tensor<128xbf16>
    %b = netra.fallback "b" (%x) reason("r") : (tensor<1x128xbf16>) -> tensor<1x128xbf16>
    %c = netra.fallback "c" (%b, %v) reason("r") : (tensor<1x128xbf16>, tensor<128xbf16>) -> tensor<1x128xbf16>
    %r = netra.reshape %c : tensor<1x128xbf16> to tensor<128xbf16>
    return %r : tensor<128xbf16>
  }
}

// -----

// The kernel of the addition updates its left operand, which is dead afterwards.
// The workspace of the product lives during the product only.

// CHECK-LABEL: module @in_place
// CHECK: netra.arena @f bytes(512) lower_bound(512)
// CHECK: netra.mul {{.*}}netra.place = [#netra.place<arena, [[P:[0-9]+]], 128>]{{.*}}workspace = #netra.place<arena, {{[0-9]+}}, 256>
// CHECK: netra.add {{.*}}netra.place = [#netra.place<arena, [[P]], 128, overwrites = 0>]
module @in_place {
  func.func @f(%x: tensor<1x64xbf16>, %r: tensor<1x64xbf16>) -> tensor<1x64xf32> {
    %m = netra.mul %x, %r : tensor<1x64xbf16>
    %a = netra.add %m, %r : tensor<1x64xbf16>
    %y = netra.cast %a : tensor<1x64xbf16> to tensor<1x64xf32>
    return %y : tensor<1x64xf32>
  }
}

// -----

// A state is one binding, updated where it lies.

// CHECK-LABEL: module @state
// CHECK: netra.arena @f bytes(0) lower_bound(0)
// CHECK: netra.add {{.*}}netra.place = [#netra.place<binding @history, 0, 128, overwrites = 0>]
module @state {
  func.func @f(%h: tensor<1x64xbf16> {netra.state = "history"}, %x: tensor<1x64xbf16>) -> (tensor<1x64xbf16> {netra.state = "history"}) {
    %a = netra.add %h, %x : tensor<1x64xbf16>
    return %a : tensor<1x64xbf16>
  }
}

// -----

// A fallback that says which operand it updates takes over its memory: of a
// state, and of a temporary that nothing reads afterwards.

// CHECK-LABEL: module @fallback_updates
// CHECK: netra.arena @f bytes(512) lower_bound(512)
// CHECK: netra.fallback "append"{{.*}}netra.place = [#netra.place<binding @cache, 0, 8192, overwrites = 1>]
// CHECK: netra.fallback "read"{{.*}}#netra.place<arena, [[T:[0-9]+]], 256>
// CHECK: netra.fallback "scale"{{.*}}#netra.place<arena, [[T]], 256, overwrites = 0>
module @fallback_updates {
  func.func @f(%x: tensor<1x128xbf16>, %c: tensor<32x128xbf16> {netra.state = "cache"}) -> (tensor<1x128xbf16>, tensor<32x128xbf16> {netra.state = "cache"}) {
    %a = netra.fallback "append" (%x, %c) reason("r") {updates = array<i64: 1>} : (tensor<1x128xbf16>, tensor<32x128xbf16>) -> tensor<32x128xbf16>
    %t = netra.fallback "read" (%a) reason("r") : (tensor<32x128xbf16>) -> tensor<1x128xbf16>
    %s = netra.fallback "scale" (%t) reason("r") {updates = array<i64: 0>} : (tensor<1x128xbf16>) -> tensor<1x128xbf16>
    %u = netra.fallback "use" (%s, %x) reason("r") : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> tensor<1x128xbf16>
    %y = netra.fallback "end" (%u, %s) reason("r") : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> tensor<1x128xbf16>
    return %y, %a : tensor<1x128xbf16>, tensor<32x128xbf16>
  }
}
