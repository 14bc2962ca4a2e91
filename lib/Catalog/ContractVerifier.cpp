//===- ContractVerifier.cpp - Can a contract be kept? ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/ContractVerifier.h"

#include "Netra/Catalog/Numerics.h"
#include "Netra/Catalog/Operations.h"
#include "Netra/Catalog/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace llvm;

namespace netra {

namespace {
class ContractVerifier {
public:
  explicit ContractVerifier(const Contract &contract) : contract(contract) {}

  Error run() {
    const TargetInfo *target = findTarget(contract.target);
    if (target)
      checkLaunch(*target);
    else
      expect("target", "one of " + listTargets(), contract.target);
    checkArguments();
    checkWorkspace();
    llvm::append_range(faults, verifyOperation(contract.problem));
    for (const auto &[name, value] : contract.problem.attributes)
      checkNumber(name, value);
    checkNumerics();
    if (contract.graphCapture && !contract.problem.varying.empty())
      expect("graph_capture",
             "false, since each launch has a grid or values of its own",
             "true");
    if (faults.empty())
      return Error::success();
    return createStringError(join(faults, "\n"));
  }

private:
  void expect(const Twine &where, const Twine &expected, const Twine &found) {
    faults.push_back(
        (where + ": expected " + expected + ", found " + found).str());
  }

  void checkLaunch(const TargetInfo &target) {
    if (contract.waveSize != target.waveSize)
      expect("wave_size",
             Twine(target.waveSize) + ", as " + target.name + " has",
             Twine(contract.waveSize));
    const auto &[x, y, z] = contract.block;
    // In steps, since three extents of 32 bits may not fit 64.
    bool fits = x <= target.maxWorkgroup && y <= target.maxWorkgroup &&
                z <= target.maxWorkgroup &&
                uint64_t(x) * y * z <= target.maxWorkgroup;
    if (!fits || !x || !y || !z)
      expect("block", "1 to " + Twine(target.maxWorkgroup) + " work-items",
             Twine(x) + " x " + Twine(y) + " x " + Twine(z));
    if (std::string fault =
            findUnlaunchable(contract.grid, {x, y, z}, contract.problem.guards,
                             target.maxGridYz);
        !fault.empty())
      faults.push_back("grid: " + fault);
    if (contract.staticLds > target.maxLds ||
        contract.dynamicLds > target.maxLds - contract.staticLds)
      expect("LDS", "at most " + Twine(target.maxLds) + " bytes",
             Twine(contract.staticLds) + " static and " +
                 Twine(contract.dynamicLds) + " dynamic");
  }

  void checkArguments() {
    std::set<std::string> names;
    uint64_t end = 0;
    std::string before;
    for (const Argument &argument : contract.arguments) {
      std::string where = "argument " + argument.name;
      if (!names.insert(argument.name).second)
        expect(where, "each name once", "it twice");
      bool isPointer = argument.kind == ArgumentKind::Pointer;
      uint64_t size = isPointer ? 8 : elementBytes(argument.type);
      std::string what =
          isPointer ? "a pointer" : elementTypeName(argument.type).str();
      if (argument.bytes != size)
        expect(where, Twine(size) + " bytes for " + what,
               Twine(argument.bytes));
      if (isPointer == (argument.access == Access::Value))
        expect(where,
               isPointer ? "access read, write or readwrite of a pointer"
                         : "access value of a value",
               accessName(argument.access));
      if (argument.offset % size != 0)
        expect(where, "an offset that is a multiple of " + Twine(size),
               Twine(argument.offset));
      if (argument.offset < end)
        expect(where,
               "an offset of at least " + Twine(end) + ", the end of " + before,
               Twine(argument.offset));
      if (argument.offset > contract.kernargBytes ||
          size > contract.kernargBytes - argument.offset)
        expect(where,
               "an offset inside the " + Twine(contract.kernargBytes) +
                   " bytes of kernel arguments",
               Twine(argument.offset));
      // What lies beyond the end of all arguments has been reported.
      end = SaturatingAdd(argument.offset, size);
      before = argument.name;
      if (isPointer)
        checkPointer(argument, where);
      else
        checkValue(argument, where, size);
    }
    checkOperands();
  }

  /// What no argument points to, no kernel reads or writes; but of what is
  /// updated in place, the result's argument is enough.
  void checkOperands() {
    auto isOf = [&](const Argument &argument, const OperandSpec &operand) {
      if (argument.kind != ArgumentKind::Pointer)
        return false;
      const OperandSpec *own = contract.problem.find(argument.role);
      return own == &operand ||
             (own && argument.access == Access::ReadWrite &&
              own->type == operand.type && own->shape == operand.shape);
    };
    for (const OperandSpec &operand : contract.problem.operands)
      if (none_of(contract.arguments, [&](const Argument &argument) {
            return isOf(argument, operand);
          }))
        expect("operand " + operand.role, "an argument that points to it",
               "none");
  }

