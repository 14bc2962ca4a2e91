//===- GraphNodeApi.cpp - HIP: nodes of graphs ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "llvm/Support/FormatVariadic.h"

using namespace netra;
using namespace netra::hipsim;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// What every type of node has in common
//===----------------------------------------------------------------------===//

/// Adds a node behind others of the same graph.
static int addNode(void **result, void *graphHandle, void *const *before,
                   size_t count, std::shared_ptr<GraphNode> node) {
  if (int code = checkGiven(result, "place for the node"))
    return code;
  if (count)
    if (int code = checkGiven(before, "list of dependencies"))
      return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(graphHandle, graph))
    return code;
  std::vector<GraphNode *> after;
  for (size_t i = 0; i < count; ++i) {
    GraphNode *dependency;
    if (int code = findNode(before[i], dependency))
      return code;
    if (!graph->owns(*dependency) ||
        std::count(after.begin(), after.end(), dependency))
      return finish(hip::ErrorInvalidValue,
                    formatv("dependency {0} is a node of another graph, or "
                            "given twice",
                            i));
    after.push_back(dependency);
  }
  GraphNode &added = graph->add(std::move(node), std::move(after));
  runtime.nodes[&added] = &added;
  if (added.child)
    runtime.addGraph(added.child);
  *result = &added;
  return 0;
}

/// Gives a node of a graph what `change` makes of it.
template <typename Change>
static int changeNode(void *handle, hip::GraphNodeType kind, Change change) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  GraphNode *node;
  if (int code = findNode(handle, kind, node))
    return code;
  change(*node);
  node->parameterPointers.clear();
  return 0;
}

/// Puts another node in the place of the one that, in an executable graph,
/// stands for a node of the graph it was made of.
static int changeExecutable(void *handle, void *nodeHandle,
                            std::shared_ptr<GraphNode> node) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  Executable *executable;
  if (int code = findExecutable(handle, executable))
    return code;
  GraphNode *original;
  if (int code = findNode(nodeHandle, node->kind, original))
    return code;
  if (!executable->find(original->id))
    return finish(hip::ErrorInvalidValue,
                  "the executable graph was not made of the graph of the node");
  executable->replace(original->id, std::move(node));
  return 0;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static int makeKernel(const hip::KernelNodeParams *parameters,
                      std::shared_ptr<GraphNode> &node) {
  if (int code = checkGiven(parameters, "parameters of the node"))
    return code;
  const hip::KernelNodeParams &p = *parameters;
  if (int code = checkGiven(p.func, "function"))
    return code;
  node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeKernel;
  return makeCall(p.func, {p.gridDim.x, p.gridDim.y, p.gridDim.z},
                  {p.blockDim.x, p.blockDim.y, p.blockDim.z}, p.sharedMemBytes,
                  p.kernelParams, p.extra, hip::ErrorInvalidDeviceFunction,
                  node->kernel);
}

NETRA_HIP_EXPORT int
hipGraphAddKernelNode(void **result, void *graph, void *const *before,
                      size_t count, const hip::KernelNodeParams *parameters) {
  std::shared_ptr<GraphNode> node;
  if (int code = makeKernel(parameters, node))
    return code;
  return addNode(result, graph, before, count, std::move(node));
}

NETRA_HIP_EXPORT int
hipGraphKernelNodeGetParams(void *handle, hip::KernelNodeParams *parameters) {
  return readNode(
      handle, hip::GraphNodeTypeKernel, parameters, "place for the parameters",
      [&](GraphNode &node) {
        KernelCall &call = node.kernel;
        // The pointers lead to the node's own copy, and last as long as it
        // does.
        node.parameterPointers.clear();
        node.extraBytes = call.kernarg.size();
        node.extra = {reinterpret_cast<void *>(hip::LaunchParamBufferPointer),
                      call.kernarg.data(),
                      reinterpret_cast<void *>(hip::LaunchParamBufferSize),
                      &node.extraBytes,
                      reinterpret_cast<void *>(hip::LaunchParamEnd)};
        for (const sim::KernelArgument &argument :
             call.kernel->explicitArguments())
          node.parameterPointers.push_back(call.kernarg.data() +
                                           argument.offset);
        const bool isBuffer =
            node.parameterPointers.empty() && !call.kernarg.empty();
        *parameters = {{call.block[0], call.block[1], call.block[2]},
                       isBuffer ? node.extra.data() : nullptr,
                       const_cast<Function *>(call.function),
                       {call.grid[0], call.grid[1], call.grid[2]},
                       isBuffer || node.parameterPointers.empty()
                           ? nullptr
                           : node.parameterPointers.data(),
                       call.dynamicLds};
      });
}

NETRA_HIP_EXPORT int
hipGraphKernelNodeSetParams(void *handle,
                            const hip::KernelNodeParams *parameters) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeKernel(parameters, made))
    return code;
  return changeNode(handle, made->kind, [&](GraphNode &node) {
    node.kernel = std::move(made->kernel);
  });
}

