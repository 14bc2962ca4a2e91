// RUN: rm -rf %t && mkdir -p %t
// RUN: netra-translate --netra-to-asm %S/../../Transforms/Inputs/mlp_bf16.mlir --profile=decode_m1 | FileCheck %s
// RUN: netra-translate --netra-to-asm %S/../../Transforms/Inputs/mlp_bf16.mlir --profile=decode_m1 -o %t/sources
// RUN: ls %t/sources | count 3
// RUN: cat %t/sources/netra_rms_norm*.s | FileCheck %s --check-prefix=NORM
// RUN: touch %t/file
// RUN: not netra-translate --netra-to-asm %S/../../Transforms/Inputs/mlp_bf16.mlir --profile=decode_m1 -o %t/file 2>&1 | FileCheck %s --check-prefix=FILE

// CHECK: .set NETRA_N, 2048
// CHECK: netra_template netra_rms_norm
// CHECK: netra_template netra_dense_bf16_m1_n11264_k2048
// CHECK: netra_template netra_dense_bf16_m1_n2048_k5632

// NORM: netra_template netra_rms_norm
// NORM-NOT: netra_template

// FILE: file: expected a folder, found a file
