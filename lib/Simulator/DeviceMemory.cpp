//===- DeviceMemory.cpp - Allocations of the device ----------------------===//
// SPDX-License-Identifier: MIT

#include "DeviceMemory.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace netra::sim {

static void *reserve(uint64_t bytes, int protection) {
  void *p = mmap(nullptr, bytes, protection,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

DeviceMemory::DeviceMemory() {
  // Address space is free as long as nobody touches it. A small ulimit makes
  // do with less.
  for (uint64_t bytes = uint64_t(1) << 40; bytes >= (uint64_t(1) << 28);
       bytes /= 2) {
    void *memory = reserve(bytes, PROT_NONE);
    void *shadowMemory =
        memory ? reserve(bytes, PROT_READ | PROT_WRITE) : nullptr;
    const uint64_t tableBytes =
        (bytes >> SlotShift) * sizeof(std::atomic<AllocationRecord *>);
    void *table =
        shadowMemory ? reserve(tableBytes, PROT_READ | PROT_WRITE) : nullptr;
    if (table) {
      base = reinterpret_cast<uint64_t>(memory);
      shadowBase = reinterpret_cast<uint64_t>(shadowMemory);
      size = bytes;
      slots = static_cast<std::atomic<AllocationRecord *> *>(table);
      slotTableBytes = tableBytes;
      break;
    }
    if (memory)
      munmap(memory, bytes);
    if (shadowMemory)
      munmap(shadowMemory, bytes);
  }
  if (size) {
    const uint64_t slot = uint64_t(1) << SlotShift;
    freeExtents[base + slot] = size - slot;
  }
  setLimit(0);
}

DeviceMemory::~DeviceMemory() {
  if (!size)
    return;
  munmap(reinterpret_cast<void *>(base), size);
  munmap(reinterpret_cast<void *>(shadowBase), size);
  munmap(static_cast<void *>(slots), slotTableBytes);
  if (touchedRead)
    munmap(touchedRead, size);
  if (touchedWritten)
    munmap(touchedWritten, size);
}

void DeviceMemory::setLimit(uint64_t bytes) {
  if (!bytes) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    bytes = pages > 0 && page > 0 ? uint64_t(pages) * uint64_t(page)
                                  : uint64_t(1) << 33;
  }
  limitBytes = bytes;
}

/// What an allocation takes of the region: whole slots, and one behind them
/// that stays free.
static uint64_t extentOf(uint64_t bytes) {
  const uint64_t slot = uint64_t(1) << DeviceMemory::SlotShift;
  return ((bytes + slot - 1) & ~(slot - 1)) + slot;
}

Expected<uint64_t> DeviceMemory::allocate(uint64_t bytes, StringRef label,
                                          bool track) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes == 0)
    return createStringError("cannot allocate 0 bytes of device memory");
  const uint64_t inUseNow = used.load() + claimed;
  if (bytes > limitBytes || inUseNow > limitBytes - bytes)
    return createStringError(
        formatv("device memory limit exceeded: {0} bytes asked for, {1} in "
                "use, limit {2}",
                bytes, inUseNow, limitBytes.load())
            .str());
  const uint64_t slot = uint64_t(1) << SlotShift;
  const uint64_t extent = extentOf(bytes);
  auto fitting = [&] {
    return std::find_if(freeExtents.begin(), freeExtents.end(),
                        [&](const auto &e) { return e.second >= extent; });
  };
  auto it = fitting();
  for (; it == freeExtents.end() && !putAside.empty(); it = fitting())
    reuseOldest();
  if (it == freeExtents.end())
    return createStringError(
        formatv("device address space exhausted: no room for {0} bytes", bytes)
            .str());
  const uint64_t address = it->first, length = it->second;
  const uint64_t pageBytes = uint64_t(sysconf(_SC_PAGESIZE));
  const uint64_t mapped = (bytes + pageBytes - 1) & ~(pageBytes - 1);
  if (mprotect(reinterpret_cast<void *>(address), mapped,
               PROT_READ | PROT_WRITE))
    return createStringError(
        formatv("the host has no memory for {0} bytes of device memory", bytes)
            .str());
  freeExtents.erase(it);
  if (length > extent)
    freeExtents[address + extent] = length - extent;

  AllocationRecord &record = records.emplace_back();
  record.begin = address;
  record.end = address + bytes;
  record.isTracked = track;
  record.id = nextId++;
  record.label = label.str();
  for (uint64_t s = address; s < address + extent - slot; s += slot)
    slots[(s - base) >> SlotShift].store(&record, std::memory_order_release);
  liveByAddress[address] = &record;
  used += bytes;
  return address;
}

