//===- Device.cpp - Memory operations and launches -----------------------===//
// SPDX-License-Identifier: MIT

#include "CounterCollector.h"
#include "DeviceMemory.h"
#include "Execution.h"
#include "Monitor.h"
#include "RaceChecker.h"
#include "Runner.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

using namespace llvm;

namespace netra::sim {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

char UnsupportedError::ID = 0;
char FaultError::ID = 0;
void UnsupportedError::log(raw_ostream &os) const { os << message; }
std::error_code UnsupportedError::convertToErrorCode() const {
  return std::make_error_code(std::errc::not_supported);
}
void FaultError::log(raw_ostream &os) const { os << message; }
std::error_code FaultError::convertToErrorCode() const {
  return std::make_error_code(std::errc::bad_address);
}

std::string Finding::str() const {
  std::string text;
  raw_string_ostream os(text);
  os << checkName(check) << ": " << message << "\n"
     << formatv("  in {0} at {1:x}{2}: {3}\n", kernel, pc,
                int64_t(pcOffset) < 0 ? std::string()
                                      : formatv(" (+{0:x})", pcOffset).str(),
                instruction);
  if (!source.empty())
    os << "  from " << source << "\n";
  os << formatv("  by work-group ({0}, {1}, {2}), wave {3}", workgroupId[0],
                workgroupId[1], workgroupId[2], wave);
  if (lane >= 0)
    os << ", lane " << lane;
  if (count > 1)
    os << formatv("; {0} times in all", count);
  os << "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

struct Device::Impl {
  mutable std::mutex mutex; ///< options and images
  std::mutex counting;      ///< held by a launch that counts
  DeviceOptions options;
  DeviceMemory memory;
  std::atomic<uint64_t> dispatchId{0};

  struct Image {
    std::shared_ptr<CodeObject> object;
    uint64_t address = 0, bias = 0;
  };
  std::map<const CodeObject *, Image> images;

  bool tracks() const {
    std::lock_guard<std::mutex> lock(mutex);
    return options.checks & CheckInit;
  }
  Expected<LaunchResult> launch(Device &device,
                                const std::shared_ptr<CodeObject> &object,
                                const Kernel &kernel,
                                const LaunchParams &params);
  Error prepare(LaunchState &state, std::vector<uint64_t> &temporaries);
  Error fillKernarg(LaunchState &state);
};

Device::Device(DeviceOptions options) : state(std::make_unique<Impl>()) {
  setOptions(options);
}
Device::~Device() = default;

const DeviceOptions &Device::options() const { return state->options; }

void Device::setOptions(const DeviceOptions &options) {
  std::lock_guard<std::mutex> lock(state->mutex);
  state->options = options;
  state->memory.setLimit(options.memoryLimit);
}

Expected<uint64_t> Device::allocate(uint64_t bytes, StringRef label) {
  return state->memory.allocate(bytes, label, state->tracks());
}

Error Device::free(uint64_t address) { return state->memory.free(address); }

Error Device::registerHost(void *pointer, uint64_t bytes, StringRef label) {
  return state->memory.registerHost(reinterpret_cast<uint64_t>(pointer), bytes,
                                    label);
}

Error Device::unregisterHost(void *pointer) {
  return state->memory.unregisterHost(reinterpret_cast<uint64_t>(pointer));
}

bool Device::contains(uint64_t address, uint64_t bytes) const {
  return state->memory.resolve(address, bytes) != nullptr;
}

std::optional<Allocation> Device::find(uint64_t address) const {
  const AllocationRecord *record = state->memory.resolve(address, 0);
  if (!record || address >= record->end)
    return std::nullopt;
  return Allocation{record->begin, record->end - record->begin, record->label};
}

void *Device::hostPointer(uint64_t address, uint64_t bytes) const {
  return contains(address, bytes) ? reinterpret_cast<void *>(address) : nullptr;
}

void Device::markInitialized(uint64_t address, uint64_t bytes) {
  state->memory.markWritten(address, bytes);
}

static Error outside(const char *what, uint64_t address, uint64_t bytes,
                     const DeviceMemory &memory) {
  return createStringError(
      formatv("{0}: [{1:x}, +{2}) is not inside one live allocation: {3}", what,
              address, bytes, memory.describe(address, bytes))
          .str());
}

Error Device::copyIn(uint64_t address, const void *from, uint64_t bytes) {
  if (!bytes)
    return Error::success();
  if (!contains(address, bytes))
    return outside("copy to the device", address, bytes, state->memory);
  std::memcpy(reinterpret_cast<void *>(address), from, bytes);
  state->memory.markWritten(address, bytes);
  return Error::success();
}

Error Device::copyOut(void *to, uint64_t address, uint64_t bytes) const {
  if (!bytes)
    return Error::success();
  if (!contains(address, bytes))
    return outside("copy from the device", address, bytes, state->memory);
  std::memcpy(to, reinterpret_cast<const void *>(address), bytes);
  return Error::success();
}

Error Device::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (!bytes)
    return Error::success();
  const AllocationRecord *source = state->memory.resolve(from, bytes),
                         *target = state->memory.resolve(to, bytes);
  if (!source)
    return outside("copy on the device (source)", from, bytes, state->memory);
  if (!target)
    return outside("copy on the device (target)", to, bytes, state->memory);
  std::memmove(reinterpret_cast<void *>(to),
               reinterpret_cast<const void *>(from), bytes);
  if (target->isTracked) {
    if (source->isTracked)
      std::memmove(state->memory.shadow(to), state->memory.shadow(from), bytes);
    else
      state->memory.markWritten(to, bytes);
  }
  return Error::success();
}

Error Device::fill(uint64_t address, uint8_t value, uint64_t bytes) {
  if (!bytes)
    return Error::success();
  if (!contains(address, bytes))
    return outside("fill", address, bytes, state->memory);
  std::memset(reinterpret_cast<void *>(address), value, bytes);
  state->memory.markWritten(address, bytes);
  return Error::success();
}

uint64_t Device::bytesInUse() const { return state->memory.inUse(); }
uint64_t Device::memoryLimit() const { return state->memory.limit(); }

Expected<uint64_t> Device::loadData(const std::shared_ptr<CodeObject> &object) {
  Impl &impl = *state;
  std::lock_guard<std::mutex> lock(impl.mutex);
  auto it = impl.images.find(object.get());
  if (it != impl.images.end())
    return it->second.bias;
  const CodeObject::Impl &code = object->impl();
  const uint64_t begin = code.imageBegin & ~uint64_t(0xffff);
  auto address =
      impl.memory.allocate(code.imageEnd - begin, "image of " + code.name,
                           impl.options.checks & CheckInit);
  if (!address)
    return address.takeError();
  const uint64_t bias = *address - begin;
  for (const auto &segment : code.segments) {
    std::memcpy(reinterpret_cast<void *>(segment.address + bias),
                segment.contents.data(), segment.contents.size());
    impl.memory.markWritten(segment.address + bias, segment.memorySize);
  }
  for (const auto &r : code.relocations) {
    const uint64_t place = r.address + bias;
    const uint64_t target = r.symbolValue + uint64_t(r.addend) + bias;
    // Numbers of the AMDGPU ELF relocations.
    constexpr unsigned Abs32Lo = 1, Abs32Hi = 2, Abs64 = 3, Abs32 = 6,
                       Relative64 = 13;
    uint64_t value = target;
    unsigned bytes = 8;
    switch (r.type) {
    case Abs64:
    case Relative64:
      break;
    case Abs32Lo:
    case Abs32:
      bytes = 4;
      break;
    case Abs32Hi:
      bytes = 4;
      value = target >> 32;
      break;
    default:
      bytes = 0;
    }
    const uint64_t offset = place - *address,
                   imageBytes = code.imageEnd - begin;
    if (!bytes || offset > imageBytes || imageBytes - offset < bytes) {
      cantFail(impl.memory.free(*address));
      return createStringError(
          formatv("{0}: relocation of type {1} at {2:x} cannot be applied",
                  code.name, r.type, r.address)
              .str());
    }
    std::memcpy(reinterpret_cast<void *>(place), &value, bytes);
  }
  impl.images[object.get()] = {object, *address, bias};
  return bias;
}

void Device::unloadData(const CodeObject &object) {
  Impl &impl = *state;
  std::shared_ptr<CodeObject> keep; // released outside the lock
  std::lock_guard<std::mutex> lock(impl.mutex);
  auto it = impl.images.find(&object);
  if (it == impl.images.end())
    return;
  keep = it->second.object;
  consumeError(impl.memory.free(it->second.address));
  impl.images.erase(it);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

/// Writes a little-endian value of `size` bytes at an offset, as far as it
/// fits.
static void put(std::vector<uint8_t> &bytes, uint64_t offset, uint64_t size,
                uint64_t value) {
  for (uint64_t i = 0; i < size && offset + i < bytes.size(); ++i)
    bytes[offset + i] = i < 8 ? uint8_t(value >> (8 * i)) : 0;
}

Error Device::Impl::fillKernarg(LaunchState &state) {
  const Kernel &kernel = *state.kernel;
  const LaunchParams &params = state.params;
  const uint64_t size =
      std::max<uint64_t>({kernel.kernargSize, params.kernarg.size(), 1});
  std::vector<uint8_t> bytes(size);
  std::copy(params.kernarg.begin(), params.kernarg.end(), bytes.begin());
  for (const KernelArgument &a : kernel.arguments) {
    if (!a.isHidden())
      continue;
    uint64_t value = 0;
    StringRef kind = a.kind;
    unsigned d = 0;
    auto isOfDimension = [&](StringRef what) {
      StringRef rest = kind;
      if (!rest.consume_front(what) || rest.size() != 1 || rest[0] < 'x' ||
          rest[0] > 'z')
        return false;
      d = unsigned(rest[0] - 'x');
      return true;
    };
    if (isOfDimension("hidden_block_count_"))
      value = state.items[d] / params.block[d];
    else if (isOfDimension("hidden_group_size_"))
      value = params.block[d];
    else if (isOfDimension("hidden_remainder_"))
      value = state.items[d] % params.block[d];
    else if (kind == "hidden_grid_dims")
      value = state.items[2] > 1 ? 3 : state.items[1] > 1 ? 2 : 1;
    else if (kind == "hidden_private_base")
      value = PrivateApertureHigh;
    else if (kind == "hidden_shared_base")
      value = SharedApertureHigh;
    else if (kind == "hidden_queue_ptr")
      value = state.queueAddress;
    else if (kind == "hidden_dynamic_lds_size")
      value = params.dynamicLds;
    // Global offsets, printf, hostcall, heap, queues: absent, hence zero.
    put(bytes, a.offset, a.size, value);
  }
  std::memcpy(reinterpret_cast<void *>(state.kernargAddress), bytes.data(),
              size);
  memory.markWritten(state.kernargAddress, size);
  return Error::success();
}

Error Device::Impl::prepare(LaunchState &state,
                            std::vector<uint64_t> &temporaries) {
  const Kernel &kernel = *state.kernel;
  LaunchParams &params = state.params;
  uint64_t blockItems = 1, groups = 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (!params.grid[d] || !params.block[d])
      return createStringError(
          formatv("launch of {0}: grid ({1}, {2}, {3}) and block ({4}, {5}, "
                  "{6}) must not have a zero",
                  kernel.name, params.grid[0], params.grid[1], params.grid[2],
                  params.block[0], params.block[1], params.block[2])
              .str());
    if (params.block[d] > 1024)
      return createStringError(
          formatv("launch of {0}: block dimension {1} is {2}; at most 1024",
                  kernel.name, d, params.block[d])
              .str());
    if (kernel.requiredWorkgroup[d] &&
        params.block[d] != kernel.requiredWorkgroup[d])
      return createStringError(
          formatv("launch of {0}: the kernel requires blocks of ({1}, {2}, "
                  "{3}), asked for ({4}, {5}, {6})",
                  kernel.name, kernel.requiredWorkgroup[0],
                  kernel.requiredWorkgroup[1], kernel.requiredWorkgroup[2],
                  params.block[0], params.block[1], params.block[2])
              .str());
    blockItems *= params.block[d];
    groups *= params.grid[d];
    if (groups > (uint64_t(1) << 40))
      return createStringError("launch of " + kernel.name +
                               ": too many work-groups");
    const uint64_t full = uint64_t(params.grid[d]) * params.block[d];
    uint64_t items = params.items[d] ? params.items[d] : full;
    if (full > 0xffffffffu && !params.items[d])
      return createStringError("launch of " + kernel.name +
                               ": more than 2^32 - 1 work-items in a "
                               "dimension");
    if (items > full || items + params.block[d] <= full)
      return createStringError(
          formatv("launch of {0}: {1} work-items do not make {2} work-groups "
                  "of {3}",
                  kernel.name, items, params.grid[d], params.block[d])
              .str());
    state.items[d] = uint32_t(items);
  }
  if (blockItems > kernel.maxWorkgroup || blockItems > 1024)
    return createStringError(
        formatv("launch of {0}: a block of {1} work-items, but the kernel is "
                "built for at most {2}",
                kernel.name, blockItems, std::min(kernel.maxWorkgroup, 1024u))
            .str());
  const uint64_t lds = kernel.groupSegment + params.dynamicLds;
  if (lds > 160 * 1024)
    return createStringError(
        formatv("launch of {0}: {1} bytes of LDS; a work-group has at most "
                "163840",
                kernel.name, lds)
            .str());
  state.ldsBytes = uint32_t(lds);
  // A wave's scratch is a field of 13 bits in units of 1 KiB
  // (COMPUTE_TMPRING_SIZE.WAVESIZE).
  const uint64_t maxScratch = 1024 * ((1u << 13) - 1) / kernel.waveSize,
                 stack = kernel.usesDynamicStack ? 16384 : 0;
  if (kernel.privateSegment > maxScratch - stack)
    return createStringError(
        formatv("launch of {0}: {1} bytes of private memory per work-item{2}; "
                "gfx950 has at most {3}",
                kernel.name, kernel.privateSegment,
                stack ? formatv(" and {0} of dynamic stack", stack).str() : "",
                maxScratch)
            .str());
  state.scratchBytes =
      uint32_t((kernel.privateSegment + stack + 15) & ~uint64_t(15));
  constexpr uint64_t maxArguments = 1 << 20;
  const uint64_t argumentBytes =
      std::max<uint64_t>({kernel.kernargSize, params.kernarg.size(), 1});
  if (argumentBytes > maxArguments)
    return createStringError(
        formatv("launch of {0}: {1} bytes of arguments; at most {2}",
                kernel.name, argumentBytes, maxArguments)
            .str());
  state.wavesPerWorkgroup =
      unsigned((blockItems + kernel.waveSize - 1) / kernel.waveSize);

  uint64_t entry = kernel.entryAddress;
  const uint8_t *d = kernel.descriptor.data();
  if (const char *why = refusedMode(kernel))
    return make_error<UnsupportedError>("unsupported: kernel " + kernel.name +
                                        ": its descriptor " + why);
  if (support::endian::read16le(d + 58) & 0x7f)
    entry += 256; // past the loads for firmware that cannot preload
  state.entry = state.program->indexAt(entry);
  if (state.entry == Program::NoIndex)
    return createStringError(
        formatv("kernel {0}: no instruction at its entry {1:x}", kernel.name,
                entry)
            .str());

  auto temporary = [&](uint64_t bytes,
                       const char *label) -> Expected<uint64_t> {
    auto address = memory.allocate(bytes, label, tracks());
    if (address)
      temporaries.push_back(*address);
    return address;
  };
  // Compiled code may load the last arguments with a group of up to 16 dwords,
  // aligned to its size, that ends behind them; runtimes leave room for it.
  auto kernarg = temporary(alignTo(argumentBytes, 64), "kernel arguments");
  if (!kernarg)
    return kernarg.takeError();
  state.kernargAddress = *kernarg;
  auto packets = temporary(64 + 256, "dispatch packet and queue");
  if (!packets)
    return packets.takeError();
  state.dispatchAddress = *packets;
  state.queueAddress = *packets + 64;
  std::vector<uint8_t> packet(64 + 256);
  put(packet, 0, 2, 0x0502); // kernel dispatch, system scope
  put(packet, 2, 2, 3);
  for (unsigned k = 0; k < 3; ++k) {
    put(packet, 4 + 2 * k, 2, params.block[k]);
    put(packet, 12 + 4 * k, 4, state.items[k]);
  }
  put(packet, 24, 4, state.scratchBytes);
  put(packet, 28, 4, state.ldsBytes);
  put(packet, 32, 8, kernel.descriptorAddress + state.loadBias);
  put(packet, 40, 8, state.kernargAddress);
  put(packet, 64 + 0x40, 4, SharedApertureHigh);
  put(packet, 64 + 0x44, 4, PrivateApertureHigh);
  std::memcpy(reinterpret_cast<void *>(*packets), packet.data(), packet.size());
  memory.markWritten(*packets, packet.size());
  return fillKernarg(state);
}

namespace {

/// What stops a run is often the consequence of what a checker saw before.
Error withFindings(Error error, const FindingStore &findings) {
  if (findings.byPlace.empty())
    return error;
  auto withFirst = [&](const ErrorInfoBase &info) {
    return info.message() +
           "\nreported before that: " + findings.byPlace.begin()->second.str();
  };
  return handleErrors(
      std::move(error),
      [&](const FaultError &fault) -> Error {
        return make_error<FaultError>(fault.getKind(), withFirst(fault));
      },
      [&](const UnsupportedError &unsupported) -> Error {
        return make_error<UnsupportedError>(withFirst(unsupported));
      });
}

} // namespace

Expected<LaunchResult>
Device::Impl::launch(Device &device, const std::shared_ptr<CodeObject> &object,
                     const Kernel &kernel, const LaunchParams &params) {
  LaunchState launchState;
  {
    std::lock_guard<std::mutex> lock(mutex);
    launchState.options = options;
  }
  auto bias = device.loadData(object);
  if (!bias)
    return bias.takeError();
  auto program =
      object->impl().program(launchState.options.mfma == MfmaModel::Cdna3
                                 ? MatrixArithmetic::Cdna3
                                 : MatrixArithmetic::Sequential);
  if (!program)
    return program.takeError();
  FindingStore findings;
  launchState.kernel = &kernel;
  launchState.object = object.get();
  launchState.program = *program;
  launchState.unallocated = object->impl().unallocated(kernel, **program);
  launchState.memory = &memory;
  launchState.params = params;
  launchState.loadBias = *bias;
  launchState.dispatchId = dispatchId.fetch_add(1);
  launchState.findings = &findings;
  launchState.start = std::chrono::steady_clock::now();
  if (launchState.options.timeout > 0) {
    launchState.hasDeadline = true;
    launchState.deadline =
        launchState.start +
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(launchState.options.timeout));
  }
  std::unique_ptr<GlobalRaces> races;
  if (launchState.options.checks & CheckRace) {
    races = std::make_unique<GlobalRaces>();
    launchState.races = races.get();
  }
  CounterStore counters;
  std::unique_lock<std::mutex> countingLock(counting, std::defer_lock);
  if (launchState.options.counters) {
    countingLock.lock();
    memory.resetTouched();
    launchState.counters = &counters;
  }
  std::vector<uint64_t> temporaries;
  scope_exit release([&] {
    for (uint64_t address : temporaries)
      consumeError(memory.free(address));
  });
  if (Error error = prepare(launchState, temporaries))
    return error;

