//===- ProgramsControl.cpp - Divergence, calls, private memory -----------===//
// SPDX-License-Identifier: MIT

#include "Programs.h"
#include <numeric>

namespace netra::sim::test {

static Program collatz() {
  return {"collatz", R"(
kernel void collatz(global const uint *a, global uint *out) {
  int i = GRP * 64 + LID;
  uint x = a[i], n = 0;
  while (x != 1) {
    if (x & 1) x = 3 * x + 1; else x >>= 1;
    if (++n == 100) break;
  }
  out[i] = n;
}
)",
          [] {
            std::vector<uint32_t> a(128), out;
            std::iota(a.begin(), a.end(), 1);
            for (uint32_t x : a) {
              uint32_t n = 0;
              for (; x != 1 && n < 100; ++n)
                x = x & 1 ? 3 * x + 1 : x >> 1;
              out.push_back(n);
            }
            return ProgramCase(2, 64).in(a).out(out);
          }};
}

static Program privateArrays() {
  return {"private_arrays", R"(
__attribute__((noinline)) int mix(int *p, int n, int k) {
  int s = 0;
  for (int i = 0; i < n; ++i) s = s * 31 + p[(i * k) % n];
  return s;
}
kernel void private_arrays(global const int *a, global int *out) {
  int data[17];
  int i = GRP * 64 + LID;
  for (int k = 0; k < 17; ++k) data[k] = a[(i + k) % 128] ^ k;
  data[a[i] & 15] += 1000;
  out[i] = mix(data, 17, (LID & 7) + 1);
}
)",
          [] {
            auto a = Noise(1).range<int32_t>(128, 0, 1 << 24);
            std::vector<int32_t> out;
            for (int i = 0; i < 128; ++i) {
              int32_t data[17];
              for (int k = 0; k < 17; ++k)
                data[k] = a[(i + k) % 128] ^ k;
              data[a[i] & 15] += 1000;
              uint32_t s = 0;
              for (int k = 0; k < 17; ++k)
                s = s * 31 + uint32_t(data[(k * ((i & 7) + 1)) % 17]);
              out.push_back(int32_t(s));
            }
            return ProgramCase(2, 64).in(a).out(out);
          }};
}

static Program hiddenArguments() {
  return {"hidden_arguments", R"(
kernel void hidden_arguments(global uint *out) {
  int i = GRP * (int)__builtin_amdgcn_workgroup_size_x() + LID;
  out[i] = __builtin_amdgcn_workgroup_size_x() * 1000 +
           __builtin_amdgcn_grid_size_x();
}
)",
          [] {
            return ProgramCase(3, 96).out(
                std::vector<uint32_t>(288, 96u * 1000 + 288));
          }};
}

static Program dimensions() {
  return {"dimensions", R"(
kernel void dimensions(global uint *out) {
  uint x = __builtin_amdgcn_workgroup_id_x() * 8 +
           __builtin_amdgcn_workitem_id_x(),
       y = __builtin_amdgcn_workgroup_id_y() * 4 +
           __builtin_amdgcn_workitem_id_y(),
       z = __builtin_amdgcn_workgroup_id_z() * 3 +
           __builtin_amdgcn_workitem_id_z();
  out[(z * 8 + y) * 16 + x] = x | y << 8 | z << 16;
}
)",
          [] {
            std::vector<uint32_t> out;
            for (uint32_t z = 0; z < 9; ++z)
              for (uint32_t y = 0; y < 8; ++y)
                for (uint32_t x = 0; x < 16; ++x)
                  out.push_back(x | y << 8 | z << 16);
            ProgramCase launch(2, 8);
            launch.grid = {2, 2, 3};
            launch.block = {8, 4, 3};
            return launch.out(out);
          }};
}

static Program functionPointers() {
  return {"function_pointers", R"(
typedef int (*operation)(int, int);
__attribute__((noinline)) int plus(int a, int b) { return a + b; }
__attribute__((noinline)) int minus(int a, int b) { return a - b; }
__attribute__((noinline)) int times(int a, int b) { return a * b; }
__attribute__((noinline)) int choose(int a, int b) { return a > b ? a : b; }
constant operation operations[4] = {plus, minus, times, choose};
kernel void function_pointers(global const int *a, global int *out) {
  int i = GRP * 64 + LID, v = i;
  // The lanes of a wave call different functions.
  for (int k = 0; k < 6; ++k) {
    operation f = operations[(a[i] >> 2 * k) & 3];
    v = f(v, k + 3);
  }
  out[i] = v;
}
)",
          [] {
            auto a = Noise(2).range<int32_t>(128, 0, 1 << 20);
            std::vector<int32_t> out;
            for (int i = 0; i < 128; ++i) {
              uint32_t v = uint32_t(i);
              for (int k = 0; k < 6; ++k) {
                const uint32_t b = uint32_t(k + 3);
                switch (a[i] >> 2 * k & 3) {
                case 0:
                  v += b;
                  break;
                case 1:
                  v -= b;
                  break;
                case 2:
                  v *= b;
                  break;
                default:
                  v = int32_t(v) > int32_t(b) ? v : b;
                }
              }
              out.push_back(int32_t(v));
            }
            return ProgramCase(2, 64).in(a).out(out);
          }};
}

