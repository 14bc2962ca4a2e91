// RUN: netra-opt %s -verify-diagnostics -split-input-file

// Attributes that passes put on operations, arguments and results.

// expected-error @+1 {{'netra.profile' names @missing, which is not a 'netra.profile'}}
func.func private @f() attributes {netra.profile = @missing}

// -----

// expected-error @+1 {{'netra.profile' names @g, which is not a 'netra.profile'}}
func.func private @f() attributes {netra.profile = @g}
func.func private @g()

// -----

// expected-error @+1 {{'netra.profile' must be a symbol, but is "decode"}}
func.func private @f() attributes {netra.profile = "decode"}

// -----

// expected-error @+1 {{'netra.profile' is an attribute of functions}}
module attributes {netra.profile = @decode} {}

// -----

// expected-error @+1 {{unknown attribute 'netra.colour': operations may have 'netra.profile', 'netra.tactic', 'netra.place', 'netra.varying' and 'netra.selected_by_rank'}}
module attributes {netra.colour = "red"} {}

// -----

// expected-error @+1 {{'netra.selected_by_rank' is an attribute of modules, without a value}}
module attributes {netra.selected_by_rank = true} {}

// -----

// expected-error @+1 {{'netra.selected_by_rank' is an attribute of modules, without a value}}
func.func private @f() attributes {netra.selected_by_rank}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.varying' must tell of an operation that a tactic can implement which 'dimensions' follow which 'guards', but is {dimensions = {M = {constant = 0 : i64, m = 1 : i64}}, guards = {}}}}
  %0 = netra.activation %x {activation = #netra.activation<silu>, netra.varying = {dimensions = {M = {constant = 0, m = 1}}, guards = {}}} : tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.tactic' must be a #netra.tactic, but is "fast"}}
  %0 = netra.add %x, %x {netra.tactic = "fast"} : tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.tactic' is an attribute of operations that a tactic can implement}}
  %0 = netra.reshape %x {netra.tactic = #netra.tactic<"t", contract = "nk_0123456789abcdef01234567">} : tensor<4xbf16> to tensor<2x2xbf16>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.place' must be an array, but is #netra.place<arena, 0, 8>}}
  %0 = netra.add %x, %x {netra.place = #netra.place<arena, 0, 8>} : tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.place' must have one place per result: expected 1, found 0}}
  %0 = netra.add %x, %x {netra.place = []} : tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.place' must hold #netra.place, but element 0 is 1 : i64}}
  %0 = netra.add %x, %x {netra.place = [1]} : tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.place' of result 0: expected 8 bytes for 'tensor<4xbf16>', found 4}}
  %0 = netra.add %x, %x {netra.place = [#netra.place<arena, 0, 4>]} : tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4xbf16>) {
  // expected-error @+1 {{'netra.place' of result 0 overwrites operand 2, but there are only 2}}
  %0 = netra.add %x, %x {netra.place = [#netra.place<arena, 0, 8, overwrites = 2>]} : tensor<4xbf16>
  return
}

// -----

// expected-error @+1 {{'netra.dims' of argument 0 must be an array of strings, but is "m"}}
func.func private @f(tensor<?x4xbf16> {netra.dims = "m"})

// -----

// expected-error @+1 {{'netra.dims' of argument 0 must name each dimension: expected 2, found 1}}
func.func private @f(tensor<?x4xbf16> {netra.dims = ["m"]})

// -----

// expected-error @+1 {{'netra.dims' of argument 0 says that dimension 1 is 5, but the type is 'tensor<?x4xbf16>'}}
func.func private @f(tensor<?x4xbf16> {netra.dims = ["m", "5"]})

// -----

// expected-error @+1 {{'netra.dims' of argument 0 must hold names and numbers, but element 0 is "2m"}}
func.func private @f(tensor<?x4xbf16> {netra.dims = ["2m", "4"]})

// -----

// expected-error @+1 {{'netra.dims' of argument 1 is an attribute of tensors}}
func.func private @f(tensor<4xbf16>, i32 {netra.dims = []})

// -----

// expected-error @+1 {{'netra.name' of argument 0 must be a string that is not empty, but is ""}}
func.func private @f(tensor<4xbf16> {netra.name = ""})

// -----

// expected-error @+1 {{'netra.state' of result 0 must be a string that is not empty, but is unit}}
func.func private @f() -> (tensor<4xbf16> {netra.state})

// -----

// expected-error @+1 {{unknown attribute 'netra.colour' of argument 0: arguments may have 'netra.dims', 'netra.name' and 'netra.state'}}
func.func private @f(tensor<4xbf16> {netra.colour = "red"})

// -----

// expected-error @+1 {{unknown attribute 'netra.dims' of result 0: results may have 'netra.name' and 'netra.state'}}
func.func private @f() -> (tensor<4xbf16> {netra.dims = ["4"]})
