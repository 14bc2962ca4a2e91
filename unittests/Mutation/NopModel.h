//===- NopModel.h - Can fewer wait states change a result? ------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Authors of assembly put s_nop into macros, where some expansions need it and
// others do not. This model finds out, from the text of executed instructions
// and without the simulator's checkers, whether two instructions come too close
// to each other when an s_nop is weaker. It knows how many states each pair of
// kinds needs, except where one matrix instruction uses the result of another:
// unless they are a chain, any use within 20 states counts.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MUTATION_NOPMODEL_H
#define NETRA_UNITTESTS_MUTATION_NOPMODEL_H

#include "AssemblyText.h"

namespace netra::mutation {

/// Whose rules: those of the ISA, or those of the compiler, which asks for
/// more:
///  - two states in front of a carry or the mask of v_cndmask, as in front of
///    any other use of an SGPR or VCC;
///  - one behind packed instructions, whose op_sel_hi it takes for that of a
///    result which is moved within the register;
///  - two in front of DPP behind whatever wrote its source, a load as well;
///  - one between memory instructions that it wants in different clauses, for
///    devices that replay a clause after a page fault (xnack; here it is off).
enum class Rules { Isa, Compiler };

/// Wait states that `second` needs behind `first`; 0: none.
unsigned statesNeeded(const std::string &first, const std::string &second,
                      Rules rules = Rules::Isa);

/// Which pair of instructions comes too close in a wave that executes `steps`
/// (texts) when the s_nop number `nop` of it waits `states` states; "" when
/// none does.
std::string tooClose(const std::vector<const std::string *> &steps, size_t nop,
                     unsigned states, Rules rules = Rules::Isa);

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_NOPMODEL_H
