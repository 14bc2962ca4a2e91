//===- ProgramsNumeric.cpp - Floating-point programs ---------------------===//
// SPDX-License-Identifier: MIT

#include "Programs.h"
#include <algorithm>
#include <complex>

namespace netra::sim::test {

static Program softmax() {
  return {"softmax", R"(
kernel void softmax(global const float *a, global float *out) {
  // A row of 512 for each work-group of two waves.
  local float s[128];
  global const float *row = a + GRP * 512;
  float v[4], m = -__builtin_inff(), sum = 0;
  for (int k = 0; k < 4; ++k) {
    v[k] = row[k * 128 + LID];
    m = __builtin_fmaxf(m, v[k]);
  }
  s[LID] = m;
  BARRIER;
  for (int k = 64; k; k >>= 1) {
    if (LID < k) s[LID] = __builtin_fmaxf(s[LID], s[LID + k]);
    BARRIER;
  }
  m = s[0];
  BARRIER;
  for (int k = 0; k < 4; ++k) {
    v[k] = __builtin_exp2f((v[k] - m) * 1.44269504f);
    sum += v[k];
  }
  s[LID] = sum;
  BARRIER;
  for (int k = 64; k; k >>= 1) {
    if (LID < k) s[LID] += s[LID + k];
    BARRIER;
  }
  for (int k = 0; k < 4; ++k) out[GRP * 512 + k * 128 + LID] = v[k] / s[0];
}
)",
          [] {
            auto a = Noise(1).range<float>(1024, -800, 800, 0.01);
            std::vector<double> out;
            for (int r = 0; r < 2; ++r) {
              double sum = 0;
              for (int c = 0; c < 512; ++c)
                sum += std::exp(double(a[r * 512 + c]));
              for (int c = 0; c < 512; ++c)
                out.push_back(std::exp(double(a[r * 512 + c])) / sum);
            }
            return ProgramCase(2, 128).in(a).outNear<float>(out, 1e-5, 1e-12);
          }};
}

static Program layerNorm() {
  return {"layer_norm", R"(
kernel void layer_norm(global const float *a, global const float *gain,
                       global const float *bias, global float *out) {
  // A row of 256 for each wave; sums stay in the wave.
  int lane = LID & 63, row = GRP * 2 + LID / 64;
  float v[4], sum = 0, square = 0;
  for (int k = 0; k < 4; ++k) {
    v[k] = a[row * 256 + k * 64 + lane];
    sum += v[k];
  }
  for (int d = 32; d; d >>= 1)
    sum += __builtin_astype(__builtin_amdgcn_ds_bpermute((lane ^ d) * 4,
               __builtin_astype(sum, int)), float);
  float mean = sum / 256;
  for (int k = 0; k < 4; ++k) square += (v[k] - mean) * (v[k] - mean);
  for (int d = 32; d; d >>= 1)
    square += __builtin_astype(__builtin_amdgcn_ds_bpermute((lane ^ d) * 4,
                  __builtin_astype(square, int)), float);
  float scale = __builtin_amdgcn_rsqf(square / 256 + 1e-5f);
  for (int k = 0; k < 4; ++k) {
    int c = k * 64 + lane;
    out[row * 256 + c] = (v[k] - mean) * scale * gain[c] + bias[c];
  }
}
)",
          [] {
            Noise noise(2);
            auto a = noise.range<float>(1024, -3000, 5000, 0.001),
                 gain = noise.range<float>(256, -100, 100, 0.01),
                 bias = noise.range<float>(256, -100, 100, 0.01);
            std::vector<double> out;
            for (int r = 0; r < 4; ++r) {
              double mean = 0, square = 0;
              for (int c = 0; c < 256; ++c)
                mean += double(a[r * 256 + c]) / 256;
              for (int c = 0; c < 256; ++c)
                square += std::pow(double(a[r * 256 + c]) - mean, 2) / 256;
              for (int c = 0; c < 256; ++c)
                out.push_back((double(a[r * 256 + c]) - mean) /
                                  std::sqrt(square + 1e-5) * double(gain[c]) +
                              double(bias[c]));
            }
            return ProgramCase(2, 128).in(a).in(gain).in(bias).outNear<float>(
                out, 1e-5, 1e-5);
          }};
}

