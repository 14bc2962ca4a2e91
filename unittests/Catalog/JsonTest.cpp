//===- JsonTest.cpp - Strict reading of JSON ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Json.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <random>

using namespace netra;
using testing::ElementsAre;
using testing::HasSubstr;

static std::string fault(llvm::StringRef text) {
  auto value = json::parse(text, "file.json");
  return value ? "" : llvm::toString(value.takeError());
}

TEST(Json, Strictness) {
  EXPECT_EQ(fault("{\"a\": [1, 2.5, \"x\", null, true]}"), "");
  EXPECT_THAT(fault(""), HasSubstr("file.json: expected JSON, found parse "
                                   "error at line 1, column 1"));
  EXPECT_THAT(fault("{\"a\": 1,}"), HasSubstr("line 1, column 9"));
  EXPECT_THAT(fault("// no\n1"), HasSubstr("expected JSON"));
  EXPECT_THAT(fault("1 2"), HasSubstr("expected JSON"));
  EXPECT_THAT(fault("\"\xff\""), HasSubstr("expected JSON"));
  EXPECT_THAT(fault("1e999"), HasSubstr("expected JSON"));
  EXPECT_THAT(fault("{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}"),
              HasSubstr("expected each key once, found \"a\" twice"));
  EXPECT_EQ(fault("[{\"a\": 1}, {\"a\": 2}]"), "");
  EXPECT_EQ(fault(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_THAT(fault(std::string(65, '[') + std::string(65, ']')),
              HasSubstr("at most 64 nested levels"));
  EXPECT_NE(fault(std::string(3000000, '[')), "");
  std::string deep;
  for (int i = 0; i < 200000; ++i)
    deep += "{\"a\":";
  EXPECT_NE(fault(deep), "");
}

TEST(Json, ReadersReportPointerExpectedAndFound) {
  auto value = llvm::cantFail(json::parse(
      R"({"a/b": "text", "n": -1, "list": [1], "u": 18446744073709551615})",
      "file.json"));
  json::Diagnostics diagnostics("file.json");
  json::ObjectReader object(json::Reader(value, "", diagnostics));
  EXPECT_EQ(object.required("a/b")->boolean(), std::nullopt);
  EXPECT_EQ(object.required("n")->unsignedInteger(), std::nullopt);
  EXPECT_EQ(object.required("list")->array(2, 2), std::nullopt);
  EXPECT_FALSE(object.required("missing"));
  object.finish();
  EXPECT_THAT(
      diagnostics.getLines(),
      ElementsAre("file.json: /a~1b: expected true or false, found the string "
                  "\"text\"",
                  "file.json: /n: expected an integer of at least 0, found the "
                  "number -1",
                  "file.json: /list: expected an array of 2, found an array of "
                  "1",
                  "file.json: /: expected the key \"missing\", found none",
                  "file.json: /u: expected only the keys \"a/b\", \"list\", "
                  "\"missing\", \"n\", found the unknown key \"u\""));
  json::Reader big(value["u"], "/u", diagnostics);
  EXPECT_EQ(big.integer(), std::nullopt);
  EXPECT_EQ(big.unsignedInteger(), UINT64_MAX);
}

namespace {
/// Values of all kinds, some of which only the slower of the two parsers reads.
json::Value randomValue(std::mt19937 &random, int depth) {
  switch (random() % (depth == 0 ? 7 : 9)) {
  case 0:
    return nullptr;
  case 1:
    return random() % 2 == 0;
  case 2:
    return uint64_t(random()) << (random() % 33);
  case 3:
    return -1 - int64_t(random() % 1000);
  case 4:
    return random() % 8 == 0 ? json::Value(random() / 7.0) : json::Value(0u);
  case 5:
    return random() % 8 == 0 ? "a\"\\\n\x7f" : "a~/b";
  case 6:
    return random() % 2 ? "\xc3\xa9\xf0\x9f\x98\x80" : "";
  case 7: {
    json::Value list = json::Value::array();
    for (int i = random() % 4; i > 0; --i)
      list.push_back(randomValue(random, depth - 1));
    return list;
  }
  default: {
    json::Value object = json::Value::object();
    for (int i = random() % 12; i > 0; --i)
      object["k" + std::to_string(random() % 20)] =
          randomValue(random, depth - 1);
    return object;
  }
  }
}

/// Kinds of numbers included, which are equal otherwise.
bool isSame(const json::Value &a, const json::Value &b) {
  if (a.type() != b.type() || a.size() != b.size() || a != b)
    return false;
  for (auto i = a.begin(), j = b.begin(); a.is_structured() && i != a.end();
       ++i, ++j)
    if (!isSame(*i, *j) || (a.is_object() && i.key() != j.key()))
      return false;
  return true;
}
} // namespace

TEST(Json, GivesWhatWasWritten) {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    json::Value value = randomValue(random, 4);
    std::string text = value.dump(int(random() % 4) - 1, "\t "[random() % 2]);
    auto read = json::parse(text, "f");
    ASSERT_TRUE(bool(read)) << text << llvm::toString(read.takeError());
    EXPECT_TRUE(isSame(*read, value)) << text;
    auto sorted = json::parseSorted(" " + text + "\r\n", "f");
    ASSERT_TRUE(bool(sorted)) << text;
    EXPECT_EQ(*sorted, nlohmann::json::parse(text));
    // A fault anywhere is found.
    std::string cut = text.substr(0, random() % text.size());
    EXPECT_EQ(fault(cut).empty(), json::Value::accept(cut)) << cut;
  }
  for (const char *number :
       {"9223372036854775807", "18446744073709551615", "-9223372036854775808",
        "999999999999999999", "-999999999999999999", "-0", "0", "-1", "1e2",
        "-0.0", "1.5E+3", "1e-06", "0.1", "2.2250738585072011e-308", "4.9e-324",
        "1.7976931348623157e308"}) {
    auto read = json::parse(number, "f");
    ASSERT_TRUE(bool(read)) << number;
    EXPECT_TRUE(isSame(*read, json::Value::parse(number))) << number;
  }
  for (const char *text : {"01",           "-",
                           "-01",          "1 2",
                           "[1 2]",        "[1,]",
                           "[,1]",         "{,}",
                           "{\"a\"}",      "{\"a\":1 \"b\":2}",
                           "tru",          "truefalse",
                           "[nulls]",      "\"a",
                           "\"\t\"",       "\"\xed\xa0\x80\"",
                           "\"\xc0\xaf\"", "\"\xf5\x80\x80\x80\"",
                           "[}",           "{]",
                           "1x",           "+1",
                           "\v1",          "{\"a\":1}}",
                           "{1:2}"})
    EXPECT_THAT(fault(text), HasSubstr("expected JSON, found")) << text;
}

TEST(Json, AnyBytesAreSurvived) {
  std::mt19937 random(5);
  const char alphabet[] = "{}[]\",:0123456789eE+-.truefalsn\\u \n\x80\xc3\xa9";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int j = random() % 40; j > 0; --j)
      text += alphabet[random() % (sizeof(alphabet) - 1)];
    bool isDouble = fault(text).find("twice") != std::string::npos;
    EXPECT_TRUE(isDouble || fault(text).empty() == json::Value::accept(text))
        << text;
  }
}

TEST(Json, BytesOfDamagedFilesAreShownEscaped) {
  for (auto [text, part] :
       {std::pair("{\"a\": \"\xff\x1b[31m\"}", "\\xff"),
        std::pair("{\"\\u001b[31m\": 1, \"\\u001b[31m\": 2}",
                  "found \"\\x1b[31m\" twice")}) {
    std::string message =
        llvm::toString(json::parse(text, "m.json").takeError());
    EXPECT_THAT(message, testing::HasSubstr(part));
    EXPECT_TRUE(llvm::all_of(message, [](char c) { return llvm::isPrint(c); }))
        << message;
  }
}
