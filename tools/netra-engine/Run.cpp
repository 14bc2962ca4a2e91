//===- Run.cpp - netra-engine run -----------------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "InputFile.h"
#include "Number.h"
#include "OutputFile.h"

#include "Netra/Target/Bundle.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"

#include <netra/engine.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <utility>

using namespace netra::tool;
using nlohmann::json;

namespace {

/// What the simulator exports beside HIP; absent with AMD's library.
struct SimulatorApi {
  int (*setOption)(const char *, const char *) = nullptr;
  const char *(*message)() = nullptr;
  size_t (*launches)(char *, size_t) = nullptr;
  uint64_t (*findingCount)() = nullptr;
  void (*clear)() = nullptr;

  explicit operator bool() const { return setOption; }

  static SimulatorApi find(const char *library) {
    SimulatorApi api;
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (!handle)
      return api;
    auto get = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(handle, name));
      return function != nullptr;
    };
    bool all = get(api.setOption, "netra_hipsim_set_option") &&
               get(api.message, "netra_hipsim_message") &&
               get(api.launches, "netra_hipsim_launches") &&
               get(api.findingCount, "netra_hipsim_finding_count") &&
               get(api.clear, "netra_hipsim_clear");
    return all ? api : SimulatorApi();
  }
};

struct Buffer {
  netra_binding_info info = {};
  void *device = nullptr;
  std::vector<char> initial; // inputs and states
  std::vector<char> result;  // outputs and states, of the first launch
};

/// A message that ends the run; a plain value, so that clean-up happens.
struct Failure {
  std::string message;
  int code = ExitFailure;
};
using Outcome = std::optional<Failure>;

class Runner {
public:
  explicit Runner(const Arguments &arguments) : arguments(arguments) {}
  ~Runner() {
    for (Buffer &buffer : buffers)
      if (buffer.device)
        netra_device_free(engine, buffer.device);
    netra_engine_destroy(engine);
  }

  Outcome run() {
    using Step = Outcome (Runner::*)();
    for (Step step : {&Runner::readNumbers, &Runner::create, &Runner::choose,
                      &Runner::bind, &Runner::launchAll, &Runner::writeOutputs})
      if (Outcome failure = (this->*step)())
        return failure;
    return report();
  }

private:
  Outcome check(netra_status status, const std::string &what) {
    if (!status)
      return std::nullopt;
    return Failure{what + ": " + netra_status_name(status) + ": " +
                   netra_engine_last_error(engine)};
  }
  static Failure usage(const std::string &message) {
    return {"run: " + message, ExitUsage};
  }

  /// Nothing is loaded for a command line that makes no sense.
  Outcome readNumbers() {
    const struct {
      const char *name;
      uint64_t least, most, &value;
    } numbers[] = {{"device", 0, INT32_MAX, device},
                   {"seed", 0, UINT64_MAX, seed},
                   {"repeat", 1, UINT32_MAX, repeat}};
    for (const auto &[name, least, most, value] : numbers) {
      if (!arguments.has(name))
        continue;
      llvm::Expected<uint64_t> number = arguments.number(name, least, most);
      if (!number)
        return usage(llvm::toString(number.takeError()));
      value = *number;
    }
    std::string list = arguments.get("shape");
    for (size_t at = 0; at < list.size();) {
      size_t end = std::min(list.find(',', at), list.size());
      auto assignment = splitAssignment(list.substr(at, end - at));
      auto name = llvm::find(dimensions, assignment ? assignment->first : "");
      if (name == std::end(dimensions))
        return usage("--shape: expected m=N,batch=N,sequence=N,routed_rows=N,"
                     "tensor_parallel=N, found \"" +
                     list + '"');
      llvm::Expected<uint64_t> number =
          parseNumber(assignment->second, 0, UINT64_MAX);
      if (!number)
        return usage("--shape: " + assignment->first + ": " +
                     llvm::toString(number.takeError()));
      point[name - std::begin(dimensions)] = *number;
      at = end + 1;
    }
    return std::nullopt;
  }

