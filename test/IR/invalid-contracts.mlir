// RUN: netra-opt %s --split-input-file --verify-diagnostics

// What a contract says against itself and its operation, and a launch against its
// contract. The names are those of the contracts, so that only their contents are
// at fault.

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: operation: expected one of elementwise.activation, elementwise.add, vocabulary.argmax, elementwise.cast, dense.dense, vocabulary.embedding, activation.gated, norm.gated_rms_norm, norm.layer_norm, layout.layout_convert, moe.activation, moe.down_reduce, moe.gate_up, elementwise.mul, quantize.quantize_blocks, norm.rms_norm, router.route, vocabulary.sample, layout.transpose, found norm.rms_nrom}}
  netra.contract @nk_32cddf6ee7d64e615ee2ccf1 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_nrom", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: operand x: expected shape [M, N], [2, 64], found [1, 64]}}
  netra.contract @nk_3aa66d58866e7145e8b3c141 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 2, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: dimension K: expected only those of netra.rms_norm (M, N), found 2}}
  netra.contract @nk_452c4253cee946ef7f59ced4 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64, K = 2}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: dimension N: expected an extent, as netra.rms_norm has, found none}}
  netra.contract @nk_4641be46116787d907d50b25 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: attribute epilogue: expected only those of netra.rms_norm (epsilon, weight_offset, accumulation, result_block_scale), found none}}
  netra.contract @nk_7ecad57398710950ff7f18f0 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32", epilogue = "none"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: attribute epsilon: expected a value, as netra.rms_norm has, found none}}
  netra.contract @nk_2a4f288e0633e28f813f717a {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: attribute epsilon: expected a number from 0.0 to 1.0, found -1.0}}
  netra.contract @nk_51b8d362a24a860d546131f8 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0xbff0000000000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: operand result_scale: expected a scale, which result_block_scale describes, found none}}
  netra.contract @nk_8e34ee53488db856e22546ec {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32", result_block_scale = "1x128:f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: argument weight: expected the role of an operand: x, bias, result, or workspace, found}}
  netra.contract @nk_0d36dca32315a5f312018dd5 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "bias", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: argument scratch: expected type bf16 of result, found u8}}
  netra.contract @nk_8e79df5d185d626f3d123e73 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "result", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: argument x: expected access read or readwrite of x, found write}}
  netra.contract @nk_66f29a3da015953587e5c935 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "write", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: numerics accumulation: expected f32, as the problem says, found f64}}
  netra.contract @nk_1eae9cb1b628ccd7bebf5377 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f64", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: numerics accumulation: expected an element type, or "none" without sums, found "f31"}}
  netra.contract @nk_1acf03adecf0f87adba110e0 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f31", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: numerics rounding: expected a scheme, id or id(NAME=1, NAME=2), found "once, at the end"}}
  netra.contract @nk_c0de0b6b81b72a847c3032a5 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once, at the end", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: numerics reduction_order: expected a scheme, id or id(NAME=1, NAME=2), found "tree(N)"}}
  netra.contract @nk_2cf3ad3a85e0064ec33888cf {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree(N)"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: contract: problem: dimension M: expected at most 281474976710656, found 9223372036854775807}}
  netra.contract @nk_f86ed6c7649de89b34fa8181 {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 9223372036854775807, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.engine @e target(#netra.target<gfx950>) {
  // expected-error @+1 {{'netra.contract' op C1: contract: problem: operand x: shape 281474976710656x1048576: expected fewer than 2^63 elements}}
  netra.contract @nk_af90c71d4b19752e73e8ea7d {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 281474976710656, N = 64}, operands = [{role = "x", type = "bf16", shape = [281474976710656, 1048576], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected operation netra.rms_norm as "nk_3269c53414edfba3a4c546ef" says, found netra.layer_norm}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.layer_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected grid axis 1 1 as "nk_3269c53414edfba3a4c546ef" says, found 2}}
    netra.launch @k::@s grid(1, 2, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected block axis 0 64 as "nk_3269c53414edfba3a4c546ef" says, found 32}}
    netra.launch @k::@s grid(1, 1, 1) block(32, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected static and dynamic LDS of 1024 and 0 as "nk_3269c53414edfba3a4c546ef" says, found 512 and 0}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(512) dynamic_lds(0) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected static and dynamic LDS of 1024 and 0 as "nk_3269c53414edfba3a4c546ef" says, found 1024 and 4}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(4) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected arguments: 5 as "nk_3269c53414edfba3a4c546ef" says, found 1}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 128>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected argument rows with the bits 1 as "nk_3269c53414edfba3a4c546ef" says, found #netra.arg<i32, 2>}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<i32, 2>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected argument rows with the bits 1 as "nk_3269c53414edfba3a4c546ef" says, found #netra.arg<arena, 0, 4>}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<arena, 0, 4>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected argument x as a pointer to 128 bytes as "nk_3269c53414edfba3a4c546ef" says, found #netra.arg<arena, 0, 64>}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 64>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected argument result as a pointer to 128 bytes as "nk_3269c53414edfba3a4c546ef" says, found #netra.arg<null>}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<null>, #netra.arg<i32, 1>, #netra.arg<null>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}

