//===- InitTests.cpp - Undefined parts of words and pairs ----------------===//
// SPDX-License-Identifier: MIT
//
// What the `init` checker says of instructions that use some of an operand's
// words, halves or bytes: nothing about results that do not depend on what was
// never written, and the name of the register for those that do.
//
//===----------------------------------------------------------------------===//

#include "CheckerFixture.h"
#include "gmock/gmock.h"
#include <map>
#include <sstream>

namespace netra::sim::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Matcher;
using testing::Not;

struct Flow {
  const char *code;
  const char *undefined; ///< of v10 to v15 and s20 to s25, which is not written
  const char *clean;     ///< registers that do not depend on it
  const char *faulty;    ///< registers that do
};

using Texts = std::vector<std::string>;

class InitFlows : public Checkers {
protected:
  /// Stores all results, and branches on `scc` if it is one: what is reported
  /// must be the uses of the faulty ones.
  void expect(const Flow &flow) {
    SCOPED_TRACE(std::string(flow.code) + "\nwithout " + flow.undefined);
    std::ostringstream body;
    body << "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
            "  v_lshlrev_b32 v1, 2, v0\n"
            "  s_mov_b64 vcc, 0x55\n";
    for (unsigned k = 0; k < 6; ++k) {
      const std::string v = "v1" + std::to_string(k),
                        s = "s2" + std::to_string(k);
      if (v != flow.undefined)
        body << "  v_mov_b32 " << v << ", v0\n";
      if (s != flow.undefined)
        body << "  s_mov_b32 " << s << ", 3\n";
    }
    body << "  s_nop 4\n  " << flow.code << "\n  s_waitcnt lgkmcnt(0)\n"
         << "  s_nop 4\n";
    std::map<std::string, bool> isFaulty; // by the use of a result
    unsigned next = 30;
    for (const char *list : {flow.clean, flow.faulty}) {
      std::istringstream results(list);
      for (std::string result; results >> result;) {
        std::string use = "s_cbranch_scc1";
        if (result == "scc") {
          body << "  s_cbranch_scc1 .Lnext\n.Lnext:\n";
        } else {
          const std::string copy = "v" + std::to_string(next++);
          use = "global_store_dword v1, " + copy;
          body << "  v_mov_b32 " << copy << ", " << result << "\n  " << use
               << ", s[6:7]\n";
        }
        isFaulty[use] = list == flow.faulty;
      }
    }
    const auto findings = check(CheckInit, body.str());
    size_t faults = 0;
    for (const auto &[use, isReported] : isFaulty) {
      const auto ofThis = HasSubstr(use);
      EXPECT_THAT(findings, isReported
                                ? Matcher<const Texts &>(Contains(ofThis))
                                : Not(Contains(ofThis)))
          << use << " in\n"
          << body.str();
      faults += isReported;
    }
    EXPECT_EQ(findings.size(), faults);
    for (const std::string &finding : findings)
      EXPECT_THAT(finding, HasSubstr(std::string(flow.undefined) +
                                     ", which was never written"));
  }
};

