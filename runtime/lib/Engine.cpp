//===- Engine.cpp - Creating, binding and preparing an engine -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "Weights.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace netra::rt;

namespace {

constexpr uint32_t knownFlags = NETRA_ENGINE_GRAPH |
                                NETRA_ENGINE_CALLER_ORDERS |
                                NETRA_ENGINE_TRUST_WEIGHTS;
constexpr uint32_t maxLanes = 64;
constexpr uintptr_t bindingAlignment = 16;
/// What every HIP allocation is aligned to.
constexpr uint64_t allocationAlignment = 256;

std::string address(const void *pointer) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uintptr_t rest = reinterpret_cast<uintptr_t>(pointer); rest; rest >>= 4)
    text.insert(text.begin(), digits[rest & 15]);
  return "0x" + (text.empty() ? std::string("0") : text);
}

bool overlap(const void *a, uint64_t aBytes, const void *b, uint64_t bBytes) {
  uintptr_t x = reinterpret_cast<uintptr_t>(a);
  uintptr_t y = reinterpret_cast<uintptr_t>(b);
  return aBytes && bBytes && (x < y ? y - x < aBytes : x - y < bBytes);
}

} // namespace

//===----------------------------------------------------------------------===//
// Device scope
//===----------------------------------------------------------------------===//

Engine::DeviceScope::DeviceScope(const Engine &engine)
    : engine(engine), previous(engine.deviceId) {
  code = engine.hip->GetDevice(&previous);
  if (!code && previous != engine.deviceId)
    code = engine.hip->SetDevice(engine.deviceId);
}

Engine::DeviceScope::~DeviceScope() {
  if (!code && previous != engine.deviceId)
    engine.hip->SetDevice(previous);
}

Status Engine::DeviceScope::getStatus() const {
  return code ? engine.hip->error(code, "selecting the device") : Status::ok();
}

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

Status Engine::create(const char *directory,
                      const netra_engine_options &options,
                      std::unique_ptr<Engine> &result) {
  if (options.flags & ~knownFlags)
    return {NETRA_INVALID_ARGUMENT,
            cat("options.flags: unknown bits in ", options.flags)};
  if (options.reserved)
    return {NETRA_INVALID_ARGUMENT,
            cat("options.reserved: expected 0, found ", options.reserved)};
  if (!directory || !*directory)
    return {NETRA_INVALID_ARGUMENT,
            "directory: expected the path of an engine, found an empty one"};
  if (options.lanes > maxLanes)
    return {NETRA_INVALID_ARGUMENT, cat("options.lanes: expected at most ",
                                        maxLanes, ", found ", options.lanes)};
  std::unique_ptr<Engine> engine(new Engine);
  static std::atomic<uint64_t> serials{0};
  engine->serial = ++serials;
  NETRA_RETURN_IF_FAILED(readBundle(directory, options.golden_root,
                                    /*needsCode=*/true, engine->bundle));
  NETRA_RETURN_IF_FAILED(HipApi::open(options.hip_library, engine->hip));
  NETRA_RETURN_IF_FAILED(engine->initialize(options));
  result = std::move(engine);
  return Status::ok();
}

