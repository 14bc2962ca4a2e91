//===- PackingTests.cpp - Packed files, interrupted and damaged -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "../Messages.h"
#include "PackJournal.h"
#include "PackedWeights.h"
#include "Parallel.h"
#include "TestFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace netra;
using namespace netra::test;
using namespace netra::tool;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr uint64_t MiB = uint64_t(1) << 20;

/// A checkpoint in a folder, an engine's weights made from it, and what the
/// recipes make of it, all in memory.
class PackingTest : public testing::Test {
protected:
  PackingTest() {
    // Over several blocks, with gaps; `odd` begins in the middle of nothing.
    add("shuffled",
        {{"a", "F8_E4M3", {1040, 4096}}, {"b", "F8_E4M3", {1024, 4096}}}, 0,
        {PackStep::makeLayout("n16k16")}, {2064, 4096});
    add("scales", {{"s", "BF16", {33, 17}}}, 0,
        {PackStep::makeCast(ElementType::F32),
         PackStep::makeLayout("group_major")},
        {33, 17});
    add("flat", {{"qkvz", "BF16", {768, 3000}}}, 0,
        {PackStep::makeRestore("interleaved_rows<4,32,32,64,64>")},
        {768, 3000});
    weights.bytes += 3;
    add("odd", {{"left", "BF16", {1500, 700}}, {"right", "BF16", {1500, 900}}},
        1, {}, {1500, 1600});
    weights.bytes += 1000;
    weights.alignment = 1;
    weights.id = "nw_0123456789abcdef01234567";
    expected.resize(weights.bytes);
    writeCheckpoint();
  }

  void add(const std::string &name, std::vector<TestTensor> sources,
           int64_t axis, std::vector<PackStep> steps,
           std::vector<int64_t> shape) {
    EngineWeight weight;
    weight.name = name;
    weight.pack.concatAxis = axis;
    weight.pack.steps = std::move(steps);
    weight.shape = std::move(shape);
    std::vector<llvm::ArrayRef<uint8_t>> data;
    for (TestTensor &source : sources) {
      ElementType type =
          source.dtype == "BF16" ? ElementType::BF16 : ElementType::F8E4M3FN;
      weight.pack.sources.push_back({source.name, type, source.shape});
      source.bytes = randomBytes(
          llvm::cantFail(tensorBytes(type, source.shape)), tensors.size() + 1);
      data.push_back(source.bytes);
    }
    PackRecipe::Result result = llvm::cantFail(weight.pack.verify());
    weight.type = result.type;
    weight.layout = result.layout.str();
    weight.offset = weights.bytes;
    weight.bytes = result.bytes;
    weights.bytes += result.bytes + 100;
    expected.resize(weights.bytes);
    EXPECT_EQ(
        message(weight.pack.execute(data, llvm::MutableArrayRef(expected).slice(
                                              weight.offset, weight.bytes))),
        "");
    weights.entries.push_back(std::move(weight));
    for (TestTensor &source : sources)
      tensors.push_back(std::move(source));
  }

  void writeCheckpoint() {
    writeText(folder.file("c.safetensors"), safetensors(tensors));
  }

  /// Packs, or verifies, with a checkpoint that is read anew.
  template <typename Body> auto with(Body body) {
    Checkpoint checkpoint;
    checkpoint.add(folder.file("c.safetensors"));
    std::vector<std::string> problems;
    WeightPacker packer(weights, checkpoint, problems);
    EXPECT_THAT(problems, IsEmpty());
    return body(packer);
  }
  std::string pack(const std::string &name, PackOptions options = {}) {
    return with([&](const WeightPacker &packer) {
      llvm::Expected<PackOutcome> outcome =
          packer.write(folder.file(name), options);
      resumed = outcome ? outcome->resumedBytes : 0;
      damaged = outcome ? outcome->damagedBlocks : 0;
      return outcome ? "" : llvm::toString(outcome.takeError());
    });
  }
  std::vector<std::string> verify(const std::string &name) {
    return with([&](const WeightPacker &packer) {
      return packer.verify(folder.file(name), PackOptions());
    });
  }

