//===- Programs.h - Compiled programs with the host's answers ---*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Kernels in OpenCL C, the launch of each and what every output must hold, as
// separately written host code computes it. One list serves the program tests,
// the mutation harness and the fuzzing of code objects.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_SIMULATOR_PROGRAMS_H
#define NETRA_UNITTESTS_SIMULATOR_PROGRAMS_H

#include "KernelCompiler.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <type_traits>

namespace netra::sim::test {

using Bytes = std::vector<uint8_t>;

/// One kernel argument: a buffer or a value.
struct ProgramArgument {
  bool isBuffer = false;
  Bytes bytes;         ///< a value, or what the buffer holds at the start
  uint64_t size = 0;   ///< of the buffer
  bool written = true; ///< the buffer counts as written at the start
  /// Of an output: "" or the first difference.
  std::function<std::string(const Bytes &)> check;
};

/// Arguments in order, and the launch.
class ProgramCase {
public:
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {64, 1, 1};
  uint32_t dynamicLds = 0;
  std::vector<ProgramArgument> arguments;

  ProgramCase(uint32_t groups, uint32_t items, uint32_t lds = 0)
      : grid{groups, 1, 1}, block{items, 1, 1}, dynamicLds(lds) {}

  template <typename T> ProgramCase &value(T v) {
    ProgramArgument argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &v, sizeof(T));
    arguments.push_back(std::move(argument));
    return *this;
  }
  template <typename T> ProgramCase &in(const std::vector<T> &data) {
    buffer(data);
    return *this;
  }
  /// A buffer that starts as `data` and must end as `expected`, bit by bit.
  template <typename T>
  ProgramCase &inout(const std::vector<T> &data,
                     const std::vector<T> &expected) {
    buffer(data).check = exact(expected);
    return *this;
  }
  /// A buffer never written before, which must end as `expected`.
  template <typename T> ProgramCase &out(const std::vector<T> &expected) {
    ProgramArgument &argument = buffer(expected);
    argument.written = false;
    argument.check = exact(expected);
    return *this;
  }
  /// The same, within `relative` of each value plus `absolute`.
  template <typename T>
  ProgramCase &outNear(const std::vector<double> &expected, double relative,
                       double absolute = 0) {
    ProgramArgument &argument = buffer(std::vector<T>(expected.size()));
    argument.written = false;
    argument.check = [=](const Bytes &bytes) -> std::string {
      for (size_t i = 0; i < expected.size(); ++i) {
        T found;
        std::memcpy(&found, bytes.data() + i * sizeof(T), sizeof(T));
        const double bound = relative * std::fabs(expected[i]) + absolute;
        if (!(std::fabs(double(found) - expected[i]) <= bound))
          return difference(i, std::to_string(expected[i]),
                            std::to_string(double(found)));
      }
      return "";
    };
    return *this;
  }

private:
  static std::string difference(size_t index, const std::string &expected,
                                const std::string &found) {
    return "element " + std::to_string(index) + ": expected " + expected +
           ", found " + found;
  }
  template <typename T> ProgramArgument &buffer(const std::vector<T> &data) {
    ProgramArgument argument;
    argument.isBuffer = true;
    argument.size = data.size() * sizeof(T);
    argument.bytes.resize(argument.size);
    std::memcpy(argument.bytes.data(), data.data(), argument.size);
    arguments.push_back(std::move(argument));
    return arguments.back();
  }
  template <typename T>
  static std::function<std::string(const Bytes &)>
  exact(const std::vector<T> &expected) {
    static_assert(std::is_trivially_copyable_v<T>);
    return [expected](const Bytes &bytes) -> std::string {
      for (size_t i = 0; i < expected.size(); ++i) {
        T found;
        std::memcpy(&found, bytes.data() + i * sizeof(T), sizeof(T));
        if (std::memcmp(&found, &expected[i], sizeof(T)) != 0)
          return difference(i, std::to_string(expected[i]),
                            std::to_string(found));
      }
      return "";
    };
  }
};

struct Program {
  std::string name;   ///< of the kernel
  std::string source; ///< the kernel and what only it needs
  std::function<ProgramCase()> make;
};

/// Programs of one theme are compiled together.
struct Theme {
  std::string name;
  std::string common; ///< source in front of all kernels of the theme
  std::vector<Program> programs;
};

Theme chainPrograms();
Theme controlPrograms();
Theme handshakePrograms();
Theme integerPrograms();
Theme lanePrograms();
Theme matrixPrograms();
Theme numericPrograms();
Theme scanPrograms();
Theme sortPrograms();

/// All of them.
const std::vector<Theme> &themes();

/// Source of the named programs of a theme, for one run of the compiler.
std::string themeSource(const Theme &theme,
                        const std::vector<const Program *> &programs);

/// What a run gave.
struct ProgramRun {
  std::string error; ///< of the launch
  std::vector<Finding> findings;
  std::vector<Bytes> outputs; ///< of the checked buffers
  uint64_t instructions = 0;  ///< executed, by all waves
  std::string wrong;          ///< first difference to the host's answer

  std::string findingsText() const;
};
/// `base` gives what a launch has besides the program's: order and trace.
ProgramRun runProgram(const std::shared_ptr<CodeObject> &object,
                      const std::string &kernel, const ProgramCase &launch,
                      const DeviceOptions &options,
                      const LaunchParams &base = {});

//===----------------------------------------------------------------------===//
// Inputs: reproducible from a seed
//===----------------------------------------------------------------------===//

class Noise {
public:
  explicit Noise(uint32_t seed) : state(seed * 2654435761u + 1) {}
  uint32_t bits() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(state >> 32);
  }
  /// Low to high, both included.
  int between(int low, int high) {
    return low + int(bits() % uint32_t(high - low + 1));
  }
  template <typename T> std::vector<T> all(size_t count) {
    std::vector<T> values(count);
    for (T &value : values)
      value = T(uint64_t(bits()) << 32 ^ bits());
    return values;
  }
  template <typename T>
  std::vector<T> range(size_t count, int low, int high, double scale = 1) {
    std::vector<T> values(count);
    for (T &value : values)
      value = T(between(low, high) * scale);
    return values;
  }

private:
  uint64_t state;
};

} // namespace netra::sim::test

#endif // NETRA_UNITTESTS_SIMULATOR_PROGRAMS_H
