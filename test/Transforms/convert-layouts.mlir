// Conversions between layouts at run time, with kernels of the real catalogue.
//
// All tactics of the first operation read its sums row by row, and the caller has
// each token's transposed: the pass adds a conversion, which is a step with a
// tactic and a contract like any other. Others are asked for. The scales that
// the caller wants group by group are stored so.
//
// RUN: netra-opt %s --netra-engine-pipeline="profiles=verify_m4_b1" 2>&1 | FileCheck %s
// CHECK-NOT: fallback
// CHECK: netra.launch {{.*}}grid(1, 20, 4) {{.*}}tactic("gfx950.layout_convert_f32_restore") operation("netra.layout_convert")
// CHECK: netra.launch {{.*}}tactic("gfx950.moe_activation_group_major")
// CHECK-DAG: netra.launch {{.*}}grid(1, 1, 4) {{.*}}tactic("gfx950.layout_convert_f32_restore") operation("netra.layout_convert")
// CHECK-DAG: netra.launch {{.*}}grid(2, 2, 12) {{.*}}tactic("gfx950.layout_convert_f32_transpose") operation("netra.layout_convert")
// CHECK-NOT: netra.launch
//
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %S/Inputs/transposed.py make 12 70 66 %t/state
// RUN: netra-translate --netra-to-engine %s --profile=verify_m4_b1 -o %t/engine
// RUN: netra-engine validate %t/engine
// RUN: netra-engine run --engine %t/engine --profile=verify_m4_b1 --hip=sim --check=all --seed=3 --input state=%t/state --output rows=%t/rows --output groups=%t/groups --output transposed=%t/transposed 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT: checkers (all): no findings
// RUN: python3 %S/Inputs/transposed.py compare 4 3 5 %t/rows %t/groups
// RUN: python3 %S/Inputs/transposed.py compare 12 70 66 %t/state %t/transposed

#k = #netra.layout<k_major>
#v = #netra.layout<v_major>
#groups = #netra.layout<group_major>
module @convert {
  func.func @convert(%x: tensor<?x3x1280xf32, #groups> {netra.name = "x"},
                     %state: tensor<3x4x70x66xf32, #k> {netra.name = "state"})
      -> (tensor<?x3x640xf8E4M3FN> {netra.name = "codes"},
          tensor<?x3x5xf32, #groups> {netra.name = "groups"},
          tensor<?x3x5xf32> {netra.name = "rows"},
          tensor<3x4x70x66xf32, #v> {netra.name = "transposed"}) {
    %codes, %scales = netra.moe_activation %x {activation = #netra.activation<silu>}
        : tensor<?x3x1280xf32, #groups> -> tensor<?x3x640xf8E4M3FN>, tensor<?x3x5xf32, #groups>
    %rows = netra.layout_convert %scales : tensor<?x3x5xf32, #groups> to tensor<?x3x5xf32>
    %transposed = netra.layout_convert %state : tensor<3x4x70x66xf32, #k> to tensor<3x4x70x66xf32, #v>
    return %codes, %scales, %rows, %transposed : tensor<?x3x640xf8E4M3FN>, tensor<?x3x5xf32, #groups>, tensor<?x3x5xf32>, tensor<3x4x70x66xf32, #v>
  }
}
