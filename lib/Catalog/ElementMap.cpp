//===- ElementMap.cpp - Bijections between orders of elements -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/ElementMap.h"

#include "StridedCopy.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <cstring>
#include <memory>

using namespace llvm;

namespace netra {

using Nest = ElementMap::Nest;
using Step = ElementMap::Step;

Error MemoryReader::read(uint64_t begin,
                         MutableArrayRef<uint8_t> destination) const {
  if (!destination.empty())
    std::memcpy(destination.data(), bytes.data() + begin, destination.size());
  return Error::success();
}

/// Sorts by the driving side and joins loops that are one on both sides.
static void normalize(Nest &nest) {
  llvm::erase_if(nest.loops, [](const Step &step) { return step.extent == 1; });
  llvm::sort(nest.loops, [](const Step &lhs, const Step &rhs) {
    return lhs.drive > rhs.drive;
  });
  SmallVector<Step, 6> joined;
  for (const Step &step : nest.loops) {
    if (!joined.empty() && joined.back().drive == step.extent * step.drive &&
        joined.back().other == step.extent * step.other)
      joined.back() = {joined.back().extent * step.extent, step.drive,
                       step.other};
    else
      joined.push_back(step);
  }
  nest.loops = std::move(joined);
}

ElementMap::ElementMap(uint64_t size, ArrayRef<Box> boxes) : count(size) {
  for (const Box &box : boxes) {
    if (any_of(box.loops, [](const Loop &loop) { return loop.extent == 0; }))
      continue;
    Nest to{box.to, box.from, {}}, from{box.from, box.to, {}};
    for (const Loop &loop : box.loops) {
      to.loops.push_back({loop.extent, loop.to, loop.from});
      from.loops.push_back({loop.extent, loop.from, loop.to});
    }
    normalize(to);
    normalize(from);
    byTo.push_back(std::move(to));
    byFrom.push_back(std::move(from));
  }
}

ElementMap ElementMap::identity(uint64_t size) {
  return ElementMap(size, Box{0, 0, {{size, 1, 1}}});
}

ElementMap ElementMap::transpose(ArrayRef<uint64_t> extents,
                                 ArrayRef<unsigned> order) {
  assert(extents.size() == order.size());
  Box box;
  uint64_t size = 1;
  for (uint64_t extent : reverse(extents)) {
    box.loops.push_back({extent, size, 0});
    size *= extent;
  }
  std::reverse(box.loops.begin(), box.loops.end());
  uint64_t stride = 1;
  for (unsigned digit : reverse(order)) {
    box.loops[digit].to = stride;
    stride *= extents[digit];
  }
  return ElementMap(size, box);
}

bool ElementMap::isIdentity() const {
  return all_of(byTo, [](const Nest &nest) {
    return nest.drive == nest.other && all_of(nest.loops, [](const Step &step) {
             return step.drive == step.other;
           });
  });
}

ElementMap ElementMap::inverse() const {
  ElementMap result;
  result.count = count;
  result.byTo = byFrom;
  result.byFrom = byTo;
  return result;
}

static uint64_t locate(ArrayRef<Nest> nests, uint64_t position) {
  for (const Nest &nest : nests) {
    if (position < nest.drive)
      continue;
    uint64_t rest = position - nest.drive, other = nest.other;
    bool inside = true;
    for (const Step &step : nest.loops) {
      uint64_t i = rest / step.drive;
      inside &= i < step.extent;
      rest -= i * step.drive;
      other += i * step.other;
    }
    if (inside && rest == 0)
      return other;
  }
  llvm_unreachable("the boxes of a map cover every element");
}

uint64_t ElementMap::apply(uint64_t from) const { return locate(byFrom, from); }

uint64_t ElementMap::applyInverse(uint64_t to) const {
  return locate(byTo, to);
}

/// How far the last element lies behind the first on the driving side, plus 1.
static uint64_t spanOf(ArrayRef<Step> loops) {
  uint64_t span = 1;
  for (const Step &step : loops)
    span += (step.extent - 1) * step.drive;
  return span;
}

/// Calls `visit(drive, other, loops)` for boxes that together are the part of
/// the nest whose driving side lies in [begin, end). These are few: each level
/// has at most one incomplete iteration at either end.
template <typename Visit>
static Error visitRange(uint64_t drive, uint64_t other, ArrayRef<Step> loops,
                        uint64_t begin, uint64_t end, Visit &visit) {
  uint64_t span = spanOf(loops);
  if (drive >= end || drive + span <= begin)
    return Error::success();
  if (drive >= begin && drive + span <= end)
    return visit(drive, other, loops);
  const Step step = loops.front();
  ArrayRef<Step> inner = loops.drop_front();
  uint64_t innerSpan = spanOf(inner);
  auto partial = [&](uint64_t i) {
    return visitRange(drive + i * step.drive, other + i * step.other, inner,
                      begin, end, visit);
  };
  // The iterations [first, last) lie inside as a whole.
  uint64_t first =
      begin > drive ? (begin - drive + step.drive - 1) / step.drive : 0;
  uint64_t last =
      end >= drive + innerSpan ? (end - drive - innerSpan) / step.drive + 1 : 0;
  last = std::min(last, step.extent);
  if (first >= last) {
    // None does; the range then meets two neighbours at most.
    uint64_t before = first ? first - 1 : 0;
    for (uint64_t i = before; i <= first && i < step.extent; ++i)
      if (Error error = partial(i))
        return error;
    return Error::success();
  }
  if (first != 0)
    if (Error error = partial(first - 1))
      return error;
  SmallVector<Step, 6> whole(loops.begin(), loops.end());
  whole.front().extent = last - first;
  if (Error error = visit(drive + first * step.drive,
                          other + first * step.other, ArrayRef<Step>(whole)))
    return error;
  return last != step.extent ? partial(last) : Error::success();
}

template <typename Visit>
static Error visitNests(ArrayRef<Nest> nests, uint64_t begin, uint64_t end,
                        Visit visit) {
  for (const Nest &nest : nests)
    if (Error error =
            visitRange(nest.drive, nest.other, nest.loops, begin, end, visit))
      return error;
  return Error::success();
}

void ElementMap::gather(uint64_t begin, uint64_t end, unsigned bytesPerElement,
                        const uint8_t *source, uint8_t *destination) const {
  cantFail(
      visitNests(byTo, begin, end,
                 [&](uint64_t drive, uint64_t other, ArrayRef<Step> loops) {
                   copyStrided(loops, bytesPerElement,
                               destination + (drive - begin) * bytesPerElement,
                               source + other * bytesPerElement);
                   return Error::success();
                 }));
}

void ElementMap::scatter(uint64_t begin, uint64_t end, unsigned bytesPerElement,
                         const uint8_t *source, uint8_t *destination) const {
  cantFail(
      visitNests(byFrom, begin, end,
                 [&](uint64_t drive, uint64_t other, ArrayRef<Step> loops) {
                   // What is written drives a copy.
                   SmallVector<Step, 6> swapped;
                   for (const Step &step : loops)
                     swapped.push_back({step.extent, step.other, step.drive});
                   copyStrided(swapped, bytesPerElement,
                               destination + other * bytesPerElement,
                               source + (drive - begin) * bytesPerElement);
                   return Error::success();
                 }));
}

/// Reads the elements of a box in the order in which they are stored, a run of
/// neighbours at a time. `loops` are sorted by `other`, descending, and densely
/// strided on the driving side.
static Error readRuns(ArrayRef<Step> loops, uint64_t other,
                      unsigned bytesPerElement, const ByteReader &source,
                      uint8_t *buffer) {
  uint64_t run = 1;
  while (!loops.empty() && loops.back().other == run) {
    run *= loops.back().extent;
    loops = loops.drop_back();
  }
  SmallVector<uint64_t, 6> index(loops.size(), 0);
  while (true) {
    if (Error error =
            source.read(other * bytesPerElement,
                        MutableArrayRef(buffer, run * bytesPerElement)))
      return error;
    buffer += run * bytesPerElement;
    size_t d = loops.size();
    while (d-- > 0) {
      other += loops[d].other;
      if (++index[d] != loops[d].extent)
        break;
      other -= loops[d].extent * loops[d].other;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return Error::success();
  }
}

Error ElementMap::gather(uint64_t begin, uint64_t end, unsigned bytesPerElement,
                         const ByteReader &source, uint8_t *destination) const {
  if (const uint8_t *memory = source.direct(0, count * bytesPerElement)) {
    gather(begin, end, bytesPerElement, memory, destination);
    return Error::success();
  }
  return visitNests(
      byTo, begin, end,
      [&](uint64_t drive, uint64_t other, ArrayRef<Step> loops) -> Error {
        uint8_t *to = destination + (drive - begin) * bytesPerElement;
        SmallVector<Step, 6> stored(loops.begin(), loops.end());
        llvm::sort(stored, [](const Step &lhs, const Step &rhs) {
          return lhs.other > rhs.other;
        });
        // The same box with its elements packed densely in that order.
        uint64_t elements = 1;
        bool oneRun = true, inOrder = true;
        SmallVector<Step, 6> dense;
        for (const Step &step : reverse(stored)) {
          oneRun &= step.other == elements;
          inOrder &= step.drive == elements;
          dense.push_back({step.extent, step.drive, elements});
          elements *= step.extent;
        }
        uint64_t bytes = elements * bytesPerElement;
        if (inOrder)
          return readRuns(stored, other, bytesPerElement, source, to);
        const uint8_t *from =
            oneRun ? source.direct(other * bytesPerElement, bytes) : nullptr;
        std::unique_ptr<uint8_t[]> buffer;
        if (!from) {
          buffer.reset(new uint8_t[bytes]);
          if (Error error = readRuns(stored, other, bytesPerElement, source,
                                     buffer.get()))
            return error;
          from = buffer.get();
        }
        copyStrided(dense, bytesPerElement, to, from);
        return Error::success();
      });
}

} // namespace netra