static Program convolution() {
  return {"convolution", R"(
kernel void convolution(global const float *image, global const float *weights,
                        global float *out) {
  // 3 channels of 16x16 with a halo in LDS, two 5x5 filters, zero outside.
  local float s[3][20][20];
  for (int i = LID; i < 1200; i += 256) {
    int c = i / 400, y = i / 20 % 20 - 2, x = i % 20 - 2;
    s[c][y + 2][x + 2] =
        x >= 0 && x < 16 && y >= 0 && y < 16 ? image[c * 256 + y * 16 + x] : 0;
  }
  BARRIER;
  float sum = 0;
  int y = LID / 16, x = LID % 16;
  for (int c = 0; c < 3; ++c)
    for (int v = 0; v < 5; ++v)
      for (int u = 0; u < 5; ++u)
        sum += s[c][y + v][x + u] * weights[GRP * 75 + c * 25 + v * 5 + u];
  out[GRP * 256 + LID] = sum;
}
)",
          [] {
            Noise noise(3);
            auto image = noise.range<float>(768, -50, 50),
                 weights = noise.range<float>(150, -9, 9);
            std::vector<float> out;
            for (int f = 0; f < 2; ++f)
              for (int y = 0; y < 16; ++y)
                for (int x = 0; x < 16; ++x) {
                  int64_t sum = 0;
                  for (int k = 0; k < 75; ++k) {
                    const int yy = y + k / 5 % 5 - 2, xx = x + k % 5 - 2;
                    if (yy >= 0 && yy < 16 && xx >= 0 && xx < 16)
                      sum += int64_t(image[k / 25 * 256 + yy * 16 + xx]) *
                             int64_t(weights[f * 75 + k]);
                  }
                  out.push_back(float(sum));
                }
            return ProgramCase(2, 256).in(image).in(weights).out(out);
          }};
}

static Program mandelbrot() {
  return {"mandelbrot", R"(
kernel void mandelbrot(global ushort *out, int limit) {
  // Fixed point: the host's count is the same to the last bit.
  int x = (GRP * 64 + LID) % 32, y = (GRP * 64 + LID) / 32;
  long cr = (long)x * 12 * 65536 / 128 - 2 * 65536,
       ci = (long)y * 10 * 65536 / 64 - 5 * 65536 / 4, zr = 0, zi = 0;
  int n = 0;
  for (; n < limit; ++n) {
    long rr = zr * zr >> 16, ii = zi * zi >> 16;
    if (rr + ii > 4 * 65536) break;
    zi = (zr * zi >> 15) + ci;
    zr = rr - ii + cr;
  }
  out[GRP * 64 + LID] = n;
}
)",
          [] {
            std::vector<uint16_t> out;
            for (int64_t i = 0; i < 512; ++i) {
              const int64_t cr = i % 32 * 6144 - 131072,
                            ci = i / 32 * 10240 - 81920;
              int64_t r = 0, j = 0;
              uint16_t n = 0;
              while (n < 40 && (r * r >> 16) + (j * j >> 16) <= 262144) {
                const int64_t next = (r * r >> 16) - (j * j >> 16) + cr;
                j = (r * j >> 15) + ci;
                r = next;
                ++n;
              }
              out.push_back(n);
            }
            return ProgramCase(8, 64).out(out).value(40);
          }};
}

