//===- CounterCollector.cpp - Counting what a launch does ----------------===//
// SPDX-License-Identifier: MIT

#include "CounterCollector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;

namespace netra::sim {

static constexpr unsigned NumClasses = unsigned(InstructionClass::NumClasses);
static constexpr const char *classNames[NumClasses] = {
    "salu", "valu", "transcendental", "mfma", "scalar_memory", "vector_memory",
    "flat", "lds",  "branch",         "other"};

CounterCollector::CounterCollector(Monitor &monitor) : monitor(monitor) {
  local.byMnemonic.resize(monitor.state().program->mnemonics.size());
  local.byClass.resize(NumClasses);
  local.total.minFirstWaitBytes = ~uint64_t(0);
}

CounterCollector::~CounterCollector() {
  CounterStore &store = *monitor.state().counters;
  std::lock_guard<std::mutex> lock(store.mutex);
  Counters &to = store.total;
  const Counters &from = local.total;
  if (store.byMnemonic.empty()) {
    store.byMnemonic.resize(local.byMnemonic.size());
    store.byClass.resize(NumClasses);
    to.minFirstWaitBytes = ~uint64_t(0);
  }
  for (size_t i = 0; i < local.byMnemonic.size(); ++i)
    store.byMnemonic[i] += local.byMnemonic[i];
  for (size_t i = 0; i < NumClasses; ++i)
    store.byClass[i] += local.byClass[i];
  to.waves += from.waves;
  to.workgroups += from.workgroups;
  to.globalLoadBytes += from.globalLoadBytes;
  to.globalStoreBytes += from.globalStoreBytes;
  to.segments64 += from.segments64;
  to.segments128 += from.segments128;
  to.ldsAccesses += from.ldsAccesses;
  to.ldsConflictCycles += from.ldsConflictCycles;
  to.barriers += from.barriers;
  to.branches += from.branches;
  to.divergentBranches += from.divergentBranches;
  to.maxBytesInFlight = std::max(to.maxBytesInFlight, from.maxBytesInFlight);
  to.minFirstWaitBytes = std::min(to.minFirstWaitBytes, from.minFirstWaitBytes);
  to.maxFirstWaitBytes = std::max(to.maxFirstWaitBytes, from.maxFirstWaitBytes);
  to.maxRoundTrips = std::max(to.maxRoundTrips, from.maxRoundTrips);
  store.sumBytesInFlight += local.sumBytesInFlight;
  store.sumFirstWait += local.sumFirstWait;
  store.wavesThatWait += local.wavesThatWait;
  store.sumRoundTrips += local.sumRoundTrips;
}

void CounterCollector::startGroup() {
  waves.assign(monitor.workgroup().waves.size(), WaveState());
  ++local.total.workgroups;
  local.total.waves += waves.size();
}

void CounterCollector::endGroup() {
  Counters &c = local.total;
  for (const WaveState &state : waves) {
    c.maxBytesInFlight = std::max(c.maxBytesInFlight, state.maxBytesInFlight);
    local.sumBytesInFlight += state.maxBytesInFlight;
    if (state.hasWaited) {
      c.minFirstWaitBytes = std::min(c.minFirstWaitBytes, state.firstWait);
      c.maxFirstWaitBytes = std::max(c.maxFirstWaitBytes, state.firstWait);
      local.sumFirstWait += state.firstWait;
      ++local.wavesThatWait;
    }
    c.maxRoundTrips = std::max<uint64_t>(c.maxRoundTrips, state.depth);
    local.sumRoundTrips += state.depth;
  }
}

void CounterCollector::before(const Instruction &inst,
                              const InstructionInfo &info, Wave &w) {
  WaveState &state = waves[w.context->index];
  ++local.byMnemonic[info.mnemonicId];
  ++local.byClass[unsigned(info.cls)];
  state.loadedNow = 0;
  if (info.cls == InstructionClass::Branch) {
    ++local.total.branches;
    const uint64_t exec = w.activeMask();
    if (StringRef(info.text).starts_with("s_cbranch") && exec &&
        exec != w.allLanes())
      ++local.total.divergentBranches;
  } else if (info.cls == InstructionClass::Message) {
    StringRef text = info.text;
    if (text.starts_with("s_barrier"))
      ++local.total.barriers;
    if (!text.starts_with("s_waitcnt"))
      return;
    const unsigned raw = unsigned(inst.imm) & 0xffff;
    const unsigned vm = (raw & 0xf) | (raw >> 14 & 3) << 4,
                   lgkm = raw >> 8 & 0xf;
    if (vm < state.vector.size()) {
      // This wait has something to wait for.
      uint64_t inFlight = state.bytesInFlight;
      state.maxBytesInFlight = std::max(state.maxBytesInFlight, inFlight);
      const size_t over = state.vector.size() - vm;
      bool waitsForLoad = false;
      for (size_t i = 0; i < over; ++i) {
        waitsForLoad |= state.vector[i].bytes != 0;
        state.depth = std::max(state.depth, state.vector[i].depth);
        state.bytesInFlight -= state.vector[i].bytes;
      }
      if (waitsForLoad && !state.hasWaited) {
        state.hasWaited = true;
        state.firstWait = inFlight;
      }
      state.vector.erase(state.vector.begin(),
                         state.vector.begin() + long(over));
    }
    if (lgkm == 0 && state.scalarDepth) {
      state.depth = std::max(state.depth, state.scalarDepth);
      state.scalarDepth = 0;
    }
  }
}

void CounterCollector::after(const Instruction &inst,
                             const InstructionInfo &info, Wave &w) {
  WaveState &state = waves[w.context->index];
  if (info.cls == InstructionClass::ScalarMemory) {
    if (info.isLoad)
      state.scalarDepth = std::max(state.scalarDepth, state.depth + 1);
    return;
  }
  if ((info.cls != InstructionClass::VectorMemory &&
       info.cls != InstructionClass::Flat) ||
      (!info.isLoad && !info.isStore))
    return;
  Event event;
  event.bytes = uint32_t(state.loadedNow);
  // Stores are no round trip, and neither are accesses no lane takes part in.
  event.depth = event.bytes ? state.depth + 1 : 0;
  state.vector.push_back(event);
  state.bytesInFlight += event.bytes;
}

void CounterCollector::globalAccess(const uint64_t *address, Wave &w,
                                    uint64_t mask, unsigned bytes,
                                    AccessKind kind) {
  if (!mask)
    return;
  Counters &c = local.total;
  const uint64_t total = uint64_t(__builtin_popcountll(mask)) * bytes;
  if (kind != AccessKind::Store) {
    c.globalLoadBytes += total;
    waves[w.context->index].loadedNow += total;
  }
  if (kind != AccessKind::Load)
    c.globalStoreBytes += total;
  DeviceMemory &memory = *monitor.state().memory;
  uint64_t segments[2 * MaxLanes];
  unsigned count = 0;
  for (; mask; mask &= mask - 1) {
    const unsigned l = unsigned(__builtin_ctzll(mask));
    const uint64_t first = address[l] >> 6,
                   last = (address[l] + bytes - 1) >> 6;
    if (!count || segments[count - 1] != first)
      segments[count++] = first;
    if (last != first)
      segments[count++] = last;
    memory.noteTouched(address[l], bytes, kind != AccessKind::Store,
                       kind != AccessKind::Load);
  }
  std::sort(segments, segments + count);
  count = unsigned(std::unique(segments, segments + count) - segments);
  c.segments64 += count;
  for (unsigned i = 0; i < count; ++i)
    if (i == 0 || segments[i] >> 1 != segments[i - 1] >> 1)
      ++c.segments128;
}

void CounterCollector::scalarAccess(uint64_t address, unsigned bytes,
                                    AccessKind kind) {
  Counters &c = local.total;
  if (kind != AccessKind::Store)
    c.globalLoadBytes += bytes;
  if (kind != AccessKind::Load)
    c.globalStoreBytes += bytes;
  const uint64_t first = address >> 6, last = (address + bytes - 1) >> 6;
  c.segments64 += last - first + 1;
  c.segments128 += (last >> 1) - (first >> 1) + 1;
  monitor.state().memory->noteTouched(address, bytes, kind != AccessKind::Store,
                                      kind != AccessKind::Load);
}

void CounterCollector::ldsAccess(const uint32_t *address, uint64_t mask,
                                 unsigned bytes, unsigned lanes) {
  if (!mask)
    return;
  Counters &c = local.total;
  ++c.ldsAccesses;
  // 64 banks of 4 bytes. As many lanes go at once as fill the banks: 64, 32 or
  // 16 for up to 4, 8 and 16 bytes.
  const unsigned words = std::max(1u, (bytes + 3) / 4);
  const unsigned together = words <= 1 ? 64 : words <= 2 ? 32 : 16;
  for (unsigned start = 0; start < lanes; start += together) {
    const uint64_t part =
        mask >> start &
        (together == 64 ? ~uint64_t(0) : (uint64_t(1) << together) - 1);
    if (!part)
      continue;
    // Distinct words in each bank: lanes that read the same word share it.
    uint32_t seen[64][8];
    uint8_t count[64] = {};
    unsigned worst = 1;
    for (uint64_t left = part; left; left &= left - 1) {
      const unsigned l = start + unsigned(__builtin_ctzll(left));
      for (unsigned k = 0; k < words; ++k) {
        const uint32_t word = address[l] / 4 + k;
        const unsigned bank = word % 64;
        bool known = false;
        const unsigned stored = std::min<unsigned>(count[bank], 8);
        for (unsigned i = 0; i < stored && !known; ++i)
          known = seen[bank][i] == word;
        if (known)
          continue;
        if (count[bank] < 8)
          seen[bank][count[bank]] = word;
        ++count[bank];
        worst = std::max<unsigned>(worst, count[bank]);
      }
    }
    c.ldsConflictCycles += worst - 1;
  }
}

//===----------------------------------------------------------------------===//
// Totals
//===----------------------------------------------------------------------===//

void finishCounters(CounterStore &store, const LaunchState &launch) {
  Counters &c = store.total;
  const Program &program = *launch.program;
  for (size_t i = 0; i < store.byMnemonic.size(); ++i)
    if (store.byMnemonic[i]) {
      c.byMnemonic[program.mnemonics[i]] = store.byMnemonic[i];
      c.instructions += store.byMnemonic[i];
    }
  for (size_t i = 0; i < store.byClass.size(); ++i)
    if (store.byClass[i])
      c.byClass[classNames[i]] = store.byClass[i];
  if (c.instructions)
    c.mfmaShare = double(store.byClass[unsigned(InstructionClass::Mfma)]) /
                  double(c.instructions);
  launch.memory->countTouched(c.globalDistinctReadBytes,
                              c.globalDistinctWrittenBytes);
  if (c.segments64)
    c.coalescing = double(c.globalLoadBytes + c.globalStoreBytes) /
                   (64.0 * double(c.segments64));
  if (store.wavesThatWait)
    c.meanFirstWaitBytes =
        double(store.sumFirstWait) / double(store.wavesThatWait);
  else
    c.minFirstWaitBytes = 0;
  if (c.waves)
    c.meanRoundTrips = double(store.sumRoundTrips) / double(c.waves);
  const Kernel &kernel = *launch.kernel;
  c.vgprs = kernel.vgprs;
  c.agprs = kernel.agprs;
  c.sgprs = kernel.sgprs;
  c.ldsBytes = launch.ldsBytes;
  c.wavesPerWorkgroup = launch.wavesPerWorkgroup;
  const auto &block = launch.params.block;
  c.workgroupsPerCu = workgroupsPerComputeUnit(
      kernel, block[0] * block[1] * block[2], launch.params.dynamicLds);
  const double resident =
      double(c.workgroupsPerCu) * double(c.wavesPerWorkgroup);
  if (c.waves)
    c.bytesInFlightPerCu =
        uint64_t(double(store.sumBytesInFlight) / double(c.waves) * resident);
  c.firstWaitBytesPerCu = uint64_t(c.meanFirstWaitBytes * resident);
}

std::string Counters::text() const {
  std::string result;
  raw_string_ostream os(result);
  os << formatv("work-groups {0}, waves {1}, wave instructions {2}\n",
                workgroups, waves, instructions);
  os << "instructions by class:";
  for (auto &[name, count] : byClass)
    os << " " << name << " " << count;
  os << formatv("\nmfma share of issue slots {0:P1}\n", mfmaShare);
  os << formatv("global memory: requested {0} B loaded, {1} B stored; distinct "
                "{2} B read, {3} B written\n",
                globalLoadBytes, globalStoreBytes, globalDistinctReadBytes,
                globalDistinctWrittenBytes);
  os << formatv("segments touched: {0} of 64 B, {1} of 128 B; coalescing "
                "{2:P1}\n",
                segments64, segments128, coalescing);
  os << formatv("bytes in flight per wave: at most {0}; at the first wait "
                "{1} to {2}, mean {3:F0}\n",
                maxBytesInFlight, minFirstWaitBytes, maxFirstWaitBytes,
                meanFirstWaitBytes);
  os << formatv("serial memory round trips per wave: at most {0}, mean "
                "{1:F1}\n",
                maxRoundTrips, meanRoundTrips);
  os << formatv("LDS: {0} accesses, {1} conflict cycles\n", ldsAccesses,
                ldsConflictCycles);
  os << formatv("barriers {0}, branches {1}, of them divergent {2}\n", barriers,
                branches, divergentBranches);
  os << formatv("registers: {0} VGPRs, {1} AGPRs, {2} SGPRs; LDS {3} B; {4} "
                "waves per work-group, {5} work-groups per CU\n",
                vgprs, agprs, sgprs, ldsBytes, wavesPerWorkgroup,
                workgroupsPerCu);
  os << formatv("bytes in flight per CU: {0}; at the first wait {1}\n",
                bytesInFlightPerCu, firstWaitBytesPerCu);
  os << "instructions by mnemonic:\n";
  std::vector<std::pair<uint64_t, std::string>> sorted;
  for (auto &[name, count] : byMnemonic)
    sorted.emplace_back(count, name);
  std::sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (auto &[count, name] : sorted)
    os << formatv("  {0,12} {1}\n", count, name);
  return result;
}

std::string Counters::json() const {
  json::Object classes, mnemonics;
  for (auto &[name, count] : byClass)
    classes[name] = count;
  for (auto &[name, count] : byMnemonic)
    mnemonics[name] = count;
  json::Object object{
      {"waves", waves},
      {"workgroups", workgroups},
      {"instructions", instructions},
      {"by_class", std::move(classes)},
      {"by_mnemonic", std::move(mnemonics)},
      {"mfma_share", mfmaShare},
      {"global_load_bytes", globalLoadBytes},
      {"global_store_bytes", globalStoreBytes},
      {"global_distinct_read_bytes", globalDistinctReadBytes},
      {"global_distinct_written_bytes", globalDistinctWrittenBytes},
      {"segments_64", segments64},
      {"segments_128", segments128},
      {"coalescing", coalescing},
      {"lds_accesses", ldsAccesses},
      {"lds_conflict_cycles", ldsConflictCycles},
      {"barriers", barriers},
      {"branches", branches},
      {"divergent_branches", divergentBranches},
      {"max_bytes_in_flight", maxBytesInFlight},
      {"min_first_wait_bytes", minFirstWaitBytes},
      {"max_first_wait_bytes", maxFirstWaitBytes},
      {"mean_first_wait_bytes", meanFirstWaitBytes},
      {"max_round_trips", maxRoundTrips},
      {"mean_round_trips", meanRoundTrips},
      {"vgprs", vgprs},
      {"agprs", agprs},
      {"sgprs", sgprs},
      {"lds_bytes", ldsBytes},
      {"waves_per_workgroup", wavesPerWorkgroup},
      {"workgroups_per_cu", workgroupsPerCu},
      {"bytes_in_flight_per_cu", bytesInFlightPerCu},
      {"first_wait_bytes_per_cu", firstWaitBytesPerCu}};
  std::string result;
  raw_string_ostream os(result);
  os << formatv("{0:2}", json::Value(std::move(object))) << "\n";
  return result;
}

} // namespace netra::sim