  Outcome create() {
    std::string hip = arguments.get("hip");
    netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
    options.flags = arguments.has("graph") ? NETRA_ENGINE_GRAPH : 0;
    options.hip_library = hip.empty() ? nullptr : hip.c_str();
    std::string goldenRoot = arguments.get("golden-root");
    options.golden_root = goldenRoot.empty() ? nullptr : goldenRoot.c_str();
    options.device_id = int32_t(device);
    char error[2048] = "";
    std::string directory = arguments.get("engine");
    if (netra_status status = netra_engine_create(
            directory.c_str(), &options, &engine, error, sizeof(error)))
      return Failure{directory + ": " + netra_status_name(status) + ": " +
                     error +
                     (status == NETRA_HIP && hip != "sim"
                          ? "\n  (netra-engine run --hip=sim runs it on the "
                            "simulator)"
                          : "")};
    info.struct_size = sizeof(info);
    netra_engine_query(engine, &info);
    simulator = SimulatorApi::find(info.hip_library);
    struct Setting {
      const char *argument, *option;
    };
    for (const Setting &setting :
         {Setting{"check", "check"}, Setting{"mfma", "mfma"},
          Setting{"schedule", "schedule"}, Setting{"threads", "threads"},
          Setting{"memory-limit", "memory_limit"},
          Setting{"timeout", "timeout"},
          Setting{"workgroup-order", "workgroup_order"}}) {
      if (!arguments.has(setting.argument))
        continue;
      if (!simulator)
        return usage(std::string("--") + setting.argument +
                     " needs the simulator (--hip=sim); " + info.hip_library +
                     " is not it");
      if (simulator.setOption(setting.option,
                              arguments.get(setting.argument).c_str())) {
        llvm::StringRef message = simulator.message();
        message.consume_front(std::string("option ") + setting.option + ": ");
        return usage(std::string("--") + setting.argument + ": " +
                     message.str());
      }
    }
    if (arguments.has("counters") && !simulator)
      return usage("--counters needs the simulator (--hip=sim)");
    if (simulator) {
      simulator.setOption("record", "on");
      if (arguments.has("counters"))
        simulator.setOption("counters", "on");
      simulator.clear();
    }
    if (arguments.has("weights"))
      return check(
          netra_engine_load_weights(engine, arguments.get("weights").c_str()),
          "loading the weights");
    netra_weights_info weights = {};
    weights.struct_size = sizeof(weights);
    netra_engine_query_weights(engine, &weights);
    if (weights.bytes)
      return usage("--weights is missing: expected the file that netra-engine "
                   "pack-weights makes for this engine, with its " +
                   byteCount(weights.bytes) + " of weights");
    return std::nullopt;
  }

  Outcome choose() {
    if (arguments.has("profile"))
      if (Outcome failure =
              check(netra_engine_find_profile(
                        engine, arguments.get("profile").c_str(), &profile),
                    "--profile"))
        return failure;
    uint64_t *const fields[] = {&shape.m, &shape.batch, &shape.sequence,
                                &shape.routed_rows, &shape.tensor_parallel};
    if (profile != NETRA_PROFILE_AUTO) {
      // Whatever --shape leaves out takes the least that the profile admits.
      netra_profile_info p = {};
      p.struct_size = sizeof(p);
      netra_engine_query_profile(engine, profile, &p);
      const netra_range ranges[] = {p.m, p.batch, p.sequence, p.routed_rows,
                                    p.tensor_parallel};
      for (int i = 0; i < 5; ++i)
        *fields[i] = std::clamp(*fields[i], ranges[i].min, ranges[i].max);
    }
    for (int i = 0; i < 5; ++i)
      *fields[i] = point[i].value_or(*fields[i]);
    if (profile == NETRA_PROFILE_AUTO)
      if (Outcome failure =
              check(netra_engine_select_profile(engine, &shape, &profile),
                    "choosing a profile"))
        return failure;
    profileInfo.struct_size = sizeof(profileInfo);
    netra_engine_query_profile(engine, profile, &profileInfo);
    return std::nullopt;
  }

  /// The binding that `name` means: where the chosen profile has one of its
  /// own, NAME.PROFILE, since its type is another than that of the first, also
  /// NAME.
  std::string bindingNamed(const std::string &name) const {
    std::string own = name + "." + profileInfo.name;
    auto has = [&](const std::string &wanted) {
      return llvm::any_of(plan.bindings, [&](uint64_t index) {
        return wanted == buffers[index].info.name;
      });
    };
    return !has(name) && has(own) ? own : name;
  }

