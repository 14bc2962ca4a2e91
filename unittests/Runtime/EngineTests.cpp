//===- EngineTests.cpp - The life of an engine ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every test runs on the fake HIP library, which knows the one kernel, and on
// the simulator, which executes its code.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace netra::test;

namespace {

class EngineTest : public testing::TestWithParam<const char *> {
protected:
  std::string hip() const { return GetParam(); }
};

TEST_P(EngineTest, DescribesItself) {
  netra_engine *engine = create(hip());
  ASSERT_TRUE(engine);
  netra_engine_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_OK(engine, netra_engine_query(engine, &info));
  EXPECT_STREQ(info.name, "tiny");
  EXPECT_STREQ(info.target, "gfx950");
  EXPECT_EQ(std::string(info.id).substr(0, 3), "ne_");
  EXPECT_EQ(info.profile_count, 2u);
  EXPECT_EQ(info.binding_count, 2u);
  EXPECT_EQ(info.arena_bytes, 512u + tinyBytes);

  netra_profile_info profile = {};
  profile.struct_size = sizeof(profile);
  ASSERT_OK(engine, netra_engine_query_profile(engine, 0, &profile));
  EXPECT_STREQ(profile.name, "m1");
  EXPECT_EQ(profile.priority, 30);
  EXPECT_EQ(profile.batch.max, 64u);
  EXPECT_EQ(profile.sequence.max, UINT64_MAX);
  EXPECT_EQ(profile.requires_fallback, 0);
  ASSERT_OK(engine, netra_engine_query_profile(engine, 1, &profile));
  EXPECT_EQ(profile.fallback_count, 1u);
  EXPECT_FAILS(engine, netra_engine_query_profile(engine, 2, &profile),
               NETRA_INVALID_ARGUMENT, "no profile 2");

  netra_binding_info binding = {};
  binding.struct_size = sizeof(binding);
  ASSERT_OK(engine, netra_engine_query_binding(engine, 1, &binding));
  EXPECT_STREQ(binding.name, "y");
  EXPECT_EQ(binding.role, NETRA_OUTPUT);
  EXPECT_STREQ(binding.type, "i32");
  ASSERT_EQ(binding.rank, 2u);
  EXPECT_EQ(binding.shape[1], int64_t(tinyElements));
  EXPECT_EQ(binding.bytes, tinyBytes);

  netra_operation_info operation = {};
  operation.struct_size = sizeof(operation);
  ASSERT_OK(engine, netra_engine_query_operation(engine, 1, 1, &operation));
  EXPECT_EQ(operation.kind, NETRA_STEP_FALLBACK);
  EXPECT_STREQ(operation.reason, "no tactic reflects");
  ASSERT_OK(engine, netra_engine_query_operation(engine, 0, 0, &operation));
  EXPECT_STREQ(operation.symbol, "netra_test_multiply_add");
  EXPECT_EQ(operation.grid[0], tinyElements / 64);
  EXPECT_EQ(operation.kernarg_bytes, 40u);

  netra_weights_info weights = {};
  weights.struct_size = sizeof(weights);
  ASSERT_OK(engine, netra_engine_query_weights(engine, &weights));
  EXPECT_EQ(weights.bytes, 256u + tinyBytes);
  EXPECT_EQ(weights.bound, 0);
  EXPECT_EQ(netra_engine_destroy(engine), NETRA_OK);
}

TEST_P(EngineTest, OlderProgramsGetWhatTheyKnow) {
  netra_engine *engine = create(hip());
  ASSERT_TRUE(engine);
  struct {
    netra_engine_info info;
    char guard[16];
  } memory;
  std::memset(&memory, 0x5a, sizeof(memory));
  memory.info.struct_size = offsetof(netra_engine_info, id);
  ASSERT_OK(engine, netra_engine_query(engine, &memory.info));
  EXPECT_STREQ(memory.info.name, "tiny");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.info.id), 0x5a5a5a5a5a5a5a5aull);
  memory.info.struct_size = 0;
  EXPECT_FAILS(engine, netra_engine_query(engine, &memory.info),
               NETRA_INVALID_ARGUMENT, "struct_size");
  EXPECT_EQ(netra_engine_destroy(engine), NETRA_OK);
}

