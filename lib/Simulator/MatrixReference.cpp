//===- MatrixReference.cpp - the models, one element at a time ------------===//
// SPDX-License-Identifier: MIT
#include "MatrixPlanes.h"

#include <algorithm>
#include <cmath>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

struct Element {
  float value;
  int exponent;
};

inline Element elementA(const Problem &p, unsigned i, unsigned k) {
  unsigned at = k * p.shape.m + i;
  return {p.a.value[at], p.a.exponentOf(at)};
}
inline Element elementB(const Problem &p, unsigned i, unsigned k, unsigned j) {
  unsigned row = p.shape.sparse ? p.position[i][k] : k;
  unsigned at = row * p.shape.n + j;
  return {p.b.value[at], p.b.exponentOf(at)};
}

} // namespace

bool specialResult(const Problem &p, unsigned i, unsigned j, float &result) {
  const unsigned stored = p.shape.sparse ? p.shape.k / 2 : p.shape.k;
  float c = p.c[i][j];
  bool plus = false, minus = false, nan = std::isnan(c);
  auto infinite = [&](bool negative) { (negative ? minus : plus) = true; };
  if (std::isinf(c))
    infinite(std::signbit(c));
  if (p.shape.scaled && (p.badScale[0][i] || p.badScale[1][j]))
    nan = true;
  for (unsigned k = 0; k < stored && !nan; ++k) {
    float a = elementA(p, i, k).value, b = elementB(p, i, k, j).value;
    if (std::isfinite(a) && std::isfinite(b))
      continue;
    if (std::isnan(a) || std::isnan(b) || a == 0 || b == 0)
      nan = true;
    else
      infinite(std::signbit(a) != std::signbit(b));
  }
  if (nan || (plus && minus)) {
    result = asFloat(canonicalNan);
    return true;
  }
  if (plus || minus) {
    result = minus ? -INFINITY : INFINITY;
    return true;
  }
  return false;
}

namespace {

/// floor(value * 2^shift) for a value that fits.
inline double floorAt(double value, int shift) {
  return std::floor(std::ldexp(value, shift));
}

} // namespace

float cdna3Element(const Problem &p, unsigned i, unsigned j) {
  float result;
  if (specialResult(p, i, j, result))
    return result;
  const bool wide = bitWidth(p.shape.a) == 16;
  const unsigned length = wide ? 8 : 16;
  const unsigned parts = wide ? 1 : 2;
  const unsigned stored = p.shape.sparse ? p.shape.k / 2 : p.shape.k;
  float c = p.c[i][j];
  for (unsigned first = 0; first < stored; first += length) {
    double sum[2] = {0, 0};
    int top[2] = {zeroExponent, zeroExponent};
    bool overflow[2] = {false, false};
    for (unsigned part = 0; part < parts; ++part) {
      for (unsigned k = first + part; k < std::min(first + length, stored);
           k += parts) {
        Element a = elementA(p, i, k), b = elementB(p, i, k, j);
        if (a.value != 0 && b.value != 0)
          top[part] = std::max(top[part], a.exponent + b.exponent);
      }
      if (top[part] == zeroExponent)
        continue;
      for (unsigned k = first + part; k < std::min(first + length, stored);
           k += parts) {
        Element a = elementA(p, i, k), b = elementB(p, i, k, j);
        double product =
            static_cast<double>(a.value) * static_cast<double>(b.value);
        // A product beyond the range of f32 counts as infinite.
        if (std::fabs(product) >= 0x1p128)
          overflow[product < 0] = true;
        sum[part] += std::trunc(std::ldexp(product, 24 - top[part]));
      }
    }
    if (overflow[0] || overflow[1]) {
      c = overflow[0] && overflow[1] ? asFloat(canonicalNan)
          : overflow[1]              ? -INFINITY
                                     : INFINITY;
      break;
    }
    int e = std::max(top[0], top[1]);
    double total = 0; // in units of 2^(e - 24)
    if (e != zeroExponent)
      for (unsigned part = 0; part < parts; ++part)
        if (top[part] != zeroExponent)
          total += floorAt(sum[part], top[part] - e);
    if (e != zeroExponent && p.shape.scaled)
      e += p.scaleA[first / 32][i] + p.scaleB[first / 32][j];
    int ec = static_cast<int>((asBits(c) >> 23) & 0xff) - 127;
    ec = std::max(ec, -126);
    int joint = std::max(e, ec);
    double high = e == zeroExponent ? 0 : floorAt(total, e - 24 + 31 - joint);
    // Eight-bit units drop an accumulator that lies below the grid; the others
    // floor it, to -1 when it is negative.
    double low = !wide && joint - ec > 25 ? 0 : floorAt(c, 24 - joint);
    c = static_cast<float>(std::ldexp(high + low * 128, joint - 31));
    if (std::isinf(c))
      break;
  }
  return c;
}

float sequentialElement(const Problem &p, unsigned i, unsigned j) {
  const unsigned stored = p.shape.sparse ? p.shape.k / 2 : p.shape.k;
  const unsigned length = p.shape.scaled ? 32 : stored;
  float c = p.c[i][j];
  if (p.shape.scaled && (p.badScale[0][i] || p.badScale[1][j]))
    return asFloat(canonicalNan);
  for (unsigned first = 0; first < stored; first += length) {
    float sum = p.shape.scaled ? 0.0f : c;
    for (unsigned k = first; k < first + length; ++k)
      sum = std::fma(elementA(p, i, k).value, elementB(p, i, k, j).value, sum);
    if (p.shape.scaled)
      sum = static_cast<float>(
          static_cast<double>(c) +
          std::ldexp(static_cast<double>(sum),
                     p.scaleA[first / 32][i] + p.scaleB[first / 32][j]));
    c = sum;
  }
  return std::isnan(c) ? asFloat(canonicalNan) : c;
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
