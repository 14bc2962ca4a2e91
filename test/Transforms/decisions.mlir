// The decision table of an engine: built for overlapping guards, checked against
// a domain, and kept in step with the profiles.

// RUN: netra-opt %s --netra-lower-to-engine=library-root=%S/Inputs/library | FileCheck %s
// RUN: netra-opt %s --netra-lower-to-engine="library-root=%S/Inputs/library domain=m=1:batch=1..64:sequence=0..100,m=2:batch=8:sequence=0" | FileCheck %s --check-prefix=DOMAIN
// RUN: not netra-opt %s --netra-lower-to-engine="library-root=%S/Inputs/library domain=m=1..2:batch=1..64:sequence=0..100" 2>&1 | FileCheck %s --check-prefix=GAP
// RUN: not netra-opt %s --netra-lower-to-engine="library-root=%S/Inputs/library domain=rows=1" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not netra-opt %s --netra-lower-to-engine="library-root=%S/Inputs/library domain=m=3..2" 2>&1 | FileCheck %s --check-prefix=RANGE

// Of two profiles that meet, the one of the higher priority is taken where they
// do; what neither admits is refused.

// CHECK: netra.engine @f target(#netra.target<gfx950>) {
// CHECK: netra.decision "m" from([0, 1, 2, 3]) take([unit, 2, 1, unit])
// CHECK-NEXT: netra.decision "batch" from([0, 8, 9]) take([unit, 3, unit])
// CHECK-NEXT: netra.decision "batch" from([0, 1, 8, 9, 65]) take([unit, 4, 3, 4, unit])
// CHECK-NEXT: netra.decision "sequence" from([0, 101]) take([@some, unit])
// CHECK-NEXT: netra.decision "sequence" from([0, 101]) take([@any, unit])
// CHECK-NEXT: }

// DOMAIN: netra.engine @f target(#netra.target<gfx950>) attributes {domain = [{batch = #netra.guard<1..64>, m = #netra.guard<1>, sequence = #netra.guard<0..100>}, {batch = #netra.guard<8>, m = #netra.guard<2>, sequence = #netra.guard<0>}]} {

// GAP: error: expected a plan for all of the domain (m 1..2, batch 1..64, sequence 0..100), found none that admits m=2, batch=1, sequence=0{{$}}
// NAME: error: "rows=1": expected guards like m=1..16:batch=1 on m, batch, sequence, routed_rows, tensor_parallel, found "rows=1"
// RANGE: error: "m=3..2": expected a value or a range MIN..MAX of m, found "3..2"

// Profiles of the catalogue that meet, in one engine.
// RUN: netra-opt %S/Inputs/mlp_bf16.mlir --netra-engine-pipeline="profiles=decode_m1,verify_m12,verify_m12_b1,decode_m16_b16,verify_m16 domain=m=12:batch=1..64:sequence=0..1048576" 2>/dev/null | FileCheck %s --check-prefix=FIVE
// FIVE: netra.decision "m" from([0, 1, 2, 12, 13, 16, 17]) take([unit, 7, unit, 4, unit, 1, unit])
// FIVE-NEXT: netra.decision "batch" from([0, 1, 16, 17, 65]) take([unit, 3, 2, 3, unit])
// FIVE-NEXT: netra.decision "sequence" from([0, 32769, 1048577]) take([@decode_m16_b16, @verify_m16, unit])
// FIVE-NEXT: netra.decision "sequence" from([0, 1048577]) take([@verify_m16, unit])
// FIVE-NEXT: netra.decision "batch" from([0, 1, 2, 65]) take([unit, 6, 5, unit])
// FIVE-NEXT: netra.decision "sequence" from([0, 1048577]) take([@verify_m12, unit])
// FIVE-NEXT: netra.decision "sequence" from([0, 1048577]) take([@verify_m12_b1, unit])

netra.profile @any {m = #netra.guard<1>, batch = #netra.guard<1..64>, sequence = #netra.guard<0..100>, priority = 1 : i64}
netra.profile @some {m = #netra.guard<1..2>, batch = #netra.guard<8>, sequence = #netra.guard<0..100>, priority = 2 : i64}
netra.arena @f.any bytes(0) lower_bound(0) alignment(256)
netra.arena @f.some bytes(0) lower_bound(0) alignment(256)
func.func @f.any(%x: tensor<1x64xbf16>) attributes {netra.profile = @any} {
  return
}
func.func @f.some(%x: tensor<1x64xbf16>) attributes {netra.profile = @some} {
  return
}