static Program doubles() {
  return {"doubles", R"(
kernel void doubles(global const double *a, global double *out) {
  double x = a[LID], y = a[64 + LID];
  out[LID] = x / y;
  out[64 + LID] = __builtin_sqrt(__builtin_fabs(x));
  out[128 + LID] = __builtin_fma(x, y, -x);
  out[192 + LID] = __builtin_floor(x) + __builtin_ceil(y) * 1024 +
                   __builtin_trunc(x * 0.125) + __builtin_rint(y * 0.5);
  out[256 + LID] = (double)(long)x + (double)(uint)(int)y;
  out[320 + LID] = x < y ? __builtin_fmin(x, 0) : __builtin_fmax(y, 1);
  out[384 + LID] = __builtin_ldexp(x, LID - 30);
}
)",
          [] {
            auto a = Noise(4).range<double>(128, -2000000, 2000000, 1 / 512.0);
            a[64 + 5] = 3;
            std::vector<double> out(448);
            for (int i = 0; i < 64; ++i) {
              const double x = a[i], y = a[64 + i];
              out[i] = x / y;
              out[64 + i] = std::sqrt(std::fabs(x));
              out[128 + i] = std::fma(x, y, -x);
              out[192 + i] = std::floor(x) + std::ceil(y) * 1024 +
                             std::trunc(x * 0.125) + std::nearbyint(y * 0.5);
              out[256 + i] = double(int64_t(x)) + double(uint32_t(int32_t(y)));
              out[320 + i] = x < y ? std::fmin(x, 0.0) : std::fmax(y, 1.0);
              out[384 + i] = std::ldexp(x, i - 30);
            }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program singles() {
  return {"singles", R"(
kernel void singles(global const float *a, global float *out) {
  float x = a[LID], y = a[64 + LID];
  out[LID] = x / y;
  out[64 + LID] = __builtin_sqrtf(__builtin_fabsf(x));
  out[128 + LID] = __builtin_exp2f(x * 0.01f);
  out[192 + LID] = __builtin_log2f(__builtin_fabsf(y) + 0.5f);
  out[256 + LID] = __builtin_amdgcn_fractf(x) + __builtin_floorf(y);
  out[320 + LID] = __builtin_amdgcn_fmed3f(x, y, 10.0f);
  out[384 + LID] = __builtin_copysignf(x, y) +
                   __builtin_ldexpf(__builtin_amdgcn_frexp_mantf(x),
                                    __builtin_amdgcn_frexp_expf(x));
  out[448 + LID] = __builtin_amdgcn_sinf(x * 0.03125f);
}
)",
          [] {
            auto a = Noise(5).range<float>(128, -64000, 64000, 1 / 64.0);
            std::vector<double> out(512);
            for (int i = 0; i < 64; ++i) {
              const double x = double(a[i]), y = double(a[64 + i]);
              out[i] = x / y;
              out[64 + i] = std::sqrt(std::fabs(x));
              out[128 + i] = std::exp2(double(a[i] * 0.01f));
              out[192 + i] = std::log2(std::fabs(y) + 0.5);
              out[256 + i] = x - std::floor(x) + std::floor(y);
              out[320 + i] =
                  std::max(std::min(x, y), std::min(std::max(x, y), 10.0));
              out[384 + i] = std::copysign(x, y) + x;
              out[448 + i] = std::sin(x / 32 * 2 * 3.14159265358979323846);
            }
            return ProgramCase(1, 64).in(a).outNear<float>(out, 1e-6, 1e-6);
          }};
}

/// The double of a code with the given fields; NaN and infinity excluded.
static double decode(uint32_t code, unsigned exponentBits, unsigned mantissa) {
  const uint32_t exponent = code >> mantissa & ((1u << exponentBits) - 1),
                 rest = code & ((1u << mantissa) - 1);
  const int bias = (1 << (exponentBits - 1)) - 1;
  const double size = exponent
                          ? std::ldexp(double(rest | 1u << mantissa),
                                       int(exponent) - bias - int(mantissa))
                          : std::ldexp(double(rest), 1 - bias - int(mantissa));
  return code >> (exponentBits + mantissa) & 1 ? -size : size;
}

/// The code of 16 bits nearest to a value, ties to even, by trying the two
/// neighbours of each candidate in order of size.
static uint16_t encode(double value, unsigned exponentBits, unsigned mantissa) {
  const uint32_t limit = ((1u << exponentBits) - 1) << mantissa;
  const double size = std::fabs(value);
  uint32_t low = 0, high = limit; // decode(low) <= size < decode(high)
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (decode(middle, exponentBits, mantissa) <= size ? low : high) = middle;
  }
  const double below = size - decode(low, exponentBits, mantissa),
               above = decode(high, exponentBits, mantissa) - size;
  const uint32_t code =
      below < above || (below == above && !(low & 1)) ? low : high;
  return uint16_t(code | (std::signbit(value) ? 0x8000 : 0));
}

static Program halfConversions() {
  return {"half_conversions", R"(
kernel void half_conversions(global const float *a, global ushort *h,
                             global ushort *b, global float *back) {
  float v = a[GRP * 64 + LID];
  half x = (half)v;
  __bf16 y = (__bf16)v;
  h[GRP * 64 + LID] = __builtin_astype(x, ushort);
  b[GRP * 64 + LID] = __builtin_astype(y, ushort);
  back[GRP * 64 + LID] = (float)x - (float)y;
}
)",
          [] {
            Noise noise(6);
            auto a = noise.range<float>(128, -1000000, 1000000, 1 / 16.0);
            for (int i = 0; i < 64; ++i) // small ones, down to denormals
              a[i] = std::ldexp(a[i] / 65536, -i / 2);
            a[70] = 2049; // ties of both
            a[71] = 1.00390625f;
            std::vector<uint16_t> h, b;
            std::vector<float> back;
            for (float v : a) {
              h.push_back(encode(double(v), 5, 10));
              b.push_back(encode(double(v), 8, 7));
              back.push_back(
                  float(decode(h.back(), 5, 10) - decode(b.back(), 8, 7)));
            }
            return ProgramCase(2, 64).in(a).out(h).out(b).out(back);
          }};
}

