//===- PlanVerifier.cpp - Is a plan of an engine sound? -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "EngineVerifier.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace netra {

namespace {
/// One touch of memory by a step. `space` tells arena and bindings apart.
struct Touch {
  uint64_t space; // 0 the arena, 1 + index a binding
  uint64_t begin, end;
  bool reads, writes;
  std::string what;
  size_t operand = 0; // of a fallback: its number, outputs after inputs

  bool overlaps(const Touch &other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
};

class PlanVerifier : EngineChecker {
public:
  PlanVerifier(const Engine &engine, const EnginePlan &plan,
               const std::string &where, std::vector<BundleFinding> &findings)
      : EngineChecker(engine, findings), plan(plan), root(where),
        used(engine.bindings.size()), touches(plan.steps.size()) {}

  void run() {
    if (plan.profile.guards.empty())
      report(root + "/profile/guards", "expected at least one guard");
    for (const auto &[name, range] : plan.profile.guards) {
      if (!is_contained(guardNames, name))
        report(root + "/profile/guards/" + name,
               "expected one of the guards " +
                   join(ArrayRef(guardNames), ", "));
      if (range.min > range.max)
        report(root + "/profile/guards/" + name,
               "expected a range that holds for a value, found [" +
                   Twine(range.min) + ", " + Twine(range.max) + "]");
    }
    if (!isPowerOf2_64(plan.arenaAlignment))
      report(root + "/arena/alignment",
             "expected a power of two, found " + Twine(plan.arenaAlignment));
    for (size_t i = 0; i != plan.bindings.size(); ++i) {
      std::string at = (root + "/bindings/" + Twine(i)).str();
      uint64_t index = plan.bindings[i];
      if (index >= engine.bindings.size())
        report(at, "expected a binding below " + Twine(engine.bindings.size()) +
                       ", found " + Twine(index));
      else if (used[index])
        report(at,
               "expected each binding once, found " + Twine(index) + " twice");
      else
        used[index] = true;
    }
    if (plan.steps.empty())
      report(root + "/steps", "expected at least one step, found none");

    const size_t findingsBefore = findings.size();
    for (size_t i = 0; i != plan.steps.size(); ++i) {
      const EngineStep &step = plan.steps[i];
      std::string at = (root + "/steps/" + Twine(i)).str();
      for (size_t j = 0; j != step.after.size(); ++j)
        if (step.after[j] >= i || (j && step.after[j - 1] >= step.after[j]))
          report(at + "/after/" + Twine(j),
                 "expected earlier steps in ascending order, found " +
                     Twine(step.after[j]));
      if (step.kind == EngineStep::Kind::Launch)
        checkLaunch(step, at, touches[i]);
      else
        checkFallback(step, at, touches[i]);
    }
    if (findings.size() == findingsBefore)
      checkArena();
    checkOrder();
    checkOutputs();
  }

private:
  void checkLaunch(const EngineStep &step, const std::string &where,
                   std::vector<Touch> &stepTouches) {
    if (step.codeObject >= engine.codeObjects.size()) {
      report(where + "/code_object", "expected a code object below " +
                                         Twine(engine.codeObjects.size()) +
                                         ", found " + Twine(step.codeObject));
      return;
    }
    const auto &kernels = engine.codeObjects[step.codeObject].kernels;
    if (step.kernel >= kernels.size()) {
      report(where + "/kernel", "expected a kernel below " +
                                    Twine(kernels.size()) + ", found " +
                                    Twine(step.kernel));
      return;
    }
    const EngineKernel &kernel = kernels[step.kernel];
    uint64_t workItems = 1;
    for (size_t d = 0; d != 3; ++d) {
      if (step.block[d] == 0 || step.block[d] > 1024) {
        report(where + "/block/" + Twine(d),
               "expected a block of 1 to 1024, found " + Twine(step.block[d]));
        return;
      }
      workItems *= step.block[d];
    }
    std::string unlaunchable =
        findUnlaunchable(step.grid, step.block, plan.profile.guards,
                         target ? target->maxGridYz : UINT32_MAX);
    if (!unlaunchable.empty())
      report(where + "/grid", unlaunchable);
    if (kernel.maxWorkgroup && workItems > kernel.maxWorkgroup)
      report(where + "/block", "expected at most " +
                                   Twine(kernel.maxWorkgroup) +
                                   " work-items, found " + Twine(workItems));
    if (target && (step.dynamicLds > target->maxLds ||
                   kernel.staticLds > target->maxLds - step.dynamicLds))
      report(where + "/dynamic_lds",
             "expected at most " + Twine(target->maxLds) +
                 " bytes of LDS in all, found " + Twine(kernel.staticLds) +
                 " static and " + Twine(step.dynamicLds) + " dynamic");
    if (step.arguments.size() != kernel.arguments.size()) {
      report(where + "/arguments",
             "expected " + Twine(kernel.arguments.size()) + " for " +
                 kernel.symbol + ", found " + Twine(step.arguments.size()));
      return;
    }
    for (size_t i = 0; i != step.arguments.size(); ++i)
      checkArgument(step.arguments[i], kernel.arguments[i],
                    (where + "/arguments/" + Twine(i)).str(), stepTouches);
    // In place means exactly in place: the ranges are equal, or apart.
    checkApart(stepTouches, where, [](const Touch &lhs, const Touch &rhs) {
      return lhs.begin == rhs.begin && !(lhs.writes && rhs.writes);
    });
  }

