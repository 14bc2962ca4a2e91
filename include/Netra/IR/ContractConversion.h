//===- ContractConversion.h - Contracts as attributes -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A `netra.contract` holds a contract as a dictionary with the keys of the
// contract's canonical JSON: objects are dictionaries, strings are string
// attributes, numbers are i64, true and false are booleans.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_CONTRACTCONVERSION_H
#define NETRA_IR_CONTRACTCONVERSION_H

#include "Netra/Catalog/Contract.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"

namespace netra {

/// The dictionary of `contract`. `contractFromAttr` gives it back.
mlir::DictionaryAttr contractToAttr(mlir::MLIRContext *context,
                                    const Contract &contract);

/// The contract of a dictionary; the error says which field is missing,
/// unknown, or of a wrong kind.
llvm::Expected<Contract> contractFromAttr(mlir::DictionaryAttr attribute);

/// A contract and its id.
struct KnownContract {
  Contract contract;
  std::string id;
};

/// The contract of a dictionary, worked out once in a context, and not at all
/// for a dictionary that `contractToAttr` has made there.
llvm::Expected<const KnownContract &>
lookupContract(mlir::DictionaryAttr attribute);

} // namespace netra

#endif // NETRA_IR_CONTRACTCONVERSION_H
