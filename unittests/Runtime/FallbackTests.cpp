//===- FallbackTests.cpp - Steps that a callback computes -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace netra::test;

namespace {

/// Loads the weights and binds `x` and, behind it, `y`, both zeros.
void bindZeros(netra_engine *e, void *&x, void *&y) {
  ASSERT_OK(e, netra_device_malloc(e, 2 * tinyBytes, &x));
  y = static_cast<char *>(x) + tinyBytes;
  ASSERT_OK(e, netra_device_fill(e, x, 0, 2 * tinyBytes));
  ASSERT_OK(e, netra_engine_load_weights(e, tinyWeightsFile().c_str()));
  ASSERT_OK(e, netra_engine_bind(e, 0, x, tinyBytes));
  ASSERT_OK(e, netra_engine_bind(e, 1, y, tinyBytes));
}

class FallbackTest : public testing::TestWithParam<const char *> {
protected:
  std::string hip() const { return GetParam(); }
};

TEST_P(FallbackTest, FallbacksNeedACallback) {
  Loaded e(hip(), 0, 1, /*fallback=*/false);
  e.setInput(someInput());
  EXPECT_FAILS(e.engine,
               netra_engine_launch(
                   e.engine, 1,
                   [] {
                     static netra_shape shape = NETRA_SHAPE_INIT;
                     shape.m = 4;
                     return &shape;
                   }(),
                   nullptr),
               NETRA_FALLBACK_REQUIRED, "test.reflect");
  EXPECT_FAILS(e.engine, netra_engine_prepare(e.engine, 1, nullptr),
               NETRA_FALLBACK_REQUIRED, "test.reflect");
  EXPECT_OK(e.engine, netra_engine_launch(e.engine, 0, nullptr, nullptr));
}

/// What a callback was told.
struct Seen {
  netra_engine *engine = nullptr;
  unsigned calls = 0;
  netra_fallback_call call = {};
  netra_operand input = {}, output = {};
};

TEST_P(FallbackTest, ACallbackIsToldWhatItComputes) {
  netra_engine *e = create(hip());
  ASSERT_TRUE(e);
  void *memory = nullptr, *y = nullptr;
  ASSERT_NO_FATAL_FAILURE(bindZeros(e, memory, y));
  std::vector<uint32_t> x = someInput(5);
  ASSERT_OK(e, netra_device_copy(e, memory, x.data(), tinyBytes,
                                 NETRA_HOST_TO_DEVICE));
  Seen seen;
  seen.engine = e;
  auto look = [](void *user, const netra_fallback_call *call) {
    auto *s = static_cast<Seen *>(user);
    ++s->calls;
    s->call = *call;
    s->input = call->inputs[0];
    s->output = call->outputs[0];
    return reflect(s->engine, call);
  };
  ASSERT_OK(e, netra_engine_set_fallback(e, "test.reflect", look, &seen, 0));
  ASSERT_OK(e, netra_engine_finalize(e));
  netra_shape shape = NETRA_SHAPE_INIT;
  shape.m = 4;
  ASSERT_OK(e, netra_engine_launch(e, NETRA_PROFILE_AUTO, &shape, nullptr));
  ASSERT_OK(e, netra_stream_synchronize(e, nullptr));
  std::vector<uint32_t> found(tinyElements);
  ASSERT_OK(e, netra_device_copy(e, found.data(), y, tinyBytes,
                                 NETRA_DEVICE_TO_HOST));
  EXPECT_EQ(found, tinyExpected(x, /*reflect=*/true));

  ASSERT_EQ(seen.calls, 1u);
  EXPECT_EQ(seen.call.struct_size, sizeof(netra_fallback_call));
  EXPECT_STREQ(seen.call.operation, "test.reflect");
  EXPECT_STREQ(seen.call.name, "reflect");
  EXPECT_STREQ(seen.call.family, "pointwise");
  EXPECT_STREQ(seen.call.reason, "no tactic reflects");
  EXPECT_EQ(seen.call.profile, 1u);
  EXPECT_EQ(seen.call.step, 1u);
  ASSERT_EQ(seen.call.attribute_count, 4u);
  const netra_attribute *attributes = seen.call.attributes;
  EXPECT_STREQ(attributes[0].name, "axis");
  ASSERT_EQ(attributes[0].kind, NETRA_ATTRIBUTE_INTEGER);
  EXPECT_EQ(attributes[0].value.integer, -1);
  EXPECT_STREQ(attributes[1].name, "center");
  ASSERT_EQ(attributes[1].kind, NETRA_ATTRIBUTE_NUMBER);
  EXPECT_EQ(attributes[1].value.number, 0.1);
  EXPECT_STREQ(attributes[2].name, "exact");
  ASSERT_EQ(attributes[2].kind, NETRA_ATTRIBUTE_BOOLEAN);
  EXPECT_EQ(attributes[2].value.boolean, 1);
  EXPECT_STREQ(attributes[3].name, "mode");
  ASSERT_EQ(attributes[3].kind, NETRA_ATTRIBUTE_TEXT);
  EXPECT_STREQ(attributes[3].value.text, "wrap");

  EXPECT_EQ(seen.input.pointer, seen.output.pointer);
  const netra_operand_info *in = seen.input.info, *out = seen.output.info;
  for (const netra_operand_info *info : {in, out}) {
    ASSERT_TRUE(info);
    EXPECT_EQ(info->struct_size, sizeof(netra_operand_info));
    EXPECT_EQ(info->role, NETRA_OPERAND_UPDATE);
    EXPECT_EQ(info->partner, 0u);
    EXPECT_STREQ(info->type, "i32");
    EXPECT_STREQ(info->layout, "row_major");
    ASSERT_EQ(info->rank, 2u);
    EXPECT_EQ(info->shape[0], 1);
    EXPECT_EQ(info->shape[1], int64_t(tinyElements));
    EXPECT_EQ(info->bytes, tinyBytes);
  }
  EXPECT_STREQ(in->name, "x");
  EXPECT_STREQ(out->name, "result");

  // The same before any call.
  netra_operand_info asked = {};
  asked.struct_size = sizeof(asked);
  ASSERT_OK(e, netra_engine_query_operand(e, 1, 1, 1, 0, &asked));
  EXPECT_EQ(asked.name, out->name);
  EXPECT_EQ(asked.shape, out->shape);
  EXPECT_FAILS(e, netra_engine_query_operand(e, 1, 1, 0, 1, &asked),
               NETRA_INVALID_ARGUMENT,
               "step 1 (reflect) has no fallback input 1");
  EXPECT_FAILS(e, netra_engine_query_operand(e, 1, 0, 0, 0, &asked),
               NETRA_INVALID_ARGUMENT, "step 0 (first) has no fallback input");
  EXPECT_FAILS(e, netra_engine_query_operand(e, 2, 0, 0, 0, &asked),
               NETRA_INVALID_ARGUMENT, "no profile 2");
  netra_operation_info operation = {};
  operation.struct_size = sizeof(operation);
  ASSERT_OK(e, netra_engine_query_operation(e, 1, 1, &operation));
  EXPECT_STREQ(operation.family, "pointwise");
  EXPECT_EQ(operation.input_count, 1u);
  EXPECT_EQ(operation.output_count, 1u);
  ASSERT_OK(e, netra_device_free(e, memory));
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
}

TEST_P(FallbackTest, ACallbackForOneStep) {
  netra_engine *e = create(hip());
  ASSERT_TRUE(e);
  void *memory = nullptr, *y = nullptr;
  ASSERT_NO_FATAL_FAILURE(bindZeros(e, memory, y));
  auto refuse = [](void *, const netra_fallback_call *) { return NETRA_IO; };
  unsigned calls = 0;
  auto count = [](void *user, const netra_fallback_call *) {
    ++*static_cast<unsigned *>(user);
    return NETRA_OK;
  };
  ASSERT_OK(e,
            netra_engine_set_fallback(e, "test.reflect", refuse, nullptr, 0));
  ASSERT_OK(e, netra_engine_set_step_fallback(e, 1, 1, count, &calls, 0));
  EXPECT_FAILS(e, netra_engine_set_step_fallback(e, 1, 0, count, &calls, 0),
               NETRA_INVALID_ARGUMENT, "step 0 of profile 1 is no fallback");
  EXPECT_FAILS(e, netra_engine_set_step_fallback(e, 9, 1, count, &calls, 0),
               NETRA_INVALID_ARGUMENT, "step 1 of profile 9 is no fallback");
  EXPECT_FAILS(e, netra_engine_set_step_fallback(e, 1, 1, count, &calls, 8),
               NETRA_INVALID_ARGUMENT, "unknown bits in 8");
  ASSERT_OK(e, netra_engine_finalize(e));
  netra_shape shape = NETRA_SHAPE_INIT;
  shape.m = 4;
  EXPECT_OK(e, netra_engine_launch(e, 1, &shape, nullptr));
  EXPECT_EQ(calls, 1u);
  EXPECT_FAILS(e, netra_engine_set_step_fallback(e, 1, 1, count, &calls, 0),
               NETRA_BINDING, "final");
  ASSERT_OK(e, netra_device_synchronize(e));
  EXPECT_OK(e, netra_device_free(e, memory));
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
}

TEST_P(FallbackTest, AFailedFallbackEndsTheLaunch) {
  netra_engine *e = create(hip());
  ASSERT_TRUE(e);
  void *memory = nullptr, *y = nullptr;
  ASSERT_NO_FATAL_FAILURE(bindZeros(e, memory, y));
  auto refuse = [](void *, const netra_fallback_call *) { return NETRA_IO; };
  ASSERT_OK(e,
            netra_engine_set_fallback(e, "test.reflect", refuse, nullptr, 0));
  ASSERT_OK(e, netra_engine_finalize(e));
  netra_shape shape = NETRA_SHAPE_INIT;
  shape.m = 4;
  ASSERT_OK(e, netra_device_fill(e, y, 0x5a, tinyBytes));
  EXPECT_FAILS(e, netra_engine_launch(e, 1, &shape, nullptr), NETRA_IO,
               "plan m4, step 1 (reflect): the fallback registered for "
               "test.reflect failed");
  // The step before has run, that after has not.
  ASSERT_OK(e, netra_device_synchronize(e));
  std::vector<uint32_t> t(tinyElements), left(tinyElements);
  void *arena = nullptr;
  uint64_t arenaBytes = 0;
  ASSERT_OK(e, netra_engine_arena(e, &arena, &arenaBytes));
  ASSERT_OK(e, netra_device_copy(e, t.data(), static_cast<char *>(arena) + 512,
                                 tinyBytes, NETRA_DEVICE_TO_HOST));
  EXPECT_EQ(t, std::vector<uint32_t>(tinyElements, 3)); // x is 0
  ASSERT_OK(
      e, netra_device_copy(e, left.data(), y, tinyBytes, NETRA_DEVICE_TO_HOST));
  EXPECT_EQ(left, std::vector<uint32_t>(tinyElements, 0x5a5a5a5a));
  EXPECT_OK(e, netra_device_free(e, memory));
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
}

INSTANTIATE_TEST_SUITE_P(Fake, FallbackTest, testing::Values(NETRA_FAKE_HIP));
#ifdef NETRA_TEST_HIPSIM
INSTANTIATE_TEST_SUITE_P(Simulator, FallbackTest,
                         testing::Values(NETRA_TEST_HIPSIM));

TEST(FallbackGraphTest, ACapturableCallbackIsPartOfTheGraph) {
  netra_engine *e = create(NETRA_TEST_HIPSIM, NETRA_ENGINE_GRAPH);
  ASSERT_TRUE(e);
  void *memory = nullptr, *y = nullptr;
  ASSERT_NO_FATAL_FAILURE(bindZeros(e, memory, y));
  // Enqueues, as the program's own HIP calls would.
  struct Enqueue {
    int (*memset)(void *, int, size_t, void *) = nullptr;
    unsigned calls = 0;
  } enqueue;
  void *library = dlopen(NETRA_TEST_HIPSIM, RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  enqueue.memset = reinterpret_cast<decltype(enqueue.memset)>(
      dlsym(library, "hipMemsetAsync"));
  ASSERT_TRUE(enqueue.memset);
  auto fill = [](void *user, const netra_fallback_call *call) {
    auto *to = static_cast<Enqueue *>(user);
    ++to->calls;
    return to->memset(call->outputs[0].pointer, 1, call->outputs[0].bytes,
                      call->stream)
               ? NETRA_HIP
               : NETRA_OK;
  };
  ASSERT_OK(e, netra_engine_set_fallback(e, "test.reflect", fill, &enqueue,
                                         NETRA_FALLBACK_CAPTURABLE));
  ASSERT_OK(e, netra_engine_finalize(e));
  ASSERT_OK(e, netra_engine_prepare(e, 1, nullptr));
  EXPECT_EQ(enqueue.calls, 1u);
  std::vector<uint32_t> w = tinyWeights(), expected(tinyElements);
  for (uint32_t i = 0; i < tinyElements; ++i)
    expected[i] = 0x01010101u * 0x01010101u + w[i] + tinyK;
  netra_shape shape = NETRA_SHAPE_INIT;
  shape.m = 4;
  for (int launch = 0; launch < 2; ++launch) {
    ASSERT_OK(e, netra_device_fill(e, y, 0, tinyBytes));
    ASSERT_OK(e, netra_engine_launch(e, 1, &shape, nullptr));
    ASSERT_OK(e, netra_device_synchronize(e));
    std::vector<uint32_t> found(tinyElements);
    ASSERT_OK(e, netra_device_copy(e, found.data(), y, tinyBytes,
                                   NETRA_DEVICE_TO_HOST));
    EXPECT_EQ(found, expected);
  }
  EXPECT_EQ(enqueue.calls, 1u);
  EXPECT_OK(e, netra_device_free(e, memory));
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
  dlclose(library);
}
#endif

} // namespace