  Runner runner(launchState, params.order.value_or(launchState.options.order));
  unsigned threads = launchState.options.threads
                         ? launchState.options.threads
                         : std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::min<uint64_t>(threads, runner.size()));
  if (params.traceTo || params.observer)
    threads = 1;
  launchState.threads = threads;
  std::vector<std::thread> helpers;
  try {
    for (unsigned i = 1; i < threads; ++i)
      helpers.emplace_back([&] { runner.work(); });
  } catch (const std::system_error &) {
    // The host gives no more threads; those there are do all the work.
  }
  runner.work();
  for (std::thread &helper : helpers)
    helper.join();
  if (Error error = runner.takeError())
    return withFindings(std::move(error), findings);

  LaunchResult result;
  std::vector<Finding> all;
  for (auto &[key, finding] : findings.byPlace)
    all.push_back(std::move(finding));
  const size_t limit = std::max(1u, launchState.options.reportLimit);
  for (size_t i = 0; i < all.size() && i < limit; ++i) {
    all[i].source = object->impl().sourceLine(all[i].pc);
    result.findings.push_back(std::move(all[i]));
  }
  result.suppressed = all.size() - result.findings.size();
  result.instructions = launchState.executed.load();
  if (launchState.counters) {
    finishCounters(counters, launchState);
    result.counters = std::move(counters.total);
  }
  return result;
}

