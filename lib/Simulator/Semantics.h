//===- Semantics.h - Binding handlers to mnemonics --------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// A semantics file registers its handlers here by mnemonic; the decoder looks
// them up once per decoded instruction. A mnemonic without a handler stops the
// run at that instruction.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_SEMANTICS_H
#define NETRA_LIB_SIMULATOR_SEMANTICS_H

#include "Instruction.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

// Files with lane loops are compiled once per host variant; the build defines
// the variant's name.
#ifndef NETRA_SIM_VARIANT
#define NETRA_SIM_VARIANT baseline
#endif

namespace netra::sim {

/// How far a handler's results can be trusted, for `netra-sim coverage`.
enum class Fidelity : uint8_t {
  Exact,  ///< to the bit as the ISA defines
  Bounded ///< within a bound that the note states (transcendentals, ...)
};

/// Chooses a handler for a decoded instruction, or returns nullptr and says in
/// `why` which modifier or mode is not modelled.
using Binder = Handler (*)(const Instruction &, const char *&why);

constexpr unsigned AllEncodings = unsigned(Encoding::Plain) |
                                  unsigned(Encoding::Dpp) |
                                  unsigned(Encoding::Sdwa);

struct Semantics {
  Handler handler = nullptr;
  Binder binder = nullptr;
  unsigned encodings = unsigned(Encoding::Plain);
  Fidelity fidelity = Fidelity::Exact;
  const char *note = "";
};

class SemanticsTable {
public:
  /// `mnemonic` is the assembly mnemonic without _e32/_e64/_dpp/_sdwa, e.g.
  /// "v_add_f32". `encodings` names the encodings the handler honours.
  void add(llvm::StringRef mnemonic, Handler handler,
           unsigned encodings = unsigned(Encoding::Plain),
           Fidelity fidelity = Fidelity::Exact, const char *note = "") {
    table[mnemonic] = {handler, nullptr, encodings, fidelity, note};
  }
  void addBinder(llvm::StringRef mnemonic, Binder binder,
                 unsigned encodings = AllEncodings,
                 Fidelity fidelity = Fidelity::Exact, const char *note = "") {
    table[mnemonic] = {nullptr, binder, encodings, fidelity, note};
  }
  const Semantics *find(llvm::StringRef mnemonic) const {
    auto it = table.find(mnemonic);
    return it == table.end() ? nullptr : &it->second;
  }
  auto begin() const { return table.begin(); }
  auto end() const { return table.end(); }

private:
  llvm::StringMap<Semantics> table;
};

/// The arithmetic of matrix instructions, read by their handlers.
enum class MatrixArithmetic : uint8_t { Cdna3, Sequential };

namespace NETRA_SIM_VARIANT {
// Lane-vector semantics, one instance per host variant.
void registerScalarAlu(SemanticsTable &table);
void registerVectorAlu(SemanticsTable &table);
void registerConversions(SemanticsTable &table);
void registerCrossLane(SemanticsTable &table);
void registerMatrix(SemanticsTable &table, MatrixArithmetic arithmetic);
} // namespace NETRA_SIM_VARIANT

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_SEMANTICS_H