TEST_P(EngineTest, LaunchesByProfileAndByShape) {
  Loaded e(hip());
  ASSERT_TRUE(e.engine);
  std::vector<uint32_t> x = someInput();
  e.setInput(x);
  ASSERT_OK(e.engine, netra_engine_launch(e.engine, 0, nullptr, nullptr));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, nullptr));
  EXPECT_EQ(e.output(), tinyExpected(x));

  netra_shape shape = NETRA_SHAPE_INIT;
  shape.m = 4;
  ASSERT_OK(e.engine,
            netra_engine_launch(e.engine, NETRA_PROFILE_AUTO, &shape, nullptr));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, nullptr));
  EXPECT_EQ(e.output(), tinyExpected(x, /*reflect=*/true));

  uint32_t profile = 99;
  ASSERT_OK(e.engine, netra_engine_select_profile(e.engine, &shape, &profile));
  EXPECT_EQ(profile, 1u);
  shape.m = 2;
  EXPECT_FAILS(
      e.engine,
      netra_engine_launch(e.engine, NETRA_PROFILE_AUTO, &shape, nullptr),
      NETRA_UNSUPPORTED_PROFILE, "m=2");
  shape.m = 1;
  shape.batch = 65;
  EXPECT_FAILS(e.engine, netra_engine_launch(e.engine, 0, &shape, nullptr),
               NETRA_UNSUPPORTED_PROFILE, "batch in [1, 64]");
  EXPECT_FAILS(e.engine, netra_engine_launch(e.engine, 7, nullptr, nullptr),
               NETRA_INVALID_ARGUMENT, "no profile 7");
}

TEST_P(EngineTest, GraphGivesTheSameBits) {
  Loaded e(hip(), NETRA_ENGINE_GRAPH, 2);
  ASSERT_TRUE(e.engine);
  void *stream = nullptr;
  ASSERT_OK(e.engine, netra_stream_create(e.engine, &stream));
  std::vector<uint32_t> x = someInput(7);
  e.setInput(x);
  ASSERT_OK(e.engine, netra_engine_launch(e.engine, 0, nullptr, stream));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, stream));
  std::vector<uint32_t> direct = e.output();
  EXPECT_EQ(direct, tinyExpected(x));

  ASSERT_OK(e.engine, netra_engine_prepare(e.engine, 0, stream));
  netra_profile_info profile = {};
  profile.struct_size = sizeof(profile);
  ASSERT_OK(e.engine, netra_engine_query_profile(e.engine, 0, &profile));
  EXPECT_EQ(profile.prepared, 1);
  ASSERT_OK(e.engine, netra_device_fill(e.engine, e.y, 0, tinyBytes));
  ASSERT_OK(e.engine, netra_engine_launch(e.engine, 0, nullptr, stream));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, stream));
  EXPECT_EQ(e.output(), direct);
  // Again, after the input has changed: a graph holds addresses, not values.
  x = someInput(9);
  e.setInput(x);
  ASSERT_OK(e.engine, netra_engine_launch(e.engine, 0, nullptr, stream));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, stream));
  EXPECT_EQ(e.output(), tinyExpected(x));
  ASSERT_OK(e.engine, netra_stream_destroy(e.engine, stream));
}

TEST_P(EngineTest, PrepareWithoutAStreamOrGraphs) {
  Loaded graphs(hip(), NETRA_ENGINE_GRAPH);
  ASSERT_OK(graphs.engine, netra_engine_prepare(graphs.engine, 0, nullptr));
  std::vector<uint32_t> x = someInput(3);
  graphs.setInput(x);
  ASSERT_OK(graphs.engine,
            netra_engine_launch(graphs.engine, 0, nullptr, nullptr));
  ASSERT_OK(graphs.engine, netra_stream_synchronize(graphs.engine, nullptr));
  EXPECT_EQ(graphs.output(), tinyExpected(x));
  EXPECT_FAILS(graphs.engine, netra_engine_prepare(graphs.engine, 1, nullptr),
               NETRA_FALLBACK_REQUIRED, "not capturable");

  Loaded plain(hip());
  ASSERT_OK(plain.engine, netra_engine_prepare(plain.engine, 0, nullptr));
}

