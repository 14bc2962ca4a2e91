//===- Passes.td - The passes from operations to launches -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TRANSFORMS_PASSES
#define NETRA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def NetraApplyProfile : Pass<"netra-apply-profile", "mlir::ModuleOp"> {
  let summary = "Specialise every function for each serving profile";
  let description = [{
    Replaces each function by one clone per profile. The clone is named
    `@<function>.<profile>` and carries `netra.profile`; the profile itself
    becomes a `netra.profile` symbol with its guards. Dynamic dimensions of the
    arguments are bound to the guards they are named for and the types of
    everything computed from them are inferred anew, so that the result has no
    dynamic dimension left.

    The argument attribute `netra.dims` names what each dimension of an argument
    is bound to: `"m"`, `"batch"`, `"sequence"`, `"routed_rows"`,
    `"tensor_parallel"`, or the extent itself for a static one. Without it, a
    single dynamic dimension is `"m"` if nothing but extents of 1 stands before
    it.

    A dimension that is bound to a range gets the greatest extent, for which
    memory is planned; `netra.dims` stays at the argument and says so. A launch
    uses the front of such a tensor, so only an outermost extent may vary; any
    other is refused with the name of the dimension, of the profile and why.

    Before:

    ```mlir
    func.func @mlp(%x: tensor<?x2048xbf16>) -> tensor<?x5632xbf16> {
      %w = netra.get @gate : tensor<5632x2048xbf16>
      %y = netra.dense %x, %w : (tensor<?x2048xbf16>, tensor<5632x2048xbf16>) -> tensor<?x5632xbf16>
      return %y : tensor<?x5632xbf16>
    }
    ```

    After `netra-apply-profile{profiles=decode_m1}`:

    ```mlir
    netra.profile @decode_m1 {m = #netra.guard<1>, batch = #netra.guard<1..64>, sequence = #netra.guard<0..1048576>, priority = 30 : i64}
    func.func @mlp.decode_m1(%x: tensor<1x2048xbf16>) -> tensor<1x5632xbf16> attributes {netra.profile = @decode_m1} {
      %w = netra.get @gate : tensor<5632x2048xbf16>
      %y = netra.dense %x, %w : (tensor<1x2048xbf16>, tensor<5632x2048xbf16>) -> tensor<1x5632xbf16>
      return %y : tensor<1x5632xbf16>
    }
    ```
  }];
  let options = [
    ListOption<"profiles", "profiles", "std::string",
               "Names of the serving profiles to specialise for">,
    Option<"target", "target", "std::string", /*default=*/"\"gfx950\"",
           "Target whose catalogue holds the profiles">,
    Option<"libraryRoot", "library-root", "std::string", /*default=*/"\"\"",
           "Folder with kernels/ and manifests/">,
  ];
  let dependentDialects = ["::netra::NetraDialect", "mlir::func::FuncDialect"];
}

