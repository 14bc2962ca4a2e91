//===- HuggingFaceRotary.h - Rotations in a config.json ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A rotation is spelled out by fields of the decoder (rope_theta,
// partial_rotary_factor), by the object rope_scaling of older configurations
// and by the object rope_parameters of newer ones, for each kind of layer in
// some families. Published files have several of them at once.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_HUGGINGFACEROTARY_H
#define NETRA_LIB_CATALOG_HUGGINGFACEROTARY_H

#include "HuggingFaceFamilies.h"
#include "HuggingFaceFields.h"

#include "Netra/Catalog/Model.h"

#include <map>

namespace netra::config {

/// The fields that gave the numbers of a description: by their pointers in a
/// manifest, what to call them in messages.
using FieldNames = std::map<std::string, std::string>;

/// Sets the rotations of `attention`, whose head_dim is known.
void readRotary(ObjectReader &object, const HuggingFaceFamily &family,
                AttentionModel &attention, FieldNames &names);

} // namespace netra::config

#endif // NETRA_LIB_CATALOG_HUGGINGFACEROTARY_H
