// A model compiled to a bundle, and the bundle read back.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: netra-translate --netra-to-engine %s --profile=decode_m1 -o %t/engine 2>&1 | count 0
// RUN: FileCheck %s --input-file=%t/engine/engine.json
// RUN: FileCheck %s --check-prefix=EXPLAIN --input-file=%t/engine/explain.json
// RUN: FileCheck %s --check-prefix=MEMORY --input-file=%t/engine/memory_plan.json
// RUN: FileCheck %s --check-prefix=LAYOUT --input-file=%t/engine/layout_plan.json
// RUN: FileCheck %s --check-prefix=GRAPH --input-file=%t/engine/graph_recipe.json
// RUN: FileCheck %s --check-prefix=VALIDATION --input-file=%t/engine/validation.json
//
// RUN: netra-translate --engine-to-netra %t/engine -o %t/back.mlir
// RUN: diff %t/back.mlir %t/engine/engine.mlir
//
// The module that was read back makes the same bundle, so that an engine can be
// rebuilt from itself.
// RUN: netra-translate --netra-to-engine %t/back.mlir -o %t/again
// RUN: diff -r %t/engine %t/again
//
// Replacing an engine by another one.
// RUN: netra-translate --netra-to-engine %S/../../Transforms/Inputs/mlp_bf16.mlir --profile=decode_m1 -o %t/again
// RUN: not diff -r %t/engine %t/again > /dev/null
// RUN: netra-translate --netra-to-engine %s --profile=decode_m1 -o %t/again
// RUN: diff -r %t/engine %t/again
//
// Nothing but the engines is left where they were written.
// RUN: ls -A %t | FileCheck %s --check-prefix=LEFT --match-full-lines

// CHECK: "format": "netra.engine/1"
// CHECK: "id": "ne_
// CHECK: "name": "small"
// CHECK: "architecture": "gfx950"

// EXPLAIN: "format": "netra.explanation/2"
// EXPLAIN: "nearest_misses"
// EXPLAIN: "reason"

// MEMORY: "format": "netra.memory_plan/1"
// MEMORY: "arena_bytes": 1024

// LAYOUT: "checkpoint": "a.weight"
// LAYOUT: "checkpoint": "b.weight"

// GRAPH: "capturable": true
// GRAPH: "after": []
// GRAPH: "after": [
// GRAPH-NEXT: 0

// VALIDATION: "device": "not_run"
// VALIDATION: "assembled": "passed"

// LEFT: again
// LEFT-NEXT: back.mlir
// LEFT-NEXT: engine
// LEFT-NOT: {{.}}

module @small {
  netra.parameter @a : tensor<512x512xbf16> checkpoint("a.weight")
  netra.parameter @b : tensor<512x512xbf16> checkpoint("b.weight")
  netra.parameter @c : tensor<512x512xbf16> checkpoint("c.weight")
  func.func @small(%x: tensor<?x512xbf16> {netra.name = "x"}) -> (tensor<?x512xbf16> {netra.name = "y"}) {
    %wa = netra.get @a : tensor<512x512xbf16>
    %wb = netra.get @b : tensor<512x512xbf16>
    %wc = netra.get @c : tensor<512x512xbf16>
    %a = netra.dense %x, %wa : (tensor<?x512xbf16>, tensor<512x512xbf16>) -> tensor<?x512xbf16>
    %b = netra.dense %x, %wb : (tensor<?x512xbf16>, tensor<512x512xbf16>) -> tensor<?x512xbf16>
    %h = netra.gated %a, %b {activation = #netra.activation<silu>} : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16>
    %y = netra.dense %h, %wc : (tensor<?x512xbf16>, tensor<512x512xbf16>) -> tensor<?x512xbf16>
    return %y : tensor<?x512xbf16>
  }
}
