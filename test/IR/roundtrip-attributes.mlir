// RUN: netra-opt %s | netra-opt | FileCheck %s
// RUN: netra-opt --mlir-print-op-generic %s | netra-opt | FileCheck %s

// Attributes on their own, as values of a dictionary.

// CHECK-LABEL: module attributes {test.all = {
// CHECK-SAME: activation = #netra.activation<silu>
// CHECK-SAME: arg_arena = #netra.arg<arena, 4096, 11264>
// CHECK-SAME: arg_binding = #netra.arg<binding @x, 0, 4096>
// CHECK-SAME: arg_f32 = #netra.arg<f32, 9.99999997E-7>
// CHECK-SAME: arg_f64 = #netra.arg<f64, 2.500000e-01>
// CHECK-SAME: arg_i32 = #netra.arg<i32, -1>
// CHECK-SAME: arg_i64 = #netra.arg<i64, 9223372036854775807>
// CHECK-SAME: arg_nan = #netra.arg<f32, 0x7FC00001>
// CHECK-SAME: arg_null = #netra.arg<null>
// CHECK-SAME: arg_weight = #netra.arg<weight @gate_up, 256, 512>
// CHECK-SAME: block = #netra.block_scale<block = [128, 128], scale = f32>
// CHECK-SAME: block_bf16 = #netra.block_scale<block = [1, 64], scale = bf16>
// CHECK-SAME: epilogue_gated = #netra.epilogue<gated silu>
// CHECK-SAME: epilogue_none = #netra.epilogue<none>
// CHECK-SAME: epilogue_tanh = #netra.epilogue<gelu_tanh>
// CHECK-SAME: guard_exact = #netra.guard<1>
// CHECK-SAME: guard_range = #netra.guard<0..1048576>
// CHECK-SAME: guard_same = #netra.guard<4>
// CHECK-SAME: guards = [#netra.guard<1>, #netra.guard<1..64>]
// CHECK-SAME: layout = #netra.layout<n16k16>
// CHECK-SAME: layout_row = #netra.layout<row_major>
// CHECK-SAME: pack = #netra.pack<concat 0 [@gate, @up] then cast f32 then layout n16k16>
// CHECK-SAME: pack_axis = #netra.pack<concat 1 [@a, @b]>
// CHECK-SAME: pack_one = #netra.pack<@gate then layout n16k16>
// CHECK-SAME: pack_source = #netra.pack_source<"a.weight" : tensor<64x32xbf16>>
// CHECK-SAME: pack_sources = #netra.pack<concat 0 ["a.weight" : tensor<64x32xbf16>, "b.weight" : tensor<64x32xbf16>]>
// CHECK-SAME: place_arena = #netra.place<arena, 4096, 11264>
// CHECK-SAME: place_binding = #netra.place<binding @y, 0, 4096>
// CHECK-SAME: place_over = #netra.place<arena, 0, 4096, overwrites = 2>
// CHECK-SAME: place_weight = #netra.place<weight @w, 0, 4096>
// CHECK-SAME: tactic = #netra.tactic<"gfx950.dense", options = {SPLIT_K = 4, WAVES = 8}, contract = "nk_0123456789abcdef01234567">
// CHECK-SAME: tactic_plain = #netra.tactic<"gfx950.dense", contract = "nk_0123456789abcdef01234567">
// CHECK-SAME: target = #netra.target<gfx950>
module attributes {test.all = {
  activation = #netra.activation<silu>,
  arg_arena = #netra.arg<arena, 4096, 11264>,
  arg_binding = #netra.arg<binding @x, 0, 4096>,
  arg_f32 = #netra.arg<f32, 1.0e-6>,
  arg_f64 = #netra.arg<f64, 0.25>,
  arg_i32 = #netra.arg<i32, -1>,
  arg_i64 = #netra.arg<i64, 9223372036854775807>,
  arg_nan = #netra.arg<f32, 0x7FC00001>,
  arg_null = #netra.arg<null>,
  arg_weight = #netra.arg<weight @gate_up, 256, 512>,
  block = #netra.block_scale<block = [128, 128], scale = f32>,
  block_bf16 = #netra.block_scale<block = [1, 64], scale = bf16>,
  epilogue_gated = #netra.epilogue<gated silu>,
  epilogue_none = #netra.epilogue<none>,
  epilogue_tanh = #netra.epilogue<gelu_tanh>,
  guard_exact = #netra.guard<1>,
  guard_range = #netra.guard< 0 .. 1048576 >,
  guard_same = #netra.guard<4..4>,
  guards = [#netra.guard<1>, #netra.guard<1..64>],
  layout = #netra.layout<n16k16>,
  layout_row = #netra.layout<row_major>,
  pack = #netra.pack<concat 0 [@gate, @up] then cast f32 then layout n16k16>,
  pack_axis = #netra.pack<concat 1 [@a, @b]>,
  pack_one = #netra.pack<concat 0 [@gate] then layout n16k16>,
  pack_source = #netra.pack_source<"a.weight" : tensor<64x32xbf16>>,
  pack_sources = #netra.pack<concat 0 ["a.weight" : tensor<64x32xbf16>, "b.weight" : tensor<64x32xbf16>]>,
  place_arena = #netra.place<arena, 4096, 11264>,
  place_binding = #netra.place<binding @y, 0, 4096>,
  place_over = #netra.place<arena, 0, 4096, overwrites = 2>,
  place_weight = #netra.place<weight @w, 0, 4096>,
  tactic = #netra.tactic<"gfx950.dense", options = {WAVES = 8, SPLIT_K = 4}, contract = "nk_0123456789abcdef01234567">,
  tactic_plain = #netra.tactic<"gfx950.dense", contract = "nk_0123456789abcdef01234567">,
  target = #netra.target<gfx950>
}} {}

// Every activation.
// CHECK: activations = [#netra.activation<none>, #netra.activation<silu>, #netra.activation<sigmoid>, #netra.activation<gelu_erf>, #netra.activation<gelu_tanh>]
module attributes {test.activations = [
  #netra.activation<none>, #netra.activation<silu>, #netra.activation<sigmoid>,
  #netra.activation<gelu_erf>, #netra.activation<gelu_tanh>]} {}

// Every way to score experts and to weigh a shared one.
// CHECK: routers = [#netra.scoring<softmax>, #netra.scoring<sigmoid>, #netra.shared_expert<none>, #netra.shared_expert<one>, #netra.shared_expert<sigmoid>]
module attributes {test.routers = [
  #netra.scoring<softmax>, #netra.scoring<sigmoid>, #netra.shared_expert<none>,
  #netra.shared_expert<one>, #netra.shared_expert<sigmoid>]} {}

// An encoding is checked against the shape when that is static, so that a
// dynamic one passes.
// CHECK: tensor<?x32xbf16, #netra.layout<n16k16>>
// CHECK: tensor<32x16xbf16, #netra.layout<n16k16>>
// CHECK: tensor<4x32x16xf8E4M3FN, #netra.layout<n16k16>>
// CHECK: tensor<2x8xf32, #netra.layout<group_major>>
func.func private @encodings(tensor<?x32xbf16, #netra.layout<n16k16>>,
    tensor<32x16xbf16, #netra.layout<n16k16>>,
    tensor<4x32x16xf8E4M3FN, #netra.layout<n16k16>>,
    tensor<2x8xf32, #netra.layout<group_major>>)

// Every layout. Parameters follow the name.
// CHECK: tensor<8x12xbf16, #netra.layout<blocked, 4, 6>>
// CHECK: tensor<3x8xbf16, #netra.layout<interleaved_columns, 2, 1, 3>>
// CHECK: tensor<12288x2048xf8E4M3FN, #netra.layout<interleaved_rows, 16, 128, 128, 256, 256>>
// CHECK: tensor<4x32x128x128xf32, #netra.layout<k_major>>
// CHECK: tensor<64x2x256xf8E4M3FN, #netra.layout<paged_kv, 16, 2, 256>>
// CHECK: tensor<?x2x256xf8E4M3FN, #netra.layout<paged_kv_head_major, 16, 2, 256>>
// CHECK: tensor<4x32x128x128xbf16, #netra.layout<v_major>>
func.func private @layouts(tensor<8x12xbf16, #netra.layout<blocked, 4, 6>>,
    tensor<3x8xbf16, #netra.layout<interleaved_columns, 2, 1, 3>>,
    tensor<12288x2048xf8E4M3FN, #netra.layout<interleaved_rows, 16, 128, 128, 256, 256>>,
    tensor<4x32x128x128xf32, #netra.layout<k_major>>,
    tensor<64x2x256xf8E4M3FN, #netra.layout<paged_kv, 16, 2, 256>>,
    tensor<?x2x256xf8E4M3FN, #netra.layout<paged_kv_head_major, 16, 2, 256>>,
    tensor<4x32x128x128xbf16, #netra.layout<v_major>>)

// Every kind of step of a recipe.
// CHECK: test.steps = [#netra.pack<@a then restore interleaved_rows<2, 8, 8> then layout blocked<4, 8>>,
// CHECK-SAME: #netra.pack<concat 0 [@a, @b] then reshape [2, 16, 8] then reorder v_major then cast f32>,
// CHECK-SAME: #netra.pack_reorder<layout = <v_major>, inverse = false>]
module attributes {test.steps = [
  #netra.pack<@a then restore interleaved_rows<2, 8, 8> then layout blocked<4, 8>>,
  #netra.pack<concat 0 [@a, @b] then reshape [2, 16, 8] then reorder v_major then cast f32>,
  #netra.pack_reorder<layout = #netra.layout<v_major>, inverse = false>]} {}
