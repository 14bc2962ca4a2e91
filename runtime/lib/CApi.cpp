//===- CApi.cpp - The C interface over the engine -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Engine.h"

#include <cstring>
#include <new>

using namespace netra::rt;

namespace {

/// The last failure of this thread. The serial, not the address, says whose.
struct LastError {
  uint64_t serial = 0;
  std::string text;
};
thread_local LastError lastError;

Engine *unwrap(netra_engine *engine) {
  return reinterpret_cast<Engine *>(engine);
}
const Engine *unwrap(const netra_engine *engine) {
  return reinterpret_cast<const Engine *>(engine);
}

/// Runs the body of a function that returns a Status; nothing escapes.
template <typename Body> Status contained(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return {NETRA_OUT_OF_MEMORY, "host memory"}; // short: needs no allocation
  } catch (const std::exception &error) {
    return {NETRA_MANIFEST, cat("unexpected: ", error.what())};
  }
}

/// The frame of every function on an engine.
template <typename EnginePointer, typename Body>
netra_status call(EnginePointer *engine, Body body) {
  if (!engine)
    return NETRA_INVALID_ARGUMENT;
  Status status = contained([&] { return body(*unwrap(engine)); });
  if (status.failed()) {
    lastError.serial = unwrap(engine)->getSerial();
    contained([&] {
      lastError.text = status.getMessage();
      return Status::ok();
    }).failed();
  }
  return status.getCode();
}

Status invalid(std::string message) {
  return {NETRA_INVALID_ARGUMENT, std::move(message)};
}

Status requirePointer(const void *pointer, const char *name) {
  return pointer ? Status::ok() : invalid(cat(name, " is null"));
}

/// Copies as much of a filled structure as the caller's version of it has.
template <typename Info> Status give(const Info &filled, Info *out) {
  if (!out)
    return invalid("info is null");
  size_t size = out->struct_size;
  if (size <= sizeof(size_t))
    return invalid(cat("info->struct_size: expected sizeof the structure, ",
                       sizeof(Info), ", found ", size));
  auto *bytes = reinterpret_cast<char *>(out);
  size_t known = std::min(size, sizeof(Info));
  std::memcpy(bytes + sizeof(size_t),
              reinterpret_cast<const char *>(&filled) + sizeof(size_t),
              known - sizeof(size_t));
  std::memset(bytes + known, 0, size - known);
  return Status::ok();
}

template <typename Items>
Status requireIndex(const char *what, uint32_t index, const Items &items) {
  if (index < items.size())
    return Status::ok();
  return invalid(
      cat("there is no ", what, ' ', index, "; the engine has ", items.size()));
}

template <typename Items>
Status findByName(const char *what, const char *name, const Items &items,
                  uint32_t *index) {
  NETRA_RETURN_IF_FAILED(requirePointer(name, "name"));
  NETRA_RETURN_IF_FAILED(requirePointer(index, what));
  std::string known;
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) {
      *index = i;
      return Status::ok();
    }
    known += cat(known.empty() ? "" : ", ", items[i].name);
  }
  return invalid(
      cat("there is no ", what, " \"", name, "\"; the engine has ", known));
}

netra_status report(const Status &status, char *error, size_t errorBytes) {
  if (error && errorBytes) {
    size_t length = std::min(status.getMessage().size(), errorBytes - 1);
    std::memcpy(error, status.getMessage().data(), length);
    error[length] = '\0';
  }
  return status.getCode();
}

const netra_shape defaultShape = NETRA_SHAPE_INIT;

} // namespace

uint32_t netra_api_version(void) {
  return uint32_t(NETRA_API_VERSION_MAJOR) << 16 | NETRA_API_VERSION_MINOR;
}

const char *netra_status_name(netra_status status) {
  switch (status) {
  case NETRA_OK:
    return "NETRA_OK";
  case NETRA_INVALID_ARGUMENT:
    return "NETRA_INVALID_ARGUMENT";
  case NETRA_IO:
    return "NETRA_IO";
  case NETRA_MANIFEST:
    return "NETRA_MANIFEST";
  case NETRA_UNSUPPORTED_TARGET:
    return "NETRA_UNSUPPORTED_TARGET";
  case NETRA_UNSUPPORTED_PROFILE:
    return "NETRA_UNSUPPORTED_PROFILE";
  case NETRA_BINDING:
    return "NETRA_BINDING";
  case NETRA_HIP:
    return "NETRA_HIP";
  case NETRA_BUSY:
    return "NETRA_BUSY";
  case NETRA_FALLBACK_REQUIRED:
    return "NETRA_FALLBACK_REQUIRED";
  case NETRA_OUT_OF_MEMORY:
    return "NETRA_OUT_OF_MEMORY";
  }
  return "unknown status";
}

