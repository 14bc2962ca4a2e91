//===- PackRecipe.h - From checkpoint tensors to kernel weights -*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A pack recipe says how a weight of an engine is made from tensors of a
// checkpoint. It moves elements and casts them exactly; it never computes, so
// that every recipe can be undone.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_PACKRECIPE_H
#define NETRA_CATALOG_PACKRECIPE_H

#include "Netra/Catalog/Layout.h"

#include <memory>
#include <optional>

namespace netra {

/// A tensor of a checkpoint, row-major. A name with `{}` stands for a series of
/// them, as many as the first extent says: 0, 1, … in the place of `{}` name
/// tensors of the other extents, which follow each other. So the experts of a
/// layer that a checkpoint holds one by one are one source.
struct PackSource {
  std::string checkpoint;
  ElementType type = ElementType::BF16;
  std::vector<int64_t> shape;

  bool isSeries() const { return isSeriesName(checkpoint); }
  /// The tensors it stands for.
  int64_t getCount() const { return isSeries() ? shape.front() : 1; }
  /// One of them.
  PackSource getTensor(int64_t index) const;

  /// More tensors than any file has; each is looked for.
  static constexpr int64_t mostInSeries = 65536;
  static bool isSeriesName(llvm::StringRef name) { return name.contains("{}"); }
  /// Why the name cannot stand for a tensor of this shape, or for a series; as
  /// "expected …, found …". Empty when it can.
  static std::string whyNotNamed(llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> shape);

  bool operator==(const PackSource &) const = default;
};

/// One step of a recipe.
struct PackStep {
  enum class Kind : uint8_t {
    /// Stores the tensor in a layout; only as the last step.
    Layout,
    /// Casts the elements exactly: bf16, f16 → f32 or f64; f32 → f64; identity.
    /// By bits: NaNs keep sign and payload.
    Cast,
    /// Another shape of as many elements, in the same order.
    Reshape,
    /// Renumbers the elements: the tensor's memory in a layout becomes the
    /// tensor. `interleaved_rows<2,64,64>` turns [gate | up] into two shards
    /// [gate | up] of half the size each.
    Reorder,
    /// The inverse of Reorder: what comes in is the memory of a tensor in that
    /// layout, what goes out is the tensor.
    Restore
  };
  Kind kind = Kind::Layout;
  std::string layout; // canonical spelling, when Layout, Reorder or Restore
  ElementType type = ElementType::BF16; // when Cast
  std::vector<int64_t> shape = {};      // when Reshape

  static PackStep makeLayout(std::string layout) {
    return {Kind::Layout, std::move(layout)};
  }
  static PackStep makeCast(ElementType type) { return {Kind::Cast, "", type}; }
  static PackStep makeReshape(std::vector<int64_t> shape) {
    return {Kind::Reshape, "", ElementType::BF16, std::move(shape)};
  }
  static PackStep makeReorder(std::string layout) {
    return {Kind::Reorder, std::move(layout)};
  }
  static PackStep makeRestore(std::string layout) {
    return {Kind::Restore, std::move(layout)};
  }
  /// "layout n16k16", "cast f32", "reshape 4x8", …
  std::string str() const;
  bool operator==(const PackStep &) const = default;
};

/// How a weight of an engine is made from tensors of a checkpoint: the sources
/// are concatenated along `concatAxis`, then the steps are applied in order.
/// Rows can be concatenated whatever groups they come in: along axis 0, a
/// source of more dimensions may stand beside matrices, and counts as a matrix
/// (`mergeLeading`).
struct PackRecipe {
  std::vector<PackSource> sources;
  int64_t concatAxis = 0;
  std::vector<PackStep> steps = {};

  /// Type, shape, layout and size of what the recipe makes.
  struct Result {
    ElementType type = ElementType::BF16;
    std::vector<int64_t> shape;
    Layout layout;
    uint64_t bytes = 0;
  };

  /// Checks the recipe and says what it makes.
  llvm::Expected<Result> verify() const;

  /// Runs the recipe in memory: `data[i]` holds the bytes of `sources[i]`,
  /// `destination` has `Result::bytes` bytes. Fails, before writing, on a size
  /// mismatch.
  llvm::Error execute(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> data,
                      llvm::MutableArrayRef<uint8_t> destination) const;

  /// The inverse of `execute`. Fails when `packed` holds an element that is not
  /// the exact cast of any, naming it.
  llvm::Error unpack(llvm::ArrayRef<uint8_t> packed,
                     llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> data) const;

  bool operator==(const PackRecipe &) const = default;
};

/// `shape` with as many leading dimensions merged to one as leaves `rank`,
/// which is at least 1 and at most what `shape` has: [2, 3, 5] and 2 give [6,
/// 5]. An extent that does not fit 63 bits becomes the largest one.
std::vector<int64_t> mergeLeading(llvm::ArrayRef<int64_t> shape, size_t rank);

/// The rank that sources of these ranks are concatenated in along `axis`;
/// nothing when they cannot be.
std::optional<size_t> concatenationRank(llvm::ArrayRef<size_t> ranks,
                                        int64_t axis);

/// A checked recipe that can be run piece by piece, in either direction. All
/// functions are const and safe to call from several threads. A call uses
/// memory for a few times the bytes it is asked for, whatever the size of the
/// tensors; pieces of some MiB are the fastest.
class Packer {
public:
  static llvm::Expected<Packer> create(PackRecipe recipe);

  const PackRecipe &getRecipe() const { return recipe; }
  const PackRecipe::Result &getResult() const { return result; }
  uint64_t getSourceBytes(size_t source) const;

  /// Makes the bytes of the result from `begin` on. `sources[i]` reads the
  /// bytes of source i. Fails when the piece does not lie inside the result, or
  /// as the readers do.
  llvm::Error pack(llvm::ArrayRef<const ByteReader *> sources, uint64_t begin,
                   llvm::MutableArrayRef<uint8_t> destination) const;

  /// Makes the bytes of source `source` from `begin` on; `packed` reads those
  /// of the result. Fails as `pack` does, and as `PackRecipe::unpack`.
  llvm::Error unpack(const ByteReader &packed, size_t source, uint64_t begin,
                     llvm::MutableArrayRef<uint8_t> destination) const;

private:
  Packer() = default;

  PackRecipe recipe;
  PackRecipe::Result result;
  std::vector<ElementMap> maps;   // of the steps, in order, without identities
  std::vector<ElementType> types; // of the sources, then after each cast
  // Bytes of a piece of each source that stays together in the concatenation,
  // where it begins in a row of pieces, and the bytes of such a row.
  std::vector<uint64_t> pieces, pieceOffsets;
  uint64_t rowBytes = 0;

  friend class ConcatReader;
};

} // namespace netra

#endif // NETRA_CATALOG_PACKRECIPE_H