TEST_P(EngineTest, WalksThroughAPlan) {
  Loaded e(hip());
  std::vector<uint32_t> x = someInput(2), w = tinyWeights();
  e.setInput(x);
  ASSERT_OK(e.engine,
            netra_engine_launch_operation(e.engine, 0, 0, nullptr, nullptr));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, nullptr));
  void *arena = nullptr;
  uint64_t bytes = 0;
  ASSERT_OK(e.engine, netra_engine_arena(e.engine, &arena, &bytes));
  EXPECT_EQ(bytes, 512u + tinyBytes);
  std::vector<uint32_t> t = e.output(static_cast<char *>(arena) + 512);
  for (uint32_t i = 0; i < tinyElements; ++i)
    ASSERT_EQ(t[i], x[i] * w[i] + x[i] + 3);
  ASSERT_OK(e.engine,
            netra_engine_launch_operation(e.engine, 0, 1, nullptr, nullptr));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, nullptr));
  EXPECT_EQ(e.output(), tinyExpected(x));
  EXPECT_FAILS(e.engine,
               netra_engine_launch_operation(e.engine, 0, 2, nullptr, nullptr),
               NETRA_INVALID_ARGUMENT, "no step 2");
}

TEST_P(EngineTest, LaunchesWithOtherBuffers) {
  Loaded e(hip(), NETRA_ENGINE_GRAPH);
  ASSERT_OK(e.engine, netra_engine_prepare(e.engine, 0, nullptr));
  void *other = nullptr;
  ASSERT_OK(e.engine, netra_device_malloc(e.engine, tinyBytes, &other));
  std::vector<uint32_t> x = someInput(11);
  e.setInput(x);
  ASSERT_OK(e.engine, netra_device_fill(e.engine, e.y, 0, tinyBytes));
  netra_bound_buffer buffer = {1, 0, other, tinyBytes};
  ASSERT_OK(e.engine, netra_engine_launch_bound(e.engine, 0, nullptr, nullptr,
                                                &buffer, 1));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, nullptr));
  EXPECT_EQ(e.output(other), tinyExpected(x));
  EXPECT_EQ(e.output(), std::vector<uint32_t>(tinyElements, 0));
  // The bound buffers are back.
  ASSERT_OK(e.engine, netra_engine_launch(e.engine, 0, nullptr, nullptr));
  ASSERT_OK(e.engine, netra_stream_synchronize(e.engine, nullptr));
  EXPECT_EQ(e.output(), tinyExpected(x));

  buffer.bytes = tinyBytes - 1;
  EXPECT_FAILS(
      e.engine,
      netra_engine_launch_bound(e.engine, 0, nullptr, nullptr, &buffer, 1),
      NETRA_BINDING, "at least 1024");
  buffer.bytes = UINT64_MAX;
  EXPECT_FAILS(
      e.engine,
      netra_engine_launch_bound(e.engine, 0, nullptr, nullptr, &buffer, 1),
      NETRA_BINDING, "leave the address space");
  buffer = {1, 7, other, tinyBytes};
  EXPECT_FAILS(
      e.engine,
      netra_engine_launch_bound(e.engine, 0, nullptr, nullptr, &buffer, 1),
      NETRA_INVALID_ARGUMENT, "reserved: expected 0, found 7");
  buffer.reserved = 0;
  netra_bound_buffer twice[] = {buffer, buffer};
  EXPECT_FAILS(
      e.engine,
      netra_engine_launch_bound(e.engine, 0, nullptr, nullptr, twice, 2),
      NETRA_INVALID_ARGUMENT, "binding 1 is given twice");
  buffer.binding = 2;
  EXPECT_FAILS(
      e.engine,
      netra_engine_launch_bound(e.engine, 0, nullptr, nullptr, &buffer, 1),
      NETRA_INVALID_ARGUMENT, "no binding 2");
  ASSERT_OK(e.engine, netra_device_free(e.engine, other));
}

