//===- StridedCopy.cpp - Copies between two nests of strides --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Two cases are fast, and are all that layouts of weights need: neighbours that
// stay neighbours (runs), and a matrix whose rows become columns (transposes).
// Transposes go through registers, a square of 16-byte vectors at a time.
//
//===----------------------------------------------------------------------===//

#include "StridedCopy.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>
#include <utility>

using namespace llvm;

namespace netra {

using Step = ElementMap::Step;

/// Calls `body(to, from)` with the byte offsets of each iteration of `loops`,
/// the last of which is the innermost.
template <typename Body>
static void iterate(ArrayRef<Step> loops, unsigned size, Body body) {
  SmallVector<uint64_t, 6> index(loops.size(), 0);
  uint64_t to = 0, from = 0;
  while (true) {
    body(to * size, from * size);
    size_t d = loops.size();
    while (d-- > 0) {
      const Step &step = loops[d];
      to += step.drive;
      from += step.other;
      if (++index[d] != step.extent)
        break;
      to -= step.extent * step.drive;
      from -= step.extent * step.other;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// `count` pieces of a size that is known to the compiler.
template <size_t Bytes>
static void copyPieces(uint64_t count, uint8_t *to, uint64_t toStride,
                       const uint8_t *from, uint64_t fromStride) {
  for (uint64_t i = 0; i != count; ++i)
    std::memcpy(to + i * toStride, from + i * fromStride, Bytes);
}

static void copyRuns(ArrayRef<Step> outer, uint64_t bytes, unsigned size,
                     uint8_t *destination, const uint8_t *source) {
  Step inner = {1, 0, 0};
  if (!outer.empty()) {
    inner = outer.back();
    outer = outer.drop_back();
  }
  uint64_t toStride = inner.drive * size, fromStride = inner.other * size;
  iterate(outer, size, [&](uint64_t to, uint64_t from) {
    uint8_t *t = destination + to;
    const uint8_t *f = source + from;
    switch (bytes) {
    case 1:
      return copyPieces<1>(inner.extent, t, toStride, f, fromStride);
    case 2:
      return copyPieces<2>(inner.extent, t, toStride, f, fromStride);
    case 4:
      return copyPieces<4>(inner.extent, t, toStride, f, fromStride);
    case 8:
      return copyPieces<8>(inner.extent, t, toStride, f, fromStride);
    case 16:
      return copyPieces<16>(inner.extent, t, toStride, f, fromStride);
    case 32:
      return copyPieces<32>(inner.extent, t, toStride, f, fromStride);
    case 64:
      return copyPieces<64>(inner.extent, t, toStride, f, fromStride);
    }
    for (uint64_t i = 0; i != inner.extent; ++i)
      std::memcpy(t + i * toStride, f + i * fromStride, bytes);
  });
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// 16 bytes of elements of an unsigned type.
template <typename T> struct Vector {
  static constexpr size_t lanes = 16 / sizeof(T);
  using Type __attribute__((vector_size(16))) = T;
};

template <typename T, size_t... I>
static typename Vector<T>::Type zipLow(typename Vector<T>::Type a,
                                       typename Vector<T>::Type b,
                                       std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (I / 2 + I % 2 * sizeof...(I))...);
}

template <typename T, size_t... I>
static typename Vector<T>::Type zipHigh(typename Vector<T>::Type a,
                                        typename Vector<T>::Type b,
                                        std::index_sequence<I...>) {
  return __builtin_shufflevector(
      a, b, (sizeof...(I) / 2 + I / 2 + I % 2 * sizeof...(I))...);
}

/// A square of vectors. Zipping the upper half of the rows with the lower half
/// once per bit of the row number exchanges rows and columns.
template <typename T>
static void transposeSquare(uint8_t *to, uint64_t toStride, const uint8_t *from,
                            uint64_t fromStride) {
  constexpr size_t n = Vector<T>::lanes;
  constexpr auto lanes = std::make_index_sequence<n>();
  typename Vector<T>::Type rows[n], zipped[n];
  for (size_t i = 0; i != n; ++i)
    std::memcpy(&rows[i], from + i * fromStride, 16);
  for (size_t round = 1; round != n; round *= 2) {
    for (size_t i = 0; i != n / 2; ++i) {
      zipped[2 * i] = zipLow<T>(rows[i], rows[i + n / 2], lanes);
      zipped[2 * i + 1] = zipHigh<T>(rows[i], rows[i + n / 2], lanes);
    }
    for (size_t i = 0; i != n; ++i)
      rows[i] = zipped[i];
  }
  for (size_t i = 0; i != n; ++i)
    std::memcpy(to + i * toStride, &rows[i], 16);
}

/// to[c][r] = from[r][c]; strides in bytes. In blocks of a cache line of either
/// side, so that each line is loaded once.
template <typename T>
static void transpose(uint64_t rows, uint64_t columns, uint8_t *to,
                      uint64_t toStride, const uint8_t *from,
                      uint64_t fromStride) {
  constexpr uint64_t n = Vector<T>::lanes, block = 64 / sizeof(T);
  auto scalar = [&](uint64_t r0, uint64_t r1, uint64_t c0, uint64_t c1) {
    for (uint64_t c = c0; c < c1; ++c)
      for (uint64_t r = r0; r < r1; ++r)
        std::memcpy(to + c * toStride + r * sizeof(T),
                    from + r * fromStride + c * sizeof(T), sizeof(T));
  };
  uint64_t wholeRows = rows / n * n, wholeColumns = columns / n * n;
  for (uint64_t r0 = 0; r0 < wholeRows; r0 += block)
    for (uint64_t c0 = 0; c0 < wholeColumns; c0 += block)
      for (uint64_t c = c0; c < std::min(c0 + block, wholeColumns); c += n)
        for (uint64_t r = r0; r < std::min(r0 + block, wholeRows); r += n)
          transposeSquare<T>(to + c * toStride + r * sizeof(T), toStride,
                             from + r * fromStride + c * sizeof(T), fromStride);
  scalar(0, wholeRows, wholeColumns, columns);
  scalar(wholeRows, rows, 0, columns);
}

static void transpose(unsigned size, uint64_t rows, uint64_t columns,
                      uint8_t *to, uint64_t toStride, const uint8_t *from,
                      uint64_t fromStride) {
  switch (size) {
  case 1:
    return transpose<uint8_t>(rows, columns, to, toStride, from, fromStride);
  case 2:
    return transpose<uint16_t>(rows, columns, to, toStride, from, fromStride);
  case 4:
    return transpose<uint32_t>(rows, columns, to, toStride, from, fromStride);
  case 8:
    return transpose<uint64_t>(rows, columns, to, toStride, from, fromStride);
  }
  for (uint64_t c = 0; c < columns; ++c)
    for (uint64_t r = 0; r < rows; ++r)
      std::memcpy(to + c * toStride + r * size,
                  from + r * fromStride + c * size, size);
}

//===----------------------------------------------------------------------===//
// Any nest
//===----------------------------------------------------------------------===//

void copyStrided(ArrayRef<Step> given, unsigned size, uint8_t *destination,
                 const uint8_t *source) {
  // Written in ascending order, with loops joined that are one on both sides.
  SmallVector<Step, 6> loops(given.begin(), given.end());
  llvm::sort(loops, [](const Step &lhs, const Step &rhs) {
    return lhs.drive > rhs.drive;
  });
  for (size_t i = 1; i < loops.size();) {
    const Step &inner = loops[i], &outer = loops[i - 1];
    if (outer.drive == inner.extent * inner.drive &&
        outer.other == inner.extent * inner.other) {
      loops[i].extent *= outer.extent;
      loops.erase(loops.begin() + i - 1);
    } else {
      ++i;
    }
  }
  auto takeOut = [&](Step *step) {
    Step taken = *step;
    loops.erase(step);
    return taken;
  };
  Step *write =
      find_if(loops, [](const Step &step) { return step.drive == 1; });
  Step *read = find_if(loops, [](const Step &step) { return step.other == 1; });
  if (write == loops.end() || read == loops.end())
    return copyRuns(loops, size, size, destination, source);
  if (write == read) {
    uint64_t bytes = takeOut(write).extent * size;
    return copyRuns(loops, bytes, size, destination, source);
  }
  Step down = *write, across = *read;
  takeOut(std::max(write, read));
  takeOut(std::min(write, read));
  iterate(loops, size, [&](uint64_t to, uint64_t from) {
    transpose(size, down.extent, across.extent, destination + to,
              across.drive * size, source + from, down.other * size);
  });
}

} // namespace netra
