module @bounded {
  netra.parameter @table : tensor<100x512xbf16> checkpoint("table")
  netra.parameter @norm : tensor<512xbf16> checkpoint("norm")
  netra.parameter @heads : tensor<128xbf16> checkpoint("heads")
  func.func @bounded(%ids: tensor<?xi32> {netra.name = "ids"}, %gate: tensor<?x512xbf16> {netra.name = "gate"})
      -> (tensor<?x512xbf16> {netra.name = "y"}, tensor<?x512xf8E4M3FN> {netra.name = "q"}, tensor<?x4xf32> {netra.name = "scale"}) {
    %table = netra.get @table : tensor<100x512xbf16>
    %norm = netra.get @norm : tensor<512xbf16>
    %heads = netra.get @heads : tensor<128xbf16>
    %0 = netra.embedding %ids, %table : (tensor<?xi32>, tensor<100x512xbf16>) -> tensor<?x512xbf16>
    %1 = netra.rms_norm %0, %norm {epsilon = 1.0e-6 : f32} : (tensor<?x512xbf16>, tensor<512xbf16>) -> tensor<?x512xbf16>
    %2 = netra.gated_rms_norm %1, %gate, %heads {epsilon = 1.0e-6 : f32, activation = #netra.activation<silu>} : (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<128xbf16>) -> tensor<?x512xbf16>
    %3 = netra.gated %2, %gate {activation = #netra.activation<silu>} : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16>
    %4, %5 = netra.quantize_blocks %3 {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<?x512xbf16> -> tensor<?x512xf8E4M3FN>, tensor<?x4xf32>
    return %2, %4, %5 : tensor<?x512xbf16>, tensor<?x512xf8E4M3FN>, tensor<?x4xf32>
  }
}
