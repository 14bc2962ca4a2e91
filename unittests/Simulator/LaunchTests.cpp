//===- LaunchTests.cpp - How long launches go on, and in which turns -----===//
// SPDX-License-Identifier: MIT

#include "KernelCompiler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

namespace {

TEST(Launches, EndlessLoopMeetsTheLimit) {
  DeviceOptions options;
  options.instructionLimit = 100000;
  Device device(options);
  auto findings = run(device, assembly(wrapKernel(".Lx:\n  s_branch .Lx\n")),
                      "k", {3, 1, 1}, {64, 1, 1}, Arguments());
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("limit of 100000 wave instructions"));
}

/// The launch of a kernel with one buffer of one zero.
llvm::Expected<LaunchResult> launched(const std::string &body,
                                      const DeviceOptions &options,
                                      uint32_t groups) {
  Device device(options);
  auto object = assembly(wrapKernel(body));
  LaunchParams params;
  params.grid = {groups, 1, 1};
  Arguments arguments;
  arguments.add(upload(device, std::vector<uint32_t>{0}));
  params.kernarg = arguments.bytes;
  return device.launch(object, object->kernels()[0], params);
}

TEST(Launches, MayEndAtTheFirstFinding) {
  DeviceOptions options;
  options.checks = CheckAll;
  options.instructionLimit = 5'000'000;
  options.stopAtFinding = true;
  const std::string body = "  s_load_dword s4, s[0:1], 0x0\n"
                           "  s_mov_b32 s5, s4\n.Lx:\n  s_branch .Lx\n";
  auto stopped = launched(body, options, 3);
  ASSERT_TRUE(bool(stopped)) << llvm::toString(stopped.takeError());
  ASSERT_THAT(stopped->findings, SizeIs(1));
  EXPECT_EQ(stopped->findings[0].check, CheckWait);
  EXPECT_LT(stopped->instructions, 1'000'000u);
  options.stopAtFinding = false;
  auto endless = launched(body, options, 3);
  ASSERT_FALSE(bool(endless));
  EXPECT_THAT(llvm::toString(endless.takeError()),
              HasSubstr("limit of 5000000"));
}

TEST(Launches, PatienceIsWhatWorkgroupsMayWaitForLaterOnes) {
  const auto instructions = [](uint64_t patience) {
    DeviceOptions options;
    options.threads = 1;
    options.patience = patience;
    auto result = launched(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Llater
.Lagain:
  global_load_dword v4, v2, s[4:5] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v4
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 .Lagain
  s_endpgm
.Llater:
  global_store_dword v2, v3, s[4:5] sc0 sc1
)",
                           options, 2);
    EXPECT_TRUE(bool(result)) << llvm::toString(result.takeError());
    return result ? result->instructions : 0;
  };
  EXPECT_THAT(instructions(1000), AllOf(Ge(1000u), Le(2000u)));
  EXPECT_THAT(instructions(50'000), AllOf(Ge(50'000u), Le(100'000u)));
}

} // namespace