Expected<LaunchResult> Device::launch(const std::shared_ptr<CodeObject> &object,
                                      const Kernel &kernel,
                                      const LaunchParams &params) {
  if (!object || object->kernels().empty() ||
      &kernel < object->kernels().begin() || &kernel >= object->kernels().end())
    return createStringError("launch: the kernel is not one of the code "
                             "object's");
  return state->launch(*this, object, kernel, params);
}

unsigned workgroupsPerComputeUnit(const Kernel &kernel, unsigned blockSize,
                                  uint64_t dynamicLds) {
  // Four SIMDs with 512 registers per lane and 8 wave slots each.
  const unsigned waves =
      std::max(1u, (blockSize + kernel.waveSize - 1) / kernel.waveSize);
  const unsigned accumulated =
      kernel.agprs ? ((kernel.vgprs + 3) & ~3u) + kernel.agprs : kernel.vgprs;
  const unsigned allocated = std::max(8u, (accumulated + 7) & ~7u);
  const unsigned wavesPerSimd = std::min(8u, 512 / allocated);
  unsigned groups = wavesPerSimd * 4 / waves;
  const uint64_t lds = kernel.groupSegment + dynamicLds;
  if (lds) {
    const uint64_t granule = 1280,
                   allocatedLds = (lds + granule - 1) / granule * granule;
    groups = std::min<unsigned>(groups, unsigned(160 * 1024 / allocatedLds));
  }
  return groups;
}

} // namespace netra::sim
