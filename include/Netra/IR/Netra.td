//===- Netra.td - The whole netra dialect, for its reference *- tablegen -*-==//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRA_TD
#define NETRA_IR_NETRA_TD

include "Netra/IR/NetraOps.td"
include "Netra/IR/NetraNormOps.td"
include "Netra/IR/NetraMoeOps.td"
include "Netra/IR/NetraVocabularyOps.td"
include "Netra/IR/NetraEngineOps.td"

#endif // NETRA_IR_NETRA_TD
