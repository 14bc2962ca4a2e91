//===- Launch.cpp - The hot path of an engine -----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Nothing here allocates, parses, locks, builds a string or touches a file
// unless it fails.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

using namespace netra::rt;

static Point valuesOf(const netra_shape &shape) {
  return {shape.m, shape.batch, shape.sequence, shape.routed_rows,
          shape.tensor_parallel};
}

static bool admits(const Guards &guards, const netra_shape &shape) {
  auto values = valuesOf(shape);
  for (unsigned i = 0; i < dimensionCount; ++i)
    if (values[i] < guards[i].min || values[i] > guards[i].max)
      return false;
  return true;
}

static std::string describe(const netra_shape &shape) {
  return cat("m=", shape.m, ", batch=", shape.batch,
             ", sequence=", shape.sequence, ", routed_rows=", shape.routed_rows,
             ", tensor_parallel=", shape.tensor_parallel);
}

static std::string describe(const Guards &guards) {
  std::string text;
  for (unsigned i = 0; i < dimensionCount; ++i)
    if (guards[i].min != 0 || guards[i].max != UINT64_MAX)
      text += cat(text.empty() ? "" : ", ", dimensionNames[i], " in [",
                  guards[i].min, ", ", guards[i].max, "]");
  return text;
}

/// Counts a launch in for destroy's benefit.
class Engine::Submission {
public:
  explicit Submission(Engine &engine) : engine(engine) {
    engine.inFlight.fetch_add(1);
  }
  ~Submission() { engine.inFlight.fetch_sub(1); }
  bool refused() const { return engine.closing.load(); }

private:
  Engine &engine;
};

/// Puts a caller's buffers into the images of a plan for one launch.
class Engine::Replacement {
public:
  Replacement(const Engine &engine, const PreparedPlan &plan,
              const netra_bound_buffer *buffers, uint32_t count)
      : engine(engine), plan(plan), buffers(buffers), count(count) {
    for (uint32_t i = 0; i < count; ++i)
      write(buffers[i].binding, buffers[i].pointer);
  }
  ~Replacement() {
    for (uint32_t i = 0; i < count; ++i)
      write(buffers[i].binding, engine.bound[buffers[i].binding].pointer);
  }

private:
  void write(uint32_t binding, void *pointer) {
    for (const PatchSite &site : plan.patches[binding]) {
      void *address = static_cast<char *>(pointer) + site.offset;
      std::memcpy(site.address, &address, sizeof(address));
    }
  }

  const Engine &engine;
  const PreparedPlan &plan;
  const netra_bound_buffer *buffers;
  uint32_t count;
};

Status Engine::select(const netra_shape &shape, uint32_t &profile) const {
  using Kind = ManifestCase::Kind;
  auto values = valuesOf(shape);
  const ManifestCase *found = nullptr;
  size_t node = 0;
  do {
    const ManifestDecision &decision = bundle.manifest.decisions[node];
    found = &*std::prev(std::upper_bound(
        decision.cases.begin(), decision.cases.end(),
        values[decision.dimension],
        [](uint64_t value, const ManifestCase &c) { return value < c.from; }));
    node = found->index;
  } while (found->kind == Kind::Node);
  if (found->kind == Kind::Plan) {
    profile = uint32_t(found->index);
    return checkShape(profile, shape);
  }
  std::string plans;
  for (const ManifestPlan &plan : bundle.manifest.plans)
    plans += cat("\n  ", plan.name, ": ", describe(plan.guards));
  return {NETRA_UNSUPPORTED_PROFILE,
          cat("no plan admits ", describe(shape), "; the engine has:", plans)};
}

Status Engine::checkShape(uint32_t profile, const netra_shape &shape) const {
  const ManifestPlan &plan = bundle.manifest.plans[profile];
  if (admits(plan.guards, shape))
    return Status::ok();
  return {NETRA_UNSUPPORTED_PROFILE,
          cat("plan ", plan.name, " needs ", describe(plan.guards), ", found ",
              describe(shape))};
}

