//===- HuggingFaceQuantization.h - FP8 in a config.json ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_HUGGINGFACEQUANTIZATION_H
#define NETRA_LIB_CATALOG_HUGGINGFACEQUANTIZATION_H

#include "HuggingFaceFields.h"

#include "Netra/Catalog/Model.h"

namespace netra::config {

/// Reads a quantization_config. The layers of `model` must be known: what Netra
/// keeps in bf16 must be so in each of them, and nothing else.
void readQuantization(const Reader &reader, ModelDescription &model);

} // namespace netra::config

#endif // NETRA_LIB_CATALOG_HUGGINGFACEQUANTIZATION_H