NETRA_HIP_EXPORT int
hipGraphExecKernelNodeSetParams(void *executable, void *handle,
                                const hip::KernelNodeParams *parameters) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeKernel(parameters, made))
    return code;
  return changeExecutable(executable, handle, std::move(made));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static int makeCopy(const CopyCall &call, std::shared_ptr<GraphNode> &node) {
  if (call.isEmpty())
    return finish(hip::ErrorInvalidValue, "the copy is of 0 bytes");
  if (int code = checkCopy(call))
    return code;
  node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeMemcpy;
  node->copy = call;
  return 0;
}

static int makeCopy(const hip::Memcpy3DParms *parameters,
                    std::shared_ptr<GraphNode> &node) {
  CopyCall call;
  if (int code = toCopy(parameters, call))
    return code;
  return makeCopy(call, node);
}

NETRA_HIP_EXPORT int
hipGraphAddMemcpyNode(void **result, void *graph, void *const *before,
                      size_t count, const hip::Memcpy3DParms *parameters) {
  std::shared_ptr<GraphNode> node;
  if (int code = makeCopy(parameters, node))
    return code;
  return addNode(result, graph, before, count, std::move(node));
}

NETRA_HIP_EXPORT int hipGraphAddMemcpyNode1D(void **result, void *graph,
                                             void *const *before, size_t count,
                                             void *destination,
                                             const void *source, size_t bytes,
                                             int kind) {
  std::shared_ptr<GraphNode> node;
  if (int code = makeCopy({destination, source, bytes, kind}, node))
    return code;
  return addNode(result, graph, before, count, std::move(node));
}

NETRA_HIP_EXPORT int
hipGraphMemcpyNodeGetParams(void *handle, hip::Memcpy3DParms *parameters) {
  return readNode(
      handle, hip::GraphNodeTypeMemcpy, parameters, "place for the parameters",
      [&](GraphNode &node) {
        const CopyCall &call = node.copy;
        auto pitched = [&](void *pointer, size_t pitch, size_t slice) {
          return hip::PitchedPtr{pointer, pitch ? pitch : call.bytes,
                                 call.bytes,
                                 slice && pitch ? slice / pitch : call.height};
        };
        *parameters = {};
        parameters->srcPtr = pitched(const_cast<void *>(call.source),
                                     call.sourcePitch, call.sourceSlice);
        parameters->dstPtr = pitched(call.destination, call.destinationPitch,
                                     call.destinationSlice);
        parameters->extent = {call.bytes, call.height, call.depth};
        parameters->kind = hip::MemcpyKind(call.kind);
      });
}

static int setCopy(void *handle, const std::shared_ptr<GraphNode> &made) {
  return changeNode(handle, made->kind,
                    [&](GraphNode &node) { node.copy = made->copy; });
}

NETRA_HIP_EXPORT int
hipGraphMemcpyNodeSetParams(void *handle,
                            const hip::Memcpy3DParms *parameters) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeCopy(parameters, made))
    return code;
  return setCopy(handle, made);
}

NETRA_HIP_EXPORT int hipGraphMemcpyNodeSetParams1D(void *handle,
                                                   void *destination,
                                                   const void *source,
                                                   size_t bytes, int kind) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeCopy({destination, source, bytes, kind}, made))
    return code;
  return setCopy(handle, made);
}

NETRA_HIP_EXPORT int
hipGraphExecMemcpyNodeSetParams(void *executable, void *handle,
                                const hip::Memcpy3DParms *parameters) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeCopy(parameters, made))
    return code;
  return changeExecutable(executable, handle, std::move(made));
}

NETRA_HIP_EXPORT int hipGraphExecMemcpyNodeSetParams1D(void *executable,
                                                       void *handle,
                                                       void *destination,
                                                       const void *source,
                                                       size_t bytes, int kind) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeCopy({destination, source, bytes, kind}, made))
    return code;
  return changeExecutable(executable, handle, std::move(made));
}

//===----------------------------------------------------------------------===//
// Memsets. HIP 7 has the same members in another order.
//===----------------------------------------------------------------------===//

template <typename Parameters>
static int makeFill(const Parameters &p, std::shared_ptr<GraphNode> &node) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
    return finish(hip::ErrorInvalidValue,
                  formatv("expected elements of 1, 2 or 4 bytes, found {0}",
                          p.elementSize));
  if (!p.width || !p.height)
    return finish(hip::ErrorInvalidValue, "the memset is of 0 elements");
  FillCall call = {p.dst, p.value, p.elementSize, p.width, p.height, p.pitch};
  if (int code = checkFill(call))
    return code;
  node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeMemset;
  node->fill = call;
  return 0;
}

static int makeFill(const void *parameters, std::shared_ptr<GraphNode> &node) {
  if (int code = checkGiven(parameters, "parameters of the node"))
    return code;
  if (hipMajor() >= 7)
    return makeFill(*static_cast<const hip::MemsetParams7 *>(parameters), node);
  return makeFill(*static_cast<const hip::MemsetParams *>(parameters), node);
}

