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

/// Runs of one lane each.
struct EachLane {
  uint8_t first[MaxLanes] = {}, one[MaxLanes] = {};
  constexpr EachLane() {
    for (unsigned l = 0; l < MaxLanes; ++l) {
      first[l] = uint8_t(l);
      one[l] = 1;
    }
  }
};
inline constexpr EachLane eachLane;

/// The runs of an access in the order of its lanes, found once for all
/// checkers. Where no lane is left out they refer to the addresses themselves.
template <typename Address> class AccessRuns {
public:
  AccessRuns(const Address *address, uint64_t mask, unsigned bytes);
  AccessRuns(const AccessRuns &) = delete;
  AccessRuns &operator=(const AccessRuns &) = delete;

  unsigned size() const { return count; }
  bool empty() const { return !count; }
  AccessRun operator[](unsigned i) const {
    return {starts[i], firstLane[i], lanes[i], width};
  }
  /// The first byte of a run.
  uint64_t start(unsigned i) const { return starts[i]; }
  /// Those of all runs; loops that store keep the place in a register.
  const Address *begins() const { return starts; }
  /// Several lanes, and each run is one of them.
  bool areApart() const { return isApart; }
  /// Such lanes begin at multiples of \p unit, a power of two.
  bool areAligned(unsigned unit) const {
    return isApart && !(lowBits & (unit - 1));
  }
  /// Of each lane.
  unsigned bytes() const { return width; }

private:
  void add(Address begin, unsigned lane, unsigned number) {
    ownStarts[count] = begin;
    ownFirst[count] = uint8_t(lane);
    ownLanes[count++] = uint8_t(number);
  }

  unsigned count = 0, width;
  bool isApart = false;
  unsigned lowBits = 0; ///< of lanes that lie apart: all that are set
  const Address *starts = ownStarts;
  const uint8_t *firstLane = ownFirst, *lanes = ownLanes;
  Address ownStarts[MaxLanes];
  uint8_t ownFirst[MaxLanes], ownLanes[MaxLanes];
};

using GlobalRuns = AccessRuns<uint64_t>;
using LdsRuns = AccessRuns<uint32_t>;

template <typename Address>
AccessRuns<Address>::AccessRuns(const Address *address, uint64_t mask,
                                unsigned bytes)
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
    count = MaxLanes;
    starts = address;
    firstLane = eachLane.first;
    lanes = eachLane.one;
    mask = 0;
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
  if (!isApart)
    return;
  Address low = 0;
  for (unsigned i = 0; i < count; ++i)
    low |= starts[i];
  lowBits = unsigned(low);
}

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_ACCESSRUNS_H
