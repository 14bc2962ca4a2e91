//===- ProgramTests.cpp - Compiled programs against the host -------------===//
// SPDX-License-Identifier: MIT
//
// Every program of Programs.h, compiled at several levels of optimisation, with
// all checkers on: results must be the host's and nothing may be reported. With
// NETRA_TEST_FULL=1 every level and every way of scheduling; otherwise -O2, and
// -O0 and -O3 of every third program.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "gtest/gtest.h"
#include <map>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

struct Instance {
  const Theme *theme;
  const test::Program *program;
  std::string level;
};

std::vector<const test::Program *> chosen(const Theme &theme,
                                          const std::string &level) {
  std::vector<const test::Program *> programs;
  for (size_t i = 0; i < theme.programs.size(); ++i)
    if (isFullTest() || level == "O2" || i % 3 == (level == "O0" ? 0 : 1))
      programs.push_back(&theme.programs[i]);
  return programs;
}

std::vector<Instance> instances() {
  std::vector<Instance> all;
  for (const Theme &theme : themes())
    for (const char *level : {"O0", "O2", "O3"})
      for (const test::Program *program : chosen(theme, level))
        all.push_back({&theme, program, level});
  return all;
}

/// The compiled programs of a theme at a level, compiled once.
std::shared_ptr<CodeObject> compiled(const Theme &theme,
                                     const std::string &level) {
  static std::map<std::pair<const Theme *, std::string>,
                  std::shared_ptr<CodeObject>>
      objects;
  auto [at, isNew] = objects.try_emplace({&theme, level});
  if (isNew)
    at->second =
        openCl(themeSource(theme, chosen(theme, level)), "-fwrapv -" + level);
  return at->second;
}

class Programs : public testing::TestWithParam<Instance> {};

TEST_P(Programs, GiveTheHostsAnswer) {
  const Instance &instance = GetParam();
  auto object = compiled(*instance.theme, instance.level);
  ASSERT_TRUE(object);
  const ProgramCase launch = instance.program->make();
  std::vector<std::pair<Schedule, WorkgroupOrder>> ways = {
      {Schedule::RoundRobin, WorkgroupOrder::Forward}};
  if (isFullTest()) {
    ways.push_back({Schedule::ToBarrier, WorkgroupOrder::Reverse});
    ways.push_back({Schedule::Random, WorkgroupOrder::Random});
  }
  for (auto [schedule, order] : ways) {
    DeviceOptions options;
    options.checks = CheckAll;
    options.schedule = schedule;
    options.order = order;
    options.seed = 11;
    options.instructionLimit = 20'000'000;
    ProgramRun done =
        runProgram(object, instance.program->name, launch, options);
    EXPECT_EQ(done.error, "");
    EXPECT_EQ(done.findingsText(), "");
    EXPECT_EQ(done.wrong, "");
    EXPECT_FALSE(done.outputs.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Programs, testing::ValuesIn(instances()),
                         [](const auto &info) {
                           return info.param.theme->name + "_" +
                                  info.param.program->name + "_" +
                                  info.param.level;
                         });

TEST(ProgramSet, IsLargeAndEachOutputCanFail) {
  size_t count = 0;
  for (const Theme &theme : themes())
    for (const test::Program &program : theme.programs) {
      ++count;
      // The host's answer must not accept what the buffer held before.
      bool refuses = false;
      for (const ProgramArgument &argument : program.make().arguments)
        if (argument.check)
          refuses |= argument.check(argument.written
                                        ? argument.bytes
                                        : Bytes(argument.size, 0xff)) != "";
      EXPECT_TRUE(refuses) << program.name;
    }
  EXPECT_GE(count, 40u);
}

} // namespace