Status Engine::initialize(const netra_engine_options &options) {
  const Manifest &manifest = bundle.manifest;
  deviceId = options.device_id;
  flags = options.flags;
  NETRA_RETURN_IF_FAILED(hip->describeDevice(deviceId, device));
  if (device.architecture != manifest.architecture)
    return {NETRA_UNSUPPORTED_TARGET,
            cat("the engine is for ", manifest.architecture, ", device ",
                deviceId, " (", device.name, ") is ", device.architecture)};
  if (uint64_t(device.waveSize) != manifest.waveSize)
    return {NETRA_UNSUPPORTED_TARGET,
            cat("the engine is for waves of ", manifest.waveSize, ", device ",
                deviceId, " (", device.name, ") has waves of ",
                device.waveSize)};

  DeviceScope scope(*this);
  NETRA_RETURN_IF_FAILED(scope.getStatus());
  std::map<std::string, void *> loaded; // by hash, which several may share
  for (size_t i = 0; i < manifest.codeObjects.size(); ++i) {
    const ManifestCodeObject &object = manifest.codeObjects[i];
    void *&module = loaded[object.sha256];
    if (!module) {
      if (int code = hip->ModuleLoadData(&module, bundle.code[i].data())) {
        Status status = hip->error(code, "hipModuleLoadData");
        return {NETRA_HIP, cat(object.path, ": ", status.getMessage())};
      }
      modules.push_back(module);
    }
    functions.emplace_back();
    for (const ManifestKernel &kernel : object.kernels) {
      void *function = nullptr;
      if (int code = hip->ModuleGetFunction(&function, module,
                                            kernel.symbol.c_str())) {
        Status status = hip->error(code, "hipModuleGetFunction");
        return {NETRA_HIP, cat(object.path, ", ", kernel.symbol, ": ",
                               status.getMessage())};
      }
      functions.back().push_back(function);
    }
  }
  bundle.code.clear();

  for (size_t p = 0; p < manifest.plans.size(); ++p) {
    const ManifestPlan &plan = manifest.plans[p];
    arenaBytes = std::max(arenaBytes, plan.arenaBytes);
    arenaAlignment = std::max(arenaAlignment, plan.arenaAlignment);
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      if (plan.steps[s].kind != NETRA_STEP_FALLBACK)
        continue;
      fallbacks.push_back(describeFallback(plan.steps[s]));
      fallbacks.back().plan = p;
      fallbacks.back().step = s;
    }
  }
  bound = std::vector<Bound>(manifest.bindings.size());
  for (uint32_t i = 0; i < std::max(options.lanes, 1u); ++i) {
    lanes.push_back(std::make_unique<Lane>());
    NETRA_RETURN_IF_FAILED(allocateLane(*lanes.back()));
  }
  return Status::ok();
}

Status Engine::allocateLane(Lane &lane) {
  if (!(flags & NETRA_ENGINE_CALLER_ORDERS))
    if (int code =
            hip->EventCreateWithFlags(&lane.event, hip::EventDisableTiming))
      return hip->error(code, "hipEventCreateWithFlags");
  if (!arenaBytes)
    return Status::ok();
  uint64_t padding = arenaAlignment - allocationAlignment;
  if (int code = hip->Malloc(&lane.allocation, arenaBytes + padding)) {
    Status status = hip->error(code, "hipMalloc");
    return {NETRA_HIP, cat("allocating the arena of ", arenaBytes,
                           " bytes: ", status.getMessage())};
  }
  uintptr_t start = reinterpret_cast<uintptr_t>(lane.allocation);
  uintptr_t aligned = (start + arenaAlignment - 1) & ~(arenaAlignment - 1);
  if (aligned + arenaBytes > start + arenaBytes + padding)
    return {NETRA_HIP, cat("hipMalloc returned ", address(lane.allocation),
                           ", expected an address that is a multiple of ",
                           allocationAlignment)};
  lane.arena = reinterpret_cast<void *>(aligned);
  return Status::ok();
}

Engine::~Engine() {
  if (!hip)
    return;
  DeviceScope scope(*this);
  // Errors have nobody left to go to.
  for (const std::unique_ptr<Lane> &lane : lanes) {
    for (const std::unique_ptr<PreparedPlan> &plan : lane->plans)
      if (void *graph = plan->graph.load())
        hip->GraphExecDestroy(graph);
    if (lane->event)
      hip->EventDestroy(lane->event);
    if (lane->allocation)
      hip->Free(lane->allocation);
  }
  if (ownedWeights)
    hip->Free(ownedWeights);
  for (void *module : modules)
    hip->ModuleUnload(module);
}

