// Two tactics need the same estimated time: their machine code decides. Without
// it, rank does.

// RUN: netra-opt %s --mlir-print-debuginfo --netra-select-tactics=explain=true -mlir-print-op-on-diagnostic=false -o %t.mlir 2>&1 | FileCheck %s --check-prefix=COUNTED
// COUNTED: remark: tactic gfx950.{{[a-z0-9_]+}} {{.*}}: [[#]] instructions against [[#]] of gfx950.{{[a-z0-9_]+}} in the same estimated time

// What is printed afterwards is printed as it was asked for.
// RUN: FileCheck %s --check-prefix=LOCATIONS --input-file=%t.mlir
// LOCATIONS: netra.dense {{.*}} loc(

// RUN: netra-opt %s --netra-select-tactics="explain=true count-instructions=false" -mlir-print-op-on-diagnostic=false -o /dev/null 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: remark: tactic gfx950.dense_bf16_m1 {{.*}}: rank 100 comes before rank 110 of gfx950.router_projection

func.func @f(%x: tensor<1x2048xbf16>, %w: tensor<256x2048xbf16>) -> tensor<1x256xbf16> {
  %y = netra.dense %x, %w : (tensor<1x2048xbf16>, tensor<256x2048xbf16>) -> tensor<1x256xbf16>
  return %y : tensor<1x256xbf16>
}