  /// FILE of each NAME=FILE, by the name of the binding.
  Outcome filesByName(const std::string &option,
                      std::map<std::string, std::string> &files) const {
    for (const std::string &text : arguments.all(option)) {
      auto assignment = splitAssignment(text);
      if (!assignment)
        return usage("--" + option + ": expected NAME=FILE, found \"" + text +
                     '"');
      auto &[name, file] = *assignment;
      std::string binding = bindingNamed(name);
      if (!files.emplace(binding, file).second)
        return usage("--" + option + ": " + binding + " is given twice");
    }
    return std::nullopt;
  }

  Outcome bind() {
    buffers.resize(info.binding_count);
    for (uint32_t i = 0; i < info.binding_count; ++i) {
      buffers[i].info.struct_size = sizeof(buffers[i].info);
      netra_engine_query_binding(engine, i, &buffers[i].info);
    }
    llvm::Expected<netra::Engine> bundle =
        netra::readBundle(arguments.get("engine"));
    if (!bundle)
      return Failure{llvm::toString(bundle.takeError())};
    plan = std::move(bundle->plans[profile]);
    std::map<std::string, std::string> inputs;
    if (Outcome failure = filesByName("input", inputs))
      return failure;
    if (Outcome failure = filesByName("output", outputs))
      return failure;

    std::vector<bool> used = bindingsOfSteps();
    std::string missing;
    for (uint32_t i = 0; i < info.binding_count; ++i) {
      Buffer &buffer = buffers[i];
      if (buffer.info.role == NETRA_OUTPUT)
        continue;
      buffer.initial.resize(buffer.info.bytes);
      auto found = inputs.find(buffer.info.name);
      if (found != inputs.end()) {
        if (Outcome failure = readInput(found->second, buffer))
          return failure;
        inputs.erase(found);
      } else if (arguments.has("seed")) {
        if (buffer.info.role == NETRA_INPUT)
          fillRandom(buffer, seed + i);
      } else if (buffer.info.role == NETRA_INPUT && used[i]) {
        missing += std::string(missing.empty() ? "" : ", ") + buffer.info.name;
      }
    }
    if (!inputs.empty())
      return usage(
          "--input: expected one of " +
          bindingNames([](netra_role role) { return role != NETRA_OUTPUT; }) +
          ", found " + inputs.begin()->first);
    if (!missing.empty())
      return usage("no --input for " + missing +
                   "; --seed=N fills inputs with random values");
    for (const auto &[name, path] : outputs) {
      bool known = false;
      for (const Buffer &buffer : buffers)
        known |= buffer.info.role != NETRA_INPUT && name == buffer.info.name;
      if (!known)
        return usage(
            "--output: expected one of " +
            bindingNames([](netra_role role) { return role != NETRA_INPUT; }) +
            ", found " + name);
      if (std::string why = whyNotWritten(name, path); !why.empty())
        return Failure{"cannot write " + path + ": " + why +
                       "; name another file with --output"};
    }
    for (uint32_t i = 0; i < info.binding_count; ++i) {
      Buffer &buffer = buffers[i];
      uint64_t bytes = std::max<uint64_t>(buffer.info.bytes, 1);
      std::string what = std::string("binding ") + buffer.info.name;
      if (Outcome failure =
              check(netra_device_malloc(engine, bytes, &buffer.device), what))
        return failure;
      if (Outcome failure =
              check(netra_engine_bind(engine, i, buffer.device, bytes), what))
        return failure;
    }
    if (Outcome failure = check(netra_engine_finalize(engine), "finalizing"))
      return failure;
    if (arguments.has("graph"))
      return check(netra_engine_prepare(engine, profile, nullptr),
                   "capturing the graph");
    return std::nullopt;
  }

  /// By number, whether a step of the profile touches the binding: the engine
  /// holds the bindings of its other profiles, too.
  std::vector<bool> bindingsOfSteps() const {
    std::vector<bool> used(info.binding_count);
    auto mark = [&](const netra::EngineSlot &slot) {
      if (slot.kind == netra::EngineSlot::Kind::Binding)
        used[slot.index] = true;
    };
    for (const netra::EngineStep &step : plan.steps) {
      llvm::for_each(step.arguments, mark);
      for (const auto *operands : {&step.inputs, &step.outputs})
        for (const netra::EngineOperand &operand : *operands)
          mark(operand.slot);
    }
    return used;
  }

