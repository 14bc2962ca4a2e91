//===- ElementMap.h - Bijections between orders of elements -----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A layout, applied to a shape, is a bijection of [0, size): from the row-major
// offset of an element to its offset in memory. Such a bijection is kept as
// boxes, each a nest of loops with a stride on either side:
//
//   for i0 < e0, i1 < e1, …:
//     from = box.from + i0 * f0 + i1 * f1 + …
//     to   = box.to   + i0 * t0 + i1 * t1 + …
//
// The boxes cover both sides exactly once. From this one description come
// offsets, their inverse, and copies in either direction that need not know
// which layout they carry out. All functions are const and safe to call from
// several threads.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_ELEMENTMAP_H
#define NETRA_CATALOG_ELEMENTMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace netra {

/// Bytes that can be read in ranges, by several threads at a time.
class ByteReader {
public:
  virtual ~ByteReader() = default;

  /// Fills `destination` with the bytes from `begin` on.
  virtual llvm::Error
  read(uint64_t begin, llvm::MutableArrayRef<uint8_t> destination) const = 0;

  /// Where [begin, begin + bytes) lies in memory, or null when it has to be
  /// read. Belongs to the reader.
  virtual const uint8_t *direct(uint64_t begin, uint64_t bytes) const {
    return nullptr;
  }
};

/// Bytes in memory. The caller sees to it that ranges lie inside.
class MemoryReader final : public ByteReader {
public:
  explicit MemoryReader(llvm::ArrayRef<uint8_t> bytes) : bytes(bytes) {}
  llvm::Error read(uint64_t begin,
                   llvm::MutableArrayRef<uint8_t> destination) const override;
  const uint8_t *direct(uint64_t begin, uint64_t) const override {
    return bytes.data() + begin;
  }

private:
  llvm::ArrayRef<uint8_t> bytes;
};

class ElementMap {
public:
  struct Loop {
    uint64_t extent, from, to;
  };
  struct Box {
    uint64_t from = 0, to = 0;
    llvm::SmallVector<Loop, 6> loops;
  };

  /// The boxes must cover [0, size) once on each side, and the strides of a box
  /// must nest: on either side a loop's stride is at least what the loops of
  /// smaller stride span. Checked by the tests of whoever makes one.
  ElementMap(uint64_t size, llvm::ArrayRef<Box> boxes);

  static ElementMap identity(uint64_t size);

  /// Digits with these extents, the first the most significant, come in the
  /// order `order` (each number of a digit once): a transpose.
  static ElementMap transpose(llvm::ArrayRef<uint64_t> extents,
                              llvm::ArrayRef<unsigned> order);

  uint64_t size() const { return count; }
  bool isIdentity() const;
  ElementMap inverse() const;

  /// Where the element at `from` goes, and where the one at `to` comes from.
  uint64_t apply(uint64_t from) const;
  uint64_t applyInverse(uint64_t to) const;

  /// Copies the elements that go to [begin, end). `source` holds all elements,
  /// `destination` just the range; the two do not overlap.
  void gather(uint64_t begin, uint64_t end, unsigned bytesPerElement,
              const uint8_t *source, uint8_t *destination) const;

  /// The same from a reader, with memory for at most the range.
  llvm::Error gather(uint64_t begin, uint64_t end, unsigned bytesPerElement,
                     const ByteReader &source, uint8_t *destination) const;

  /// Copies the elements that come from [begin, end). `source` holds just the
  /// range, `destination` all elements.
  void scatter(uint64_t begin, uint64_t end, unsigned bytesPerElement,
               const uint8_t *source, uint8_t *destination) const;

  /// One side drives a walk, in ascending order; the other follows.
  struct Step {
    uint64_t extent, drive, other;
  };
  struct Nest {
    uint64_t drive = 0, other = 0;
    llvm::SmallVector<Step, 6> loops; // by `drive`, descending
  };

private:
  ElementMap() = default;

  uint64_t count = 0;
  llvm::SmallVector<Nest, 1> byTo, byFrom;
};

} // namespace netra

#endif // NETRA_CATALOG_ELEMENTMAP_H