Status Engine::close() {
  std::unique_lock<std::mutex> guard(mutex, std::try_to_lock);
  closing = true;
  if (!guard.owns_lock() || inFlight.load() != 0) {
    closing = false;
    return {NETRA_BUSY, "another thread is inside a call on this engine; "
                        "destroy it when all have returned"};
  }
  // Kernels still running read the arena and the weights.
  DeviceScope scope(*this);
  hip->DeviceSynchronize();
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Weights, bindings, fallbacks
//===----------------------------------------------------------------------===//

Status Engine::requireOpen() const {
  if (finalized.load())
    return {NETRA_BINDING, "the bindings are final since "
                           "netra_engine_finalize; use "
                           "netra_engine_launch_bound for other buffers"};
  return Status::ok();
}

Status Engine::requireFinal() const {
  if (!finalized.load(std::memory_order_acquire))
    return {NETRA_BINDING, "expected netra_engine_finalize before this call"};
  return Status::ok();
}

bool Engine::hasWeights() const {
  return weights.load() != nullptr || bundle.manifest.weights.bytes == 0;
}

Status Engine::loadWeights(const char *path) {
  std::lock_guard<std::mutex> guard(mutex);
  NETRA_RETURN_IF_FAILED(requireOpen());
  const ManifestWeights &expected = bundle.manifest.weights;
  if (!expected.bytes)
    return {NETRA_INVALID_ARGUMENT, "the engine has no weights"};
  WeightsFile file;
  NETRA_RETURN_IF_FAILED(
      file.open(path, expected, !(flags & NETRA_ENGINE_TRUST_WEIGHTS)));

  DeviceScope scope(*this);
  NETRA_RETURN_IF_FAILED(scope.getStatus());
  void *memory = nullptr;
  if (int code = hip->Malloc(&memory, expected.bytes)) {
    Status status = hip->error(code, "hipMalloc");
    return {NETRA_HIP, cat("allocating ", expected.bytes,
                           " bytes of weights: ", status.getMessage())};
  }
  // In pieces, so that HIP's staging of pageable memory stays bounded.
  constexpr uint64_t piece = uint64_t(1) << 28;
  for (uint64_t at = 0; at < expected.bytes; at += piece)
    if (int code = hip->Memcpy(
            static_cast<char *>(memory) + at, file.getData().data() + at,
            std::min(piece, expected.bytes - at), hip::MemcpyHostToDevice)) {
      Status status = hip->error(code, "hipMemcpy");
      hip->Free(memory);
      return status;
    }
  if (ownedWeights)
    hip->Free(ownedWeights);
  ownedWeights = memory;
  weights = memory;
  return Status::ok();
}

Status Engine::bindWeights(const void *pointer, uint64_t bytes) {
  std::lock_guard<std::mutex> guard(mutex);
  NETRA_RETURN_IF_FAILED(requireOpen());
  const ManifestWeights &expected = bundle.manifest.weights;
  if (!pointer)
    return {NETRA_INVALID_ARGUMENT, "the device pointer is null"};
  if (bytes < expected.bytes)
    return {NETRA_BINDING, cat("expected ", expected.bytes,
                               " bytes of weights, found ", bytes)};
  if (reinterpret_cast<uintptr_t>(pointer) % expected.alignment)
    return {NETRA_BINDING,
            cat("expected weights aligned to ", expected.alignment,
                " bytes, found ", address(pointer))};
  if (ownedWeights) {
    DeviceScope scope(*this);
    hip->Free(ownedWeights);
    ownedWeights = nullptr;
  }
  weights = pointer;
  return Status::ok();
}

const void *Engine::getBinding(uint32_t index) const {
  return bound[index].pointer.load();
}

Status Engine::checkBuffer(uint64_t index, const void *pointer,
                           uint64_t bytes) const {
  if (index >= bundle.manifest.bindings.size())
    return {NETRA_INVALID_ARGUMENT,
            cat("there is no binding ", index, "; the engine has ",
                bundle.manifest.bindings.size())};
  const ManifestBinding &binding = bundle.manifest.bindings[index];
  if (bytes < binding.bytes)
    return {NETRA_BINDING, cat("binding ", binding.name, ": expected at least ",
                               binding.bytes, " bytes, found ", bytes)};
  if (bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(pointer))
    return {NETRA_BINDING,
            cat("binding ", binding.name, ": ", bytes, " bytes from ",
                address(pointer), " leave the address space")};
  if (!pointer && binding.bytes)
    return {NETRA_INVALID_ARGUMENT,
            cat("binding ", binding.name, ": the device pointer is null")};
  if (reinterpret_cast<uintptr_t>(pointer) % bindingAlignment)
    return {NETRA_BINDING,
            cat("binding ", binding.name, ": expected an address aligned to ",
                bindingAlignment, " bytes, found ", address(pointer))};
  return Status::ok();
}

Status Engine::bind(uint32_t index, void *pointer, uint64_t bytes) {
  std::lock_guard<std::mutex> guard(mutex);
  NETRA_RETURN_IF_FAILED(requireOpen());
  NETRA_RETURN_IF_FAILED(checkBuffer(index, pointer, bytes));
  bound[index].pointer = pointer;
  bound[index].bytes = bytes;
  return Status::ok();
}

/// Everything points into the step, which stays where it is.
Engine::Fallback Engine::describeFallback(const ManifestStep &step) {
  auto describe = [](const ManifestOperand &operand, netra_operand_role role) {
    netra_operand_info info = {};
    info.struct_size = sizeof(info);
    info.name = operand.name.c_str();
    info.role = role;
    info.type = operand.type.c_str();
    info.layout = operand.layout.c_str();
    info.shape = operand.shape.data();
    info.rank = uint32_t(operand.shape.size());
    info.partner = UINT32_MAX;
    info.bytes = operand.slot.bytes;
    return info;
  };
  Fallback result;
  for (const ManifestOperand &input : step.inputs)
    result.inputs.push_back(describe(input, NETRA_OPERAND_READ));
  for (const ManifestOperand &output : step.outputs) {
    result.outputs.push_back(describe(output, NETRA_OPERAND_WRITE));
    if (output.updates == UINT64_MAX)
      continue;
    netra_operand_info &in = result.inputs[output.updates];
    netra_operand_info &out = result.outputs.back();
    in.role = out.role = NETRA_OPERAND_UPDATE;
    in.partner = uint32_t(result.outputs.size() - 1);
    out.partner = uint32_t(output.updates);
  }
  for (const ManifestAttribute &attribute : step.attributes) {
    netra_attribute value = attribute.value;
    value.name = attribute.name.c_str();
    if (value.kind == NETRA_ATTRIBUTE_TEXT)
      value.value.text = attribute.text.c_str();
    result.attributes.push_back(value);
  }
  return result;
}

size_t Engine::fallbackIndex(size_t plan, size_t step) const {
  // They are in the order of plans and steps.
  auto at = std::partition_point(
      fallbacks.begin(), fallbacks.end(), [&](const Fallback &fallback) {
        return std::pair<size_t, size_t>(fallback.plan, fallback.step) <
               std::pair(plan, step);
      });
  bool isThere = at != fallbacks.end() && at->plan == plan && at->step == step;
  return isThere ? at - fallbacks.begin() : fallbacks.size();
}

const netra_operand_info *Engine::getOperand(uint32_t profile, uint32_t step,
                                             bool isOutput,
                                             uint32_t index) const {
  size_t at = fallbackIndex(profile, step);
  if (at == fallbacks.size())
    return nullptr;
  const auto &operands =
      isOutput ? fallbacks[at].outputs : fallbacks[at].inputs;
  return index < operands.size() ? &operands[index] : nullptr;
}

static Status checkFallbackFlags(uint32_t flags) {
  if (flags & ~NETRA_FALLBACK_CAPTURABLE)
    return {NETRA_INVALID_ARGUMENT, cat("flags: unknown bits in ", flags)};
  return Status::ok();
}

Status Engine::setFallback(const char *operation, netra_fallback_fn function,
                           void *user, uint32_t fallbackFlags) {
  std::lock_guard<std::mutex> guard(mutex);
  NETRA_RETURN_IF_FAILED(requireOpen());
  NETRA_RETURN_IF_FAILED(checkFallbackFlags(fallbackFlags));
  bool found = false;
  for (Fallback &fallback : fallbacks)
    if (stepOf(fallback).operation == operation) {
      fallback.function = function;
      fallback.user = user;
      fallback.flags = fallbackFlags;
      found = true;
    }
  if (!found)
    return {NETRA_INVALID_ARGUMENT,
            cat("no step of the engine falls back to ", operation)};
  return Status::ok();
}

Status Engine::setStepFallback(uint32_t profile, uint32_t step,
                               netra_fallback_fn function, void *user,
                               uint32_t fallbackFlags) {
  std::lock_guard<std::mutex> guard(mutex);
  NETRA_RETURN_IF_FAILED(requireOpen());
  NETRA_RETURN_IF_FAILED(checkFallbackFlags(fallbackFlags));
  size_t index = fallbackIndex(profile, step);
  if (index == fallbacks.size())
    return {NETRA_INVALID_ARGUMENT, cat("step ", step, " of profile ", profile,
                                        " is no fallback of the engine")};
  fallbacks[index].function = function;
  fallbacks[index].user = user;
  fallbacks[index].flags = fallbackFlags;
  return Status::ok();
}

Status Engine::missing(const Fallback &fallback) const {
  const ManifestPlan &plan = bundle.manifest.plans[fallback.plan];
  const ManifestStep &step = plan.steps[fallback.step];
  return {NETRA_FALLBACK_REQUIRED,
          cat("plan ", plan.name, ", step ", fallback.step, " (", step.name,
              ") falls back to ", step.operation,
              ", which nothing is registered for")};
}

//===----------------------------------------------------------------------===//
// Finalizing
//===----------------------------------------------------------------------===//

Status Engine::checkOverlaps() const {
  const Manifest &manifest = bundle.manifest;
  for (size_t i = 0; i < bound.size(); ++i) {
    const ManifestBinding &binding = manifest.bindings[i];
    if (binding.role == NETRA_INPUT)
      continue;
    auto clash = [&](std::string other) {
      return Status(NETRA_BINDING,
                    cat("binding ", binding.name, " is written and overlaps ",
                        std::move(other),
                        "; the plan was made for separate buffers"));
    };
    const void *pointer = bound[i].pointer;
    for (size_t j = 0; j < bound.size(); ++j)
      if (i != j && overlap(pointer, binding.bytes, bound[j].pointer,
                            manifest.bindings[j].bytes))
        return clash("binding " + manifest.bindings[j].name);
    if (overlap(pointer, binding.bytes, weights, manifest.weights.bytes))
      return clash("the weights");
  }
  return Status::ok();
}

Engine::Address Engine::addressOf(const Lane &lane,
                                  const ManifestSlot &slot) const {
  auto at = [&](const void *base) {
    auto *start = const_cast<char *>(static_cast<const char *>(base));
    return Address{start + slot.offset, 0};
  };
  switch (slot.kind) {
  case ManifestSlot::Kind::Binding:
    return at(bound[slot.index].pointer);
  case ManifestSlot::Kind::Weight:
    return at(static_cast<const char *>(weights.load()) +
              bundle.manifest.weights.entries[slot.index].offset);
  case ManifestSlot::Kind::Arena:
    return at(lane.arena);
  case ManifestSlot::Kind::Value:
    return {nullptr, slot.bits};
  case ManifestSlot::Kind::Null:
    break;
  }
  return {};
}

void Engine::preparePlan(Lane &lane, size_t index, PreparedPlan &plan) const {
  const Manifest &manifest = bundle.manifest;
  const ManifestPlan &source = manifest.plans[index];
  auto kernelOf = [&](const ManifestStep &step) -> const ManifestKernel & {
    return manifest.codeObjects[step.codeObject].kernels[step.kernel];
  };
  auto rounded = [](uint64_t bytes) { return (bytes + 15) & ~uint64_t(15); };

  // All memory first: pointers into it are taken below.
  uint64_t total = 0;
  for (const ManifestStep &step : source.steps)
    if (step.kind == NETRA_STEP_LAUNCH)
      total += rounded(kernelOf(step).kernargBytes);
  plan.kernargs.resize(total);
  plan.steps.resize(source.steps.size());
  plan.patches.resize(manifest.bindings.size());

  uint64_t at = 0;
  for (size_t i = 0; i < source.steps.size(); ++i) {
    const ManifestStep &step = source.steps[i];
    PreparedStep &out = plan.steps[i];
    out.isLaunch = step.kind == NETRA_STEP_LAUNCH;
    if (!out.isLaunch) {
      out.fallback = fallbackIndex(index, i);
      auto prepare = [&](const std::vector<ManifestOperand> &sources,
                         const std::vector<netra_operand_info> &infos,
                         std::vector<netra_operand> &operands) {
        operands.resize(sources.size());
        for (size_t j = 0; j < sources.size(); ++j) {
          const ManifestSlot &slot = sources[j].slot;
          operands[j] = {addressOf(lane, slot).pointer, slot.bytes, &infos[j]};
          if (slot.kind == ManifestSlot::Kind::Binding)
            plan.patches[slot.index].push_back(
                {&operands[j].pointer, slot.offset});
        }
      };
      const Fallback &fallback = fallbacks[out.fallback];
      prepare(step.inputs, fallback.inputs, out.inputs);
      prepare(step.outputs, fallback.outputs, out.outputs);
      continue;
    }
    const ManifestKernel &kernel = kernelOf(step);
    out.function = functions[step.codeObject][step.kernel];
    for (int d = 0; d < 3; ++d) {
      out.grid[d] = uint32_t(step.grid[d].constant);
      out.block[d] = uint32_t(step.block[d]);
    }
    if (step.varies())
      out.varying = &step;
    out.dynamicLds = uint32_t(step.dynamicLds);
    out.kernargBytes = kernel.kernargBytes;
    uint8_t *image = plan.kernargs.data() + at;
    at += rounded(kernel.kernargBytes);
    for (size_t a = 0; a < step.arguments.size(); ++a) {
      const ManifestSlot &slot = step.arguments[a];
      const ManifestArgument &argument = kernel.arguments[a];
      Address operand = addressOf(lane, slot);
      uint8_t *place = image + argument.offset;
      if (argument.isPointer)
        std::memcpy(place, &operand.pointer, sizeof(void *));
      else
        std::memcpy(place, &operand.value, argument.bytes);
      if (!slot.follows.isConstant())
        out.values.push_back({place, argument.bytes, &slot.follows});
      if (slot.kind == ManifestSlot::Kind::Binding)
        plan.patches[slot.index].push_back(
            {reinterpret_cast<void **>(place), slot.offset});
    }
    out.extra[0] = reinterpret_cast<void *>(hip::LaunchParamBufferPointer);
    out.extra[1] = image;
    out.extra[2] = reinterpret_cast<void *>(hip::LaunchParamBufferSize);
    out.extra[3] = &out.kernargBytes;
    out.extra[4] = reinterpret_cast<void *>(hip::LaunchParamEnd);
  }
}

Status Engine::finalize() {
  std::lock_guard<std::mutex> guard(mutex);
  if (finalized.load())
    return Status::ok();
  const Manifest &manifest = bundle.manifest;
  if (!hasWeights())
    return {NETRA_BINDING,
            cat("the engine needs ", manifest.weights.bytes,
                " bytes of weights; load or bind them before finalizing")};
  std::string unbound;
  for (size_t i = 0; i < bound.size(); ++i)
    if (!bound[i].pointer && manifest.bindings[i].bytes)
      unbound += cat(unbound.empty() ? "" : ", ", manifest.bindings[i].name);
  if (!unbound.empty())
    return {NETRA_BINDING, cat("nothing is bound to ", unbound)};
  NETRA_RETURN_IF_FAILED(checkOverlaps());

  missingFallback.assign(manifest.plans.size(), -1);
  for (size_t f = fallbacks.size(); f-- > 0;)
    if (!fallbacks[f].function)
      missingFallback[fallbacks[f].plan] = int64_t(f);

  for (const std::unique_ptr<Lane> &lane : lanes) {
    lane->plans.clear();
    for (size_t p = 0; p < manifest.plans.size(); ++p) {
      lane->plans.push_back(std::make_unique<PreparedPlan>());
      preparePlan(*lane, p, *lane->plans.back());
    }
  }
  finalized.store(true, std::memory_order_release);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

bool Engine::isPrepared(uint32_t profile) const {
  return finalized.load(std::memory_order_acquire) &&
         lanes.back()->plans[profile]->graph.load() != nullptr;
}

Status Engine::prepare(uint32_t profile, void *stream) {
  std::lock_guard<std::mutex> guard(mutex);
  NETRA_RETURN_IF_FAILED(requireFinal());
  if (profile >= bundle.manifest.plans.size())
    return {NETRA_INVALID_ARGUMENT,
            cat("there is no profile ", profile, "; the engine has ",
                bundle.manifest.plans.size())};
  const ManifestPlan &plan = bundle.manifest.plans[profile];
  if (int64_t first = missingFallback[profile]; first >= 0)
    return missing(fallbacks[size_t(first)]);
  if (!(flags & NETRA_ENGINE_GRAPH) || isPrepared(profile))
    return Status::ok();
  for (const Fallback &fallback : fallbacks)
    if (fallback.plan == profile &&
        !(fallback.flags & NETRA_FALLBACK_CAPTURABLE))
      return {NETRA_FALLBACK_REQUIRED,
              cat("plan ", plan.name, ", step ", fallback.step,
                  ": the fallback registered for ", stepOf(fallback).operation,
                  " is not capturable; launches of this plan stay direct")};

  for (const ManifestStep &step : plan.steps)
    if (step.varies())
      return {NETRA_UNSUPPORTED_PROFILE,
              cat("plan ", plan.name, ", step ", step.name,
                  ": its grid or arguments follow the shape of a launch, which "
                  "a graph cannot; launches of this plan stay direct")};

  DeviceScope scope(*this);
  NETRA_RETURN_IF_FAILED(scope.getStatus());
  void *own = nullptr;
  if (!stream) {
    // The default stream cannot be captured.
    if (int code = hip->StreamCreateWithFlags(&own, hip::StreamNonBlocking))
      return hip->error(code, "hipStreamCreateWithFlags");
    stream = own;
  }
  Status status;
  for (const std::unique_ptr<Lane> &lane : lanes) {
    if (lane->plans[profile]->graph.load())
      continue;
    claimThis(*lane);
    LaneClaim claim(*lane);
    status = capture(*lane, profile, stream);
    if (status.failed())
      break;
  }
  if (own)
    hip->StreamDestroy(own);
  return status;
}

Status Engine::capture(Lane &lane, size_t profile, void *stream) {
  if (int code =
          hip->StreamBeginCapture(stream, hip::StreamCaptureModeThreadLocal))
    return hip->error(code, "hipStreamBeginCapture");
  netra_shape shape = NETRA_SHAPE_INIT;
  const Guards &guards = bundle.manifest.plans[profile].guards;
  uint64_t *fields[dimensionCount] = {&shape.m, &shape.batch, &shape.sequence,
                                      &shape.routed_rows,
                                      &shape.tensor_parallel};
  for (unsigned i = 0; i < dimensionCount; ++i)
    *fields[i] = std::clamp(*fields[i], guards[i].min, guards[i].max);
  Status status = runSteps(lane, profile, shape, stream);
  // The capture ends on every path, or the stream would stay unusable.
  void *graph = nullptr;
  int ended = hip->StreamEndCapture(stream, &graph);
  if (!status.failed() && ended)
    status = hip->error(ended, "hipStreamEndCapture");
  if (!status.failed() && !graph)
    status = {NETRA_HIP, "hipStreamEndCapture returned no graph"};
  void *executable = nullptr;
  if (!status.failed())
    if (int code =
            hip->GraphInstantiate(&executable, graph, nullptr, nullptr, 0))
      status = hip->error(code, "hipGraphInstantiate");
  if (graph)
    hip->GraphDestroy(graph);
  if (!status.failed())
    lane.plans[profile]->graph.store(executable, std::memory_order_release);
  return status;
}
