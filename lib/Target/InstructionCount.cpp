//===- InstructionCount.cpp - What a launch issues ------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/InstructionCount.h"

#include "MachineTarget.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace llvm;

namespace netra {

namespace {

/// One wave's way through a program, as far as scalar registers tell it.
class ScalarWalk {
public:
  ScalarWalk(const MachineDecoder &decoder, ArrayRef<uint8_t> code)
      : decoder(decoder), machine(decoder.getMachine()), code(code) {}

  std::optional<uint64_t> run() {
    constexpr uint64_t limit = uint64_t(1) << 24;
    for (uint64_t issued = 1; issued <= limit; ++issued) {
      const Decoded *decoded = decode(at);
      if (!decoded)
        return std::nullopt;
      at += decoded->bytes;
      if (decoded->effect == Effect::End)
        return issued;
      if (decoded->effect == Effect::Jump)
        return std::nullopt;
      apply(*decoded);
    }
    return std::nullopt;
  }

private:
  enum class Effect {
    Other, // writes what nobody knows
    Move,
    Add,
    Subtract,
    Multiply,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Branch,
    BranchIfClear,
    BranchIfSet,
    Jump,
    End
  };

  struct Decoded {
    MCInst instruction;
    uint64_t bytes = 0;
    Effect effect = Effect::Other;
    bool isSigned = false;
  };

  using Value = std::optional<uint32_t>;

  /// LLVM's name of an operation, without the suffix of its encoding.
  void classify(Decoded &decoded) const {
    StringRef name =
        machine.instructions->getName(decoded.instruction.getOpcode());
    name.consume_back("_vi"); // the encoding of GFX8 and GFX9
    decoded.isSigned = name.ends_with("_I32");
    if (decoded.isSigned && name.contains("K_"))
      for (MCOperand &operand : decoded.instruction)
        if (operand.isImm()) // 16 bits as they stand in the instruction
          operand.setImm(SignExtend64<16>(operand.getImm()));
    decoded.effect =
        StringSwitch<Effect>(name)
            .Cases({"S_MOV_B32", "S_MOVK_I32"}, Effect::Move)
            .Cases({"S_ADD_U32", "S_ADD_I32", "S_ADDK_I32"}, Effect::Add)
            .Cases({"S_SUB_U32", "S_SUB_I32"}, Effect::Subtract)
            .Cases({"S_MUL_I32", "S_MULK_I32"}, Effect::Multiply)
            .Case("S_LSHL_B32", Effect::ShiftLeft)
            .Case("S_LSHR_B32", Effect::ShiftRight)
            .Case("S_AND_B32", Effect::And)
            .Case("S_OR_B32", Effect::Or)
            .Cases({"S_CMP_EQ_U32", "S_CMP_EQ_I32", "S_CMPK_EQ_U32",
                    "S_CMPK_EQ_I32"},
                   Effect::Equal)
            .Cases({"S_CMP_LG_U32", "S_CMP_LG_I32", "S_CMPK_LG_U32",
                    "S_CMPK_LG_I32"},
                   Effect::NotEqual)
            .Cases({"S_CMP_LT_U32", "S_CMP_LT_I32", "S_CMPK_LT_U32",
                    "S_CMPK_LT_I32"},
                   Effect::Less)
            .Cases({"S_CMP_LE_U32", "S_CMP_LE_I32", "S_CMPK_LE_U32",
                    "S_CMPK_LE_I32"},
                   Effect::LessOrEqual)
            .Cases({"S_CMP_GT_U32", "S_CMP_GT_I32", "S_CMPK_GT_U32",
                    "S_CMPK_GT_I32"},
                   Effect::Greater)
            .Cases({"S_CMP_GE_U32", "S_CMP_GE_I32", "S_CMPK_GE_U32",
                    "S_CMPK_GE_I32"},
                   Effect::GreaterOrEqual)
            .Case("S_BRANCH", Effect::Branch)
            .Case("S_CBRANCH_SCC0", Effect::BranchIfClear)
            .Case("S_CBRANCH_SCC1", Effect::BranchIfSet)
            .Cases({"S_SETPC_B64", "S_SWAPPC_B64", "S_CALL_B64",
                    "S_CBRANCH_I_FORK", "S_CBRANCH_G_FORK", "S_CBRANCH_JOIN",
                    "S_RFE_B64", "S_TRAP"},
                   Effect::Jump)
            .Case("S_ENDPGM", Effect::End)
            .Default(Effect::Other);
  }

  const Decoded *decode(uint64_t address) {
    auto [entry, isNew] = decodedAt.try_emplace(address);
    Decoded &decoded = entry->second;
    if (isNew) {
      decoded.bytes = decoder.decode(code, address, decoded.instruction);
      if (decoded.bytes)
        classify(decoded);
    }
    return decoded.bytes ? &decoded : nullptr;
  }

  Value read(const MCOperand &operand) const {
    if (operand.isImm())
      return static_cast<uint32_t>(operand.getImm());
    auto known = scalars.find(operand.getReg().id());
    return known == scalars.end() ? Value() : known->second;
  }

