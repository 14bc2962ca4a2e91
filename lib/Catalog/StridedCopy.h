//===- StridedCopy.h - Copies between two nests of strides ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_STRIDEDCOPY_H
#define NETRA_LIB_CATALOG_STRIDEDCOPY_H

#include "Netra/Catalog/ElementMap.h"

namespace netra {

/// destination[sum i * drive] = source[sum i * other] over the box of the
/// loops, whose order does not matter. Strides are in elements.
void copyStrided(llvm::ArrayRef<ElementMap::Step> loops,
                 unsigned bytesPerElement, uint8_t *destination,
                 const uint8_t *source);

} // namespace netra

#endif // NETRA_LIB_CATALOG_STRIDEDCOPY_H
