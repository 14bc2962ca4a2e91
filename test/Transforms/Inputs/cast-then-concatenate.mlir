netra.parameter @a : tensor<16x16xbf16> checkpoint("a")
netra.parameter @b : tensor<16x16xbf16> checkpoint("b")
netra.parameter @a32 : tensor<16x16xf32> pack(@a then cast f32)
netra.parameter @b32 : tensor<16x16xf32> pack(@b then cast f32)
netra.parameter @both : tensor<32x16xf32> pack(concat 0 [@a32, @b32])
func.func @f(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  %c = netra.get @both : tensor<32x16xf32>
  %y = netra.fallback "framework.f" (%x, %c) reason("no kernel") : (tensor<1x64xbf16>, tensor<32x16xf32>) -> tensor<1x64xbf16>
  return %y : tensor<1x64xbf16>
}
