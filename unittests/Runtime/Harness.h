//===- Harness.h - An engine under test -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_RUNTIME_HARNESS_H
#define NETRA_UNITTESTS_RUNTIME_HARNESS_H

#include "FakeHip.h"
#include "TinyEngine.h"

#include <netra/engine.h>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace netra::test {

/// Control of the fake library that the runtime has open.
struct FakeControl {
  decltype(&fakeHipFail) fail;
  decltype(&fakeHipFailCode) failCode;
  decltype(&fakeHipHasFailed) hasFailed;
  decltype(&fakeHipLive) live;
  decltype(&fakeHipCalls) calls;
  decltype(&fakeHipDevice) device;

  static const FakeControl &get() {
    static const FakeControl control = [] {
      void *library = dlopen(NETRA_FAKE_HIP, RTLD_NOW | RTLD_LOCAL);
      EXPECT_TRUE(library) << dlerror();
      auto find = [&](auto &slot, const char *name) {
        slot = reinterpret_cast<std::decay_t<decltype(slot)>>(
            dlsym(library, name));
      };
      FakeControl c;
      find(c.fail, "fakeHipFail");
      find(c.failCode, "fakeHipFailCode");
      find(c.hasFailed, "fakeHipHasFailed");
      find(c.live, "fakeHipLive");
      find(c.calls, "fakeHipCalls");
      find(c.device, "fakeHipDevice");
      return c;
    }();
    return control;
  }
};

/// A written bundle and weights file, shared by the tests of a process.
inline const std::string &tinyBundle() {
  static TemporaryDirectory directory;
  static const std::string path = [] {
    std::string bundle = directory.file("tiny.engine");
    writeTinyEngine(bundle);
    writeTinyWeights(bundle, directory.file("tiny.weights"));
    return bundle;
  }();
  return path;
}
inline std::string tinyWeightsFile() {
  return tinyBundle().substr(0, tinyBundle().rfind('/')) + "/tiny.weights";
}

inline netra_engine *create(const std::string &hip, uint32_t flags = 0,
                            uint32_t lanes = 1,
                            const std::string &bundle = tinyBundle()) {
  netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
  options.flags = flags;
  options.lanes = lanes;
  options.hip_library = hip.c_str();
  netra_engine *engine = nullptr;
  char error[2048] = "";
  netra_status status = netra_engine_create(bundle.c_str(), &options, &engine,
                                            error, sizeof(error));
  EXPECT_EQ(status, NETRA_OK) << error;
  return engine;
}

#define EXPECT_OK(engine, call)                                                \
  EXPECT_EQ(call, NETRA_OK) << netra_engine_last_error(engine)
#define ASSERT_OK(engine, call)                                                \
  ASSERT_EQ(call, NETRA_OK) << netra_engine_last_error(engine)
#define EXPECT_FAILS(engine, call, status, text)                               \
  do {                                                                         \
    EXPECT_EQ(call, status);                                                   \
    EXPECT_NE(std::string(netra_engine_last_error(engine)).find(text),         \
              std::string::npos)                                               \
        << netra_engine_last_error(engine);                                    \
  } while (false)

/// 1 - t, on the host, in stream order.
inline netra_status reflect(void *user, const netra_fallback_call *call) {
  auto *engine = static_cast<netra_engine *>(user);
  if (call->input_count != 1 || call->output_count != 1 ||
      call->inputs[0].bytes != tinyBytes)
    return NETRA_INVALID_ARGUMENT;
  std::vector<uint32_t> values(tinyElements);
  if (netra_status status = netra_stream_synchronize(engine, call->stream))
    return status;
  if (netra_status status =
          netra_device_copy(engine, values.data(), call->inputs[0].pointer,
                            tinyBytes, NETRA_DEVICE_TO_HOST))
    return status;
  for (uint32_t &value : values)
    value = 1 - value;
  return netra_device_copy(engine, call->outputs[0].pointer, values.data(),
                           tinyBytes, NETRA_HOST_TO_DEVICE);
}

inline std::vector<uint32_t> someInput(uint32_t seed = 1) {
  std::vector<uint32_t> x(tinyElements);
  for (uint32_t i = 0; i < tinyElements; ++i)
    x[i] = (i + seed) * 40503u;
  return x;
}

/// An engine with weights and buffers, ready to launch.
struct Loaded {
  netra_engine *engine = nullptr;
  void *x = nullptr, *y = nullptr;

  explicit Loaded(const std::string &hip, uint32_t flags = 0,
                  uint32_t lanes = 1, bool fallback = true) {
    engine = create(hip, flags, lanes);
    if (!engine)
      return;
    EXPECT_OK(engine,
              netra_engine_load_weights(engine, tinyWeightsFile().c_str()));
    EXPECT_OK(engine, netra_device_malloc(engine, tinyBytes, &x));
    EXPECT_OK(engine, netra_device_malloc(engine, tinyBytes, &y));
    EXPECT_OK(engine, netra_engine_bind_name(engine, "x", x, tinyBytes));
    EXPECT_OK(engine, netra_engine_bind_name(engine, "y", y, tinyBytes));
    if (fallback) {
      EXPECT_OK(engine, netra_engine_set_fallback(engine, "test.reflect",
                                                  reflect, engine, 0));
    }
    EXPECT_OK(engine, netra_engine_finalize(engine));
  }
  ~Loaded() {
    if (!engine)
      return;
    netra_device_free(engine, x);
    netra_device_free(engine, y);
    EXPECT_EQ(netra_engine_destroy(engine), NETRA_OK);
  }
  Loaded(const Loaded &) = delete;
  Loaded &operator=(const Loaded &) = delete;

  void setInput(const std::vector<uint32_t> &values) {
    EXPECT_OK(engine, netra_device_copy(engine, x, values.data(), tinyBytes,
                                        NETRA_HOST_TO_DEVICE));
  }
  std::vector<uint32_t> output(void *from = nullptr) {
    std::vector<uint32_t> values(tinyElements);
    EXPECT_OK(engine, netra_device_copy(engine, values.data(), from ? from : y,
                                        tinyBytes, NETRA_DEVICE_TO_HOST));
    return values;
  }
};

} // namespace netra::test

#endif // NETRA_UNITTESTS_RUNTIME_HARNESS_H
