//===- Graph.h - Graphs, and the work their nodes stand for -----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A node is also how a stream keeps a single launch or copy, so that the two
// are checked, captured and executed by the same code.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_HIPSIM_GRAPH_H
#define NETRA_HIPSIM_GRAPH_H

#include "HipAbi.h"

#include "Netra/Simulator/Simulator.h"

#include <array>
#include <map>
#include <memory>
#include <vector>

namespace netra::hipsim {

/// A kernel of a loaded module: what a hipFunction_t points to.
struct Function {
  std::shared_ptr<sim::CodeObject> object;
  const sim::Kernel *kernel = nullptr;
};

/// A launch with its arguments copied.
struct KernelCall {
  const Function *function = nullptr; // a handle; may have been unloaded
  std::shared_ptr<sim::CodeObject> object;
  const sim::Kernel *kernel = nullptr;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::array<uint32_t, 3> items = {0, 0, 0};
  uint32_t dynamicLds = 0;
  std::vector<uint8_t> kernarg;
};

/// `height` rows of `depth` slices; a plain copy is one row.
struct CopyCall {
  void *destination = nullptr;
  const void *source = nullptr;
  size_t bytes = 0; // of a row
  int kind = hip::MemcpyDefault;
  size_t height = 1, depth = 1;
  size_t destinationPitch = 0, sourcePitch = 0; // from row to row
  size_t destinationSlice = 0, sourceSlice = 0; // from slice to slice

  bool isEmpty() const { return !bytes || !height || !depth; }
  bool isPlain() const { return height == 1 && depth == 1; }
};

struct FillCall {
  void *destination = nullptr;
  uint32_t value = 0;
  unsigned width = 1; // bytes of the value
  size_t count = 0;   // of values in a row
  size_t height = 1;
  size_t pitch = 0; // bytes from row to row
};

struct HostCall {
  void (*function)(void *) = nullptr;
  void *user = nullptr;
};

// A copy is checked with every range it touches; what was freed since is found
// again when it runs. All return a HIP error code that finish() knows of.
int toCopy(const hip::Memcpy3DParms *parameters, CopyCall &call);
int checkCopy(const CopyCall &call);
int checkFill(const FillCall &call);
int execute(const CopyCall &call);
int execute(const FillCall &call);
int execute(const HostCall &call);

struct Graph;

/// What a hipGraphNode_t points to.
struct GraphNode {
  hip::GraphNodeType kind = hip::GraphNodeTypeEmpty;
  KernelCall kernel;
  CopyCall copy;
  FillCall fill;
  HostCall host;
  std::shared_ptr<Graph> child;

  std::vector<GraphNode *> after; // nodes of the same graph
  Graph *graph = nullptr;         // null while it is not part of one
  /// Kept by copies: says which node of a clone stands for which.
  uint64_t id = 0;

  // What hipGraphKernelNodeGetParams hands out pointers to.
  std::vector<void *> parameterPointers;
  std::array<void *, 5> extra = {};
  size_t extraBytes = 0;

  /// As Work.
  int execute(bool faulted) const;
};

/// What a hipGraph_t points to.
struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes; // in order of creation
  GraphNode *parent = nullptr;                   // owns it, if any does

  GraphNode &add(std::shared_ptr<GraphNode> node,
                 std::vector<GraphNode *> after);
  bool owns(const GraphNode &node) const { return node.graph == this; }
  std::vector<GraphNode *> roots() const;
  std::vector<std::pair<GraphNode *, GraphNode *>> edges() const;
  /// Adds copies of another graph's nodes; `after` stands before its roots.
  /// Gives the copies of the nodes that nothing follows.
  std::vector<GraphNode *> append(const Graph &other,
                                  const std::vector<GraphNode *> &after);
  /// The nodes in an order in which they may run. Fewer than all if edges make
  /// a circle.
  std::vector<GraphNode *> order() const;
};

/// What a hipGraphExec_t points to. A launch takes the list as it is; a change
/// replaces it, so that launches under way are not touched.
struct Executable {
  using Node = std::shared_ptr<const GraphNode>;
  /// In the order in which they run; edges are those of `shape`.
  std::shared_ptr<const std::vector<Node>> nodes;
  /// The graph it was made of, for comparison: a copy without work to run.
  std::shared_ptr<const Graph> shape;

  /// Nothing if the graph has a circle; `culprit` is then a node of it.
  static std::unique_ptr<Executable> create(const Graph &graph,
                                            GraphNode *&culprit);
  /// The nodes as they are now, with their edges.
  Graph current() const;
  /// The node that stands for `id`.
  const GraphNode *find(uint64_t id) const;
  /// Puts another in its place. It exists.
  void replace(uint64_t id, std::shared_ptr<GraphNode> node);
  /// Takes over every node of a graph of the same shape; otherwise says what
  /// differs, and where.
  hip::GraphExecUpdateResult update(const Graph &graph, GraphNode *&culprit);
};

/// Runs an executable's nodes; as Work.
int execute(const std::vector<Executable::Node> &nodes, bool faulted);

} // namespace netra::hipsim

#endif // NETRA_HIPSIM_GRAPH_H
