// Objects as they are found in the wild. KIND: 0 a descriptor that says 0 bytes
// of arguments; 1 stale names of arguments; 2 a record by value that holds the
// pointers; 3 two metadata notes, the second with another kernel and the first
// one again; 4 names that differ from the symbols, with odd characters.
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 5

// out[i] = in[i] + step for 64 dwords.
.macro copy_kernel name, step, kernarg
.text
.globl \name
.p2align 8
.type \name,@function
\name:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v1, \step, v1
  global_store_dword v2, v1, s[6:7]
  s_endpgm
.size \name, . - \name
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size \kernarg
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.endm

.if KIND == 0
copy_kernel plain, 1, 0
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: plain, .symbol: plain.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 64, .args: [{.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}, {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
.endif

.if KIND == 1
copy_kernel plain, 1, 16
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: plain, .symbol: plain.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 64, .args: [{.name: weights_that_were_here_once, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}, {.name: weights_that_were_here_once, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
.endif

.if KIND == 2
copy_kernel plain, 1, 16
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: plain, .symbol: plain.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 64, .args: [{.name: record, .offset: 0, .size: 16, .value_kind: by_value}]}
...
.end_amdgpu_metadata
.endif

.if KIND == 3
copy_kernel plain, 1, 16
copy_kernel second, 2, 16
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: plain, .symbol: plain.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 64, .args: [{.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}, {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
// {"amdhsa.kernels": [{".symbol": "second.kd", ".kernarg_segment_size": 16},
//                     {".symbol": "plain.kd", ".kernarg_segment_size": 32}]}
.section .note,"a",@note
.p2align 2
.long 7, .Lend - .Lbegin, 32
.asciz "AMDGPU"
.p2align 2
.Lbegin:
.byte 0x81, 0xae
.ascii "amdhsa.kernels"
.byte 0x92, 0x82, 0xa7
.ascii ".symbol"
.byte 0xa9
.ascii "second.kd"
.byte 0xb5
.ascii ".kernarg_segment_size"
.byte 16, 0x82, 0xa7
.ascii ".symbol"
.byte 0xa8
.ascii "plain.kd"
.byte 0xb5
.ascii ".kernarg_segment_size"
.byte 32
.Lend:
.p2align 2
.endif

.if KIND == 4
copy_kernel "_ZN12_GLOBAL__N_14copyIDF16bLi4EEEvPKT_PS1_.llvm.123$x", 1, 16
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: "copy<bf16, 4>", .symbol: "_ZN12_GLOBAL__N_14copyIDF16bLi4EEEvPKT_PS1_.llvm.123$x.kd", .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 64, .args: [{.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}, {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
.endif
