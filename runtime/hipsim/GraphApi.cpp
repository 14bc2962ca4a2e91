//===- GraphApi.cpp - HIP: graphs -----------------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "State.h"

using namespace netra;
using namespace netra::hipsim;

NETRA_HIP_EXPORT int hipGraphCreate(void **graph, unsigned flags) {
  if (!graph || flags)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  auto created = std::make_unique<Graph>();
  *graph = created.get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  runtime.graphs[created.get()] = std::move(created);
  return 0;
}

NETRA_HIP_EXPORT int hipGraphDestroy(void *handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  if (!runtime.graphs.erase(handle))
    return finish(hip::ErrorInvalidValue, "the graph does not exist");
  return 0;
}

NETRA_HIP_EXPORT int hipGraphGetNodes(void *handle, void **nodes,
                                      size_t *count) {
  if (!count)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.graphs.find(handle);
  if (found == runtime.graphs.end())
    return finish(hip::ErrorInvalidValue, "the graph does not exist");
  const auto &all = found->second->nodes;
  if (nodes)
    for (size_t i = 0; i < *count; ++i)
      nodes[i] = i < all.size() ? all[i].get() : nullptr;
  *count = nodes ? std::min(*count, all.size()) : all.size();
  return 0;
}

NETRA_HIP_EXPORT int hipGraphInstantiate(void **executable, void *handle,
                                         void **errorNode, char *log,
                                         size_t logBytes) {
  if (!executable)
    return finish(hip::ErrorInvalidValue);
  if (errorNode)
    *errorNode = nullptr;
  if (log && logBytes)
    log[0] = '\0';
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.graphs.find(handle);
  if (found == runtime.graphs.end())
    return finish(hip::ErrorInvalidValue, "the graph does not exist");
  // A copy of its own: the graph may be destroyed or changed from now on.
  auto copy = std::make_shared<Graph>();
  for (const std::shared_ptr<GraphNode> &node : found->second->nodes)
    copy->nodes.push_back(std::make_shared<GraphNode>(*node));
  *executable = copy.get();
  runtime.executables[copy.get()] = std::move(copy);
  return 0;
}

NETRA_HIP_EXPORT int hipGraphInstantiateWithFlags(void **executable,
                                                  void *graph,
                                                  unsigned long long flags) {
  // Bit 0 frees graph allocations on launch; graphs here own no memory.
  if (flags & ~1ull)
    return finish(hip::ErrorInvalidValue);
  return hipGraphInstantiate(executable, graph, nullptr, nullptr, 0);
}

NETRA_HIP_EXPORT int hipGraphExecDestroy(void *handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  if (!runtime.executables.erase(handle))
    return finish(hip::ErrorInvalidValue, "the executable does not exist");
  return 0;
}

NETRA_HIP_EXPORT int hipGraphLaunch(void *handle, void *streamHandle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.executables.find(handle);
  if (found == runtime.executables.end())
    return finish(hip::ErrorInvalidValue, "the executable does not exist");
  std::shared_ptr<Stream> stream = runtime.findStream(streamHandle);
  if (!stream)
    return finish(hip::ErrorInvalidHandle, "the stream does not exist");
  std::shared_ptr<const Graph> graph = found->second;
  if (stream->capture) {
    // A graph inside a graph becomes its nodes, after what was captured before.
    std::vector<size_t> base = stream->captureLeaves;
    size_t first = stream->capture->graph->nodes.size();
    std::vector<bool> isLeaf(graph->nodes.size(), true);
    for (const std::shared_ptr<GraphNode> &node : graph->nodes) {
      auto copy = std::make_shared<GraphNode>(*node);
      for (size_t &before : copy->after) {
        isLeaf[before] = false;
        before += first;
      }
      if (copy->after.empty())
        copy->after = base;
      stream->capture->graph->nodes.push_back(std::move(copy));
    }
    if (!graph->nodes.empty())
      stream->captureLeaves.clear();
    for (size_t i = 0; i < isLeaf.size(); ++i)
      if (isLeaf[i])
        stream->captureLeaves.push_back(first + i);
    return 0;
  }
  runtime.enqueue(*stream, [graph](bool faulted) {
    int first = 0;
    for (const std::shared_ptr<GraphNode> &node : graph->nodes) {
      int code = node->execute(faulted);
      faulted |= code < 0;
      // The first error, except that a fault counts before a finding.
      if (code && (!first || (code < 0 && first > 0)))
        first = code;
    }
    return first;
  });
  return 0;
}