TEST_F(InitFlows, WordsOfVectorPairs) {
  for (const Flow &flow : std::initializer_list<Flow>{
           {"v_mad_u64_u32 v[2:3], vcc, v12, v13, v[10:11]", "v11", "v2",
            "v3 vcc_lo"},
           {"v_mad_u64_u32 v[2:3], vcc, v12, v13, v[10:11]", "v10", "",
            "v2 v3"},
           {"v_mad_u64_u32 v[2:3], vcc, v12, v13, v[10:11]", "v13", "",
            "v2 v3"},
           {"v_mad_i64_i32 v[2:3], vcc, v12, v13, v[10:11]", "v11", "v2", "v3"},
           {"v_mad_i64_i32 v[2:3], vcc, v12, v13, v[10:11]", "v10", "",
            "v2 v3"},
           {"v_lshl_add_u64 v[2:3], v[10:11], 2, v[12:13]", "v11", "v2", "v3"},
           {"v_lshl_add_u64 v[2:3], v[10:11], 2, v[12:13]", "v13", "v2", "v3"},
           {"v_lshl_add_u64 v[2:3], v[10:11], 2, v[12:13]", "v10", "", "v2 v3"},
           {"v_lshl_add_u64 v[2:3], v[10:11], v14, v[12:13]", "v14", "",
            "v2 v3"},
           {"v_lshlrev_b64 v[2:3], 3, v[10:11]", "v11", "v2", "v3"},
           {"v_lshlrev_b64 v[2:3], 3, v[10:11]", "v10", "", "v2 v3"},
           {"v_lshlrev_b64 v[2:3], 32, v[10:11]", "v11", "v2 v3", ""},
           {"v_lshlrev_b64 v[2:3], 36, v[10:11]", "v10", "v2", "v3"},
           {"v_lshlrev_b64 v[2:3], s20, v[10:11]", "v11", "v2", "v3"},
           {"v_lshlrev_b64 v[2:3], s20, v[10:11]", "s20", "", "v2 v3"},
           {"v_lshrrev_b64 v[2:3], 3, v[10:11]", "v10", "v3", "v2"},
           {"v_lshrrev_b64 v[2:3], 3, v[10:11]", "v11", "", "v2 v3"},
           {"v_lshrrev_b64 v[2:3], 36, v[10:11]", "v10", "v2 v3", ""},
           {"v_lshrrev_b64 v[2:3], 36, v[10:11]", "v11", "v3", "v2"},
           {"v_ashrrev_i64 v[2:3], 32, v[10:11]", "v10", "v2 v3", ""},
           {"v_ashrrev_i64 v[2:3], 32, v[10:11]", "v11", "", "v2 v3"},
           {"v_mov_b64 v[2:3], v[10:11]", "v11", "v2", "v3"},
           {"v_mov_b64 v[2:3], v[10:11]", "v10", "v3", "v2"},
           {"v_mov_b64 v[2:3], s[20:21]", "s21", "v2", "v3"},
           {"v_add_co_u32 v2, vcc, v10, v12\n"
            "  v_addc_co_u32 v3, vcc, v11, v13, vcc",
            "v13", "v2", "v3"},
           {"v_add_co_u32 v2, vcc, v10, v12\n"
            "  v_addc_co_u32 v3, vcc, v11, v13, vcc",
            "v12", "", "v2 v3"},
       })
    expect(flow);
}

TEST_F(InitFlows, WordsOfPackedInstructions) {
  for (const Flow &flow : std::initializer_list<Flow>{
           {"v_pk_add_f32 v[2:3], v[10:11], v[12:13]", "v11", "v2", "v3"},
           {"v_pk_add_f32 v[2:3], v[10:11], v[12:13]", "v12", "v3", "v2"},
           {"v_pk_add_f32 v[2:3], v[10:11], v[12:13] op_sel_hi:[0,1]", "v11",
            "v2 v3", ""},
           {"v_pk_mul_f32 v[2:3], v[10:11], v[12:13] op_sel_hi:[1,0]", "v12",
            "", "v2 v3"},
           {"v_pk_mul_f32 v[2:3], v[10:11], v[12:13] op_sel:[1,0]", "v10",
            "v2 v3", ""},
           {"v_pk_fma_f32 v[2:3], v[10:11], s[20:21], v[12:13] "
            "op_sel_hi:[1,0,1]",
            "s21", "v2 v3", ""},
           {"v_pk_fma_f32 v[2:3], v[10:11], s[20:21], v[12:13] "
            "op_sel_hi:[1,0,1]",
            "s20", "", "v2 v3"},
           {"v_pk_fma_f32 v[2:3], v[10:11], s[20:21], v[12:13]", "v13", "v2",
            "v3"},
           {"v_pk_mov_b32 v[2:3], v[10:11], v[12:13] op_sel:[0,1]", "v11",
            "v2 v3", ""},
           {"v_pk_mov_b32 v[2:3], v[10:11], v[12:13] op_sel:[0,1]", "v13", "v2",
            "v3"},
           {"v_pk_mov_b32 v[2:3], v[10:11], v[12:13] op_sel:[1,0]", "v11", "v3",
            "v2"},
       })
    expect(flow);
}

