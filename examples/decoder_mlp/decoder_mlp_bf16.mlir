// The feed-forward half of a Qwen-class decoder layer with bf16 weights, as torch-mlir
// exports it: residual add, RMSNorm, gate and up projections, SiLU, down
// projection, residual add. Arguments: the attention's output and the residual
// stream; result: the new residual stream. s0 is the number of tokens.
module @decoder_mlp {
  util.global private @model.layers.0.post_attention_layernorm.weight = #stream.parameter.named<"model"::"model.layers.0.post_attention_layernorm.weight"> : tensor<2048xbf16>
  util.global private @model.layers.0.mlp.gate_proj.weight = #stream.parameter.named<"model"::"model.layers.0.mlp.gate_proj.weight"> : tensor<5632x2048xbf16>
  util.global private @model.layers.0.mlp.up_proj.weight = #stream.parameter.named<"model"::"model.layers.0.mlp.up_proj.weight"> : tensor<5632x2048xbf16>
  util.global private @model.layers.0.mlp.down_proj.weight = #stream.parameter.named<"model"::"model.layers.0.mlp.down_proj.weight"> : tensor<2048x5632xbf16>
  func.func @decoder_mlp(%arg0: !torch.vtensor<[1,?,2048],bf16>, %arg1: !torch.vtensor<[1,?,2048],bf16>) -> !torch.vtensor<[1,?,2048],bf16> attributes {torch.assume_strict_symbolic_shapes} {
    %model.layers.0.post_attention_layernorm.weight = util.global.load @model.layers.0.post_attention_layernorm.weight : tensor<2048xbf16>
    %0 = torch_c.from_builtin_tensor %model.layers.0.post_attention_layernorm.weight : tensor<2048xbf16> -> !torch.vtensor<[2048],bf16>
    %model.layers.0.mlp.gate_proj.weight = util.global.load @model.layers.0.mlp.gate_proj.weight : tensor<5632x2048xbf16>
    %1 = torch_c.from_builtin_tensor %model.layers.0.mlp.gate_proj.weight : tensor<5632x2048xbf16> -> !torch.vtensor<[5632,2048],bf16>
    %model.layers.0.mlp.up_proj.weight = util.global.load @model.layers.0.mlp.up_proj.weight : tensor<5632x2048xbf16>
    %2 = torch_c.from_builtin_tensor %model.layers.0.mlp.up_proj.weight : tensor<5632x2048xbf16> -> !torch.vtensor<[5632,2048],bf16>
    %model.layers.0.mlp.down_proj.weight = util.global.load @model.layers.0.mlp.down_proj.weight : tensor<2048x5632xbf16>
    %3 = torch_c.from_builtin_tensor %model.layers.0.mlp.down_proj.weight : tensor<2048x5632xbf16> -> !torch.vtensor<[2048,5632],bf16>
    %4 = torch.symbolic_int "s0" {min_val = 1, max_val = 4096} : !torch.int
    torch.bind_symbolic_shape %arg0, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %arg1, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %int1 = torch.constant.int 1
    %5 = torch.aten.add.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[1,?,2048],bf16>, !torch.vtensor<[1,?,2048],bf16>, !torch.int -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %5, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %int6 = torch.constant.int 6
    %6 = torch.prims.convert_element_type %5, %int6 : !torch.vtensor<[1,?,2048],bf16>, !torch.int -> !torch.vtensor<[1,?,2048],f32>
    torch.bind_symbolic_shape %6, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],f32>
    %int2 = torch.constant.int 2
    %7 = torch.aten.pow.Tensor_Scalar %6, %int2 : !torch.vtensor<[1,?,2048],f32>, !torch.int -> !torch.vtensor<[1,?,2048],f32>
    torch.bind_symbolic_shape %7, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],f32>
    %int-1 = torch.constant.int -1
    %8 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    %none = torch.constant.none
    %9 = torch.aten.mean.dim %7, %8, %true, %none : !torch.vtensor<[1,?,2048],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,?,1],f32>
    torch.bind_symbolic_shape %9, [%4], affine_map<()[s0] -> (1, s0, 1)> : !torch.vtensor<[1,?,1],f32>
    %float9.999990e-07 = torch.constant.float 9.9999999999999995E-7
    %int1_0 = torch.constant.int 1
    %10 = torch.aten.add.Scalar %9, %float9.999990e-07, %int1_0 : !torch.vtensor<[1,?,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[1,?,1],f32>
    torch.bind_symbolic_shape %10, [%4], affine_map<()[s0] -> (1, s0, 1)> : !torch.vtensor<[1,?,1],f32>
    %11 = torch.aten.rsqrt %10 : !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,1],f32>
    torch.bind_symbolic_shape %11, [%4], affine_map<()[s0] -> (1, s0, 1)> : !torch.vtensor<[1,?,1],f32>
    %12 = torch.aten.mul.Tensor %6, %11 : !torch.vtensor<[1,?,2048],f32>, !torch.vtensor<[1,?,1],f32> -> !torch.vtensor<[1,?,2048],f32>
    torch.bind_symbolic_shape %12, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],f32>
    %int15 = torch.constant.int 15
    %13 = torch.prims.convert_element_type %12, %int15 : !torch.vtensor<[1,?,2048],f32>, !torch.int -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %13, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %14 = torch.aten.mul.Tensor %0, %13 : !torch.vtensor<[2048],bf16>, !torch.vtensor<[1,?,2048],bf16> -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %14, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %int1_1 = torch.constant.int 1
    %15 = torch.aten.size.int %arg0, %int1_1 : !torch.vtensor<[1,?,2048],bf16>, !torch.int -> !torch.int
    %int0 = torch.constant.int 0
    %int1_2 = torch.constant.int 1
    %16 = torch.aten.transpose.int %1, %int0, %int1_2 : !torch.vtensor<[5632,2048],bf16>, !torch.int, !torch.int -> !torch.vtensor<[2048,5632],bf16>
    %int2048 = torch.constant.int 2048
    %17 = torch.prim.ListConstruct %15, %int2048 : (!torch.int, !torch.int) -> !torch.list<int>
    %18 = torch.aten.view %14, %17 : !torch.vtensor<[1,?,2048],bf16>, !torch.list<int> -> !torch.vtensor<[?,2048],bf16>
    torch.bind_symbolic_shape %18, [%4], affine_map<()[s0] -> (s0, 2048)> : !torch.vtensor<[?,2048],bf16>
    %19 = torch.aten.mm %18, %16 : !torch.vtensor<[?,2048],bf16>, !torch.vtensor<[2048,5632],bf16> -> !torch.vtensor<[?,5632],bf16>
    torch.bind_symbolic_shape %19, [%4], affine_map<()[s0] -> (s0, 5632)> : !torch.vtensor<[?,5632],bf16>
    %int1_3 = torch.constant.int 1
    %int5632 = torch.constant.int 5632
    %20 = torch.prim.ListConstruct %int1_3, %15, %int5632 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %21 = torch.aten.view %19, %20 : !torch.vtensor<[?,5632],bf16>, !torch.list<int> -> !torch.vtensor<[1,?,5632],bf16>
    torch.bind_symbolic_shape %21, [%4], affine_map<()[s0] -> (1, s0, 5632)> : !torch.vtensor<[1,?,5632],bf16>
    %22 = torch.aten.silu %21 : !torch.vtensor<[1,?,5632],bf16> -> !torch.vtensor<[1,?,5632],bf16>
    torch.bind_symbolic_shape %22, [%4], affine_map<()[s0] -> (1, s0, 5632)> : !torch.vtensor<[1,?,5632],bf16>
    %int0_0 = torch.constant.int 0
    %int1_4 = torch.constant.int 1
    %23 = torch.aten.transpose.int %2, %int0_0, %int1_4 : !torch.vtensor<[5632,2048],bf16>, !torch.int, !torch.int -> !torch.vtensor<[2048,5632],bf16>
    %int2048_0 = torch.constant.int 2048
    %24 = torch.prim.ListConstruct %15, %int2048_0 : (!torch.int, !torch.int) -> !torch.list<int>
    %25 = torch.aten.view %14, %24 : !torch.vtensor<[1,?,2048],bf16>, !torch.list<int> -> !torch.vtensor<[?,2048],bf16>
    torch.bind_symbolic_shape %25, [%4], affine_map<()[s0] -> (s0, 2048)> : !torch.vtensor<[?,2048],bf16>
    %26 = torch.aten.mm %25, %23 : !torch.vtensor<[?,2048],bf16>, !torch.vtensor<[2048,5632],bf16> -> !torch.vtensor<[?,5632],bf16>
    torch.bind_symbolic_shape %26, [%4], affine_map<()[s0] -> (s0, 5632)> : !torch.vtensor<[?,5632],bf16>
    %int1_5 = torch.constant.int 1
    %int5632_0 = torch.constant.int 5632
    %27 = torch.prim.ListConstruct %int1_5, %15, %int5632_0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %28 = torch.aten.view %26, %27 : !torch.vtensor<[?,5632],bf16>, !torch.list<int> -> !torch.vtensor<[1,?,5632],bf16>
    torch.bind_symbolic_shape %28, [%4], affine_map<()[s0] -> (1, s0, 5632)> : !torch.vtensor<[1,?,5632],bf16>
    %29 = torch.aten.mul.Tensor %22, %28 : !torch.vtensor<[1,?,5632],bf16>, !torch.vtensor<[1,?,5632],bf16> -> !torch.vtensor<[1,?,5632],bf16>
    torch.bind_symbolic_shape %29, [%4], affine_map<()[s0] -> (1, s0, 5632)> : !torch.vtensor<[1,?,5632],bf16>
    %int0_1 = torch.constant.int 0
    %int1_6 = torch.constant.int 1
    %30 = torch.aten.transpose.int %3, %int0_1, %int1_6 : !torch.vtensor<[2048,5632],bf16>, !torch.int, !torch.int -> !torch.vtensor<[5632,2048],bf16>
    %int5632_1 = torch.constant.int 5632
    %31 = torch.prim.ListConstruct %15, %int5632_1 : (!torch.int, !torch.int) -> !torch.list<int>
    %32 = torch.aten.view %29, %31 : !torch.vtensor<[1,?,5632],bf16>, !torch.list<int> -> !torch.vtensor<[?,5632],bf16>
    torch.bind_symbolic_shape %32, [%4], affine_map<()[s0] -> (s0, 5632)> : !torch.vtensor<[?,5632],bf16>
    %33 = torch.aten.mm %32, %30 : !torch.vtensor<[?,5632],bf16>, !torch.vtensor<[5632,2048],bf16> -> !torch.vtensor<[?,2048],bf16>
    torch.bind_symbolic_shape %33, [%4], affine_map<()[s0] -> (s0, 2048)> : !torch.vtensor<[?,2048],bf16>
    %int1_7 = torch.constant.int 1
    %int2048_1 = torch.constant.int 2048
    %34 = torch.prim.ListConstruct %int1_7, %15, %int2048_1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %35 = torch.aten.view %33, %34 : !torch.vtensor<[?,2048],bf16>, !torch.list<int> -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %35, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    %int1_8 = torch.constant.int 1
    %36 = torch.aten.add.Tensor %5, %35, %int1_8 : !torch.vtensor<[1,?,2048],bf16>, !torch.vtensor<[1,?,2048],bf16>, !torch.int -> !torch.vtensor<[1,?,2048],bf16>
    torch.bind_symbolic_shape %36, [%4], affine_map<()[s0] -> (1, s0, 2048)> : !torch.vtensor<[1,?,2048],bf16>
    return %36 : !torch.vtensor<[1,?,2048],bf16>
  }
}