  PartialFile::Identity identity() {
    Checkpoint checkpoint;
    checkpoint.add(folder.file("c.safetensors"));
    return {weights.id, checkpoint.getFingerprint(), weights.bytes};
  }
  llvm::ArrayRef<uint8_t> block(uint64_t number) {
    llvm::ArrayRef<uint8_t> rest =
        llvm::ArrayRef(expected).drop_front(number * packedBlockBytes);
    return rest.take_front(std::min<uint64_t>(packedBlockBytes, rest.size()));
  }
  /// As a run that was interrupted after these blocks leaves it.
  void leavePartial(const std::string &name, std::vector<uint64_t> blocks) {
    PartialFile partial;
    ASSERT_EQ(message(partial.open(folder.file(name), identity(), false)), "");
    for (uint64_t number : blocks)
      ASSERT_EQ(message(partial.add(number, block(number),
                                    rt::Sha256::digest(block(number).data(),
                                                       block(number).size()),
                                    1)),
                "");
  }

  TemporaryFolder folder;
  EngineWeights weights;
  std::vector<TestTensor> tensors;
  Bytes expected;
  uint64_t resumed = 0, damaged = 0; // of the last `pack`
};

TEST_F(PackingTest, TheFileIsWhatTheRecipesMake) {
  ASSERT_EQ(packedBlockCount(weights.bytes), 5u);
  ASSERT_EQ(pack("one"), "");
  PackOptions three;
  three.threads = 3;
  ASSERT_EQ(pack("three", three), "");
  EXPECT_THAT(folder.names(), ElementsAre("c.safetensors", "one", "three"));
  std::string text = readText(folder.file("one"));
  EXPECT_EQ(text, readText(folder.file("three")));
  ASSERT_EQ(text.size(), 4096 + expected.size() + 5 * 32);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                         reinterpret_cast<const uint8_t *>(&text[4096])));

  // The hashes, by another implementation.
  llvm::SHA256 all;
  for (uint64_t number = 0; number < 5; ++number) {
    std::array<uint8_t, 32> hash = llvm::SHA256::hash(block(number));
    all.update(hash);
    EXPECT_EQ(llvm::toHex(hash),
              llvm::toHex(llvm::StringRef(text).substr(
                  4096 + expected.size() + 32 * number, 32)));
  }
  EXPECT_THAT(text.substr(0, 4096),
              HasSubstr("\"sha256\":\"" +
                        llvm::toHex(all.final(), /*LowerCase=*/true) + '"'));
  EXPECT_THAT(text.substr(0, 4096),
              HasSubstr("\"weights_id\":\"" + weights.id + '"'));

  // It is a safetensors file like any other.
  Checkpoint packed;
  packed.add(folder.file("one"));
  EXPECT_THAT(packed.getProblems(), IsEmpty());
  ASSERT_TRUE(packed.find("netra.weights"));
  EXPECT_THAT(packed.find("netra.weights")->shape,
              ElementsAre(int64_t(weights.bytes)));
  EXPECT_THAT(packed.find("netra.blocks")->shape, ElementsAre(5, 32));
  EXPECT_THAT(verify("one"), IsEmpty());
  // Packing again replaces it.
  ASSERT_EQ(pack("one"), "");
  EXPECT_EQ(resumed, 0u);
}

TEST_F(PackingTest, EverythingThatDoesNotFitIsTold) {
  tensors[0].shape = {4096, 1040};
  tensors[1].dtype = "I8";
  tensors[2].name = "other";
  writeCheckpoint();
  weights.entries[2].shape = {3000, 768};
  weights.entries[3].pack.steps = {PackStep::makeLayout("nope")};
  weights.entries[3].offset = UINT64_MAX - 5;
  Checkpoint checkpoint;
  checkpoint.add(folder.file("c.safetensors"));
  checkpoint.add(folder.file("none.safetensors"));
  std::vector<std::string> problems;
  WeightPacker packer(weights, checkpoint, problems);
  EXPECT_THAT(
      problems,
      ElementsAre(
          HasSubstr("none.safetensors: cannot open"),
          HasSubstr("tensor a (for weight shuffled): expected "
                    "1040x4096xf8E4M3FN, found 4096x1040xf8E4M3FN in"),
          HasSubstr("tensor b (for weight shuffled): expected "
                    "1024x4096xf8E4M3FN, found 1024x4096xi8"),
          HasSubstr("weight flat: its recipe makes 768x3000xbf16, the engine "
                    "expects 3000x768xbf16"),
          HasSubstr("weight odd: pack recipe: step 0: layout \"nope\""),
          HasSubstr("weight odd: lies outside the engine's weights"),
          HasSubstr(
              "1 of the engine's tensors cannot be found in what could be "
              "read")));
  // Of a checkpoint that could be read each is named.
  Checkpoint whole;
  whole.add(folder.file("c.safetensors"));
  problems.clear();
  WeightPacker again(weights, whole, problems);
  EXPECT_THAT(problems,
              testing::Contains(HasSubstr("tensor s (for weight scales): not "
                                          "in the checkpoint")));
}

