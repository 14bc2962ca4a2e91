// The stations of the road one by one, printed and read again in between, give
// what the pipeline gives.
//
// RUN: netra-opt %S/Inputs/mlp_fp8.mlir --netra-apply-profile=profiles=decode_m1 -o %t1
// RUN: netra-opt %t1 | diff - %t1
// RUN: netra-opt %t1 --netra-fuse -o %t2
// RUN: netra-opt %t2 | diff - %t2
// RUN: netra-opt %t2 --netra-assign-layouts -o %t3
// RUN: netra-opt %t3 | diff - %t3
// RUN: netra-opt %t3 --netra-select-tactics -o %t4
// RUN: netra-opt %t4 | diff - %t4
// RUN: netra-opt %t4 --netra-plan-memory -o %t5
// RUN: netra-opt %t5 | diff - %t5
// RUN: netra-opt %t5 --netra-lower-to-engine -o %t6
// RUN: netra-opt %t6 | diff - %t6
// RUN: netra-opt %S/Inputs/mlp_fp8.mlir --netra-engine-pipeline="profile=decode_m1 target=gfx950" | diff - %t6
// RUN: FileCheck %s --input-file=%t6
//
// The bf16 block is three launches: norm with residual addition, gate and up
// with SiLU, down with residual.
//
// RUN: netra-opt %S/Inputs/mlp_bf16.mlir --netra-engine-pipeline="profile=decode_m1 target=gfx950" 2>&1 | FileCheck %s --check-prefix=BF16

// CHECK-NOT: remark
// CHECK: netra.engine @mlp target(#netra.target<gfx950>)
// CHECK: netra.weight @gate_up {{.*}}#netra.layout<n16k16>{{.*}} pack(concat 0 ["gate_proj.weight" {{.*}}, "up_proj.weight" {{.*}}] then layout n16k16)
// CHECK: netra.plan @decode_m1
// CHECK-NOT: netra.fallback_step

// BF16-NOT: remark
// BF16: netra.plan @decode_m1 profile(@decode_m1) arena(19456) bindings([@x, @skip, @y])
// BF16-NEXT: netra.launch {{.*}}operation("netra.rms_norm") name("mlp/norm/rms_norm")
// BF16-NEXT: netra.launch {{.*}}after([0]) {{.*}}operation("netra.dense") name("mlp/gate_up/dense")
// BF16-NEXT: netra.launch {{.*}}#netra.arg<binding @y, 0, 4096>]) after([1]) {{.*}}name("mlp/down/dense")
// BF16-NEXT: }
