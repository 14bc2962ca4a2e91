//===- HipSimGraphTests.cpp - Graphs made node by node --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "HipSimFixture.h"

#include <algorithm>
#include <cstring>

using namespace netra::test;

// HIP 5.2 has it in the library only.
extern "C" hipError_t hipGraphUpload(hipGraphExec_t, hipStream_t);

namespace {

using Nodes = std::vector<hipGraphNode_t>;

class HipSimGraphTest : public HipSimTest {
protected:
  void SetUp() override {
    HipSimTest::SetUp();
    ASSERT_HIP(hipStreamCreate(&stream));
    ASSERT_HIP(hipGraphCreate(&graph, 0));
    ASSERT_HIP(hipMalloc(reinterpret_cast<void **>(&t), tinyBytes));
  }
  void TearDown() override {
    EXPECT_HIP(hipFree(t));
    EXPECT_HIP(hipGraphDestroy(graph));
    EXPECT_HIP(hipStreamDestroy(stream));
    HipSimTest::TearDown();
  }

  /// result = x * y + z + k. Copies the arguments as long as the object lives.
  struct Call {
    Call(HipSimGraphTest &test, const uint32_t *x, const uint32_t *y,
         const uint32_t *z, uint32_t *result, uint32_t k)
        : x(x), y(y), z(z), result(result), k(k) {
      parameters.func = test.function;
      parameters.gridDim = dim3(tinyElements / 64);
      parameters.blockDim = dim3(64);
      parameters.kernelParams = pointers;
    }
    const uint32_t *x, *y, *z;
    uint32_t *result, k;
    void *pointers[5] = {&x, &y, &z, &result, &k};
    hipKernelNodeParams parameters = {};
  };

  hipGraphNode_t addKernel(const Call &call, const Nodes &after = {}) {
    hipGraphNode_t node = nullptr;
    EXPECT_HIP(hipGraphAddKernelNode(&node, graph, after.data(), after.size(),
                                     &call.parameters));
    return node;
  }
  hipGraphNode_t addCopy(void *to, const void *from, hipMemcpyKind kind,
                         const Nodes &after = {}) {
    hipGraphNode_t node = nullptr;
    EXPECT_HIP(hipGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(),
                                       to, from, tinyBytes, kind));
    return node;
  }
  static hipMemsetParams memset(void *destination, uint32_t value) {
    hipMemsetParams parameters = {};
    parameters.dst = destination;
    parameters.elementSize = 4;
    parameters.value = value;
    parameters.width = tinyElements;
    parameters.height = 1;
    return parameters;
  }
  hipGraphNode_t addMemset(const hipMemsetParams &parameters,
                           const Nodes &after = {}) {
    hipGraphNode_t node = nullptr;
    EXPECT_HIP(hipGraphAddMemsetNode(&node, graph, after.data(), after.size(),
                                     &parameters));
    return node;
  }
  hipGraphExec_t instantiate() {
    hipGraphExec_t executable = nullptr;
    EXPECT_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    return executable;
  }
  std::vector<uint32_t> run(hipGraphExec_t executable) {
    EXPECT_HIP(hipGraphLaunch(executable, stream));
    EXPECT_HIP(hipStreamSynchronize(stream));
    return read(out);
  }

  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  uint32_t *t = nullptr;
};