/// A source that stands for several tensors of the checkpoint, in blocks that
/// do not end with them.
TEST(PackingSeries, IsPackedAndCompared) {
  TemporaryFolder folder;
  const std::vector<int64_t> one = {300, 4096};
  std::vector<TestTensor> tensors;
  Bytes expected;
  for (unsigned i = 0; i < 5; ++i) {
    tensors.push_back({"m.e." + std::to_string(i) + ".w", "F8_E4M3", one,
                       randomBytes(300 * 4096, i + 1)});
    expected.insert(expected.end(), tensors.back().bytes.begin(),
                    tensors.back().bytes.end());
  }
  EngineWeight weight;
  weight.name = "w";
  weight.pack.sources = {{"m.e.{}.w", ElementType::F8E4M3FN, {5, 300, 4096}}};
  weight.type = ElementType::F8E4M3FN;
  weight.shape = {5, 300, 4096};
  weight.layout = "row_major";
  weight.bytes = expected.size();
  EngineWeights weights;
  weights.entries = {weight};
  weights.bytes = expected.size();
  weights.alignment = 1;
  weights.id = "nw_0123456789abcdef01234567";

  const std::string path = folder.file("c.safetensors");
  auto problemsOf = [&] {
    writeText(path, safetensors(tensors));
    Checkpoint checkpoint;
    checkpoint.add(path);
    std::vector<std::string> problems;
    WeightPacker packer(weights, checkpoint, problems);
    return problems;
  };
  ASSERT_THAT(problemsOf(), IsEmpty());
  Checkpoint checkpoint;
  checkpoint.add(path);
  std::vector<std::string> problems;
  WeightPacker packer(weights, checkpoint, problems);
  ASSERT_TRUE(bool(packer.write(folder.file("w"), PackOptions())));
  std::string text = readText(folder.file("w"));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                         reinterpret_cast<const uint8_t *>(&text[4096])));
  EXPECT_THAT(packer.verify(folder.file("w"), PackOptions()), IsEmpty());

  // A difference is told of the tensor that has it.
  tensors[3].bytes[2 * 4096 + 7] ^= 1;
  ASSERT_THAT(problemsOf(), IsEmpty());
  Checkpoint other;
  other.add(path);
  EXPECT_THAT(WeightPacker(weights, other, problems)
                  .verify(folder.file("w"), PackOptions()),
              ElementsAre(HasSubstr("weight w, from tensor m.e.3.w: element "
                                    "8199: expected the bytes ")));

  // A longer series is another model's.
  tensors.push_back({"m.e.5.w", "F8_E4M3", one, tensors[0].bytes});
  EXPECT_THAT(problemsOf(),
              ElementsAre("tensor m.e.5.w (for weight w): expected a series "
                          "that ends with 4, found one more in " +
                          path));
  tensors.pop_back();

  // What does not fit is told tensor by tensor; that none is there, once.
  tensors[0].shape = {4096, 300};
  tensors[1].name = "m.e.01.w";
  tensors[4].dtype = "I8";
  EXPECT_THAT(problemsOf(),
              ElementsAre(HasSubstr("tensor m.e.0.w (for weight w): expected "
                                    "300x4096xf8E4M3FN, found 4096x300x"),
                          HasSubstr("tensor m.e.4.w (for weight w): expected "
                                    "300x4096xf8E4M3FN, found 300x4096xi8"),
                          "tensor m.e.1.w (for weight w): not in the "
                          "checkpoint"));
  tensors = {{"m.e.w", "F8_E4M3", {1}, {0}}, {"m.f", "F8_E4M3", {1}, {0}}};
  EXPECT_THAT(problemsOf(),
              ElementsAre("tensor m.e.{}.w (for weight w): none of 0 to 4 is "
                          "in the checkpoint, which has m.e.w"));
}

