//===- Layout.h - Executable memory layouts and pack recipes ----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A layout is a named, parametrised bijection from the logical index of an
// element to its offset in memory. It has executable semantics: `pack` turns
// row-major bytes into bytes of the layout, `unpack` is its inverse.
//
// The layouts stand in one table, in lib/Catalog/Layout.cpp; docs/catalogue.md
// lists them with their formulas. A layout says which shapes it can store and
// gives, for such a shape, an `ElementMap`; all else follows from the map.
//
// Offsets are in elements and count from the start of the tensor. All
// functions are const and safe to call from several threads.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_LAYOUT_H
#define NETRA_CATALOG_LAYOUT_H

#include "Netra/Catalog/ElementMap.h"
#include "Netra/Catalog/ElementType.h"

#include <string>
#include <vector>

namespace netra {

struct LayoutInfo;

class Layout {
public:
  /// row_major.
  Layout();

  /// Parses "NAME" or "NAME<1,2>". Fails, listing the known names, for an
  /// unknown name, and when the number of parameters or a value is wrong.
  static llvm::Expected<Layout> parse(llvm::StringRef spelling);

  /// The same from its parts, as an IR attribute holds them.
  static llvm::Expected<Layout> get(llvm::StringRef name,
                                    llvm::ArrayRef<int64_t> parameters = {});

  /// Names of all layouts, sorted.
  static std::vector<std::string> knownNames();

  llvm::StringRef getName() const;
  llvm::ArrayRef<int64_t> getParameters() const { return parameters; }
  bool isRowMajor() const;

  /// Canonical spelling, accepted by `parse`.
  std::string str() const;

  /// Says whether a tensor of `shape` can be stored so, and why not.
  llvm::Error verify(llvm::ArrayRef<int64_t> shape) const;

  /// Row-major offsets to offsets in memory. Requires `verify(shape)` to hold.
  ElementMap map(llvm::ArrayRef<int64_t> shape) const;

  /// Offset in elements of the element at `index`. Requires `verify(shape)` to
  /// hold and `index` to lie inside `shape`.
  uint64_t offset(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> index) const;

  /// The inverse of `offset`. Requires `verify(shape)` to hold and `offset` to
  /// be below the number of elements.
  std::vector<int64_t> index(llvm::ArrayRef<int64_t> shape,
                             uint64_t offset) const;

  /// Row-major `source` to this layout. Both buffers have the size of the
  /// dense tensor, and do not overlap. Fails on a size or shape mismatch,
  /// without having written.
  llvm::Error pack(llvm::ArrayRef<int64_t> shape, unsigned bytesPerElement,
                   llvm::ArrayRef<uint8_t> source,
                   llvm::MutableArrayRef<uint8_t> destination) const;

  /// The inverse of `pack`.
  llvm::Error unpack(llvm::ArrayRef<int64_t> shape, unsigned bytesPerElement,
                     llvm::ArrayRef<uint8_t> source,
                     llvm::MutableArrayRef<uint8_t> destination) const;

  /// Packs slices [begin, end) of the first dimension only. `source` holds just
  /// these, row-major; `destination` is the whole tensor. Different slice
  /// ranges may be packed at the same time.
  llvm::Error packSlices(llvm::ArrayRef<int64_t> shape,
                         unsigned bytesPerElement, uint64_t begin, uint64_t end,
                         llvm::ArrayRef<uint8_t> source,
                         llvm::MutableArrayRef<uint8_t> destination) const;

  bool operator==(const Layout &other) const {
    return info == other.info && parameters == other.parameters;
  }

private:
  Layout(const LayoutInfo *info, std::vector<int64_t> parameters)
      : info(info), parameters(std::move(parameters)) {}

  const LayoutInfo *info; // an entry of the static registry
  std::vector<int64_t> parameters;
};

} // namespace netra

#endif // NETRA_CATALOG_LAYOUT_H
