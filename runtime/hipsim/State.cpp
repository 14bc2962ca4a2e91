//===- State.cpp - What the simulated HIP runtime knows -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "Netra/Simulator/Numbers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace netra;
using namespace netra::hipsim;

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

int hipsim::hipMajor() {
  // What the program asked the dynamic linker for, which need not be the file's
  // own name.
  static const int major = [] {
    Dl_info info = {};
    if (!dladdr(reinterpret_cast<const void *>(&hipMajor), &info) ||
        !info.dli_fname)
      return 5;
    llvm::StringRef name = llvm::StringRef(info.dli_fname).rsplit('/').second;
    if (name.empty())
      name = info.dli_fname;
    int number = 5;
    if (name.consume_front("libamdhip64.so."))
      name.split('.').first.getAsInteger(10, number);
    return number;
  }();
  return major;
}

static std::atomic<Runtime *> created{nullptr};

Runtime &Runtime::get() {
  static Runtime *runtime = [] {
    created = new Runtime;
    return created.load();
  }();
  return *runtime;
}

// Work that is still queued must not run into the tear-down of the process.
__attribute__((destructor)) static void drainAtExit() {
  Runtime *runtime = created.load();
  if (!runtime)
    return;
  runtime->synchronizeAll();
  runtime->writeCounters();
}

