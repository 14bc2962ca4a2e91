//===- State.h - What the simulated HIP runtime knows -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_HIPSIM_STATE_H
#define NETRA_HIPSIM_STATE_H

#include "Graph.h"
#include "Stream.h"

#include <atomic>
#include <chrono>
#include <string>
#include <unordered_map>

// HIP's functions, as far as they are here. Handles are void *.
#define NETRA_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace netra::hipsim {

// What a work-group of the device may have at most.
constexpr uint32_t LdsLimit = 163840;
constexpr unsigned MaxBlockItems = 1024;
constexpr uint32_t MaxGridX = 2147483647, MaxGridYZ = 65536;

/// What a hipModule_t points to.
struct Module {
  std::shared_ptr<sim::CodeObject> object;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

/// One recording of an event; a new one replaces it.
struct Recording {
  Position position;
  std::weak_ptr<Stream> stream;
  std::atomic<bool> done{false};
  std::chrono::steady_clock::time_point time; // valid when done
};

/// What a hipEvent_t points to.
struct Event {
  unsigned flags = 0;
  std::shared_ptr<Recording> recording; // null until recorded
  std::shared_ptr<Capture> capture;     // recorded in a capture
  std::vector<GraphNode *> captureLeaves;
};

/// A capture in progress.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  const Stream *origin = nullptr;
  int mode = 0;
  std::thread::id thread;
  bool invalidated = false;
  bool isEnded = false;
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
  std::unordered_map<const void *, std::shared_ptr<Graph>> graphs;
  std::unordered_map<const void *, GraphNode *> nodes; // of all graphs
  std::unordered_map<const void *, std::unique_ptr<Executable>> executables;
  std::unordered_map<const void *, size_t> hostAllocations;
  std::shared_ptr<Stream> defaultStream;
  /// Captures in progress, by any thread.
  std::vector<std::weak_ptr<Capture>> captures;

  /// Makes a graph, its nodes and the graphs inside it known by their handles,
  /// and forgets them. Hold `submission`.
  void addGraph(std::shared_ptr<Graph> graph);
  void removeGraph(Graph &graph);
  void removeNode(GraphNode &node);

  /// Enqueues work with the order that HIP implies between the default stream
  /// and blocking ones. Holds `submission`.
  Position enqueue(Stream &stream, Work work, std::vector<Position> after = {});

  /// What everything submitted until now comes to. Holds `submission`.
  std::vector<Position> everything();

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
  /// Tells the user of something odd that is no error.
  void warn(const std::string &text);
  void writeCounters();

private:
  Runtime();
  void applyEnvironment();
  void emit(const std::string &text);

  std::unique_ptr<sim::Device> device;
  std::mutex settings; // one change of the device's options at a time
  std::mutex records;
  std::vector<LaunchRecord> launches;
  uint64_t findings = 0;
  bool keepLaunches = false;
  std::string countersPath, reportPath;
};

/// Every exported function that can fail returns through this: remembers the
/// failure for hipGetLastError, and a sentence for netra_hipsim_message.
int finish(int code, std::string message);
/// The same with HIP's own text of the code.
int finish(int code);
int takeLastError();
int peekLastError();
const std::string &lastMessage();

const char *errorName(int code);
const char *errorText(int code);

/// The major version of HIP that the program expects: N when the library was
/// opened as libamdhip64.so.N, else that of the structures in HipAbi.h that
/// have no number in their name.
int hipMajor();

/// Checks a launch and copies its arguments. The grid is in blocks; `unknown`
/// is the code when there is no such function. Takes `submission`.
int makeCall(void *function, std::array<uint32_t, 3> grid,
             std::array<uint32_t, 3> block, uint32_t dynamicLds,
             void **parameters, void **extra, int unknown, KernelCall &call);

/// Enqueues a node, or captures it if the stream is capturing.
int submitNode(void *streamHandle, std::shared_ptr<GraphNode> node,
               bool wait = false);

} // namespace netra::hipsim

#endif // NETRA_HIPSIM_STATE_H