TEST_F(InitFlows, WordsOfScalarPairs) {
  for (const Flow &flow : std::initializer_list<Flow>{
           {"s_lshl_b64 s[8:9], s[20:21], 2", "s21", "s8 scc", "s9"},
           {"s_lshl_b64 s[8:9], s[20:21], 2", "s20", "", "s8 s9"},
           {"s_lshr_b64 s[8:9], s[20:21], 32", "s20", "s8 s9 scc", ""},
           {"s_lshr_b64 s[8:9], s[20:21], 32", "s21", "s9", "s8 scc"},
           {"s_ashr_i64 s[8:9], s[20:21], 32", "s21", "", "s8 s9"},
           {"s_bfe_u64 s[8:9], s[20:21], 0x100004", "s21", "s8 s9 scc", ""},
           {"s_bfe_u64 s[8:9], s[20:21], 0x100004", "s20", "s9", "s8 scc"},
           {"s_bfe_i64 s[8:9], s[20:21], 0x80020", "s20", "s8 s9", ""},
           {"s_bfe_i64 s[8:9], s[20:21], 0x80020", "s21", "", "s8 s9"},
           {"s_and_b64 s[8:9], s[20:21], s[22:23]", "s21", "s8 scc", "s9"},
           {"s_and_b64 s[8:9], s[20:21], 0", "s21", "s8 s9 scc", ""},
           {"s_cmp_eq_u32 s24, 3\n  s_cselect_b64 s[8:9], s[20:21], s[22:23]",
            "s22", "s8 s9", ""},
           {"s_cmp_eq_u32 s24, 3\n  s_cselect_b64 s[8:9], s[20:21], s[22:23]",
            "s20", "s9", "s8"},
           {"s_cmp_eq_u32 s24, 3\n  s_cselect_b32 s8, 1, 2", "s24", "", "s8"},
           {"s_add_u32 s8, s20, s22\n  s_addc_u32 s9, s21, s23", "s21", "s8",
            "s9 scc"},
           {"s_add_u32 s8, s20, s22\n  s_addc_u32 s9, s21, s23", "s22", "",
            "s8 s9"},
           {"s_bitcmp1_b64 s[20:21], 5", "s21", "scc", ""},
           {"s_bitcmp1_b64 s[20:21], 5", "s20", "", "scc"},
           {"s_mov_b32 s8, 1\n  s_addk_i32 s20, 5", "s20", "s8", "s20"},
       })
    expect(flow);
}