def NetraFuse : Pass<"netra-fuse", "mlir::ModuleOp"> {
  let summary = "Merge operations that one kernel can compute";
  let description = [{
    Asks each operation, through `FusionOpInterface`, whether it can take over
    the work of a neighbour, and repeats until nothing changes. The pass knows
    no operation by name; what can be merged, and what gives way to a better
    merger, is for the operations to say (see their reference).

    Operations are asked from the last to the first, each about its users in
    program order and then about the operations that define its operands. So
    the later of two operations that could take over a third one gets it: a norm
    its residual addition before the product in front of it. The order is fixed,
    hence equal modules give equal results.

    With `target`, no merger loses a kernel that two operations have: an
    operation that asks for a form which not every catalogue has (the experts of
    a mixture, a router with its product, a norm that also stores what it
    quantizes) is merged only when the catalogue has a tactic for what comes
    out, in whatever layout its `weight` may be stored, and expects it to take no
    longer than what the two take on their own. Mergers into forms that
    every family of tactics has beside the plain one (`netra.dense` and what
    follows it, `netra.rms_norm` with a residual or a quantization,
    `netra.gated`) are made in any case, and so is every merger without
    `target`.

    A merger may need a new parameter, for instance the concatenated weights of
    two products. It is a packing recipe for the checkpoint; nothing is
    concatenated at run time. Afterwards parameters with equal recipes are one,
    and parameters that nothing uses are gone.

    Before:

    ```mlir
    netra.parameter @gate : tensor<5632x2048xbf16> checkpoint("gate_proj.weight")
    netra.parameter @up   : tensor<5632x2048xbf16> checkpoint("up_proj.weight")
    ...
    %g = netra.dense %n, %wg : (tensor<1x2048xbf16>, tensor<5632x2048xbf16>) -> tensor<1x5632xbf16>
    %u = netra.dense %n, %wu : (tensor<1x2048xbf16>, tensor<5632x2048xbf16>) -> tensor<1x5632xbf16>
    %h = netra.gated %g, %u {activation = #netra.activation<silu>} : tensor<1x5632xbf16>
    ```

    After:

    ```mlir
    netra.parameter @gate_up : tensor<11264x2048xbf16> pack(concat 0 [@gate, @up])
    ...
    %h = netra.dense %n, %w epilogue(#netra.epilogue<gated silu>) : (tensor<1x2048xbf16>, tensor<11264x2048xbf16>) -> tensor<1x5632xbf16>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Merge only what tactics of this target can compute">,
    Option<"libraryRoot", "library-root", "std::string", /*default=*/"\"\"",
           "Folder with kernels/ and manifests/">,
    Option<"goldenRoot", "golden-root", "std::string", /*default=*/"\"\"",
           "Folder of golden code objects; without it none is considered">,
    Option<"allowExperimental", "allow-experimental", "bool",
           /*default=*/"false", "Consider tactics of maturity `experiment`">,
  ];
  let dependentDialects = ["::netra::NetraDialect"];
}

def NetraAssignLayouts : Pass<"netra-assign-layouts", "mlir::ModuleOp"> {
  let summary = "Put the memory layouts on types that the best tactics want";
  let description = [{
    Asks the catalogue, for each operation with a contract, in which layouts
    tactics compute it, and chooses the layouts of a block together: by the order
    of selection over all of its operations, with what conversions move counted
    as time. What has to be stored differently than it is computed costs

    1. nothing, when the value is a weight: it becomes a packing step of the
       parameter, so that the checkpoint is repacked once;
    2. a `netra.layout_convert` otherwise, one for all users that want it.

    Before all else comes that there is a kernel: a conversion that no tactic
    computes is avoided when the operation has any other tactic. The choice is
    exact as long as at most 256 ways to store the values that are still read are
    open at once; beyond that, the cheapest ones so far go on.

    Functions keep the layouts of their arguments and results.

    Before:

    ```mlir
    netra.parameter @gate : tensor<5632x2048xf8E4M3FN> checkpoint("gate_proj.weight")
    %w = netra.get @gate : tensor<5632x2048xf8E4M3FN>
    ```

    After:

    ```mlir
    netra.parameter @gate : tensor<5632x2048xf8E4M3FN, #netra.layout<n16k16>> checkpoint("gate_proj.weight") pack(layout n16k16)
    %w = netra.get @gate : tensor<5632x2048xf8E4M3FN, #netra.layout<n16k16>>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"gfx950\"",
           "Target to compile for">,
    Option<"libraryRoot", "library-root", "std::string", /*default=*/"\"\"",
           "Folder with kernels/ and manifests/">,
    Option<"goldenRoot", "golden-root", "std::string", /*default=*/"\"\"",
           "Folder of golden code objects; without it none is considered">,
    Option<"allowExperimental", "allow-experimental", "bool",
           /*default=*/"false", "Consider tactics of maturity `experiment`">,
  ];
  let dependentDialects = ["::netra::NetraDialect"];
}

def NetraSelectTactics : Pass<"netra-select-tactics", "mlir::ModuleOp"> {
  let summary = "Choose one exact kernel for every operation";
  let description = [{
    Holds the exact problem of each operation against the catalogue. The winner
    is attached as `netra.tactic`, with its options and the id of its contract.
    Where arguments are bound to a range, `netra.varying` tells which dimensions
    of the problem follow it; a tactic matches when its grid follows them too, or
    it masks them. An operation that no tactic matches becomes a `netra.fallback`
    whose reason names the nearest tactics and the fields in which they differ; there is no
    approximate match. A golden tactic takes part only with `golden-root`, and
    is an error when its code object is not there byte for byte.

    Where several tactics match, maturity decides, then the estimated time, then
    the instructions of the machine code, then rank and name. Only tactics that
    come first with equal times are assembled for that; with
    `count-instructions=false`, rank decides instead, and the module says so by
    `netra.selected_by_rank`.

    With `explain`, the choice, the reason for it and the nearest misses are
    remarks at the operation's location, with `explain-all` every tactic of the
    operation that does not match. A fallback is always a remark.

    Before:

    ```mlir
    %y = netra.dense %x, %w : (tensor<1x2048xbf16>, tensor<5632x2048xbf16>) -> tensor<1x5632xbf16>
    ```

    After:

    ```mlir
    %y = netra.dense %x, %w {netra.tactic = #netra.tactic<"gfx950.dense_bf16_m1", options = {WAVES = 4}, contract = "nk_5b0c...">} : (tensor<1x2048xbf16>, tensor<5632x2048xbf16>) -> tensor<1x5632xbf16>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"gfx950\"",
           "Target to compile for">,
    Option<"libraryRoot", "library-root", "std::string", /*default=*/"\"\"",
           "Folder with kernels/ and manifests/">,
    Option<"goldenRoot", "golden-root", "std::string", /*default=*/"\"\"",
           "Folder of golden code objects; without it none is considered">,
    Option<"allowExperimental", "allow-experimental", "bool",
           /*default=*/"false", "Consider tactics of maturity `experiment`">,
    Option<"countInstructions", "count-instructions", "bool",
           /*default=*/"true",
           "Let the instructions of the machine code decide between tactics of "
           "equal estimated time">,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Remark on every choice, not only on fallbacks">,
    Option<"explainAll", "explain-all", "bool", /*default=*/"false",
           "Remark on every choice, with all tactics that do not match">,
  ];
  let dependentDialects = ["::netra::NetraDialect"];
}

def NetraPlanMemory : Pass<"netra-plan-memory", "mlir::ModuleOp"> {
  let summary = "Give every intermediate value its place in one arena";
  let description = [{
    Computes the lifetime of every value of each specialised function and packs
    the values into one arena, as small as the planner can make it. Each
    operation gets `netra.place`, one entry per result; each function gets a
    `netra.arena` with its size and the lower bound that liveness implies.

    Arguments, function results and weights lie outside the arena, in bindings
    and in the buffer of weights. A value that only renames bytes
    (`netra.reshape`) takes no space: it is an alias. A workspace that a kernel
    asks for lives for the duration of its operation.

    A kernel whose contract reads and writes a result gets the memory of the
    operand that it updates (`overwrites` in its place), when the operand's
    roles allow it and nothing reads the old value afterwards. A state
    (`netra.state`) is an argument and a result in one binding and is always
    updated so.

    What cannot be proven is refused by name: a function result that is an
    argument or a weight itself, one value returned twice, an update whose old
    value is still read, a state that is not updated in place, an operation
    without a tactic.

    After:

    ```mlir
    netra.arena @mlp.decode_m1 bytes(11264) lower_bound(11264) alignment(256)
    %h = netra.dense ... {netra.place = [#netra.place<arena, 0, 11264>], ...}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"gfx950\"",
           "Target to compile for">,
    Option<"libraryRoot", "library-root", "std::string", /*default=*/"\"\"",
           "Folder with kernels/ and manifests/">,
    Option<"stepLimit", "step-limit", "uint64_t", /*default=*/"4000000",
           "Work allowed to the search for a smaller arena">,
  ];
  let dependentDialects = ["::netra::NetraDialect"];
}

def NetraLowerToEngine : Pass<"netra-lower-to-engine", "mlir::ModuleOp"> {
  let summary = "Turn planned functions into an engine: what to launch, nothing else";
  let description = [{
    Replaces the profiles, parameters, arenas and functions of a module by one
    `netra.engine`: code objects (one for each different kernel), contracts,
    bindings, weights at 256-byte alignment, and for each profile a plan of
    launches with numeric arguments. The profiles stay beside the engine.

    No tensor flows any more; `after` states which earlier steps a step waits
    for: read after write, write after read and write after write on bytes of
    the arena and of bindings, and one fallback after another. A dependency that
    follows from others is left out.

    A binding is named by `netra.name`, or `arg<i>` and `result<i>`. Profiles
    share a binding of one name and type; where the types differ, each profile
    has its own, `<name>.<profile>`.

    Kernels are assembled when the engine is translated; until then code objects
    have no hash.

    The `netra.decision`s, made here, choose the plan of a launch. Of the profiles
    that admit a serving point, that of the highest priority is taken; two of the
    same priority are refused, with a point that both admit, and so is a profile
    that would never be taken. `domain=BOX,…` states what must be served without a
    gap: a box is `m=1..16:batch=1..64:sequence=0`, with one guard per dimension.

    After:

    ```mlir
    netra.engine @mlp target(#netra.target<gfx950>) {
      netra.contract @nk_5b0c... {...}
      netra.code_object @k0 {
        netra.kernel @netra_dense_... tactic(#netra.tactic<"gfx950.dense_bf16_m1", ...>)
      }
      netra.binding @x : input(0) tensor<1x2048xbf16>
      netra.binding @result0 : output(0) tensor<1x5632xbf16>
      netra.weights bytes(23068672) alignment(256) { ... }
      netra.plan @decode_m1 profile(@decode_m1) arena(0) bindings([@x, @result0]) {
        netra.launch @k0::@netra_dense_... grid(704, 1, 1) block(256, 1, 1) ...
      }
      netra.decision "m" from([0, 1, 2]) take([unit, @decode_m1, unit])
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"gfx950\"",
           "Target to compile for">,
    Option<"libraryRoot", "library-root", "std::string", /*default=*/"\"\"",
           "Folder with kernels/ and manifests/">,
    Option<"engineName", "name", "std::string", /*default=*/"\"\"",
           "Name of the engine; by default that of the module, else of its "
           "function">,
    ListOption<"domain", "domain", "std::string",
               "Boxes of serving points that must be served without a gap">,
  ];
  let dependentDialects = ["::netra::NetraDialect"];
}

#endif // NETRA_TRANSFORMS_PASSES
