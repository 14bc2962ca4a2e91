//===- ExactCast.h - Casts that lose nothing --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_EXACTCAST_H
#define NETRA_LIB_CATALOG_EXACTCAST_H

#include "Netra/Catalog/ElementType.h"

namespace netra {

/// True when every value of `from` is a value of `to` and the cast is one that
/// recipes know.
bool isExactCast(ElementType from, ElementType to);

/// Casts `count` elements, an exact cast. The buffers do not overlap. A NaN
/// keeps its sign and the bits of its payload, the first of which says whether
/// it is quiet.
void widenElements(ElementType from, ElementType to, uint64_t count,
                   const uint8_t *source, uint8_t *destination);

/// The inverse of `widenElements(to, from, …)`. Gives the number of elements
/// before the first that is no result of it, `count` when all are.
uint64_t narrowElements(ElementType from, ElementType to, uint64_t count,
                        const uint8_t *source, uint8_t *destination);

} // namespace netra

#endif // NETRA_LIB_CATALOG_EXACTCAST_H
