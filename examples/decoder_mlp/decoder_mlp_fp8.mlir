// The feed-forward half of a Qwen-class decoder layer with FP8 weights in 128x128 blocks, as torch-mlir
// exports it: residual add, RMSNorm, gate and up projections, SiLU, down
// projection, residual add. Arguments: the attention's output and the residual
// stream; result: the new residual stream. s0 is the number of tokens.
module @decoder_mlp {
  util.global private @model.layers.0.post_attention_layernorm.weight = #stream.parameter.named<"model"::"model.layers.0.post_attention_layernorm.weight"> : tensor<2048xbf16>
  util.global private @model.layers.0.mlp.gate_proj.weight = #stream.parameter.named<"model"::"model.layers.0.mlp.gate_proj.weight"> : tensor<5632x2048xf8E4M3FN>
  util.global private @model.layers.0.mlp.gate_proj.weight_scale_inv = #stream.parameter.named<"model"::"model.layers.0.mlp.gate_proj.weight_scale_inv"> : tensor<44x16xf32>
  util.global private @model.layers.0.mlp.up_proj.weight = #stream.parameter.named<"model"::"model.layers.0.mlp.up_proj.weight"> : tensor<5632x2048xf8E4M3FN>
  util.global private @model.layers.0.mlp.up_proj.weight_scale_inv = #stream.parameter.named<"model"::"model.layers.0.mlp.up_proj.weight_scale_inv"> : tensor<44x16xf32>
  util.global private @model.layers.0.mlp.down_proj.weight = #stream.parameter.named<"model"::"model.layers.0.mlp.down_proj.weight"> : tensor<2048x5632xf8E4M3FN>
  util.global private @model.layers.0.mlp.down_proj.weight_scale_inv = #stream.parameter.named<"model"::"model.layers.0.mlp.down_proj.weight_scale_inv"> : tensor<16x44xf32>
  func.func @decoder_mlp(%arg0: !torch.vtensor<[1,?,2048],bf16>, %arg1: !torch.vtensor<[1,?,2048],bf16>) -> !torch.vtensor<[1,?,2048],bf16> attributes {torch.assume_strict_symbolic_shapes} {
    %model.layers.0.post_attention_layernorm.weight = util.global.load @model.layers.0.post_attention_layernorm.weight : tensor<2048xbf16>
    %0 = torch_c.from_builtin_tensor %model.layers.0.post_attention_layernorm.weight : tensor<2048xbf16> -> !torch.vtensor<[2048],bf16>
    %model.layers.0.mlp.gate_proj.weight = util.global.load @model.layers.0.mlp.gate_proj.weight : tensor<5632x2048xf8E4M3FN>
    %1 = torch_c.from_builtin_tensor %model.layers.0.mlp.gate_proj.weight : tensor<5632x2048xf8E4M3FN> -> !torch.vtensor<[5632,2048],f8E4M3FN>
    %model.layers.0.mlp.gate_proj.weight_scale_inv = util.global.load @model.layers.0.mlp.gate_proj.weight_scale_inv : tensor<44x16xf32>
    %2 = torch_c.from_builtin_tensor %model.layers.0.mlp.gate_proj.weight_scale_inv : tensor<44x16xf32> -> !torch.vtensor<[44,16],f32>
    %model.layers.0.mlp.up_proj.weight = util.global.load @model.layers.0.mlp.up_proj.weight : tensor<5632x2048xf8E4M3FN>
    %3 = torch_c.from_builtin_tensor %model.layers.0.mlp.up_proj.weight : tensor<5632x2048xf8E4M3FN> -> !torch.vtensor<[5632,2048],f8E4M3FN>
    %model.layers.0.mlp.up_proj.weight_scale_inv = util.global.load @model.layers.0.mlp.up_proj.weight_scale_inv : tensor<44x16xf32>
    %4 = torch_c.from_builtin_tensor %model.layers.0.mlp.up_proj.weight_scale_inv : tensor<44x16xf32> -> !torch.vtensor<[44,16],f32>
    %model.layers.0.mlp.down_proj.weight = util.global.load @model.layers.0.mlp.down_proj.weight : tensor<2048x5632xf8E4M3FN>
    %5 = torch_c.from_builtin_tensor %model.layers.0.mlp.down_proj.weight : tensor<2048x5632xf8E4M3FN> -> !torch.vtensor<[2048,5632],f8E4M3FN>
    %model.layers.0.mlp.down_proj.weight_scale_inv = util.global.load @model.layers.0.mlp.down_proj.weight_scale_inv : tensor<16x44xf32>
    %6 = torch_c.from_builtin_tensor %model.layers.0.mlp.down_proj.weight_scale_inv : tensor<16x44xf32> -> !torch.vtensor<[16,44],f32>
    %7 = torch.symbolic_int "s0" {min_val = 1, max_val = 4096} : !torch.int
    torch.bind_symbolic_shape %arg0, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %arg1, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %int1 = torch.constant.int 1
    %8 = torch.aten.add.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[1,?,2048],bf16>, !torch.vtensor<[1,?,2048],bf16>, !torch.int -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %8, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %int6 = torch.constant.int 6
    %9 = torch.prims.convert_element_type %8, %int6 : !torch.vtensor<[1,?,2048],bf16>, !torch.int -> !torch.vtensor<[1,?,2048],f32>
    torch.bind_symbolic_shape %9, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],f32>
    %int2 = torch.constant.int 2
    %10 = torch.aten.pow.Tensor_Scalar %9, %int2 : !torch.vtensor<[1,?,2048],f32>, !torch.int -> !torch.vtensor<[1,?,2048],f32>
    torch.bind_symbolic_shape %10, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],f32>
    %int-1 = torch.constant.int -1
    %11 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    %none = torch.constant.none
    %12 = torch.aten.mean.dim %10, %11, %true, %none : !torch.vtensor<[1,?,2048],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
    torch.bind_symbolic_shape %12, [%7], affine_map<()[s0] -> (1, s0, 1)> : !torch.vtensor<[1,?,1],f32>
    %float9.999990e-07 = torch.constant.float 9.9999999999999995E-7
    %int1_0 = torch.constant.int 1
    %13 = torch.aten.add.Scalar %12, %float9.999990e-07, %int1_0 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
    torch.bind_symbolic_shape %13, [%7], affine_map<()[s0] -> (1, s0, 1)> : !torch.vtensor<[1,?,1],f32>
    %14 = torch.aten.rsqrt %13 : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
    torch.bind_symbolic_shape %14, [%7], affine_map<()[s0] -> (1, s0, 1)> : !torch.vtensor<[1,?,1],f32>
    %15 = torch.aten.mul.Tensor %9, %14 : !torch.vtensor<[1,?,2048],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,2048],f32>
    torch.bind_symbolic_shape %15, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],f32>
    %int15 = torch.constant.int 15
    %16 = torch.prims.convert_element_type %15, %int15 : !torch.vtensor<[1,?,2048],f32>, !torch.int -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %16, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %17 = torch.aten.mul.Tensor %0, %16 : !torch.vtensor<[2048],bf16>, !torch.vtensor<[1,?,2048],bf16> -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %17, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %int1_1 = torch.constant.int 1
    %18 = torch.aten.size.int %arg0, %int1_1 : !torch.vtensor<[1,?,2048],bf16>, !torch.int -> !torch.int
    %19 = torch.operator "torch.netra.block_scaled_linear"(%17, %1, %2) : (!torch.vtensor<[1,?,2048],bf16>, !torch.vtensor<[5632,2048],f8E4M3FN>, !torch.vtensor<[44,16],f32>) -> !torch.vtensor<[1,?,5632],bf16>
    torch.bind_symbolic_shape %19, [%7], affine_map<()[s0] -> (1, s0, 5632)> : !torch.vtensor<[1,?,5632],bf16>
    %20 = torch.aten.silu %19 : !torch.vtensor<[1,?,5632],bf16> -> !torch.vtensor<[1,?,5632],bf16>
    torch.bind_symbolic_shape %20, [%7], affine_map<()[s0] -> (1, s0, 5632)> : !torch.vtensor<[1,?,5632],bf16>
    %21 = torch.operator "torch.netra.block_scaled_linear"(%17, %3, %4) : (!torch.vtensor<[1,?,2048],bf16>, !torch.vtensor<[5632,2048],f8E4M3FN>, !torch.vtensor<[44,16],f32>) -> !torch.vtensor<[1,?,5632],bf16>
    torch.bind_symbolic_shape %21, [%7], affine_map<()[s0] -> (1, s0, 5632)> : !torch.vtensor<[1,?,5632],bf16>
    %22 = torch.aten.mul.Tensor %20, %21 : !torch.vtensor<[1,?,5632],bf16>, !torch.vtensor<[1,?,5632],bf16> -> !torch.vtensor<[1,?,5632],bf16>
    torch.bind_symbolic_shape %22, [%7], affine_map<()[s0] -> (1, s0, 5632)> : !torch.vtensor<[1,?,5632],bf16>
    %23 = torch.operator "torch.netra.block_scaled_linear"(%22, %5, %6) : (!torch.vtensor<[1,?,5632],bf16>, !torch.vtensor<[2048,5632],f8E4M3FN>, !torch.vtensor<[16,44],f32>) -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %23, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %int1_2 = torch.constant.int 1
    %24 = torch.aten.add.Tensor %8, %23, %int1_2 : !torch.vtensor<[1,?,2048],bf16>, !torch.vtensor<[1,?,2048],bf16>, !torch.int -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %24, [%7], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    return %24 : !torch.vtensor<[1,?,2048],bf16>
  }
}
