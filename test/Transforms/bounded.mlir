// RUN: netra-opt %s --split-input-file --verify-diagnostics --netra-apply-profile=profiles=decode_m1 --netra-select-tactics=target=gfx950 | FileCheck %s

// Which dimensions of a problem follow a profile that bounds "batch".

// CHECK-LABEL: func.func @follows.decode_m1
// CHECK: netra.rms_norm {{.*}}netra.tactic = #netra.tactic<"gfx950.rms_norm_bf16"{{.*}}netra.varying = {dimensions = {M = {batch = 1 : i64, constant = 0 : i64}}, guards = {batch = #netra.guard<1..64>}}
// A view has other rows: two for each of the argument.
// CHECK: netra.reshape {{.*}} : tensor<64x512xbf16> to tensor<128x256xbf16>
// CHECK: netra.gated {{.*}}netra.varying = {dimensions = {M = {batch = 2 : i64, constant = 0 : i64}}
// What has no rows of the profile does not vary.
// CHECK: netra.rms_norm {{.*}}netra.tactic = #netra.tactic<"gfx950.rms_norm_bf16"
// CHECK-NOT: netra.varying
// CHECK-SAME: tensor<4x512xbf16>
func.func @follows(%x: tensor<?x512xbf16> {netra.dims = ["batch", "512"]}, %y: tensor<4x512xbf16>, %w: tensor<512xbf16>) -> (tensor<?x256xbf16>, tensor<4x512xbf16>) {
  %0 = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : (tensor<?x512xbf16>, tensor<512xbf16>) -> tensor<?x512xbf16>
  %1 = netra.reshape %0 : tensor<?x512xbf16> to tensor<?x256xbf16>
  %2 = netra.gated %1, %1 {activation = #netra.activation<silu>} : (tensor<?x256xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %3 = netra.rms_norm %y, %w {epsilon = 1.0e-6 : f32} : (tensor<4x512xbf16>, tensor<512xbf16>) -> tensor<4x512xbf16>
  return %2, %3 : tensor<?x256xbf16>, tensor<4x512xbf16>
}

// -----

// A kernel for one number of rows is named, with what it lacks.

func.func @dense(%x: tensor<?x256xbf16> {netra.dims = ["batch", "256"]}, %w: tensor<128x256xbf16>) -> tensor<?x128xbf16> {
  // expected-remark @below {{dimension M: expected one extent, as the tactic neither follows nor masks it, found 1 to 64 at launch (batch)}}
  %0 = netra.dense %x, %w : (tensor<?x256xbf16>, tensor<128x256xbf16>) -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

// Nobody can say which extents of a fallback follow.

func.func @opaque(%x: tensor<?x64xbf16> {netra.dims = ["batch", "64"]}) -> tensor<?x64xbf16> {
  // expected-error @below {{cannot tell what the outermost extents of the results follow of batch 1..64: the operation takes several ways; use a profile with exact guards}}
  %0 = netra.fallback "framework.scale" (%x) reason("no kernel") : (tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

// The rows of a transposition are no front of its buffer.

func.func @columns(%x: tensor<?x64xbf16> {netra.dims = ["batch", "64"]}) -> tensor<64x?xbf16> {
  // expected-error @below {{the operation takes no way; use a profile with exact guards}}
  %0 = netra.transpose %x [1, 0] : tensor<?x64xbf16> to tensor<64x?xbf16>
  return %0 : tensor<64x?xbf16>
}

// -----

// Only the pass that applies a profile binds arguments.

netra.profile @p {batch = #netra.guard<1..64>, m = #netra.guard<4>, priority = 1 : i64, sequence = #netra.guard<0..9>}
// expected-error @below {{argument #0: dimension 0 is bound to "m", but is not the outermost extent with the greatest of a range from 1 on}}
func.func @exact(%x: tensor<4x64xbf16> {netra.dims = ["m", "64"]}) -> tensor<4x64xbf16> attributes {netra.profile = @p} {
  return %x : tensor<4x64xbf16>
}