TEST_P(EngineTest, EveryShapeHasOneOutcome) {
  netra_engine *e = create(hip());
  ASSERT_TRUE(e);
  for (uint64_t m : {0, 1, 2, 3, 4, 5})
    for (uint64_t batch :
         {uint64_t(0), uint64_t(1), uint64_t(64), uint64_t(65), UINT64_MAX})
      for (uint64_t sequence : {uint64_t(0), UINT64_MAX}) {
        netra_shape shape = {m, batch, sequence, 0, 1};
        uint32_t profile = 77;
        if (m == 4 || (m == 1 && batch >= 1 && batch <= 64)) {
          EXPECT_OK(e, netra_engine_select_profile(e, &shape, &profile));
          EXPECT_EQ(profile, m == 4 ? 1u : 0u);
          continue;
        }
        EXPECT_FAILS(e, netra_engine_select_profile(e, &shape, &profile),
                     NETRA_UNSUPPORTED_PROFILE,
                     "no plan admits m=" + std::to_string(m) +
                         ", batch=" + std::to_string(batch));
        EXPECT_EQ(profile, 77u);
        EXPECT_NE(std::string(netra_engine_last_error(e))
                      .find("\n  m1: m in [1, 1], batch in [1, 64]\n  m4: m "
                            "in [4, 4]"),
                  std::string::npos);
      }
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
}

TEST_P(EngineTest, BindingRules) {
  netra_engine *e = create(hip());
  ASSERT_TRUE(e);
  void *memory = nullptr;
  ASSERT_OK(e, netra_device_malloc(e, 4 * tinyBytes, &memory));
  char *base = static_cast<char *>(memory);
  EXPECT_FAILS(e, netra_engine_launch(e, 0, nullptr, nullptr), NETRA_BINDING,
               "netra_engine_finalize");
  EXPECT_FAILS(e, netra_engine_finalize(e), NETRA_BINDING, "weights");
  EXPECT_FAILS(e, netra_engine_bind_weights(e, base + 16, tinyBytes + 256),
               NETRA_BINDING, "aligned to 256");
  EXPECT_FAILS(e, netra_engine_bind_weights(e, base, tinyBytes), NETRA_BINDING,
               "expected 1280 bytes");
  EXPECT_FAILS(e, netra_engine_bind_weights(e, nullptr, 1280),
               NETRA_INVALID_ARGUMENT, "null");
  EXPECT_OK(e, netra_engine_load_weights(e, tinyWeightsFile().c_str()));
  EXPECT_FAILS(e, netra_engine_finalize(e), NETRA_BINDING,
               "nothing is bound to x, y");
  EXPECT_FAILS(e, netra_engine_bind(e, 5, base, tinyBytes),
               NETRA_INVALID_ARGUMENT, "no binding 5");
  EXPECT_FAILS(e, netra_engine_bind_name(e, "z", base, tinyBytes),
               NETRA_INVALID_ARGUMENT, "the engine has x, y");
  EXPECT_FAILS(e, netra_engine_bind(e, 0, nullptr, tinyBytes),
               NETRA_INVALID_ARGUMENT, "null");
  EXPECT_FAILS(e, netra_engine_bind(e, 0, base, tinyBytes - 1), NETRA_BINDING,
               "at least 1024");
  EXPECT_FAILS(e, netra_engine_bind(e, 0, base + 4, tinyBytes), NETRA_BINDING,
               "aligned to 16");
  EXPECT_OK(e, netra_engine_bind(e, 0, base, tinyBytes));
  EXPECT_OK(e, netra_engine_bind(e, 1, base + tinyBytes - 16, tinyBytes));
  EXPECT_FAILS(e, netra_engine_finalize(e), NETRA_BINDING, "overlaps");
  EXPECT_OK(e, netra_engine_bind(e, 1, base + tinyBytes, tinyBytes));
  EXPECT_FAILS(e, netra_engine_set_fallback(e, "nobody", reflect, e, 0),
               NETRA_INVALID_ARGUMENT, "nobody");
  EXPECT_OK(e, netra_engine_finalize(e));
  EXPECT_OK(e, netra_engine_finalize(e));
  EXPECT_FAILS(e, netra_engine_bind(e, 0, base, tinyBytes), NETRA_BINDING,
               "final");
  EXPECT_FAILS(e, netra_engine_load_weights(e, tinyWeightsFile().c_str()),
               NETRA_BINDING, "final");
  EXPECT_OK(e, netra_device_free(e, memory));
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
}

