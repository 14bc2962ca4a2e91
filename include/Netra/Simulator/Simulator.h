//===- Simulator.h - Functional simulator of a gfx950 device ----*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// The public face of the simulator: code objects, a device with memory, and
// launches with checkers and counters. Nothing here depends on the compiler.
//
// Thread-safety: a CodeObject is immutable after load() and may be shared.
// Every member function of Device may be called from any thread; launches of
// one device may run at the same time. Memory contents are not protected
// against concurrent use, as on a real device.
//
// Errors: every function that can be given bad input returns llvm::Error or
// llvm::Expected; nothing throws or aborts.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_SIMULATOR_SIMULATOR_H
#define NETRA_SIMULATOR_SIMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace netra::sim {

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Checkers, a bit mask. Each can be switched on alone.
enum Check : unsigned {
  CheckMemory = 1,   ///< access outside an allocation or to freed memory
  CheckInit = 2,     ///< use of a register, LDS or memory never written
  CheckWait = 4,     ///< use of a result that has not been waited for
  CheckHazard = 8,   ///< wait states that hardware does not interlock
  CheckRace = 16,    ///< unordered access of two waves to one location
  CheckBarrier = 32, ///< missing or divergent barrier, deadlock
  CheckAll = 63
};

/// "memory", "init", ...
llvm::StringRef checkName(Check check);
/// Parses "all", "none" or a comma-separated list of names.
llvm::Expected<unsigned> parseChecks(llvm::StringRef text);

/// Arithmetic of matrix instructions: groups of products summed with aligned
/// truncation (the published model of CDNA3), or one fused multiply-add after
/// the other in single precision.
enum class MfmaModel { Cdna3, Sequential };

/// How waves of a work-group advance: one instruction each in turn, one
/// instruction of a random wave, or each wave up to its next barrier.
enum class Schedule { RoundRobin, Random, ToBarrier };

/// In which order work-groups start.
enum class WorkgroupOrder { Forward, Reverse, Random };

struct DeviceOptions {
  unsigned checks = 0; ///< Check bits
  MfmaModel mfma = MfmaModel::Cdna3;
  Schedule schedule = Schedule::RoundRobin;
  WorkgroupOrder order = WorkgroupOrder::Forward;
  uint64_t seed = 0;      ///< of Schedule::Random
  uint64_t orderSeed = 0; ///< of WorkgroupOrder::Random
  /// Most bytes of the device's memory: allocations, images of code objects and
  /// arguments of launches, and registers, LDS and private memory of the
  /// work-groups that run. 0: no limit of its own.
  uint64_t memoryLimit = 0;
  /// Distinct findings (by check, instruction and kind) kept per launch.
  unsigned reportLimit = 20;
  /// Ends a launch at its first finding, without an error; memory holds what
  /// was written until then.
  bool stopAtFinding = false;
  /// Host threads that work-groups run on; 0: one per core.
  unsigned threads = 0;
  /// Wave instructions after which work-groups that have not ended get company:
  /// those there are take turns, and one more starts beside them. Fewer make
  /// kernels cheap whose work-groups wait for later ones.
  uint64_t patience = 1 << 18;
  /// Most wave instructions of one launch; 0: no limit. Exceeding it is an
  /// error that says where the waves are, never a hang.
  uint64_t instructionLimit = 0;
  /// Most wall-clock seconds of one launch; 0: no limit.
  double timeout = 0;
  bool counters = false;
};

// The values of options as every tool spells them. The errors say what was
// expected and what was found; the caller says which option it was.

/// "cdna3" or "sequential".
llvm::Error parseMfmaModel(llvm::StringRef text, DeviceOptions &options);
/// "round-robin", "to-barrier", "random" or "random:SEED".
llvm::Error parseSchedule(llvm::StringRef text, DeviceOptions &options);
/// "forward", "reverse", "random" or "random:SEED".
llvm::Error parseWorkgroupOrder(llvm::StringRef text, DeviceOptions &options);
/// Seconds; 0 for no limit.
llvm::Error parseTimeout(llvm::StringRef text, DeviceOptions &options);
/// Host threads; 0 for one per core.
llvm::Error parseThreads(llvm::StringRef text, DeviceOptions &options);
/// A number, perhaps with K, M or G for powers of 1024.
llvm::Error parseByteCount(llvm::StringRef text, uint64_t &bytes);

