// The same block with block-quantized FP8 weights and activations.
module @mlp {
  netra.parameter @norm : tensor<2048xbf16> checkpoint("norm.weight")
  netra.parameter @gate : tensor<5632x2048xf8E4M3FN> checkpoint("gate_proj.weight")
  netra.parameter @gate_scale : tensor<44x16xf32> checkpoint("gate_proj.weight_scale_inv")
  netra.parameter @up : tensor<5632x2048xf8E4M3FN> checkpoint("up_proj.weight")
  netra.parameter @up_scale : tensor<44x16xf32> checkpoint("up_proj.weight_scale_inv")
  netra.parameter @down : tensor<2048x5632xf8E4M3FN> checkpoint("down_proj.weight")
  netra.parameter @down_scale : tensor<16x44xf32> checkpoint("down_proj.weight_scale_inv")
  func.func @mlp(%x: tensor<?x2048xbf16> {netra.name = "x"}, %skip: tensor<?x2048xbf16> {netra.name = "skip"}) -> (tensor<?x2048xbf16> {netra.name = "y"}) {
    %s = netra.add %x, %skip : tensor<?x2048xbf16>
    %w = netra.get @norm : tensor<2048xbf16>
    %n = netra.rms_norm %s, %w {epsilon = 1.0e-6 : f32} : (tensor<?x2048xbf16>, tensor<2048xbf16>) -> tensor<?x2048xbf16>
    %qn, %sn = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<?x2048xbf16> -> tensor<?x2048xf8E4M3FN>, tensor<?x16xf32>
    %wg = netra.get @gate : tensor<5632x2048xf8E4M3FN>
    %sg = netra.get @gate_scale : tensor<44x16xf32>
    %g = netra.dense %qn, %wg scales(%sn, %sg) : (tensor<?x2048xf8E4M3FN>, tensor<5632x2048xf8E4M3FN>, tensor<?x16xf32>, tensor<44x16xf32>) -> tensor<?x5632xbf16>
    %wu = netra.get @up : tensor<5632x2048xf8E4M3FN>
    %su = netra.get @up_scale : tensor<44x16xf32>
    %u = netra.dense %qn, %wu scales(%sn, %su) : (tensor<?x2048xf8E4M3FN>, tensor<5632x2048xf8E4M3FN>, tensor<?x16xf32>, tensor<44x16xf32>) -> tensor<?x5632xbf16>
    %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<?x5632xbf16>, tensor<?x5632xbf16>) -> tensor<?x5632xbf16>
    %qh, %sh = netra.quantize_blocks %h {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<?x5632xbf16> -> tensor<?x5632xf8E4M3FN>, tensor<?x44xf32>
    %wd = netra.get @down : tensor<2048x5632xf8E4M3FN>
    %sd = netra.get @down_scale : tensor<16x44xf32>
    %d = netra.dense %qh, %wd scales(%sh, %sd) : (tensor<?x5632xf8E4M3FN>, tensor<2048x5632xf8E4M3FN>, tensor<?x44xf32>, tensor<16x44xf32>) -> tensor<?x2048xbf16>
    %y = netra.add %d, %s : tensor<?x2048xbf16>
    return %y : tensor<?x2048xbf16>
  }
}