static Program halfArithmetic() {
  return {"half_arithmetic", R"(
typedef half half2v __attribute__((ext_vector_type(2)));
kernel void half_arithmetic(global const half2v *a, global half2v *out,
                            global half *plain) {
  half2v x = a[LID], y = a[64 + LID];
  out[LID] = x + y;
  out[64 + LID] = x * y;
  out[128 + LID] = __builtin_elementwise_fma(x, y, x);
  out[192 + LID] = __builtin_elementwise_max(x, y.yx);
  plain[LID] = x.x > y.y ? x.x - y.y : (half)((int)x.y / 2);
}
)",
          [] {
            Noise noise(7);
            std::vector<uint16_t> a, out(512), plain;
            for (int i = 0; i < 256; ++i)
              a.push_back(encode(noise.between(-900, 900) / 8.0, 5, 10));
            auto value = [&](int i) { return decode(a[i], 5, 10); };
            for (int lane = 0; lane < 64; ++lane) {
              for (int k = 0; k < 2; ++k) {
                const int i = 2 * lane + k;
                const double x = value(i), y = value(128 + i);
                out[i] = encode(x + y, 5, 10);
                out[128 + i] = encode(x * y, 5, 10);
                out[256 + i] = encode(x * y + x, 5, 10);
                out[384 + i] = encode(std::max(x, value(128 + (i ^ 1))), 5, 10);
              }
              const double x = value(2 * lane), y = value(129 + 2 * lane);
              plain.push_back(
                  encode(x > y ? x - y : int(value(2 * lane + 1)) / 2, 5, 10));
            }
            return ProgramCase(1, 64).in(a).out(out).out(plain);
          }};
}

static Program fourier() {
  return {"fourier", R"(
kernel void fourier(global const float *twiddle, global const float *a,
                    global float *out) {
  // 128 complex points of each work-group, decimation in time, in LDS.
  local float re[128], im[128];
  global const float *mine = a + GRP * 256;
  for (int h = 0; h < 2; ++h) {
    int i = LID + 64 * h, j = __builtin_bitreverse32(i) >> 25;
    re[j] = mine[2 * i];
    im[j] = mine[2 * i + 1];
  }
  for (int size = 1; size < 128; size <<= 1) {
    BARRIER;
    int k = LID & (size - 1), i = 2 * (LID - k) + k, j = i + size;
    float c = twiddle[2 * (k * 64 / size)], s = twiddle[2 * (k * 64 / size) + 1];
    float xr = re[j] * c - im[j] * s, xi = re[j] * s + im[j] * c;
    re[j] = re[i] - xr;
    im[j] = im[i] - xi;
    re[i] += xr;
    im[i] += xi;
  }
  BARRIER;
  for (int i = LID; i < 128; i += 64) {
    out[GRP * 256 + 2 * i] = re[i];
    out[GRP * 256 + 2 * i + 1] = im[i];
  }
}
)",
          [] {
            const double turn = 2 * 3.14159265358979323846;
            std::vector<float> twiddle;
            for (int k = 0; k < 64; ++k) {
              twiddle.push_back(float(std::cos(turn * k / 128)));
              twiddle.push_back(float(-std::sin(turn * k / 128)));
            }
            auto a = Noise(8).range<float>(512, -1000, 1000, 0.01);
            std::vector<double> out;
            for (int g = 0; g < 2; ++g)
              for (int k = 0; k < 128; ++k) {
                std::complex<double> sum = 0;
                for (int n = 0; n < 128; ++n)
                  sum += std::complex<double>(double(a[g * 256 + 2 * n]),
                                              double(a[g * 256 + 2 * n + 1])) *
                         std::polar(1.0, -turn * (n * k % 128) / 128);
                out.push_back(sum.real());
                out.push_back(sum.imag());
              }
            return ProgramCase(2, 64).in(twiddle).in(a).outNear<float>(
                out, 1e-5, 1e-4);
          }};
}

