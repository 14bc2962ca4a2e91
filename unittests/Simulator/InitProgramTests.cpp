//===- InitProgramTests.cpp - Compiled programs and undefined values -----===//
// SPDX-License-Identifier: MIT
//
// What the `init` checker says of programs as a compiler makes them: nothing of
// correct ones, which build bit-fields piece by piece, copy padding, swap away
// what nobody wrote and store vectors of three as four; and where a program
// uses what was never written, that it does.
//
//===----------------------------------------------------------------------===//

#include "KernelCompiler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

/// A kernel `k`: `o` and `never` were never written, `a` was.
struct Case {
  const char *name;
  const char *types;      ///< in front of the kernel
  const char *parameters; ///< their types: of o, of never
  const char *body;
  const char *levels = "0123";
};

constexpr const char *Prelude = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
#define T ((uint)__builtin_amdgcn_workitem_id_x())
#define BARRIER                                                                \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                       \
  __builtin_amdgcn_s_barrier();                                                \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
typedef half half2v __attribute__((ext_vector_type(2)));
typedef half half3v __attribute__((ext_vector_type(3)));
typedef short short2v __attribute__((ext_vector_type(2)));
typedef short short3v __attribute__((ext_vector_type(3)));
typedef uchar uchar3v __attribute__((ext_vector_type(3)));
typedef uint uint3v __attribute__((ext_vector_type(3)));
typedef float float3v __attribute__((ext_vector_type(3)));
typedef double double3v __attribute__((ext_vector_type(3)));
)";

std::vector<std::string> findingsOf(const Case &c, char level) {
  const std::string parameters = c.parameters;
  const size_t comma = parameters.find(", ");
  const std::string source =
      Prelude + std::string(c.types) + "kernel void k(global " +
      parameters.substr(0, comma) + " *o, global const uint *a, global " +
      parameters.substr(comma + 2) + " *never) {\n" + c.body + "\n}\n";
  DeviceOptions options;
  options.checks = CheckInit;
  Device device(options);
  std::vector<uint32_t> in(256);
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = i * 0x9e3779b9u;
  const uint64_t a = upload(device, in, "input"),
                 o = *device.allocate(4096, "output"),
                 never = *device.allocate(4096, "never");
  return run(device, openCl(source, std::string("-w -O") + level), "k",
             {1, 1, 1}, {64, 1, 1}, Arguments().add(o).add(a).add(never));
}

constexpr const char *BitFields =
    "struct S { uint x : 3, y : 11, z : 9; uint w : 17; uchar q : 5; };\n";
constexpr const char *Padded = "struct S { uchar a[3]; ushort b; uchar c; };\n";
constexpr const char *Wide =
    "struct S { uchar a; uint b; ushort c; ulong d; uchar e; };\n";