  /// Reports what overlaps in a step where one of two is written, unless
  /// `mayOverlap`.
  void checkApart(const std::vector<Touch> &stepTouches,
                  const std::string &where,
                  function_ref<bool(const Touch &, const Touch &)> mayOverlap) {
    for (size_t i = 0; i != stepTouches.size(); ++i)
      for (size_t j = i + 1; j != stepTouches.size(); ++j) {
        const Touch &lhs = stepTouches[i], &rhs = stepTouches[j];
        if ((lhs.writes || rhs.writes) && lhs.overlaps(rhs) &&
            !mayOverlap(lhs, rhs))
          report(where, "expected arguments that are apart where one is "
                        "written, found an overlap of " +
                            lhs.what + " and " + rhs.what);
      }
  }

  void checkArgument(const EngineSlot &slot,
                     const EngineKernelArgument &argument,
                     const std::string &where,
                     std::vector<Touch> &stepTouches) {
    using Kind = EngineSlot::Kind;
    if (argument.kind == ArgumentKind::Value) {
      if (slot.kind != Kind::Value)
        report(where,
               "expected a value of type " + elementTypeName(argument.type));
      else if (slot.type != argument.type)
        report(where + "/type", "expected " + elementTypeName(argument.type) +
                                    ", found " + elementTypeName(slot.type));
      else if (argument.bytes < 8 && (slot.bits >> (8 * argument.bytes)) != 0)
        report(where + "/bits", "expected a value of " + Twine(argument.bytes) +
                                    " bytes, found " + Twine(slot.bits));
      else if (slot.follows)
        checkFollowing(slot, where);
      return;
    }
    if (slot.kind == Kind::Value) {
      report(where, "expected a pointer, found a value");
      return;
    }
    if (slot.kind == Kind::Null)
      return;
    bool reads = argument.access != Access::Write;
    bool writes = argument.access != Access::Read;
    if (!checkMemory(slot, reads, writes, where, argument.name, stepTouches))
      return;
    if (slot.offset % elementBytes(argument.type) != 0)
      report(where + "/offset", "expected a multiple of the size of " +
                                    elementTypeName(argument.type) +
                                    ", found " + Twine(slot.offset));
    std::optional<ElementType> type;
    if (slot.kind == Kind::Binding)
      type = engine.bindings[slot.index].type;
    else if (slot.kind == Kind::Weight)
      type = engine.weights.entries[slot.index].type;
    if (type && *type != argument.type)
      report(where, "expected elements of type " +
                        elementTypeName(argument.type) +
                        ", found a buffer of " + elementTypeName(*type));
  }

  /// `bits` are those of the greatest value, which the argument has room for.
  void checkFollowing(const EngineSlot &slot, const std::string &where) {
    std::optional<uint64_t> greatest =
        slot.follows->greatestOver(plan.profile.guards);
    if (!greatest || *greatest > slot.bits)
      report(where + "/follows",
             "expected " + slot.follows->str() + " to be at most " +
                 Twine(slot.bits) + " for " + toString(plan.profile.guards) +
                 ", found " + (greatest ? Twine(*greatest) : Twine("more")));
  }