static Program recursion() {
  return {"recursion", R"(
__attribute__((noinline)) int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__attribute__((noinline)) int fibonacci(int n, int k) {
  return n + k < 2 ? n + k : fibonacci(n - 1, k) + fibonacci(n - 2, k);
}
// By pointer: without, clang takes the depth of the recursion for one.
typedef int (*recursive)(int, int);
constant recursive functions[2] = {ackermann, fibonacci};
kernel void recursion(global int *out) {
  out[LID] = functions[LID & 1](LID % 3, LID / 32 + 3);
}
)",
          [] {
            // A(0,n) = n + 1, A(1,n) = n + 2, A(2,n) = 2n + 3.
            const int fib[] = {0, 1, 1, 2, 3, 5, 8, 13};
            std::vector<int32_t> out;
            for (int i = 0; i < 64; ++i) {
              const int n = i / 32 + 3, m = i % 3;
              out.push_back(i & 1    ? fib[n + m]
                            : m == 0 ? n + 1
                            : m == 1 ? n + 2
                                     : 2 * n + 3);
            }
            return ProgramCase(1, 64).out(out);
          }};
}

static Program interpreter() {
  return {"interpreter", R"(
kernel void interpreter(global const uchar *code, global int *out, int n) {
  // A stack machine; every lane runs its own program.
  global const uchar *pc = code + LID * n, *end = pc + n;
  uint stack[8], acc = LID;
  int top = 0;
  for (; pc < end; ++pc) {
    switch (*pc & 15) {
    case 0: acc += 7; break;
    case 1: acc ^= acc << 3; break;
    case 2: if (top < 8) stack[top++] = acc; break;
    case 3: if (top) acc += stack[--top]; break;
    case 4: acc = -acc; break;
    case 5: acc = (int)acc >> 1; break;
    case 6: if ((int)acc < 0) ++pc; break;
    case 7: acc *= 2654435761u; break;
    case 8: acc |= *pc >> 4; break;
    case 9: acc = (int)acc % 1000; break;
    case 10: goto done;
    default: acc -= *pc >> 4; break;
    }
  }
done:
  while (top) acc ^= stack[--top];
  out[LID] = acc;
}
)",
          [] {
            const int n = 40;
            auto code = Noise(3).all<uint8_t>(64 * n);
            std::vector<int32_t> out;
            for (int lane = 0; lane < 64; ++lane) {
              uint32_t acc = uint32_t(lane);
              std::vector<uint32_t> stack;
              for (int pc = 0; pc < n; ++pc) {
                const uint8_t op = code[lane * n + pc], kind = op & 15;
                if (kind == 0)
                  acc += 7;
                else if (kind == 1)
                  acc ^= acc << 3;
                else if (kind == 2) {
                  if (stack.size() < 8)
                    stack.push_back(acc);
                } else if (kind == 3) {
                  if (!stack.empty()) {
                    acc += stack.back();
                    stack.pop_back();
                  }
                } else if (kind == 4)
                  acc = 0 - acc;
                else if (kind == 5)
                  acc = uint32_t(int32_t(acc) >> 1);
                else if (kind == 6)
                  pc += int32_t(acc) < 0;
                else if (kind == 7)
                  acc *= 2654435761u;
                else if (kind == 8)
                  acc |= op >> 4;
                else if (kind == 9)
                  acc = uint32_t(int32_t(acc) % 1000);
                else if (kind == 10)
                  break;
                else
                  acc -= op >> 4;
              }
              for (uint32_t v : stack)
                acc ^= v;
              out.push_back(int32_t(acc));
            }
            return ProgramCase(1, 64).in(code).out(out).value(n);
          }};
}

