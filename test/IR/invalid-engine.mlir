// RUN: netra-opt %s -verify-diagnostics -split-input-file

// One test, or more, for each numbered constraint of the engine-level operations.

// expected-error @+1 {{'netra.engine' op C1: an engine holds code objects, contracts, bindings, weights, plans and decisions, found 'func.func'}}
netra.engine @e target(#netra.target<gfx950>) {
  func.func private @f()
}

// -----

// expected-error @+1 {{'netra.engine' op C1: an engine has at most one 'netra.weights'}}
netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(0) alignment(256) {
  }
  netra.weights bytes(0) alignment(256) {
  }
}

// -----

// expected-error @+1 {{'netra.engine' op C2: expected input(1) next, found 2 for @z}}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.binding @y : output(0) tensor<4xbf16>
  netra.binding @z : input(2) tensor<4xbf16>
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-note @+1 {{see existing symbol definition here}}
  netra.binding @x : input(0) tensor<4xbf16>
  // expected-error @+1 {{redefinition of symbol named 'x'}}
  netra.binding @x : output(0) tensor<4xbf16>
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.code_object' op C1: a code object holds at least one kernel}}
  netra.code_object @k {
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.code_object' op C1: a code object holds kernels, found 'func.func'}}
  netra.code_object @k {
    func.func private @f()
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  // expected-error @+1 {{'netra.code_object' op C2: 'text_sha256' must be 64 lower-case hexadecimal digits, found "9f86"}}
  netra.code_object @k text_sha256("9f86") {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  // expected-error @+1 {{'netra.code_object' op C2: 'text_sha256' must be 64 lower-case hexadecimal digits, found "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08"}}
  netra.code_object @k text_sha256("9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08") {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.code_object @k {
    // expected-error @+1 {{'netra.kernel' op C1: the engine has no contract "nk_000000000000000000000000"}}
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_000000000000000000000000">)
  }
}

// -----

// expected-error @+1 {{'netra.kernel' op expects parent op 'netra.code_object'}}
netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_000000000000000000000000">)

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: }}
  netra.contract @nk_000000000000000000000000 {}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: }}
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64.0, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: }}
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: wave_size: expected 64, as gfx950 has, found 32}}
  netra.contract @nk_bcb2ea43a4855f0bc8be7fb5 {format = "netra.contract/1", target = "gfx950", wave_size = 32, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: argument weight: expected an offset of at least 8, the end of x, found 0}}
  netra.contract @nk_e336dd88768685ade61c5f3f {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: contract: /problem/dimensions/M: expected a 64-bit integer, found 1 : i32}}
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1 : i32, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C2: the name must be the id of the contract, @nk_}}
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1028, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

// expected-error @+1 {{'netra.contract' op expects parent op 'netra.engine'}}
netra.contract @nk_000000000000000000000000 {}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.binding' op C1: the type must be static and the index not negative, found 'tensor<?xbf16>' and 0}}
  netra.binding @x : input(0) tensor<?xbf16>
}

// -----