Nodes sorted(Nodes nodes) {
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

TEST_F(HipSimGraphTest, EveryTypeOfNode) {
  std::vector<uint32_t> source(tinyElements, 11), result(tinyElements);
  // t = 2; a = source; t = a * b + t + 1; out = t * b + c + 2; result = out,
  // and a function that sees the result.
  Call first(*this, a, b, t, t, 1), second(*this, t, b, c, out, 2);
  hipGraphNode_t fill = addMemset(memset(t, 2));
  hipGraphNode_t load = addCopy(a, source.data(), hipMemcpyHostToDevice);
  hipGraphNode_t join;
  Nodes both = {fill, load};
  ASSERT_HIP(hipGraphAddEmptyNode(&join, graph, both.data(), both.size()));
  hipGraphNode_t one = addKernel(first, {join});
  hipGraphNode_t two = addKernel(second, {one});
  hipGraphNode_t store =
      addCopy(result.data(), out, hipMemcpyDeviceToHost, {two});
  struct Seen {
    const std::vector<uint32_t> *values;
    uint32_t first;
  } seen = {&result, 0};
  hipHostNodeParams look = {[](void *user) {
                              auto *s = static_cast<Seen *>(user);
                              s->first = (*s->values)[0];
                            },
                            &seen};
  hipGraphNode_t host;
  ASSERT_HIP(hipGraphAddHostNode(&host, graph, &store, 1, &look));

  const std::pair<hipGraphNode_t, hipGraphNodeType> types[] = {
      {fill, hipGraphNodeTypeMemset},  {load, hipGraphNodeTypeMemcpy},
      {join, hipGraphNodeTypeEmpty},   {one, hipGraphNodeTypeKernel},
      {store, hipGraphNodeTypeMemcpy}, {host, hipGraphNodeTypeHost}};
  for (auto [node, expected] : types) {
    hipGraphNodeType type;
    ASSERT_HIP(hipGraphNodeGetType(node, &type));
    EXPECT_EQ(type, expected);
  }
  hipGraphExec_t executable = instantiate();
  ASSERT_HIP(hipGraphUpload(executable, stream));
  for (uint32_t value : {11u, 4u}) {
    std::fill(source.begin(), source.end(), value);
    const uint32_t expected = (value * 5 + 2 + 1) * 5 + 7 + 2;
    EXPECT_EQ(run(executable), constant(expected));
    EXPECT_EQ(result, constant(expected));
    EXPECT_EQ(seen.first, expected);
  }
  ASSERT_HIP(hipGraphExecDestroy(executable));
}

TEST_F(HipSimGraphTest, StructureIsAsBuilt) {
  Call call(*this, a, b, c, out, 1);
  hipGraphNode_t one = addKernel(call), two = addKernel(call),
                 three = addKernel(call, {one});
  Nodes from = {two, one}, to = {three, two};
  ASSERT_HIP(hipGraphAddDependencies(graph, from.data(), to.data(), 2));
  size_t count = 0;
  ASSERT_HIP(hipGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 3u);
  Nodes nodes(5, one);
  count = 5;
  ASSERT_HIP(hipGraphGetNodes(graph, nodes.data(), &count));
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(nodes, (Nodes{one, two, three, nullptr, nullptr}));
  count = 4;
  ASSERT_HIP(hipGraphGetRootNodes(graph, nodes.data(), &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nodes[0], one);
  ASSERT_HIP(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  ASSERT_EQ(count, 3u);
  Nodes first(3), second(3);
  ASSERT_HIP(hipGraphGetEdges(graph, first.data(), second.data(), &count));
  std::vector<std::pair<hipGraphNode_t, hipGraphNode_t>> edges;
  for (int i = 0; i < 3; ++i)
    edges.emplace_back(first[i], second[i]);
  for (auto edge :
       {std::pair(one, two), std::pair(one, three), std::pair(two, three)})
    EXPECT_EQ(std::count(edges.begin(), edges.end(), edge), 1);
  nodes.assign(2, nullptr);
  count = 2;
  ASSERT_HIP(hipGraphNodeGetDependencies(three, nodes.data(), &count));
  EXPECT_EQ(sorted(nodes), sorted({one, two}));
  count = 2;
  ASSERT_HIP(hipGraphNodeGetDependentNodes(one, nodes.data(), &count));
  EXPECT_EQ(sorted(nodes), sorted({two, three}));
  ASSERT_HIP(hipGraphRemoveDependencies(graph, from.data(), to.data(), 1));
  ASSERT_HIP(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT_EQ(count, 2u);
  ASSERT_HIP(hipGraphDestroyNode(one));
  ASSERT_HIP(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(hipGraphDestroyNode(one), hipErrorInvalidValue);
}

/// Edges may be added in any order: what runs first is theirs to say, not the
/// order in which nodes were made.
TEST_F(HipSimGraphTest, EdgesDecideTheOrder) {
  Call later(*this, t, b, c, out, 2), earlier(*this, a, b, c, t, 1);
  hipGraphNode_t second = addKernel(later), first = addKernel(earlier);
  ASSERT_HIP(hipGraphAddDependencies(graph, &first, &second, 1));
  hipGraphExec_t executable = instantiate();
  EXPECT_EQ(run(executable), constant((3 * 5 + 7 + 1) * 5 + 7 + 2));
  ASSERT_HIP(hipGraphExecDestroy(executable));

  // In a circle, nothing can run first.
  ASSERT_HIP(hipGraphAddDependencies(graph, &second, &first, 1));
  hipGraphNode_t culprit = nullptr;
  char log[128] = "";
  EXPECT_EQ(hipGraphInstantiate(&executable, graph, &culprit, log, sizeof(log)),
            hipErrorInvalidValue);
  EXPECT_TRUE(culprit == first || culprit == second);
  EXPECT_NE(std::string(log).find("circle"), std::string::npos);
  char tiny[4] = "";
  EXPECT_EQ(
      hipGraphInstantiate(&executable, graph, nullptr, tiny, sizeof(tiny)),
      hipErrorInvalidValue);
  EXPECT_EQ(std::strlen(tiny), 3u);
}

TEST_F(HipSimGraphTest, ParametersAreReadAndChanged) {
  Call call(*this, a, b, c, out, 1);
  hipGraphNode_t node = addKernel(call);
  hipGraphExec_t before = instantiate();
  hipKernelNodeParams got = {};
  ASSERT_HIP(hipGraphKernelNodeGetParams(node, &got));
  EXPECT_EQ(got.func, static_cast<void *>(function));
  EXPECT_EQ(got.gridDim.x, tinyElements / 64);
  EXPECT_EQ(got.blockDim.x, 64u);
  ASSERT_NE(got.kernelParams, nullptr);
  EXPECT_EQ(got.extra, nullptr);
  EXPECT_EQ(*static_cast<uint32_t **>(got.kernelParams[3]), out);
  EXPECT_EQ(*static_cast<uint32_t *>(got.kernelParams[4]), 1u);

  // Of the graph: executables made before keep what they have.
  uint32_t k = 100;
  got.kernelParams[4] = &k;
  hipKernelNodeParams changed = got;
  ASSERT_HIP(hipGraphKernelNodeSetParams(node, &changed));
  hipGraphExec_t after = instantiate();
  EXPECT_EQ(run(before), constant(3 * 5 + 7 + 1));
  EXPECT_EQ(run(after), constant(3 * 5 + 7 + 100));

  // Of one executable, with a launch of it under way.
  static std::vector<uint32_t> early;
  early.assign(tinyElements, 0);
  Call other(*this, a, a, c, out, 5);
  ASSERT_HIP(hipGraphLaunch(after, stream));
  ASSERT_HIP(
      hipMemcpyAsync(t, out, tinyBytes, hipMemcpyDeviceToDevice, stream));
  ASSERT_HIP(hipGraphExecKernelNodeSetParams(after, node, &other.parameters));
  EXPECT_EQ(run(after), constant(3 * 3 + 7 + 5));
  EXPECT_EQ(read(t), constant(3 * 5 + 7 + 100));
  EXPECT_EQ(run(before), constant(3 * 5 + 7 + 1));
  for (hipGraphExec_t executable : {before, after})
    ASSERT_HIP(hipGraphExecDestroy(executable));
}

TEST_F(HipSimGraphTest, CopiesAndMemsetsAreChanged) {
  hipMemsetParams fill = memset(t, 9), got = {};
  hipGraphNode_t filling = addMemset(fill);
  hipGraphNode_t copying = addCopy(out, t, hipMemcpyDeviceToDevice, {filling});
  ASSERT_HIP(hipGraphMemsetNodeGetParams(filling, &got));
  EXPECT_EQ(got.dst, t);
  EXPECT_EQ(got.value, 9u);
  EXPECT_EQ(got.elementSize, 4u);
  EXPECT_EQ(got.width, tinyElements);
  hipMemcpy3DParms copy = {};
  ASSERT_HIP(hipGraphMemcpyNodeGetParams(copying, &copy));
  EXPECT_EQ(copy.dstPtr.ptr, out);
  EXPECT_EQ(copy.srcPtr.ptr, t);
  EXPECT_EQ(copy.extent.width, tinyBytes);
  EXPECT_EQ(copy.kind, hipMemcpyDeviceToDevice);
  hipGraphExec_t executable = instantiate();
  EXPECT_EQ(run(executable), constant(9));
  fill.value = 10;
  ASSERT_HIP(hipGraphExecMemsetNodeSetParams(executable, filling, &fill));
  EXPECT_EQ(run(executable), constant(10));
  ASSERT_HIP(hipGraphExecMemcpyNodeSetParams1D(
      executable, copying, out, a, tinyBytes, hipMemcpyDeviceToDevice));
  EXPECT_EQ(run(executable), constant(3));
  ASSERT_HIP(hipGraphExecDestroy(executable));
  ASSERT_HIP(hipGraphMemsetNodeSetParams(filling, &fill));
  copy.srcPtr.ptr = b;
  ASSERT_HIP(hipGraphMemcpyNodeSetParams(copying, &copy));
  executable = instantiate();
  EXPECT_EQ(run(executable), constant(5));
  EXPECT_EQ(read(t), constant(10));
  ASSERT_HIP(hipGraphExecDestroy(executable));
}

/// Rows and slices with room between them.
TEST_F(HipSimGraphTest, CopiesOfBlocks) {
  // 2 slices of 3 rows of 4 words, out of 4 rows of 8 words.
  std::vector<uint32_t> source(2 * 4 * 8), expected(tinyElements, 0);
  for (size_t i = 0; i < source.size(); ++i)
    source[i] = uint32_t(i + 1);
  for (size_t z = 0; z < 2; ++z)
    for (size_t y = 0; y < 3; ++y)
      for (size_t x = 0; x < 4; ++x)
        expected[(z * 5 + y) * 16 + x] = source[(z * 4 + y + 1) * 8 + x + 2];
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(source.data(), 32, 32, 4);
  copy.srcPos = make_hipPos(8, 1, 0);
  copy.dstPtr = make_hipPitchedPtr(out, 64, 64, 5);
  copy.extent = make_hipExtent(16, 3, 2);
  copy.kind = hipMemcpyHostToDevice;
  hipMemsetParams fill = memset(out, 0);
  hipGraphNode_t clear = addMemset(fill), node;
  ASSERT_HIP(hipGraphAddMemcpyNode(&node, graph, &clear, 1, &copy));
  hipGraphExec_t executable = instantiate();
  EXPECT_EQ(run(executable), expected);
  ASSERT_HIP(hipGraphExecDestroy(executable));
  // And without a graph.
  ASSERT_HIP(hipMemset(out, 0, tinyBytes));
  ASSERT_HIP(hipMemcpy3D(&copy));
  EXPECT_EQ(read(out), expected);
  // A memset of rows: 2 rows of 3 halfwords, 32 bytes apart.
  fill = memset(out, 0xabcd);
  fill.elementSize = 2;
  fill.width = 3;
  fill.height = 2;
  fill.pitch = 32;
  ASSERT_HIP(hipGraphMemsetNodeSetParams(clear, &fill));
  ASSERT_HIP(hipGraphDestroyNode(node));
  ASSERT_HIP(hipMemset(out, 0, tinyBytes));
  executable = instantiate();
  expected.assign(tinyElements, 0);
  expected[0] = expected[8] = 0xabcdabcd;
  expected[1] = expected[9] = 0xabcd;
  EXPECT_EQ(run(executable), expected);
  ASSERT_HIP(hipGraphExecDestroy(executable));
}

TEST_F(HipSimGraphTest, ClonesAndChildren) {
  Call call(*this, a, b, c, t, 1);
  hipGraphNode_t node = addKernel(call), twin = nullptr, child = nullptr;
  hipGraph_t clone, outer, inside;
  ASSERT_HIP(hipGraphClone(&clone, graph));
  ASSERT_HIP(hipGraphNodeFindInClone(&twin, node, clone));
  EXPECT_NE(twin, node);
  EXPECT_EQ(hipGraphNodeFindInClone(&twin, node, graph), hipErrorInvalidValue);

  // outer: the clone, then out = t * b + c + 2.
  ASSERT_HIP(hipGraphCreate(&outer, 0));
  ASSERT_HIP(hipGraphAddChildGraphNode(&child, outer, nullptr, 0, clone));
  Call second(*this, t, b, c, out, 2);
  hipGraphNode_t last;
  ASSERT_HIP(
      hipGraphAddKernelNode(&last, outer, &child, 1, &second.parameters));
  ASSERT_HIP(hipGraphChildGraphNodeGetGraph(child, &inside));
  size_t count;
  ASSERT_HIP(hipGraphGetNodes(inside, nullptr, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(hipGraphDestroy(inside), hipErrorInvalidValue);
  hipGraphExec_t executable;
  ASSERT_HIP(hipGraphInstantiateWithFlags(&executable, outer, 0));
  EXPECT_EQ(run(executable), constant((3 * 5 + 7 + 1) * 5 + 7 + 2));
  // Another child in its place.
  Call third(*this, a, a, c, t, 1);
  ASSERT_HIP(hipGraphKernelNodeSetParams(node, &third.parameters));
  ASSERT_HIP(hipGraphExecChildGraphNodeSetParams(executable, child, graph));
  EXPECT_EQ(run(executable), constant((3 * 3 + 7 + 1) * 5 + 7 + 2));
  ASSERT_HIP(hipGraphExecDestroy(executable));
  // The child outlives the graph it was made of, and goes with its node.
  ASSERT_HIP(hipGraphDestroy(clone));
  ASSERT_HIP(hipGraphInstantiateWithFlags(&executable, outer, 0));
  EXPECT_EQ(run(executable), constant((3 * 5 + 7 + 1) * 5 + 7 + 2));
  ASSERT_HIP(hipGraphExecDestroy(executable));
  ASSERT_HIP(hipGraphDestroy(outer));
  EXPECT_EQ(hipGraphGetNodes(inside, nullptr, &count), hipErrorInvalidValue);
}

/// The way programs update: capture again, and try to put it in place.
TEST_F(HipSimGraphTest, CapturedGraphsUpdate) {
  auto capture = [&](uint32_t k, int launches) {
    hipGraph_t captured = nullptr;
    EXPECT_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    EXPECT_HIP(hipMemsetAsync(out, 0, tinyBytes, stream));
    for (int i = 0; i < launches; ++i)
      EXPECT_HIP(launch(out, b, c, out, k, stream));
    EXPECT_HIP(hipStreamEndCapture(stream, &captured));
    return captured;
  };
  hipGraph_t first = capture(1, 2);
  hipGraphExec_t executable;
  ASSERT_HIP(hipGraphInstantiate(&executable, first, nullptr, nullptr, 0));
  EXPECT_EQ(run(executable), constant((0 * 5 + 7 + 1) * 5 + 7 + 1));
  hipGraphNode_t culprit;
  hipGraphExecUpdateResult result;
  hipGraph_t second = capture(10, 2);
  ASSERT_HIP(hipGraphExecUpdate(executable, second, &culprit, &result));
  EXPECT_EQ(result, hipGraphExecUpdateSuccess);
  EXPECT_EQ(run(executable), constant((7 + 10) * 5 + 7 + 10));
  // Nodes of the graph it was first made of still name its nodes.
  Nodes nodes(3);
  size_t count = 3;
  ASSERT_HIP(hipGraphGetNodes(first, nodes.data(), &count));
  Call call(*this, out, b, c, out, 20);
  ASSERT_HIP(
      hipGraphExecKernelNodeSetParams(executable, nodes[2], &call.parameters));
  EXPECT_EQ(run(executable), constant((7 + 10) * 5 + 7 + 20));

  // Not the same shape: nothing changes.
  hipGraph_t longer = capture(3, 3);
  EXPECT_EQ(hipGraphExecUpdate(executable, longer, &culprit, &result),
            hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
  hipGraphNode_t other;
  ASSERT_HIP(hipGraphAddEmptyNode(&other, graph, nullptr, 0));
  for (int i = 0; i < 2; ++i)
    ASSERT_HIP(hipGraphAddEmptyNode(&other, graph, &other, 1));
  EXPECT_EQ(hipGraphExecUpdate(executable, graph, &culprit, &result),
            hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_NE(culprit, nullptr);
  // The same nodes, joined otherwise.
  hipGraph_t rewired = capture(3, 2);
  ASSERT_HIP(hipGraphGetNodes(rewired, nodes.data(), &count));
  ASSERT_HIP(hipGraphRemoveDependencies(rewired, &nodes[1], &nodes[2], 1));
  EXPECT_EQ(hipGraphExecUpdate(executable, rewired, &culprit, &result),
            hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(culprit, nodes[2]);
  EXPECT_EQ(run(executable), constant((7 + 10) * 5 + 7 + 20));
  ASSERT_HIP(hipGraphExecDestroy(executable));
  for (hipGraph_t g : {first, second, longer, rewired})
    ASSERT_HIP(hipGraphDestroy(g));
}

TEST_F(HipSimGraphTest, GraphsAreCapturedInGraphs) {
  Call call(*this, out, b, c, out, 1);
  hipGraphNode_t one = addKernel(call);
  hipGraphExec_t inner = instantiate(), outer;
  Call changed(*this, out, b, c, out, 2);
  ASSERT_HIP(hipGraphExecKernelNodeSetParams(inner, one, &changed.parameters));
  hipGraph_t captured;
  ASSERT_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  ASSERT_HIP(hipMemsetAsync(out, 0, tinyBytes, stream));
  ASSERT_HIP(hipGraphLaunch(inner, stream));
  ASSERT_HIP(launch(out, b, c, out, 3, stream));
  ASSERT_HIP(hipStreamEndCapture(stream, &captured));
  ASSERT_HIP(hipGraphInstantiate(&outer, captured, nullptr, nullptr, 0));
  ASSERT_HIP(hipGraphExecDestroy(inner));
  EXPECT_EQ(run(outer), constant((7 + 2) * 5 + 7 + 3));
  ASSERT_HIP(hipGraphExecDestroy(outer));
  ASSERT_HIP(hipGraphDestroy(captured));
}

TEST_F(HipSimGraphTest, MisuseHasItsOwnCode) {
  Call call(*this, a, b, c, out, 1);
  hipGraphNode_t node = addKernel(call), other, none = nullptr;
  hipGraph_t elsewhere, gone;
  ASSERT_HIP(hipGraphCreate(&elsewhere, 0));
  ASSERT_HIP(hipGraphAddEmptyNode(&other, elsewhere, nullptr, 0));
  hipGraphExec_t executable = instantiate(), unrelated;
  ASSERT_HIP(hipGraphInstantiate(&unrelated, elsewhere, nullptr, nullptr, 0));
  hipGraphExec_t goneExecutable;
  ASSERT_HIP(hipGraphInstantiate(&goneExecutable, graph, nullptr, nullptr, 0));
  ASSERT_HIP(hipGraphExecDestroy(goneExecutable));
  // Last, so that nothing else gets its address.
  ASSERT_HIP(hipGraphCreate(&gone, 0));
  ASSERT_HIP(hipGraphDestroy(gone));
  size_t count;
  char host[8];
  hipMemsetParams fill = memset(out, 1), wide = fill, outside = fill;
  wide.elementSize = 8;
  outside.dst = host;
  hipKernelNodeParams parameters = call.parameters;
  auto kernel = [&](auto change) {
    hipKernelNodeParams changed = call.parameters;
    change(changed);
    return hipGraphAddKernelNode(&none, graph, nullptr, 0, &changed);
  };
  const std::pair<const char *, std::pair<hipError_t, hipError_t>> table[] = {
      {"create with flags", {hipGraphCreate(&gone, 1), hipErrorInvalidValue}},
      {"destroyed twice", {hipGraphDestroy(gone), hipErrorIllegalState}},
      {"destroy null", {hipGraphDestroy(nullptr), hipErrorInvalidValue}},
      {"nodes of a destroyed graph",
       {hipGraphGetNodes(gone, nullptr, &count), hipErrorInvalidValue}},
      {"no count",
       {hipGraphGetNodes(graph, nullptr, nullptr), hipErrorInvalidValue}},
      {"one list of edges",
       {hipGraphGetEdges(graph, &none, nullptr, &count), hipErrorInvalidValue}},
      {"clone of a destroyed graph",
       {hipGraphClone(&gone, gone), hipErrorInvalidValue}},
      {"instantiate a destroyed graph",
       {hipGraphInstantiate(&goneExecutable, gone, nullptr, nullptr, 0),
        hipErrorInvalidValue}},
      {"unknown flags",
       {hipGraphInstantiateWithFlags(&goneExecutable, graph, 2),
        hipErrorInvalidValue}},
      {"launch what was destroyed",
       {hipGraphLaunch(goneExecutable, stream), hipErrorInvalidValue}},
      {"launch null", {hipGraphLaunch(nullptr, stream), hipErrorInvalidValue}},
      {"launch in an unknown stream",
       {hipGraphLaunch(executable, reinterpret_cast<hipStream_t>(0x99)),
        hipErrorContextIsDestroyed}},
      {"destroy what was destroyed",
       {hipGraphExecDestroy(goneExecutable), hipErrorInvalidValue}},
      {"dependency of another graph",
       {hipGraphAddEmptyNode(&none, graph, &other, 1), hipErrorInvalidValue}},
      {"no list of dependencies",
       {hipGraphAddEmptyNode(&none, graph, nullptr, 1), hipErrorInvalidValue}},
      {"edge to itself",
       {hipGraphAddDependencies(graph, &node, &node, 1), hipErrorInvalidValue}},
      {"edge to another graph",
       {hipGraphAddDependencies(graph, &node, &other, 1),
        hipErrorInvalidValue}},
      {"edge that is not there",
       {hipGraphRemoveDependencies(graph, &node, &node, 1),
        hipErrorInvalidValue}},
      {"no function",
       {kernel([](auto &p) { p.func = nullptr; }), hipErrorInvalidValue}},
      {"unknown function",
       {kernel([](auto &p) { p.func = &p; }), hipErrorInvalidDeviceFunction}},
      {"no arguments",
       {kernel([](auto &p) { p.kernelParams = nullptr; }),
        hipErrorInvalidValue}},
      {"empty grid",
       {kernel([](auto &p) { p.gridDim.y = 0; }), hipErrorInvalidValue}},
      {"block too large",
       {kernel([](auto &p) { p.blockDim.x = 2048; }),
        hipErrorInvalidConfiguration}},
      {"too much LDS",
       {kernel([](auto &p) { p.sharedMemBytes = 1 << 20; }),
        hipErrorInvalidValue}},
      {"wrong type of node",
       {hipGraphMemsetNodeSetParams(node, &fill), hipErrorInvalidValue}},
      {"elements of 8 bytes",
       {hipGraphAddMemsetNode(&none, graph, nullptr, 0, &wide),
        hipErrorInvalidValue}},
      {"memset of host memory",
       {hipGraphAddMemsetNode(&none, graph, nullptr, 0, &outside),
        hipErrorInvalidValue}},
      {"copy of nothing",
       {hipGraphAddMemcpyNode1D(&none, graph, nullptr, 0, out, a, 0,
                                hipMemcpyDefault),
        hipErrorInvalidValue}},
      {"copy beyond the end",
       {hipGraphAddMemcpyNode1D(&none, graph, nullptr, 0, out, a, tinyBytes + 4,
                                hipMemcpyDefault),
        hipErrorInvalidValue}},
      {"no host function",
       {hipGraphAddHostNode(&none, graph, nullptr, 0, nullptr),
        hipErrorInvalidValue}},
      {"destroyed child",
       {hipGraphAddChildGraphNode(&none, graph, nullptr, 0, gone),
        hipErrorInvalidValue}},
      {"executable of another graph",
       {hipGraphExecKernelNodeSetParams(unrelated, node, &parameters),
        hipErrorInvalidValue}},
      {"parameters of no node",
       {hipGraphKernelNodeGetParams(nullptr, &parameters),
        hipErrorInvalidValue}},
      {"events in graphs",
       {hipGraphAddEventRecordNode(&none, graph, nullptr, 0, nullptr),
        hipErrorNotSupported}},
  };
  for (const auto &[name, codes] : table)
    EXPECT_EQ(codes.first, codes.second) << name;
  EXPECT_EQ(none, nullptr);
  // Nothing of it has changed the graph.
  ASSERT_HIP(hipGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(run(executable), constant(3 * 5 + 7 + 1));
  ASSERT_HIP(hipGraphExecDestroy(executable));
  ASSERT_HIP(hipGraphExecDestroy(unrelated));
  ASSERT_HIP(hipGraphDestroy(elsewhere));
}

} // namespace
