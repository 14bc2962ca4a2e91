//===- netra-engine.cpp - Looking at, checking and running engines --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Interrupts.h"

#include <cstdio>
#include <cstring>
#include <exception>

using namespace netra::tool;

namespace {

struct Command {
  const char *name;
  int (*main)(int, char **);
  const char *summary;
};
constexpr Command commands[] = {
    {"inspect", inspectMain, "what is in an engine: plans, launches, memory"},
    {"explain", explainMain, "which tactic each operation got, and why"},
    {"validate", validateMain, "check every byte of an engine"},
    {"run", runMain, "run an engine on the simulator or a GPU"},
    {"pack-weights", packWeightsMain,
     "bring a checkpoint into an engine's layout"},
    {"equivalence", equivalenceMain,
     "compare the machine code of two engines or code objects"},
    {"record-golden", recordGoldenMain,
     "write a golden record about a code object"},
    {"promote", promoteMain, "move a tactic's maturity"}};

void printUsage(std::FILE *file) {
  std::fprintf(file, "usage: netra-engine COMMAND [options]\n\n"
                     "Looks at, checks and runs Netra engine bundles.\n\n"
                     "commands:\n");
  for (const Command &command : commands)
    std::fprintf(file, "  %-14s %s\n", command.name, command.summary);
  std::fprintf(file, "\nnetra-engine COMMAND --help explains one; "
                     "netra-engine --version says which this is.\n"
                     "Exit codes: 0 success, 1 the engine, the weights or the "
                     "run is faulty, 2 wrong usage.\n");
}

} // namespace

static int runCommand(int argc, char **argv) {
  if (argc < 2) {
    printUsage(stderr);
    return ExitUsage;
  }
  if (!std::strcmp(argv[1], "--help") || !std::strcmp(argv[1], "-h") ||
      !std::strcmp(argv[1], "help")) {
    printUsage(stdout);
    return ExitSuccess;
  }
  if (!std::strcmp(argv[1], "--version")) {
    std::printf("netra-engine %s\n", NETRA_VERSION);
    return ExitSuccess;
  }
  for (const Command &command : commands) {
    if (std::strcmp(argv[1], command.name))
      continue;
    // Only memory can run out; everything else travels as a value.
    try {
      return command.main(argc - 1, argv + 1);
    } catch (const std::exception &error) {
      return fail(error.what());
    }
  }
  fail(std::string("unknown command \"") + argv[1] + '"', ExitUsage);
  printUsage(stderr);
  return ExitUsage;
}

int main(int argc, char **argv) {
  netra::tool::treatFileSizeLimitAsError();
  const int code = runCommand(argc, argv);
  if (std::fflush(stdout) || std::ferror(stdout))
    return fail("cannot write the output");
  return code;
}
