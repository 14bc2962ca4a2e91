//===- DeviceMemory.h - Allocations of the device ---------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Device addresses are host addresses inside one reserved region. The region is
// divided into slots; an allocation starts at a slot, and at least one unused
// slot lies between two allocations. A freed one is put aside until many others
// were freed after it, so that stale pointers are recognised for long. A table
// by slot finds the allocation of an address without locking. A shadow region
// of the same size holds a bit per bit of memory: whether it was ever written.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_DEVICEMEMORY_H
#define NETRA_LIB_SIMULATOR_DEVICEMEMORY_H

#include "Netra/Simulator/Simulator.h"
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

namespace netra::sim {

struct AllocationRecord {
  uint64_t begin = 0, end = 0;
  std::atomic<bool> live{true};
  bool isHost = false;    ///< registered host memory
  bool isTracked = false; ///< the shadow says which bits were written
  uint64_t id = 0;
  std::string label;

  std::string describe() const;
};

class DeviceMemory {
public:
  static constexpr unsigned SlotShift = 16;

  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;

  void setLimit(uint64_t bytes);
  uint64_t limit() const { return limitBytes; }
  /// Bytes of allocations.
  uint64_t inUse() const { return used.load(std::memory_order_relaxed); }

  llvm::Expected<uint64_t> allocate(uint64_t bytes, llvm::StringRef label,
                                    bool track);
  llvm::Error free(uint64_t address);
  /// Counts bytes that are no allocation towards the limit; false if it leaves
  /// no room for them.
  bool claim(uint64_t bytes);
  void release(uint64_t bytes);
  llvm::Error registerHost(uint64_t address, uint64_t bytes,
                           llvm::StringRef label);
  llvm::Error unregisterHost(uint64_t address);

  /// The allocation whose slots hold the address: live, or the last one that
  /// lived there. nullptr if there never was one.
  AllocationRecord *lookup(uint64_t address) const {
    const uint64_t offset = address - base;
    if (__builtin_expect(offset < size, 1))
      return slots[offset >> SlotShift].load(std::memory_order_acquire);
    return hostRecords.load(std::memory_order_acquire) ? lookupHost(address)
                                                       : nullptr;
  }
  /// The live allocation that contains the whole range, or nullptr.
  AllocationRecord *resolve(uint64_t address, uint64_t bytes) const {
    AllocationRecord *record = lookup(address);
    if (!record || !record->live.load(std::memory_order_relaxed) ||
        address < record->begin || address > record->end ||
        bytes > record->end - address)
      return nullptr;
    return record;
  }
  /// Shadow byte of an address inside a tracked allocation.
  uint8_t *shadow(uint64_t address) const {
    return reinterpret_cast<uint8_t *>(address - base + shadowBase);
  }
  void markWritten(uint64_t address, uint64_t bytes);

  // Counting of distinct bytes, one launch at a time. noteTouched may be called
  // from several threads.
  void resetTouched();
  void noteTouched(uint64_t address, uint64_t bytes, bool isRead,
                   bool isWritten) {
    const uint64_t offset = address - base;
    if (offset >= size || !touchedRead)
      return;
    if (isRead)
      __builtin_memset(touchedRead + offset, 1, bytes);
    if (isWritten)
      __builtin_memset(touchedWritten + offset, 1, bytes);
  }
  void countTouched(uint64_t &read, uint64_t &written) const;

  /// What lies at or near an address, for reports.
  std::string describe(uint64_t address, uint64_t bytes) const;

private:
  AllocationRecord *lookupHost(uint64_t address) const;
  /// The extent that was put aside first may be used again.
  void reuseOldest();

  uint64_t base = 0, size = 0, shadowBase = 0;
  std::atomic<AllocationRecord *> *slots = nullptr;
  uint64_t slotTableBytes = 0;
  uint8_t *touchedRead = nullptr, *touchedWritten = nullptr;
  std::atomic<uint64_t> used{0};
  uint64_t claimed = 0;
  std::atomic<uint64_t> limitBytes{0};
  std::atomic<unsigned> hostRecords{0};

  mutable std::mutex mutex;
  std::deque<AllocationRecord> records; ///< never shrinks: reports need them
  std::map<uint64_t, AllocationRecord *> liveByAddress;
  std::map<uint64_t, AllocationRecord *> hostByAddress;
  std::map<uint64_t, uint64_t> freeExtents; ///< start to length, in bytes
  /// Freed, in that order, and not yet to be used again: start and length.
  std::deque<std::pair<uint64_t, uint64_t>> putAside;
  uint64_t nextId = 1;
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_DEVICEMEMORY_H