Status Engine::resolve(uint32_t &profile, const netra_shape &shape) const {
  NETRA_RETURN_IF_FAILED(requireFinal());
  if (profile == NETRA_PROFILE_AUTO)
    return select(shape, profile);
  if (profile >= bundle.manifest.plans.size())
    return {NETRA_INVALID_ARGUMENT,
            cat("there is no profile ", profile, "; the engine has ",
                bundle.manifest.plans.size())};
  return checkShape(profile, shape);
}

static bool tryClaim(Lane &lane) {
  return !lane.claimed.load(std::memory_order_relaxed) &&
         !lane.claimed.exchange(true, std::memory_order_acquire);
}

void Engine::claimThis(Lane &lane) {
  while (!tryClaim(lane))
    std::this_thread::yield();
}

Lane &Engine::claim(void *stream) {
  while (true) {
    for (const std::unique_ptr<Lane> &lane : lanes)
      if (lane->stream.load(std::memory_order_relaxed) == stream &&
          tryClaim(*lane))
        return *lane;
    for (const std::unique_ptr<Lane> &lane : lanes)
      if (tryClaim(*lane))
        return *lane;
    std::this_thread::yield();
  }
}

Status Engine::order(Lane &lane, void *stream) const {
  if (!lane.event || !lane.used ||
      lane.stream.load(std::memory_order_relaxed) == stream)
    return Status::ok();
  if (int code = hip->StreamWaitEvent(stream, lane.event, 0))
    return hip->error(code, "hipStreamWaitEvent");
  return Status::ok();
}

Status Engine::record(Lane &lane, void *stream) const {
  lane.stream.store(stream, std::memory_order_relaxed);
  lane.used = true;
  if (!lane.event)
    return Status::ok();
  if (int code = hip->EventRecord(lane.event, stream))
    return hip->error(code, "hipEventRecord");
  return Status::ok();
}

Status Engine::runStep(const PreparedPlan &plan, size_t profile, size_t index,
                       const netra_shape &shape, void *stream) const {
  const PreparedStep &step = plan.steps[index];
  if (step.isLaunch) {
    uint32_t grid[3] = {step.grid[0], step.grid[1], step.grid[2]};
    if (step.varying) {
      // As the images of buffers, those of values are this claim's to change.
      Point point = valuesOf(shape);
      for (int d = 0; d < 3; ++d)
        grid[d] = uint32_t(step.varying->grid[d].at(point));
      for (const ValueSite &site : step.values) {
        uint64_t value = site.value->at(point);
        std::memcpy(site.address, &value, site.bytes);
      }
    }
    int code = hip->ModuleLaunchKernel(
        step.function, grid[0], grid[1], grid[2], step.block[0], step.block[1],
        step.block[2], step.dynamicLds, stream, nullptr,
        step.kernargBytes ? const_cast<void **>(step.extra) : nullptr);
    if (!code)
      return Status::ok();
    const ManifestPlan &source = bundle.manifest.plans[profile];
    Status status = hip->error(code, "hipModuleLaunchKernel");
    return {NETRA_HIP,
            cat("plan ", source.name, ", step ", index, " (",
                source.steps[index].name, "): ", status.getMessage())};
  }
  const ManifestStep &source = bundle.manifest.plans[profile].steps[index];
  const Fallback &fallback = fallbacks[step.fallback];
  if (!fallback.function)
    return missing(fallback);
  netra_fallback_call call = {};
  call.struct_size = sizeof(call);
  call.operation = source.operation.c_str();
  call.name = source.name.c_str();
  call.profile = uint32_t(profile);
  call.step = uint32_t(index);
  call.inputs = step.inputs.data();
  call.outputs = step.outputs.data();
  call.input_count = uint32_t(step.inputs.size());
  call.output_count = uint32_t(step.outputs.size());
  call.shape = &shape;
  call.stream = stream;
  call.family = source.family.c_str();
  call.reason = source.reason.c_str();
  call.attributes = fallback.attributes.data();
  call.attribute_count = uint32_t(fallback.attributes.size());
  if (netra_status code = fallback.function(fallback.user, &call))
    return {code,
            cat("plan ", bundle.manifest.plans[profile].name, ", step ", index,
                " (", source.name, "): the fallback registered for ",
                source.operation, " failed")};
  return Status::ok();
}

