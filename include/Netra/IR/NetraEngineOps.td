//===- NetraEngineOps.td - Engine-level operations ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAENGINEOPS_TD
#define NETRA_IR_NETRAENGINEOPS_TD

include "Netra/IR/NetraAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

class Netra_ContainerOp<string mnemonic, list<Trait> traits = []>
    : Netra_Op<mnemonic, !listconcat(
        [NoTerminator, SingleBlock, NoRegionArguments], traits)>;

def Netra_EngineOp : Netra_ContainerOp<"engine", [
    Symbol, SymbolTable, IsolatedFromAbove,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "everything a bundle holds";
  let description = [{
    An engine for one GPU: code objects, contracts, bindings, weights, and one plan
    per profile. No tensor flows in it; every reference is a symbol or a number.
    All sizes and offsets are bytes.

    The `netra.decision`s say which plan a launch takes. `domain` lists boxes of
    serving points, each a guard by the name of its dimension, that the engine
    must serve without a gap; a dimension that a box does not name may have any
    value in it. Outside all guards a launch is refused.

    ```mlir
    netra.engine @mlp target(#netra.target<gfx950>) {
      netra.code_object @k0 { ... }
      netra.binding @x : input(0) tensor<1x2048xbf16>
      netra.weights bytes(23068672) alignment(256) { ... }
      netra.plan @decode_m1 profile(@decode_m1) arena(26880) { ... }
      netra.decision "m" from([0, 1, 2]) take([unit, @decode_m1, unit])
    }
    ```

    Constraints:
    - (C1) The body holds only code objects, contracts, bindings, weights, plans and
      decisions, and at most one `netra.weights`.
    - (C2) Bindings of one kind have the indices 0, 1, 2, … in this order.
    - (C3) A box of `domain` is a dictionary of guards on dimensions.
    - (C4) The decisions, if there are any, are those that follow from the profiles
      of the plans and from `domain`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Netra_TargetAttr:$target,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<ArrayAttr>:$domain);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::netra::TargetAttr":$target)>];
  let assemblyFormat = [{
    $sym_name `target` `(` qualified($target) `)` attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The contract of this id, or null.
    ::netra::ContractOp lookupContract(::llvm::StringRef id);
    /// The `netra.weights` of the body, or null.
    ::netra::WeightsOp getWeights();
  }];
}

def Netra_CodeObjectOp : Netra_ContainerOp<"code_object", [
    Symbol, SymbolTable, IsolatedFromAbove, HasParent<"::netra::EngineOp">]> {
  let summary = "a code object and its kernels";
  let description = [{
    One code object of the engine. `text_sha256` is the hash of its `.text`
    section, absent until it is assembled.

    ```mlir
    netra.code_object @k0 text_sha256("9f86…") {
      netra.kernel @netra_dense_bf16_m1_n11264_k2048 tactic(#netra.tactic<"gfx950.dense_bf16_m1", options = {WAVES = 4}, contract = "nk_0123456789abcdef01234567">)
    }
    ```

    Constraints:
    - (C1) The body holds at least one kernel and nothing else.
    - (C2) `text_sha256`, if present, is 64 lower-case hexadecimal digits.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$text_sha256);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name,
                   CArg<"::llvm::StringRef", "{}">:$textSha256)>];
  let assemblyFormat = [{
    $sym_name (`text_sha256` `(` $text_sha256^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Netra_KernelOp : Netra_Op<"kernel", [
    Symbol, HasParent<"::netra::CodeObjectOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a kernel of a code object";
  let description = [{
    Symbol of a kernel and the tactic that it is built from. Together with the
    `netra.contract` that the tactic names this is all that is needed to assemble
    the kernel again.

    Constraints:
    - (C1) The engine has a `netra.contract` with the id that the tactic names.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Netra_TacticAttr:$tactic);
  let assemblyFormat =
      "$sym_name `tactic` `(` qualified($tactic) `)` attr-dict";
}

def Netra_ContractOp : Netra_Op<"contract", [
    Symbol, HasParent<"::netra::EngineOp">]> {
  let summary = "the complete computational identity of a kernel";
  let description = [{
    A contract as a dictionary with the keys of its canonical form. The name is its
    id, the hash of that form.

    ```mlir
    netra.contract @nk_0123456789abcdef01234567 {...}
    ```

    Constraints:
    - (C1) The dictionary is a contract that a kernel can keep: every field is there
      and has its type; the target can launch it; dimensions, operands and attributes
      are those of the operation and fit each other; each argument belongs to an
      operand.
    - (C2) The name is the id of the contract.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DictionaryAttr:$definition);
  let assemblyFormat = "$sym_name $definition attr-dict";
  let hasVerifier = 1;
}

def Netra_BindingOp : Netra_Op<"binding", [
    Symbol, HasParent<"::netra::EngineOp">]> {
  let summary = "memory that the caller provides";
  let description = [{
    An input, an output or a state, by its position among those. A state lives
    across launches and is updated in place.

    ```mlir
    netra.binding @x : input(0) tensor<1x2048xbf16>
    netra.binding @kv : state(0) tensor<64x128xbf16>
    ```

    Constraints:
    - (C1) The type is static and the index is not negative.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Netra_BindingKind:$kind,
                       I64Attr:$index, TypeAttrOf<AnyRankedTensor>:$type);
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::netra::BindingKind":$kind,
                   "int64_t":$index, "::mlir::RankedTensorType":$type)>];
  let assemblyFormat =
      "$sym_name `:` $kind `(` $index `)` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
  }];
}

def Netra_WeightsOp : Netra_ContainerOp<"weights", [
    SymbolTable, HasParent<"::netra::EngineOp">]> {
  let summary = "the weights of an engine, in one buffer";
  let description = [{
    ```mlir
    netra.weights bytes(23068672) alignment(256) {
      netra.weight @gate_up at(0 : 23068672) : tensor<11264x1024xbf16> pack(...)
    }
    ```

    Constraints:
    - (C1) The body holds only weights.
    - (C2) Each weight starts at a multiple of the alignment and ends inside the
      buffer.
    - (C3) Weights do not overlap.
    - (C4) `bytes` is not negative and `alignment` is a power of two.
  }];
  let arguments = (ins I64Attr:$bytes, DefaultValuedAttr<I64Attr, "256">:$alignment);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "int64_t":$bytes, CArg<"int64_t", "256">:$alignment)>];
  let assemblyFormat = [{
    `bytes` `(` $bytes `)` `alignment` `(` $alignment `)`
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Netra_WeightOp : Netra_Op<"weight", [
    Symbol, HasParent<"::netra::WeightsOp">]> {
  let summary = "a weight and how it is made from the checkpoint";
  let description = [{
    ```mlir
    netra.weight @up at(0 : 4096) : tensor<64x32xbf16, #netra.layout<n16k16>> pack("up.weight" : tensor<64x32xbf16> then layout n16k16)
    ```

    Constraints:
    - (C1) The sources of the recipe are tensors of the checkpoint.
    - (C2) The recipe gives exactly the type of the weight.
    - (C3) `size` is the number of bytes of the type; `offset` is not negative.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$offset, I64Attr:$size,
                       TypeAttrOf<AnyRankedTensor>:$type, Netra_PackAttr:$pack);
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "int64_t":$offset, "int64_t":$size,
                   "::mlir::RankedTensorType":$type, "::netra::PackAttr":$pack)>];
  let assemblyFormat = [{
    $sym_name `at` `(` $offset `:` $size `)` `:` $type
    `pack` `(` custom<PackBody>($pack) `)` attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
  }];
}

def Netra_PlanOp : Netra_ContainerOp<"plan", [
    Symbol, HasParent<"::netra::EngineOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the launches of one profile";
  let description = [{
    A list of steps and the arena they share. Step number `i` of the plan is the
    `i`-th operation of its body. `profile` names a `netra.profile` beside the
    engine (in the symbol table around it, not in the engine).
    `bindings` lists the bindings the plan uses; when absent, it uses all.

    ```mlir
    netra.plan @decode_m1 profile(@decode_m1) arena(26880) bindings([@x, @y]) { ... }
    ```

    Constraints:
    - (C1) The body holds only launches and fallback steps.
    - (C2) A step waits only for earlier steps, each named once, in rising order.
    - (C3) `arena` is not negative and `alignment` is a power of two.
    - (C4) `profile` names a profile beside the engine.
    - (C5) `bindings` names bindings of the engine, each once, and steps use no
      other.
    - (C6) Arguments stay inside the arena, the binding and the weight they name.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$profile,
                       I64Attr:$arena,
                       DefaultValuedAttr<I64Attr, "256">:$alignment,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$bindings);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::StringRef":$profile,
                   "int64_t":$arena, CArg<"int64_t", "256">:$alignment,
                   CArg<"::mlir::ArrayAttr", "{}">:$bindings)>];
  let assemblyFormat = [{
    $sym_name `profile` `(` $profile `)` `arena` `(` $arena `)`
    (`alignment` `(` $alignment^ `)`)? (`bindings` `(` $bindings^ `)`)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Netra_ArgArrayAttr : TypedArrayAttrBase<Netra_ArgAttr, "launch arguments">;

def Netra_LaunchOp : Netra_Op<"launch", [
    HasParent<"::netra::PlanOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one kernel launch";
  let description = [{
    Grid in work-groups, block in work-items, LDS in bytes. `args` has one entry per
    kernel argument, in order. `after` numbers the earlier steps of the plan that
    must be complete. Under a profile that bounds dimensions, grid and values are
    those of the greatest serving point; the contract says how they follow it.

    ```mlir
    netra.launch @k0::@netra_rms_norm grid(1, 1, 1) block(256, 1, 1) static_lds(1024) dynamic_lds(0)
      args([#netra.arg<binding @x, 0, 4096>, #netra.arg<weight @norm, 0, 4096>, #netra.arg<arena, 0, 4096>])
      after([]) contract("nk_0123456789abcdef01234567") tactic("gfx950.rms_norm") operation("netra.rms_norm") name("mlp/norm")
    ```

    Constraints:
    - (C1) The kernel is a `netra.kernel` of a code object of the engine, built from
      `tactic` for `contract`.
    - (C2) Grid and block have three positive extents that fit 32 bits; a block has
      at most 1024 work-items.
    - (C3) LDS sizes are not negative and fit the target's LDS together.
    - (C4) `after` has no negative number.
    - (C5) Bindings and weights named by arguments exist in the engine.
    - (C6) Operation, grid, block and LDS are those of the contract, grid and values
      at the greatest serving point. There is one argument for each of the contract,
      of its kind: a pointer to all bytes of the operand, or the contract's value.
  }];
  let arguments = (ins
    SymbolRefAttr:$kernel, DenseI64ArrayAttr:$grid, DenseI64ArrayAttr:$block,
    I64Attr:$static_lds, I64Attr:$dynamic_lds, Netra_ArgArrayAttr:$args,
    DenseI64ArrayAttr:$after, StrAttr:$contract, StrAttr:$tactic,
    StrAttr:$op_name, StrAttr:$name);
  let assemblyFormat = [{
    $kernel `grid` `` custom<Extents>($grid) `block` `` custom<Extents>($block)
    `static_lds` `(` $static_lds `)` `dynamic_lds` `(` $dynamic_lds `)`
    `args` `(` $args `)` `after` `(` $after `)` `contract` `(` $contract `)`
    `tactic` `(` $tactic `)` `operation` `(` $op_name `)` `name` `(` $name `)`
    attr-dict
  }];
  let hasVerifier = 1;
}

def Netra_DecisionOp : Netra_Op<"decision", [HasParent<"::netra::EngineOp">]> {
  let summary = "a node of the decision table of an engine";
  let description = [{
    Asks for one dimension of a launch. Of the cases, the last whose `from` is not
    above the value holds, so that every value has exactly one. A case takes a
    plan, goes on with the decision of a number, or refuses the launch (`unit`).
    Decisions are numbered in their order; a launch starts with number 0.

    ```mlir
    netra.decision "m" from([0, 1, 2, 8]) take([unit, @decode_m1, unit, 1])
    netra.decision "batch" from([0, 1, 65]) take([unit, @verify_m8, unit])
    ```

    Constraints:
    - (C1) `dimension` is `m`, `batch`, `sequence`, `routed_rows` or
      `tensor_parallel`.
    - (C2) `from` starts with 0 and rises, with one entry of `take` for each.
    - (C3) An entry of `take` is the symbol of a plan, a 64-bit integer or `unit`.
  }];
  let arguments = (ins StrAttr:$dimension, DenseI64ArrayAttr:$from,
                       ArrayAttr:$take);
  let assemblyFormat =
      "$dimension `from` `(` $from `)` `take` `(` $take `)` attr-dict";
  let hasVerifier = 1;
}

def Netra_FallbackStepOp : Netra_Op<"fallback_step", [
    HasParent<"::netra::PlanOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a step that the framework carries out";
  let description = [{
    The runtime calls back with the memory of the inputs and outputs and with what
    they are. `types` gives the tensor type of each input, then of each output;
    names, `updates`, `settings` and `family` are those of the `netra.fallback`.

    ```mlir
    netra.fallback_step "framework.rotary" reason("no tactic") inputs([#netra.arg<arena, 0, 192>])
      outputs([#netra.arg<arena, 256, 192>]) types([tensor<1x96xbf16>, tensor<1x96xbf16>]) after([0]) name("attention/rotary") {operand_names = ["q"], result_names = ["result"]}
    ```

    Constraints:
    - (C1) Operation, reason and name are not empty, nor is `family`, if present.
    - (C2) There is one type per input and output, each a static tensor.
    - (C3) Inputs and outputs are pointers, of exactly the size of their type.
    - (C4) `after` has no negative number.
    - (C5) Bindings and weights named by inputs and outputs exist in the engine, and
      no output is a weight.
    - (C6) Names, `updates` and `settings` are as C2, C3 and C4 of `netra.fallback`
      want them.
    - (C7) An output that updates an input is the same memory.
  }];
  let arguments = (ins
    StrAttr:$op_name, StrAttr:$reason, Netra_ArgArrayAttr:$inputs,
    Netra_ArgArrayAttr:$outputs, TypeArrayAttr:$types, DenseI64ArrayAttr:$after,
    StrAttr:$name, OptionalAttr<StrArrayAttr>:$operand_names,
    OptionalAttr<StrArrayAttr>:$result_names,
    OptionalAttr<DenseI64ArrayAttr>:$updates,
    OptionalAttr<DictionaryAttr>:$settings, OptionalAttr<StrAttr>:$family);
  let assemblyFormat = [{
    $op_name `reason` `(` $reason `)` `inputs` `(` $inputs `)` `outputs` `(`
    $outputs `)` `types` `(` $types `)` `after` `(` $after `)`
    `name` `(` $name `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // NETRA_IR_NETRAENGINEOPS_TD
