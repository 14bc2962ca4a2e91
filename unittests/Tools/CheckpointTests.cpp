//===- CheckpointTests.cpp - Reading safetensors, sound and not -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SafeTensors.h"
#include "TestFiles.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <iterator>
#include <random>
#include <unistd.h>

using namespace netra::test;
using namespace netra::tool;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class CheckpointTest : public testing::Test {
protected:
  std::vector<std::string> problemsOf(const std::string &contents) {
    writeText(folder.file("c.safetensors"), contents);
    Checkpoint checkpoint;
    checkpoint.add(folder.file("c.safetensors"));
    return checkpoint.getProblems();
  }
  std::vector<std::string> problemsOfHeader(const std::string &header,
                                            size_t dataBytes = 16) {
    return problemsOf(withHeader(header, std::string(dataBytes, 'x')));
  }

  TemporaryFolder folder;
};

TEST_F(CheckpointTest, ReadsTensorsByName) {
  Bytes a = randomBytes(24, 1), b = randomBytes(3, 2);
  writeText(folder.file("c.safetensors"),
            safetensors({{"a", "BF16", {3, 4}, a},
                         {"b", "F8_E4M3", {3}, b},
                         {"odd", "F4", {6}, b},
                         {"lower", "bf16", {3}, b},
                         {"none", "F32", {0, 7}, {}}}));
  Checkpoint checkpoint;
  checkpoint.add(folder.file("c.safetensors"));
  EXPECT_THAT(checkpoint.getProblems(), IsEmpty());
  EXPECT_EQ(checkpoint.size(), 5u);
  const CheckpointTensor *tensor = checkpoint.find("a");
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->dtype, "BF16");
  EXPECT_EQ(tensor->type, netra::ElementType::BF16);
  EXPECT_THAT(tensor->shape, ElementsAre(3, 4));
  Bytes got(10);
  EXPECT_FALSE(bool(tensor->read(5, got)));
  EXPECT_TRUE(std::equal(got.begin(), got.end(), a.begin() + 5));
  EXPECT_EQ(checkpoint.find("odd")->dtype, "F4");
  EXPECT_EQ(checkpoint.find("odd")->type, std::nullopt);
  // As engines spell it, which checkpoints do not.
  EXPECT_EQ(checkpoint.find("lower")->type, std::nullopt);
  EXPECT_EQ(checkpoint.find("none")->bytes, 0u);
  EXPECT_FALSE(checkpoint.find("c"));

  // A file that is cut off meanwhile is an error, not a crash.
  ASSERT_EQ(::truncate(folder.file("c.safetensors").c_str(), 40), 0);
  EXPECT_THAT(llvm::toString(tensor->read(5, got)),
              HasSubstr("as when it was opened, found the end"));
}

TEST_F(CheckpointTest, EveryFaultOfAFileIsTold) {
  std::vector<std::string> problems = problemsOfHeader(
      R"({"a":{"dtype":"F32","shape":[5],"data_offsets":[0,16]},)"
      R"("b":{"dtype":"F32","shape":[4],"data_offsets":[8,24]},)"
      R"("c":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]},)"
      R"("d":{"shape":[4]},"e":7,)"
      R"("f":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("g":{"dtype":"U8","shape":[4],"data_offsets":[6,10]},)"
      R"("h":{"dtype":"F64","shape":[4611686018427387904,4],)"
      R"("data_offsets":[0,4]},"__metadata__":{"format":"pt"}})");
  EXPECT_THAT(problems,
              ElementsAre(HasSubstr("tensor a: expected 20 bytes of data for "
                                    "5xf32, found 16"),
                          HasSubstr("tensor b: its data [8, 24) lies outside "
                                    "the 16 bytes"),
                          HasSubstr("tensor c: expected extents that are not "
                                    "negative"),
                          HasSubstr("tensor d: expected dtype, shape and "
                                    "data_offsets"),
                          HasSubstr("tensor e: expected dtype"),
                          HasSubstr("tensor h: "),
                          HasSubstr("the data of g overlaps that of f")));
}

