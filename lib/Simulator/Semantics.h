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
#include <memory>
#include <string_view>

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
  LaneKernel kernel = nullptr;      ///< for handlers that take one
  LaneKernel clampKernel = nullptr; ///< in its place under the clamp bit
  const MatrixShape *shape = nullptr;
};

class SemanticsTable {
public:
  SemanticsTable();
  SemanticsTable(SemanticsTable &&);
  ~SemanticsTable();

  /// `mnemonic` is the assembly mnemonic without _e32/_e64/_dpp/_sdwa, e.g.
  /// "v_add_f32". `encodings` names the encodings the handler honours.
  Semantics &add(std::string_view mnemonic, Handler handler,
                 unsigned encodings = unsigned(Encoding::Plain),
                 Fidelity fidelity = Fidelity::Exact, const char *note = "");
  Semantics &addBinder(std::string_view mnemonic, Binder binder,
                       unsigned encodings = AllEncodings,
                       Fidelity fidelity = Fidelity::Exact,
                       const char *note = "");
  const Semantics *find(std::string_view mnemonic) const;

private:
  struct Map; // keeps the many files that register free of its headers
  std::unique_ptr<Map> map;
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
