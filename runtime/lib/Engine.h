//===- Engine.h - A loaded engine -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The object behind netra_engine. Everything a launch needs is laid out by
// finalize(): per lane and step a kernel-argument image, the list HIP takes it
// by, and the resolved function. See netra/engine.h for the rules of use.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_ENGINE_H
#define NETRA_RUNTIME_ENGINE_H

#include "HipApi.h"
#include "Manifest.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace netra::rt {

/// Where a value that follows the point of a launch stands in an image.
struct ValueSite {
  void *address;
  uint64_t bytes;
  const ManifestAffine *value;
};

/// What a launch of one step needs, ready for HIP.
struct PreparedStep {
  bool isLaunch = true;
  // Launch.
  void *function = nullptr;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t dynamicLds = 0;
  size_t kernargBytes = 0;
  void *extra[5] = {};
  /// Set when grid or values follow the point of a launch.
  const ManifestStep *varying = nullptr;
  std::vector<ValueSite> values;
  // Fallback: its number among those of the engine.
  size_t fallback = 0;
  std::vector<netra_operand> inputs, outputs;
};

/// Where a binding's address stands in the images of a plan, so that a launch
/// with buffers of its own can replace it.
struct PatchSite {
  void *address; // of the pointer to write, 8-byte aligned
  uint64_t offset;
};

struct PreparedPlan {
  std::vector<PreparedStep> steps;
  std::vector<uint8_t> kernargs; // all images, each 16-byte aligned
  std::vector<std::vector<PatchSite>> patches; // by engine binding
  std::atomic<void *> graph{nullptr};          // hipGraphExec_t
};

/// One arena and everything that points into it.
struct Lane {
  std::atomic<bool> claimed{false};
  /// The stream of the last launch; only meaningful when `used`.
  std::atomic<void *> stream{nullptr};
  bool used = false;
  void *event = nullptr; // recorded after the last launch
  void *allocation = nullptr, *arena = nullptr;
  std::vector<std::unique_ptr<PreparedPlan>> plans;
};

/// Gives a claimed lane back.
class LaneClaim {
public:
  explicit LaneClaim(Lane &lane) : lane(lane) {}
  ~LaneClaim() { lane.claimed.store(false, std::memory_order_release); }
  LaneClaim(const LaneClaim &) = delete;
  LaneClaim &operator=(const LaneClaim &) = delete;

private:
  Lane &lane;
};

class Engine {
public:
  static Status create(const char *directory,
                       const netra_engine_options &options,
                       std::unique_ptr<Engine> &engine);
  ~Engine();

  // Control plane: serialised by `mutex`.
  Status loadWeights(const char *path);
  Status bindWeights(const void *pointer, uint64_t bytes);
  Status bind(uint32_t index, void *pointer, uint64_t bytes);
  Status setFallback(const char *operation, netra_fallback_fn function,
                     void *user, uint32_t flags);
  Status setStepFallback(uint32_t profile, uint32_t step,
                         netra_fallback_fn function, void *user,
                         uint32_t flags);
  /// What an operand of a fallback is, or null.
  const netra_operand_info *getOperand(uint32_t profile, uint32_t step,
                                       bool isOutput, uint32_t index) const;
  Status finalize();
  Status prepare(uint32_t profile, void *stream);
  /// Fails while a launch is in flight; after success only the destructor may
  /// follow.
  Status close();

  // Data plane: no lock, no allocation.
  Status select(const netra_shape &shape, uint32_t &profile) const;
  Status launch(uint32_t profile, const netra_shape &shape, void *stream,
                const netra_bound_buffer *buffers, uint32_t bufferCount);
  Status launchOperation(uint32_t profile, uint32_t step,
                         const netra_shape &shape, void *stream);

  /// Makes the engine's device current for the calling thread and restores the
  /// previous one.
  class DeviceScope {
  public:
    DeviceScope(const Engine &engine);
    ~DeviceScope();
    Status getStatus() const;

  private:
    const Engine &engine;
    int previous = 0;
    int code = 0;
  };

  const Manifest &getManifest() const { return bundle.manifest; }
  const HipApi &getHip() const { return *hip; }
  const DeviceFacts &getDevice() const { return device; }
  const std::vector<std::unique_ptr<Lane>> &getLanes() const { return lanes; }
  uint64_t getArenaBytes() const { return arenaBytes; }
  const void *getBinding(uint32_t index) const;
  bool hasWeights() const;
  bool isPrepared(uint32_t profile) const;
  /// Tells engines apart that were created at the same address.
  uint64_t getSerial() const { return serial; }

private:
  struct Bound {
    std::atomic<void *> pointer{nullptr};
    uint64_t bytes = 0;
  };
  /// A fallback step: what it is, and who computes it.
  struct Fallback {
    size_t plan = 0, step = 0;
    std::vector<netra_operand_info> inputs, outputs;
    std::vector<netra_attribute> attributes;
    netra_fallback_fn function = nullptr;
    void *user = nullptr;
    uint32_t flags = 0;
  };
  /// Memory on the device, or the bits of a value.
  struct Address {
    void *pointer = nullptr;
    uint64_t value = 0;
  };

  Engine() = default;
  Status initialize(const netra_engine_options &options);
  Status allocateLane(Lane &lane);
  Status requireOpen() const;
  Status requireFinal() const;
  Status checkBuffer(uint64_t binding, const void *pointer,
                     uint64_t bytes) const;
  Status checkOverlaps() const;
  void preparePlan(Lane &lane, size_t index, PreparedPlan &plan) const;
  Address addressOf(const Lane &lane, const ManifestSlot &slot) const;
  static Fallback describeFallback(const ManifestStep &step);
  size_t fallbackIndex(size_t plan, size_t step) const;
  const ManifestStep &stepOf(const Fallback &fallback) const {
    return bundle.manifest.plans[fallback.plan].steps[fallback.step];
  }
  Status missing(const Fallback &fallback) const;
  Status checkShape(uint32_t profile, const netra_shape &shape) const;
  Status resolve(uint32_t &profile, const netra_shape &shape) const;
  Status capture(Lane &lane, size_t profile, void *stream);
  Status runStep(const PreparedPlan &plan, size_t profile, size_t step,
                 const netra_shape &shape, void *stream) const;
  Status runSteps(Lane &lane, size_t profile, const netra_shape &shape,
                  void *stream) const;
  Lane &claim(void *stream);
  static void claimThis(Lane &lane);
  Status order(Lane &lane, void *stream) const;
  Status record(Lane &lane, void *stream) const;

  class Submission;
  class Replacement;

  uint64_t serial = 0;
  Bundle bundle;
  const HipApi *hip = nullptr;
  DeviceFacts device;
  int deviceId = 0;
  uint32_t flags = 0;
  uint64_t arenaBytes = 0, arenaAlignment = 256;

  std::vector<void *> modules;
  std::vector<std::vector<void *>> functions; // by code object and kernel
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<Bound> bound;
  std::vector<Fallback> fallbacks; // by plan and step
  /// By plan: the first fallback that nothing is registered for, or -1. Fixed
  /// by finalize().
  std::vector<int64_t> missingFallback;
  void *ownedWeights = nullptr;
  std::atomic<const void *> weights{nullptr};

  mutable std::mutex mutex;
  std::atomic<bool> finalized{false};
  std::atomic<bool> closing{false};
  std::atomic<uint32_t> inFlight{0};
};

} // namespace netra::rt

#endif // NETRA_RUNTIME_ENGINE_H
