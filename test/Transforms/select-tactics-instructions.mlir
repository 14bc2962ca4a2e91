// Two tactics need the same estimated time: their machine code decides, and it
// is kept where the cache is. Without it, rank does.

// RUN: rm -rf %t.cache
// RUN: netra-opt %s --netra-select-tactics="explain=true cache-dir=%t.cache" -mlir-print-op-on-diagnostic=false -o %t.mlir 2>&1 | FileCheck %s --check-prefix=COUNTED
// COUNTED: remark: tactic gfx950.[[WINNER:[a-z0-9_]+]] {{.*}}: [[#LESS:]] instructions against [[#MORE:]] of gfx950.{{[a-z0-9_]+}} in the same estimated time
// RUN: find %t.cache -type f | count 4
// RUN: netra-opt %s --netra-select-tactics="explain=true cache-dir=%t.cache" -mlir-print-op-on-diagnostic=false 2>/dev/null | diff %t.mlir -

// RUN: netra-opt %s --netra-select-tactics="explain=true count-instructions=false" -mlir-print-op-on-diagnostic=false -o /dev/null 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: remark: tactic gfx950.dense_bf16_m1 {{.*}}: rank 100 comes before rank 110 of gfx950.router_projection

func.func @f(%x: tensor<1x2048xbf16>, %w: tensor<256x2048xbf16>) -> tensor<1x256xbf16> {
  %y = netra.dense %x, %w : (tensor<1x2048xbf16>, tensor<256x2048xbf16>) -> tensor<1x256xbf16>
  return %y : tensor<1x256xbf16>
}
