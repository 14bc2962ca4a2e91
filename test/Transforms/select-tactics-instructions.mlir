// Two tactics need the same estimated time: their machine code decides. Without
// it, rank does.

// RUN: netra-opt %s --mlir-print-debuginfo --netra-select-tactics=explain=true -mlir-print-op-on-diagnostic=false -o %t.mlir 2>&1 | FileCheck %s --check-prefix=COUNTED
// COUNTED: remark: tactic gfx950.{{[a-z0-9_]+}} {{.*}}: [[#]] instructions against [[#]] of gfx950.{{[a-z0-9_]+}} in the same estimated time

// What is printed afterwards is printed as it was asked for.
// RUN: FileCheck %s --check-prefix=LOCATIONS --input-file=%t.mlir
// LOCATIONS: netra.dense {{.*}} loc(

// RUN: netra-opt %s --netra-select-tactics="explain=true count-instructions=false" -mlir-print-op-on-diagnostic=false -o %t.selected.mlir 2>&1 | FileCheck %s --check-prefix=RANK

// The engine explains itself as it was made.
// RUN: rm -rf %t.counted %t.ranked
// RUN: netra-translate --netra-to-engine %s --profile=decode_m1 -o %t.counted && netra-engine explain %t.counted | FileCheck %s --check-prefix=EXPLAIN-COUNTED
// EXPLAIN-COUNTED: [[#]] instructions against [[#]] of gfx950.{{[a-z0-9_]+}} in the same estimated time
// RUN: netra-opt %s --netra-engine-pipeline="profile=decode_m1 count-instructions=false" -mlir-print-op-on-diagnostic=false -o %t.ranked.mlir
// RUN: netra-translate --netra-to-engine %t.ranked.mlir -o %t.ranked && netra-engine explain %t.ranked | FileCheck %s --check-prefix=EXPLAIN-RANK --implicit-check-not=instructions
// EXPLAIN-RANK: rank 100 comes before rank 110 of gfx950.router_projection
// Also after it was read back.
// RUN: netra-translate --engine-to-netra %t.ranked -o %t.again.mlir && FileCheck %s --check-prefix=READ --input-file=%t.again.mlir
// READ: module attributes {netra.selected_by_rank}
// RUN: rm -rf %t.again && netra-translate --netra-to-engine %t.again.mlir -o %t.again && diff -r %t.ranked %t.again
// Selecting anew forgets it.
// RUN: netra-opt %t.selected.mlir --netra-select-tactics -o - | FileCheck %s --check-prefix=ANEW
// ANEW-NOT: selected_by_rank

// RANK: remark: tactic gfx950.dense_bf16_m1 {{.*}}: rank 100 comes before rank 110 of gfx950.router_projection

func.func @f(%x: tensor<1x2048xbf16>, %w: tensor<256x2048xbf16>) -> tensor<1x256xbf16> {
  %y = netra.dense %x, %w : (tensor<1x2048xbf16>, tensor<256x2048xbf16>) -> tensor<1x256xbf16>
  return %y : tensor<1x256xbf16>
}
