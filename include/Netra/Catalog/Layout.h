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
//   row_major      offset of C order; any rank.
//   n16k16         [N, K], N and K multiples of 16:
//                    (n/16)*16*K + (k/16)*256 + (n%16)*16 + k%16
//                  Leading dimensions (experts) are row-major around it.
//   group_major    [M, G] stored with the last dimension outermost: g*M + m
//                  (transposed activation scales). Leading dimensions as above.
//
// Offsets are in elements and count from the start of the tensor. All
// functions are const and safe to call from several threads.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_LAYOUT_H
#define NETRA_CATALOG_LAYOUT_H

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

  /// Offset in elements of the element at `index`. Requires `verify(shape)` to
  /// hold and `index` to lie inside `shape`.
  uint64_t offset(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> index) const;

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

/// A tensor of a checkpoint, row-major.
struct PackSource {
  std::string checkpoint;
  ElementType type = ElementType::BF16;
  std::vector<int64_t> shape;

  bool operator==(const PackSource &) const = default;
};

/// One step of a recipe: store in a layout (only as the last step), or cast the
/// elements exactly (bf16, f16 → f32 or f64; f32 → f64; identity).
struct PackStep {
  enum class Kind : uint8_t { Layout, Cast };
  Kind kind = Kind::Layout;
  std::string layout;                   // canonical spelling, when Layout
  ElementType type = ElementType::BF16; // when Cast

  static PackStep makeLayout(std::string layout) {
    return {Kind::Layout, std::move(layout), ElementType::BF16};
  }
  static PackStep makeCast(ElementType type) { return {Kind::Cast, "", type}; }
  bool operator==(const PackStep &) const = default;
};

/// How a weight of an engine is made from tensors of a checkpoint: the sources
/// are concatenated along `concatAxis`, then the steps are applied in order.
struct PackRecipe {
  std::vector<PackSource> sources;
  int64_t concatAxis = 0;
  std::vector<PackStep> steps;

  /// Type, shape, layout and size of what the recipe makes.
  struct Result {
    ElementType type = ElementType::BF16;
    std::vector<int64_t> shape;
    Layout layout;
    uint64_t bytes = 0;
  };

  /// Checks the recipe and says what it makes.
  llvm::Expected<Result> verify() const;

  /// Runs the recipe: `data[i]` holds the bytes of `sources[i]`, `destination`
  /// has `Result::bytes` bytes. Works in stripes of at most about 4 MiB, so the
  /// memory used besides the buffers is bounded. Fails, before writing, on a
  /// size mismatch.
  llvm::Error execute(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> data,
                      llvm::MutableArrayRef<uint8_t> destination) const;

  bool operator==(const PackRecipe &) const = default;
};

} // namespace netra

#endif // NETRA_CATALOG_LAYOUT_H
