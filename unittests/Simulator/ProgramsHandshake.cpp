//===- ProgramsHandshake.cpp - Work-groups that wait for each other ------===//
// SPDX-License-Identifier: MIT

#include "Programs.h"

namespace netra::sim::test {

static Program chain() {
  // Work-group n waits for n + 1: only works when all of them make progress.
  return {"chain", R"(
kernel void chain(global uint *flags, global uint *out, uint groups) {
  if (LID == 0) {
    uint g = GRP;
    if (g + 1 < groups)
      while (__atomic_load_n(&flags[g + 1], __ATOMIC_ACQUIRE) == 0) ;
    out[g] = g + 1 < groups ? out[g + 1] + 1 : 1;
    __atomic_store_n(&flags[g], 1u, __ATOMIC_RELEASE);
  }
}
)",
          [] {
            const uint32_t groups = 12;
            std::vector<uint32_t> zero(groups, 0), out;
            for (uint32_t g = 0; g < groups; ++g)
              out.push_back(groups - g);
            return ProgramCase(groups, 64)
                .inout(zero, std::vector<uint32_t>(groups, 1))
                .out(out)
                .value(groups);
          }};
}

static Program chainedScan() {
  return {"chained_scan", R"(
kernel void chained_scan(global const uint *a, global uint *out,
                         global uint *ticket, global ulong *state) {
  // Work-groups take their part by ticket and add the prefix of the one before.
  local uint s[64], part, prefix;
  if (LID == 0) part = __atomic_fetch_add(ticket, 1u, __ATOMIC_RELAXED);
  BARRIER;
  uint v = a[part * 64 + LID];
  s[LID] = v;
  BARRIER;
  for (int k = 1; k < 64; k <<= 1) {
    uint t = LID >= k ? s[LID - k] : 0;
    BARRIER;
    s[LID] += t;
    BARRIER;
  }
  if (LID == 63) {
    ulong before = 0;
    if (part)
      while (!((before = __atomic_load_n(&state[part - 1], __ATOMIC_ACQUIRE)) >>
               32)) ;
    prefix = (uint)before;
    __atomic_store_n(&state[part], 1ul << 32 | (uint)(prefix + s[63]),
                     __ATOMIC_RELEASE);
  }
  BARRIER;
  out[part * 64 + LID] = prefix + s[LID];
}
)",
          [] {
            const uint32_t groups = 8;
            auto a = Noise(1).all<uint32_t>(groups * 64);
            std::vector<uint32_t> out(a.size());
            std::vector<uint64_t> state(groups);
            uint32_t sum = 0;
            for (size_t i = 0; i < a.size(); ++i) {
              out[i] = sum += a[i];
              state[i / 64] = uint64_t(1) << 32 | sum;
            }
            return ProgramCase(groups, 64)
                .in(a)
                .out(out)
                .inout(std::vector<uint32_t>{0}, {groups})
                .inout(std::vector<uint64_t>(groups, 0), state);
          }};
}

static Program spinLock() {
  return {"spin_lock", R"(
kernel void spin_lock(global uint *lock, global uint *shared_count,
                      global uint *order) {
  if (LID == 0) {
    for (int k = 0; k < 3; ++k) {
      uint expected = 0;
      while (!__atomic_compare_exchange_n(lock, &expected, 1u, 0,
                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        expected = 0;
        __builtin_amdgcn_s_sleep(1);
      }
      uint n = *shared_count;
      order[n] = 1;
      *shared_count = n + 1;
      __atomic_store_n(lock, 0u, __ATOMIC_RELEASE);
    }
  }
}
)",
          [] {
            std::vector<uint32_t> zero(18, 0), ones(18, 1);
            return ProgramCase(6, 64)
                .inout(std::vector<uint32_t>{0}, {0})
                .inout(std::vector<uint32_t>{0}, {18})
                .inout(zero, ones);
          }};
}

static Program ring() {
  return {"ring", R"(
kernel void ring(global uint *head, global uint *tail, global uint *slots,
                 global uint *out, int n) {
  // Work-group 0 produces, work-group 1 consumes, four slots between them.
  if (LID) return;
  if (GRP == 0) {
    for (uint i = 0; i < n; ++i) {
      while (i - __atomic_load_n(tail, __ATOMIC_ACQUIRE) >= 4) ;
      slots[i & 3] = i * i + 1;
      __atomic_store_n(head, i + 1, __ATOMIC_RELEASE);
    }
  } else {
    for (uint i = 0; i < n; ++i) {
      while (__atomic_load_n(head, __ATOMIC_ACQUIRE) <= i) ;
      out[i] = slots[i & 3];
      __atomic_store_n(tail, i + 1, __ATOMIC_RELEASE);
    }
  }
}
)",
          [] {
            const uint32_t n = 20;
            std::vector<uint32_t> out, slots(4);
            for (uint32_t i = 0; i < n; ++i) {
              out.push_back(i * i + 1);
              slots[i & 3] = out.back();
            }
            return ProgramCase(2, 64)
                .inout(std::vector<uint32_t>{0}, {n})
                .inout(std::vector<uint32_t>{0}, {n})
                .out(slots)
                .out(out)
                .value(int(n));
          }};
}