TEST_F(InitFlows, PartsOfWords) {
  for (const Flow &flow : std::initializer_list<Flow>{
           // A half of v10 is undefined where v11 is put into it.
           {"v_lshl_or_b32 v10, v11, 16, 1\n  v_cvt_f32_f16 v2, v10\n"
            "  v_lshrrev_b32 v12, 16, v10\n  v_cvt_f32_f16 v3, v12",
            "v11", "v2", "v3 v10"},
           {"s_mov_b32 s8, 0x05040100\n  v_perm_b32 v10, v11, v12, s8\n"
            "  v_fma_f16 v2, v10, v12, v12\n"
            "  v_fma_f16 v3, v10, v12, v12 op_sel:[1,0,0,0]",
            "v11", "v2", "v3 v10"},
           {"s_mov_b32 s8, 0x0c0c0100\n  v_perm_b32 v2, v11, v12, s8", "v11",
            "v2", ""},
           {"v_alignbit_b32 v2, v11, v12, 0\n"
            "  v_alignbit_b32 v3, v11, v12, 8",
            "v11", "v2", "v3"},
           {"s_mov_b32 s8, 0xffff\n  v_bfi_b32 v10, s8, v11, v12\n  "
            "v_lshrrev_b32 v2, 16, v10\n"
            "  v_and_b32 v3, 0xffff, v10",
            "v11", "v2", "v3 v10"},
           {"v_bitop3_b32 v2, v10, v11, v12 bitop3:0xf0\n"
            "  v_bitop3_b32 v3, v10, v11, v12 bitop3:0xcc",
            "v11", "v2", "v3"},
           {"v_lshlrev_b32 v10, 16, v11\n  v_pk_add_u16 v12, v10, v10\n"
            "  v_and_b32 v2, 0xffff, v12\n  v_lshrrev_b32 v3, 16, v12",
            "v11", "v2", "v3 v12"},
           {"v_lshlrev_b32 v10, 16, v11\n"
            "  v_pk_add_u16 v2, v10, v10 op_sel_hi:[0,0]\n"
            "  v_pk_add_u16 v3, v10, v10 op_sel:[1,0] op_sel_hi:[0,0]",
            "v11", "v2", "v3"},
           {"v_lshlrev_b32 v10, 16, v11\n"
            "  v_fma_mix_f32 v2, v10, v12, v12 op_sel_hi:[1,0,0]\n"
            "  v_fma_mix_f32 v3, v10, v12, v12 op_sel:[1,0,0] "
            "op_sel_hi:[1,0,0]",
            "v11", "v2", "v3"},
           {"v_lshlrev_b32 v10, 24, v11\n  v_add_u32 v12, v10, v13\n"
            "  v_bfe_u32 v2, v12, 0, 24\n  v_mul_u32_u24 v3, v10, v13",
            "v11", "v2 v3", "v12"},
           {"v_cmp_eq_u16 vcc, v10, v11\n  v_cndmask_b32 v2, 0, 1, vcc", "v11",
            "", "v2"},
           {"v_lshlrev_b32 v10, 16, v11\n  v_cmp_eq_u16 vcc, v10, v12\n"
            "  v_cndmask_b32 v2, 0, 1, vcc\n  v_cmp_eq_u32 vcc, v10, v12\n"
            "  v_cndmask_b32 v3, 0, 1, vcc",
            "v11", "v2", "v3"},
           // Sources that a known mask does not choose.
           {"s_mov_b64 vcc, -1\n  v_cndmask_b32 v2, v10, v11, vcc\n"
            "  v_cndmask_b32 v3, v11, v10, vcc",
            "v10", "v2", "v3"},
           {"s_mov_b64 vcc, 0x55\n  v_cndmask_b32 v2, v12, v11, vcc", "v11",
            "v12", "v2"},
           // Parts that SDWA selects, and writes.
           {"v_lshlrev_b32 v10, 16, v11\n"
            "  v_add_u32_sdwa v2, v10, v12 dst_sel:DWORD src0_sel:WORD_0 "
            "src1_sel:DWORD\n"
            "  v_add_u32_sdwa v3, v10, v12 dst_sel:DWORD src0_sel:WORD_1 "
            "src1_sel:DWORD",
            "v11", "v2", "v3"},
           {"v_mov_b32 v10, v12\n"
            "  v_mov_b32_sdwa v10, v11 dst_sel:WORD_1 "
            "dst_unused:UNUSED_PRESERVE src0_sel:WORD_0\n"
            "  v_and_b32 v2, 0xffff, v10\n  v_lshrrev_b32 v3, 16, v10",
            "v11", "v2", "v3 v10"},
           // Lanes that DPP does not read.
           {"v_mov_b32 v2, 0\n  s_mov_b64 exec, 1\n  v_mov_b32 v10, 1\n"
            "  s_mov_b64 exec, -1\n  s_nop 4\n"
            "  v_mov_b32_dpp v2, v10 row_newbcast:0 row_mask:0x1 "
            "bank_mask:0xf\n"
            "  v_add_u32_dpp v3, v10, v12 row_newbcast:1 row_mask:0xf "
            "bank_mask:0xf",
            "v10", "v2", "v3"},
       })
    expect(flow);
}

