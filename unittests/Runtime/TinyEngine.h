//===- TinyEngine.h - A small engine for tests ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One kernel, out = a * b + c + k over 32-bit integers, so that results are
// exact and easy to say:
//
//   plan "m1"  (m = 1, batch 1…64):    t = x*w + x + 3;  y = t*t + w + k
//   plan "m4"  (m = 4, priority 10):   t = x*w + x + 3;  t = 1 - t by the
//                                      fallback "test.reflect";  y = t*t + w +
//                                      k
//
// t lives in the arena, w in the weights; x is the input, y the output.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_RUNTIME_TINYENGINE_H
#define NETRA_UNITTESTS_RUNTIME_TINYENGINE_H

#include <cstdint>
#include <string>
#include <vector>

namespace netra::test {

constexpr uint32_t tinyElements = 256;
constexpr uint32_t tinyBytes = tinyElements * 4;
constexpr uint32_t tinyK = 5;

/// A directory that is removed with the object.
class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  const std::string &path() const { return directory; }
  std::string file(const std::string &name) const {
    return directory + "/" + name;
  }

private:
  std::string directory;
};

/// Code object of the kernel, assembled once.
const std::vector<uint8_t> &tinyCode();

/// Writes the bundle of the engine to `directory`.
void writeTinyEngine(const std::string &directory);

/// The weights' values, and a packed file for the engine in `bundle`.
std::vector<uint32_t> tinyWeights();
void writeTinyWeights(const std::string &bundle, const std::string &path);

/// y of plan "m1", or of plan "m4" with `reflect`.
std::vector<uint32_t> tinyExpected(const std::vector<uint32_t> &x,
                                   bool reflect = false);

std::string readText(const std::string &path);
void writeText(const std::string &path, const std::string &text);

/// engine.json with its id made right again after a change.
std::string withFreshId(const std::string &text);

} // namespace netra::test

#endif // NETRA_UNITTESTS_RUNTIME_TINYENGINE_H
