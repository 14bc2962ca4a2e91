// Two results of one operation.
module @quantize {
  func.func @quantize(%x: tensor<?x256xbf16> {netra.name = "x"}) -> (tensor<?x256xf8E4M3FN> {netra.name = "codes"}, tensor<?x2xf32> {netra.name = "scales"}) {
    %q, %s = netra.quantize_blocks %x {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<?x256xbf16> -> tensor<?x256xf8E4M3FN>, tensor<?x2xf32>
    return %q, %s : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>
  }
}
