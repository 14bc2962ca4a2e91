//===- AccessRuns.h - A wave's access as runs of bytes ----------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Most accesses of a wave touch consecutive bytes, lane after lane. Checkers
// look at such a run at once instead of at each lane.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_ACCESSRUNS_H
#define NETRA_LIB_SIMULATOR_ACCESSRUNS_H

#include "Wave.h"
#include <algorithm>

namespace netra::sim {

/// Bytes that consecutive lanes access, each `bytes` of them.
struct AccessRun {
  uint64_t begin = 0;
  unsigned lane = 0, lanes = 0, bytes = 0;

  uint64_t end() const { return begin + length(); }
  unsigned length() const { return lanes * bytes; }
  /// The first lane that accesses the 4 bytes at 4 * word.
  unsigned laneOf(uint64_t word) const {
    return lane + unsigned(std::max(word * 4, begin) - begin) / bytes;
  }
};

/// The runs of an access in the order of its lanes, found once for all
/// checkers.
class AccessRuns {
public:
  template <typename Address>
  AccessRuns(const Address *address, uint64_t mask, unsigned bytes);

  unsigned size() const { return count; }
  bool empty() const { return !count; }
  AccessRun operator[](unsigned i) const {
    return {starts[i], firstLane[i], lanes[i], width};
  }
  /// The first byte of a run.
  uint64_t start(unsigned i) const { return starts[i]; }
  /// Several lanes, and each run is one of them.
  bool areApart() const { return isApart; }
  /// Of each lane.
  unsigned bytes() const { return width; }

private:
  void add(uint64_t begin, unsigned lane, unsigned number) {
    starts[count] = begin;
    firstLane[count] = uint8_t(lane);
    lanes[count++] = uint8_t(number);
  }

  unsigned count = 0, width;
  bool isApart = false;
  uint64_t starts[MaxLanes];
  uint8_t firstLane[MaxLanes], lanes[MaxLanes];
};

template <typename Address>
AccessRuns::AccessRuns(const Address *address, uint64_t mask, unsigned bytes)
    : width(bytes) {
  if (!mask)
    return;
  auto follows = [&](unsigned next, unsigned lane) {
    return Address(address[next] - address[lane]) == bytes;
  };
  const bool isFull = mask == ~uint64_t(0);
  if (isFull && follows(1, 0)) {
    Address gaps = 0;
    for (unsigned l = 1; l < MaxLanes; ++l)
      gaps |= Address(address[l] - address[l - 1]) ^ Address(bytes);
    if (!gaps) {
      add(address[0], 0, MaxLanes);
      return;
    }
  }
  // Where the first two lanes lie apart the others do, too, nearly always.
  const uint64_t others = mask & (mask - 1);
  isApart = others && !follows(unsigned(__builtin_ctzll(others)),
                               unsigned(__builtin_ctzll(mask)));
  if (isApart && isFull) {
    for (unsigned l = 0; l < MaxLanes; ++l) {
      starts[l] = address[l];
      firstLane[l] = uint8_t(l);
      lanes[l] = 1;
    }
    count = MaxLanes;
    return;
  }
  while (mask) {
    const unsigned first = unsigned(__builtin_ctzll(mask));
    mask &= mask - 1;
    unsigned next = first + 1;
    for (; !isApart && mask && unsigned(__builtin_ctzll(mask)) == next &&
           follows(next, next - 1);
         ++next)
      mask &= mask - 1;
    add(address[first], first, next - first);
  }
}

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_ACCESSRUNS_H