//===----------------------------------------------------------------------===//
// Code objects
//===----------------------------------------------------------------------===//

/// One kernel argument as the metadata describes it.
struct KernelArgument {
  std::string name; ///< may be empty
  std::string kind; ///< "by_value", "global_buffer", "hidden_..."; see
                    ///< AMDGPU's code object metadata
  uint64_t offset = 0, size = 0;
  bool isHidden() const { return kind.rfind("hidden_", 0) == 0; }
  bool isPointer() const {
    return kind == "global_buffer" || kind == "dynamic_shared_pointer";
  }
};

struct Kernel {
  std::string name;            ///< without ".kd"
  uint64_t kernargSize = 0;    ///< from the metadata, else the descriptor
  uint64_t kernargAlign = 8;   //
  uint64_t groupSegment = 0;   ///< static LDS, bytes
  uint64_t privateSegment = 0; ///< scratch per lane, bytes
  bool usesDynamicStack = false;
  unsigned vgprs = 0; ///< architectural, as the descriptor allocates them
  unsigned agprs = 0; ///< accumulation, as the descriptor allocates them
  unsigned sgprs = 0; ///< allocated: in sixteens
  unsigned waveSize = 64;
  unsigned maxWorkgroup = 1024;
  std::array<unsigned, 3> requiredWorkgroup = {0, 0, 0}; ///< 0: any
  bool hasMetadata = false; ///< argument records exist
  std::vector<KernelArgument> arguments;
  uint64_t descriptorAddress = 0, entryAddress = 0; ///< in the ELF's numbering
  std::array<uint8_t, 64> descriptor = {};

  /// Explicit arguments only, in order of offset.
  std::vector<KernelArgument> explicitArguments() const;
};

class Program;

/// A loaded code object. Shared by devices; immutable.
class CodeObject {
public:
  /// Loads an ELF of an AMD HSA code object for gfx950. The bytes are copied.
  /// Tolerates what the real loader tolerates (see warnings()); anything it
  /// would refuse is an error naming what was found.
  static llvm::Expected<std::shared_ptr<CodeObject>>
  load(llvm::ArrayRef<uint8_t> elf, llvm::StringRef name = "code object");
  ~CodeObject();

  llvm::ArrayRef<Kernel> kernels() const;
  /// nullptr when there is no such kernel.
  const Kernel *findKernel(llvm::StringRef name) const;
  llvm::StringRef target() const; ///< "gfx950"
  llvm::ArrayRef<std::string> warnings() const;

  /// Name, address and size of global variables.
  struct Variable {
    std::string name;
    uint64_t address = 0, size = 0;
  };
  llvm::ArrayRef<Variable> variables() const;

  /// Prints the disassembly of one kernel, or of the whole text section.
  llvm::Error disassemble(llvm::raw_ostream &os,
                          const Kernel *kernel = nullptr) const;

  /// What the simulator can do with each mnemonic of the code.
  struct Coverage {
    std::string mnemonic;
    uint64_t count = 0;
    enum Level { Exact, Bounded, Unsupported } level = Exact;
    std::string note; ///< the bound, or the reason
  };
  std::vector<Coverage> coverage() const;

  struct Impl;
  const Impl &impl() const { return *state; }

private:
  CodeObject();
  std::unique_ptr<Impl> state;
};

/// What the simulator can do with a mnemonic in general (any encoding).
std::optional<CodeObject::Coverage> mnemonicCoverage(llvm::StringRef mnemonic);

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// An instruction that a wave is about to execute, and what it holds.
struct WaveStep {
  uint64_t workgroup = 0; ///< linear index
  unsigned wave = 0;
  uint64_t pc = 0; ///< address in the code object
  llvm::StringRef text;
  uint64_t exec = 0;
  /// By their number in operands: s0 and on, 106 vcc_lo, 124 m0, 126 exec_lo.
  llvm::ArrayRef<uint32_t> scalars;
  /// v0 and on, each with its lanes.
  llvm::ArrayRef<uint32_t> vectors;
  unsigned lanes = 64; ///< of a wave
};