netra_status netra_engine_verify(const char *directory, char *error,
                                 size_t errorBytes) {
  Status status = contained([&] {
    NETRA_RETURN_IF_FAILED(requirePointer(directory, "directory"));
    Bundle bundle;
    return readBundle(directory, /*goldenRoot=*/nullptr, /*needsCode=*/false,
                      bundle);
  });
  return report(status, error, errorBytes);
}

netra_status netra_engine_create(const char *directory,
                                 const netra_engine_options *options,
                                 netra_engine **engine, char *error,
                                 size_t errorBytes) {
  Status status = contained([&]() -> Status {
    NETRA_RETURN_IF_FAILED(requirePointer(engine, "engine"));
    *engine = nullptr;
    NETRA_RETURN_IF_FAILED(requirePointer(directory, "directory"));
    netra_engine_options known = NETRA_ENGINE_OPTIONS_INIT;
    if (options) {
      size_t size = options->struct_size;
      if (size < offsetof(netra_engine_options, lanes) ||
          size > sizeof(netra_engine_options))
        return invalid(cat("options->struct_size: expected ",
                           sizeof(netra_engine_options), ", found ", size,
                           "; is the program newer than the library?"));
      std::memcpy(&known, options, size);
    }
    std::unique_ptr<Engine> created;
    NETRA_RETURN_IF_FAILED(Engine::create(directory, known, created));
    *engine = reinterpret_cast<netra_engine *>(created.release());
    return Status::ok();
  });
  return report(status, error, errorBytes);
}

netra_status netra_engine_destroy(netra_engine *engine) {
  if (!engine)
    return NETRA_OK;
  netra_status status = call(engine, [](Engine &e) { return e.close(); });
  if (status == NETRA_OK)
    delete unwrap(engine);
  return status;
}

