//===- HandshakeTests.cpp - Compiled waits for flags in LDS --------------===//
// SPDX-License-Identifier: MIT

#include "CheckerFixture.h"
#include "gmock/gmock.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// FENCE and ADD are LLVM's; an addition of 0 to LDS becomes a plain read.
const std::string prelude = R"(
#define LID ((int)__builtin_amdgcn_workitem_id_x())
#define WAVE (LID / 64)
#define RELEASE __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup")
#define ACQUIRE __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#define BARRIER RELEASE; __builtin_amdgcn_s_barrier(); ACQUIRE
#define LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
typedef unsigned int uint;
)";

struct Source {
  const char *name, *body; ///< of a kernel of `out`, `in`, `n`
};

/// The findings of a kernel of 256 work-items in one way, by their texts.
std::vector<std::string> findings(const std::shared_ptr<CodeObject> &object,
                                  const std::string &name, const FairWay &way,
                                  unsigned checks) {
  DeviceOptions options;
  options.checks = checks;
  options.schedule = way.schedule;
  options.seed = way.seed;
  options.threads = 1;
  options.instructionLimit = 5'000'000;
  Device device(options);
  const uint64_t out = upload(device, std::vector<uint32_t>(1024, 0), "output"),
                 in = upload(device, std::vector<uint32_t>(1024, 3), "input");
  return run(device, object, name, {2, 1, 1}, {256, 1, 1},
             Arguments().add(out).add(in).add(uint32_t(9)));
}

std::shared_ptr<CodeObject> compiled(const std::vector<Source> &sources,
                                     const std::string &level) {
  std::string text = prelude;
  for (const Source &source : sources)
    text += std::string("kernel void ") + source.name +
            "(global uint *out, global uint *in, uint n) {" + source.body +
            "}\n";
  return openCl(text, "-fwrapv -" + level);
}

const char *const levels[] = {"O0", "O1", "O2", "O3"};