bool DeviceMemory::claim(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  const uint64_t inUseNow = used.load() + claimed;
  if (bytes > limitBytes || inUseNow > limitBytes - bytes)
    return false;
  claimed += bytes;
  return true;
}

void DeviceMemory::release(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  claimed -= bytes;
}

Error DeviceMemory::free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = liveByAddress.find(address);
  if (it == liveByAddress.end())
    return createStringError(
        formatv("cannot free {0:x}: no live allocation starts there", address)
            .str());
  AllocationRecord &record = *it->second;
  const uint64_t bytes = record.end - record.begin;
  const uint64_t pageBytes = uint64_t(sysconf(_SC_PAGESIZE));
  const uint64_t mapped = (bytes + pageBytes - 1) & ~(pageBytes - 1);
  record.live.store(false);
  void *memory = reinterpret_cast<void *>(address);
  // The pages go back to the host but stay mapped: a launch on another thread
  // that still uses them must get wrong data or a finding, not kill the host.
  madvise(memory, mapped, MADV_DONTNEED);
  if (record.isTracked)
    madvise(shadow(address), mapped, MADV_DONTNEED);
  if (touchedRead) {
    madvise(touchedRead + (address - base), mapped, MADV_DONTNEED);
    madvise(touchedWritten + (address - base), mapped, MADV_DONTNEED);
  }
  used -= bytes;
  liveByAddress.erase(it);
  // Each may be a mapping of its own, of which the host has a limited number.
  constexpr size_t mostPutAside = 1024;
  putAside.emplace_back(address, extentOf(bytes));
  if (putAside.size() > mostPutAside)
    reuseOldest();
  return Error::success();
}

void DeviceMemory::reuseOldest() {
  auto [start, length] = putAside.front();
  putAside.pop_front();
  // Join with free neighbours.
  auto next = freeExtents.lower_bound(start);
  if (next != freeExtents.end() && next->first == start + length) {
    length += next->second;
    next = freeExtents.erase(next);
  }
  if (next != freeExtents.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == start) {
      previous->second += length;
      return;
    }
  }
  freeExtents[start] = length;
}

Error DeviceMemory::registerHost(uint64_t address, uint64_t bytes,
                                 StringRef label) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!address || !bytes || address + bytes < address)
    return createStringError("cannot register an empty range of host memory");
  if (address < base + size && address + bytes > base)
    return createStringError("cannot register device memory as host memory");
  auto next = hostByAddress.lower_bound(address);
  if ((next != hostByAddress.end() && next->first < address + bytes) ||
      (next != hostByAddress.begin() && std::prev(next)->second->end > address))
    return createStringError("the host range overlaps one already registered");
  AllocationRecord &record = records.emplace_back();
  record.begin = address;
  record.end = address + bytes;
  record.isHost = true;
  record.id = nextId++;
  record.label = label.str();
  hostByAddress[address] = &record;
  ++hostRecords;
  return Error::success();
}

Error DeviceMemory::unregisterHost(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = hostByAddress.find(address);
  if (it == hostByAddress.end())
    return createStringError(
        formatv("cannot unregister {0:x}: not registered", address).str());
  it->second->live.store(false);
  hostByAddress.erase(it);
  --hostRecords;
  return Error::success();
}