static Program gridBarrier() {
  return {"grid_barrier", R"(
kernel void grid_barrier(global uint *arrived, global uint *a, global uint *b,
                         uint groups) {
  // Jacobi steps over a ring; all work-groups meet after each.
  int i = GRP * 64 + LID, n = groups * 64;
  global uint *from = a, *to = b;
  for (uint step = 1; step <= 4; ++step) {
    to[i] = from[i] * 3 + from[(i + 1) % n] + from[(i + n - 1) % n];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __builtin_amdgcn_s_barrier();
    if (LID == 0) {
      __atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL);
      while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < step * groups) ;
    }
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    global uint *t = from;
    from = to;
    to = t;
  }
}
)",
          [] {
            const uint32_t groups = 4, n = groups * 64;
            auto start = Noise(2).all<uint32_t>(n), a = start;
            std::vector<uint32_t> b(n);
            for (int step = 0; step < 4; ++step) {
              for (uint32_t i = 0; i < n; ++i)
                b[i] = a[i] * 3 + a[(i + 1) % n] + a[(i + n - 1) % n];
              std::swap(a, b);
            }
            // After an even number of steps the result is in the first.
            return ProgramCase(groups, 64)
                .inout(std::vector<uint32_t>{0}, {4 * groups})
                .inout(start, a)
                .out(b)
                .value(groups);
          }};
}

static Program lastGroup() {
  return {"last_group", R"(
kernel void last_group(global const float *a, global float *parts,
                       global uint *done, global float *total) {
  // The work-group that arrives last adds the parts of all.
  local float s[64];
  local uint isLast;
  s[LID] = a[GRP * 64 + LID];
  BARRIER;
  for (int k = 32; k; k >>= 1) {
    if (LID < k) s[LID] += s[LID + k];
    BARRIER;
  }
  if (LID == 0) {
    parts[GRP] = s[0];
    isLast = __atomic_fetch_add(done, 1u, __ATOMIC_ACQ_REL) == 9;
  }
  BARRIER;
  if (isLast && LID == 0) {
    float sum = 0;
    for (int g = 0; g < 10; ++g) sum += parts[g];
    *total = sum;
  }
}
)",
          [] {
            auto a = Noise(3).range<float>(640, -1000, 1000, 1 / 64.0);
            std::vector<float> parts(10, 0), total(1, 0);
            for (size_t i = 0; i < a.size(); ++i) {
              parts[i / 64] += a[i];
              total[0] += a[i];
            }
            return ProgramCase(10, 64)
                .in(a)
                .out(parts)
                .inout(std::vector<uint32_t>{0}, {10})
                .out(total);
          }};
}

static Program waveFlags() {
  return {"wave_flags", R"(
kernel void wave_flags(global uint *out) {
  // Waves of one work-group hand a value on through atomics in LDS.
  local uint stage, value;
  if (LID == 0) {
    stage = 0;
    value = 1;
  }
  BARRIER;
  uint wave = LID / 64, v = 0;
  if ((LID & 63) == 0) {
    for (;;) {
      uint turn = wave;
      if (__atomic_compare_exchange_n(&stage, &turn, wave, 0, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) break;
      __builtin_amdgcn_s_sleep(1);
    }
    v = __atomic_fetch_add(&value, 5u + wave, __ATOMIC_RELAXED);
    __atomic_fetch_add(&stage, 1u, __ATOMIC_RELEASE);
  }
  v = __builtin_amdgcn_readfirstlane(v);
  out[LID] = v;
}
)",
          [] {
            std::vector<uint32_t> out;
            uint32_t v = 1;
            for (uint32_t wave = 0; wave < 4; ++wave) {
              out.insert(out.end(), 64, v);
              v += 5 + wave;
            }
            return ProgramCase(1, 256).out(out);
          }};
}

Theme handshakePrograms() {
  return {"handshake",
          "",
          {chain(), chainedScan(), spinLock(), ring(), gridBarrier(),
           lastGroup(), waveFlags()}};
}

} // namespace netra::sim::test