static Program queens() {
  return {
      "queens", R"(
kernel void queens(global int *solutions) {
  // Seven queens; the lane fixes the first two columns.
  int rows[7], count = 0, at = 2;
  rows[0] = LID / 7;
  rows[1] = LID % 7;
  if (LID < 49 && rows[0] != rows[1] && __builtin_abs(rows[0] - rows[1]) != 1) {
    rows[2] = -1;
    while (at >= 2) {
      int r = ++rows[at], fine = 1;
      if (r == 7) { --at; continue; }
      for (int c = 0; c < at; ++c)
        if (rows[c] == r || __builtin_abs(rows[c] - r) == at - c) {
          fine = 0;
          break;
        }
      if (!fine) continue;
      if (at == 6) ++count; else rows[++at] = -1;
    }
  }
  __atomic_fetch_add(solutions, count, __ATOMIC_RELAXED);
}
)",
      [] { return ProgramCase(1, 64).inout(std::vector<int32_t>{0}, {40}); }};
}

static Program nestedDivergence() {
  return {"nested_divergence", R"(
kernel void nested_divergence(global const int *a, global int *out) {
  int i = GRP * 64 + LID, s = 0;
  for (int x = 0; x < (a[i] & 7); ++x) {
    if (a[i] & 8) {
      for (int y = x; y < 9; ++y) {
        if ((y ^ i) % 5 == 0) continue;
        if (y * x > (i & 31)) break;
        s += y * x + 1;
      }
    } else if (a[i] & 16) {
      int y = 0;
      do {
        s ^= y + i;
        if (s % 13 == 0) goto next;
      } while (++y < (i & 5));
      s += 100;
    } else if (x == 3) {
      return;
    }
  next:
    s += x;
  }
  out[i] = s;
}
)",
          [] {
            auto a = Noise(4).range<int32_t>(192, 0, 31);
            std::vector<int32_t> before(192, -1), out = before;
            for (int i = 0; i < 192; ++i) {
              int s = 0;
              bool returns = false;
              for (int x = 0; x < (a[i] & 7) && !returns; ++x) {
                if (a[i] & 8) {
                  for (int y = x; y < 9; ++y) {
                    if ((y ^ i) % 5 == 0)
                      continue;
                    if (y * x > (i & 31))
                      break;
                    s += y * x + 1;
                  }
                } else if (a[i] & 16) {
                  bool leaves = false;
                  int y = 0;
                  do {
                    s ^= y + i;
                    leaves = s % 13 == 0;
                  } while (!leaves && ++y < (i & 5));
                  s += leaves ? 0 : 100;
                } else
                  returns = x == 3;
                s += x;
              }
              if (!returns)
                out[i] = s;
            }
            return ProgramCase(3, 64).in(a).inout(before, out);
          }};
}

static Program structsByValue() {
  return {"structs_by_value", R"(
struct item { int a; short b, c; double d; int e[4]; };
__attribute__((noinline)) struct item shuffle_item(struct item v, int k) {
  v.a += k;
  v.b = -v.b;
  v.c ^= 0x55;
  v.d *= 0.5;
  v.e[k % 3] = v.a * k;
  return v;
}
kernel void structs_by_value(struct item start, global const int *a,
                             global int *out) {
  struct item v = start;
  for (int k = 0; k < 4; ++k) v = shuffle_item(v, a[LID] + k);
  out[LID] = v.a + v.b * 3 + v.c * 5 + (int)(v.d * 16) + v.e[0] - v.e[1] +
             v.e[2];
}
)",
          [] {
            struct Item {
              int32_t a;
              int16_t b, c;
              double d;
              int32_t e[4];
            };
            const Item start = {10, 5, -3, 1024, {7, 8, 9, 0}};
            auto a = Noise(5).range<int32_t>(64, 0, 50);
            std::vector<int32_t> out;
            for (int i = 0; i < 64; ++i) {
              Item v = start;
              for (int k = a[i]; k < a[i] + 4; ++k) {
                v.a += k;
                v.b = int16_t(-v.b);
                v.c = int16_t(v.c ^ 0x55);
                v.d *= 0.5;
                v.e[k % 3] = v.a * k;
              }
              out.push_back(v.a + v.b * 3 + v.c * 5 + int(v.d * 16) + v.e[0] -
                            v.e[1] + v.e[2]);
            }
            return ProgramCase(1, 64).value(start).in(a).out(out);
          }};
}

Theme controlPrograms() {
  return {"control",
          "",
          {collatz(), privateArrays(), hiddenArguments(), dimensions(),
           functionPointers(), recursion(), interpreter(), queens(),
           nestedDivergence(), structsByValue()}};
}

} // namespace netra::sim::test