constexpr Case correct[] = {
    // Bit-fields in memory that nothing wrote before.
    {"bit-fields, private", BitFields, "struct S, uint",
     "struct S s; uint v = a[T]; s.x = v; s.y = v >> 3; s.z = v >> 14;"
     "s.w = v; s.q = v >> 9; s.y += s.x; o[T] = s;"},
    {"bit-fields, local", BitFields, "struct S, uint",
     "local struct S s[64]; uint v = a[T]; s[T].x = v; s[T].y = v >> 3;"
     "s[T].z = v >> 14; s[T].w = v; s[T].q = v >> 9; BARRIER;"
     "o[T] = s[63 - T];"},
    {"bit-fields, global", BitFields, "struct S, uint",
     "uint v = a[T]; o[T].x = v; o[T].w = v; o[T].q = v; o[T].z = v;"
     "o[T].y = v;"},
    {"bit-fields of an array", BitFields, "uint, uint",
     "struct S s[4]; for (uint j = 0; j < 4; ++j) { uint v = a[T + j];"
     "s[j].x = v; s[j].y = v >> 3; s[j].z = v >> 14; s[j].w = v; s[j].q = v; }"
     "struct S c = s[a[T] & 3]; o[T] = c.x + c.y * c.z + c.w * c.q;"},
    {"nibbles", "struct S { uchar l : 4, h : 4; };\n", "uchar, uint",
     "local struct S s[64]; s[T].h = a[T]; s[T].l = a[T] >> 5; BARRIER;"
     "struct S c = s[63 - T]; o[T] = c.l | c.h << 4;"},
    {"64 bits", "struct S { ulong a : 37, b : 20; };\n", "struct S, uint",
     "struct S s; uint v = a[T]; s.a = (ulong)v << 5; s.b = v >> 7;"
     "s.a += s.b; o[T] = s;"},
    // Padding.
    {"padding, private", Padded, "struct S, uint",
     "struct S s[3]; uint v = a[T]; for (uint j = 0; j < 3; ++j) {"
     "s[j].a[0] = v; s[j].a[1] = v >> 8; s[j].a[2] = v + j; s[j].b = v >> 3;"
     "s[j].c = v >> 5; } o[T] = s[v % 3];"},
    {"padding, local", Padded, "struct S, uint",
     "local struct S s[64]; uint v = a[T]; s[T].a[0] = v; s[T].a[1] = v >> 8;"
     "s[T].a[2] = 2; s[T].b = v >> 3; s[T].c = v >> 5; BARRIER;"
     "struct S c = s[63 - T]; c.b *= c.c; o[T] = c;"},
    {"padding, global", Padded, "struct S, struct S",
     "uint v = a[T]; never[T].a[0] = v; never[T].a[1] = 1; never[T].a[2] = 2;"
     "never[T].b = v; never[T].c = v >> 5; o[T] = never[T];"},
    {"padding of 8 bytes, local", Wide, "struct S, uint",
     "local struct S s[64]; uint v = a[T]; s[T].a = v; s[T].b = v; s[T].c = v;"
     "s[T].d = v; s[T].e = v; BARRIER; struct S c = s[63 - T]; c.b += c.a;"
     "o[T] = c;"},
    {"padding of 8 bytes, as a whole", Wide, "struct S, uint",
     "local struct S s[64]; uint v = a[T]; struct S c; c.a = v; c.b = v;"
     "c.c = v; c.d = v; c.e = v; s[T] = c; BARRIER; o[T] = s[63 - T];"},
    {"a member that is not there",
     "struct S { bool is; uint v; };\n"
     "__attribute__((noinline)) struct S find(uint x) { struct S s;"
     " s.is = false; if (x & 1) { s.is = true; s.v = x; } return s; }\n",
     "struct S, uint", "o[T] = find(a[T]);", "0"},
    {"padding that is copied before members are written",
     "struct S { ulong a : 41, b : 6; ushort c[3]; };\n", "struct S, struct S",
     "uint v = a[T]; never[T].a = v; never[T].b = v * 31;"
     "never[T].c[0] = v * 89; never[T].c[1] = v; never[T].c[2] = v;"
     "struct S c = never[T]; c.b += v * 59; o[T] = c;"},
    {"the same around a vector of three",
     "struct S { uint a : 26; short3v b; uint c; };\n"
     "__attribute__((noinline)) struct S make(uint v) { struct S s; s.a = v;"
     " s.b.x = v; s.b.y = v >> 1; s.b.z = v >> 3; s.c = v; return s; }\n",
     "struct S, struct S",
     "uint v = a[T]; never[T].a = v ^ 1839; never[T].b.x = v * 71;"
     "never[T].b.y = v >> 10; never[T].b.z = v >> 1; never[T].c = v ^ 428;"
     "struct S c = never[T]; if (v & 1) c = make(v); o[T] = c;"},
    {"padding that a function returns",
     "struct S { uint3v a; uchar3v b; uchar c : 2; ulong d : 34; uchar e[2];"
     " uchar3v f; };\n"
     "__attribute__((noinline)) struct S make(uint v, global const uint *a) {"
     " struct S s; s.a.x = v; s.a.y = v * 55; s.a.z = v ^ 1448; s.b.x = v;"
     " s.b.y = v >> 1; s.b.z = v >> 2; s.c = v; s.d = v; s.e[0] = v * 57;"
     " s.e[1] = a[T + 2 & 63]; s.f.x = a[T + 2 & 63]; s.f.y = v; s.f.z = v;"
     " return s; }\n",
     "struct S, uint",
     "uint v = a[T]; struct S c = make(v, a); v = v * 5 + c.e[1];"
     "struct S p[2]; for (uint j = 0; j < 2; ++j) { p[j] = c;"
     "p[j].e[0] += v * 73 + 3; } o[T] = p[v % 2];"},
    {"members that are not there, as a whole",
     "struct S { uint4 a; uint b; uint c[5]; };\n", "struct S, uint",
     "local struct S s[64]; struct S c; c.b = a[T]; c.c[4] = 3; s[T] = c;"
     "BARRIER; o[T] = s[63 - T];"},
    {"a field that is set by a sum",
     "struct S { ulong a : 4; ushort b : 16; uint c; };\n", "struct S, uint",
     "local struct S s[64]; uint v = a[T] * 5; s[T].a = v ^ 1425;"
     "s[T].b = v * 59 + 9; s[T].c = v; BARRIER; o[T] = s[63 - T];"},
    // Parts of words.
    {"bytes", "", "uchar3v, uint",
     "uchar3v v; v.x = a[T]; v.y = a[T] >> 3; v.z = a[T] >> 5;"
     "o[T] = v * v.zxy + v;"},
    {"shorts of a structure", "struct S { uchar a; ushort b; };\n",
     "uchar, uint",
     "local struct S s[64]; s[T].a = a[T]; s[T].b = a[T] >> 9; BARRIER;"
     "struct S v = s[63 - T]; o[T] = v.a * 3 + (uchar)v.b;"},
    {"shuffles", "struct S { ushort b; uchar a; };\n", "struct S, uint",
     "local struct S s[64]; s[T].a = a[T]; s[T].b = a[T] >> 9;"
     "uint v = *(local uint *)&s[T];"
     "v = __builtin_amdgcn_ds_bpermute((int)(63 - T) * 4, v);"
     "*(global uint *)&o[T] = v;"},
    // Vectors of three.
    {"three halves", "", "half3v, uint",
     "half3v v; v.x = (half)a[T]; v.y = (half)3; v.z = (half)T;"
     "o[T] = v * v.zxy;"},
    {"three shorts in local memory", "", "short3v, uint",
     "local short3v s[64]; s[T].x = a[T]; s[T].y = T; s[T].z = 5; BARRIER;"
     "short3v v = s[63 - T]; o[T] = v * v - v.zyx;"},
    {"three floats", "", "float3v, uint",
     "float3v v; v.x = a[T]; v.y = T; v.z = 5;"
     "o[T] = v * v + v.zxy;"},
    {"three doubles", "", "double3v, uint",
     "uint3v v; v.x = a[T]; v.y = T; v.z = 5;"
     "o[T] = __builtin_convertvector(v, double3v);"},
    {"three words, packed",
     "struct __attribute__((packed)) S { short a[3]; ushort b; uint3v c;"
     " ushort d[3]; };\n",
     "struct S, uint",
     "local struct S s[64], t[64]; uint v = a[T]; struct S c; c.a[0] = v;"
     "c.a[1] = v >> 1; c.a[2] = v >> 2; c.b = v; c.c.x = v; c.c.y = v;"
     "c.c.z = v >> 9; c.d[0] = v; c.d[1] = v >> 1; c.d[2] = v >> 2; s[T] = c;"
     "BARRIER; t[T] = s[63 - T]; BARRIER; o[T] = t[T ^ 5];"},
    // Old values that nobody uses.
    {"swap", "", "uint, atomic_uint",
     "__opencl_atomic_exchange(&never[T], 7u, memory_order_relaxed,"
     " memory_scope_device); BARRIER;"
     "o[T] = __opencl_atomic_load(&never[T ^ 1], memory_order_relaxed,"
     " memory_scope_device);"},
    {"undefined words by generic pointers",
     "__attribute__((noinline)) void put(uint *p, uint v, bool is) { uint x;"
     " if (is) x = v; p[0] = x; p[1] = v; }\n",
     "uint, uint", "uint s[2]; put(s, a[T], a[T] > 4096); o[T] = s[1];", "0"},
};

