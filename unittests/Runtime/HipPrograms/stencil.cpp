//===- stencil.cpp - An iteration captured as a graph ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Two steps of a stencil are captured, replayed, given another constant, and
// replayed again: first by changing a node, then by capturing anew and updating
// the executable graph.
//
//===----------------------------------------------------------------------===//

#include "program.h"

namespace {

constexpr unsigned elements = 1000, block = 64;

struct Stencil {
  hipFunction_t step;
  hipStream_t stream;
  uint32_t *front, *back;

  void launch(const uint32_t *from, uint32_t *to, uint32_t bias) const {
    unsigned count = elements;
    void *arguments[] = {&from, &to, &bias, &count};
    CHECK(hipModuleLaunchKernel(step, (elements + block - 1) / block, 1, 1,
                                block, 1, 1, 0, stream, arguments, nullptr));
  }

  hipGraph_t capture(uint32_t first, uint32_t second) const {
    hipGraph_t graph;
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    launch(front, back, first);
    launch(back, front, second);
    CHECK(hipStreamEndCapture(stream, &graph));
    return graph;
  }

  void replay(hipGraphExec_t executable, unsigned times) const {
    for (unsigned i = 0; i < times; ++i)
      CHECK(hipGraphLaunch(executable, stream));
  }
};

/// Two steps on the host, in 64-bit arithmetic modulo 2^32.
void twoSteps(std::vector<uint32_t> &values, uint64_t first, uint64_t second) {
  for (uint64_t bias : {first, second}) {
    std::vector<uint32_t> next(values.size());
    const size_t n = values.size();
    for (size_t i = 0; i < n; ++i)
      next[i] = uint32_t(uint64_t(values[(i + n - 1) % n]) +
                         2 * uint64_t(values[i]) + values[(i + 1) % n] + bias);
    values = next;
  }
}

} // namespace

int main(int argc, char **argv) {
  Program program(argc, argv);
  Stencil stencil;
  hipModule_t module;
  CHECK(hipModuleLoad(&module, program.codeObject));
  CHECK(hipModuleGetFunction(&stencil.step, module, "ring_step"));
  CHECK(hipStreamCreate(&stencil.stream));
  stencil.front = allocate<uint32_t>(elements);
  stencil.back = allocate<uint32_t>(elements);

  std::vector<uint32_t> values(elements), found(elements);
  for (unsigned i = 0; i < elements; ++i)
    values[i] = i * 2654435761u;
  CHECK(hipMemcpy(stencil.front, values.data(), elements * sizeof(uint32_t),
                  hipMemcpyHostToDevice));

  hipGraph_t graph = stencil.capture(1, 2);
  size_t count = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &count));
  std::vector<hipGraphNode_t> nodes(count);
  CHECK(hipGraphGetNodes(graph, nodes.data(), &count));
  hipGraphExec_t executable;
  CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  stencil.replay(executable, 3);

  // The second node's bias becomes 5, in the executable only.
  hipKernelNodeParams parameters;
  CHECK(hipGraphKernelNodeGetParams(nodes.at(1), &parameters));
  uint32_t bias = program.isBroken ? 6 : 5;
  void *arguments[] = {parameters.kernelParams[0], parameters.kernelParams[1],
                       &bias, parameters.kernelParams[3]};
  parameters.kernelParams = arguments;
  CHECK(hipGraphExecKernelNodeSetParams(executable, nodes[1], &parameters));
  stencil.replay(executable, 2);

  // All of it becomes what another capture says.
  hipGraph_t other = stencil.capture(7, 8);
  hipGraphNode_t culprit;
  hipGraphExecUpdateResult result;
  CHECK(hipGraphExecUpdate(executable, other, &culprit, &result));
  stencil.replay(executable, 1);
  CHECK(hipStreamSynchronize(stencil.stream));

  // A graph of another shape is refused, and leaves the executable as it was.
  CHECK(hipStreamBeginCapture(stencil.stream, hipStreamCaptureModeGlobal));
  stencil.launch(stencil.front, stencil.back, 0);
  hipGraph_t shorter;
  CHECK(hipStreamEndCapture(stencil.stream, &shorter));
  if (hipGraphExecUpdate(executable, shorter, &culprit, &result) !=
          hipErrorGraphExecUpdateFailure ||
      result != hipGraphExecUpdateErrorTopologyChanged) {
    std::printf("an update with another shape was not refused\n");
    return 1;
  }
  stencil.replay(executable, 1);
  CHECK(hipMemcpyAsync(found.data(), stencil.front, elements * sizeof(uint32_t),
                       hipMemcpyDeviceToHost, stencil.stream));
  CHECK(hipStreamSynchronize(stencil.stream));

  for (int i = 0; i < 3; ++i)
    twoSteps(values, 1, 2);
  for (int i = 0; i < 2; ++i)
    twoSteps(values, 1, 5);
  for (int i = 0; i < 2; ++i)
    twoSteps(values, 7, 8);
  int failed = compare(found, values);

  CHECK(hipGraphExecDestroy(executable));
  for (hipGraph_t g : {graph, other, shorter})
    CHECK(hipGraphDestroy(g));
  CHECK(hipFree(stencil.front));
  CHECK(hipFree(stencil.back));
  CHECK(hipStreamDestroy(stencil.stream));
  CHECK(hipModuleUnload(module));
  return failed;
}
