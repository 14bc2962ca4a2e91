// The feed-forward block of a decoder layer, as imported: bf16.
module @mlp {
  netra.parameter @norm : tensor<2048xbf16> checkpoint("model.layers.0.post_attention_layernorm.weight")
  netra.parameter @gate : tensor<5632x2048xbf16> checkpoint("model.layers.0.mlp.gate_proj.weight")
  netra.parameter @up : tensor<5632x2048xbf16> checkpoint("model.layers.0.mlp.up_proj.weight")
  netra.parameter @down : tensor<2048x5632xbf16> checkpoint("model.layers.0.mlp.down_proj.weight")
  func.func @mlp(%x: tensor<?x2048xbf16> {netra.name = "x"}, %skip: tensor<?x2048xbf16> {netra.name = "skip"}) -> (tensor<?x2048xbf16> {netra.name = "y"}) {
    %s = netra.add %x, %skip : tensor<?x2048xbf16>
    %w = netra.get @norm : tensor<2048xbf16>
    %n = netra.rms_norm %s, %w {epsilon = 1.0e-6 : f32} : (tensor<?x2048xbf16>, tensor<2048xbf16>) -> tensor<?x2048xbf16>
    %wg = netra.get @gate : tensor<5632x2048xbf16>
    %g = netra.dense %n, %wg : (tensor<?x2048xbf16>, tensor<5632x2048xbf16>) -> tensor<?x5632xbf16>
    %wu = netra.get @up : tensor<5632x2048xbf16>
    %u = netra.dense %n, %wu : (tensor<?x2048xbf16>, tensor<5632x2048xbf16>) -> tensor<?x5632xbf16>
    %a = netra.activation %g {activation = #netra.activation<silu>} : tensor<?x5632xbf16>
    %h = netra.mul %a, %u : tensor<?x5632xbf16>
    %wd = netra.get @down : tensor<2048x5632xbf16>
    %d = netra.dense %h, %wd : (tensor<?x5632xbf16>, tensor<2048x5632xbf16>) -> tensor<?x2048xbf16>
    %y = netra.add %d, %s : tensor<?x2048xbf16>
    return %y : tensor<?x2048xbf16>
  }
}
