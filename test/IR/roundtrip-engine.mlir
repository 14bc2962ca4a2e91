// RUN: netra-opt %s | netra-opt | FileCheck %s
// RUN: netra-opt --mlir-print-op-generic %s | netra-opt | FileCheck %s
// RUN: netra-opt --emit-bytecode %s | netra-opt | FileCheck %s

netra.profile @decode_m1 {m = #netra.guard<1>, batch = #netra.guard<1..64>, sequence = #netra.guard<0..1048576>, priority = 30 : i64}

// CHECK: netra.engine @mlp target(#netra.target<gfx950>) {
netra.engine @mlp target(#netra.target<gfx950>) {
  // CHECK-NEXT: netra.contract @nk_3269c53414edfba3a4c546ef {arguments = [{access = "read", bits = 0 : i64, bytes = 8 : i64, kind = "pointer", name = "x", offset = 0 : i64, operand_offset = 0 : i64, role = "x", type = "bf16"}
  // CHECK-SAME: deterministic = true
  // CHECK-SAME: epsilon = {f64 = "0x3eb0c6f7a0000000"}
  netra.contract @nk_3269c53414edfba3a4c546ef {
    format = "netra.contract/1", target = "gfx950", wave_size = 64,
    problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64},
      operands = [
        {role = "x", type = "bf16", shape = [1, 64], layout = "row_major"},
        {role = "weight", type = "bf16", shape = [64], layout = "row_major"},
        {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}],
      attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}},
    arguments = [
      {name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0},
      {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0},
      {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0},
      {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1},
      {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}],
    kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0,
    workspace = {bytes = 0, alignment = 256},
    numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"},
    graph_capture = true, deterministic = true}
  // CHECK: netra.contract @nk_c78d803a138b71af7593c842
  netra.contract @nk_c78d803a138b71af7593c842 {
    format = "netra.contract/1", target = "gfx950", wave_size = 64,
    problem = {family = "elementwise", operation = "activation", dimensions = {M = 1, N = 32},
      operands = [
        {role = "x", type = "bf16", shape = [1, 32], layout = "row_major"},
        {role = "result", type = "bf16", shape = [1, 32], layout = "row_major"}],
      attributes = {activation = "silu"}},
    arguments = [
      {name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0},
      {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 8, bytes = 8, operand_offset = 0, bits = 0}],
    kernarg_bytes = 16, grid = [2, 3, 4], block = [64, 1, 1], static_lds = 0, dynamic_lds = 512,
    workspace = {bytes = 0, alignment = 256},
    numerics = {accumulation = "none", rounding = "once", reduction_order = "none"},
    graph_capture = true, deterministic = true}
  // CHECK: netra.code_object @k0 text_sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") {
  netra.code_object @k0 text_sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") {
    // CHECK-NEXT: netra.kernel @norm tactic(#netra.tactic<"gfx950.rms_norm", options = {WAVES = 1}, contract = "nk_3269c53414edfba3a4c546ef">)
    netra.kernel @norm tactic(#netra.tactic<"gfx950.rms_norm", options = {WAVES = 1}, contract = "nk_3269c53414edfba3a4c546ef">)
  }
  // CHECK: netra.code_object @k1 {
  netra.code_object @k1 {
    netra.kernel @"name with spaces" tactic(#netra.tactic<"gfx950.activation", contract = "nk_c78d803a138b71af7593c842">)
  }
  // CHECK: netra.binding @x : input(0) tensor<1x64xbf16>
  netra.binding @x : input(0) tensor<1x64xbf16>
  // CHECK: netra.binding @y : output(0) tensor<1x64xbf16>
  netra.binding @y : output(0) tensor<1x64xbf16>
  // CHECK: netra.binding @kv : state(0) tensor<64x32xbf16, #netra.layout<n16k16>>
  netra.binding @kv : state(0) tensor<64x32xbf16, #netra.layout<n16k16>>
  // CHECK: netra.weights bytes(8448) alignment(256) {
  netra.weights bytes(8448) alignment(256) {
    // CHECK-NEXT: netra.weight @norm at(0 : 128) : tensor<64xbf16> pack("norm.weight" : tensor<64xbf16>)
    netra.weight @norm at(0 : 128) : tensor<64xbf16> pack("norm.weight" : tensor<64xbf16>)
    // CHECK-NEXT: netra.weight @gate_up at(256 : 8192) : tensor<128x32xbf16, #netra.layout<n16k16>> pack(concat 0 ["gate.weight" : tensor<64x32xbf16>, "up.weight" : tensor<64x32xbf16>] then layout n16k16)
    netra.weight @gate_up at(256 : 8192) : tensor<128x32xbf16, #netra.layout<n16k16>> pack(concat 0 ["gate.weight" : tensor<64x32xbf16>, "up.weight" : tensor<64x32xbf16>] then layout n16k16)
  }
  // CHECK: netra.plan @decode_m1 profile(@decode_m1) arena(1024) bindings([@x, @y, @kv]) {
  netra.plan @decode_m1 profile(@decode_m1) arena(1024) bindings([@x, @y, @kv]) {
    // CHECK-NEXT: netra.launch @k0::@norm grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<binding @x, 0, 128>, #netra.arg<weight @norm, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("gfx950.rms_norm") operation("netra.rms_norm") name("mlp/norm")
    netra.launch @k0::@norm grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<binding @x, 0, 128>, #netra.arg<weight @norm, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("gfx950.rms_norm") operation("netra.rms_norm") name("mlp/norm")
    // CHECK-NEXT: netra.fallback_step "framework.rotary" reason("no tactic") inputs([#netra.arg<arena, 0, 128>]) outputs([#netra.arg<arena, 256, 128>]) types([tensor<1x64xbf16>, tensor<64xbf16>]) after([0]) name("rotary")
    netra.fallback_step "framework.rotary" reason("no tactic") inputs([#netra.arg<arena, 0, 128>]) outputs([#netra.arg<arena, 256, 128>]) types([tensor<1x64xbf16>, tensor<64xbf16>]) after([0]) name("rotary")
    // CHECK-NEXT: netra.launch @k1::@"name with spaces" grid(2, 3, 4) {{.*}} after([0, 1])
    netra.launch @k1::@"name with spaces" grid(2, 3, 4) block(64, 1, 1) static_lds(0) dynamic_lds(512) args([#netra.arg<binding @y, 64, 64>, #netra.arg<arena, 512, 64>]) after([0, 1]) contract("nk_c78d803a138b71af7593c842") tactic("gfx950.activation") operation("netra.activation") name("last")
  }
  // CHECK: netra.plan @all profile(@decode_m1) arena(0) alignment(64) {
  netra.plan @all profile(@decode_m1) arena(0) alignment(64) {
  }
}

// An engine may be empty.
// CHECK: netra.engine @empty target(#netra.target<gfx950>) {
// CHECK-NEXT: }
netra.engine @empty target(#netra.target<gfx950>) {
}

// The decisions of an engine, and a fallback with all that can be said of one.

// CHECK-LABEL: netra.engine @decided
// CHECK-SAME: attributes {domain = [{batch = #netra.guard<2..64>, m = #netra.guard<1>, sequence = #netra.guard<0..4096>}, {batch = #netra.guard<2>, m = #netra.guard<1>, sequence = #netra.guard<0>}]} {
netra.profile @some {m = #netra.guard<1>, batch = #netra.guard<2..64>, sequence = #netra.guard<0..4096>}
netra.engine @decided target(#netra.target<gfx950>) attributes {domain = [{m = #netra.guard<1>, batch = #netra.guard<2..64>, sequence = #netra.guard<0..4096>}, {m = #netra.guard<1>, batch = #netra.guard<2>, sequence = #netra.guard<0>}]} {
  netra.plan @some profile(@some) arena(64) {
    // CHECK: netra.fallback_step "netra.mul" {{.*}} name("n") {family = "pointwise", operand_names = ["lhs"], result_names = ["result"], settings = {exact = true, scale = 5.000000e-01 : f64}, updates = array<i64: 0>}
    netra.fallback_step "netra.mul" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([#netra.arg<arena, 0, 8>]) types([tensor<4xbf16>, tensor<4xbf16>]) after([]) name("n") {family = "pointwise", operand_names = ["lhs"], result_names = ["result"], settings = {exact = true, scale = 0.5 : f64}, updates = array<i64: 0>}
  }
  // CHECK: netra.decision "m" from([0, 1, 2]) take([unit, 1, unit])
  // CHECK-NEXT: netra.decision "batch" from([0, 2, 65]) take([unit, 2, unit])
  // CHECK-NEXT: netra.decision "sequence" from([0, 4097]) take([@some, unit])
  netra.decision "m" from([0, 1, 2]) take([unit, 1, unit])
  netra.decision "batch" from([0, 2, 65]) take([unit, 2, unit])
  netra.decision "sequence" from([0, 4097]) take([@some, unit])
}