  /// The names of the bindings whose role \p wanted admits.
  std::string bindingNames(bool (*wanted)(netra_role)) const {
    std::string names;
    for (const Buffer &buffer : buffers)
      if (wanted(buffer.info.role))
        names += (names.empty() ? "" : ", ") + std::string(buffer.info.name);
    return names.empty() ? "nothing (there are none)" : names;
  }

  /// Inputs have been read by then, so that states may go where they came from.
  std::string whyNotWritten(const std::string &name,
                            const std::string &path) const {
    for (const auto &[other, place] : outputs)
      if (other < name && !whyNotApart(path, {place}).empty())
        return "it is where " + other + " goes";
    std::vector<std::string> read = {arguments.get("engine")};
    if (arguments.has("weights"))
      read.push_back(arguments.get("weights"));
    return whyNotApart(path, read);
  }

  static Outcome readInput(const std::string &path, Buffer &buffer) {
    auto file = netra::tool::readInput(path);
    if (!file)
      return Failure{llvm::toString(file.takeError())};
    if ((*file)->getBufferSize() != buffer.info.bytes)
      return Failure{path + ": expected " + std::to_string(buffer.info.bytes) +
                     " bytes for " + buffer.info.name + ", found " +
                     std::to_string((*file)->getBufferSize())};
    std::memcpy(buffer.initial.data(), (*file)->getBufferStart(),
                buffer.info.bytes);
    return std::nullopt;
  }

  /// Standard normal values for floating point, 0…99 for integers. The
  /// generator and the transform are fixed, so a seed means the same anywhere.
  static void fillRandom(Buffer &buffer, uint64_t seed) {
    std::mt19937_64 generator(seed);
    auto uniform = [&] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
    llvm::StringRef type = buffer.info.type;
    const llvm::fltSemantics *semantics = nullptr;
    unsigned bytes = 0;
    if (type == "bf16")
      semantics = &llvm::APFloat::BFloat(), bytes = 2;
    else if (type == "f16")
      semantics = &llvm::APFloat::IEEEhalf(), bytes = 2;
    else if (type == "f32")
      semantics = &llvm::APFloat::IEEEsingle(), bytes = 4;
    else if (type == "f64")
      semantics = &llvm::APFloat::IEEEdouble(), bytes = 8;
    else if (type == "f8E4M3FN")
      semantics = &llvm::APFloat::Float8E4M3FN(), bytes = 1;
    else if (type == "f8E5M2")
      semantics = &llvm::APFloat::Float8E5M2(), bytes = 1;
    if (!semantics) {
      uint64_t bits = 8;
      type.substr(1).getAsInteger(10, bits);
      bytes = unsigned(bits / 8);
    }
    for (size_t at = 0; at + bytes <= buffer.initial.size(); at += bytes) {
      uint64_t bits = generator() % 100;
      if (semantics) {
        llvm::APFloat value(std::sqrt(-2 * std::log(uniform())) *
                            std::cos(6.283185307179586 * uniform()));
        bool inexact;
        value.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
        bits = value.bitcastToAPInt().getZExtValue();
      }
      std::memcpy(buffer.initial.data() + at, &bits, bytes);
    }
  }

  Outcome launchAll() {
    for (uint64_t i = 0; i < repeat; ++i)
      if (Outcome failure = launchOnce(i))
        return failure;
    return std::nullopt;
  }

  Outcome launchOnce(uint64_t index) {
    // Every launch starts from the same inputs and states, so that repeats can
    // be compared.
    for (Buffer &buffer : buffers)
      if (!buffer.initial.empty())
        if (Outcome failure = check(
                netra_device_copy(engine, buffer.device, buffer.initial.data(),
                                  buffer.initial.size(), NETRA_HOST_TO_DEVICE),
                std::string("copying to ") + buffer.info.name))
          return failure;
    auto start = std::chrono::steady_clock::now();
    if (Outcome failure = check(
            netra_engine_launch(engine, profile, &shape, nullptr), "launching"))
      return failure;
    // With findings, what was computed is still worth writing.
    netra_status status = netra_stream_synchronize(engine, nullptr);
    milliseconds.push_back(std::chrono::duration<double, std::milli>(
                               std::chrono::steady_clock::now() - start)
                               .count());
    if (status && !runFailure)
      runFailure = check(status, "running");
    for (Buffer &buffer : buffers) {
      if (buffer.info.role == NETRA_INPUT || !buffer.info.bytes)
        continue;
      std::vector<char> result(buffer.info.bytes);
      if (Outcome failure =
              check(netra_device_copy(engine, result.data(), buffer.device,
                                      result.size(), NETRA_DEVICE_TO_HOST),
                    std::string("copying from ") + buffer.info.name))
        return failure;
      if (index == 0)
        buffer.result = std::move(result);
      else if (result != buffer.result && !differing)
        differing = Failure{std::string("launch ") + std::to_string(index + 1) +
                            " gives other bits of " + buffer.info.name +
                            " than launch 1"};
    }
    return std::nullopt;
  }

