//===- CoverageTests.cpp - Problems that must have a tactic ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The feed-forward half of a layer, for decoding and verification: every
// combination of sizes, forms and layouts that is promised is selected for.
// What is not promised is at the end, by name, so that a change of either is
// noticed.
//
//===----------------------------------------------------------------------===//

#include "DenseCases.h"
#include "MoeCases.h"
#include "NormProblems.h"
#include "RouterProblems.h"
#include "VocabularyProblems.h"

#include "llvm/ADT/StringExtras.h"

using namespace kernels;

namespace {

bool hasTactic(const netra::Problem &problem) {
  return catalog().select(problem).winner.has_value();
}

std::string nameOf(const netra::Problem &problem) {
  std::string text = problem.operation;
  for (const netra::OperandSpec &operand : problem.operands) {
    text += " " + operand.role + " " + operand.layout;
    for (int64_t extent : operand.shape)
      text += "x" + std::to_string(extent);
  }
  for (const auto &[name, value] : problem.attributes)
    if (const std::string *choice = std::get_if<std::string>(&value))
      text += " " + name + "=" + *choice;
  return text;
}

/// Collects what has no tactic; at the end there must be nothing.
struct Missing {
  unsigned asked = 0, missing = 0;
  std::string first;

  void ask(const netra::Problem &problem) {
    ++asked;
    if (hasTactic(problem))
      return;
    if (missing++ < 5)
      first += "\n" + nameOf(problem);
  }
  ~Missing() {
    EXPECT_GT(asked, 0u);
    EXPECT_EQ(missing, 0u) << "of " << asked << " have no tactic:" << first;
  }
};

// Rows that have a kernel of their own somewhere, their neighbours, and many.
const int64_t anyRows[] = {1, 2, 3, 16, 17, 64, 1000, 8192};

std::vector<int64_t> widths() {
  std::vector<int64_t> all{128};
  for (int64_t n = 1024; n <= 8192; n += 256)
    all.push_back(n);
  all.push_back(17408);
  return all;
}

TEST(Coverage, RoutedExperts) {
  Missing missing;
  for (int64_t m = 1; m <= 32; ++m) {
    for (const char *activation : {"none", "silu", "gelu_tanh"})
      for (bool groupMajor : {false, true})
        missing.ask(gateUpProblem(
            {m, 257, 9, 1024, 2048, activation, false, false, groupMajor}));
    for (const char *activation : {"silu", "gelu_erf", "gelu_tanh"})
      for (bool groupMajor : {false, true})
        missing.ask(moeActivationProblem(m, 9, 512, activation, groupMajor));
    for (bool bf16 : {false, true})
      for (bool residual : {false, true})
        for (bool groupMajor : {false, true})
          if (!(bf16 && groupMajor)) // bf16 has no scales
            missing.ask(downReduceProblem(
                {m, 257, 9, 2048, 512, "none", bf16, residual, groupMajor}));
  }
}

TEST(Coverage, Router) {
  Missing missing;
  for (int64_t m = 1; m <= 64; ++m) {
    missing.ask(denseBf16Problem(m, 256, 2048));
    for (bool projected : {false, true})
      for (const char *shared : {"none", "one", "sigmoid"}) {
        RouteSpec spec{.m = m, .k = 2048, .projected = projected};
        spec.shared = shared;
        if (!projected && spec.shared != "sigmoid")
          spec.k = 0;
        missing.ask(spec.problem());
        spec.groups = 8;
        spec.topGroups = 4;
        missing.ask(spec.problem());
        spec.sigmoid = true;
        for (bool bias : {false, true})
          for (int64_t groups : {1, 8}) {
            spec.bias = bias;
            spec.groups = groups;
            spec.topGroups = groups > 1 ? groups / 2 : 1;
            missing.ask(spec.problem());
          }
      }
  }
}

/// Alone; quantized, with either order of the scales.
std::vector<NormForm> quantizedForms(const NormForm &form) {
  std::vector<NormForm> all(3, form);
  all[1].quantized = all[2].quantized = all[2].groupMajor = true;
  return all;
}

TEST(Coverage, Norms) {
  Missing missing;
  for (int64_t n : widths())
    for (int64_t m : anyRows)
      for (bool residual : {false, true})
        for (bool weightF32 : {false, true})
          for (NormForm form :
               quantizedForms({.residual = residual, .weightF32 = weightF32}))
            for (double offset : {0.0, 1.0}) {
              netra::Problem rms = withForm(
                  rmsNormProblem(m, n, residual, form.quantized, 1e-6, offset),
                  form);
              missing.ask(rms);
              for (bool bias : {false, true}) {
                form.bias = bias;
                netra::Problem layer =
                    withForm(rmsNormProblem(m, n, residual, form.quantized,
                                            1e-6, offset),
                             form);
                layer.operation = "layer_norm";
                missing.ask(layer);
              }
              form.bias = false;
            }
}

TEST(Coverage, NormsOfHeads) {
  Missing missing;
  for (int64_t n : widths())
    for (int64_t heads : {1, 16, 32, 48})
      for (int64_t m : anyRows)
        for (bool weightF32 : {false, true})
          for (const NormForm &form : quantizedForms({.weightF32 = weightF32}))
            for (const char *activation : {"silu", "sigmoid"})
              for (double offset : {0.0, 1.0})
                missing.ask(
                    gatedRmsNormProblem(m, heads, n, form, offset, activation));
}

/// Each member of the table, at one row count, is one verified tactic's and no
/// other's but a contract's.
TEST(Coverage, NormsHaveOneTacticEach) {
  for (int64_t n : widths())
    for (bool weightF32 : {false, true})
      for (NormForm form : quantizedForms({.weightF32 = weightF32}))
        for (bool rounded : {false, true}) {
          if (rounded && !form.quantized)
            continue;
          form.rounded = rounded;
          std::vector<netra::Problem> problems = {
              gatedRmsNormProblem(4, 16, n, form)};
          for (bool residual : {false, true})
            for (const char *operation : {"rms_norm", "layer_norm"}) {
              form.residual = residual;
              problems.push_back(withForm(
                  rmsNormProblem(4, n, residual, form.quantized), form));
              problems.back().operation = operation;
            }
          for (const netra::Problem &problem : problems) {
            netra::Selection selection = catalog().select(problem);
            ASSERT_TRUE(selection.winner.has_value())
                << nameOf(problem) << ": " << selection.reason;
            const netra::Tactic &tactic = *selection.winner->tactic;
            EXPECT_GE(tactic.maturity, netra::Maturity::Verified)
                << tactic.name;
            EXPECT_EQ(llvm::StringRef(tactic.name).contains("_quantized"),
                      form.quantized)
                << nameOf(problem) << ": " << tactic.name;
            EXPECT_EQ(llvm::StringRef(tactic.name).contains("_group_major"),
                      form.groupMajor)
                << nameOf(problem) << ": " << tactic.name;
            EXPECT_TRUE(selection.runnersUp.empty()) << nameOf(problem);
          }
        }
}

TEST(Coverage, Activations) {
  Missing missing;
  for (int64_t n = 128; n <= 17408; n += 128)
    for (int64_t m : {1, 17, 8192})
      for (const char *activation : {"silu", "gelu_erf", "gelu_tanh"})
        for (bool packed : {false, true}) {
          missing.ask(gatedProblem(m, n, activation, packed, false));
          for (bool groupMajor : {false, true})
            missing.ask(gatedProblem(m, n, activation, packed, true, "none",
                                     groupMajor));
        }
}

TEST(Coverage, Dense) {
  Missing missing;
  for (const DenseShape &shape : denseShapes)
    for (int64_t m : {1, 2, 4, 8, 12, 16, 32})
      for (const char *epilogue : denseEpilogues)
        for (unsigned with = 0; with != 4; ++with)
          for (bool groupMajor : {false, true}) {
            if (groupMajor && !shape.fp8)
              continue;
            missing.ask(DenseCase{.m = m,
                                  .n = shape.n,
                                  .k = shape.k,
                                  .epilogue = epilogue,
                                  .bias = (with & 1) != 0,
                                  .residual = (with & 2) != 0,
                                  .groupMajor = groupMajor}
                            .problem(shape.fp8));
          }
}

TEST(Coverage, DenseWithF32) {
  Missing missing;
  for (const DenseShape &shape : denseShapes)
    for (int64_t m : {1, 2, 16, 32})
      for (DenseCase &c : f32Cases({m}, shape.n, shape.k))
        for (bool groupMajor : {false, true}) {
          c.groupMajor = groupMajor;
          if (!groupMajor || shape.fp8)
            missing.ask(c.problem(shape.fp8));
        }
}

TEST(Coverage, Vocabulary) {
  Missing missing;
  for (int64_t m : anyRows) {
    for (int64_t n : {2048, 5120})
      for (double scale : {1.0, 45.25})
        missing.ask(embeddingProblem(m, 248320, n, scale));
    for (bool f32 : {false, true}) {
      for (bool value : {false, true})
        missing.ask(argmaxProblem(m, 248320, f32, value));
      missing.ask(sampleProblem(m, 248320, f32));
    }
  }
}

// Widths of heads and rows are 128 or multiples of 256; more than 32 rows are
// not decoding; with an f32 result, residual and bias are f32, and with a bf16
// one the residual is bf16.
TEST(Coverage, WhatHasNoTactic) {
  EXPECT_FALSE(hasTactic(gatedRmsNormProblem(1, 1, 1152, {})));
  for (int64_t m : {1, 4})
    for (const char *role : {"bias", "residual", "result"}) {
      netra::Problem mixed =
          denseBf16Problem(m, 2048, 2048, "none", true, true);
      if (llvm::StringRef(role) == "bias") // the others
        mixed =
            DenseCase{
                .m = m, .n = 2048, .k = 2048, .bias = true, .resultF32 = true}
                .bf16Problem();
      for (netra::OperandSpec &operand : mixed.operands)
        if (operand.role == role)
          operand.type = operand.type == netra::ElementType::F32
                             ? netra::ElementType::BF16
                             : netra::ElementType::F32;
      EXPECT_FALSE(hasTactic(mixed)) << role;
    }
  EXPECT_FALSE(hasTactic(rmsNormProblem(1, 1152, false, false)));
  EXPECT_FALSE(hasTactic(denseFp8Problem(33, 2048, 2048)));
  EXPECT_FALSE(hasTactic(denseBf16Problem(33, 2048, 2048)));
  EXPECT_FALSE(hasTactic(gateUpProblem({33, 257, 9, 1024, 2048})));
}

} // namespace