  /// Whether a kernel has to write what is of this role; nothing when the
  /// operation is unknown or has no such operand, which is reported.
  std::optional<bool> isResult(StringRef role) const {
    const Problem &problem = contract.problem;
    if (const OperationDefinition *operation =
            findOperation(problem.family, problem.operation))
      for (const OperandDefinition &operand : operation->operands)
        if (operand.role == role)
          return operand.isResult;
    return std::nullopt;
  }

  void checkPointer(const Argument &argument, const std::string &where) {
    if (argument.bits != 0)
      expect(where, "no value of a pointer", Twine(argument.bits));
    uint64_t reach = contract.workspaceBytes;
    ElementType type = ElementType::U8;
    if (argument.role != "workspace") {
      const OperandSpec *operand = contract.problem.find(argument.role);
      if (!operand) {
        std::string roles;
        for (const OperandSpec &known : contract.problem.operands)
          roles += known.role + ", ";
        expect(where, "the role of an operand: " + roles + "or workspace",
               "\"" + argument.role + "\"");
        return;
      }
      type = operand->type;
      // A problem that has been read has shapes of a size.
      reach = cantFail(tensorBytes(operand->type, operand->shape));
      std::optional<bool> written = isResult(argument.role);
      if (written &&
          argument.access == (*written ? Access::Read : Access::Write))
        expect(where,
               (*written ? "access write or readwrite of "
                         : "access read or readwrite of ") +
                   argument.role,
               accessName(argument.access));
    }
    if (argument.type != type)
      expect(where, "type " + elementTypeName(type) + " of " + argument.role,
             elementTypeName(argument.type));
    if (argument.operandOffset != 0 && argument.operandOffset >= reach)
      expect(where,
             "an operand offset inside the " + Twine(reach) + " bytes of " +
                 argument.role,
             Twine(argument.operandOffset));
  }

  void checkValue(const Argument &argument, const std::string &where,
                  uint64_t size) {
    if (!argument.role.empty())
      expect(where, "no role of a value", "\"" + argument.role + "\"");
    if (argument.operandOffset != 0)
      expect(where, "no operand offset of a value",
             Twine(argument.operandOffset));
    if (size < 8 && argument.bits >> (8 * size) != 0)
      expect(where, "a value of " + Twine(8 * size) + " bits",
             Twine(argument.bits));
  }

  void checkWorkspace() {
    if (!isPowerOf2_64(contract.workspaceAlignment))
      expect("workspace", "an alignment that is a power of two",
             Twine(contract.workspaceAlignment));
    bool isUsed = any_of(contract.arguments, [](const Argument &argument) {
      return argument.kind == ArgumentKind::Pointer &&
             argument.role == "workspace";
    });
    if (contract.workspaceBytes != 0 && !isUsed)
      expect("workspace",
             "an argument for its " + Twine(contract.workspaceBytes) + " bytes",
             "none");
  }

  /// Kernels compute with f32.
  void checkNumber(const std::string &name, const AttributeValue &value) {
    const double *number = std::get_if<double>(&value);
    if (!number)
      return;
    double rounded = static_cast<float>(*number);
    if (rounded != *number)
      expect("attribute " + name,
             "a number that f32 holds, such as " + toString(rounded),
             toString(*number));
  }

  void checkNumerics() {
    const Numerics &numerics = contract.numerics;
    auto attribute = contract.problem.attributes.find("accumulation");
    if (!isAccumulation(numerics.accumulation))
      expect("numerics accumulation",
             "an element type, or \"none\" without sums",
             "\"" + numerics.accumulation + "\"");
    else if (attribute != contract.problem.attributes.end() &&
             toString(attribute->second) != numerics.accumulation)
      expect("numerics accumulation",
             toString(attribute->second) + ", as the problem says",
             numerics.accumulation);
    for (auto [name, scheme] :
         {std::pair("rounding", &numerics.rounding),
          std::pair("reduction_order", &numerics.reductionOrder)})
      if (!parseSchemeInstance(*scheme))
        expect(Twine("numerics ") + name, "a scheme, id or id(NAME=1, NAME=2)",
               "\"" + *scheme + "\"");
  }

  const Contract &contract;
  std::vector<std::string> faults;
};
} // namespace

Error verifyContract(const Contract &contract) {
  return ContractVerifier(contract).run();
}

} // namespace netra