static Program manyBodies() {
  return {"many_bodies", R"(
kernel void many_bodies(global const float4 *bodies, global float4 *force) {
  local float4 s[64];
  int i = GRP * 64 + LID;
  float4 me = bodies[i], sum = {0, 0, 0, 0};
  for (int block = 0; block < 2; ++block) {
    s[LID] = bodies[block * 64 + LID];
    BARRIER;
    for (int j = 0; j < 64; ++j) {
      float4 d = s[j] - me;
      float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.25f;
      float r = __builtin_amdgcn_rsqf(r2), f = s[j].w * r * r * r;
      sum.x += d.x * f;
      sum.y += d.y * f;
      sum.z += d.z * f;
      sum.w -= s[j].w * r;
    }
    BARRIER;
  }
  force[i] = sum;
}
)",
          [] {
            auto bodies = Noise(9).range<float>(512, -200, 200, 0.01);
            std::vector<double> out;
            for (int i = 0; i < 128; ++i) {
              double sum[4] = {};
              for (int j = 0; j < 128; ++j) {
                double d[3], r2 = 0.25;
                for (int k = 0; k < 3; ++k) {
                  d[k] = double(bodies[4 * j + k]) - double(bodies[4 * i + k]);
                  r2 += d[k] * d[k];
                }
                const double m = double(bodies[4 * j + 3]);
                for (int k = 0; k < 3; ++k)
                  sum[k] += d[k] * m / (r2 * std::sqrt(r2));
                sum[3] -= m / std::sqrt(r2);
              }
              out.insert(out.end(), sum, sum + 4);
            }
            return ProgramCase(2, 64).in(bodies).outNear<float>(out, 1e-5,
                                                                2e-4);
          }};
}

static Program elimination() {
  return {"elimination", R"(
kernel void elimination(global double *a) {
  // Gauss and Jordan with pivoting on 8x8 and a right side, one system a lane
  // group of 16: rows in LDS, columns in lanes 0 to 8.
  local double s[4][8][9];
  int system = LID / 16, c = LID % 16;
  if (c < 9)
    for (int r = 0; r < 8; ++r) s[system][r][c] = a[(system * 8 + r) * 9 + c];
  BARRIER;
  for (int p = 0; p < 8; ++p) {
    int best = p;
    for (int r = p + 1; r < 8; ++r)
      if (__builtin_fabs(s[system][r][p]) > __builtin_fabs(s[system][best][p]))
        best = r;
    BARRIER;
    if (c < 9) {
      double t = s[system][p][c];
      s[system][p][c] = s[system][best][c];
      s[system][best][c] = t;
    }
    BARRIER;
    double pivot = s[system][p][p], factor[8];
    for (int r = 0; r < 8; ++r) factor[r] = s[system][r][p] / pivot;
    BARRIER;
    if (c < 9)
      for (int r = 0; r < 8; ++r)
        if (r != p) s[system][r][c] -= factor[r] * s[system][p][c];
    BARRIER;
  }
  if (c < 8) a[system * 72 + c] = s[system][c][8] / s[system][c][c];
}
)",
          [] {
            // The right side is made from a known solution.
            Noise noise(10);
            auto a = noise.range<double>(4 * 72, -100, 100);
            ProgramCase launch(1, 64);
            std::vector<double> x;
            for (int system = 0; system < 4; ++system) {
              for (int c = 0; c < 8; ++c)
                x.push_back(noise.between(-9, 9));
              for (int r = 0; r < 8; ++r) {
                double sum = 0;
                for (int c = 0; c < 8; ++c)
                  sum += a[system * 72 + r * 9 + c] * x[system * 8 + c];
                a[system * 72 + r * 9 + 8] = sum;
              }
            }
            launch.in(a);
            launch.arguments[0].check = [x](const Bytes &bytes) {
              for (int i = 0; i < 32; ++i) {
                double found;
                std::memcpy(&found, bytes.data() + (i / 8 * 72 + i % 8) * 8, 8);
                if (!(std::fabs(found - x[i]) < 1e-9))
                  return "unknown " + std::to_string(i) + ": expected " +
                         std::to_string(x[i]) + ", found " +
                         std::to_string(found);
              }
              return std::string();
            };
            return launch;
          }};
}

Theme numericPrograms() {
  return {"numeric",
          "",
          {softmax(), layerNorm(), convolution(), mandelbrot(), doubles(),
           singles(), halfConversions(), halfArithmetic(), fourier(),
           manyBodies(), elimination()}};
}

} // namespace netra::sim::test