/// Looks on while a kernel runs.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  virtual void step(const WaveStep &step) = 0;
};

struct LaunchParams {
  std::array<uint32_t, 3> grid = {1, 1, 1};  ///< work-groups
  std::array<uint32_t, 3> block = {1, 1, 1}; ///< work-items
  /// Work-items of the whole grid where it is not grid * block (the last
  /// work-groups are then partial); 0: grid * block.
  std::array<uint32_t, 3> items = {0, 0, 0};
  uint32_t dynamicLds = 0; ///< bytes
  /// The explicit arguments at their offsets. Shorter than the kernel's
  /// kernarg size: hidden arguments are filled in by the launch. Bytes that
  /// cover hidden arguments are overwritten by it.
  llvm::ArrayRef<uint8_t> kernarg;
  std::optional<WorkgroupOrder> order; ///< instead of the device's
  /// Text of executed instructions is written here when traceTo is set and
  /// work-group and wave match.
  llvm::raw_ostream *traceTo = nullptr;
  uint64_t traceWorkgroup = 0;
  unsigned traceWave = 0;
  uint64_t traceFrom = 0, traceUntil = ~uint64_t(0); ///< executed instructions
  /// Sees every instruction of every wave in the order of execution; the launch
  /// then takes one host thread.
  StepObserver *observer = nullptr;
};

/// One report of a checker.
struct Finding {
  Check check = CheckMemory;
  std::string kernel;
  std::string instruction; ///< assembly text
  uint64_t pc = 0;         ///< address in the code object
  uint64_t pcOffset = 0;   ///< bytes from the kernel's entry
  std::string source;      ///< "file:line" when the code object has it
  uint64_t workgroup = 0;  ///< linear index
  std::array<uint32_t, 3> workgroupId = {0, 0, 0};
  unsigned wave = 0;
  int lane = -1;        ///< -1: concerns the whole wave
  uint64_t address = 0; ///< memory findings
  std::string message;  ///< what was expected, what was found
  uint64_t count = 1;   ///< occurrences of the same finding

  /// One paragraph for people.
  std::string str() const;
};

/// Defined in docs/simulator.md. All sums run over the whole launch.
struct Counters {
  uint64_t waves = 0, workgroups = 0, instructions = 0;
  std::map<std::string, uint64_t> byClass, byMnemonic;
  double mfmaShare = 0; ///< issue slots of matrix instructions / all

  uint64_t globalLoadBytes = 0, globalStoreBytes = 0; ///< requested by lanes
  uint64_t globalDistinctReadBytes = 0;               ///< of the whole launch
  uint64_t globalDistinctWrittenBytes = 0;            ///< of the whole launch
  uint64_t segments64 = 0, segments128 = 0; ///< touched per instruction
  double coalescing = 0; ///< requested bytes / (64 * segments64)

  uint64_t ldsAccesses = 0, ldsConflictCycles = 0;
  uint64_t barriers = 0, branches = 0, divergentBranches = 0;

  uint64_t maxBytesInFlight = 0;  ///< of one wave, at any wait
  uint64_t minFirstWaitBytes = 0; ///< of one wave, least over waves
  uint64_t maxFirstWaitBytes = 0; ///< of one wave, most over waves
  double meanFirstWaitBytes = 0;  ///< of one wave, at its first wait
  uint64_t maxRoundTrips = 0;     ///< serial memory round trips, worst wave
  double meanRoundTrips = 0;      //

  unsigned vgprs = 0, agprs = 0, sgprs = 0;
  uint64_t ldsBytes = 0;
  unsigned wavesPerWorkgroup = 0;
  unsigned workgroupsPerCu = 0; ///< as registers, LDS and wave slots allow
  /// maxBytesInFlight of the mean wave × resident waves; and the same at the
  /// first wait.
  uint64_t bytesInFlightPerCu = 0, firstWaitBytesPerCu = 0;

  std::string text() const;
  std::string json() const;
};