const std::vector<Source> correct = {
    {"folded", R"(
  local uint d[64], flag;
  if (LID == 0) flag = 0;
  BARRIER;
  if (WAVE == 0) {
    d[LID] = in[LID];
    RELEASE;
    if (LID == 0) STORE(&flag, 1u);
  } else {
    while (!ADD(&flag, 0u)) ;
  }
  out[__builtin_amdgcn_workgroup_id_x() * 256 + LID] = d[LID & 63];
)"},
    {"exchanged", R"(
  local uint d, flag;
  if (LID == 0) flag = 0;
  BARRIER;
  if (LID == 64) {
    d = 7;
    __atomic_exchange_n(&flag, 1u, __ATOMIC_RELEASE);
  }
  if (WAVE == 0) {
    while (!ADD(&flag, 0u)) ;
    out[__builtin_amdgcn_workgroup_id_x() * 64 + LID] = d;
  }
)"},
    {"volatile_flag", R"(
  local volatile uint flag;
  local uint d[64];
  if (LID == 0) flag = 0;
  BARRIER;
  if (WAVE == 3) {
    d[LID & 63] = in[LID];
    RELEASE;
    flag = 1;
  } else {
    while (flag == 0) __builtin_amdgcn_s_sleep(1);
    ACQUIRE;
  }
  out[__builtin_amdgcn_workgroup_id_x() * 256 + LID] = d[LID & 63];
)"},
    {"ring", R"(
  local uint head, tail, slots[4];
  if (LID == 0) head = tail = 0;
  BARRIER;
  if (LID == 64) {
    for (uint i = 0; i < n; ++i) {
      while (i - LOAD(&tail) >= 4) ;
      slots[i & 3] = i * i + 1;
      STORE(&head, i + 1);
    }
  } else if (LID == 0) {
    for (uint i = 0; i < n; ++i) {
      while (LOAD(&head) <= i) ;
      out[__builtin_amdgcn_workgroup_id_x() * 64 + i] = slots[i & 3];
      STORE(&tail, i + 1);
    }
  }
)"},
    {"all_arrive", R"(
  local uint d[256], count;
  if (LID == 0) count = 0;
  BARRIER;
  d[LID] = in[LID];
  RELEASE;
  if ((LID & 63) == 0) ADD(&count, 1u);
  while (LOAD(&count) != 4) ;
  out[__builtin_amdgcn_workgroup_id_x() * 256 + LID] = d[255 - LID];
)"},
    {"last_arrives", R"(
  local uint d[4], count;
  if (LID == 0) count = 0;
  BARRIER;
  if ((LID & 63) == 0) {
    d[WAVE] = in[WAVE];
    if (ADD(&count, 1u) == 3)
      out[__builtin_amdgcn_workgroup_id_x()] = d[0] + d[1] + d[2] + d[3];
  }
)"},
    {"locked", R"(
  local uint lock, total;
  if (LID == 0) lock = total = 0;
  BARRIER;
  if ((LID & 63) == 0)
    for (uint k = 0; k < 3; ++k) {
      uint expected = 0;
      while (!__atomic_compare_exchange_n(&lock, &expected, 1u, 0,
                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        expected = 0;
      total += in[WAVE];
      STORE(&lock, 0u);
    }
  BARRIER;
  if (LID == 0) out[__builtin_amdgcn_workgroup_id_x()] = total;
)"},
    {"locked_otherwise", R"(
  // By an exchange, by a bit, and by the wave's number.
  local uint locks[3], totals[3];
  if (LID < 3) locks[LID] = totals[LID] = 0;
  BARRIER;
  if ((LID & 63) == 0)
    for (uint k = 0; k < n; ++k) {
      while (__atomic_exchange_n(&locks[0], 1u, __ATOMIC_ACQUIRE)) ;
      totals[0] += in[WAVE];
      STORE(&locks[0], 0u);
      while (__atomic_fetch_or(&locks[1], 4u, __ATOMIC_ACQUIRE) & 4) ;
      totals[1] += in[WAVE];
      STORE(&locks[1], 0u);
      for (;;) {
        uint nobody = 0;
        if (__atomic_compare_exchange_n(&locks[2], &nobody, WAVE + 1, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
          break;
        __builtin_amdgcn_s_sleep(1);
      }
      totals[2] += in[WAVE];
      STORE(&locks[2], 0u);
    }
  BARRIER;
  if (LID < 3) out[__builtin_amdgcn_workgroup_id_x() * 4 + LID] = totals[LID];
)"},
    {"accumulated", R"(
  local uint sum;
  if (LID == 0) sum = 0;
  BARRIER;
  uint old = LOAD(&sum);
  while (!__atomic_compare_exchange_n(&sum, &old, old * 3 + in[LID], 0,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) ;
  BARRIER;
  out[__builtin_amdgcn_workgroup_id_x() * 256 + LID] = sum;
)"},
    {"handed_on", R"(
  // Wave 1 knows of wave 0, and wave 2 of both.
  local uint d, e, first, second;
  if (LID == 0) first = second = 0;
  BARRIER;
  if (LID == 0) {
    d = in[0];
    STORE(&first, 1u);
  } else if (LID == 64) {
    while (!LOAD(&first)) ;
    e = in[1];
    STORE(&second, 1u);
  } else if (LID == 128) {
    while (!LOAD(&second)) ;
    out[__builtin_amdgcn_workgroup_id_x()] = d + e;
  }
)"},
    {"streamed", R"(
  // The consumer's loop around the waits changes nothing either.
  local uint head, slots[16];
  if (LID == 0) head = 0;
  BARRIER;
  if (LID == 64) {
    for (uint i = 0; i < n; ++i) {
      slots[i] = in[i];
      STORE(&head, i + 1);
    }
  } else if (LID == 0) {
    uint sum = 0;
    for (uint i = 0; i < n; ++i) {
      while (LOAD(&head) <= i) ;
      sum = sum * 3 + slots[i];
    }
    out[__builtin_amdgcn_workgroup_id_x()] = sum;
  }
)"},
    {"in_memory", R"(
  local uint flag;
  if (LID == 0) flag = 0;
  BARRIER;
  global uint *mine = out + __builtin_amdgcn_workgroup_id_x() * 512;
  if (WAVE == 0) {
    mine[LID] = in[LID];
    RELEASE;
    if (LID == 0) STORE(&flag, 1u);
  } else {
    while (!LOAD(&flag)) ;
    mine[256 + LID] = mine[LID & 63];
  }
)"},
};

TEST(Handshakes, CompiledOnesAreSilent) {
  for (const char *level : levels) {
    auto object = compiled(correct, level);
    for (const Source &source : correct)
      for (const FairWay &way : fairWays)
        EXPECT_THAT(findings(object, source.name, way, CheckAll), IsEmpty())
            << source.name << " -" << level << ", seed " << way.seed;
  }
}

const std::vector<Source> faulty = {
    {"lockstep", R"(
  // Correct if waves advanced together, beside a hand-shake that is.
  local uint d[256], e, flag;
  if (LID == 0) flag = 0;
  BARRIER;
  if (LID == 0) {
    e = 1;
    STORE(&flag, 1u);
  } else if (WAVE == 3) {
    while (!LOAD(&flag)) ;
    out[900] = e;
  }
  d[LID] = in[LID];
  out[LID] = d[(LID + 64) & 127];
)"},
    {"reduction", R"(
  local uint s[256];
  local uint unused;
  s[LID] = in[LID];
  BARRIER;
  for (int k = 128; k; k >>= 1)
    if (LID < k) s[LID] += s[LID + k];
  if (LID == 128) out[1] = s[0];
)"},
    {"early_flag", R"(
  local uint d, flag;
  if (LID == 0) flag = 0;
  BARRIER;
  if (LID == 0) {
    STORE(&flag, 1u);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(volatile local uint *)&d = in[3];
  } else if (LID == 64) {
    while (!LOAD(&flag)) ;
    out[0] = *(volatile local uint *)&d;
  }
)"},
    {"not_asked", R"(
  // The ring's consumer does not say when it has read.
  local volatile uint slots[4];
  local uint head;
  if (LID == 0) head = 0;
  BARRIER;
  if (LID == 64) {
    for (uint i = 0; i < n; ++i) {
      slots[i & 3] = i * i + 1;
      STORE(&head, i + 1);
    }
  } else if (LID == 0) {
    for (uint i = 0; i < n; ++i) {
      while (LOAD(&head) <= i) ;
      out[i] = slots[i & 3];
    }
  }
)"},
    {"asked_once", R"(
  local volatile uint d, flag;
  if (LID == 0) flag = 0;
  BARRIER;
  if (LID == 0) {
    d = in[0];
    flag = 1;
  } else if (LID == 64) {
    if (flag) out[0] = d;
  }
)"},
    {"summed", R"(
  // Loops over what others write, with no flag.
  local volatile uint d[64];
  if (WAVE == 0) d[LID] = in[LID];
  if (LID == 64) {
    uint sum = 0;
    for (uint i = 0; i < n; ++i) sum += d[i];
    out[0] = sum;
  }
)"},
    {"searched", R"(
  local volatile uint d[64];
  if (WAVE == 0) d[LID] = in[LID];
  if (LID == 64) {
    uint i = 0;
    while (i < n && d[i] != 17) ++i;
    out[0] = i;
  }
)"},
    {"counted", R"(
  // A loop that a value decides about, but not when it ends.
  local volatile uint d;
  if (LID == 0) d = in[0];
  if (LID == 64) {
    uint count = 0;
    for (uint i = 0; i < n; ++i)
      if (d > i) count += i * i;
    out[0] = count;
  }
)"},
    {"counted_by_lanes", R"(
  // The same where each lane counts for itself.
  local volatile uint d;
  if (LID == 0) d = in[0];
  if (WAVE == 1) {
    uint count = 0;
    for (uint i = 0; i < in[LID] + LID; ++i)
      if (d > i) out[LID] = count += i * i;
  }
)"},
    {"converged", R"(
  // Each turn changes what other waves read.
  local volatile uint d[256];
  d[LID] = in[LID] + LID;
  BARRIER;
  while (d[LID] > 3)
    d[LID] = d[(LID + 64) & 255] & 3;
  out[LID] = d[LID];
)"},
    {"histogram", R"(
  // A value decides a branch; the plain read is of others' counts.
  local uint h[64];
  if (WAVE == 0) h[LID] = 0;
  BARRIER;
  if (ADD(&h[LID & 63], 1u) == 100) out[1000] = 1;
  out[LID] = *(volatile local uint *)&h[(LID + 1) & 63];
)"},
    {"accumulated", R"(
  // What is swapped in is computed; others still add when it is read.
  local uint sum;
  if (LID == 0) sum = 0;
  BARRIER;
  uint value = in[LID], old = LOAD(&sum), next;
  do {
    next = __builtin_astype(__builtin_astype(old, float) + value, uint);
  } while (!__atomic_compare_exchange_n(&sum, &old, next, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  out[LID] = *(volatile local uint *)&sum;
)"},
    {"accumulated_from_0", R"(
  local uint sum;
  if (LID == 0) sum = 0;
  BARRIER;
  uint value = in[LID], old = 0, next;
  do {
    next = __builtin_astype(__builtin_astype(old, float) + value, uint);
  } while (!__atomic_compare_exchange_n(&sum, &old, next, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  out[LID] = *(volatile local uint *)&sum;
)"},
    {"accumulated_anew", R"(
  local uint sum;
  if (LID == 0) sum = 0;
  BARRIER;
  uint value = in[LID], old;
  do {
    old = LOAD(&sum);
  } while (!__atomic_compare_exchange_n(&sum, &old, old * 3 + value, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  out[LID] = *(volatile local uint *)&sum;
)"},
    {"raised", R"(
  // Each turn adds.
  local uint sum;
  if (LID == 0) sum = 0;
  BARRIER;
  if ((LID & 63) == 0) {
    while (ADD(&sum, 1u) < n) ;
    out[WAVE] = *(volatile local uint *)&sum;
  }
)"},
    {"handed_on_early", R"(
  // When wave 1 tells wave 2, it does not know of wave 0 yet.
  local uint d, first, second;
  if (LID == 0) first = second = 0;
  BARRIER;
  if (LID == 0) {
    d = in[0];
    STORE(&first, 1u);
  } else if (LID == 64) {
    STORE(&second, 1u);
    while (!LOAD(&first)) ;
    out[100] = d;
  } else if (LID == 128) {
    while (!LOAD(&second)) ;
    out[0] = d;
  }
)"},
    {"other_flag", R"(
  // It waits for wave 1, and reads what wave 2 left.
  local uint d, e, first, second;
  if (LID == 0) first = second = 0;
  BARRIER;
  if (LID == 64) {
    e = 1;
    STORE(&first, 1u);
  } else if (LID == 128) {
    d = in[1];
    STORE(&second, 1u);
  } else if (LID == 0) {
    while (!LOAD(&first)) ;
    out[0] = d + e;
  }
)"},
};

TEST(Handshakes, WhatFlagsDoNotGuardIsFound) {
  for (const char *level : levels) {
    auto object = compiled(faulty, level);
    for (const Source &source : faulty)
      for (const FairWay &way : fairWays)
        EXPECT_THAT(findings(object, source.name, way, CheckRace),
                    testing::Contains(HasSubstr("race: ")))
            << source.name << " -" << level << ", seed " << way.seed;
  }
}

} // namespace
