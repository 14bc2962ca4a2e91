// RUN: netra-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{layout C1: }}
#unknown = #netra.layout<n17k17>

// -----

// expected-error @+1 {{layout C1: }}
#parameters = #netra.layout<n16k16, 4>

// -----

// expected-error @+1 {{layout C2: }}
func.func private @shape(tensor<20x16xbf16, #netra.layout<n16k16>>)

// -----

// expected-error @+1 {{layout C2: }}
func.func private @rank(tensor<16xbf16, #netra.layout<n16k16>>)

// -----

// expected-error @+1 {{layout C1: layout "blocked": expected 2 parameters, found 1}}
#blocked = #netra.layout<blocked, 16>

// -----

// expected-error @+1 {{layout C1: layout "blocked": expected positive parameters, found 0}}
#zero = #netra.layout<blocked, 16, 0>

// -----

// expected-error @+1 {{layout C1: layout "interleaved_rows": expected at least 2 parameters, found 1}}
#groups = #netra.layout<interleaved_rows, 16>

// -----

// expected-error @+1 {{layout C2: layout blocked<16,32>: expected the last two extents to be multiples of 16 and 32, found 32 and 48}}
func.func private @tiles(tensor<32x48xbf16, #netra.layout<blocked, 16, 32>>)

// -----

// expected-error @+1 {{layout C2: layout interleaved_rows<2,8,8>: expected 2 groups of 8 + 8, found an extent of 48}}
func.func private @rows(tensor<48x4xbf16, #netra.layout<interleaved_rows, 2, 8, 8>>)

// -----

// expected-error @+1 {{layout C2: layout interleaved_columns<2,8,8>: expected 2 groups of 8 + 8, found an extent of 4}}
func.func private @columns(tensor<32x4xbf16, #netra.layout<interleaved_columns, 2, 8, 8>>)

// -----

// expected-error @+1 {{layout C2: layout paged_kv<16,2,256>: expected whole pages of 16 tokens, found 24 tokens}}
func.func private @pages(tensor<24x2x256xbf16, #netra.layout<paged_kv, 16, 2, 256>>)

// -----

// expected-error @+1 {{layout C2: layout paged_kv_head_major<16,2,256>: expected 2 heads of size 256, found 4 of size 128}}
func.func private @heads(tensor<32x4x128xbf16, #netra.layout<paged_kv_head_major, 16, 2, 256>>)

// -----

// expected-error @+1 {{layout C2: layout v_major: expected at least 2 dimensions, found 1}}
func.func private @state(tensor<128xbf16, #netra.layout<v_major>>)

// -----

// expected-error @+1 {{layout C2: layout k_major: expected at least 2 dimensions, found 1}}
func.func private @state(tensor<128xbf16, #netra.layout<k_major>>)

// -----

// expected-error @+1 {{block_scale C1: 'block' must have two positive extents, found [128]}}
#one = #netra.block_scale<block = [128], scale = f32>

// -----

// expected-error @+1 {{block_scale C1: 'block' must have two positive extents, found [1, 0]}}
#zero = #netra.block_scale<block = [1, 0], scale = f32>

// -----

// expected-error @+1 {{block_scale C2: 'scale' must be f32 or bf16, found 'f16'}}
#scale = #netra.block_scale<block = [1, 128], scale = f16>

// -----

// expected-error @+1 {{epilogue C1: a gated epilogue must have an activation other than none}}
#gated = #netra.epilogue<gated none>

// -----

// expected-error @+1 {{expected none, silu, sigmoid, gelu_erf or gelu_tanh, found 'relu'}}
#relu = #netra.epilogue<relu>

// -----

// expected-error @+1 {{expected none, silu, sigmoid, gelu_erf or gelu_tanh, found 'relu'}}
#relu_activation = #netra.activation<relu>

// -----

// expected-error @+1 {{expected softmax or sigmoid, found 'linear'}}
#scoring = #netra.scoring<linear>

// -----

// expected-error @+1 {{expected none, one or sigmoid, found 'two'}}
#shared_expert = #netra.shared_expert<two>

// -----

// expected-error @+1 {{guard C1: bounds must not be negative and the lower one must not exceed the upper one, found 4..1}}
#falling = #netra.guard<4..1>

// -----

// expected-error @+1 {{guard C1: bounds must not be negative and the lower one must not exceed the upper one, found -1..-1}}
#negative = #netra.guard<-1>

// -----

// expected-error @+1 {{expected a guard such as 1 or 1..64, found '1..2..3'}}
#three = #netra.guard<1..2..3>

// -----

// expected-error @+1 {{expected a guard such as 1 or 1..64, found ''}}
#nothing = #netra.guard<>

// -----

// expected-error @+1 {{expected a guard such as 1 or 1..64, found '99999999999999999999'}}
#large = #netra.guard<99999999999999999999>

// -----

// expected-error @+1 {{target C1: unknown target 'gfx000', expected one of gfx950}}
#target = #netra.target<gfx000>

// -----

// expected-error @+1 {{pack_source C1: the name must not be empty}}
#nameless = #netra.pack_source<"" : tensor<4xbf16>>

// -----

// expected-error @+1 {{pack_source C2: expected a static row-major tensor of stored elements, found 'tensor<?xbf16>'}}
#dynamic = #netra.pack_source<"a" : tensor<?xbf16>>

// -----

// expected-error @+1 {{pack_source C2: expected a static row-major tensor of stored elements, found 'tensor<4xi7>'}}
#unstored = #netra.pack_source<"a" : tensor<4xi7>>

// -----

// expected-error @+1 {{pack_source C3: expected 1 to 65536 as the first extent, which counts the tensors of "a.{}", found none}}
#scalars = #netra.pack_source<"a.{}" : tensor<bf16>>

// -----

// expected-error @+1 {{pack C1: expected at least one source and an axis that is not negative (0 for one source), found 0 and axis 0}}
#empty = #netra.pack<concat 0 []>

// -----

// expected-error @+1 {{pack C1: expected at least one source and an axis that is not negative (0 for one source), found 2 and axis -1}}
#axis = #netra.pack<concat -1 [@a, @b]>

// -----

// expected-error @+1 {{pack C1: expected at least one source and an axis that is not negative (0 for one source), found 1 and axis 1}}
#useless = #netra.pack<concat 1 [@a]>

// -----

// expected-error @+1 {{pack C2: sources must be all symbols or all tensors of a checkpoint}}
#mixed = #netra.pack<concat 0 [@a, "b" : tensor<4xbf16>]>

// -----

// expected-error @+1 {{layout C1: layout "shuffled": expected one of}}
#reorder = #netra.pack<@a then reorder shuffled>

// -----

// expected-error @+1 {{pack C3: a layout must be the last step, found #netra.layout<n16k16> as step 0}}
#late = #netra.pack<@a then layout n16k16 then cast f32>

// -----

// expected-error @+1 {{expected 'layout', 'cast', 'reshape', 'reorder' or 'restore'}}
#step = #netra.pack<@a then shuffle n16k16>

// -----

// expected-error @+1 {{tactic C1: the name must not be empty}}
#tactic = #netra.tactic<"", contract = "nk_0123456789abcdef01234567">

// -----

// expected-error @+1 {{tactic C3: the contract must be nk_ and 24 lower-case hexadecimal digits, found "nk_0123456789ABCDEF01234567"}}
#contract = #netra.tactic<"t", contract = "nk_0123456789ABCDEF01234567">

// -----

// expected-error @+1 {{tactic C3: the contract must be nk_ and 24 lower-case hexadecimal digits, found "nk_01234567"}}
#short = #netra.tactic<"t", contract = "nk_01234567">

// -----

// expected-error @+1 {{option 'WAVES' is given twice}}
#twice = #netra.tactic<"t", options = {WAVES = 1, WAVES = 2}, contract = "nk_0123456789abcdef01234567">

// -----

// expected-error @+1 {{expected arena, binding or weight, found 'stack'}}
#stack = #netra.place<stack, 0, 4>

// -----

// expected-error @+1 {{place C2: offset and size must not be negative and their sum must fit 63 bits, found -1 and 4}}
#before = #netra.place<arena, -1, 4>

// -----

// expected-error @+1 {{place C2: offset and size must not be negative and their sum must fit 63 bits, found 9223372036854775807 and 1}}
#overflow = #netra.place<arena, 9223372036854775807, 1>

// -----

// expected-error @+1 {{place C3: 'overwrites' must be the number of an operand, found -2}}
#over = #netra.place<arena, 0, 4, overwrites = -2>

// -----

// expected-error @+1 {{arg C2: offset and size must not be negative and their sum must fit 63 bits, found 0 and -4}}
#negative = #netra.arg<binding @x, 0, -4>

// -----

// expected-error @+1 {{arg C3: a number must be an i32, i64, f32 or f64, found 'i8'}}
#small = #netra.arg<i8, 1>

// -----

// expected-error @+1 {{arg C3: a number must be an i32, i64, f32 or f64, found 'bf16'}}
#brain = #netra.arg<bf16, 1.0>

// -----

// expected-error @+1 {{arg C3: a number must be an i32, i64, f32 or f64, found 'tensor<2xi32>'}}
#tensor = #netra.arg<tensor<2xi32>, dense<1>>

// -----

// expected-error @+1 {{integer constant out of range}}
#wide = #netra.arg<i32, 4294967296>

// -----

// expected-error @+1 {{unknown attribute 'colour' of dialect 'netra'}}
#colour = #netra.colour<red>
