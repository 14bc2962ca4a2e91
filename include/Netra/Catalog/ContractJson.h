//===- ContractJson.h - The structure of a contract -------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_CONTRACTJSON_H
#define NETRA_CATALOG_CONTRACTJSON_H

#include "Netra/Catalog/Contract.h"
#include "Netra/Catalog/Json.h"

namespace netra {

/// Takes the canonical form of a contract as it is walked: the members of an
/// object in the order of their keys, each key before its value.
class ContractSink {
public:
  virtual ~ContractSink() = default;
  virtual void beginObject() = 0;
  virtual void endObject() = 0;
  virtual void beginArray() = 0;
  virtual void endArray() = 0;
  virtual void key(llvm::StringRef name) = 0;
  virtual void text(llvm::StringRef value) = 0;
  virtual void flag(bool value) = 0;
  virtual void integer(int64_t value) = 0;
  virtual void count(uint64_t value) = 0;
};

/// Walks what Contract::toJson writes.
void visitContract(const Contract &contract, ContractSink &sink);

/// Contract::fromJson without the text, for a document that is there already.
llvm::Expected<Contract> contractFromJson(const json::Value &document);

} // namespace netra

#endif // NETRA_CATALOG_CONTRACTJSON_H
