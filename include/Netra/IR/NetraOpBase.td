//===- NetraOpBase.td - What model-level operations share --*- tablegen -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAOPBASE_TD
#define NETRA_IR_NETRAOPBASE_TD

include "Netra/IR/NetraAttributes.td"
include "Netra/IR/NetraInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Netra_Tensor : RankedTensorOf<
    [BF16, F16, F32, F64, F8E4M3FN, F8E5M2, I1, AnyI8, AnyI16, AnyI32, AnyI64]>;
def Netra_FloatTensor : RankedTensorOf<[BF16, F16, F32]>;
def Netra_ComputeTensor : RankedTensorOf<[BF16, F16, F32, F8E4M3FN]>;
def Netra_ScaleTensor : RankedTensorOf<[F32, BF16]>;
def Netra_Fp8Tensor : RankedTensorOf<[F8E4M3FN]>;
def Netra_BF16Tensor : RankedTensorOf<[BF16]>;
def Netra_F32Tensor : RankedTensorOf<[F32]>;
def Netra_I32Tensor : RankedTensorOf<[I32]>;

defvar TacticMethods = DeclareOpInterfaceMethods<Netra_TacticOpInterface, ["getInPlaceCandidates"]>;
defvar TacticMethodsNotInPlace = DeclareOpInterfaceMethods<Netra_TacticOpInterface>;
defvar EpilogueMethods = DeclareOpInterfaceMethods<Netra_EpilogueOpInterface>;
defvar FusionMethods = DeclareOpInterfaceMethods<Netra_FusionOpInterface>;
// Of an operation whose fused form may be one that the catalogue lacks.
defvar CheckedFusionMethods = DeclareOpInterfaceMethods<Netra_FusionOpInterface, ["getFusedProblems"]>;

#endif // NETRA_IR_NETRAOPBASE_TD
