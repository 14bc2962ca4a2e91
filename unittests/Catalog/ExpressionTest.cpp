//===- ExpressionTest.cpp - Expressions of manifests ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Expression.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace netra;
using testing::ElementsAre;
using testing::HasSubstr;

static const std::map<std::string, int64_t> variables = {
    {"M", 3}, {"N", 5632}, {"K", 2048}, {"BIG", INT64_MAX}, {"LOW", INT64_MIN}};

static int64_t value(llvm::StringRef text) {
  auto expression = Expression::parse(text);
  if (!expression) {
    ADD_FAILURE() << llvm::toString(expression.takeError());
    return INT64_MIN;
  }
  auto result = expression->evaluate(variables);
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return INT64_MIN;
  }
  return *result;
}

static std::string fault(llvm::StringRef text) {
  auto expression = Expression::parse(text);
  if (!expression)
    return llvm::toString(expression.takeError());
  auto result = expression->evaluate(variables);
  if (!result)
    return llvm::toString(result.takeError());
  ADD_FAILURE() << text.str() << " gives " << *result;
  return "";
}

TEST(Expression, Values) {
  EXPECT_EQ(value("7"), 7);
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("64 / 4 / 2"), 8);
  EXPECT_EQ(value("-3 * -4"), 12);
  EXPECT_EQ(value("-K + K"), 0);
  EXPECT_EQ(value("N / 8"), 704);
  EXPECT_EQ(value("ceildiv(N, 1000)"), 6);
  EXPECT_EQ(value("floordiv(N, 1000)"), 5);
  EXPECT_EQ(value("floordiv(-7, 2)"), -4);
  EXPECT_EQ(value("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(value("-7 % 2"), 1);
  EXPECT_EQ(value("min(M, 2) + max(M, 2)"), 5);
  EXPECT_EQ(value("K % 512 == 0"), 1);
  EXPECT_EQ(value("1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 3"), 0);
  EXPECT_EQ(value("1 != 1 || 2 == 2"), 1);
  EXPECT_EQ(value("!0 + !5"), 1);
  EXPECT_EQ(value("1+2<4"), 1);
}

TEST(Expression, LogicDoesNotEvaluateWhatCannotMatter) {
  EXPECT_EQ(value("0 && 1 / 0"), 0);
  EXPECT_EQ(value("1 || 1 / 0"), 1);
  EXPECT_THAT(fault("1 && 1 / 0"), HasSubstr("division of 1 by 0"));
}

TEST(Expression, Identifiers) {
  auto expression =
      llvm::cantFail(Expression::parse("K * min(N, ceildiv(K, 4)) + _a1"));
  EXPECT_THAT(expression.identifiers(), ElementsAre("K", "N", "_a1"));
  EXPECT_EQ(expression.text(), "K * min(N, ceildiv(K, 4)) + _a1");
  EXPECT_EQ(Expression::constant(-5).text(), "-5");
}

TEST(Expression, ParseErrorsGiveTheColumn) {
  EXPECT_THAT(fault(""), HasSubstr("column 1: expected a number"));
  EXPECT_THAT(fault("1 +"), HasSubstr("column 4: expected a number"));
  EXPECT_THAT(fault("1 2"), HasSubstr("column 3: expected an operator"));
  EXPECT_THAT(fault("(1"), HasSubstr("column 3: expected ')'"));
  EXPECT_THAT(fault("min(1)"), HasSubstr("expected ',' and a second argument"));
  EXPECT_THAT(fault("min 1"), HasSubstr("expected '(' after min"));
  EXPECT_THAT(fault("max(1, 2, 3)"), HasSubstr("expected ')' after two"));
  EXPECT_THAT(fault("99999999999999999999"), HasSubstr("below 2^63"));
  EXPECT_THAT(fault("12ab"), HasSubstr("expected a decimal number"));
  EXPECT_THAT(fault("1.5"), HasSubstr("found '.'"));
  EXPECT_THAT(fault("1 & 2"), HasSubstr("found '&'"));
  EXPECT_THAT(fault(std::string(200, '(')), HasSubstr("nested levels"));
  EXPECT_THAT(fault(std::string(200, '-').append(1, '1')),
              HasSubstr("nested levels"));
  EXPECT_THAT(fault(std::string(5000, '1')), HasSubstr("at most 4096"));
}

TEST(Expression, EvaluationErrorsGiveTheColumn) {
  EXPECT_THAT(fault("K + P"), HasSubstr("column 5: unknown name 'P'"));
  EXPECT_THAT(fault("7 / 2"),
              HasSubstr("column 3: 7 / 2 is not exact (remainder 1)"));
  EXPECT_THAT(fault("K / 0"), HasSubstr("by 0"));
  EXPECT_THAT(fault("K % 0"), HasSubstr("positive divisor"));
  EXPECT_THAT(fault("ceildiv(K, -1)"), HasSubstr("positive divisor"));
  for (const char *text : {"BIG + 1", "LOW - 1", "BIG * 2", "-LOW", "LOW / -1"})
    EXPECT_THAT(fault(text), HasSubstr("does not fit 64 bits")) << text;
  EXPECT_EQ(value("floordiv(LOW, 1) == LOW"), 1);
}

TEST(Expression, AnyTextIsSurvived) {
  std::mt19937 random(7);
  const char alphabet[] = "01 9KNM()+-*/%<>=!&|,minmaxceildv_\t\x80\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int j = random() % 24; j > 0; --j)
      text += alphabet[random() % (sizeof(alphabet) - 1)];
    auto expression = Expression::parse(text);
    if (!expression) {
      llvm::consumeError(expression.takeError());
      continue;
    }
    llvm::consumeError(expression->evaluate(variables).takeError());
  }
}
