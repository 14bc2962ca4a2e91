// RUN: netra-opt %s --split-input-file --verify-diagnostics --netra-lower-to-engine=library-root=%S/Inputs/library

// expected-error @below {{expected at least one planned function, found none}}
module {
}

// -----

// expected-error @below {{expected a function specialised for a profile; run netra-apply-profile first}}
func.func @f(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  return %x : tensor<1x64xbf16>
}

// -----

netra.profile @one {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<1>}
// expected-error @below {{expected a netra.arena of the function; run netra-plan-memory first}}
func.func @f.one(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> attributes {netra.profile = @one} {
  return %x : tensor<1x64xbf16>
}

// -----

netra.profile @one {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<1>}
netra.arena @f.one bytes(0) lower_bound(0) alignment(256)
func.func @f.one(%x: tensor<1x64xbf16>) -> tensor<1x64xf32> attributes {netra.profile = @one} {
  // expected-error @below {{expected a tactic; run netra-select-tactics first}}
  %a = netra.cast %x : tensor<1x64xbf16> to tensor<1x64xf32>
  return %a : tensor<1x64xf32>
}

// -----

netra.profile @one {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<1>}
netra.arena @f.one bytes(0) lower_bound(0) alignment(256)
func.func @f.one(%x: tensor<1x64xbf16>) -> tensor<1x64xf32> attributes {netra.profile = @one} {
  // expected-error @below {{the catalogue has no tactic "gfx950.test_gone"}}
  %a = netra.cast %x {netra.tactic = #netra.tactic<"gfx950.test_gone", contract = "nk_000000000000000000000000">} : tensor<1x64xbf16> to tensor<1x64xf32>
  return %a : tensor<1x64xf32>
}

// -----

// A tactic that was changed after it was selected.
netra.profile @one {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<1>}
netra.arena @f.one bytes(0) lower_bound(0) alignment(256)
func.func @f.one(%x: tensor<1x64xbf16>) -> tensor<1x64xf32> attributes {netra.profile = @one} {
  // expected-error @below {{expected contract nk_000000000000000000000000, found that the operation and tactic gfx950.test_cast give nk_}}
  %a = netra.cast %x {netra.tactic = #netra.tactic<"gfx950.test_cast", contract = "nk_000000000000000000000000">} : tensor<1x64xbf16> to tensor<1x64xf32>
  return %a : tensor<1x64xf32>
}

// -----

// A recipe over a recipe that one list of steps cannot say.
netra.profile @one {m = #netra.guard<1>, batch = #netra.guard<1>, sequence = #netra.guard<1>}
netra.parameter @a : tensor<16x16xbf16> checkpoint("a")
netra.parameter @b : tensor<16x16xf32> pack(@a then cast f32)
netra.parameter @d : tensor<16x16xf32> checkpoint("d")
// expected-error @below {{recipe of @c: expected sources that are cast alike and concatenated along axis 0 only, found @d}}
netra.parameter @c : tensor<32x16xf32> pack(concat 0 [@b, @d])
netra.arena @f.one bytes(0) lower_bound(0) alignment(256)
func.func @f.one(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> attributes {netra.profile = @one} {
  %c = netra.get @c : tensor<32x16xf32>
  %y = netra.fallback "a" (%x, %c) reason("r") {netra.place = [#netra.place<binding @result0, 0, 128>]} : (tensor<1x64xbf16>, tensor<32x16xf32>) -> tensor<1x64xbf16>
  return %y : tensor<1x64xbf16>
}

// -----

// Two plans of one priority for one serving point.
// expected-error @below {{expected one plan for each serving point, found that one and two, both of priority 3, admit m=2, batch=8, sequence=5, routed_rows=7; give one of them a higher priority or other guards}}
module {
  netra.profile @one {m = #netra.guard<1..4>, batch = #netra.guard<1..8>, sequence = #netra.guard<0..9>, priority = 3 : i64}
  netra.profile @two {m = #netra.guard<2>, batch = #netra.guard<8..9>, sequence = #netra.guard<5..20>, routed_rows = #netra.guard<7..8>, priority = 3 : i64}
  netra.arena @f.one bytes(0) lower_bound(0) alignment(256)
  netra.arena @f.two bytes(0) lower_bound(0) alignment(256)
  func.func @f.one(%x: tensor<1x64xbf16>) attributes {netra.profile = @one} {
    return
  }
  func.func @f.two(%x: tensor<2x64xbf16>) attributes {netra.profile = @two} {
    return
  }
}

// -----

// A plan that no launch would take.
// expected-error @below {{expected guards that admit what no plan of a higher priority does, found that everything of two goes to one}}
module {
  netra.profile @one {m = #netra.guard<1..4>, batch = #netra.guard<1..8>, sequence = #netra.guard<0..9>, priority = 4 : i64}
  netra.profile @two {m = #netra.guard<2>, batch = #netra.guard<8>, sequence = #netra.guard<5>, priority = 3 : i64}
  netra.arena @f.one bytes(0) lower_bound(0) alignment(256)
  netra.arena @f.two bytes(0) lower_bound(0) alignment(256)
  func.func @f.one(%x: tensor<1x64xbf16>) attributes {netra.profile = @one} {
    return
  }
  func.func @f.two(%x: tensor<2x64xbf16>) attributes {netra.profile = @two} {
    return
  }
}
