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

/// A number, or {"constant": C, DIMENSION: FACTOR, …}.
nlohmann::json affineToJson(const Affine &affine);
nlohmann::json affineToJson(const AffineExtents &extents);

/// A constant inside [min, max] (none, when that is empty), or what follows one
/// of the dimensions that a profile may guard.
std::optional<Affine> readAffine(const json::Reader &reader, uint64_t min,
                                 uint64_t max);

/// {DIMENSION: [min, max], …}
GuardBox readGuardBox(const json::Reader &reader);

} // namespace netra

#endif // NETRA_CATALOG_ATTRIBUTEJSON_H