// -----

netra.profile @p {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<0>}
netra.engine @e target(#netra.target<gfx950>) {
  netra.contract @nk_3269c53414edfba3a4c546ef {format = "netra.contract/1", target = "gfx950", wave_size = 64, problem = {family = "norm", operation = "rms_norm", dimensions = {M = 1, N = 64}, operands = [{role = "x", type = "bf16", shape = [1, 64], layout = "row_major"}, {role = "weight", type = "bf16", shape = [64], layout = "row_major"}, {role = "result", type = "bf16", shape = [1, 64], layout = "row_major"}], attributes = {epsilon = {f64 = "0x3eb0c6f7a0000000"}, weight_offset = {f64 = "0x0000000000000000"}, accumulation = "f32"}}, arguments = [{name = "x", kind = "pointer", type = "bf16", access = "read", role = "x", offset = 0, bytes = 8, operand_offset = 0, bits = 0}, {name = "weight", kind = "pointer", type = "bf16", access = "read", role = "weight", offset = 8, bytes = 8, operand_offset = 0, bits = 0}, {name = "result", kind = "pointer", type = "bf16", access = "write", role = "result", offset = 16, bytes = 8, operand_offset = 0, bits = 0}, {name = "rows", kind = "value", type = "i32", access = "value", role = "", offset = 24, bytes = 4, operand_offset = 0, bits = 1}, {name = "scratch", kind = "pointer", type = "u8", access = "readwrite", role = "workspace", offset = 32, bytes = 8, operand_offset = 0, bits = 0}], kernarg_bytes = 40, grid = [1, 1, 1], block = [64, 1, 1], static_lds = 1024, dynamic_lds = 0, workspace = {bytes = 0, alignment = 256}, numerics = {accumulation = "f32", rounding = "once", reduction_order = "tree"}, graph_capture = true, deterministic = true}
  netra.code_object @k {
    netra.kernel @s tactic(#netra.tactic<"t", contract = "nk_3269c53414edfba3a4c546ef">)
  }
  netra.plan @p profile(@p) arena(512) {
    // expected-error @+1 {{'netra.launch' op C6: expected argument scratch as a pointer to 0 bytes as "nk_3269c53414edfba3a4c546ef" says, found #netra.arg<i32, 0>}}
    netra.launch @k::@s grid(1, 1, 1) block(64, 1, 1) static_lds(1024) dynamic_lds(0) args([#netra.arg<arena, 0, 128>, #netra.arg<arena, 0, 128>, #netra.arg<arena, 256, 128>, #netra.arg<i32, 1>, #netra.arg<i32, 0>]) after([]) contract("nk_3269c53414edfba3a4c546ef") tactic("t") operation("netra.rms_norm") name("n")
  }
}
