//===- CheckerFixture.h - Runs a body under checkers ------------*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_UNITTESTS_SIMULATOR_CHECKERFIXTURE_H
#define NETRA_UNITTESTS_SIMULATOR_CHECKERFIXTURE_H

#include "KernelCompiler.h"
#include "gtest/gtest.h"

namespace netra::sim::test {

/// Where waves wait for others, a wave that runs to its barrier would do so for
/// ever.
struct FairWay {
  Schedule schedule;
  uint64_t seed;
};
inline constexpr FairWay fairWays[] = {
    {Schedule::RoundRobin, 0}, {Schedule::Random, 1}, {Schedule::Random, 2}};

class Checkers : public testing::Test {
protected:
  /// Runs a body with p0 = 64 dwords of input, p1 = 64 dwords of output.
  std::vector<std::string> check(unsigned checks, const std::string &body,
                                 unsigned lds = 0, unsigned waves = 1) {
    return checkKernel(checks, wrapKernel(body, 16, lds), {64 * waves, 1, 1});
  }
  /// The same for a kernel `k` in full, in blocks of any shape.
  std::vector<std::string> checkKernel(unsigned checks,
                                       const std::string &source,
                                       std::array<uint32_t, 3> block,
                                       uint32_t groups = 1) {
    DeviceOptions options;
    options.checks = checks;
    options.order = order;
    options.schedule = schedule;
    options.seed = seed;
    options.threads = threads;
    options.instructionLimit = 1'000'000;
    options.patience = 4096; // of work-groups that wait for others
    Device device(options);
    std::vector<uint32_t> in(256);
    for (uint32_t i = 0; i < 256; ++i)
      in[i] = i * 3 + 1;
    const uint64_t p0 = upload(device, in, "input"),
                   p1 = *device.allocate(1024, "output");
    auto findings = run(device, assembly(source), "k", {groups, 1, 1}, block,
                        Arguments().add(p0).add(p1));
    output = download<uint32_t>(device, p1, 256);
    return findings;
  }
  WorkgroupOrder order = WorkgroupOrder::Forward;
  Schedule schedule = Schedule::RoundRobin;
  uint64_t seed = 0;    ///< of a random schedule
  unsigned threads = 0; ///< of the host; 0: one per core
  std::vector<uint32_t> output;
};

} // namespace netra::sim::test

#endif // NETRA_UNITTESTS_SIMULATOR_CHECKERFIXTURE_H