template <typename Parameters>
static void giveFill(const FillCall &call, void *place) {
  Parameters &p = *static_cast<Parameters *>(place);
  p = {};
  p.dst = call.destination;
  p.pitch = call.pitch;
  p.value = call.value;
  p.elementSize = call.width;
  p.width = call.count;
  p.height = call.height;
}

NETRA_HIP_EXPORT int hipGraphAddMemsetNode(void **result, void *graph,
                                           void *const *before, size_t count,
                                           const void *parameters) {
  std::shared_ptr<GraphNode> node;
  if (int code = makeFill(parameters, node))
    return code;
  return addNode(result, graph, before, count, std::move(node));
}

NETRA_HIP_EXPORT int hipGraphMemsetNodeGetParams(void *handle,
                                                 void *parameters) {
  return readNode(handle, hip::GraphNodeTypeMemset, parameters,
                  "place for the parameters", [&](GraphNode &node) {
                    if (hipMajor() >= 7)
                      giveFill<hip::MemsetParams7>(node.fill, parameters);
                    else
                      giveFill<hip::MemsetParams>(node.fill, parameters);
                  });
}

NETRA_HIP_EXPORT int hipGraphMemsetNodeSetParams(void *handle,
                                                 const void *parameters) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeFill(parameters, made))
    return code;
  return changeNode(handle, made->kind,
                    [&](GraphNode &node) { node.fill = made->fill; });
}

NETRA_HIP_EXPORT int hipGraphExecMemsetNodeSetParams(void *executable,
                                                     void *handle,
                                                     const void *parameters) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeFill(parameters, made))
    return code;
  return changeExecutable(executable, handle, std::move(made));
}

//===----------------------------------------------------------------------===//
// Host functions, child graphs, and nothing
//===----------------------------------------------------------------------===//

static int makeHost(const hip::HostNodeParams *parameters,
                    std::shared_ptr<GraphNode> &node) {
  if (int code = checkGiven(parameters, "parameters of the node"))
    return code;
  if (int code = checkGiven(reinterpret_cast<const void *>(parameters->fn),
                            "function"))
    return code;
  node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeHost;
  node->host = {parameters->fn, parameters->userData};
  return 0;
}

NETRA_HIP_EXPORT int
hipGraphAddHostNode(void **result, void *graph, void *const *before,
                    size_t count, const hip::HostNodeParams *parameters) {
  std::shared_ptr<GraphNode> node;
  if (int code = makeHost(parameters, node))
    return code;
  return addNode(result, graph, before, count, std::move(node));
}

NETRA_HIP_EXPORT int
hipGraphHostNodeGetParams(void *handle, hip::HostNodeParams *parameters) {
  return readNode(handle, hip::GraphNodeTypeHost, parameters,
                  "place for the parameters", [&](GraphNode &node) {
                    *parameters = {node.host.function, node.host.user};
                  });
}

NETRA_HIP_EXPORT int
hipGraphHostNodeSetParams(void *handle, const hip::HostNodeParams *parameters) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeHost(parameters, made))
    return code;
  return changeNode(handle, made->kind,
                    [&](GraphNode &node) { node.host = made->host; });
}

NETRA_HIP_EXPORT int
hipGraphExecHostNodeSetParams(void *executable, void *handle,
                              const hip::HostNodeParams *parameters) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeHost(parameters, made))
    return code;
  return changeExecutable(executable, handle, std::move(made));
}

NETRA_HIP_EXPORT int hipGraphAddEmptyNode(void **result, void *graph,
                                          void *const *before, size_t count) {
  return addNode(result, graph, before, count, std::make_shared<GraphNode>());
}

/// A node that runs a copy of a graph as it is now.
static int makeChild(void *handle, std::shared_ptr<GraphNode> &node) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(handle, graph))
    return code;
  if (graph->order().size() != graph->nodes.size())
    return finish(hip::ErrorInvalidValue,
                  "the edges of the child graph lead in a circle");
  node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeGraph;
  node->child = std::make_shared<Graph>();
  node->child->append(*graph, {});
  node->child->parent = node.get();
  return 0;
}

NETRA_HIP_EXPORT int hipGraphAddChildGraphNode(void **result, void *graph,
                                               void *const *before,
                                               size_t count, void *child) {
  std::shared_ptr<GraphNode> node;
  if (int code = makeChild(child, node))
    return code;
  return addNode(result, graph, before, count, std::move(node));
}

NETRA_HIP_EXPORT int hipGraphChildGraphNodeGetGraph(void *handle,
                                                    void **graph) {
  return readNode(handle, hip::GraphNodeTypeGraph, graph, "place for the graph",
                  [&](GraphNode &node) { *graph = node.child.get(); });
}

NETRA_HIP_EXPORT int hipGraphExecChildGraphNodeSetParams(void *executable,
                                                         void *handle,
                                                         void *child) {
  std::shared_ptr<GraphNode> made;
  if (int code = makeChild(child, made))
    return code;
  return changeExecutable(executable, handle, std::move(made));
}