  /// Checks index and range, and records the touch. False after a finding.
  bool checkMemory(const EngineSlot &slot, bool reads, bool writes,
                   const std::string &where, const std::string &what,
                   std::vector<Touch> &stepTouches) {
    using Kind = EngineSlot::Kind;
    uint64_t limit = plan.arenaBytes, space = 0;
    std::string place = "the arena";
    if (slot.kind == Kind::Binding) {
      if (slot.index >= engine.bindings.size() || !used[slot.index]) {
        report(where + "/index",
               "expected a binding of the plan, found " + Twine(slot.index));
        return false;
      }
      const EngineBinding &binding = engine.bindings[slot.index];
      if (writes && binding.role == BindingRole::Input) {
        report(where, "expected no writing to input " + binding.name);
        return false;
      }
      limit = binding.bytes;
      space = 1 + slot.index;
      place = "binding " + binding.name;
    } else if (slot.kind == Kind::Weight) {
      if (slot.index >= engine.weights.entries.size()) {
        report(where + "/index", "expected a weight below " +
                                     Twine(engine.weights.entries.size()) +
                                     ", found " + Twine(slot.index));
        return false;
      }
      const EngineWeight &weight = engine.weights.entries[slot.index];
      if (writes) {
        report(where, "expected no writing to weight " + weight.name);
        return false;
      }
      limit = weight.bytes;
      place = "weight " + weight.name;
    }
    if (!isInside(slot.offset, slot.bytes, limit)) {
      report(where + "/offset", "expected [" + Twine(slot.offset) + ", +" +
                                    Twine(slot.bytes) + ") inside the " +
                                    Twine(limit) + " bytes of " + place);
      return false;
    }
    if (slot.kind != Kind::Weight && slot.bytes != 0)
      stepTouches.push_back({space, slot.offset, slot.offset + slot.bytes,
                             reads, writes, what + " in " + place});
    return true;
  }

  /// The arena ends where the last of what steps use ends.
  void checkArena() {
    uint64_t end = 0;
    for (const std::vector<Touch> &stepTouches : touches)
      for (const Touch &touch : stepTouches)
        if (touch.space == 0)
          end = std::max(end, touch.end);
    if (!isPowerOf2_64(plan.arenaAlignment))
      return; // reported
    if (uint64_t needed = alignTo(end, plan.arenaAlignment);
        needed != plan.arenaBytes)
      report(root + "/arena/bytes",
             "expected " + Twine(needed) + ", as the steps use " + Twine(end) +
                 " and the alignment is " + Twine(plan.arenaAlignment) +
                 ", found " + Twine(plan.arenaBytes));
  }

  void checkFallback(const EngineStep &step, const std::string &where,
                     std::vector<Touch> &stepTouches) {
    if (step.operation.empty())
      report(where + "/operation", "expected a name");
    if (step.reason.empty())
      report(where + "/reason", "expected why no kernel does it");
    for (size_t i = 0; i != step.inputs.size(); ++i)
      checkOperand(step.inputs, i, /*writes=*/false, i,
                   (where + "/inputs/" + Twine(i)).str(), stepTouches);
    for (size_t i = 0; i != step.inputs.size(); ++i)
      if (step.inputs[i].updates)
        report((where + "/inputs/" + Twine(i) + "/updates").str(),
               "expected that only outputs update");
    std::set<uint64_t> updated;
    for (size_t i = 0; i != step.outputs.size(); ++i) {
      const EngineOperand &output = step.outputs[i];
      std::string at = (where + "/outputs/" + Twine(i)).str();
      checkOperand(step.outputs, i, /*writes=*/true, step.inputs.size() + i, at,
                   stepTouches);
      if (!output.updates)
        continue;
      if (*output.updates >= step.inputs.size())
        report(at + "/updates", "expected an input below " +
                                    Twine(step.inputs.size()) + ", found " +
                                    Twine(*output.updates));
      else if (!updated.insert(*output.updates).second)
        report(at + "/updates", "expected each input once, found " +
                                    Twine(*output.updates) + " twice");
      else if (const EngineOperand &input = step.inputs[*output.updates];
               input.type != output.type || input.shape != output.shape ||
               input.layout != output.layout || !(input.slot == output.slot))
        report(at, "expected the type, layout and memory of " + input.name +
                       ", which it updates");
    }
    // The memory of an input that is updated is nobody else's.
    checkApart(stepTouches, where, [&](const Touch &lhs, const Touch &rhs) {
      return any_of(step.outputs, [&](const EngineOperand &output) {
        return output.updates == lhs.operand &&
               rhs.operand ==
                   size_t(&output - step.outputs.data()) + step.inputs.size();
      });
    });
  }

