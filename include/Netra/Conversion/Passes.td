//===- Passes.td - Import passes ---------------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CONVERSION_PASSES_TD
#define NETRA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTorchToNetra : Pass<"convert-torch-to-netra", "::mlir::ModuleOp"> {
  let summary = "Convert an exported torch graph to the netra dialect";
  let description = [{
    Reads the graph of every `func.func` backwards from what it returns, finds
    the netra operations that compute it, and builds them. Matrix products take
    their weight as `[N, K]`: a transposition before the product disappears.
    Activations of rank 3 and above are collapsed to `[M, K]`, with a
    `netra.reshape` where the function's types demand the old rank.

    Before:

    ```mlir
    util.global private @w = #stream.parameter.named<"model"::"mlp.up.weight"> : tensor<32x64xbf16>
    func.func @f(%x: !torch.vtensor<[1,?,64],bf16>) -> !torch.vtensor<[1,?,32],bf16> {
      %w = util.global.load @w : tensor<32x64xbf16>
      %0 = torch_c.from_builtin_tensor %w : tensor<32x64xbf16> -> !torch.vtensor<[32,64],bf16>
      %none = torch.constant.none
      %1 = torch.aten.linear %x, %0, %none : !torch.vtensor<[1,?,64],bf16>, !torch.vtensor<[32,64],bf16>, !torch.none -> !torch.vtensor<[1,?,32],bf16>
      return %1 : !torch.vtensor<[1,?,32],bf16>
    }
    ```

    After:

    ```mlir
    netra.parameter @w : tensor<32x64xbf16> checkpoint("mlp.up.weight")
    func.func @f(%x: tensor<1x?x64xbf16>) -> tensor<1x?x32xbf16> {
      %w = netra.get @w : tensor<32x64xbf16>
      %0 = netra.reshape %x : tensor<1x?x64xbf16> to tensor<?x64xbf16>
      %1 = netra.dense %0, %w : (tensor<?x64xbf16>, tensor<32x64xbf16>) -> tensor<?x32xbf16>
      %2 = netra.reshape %1 : tensor<?x32xbf16> to tensor<1x?x32xbf16>
      return %2 : tensor<1x?x32xbf16>
    }
    ```

    An operation that the result needs and that is not understood is reported at
    its location, with the reason and the pattern that came nearest; all of them
    in one run. The pass then fails and leaves the module as it was.

    With `partial`, these operations stay, between `torch_c.to_builtin_tensor` and
    `torch_c.from_builtin_tensor`; each gets a remark, the module one that counts
    them by name, and the pass succeeds.

    Numbers: no element type is changed by this pass, and no conversion is added
    except the widening that torch itself performs when operand types differ.
    Patterns that become one operation lose the roundings between their parts.
  }];
  let options = [
    Option<"partial", "partial", "bool", /*default=*/"false",
           "Leave operations that cannot be converted in place">,
    ListOption<"dims", "dims", "std::string",
               "New names for symbolic dimensions, e.g. s0=batch,s1=sequence">
  ];
  let dependentDialects = [
    "::netra::NetraDialect", "::netra::torch::TorchConversionDialect"
  ];
}

#endif // NETRA_CONVERSION_PASSES_TD
