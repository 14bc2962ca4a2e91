// The feed-forward half of a layer of Qwen3.6-27B-FP8: residual add and RMS norm,
// gate and up projections, SiLU, down projection, residual add. Written in the
// dialect; `netra-translate --import-model` makes the same from a manifest.

module @dense_block {
  netra.parameter @norm : tensor<5120xbf16> checkpoint("model.layers.0.post_attention_layernorm.weight")
  netra.parameter @gate : tensor<17408x5120xf8E4M3FN> checkpoint("model.layers.0.mlp.gate_proj.weight")
  netra.parameter @gate_scale : tensor<136x40xf32> checkpoint("model.layers.0.mlp.gate_proj.weight_scale_inv")
  netra.parameter @up : tensor<17408x5120xf8E4M3FN> checkpoint("model.layers.0.mlp.up_proj.weight")
  netra.parameter @up_scale : tensor<136x40xf32> checkpoint("model.layers.0.mlp.up_proj.weight_scale_inv")
  netra.parameter @down : tensor<5120x17408xf8E4M3FN> checkpoint("model.layers.0.mlp.down_proj.weight")
  netra.parameter @down_scale : tensor<40x136xf32> checkpoint("model.layers.0.mlp.down_proj.weight_scale_inv")

  func.func @dense_block(%x: tensor<?x5120xbf16> {netra.name = "x"}, %skip: tensor<?x5120xbf16> {netra.name = "residual"})
      -> (tensor<?x5120xbf16> {netra.name = "y"}) {
    %norm = netra.get @norm : tensor<5120xbf16>
    %n, %sum = netra.rms_norm %x, %norm residual(%skip) {epsilon = 1.0e-6 : f32, weight_offset = 1.0 : f32}
      : (tensor<?x5120xbf16>, tensor<5120xbf16>, tensor<?x5120xbf16>) -> (tensor<?x5120xbf16>, tensor<?x5120xbf16>)
    %qn, %sn = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>}
      : tensor<?x5120xbf16> -> tensor<?x5120xf8E4M3FN>, tensor<?x40xf32>
    %gate = netra.get @gate : tensor<17408x5120xf8E4M3FN>
    %gate_scale = netra.get @gate_scale : tensor<136x40xf32>
    %g = netra.dense %qn, %gate scales(%sn, %gate_scale)
      : (tensor<?x5120xf8E4M3FN>, tensor<17408x5120xf8E4M3FN>, tensor<?x40xf32>, tensor<136x40xf32>) -> tensor<?x17408xbf16>
    %up = netra.get @up : tensor<17408x5120xf8E4M3FN>
    %up_scale = netra.get @up_scale : tensor<136x40xf32>
    %u = netra.dense %qn, %up scales(%sn, %up_scale)
      : (tensor<?x5120xf8E4M3FN>, tensor<17408x5120xf8E4M3FN>, tensor<?x40xf32>, tensor<136x40xf32>) -> tensor<?x17408xbf16>
    %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<?x17408xbf16>, tensor<?x17408xbf16>) -> tensor<?x17408xbf16>
    %qh, %sh = netra.quantize_blocks %h {scale = #netra.block_scale<block = [1, 128], scale = f32>}
      : tensor<?x17408xbf16> -> tensor<?x17408xf8E4M3FN>, tensor<?x136xf32>
    %down = netra.get @down : tensor<5120x17408xf8E4M3FN>
    %down_scale = netra.get @down_scale : tensor<40x136xf32>
    %d = netra.dense %qh, %down scales(%sh, %down_scale)
      : (tensor<?x17408xf8E4M3FN>, tensor<5120x17408xf8E4M3FN>, tensor<?x136xf32>, tensor<40x136xf32>) -> tensor<?x5120xbf16>
    %y = netra.add %d, %sum : tensor<?x5120xbf16>
    return %y : tensor<?x5120xbf16>
  }
}