TEST_P(EngineTest, WeightsOfTheCaller) {
  netra_engine *e = create(hip());
  ASSERT_TRUE(e);
  void *memory = nullptr;
  ASSERT_OK(e, netra_device_malloc(e, 256 + 3 * tinyBytes, &memory));
  char *base = static_cast<char *>(memory);
  std::vector<uint32_t> w = tinyWeights(), x = someInput(), y(tinyElements);
  ASSERT_OK(e, netra_device_fill(e, base, 0, 256));
  ASSERT_OK(e, netra_device_copy(e, base + 256, w.data(), tinyBytes,
                                 NETRA_HOST_TO_DEVICE));
  char *in = base + 256 + tinyBytes, *out = in + tinyBytes;
  ASSERT_OK(
      e, netra_device_copy(e, in, x.data(), tinyBytes, NETRA_HOST_TO_DEVICE));
  ASSERT_OK(e, netra_engine_bind_weights(e, base, 256 + tinyBytes));
  ASSERT_OK(e, netra_engine_bind(e, 0, in, tinyBytes));
  ASSERT_OK(e, netra_engine_bind(e, 1, out, tinyBytes));
  ASSERT_OK(e, netra_engine_finalize(e));
  ASSERT_OK(e, netra_engine_launch(e, 0, nullptr, nullptr));
  ASSERT_OK(e, netra_stream_synchronize(e, nullptr));
  ASSERT_OK(
      e, netra_device_copy(e, y.data(), out, tinyBytes, NETRA_DEVICE_TO_HOST));
  EXPECT_EQ(y, tinyExpected(x));
  ASSERT_OK(e, netra_device_free(e, memory));
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
}

/// Threads with a stream, an input and an output each, on fewer or more lanes.
void launchConcurrently(const std::string &hip, uint32_t lanes,
                        uint32_t flags) {
  constexpr int threads = 4, rounds = 12;
  Loaded e(hip, flags, lanes);
  ASSERT_TRUE(e.engine);
  if (flags & NETRA_ENGINE_GRAPH) {
    ASSERT_OK(e.engine, netra_engine_prepare(e.engine, 0, nullptr));
  }
  std::atomic<int> wrong{0};
  auto work = [&](int id) {
    void *stream, *in, *out;
    EXPECT_OK(e.engine, netra_stream_create(e.engine, &stream));
    EXPECT_OK(e.engine, netra_device_malloc(e.engine, tinyBytes, &in));
    EXPECT_OK(e.engine, netra_device_malloc(e.engine, tinyBytes, &out));
    netra_bound_buffer buffers[] = {{0, 0, in, tinyBytes},
                                    {1, 0, out, tinyBytes}};
    for (int round = 0; round < rounds; ++round) {
      std::vector<uint32_t> x = someInput(uint32_t(id * 1000 + round));
      EXPECT_OK(e.engine, netra_device_copy(e.engine, in, x.data(), tinyBytes,
                                            NETRA_HOST_TO_DEVICE));
      EXPECT_OK(e.engine, netra_engine_launch_bound(e.engine, 0, nullptr,
                                                    stream, buffers, 2));
      EXPECT_OK(e.engine, netra_stream_synchronize(e.engine, stream));
      wrong += e.output(out) != tinyExpected(x);
    }
    netra_device_free(e.engine, in);
    netra_device_free(e.engine, out);
    netra_stream_destroy(e.engine, stream);
  };
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i)
    pool.emplace_back(work, i);
  for (std::thread &thread : pool)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(EngineTest, ConcurrentLaunchesOnOneLane) {
  launchConcurrently(hip(), 1, 0);
}
TEST_P(EngineTest, ConcurrentLaunchesOnThreeLanes) {
  launchConcurrently(hip(), 3, NETRA_ENGINE_GRAPH);
}

