//===- AttributeJson.h - Attribute values in documents ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_ATTRIBUTEJSON_H
#define NETRA_CATALOG_ATTRIBUTEJSON_H

#include "Netra/Catalog/Contract.h"
#include "Netra/Catalog/Json.h"

namespace netra {

/// A double is {"f64": "0x<16 hex digits of its bits>"}, so that no decimal
/// spelling enters a hash.
nlohmann::json attributeToJson(const AttributeValue &value);

/// Reports a fault and gives nothing for anything else.
std::optional<AttributeValue> readAttribute(const json::Reader &reader);

} // namespace netra

#endif // NETRA_CATALOG_ATTRIBUTEJSON_H