TEST_F(CheckpointTest, MalformedFiles) {
  EXPECT_THAT(problemsOf(""), ElementsAre(HasSubstr("found 0 bytes")));
  EXPECT_THAT(problemsOf("1234567"), ElementsAre(HasSubstr("found 7 bytes")));
  EXPECT_THAT(problemsOf(std::string(64, '\xff')),
              ElementsAre(HasSubstr("the file is cut off or is none")));
  EXPECT_THAT(problemsOfHeader("[]"),
              ElementsAre(HasSubstr("the header is not a JSON object")));
  EXPECT_THAT(problemsOfHeader(""), ElementsAre(HasSubstr("expected JSON")));
  EXPECT_THAT(problemsOfHeader("{\"a\":"),
              ElementsAre(HasSubstr("expected JSON")));
  EXPECT_THAT(problemsOfHeader(std::string(1000000, '[')),
              ElementsAre(HasSubstr("c.safetensors, header: expected")));
  EXPECT_THAT(
      problemsOfHeader(std::string(100000, '[') + std::string(100000, ']')),
      ElementsAre(HasSubstr("at most 64 nested levels")));
  EXPECT_THAT(problemsOfHeader(
                  R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})"),
              ElementsAre(HasSubstr("found \"a\" twice")));
  const std::string one =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  EXPECT_THAT(problemsOfHeader(one, 1), ElementsAre());
  EXPECT_THAT(problemsOfHeader(one, 3),
              ElementsAre(HasSubstr("expected 1 bytes of data, as many as its "
                                    "tensors have, found 3")));
  EXPECT_THAT(problemsOfHeader(R"({"__metadata__":{"format":7}})", 0),
              ElementsAre(HasSubstr("__metadata__: expected an object of "
                                    "strings")));
  Checkpoint checkpoint;
  checkpoint.add("/no/such/file.safetensors");
  checkpoint.add("/dev/null");
  checkpoint.add(folder.path);
  EXPECT_THAT(checkpoint.getProblems(),
              ElementsAre(HasSubstr("No such file"),
                          HasSubstr("expected a regular file"),
                          AnyOf(HasSubstr("holds no *.safetensors"),
                                HasSubstr("c.safetensors"))));
}

TEST_F(CheckpointTest, ShardsByIndex) {
  writeText(folder.file("model-1.safetensors"),
            safetensors({{"a", "U8", {2}, {1, 2}}, {"b", "U8", {1}, {3}}}));
  writeText(folder.file("model-2.safetensors"),
            safetensors({{"c", "U8", {1}, {4}}}));
  // Not in the index, and not read.
  writeText(folder.file("consolidated.safetensors"),
            safetensors({{"a", "U8", {2}, {1, 2}}}));
  const std::string index = folder.file("model.safetensors.index.json");
  writeText(index, R"({"metadata":{"total_size":4},"weight_map":{)"
                   R"("a":"model-1.safetensors","b":"model-1.safetensors",)"
                   R"("c":"model-2.safetensors"}})");
  for (const std::string &path : {index, folder.path}) {
    Checkpoint checkpoint;
    checkpoint.add(path);
    EXPECT_THAT(checkpoint.getProblems(), IsEmpty());
    EXPECT_EQ(checkpoint.size(), 3u);
  }

  writeText(index, R"({"weight_map":{"a":"model-2.safetensors","b":"x/y",)"
                   R"("c":"..","d":7,"e":"model-3.safetensors",)"
                   R"("f":"model-1.safetensors"}})");
  Checkpoint checkpoint;
  checkpoint.add(folder.path);
  EXPECT_THAT(
      checkpoint.getProblems(),
      ElementsAre(
          HasSubstr("tensor b: expected the name of a file beside the "
                    "index, found \"x/y\""),
          HasSubstr("tensor c: expected the name of a file"),
          HasSubstr("tensor d: expected the name of a file"),
          HasSubstr("tensor f: expected in model-1.safetensors, which "
                    "does not hold it"),
          HasSubstr("tensor a: expected in model-2.safetensors, which "
                    "does not hold it"),
          AllOf(HasSubstr("model-3.safetensors"), HasSubstr("No such file"))));
  for (const char *text : {"", "[]", "{}", R"({"weight_map":[]})"}) {
    writeText(index, text);
    Checkpoint bad;
    bad.add(index);
    EXPECT_THAT(bad.getProblems(), testing::SizeIs(1)) << text;
  }
  writeText(folder.file("other.safetensors.index.json"), "{}");
  Checkpoint two;
  two.add(folder.path);
  EXPECT_THAT(two.getProblems(),
              ElementsAre(HasSubstr("holds 2 indexes of shards")));
}