TEST(InitPrograms, CorrectOnesAreNotReported) {
  for (const Case &c : correct)
    for (const char *level = c.levels; *level; ++level) {
      SCOPED_TRACE(std::string(c.name) + " at -O" + *level);
      EXPECT_THAT(findingsOf(c, *level), IsEmpty());
    }
}

constexpr Case faulty[] = {
    {"copied", "", "uint, uint", "o[T] = never[T];"},
    {"one bit", "", "uint, uint", "o[T] = never[T] & 1;"},
    {"a half", "", "uint, uint", "o[T] = never[T] & 0xffff;"},
    {"a bit set", "", "uint, uint", "o[T] = never[T] | 1;"},
    {"inverted", "", "uint, uint", "o[T] = ~never[T];"},
    {"fabs", "", "float, float", "o[T] = __builtin_fabsf(never[T]);"},
    {"negated", "", "float, float", "o[T] = -never[T];"},
    {"a field set elsewhere", "", "uint, uint",
     "o[T] = (never[T] & ~15u) | (a[T] & 15);"},
    {"a half of each pair, multiplied", "", "half2v, uint",
     "local half s[128]; s[2 * T] = (half)a[T]; BARRIER;"
     "half2v v = ((local half2v *)s)[T]; o[T] = v * v;"},
    {"a half of each pair, added", "", "short2v, uint",
     "local short s[128]; s[2 * T] = a[T]; BARRIER;"
     "short2v v = ((local short2v *)s)[T]; o[T] = v + v;"},
    {"a half of each pair, inverted", "", "uint, uint",
     "local short s[128]; s[2 * T] = a[T]; BARRIER;"
     "o[T] = ~((local uint *)s)[T];"},
    {"every second word", "", "uint, uint",
     "local uint s[128]; s[2 * T] = a[T]; BARRIER; o[T] = s[T];"},
    {"every second byte", "", "uchar, uint",
     "local uchar s[128]; s[2 * T] = a[T]; BARRIER; o[T] = s[T];"},
    {"the second words", "", "uint, uint",
     "local uint s[128]; s[2 * T] = a[T]; BARRIER; o[T] = s[2 * T + 1];"},
    {"a field that was not set", BitFields, "uint, uint",
     "local struct S s[64]; s[T].x = a[T]; BARRIER; o[T] = s[63 - T].y;"},
    {"a counter", "", "uint, atomic_uint",
     "o[T] = __opencl_atomic_fetch_add(&never[T], 1u, memory_order_relaxed,"
     " memory_scope_device);"},
    {"a swap's old value", "", "uint, atomic_uint",
     "o[T] = __opencl_atomic_exchange(&never[T], 1u, memory_order_relaxed,"
     " memory_scope_device);"},
    {"a condition", "", "uint, uint", "o[T] = never[T] & 1 ? 5 : 7;"},
    {"an address", "", "uint, uint", "o[T] = a[never[T] & 63];"},
};

TEST(InitPrograms, UsesOfWhatWasNeverWrittenAreReported) {
  for (const Case &c : faulty)
    for (const char *level = c.levels; *level; ++level) {
      SCOPED_TRACE(std::string(c.name) + " at -O" + *level);
      const auto findings = findingsOf(c, *level);
      EXPECT_THAT(findings, Not(IsEmpty()));
      for (const std::string &finding : findings)
        EXPECT_THAT(finding, HasSubstr(", which was never written"));
    }
}

} // namespace
