//===- AffineJson.cpp - Numbers that follow a serving point, as JSON ------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/AttributeJson.h"
#include "Netra/Catalog/Decision.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {

nlohmann::json affineToJson(const Affine &affine) {
  if (affine.isConstant())
    return affine.constant;
  nlohmann::json result = {{"constant", affine.constant}};
  for (const auto &[name, factor] : affine.terms)
    result[name] = factor;
  return result;
}

nlohmann::json affineToJson(const AffineExtents &extents) {
  nlohmann::json result = nlohmann::json::array();
  for (const Affine &extent : extents)
    result.push_back(affineToJson(extent));
  return result;
}

std::optional<Affine> readAffine(const Reader &reader, uint64_t min,
                                 uint64_t max) {
  if (!reader.get().is_object()) {
    if (min > max) {
      reader.fail("an object with \"constant\" and factors of dimensions");
      return std::nullopt;
    }
    if (std::optional<uint64_t> constant = reader.unsignedInteger(min, max))
      return Affine(*constant);
    return std::nullopt;
  }
  Affine affine;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("constant"))
    affine.constant = member->unsignedInteger().value_or(0);
  for (StringRef name : guardNames)
    if (std::optional<Reader> member = object.optional(name))
      affine.terms[name.str()] = member->unsignedInteger(1).value_or(1);
  object.finish();
  if (affine.isConstant())
    reader.fail("a number, or a factor of one of " +
                    join(ArrayRef(guardNames), ", "),
                "a constant alone");
  return affine;
}

GuardBox readGuardBox(const Reader &reader) {
  GuardBox guards;
  for (auto &[key, value] : ObjectReader(reader).members()) {
    if (!is_contained(guardNames, key))
      value.fail("one of the guards " + join(ArrayRef(guardNames), ", "),
                 "\"" + key + "\"");
    if (std::optional<std::vector<Reader>> ends = value.array(2, 2))
      guards[key] = {(*ends)[0].unsignedInteger().value_or(0),
                     (*ends)[1].unsignedInteger().value_or(0)};
  }
  return guards;
}

} // namespace netra
