//===- HipSimMisuse.h - Calls that must fail --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_RUNTIME_HIPSIMMISUSE_H
#define NETRA_UNITTESTS_RUNTIME_HIPSIMMISUSE_H

#include "HipSimFixture.h"

#include <functional>
#include <string>
#include <vector>

namespace netra::test {

/// One misuse: the call, its code, and what the sentence must speak of.
struct Misuse {
  const char *name;
  std::function<hipError_t()> call;
  hipError_t expected;
  const char *text;
};

class HipSimErrorTest : public HipSimTest {
protected:
  /// Each call gives its code, leaves it as the thread's last error, says why,
  /// and leaves the device usable.
  void check(const std::vector<Misuse> &table) {
    for (const Misuse &misuse : table) {
      SCOPED_TRACE(misuse.name);
      (void)hipGetLastError();
      EXPECT_EQ(hipPeekAtLastError(), hipSuccess);
      EXPECT_EQ(misuse.call(), misuse.expected);
      std::string message = netra_hipsim_message();
      EXPECT_NE(message.find(misuse.text), std::string::npos) << message;
      EXPECT_EQ(hipPeekAtLastError(), misuse.expected);
      EXPECT_EQ(hipGetLastError(), misuse.expected);
      EXPECT_EQ(hipGetLastError(), hipSuccess);
    }
    ASSERT_HIP(launch(a, b, c, out, 1));
    EXPECT_EQ(read(out), constant(3 * 5 + 7 + 1));
  }

  hipError_t launchShape(unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                         unsigned by, unsigned bz, unsigned lds = 0) {
    uint32_t k = 1;
    void *parameters[] = {&a, &b, &c, &out, &k};
    return hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, lds, nullptr,
                                 parameters, nullptr);
  }
};

} // namespace netra::test

#endif // NETRA_UNITTESTS_RUNTIME_HIPSIMMISUSE_H