struct LaunchResult {
  std::vector<Finding> findings; ///< sorted, at most DeviceOptions::reportLimit
  uint64_t suppressed = 0;       ///< distinct findings beyond the limit
  uint64_t instructions = 0;     ///< wave instructions executed
  std::optional<Counters> counters;
};

/// An instruction, modifier or mode that is not modelled. Names text, address
/// and work-group.
class UnsupportedError : public llvm::ErrorInfo<UnsupportedError> {
public:
  static char ID;
  explicit UnsupportedError(std::string message)
      : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string message;
};

/// The kernel did what stops a device: an access outside every allocation with
/// the memory checker off, a trap, a deadlock, the instruction limit.
class FaultError : public llvm::ErrorInfo<FaultError> {
public:
  static char ID;
  enum class Kind { Memory, Trap, Deadlock, Limit };
  FaultError(Kind kind, std::string message)
      : kind(kind), message(std::move(message)) {}
  Kind getKind() const { return kind; }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  Kind kind;
  std::string message;
};

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

/// One allocation, as the host sees it.
struct Allocation {
  uint64_t address = 0, bytes = 0;
  std::string label;
};

class Device {
public:
  explicit Device(DeviceOptions options = {});
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceOptions &options() const;
  /// Changes checkers, schedule, ... for later launches.
  void setOptions(const DeviceOptions &options);

  /// Allocates device memory. The address is a host address inside a region
  /// the device owns, aligned to at least 4 KiB, with guard space on both
  /// sides; contents are zero but count as never written. Errors when the
  /// memory limit or the host's memory is exceeded.
  llvm::Expected<uint64_t> allocate(uint64_t bytes, llvm::StringRef label = "");
  /// Frees an allocation by its start address.
  llvm::Error free(uint64_t address);
  /// Makes host memory accessible to kernels at its own address, counted as
  /// written; the owner keeps it alive until unregisterHost.
  llvm::Error registerHost(void *pointer, uint64_t bytes,
                           llvm::StringRef label = "");
  llvm::Error unregisterHost(void *pointer);

  /// Whether [address, address + bytes) lies inside one live allocation.
  bool contains(uint64_t address, uint64_t bytes) const;
  /// The allocation that holds `address`, if any is live there.
  std::optional<Allocation> find(uint64_t address) const;
  /// nullptr when the range is not inside one live allocation. Does not count
  /// as writing; see markInitialized.
  void *hostPointer(uint64_t address, uint64_t bytes) const;
  /// Tells the `init` checker that the host has written the range.
  void markInitialized(uint64_t address, uint64_t bytes);
  /// Copies with range checks; copyIn and fill mark the range as written.
  llvm::Error copyIn(uint64_t address, const void *from, uint64_t bytes);
  llvm::Error copyOut(void *to, uint64_t address, uint64_t bytes) const;
  /// Device to device; carries the written-state along. Ranges may overlap.
  llvm::Error copy(uint64_t to, uint64_t from, uint64_t bytes);
  llvm::Error fill(uint64_t address, uint8_t value, uint64_t bytes);

  uint64_t bytesInUse() const;
  uint64_t memoryLimit() const; ///< 0: none

  /// Places the code object's data on the device: text and global variables
  /// get device addresses. Done by the first launch if not before; gives the
  /// load bias (device address minus address in the ELF).
  llvm::Expected<uint64_t> loadData(const std::shared_ptr<CodeObject> &object);
  /// Releases what loadData placed.
  void unloadData(const CodeObject &object);

  /// Runs a kernel to its end. `kernel` must be one of `object`'s.
  llvm::Expected<LaunchResult> launch(const std::shared_ptr<CodeObject> &object,
                                      const Kernel &kernel,
                                      const LaunchParams &params);

  struct Impl;

private:
  std::unique_ptr<Impl> state;
};

/// Work-groups of a kernel that fit on one compute unit at the same time.
unsigned workgroupsPerComputeUnit(const Kernel &kernel, unsigned blockSize,
                                  uint64_t dynamicLds);

} // namespace netra::sim

#endif // NETRA_SIMULATOR_SIMULATOR_H