TEST_F(PackingTest, AnInterruptedRunIsContinued) {
  ASSERT_EQ(pack("whole"), "");
  leavePartial("w", {3, 0});
  EXPECT_THAT(folder.names(), ElementsAre("c.safetensors", "w.partial",
                                          "w.partial.journal", "whole"));
  // Of a last line that is cut off nothing is believed.
  std::string journal = readText(folder.file("w.partial.journal"));
  writeText(folder.file("w.partial.journal"), journal + "1 00ff");
  ASSERT_EQ(pack("w"), "");
  EXPECT_EQ(resumed, 2 * packedBlockBytes);
  EXPECT_EQ(readText(folder.file("w")), readText(folder.file("whole")));
  EXPECT_THAT(folder.names(), ElementsAre("c.safetensors", "w", "whole"));

  // All blocks were done; only the name was missing.
  leavePartial("w", {0, 1, 2, 3, 4});
  ASSERT_EQ(pack("w"), "");
  EXPECT_EQ(resumed, weights.bytes);
  EXPECT_EQ(readText(folder.file("w")), readText(folder.file("whole")));
}

TEST_F(PackingTest, ADamagedJournalOnlyCostsTime) {
  ASSERT_EQ(pack("whole"), "");
  const std::string good = readText(folder.file("whole"));
  leavePartial("w", {0, 1, 2, 3});
  const std::string journal = readText(folder.file("w.partial.journal"));
  const std::string partial = readText(folder.file("w.partial"));
  size_t first = journal.find('\n') + 1;
  for (const std::string &damaged :
       {std::string(), journal.substr(0, first / 2), journal.substr(0, first),
        journal.substr(0, first + 20),
        journal.substr(0, first) + "99 " + std::string(64, '0') + "\n",
        journal.substr(0, first) + "0 " + std::string(64, 'x') + "\n",
        journal.substr(0, first) + std::string(500, '\0')}) {
    writeText(folder.file("w.partial"), partial);
    writeText(folder.file("w.partial.journal"), damaged);
    ASSERT_EQ(pack("w"), "");
    EXPECT_EQ(resumed, 0u);
    ASSERT_EQ(readText(folder.file("w")), good);
  }
  // A partial file of another size is not what the journal speaks of.
  writeText(folder.file("w.partial"), partial.substr(1));
  writeText(folder.file("w.partial.journal"), journal);
  ASSERT_EQ(pack("w"), "");
  EXPECT_EQ(resumed, 0u);
  ASSERT_EQ(readText(folder.file("w")), good);
}

TEST_F(PackingTest, ADamagedBlockIsPackedAgain) {
  ASSERT_EQ(pack("whole"), "");
  leavePartial("w", {0, 1, 3});
  std::string partial = readText(folder.file("w.partial"));
  partial[packedDataStart + packedBlockBytes + 12345] ^= 1;
  writeText(folder.file("w.partial"), partial);
  ASSERT_EQ(pack("w"), "");
  EXPECT_EQ(resumed, 2 * packedBlockBytes);
  EXPECT_EQ(damaged, 1u);
  EXPECT_EQ(readText(folder.file("w")), readText(folder.file("whole")));
}

TEST_F(PackingTest, AnotherEngineOrCheckpointIsNotContinued) {
  leavePartial("w", {0});
  ::usleep(20000); // times of files are as fine as the kernel's clock
  tensors[0].bytes[0] ^= 1;
  writeCheckpoint();
  EXPECT_THAT(pack("w"), testing::AllOf(HasSubstr("another checkpoint"),
                                        HasSubstr("--restart discards it")));
  const std::string id = weights.id;
  weights.id = "nw_fedcba987654321001234567";
  EXPECT_THAT(pack("w"), testing::AllOf(HasSubstr("weights=" + weights.id),
                                        HasSubstr("weights=" + id)));
  EXPECT_THAT(folder.names(),
              ElementsAre("c.safetensors", "w.partial", "w.partial.journal"));
  PackOptions options;
  options.restart = true;
  ASSERT_EQ(pack("w", options), "");
  EXPECT_EQ(resumed, 0u);
  EXPECT_THAT(verify("w"), IsEmpty());
  EXPECT_THAT(folder.names(), ElementsAre("c.safetensors", "w"));
}

