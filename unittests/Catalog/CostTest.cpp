//===- CostTest.cpp - What operations move and compute --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each operation is computed as its definition says by numbers that count what
// is done with them; the formulas of Operations.cpp have to give the same.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Cost.h"
#include "Netra/Catalog/Operations.h"

#include "gtest/gtest.h"

#include <functional>

using namespace netra;

namespace {

//===----------------------------------------------------------------------===//
// Numbers that count
//===----------------------------------------------------------------------===//

uint64_t done;

struct Number {};
Number once() {
  ++done;
  return {};
}
Number operator+(Number, Number) { return once(); }
Number operator-(Number, Number) { return once(); }
Number operator*(Number, Number) { return once(); }
Number operator/(Number, Number) { return once(); }
Number &operator+=(Number &lhs, Number rhs) { return lhs = lhs + rhs; }
Number elementary(Number) { return once(); } // exp, sqrt, erf, tanh

Number activate(const std::string &name, Number x) {
  Number c;
  if (name == "silu")
    return x / (c + elementary(x));
  if (name == "sigmoid")
    return c / (c + elementary(x));
  if (name == "gelu_erf")
    return c * x * (c + elementary(x * c));
  if (name == "gelu_tanh")
    return c * x * (c + elementary(c * (x + c * x * x * x)));
  return x;
}

void times(int64_t count, const std::function<void()> &body) {
  for (int64_t i = 0; i < count; ++i)
    body();
}

/// Blocks of a row of `columns` results: amax / 448, and codes.
void quantize(int64_t columns) {
  Number x, scale;
  times(columns / 128, [&] {
    scale = x / Number();
    times(128, [&] { x = x / scale; });
  });
}

/// A dot product whose operands have `scales` block scales.
Number dot(int64_t k, int64_t scales) {
  Number sum, x, w, s;
  if (scales == 0) {
    times(k, [&] { sum += x * w; });
    return sum;
  }
  times(k / 128, [&] {
    Number block = x * w;
    times(127, [&] { block += x * w; });
    times(scales, [&] { block = s * block; });
    sum += block;
  });
  return sum;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

constexpr ElementType bf16 = ElementType::BF16, f32 = ElementType::F32,
                      f8 = ElementType::F8E4M3FN, i32 = ElementType::I32,
                      i64 = ElementType::I64;

struct Case {
  std::string name;
  Problem problem;
  std::function<void()> compute;
  uint64_t bytes;
};

OperandSpec tensor(const char *role, ElementType type,
                   std::vector<int64_t> shape) {
  return {role, type, std::move(shape), "row_major"};
}

Problem problemOf(const char *family, const char *operation,
                  std::map<std::string, int64_t> dimensions,
                  std::vector<OperandSpec> operands,
                  std::map<std::string, AttributeValue> attributes = {}) {
  Problem problem;
  problem.family = family;
  problem.operation = operation;
  problem.dimensions = std::move(dimensions);
  problem.operands = std::move(operands);
  problem.attributes = std::move(attributes);
  return problem;
}

const std::string block = "1x128:f32", square = "128x128:f32", sums = "f32";

std::vector<Case> products() {
  return {
      {"dense",
       problemOf("dense", "dense", {{"M", 3}, {"N", 8}, {"K", 16}},
                 {tensor("x", bf16, {3, 16}), tensor("weight", bf16, {8, 16}),
                  tensor("bias", bf16, {8}), tensor("residual", bf16, {3, 8}),
                  tensor("result", bf16, {3, 8})},
                 {{"epilogue", "silu"}, {"accumulation", sums}}),
       [] {
         times(3 * 8, [] {
           Number y = dot(16, 0) + Number();
           y = activate("silu", y) + Number();
         });
       },
       2 * (3 * 16 + 8 * 16 + 8 + 3 * 8 + 3 * 8)},
      {"dense of blocks, gated",
       problemOf("dense", "dense", {{"M", 2}, {"N", 256}, {"K", 384}},
                 {tensor("x", f8, {2, 384}), tensor("weight", f8, {256, 384}),
                  tensor("x_scale", f32, {2, 3}),
                  tensor("weight_scale", f32, {2, 3}),
                  tensor("result", bf16, {2, 128})},
                 {{"epilogue", "gated_gelu_tanh"},
                  {"accumulation", sums},
                  {"x_block_scale", block},
                  {"weight_block_scale", square}}),
       [] {
         times(2 * 128, [] {
           Number gate = dot(384, 2), up = dot(384, 2);
           (void)(activate("gelu_tanh", gate) * up);
         });
       },
       2 * 384 + 256 * 384 + 4 * 6 + 4 * 6 + 2 * 2 * 128},
      {"moe_gate_up",
       problemOf("moe", "gate_up",
                 {{"M", 2}, {"E", 4}, {"S", 3}, {"N", 256}, {"K", 128}},
                 {tensor("x", f8, {2, 128}), tensor("x_scale", f32, {2, 1}),
                  tensor("weight", f8, {4, 256, 128}),
                  tensor("weight_scale", f32, {4, 2, 1}),
                  tensor("expert_ids", i32, {2, 3}),
                  tensor("result", f32, {2, 3, 128})},
                 {{"activation", "silu"},
                  {"accumulation", sums},
                  {"x_block_scale", block},
                  {"weight_block_scale", square}}),
       [] {
         times(2 * 3 * 128, [] {
           Number gate = dot(128, 2), up = dot(128, 2);
           (void)(activate("silu", gate) * up);
         });
       },
       // Six slots may ask for all four experts.
       2 * 128 + 4 * 2 + 4 * 256 * 128 + 4 * 8 + 4 * 6 + 4 * 2 * 3 * 128},
      {"moe_gate_up without activation",
       problemOf("moe", "gate_up",
                 {{"M", 1}, {"E", 100}, {"S", 3}, {"N", 256}, {"K", 128}},
                 {tensor("x", f8, {1, 128}), tensor("x_scale", f32, {1, 1}),
                  tensor("weight", f8, {100, 256, 128}),
                  tensor("weight_scale", f32, {100, 2, 1}),
                  tensor("expert_ids", i32, {1, 3}),
                  tensor("result", f32, {1, 3, 256})},
                 {{"activation", "none"},
                  {"accumulation", sums},
                  {"x_block_scale", block},
                  {"weight_block_scale", square}}),
       [] { times(3 * 256, [] { dot(128, 2); }); },
       // Three slots ask for three of a hundred experts.
       128 + 4 + 3 * 256 * 128 + 4 * 3 * 2 + 4 * 3 + 4 * 3 * 256},
      {"moe_down_reduce",
       problemOf("moe", "down_reduce",
                 {{"M", 2}, {"E", 9}, {"S", 3}, {"N", 128}, {"K", 256}},
                 {tensor("x", bf16, {2, 3, 256}),
                  tensor("weight", f8, {9, 128, 256}),
                  tensor("weight_scale", f32, {9, 1, 2}),
                  tensor("expert_weights", f32, {2, 3}),
                  tensor("expert_ids", i32, {2, 3}),
                  tensor("residual", bf16, {2, 128}),
                  tensor("result", bf16, {2, 128})},
                 {{"accumulation", sums},
                  {"x_block_scale", block},
                  {"weight_block_scale", square}}),
       [] {
         times(2 * 128, [] {
           Number sum;
           times(3, [&] { sum += Number() * dot(256, 1); });
           sum += Number();
         });
       },
       2 * 2 * 3 * 256 + 6 * 128 * 256 + 4 * 6 * 2 + 4 * 6 + 4 * 6 +
           2 * 2 * 128 + 2 * 2 * 128},
  };
}

std::vector<Case> norms() {
  return {
      {"rms_norm",
       problemOf(
           "norm", "rms_norm", {{"M", 3}, {"N", 256}},
           {tensor("x", bf16, {3, 256}), tensor("weight", f32, {256}),
            tensor("residual", bf16, {3, 256}), tensor("result", f8, {3, 256}),
            tensor("result_scale", f32, {3, 2}), tensor("sum", bf16, {3, 256}),
            tensor("rounded", bf16, {3, 256})},
           {{"epsilon", 1e-6},
            {"weight_offset", 1.0},
            {"accumulation", sums},
            {"result_block_scale", block}}),
       [] {
         Number x, w;
         times(256, [&] { w = w + Number(); });
         times(3, [&] {
           times(256, [&] { x = x + Number(); });
           Number sum;
           times(256, [&] { sum += x * x; });
           Number r = Number() / elementary(sum / Number() + Number());
           times(256, [&] { x = x * r * w; });
           quantize(256);
         });
       },
       2 * 3 * 256 * 4 + 4 * 256 + 3 * 256 + 4 * 6},
      {"layer_norm",
       problemOf(
           "norm", "layer_norm", {{"M", 3}, {"N", 256}},
           {tensor("x", bf16, {3, 256}), tensor("weight", bf16, {256}),
            tensor("bias", bf16, {256}), tensor("result", bf16, {3, 256})},
           {{"epsilon", 1e-5}, {"weight_offset", 0.0}, {"accumulation", sums}}),
       [] {
         times(3, [] {
           Number x, w, b, sum, squares;
           times(256, [&] { sum += x; });
           Number mean = sum / Number();
           times(256, [&] { x = x - mean; });
           times(256, [&] { squares += x * x; });
           Number r = Number() / elementary(squares / Number() + Number());
           times(256, [&] { x = x * r * w + b; });
         });
       },
       2 * (3 * 256 * 2 + 256 * 2)},
      {"gated_rms_norm",
       problemOf("norm", "gated_rms_norm", {{"M", 2}, {"H", 4}, {"N", 128}},
                 {tensor("x", bf16, {2, 512}), tensor("gate", bf16, {2, 512}),
                  tensor("weight", bf16, {128}), tensor("result", f8, {2, 512}),
                  tensor("result_scale", f32, {2, 4})},
                 {{"epsilon", 1e-6},
                  {"weight_offset", 0.0},
                  {"activation", "silu"},
                  {"accumulation", sums},
                  {"result_block_scale", block}}),
       [] {
         times(2 * 4, [] {
           Number x, w, gate, sum;
           times(128, [&] { sum += x * x; });
           Number r = Number() / elementary(sum / Number() + Number());
           times(128, [&] { x = x * r * w * activate("silu", gate); });
           quantize(128);
         });
       },
       2 * (2 * 512 * 2 + 128) + 2 * 512 + 4 * 8},
  };
}

std::vector<Case> elements() {
  return {
      {"activation",
       problemOf("elementwise", "activation", {{"M", 2}, {"N", 5}},
                 {tensor("x", bf16, {2, 5}), tensor("result", bf16, {2, 5})},
                 {{"activation", "gelu_erf"}}),
       [] { times(10, [] { activate("gelu_erf", {}); }); }, 2 * 20},
      {"add",
       problemOf("elementwise", "add", {{"M", 2}, {"N", 5}},
                 {tensor("lhs", bf16, {2, 5}), tensor("rhs", bf16, {5}),
                  tensor("result", bf16, {2, 5})}),
       [] { times(10, [] { (void)(Number() + Number()); }); }, 2 * 25},
      {"mul",
       problemOf("elementwise", "mul", {{"M", 2}, {"N", 5}},
                 {tensor("lhs", bf16, {2, 5}), tensor("rhs", bf16, {2, 5}),
                  tensor("result", bf16, {2, 5})}),
       [] { times(10, [] { (void)(Number() * Number()); }); }, 2 * 30},
      {"gated",
       problemOf("activation", "gated", {{"M", 2}, {"N", 256}},
                 {tensor("packed", bf16, {2, 512}),
                  tensor("result", f8, {2, 256}),
                  tensor("result_scale", f32, {2, 2})},
                 {{"activation", "sigmoid"},
                  {"activation_rounding", "none"},
                  {"result_block_scale", block}}),
       [] {
         times(2, [] {
           times(256, [] { (void)(activate("sigmoid", {}) * Number()); });
           quantize(256);
         });
       },
       2 * 2 * 512 + 2 * 256 + 4 * 4},
      {"moe_activation",
       problemOf("moe", "activation", {{"M", 2}, {"S", 3}, {"N", 128}},
                 {tensor("x", f32, {2, 3, 256}),
                  tensor("result", f8, {2, 3, 128}),
                  tensor("result_scale", f32, {2, 3, 1})},
                 {{"activation", "silu"}, {"result_block_scale", block}}),
       [] {
         times(2 * 3, [] {
           times(128, [] { (void)(activate("silu", {}) * Number()); });
           quantize(128);
         });
       },
       4 * 6 * 256 + 6 * 128 + 4 * 6},
      {"quantize_blocks",
       problemOf("quantize", "quantize_blocks", {{"M", 3}, {"K", 256}},
                 {tensor("x", bf16, {3, 256}), tensor("result", f8, {3, 256}),
                  tensor("result_scale", f32, {3, 2})},
                 {{"result_block_scale", block}}),
       [] { times(3, [] { quantize(256); }); }, 2 * 768 + 768 + 4 * 6},
  };
}

std::vector<Case> choices() {
  return {
      {"embedding",
       problemOf("vocabulary", "embedding", {{"M", 3}, {"V", 1000}, {"N", 64}},
                 {tensor("ids", i32, {3}), tensor("table", bf16, {1000, 64}),
                  tensor("result", bf16, {3, 64})},
                 {{"scale", 8.0}}),
       [] { times(3 * 64, [] { (void)(Number() * Number()); }); },
       4 * 3 + 2 * 3 * 64 + 2 * 3 * 64},
      {"embedding without scale, of fewer rows than tokens",
       problemOf("vocabulary", "embedding", {{"M", 3}, {"V", 2}, {"N", 64}},
                 {tensor("ids", i32, {3}), tensor("table", bf16, {2, 64}),
                  tensor("result", bf16, {3, 64})},
                 {{"scale", 1.0}}),
       [] {}, 4 * 3 + 2 * 2 * 64 + 2 * 3 * 64},
      {"route",
       problemOf("router", "route",
                 {{"M", 2},
                  {"E", 16},
                  {"S", 4},
                  {"TOPK", 4},
                  {"GROUPS", 1},
                  {"TOPGROUPS", 1},
                  {"K", 0}},
                 {tensor("logits", bf16, {2, 16}),
                  tensor("expert_ids", i32, {2, 4}),
                  tensor("expert_weights", f32, {2, 4})},
                 {{"scoring", "softmax"},
                  {"normalize", "sum"},
                  {"shared_expert", "none"},
                  {"routed_scale", 1.0},
                  {"accumulation", sums}}),
       [] {
         times(2, [] {
           Number x, sum, total;
           times(16, [&] { x = elementary(x - Number()); });
           times(16, [&] { sum += x; });
           times(16, [&] { x = x / sum; });
           times(4, [&] { total += x; });
           times(4, [&] { x = x / total; });
         });
       },
       2 * 32 + 4 * 8 + 4 * 8},
      {"route with everything",
       problemOf("router", "route",
                 {{"M", 2},
                  {"E", 16},
                  {"S", 5},
                  {"TOPK", 4},
                  {"GROUPS", 4},
                  {"TOPGROUPS", 2},
                  {"K", 32}},
                 {tensor("x", bf16, {2, 32}), tensor("weight", bf16, {16, 32}),
                  tensor("shared_gate", bf16, {1, 32}),
                  tensor("correction_bias", f32, {16}),
                  tensor("expert_ids", i32, {2, 5}),
                  tensor("expert_weights", f32, {2, 5})},
                 {{"scoring", "sigmoid"},
                  {"normalize", "sum"},
                  {"shared_expert", "sigmoid"},
                  {"routed_scale", 2.5},
                  {"accumulation", sums}}),
       [] {
         times(2, [] {
           Number x, total;
           times(16, [&] { x = activate("sigmoid", dot(32, 0)) + Number(); });
           times(4, [&] { x = x + Number(); }); // the two best of each group
           times(4, [&] { total += x; });
           total += Number();
           times(4, [&] { x = x / total * Number(); });
           activate("sigmoid", dot(32, 0));
         });
       },
       2 * (64 + 16 * 32 + 32) + 4 * 16 + 4 * 10 + 4 * 10},
      {"sample",
       problemOf("vocabulary", "sample", {{"M", 2}, {"V", 100}},
                 {tensor("logits", bf16, {2, 100}),
                  tensor("temperature", f32, {2}), tensor("top_k", i32, {2}),
                  tensor("top_p", f32, {2}), tensor("seed", i64, {2}),
                  tensor("offset", i64, {2}), tensor("result", i32, {2})}),
       [] {
         times(2, [] {
           Number x, sum, kept, drawn;
           times(100, [&] { x = elementary(x / Number() - Number()); });
           times(100, [&] { sum += x; });
           times(100, [&] { x = x / sum; });
           times(100, [&] { kept += x; });
           kept = kept * Number(); // top_p
           Number u = x / Number();
           u = u * sum;
           times(100, [&] { drawn += x; });
         });
       },
       2 * 200 + 2 * (4 + 4 + 4 + 8 + 8 + 4)},
  };
}

/// Moves, comparisons and conversions compute nothing.
std::vector<Case> moves() {
  return {
      {"argmax",
       problemOf("vocabulary", "argmax", {{"M", 2}, {"V", 100}},
                 {tensor("logits", f32, {2, 100}), tensor("result", i32, {2})}),
       [] {}, 4 * 202},
      {"cast",
       problemOf("elementwise", "cast", {{"M", 2}, {"N", 8}},
                 {tensor("x", bf16, {2, 8}), tensor("result", f32, {2, 8})}),
       [] {}, 16 * 6},
      {"layout_convert",
       problemOf("layout", "layout_convert", {{"B", 1}, {"M", 2}, {"N", 8}},
                 {tensor("x", f32, {2, 8}), tensor("result", f32, {2, 8})}),
       [] {}, 16 * 8},
      {"transpose",
       problemOf("layout", "transpose", {{"M", 2}, {"N", 8}},
                 {tensor("x", f32, {2, 8}), tensor("result", f32, {8, 2})},
                 {{"permutation", "1,0"}}),
       [] {}, 16 * 8},
  };
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (auto *group : {products, norms, elements, choices, moves})
    for (Case &entry : group())
      cases.push_back(std::move(entry));
  return cases;
}

} // namespace

TEST(Cost, CountsWhatDefinitionsDo) {
  std::set<std::string> seen;
  for (const Case &entry : allCases()) {
    EXPECT_EQ(verifyOperation(entry.problem), std::vector<std::string>())
        << entry.name;
    done = 0;
    entry.compute();
    EXPECT_EQ(countFlop(entry.problem), done) << entry.name;
    EXPECT_EQ(countBytes(entry.problem), entry.bytes) << entry.name;
    seen.insert(entry.problem.family + "." + entry.problem.operation);
  }
  for (const OperationDefinition &definition : allOperations())
    EXPECT_TRUE(seen.count(definition.family + "." + definition.operation))
        << definition.name << " has no case";
}

namespace {
Problem denseOf(int64_t m, int64_t n, int64_t k, ElementType x,
                ElementType weight) {
  return problemOf("dense", "dense", {{"M", m}, {"N", n}, {"K", k}},
                   {tensor("x", x, {m, k}), tensor("weight", weight, {n, k}),
                    tensor("result", bf16, {m, n})},
                   {{"epilogue", "none"}, {"accumulation", sums}});
}
} // namespace

/// 2.3 and 4.6 PFLOP/s of matrices, 144 TFLOP/s of vectors, 8 TB/s.
TEST(Cost, TimeIsThatOfTheSlowerSide) {
  const TargetInfo &target = *findTarget("gfx950");
  // 2 * 4096^3 = 137,438,953,472 FLOP; 3 * 2 * 4096^2 = 100,663,296 bytes.
  Cost large = estimateCost(denseOf(4096, 4096, 4096, bf16, bf16), target);
  EXPECT_EQ(large.flop, 137438953472u);
  EXPECT_EQ(large.bytes, 100663296u);
  EXPECT_FALSE(large.isBoundByMemory);
  EXPECT_EQ(large.picoseconds, 59756066u); // 59.756 us; bytes take 12.583
  EXPECT_EQ(toString(large),
            "100663296 bytes, 137438953472 FLOP: 59.756066 us, "
            "bound by arithmetic");
  // The units for FP8 are twice as fast, where both factors are FP8.
  EXPECT_EQ(estimateCost(denseOf(4096, 4096, 4096, f8, f8), target).picoseconds,
            29878033u);
  EXPECT_EQ(
      estimateCost(denseOf(4096, 4096, 4096, bf16, f8), target).picoseconds,
      59756066u);
  EXPECT_EQ(
      estimateCost(denseOf(4096, 4096, 4096, f32, f32), target).picoseconds,
      954437176u);
  // A row reads the weight: 2 * (4096 + 4096 * 4096 + 4096) = 33,570,816.
  Cost row = estimateCost(denseOf(1, 4096, 4096, bf16, bf16), target);
  EXPECT_TRUE(row.isBoundByMemory);
  EXPECT_EQ(toString(row),
            "33570816 bytes, 33554432 FLOP: 4.196352 us, bound by "
            "memory");
  // A tactic that reads it twice.
  Cost twice =
      estimateCost(denseOf(1, 4096, 4096, bf16, bf16), target, 67141632);
  EXPECT_EQ(twice.flop, row.flop);
  EXPECT_EQ(twice.picoseconds, 8392704u);
  // Vectors: 9,000,000 FLOP in 0.0625 us, 2,000,000 bytes in 0.25.
  Problem wide = problemOf(
      "elementwise", "activation", {{"M", 1000}, {"N", 1000}},
      {tensor("x", f8, {1000, 1000}), tensor("result", f8, {1000, 1000})},
      {{"activation", "gelu_tanh"}});
  EXPECT_EQ(estimateCost(wide, target).picoseconds, 250000u);
}

TEST(Cost, NothingOverflows) {
  const TargetInfo &target = *findTarget("gfx950");
  int64_t huge = int64_t(1) << 40;
  Cost cost = estimateCost(denseOf(huge, huge, huge, bf16, bf16), target);
  EXPECT_EQ(cost.flop, UINT64_MAX);
  EXPECT_EQ(cost.bytes, UINT64_MAX);
  EXPECT_EQ(cost.picoseconds, 2305843009213693951u);
  EXPECT_EQ(spellTime(999), "0.000999 us");
  EXPECT_EQ(spellTime(12345678), "12.345678 us");
}
