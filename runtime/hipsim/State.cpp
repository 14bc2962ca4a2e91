//===- State.cpp - What the simulated HIP runtime knows -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>

using namespace netra;
using namespace netra::hipsim;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {
thread_local int lastError = 0;
thread_local std::string message;

struct ErrorEntry {
  int code;
  const char *name, *text;
};
constexpr ErrorEntry errorEntries[] = {
    {hip::Success, "hipSuccess", "no error"},
    {hip::ErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hip::ErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hip::ErrorNotInitialized, "hipErrorNotInitialized",
     "initialization error"},
    {hip::ErrorDeinitialized, "hipErrorDeinitialized", "driver shutting down"},
    {hip::ErrorInvalidConfiguration, "hipErrorInvalidConfiguration",
     "invalid configuration argument"},
    {hip::ErrorInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    {hip::ErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer",
     "invalid device pointer"},
    {hip::ErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {hip::ErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction",
     "invalid device function"},
    {hip::ErrorNoDevice, "hipErrorNoDevice",
     "no ROCm-capable device is detected"},
    {hip::ErrorInvalidDevice, "hipErrorInvalidDevice",
     "invalid device ordinal"},
    {hip::ErrorInvalidImage, "hipErrorInvalidImage",
     "device kernel image is invalid"},
    {hip::ErrorInvalidContext, "hipErrorInvalidContext",
     "invalid device context"},
    {hip::ErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no kernel image is available for execution on the device"},
    {hip::ErrorInvalidKernelFile, "hipErrorInvalidKernelFile",
     "invalid kernel file"},
    {hip::ErrorFileNotFound, "hipErrorFileNotFound", "file not found"},
    {hip::ErrorOperatingSystem, "hipErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {hip::ErrorInvalidHandle, "hipErrorInvalidHandle",
     "invalid resource handle"},
    {hip::ErrorIllegalState, "hipErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {hip::ErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    {hip::ErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hip::ErrorIllegalAddress, "hipErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {hip::ErrorLaunchOutOfResources, "hipErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {hip::ErrorLaunchTimeOut, "hipErrorLaunchTimeOut",
     "the launch timed out and was terminated"},
    {hip::ErrorLaunchFailure, "hipErrorLaunchFailure",
     "unspecified launch failure"},
    {hip::ErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {hip::ErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hip::ErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {hip::ErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {hip::ErrorStreamCaptureMerge, "hipErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {hip::ErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {hip::ErrorStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {hip::ErrorStreamCaptureIsolation, "hipErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {hip::ErrorStreamCaptureImplicit, "hipErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking "
     "stream"},
    {hip::ErrorCapturedEvent, "hipErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {hip::ErrorStreamCaptureWrongThread, "hipErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another "
     "thread"},
    {hip::ErrorGraphExecUpdateFailure, "hipErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which "
     "violated constraints specific to instantiated graph update"},
};

const ErrorEntry *findError(int code) {
  for (const ErrorEntry &entry : errorEntries)
    if (entry.code == code)
      return &entry;
  return nullptr;
}
} // namespace

const char *hipsim::errorName(int code) {
  const ErrorEntry *entry = findError(code);
  return entry ? entry->name : "hipErrorUnknown";
}

const char *hipsim::errorText(int code) {
  const ErrorEntry *entry = findError(code);
  return entry ? entry->text : "unknown error";
}

int hipsim::finish(int code) {
  if (code)
    lastError = code;
  return code;
}

int hipsim::finish(int code, std::string text) {
  if (code)
    message = std::move(text);
  return finish(code);
}

int hipsim::takeLastError() {
  int code = lastError;
  lastError = 0;
  return code;
}

int hipsim::peekLastError() { return lastError; }
const std::string &hipsim::lastMessage() { return message; }

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

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

static bool parseNumber(llvm::StringRef text, uint64_t &value) {
  uint64_t scale = 1;
  if (text.consume_back_insensitive("k"))
    scale = uint64_t(1) << 10;
  else if (text.consume_back_insensitive("m"))
    scale = uint64_t(1) << 20;
  else if (text.consume_back_insensitive("g"))
    scale = uint64_t(1) << 30;
  if (text.getAsInteger(0, value) || value > UINT64_MAX / scale)
    return false;
  value *= scale;
  return true;
}

int Runtime::setOption(std::string_view nameView, std::string_view valueView,
                       std::string &error) {
  llvm::StringRef name(nameView), value(valueView);
  sim::DeviceOptions options = device->options();
  uint64_t number = 0;
  auto bad = [&](const char *expected) {
    error = ("option " + name + ": expected " + expected + ", found \"" +
             value + "\"")
                .str();
    return int(hip::ErrorInvalidValue);
  };
  const char *size = "a number, with k, m or g for powers of 1024";
  if (name == "check") {
    llvm::Expected<unsigned> checks = sim::parseChecks(value);
    if (!checks) {
      error = "option check: " + llvm::toString(checks.takeError());
      return hip::ErrorInvalidValue;
    }
    options.checks = *checks;
  } else if (name == "mfma") {
    if (value == "cdna3")
      options.mfma = sim::MfmaModel::Cdna3;
    else if (value == "sequential")
      options.mfma = sim::MfmaModel::Sequential;
    else
      return bad("cdna3 or sequential");
  } else if (name == "schedule") {
    auto [policy, seed] = value.split(':');
    if (policy == "round-robin" && seed.empty())
      options.schedule = sim::Schedule::RoundRobin;
    else if (policy == "to-barrier" && seed.empty())
      options.schedule = sim::Schedule::ToBarrier;
    else if (policy == "random" && (seed.empty() || parseNumber(seed, number)))
      options.schedule = sim::Schedule::Random, options.seed = number;
    else
      return bad("round-robin, to-barrier, random or random:SEED");
  } else if (name == "workgroup_order") {
    if (value == "forward")
      options.order = sim::WorkgroupOrder::Forward;
    else if (value == "reverse")
      options.order = sim::WorkgroupOrder::Reverse;
    else if (value == "random")
      options.order = sim::WorkgroupOrder::Random;
    else
      return bad("forward, reverse or random");
  } else if (name == "memory_limit") {
    if (!parseNumber(value, options.memoryLimit))
      return bad(size);
  } else if (name == "instruction_limit") {
    if (!parseNumber(value, options.instructionLimit))
      return bad(size);
  } else if (name == "threads") {
    if (!parseNumber(value, number) || number > 1024)
      return bad("at most 1024 threads");
    options.threads = unsigned(number);
  } else if (name == "report_limit") {
    if (!parseNumber(value, number) || number > 1000000)
      return bad("at most 1000000 reports");
    options.reportLimit = unsigned(number);
  } else if (name == "timeout") {
    double seconds;
    if (value.getAsDouble(seconds) || seconds < 0)
      return bad("seconds");
    options.timeout = seconds;
  } else if (name == "counters") {
    if (value != "on" && value != "off")
      return bad("on or off");
    options.counters = value == "on";
  } else if (name == "record") {
    if (value != "on" && value != "off")
      return bad("on or off");
    std::lock_guard<std::mutex> guard(records);
    keepLaunches = value == "on";
    return 0;
  } else if (name == "report") {
    std::lock_guard<std::mutex> guard(records);
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

/// hipStreamPerThread; hipStreamLegacy is 1.
static constexpr uintptr_t legacyHandle = 1, perThreadHandle = 2;

std::shared_ptr<Stream> Runtime::findStream(void *handle) {
  auto value = reinterpret_cast<uintptr_t>(handle);
  if (value == 0 || value == legacyHandle)
    return defaultStream;
  if (value == perThreadHandle) {
    static thread_local std::shared_ptr<Stream> own;
    if (!own) {
      own = std::make_shared<Stream>(hip::StreamDefault, 0);
      streams[own.get()] = own;
    }
    return own;
  }
  auto found = streams.find(handle);
  return found != streams.end() ? found->second : nullptr;
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

int Runtime::forbidWhileCapturing() {
  std::lock_guard<std::mutex> guard(submission);
  std::erase_if(captures, [](auto &weak) { return weak.expired(); });
  for (const std::weak_ptr<Capture> &weak : captures) {
    std::shared_ptr<Capture> capture = weak.lock();
    if (!capture || capture->mode == hip::StreamCaptureModeRelaxed)
      continue;
    if (capture->mode == hip::StreamCaptureModeThreadLocal &&
        capture->thread != std::this_thread::get_id())
      continue;
    capture->invalidated = true;
    return hip::ErrorStreamCaptureUnsupported;
  }
  return 0;
}

int Runtime::synchronizeAll() {
  std::vector<std::shared_ptr<Stream>> all;
  {
    std::lock_guard<std::mutex> guard(submission);
    if (defaultStream)
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

int GraphNode::execute(bool faulted) const {
  // After a fault, memory holds nothing worth computing with.
  switch (kind) {
  case Kind::Kernel:
    return faulted ? 0 : Runtime::get().launch(kernel);
  case Kind::Memcpy:
    return hipsim::execute(copy);
  case Kind::Memset:
    return hipsim::execute(fill);
  case Kind::Host:
    host.function(host.user);
    return 0;
  case Kind::Empty:
    return 0;
  }
  return 0;
}

int hipsim::captureNode(Stream &stream, std::shared_ptr<GraphNode> node) {
  Capture &capture = *stream.capture;
  if (capture.invalidated)
    return hip::ErrorStreamCaptureInvalidated;
  node->after = stream.captureLeaves;
  capture.graph->nodes.push_back(std::move(node));
  stream.captureLeaves = {capture.graph->nodes.size() - 1};
  return 0;
}

int hipsim::submitNode(void *handle, std::shared_ptr<GraphNode> node,
                       bool wait) {
  Runtime &runtime = Runtime::get();
  Position position;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Stream> stream = runtime.findStream(handle);
    if (!stream)
      return hip::ErrorInvalidHandle;
    if (stream->capture)
      return captureNode(*stream, std::move(node));
    position = runtime.enqueue(
        *stream, [node](bool faulted) { return node->execute(faulted); });
  }
  if (wait)
    position.wait();
  return 0;
}