  Outcome writeOutputs() {
    for (const Buffer &buffer : buffers) {
      auto found = outputs.find(buffer.info.name);
      if (buffer.info.role == NETRA_INPUT || found == outputs.end())
        continue;
      if (std::string why = whyNotReplaceable(found->second); !why.empty())
        return Failure{"cannot write " + found->second + ": " + why};
      if (llvm::Error error = writeOutput(
              found->second, {buffer.result.data(), buffer.result.size()}))
        return Failure{llvm::toString(std::move(error))};
    }
    return std::nullopt;
  }

  json launchRecords() const {
    std::string text(simulator.launches(nullptr, 0) + 1, '\0');
    text.resize(simulator.launches(text.data(), text.size()));
    return json::parse(text, nullptr, /*allow_exceptions=*/false);
  }

  Outcome report() {
    uint64_t findings = simulator ? simulator.findingCount() : 0;
    if (arguments.get("counters") == "json")
      printJson(findings);
    else
      printText(findings);
    if (runFailure)
      return runFailure;
    if (findings)
      return Failure{std::to_string(findings) + " findings of the checkers"};
    return differing;
  }

  void printJson(uint64_t findings) const {
    json document = {{"engine", info.name},
                     {"id", info.id},
                     {"device", info.device},
                     {"profile", profileInfo.name},
                     {"milliseconds", milliseconds},
                     {"repeats_equal", !differing.has_value()}};
    if (simulator) {
      document["findings"] = findings;
      document["launches"] = launchRecords();
    }
    std::printf(
        "%s\n",
        document.dump(2, ' ', false, json::error_handler_t::replace).c_str());
  }

  void printText(uint64_t findings) const {
    std::printf("engine %s (%s) on %s, %s\n", info.name, info.id, info.device,
                info.hip_library);
    std::printf("profile %s: %u steps, arena %s%s\n", profileInfo.name,
                profileInfo.step_count,
                byteCount(profileInfo.workspace_bytes).c_str(),
                profileInfo.prepared ? ", as a graph" : "");
    for (size_t i = 0; i < milliseconds.size(); ++i)
      std::printf("launch %zu: %.3f ms\n", i + 1, milliseconds[i]);
    if (simulator)
      printLaunches();
    if (milliseconds.size() > 1 && !differing)
      std::printf("all %zu launches give the same bits\n", milliseconds.size());
    std::string checks = arguments.get("check");
    if (simulator && arguments.has("check") &&
        (checks.empty() || checks == "none"))
      std::printf("checkers: none was on\n");
    else if (simulator && arguments.has("check"))
      std::printf("checkers (%s): %s\n", checks.c_str(),
                  findings ? (std::to_string(findings) + " findings").c_str()
                           : "no findings");
  }

  /// What a first look needs; `--counters=json` has all of them, and
  /// docs/simulator.md defines them.
  static constexpr std::pair<const char *, const char *> mainCounters[] = {
      {"instructions", "instructions of all waves"},
      {"mfma_share", "share of matrix instructions"},
      {"global_load_bytes", "bytes loaded"},
      // The rest is read again, by lanes and work-groups that share it.
      {"global_distinct_read_bytes", "of them distinct"},
      {"first_wait_bytes_per_cu", "bytes in flight per CU at the first wait"},
      {"max_round_trips", "serial memory round trips of a wave"},
      {"lds_conflict_cycles", "LDS bank conflict cycles"},
      {"vgprs", "VGPRs"},
      {"workgroups_per_cu", "work-groups that fit a CU"},
  };

