//===- MoeCounterTests.cpp - What products of experts must not exceed -----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Counters do not know which loads are of weights. So each kernel runs a second
// time without those loads, and the differences are what the weights cost; the
// values are of no interest there, and no instruction depends on them.
//
//===----------------------------------------------------------------------===//

#include "MoeCases.h"

using namespace kernels;
using netra::sim::Counters;

namespace {

enum class Routing {
  Random,
  One, ///< every token has the experts of the first
  /// Of the grouped down kernel, the wave that has the shared expert has units
  /// of two rows of as many others as it has rows.
  Crowded
};

/// A tactic, its problem, the loop it is held against and the most vector
/// instructions relative to that.
struct Subject {
  std::string tactic, plain;
  MoeShape shape;
  double mostInstructions;
  Routing routing = Routing::Random;

  bool isDown() const { return llvm::StringRef(tactic).contains("down"); }
  bool isGrouped() const { return llvm::StringRef(tactic).contains("grouped"); }
  netra::Problem problem(const MoeShape &c) const {
    return isDown() ? downReduceProblem(c) : gateUpProblem(c);
  }
  Buffers inputs() const {
    return isDown() ? DownInputs(shape, 31, ids()).buffers(shape)
                    : GateUpInputs(shape, 31, ids()).buffers(shape.groupMajor);
  }
  /// None: routed at random.
  std::vector<int32_t> ids() const {
    std::vector<int32_t> all(routing == Routing::Random ? 0
                                                        : shape.m * shape.s);
    for (size_t row = 0; row < all.size(); ++row) {
      if (routing == Routing::One)
        all[row] = int32_t(row % shape.s * 7 % shape.e);
      else if (row % shape.s == size_t(shape.s) - 1)
        all[row] = int32_t(shape.e) - 1;
      // Rows of the first of eight waves, and the next token's at that slot.
      else if (row >= size_t(shape.s) && firstWaveHas(row - shape.s))
        all[row] = all[row - shape.s];
      else
        all[row] = int32_t(row);
    }
    return all;
  }
  static bool firstWaveHas(size_t row) {
    return row % 64 % 8 == row / 64 * 5 % 8;
  }
  /// Serial round trips of a wave once it has the ids. A compute unit's
  /// registers do not hold half of the weights of more than 20 tokens (with
  /// bf16 activations, 24), nor its LDS the codes of more than 26 at a time.
  unsigned roundTrips() const {
    if (!isDown())
      return shape.m > 16 ? 4 : 2; // two for each sixteen rows of an expert
    if (shape.m <= (shape.bf16 ? 24 : 20))
      return 2;
    return shape.bf16 && shape.m > 26 ? 5 : 3;
  }
  /// What asks for weights, to be left out.
  std::vector<Mutation> withoutWeights() const {
    if (isDown() && isGrouped())
      return {{"moe/down_reduce_grouped.s", "global_load_dwordx4 v[dg_w",
               "// global_load_dwordx4 v[dg_w", 0}};
    return {{"include/moe.inc", "global_load_dwordx4 \\file",
             "// global_load_dwordx4 \\file", 0}};
  }
};

Counters measure(const Subject &subject, const std::string &tactic,
                 const MoeShape &shape,
                 const std::vector<Mutation> &mutations) {
  return countersOf(tactic, subject.problem(shape), subject.inputs(),
                    mutations);
}

/// Private memory of a work-item, in bytes.
uint64_t scratchOf(const Subject &subject,
                   const std::vector<Mutation> &mutations) {
  llvm::Expected<Kernel> kernel =
      build(subject.tactic, subject.problem(subject.shape), {}, mutations);
  if (kernel)
    return kernel->object->kernels()[0].privateSegment;
  ADD_FAILURE() << llvm::toString(kernel.takeError());
  return 0;
}

/// The requirements that a tactic, or a changed one, does not meet.
std::string violations(const Subject &subject,
                       const std::vector<Mutation> &changes = {}) {
  std::vector<Mutation> both = changes;
  for (const Mutation &mutation : subject.withoutWeights())
    both.push_back(mutation);
  Counters n = measure(subject, subject.tactic, subject.shape, changes);
  Counters without = measure(subject, subject.tactic, subject.shape, both);
  std::string text;
  auto require = [&](bool met, const char *what, double found) {
    if (!met)
      text += std::string(what) + ": " + std::to_string(found) + "\n";
  };
  double requested = n.globalLoadBytes - without.globalLoadBytes;
  double distinct = n.globalDistinctReadBytes - without.globalDistinctReadBytes;
  require(distinct > 0 && requested <= 1.02 * distinct, "requested / distinct",
          requested / distinct);
  // A segment that is not used whole lacks 16 bytes at least, an eighth.
  double use = requested / (128.0 * (n.segments128 - without.segments128));
  require(1 - 8 * (1 - use) >= 0.95 && use <= 1, "whole segments",
          1 - 8 * (1 - use));
  // Arguments, then ids: what they cost comes before.
  require(n.maxRoundTrips <= 2 + subject.roundTrips(), "round trips",
          n.maxRoundTrips - 2.0);
  // Where vectors have the ids, the first wait is for those, and the most that
  // is in flight at a wait is what was asked for when they were known. Waves of
  // an expert that nobody chose end there and leave their place to others.
  uint64_t inFlight = n.firstWaitBytesPerCu;
  if (subject.isGrouped())
    inFlight = subject.isDown() ? n.bytesInFlightPerCu
                                : n.maxBytesInFlight * n.workgroupsPerCu *
                                      n.wavesPerWorkgroup;
  require(inFlight >= 64 * 1024, "in flight", inFlight);
  require(n.ldsConflictCycles * 50 <= n.ldsAccesses, "conflicts",
          double(n.ldsConflictCycles) / std::max<double>(n.ldsAccesses, 1));
  uint64_t scratch = scratchOf(subject, changes);
  require(scratch == 0, "scratch", scratch);
  // The loops that are compared store sums and take scales row after row.
  MoeShape sums = subject.shape;
  sums.activation = "none";
  sums.groupMajor = false;
  Counters plain = measure(subject, subject.plain, sums, {});
  double share = double(vectorInstructions(n)) / vectorInstructions(plain);
  testing::Test::RecordProperty("share", std::to_string(share));
  testing::Test::RecordProperty("requested",
                                std::to_string(requested / distinct));
  testing::Test::RecordProperty("round_trips",
                                std::to_string(n.maxRoundTrips - 2));
  require(share <= subject.mostInstructions, "vector instructions", share);
  return text;
}

class MoeCounters : public testing::TestWithParam<Subject> {};

TEST_P(MoeCounters, AreWithinWhatIsRequired) {
  EXPECT_EQ(violations(GetParam()), "") << GetParam().shape;
}

std::vector<Subject> subjects() {
  const std::string up = "gfx950.moe_gate_up", down = "gfx950.moe_down_reduce";
  const double ofUp = 0.6, ofDown = 0.5;
  std::vector<Subject> all = {
      {up, up + "_plain", {1, 20, 9, 256, 2048}, ofUp},
      {up + "_activated", up + "_plain", {1, 20, 9, 256, 2048, "silu"}, ofUp},
      {down, down + "_plain", {1, 20, 9, 256, 512}, ofDown},
      {down + "_bf16",
       down + "_bf16_plain",
       {1, 20, 9, 256, 512, "none", true},
       ofDown},
      {down + "_group_major",
       down + "_plain",
       {1, 20, 9, 256, 512, "none", false, false, true},
       ofDown},
  };
  auto groupedUp = [&](int64_t m, int64_t e) {
    all.push_back({up + "_grouped", up + "_plain", {m, e, 9, 128, 2048}, ofUp});
  };
  auto groupedDown = [&](int64_t m, int64_t e) {
    all.push_back(
        {down + "_grouped", down + "_plain", {m, e, 9, 128, 512}, ofDown});
    all.push_back({down + "_grouped_bf16",
                   down + "_bf16_plain",
                   {m, e, 9, 128, 512, "none", true},
                   ofDown});
    all.push_back({down + "_grouped_group_major",
                   down + "_plain",
                   {m, e, 9, 128, 512, "none", false, false, true},
                   ofDown});
  };
  groupedUp(8, 33);
  all.push_back({up + "_grouped_activated",
                 up + "_plain",
                 {16, 33, 9, 256, 2048, "silu"},
                 ofUp});
  groupedDown(16, 60);
  // As routed in a real layer: most experts that somebody chose have a row or
  // two. With 32 tokens, the shared one has as many rows as there are bits.
  for (int64_t m : {2, 4, 8, 12, 16, 17, 20, 24, 26, 32}) {
    groupedUp(m, 257);
    groupedDown(m, 257);
  }
  for (int64_t m : {13, 14, 15})
    groupedDown(m, 257);
  auto route = [&](size_t first, Routing routing) {
    for (size_t i = first; i != all.size(); ++i)
      all[i].routing = routing;
  };
  size_t first = all.size();
  groupedDown(16, 257);
  route(first, Routing::Crowded);
  for (int64_t m : {2, 16, 24, 32})
    for (const char *activation : {"none", "silu"})
      for (bool groupMajor : {false, true}) {
        bool activated = activation != std::string("none");
        if (!activated && !groupMajor)
          continue; // above
        all.push_back(
            {up + "_grouped" + (activated ? "_activated" : "") +
                 (groupMajor ? "_group_major" : ""),
             up + "_plain",
             {m, 257, 9, 256, 2048, activation, false, false, groupMajor},
             ofUp});
      }
  // Every token to the same experts: as many rows of an expert as there can be.
  // Of more than 16 tokens, down asks for weights more than once.
  first = all.size();
  for (int64_t m : {12, 16, 17, 24, 32}) {
    groupedUp(m, 64);
    all.push_back({up + "_grouped_activated",
                   up + "_plain",
                   {m, 64, 9, 256, 2048, "silu"},
                   ofUp});
  }
  for (int64_t m : {2, 8, 9, 12, 13, 14, 15, 16})
    groupedDown(m, 64);
  route(first, Routing::One);
  return all;
}

std::string nameOf(const testing::TestParamInfo<Subject> &info) {
  const Subject &subject = info.param;
  return llvm::StringRef(subject.tactic).split('.').second.str() + "_m" +
         std::to_string(subject.shape.m) + "_e" +
         std::to_string(subject.shape.e) +
         (subject.routing == Routing::One       ? "_one_routing"
          : subject.routing == Routing::Crowded ? "_crowded"
                                                : "");
}
INSTANTIATE_TEST_SUITE_P(Sizes, MoeCounters, testing::ValuesIn(subjects()),
                         nameOf);

/// One K block at a time, which no model has, and few tokens: eight columns, as
/// a row of codes is then what half of the banks hold.
TEST(MoeDownConflicts, OneBlockAtATime) {
  for (bool bf16 : {false, true})
    for (int64_t m : {2, 8, 16, 32})
      for (int64_t k : {128, 384}) {
        Subject subject{std::string("gfx950.moe_down_reduce_grouped") +
                            (bf16 ? "_bf16" : ""),
                        "",
                        {m, 65, 9, 128, k, "none", bf16},
                        0};
        Counters n = measure(subject, subject.tactic, subject.shape, {});
        EXPECT_GT(n.ldsAccesses, 0u);
        EXPECT_LE(n.ldsConflictCycles * 50, n.ldsAccesses) << subject.shape;
      }
}

/// One kernel that breaks each requirement.
TEST(MoeCountersNegative, ABrokenRequirementIsNamed) {
  const Subject up = {"gfx950.moe_gate_up_activated",
                      "gfx950.moe_gate_up_plain",
                      {1, 5, 2, 256, 2048, "silu"},
                      0.6};
  const Subject down = {"gfx950.moe_down_reduce_grouped",
                        "gfx950.moe_down_reduce_plain",
                        {8, 33, 9, 128, 512},
                        0.6};
  auto broken = [](const Subject &subject, const char *file, const char *from,
                   const char *to, const char *requirement) {
    std::string text = violations(subject, {{file, from, to, 0}});
    EXPECT_NE(text.find(requirement), std::string::npos)
        << requirement << " is not in: " << text;
  };
  const char *const moe = "include/moe.inc", *const deal =
                                                 "include/moe_deal.inc";
  EXPECT_EQ(violations(up), "");
  // Half of each block twice.
  broken(up, moe, "global_load_dwordx4 \\file[\\v+4",
         "global_load_dwordx4 \\file[\\v:\\v+3], v[\\v_offset], "
         "s[\\s_tile:\\s_tile+1] offset:2048*((\\block)%2) nt\n"
         "  global_load_dwordx4 \\file[\\v+4",
         "requested / distinct");
  // Half of each block 16 bytes too early.
  broken(up, moe, "+1024 nt", "+1008 nt", "whole segments");
  // A wait behind each block, which leaves one in flight.
  broken(up, moe, "+1024 nt", "+1024 nt\n  s_waitcnt vmcnt(0)", "round trips");
  broken(up, moe, "+1024 nt", "+1024 nt\n  s_waitcnt vmcnt(0)", "in flight");
  // Scaling by a scalar at a time, many times.
  broken(up, moe, "v_mul_f32 v[\\v], s[\\s_x_scale], v[\\v]",
         ".rept 9\n  v_mul_f32 v[\\v], s[\\s_x_scale], v[\\v]\n  .endr",
         "vector instructions");
  broken(up, "include/kernel.inc", ".amdhsa_private_segment_fixed_size 0",
         ".amdhsa_private_segment_fixed_size 64", "scratch");
  // Products of one expert's tokens in the same bank.
  broken(down, deal, "s_lshl_b32 s[S_TMP], s[S_TMP], 4",
         "s_lshl_b32 s[S_TMP], s[S_TMP], 8", "conflicts");
}

} // namespace