const char *netra_engine_last_error(const netra_engine *engine) {
  if (!engine)
    return "the engine is null";
  return lastError.serial == unwrap(engine)->getSerial()
             ? lastError.text.c_str()
             : "";
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

netra_status netra_engine_query(const netra_engine *engine,
                                netra_engine_info *info) {
  return call(engine, [&](const Engine &e) {
    const Manifest &manifest = e.getManifest();
    netra_engine_info filled = {};
    filled.name = manifest.name.c_str();
    filled.id = manifest.id.c_str();
    filled.target = manifest.architecture.c_str();
    filled.device = e.getDevice().name.c_str();
    filled.hip_library = e.getHip().getPath().c_str();
    filled.profile_count = uint32_t(manifest.plans.size());
    filled.binding_count = uint32_t(manifest.bindings.size());
    filled.weight_count = uint32_t(manifest.weights.entries.size());
    filled.code_object_count = uint32_t(manifest.codeObjects.size());
    filled.lanes = uint32_t(e.getLanes().size());
    filled.arena_bytes = e.getArenaBytes();
    return give(filled, info);
  });
}

netra_status netra_engine_profile_count(const netra_engine *engine,
                                        uint32_t *count) {
  return call(engine, [&](const Engine &e) {
    NETRA_RETURN_IF_FAILED(requirePointer(count, "count"));
    *count = uint32_t(e.getManifest().plans.size());
    return Status::ok();
  });
}

netra_status netra_engine_query_profile(const netra_engine *engine,
                                        uint32_t profile,
                                        netra_profile_info *info) {
  return call(engine, [&](const Engine &e) {
    const auto &plans = e.getManifest().plans;
    NETRA_RETURN_IF_FAILED(requireIndex("profile", profile, plans));
    const ManifestPlan &plan = plans[profile];
    netra_profile_info filled = {};
    filled.name = plan.name.c_str();
    filled.priority = plan.priority;
    filled.m = plan.guards[DimM];
    filled.batch = plan.guards[DimBatch];
    filled.sequence = plan.guards[DimSequence];
    filled.routed_rows = plan.guards[DimRoutedRows];
    filled.tensor_parallel = plan.guards[DimTensorParallel];
    filled.workspace_bytes = plan.arenaBytes;
    filled.step_count = uint32_t(plan.steps.size());
    for (const ManifestStep &step : plan.steps)
      filled.fallback_count += step.kind == NETRA_STEP_FALLBACK;
    filled.requires_fallback = filled.fallback_count != 0;
    filled.prepared = e.isPrepared(profile);
    return give(filled, info);
  });
}

netra_status netra_engine_find_profile(const netra_engine *engine,
                                       const char *name, uint32_t *profile) {
  return call(engine, [&](const Engine &e) {
    return findByName("profile", name, e.getManifest().plans, profile);
  });
}

netra_status netra_engine_select_profile(const netra_engine *engine,
                                         const netra_shape *shape,
                                         uint32_t *profile) {
  return call(engine, [&](const Engine &e) {
    NETRA_RETURN_IF_FAILED(requirePointer(profile, "profile"));
    return e.select(shape ? *shape : defaultShape, *profile);
  });
}

netra_status netra_engine_query_operation(const netra_engine *engine,
                                          uint32_t profile, uint32_t operation,
                                          netra_operation_info *info) {
  return call(engine, [&](const Engine &e) {
    const Manifest &manifest = e.getManifest();
    NETRA_RETURN_IF_FAILED(requireIndex("profile", profile, manifest.plans));
    const auto &steps = manifest.plans[profile].steps;
    NETRA_RETURN_IF_FAILED(requireIndex("operation", operation, steps));
    const ManifestStep &step = steps[operation];
    netra_operation_info filled = {};
    filled.kind = step.kind;
    filled.name = step.name.c_str();
    filled.operation = step.operation.c_str();
    filled.tactic = step.tactic.c_str();
    filled.contract = step.contract.c_str();
    filled.symbol = "";
    filled.reason = step.reason.c_str();
    filled.family = step.family.c_str();
    filled.input_count = uint32_t(step.inputs.size());
    filled.output_count = uint32_t(step.outputs.size());
    if (step.kind == NETRA_STEP_LAUNCH) {
      const ManifestKernel &kernel =
          manifest.codeObjects[step.codeObject].kernels[step.kernel];
      Point greatest;
      for (unsigned i = 0; i < dimensionCount; ++i)
        greatest[i] = manifest.plans[profile].guards[i].max;
      filled.symbol = kernel.symbol.c_str();
      for (int i = 0; i < 3; ++i) {
        filled.grid[i] = uint32_t(step.grid[i].at(greatest));
        filled.block[i] = uint32_t(step.block[i]);
      }
      filled.static_lds = uint32_t(kernel.staticLds);
      filled.dynamic_lds = uint32_t(step.dynamicLds);
      filled.kernarg_bytes = uint32_t(kernel.kernargBytes);
    }
    return give(filled, info);
  });
}

netra_status netra_engine_query_operand(const netra_engine *engine,
                                        uint32_t profile, uint32_t operation,
                                        int32_t isOutput, uint32_t operand,
                                        netra_operand_info *info) {
  return call(engine, [&](const Engine &e) {
    const auto &plans = e.getManifest().plans;
    NETRA_RETURN_IF_FAILED(requireIndex("profile", profile, plans));
    NETRA_RETURN_IF_FAILED(
        requireIndex("operation", operation, plans[profile].steps));
    const netra_operand_info *known =
        e.getOperand(profile, operation, isOutput, operand);
    if (!known)
      return invalid(
          cat("step ", operation, " (", plans[profile].steps[operation].name,
              ") has no fallback ", isOutput ? "output " : "input ", operand));
    return give(*known, info);
  });
}

netra_status netra_engine_binding_count(const netra_engine *engine,
                                        uint32_t *count) {
  return call(engine, [&](const Engine &e) {
    NETRA_RETURN_IF_FAILED(requirePointer(count, "count"));
    *count = uint32_t(e.getManifest().bindings.size());
    return Status::ok();
  });
}

netra_status netra_engine_query_binding(const netra_engine *engine,
                                        uint32_t index,
                                        netra_binding_info *info) {
  return call(engine, [&](const Engine &e) {
    const auto &bindings = e.getManifest().bindings;
    NETRA_RETURN_IF_FAILED(requireIndex("binding", index, bindings));
    const ManifestBinding &binding = bindings[index];
    netra_binding_info filled = {};
    filled.name = binding.name.c_str();
    filled.role = binding.role;
    filled.index = uint32_t(binding.index);
    filled.type = binding.type.c_str();
    filled.layout = binding.layout.c_str();
    filled.shape = binding.shape.data();
    filled.rank = uint32_t(binding.shape.size());
    filled.bytes = binding.bytes;
    filled.pointer = e.getBinding(index);
    return give(filled, info);
  });
}

netra_status netra_engine_find_binding(const netra_engine *engine,
                                       const char *name, uint32_t *binding) {
  return call(engine, [&](const Engine &e) {
    return findByName("binding", name, e.getManifest().bindings, binding);
  });
}

netra_status netra_engine_query_weights(const netra_engine *engine,
                                        netra_weights_info *info) {
  return call(engine, [&](const Engine &e) {
    const ManifestWeights &weights = e.getManifest().weights;
    netra_weights_info filled = {};
    filled.bytes = weights.bytes;
    filled.alignment = weights.alignment;
    filled.id = weights.id.c_str();
    filled.entry_count = uint32_t(weights.entries.size());
    filled.bound = e.hasWeights();
    return give(filled, info);
  });
}

netra_status netra_engine_query_weight(const netra_engine *engine,
                                       uint32_t index,
                                       netra_weight_info *info) {
  return call(engine, [&](const Engine &e) {
    const auto &entries = e.getManifest().weights.entries;
    NETRA_RETURN_IF_FAILED(requireIndex("weight", index, entries));
    const ManifestWeight &weight = entries[index];
    netra_weight_info filled = {};
    filled.name = weight.name.c_str();
    filled.type = weight.type.c_str();
    filled.layout = weight.layout.c_str();
    filled.shape = weight.shape.data();
    filled.rank = uint32_t(weight.shape.size());
    filled.offset = weight.offset;
    filled.bytes = weight.bytes;
    return give(filled, info);
  });
}

//===----------------------------------------------------------------------===//
// Binding and launching
//===----------------------------------------------------------------------===//

netra_status netra_engine_load_weights(netra_engine *engine, const char *path) {
  return call(engine, [&](Engine &e) {
    NETRA_RETURN_IF_FAILED(requirePointer(path, "path"));
    return e.loadWeights(path);
  });
}

netra_status netra_engine_bind_weights(netra_engine *engine,
                                       const void *pointer, uint64_t bytes) {
  return call(engine, [&](Engine &e) { return e.bindWeights(pointer, bytes); });
}

netra_status netra_engine_bind(netra_engine *engine, uint32_t binding,
                               void *pointer, uint64_t bytes) {
  return call(engine,
              [&](Engine &e) { return e.bind(binding, pointer, bytes); });
}

netra_status netra_engine_bind_name(netra_engine *engine, const char *name,
                                    void *pointer, uint64_t bytes) {
  return call(engine, [&](Engine &e) {
    uint32_t binding = 0;
    NETRA_RETURN_IF_FAILED(
        findByName("binding", name, e.getManifest().bindings, &binding));
    return e.bind(binding, pointer, bytes);
  });
}

netra_status netra_engine_set_fallback(netra_engine *engine,
                                       const char *operation,
                                       netra_fallback_fn function, void *user,
                                       uint32_t flags) {
  return call(engine, [&](Engine &e) {
    NETRA_RETURN_IF_FAILED(requirePointer(operation, "operation"));
    return e.setFallback(operation, function, user, flags);
  });
}

netra_status netra_engine_set_step_fallback(netra_engine *engine,
                                            uint32_t profile, uint32_t step,
                                            netra_fallback_fn function,
                                            void *user, uint32_t flags) {
  return call(engine, [&](Engine &e) {
    return e.setStepFallback(profile, step, function, user, flags);
  });
}

netra_status netra_engine_finalize(netra_engine *engine) {
  return call(engine, [](Engine &e) { return e.finalize(); });
}

netra_status netra_engine_prepare(netra_engine *engine, uint32_t profile,
                                  void *stream) {
  return call(engine, [&](Engine &e) { return e.prepare(profile, stream); });
}

netra_status netra_engine_launch(netra_engine *engine, uint32_t profile,
                                 const netra_shape *shape, void *stream) {
  return call(engine, [&](Engine &e) {
    return e.launch(profile, shape ? *shape : defaultShape, stream, nullptr, 0);
  });
}

netra_status netra_engine_launch_bound(netra_engine *engine, uint32_t profile,
                                       const netra_shape *shape, void *stream,
                                       const netra_bound_buffer *buffers,
                                       uint32_t count) {
  return call(engine, [&](Engine &e) {
    if (count)
      NETRA_RETURN_IF_FAILED(requirePointer(buffers, "buffers"));
    return e.launch(profile, shape ? *shape : defaultShape, stream, buffers,
                    count);
  });
}

netra_status netra_engine_launch_operation(netra_engine *engine,
                                           uint32_t profile, uint32_t operation,
                                           const netra_shape *shape,
                                           void *stream) {
  return call(engine, [&](Engine &e) {
    return e.launchOperation(profile, operation, shape ? *shape : defaultShape,
                             stream);
  });
}

netra_status netra_engine_arena(const netra_engine *engine, void **pointer,
                                uint64_t *bytes) {
  return call(engine, [&](const Engine &e) {
    NETRA_RETURN_IF_FAILED(requirePointer(pointer, "pointer"));
    NETRA_RETURN_IF_FAILED(requirePointer(bytes, "bytes"));
    *pointer = e.getLanes().front()->arena;
    *bytes = e.getArenaBytes();
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// Device helpers
//===----------------------------------------------------------------------===//

/// Runs one HIP call on the engine's device.
template <typename Body>
static netra_status onDevice(netra_engine *engine, const char *name,
                             Body body) {
  return call(engine, [&](Engine &e) {
    Engine::DeviceScope scope(e);
    NETRA_RETURN_IF_FAILED(scope.getStatus());
    if (int code = body(e.getHip()))
      return e.getHip().error(code, name);
    return Status::ok();
  });
}

netra_status netra_device_malloc(netra_engine *engine, uint64_t bytes,
                                 void **pointer) {
  return onDevice(engine, "hipMalloc", [&](const HipApi &hip) {
    return pointer ? hip.Malloc(pointer, bytes)
                   : int(netra::hip::ErrorInvalidValue);
  });
}

netra_status netra_device_free(netra_engine *engine, void *pointer) {
  return onDevice(engine, "hipFree",
                  [&](const HipApi &hip) { return hip.Free(pointer); });
}

netra_status netra_device_copy(netra_engine *engine, void *destination,
                               const void *source, uint64_t bytes,
                               netra_copy_kind kind) {
  return onDevice(engine, "hipMemcpy", [&](const HipApi &hip) {
    return bytes ? hip.Memcpy(destination, source, bytes, int(kind)) : 0;
  });
}

netra_status netra_device_fill(netra_engine *engine, void *pointer,
                               uint8_t value, uint64_t bytes) {
  return onDevice(engine, "hipMemset", [&](const HipApi &hip) {
    return bytes ? hip.Memset(pointer, value, bytes) : 0;
  });
}

netra_status netra_stream_synchronize(netra_engine *engine, void *stream) {
  return onDevice(engine, "hipStreamSynchronize", [&](const HipApi &hip) {
    return hip.StreamSynchronize(stream);
  });
}

netra_status netra_device_synchronize(netra_engine *engine) {
  return onDevice(engine, "hipDeviceSynchronize",
                  [&](const HipApi &hip) { return hip.DeviceSynchronize(); });
}

netra_status netra_stream_create(netra_engine *engine, void **stream) {
  return onDevice(engine, "hipStreamCreateWithFlags", [&](const HipApi &hip) {
    return stream ? hip.StreamCreateWithFlags(stream,
                                              netra::hip::StreamNonBlocking)
                  : int(netra::hip::ErrorInvalidValue);
  });
}

netra_status netra_stream_destroy(netra_engine *engine, void *stream) {
  return onDevice(engine, "hipStreamDestroy",
                  [&](const HipApi &hip) { return hip.StreamDestroy(stream); });
}
