module @dense {
  netra.parameter @w : tensor<128x256xbf16> checkpoint("w")
  func.func @dense(%x: tensor<?x256xbf16> {netra.name = "x"}) -> (tensor<?x128xbf16> {netra.name = "y"}) {
    %w = netra.get @w : tensor<128x256xbf16>
    %y = netra.dense %x, %w : (tensor<?x256xbf16>, tensor<128x256xbf16>) -> tensor<?x128xbf16>
    return %y : tensor<?x128xbf16>
  }
}