  void printLaunches() const {
    json records = launchRecords();
    if (!records.is_array())
      return;
    std::printf("kernels on the simulator\n");
    size_t limit = profileInfo.step_count; // of the first launch
    for (const json &record : records) {
      if (!limit--)
        break;
      auto triple = [&](const char *key) {
        std::string text;
        for (const json &item : record[key])
          text += (text.empty() ? "" : "x") + item.dump();
        return text;
      };
      std::printf("  %-56s grid %-12s block %-10s %9.3f ms\n",
                  record.value("kernel", "?").c_str(), triple("grid").c_str(),
                  triple("block").c_str(), record.value("milliseconds", 0.0));
      auto counters = record.find("counters");
      if (counters == record.end() || !counters->is_object())
        continue;
      for (const auto &[key, label] : mainCounters)
        if (auto it = counters->find(key); it != counters->end())
          std::printf(
              "    %-40s %s\n", label,
              it->is_number_float()
                  ? llvm::formatv("{0:P1}", it->get<double>()).str().c_str()
                  : it->dump().c_str());
    }
  }

  static constexpr const char *dimensions[] = {
      "m", "batch", "sequence", "routed_rows", "tensor_parallel"};

  const Arguments &arguments;
  uint64_t device = 0, seed = 0, repeat = 1;
  std::optional<uint64_t> point[std::size(dimensions)]; // of --shape
  netra_engine *engine = nullptr;
  netra_engine_info info = {};
  netra_profile_info profileInfo = {};
  SimulatorApi simulator;
  uint32_t profile = NETRA_PROFILE_AUTO;
  netra::EnginePlan plan; // of the profile; the runtime has verified it
  netra_shape shape = NETRA_SHAPE_INIT;
  std::vector<Buffer> buffers;
  std::map<std::string, std::string> outputs;
  std::vector<double> milliseconds;
  Outcome runFailure, differing;
};

} // namespace

int netra::tool::runMain(int argc, char **argv) {
  Arguments arguments(
      "run",
      "Runs an engine: inputs from raw little-endian files or random values, "
      "outputs to\nfiles. Repeated launches start from the same inputs, and "
      "must give the same bits.",
      "");
  arguments.value("engine", "DIR", "the engine");
  arguments.value("weights", "FILE", "packed weights, see pack-weights");
  arguments.goldenRoot("the folder of the code that the engine only locks "
                       "(NETRA_GOLDEN_ROOT)");
  arguments.list("input", "NAME=FILE",
                 "an input or state; NAME also means NAME.PROFILE where the "
                 "chosen profile has that instead");
  arguments.list("output", "NAME=FILE",
                 "where an output or state goes, named alike");
  arguments.value("seed", "N", "random values for inputs without a file");
  arguments.value("profile", "NAME", "the profile (chosen by the shape)");
  arguments.value("shape", "m=N,batch=N,...", "the serving point");
  arguments.flag("graph", "launch through a HIP graph");
  arguments.value("repeat", "N", "number of launches");
  arguments.value("hip", "sim|PATH",
                  "HIP library (NETRA_HIP_LIBRARY, else libamdhip64)");
  arguments.value("device", "N", "HIP device");
  arguments.value("check", "LIST",
                  "simulator: all, or memory,init,wait,hazard,race,barrier");
  arguments.optional("counters", "json", "simulator: counters of each kernel");
  arguments.value("mfma", "MODEL", "simulator: cdna3 or sequential");
  arguments.value("schedule", "POLICY",
                  "simulator: round-robin, to-barrier, random:SEED");
  arguments.value("workgroup-order", "ORDER",
                  "simulator: forward, reverse, random:SEED");
  arguments.value("memory-limit", "BYTES[K|M|G]",
                  "simulator: most bytes of device memory, with registers, LDS "
                  "and private memory of what runs (0: the host's)");
  arguments.value("timeout", "SECONDS",
                  "simulator: most time of one kernel (0: no limit)");
  arguments.value("threads", "N", "simulator: host threads (0: one per core)");
  if (std::optional<int> code = arguments.parse(argc, argv))
    return *code;
  if (!arguments.has("engine"))
    return fail("run: --engine is missing", ExitUsage);
  if (std::string counters = arguments.get("counters");
      !counters.empty() && counters != "json")
    return fail("run: --counters: expected nothing or json, found \"" +
                    counters + '"',
                ExitUsage);
  Outcome failure;
  {
    Runner runner(arguments);
    failure = runner.run();
  }
  return failure ? fail(failure->message, failure->code) : int(ExitSuccess);
}
