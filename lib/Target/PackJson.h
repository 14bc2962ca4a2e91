//===- PackJson.h - Pack recipes as JSON ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_PACKJSON_H
#define NETRA_LIB_TARGET_PACKJSON_H

#include "Netra/Catalog/PackRecipe.h"

#include <nlohmann/json.hpp>

namespace netra {

/// `sources`, `concat_axis` and `steps`, as in engine.json.
nlohmann::json toJson(const PackRecipe &recipe);

} // namespace netra

#endif // NETRA_LIB_TARGET_PACKJSON_H