TEST_F(InitFlows, HalvesThatWereConverted) {
  for (const Flow &flow : std::initializer_list<Flow>{
           {"v_cvt_pk_bf16_f32 v8, v10, v11\n  v_and_b32 v2, 0xffff, v8\n"
            "  v_lshrrev_b32 v3, 16, v8",
            "v11", "v2", "v3 v8"},
           {"v_cvt_pk_bf16_f32 v2, v10, s20", "s20", "", "v2"},
           {"v_mov_b32 v8, 0\n  v_cvt_pk_fp8_f32 v8, v10, v11\n"
            "  v_and_b32 v2, 0xff00ff, v8",
            "v11", "v2", "v8"},
           {"v_cvt_pk_f32_fp8 v[2:3], v10\n  v_and_b32 v12, 0xff, v11\n"
            "  v_lshl_or_b32 v12, v11, 8, 1\n  v_cvt_pk_f32_fp8 v[8:9], v12",
            "v11", "v2 v3 v8", "v9"},
       })
    expect(flow);
}

TEST_F(InitFlows, FourthHalvesOfVectors) {
  // Compilers make pairs of three halves, and store them as four.
  const auto body = [](const char *code, const char *store) {
    return std::string("  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                       "  v_lshlrev_b32 v1, 4, v0\n"
                       "  v_mov_b32 v4, v0\n  v_mov_b32 v5, v0\n"
                       "  v_mov_b32 v6, v0\n  s_waitcnt lgkmcnt(0)\n"
                       "  s_mov_b64 exec, 0xffff\n  ") +
           code + "\n  " + store + "\n";
  };
  const std::string words = "global_store_dwordx4 v1, v[4:7], s[6:7]",
                    halves = "global_store_dwordx2 v1, v[4:5], s[6:7]",
                    half = "global_store_dword v1, v5, s[6:7]";
  struct Expectation {
    const char *code;
    const std::string &store;
    bool isFault;
  };
  const char *packed = "v_pk_add_f32 v[6:7], v[6:7], v[6:7]",
             *converted = "v_cvt_pk_bf16_f32 v5, v6, v7",
             *multiplied =
                 "v_cvt_pk_bf16_f32 v5, v6, v7\n  v_pk_mul_f16 v5, v5, v5",
             *swapped = "v_cvt_pk_bf16_f32 v5, v7, v6";
  for (const Expectation &e :
       std::initializer_list<Expectation>{{"", words, true},
                                          {packed, words, true},
                                          {converted, halves, false},
                                          {multiplied, halves, false},
                                          {swapped, halves, true},
                                          {converted, half, true},
                                          {multiplied, half, true}}) {
    const auto findings = check(CheckInit, body(e.code, e.store.c_str()));
    if (e.isFault)
      EXPECT_THAT(findings, ElementsAre(HasSubstr("which was never written")))
          << e.code << " " << e.store;
    else
      EXPECT_THAT(findings, IsEmpty()) << e.code << " " << e.store;
  }
}

TEST_F(InitFlows, WordsThatGoBack) {
  // A field of a word of the output that nothing wrote is set.
  const auto body = [](const char *change, const char *store) {
    return std::string("  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                       "  v_lshlrev_b32 v1, 2, v0\n"
                       "  s_waitcnt lgkmcnt(0)\n"
                       "  global_load_dword v2, v1, s[6:7]\n"
                       "  s_waitcnt vmcnt(0)\n  ") +
           change + "\n  " + store + "\n";
  };
  const char *back = "global_store_dword v1, v2, s[6:7]",
             *away = "global_store_dword v1, v2, s[6:7] offset:256";
  const char *set = "v_and_b32 v2, 0xffffff00, v2\n  v_or_b32 v2, 5, v2";
  EXPECT_THAT(check(CheckInit, body(set, back)), IsEmpty());
  EXPECT_THAT(check(CheckInit, body("", back)),
              ElementsAre(HasSubstr("'output'")));
  EXPECT_THAT(check(CheckInit, body(set, away)),
              ElementsAre(HasSubstr("'output'")));
  for (const char *change : {"v_add_u32 v2, 1, v2", "v_not_b32 v2, v2",
                             "v_xor_b32 v2, 1, v2", "v_lshlrev_b32 v2, 1, v2"})
    EXPECT_THAT(check(CheckInit, body(change, back)),
                ElementsAre(HasSubstr("'output'")))
        << change;
}