  void checkOperand(const std::vector<EngineOperand> &operands, size_t index,
                    bool writes, size_t number, const std::string &where,
                    std::vector<Touch> &stepTouches) {
    using Kind = EngineSlot::Kind;
    const EngineOperand &operand = operands[index];
    const EngineSlot &slot = operand.slot;
    if (operand.name.empty())
      report(where + "/name", "expected a name");
    for (size_t i = 0; i != index; ++i)
      if (operands[i].name == operand.name)
        report(where + "/name", "expected a name of its own, found \"" +
                                    operand.name + "\" twice");
    if (slot.kind == Kind::Value || slot.kind == Kind::Null) {
      report(where + "/slot", "expected memory");
      return;
    }
    checkTensor(operand.type, operand.shape, operand.layout, slot.bytes,
                "/slot/bytes", where);
    size_t before = stepTouches.size();
    if (!checkMemory(slot, !writes, writes, where + "/slot",
                     (writes ? "output " : "input ") + operand.name,
                     stepTouches))
      return;
    if (stepTouches.size() != before)
      stepTouches.back().operand = number;
    if (slot.offset % elementBytes(operand.type) != 0)
      report(where + "/slot/offset", "expected a multiple of the size of " +
                                         elementTypeName(operand.type) +
                                         ", found " + Twine(slot.offset));
    auto compare = [&](const auto &buffer) {
      if (buffer.type != operand.type)
        report(where + "/type", "expected " + elementTypeName(buffer.type) +
                                    " as " + buffer.name + " holds, found " +
                                    elementTypeName(operand.type));
      else if (slot.bytes == buffer.bytes && operand.layout != buffer.layout)
        report(where + "/layout", "expected " + buffer.layout + ", in which " +
                                      buffer.name + " lies, found " +
                                      operand.layout);
    };
    if (slot.kind == Kind::Binding)
      compare(engine.bindings[slot.index]);
    else if (slot.kind == Kind::Weight)
      compare(engine.weights.entries[slot.index]);
  }

  /// Every two steps that touch the same bytes, one of them writing, must be
  /// ordered by "after"; and what is read from the arena must have been written
  /// before.
  void checkOrder() {
    constexpr size_t maxSteps = 20000; // the relation below is quadratic
    size_t count = plan.steps.size();
    if (count > maxSteps) {
      report(root + "/steps", "expected at most " + Twine(maxSteps) +
                                  " steps, found " + Twine(count));
      return;
    }
    std::vector<BitVector> before(count);
    for (size_t i = 0; i != count; ++i) {
      before[i].resize(count);
      for (uint64_t earlier : plan.steps[i].after)
        if (earlier < i) {
          before[i] |= before[earlier];
          before[i].set(earlier);
        }
      std::string at = (root + "/steps/" + Twine(i)).str();
      for (const Touch &touch : touches[i]) {
        for (size_t j = 0; j != i; ++j) {
          if (before[i].test(j))
            continue;
          for (const Touch &other : touches[j])
            if (touch.overlaps(other) && (touch.writes || other.writes))
              report(at + "/after",
                     "expected step " + Twine(j) + " (" + plan.steps[j].name +
                         ") before this one, since " + touch.what +
                         " overlaps its " + other.what);
        }
        if (touch.space == 0 && touch.reads && !touch.writes)
          checkWritten(touch, before[i], at);
      }
    }
  }

  void checkWritten(const Touch &touch, const BitVector &before,
                    const std::string &where) {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (unsigned j : before.set_bits())
      for (const Touch &other : touches[j])
        if (other.writes && other.overlaps(touch))
          ranges.emplace_back(other.begin, other.end);
    uint64_t gap = findGap(ranges, touch.begin, touch.end);
    if (gap < touch.end)
      report(where, "expected earlier steps to write all of " + touch.what +
                        ", found that byte " + Twine(gap) +
                        " of the arena is not written");
  }

  /// The first byte of [begin, end) that no range covers; `end` without one.
  static uint64_t findGap(std::vector<std::pair<uint64_t, uint64_t>> &ranges,
                          uint64_t begin, uint64_t end) {
    llvm::sort(ranges);
    for (const auto &[first, last] : ranges)
      if (first <= begin)
        begin = std::max(begin, last);
    return std::min(begin, end);
  }

  void checkOutputs() {
    std::map<uint64_t, std::vector<std::pair<uint64_t, uint64_t>>> written;
    for (const std::vector<Touch> &stepTouches : touches)
      for (const Touch &touch : stepTouches)
        if (touch.writes)
          written[touch.space].emplace_back(touch.begin, touch.end);
    for (uint64_t index : plan.bindings) {
      if (index >= engine.bindings.size() ||
          engine.bindings[index].role != BindingRole::Output)
        continue;
      const EngineBinding &output = engine.bindings[index];
      uint64_t gap = findGap(written[1 + index], 0, output.bytes);
      if (gap == output.bytes)
        continue;
      if (written[1 + index].empty())
        report(root + "/steps", "expected a step that writes output " +
                                    output.name + ", found none");
      else
        report(root + "/steps", "expected steps that write all of output " +
                                    output.name + ", found that byte " +
                                    Twine(gap) + " is not written");
    }
  }

  const EnginePlan &plan;
  const std::string &root;                 // the plan's JSON pointer
  std::vector<bool> used;                  // the engine's bindings
  std::vector<std::vector<Touch>> touches; // by step
};
} // namespace

void verifyPlan(const Engine &engine, const EnginePlan &plan,
                const std::string &where,
                std::vector<BundleFinding> &findings) {
  PlanVerifier(engine, plan, where, findings).run();
}

} // namespace netra