Status Engine::runSteps(Lane &lane, size_t profile, const netra_shape &shape,
                        void *stream) const {
  const PreparedPlan &plan = *lane.plans[profile];
  for (size_t i = 0; i < plan.steps.size(); ++i)
    NETRA_RETURN_IF_FAILED(runStep(plan, profile, i, shape, stream));
  return Status::ok();
}

Status Engine::launch(uint32_t profile, const netra_shape &shape, void *stream,
                      const netra_bound_buffer *buffers, uint32_t bufferCount) {
  Submission submission(*this);
  if (submission.refused())
    return {NETRA_BUSY, "the engine is being destroyed"};
  NETRA_RETURN_IF_FAILED(resolve(profile, shape));
  if (int64_t first = missingFallback[profile]; first >= 0)
    return missing(fallbacks[size_t(first)]);
  for (uint32_t i = 0; i < bufferCount; ++i) {
    NETRA_RETURN_IF_FAILED(
        checkBuffer(buffers[i].binding, buffers[i].pointer, buffers[i].bytes));
    if (buffers[i].reserved)
      return {NETRA_INVALID_ARGUMENT,
              cat("buffers[", i, "].reserved: expected 0, found ",
                  buffers[i].reserved)};
    for (uint32_t j = 0; j < i; ++j)
      if (buffers[j].binding == buffers[i].binding)
        return {NETRA_INVALID_ARGUMENT,
                cat("binding ", buffers[i].binding, " is given twice")};
  }
  DeviceScope scope(*this);
  NETRA_RETURN_IF_FAILED(scope.getStatus());

  Lane &lane = claim(stream);
  LaneClaim held(lane);
  NETRA_RETURN_IF_FAILED(order(lane, stream));
  void *graph = lane.plans[profile]->graph.load(std::memory_order_acquire);
  Status status;
  if (graph && !bufferCount) {
    if (int code = hip->GraphLaunch(graph, stream))
      status = hip->error(code, "hipGraphLaunch");
  } else {
    // HIP copies kernel arguments when a launch is enqueued, so the images may
    // be changed for the time of the claim.
    Replacement replacement(*this, *lane.plans[profile], buffers, bufferCount);
    status = runSteps(lane, profile, shape, stream);
  }
  // Also after a failure: the steps before it are enqueued.
  Status recorded = record(lane, stream);
  return status.failed() ? status : recorded;
}

Status Engine::launchOperation(uint32_t profile, uint32_t step,
                               const netra_shape &shape, void *stream) {
  Submission submission(*this);
  if (submission.refused())
    return {NETRA_BUSY, "the engine is being destroyed"};
  NETRA_RETURN_IF_FAILED(resolve(profile, shape));
  const ManifestPlan &plan = bundle.manifest.plans[profile];
  if (step >= plan.steps.size())
    return {NETRA_INVALID_ARGUMENT, cat("plan ", plan.name, " has no step ",
                                        step, "; it has ", plan.steps.size())};
  DeviceScope scope(*this);
  NETRA_RETURN_IF_FAILED(scope.getStatus());
  Lane &lane = *lanes.front();
  claimThis(lane);
  LaneClaim held(lane);
  NETRA_RETURN_IF_FAILED(order(lane, stream));
  Status status = runStep(*lane.plans[profile], profile, step, shape, stream);
  Status recorded = record(lane, stream);
  return status.failed() ? status : recorded;
}