  void forget(MCRegister reg) {
    for (MCRegister part : machine.registers->subregs_inclusive(reg))
      scalars.erase(part.id());
  }

  /// What a binary operation or comparison makes of two numbers.
  static uint32_t compute(Effect effect, bool isSigned, uint32_t left,
                          uint32_t right) {
    auto compare = [&](auto holds) {
      return isSigned ? holds(int32_t(left), int32_t(right))
                      : holds(left, right);
    };
    switch (effect) {
    case Effect::Add:
      return left + right;
    case Effect::Subtract:
      return left - right;
    case Effect::Multiply:
      return left * right;
    case Effect::ShiftLeft:
      return left << (right & 31);
    case Effect::ShiftRight:
      return left >> (right & 31);
    case Effect::And:
      return left & right;
    case Effect::Or:
      return left | right;
    case Effect::Equal:
      return left == right;
    case Effect::NotEqual:
      return left != right;
    case Effect::Less:
      return compare([](auto a, auto b) { return a < b; });
    case Effect::LessOrEqual:
      return compare([](auto a, auto b) { return a <= b; });
    case Effect::Greater:
      return compare([](auto a, auto b) { return a > b; });
    default:
      return compare([](auto a, auto b) { return a >= b; });
    }
  }

  void apply(const Decoded &decoded) {
    const MCInst &instruction = decoded.instruction;
    const Effect effect = decoded.effect;
    if (effect == Effect::Branch || effect == Effect::BranchIfClear ||
        effect == Effect::BranchIfSet) {
      // Distances are in words.
      if (effect == Effect::Branch ||
          (condition && *condition == (effect == Effect::BranchIfSet)))
        at += SignExtend64<16>(instruction.getOperand(0).getImm()) * 4;
      return;
    }
    const MCInstrDesc &description =
        machine.instructions->get(instruction.getOpcode());
    const bool isComparison =
        effect >= Effect::Equal && effect <= Effect::GreaterOrEqual;
    Value result;
    if (effect == Effect::Move) {
      result = read(instruction.getOperand(1));
    } else if (effect != Effect::Other) {
      // Sources are the last two operands; s_addk and s_cmpk name what they
      // write, or compare, first.
      unsigned count = instruction.getNumOperands();
      Value left = read(instruction.getOperand(count - 2));
      Value right = read(instruction.getOperand(count - 1));
      if (left && right)
        result = compute(effect, decoded.isSigned, *left, *right);
    }
    if (isComparison) {
      condition = result ? std::optional<bool>(*result != 0) : std::nullopt;
      return;
    }
    for (unsigned i = 0; i != description.getNumDefs(); ++i)
      if (instruction.getOperand(i).isReg())
        forget(instruction.getOperand(i).getReg());
    for (MCPhysReg reg : description.implicit_defs()) {
      if (StringRef(machine.registers->getName(reg)) == "SCC")
        condition = std::nullopt;
      else
        forget(reg);
    }
    if (result)
      scalars[instruction.getOperand(0).getReg().id()] = *result;
  }

  const MachineDecoder &decoder;
  const MachineTarget &machine;
  ArrayRef<uint8_t> code;
  std::map<uint64_t, Decoded> decodedAt;
  uint64_t at = 0;
  std::map<unsigned, uint32_t> scalars;
  std::optional<bool> condition;
};

} // namespace

std::optional<uint64_t> countInstructions(ArrayRef<uint8_t> code,
                                          StringRef isa) {
  Expected<std::unique_ptr<MachineDecoder>> decoder =
      MachineDecoder::create(isa);
  if (!decoder) {
    consumeError(decoder.takeError());
    return std::nullopt;
  }
  return ScalarWalk(**decoder, code).run();
}

/// The code of `instance` and its processor. An error is for whoever needs the
/// kernel, who will be told.
static std::optional<uint64_t> countWave(const KernelBuilder &builder,
                                         const Instance &instance) {
  if (!instance.tactic->golden) {
    Expected<std::vector<uint8_t>> code =
        builder.getAssembler().assembleCode(instance);
    if (code)
      return countInstructions(*code, ("--" + instance.tactic->target));
    consumeError(code.takeError());
    return std::nullopt;
  }
  Expected<AssembledKernel> kernel = builder.build(instance);
  if (!kernel) {
    consumeError(kernel.takeError());
    return std::nullopt;
  }
  const CodeObject &object = kernel->object;
  const KernelMetadata *metadata = object.find(instance.symbol);
  return metadata ? countInstructions(object.codeOf(*metadata), object.isa)
                  : std::nullopt;
}

std::optional<uint64_t>
AssembledInstructions::count(const Instance &instance) const {
  std::optional<uint64_t> perWave = countWave(builder, instance);
  if (!perWave)
    return std::nullopt;
  const Contract &contract = instance.contract;
  uint64_t items = 1, waves = 1;
  for (uint32_t extent : contract.block)
    items *= extent;
  waves = divideCeil(items, contract.waveSize);
  for (uint32_t extent : contract.greatestGrid())
    waves = SaturatingMultiply<uint64_t>(waves, extent);
  return SaturatingMultiply(waves, *perWave);
}

} // namespace netra
