//===- JsonTest.cpp - Strict reading of JSON ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Json.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

TEST(Json, AnyBytesAreSurvived) {
  std::mt19937 random(5);
  const char alphabet[] = "{}[]\",:0123456789eE+-.truefalsn\\u \n\x80\xc3\xa9";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int j = random() % 40; j > 0; --j)
      text += alphabet[random() % (sizeof(alphabet) - 1)];
    fault(text);
  }
}