TEST_F(PackingTest, OneRunAtATime) {
  PartialFile partial;
  ASSERT_EQ(message(partial.open(folder.file("w"), identity(), false)), "");
  EXPECT_THAT(pack("w"), HasSubstr("another pack-weights is writing it"));
  EXPECT_THAT(folder.names(),
              ElementsAre("c.safetensors", "w.partial", "w.partial.journal"));
}

// SIGKILL at many moments; whatever is left, the next run makes the same file.
TEST_F(PackingTest, SurvivesBeingKilled) {
  ASSERT_EQ(pack("whole"), "");
  const std::string good = readText(folder.file("whole"));
  uint64_t continued = 0;
  for (int round = 0; round < 8; ++round) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      PackOptions options;
      options.blocksPerFlush = 1;
      options.threads = 1; // the only thread that is left after a fork
      pack("w", options);
      ::_exit(0);
    }
    // Kills it when the journal has so many lines, at the latest when it ends.
    const long lines = round % 6;
    while (::waitpid(child, nullptr, WNOHANG) == 0) {
      std::string journal = readText(folder.file("w.partial.journal"));
      if (std::count(journal.begin(), journal.end(), '\n') >= lines) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        break;
      }
    }
    ASSERT_EQ(pack("w"), "");
    continued += resumed;
    ASSERT_EQ(readText(folder.file("w")), good) << round;
    EXPECT_THAT(folder.names(), ElementsAre("c.safetensors", "w", "whole"));
    ::unlink(folder.file("w").c_str());
  }
  EXPECT_GT(continued, 0u);
}

TEST_F(PackingTest, VerifyFindsEveryKindOfDamage) {
  ASSERT_EQ(pack("w"), "");
  const std::string good = readText(folder.file("w"));
  auto findings = [&](std::string text) {
    writeText(folder.file("w"), text);
    return verify("w");
  };
  EXPECT_THAT(findings(good), IsEmpty());
  std::string damaged = good;
  damaged[4096 + 100] ^= 1;
  EXPECT_THAT(
      findings(damaged),
      ElementsAre(HasSubstr("block 0 (shuffled): expected SHA-256"),
                  HasSubstr("weight shuffled, from tensor a: element ")));
  // Padding, too, is hashed.
  damaged = good;
  damaged[4096 + expected.size() - 1] ^= 1;
  EXPECT_THAT(findings(damaged),
              ElementsAre(HasSubstr("block 4 (odd): expected SHA-256")));
  damaged = good;
  damaged.back() ^= 1;
  EXPECT_THAT(findings(damaged),
              ElementsAre(HasSubstr("the hashes are not those")));
  EXPECT_THAT(findings(good.substr(0, good.size() - 1)),
              ElementsAre(HasSubstr("bytes, found")));
  EXPECT_THAT(findings(good + "x"), ElementsAre(HasSubstr("bytes, found")));
  EXPECT_THAT(findings(""), ElementsAre(HasSubstr("found 0 bytes")));
  EXPECT_THAT(findings(safetensors(tensors)),
              ElementsAre(HasSubstr("a file without that mark")));
  for (const char *header :
       {"[1]", "{}", R"({"__metadata__":[]})", R"({"__metadata__":7})",
        R"({"__metadata__":{"format":7}})"})
    EXPECT_THAT(findings(withHeader(header, "")),
                ElementsAre(HasSubstr("a file without that mark")))
        << header;
  damaged = good;
  damaged.replace(damaged.find("netra.weights/2"), 15, "netra.weights/1");
  EXPECT_THAT(findings(damaged),
              ElementsAre(HasSubstr("found netra.weights/1")));
  damaged = good;
  damaged.replace(damaged.find("nw_"), 3, "xx_");
  EXPECT_THAT(findings(damaged),
              ElementsAre(testing::AllOf(
                  HasSubstr("expected weights " + weights.id),
                  HasSubstr("found xx_"), HasSubstr("another engine"))));

  // A sound file with another content: only unpacking tells.
  writeText(folder.file("w"), good);
  tensors[3].bytes[4321] ^= 0x10;
  tensors[2].bytes[7] ^= 0x80;
  writeCheckpoint();
  EXPECT_THAT(
      verify("w"),
      ElementsAre(HasSubstr("weight scales, from tensor s: element 3: "
                            "expected the bytes "),
                  HasSubstr("weight flat, from tensor qkvz: element 2160: "
                            "expected the bytes ")));
}

