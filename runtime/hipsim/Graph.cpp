//===- Graph.cpp - Graphs, and the work their nodes stand for -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include "Checks.h"

#include <algorithm>

using namespace netra;
using namespace netra::hipsim;

int hipsim::execute(const HostCall &call) {
  HostFunctionScope scope;
  call.function(call.user);
  return 0;
}

/// Runs nodes one after the other.
template <typename Nodes>
static int executeAll(const Nodes &nodes, bool faulted) {
  int first = 0;
  for (const auto &node : nodes) {
    int code = node->execute(faulted);
    faulted |= code < 0;
    // The first error, except that a fault counts before a finding.
    if (code && (!first || (code < 0 && first > 0)))
      first = code;
  }
  return first;
}

int hipsim::execute(const std::vector<Executable::Node> &nodes, bool faulted) {
  return executeAll(nodes, faulted);
}

int GraphNode::execute(bool faulted) const {
  switch (kind) {
  case hip::GraphNodeTypeKernel:
    // After a fault, memory holds nothing worth computing with.
    return faulted ? 0 : Runtime::get().launch(kernel);
  case hip::GraphNodeTypeMemcpy:
    return hipsim::execute(copy);
  case hip::GraphNodeTypeMemset:
    return hipsim::execute(fill);
  case hip::GraphNodeTypeHost:
    return hipsim::execute(host);
  case hip::GraphNodeTypeGraph:
    return executeAll(child->order(), faulted);
  case hip::GraphNodeTypeEmpty:
    return 0;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// A copy for another graph, with the same id and without edges.
static std::shared_ptr<GraphNode> copyOf(const GraphNode &node) {
  auto copy = std::make_shared<GraphNode>(node);
  copy->after.clear();
  copy->graph = nullptr;
  copy->parameterPointers.clear();
  copy->extra = {};
  if (node.child) {
    copy->child = std::make_shared<Graph>();
    copy->child->append(*node.child, {});
    copy->child->parent = copy.get();
  }
  return copy;
}

GraphNode &Graph::add(std::shared_ptr<GraphNode> node,
                      std::vector<GraphNode *> after) {
  static std::atomic<uint64_t> lastId{0};
  if (!node->id)
    node->id = ++lastId;
  node->graph = this;
  node->after = std::move(after);
  nodes.push_back(std::move(node));
  return *nodes.back();
}

std::vector<GraphNode *> Graph::roots() const {
  std::vector<GraphNode *> result;
  for (const std::shared_ptr<GraphNode> &node : nodes)
    if (node->after.empty())
      result.push_back(node.get());
  return result;
}

std::vector<std::pair<GraphNode *, GraphNode *>> Graph::edges() const {
  std::vector<std::pair<GraphNode *, GraphNode *>> result;
  for (const std::shared_ptr<GraphNode> &node : nodes)
    for (GraphNode *before : node->after)
      result.emplace_back(before, node.get());
  return result;
}

std::vector<GraphNode *> Graph::append(const Graph &other,
                                       const std::vector<GraphNode *> &after) {
  std::unordered_map<const GraphNode *, GraphNode *> copies;
  std::unordered_map<const GraphNode *, bool> isFollowed;
  for (const std::shared_ptr<GraphNode> &node : other.nodes)
    copies[node.get()] = &add(copyOf(*node), {});
  for (const std::shared_ptr<GraphNode> &node : other.nodes) {
    GraphNode &copy = *copies[node.get()];
    for (const GraphNode *before : node->after) {
      copy.after.push_back(copies[before]);
      isFollowed[before] = true;
    }
    if (copy.after.empty())
      copy.after = after;
  }
  std::vector<GraphNode *> leaves;
  for (const std::shared_ptr<GraphNode> &node : other.nodes)
    if (!isFollowed[node.get()])
      leaves.push_back(copies[node.get()]);
  return leaves;
}

std::vector<GraphNode *> Graph::order() const {
  std::unordered_map<const GraphNode *, std::vector<GraphNode *>> followers;
  std::unordered_map<const GraphNode *, size_t> missing;
  std::vector<GraphNode *> result;
  result.reserve(nodes.size());
  for (const std::shared_ptr<GraphNode> &node : nodes) {
    missing[node.get()] = node->after.size();
    if (node->after.empty())
      result.push_back(node.get());
    for (const GraphNode *before : node->after)
      followers[before].push_back(node.get());
  }
  for (size_t i = 0; i < result.size(); ++i)
    for (GraphNode *follower : followers[result[i]])
      if (!--missing[follower])
        result.push_back(follower);
  return result;
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

std::unique_ptr<Executable> Executable::create(const Graph &graph,
                                               GraphNode *&culprit) {
  culprit = nullptr;
  auto shape = std::make_shared<Graph>();
  shape->append(graph, {});
  std::map<const GraphNode *, Node> owners;
  for (const std::shared_ptr<GraphNode> &node : shape->nodes)
    owners[node.get()] = node;
  auto list = std::make_shared<std::vector<Node>>();
  for (const GraphNode *node : shape->order())
    list->push_back(owners[node]);
  if (list->size() != shape->nodes.size()) {
    for (size_t i = 0; i < shape->nodes.size() && !culprit; ++i)
      if (std::find(list->begin(), list->end(), shape->nodes[i]) == list->end())
        culprit = graph.nodes[i].get();
    return nullptr;
  }
  auto executable = std::make_unique<Executable>();
  executable->nodes = std::move(list);
  executable->shape = std::move(shape);
  return executable;
}

Graph Executable::current() const {
  Graph graph;
  graph.append(*shape, {});
  for (const std::shared_ptr<GraphNode> &node : graph.nodes) {
    std::shared_ptr<GraphNode> now = copyOf(*find(node->id));
    now->after = node->after;
    *node = std::move(*now);
    node->graph = &graph;
    if (node->child)
      node->child->parent = node.get();
  }
  return graph;
}

const GraphNode *Executable::find(uint64_t id) const {
  for (const Node &node : *nodes)
    if (node->id == id)
      return node.get();
  return nullptr;
}

void Executable::replace(uint64_t id, std::shared_ptr<GraphNode> node) {
  node->id = id;
  auto list = std::make_shared<std::vector<Node>>(*nodes);
  for (Node &old : *list)
    if (old->id == id)
      old = std::move(node);
  nodes = std::move(list);
}

/// Whether one node may stand in the place of another of an executable.
static hip::GraphExecUpdateResult compare(const GraphNode &was,
                                          const GraphNode &is) {
  if (was.kind != is.kind)
    return hip::GraphExecUpdateErrorNodeTypeChanged;
  switch (was.kind) {
  case hip::GraphNodeTypeMemcpy:
    if (was.copy.kind != is.copy.kind)
      return hip::GraphExecUpdateErrorParametersChanged;
    break;
  case hip::GraphNodeTypeMemset:
    if (was.fill.height != is.fill.height)
      return hip::GraphExecUpdateErrorParametersChanged;
    break;
  case hip::GraphNodeTypeGraph: {
    if (was.child->nodes.size() != is.child->nodes.size())
      return hip::GraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < was.child->nodes.size(); ++i)
      if (auto result = compare(*was.child->nodes[i], *is.child->nodes[i]))
        return result;
    break;
  }
  default:
    break;
  }
  return hip::GraphExecUpdateSuccess;
}

hip::GraphExecUpdateResult Executable::update(const Graph &graph,
                                              GraphNode *&culprit) {
  culprit = nullptr;
  if (graph.nodes.size() != shape->nodes.size())
    return hip::GraphExecUpdateErrorTopologyChanged;
  std::unordered_map<const GraphNode *, size_t> placeInShape, placeInGraph;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    placeInShape[shape->nodes[i].get()] = i;
    placeInGraph[graph.nodes[i].get()] = i;
  }
  auto places = [](const GraphNode &node, auto &place) {
    std::vector<size_t> result;
    for (const GraphNode *before : node.after)
      result.push_back(place[before]);
    std::sort(result.begin(), result.end());
    return result;
  };
  std::unordered_map<uint64_t, const GraphNode *> byId;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &was = *shape->nodes[i];
    GraphNode &is = *graph.nodes[i];
    auto result = compare(was, is);
    if (!result && places(was, placeInShape) != places(is, placeInGraph))
      result = hip::GraphExecUpdateErrorTopologyChanged;
    if (result) {
      culprit = &is;
      return result;
    }
    byId[was.id] = &is;
  }
  auto list = std::make_shared<std::vector<Node>>();
  for (const Node &node : *nodes) {
    std::shared_ptr<GraphNode> copy = copyOf(*byId[node->id]);
    copy->id = node->id;
    list->push_back(std::move(copy));
  }
  nodes = std::move(list);
  return hip::GraphExecUpdateSuccess;
}
