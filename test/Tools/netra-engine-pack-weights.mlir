// Packing that is interrupted, and packing in little memory, with the real tool.
// Most of the checkpoint is a hole, so that it takes no space.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: netra-translate --netra-to-engine %s --profile=decode_m1 -o %t/engine
// RUN: python3 %S/Inputs/make_checkpoint.py %t/small.safetensors a.weight:BF16:512x512
// RUN: python3 %S/Inputs/make_sparse.py %t/large.safetensors b.weight:BF16:524288x512
//
// Whole tensors would not fit into this.
// RUN: python3 %S/Inputs/peak_memory.py %if sanitized %{4096%} %else %{160%} netra-engine pack-weights --engine %t/engine --checkpoint %t/small.safetensors --checkpoint %t/large.safetensors --progress -o %t/whole 2>%t/progress | FileCheck %s --check-prefix=WHOLE
// WHOLE-NOT: went on
// WHOLE: packed 2 weights, 512.5 MiB, into
// WHOLE: peak memory
// RUN: FileCheck %s --check-prefix=PROGRESS < %t/progress
// PROGRESS: [{{ *[0-9]+}} %] {{.*}} of 512.5 MiB, {{[0-9.]+}} {{[MG]}}iB/s, {{[0-9]+}} s left  {{[ab]}}
// PROGRESS: [100 %] 512.5 MiB of 512.5 MiB
//
// SIGKILL, several times: the same bytes in the end, and nothing beside them.
// RUN: python3 %S/Inputs/kill_and_resume.py %t/resumed netra-engine pack-weights --engine %t/engine --checkpoint %t/small.safetensors --checkpoint %t/large.safetensors --threads 1 -o %t/resumed | FileCheck %s --check-prefix=RESUMED
// RESUMED: killed {{[1-9][0-9]*}} times
// RESUMED: went on from an interrupted run that had packed
// RESUMED: packed 2 weights, 512.5 MiB, into
// RUN: cmp %t/whole %t/resumed
//
// RUN: python3 %S/Inputs/peak_memory.py %if sanitized %{4096%} %else %{160%} netra-engine pack-weights --engine %t/engine --checkpoint %t/small.safetensors --checkpoint %t/large.safetensors --verify %t/whole
// RUN: rm -rf %t

module @large {
  netra.parameter @a : tensor<512x512xbf16> checkpoint("a.weight")
  netra.parameter @b : tensor<524288x512xbf16> checkpoint("b.weight")
  func.func @large(%x: tensor<?x512xbf16>) -> tensor<?x524288xbf16> {
    %wa = netra.get @a : tensor<512x512xbf16>
    %wb = netra.get @b : tensor<524288x512xbf16>
    %h = netra.dense %x, %wa : (tensor<?x512xbf16>, tensor<512x512xbf16>) -> tensor<?x512xbf16>
    %y = netra.dense %h, %wb : (tensor<?x512xbf16>, tensor<524288x512xbf16>) -> tensor<?x524288xbf16>
    return %y : tensor<?x524288xbf16>
  }
}
