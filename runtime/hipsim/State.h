//===- State.h - What the simulated HIP runtime knows -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_HIPSIM_STATE_H
#define NETRA_HIPSIM_STATE_H

#include "HipAbi.h"
#include "Stream.h"

#include "Netra/Simulator/Simulator.h"

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <unordered_map>

#define NETRA_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace netra::hipsim {

/// A kernel of a loaded module: what a hipFunction_t points to.
struct Function {
  std::shared_ptr<sim::CodeObject> object;
  const sim::Kernel *kernel = nullptr;
};

/// What a hipModule_t points to.
struct Module {
  std::shared_ptr<sim::CodeObject> object;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

/// One recording of an event; a new one replaces it.
struct Recording {
  Position position;
  std::atomic<bool> done{false};
  std::chrono::steady_clock::time_point time; // valid when done
};

/// What a hipEvent_t points to.
struct Event {
  unsigned flags = 0;
  std::shared_ptr<Recording> recording; // null until recorded
  std::shared_ptr<Capture> capture;     // recorded in a capture
  std::vector<size_t> captureLeaves;
};

/// A launch with its arguments copied.
struct KernelCall {
  std::shared_ptr<sim::CodeObject> object;
  const sim::Kernel *kernel = nullptr;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::array<uint32_t, 3> items = {0, 0, 0};
  uint32_t dynamicLds = 0;
  std::vector<uint8_t> kernarg;
};

struct CopyCall {
  void *destination = nullptr;
  const void *source = nullptr;
  size_t bytes = 0;
  int kind = hip::MemcpyDefault;
};

struct FillCall {
  void *destination = nullptr;
  uint32_t value = 0;
  unsigned width = 1; // bytes of the value
  size_t count = 0;   // of values
};

struct HostCall {
  void (*function)(void *) = nullptr;
  void *user = nullptr;
};

struct GraphNode {
  enum class Kind { Kernel = 1, Memcpy = 2, Memset = 3, Host = 4, Empty = 6 };
  Kind kind = Kind::Empty;
  KernelCall kernel;
  CopyCall copy;
  FillCall fill;
  HostCall host;
  std::vector<size_t> after; // earlier nodes of the graph

  /// As Work.
  int execute(bool faulted) const;
};

/// What a hipGraph_t and a hipGraphExec_t point to. Nodes depend on earlier
/// ones only, so their order is an order of execution.
struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes;
};

/// A capture in progress.
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  const Stream *origin = nullptr;
  int mode = 0;
  std::thread::id thread;
  bool invalidated = false;
};

/// A finished launch, as netra_hipsim_launches reports it.
struct LaunchRecord {
  std::string kernel;
  std::array<uint32_t, 3> grid, block;
  uint32_t dynamicLds;
  double milliseconds;
  std::string error; // empty: ran to its end
  std::vector<sim::Finding> findings;
  uint64_t suppressed = 0;
  std::string counters; // JSON; empty when not counted
};

class Runtime {
public:
  /// Created by the first call into the library, never destroyed.
  static Runtime &get();

  sim::Device &getDevice() { return *device; }

  /// Serialises submission, so that implied order between the default stream
  /// and the others is one order; guards captures and the handle tables.
  std::mutex submission;
  std::unordered_map<const void *, std::shared_ptr<Stream>> streams;
  std::unordered_map<const void *, std::shared_ptr<Event>> events;
  std::unordered_map<const void *, std::unique_ptr<Module>> modules;
  std::unordered_map<const void *, const Function *> functions;
  std::unordered_map<const void *, std::unique_ptr<Graph>> graphs;
  std::unordered_map<const void *, std::shared_ptr<const Graph>> executables;
  std::unordered_map<const void *, size_t> hostAllocations;
  std::shared_ptr<Stream> defaultStream;
  /// Captures in progress, by any thread.
  std::vector<std::weak_ptr<Capture>> captures;

  /// The stream of a handle, nullptr if there is none such. Holds `submission`.
  std::shared_ptr<Stream> findStream(void *handle);

  /// Enqueues work with the order that HIP implies between the default stream
  /// and blocking ones. Holds `submission`.
  Position enqueue(Stream &stream, Work work, std::vector<Position> after = {});

  /// Whether a call that synchronises implicitly is forbidden because this
  /// thread, or another in global mode, is capturing. Invalidates the capture.
  int forbidWhileCapturing();

  /// Waits for everything. The first error of any stream, taken.
  int synchronizeAll();

  // Options and reports.
  int setOption(std::string_view name, std::string_view value,
                std::string &message);
  /// Runs a kernel; the result is that of a Work.
  int launch(const KernelCall &call);
  std::string launchesJson();
  uint64_t findingCount();
  void clearLaunches();
  void writeCounters();

private:
  Runtime();
  void applyEnvironment();
  void emit(const std::string &text);

  std::unique_ptr<sim::Device> device;
  std::mutex records;
  std::vector<LaunchRecord> launches;
  uint64_t findings = 0;
  bool keepLaunches = false;
  std::string countersPath, reportPath;
};

/// Every exported function returns through this: remembers a failure for
/// hipGetLastError.
int finish(int code);
/// The same with a sentence for netra_hipsim_message.
int finish(int code, std::string message);
int takeLastError();
int peekLastError();
const std::string &lastMessage();

const char *errorName(int code);
const char *errorText(int code);

// Shared between the files of the API.
int execute(const CopyCall &call);
int execute(const FillCall &call);
int checkCopy(const CopyCall &call);
int checkFill(const FillCall &call);

/// Adds a node to the capture of a stream. Holds `submission`.
int captureNode(Stream &stream, std::shared_ptr<GraphNode> node);

/// Enqueues a node, or captures it if the stream is capturing.
int submitNode(void *streamHandle, std::shared_ptr<GraphNode> node,
               bool wait = false);

} // namespace netra::hipsim

#endif // NETRA_HIPSIM_STATE_H
