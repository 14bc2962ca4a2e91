// The feed-forward half of a layer of Qwen3.6-35B-A3B-FP8: residual add and RMS
// norm, router, eight of 256 experts and the shared one, residual add. Written in
// the dialect; `netra-translate --import-model` makes the same from a manifest.

module @moe_block {
  netra.parameter @norm : tensor<2048xbf16> checkpoint("model.layers.0.post_attention_layernorm.weight")
  netra.parameter @router : tensor<256x2048xbf16> checkpoint("model.layers.0.mlp.gate.weight")
  netra.parameter @shared_gate : tensor<1x2048xbf16> checkpoint("model.layers.0.mlp.shared_expert_gate.weight")

  netra.parameter @experts_gate_up : tensor<256x1024x2048xf8E4M3FN> checkpoint("model.layers.0.mlp.experts.gate_up_proj")
  netra.parameter @experts_gate_up_scale : tensor<256x8x16xf32> checkpoint("model.layers.0.mlp.experts.gate_up_proj_scale_inv")
  netra.parameter @shared_gate_proj : tensor<512x2048xf8E4M3FN> checkpoint("model.layers.0.mlp.shared_expert.gate_proj.weight")
  netra.parameter @shared_gate_proj_scale : tensor<4x16xf32> checkpoint("model.layers.0.mlp.shared_expert.gate_proj.weight_scale_inv")
  netra.parameter @shared_up_proj : tensor<512x2048xf8E4M3FN> checkpoint("model.layers.0.mlp.shared_expert.up_proj.weight")
  netra.parameter @shared_up_proj_scale : tensor<4x16xf32> checkpoint("model.layers.0.mlp.shared_expert.up_proj.weight_scale_inv")
  netra.parameter @experts_down : tensor<256x2048x512xf8E4M3FN> checkpoint("model.layers.0.mlp.experts.down_proj")
  netra.parameter @experts_down_scale : tensor<256x16x4xf32> checkpoint("model.layers.0.mlp.experts.down_proj_scale_inv")
  netra.parameter @shared_down_proj : tensor<2048x512xf8E4M3FN> checkpoint("model.layers.0.mlp.shared_expert.down_proj.weight")
  netra.parameter @shared_down_proj_scale : tensor<16x4xf32> checkpoint("model.layers.0.mlp.shared_expert.down_proj.weight_scale_inv")

  // The shared expert is the last of 257.
  netra.parameter @gate_up : tensor<257x1024x2048xf8E4M3FN> pack(concat 0 [@experts_gate_up, @shared_gate_proj, @shared_up_proj] then reshape [257, 1024, 2048])
  netra.parameter @gate_up_scale : tensor<257x8x16xf32> pack(concat 0 [@experts_gate_up_scale, @shared_gate_proj_scale, @shared_up_proj_scale] then reshape [257, 8, 16])
  netra.parameter @down : tensor<257x2048x512xf8E4M3FN> pack(concat 0 [@experts_down, @shared_down_proj] then reshape [257, 2048, 512])
  netra.parameter @down_scale : tensor<257x16x4xf32> pack(concat 0 [@experts_down_scale, @shared_down_proj_scale] then reshape [257, 16, 4])

  func.func @moe_block(%x: tensor<?x2048xbf16> {netra.name = "x"}, %skip: tensor<?x2048xbf16> {netra.name = "residual"})
      -> (tensor<?x2048xbf16> {netra.name = "y"}) {
    %norm = netra.get @norm : tensor<2048xbf16>
    %n, %sum = netra.rms_norm %x, %norm residual(%skip) {epsilon = 1.0e-6 : f32, weight_offset = 1.0 : f32}
      : (tensor<?x2048xbf16>, tensor<2048xbf16>, tensor<?x2048xbf16>) -> (tensor<?x2048xbf16>, tensor<?x2048xbf16>)

    %router = netra.get @router : tensor<256x2048xbf16>
    %shared_gate = netra.get @shared_gate : tensor<1x2048xbf16>
    %logits = netra.dense %n, %router : (tensor<?x2048xbf16>, tensor<256x2048xbf16>) -> tensor<?x256xbf16>
    %ids, %weights = netra.route %logits x(%n) shared_gate(%shared_gate) {top_k = 8 : i64, normalize, shared_expert = #netra.shared_expert<sigmoid>}
      : (tensor<?x256xbf16>, tensor<?x2048xbf16>, tensor<1x2048xbf16>) -> (tensor<?x9xi32>, tensor<?x9xf32>)

    %q, %qs = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>}
      : tensor<?x2048xbf16> -> tensor<?x2048xf8E4M3FN>, tensor<?x16xf32>
    %gate_up = netra.get @gate_up : tensor<257x1024x2048xf8E4M3FN>
    %gate_up_scale = netra.get @gate_up_scale : tensor<257x8x16xf32>
    %p = netra.moe_gate_up %q, %gate_up scales(%qs, %gate_up_scale) experts(%ids)
      : (tensor<?x2048xf8E4M3FN>, tensor<257x1024x2048xf8E4M3FN>, tensor<?x16xf32>, tensor<257x8x16xf32>, tensor<?x9xi32>) -> tensor<?x9x1024xf32>
    %h, %hs = netra.moe_activation %p {activation = #netra.activation<silu>}
      : tensor<?x9x1024xf32> -> tensor<?x9x512xf8E4M3FN>, tensor<?x9x4xf32>
    %down = netra.get @down : tensor<257x2048x512xf8E4M3FN>
    %down_scale = netra.get @down_scale : tensor<257x16x4xf32>
    %o = netra.moe_down_reduce %h, %down scales(%hs, %down_scale) experts(%ids by %weights)
      : (tensor<?x9x512xf8E4M3FN>, tensor<257x2048x512xf8E4M3FN>, tensor<?x9x4xf32>, tensor<257x16x4xf32>, tensor<?x9xi32>, tensor<?x9xf32>) -> tensor<?x2048xbf16>
    %y = netra.add %o, %sum : tensor<?x2048xbf16>
    return %y : tensor<?x2048xbf16>
  }
}