AllocationRecord *DeviceMemory::lookupHost(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = hostByAddress.upper_bound(address);
  if (it == hostByAddress.begin())
    return nullptr;
  AllocationRecord *record = std::prev(it)->second;
  return address < record->end ? record : nullptr;
}

void DeviceMemory::resetTouched() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!size)
    return;
  if (!touchedRead) {
    touchedRead = static_cast<uint8_t *>(reserve(size, PROT_READ | PROT_WRITE));
    touchedWritten =
        static_cast<uint8_t *>(reserve(size, PROT_READ | PROT_WRITE));
    if (!touchedWritten && touchedRead) {
      munmap(touchedRead, size);
      touchedRead = nullptr;
    }
    return;
  }
  for (const auto &[address, record] : liveByAddress) {
    madvise(touchedRead + (address - base), record->end - address,
            MADV_DONTNEED);
    madvise(touchedWritten + (address - base), record->end - address,
            MADV_DONTNEED);
  }
}

void DeviceMemory::countTouched(uint64_t &read, uint64_t &written) const {
  std::lock_guard<std::mutex> lock(mutex);
  read = written = 0;
  if (!touchedRead)
    return;
  for (const auto &[address, record] : liveByAddress) {
    const uint8_t *r = touchedRead + (address - base),
                  *w = touchedWritten + (address - base);
    for (uint64_t i = 0, n = record->end - address; i < n; ++i) {
      read += r[i];
      written += w[i];
    }
  }
}

void DeviceMemory::markWritten(uint64_t address, uint64_t bytes) {
  AllocationRecord *record = resolve(address, bytes);
  if (record && record->isTracked)
    std::memset(shadow(address), 0xff, bytes);
}

std::string AllocationRecord::describe() const {
  std::string text =
      label.empty()
          ? formatv(isHost ? "host range #{0}" : "allocation #{0}", id).str()
          : formatv(isHost ? "host range '{0}'" : "'{0}'", label).str();
  return formatv("{0} of {1} bytes at {2:x}{3}", text, end - begin, begin,
                 live.load() ? "" : ", freed")
      .str();
}

std::string DeviceMemory::describe(uint64_t address, uint64_t bytes) const {
  if (const AllocationRecord *record = lookup(address)) {
    if (address >= record->begin && address < record->end) {
      if (!record->live.load())
        return formatv("memory freed before: byte {0} of {1}",
                       address - record->begin, record->describe())
            .str();
      return formatv(bytes > record->end - address
                         ? "crosses the end of {0} at byte {1}"
                         : "in {0} at byte {1}",
                     record->describe(), address - record->begin)
          .str();
    }
    return formatv("{0} bytes after the end of {1}", address - record->end,
                   record->describe())
        .str();
  }
  // The nearest live allocation or range of the host's below and above.
  std::lock_guard<std::mutex> lock(mutex);
  const AllocationRecord *below = nullptr, *above = nullptr;
  for (const auto *byAddress : {&liveByAddress, &hostByAddress}) {
    auto next = byAddress->upper_bound(address);
    if (next != byAddress->begin() &&
        (!below || std::prev(next)->second->end > below->end))
      below = std::prev(next)->second;
    if (next != byAddress->end() &&
        (!above || next->second->begin < above->begin))
      above = next->second;
  }
  const uint64_t toBelow = below ? address - below->end : ~uint64_t(0);
  const uint64_t toAbove = above ? above->begin - address : ~uint64_t(0);
  if (toBelow > (uint64_t(1) << 32) && toAbove > (uint64_t(1) << 32))
    return "no allocation is near";
  if (toBelow <= toAbove)
    return formatv("{0} bytes after the end of {1}", toBelow, below->describe())
        .str();
  return formatv("{0} bytes before {1}", toAbove, above->describe()).str();
}

} // namespace netra::sim