// The engine sees the index first.
// expected-error @+1 {{'netra.engine' op C2: expected state(0) next, found -1 for @x}}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : state(-1) tensor<4xbf16>
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.weights' op C1: expected weights, found 'func.func'}}
  netra.weights bytes(0) alignment(256) {
    func.func private @f()
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(512) alignment(256) {
    // expected-error @+1 {{'netra.weight' op breaks C2 of 'netra.weights': it must start at a multiple of 256 and end within 512 bytes, found 64 and 128}}
    netra.weight @w at(64 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(100) alignment(256) {
    // expected-error @+1 {{'netra.weight' op breaks C2 of 'netra.weights': it must start at a multiple of 256 and end within 100 bytes, found 0 and 128}}
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(512) alignment(64) {
    // expected-error @+1 {{'netra.weight' op breaks C3 of 'netra.weights': it overlaps @w}}
    netra.weight @v at(64 : 128) : tensor<64xbf16> pack("v" : tensor<64xbf16>)
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.weights' op C4: 'bytes' must not be negative and 'alignment' must be a power of two, found -1 and 256}}
  netra.weights bytes(-1) alignment(256) {
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.weights' op C4: 'bytes' must not be negative and 'alignment' must be a power of two, found 0 and 0}}
  netra.weights bytes(0) alignment(0) {
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.weights' op C4: 'bytes' must not be negative and 'alignment' must be a power of two, found 0 and 48}}
  netra.weights bytes(0) alignment(48) {
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.weights' op C4: 'bytes' must not be negative and 'alignment' must be a power of two, found 0 and -9223372036854775808}}
  netra.weights bytes(0) alignment(-9223372036854775808) {
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(512) alignment(256) {
    // expected-error @+1 {{'netra.weight' op C1: the sources of 'pack' must be tensors of the checkpoint, found #netra.pack<@w>}}
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack(@w)
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(512) alignment(256) {
    // expected-error @+1 {{'netra.weight' op C2: 'pack' gives 'tensor<32xbf16>', but the weight is 'tensor<64xbf16>'}}
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<32xbf16>)
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(512) alignment(256) {
    // expected-error @+1 {{'netra.weight' op C2: source 1 is 'tensor<8xbf16>', which cannot be concatenated with 'tensor<8x8xbf16>'}}
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack(concat 0 ["w" : tensor<8x8xbf16>, "v" : tensor<8xbf16>])
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(512) alignment(256) {
    // expected-error @+1 {{'netra.weight' op C3: the size must be that of 'tensor<64xbf16>', 128, and the offset not negative, found 64 and 0}}
    netra.weight @w at(0 : 64) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  netra.weights bytes(512) alignment(256) {
    // expected-error @+1 {{'netra.weight' op C3: the size must be that of 'tensor<64xbf16>', 128, and the offset not negative, found 128 and -256}}
    netra.weight @w at(-256 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.plan' op C1: expected launches and fallback steps, found 'func.func'}}
  netra.plan @p profile(@p) arena(0) {
    func.func private @f()
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
    // expected-error @+1 {{'netra.fallback_step' op breaks C2 of 'netra.plan': step 0 must wait for earlier steps, each once, in rising order, found 0}}
    netra.fallback_step "f" reason("r") inputs([]) outputs([]) types([]) after([0]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
    netra.fallback_step "f" reason("r") inputs([]) outputs([]) types([]) after([]) name("n")
    // expected-error @+1 {{'netra.fallback_step' op breaks C2 of 'netra.plan': step 1 must wait for earlier steps, each once, in rising order, found 0}}
    netra.fallback_step "f" reason("r") inputs([]) outputs([]) types([]) after([0, 0]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
    netra.fallback_step "f" reason("r") inputs([]) outputs([]) types([]) after([]) name("n")
    // expected-error @+1 {{'netra.fallback_step' op breaks C2 of 'netra.plan': step 1 must wait for earlier steps, each once, in rising order, found 1}}
    netra.fallback_step "f" reason("r") inputs([]) outputs([]) types([]) after([1, 0]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.plan' op C3: 'arena' must not be negative and 'alignment' must be a power of two, found -1 and 256}}
  netra.plan @p profile(@p) arena(-1) alignment(256) {
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.plan' op C3: 'arena' must not be negative and 'alignment' must be a power of two, found 0 and 3}}
  netra.plan @p profile(@p) arena(0) alignment(3) {
  }
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.plan' op C4: @p is not a profile beside the engine}}
  netra.plan @p profile(@p) arena(0) {
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.plan' op C5: @x is not a binding of the engine}}
  netra.plan @p profile(@p) arena(0) bindings([@x]) {
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  // expected-error @+1 {{'netra.plan' op C5: @x is listed twice}}
  netra.plan @p profile(@p) arena(0) bindings([@x, @x]) {
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.plan @p profile(@p) arena(0) bindings([]) {
    // expected-error @+1 {{'netra.fallback_step' op breaks C5 of 'netra.plan': @x is not among the bindings of the plan}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<binding @x, 0, 8>]) outputs([]) types([tensor<4xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op breaks C6 of 'netra.plan': #netra.arg<binding @x, 1, 8> reaches beyond the end, which is at 8}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<binding @x, 1, 8>]) outputs([]) types([tensor<4xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op breaks C6 of 'netra.plan': #netra.arg<arena, 60, 8> reaches beyond the end, which is at 64}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 60, 8>]) outputs([]) types([tensor<4xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op breaks C6 of 'netra.plan': #netra.arg<weight @w, 128, 8> reaches beyond the end, which is at 128}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<weight @w, 128, 8>]) outputs([]) types([tensor<4xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C1: @k::@t is not a kernel of the engine}}
    netra.launch @k::@t grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C1: @k is not a kernel of the engine}}
    netra.launch @k grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C1: @missing::@s is not a kernel of the engine}}
    netra.launch @missing::@s grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C1: the kernel is built from "t" for "nk_3269c53414edfba3a4c546ef", but the launch states "u" and "nk_3269c53414edfba3a4c546ef"}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("u") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C1: the kernel is built from "t" for "nk_3269c53414edfba3a4c546ef", but the launch states "t" and "nk_000000000000000000000000"}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_000000000000000000000000") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C2: 'grid' must have three positive extents of 32 bits}}
    netra.launch @k::@s grid(1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C2: 'grid' must have three positive extents of 32 bits}}
    netra.launch @k::@s grid(1, 0, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C2: 'grid' must have three positive extents of 32 bits}}
    netra.launch @k::@s grid(4294967296, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C2: 'block' must have three positive extents of 32 bits}}
    netra.launch @k::@s grid(1, 1, 1) block(-64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C2: a block has at most 1024 work-items}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 32, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C2: a block has at most 1024 work-items}}
    netra.launch @k::@s grid(1, 1, 1) block(4294967295, 4294967295, 4294967295) static_lds(0) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C3: LDS sizes must not be negative, found -4 and 0}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(-4) dynamic_lds(0) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C3: LDS sizes must not be negative, found 0 and -4}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(-4) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C3: 163840 and 4 bytes of LDS do not fit the 163840 of gfx950}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(163840) dynamic_lds(4) args([]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C4: 'after' must not hold negative numbers, found -1}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([-1]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C5: the engine has no binding @x}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([#netra.arg<binding @x, 0, 8>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.launch' op C5: the engine has no weight @w}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([#netra.arg<weight @w, 0, 8>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("o") name("n")
  }
}

// -----

// expected-error @+1 {{'netra.launch' op expects parent op 'netra.plan'}}
netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(0) dynamic_lds(0) args([]) after([]) contract("c") tactic("t") operation("o") name("n")

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C1: operation, reason and name must not be empty}}
    netra.fallback_step "" reason("r") inputs([]) outputs([]) types([]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C1: operation, reason and name must not be empty}}
    netra.fallback_step "f" reason("") inputs([]) outputs([]) types([]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C1: operation, reason and name must not be empty}}
    netra.fallback_step "f" reason("r") inputs([]) outputs([]) types([]) after([]) name("")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C2: expected a type for each of 1 inputs and outputs, found 0}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([]) types([]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C2: type 0 must be a static tensor, found tensor<?xbf16>}}
    netra.fallback_step "f" reason("r") inputs([]) outputs([#netra.arg<arena, 0, 8>]) types([tensor<?xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C3: expected a pointer to 8 bytes for 'tensor<4xbf16>', found #netra.arg<arena, 0, 4>}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 4>]) outputs([]) types([tensor<4xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C3: expected a pointer to 4 bytes for 'tensor<i32>', found #netra.arg<i32, 1>}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<i32, 1>]) outputs([]) types([tensor<i32>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C4: 'after' must not hold negative numbers, found -2}}
    netra.fallback_step "f" reason("r") inputs([]) outputs([]) types([]) after([-2]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C5: the engine has no binding @y}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<binding @y, 0, 8>]) outputs([]) types([tensor<4xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C5: the engine has no weight @v}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<weight @v, 0, 8>]) outputs([]) types([tensor<4xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.weights bytes(128) alignment(256) {
    netra.weight @w at(0 : 128) : tensor<64xbf16> pack("w" : tensor<64xbf16>)
  }
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C5: an output must not be a weight, found #netra.arg<weight @w, 0, 8>}}
    netra.fallback_step "f" reason("r") inputs([]) outputs([#netra.arg<weight @w, 0, 8>]) types([tensor<4xbf16>]) after([]) name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C1: operation, reason and name must not be empty, nor a family}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([#netra.arg<arena, 0, 8>]) types([tensor<4xbf16>, tensor<4xbf16>]) after([]) name("n") {family = ""}
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C6: 'operand_names' must hold 1 names, found 2}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([#netra.arg<arena, 0, 8>]) types([tensor<4xbf16>, tensor<4xbf16>]) after([]) name("n") {operand_names = ["a", "b"]}
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C6: 'result_names' must hold distinct names that are not empty, found ""}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([#netra.arg<arena, 0, 8>]) types([tensor<4xbf16>, tensor<4xbf16>]) after([]) name("n") {result_names = [""]}
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C6: 'updates' must hold 1 numbers, found 2}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([#netra.arg<arena, 0, 8>]) types([tensor<4xbf16>, tensor<4xbf16>]) after([]) name("n") {updates = array<i64: 0, -1>}
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C6: 'updates' must hold -1 or numbers of operands, found 1}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([#netra.arg<arena, 0, 8>]) types([tensor<4xbf16>, tensor<4xbf16>]) after([]) name("n") {updates = array<i64: 1>}
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.binding @x : input(0) tensor<4xbf16>
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C6: setting 'a' must be a boolean, a 64-bit integer, an f64 or a string, found 1 : i32}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([#netra.arg<arena, 0, 8>]) types([tensor<4xbf16>, tensor<4xbf16>]) after([]) name("n") {settings = {a = 1 : i32}}
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(64) {
    // expected-error @+1 {{'netra.fallback_step' op C7: output 0 must be the memory #netra.arg<arena, 0, 8> of input 0, which it updates, found #netra.arg<arena, 8, 8>}}
    netra.fallback_step "f" reason("r") inputs([#netra.arg<arena, 0, 8>]) outputs([#netra.arg<arena, 8, 8>]) types([tensor<4xbf16>, tensor<4xbf16>]) after([]) name("n") {updates = array<i64: 0>}
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
  }
  // expected-error @+1 {{'netra.decision' op C1: the dimension must be one of m, batch, sequence, routed_rows, tensor_parallel, found "rows"}}
  netra.decision "rows" from([0]) take([unit])
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
  }
  // expected-error @+1 {{'netra.decision' op C2: 'from' must start with 0 and rise}}
  netra.decision "m" from([1]) take([unit])
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
  }
  // expected-error @+1 {{'netra.decision' op C2: 'from' must start with 0 and rise}}
  netra.decision "m" from([0, 1, 1]) take([unit, unit, unit])
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
  }
  // expected-error @+1 {{'netra.decision' op C2: 'from' must start with 0 and rise}}
  netra.decision "m" from([0, 1]) take([unit])
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
  }
  // expected-error @+1 {{'netra.decision' op C3: an entry of 'take' must be a plan, a 64-bit integer or unit, found 1 : i32}}
  netra.decision "m" from([0]) take([1 : i32])
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
  }
  // expected-error @+1 {{'netra.decision' op breaks C4 of 'netra.engine': expected "m" from(array<i64: 0, 1, 2>) take([unit, 1, unit]) after the profiles of the plans}}
  netra.decision "m" from([0, 1, 3]) take([unit, 1, unit])
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
// expected-error @+1 {{'netra.engine' op C4: expected 3 decisions, found 1}}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
  }
  netra.decision "m" from([0, 1, 2]) take([unit, 1, unit])
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
// expected-error @+1 {{'netra.engine' op C4: expected one plan for each serving point, found that p and q, both of priority 0, admit m=1, batch=1}}
netra.engine @e target(#netra.target<gfx950>) {
  netra.plan @p profile(@p) arena(0) {
  }
  netra.plan @q profile(@p) arena(0) {
  }
  netra.decision "m" from([0, 1, 2]) take([unit, 1, unit])
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
// expected-error @+1 {{'netra.engine' op C3: a box of 'domain' must be a dictionary of guards}}
netra.engine @e target(#netra.target<gfx950>) attributes {domain = [1]} {
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
// expected-error @+1 {{'netra.engine' op C3: a box of 'domain' must hold guards on m, batch, sequence, routed_rows, tensor_parallel, found 'rows'}}
netra.engine @e target(#netra.target<gfx950>) attributes {domain = [{rows = #netra.guard<1>}]} {
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
// expected-error @+1 {{'netra.engine' op C3: a box of 'domain' must hold guards on m, batch, sequence, routed_rows, tensor_parallel, found 'm'}}
netra.engine @e target(#netra.target<gfx950>) attributes {domain = [{m = 1}]} {
}