TEST_F(InitFlows, BitsOfMemory) {
  // The low 10 bits of words of LDS, or of private memory, are written.
  const auto body = [](bool isLds, const char *use) {
    const std::string read = isLds ? "ds_read_b32 v9, v1"
                                   : "scratch_load_dword v9, off, off",
                      write = isLds ? "ds_write_b32 v1, v9"
                                    : "scratch_store_dword off, v9, off",
                      wait = "\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  ";
    return "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
           "  v_lshlrev_b32 v1, 2, v0\n  s_movk_i32 s8, 0x3ff\n  " +
           read + wait + "v_bfi_b32 v9, s8, v0, v9\n  " + write + "\n  " +
           read + wait + use + "\n  global_store_dword v1, v9, s[6:7]\n";
  };
  const auto findings = [&](bool isLds, const char *use) {
    return checkKernel(CheckInit,
                       wrapKernel(body(isLds, use), 16, 256, 64, 0, 16),
                       {64, 1, 1});
  };
  EXPECT_THAT(findings(true, "v_and_b32 v9, 0x3ff, v9"), IsEmpty());
  EXPECT_THAT(findings(true, "v_and_b32 v9, 0xfffffc00, v9\n"
                             "  v_add_u32 v9, 0x3f0, v9"),
              IsEmpty());
  EXPECT_THAT(findings(true, "v_add_u32 v9, 0x400, v9"),
              ElementsAre(HasSubstr("LDS byte")));
  EXPECT_THAT(findings(true, "v_bfe_u32 v9, v9, 4, 7"),
              ElementsAre(HasSubstr("LDS byte")));
  EXPECT_THAT(findings(false, "v_and_b32 v9, 0x3ff, v9"), IsEmpty());
  EXPECT_THAT(findings(false, "v_add_u32 v9, 0x400, v9"),
              ElementsAre(HasSubstr("private byte")));
}

TEST_F(InitFlows, HalvesOfPackedIntegers) {
  for (const Flow &flow : std::initializer_list<Flow>{
           // The low byte of each half of v8 is defined.
           {"v_lshlrev_b32 v8, 8, v11\n  v_and_b32 v8, 0xff00ff00, v8\n"
            "  v_pk_add_u16 v9, v8, v10\n  v_and_b32 v2, 0xff00ff, v9\n"
            "  v_pk_mul_lo_u16 v14, v8, v10\n  v_and_b32 v3, 0xff00ff, v14\n"
            "  v_pk_lshlrev_b16 v15, 4, v8 op_sel_hi:[0,1]\n"
            "  v_and_b32 v6, 0xff00ff, v15",
            "v11", "v2 v3 v6", "v9 v14 v15"},
           {"v_lshlrev_b32 v8, 8, v11\n  v_add_u16 v9, v8, v10\n"
            "  v_and_b32 v2, 0xff, v9\n  v_mul_lo_u16 v14, v8, v10\n"
            "  v_and_b32 v3, 0xff, v14",
            "v11", "v2 v3", "v9 v14"},
           {"v_lshlrev_b32 v8, 8, v11\n  v_min_u16 v9, v8, v10\n"
            "  v_and_b32 v2, 0xff, v9\n  v_lshrrev_b32 v3, 16, v9",
            "v11", "v3", "v2"},
           {"s_lshl_b32 s8, s20, 8\n  s_addk_i32 s8, 5\n"
            "  s_and_b32 s9, s8, 0xff",
            "s20", "s9", "s8"},
           {"s_lshl_b32 s8, s20, 8\n  s_mulk_i32 s8, 5\n"
            "  s_and_b32 s9, s8, 0xff",
            "s20", "s9", "s8"},
           {"s_lshl_b32 s8, s20, 31\n  s_mov_b32 s9, s8\n"
            "  s_bitset1_b32 s9, 31\n  s_bitset1_b32 s8, 30",
            "s20", "s9", "s8"},
           {"s_nop 4\n  v_writelane_b32 v8, s20, 3\n  s_nop 4\n"
            "  v_readlane_b32 s8, v8, 3",
            "s20", "", "s8"},
           {"v_swap_b32 v10, v11", "v11", "v11", "v10"},
       })
    expect(flow);
}

