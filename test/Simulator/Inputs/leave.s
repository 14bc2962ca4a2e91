// A kernel that leaves its code: by a branch (HOW 0), by a computed jump (1), or
// by running past the end (2). At HOW 3 it runs what is not modelled.
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 5
.text
.globl leave
.p2align 8
.type leave,@function
leave:
.if HOW == 0
  s_branch 0x4000
.elseif HOW == 1
  s_mov_b64 s[4:5], 0x1000
  s_setpc_b64 s[4:5]
.elseif HOW == 3
  s_rfe_b64 s[0:1]
.endif
  s_nop 0
.size leave, .-leave
.rodata
.p2align 6
.amdhsa_kernel leave
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: leave
    .symbol: leave.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args: []
...
.end_amdgpu_metadata