Runtime::Runtime() {
  sim::DeviceOptions options;
  // MI350X; a limit below what the host has keeps mistakes cheap.
  device = std::make_unique<sim::Device>(options);
  defaultStream = std::make_shared<Stream>(hip::StreamDefault, 0);
  applyEnvironment();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

int Runtime::setOption(std::string_view nameView, std::string_view valueView,
                       std::string &error) {
  llvm::StringRef name(nameView), value(valueView);
  std::lock_guard<std::mutex> guard(settings);
  sim::DeviceOptions options = device->options();
  auto bad = [&](const char *expected) {
    error = ("option " + name + ": expected " + expected + ", found \"" +
             value + "\"")
                .str();
    return int(hip::ErrorInvalidValue);
  };
  std::string problem; // with what the simulator itself reads
  auto take = [&](llvm::Error result) {
    if (result)
      problem = llvm::toString(std::move(result));
  };
  if (name == "check") {
    llvm::Expected<unsigned> checks = sim::parseChecks(value);
    take(checks.takeError());
    if (problem.empty())
      options.checks = *checks;
  } else if (name == "mfma") {
    take(sim::parseMfmaModel(value, options));
  } else if (name == "schedule") {
    take(sim::parseSchedule(value, options));
  } else if (name == "workgroup_order") {
    take(sim::parseWorkgroupOrder(value, options));
  } else if (name == "memory_limit") {
    take(sim::parseByteCount(value, options.memoryLimit));
  } else if (name == "threads") {
    take(sim::parseThreads(value, options));
  } else if (name == "timeout") {
    take(sim::parseTimeout(value, options));
  } else if (name == "instruction_limit") {
    std::optional<uint64_t> number = sim::parseNumber(value);
    if (!number)
      return bad("a number of instructions below 2^64, or 0 for no limit");
    options.instructionLimit = *number;
  } else if (name == "report_limit") {
    std::optional<uint64_t> number = sim::parseNumber(value, 1000000);
    if (!number)
      return bad("a number of reports up to 1000000");
    options.reportLimit = unsigned(*number);
  } else if (name == "counters") {
    if (value != "on" && value != "off")
      return bad("on or off");
    options.counters = value == "on";
  } else if (name == "record") {
    if (value != "on" && value != "off")
      return bad("on or off");
    std::lock_guard<std::mutex> keep(records);
    keepLaunches = value == "on";
    return 0;
  } else if (name == "report") {
    std::lock_guard<std::mutex> keep(records);
    reportPath = value.str();
    if (!reportPath.empty()) {
      std::FILE *file = std::fopen(reportPath.c_str(), "w");
      if (!file)
        return bad("a file that can be written");
      std::fclose(file);
    }
    return 0;
  } else {
    error = ("unknown option \"" + name +
             "\"; expected check, mfma, schedule, workgroup_order, "
             "memory_limit, instruction_limit, threads, report_limit, timeout, "
             "counters, record or report")
                .str();
    return hip::ErrorInvalidValue;
  }
  if (!problem.empty()) {
    error = ("option " + name + ": " + problem).str();
    return hip::ErrorInvalidValue;
  }
  device->setOptions(options);
  return 0;
}

void Runtime::applyEnvironment() {
  struct Variable {
    const char *environment, *option;
  };
  static constexpr Variable variables[] = {
      {"NETRA_SIM_CHECK", "check"},
      {"NETRA_SIM_MFMA", "mfma"},
      {"NETRA_SIM_SCHEDULE", "schedule"},
      {"NETRA_SIM_WORKGROUP_ORDER", "workgroup_order"},
      {"NETRA_SIM_MEMORY_LIMIT", "memory_limit"},
      {"NETRA_SIM_INSTRUCTION_LIMIT", "instruction_limit"},
      {"NETRA_SIM_THREADS", "threads"},
      {"NETRA_SIM_REPORT_LIMIT", "report_limit"},
      {"NETRA_SIM_TIMEOUT", "timeout"},
      {"NETRA_SIM_REPORT", "report"},
  };
  for (const Variable &variable : variables) {
    const char *value = std::getenv(variable.environment);
    std::string error;
    if (value && *value && setOption(variable.option, value, error))
      std::fprintf(stderr, "netra_hipsim: %s ignored: %s\n",
                   variable.environment, error.c_str());
  }
  if (const char *path = std::getenv("NETRA_SIM_COUNTERS"); path && *path) {
    std::string error;
    setOption("counters", "on", error);
    keepLaunches = true;
    countersPath = path;
  }
}

//===----------------------------------------------------------------------===//
// Launches and their records
//===----------------------------------------------------------------------===//

void Runtime::emit(const std::string &text) {
  std::fputs(text.c_str(), stderr);
  if (reportPath.empty())
    return;
  if (std::FILE *file = std::fopen(reportPath.c_str(), "a")) {
    std::fputs(text.c_str(), file);
    std::fclose(file);
  }
}

void Runtime::warn(const std::string &text) {
  std::lock_guard<std::mutex> guard(records);
  emit("netra_hipsim: warning: " + text + "\n");
}

int Runtime::launch(const KernelCall &call) {
  sim::LaunchParams params;
  params.grid = call.grid;
  params.block = call.block;
  params.items = call.items;
  params.dynamicLds = call.dynamicLds;
  params.kernarg = call.kernarg;

  LaunchRecord record = {call.kernel->name,
                         call.grid,
                         call.block,
                         call.dynamicLds,
                         0,
                         {},
                         {},
                         0,
                         {}};
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<sim::LaunchResult> result =
      device->launch(call.object, *call.kernel, params);
  record.milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - start)
                            .count();
  int code = 0;
  std::string text;
  if (!result) {
    code = hip::ErrorLaunchFailure;
    llvm::handleAllErrors(
        result.takeError(),
        [&](const sim::FaultError &fault) {
          if (fault.getKind() == sim::FaultError::Kind::Memory)
            code = hip::ErrorIllegalAddress;
          else if (fault.getKind() == sim::FaultError::Kind::Limit)
            code = hip::ErrorLaunchTimeOut;
          record.error =
              static_cast<const llvm::ErrorInfoBase &>(fault).message();
        },
        [&](const llvm::ErrorInfoBase &error) {
          record.error = error.message();
        });
    code = -code;
    text = "netra_hipsim: kernel " + record.kernel + ": " + record.error + "\n";
  } else {
    record.findings = std::move(result->findings);
    record.suppressed = result->suppressed;
    if (result->counters)
      record.counters = result->counters->json();
    for (const sim::Finding &finding : record.findings) {
      if (!code || finding.check == sim::CheckMemory)
        code = finding.check == sim::CheckMemory ? hip::ErrorIllegalAddress
                                                 : hip::ErrorLaunchFailure;
      text += "netra_hipsim: " + finding.str() + "\n";
    }
    if (record.suppressed)
      text += "netra_hipsim: kernel " + record.kernel + ": " +
              std::to_string(record.suppressed) + " more findings\n";
  }

  std::lock_guard<std::mutex> guard(records);
  findings +=
      record.findings.size() + record.suppressed + !record.error.empty();
  if (!text.empty())
    emit(text);
  // Without a reader, records would only pile up.
  if (keepLaunches)
    launches.push_back(std::move(record));
  return code;
}

std::string Runtime::launchesJson() {
  std::lock_guard<std::mutex> guard(records);
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, 2);
  auto triple = [&](llvm::StringRef key, const std::array<uint32_t, 3> &value) {
    json.attributeArray(key, [&] {
      for (uint32_t item : value)
        json.value(item);
    });
  };
  auto clean = [](const std::string &value) {
    return llvm::json::isUTF8(value) ? value : llvm::json::fixUTF8(value);
  };
  json.array([&] {
    for (const LaunchRecord &record : launches)
      json.object([&] {
        json.attribute("kernel", clean(record.kernel));
        triple("grid", record.grid);
        triple("block", record.block);
        json.attribute("dynamic_lds", record.dynamicLds);
        json.attribute("milliseconds", record.milliseconds);
        if (!record.error.empty())
          json.attribute("error", clean(record.error));
        json.attributeArray("findings", [&] {
          for (const sim::Finding &finding : record.findings)
            json.object([&] {
              json.attribute("check", sim::checkName(finding.check));
              json.attribute("instruction", clean(finding.instruction));
              json.attribute("pc", int64_t(finding.pc));
              json.attribute("workgroup", int64_t(finding.workgroup));
              json.attribute("wave", finding.wave);
              json.attribute("lane", finding.lane);
              json.attribute("count", int64_t(finding.count));
              json.attribute("message", clean(finding.message));
            });
        });
        json.attribute("suppressed_findings", int64_t(record.suppressed));
        if (!record.counters.empty())
          json.attributeBegin("counters"), json.rawValue(record.counters),
              json.attributeEnd();
      });
  });
  os << '\n';
  return text;
}