TEST_P(EngineTest, BusyWhileALaunchIsInFlight) {
  netra_engine *e = create(hip());
  ASSERT_TRUE(e);
  struct Gate {
    std::atomic<bool> entered{false}, leave{false};
  } gate;
  void *memory;
  ASSERT_OK(e, netra_device_malloc(e, 2 * tinyBytes, &memory));
  ASSERT_OK(e, netra_device_fill(e, memory, 0, tinyBytes));
  ASSERT_OK(e, netra_engine_load_weights(e, tinyWeightsFile().c_str()));
  ASSERT_OK(e, netra_engine_bind(e, 0, memory, tinyBytes));
  ASSERT_OK(e, netra_engine_bind(e, 1, static_cast<char *>(memory) + tinyBytes,
                                 tinyBytes));
  auto wait = [](void *user, const netra_fallback_call *) {
    auto *g = static_cast<Gate *>(user);
    g->entered = true;
    while (!g->leave)
      std::this_thread::yield();
    return NETRA_OK;
  };
  ASSERT_OK(e, netra_engine_set_fallback(e, "test.reflect", wait, &gate, 0));
  ASSERT_OK(e, netra_engine_finalize(e));
  std::thread launcher([&] {
    netra_shape shape = NETRA_SHAPE_INIT;
    shape.m = 4;
    EXPECT_OK(e, netra_engine_launch(e, 1, &shape, nullptr));
  });
  while (!gate.entered)
    std::this_thread::yield();
  EXPECT_FAILS(e, netra_engine_destroy(e), NETRA_BUSY, "another thread");
  gate.leave = true;
  launcher.join();
  EXPECT_OK(e, netra_device_free(e, memory));
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
}

INSTANTIATE_TEST_SUITE_P(Fake, EngineTest, testing::Values(NETRA_FAKE_HIP));
#ifdef NETRA_TEST_HIPSIM
INSTANTIATE_TEST_SUITE_P(Simulator, EngineTest,
                         testing::Values(NETRA_TEST_HIPSIM));
#endif

//===----------------------------------------------------------------------===//
// Without an engine
//===----------------------------------------------------------------------===//

TEST(CreateTest, SaysWhatIsWrong) {
  auto attempt = [](const char *directory, const netra_engine_options *options,
                    netra_status expected, const char *text) {
    netra_engine *engine = reinterpret_cast<netra_engine *>(1);
    char error[1024] = "";
    EXPECT_EQ(
        netra_engine_create(directory, options, &engine, error, sizeof(error)),
        expected);
    EXPECT_EQ(engine, nullptr);
    EXPECT_NE(std::string(error).find(text), std::string::npos) << error;
  };
  netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
  options.hip_library = NETRA_FAKE_HIP;
  const char *bundle = tinyBundle().c_str();
  attempt(nullptr, &options, NETRA_INVALID_ARGUMENT, "directory is null");
  attempt("/does/not/exist", &options, NETRA_IO, "/does/not/exist");
  options.device_id = 2;
  attempt(bundle, &options, NETRA_INVALID_ARGUMENT, "has 2 devices");
  options.device_id = -1;
  attempt(bundle, &options, NETRA_INVALID_ARGUMENT, "device -1");
  options.device_id = 0;
  options.flags = 1u << 20;
  attempt(bundle, &options, NETRA_INVALID_ARGUMENT, "flags");
  options.flags = 0;
  options.lanes = 65;
  attempt(bundle, &options, NETRA_INVALID_ARGUMENT, "lanes");
  options.lanes = 1;
  options.reserved = 1;
  attempt(bundle, &options, NETRA_INVALID_ARGUMENT, "reserved");
  options.reserved = 0;
  attempt("", &options, NETRA_INVALID_ARGUMENT, "found an empty one");
  options.struct_size = 4;
  attempt(bundle, &options, NETRA_INVALID_ARGUMENT, "struct_size");
  options.struct_size = sizeof(options);
  options.hip_library = "/no/such/libamdhip64.so";
  attempt(bundle, &options, NETRA_HIP, "/no/such/libamdhip64.so");
  options.hip_library = "libm.so.6";
  attempt(bundle, &options, NETRA_HIP, "lacks hipGetDeviceCount");

  EXPECT_EQ(netra_engine_create(bundle, &options, nullptr, nullptr, 0),
            NETRA_INVALID_ARGUMENT);
  char tiny[8] = "xxxxxxx";
  netra_engine *engine;
  EXPECT_EQ(netra_engine_create("/does/not/exist", nullptr, &engine, tiny, 8),
            NETRA_IO);
  EXPECT_STREQ(tiny, "/does/n");
}