TEST_F(CheckpointTest, RepeatedTensorsAreAllTold) {
  for (const char *name : {"1.safetensors", "2.safetensors"})
    writeText(folder.file(name), safetensors({{"a", "U8", {1}, {1}},
                                              {"b", "U8", {1}, {1}},
                                              {name, "U8", {1}, {1}}}));
  Checkpoint checkpoint;
  checkpoint.add(folder.path);
  EXPECT_THAT(checkpoint.getProblems(),
              ElementsAre(AllOf(HasSubstr("2.safetensors, tensor a: is also "
                                          "in"),
                                HasSubstr("1.safetensors")),
                          HasSubstr("2.safetensors, tensor b: is also in")));
  EXPECT_EQ(checkpoint.size(), 4u);
}

TEST_F(CheckpointTest, TheFingerprintFollowsTheContents) {
  const std::string path = folder.file("c.safetensors");
  auto fingerprint = [&] {
    Checkpoint checkpoint;
    checkpoint.add(path);
    EXPECT_THAT(checkpoint.getProblems(), IsEmpty());
    return checkpoint.getFingerprint();
  };
  writeText(path, safetensors({{"a", "U8", {1}, {1}}}));
  std::string first = fingerprint();
  EXPECT_EQ(fingerprint(), first);
  EXPECT_EQ(first.size(), 64u);
  // Times of files are as fine as the kernel's clock.
  ::usleep(20000);
  writeText(path, safetensors({{"a", "U8", {1}, {2}}}));
  EXPECT_NE(fingerprint(), first);
}

// Whatever the header says, what is accepted lies inside the file.
TEST_F(CheckpointTest, MutatedHeadersNeverLeadOutside) {
  const std::string good =
      safetensors({{"first", "BF16", {4, 8}, randomBytes(64, 1)},
                   {"second", "F32", {2, 3}, randomBytes(24, 2)},
                   {"third", "F8_E4M3", {16}, randomBytes(16, 3)}});
  ASSERT_THAT(problemsOf(good), IsEmpty());
  std::mt19937 random(11);
  const std::string interesting[] = {"-1",
                                     "0",
                                     "1e9",
                                     "4294967296",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     "\"",
                                     ",",
                                     ":",
                                     "null",
                                     "\\u0",
                                     "\xff",
                                     "18446744073709551615",
                                     "9223372036854775808"};
  unsigned accepted = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (unsigned changes = random() % 3 + 1; changes-- > 0;) {
      size_t at = random() % std::min<size_t>(text.size(), 260);
      switch (random() % 5) {
      case 0:
        text[at] = char(random());
        break;
      case 1:
        text.erase(at, random() % 8);
        break;
      case 2:
        text.insert(at, interesting[random() % std::size(interesting)]);
        break;
      case 3:
        text.resize(random() % text.size() + 1);
        break;
      case 4:
        text[at] = char('0' + random() % 10);
        break;
      }
      if (text.size() < 16)
        break;
    }
    writeText(folder.file("m.safetensors"), text);
    Checkpoint checkpoint;
    checkpoint.add(folder.file("m.safetensors"));
    ++(checkpoint.getProblems().empty() ? accepted : refused);
    for (const std::string &problem : checkpoint.getProblems())
      EXPECT_THAT(problem, HasSubstr("m.safetensors"));
    for (const char *name : {"first", "second", "third"})
      if (const CheckpointTensor *tensor = checkpoint.find(name)) {
        ASSERT_LE(tensor->begin, text.size());
        ASSERT_LE(tensor->bytes, text.size() - tensor->begin);
        Bytes bytes(tensor->bytes);
        ASSERT_FALSE(bool(tensor->read(0, bytes)));
      }
  }
  // Both happen, so the test tests something.
  EXPECT_GT(accepted, 20u);
  EXPECT_GT(refused, 1000u);
}

} // namespace
