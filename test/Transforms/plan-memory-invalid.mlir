// RUN: netra-opt %s --split-input-file --verify-diagnostics --netra-select-tactics=library-root=%S/Inputs/library --netra-plan-memory=library-root=%S/Inputs/library

func.func @argument_returned(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  // expected-error @below {{result #0 ("result0"): expected a computed value, found an argument itself; a result cannot share the caller's memory}}
  return %x : tensor<1x64xbf16>
}

// -----

netra.parameter @w : tensor<1x64xbf16> checkpoint("w")
func.func @weight_returned() -> tensor<1x64xbf16> {
  %w = netra.get @w : tensor<1x64xbf16>
  // expected-error @below {{result #0 ("result0"): expected a computed value, found the result of netra.get}}
  return %w : tensor<1x64xbf16>
}

// -----

func.func @returned_twice(%x: tensor<1x64xbf16>) -> (tensor<1x64xf32>, tensor<64xf32>) {
  %a = netra.cast %x : tensor<1x64xbf16> to tensor<1x64xf32>
  %v = netra.reshape %a : tensor<1x64xf32> to tensor<64xf32>
  // expected-error @below {{result #1 ("result1"): expected a value of its own, found that it is "result0" already}}
  return %a, %v : tensor<1x64xf32>, tensor<64xf32>
}

// -----

func.func @constant() -> tensor<1x64xf32> {
  %c = netra.constant dense<1.0> : tensor<1x64xbf16>
  // expected-error @below {{operand #0: expected an argument, a parameter or the result of a kernel or fallback, found the result of netra.constant; an engine takes tensors from its bindings and its weights only, so make it a netra.parameter}}
  %a = netra.cast %c : tensor<1x64xbf16> to tensor<1x64xf32>
  return %a : tensor<1x64xf32>
}

// -----

func.func @input_updated(%x: tensor<1x64xbf16>, %r: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  // expected-error @below {{result #0 is updated in place, which cannot be proven sound: operand #1 is an input, which belongs to the caller}}
  %a = netra.add %x, %r : tensor<1x64xbf16>
  return %a : tensor<1x64xbf16>
}

// -----

func.func @old_value_read(%x: tensor<1x64xbf16>, %r: tensor<1x64xbf16>) -> (tensor<1x64xbf16>, tensor<1x64xf32>) {
  %m = netra.mul %x, %r : tensor<1x64xbf16>
  // expected-error @below {{result #0 is updated in place, which cannot be proven sound}}
  %a = netra.add %m, %r : tensor<1x64xbf16>
  %c = netra.cast %m : tensor<1x64xbf16> to tensor<1x64xf32>
  return %a, %c : tensor<1x64xbf16>, tensor<1x64xf32>
}

// -----

func.func @same_value_twice(%x: tensor<1x64xbf16>, %r: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  %m = netra.mul %x, %r : tensor<1x64xbf16>
  // expected-error @below {{operand #1 is read through another operand too}}
  %a = netra.add %m, %m : tensor<1x64xbf16>
  return %a : tensor<1x64xbf16>
}

// -----

func.func @state_elsewhere(%h: tensor<1x64xbf16> {netra.state = "history"}, %x: tensor<1x64xbf16>) -> (tensor<1x64xbf16> {netra.state = "history"}) {
  %a = netra.mul %h, %x : tensor<1x64xbf16>
  // expected-error @below {{result #0 ("history"): expected an update in place of state "history", found a value computed elsewhere}}
  return %a : tensor<1x64xbf16>
}

// -----

// expected-error @below {{state "history" is updated in place, but is no result of the function}}
func.func @state_lost(%h: tensor<1x64xbf16> {netra.state = "history"}, %x: tensor<1x64xbf16>) -> tensor<1x64xf32> {
  %a = netra.add %h, %x : tensor<1x64xbf16>
  %c = netra.cast %a : tensor<1x64xbf16> to tensor<1x64xf32>
  return %c : tensor<1x64xf32>
}

// -----

// expected-error @below {{argument #1: expected a name of its own, found "x" again}}
func.func @same_name(%x: tensor<1x64xbf16> {netra.name = "x"}, %y: tensor<1x64xbf16> {netra.name = "x"}) -> tensor<1x64xbf16> {
  %m = netra.mul %x, %y : tensor<1x64xbf16>
  return %m : tensor<1x64xbf16>
}

// -----

func.func @fallback_updates_input(%x: tensor<1x64xbf16>) -> tensor<1x64xbf16> {
  // expected-error @below {{result #0 is updated in place, which cannot be proven sound: operand #0 is an input, which belongs to the caller}}
  // expected-remark @below {{fallback: framework.append: r}}
  %a = netra.fallback "framework.append" (%x) reason("r") {updates = array<i64: 0>} : (tensor<1x64xbf16>) -> tensor<1x64xbf16>
  return %a : tensor<1x64xbf16>
}
