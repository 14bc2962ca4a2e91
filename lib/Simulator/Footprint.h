//===- Footprint.h - Registers of an instruction, for checkers --*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Checkers look at every instruction, and nearly always find that nothing can
// be wrong. What they need for that is found once per instruction and fits into
// a cache line; the ranges of InstructionInfo are for what is left.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_FOOTPRINT_H
#define NETRA_LIB_SIMULATOR_FOOTPRINT_H

#include "Instruction.h"

namespace netra::sim {

struct alignas(64) Footprint {
  static constexpr unsigned MaxReads = 8, MaxWrites = 4;
  uint64_t scalarReads[2] = {}, scalarWrites[2] = {}; ///< a bit each
  uint16_t reads[MaxReads] = {};                      ///< rows
  uint16_t writes[MaxWrites] = {};
  uint8_t numReads = 0, numWrites = 0;
  bool isKnown : 1 = false;
  bool isIdle : 1 = false; ///< touches neither registers nor memory
  bool isWide : 1 = false; ///< has more rows than fit
  bool readsScc : 1 = false, writesScc : 1 = false;
  bool readsAllLanes : 1 = false;
  /// What inactive or unread lanes of its rows keep is part of the result.
  bool keepsLanes : 1 = false;
  bool isAlu : 1 = false; ///< neither accesses memory nor waits
  bool isFlat : 1 = false;
  bool isWait : 1 = false; ///< s_waitcnt
  /// Loads, stores and atomic operations of memory other than LDS.
  bool isVectorAccess : 1 = false, isScalarAccess : 1 = false;
  bool writesMemory : 1 = false; ///< such an access
  /// It may order what work-groups do: an atomic operation, an access that
  /// bypasses caches, or the invalidation of one.
  bool isSync : 1 = false;
  bool isCounted : 1 = false; ///< in a counter that s_waitcnt looks at
  InstructionClass cls = InstructionClass::Message;

  Footprint() = default;
  Footprint(const Instruction &inst, const InstructionInfo &info);
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_FOOTPRINT_H