/// Peak memory of a child process that runs `body`, in bytes; 0 on failure.
uint64_t peakMemory(llvm::function_ref<bool()> body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body() ? 0 : 1);
  int status = 1;
  struct rusage usage = {};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || status)
    return 0;
  return uint64_t(usage.ru_maxrss) * 1024;
}

// One tensor of 2 GiB, transposed: the order of reading that is the worst for
// locality. Blocks all over it are made; memory stays at a few blocks.
TEST(PackingMemory, DoesNotGrowWithTheTensor) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers hold freed memory back and shadow what is used";
#endif
  TemporaryFolder folder;
  constexpr int64_t rows = 16384, columns = 65536;
  constexpr uint64_t bytes = uint64_t(rows) * columns * 2;
  const std::string path = folder.file("big.safetensors");
  writeText(path,
            withHeader("{\"t\":{\"dtype\":\"BF16\",\"shape\":[16384,65536],"
                       "\"data_offsets\":[0," +
                           std::to_string(bytes) + "]}}",
                       ""));
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  ASSERT_EQ(::truncate(path.c_str(), off_t(uint64_t(status.st_size) + bytes)),
            0);
  for (const char *layout : {"group_major", "n16k16"}) {
    EngineWeights weights;
    EngineWeight weight;
    weight.name = "t";
    weight.type = ElementType::BF16;
    weight.shape = {rows, columns};
    weight.bytes = weights.bytes = bytes;
    weight.pack.sources = {{"t", ElementType::BF16, {rows, columns}}};
    weight.pack.steps = {PackStep::makeLayout(layout)};
    weights.entries = {weight};
    auto makeBlocks = [&](uint64_t count) {
      return peakMemory([&] {
        Checkpoint checkpoint;
        checkpoint.add(path);
        std::vector<std::string> problems;
        WeightPacker packer(weights, checkpoint, problems);
        Bytes block(packedBlockBytes);
        uint64_t blocks = packedBlockCount(bytes);
        for (uint64_t i = 0; i != count; ++i)
          if (message(packer.makeBlock(i * blocks / count, block)) != "")
            return false;
        return problems.empty();
      });
    };
    uint64_t none = makeBlocks(0), some = makeBlocks(48);
    ASSERT_NE(none, 0u);
    ASSERT_NE(some, 0u);
    EXPECT_LT(some, none + 24 * MiB) << layout;
  }
}

TEST(ParallelFor, CallsEachOnceAndGivesTheFirstError) {
  std::vector<std::atomic<int>> calls(1000);
  EXPECT_EQ(message(parallelFor(1000, 4,
                                [&](uint64_t i) {
                                  ++calls[i];
                                  return llvm::Error::success();
                                })),
            "");
  for (std::atomic<int> &count : calls)
    EXPECT_EQ(count, 1);
  std::atomic<uint64_t> made{0};
  EXPECT_EQ(message(parallelFor(1000, 1,
                                [&](uint64_t i) -> llvm::Error {
                                  ++made;
                                  if (i >= 7)
                                    return llvm::createStringError(
                                        std::to_string(i));
                                  return llvm::Error::success();
                                })),
            "7");
  EXPECT_EQ(made, 8u);
  EXPECT_EQ(
      message(parallelFor(
          0, 4, [&](uint64_t) { return llvm::createStringError("called"); })),
      "");
}

TEST(Progress, TellsRateAndTimeLeft) {
  constexpr uint64_t GiB = 1024 * MiB;
  EXPECT_EQ(Progress::describe(0, 0, 2 * GiB, 0), "[  0 %] 0 B of 2.0 GiB");
  EXPECT_EQ(Progress::describe(0, GiB, 2 * GiB, 2),
            "[ 50 %] 1.0 GiB of 2.0 GiB, 512.0 MiB/s, 2 s left");
  // What an earlier run has done does not count towards the rate.
  EXPECT_EQ(Progress::describe(GiB, GiB + 256 * MiB, 4 * GiB, 1),
            "[ 31 %] 1.2 GiB of 4.0 GiB, 256.0 MiB/s, 11 s left");
  EXPECT_EQ(Progress::describe(0, MiB, 3661 * MiB, 1),
            "[  0 %] 1.0 MiB of 3.6 GiB, 1.0 MiB/s, 1 h 1 min 0 s left");
  EXPECT_EQ(Progress::describe(0, 0, 0, 1), "[100 %] 0 B of 0 B");
}

} // namespace