TEST_F(InitFlows, HalvesOfMemoryThatAreShifted) {
  // Halves that were never written, made single-precision numbers, against the
  // input's.
  const auto body = [](const char *from, const char *use) {
    return std::string("  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                       "  v_lshlrev_b32 v1, 2, v0\n"
                       "  v_lshlrev_b32 v3, 1, v0\n"
                       "  s_waitcnt lgkmcnt(0)\n") +
           use + from +
           "\n  s_waitcnt vmcnt(0)\n"
           "  v_lshlrev_b32 v2, 16, v2\n"
           "  global_store_dword v1, v2, s[6:7]\n";
  };
  for (const char *load :
       {"  global_load_ushort v2, v3, ", "  global_load_dword v2, v1, "}) {
    EXPECT_THAT(check(CheckInit, body("s[4:5]", load)), IsEmpty()) << load;
    EXPECT_THAT(check(CheckInit, body("s[6:7] offset:512", load)),
                ElementsAre(HasSubstr("'output'")))
        << load;
  }
}

TEST_F(InitFlows, TheMemoryNamedIsThatOfTheLane) {
  // Lanes below one write a value each, all load theirs, and those from
  // another one on store what they make of it.
  struct Width {
    unsigned bytes;
    const char *memory, *lds, *extended; ///< suffixes
    const char *data;
  };
  const Width widths[] = {{1, "byte", "b8", "u8", "v4"},
                          {2, "short", "b16", "u16", "v4"},
                          {4, "dword", "b32", "b32", "v4"},
                          {8, "dwordx2", "b64", "b64", "v[4:5]"},
                          {16, "dwordx4", "b128", "b128", "v[4:7]"}};
  const auto expect = [&](char memory, const Width &width, unsigned apart,
                          unsigned lane, const std::string &uses,
                          unsigned results, unsigned from, unsigned reported) {
    const std::string data = width.data, loaded = (width.bytes < 4 ? "u" : "") +
                                                  std::string(width.memory);
    std::string store, load, byte = std::to_string(from * apart);
    switch (memory) {
    case 'l':
      store = "ds_write_" + std::string(width.lds) + " v2, " + data;
      load = "ds_read_" + std::string(width.extended) + " " + data + ", v2";
      byte = "LDS byte " + byte + ",";
      break;
    case 'p':
      store = "scratch_store_" + std::string(width.memory) + " v2, " + data +
              ", off";
      load = "scratch_load_" + loaded + " " + data + ", v2, off";
      byte = "private byte " + byte + ",";
      break;
    default:
      store = "global_store_" + std::string(width.memory) + " v2, " + data +
              ", s[6:7]";
      load = "global_load_" + loaded + " " + data + ", v2, s[6:7]";
      byte = " at byte " + byte + ")";
    }
    std::string body = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                       "  v_mul_u32_u24 v2, " +
                       std::to_string(apart) +
                       ", v0\n  v_lshlrev_b32 v1, 2, v0\n";
    for (unsigned v = 3; v < 16; ++v)
      body += "  v_mov_b32 v" + std::to_string(v) + ", v0\n";
    body += "  s_waitcnt lgkmcnt(0)\n  s_bfm_b64 exec, " +
            std::to_string(lane) + ", 0\n  " + store +
            "\n  s_mov_b64 exec, -1\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  " +
            load + "\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  s_nop 4\n  " + uses +
            "\n  s_lshl_b64 exec, -1, " + std::to_string(reported) +
            "\n  s_nop 4\n";
    for (unsigned k = 0; k < results; ++k)
      body +=
          "  global_store_dword v1, v" + std::to_string(10 + k) + ", s[4:5]\n";
    SCOPED_TRACE(body);
    const auto findings = checkKernel(
        CheckInit, wrapKernel(body, 16, 2048, 64, 0, 2048), {64, 1, 1});
    ASSERT_EQ(findings.size(), results);
    for (const std::string &finding : findings) {
      EXPECT_THAT(finding, HasSubstr(byte));
      EXPECT_THAT(finding,
                  HasSubstr(", lane " + std::to_string(reported) + ";"));
    }
  };
  const char *uses = "v_not_b32 v10, v4\n  v_add_u32 v11, 5, v4\n"
                     "  v_add_f32 v12, 1.0, v4\n  v_add_f32 v13, v3, v4\n"
                     "  v_mul_hi_u32 v14, v13, v3";
  for (const char memory : {'g', 'l', 'p'}) {
    for (const Width &width : widths)
      for (unsigned lane : {0u, 37u, 61u})
        expect(memory, width, width.bytes, lane, uses, 5, lane + 1, lane + 1);
    const Width &word = widths[2];
    expect(memory, word, 12, 37, uses, 5, 40, 40); // apart
    // Where lanes get the value of others.
    expect(memory, word, 4, 37,
           "v_mov_b32_dpp v10, v4 row_shr:1 row_mask:0xf bank_mask:0xf\n"
           "  v_add_f32_dpp v11, v4, v3 row_shr:1 row_mask:0xf bank_mask:0xf",
           2, 42, 43);
    expect(memory, word, 4, 37,
           "v_xor_b32 v8, 4, v1\n  ds_bpermute_b32 v10, v8, v4\n"
           "  s_waitcnt lgkmcnt(0)",
           1, 43, 42);
    expect(memory, word, 4, 60,
           "v_readlane_b32 s8, v4, 60\n  v_mov_b32 v10, s8", 1, 60, 7);
  }
}

