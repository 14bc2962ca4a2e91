//===- ContractTable.h - The contracts that a context knows -----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_IR_CONTRACTTABLE_H
#define NETRA_LIB_IR_CONTRACTTABLE_H

#include "Netra/IR/ContractConversion.h"

#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <mutex>

namespace netra {

/// What dictionaries of a context are as contracts. Verifiers of several
/// engines may ask at the same time.
class ContractTable : public mlir::DialectInterface::Base<ContractTable> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ContractTable)

  explicit ContractTable(mlir::Dialect *dialect) : Base(dialect) {}

  const KnownContract *find(mlir::DictionaryAttr attribute) {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = contracts.find(attribute);
    return known == contracts.end() ? nullptr : known->second.get();
  }

  const KnownContract &insert(mlir::DictionaryAttr attribute,
                              const Contract &contract) {
    auto made =
        std::make_unique<KnownContract>(KnownContract{contract, contract.id()});
    std::lock_guard<std::mutex> lock(mutex);
    return *contracts.try_emplace(attribute, std::move(made)).first->second;
  }

private:
  std::mutex mutex;
  llvm::DenseMap<mlir::Attribute, std::unique_ptr<KnownContract>> contracts;
};

} // namespace netra

#endif // NETRA_LIB_IR_CONTRACTTABLE_H