uint64_t Runtime::findingCount() {
  std::lock_guard<std::mutex> guard(records);
  return findings;
}

void Runtime::clearLaunches() {
  std::lock_guard<std::mutex> guard(records);
  launches.clear();
  findings = 0;
}

void Runtime::writeCounters() {
  if (countersPath.empty())
    return;
  std::string text = launchesJson();
  std::string temporary = countersPath + ".partial";
  std::FILE *file = std::fopen(temporary.c_str(), "w");
  bool written =
      file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file)
    written &= std::fclose(file) == 0;
  if (!written || std::rename(temporary.c_str(), countersPath.c_str())) {
    std::remove(temporary.c_str());
    std::fprintf(stderr, "netra_hipsim: cannot write counters to %s\n",
                 countersPath.c_str());
  }
}

//===----------------------------------------------------------------------===//
// Submission
//===----------------------------------------------------------------------===//

void Runtime::addGraph(std::shared_ptr<Graph> graph) {
  for (const std::shared_ptr<GraphNode> &node : graph->nodes) {
    nodes[node.get()] = node.get();
    if (node->child)
      addGraph(node->child);
  }
  graphs[graph.get()] = std::move(graph);
}

void Runtime::removeGraph(Graph &graph) {
  for (const std::shared_ptr<GraphNode> &node : graph.nodes) {
    nodes.erase(node.get());
    if (node->child)
      removeGraph(*node->child);
  }
  graphs.erase(&graph);
}

void Runtime::removeNode(GraphNode &node) {
  Graph &graph = *node.graph;
  for (const std::shared_ptr<GraphNode> &other : graph.nodes)
    std::erase(other->after, &node);
  if (node.child)
    removeGraph(*node.child);
  nodes.erase(&node);
  std::erase_if(graph.nodes,
                [&](const auto &owned) { return owned.get() == &node; });
}

Position Runtime::enqueue(Stream &stream, Work work,
                          std::vector<Position> after) {
  if (&stream == defaultStream.get()) {
    for (const auto &[handle, other] : streams)
      if (!(other->flags & hip::StreamNonBlocking))
        after.push_back(other->last());
  } else if (!(stream.flags & hip::StreamNonBlocking)) {
    after.push_back(defaultStream->last());
  }
  std::erase_if(after, [](const Position &p) { return p.reached(); });
  return stream.submit(std::move(after), std::move(work));
}

std::vector<Position> Runtime::everything() {
  std::vector<Position> positions;
  positions.push_back(defaultStream->last());
  for (const auto &[handle, stream] : streams)
    positions.push_back(stream->last());
  return positions;
}

int Runtime::synchronizeAll() {
  std::vector<std::shared_ptr<Stream>> all;
  {
    std::lock_guard<std::mutex> guard(submission);
    all.push_back(defaultStream);
    for (const auto &[handle, stream] : streams)
      all.push_back(stream);
  }
  int first = 0;
  for (const std::shared_ptr<Stream> &stream : all)
    stream->last().wait();
  for (const std::shared_ptr<Stream> &stream : all)
    if (int code = stream->takeError(); code && !first)
      first = code;
  return first;
}

/// Adds a node to the capture of a stream. Holds `submission`.
static int captureNode(Stream &stream, std::shared_ptr<GraphNode> node) {
  Capture &capture = *stream.capture;
  if (capture.invalidated)
    return finish(hip::ErrorStreamCaptureInvalidated);
  stream.captureLeaves = {
      &capture.graph->add(std::move(node), stream.captureLeaves)};
  return 0;
}

int hipsim::submitNode(void *handle, std::shared_ptr<GraphNode> node,
                       bool wait) {
  Runtime &runtime = Runtime::get();
  Position position;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Stream> stream;
    if (int code = findStream(handle, stream))
      return code;
    if (stream->capture)
      return captureNode(*stream, std::move(node));
    if (stream == runtime.defaultStream)
      if (int code = checkImplicitOrder())
        return code;
    position = runtime.enqueue(
        *stream, [node](bool faulted) { return node->execute(faulted); });
  }
  if (wait)
    position.wait();
  return 0;
}