TEST_F(InitFlows, PaddingOfScalarLoads) {
  // Bytes 0 and 4 to 7 of the output's first 8 are written, loaded as scalars,
  // and stored again.
  const auto body = [](const char *use) {
    return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  global_store_byte v1, v1, s[6:7]
  global_store_dword v1, v1, s[6:7] offset:4
  s_waitcnt vmcnt(0)
  s_load_dwordx2 s[8:9], s[6:7], 0x0
  s_waitcnt lgkmcnt(0)
)") + use + R"(
  v_mov_b32 v2, s8
  v_mov_b32 v3, s9
  global_store_dwordx2 v1, v[2:3], s[6:7] offset:64
)";
  };
  EXPECT_THAT(check(CheckInit, body("")), IsEmpty());
  EXPECT_THAT(check(CheckInit, body("  s_and_b32 s8, s8, 0xff")), IsEmpty());
  EXPECT_THAT(check(CheckInit, body("  s_lshl_b32 s8, s8, 8")), IsEmpty());
  for (const char *use : {"  s_lshr_b32 s8, s8, 4", "  s_add_u32 s8, s8, 256",
                          "  s_lshl_b32 s8, s8, 1",
                          "  v_mov_b32 v2, s8\n"
                          "  v_readfirstlane_b32 s8, v2\n"
                          "  s_not_b32 s8, s8"})
    EXPECT_THAT(check(CheckInit, body(use)), ElementsAre(HasSubstr("'output'")))
        << use;
}

} // namespace
} // namespace netra::sim::test
