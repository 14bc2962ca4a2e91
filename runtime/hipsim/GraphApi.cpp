//===- GraphApi.cpp - HIP: graphs and executable graphs -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace netra;
using namespace netra::hipsim;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

NETRA_HIP_EXPORT int hipGraphCreate(void **graph, unsigned flags) {
  if (int code = checkGiven(graph, "place for the graph"))
    return code;
  if (flags)
    return finish(hip::ErrorInvalidValue,
                  formatv("expected 0 for the flags, found {0}", flags));
  Runtime &runtime = Runtime::get();
  auto created = std::make_shared<Graph>();
  *graph = created.get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  runtime.addGraph(std::move(created));
  return 0;
}

NETRA_HIP_EXPORT int hipGraphDestroy(void *handle) {
  if (int code = checkGiven(handle, "graph"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.graphs.find(handle);
  if (found == runtime.graphs.end())
    return finish(hip::ErrorIllegalState,
                  formatv("there is no graph {0}: it was destroyed, or never "
                          "created",
                          handle));
  std::shared_ptr<Graph> graph = found->second;
  if (graph->parent)
    return finish(hip::ErrorInvalidValue,
                  "the graph belongs to a node, which ends with its own graph");
  runtime.removeGraph(*graph);
  return 0;
}

NETRA_HIP_EXPORT int hipGraphClone(void **clone, void *handle) {
  if (int code = checkGiven(clone, "place for the clone"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(handle, graph))
    return code;
  auto created = std::make_shared<Graph>();
  created->append(*graph, {});
  *clone = created.get();
  runtime.addGraph(std::move(created));
  return 0;
}

NETRA_HIP_EXPORT int hipGraphNodeFindInClone(void **result, void *original,
                                             void *clone) {
  if (int code = checkGiven(result, "place for the node"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  GraphNode *node;
  if (int code = findNode(original, node))
    return code;
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(clone, graph))
    return code;
  for (const std::shared_ptr<GraphNode> &candidate : graph->nodes)
    if (candidate->id == node->id && candidate.get() != node) {
      *result = candidate.get();
      return 0;
    }
  return finish(hip::ErrorInvalidValue,
                "the graph is no clone of the one the node belongs to, or was "
                "cloned before the node was added");
}

//===----------------------------------------------------------------------===//
// What is in a graph
//===----------------------------------------------------------------------===//

/// Fills as many places as there are; without places, says how many are needed.
static int giveNodes(const std::vector<GraphNode *> &all, void **places,
                     size_t *count) {
  if (places)
    for (size_t i = 0; i < *count; ++i)
      places[i] = i < all.size() ? all[i] : nullptr;
  *count = places ? std::min(*count, all.size()) : all.size();
  return 0;
}

NETRA_HIP_EXPORT int hipGraphGetNodes(void *handle, void **nodes,
                                      size_t *count) {
  if (int code = checkGiven(count, "number of nodes"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(handle, graph))
    return code;
  std::vector<GraphNode *> all;
  for (const std::shared_ptr<GraphNode> &node : graph->nodes)
    all.push_back(node.get());
  return giveNodes(all, nodes, count);
}

NETRA_HIP_EXPORT int hipGraphGetRootNodes(void *handle, void **nodes,
                                          size_t *count) {
  if (int code = checkGiven(count, "number of nodes"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(handle, graph))
    return code;
  return giveNodes(graph->roots(), nodes, count);
}

NETRA_HIP_EXPORT int hipGraphGetEdges(void *handle, void **from, void **to,
                                      size_t *count) {
  if (int code = checkGiven(count, "number of edges"))
    return code;
  if (!from != !to)
    return finish(hip::ErrorInvalidValue,
                  "expected places for both ends of the edges, or for none");
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(handle, graph))
    return code;
  std::vector<GraphNode *> first, second;
  for (auto [before, after] : graph->edges()) {
    first.push_back(before);
    second.push_back(after);
  }
  size_t places = *count;
  giveNodes(first, from, &places);
  return giveNodes(second, to, count);
}

NETRA_HIP_EXPORT int hipGraphNodeGetDependencies(void *handle, void **nodes,
                                                 size_t *count) {
  if (int code = checkGiven(count, "number of nodes"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  GraphNode *node;
  if (int code = findNode(handle, node))
    return code;
  return giveNodes(node->after, nodes, count);
}

NETRA_HIP_EXPORT int hipGraphNodeGetDependentNodes(void *handle, void **nodes,
                                                   size_t *count) {
  if (int code = checkGiven(count, "number of nodes"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  GraphNode *node;
  if (int code = findNode(handle, node))
    return code;
  std::vector<GraphNode *> followers;
  for (auto [before, after] : node->graph->edges())
    if (before == node)
      followers.push_back(after);
  return giveNodes(followers, nodes, count);
}

NETRA_HIP_EXPORT int hipGraphNodeGetType(void *handle, int *type) {
  if (int code = checkGiven(type, "place for the type"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  GraphNode *node;
  if (int code = findNode(handle, node))
    return code;
  *type = node->kind;
  return 0;
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

/// Checks all edges, then changes all of them or none. Holds `submission`.
static int changeEdges(void *handle, void *const *from, void *const *to,
                       size_t count, bool add) {
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(handle, graph))
    return code;
  if (!count)
    return 0;
  if (int code = checkGiven(from, "list of first nodes"))
    return code;
  if (int code = checkGiven(to, "list of second nodes"))
    return code;
  std::vector<std::pair<GraphNode *, GraphNode *>> edges;
  for (size_t i = 0; i < count; ++i) {
    GraphNode *first, *second;
    if (int code = findNode(from[i], first))
      return code;
    if (int code = findNode(to[i], second))
      return code;
    if (!graph->owns(*first) || !graph->owns(*second) || first == second)
      return finish(
          hip::ErrorInvalidValue,
          formatv("edge {0} does not join two nodes of the graph", i));
    auto edge = std::pair(first, second);
    bool exists = std::count(second->after.begin(), second->after.end(), first);
    exists |= std::count(edges.begin(), edges.end(), edge) > 0;
    if (exists == add)
      return finish(hip::ErrorInvalidValue,
                    formatv("edge {0} {1}", i,
                            add ? "exists already" : "does not exist"));
    edges.push_back(edge);
  }
  for (auto [first, second] : edges) {
    if (add)
      second->after.push_back(first);
    else
      std::erase(second->after, first);
  }
  return 0;
}

NETRA_HIP_EXPORT int hipGraphAddDependencies(void *graph, void *const *from,
                                             void *const *to, size_t count) {
  std::lock_guard<std::mutex> guard(Runtime::get().submission);
  return changeEdges(graph, from, to, count, /*add=*/true);
}

NETRA_HIP_EXPORT int hipGraphRemoveDependencies(void *graph, void *const *from,
                                                void *const *to, size_t count) {
  std::lock_guard<std::mutex> guard(Runtime::get().submission);
  return changeEdges(graph, from, to, count, /*add=*/false);
}

NETRA_HIP_EXPORT int hipGraphDestroyNode(void *handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  GraphNode *node;
  if (int code = findNode(handle, node))
    return code;
  runtime.removeNode(*node);
  return 0;
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

NETRA_HIP_EXPORT int hipGraphInstantiate(void **executable, void *handle,
                                         void **errorNode, char *log,
                                         size_t logBytes) {
  if (int code = checkGiven(executable, "place for the executable graph"))
    return code;
  if (errorNode)
    *errorNode = nullptr;
  if (log && logBytes)
    log[0] = '\0';
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(handle, graph))
    return code;
  // A copy of its own: the graph may be destroyed or changed from now on.
  GraphNode *culprit;
  std::unique_ptr<Executable> created = Executable::create(*graph, culprit);
  if (!created) {
    const char *text = "the edges of the graph lead in a circle";
    if (errorNode)
      *errorNode = culprit;
    if (log && logBytes) {
      std::strncpy(log, text, logBytes - 1);
      log[logBytes - 1] = '\0';
    }
    return finish(hip::ErrorInvalidValue, text);
  }
  *executable = created.get();
  runtime.executables[created.get()] = std::move(created);
  return 0;
}

NETRA_HIP_EXPORT int hipGraphInstantiateWithFlags(void **executable,
                                                  void *graph,
                                                  unsigned long long flags) {
  // Graphs here own no memory that could be freed on launch.
  if (flags & ~uint64_t(hip::GraphInstantiateFlagAutoFreeOnLaunch))
    return finish(
        hip::ErrorInvalidValue,
        formatv("the flags {0:x} of the instantiation are not known", flags));
  return hipGraphInstantiate(executable, graph, nullptr, nullptr, 0);
}

NETRA_HIP_EXPORT int hipGraphExecDestroy(void *handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  Executable *executable;
  if (int code = findExecutable(handle, executable))
    return code;
  runtime.executables.erase(handle);
  return 0;
}

NETRA_HIP_EXPORT int hipGraphExecUpdate(void *handle, void *graphHandle,
                                        void **errorNode, int *result) {
  if (int code = checkGiven(errorNode, "place for the node"))
    return code;
  if (int code = checkGiven(result, "place for the result"))
    return code;
  *errorNode = nullptr;
  *result = hip::GraphExecUpdateError;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  Executable *executable;
  if (int code = findExecutable(handle, executable))
    return code;
  std::shared_ptr<Graph> graph;
  if (int code = findGraph(graphHandle, graph))
    return code;
  GraphNode *culprit;
  *result = executable->update(*graph, culprit);
  *errorNode = culprit;
  if (*result == hip::GraphExecUpdateSuccess)
    return 0;
  static constexpr const char *differences[] = {
      "",
      "",
      "nodes or edges",
      "the type of a node",
      "a function",
      "the kind or shape of a copy or memset"};
  return finish(hip::ErrorGraphExecUpdateFailure,
                formatv("the graph differs from the executable one in {0}; "
                        "instantiate it instead",
                        differences[*result]));
}

/// Nothing is uploaded here; the arguments are checked.
NETRA_HIP_EXPORT int hipGraphUpload(void *handle, void *streamHandle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  Executable *executable;
  if (int code = findExecutable(handle, executable))
    return code;
  std::shared_ptr<Stream> stream;
  return findStream(streamHandle, stream);
}

NETRA_HIP_EXPORT int hipGraphLaunch(void *handle, void *streamHandle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  Executable *executable;
  if (int code = findExecutable(handle, executable))
    return code;
  std::shared_ptr<Stream> stream;
  if (int code = findStream(streamHandle, stream))
    return code;
  if (stream->capture) {
    if (stream->capture->invalidated)
      return finish(hip::ErrorStreamCaptureInvalidated);
    // A graph inside a graph becomes its nodes, after what was captured before.
    Graph current = executable->current();
    if (!current.nodes.empty())
      stream->captureLeaves =
          stream->capture->graph->append(current, stream->captureLeaves);
    return 0;
  }
  if (stream == runtime.defaultStream)
    if (int code = checkImplicitOrder())
      return code;
  runtime.enqueue(*stream, [nodes = executable->nodes](bool faulted) {
    return execute(*nodes, faulted);
  });
  return 0;
}