TEST(CreateTest, RefusesOtherDevices) {
  const FakeControl &fake = FakeControl::get();
  netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
  options.hip_library = NETRA_FAKE_HIP;
  netra_engine *engine = nullptr;
  char error[1024];
  fake.device("gfx942:sramecc+", 64);
  EXPECT_EQ(netra_engine_create(tinyBundle().c_str(), &options, &engine, error,
                                sizeof(error)),
            NETRA_UNSUPPORTED_TARGET);
  EXPECT_NE(std::string(error).find("is gfx942"), std::string::npos) << error;
  fake.device("gfx950", 32);
  EXPECT_EQ(netra_engine_create(tinyBundle().c_str(), &options, &engine, error,
                                sizeof(error)),
            NETRA_UNSUPPORTED_TARGET);
  EXPECT_NE(std::string(error).find("waves of 32"), std::string::npos) << error;
  fake.device("gfx950:sramecc+:xnack-", 64);
}

TEST(CreateTest, TakesTheLibraryFromTheEnvironment) {
  setenv("NETRA_HIP_LIBRARY", NETRA_FAKE_HIP, 1);
  netra_engine *engine = nullptr;
  char error[1024] = "";
  EXPECT_EQ(netra_engine_create(tinyBundle().c_str(), nullptr, &engine, error,
                                sizeof(error)),
            NETRA_OK)
      << error;
  EXPECT_EQ(netra_engine_destroy(engine), NETRA_OK);
  unsetenv("NETRA_HIP_LIBRARY");
}

TEST(CreateTest, ModulesAreLoadedOncePerCodeObject) {
  const FakeControl &fake = FakeControl::get();
  int before = fake.calls("hipModuleLoadData");
  netra_engine *engine = create(NETRA_FAKE_HIP);
  EXPECT_EQ(fake.calls("hipModuleLoadData") - before, 1);
  EXPECT_EQ(netra_engine_destroy(engine), NETRA_OK);
}

TEST(NullTest, EveryFunctionTakesANullEngine) {
  EXPECT_EQ(netra_engine_destroy(nullptr), NETRA_OK);
  EXPECT_EQ(netra_engine_finalize(nullptr), NETRA_INVALID_ARGUMENT);
  EXPECT_EQ(netra_engine_launch(nullptr, 0, nullptr, nullptr),
            NETRA_INVALID_ARGUMENT);
  EXPECT_EQ(netra_engine_load_weights(nullptr, "x"), NETRA_INVALID_ARGUMENT);
  EXPECT_EQ(netra_device_malloc(nullptr, 1, nullptr), NETRA_INVALID_ARGUMENT);
  EXPECT_STREQ(netra_engine_last_error(nullptr), "the engine is null");
  EXPECT_STREQ(netra_status_name(NETRA_BUSY), "NETRA_BUSY");
  EXPECT_STREQ(netra_status_name(netra_status(99)), "unknown status");
  EXPECT_EQ(netra_api_version() >> 16, uint32_t(NETRA_API_VERSION_MAJOR));
}

//===----------------------------------------------------------------------===//
// HIP failing
//===----------------------------------------------------------------------===//

/// Everything an engine does, up to the first failure.
netra_status wholeLife(std::string &error) {
  netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
  options.flags = NETRA_ENGINE_GRAPH;
  options.lanes = 2;
  options.device_id = 1; // not the current one, so that it is set
  options.hip_library = NETRA_FAKE_HIP;
  netra_engine *e = nullptr;
  char text[2048] = "";
  if (netra_status status = netra_engine_create(tinyBundle().c_str(), &options,
                                                &e, text, sizeof(text))) {
    error = text;
    return status;
  }
  void *memory[2] = {}, *streams[2] = {};
  netra_status status = [&] {
    netra_status s;
    if ((s = netra_engine_load_weights(e, tinyWeightsFile().c_str())))
      return s;
    for (int i = 0; i < 2; ++i) {
      if ((s = netra_device_malloc(e, tinyBytes, &memory[i])) ||
          (s = netra_device_fill(e, memory[i], 0, tinyBytes)) ||
          (s = netra_engine_bind(e, uint32_t(i), memory[i], tinyBytes)) ||
          (s = netra_stream_create(e, &streams[i])))
        return s;
    }
    if ((s = netra_engine_finalize(e)) ||
        (s = netra_engine_launch(e, 0, nullptr, streams[0])) ||
        (s = netra_engine_launch_operation(e, 0, 0, nullptr, streams[1])) ||
        (s = netra_engine_prepare(e, 0, nullptr)) ||
        (s = netra_engine_launch(e, 0, nullptr, streams[0])) ||
        (s = netra_stream_synchronize(e, streams[0])) ||
        (s = netra_device_synchronize(e)))
      return s;
    return NETRA_OK;
  }();
  error = netra_engine_last_error(e);
  // A clean-up that fails has told so, and works when it is done again.
  for (int i = 0; i < 2; ++i) {
    if (memory[i] && netra_device_free(e, memory[i])) {
      EXPECT_EQ(netra_device_free(e, memory[i]), NETRA_OK);
    }
    if (streams[i] && netra_stream_destroy(e, streams[i])) {
      EXPECT_EQ(netra_stream_destroy(e, streams[i]), NETRA_OK);
    }
  }
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
  return status;
}

