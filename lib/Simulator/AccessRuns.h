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

/// Calls function(run) for the lanes of \p mask in their order. Consecutive
/// lanes whose dwords follow each other are one run; what is smaller than a
/// dword or crosses one is a run per lane.
template <typename Address, typename Function>
NETRA_SIM_INLINE void forEachRun(const Address *address, uint64_t mask,
                                 unsigned bytes, Function &&function) {
  if (mask == ~uint64_t(0) && bytes % 4 == 0 && address[0] % 4 == 0) {
    Address gaps = 0;
    for (unsigned l = 1; l < MaxLanes; ++l)
      gaps |= Address(address[l] - address[l - 1]) ^ Address(bytes);
    if (!gaps) {
      function(AccessRun{address[0], 0, MaxLanes, bytes});
      return;
    }
  }
  while (mask) {
    const unsigned first = unsigned(__builtin_ctzll(mask));
    mask &= mask - 1;
    unsigned next = first + 1;
    if (bytes % 4 == 0 && address[first] % 4 == 0)
      for (; mask && unsigned(__builtin_ctzll(mask)) == next &&
             Address(address[next] - address[next - 1]) == bytes;
           ++next)
        mask &= mask - 1;
    function(AccessRun{address[first], first, next - first, bytes});
  }
}

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_ACCESSRUNS_H
