//===- Semantics.cpp - the table of instructions --------------------------===//
// SPDX-License-Identifier: MIT

#include "Semantics.h"
#include "Execution.h"
#include "Program.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace netra::sim {

struct SemanticsTable::Map : StringMap<Semantics> {};

SemanticsTable::SemanticsTable() : map(std::make_unique<Map>()) {}
SemanticsTable::SemanticsTable(SemanticsTable &&) = default;
SemanticsTable::~SemanticsTable() = default;

Semantics &SemanticsTable::add(std::string_view mnemonic, Handler handler,
                               unsigned encodings, Fidelity fidelity,
                               const char *note) {
  return (*map)[mnemonic] = {handler, nullptr, encodings, fidelity,
                             note,    nullptr, nullptr,   nullptr};
}

Semantics &SemanticsTable::addBinder(std::string_view mnemonic, Binder binder,
                                     unsigned encodings, Fidelity fidelity,
                                     const char *note) {
  return (*map)[mnemonic] = {nullptr, binder,  encodings, fidelity,
                             note,    nullptr, nullptr,   nullptr};
}

const Semantics *SemanticsTable::find(std::string_view mnemonic) const {
  auto it = map->find(mnemonic);
  return it == map->end() ? nullptr : &it->second;
}

namespace avx2 {
void registerScalarAlu(SemanticsTable &table);
void registerVectorAlu(SemanticsTable &table);
void registerConversions(SemanticsTable &table);
void registerCrossLane(SemanticsTable &table);
void registerMatrix(SemanticsTable &table, MatrixArithmetic arithmetic);
} // namespace avx2

static SemanticsTable makeTable(MatrixArithmetic arithmetic) {
  SemanticsTable table;
  registerControl(table);
  registerScalarMemory(table);
  registerGlobalMemory(table);
  registerBufferMemory(table);
  registerLds(table);
#if NETRA_SIM_HAS_avx2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    avx2::registerScalarAlu(table);
    avx2::registerVectorAlu(table);
    avx2::registerConversions(table);
    avx2::registerCrossLane(table);
    avx2::registerMatrix(table, arithmetic);
    return table;
  }
#endif
  baseline::registerScalarAlu(table);
  baseline::registerVectorAlu(table);
  baseline::registerConversions(table);
  baseline::registerCrossLane(table);
  baseline::registerMatrix(table, arithmetic);
  return table;
}

const SemanticsTable &semanticsTable(MatrixArithmetic arithmetic) {
  static const SemanticsTable cdna3 = makeTable(MatrixArithmetic::Cdna3);
  static const SemanticsTable sequential =
      makeTable(MatrixArithmetic::Sequential);
  return arithmetic == MatrixArithmetic::Cdna3 ? cdna3 : sequential;
}

const char *refusalOf(StringRef mnemonic) {
  static constexpr struct {
    const char *prefix, *why;
  } reasons[] = {
      {"s_scratch_", "private memory here has no base that scalars could use"},
      {"s_dcache_discard",
       "drops what the scalar cache was not asked to write back: what memory "
       "holds then depends on the cache"},
      {"s_rfe_", "returns from a trap handler, and none runs here"},
      {"v_exp_legacy_", "the accuracy of the legacy form is not published"},
      {"v_log_legacy_", "the accuracy of the legacy form is not published"},
      {"v_screen_partition_", "a table of partitions of the screen, for "
                              "graphics"},
  };
  for (const auto &reason : reasons)
    if (mnemonic.starts_with(reason.prefix))
      return reason.why;
  return nullptr;
}

std::optional<CodeObject::Coverage> mnemonicCoverage(StringRef mnemonic) {
  StringRef base = mnemonic;
  unsigned encoding = unsigned(Encoding::Plain);
  if (base.consume_back("_dpp"))
    encoding = unsigned(Encoding::Dpp);
  else if (base.consume_back("_sdwa"))
    encoding = unsigned(Encoding::Sdwa);
  else if (!base.consume_back("_e32"))
    base.consume_back("_e64");
  CodeObject::Coverage coverage;
  coverage.mnemonic = mnemonic.str();
  const Semantics *semantics =
      semanticsTable(MatrixArithmetic::Cdna3).find(base);
  if (!semantics) {
    coverage.level = CodeObject::Coverage::Unsupported;
    const char *why = refusalOf(base);
    coverage.note = why ? why : "not modelled";
  } else if (!(semantics->encodings & encoding)) {
    coverage.level = CodeObject::Coverage::Unsupported;
    coverage.note = "not modelled in this encoding";
  } else if (semantics->fidelity == Fidelity::Bounded) {
    coverage.level = CodeObject::Coverage::Bounded;
    coverage.note = semantics->note;
  }
  return coverage;
}

} // namespace netra::sim