TEST(FailureTest, EveryHipCallMayFail) {
  const FakeControl &fake = FakeControl::get();
  std::string error;
  ASSERT_EQ(wholeLife(error), NETRA_OK) << error;
  ASSERT_EQ(fake.live(), 0);
  for (const char *function : {"hipGetDeviceCount",
                               "hipGetDevice",
                               "hipSetDevice",
                               "hipGetDeviceProperties",
                               "hipModuleLoadData",
                               "hipModuleGetFunction",
                               "hipMalloc",
                               "hipMemcpy",
                               "hipMemset",
                               "hipModuleLaunchKernel",
                               "hipStreamCreateWithFlags",
                               "hipStreamSynchronize",
                               "hipDeviceSynchronize",
                               "hipEventCreateWithFlags",
                               "hipEventRecord",
                               "hipStreamWaitEvent",
                               "hipStreamBeginCapture",
                               "hipStreamEndCapture",
                               "hipGraphInstantiate",
                               "hipGraphLaunch"}) {
    // Each call of the function in turn, until none is left to fail.
    for (int nth = 0;; ++nth) {
      ASSERT_LT(nth, 200) << function;
      fake.fail(function, nth);
      netra_status status = wholeLife(error);
      bool failed = fake.hasFailed();
      fake.fail(nullptr, -1);
      EXPECT_EQ(fake.live(), 0) << function << " " << nth;
      if (!failed) {
        EXPECT_GT(nth, 0) << function << " is never called";
        break;
      }
      // Calls that only clean up or restore have nobody to report to.
      bool cleanUp = status == NETRA_OK;
      if (!cleanUp) {
        EXPECT_EQ(status, NETRA_HIP) << function << " " << nth;
        EXPECT_NE(error.find("hipErrorUnknown"), std::string::npos) << error;
      }
      std::string name = function;
      if (name != "hipGetDevice" && name != "hipSetDevice" &&
          name != "hipDeviceSynchronize") {
        EXPECT_FALSE(cleanUp) << function << " " << nth;
        EXPECT_NE(error.find(name.substr(0, 20)), std::string::npos) << error;
      }
    }
  }
}

TEST(EngineTest, SaysWhichLibraryFindsNoDevice) {
  const FakeControl &fake = FakeControl::get();
  fake.failCode(100); // hipErrorNoDevice
  fake.fail("hipGetDeviceCount", 0);
  netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
  options.hip_library = NETRA_FAKE_HIP;
  netra_engine *engine = nullptr;
  char error[2048] = "";
  EXPECT_EQ(netra_engine_create(tinyBundle().c_str(), &options, &engine, error,
                                sizeof(error)),
            NETRA_HIP);
  fake.failCode(999);
  fake.fail(nullptr, -1);
  std::string text = error;
  size_t name = text.find("hipErrorNoDevice");
  ASSERT_NE(name, std::string::npos) << text;
  EXPECT_EQ(text.find("hipErrorNoDevice", name + 1), std::string::npos) << text;
  EXPECT_NE(text.find(NETRA_FAKE_HIP), std::string::npos) << text;
  EXPECT_NE(text.find("NETRA_HIP_LIBRARY=sim"), std::string::npos) << text;
}

} // namespace
