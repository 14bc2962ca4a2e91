//===- PackWeights.cpp - netra-engine pack-weights ------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "OutputFile.h"
#include "PackJournal.h"
#include "PackedWeights.h"

#include "Netra/Target/Bundle.h"

#include <algorithm>
#include <cstdio>
#include <thread>

using namespace netra;
using namespace netra::tool;

int netra::tool::packWeightsMain(int argc, char **argv) {
  Arguments arguments(
      "pack-weights",
      "Brings the tensors of a checkpoint into the layouts of an engine's "
      "kernels and\nwrites them as one file, which the runtime maps and copies "
      "to the device as it is.\nThe file appears only when it is complete. "
      "Until then its blocks are kept in\nFILE.partial: after an interruption "
      "the same command goes on from there.",
      "");
  arguments.value("engine", "DIR", "the engine");
  arguments.list("checkpoint", "FILE|DIR",
                 "safetensors files, index of shards (*.index.json), or a "
                 "directory of them");
  arguments.value("output", "FILE", "the packed weights; also -o FILE");
  arguments.value("verify", "FILE",
                  "write nothing; compare FILE with engine and checkpoint");
  arguments.flag("restart", "discard what an interrupted run has left");
  arguments.value("threads", "N", "threads to pack with (one per core)");
  arguments.flag("progress", "show progress even where stderr is no terminal");
  if (std::optional<int> code = arguments.parse(argc, argv))
    return *code;
  auto usage = [](const std::string &message) {
    return fail("pack-weights: " + message, ExitUsage);
  };
  for (const char *needed : {"engine", "checkpoint"})
    if (!arguments.has(needed))
      return usage(std::string("--") + needed + " is missing");
  const bool verify = arguments.has("verify");
  if (verify == arguments.has("output"))
    return usage(verify ? "expected --output or --verify, found both"
                        : "--output is missing");
  if (arguments.get("output") == "-")
    return usage("--output: expected a file, found \"-\"; packed weights are "
                 "mapped, which the standard output cannot be");
  PackOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  options.restart = arguments.has("restart");
  options.progress = arguments.has("progress");
  if (arguments.has("threads")) {
    llvm::Expected<uint64_t> number = arguments.number("threads", 1, 1024);
    if (!number)
      return usage(llvm::toString(number.takeError()));
    options.threads = unsigned(*number);
  }

  llvm::Expected<Engine> engine = readBundle(arguments.get("engine"));
  if (!engine)
    return fail(llvm::toString(engine.takeError()));
  if (!engine->weights.bytes)
    return fail("the engine has no weights");
  Checkpoint checkpoint;
  for (const std::string &path : arguments.all("checkpoint"))
    checkpoint.add(path);
  auto report = [](const std::vector<std::string> &lines,
                   const std::string &summary, const char *what) {
    for (const std::string &line : lines)
      std::fprintf(stderr, "%s\n", line.c_str());
    return fail(summary + ": " + std::to_string(lines.size()) + " " + what +
                (lines.size() == 1 ? "" : "s"));
  };
  std::vector<std::string> problems;
  WeightPacker packer(engine->weights, checkpoint, problems);
  if (!problems.empty())
    return report(problems, "the checkpoint does not fit the engine",
                  "problem");

  const std::string size = std::to_string(engine->weights.entries.size()) +
                           " weights, " + byteCount(engine->weights.bytes);
  if (verify) {
    const std::string path = arguments.get("verify");
    std::vector<std::string> found = packer.verify(path, options);
    if (!found.empty())
      return report(found, path + " is not what engine and checkpoint make",
                    "difference");
    std::printf("%s: %s, as engine and checkpoint make them\n", path.c_str(),
                size.c_str());
    return ExitSuccess;
  }
  const std::string path = arguments.get("output");
  std::vector<std::string> read = checkpoint.getPaths();
  read.push_back(arguments.get("engine"));
  // Beside the file, its unfinished form and the journal of that are written.
  for (const std::string &written :
       {path, PartialFile::partialOf(path), PartialFile::journalOf(path)})
    if (std::string why = whyNotApart(written, read); !why.empty())
      return fail("cannot write " + written + ": " + why +
                  "; name another file with -o");
  llvm::Expected<PackOutcome> outcome = packer.write(path, options);
  if (!outcome)
    return fail(llvm::toString(outcome.takeError()));
  if (outcome->damagedBlocks)
    std::printf("%llu finished block%s of the interrupted run %s damaged, and "
                "packed again\n",
                (unsigned long long)outcome->damagedBlocks,
                outcome->damagedBlocks == 1 ? "" : "s",
                outcome->damagedBlocks == 1 ? "was" : "were");
  if (outcome->resumedBytes)
    std::printf("went on from an interrupted run that had packed %s\n",
                byteCount(outcome->resumedBytes).c_str());
  std::printf("packed %s, into %s\n", size.c_str(), path.c_str());
  return ExitSuccess;
}
