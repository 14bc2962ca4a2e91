//===- ManifestVerify.cpp - Is an engine description sound? ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include <algorithm>
#include <bit>
#include <set>

using namespace netra::rt;

namespace {

struct TargetLimits {
  const char *architecture;
  uint64_t waveSize;
  uint64_t ldsBytes;  // of one work-group
  uint64_t maxGridYz; // work-groups of the second and the third axis
};
constexpr TargetLimits targets[] = {{"gfx950", 64, 163840, 65535},
                                    {"gfx1100", 32, 65536, 65535}};

Status bad(std::string message) {
  return {NETRA_MANIFEST, cat("engine.json: ", std::move(message))};
}

bool addOverflows(uint64_t a, uint64_t b, uint64_t &sum) {
  return __builtin_add_overflow(a, b, &sum);
}

bool within(uint64_t offset, uint64_t bytes, uint64_t limit) {
  return offset <= limit && bytes <= limit - offset;
}

/// Dense size of a tensor; false when it overflows.
bool tensorBytes(const std::string &type, const std::vector<int64_t> &shape,
                 uint64_t &bytes) {
  bytes = elementBytes(type);
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      return false;
  return true;
}

Status checkTensor(const std::string &what, const std::string &type,
                   const std::vector<int64_t> &shape, const std::string &layout,
                   uint64_t bytes) {
  uint64_t dense;
  if (!tensorBytes(type, shape, dense))
    return bad(cat(what, ": the size of its shape overflows 64 bits"));
  // Layouts other than row-major may pad.
  if (layout == "row_major" ? bytes != dense : bytes < dense)
    return bad(cat(what, ": expected ",
                   layout == "row_major" ? "" : "at least ", dense,
                   " bytes by its shape and type, found ", bytes));
  return Status::ok();
}

template <typename Items, typename Name>
Status checkUnique(const char *what, const Items &items, Name name) {
  std::set<std::string> seen;
  for (const auto &item : items)
    if (!seen.insert(name(item)).second)
      return bad(cat("two ", what, " are named \"", name(item), '"'));
  return Status::ok();
}

/// A relative path with forward slashes that cannot leave the bundle.
bool isSafePath(const std::string &path) {
  if (path.empty() || path.size() > 4096 || path.back() == '/')
    return false;
  size_t at = 0;
  while (at <= path.size()) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..")
      return false;
    at = end + 1;
  }
  return path.find('\\') == std::string::npos;
}

class Verifier {
public:
  explicit Verifier(const Manifest &manifest) : manifest(manifest) {}

  Status run() {
    NETRA_RETURN_IF_FAILED(target());
    NETRA_RETURN_IF_FAILED(files());
    NETRA_RETURN_IF_FAILED(codeObjects());
    NETRA_RETURN_IF_FAILED(bindings());
    NETRA_RETURN_IF_FAILED(weights());
    if (manifest.plans.empty())
      return bad("/plans: expected at least one plan");
    NETRA_RETURN_IF_FAILED(checkUnique(
        "plans", manifest.plans, [](const ManifestPlan &p) { return p.name; }));
    for (const ManifestPlan &candidate : manifest.plans)
      NETRA_RETURN_IF_FAILED(checkPlan(candidate));
    return decisions();
  }

private:
  Status target() {
    for (const TargetLimits &entry : targets)
      if (manifest.architecture == entry.architecture)
        limits = &entry;
    if (!limits)
      return {NETRA_UNSUPPORTED_TARGET,
              cat("engine.json: /target/architecture: expected gfx950 or "
                  "gfx1100, found ",
                  manifest.architecture)};
    if (manifest.waveSize != limits->waveSize)
      return {NETRA_UNSUPPORTED_TARGET,
              cat("engine.json: /target/wave_size: expected ", limits->waveSize,
                  " for ", manifest.architecture, ", found ",
                  manifest.waveSize)};
    if (manifest.codeObjectVersion < 4 || manifest.codeObjectVersion > 6)
      return {NETRA_UNSUPPORTED_TARGET,
              cat("engine.json: /target/code_object_version: expected 4, 5 or "
                  "6, found ",
                  manifest.codeObjectVersion)};
    return Status::ok();
  }

  Status files() {
    for (size_t i = 0; i < manifest.files.size(); ++i) {
      const std::string &path = manifest.files[i].path;
      if (!isSafePath(path) || path == "engine.json")
        return bad(
            cat("/files: \"", path, "\" is not a path inside the bundle"));
      if (i && manifest.files[i - 1].path >= path)
        return bad(cat("/files: expected paths in ascending order, found \"",
                       path, "\" after \"", manifest.files[i - 1].path, '"'));
    }
    return Status::ok();
  }

  Status codeObjects() {
    NETRA_RETURN_IF_FAILED(
        checkUnique("code objects", manifest.codeObjects,
                    [](const ManifestCodeObject &o) { return o.name; }));
    // Kernels of several contracts may be one machine code, in one file.
    for (const ManifestCodeObject &object : manifest.codeObjects) {
      NETRA_RETURN_IF_FAILED(checkFile(object));
      NETRA_RETURN_IF_FAILED(
          checkUnique("kernels of one code object", object.kernels,
                      [](const ManifestKernel &k) { return k.symbol; }));
      for (const ManifestKernel &kernel : object.kernels)
        NETRA_RETURN_IF_FAILED(checkKernel(kernel));
    }
    return Status::ok();
  }

  Status checkFile(const ManifestCodeObject &object) {
    if (object.isLocked)
      return isSafePath(object.path)
                 ? Status::ok()
                 : bad(cat("code object ", object.name, ": \"", object.path,
                           "\" is not a path below a folder"));
    auto file = std::find_if(
        manifest.files.begin(), manifest.files.end(),
        [&](const ManifestFile &f) { return f.path == object.path; });
    if (file == manifest.files.end())
      return bad(cat("code object ", object.name, ": \"", object.path,
                     "\" is not among the files"));
    if (file->sha256 != object.sha256)
      return bad(cat("code object ", object.name,
                     ": its SHA-256 differs from that of file \"", object.path,
                     '"'));
    return Status::ok();
  }

  Status checkKernel(const ManifestKernel &kernel) {
    uint64_t end = 0;
    for (const ManifestArgument &argument : kernel.arguments) {
      std::string what =
          cat("kernel ", kernel.symbol, ", argument ", argument.name);
      uint64_t size = argument.isPointer ? 8 : elementBytes(argument.type);
      if (argument.bytes != size)
        return bad(
            cat(what, ": expected ", size, " bytes, found ", argument.bytes));
      if (argument.isPointer == (argument.access == Access::Value))
        return bad(cat(what, ": a pointer has access read, write or readwrite, "
                             "a value has access value"));
      if (argument.offset % size)
        return bad(cat(what, ": offset ", argument.offset,
                       " is not a multiple of ", size));
      if (argument.offset < end)
        return bad(cat(what, ": offset ", argument.offset,
                       " overlaps the argument before it"));
      if (!within(argument.offset, size, kernel.kernargBytes))
        return bad(cat(what, ": ends beyond the ", kernel.kernargBytes,
                       " bytes of kernel arguments"));
      end = argument.offset + size;
    }
    return Status::ok();
  }

  Status bindings() {
    NETRA_RETURN_IF_FAILED(
        checkUnique("bindings", manifest.bindings,
                    [](const ManifestBinding &b) { return b.name; }));
    std::set<uint64_t> positions[3];
    for (const ManifestBinding &binding : manifest.bindings) {
      NETRA_RETURN_IF_FAILED(checkTensor(cat("binding ", binding.name),
                                         binding.type, binding.shape,
                                         binding.layout, binding.bytes));
      if (!positions[binding.role].insert(binding.index).second)
        return bad(cat("binding ", binding.name,
                       ": another has role and index ", binding.index, " too"));
    }
    for (const std::set<uint64_t> &indices : positions)
      if (!indices.empty() && *indices.rbegin() != indices.size() - 1)
        return bad("/bindings: the indices of a role have a gap");
    return Status::ok();
  }

  Status weights() {
    const ManifestWeights &weights = manifest.weights;
    if (!std::has_single_bit(weights.alignment))
      return bad(cat("/weights/alignment: expected a power of two, found ",
                     weights.alignment));
    NETRA_RETURN_IF_FAILED(
        checkUnique("weights", weights.entries,
                    [](const ManifestWeight &w) { return w.name; }));
    std::vector<const ManifestWeight *> ordered;
    for (const ManifestWeight &weight : weights.entries) {
      std::string what = cat("weight ", weight.name);
      NETRA_RETURN_IF_FAILED(checkTensor(what, weight.type, weight.shape,
                                         weight.layout, weight.bytes));
      if (weight.offset % weights.alignment)
        return bad(cat(what, ": offset ", weight.offset,
                       " is not a multiple of the alignment ",
                       weights.alignment));
      if (!within(weight.offset, weight.bytes, weights.bytes))
        return bad(cat(what, ": [", weight.offset, ", +", weight.bytes,
                       ") lies outside the ", weights.bytes,
                       " bytes of weights"));
      ordered.push_back(&weight);
    }
    std::sort(ordered.begin(), ordered.end(),
              [](auto *a, auto *b) { return a->offset < b->offset; });
    for (size_t i = 1; i < ordered.size(); ++i)
      if (ordered[i]->offset < ordered[i - 1]->offset + ordered[i - 1]->bytes)
        return bad(cat("weights ", ordered[i - 1]->name, " and ",
                       ordered[i]->name, " overlap"));
    return Status::ok();
  }

  /// A launch ends after at most one node per dimension, in a plan that is
  /// there. That the plan admits the launch is checked by the launch.
  Status decisions() {
    using Kind = ManifestCase::Kind;
    const auto &nodes = manifest.decisions;
    if (nodes.empty())
      return bad("/decisions/nodes: expected at least one node");
    for (size_t i = 0; i < nodes.size(); ++i) {
      std::string what = cat("/decisions/nodes/", i);
      const auto &cases = nodes[i].cases;
      if (cases.empty() || cases.front().from != 0)
        return bad(cat(what, ": expected cases from 0 on"));
      for (size_t c = 0; c < cases.size(); ++c) {
        if (c && cases[c].from <= cases[c - 1].from)
          return bad(cat(what, "/cases/", c, "/from: expected more than ",
                         cases[c - 1].from, ", found ", cases[c].from));
        if (cases[c].kind == Kind::Plan &&
            cases[c].index >= manifest.plans.size())
          return bad(cat(what, "/cases/", c, "/index: there is no plan ",
                         cases[c].index));
        if (cases[c].kind == Kind::Node &&
            (cases[c].index >= nodes.size() ||
             nodes[cases[c].index].dimension <= nodes[i].dimension))
          return bad(cat(what, "/cases/", c,
                         "/index: expected a node that asks for a later "
                         "dimension, found ",
                         cases[c].index));
      }
    }
    return Status::ok();
  }

  Status checkPlan(const ManifestPlan &current) {
    plan = &current;
    if (!std::has_single_bit(plan->arenaAlignment))
      return bad(cat("plan ", plan->name,
                     ": expected an arena alignment that is a power of two, "
                     "found ",
                     plan->arenaAlignment));
    uint64_t padded;
    if (addOverflows(plan->arenaBytes, plan->arenaAlignment, padded))
      return bad(cat("plan ", plan->name, ": the arena size overflows"));
    used.assign(manifest.bindings.size(), false);
    written.assign(manifest.bindings.size(), false);
    arenaEnd = 0;
    for (uint64_t index : plan->bindings) {
      if (index >= manifest.bindings.size())
        return bad(cat("plan ", plan->name, ": there is no binding ", index));
      if (used[index])
        return bad(
            cat("plan ", plan->name, ": binding ", index, " is listed twice"));
      used[index] = true;
    }
    if (plan->steps.empty())
      return bad(cat("plan ", plan->name, ": expected at least one step"));
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      const ManifestStep &step = plan->steps[i];
      std::string what =
          cat("plan ", plan->name, ", step ", i, " (", step.name, ")");
      for (size_t j = 0; j < step.after.size(); ++j)
        if (step.after[j] >= i || (j && step.after[j - 1] >= step.after[j]))
          return bad(cat(what,
                         ": \"after\" must list earlier steps in "
                         "ascending order, found ",
                         step.after[j]));
      NETRA_RETURN_IF_FAILED(step.kind == NETRA_STEP_LAUNCH
                                 ? checkLaunch(step, what)
                                 : checkFallback(step, what));
    }
    // No overflow: the end is inside the arena.
    uint64_t mask = plan->arenaAlignment - 1;
    if (uint64_t needed = (arenaEnd + mask) & ~mask; needed != plan->arenaBytes)
      return bad(cat("plan ", plan->name, ": expected an arena of ", needed,
                     " bytes, as the steps use ", arenaEnd,
                     " and the alignment is ", plan->arenaAlignment, ", found ",
                     plan->arenaBytes));
    for (uint64_t index : plan->bindings)
      if (manifest.bindings[index].role == NETRA_OUTPUT && !written[index])
        return bad(cat("plan ", plan->name, ": no step writes output ",
                       manifest.bindings[index].name));
    return Status::ok();
  }

  Status checkLaunch(const ManifestStep &step, const std::string &what) {
    if (step.codeObject >= manifest.codeObjects.size())
      return bad(cat(what, ": there is no code object ", step.codeObject));
    const auto &kernels = manifest.codeObjects[step.codeObject].kernels;
    if (step.kernel >= kernels.size())
      return bad(cat(what, ": code object ", step.codeObject, " has no kernel ",
                     step.kernel));
    const ManifestKernel &kernel = kernels[step.kernel];
    uint64_t items = 1;
    for (int i = 0; i < 3; ++i) {
      if (step.block[i] > 1024)
        return bad(cat(what,
                       ": expected at most 1024 work-items in a block "
                       "dimension, found ",
                       step.block[i]));
      items *= step.block[i];
      NETRA_RETURN_IF_FAILED(checkGrid(step, i, what));
    }
    if (items > kernel.maxWorkgroup)
      return bad(cat(what, ": a block of ", items,
                     " work-items, the kernel's maximum is ",
                     kernel.maxWorkgroup));
    if (kernel.staticLds > limits->ldsBytes ||
        step.dynamicLds > limits->ldsBytes - kernel.staticLds)
      return bad(cat(what, ": ", kernel.staticLds, " static and ",
                     step.dynamicLds, " dynamic bytes of LDS exceed ",
                     limits->ldsBytes));
    if (step.arguments.size() != kernel.arguments.size())
      return bad(cat(what, ": kernel ", kernel.symbol, " takes ",
                     kernel.arguments.size(), " arguments, the step passes ",
                     step.arguments.size()));
    for (size_t i = 0; i < step.arguments.size(); ++i)
      NETRA_RETURN_IF_FAILED(
          checkArgument(step.arguments[i], kernel.arguments[i],
                        cat(what, ", argument ", kernel.arguments[i].name)));
    return Status::ok();
  }

  /// The ends of `affine` over the guards of the plan. False when 64 bits do
  /// not hold one.
  bool getRange(const ManifestAffine &affine, netra_range &range) const {
    range = {affine.constant, affine.constant};
    for (unsigned i = 0; i < dimensionCount; ++i)
      for (auto [end, guard] : {std::pair(&range.min, plan->guards[i].min),
                                std::pair(&range.max, plan->guards[i].max)}) {
        uint64_t product;
        if (affine.factors[i] &&
            (__builtin_mul_overflow(affine.factors[i], guard, &product) ||
             addOverflows(*end, product, *end)))
          return false;
      }
    return true;
  }

  /// Every launch that the guards admit has a grid that can be launched.
  Status checkGrid(const ManifestStep &step, int axis,
                   const std::string &what) {
    std::string where = cat(what, ": axis ", "xyz"[axis], " of the grid");
    netra_range range;
    if (!getRange(step.grid[axis], range))
      return bad(cat(where, " does not fit 64 bits inside the guards"));
    if (range.min == 0)
      return bad(cat(where, " is 0 at the least of the guards"));
    if (range.max > UINT32_MAX / step.block[axis])
      return bad(cat(where, ": ", range.max, " times block ", step.block[axis],
                     " does not fit 32 bits"));
    if (axis && range.max > limits->maxGridYz)
      return bad(cat(where, ": expected at most ", limits->maxGridYz,
                     " work-groups, found ", range.max));
    return Status::ok();
  }

  Status checkArgument(const ManifestSlot &slot,
                       const ManifestArgument &argument,
                       const std::string &what) {
    if (!argument.isPointer) {
      if (slot.kind != ManifestSlot::Kind::Value)
        return bad(cat(what, ": expected a value"));
      if (slot.type != argument.type)
        return bad(cat(what, ": expected a value of type ", argument.type,
                       ", found ", slot.type));
      if (argument.bytes < 8 && slot.bits >> (8 * argument.bytes))
        return bad(cat(what, ": ", slot.bits, " does not fit ", argument.bytes,
                       " bytes"));
      netra_range range;
      if (!getRange(slot.follows, range) || range.max > slot.bits)
        return bad(cat(what,
                       ": what follows the guards exceeds its greatest "
                       "value, ",
                       slot.bits));
      return Status::ok();
    }
    if (slot.kind == ManifestSlot::Kind::Value)
      return bad(cat(what, ": expected a pointer, found a value"));
    if (slot.kind == ManifestSlot::Kind::Null)
      return Status::ok();
    NETRA_RETURN_IF_FAILED(checkMemory(slot, argument.writes(), what));
    if (slot.offset % elementBytes(argument.type))
      return bad(cat(what, ": offset ", slot.offset,
                     " is not a multiple of the size of ", argument.type));
    const std::string *type = nullptr;
    if (slot.kind == ManifestSlot::Kind::Binding)
      type = &manifest.bindings[slot.index].type;
    else if (slot.kind == ManifestSlot::Kind::Weight)
      type = &manifest.weights.entries[slot.index].type;
    if (type && *type != argument.type)
      return bad(cat(what, ": the kernel expects ", argument.type,
                     " elements, the buffer holds ", *type));
    return Status::ok();
  }

  Status checkMemory(const ManifestSlot &slot, bool writes,
                     const std::string &what) {
    uint64_t limit = plan->arenaBytes;
    std::string place = "the arena";
    if (slot.kind == ManifestSlot::Kind::Binding) {
      if (slot.index >= manifest.bindings.size() || !used[slot.index])
        return bad(cat(what, ": binding ", slot.index,
                       " is not among those of the plan"));
      const ManifestBinding &binding = manifest.bindings[slot.index];
      place = "binding " + binding.name;
      limit = binding.bytes;
      if (writes && binding.role == NETRA_INPUT)
        return bad(cat(what, ": writes input ", binding.name));
      written[slot.index] = written[slot.index] || writes;
    } else if (slot.kind == ManifestSlot::Kind::Weight) {
      if (slot.index >= manifest.weights.entries.size())
        return bad(cat(what, ": there is no weight ", slot.index));
      const ManifestWeight &weight = manifest.weights.entries[slot.index];
      place = "weight " + weight.name;
      limit = weight.bytes;
      if (writes)
        return bad(cat(what, ": writes weight ", weight.name));
    }
    if (!within(slot.offset, slot.bytes, limit))
      return bad(cat(what, ": [", slot.offset, ", +", slot.bytes,
                     ") lies outside the ", limit, " bytes of ", place));
    if (slot.kind == ManifestSlot::Kind::Arena && slot.bytes)
      arenaEnd = std::max(arenaEnd, slot.offset + slot.bytes);
    return Status::ok();
  }

  Status checkFallback(const ManifestStep &step, const std::string &what) {
    for (const ManifestOperand &input : step.inputs) {
      std::string where = cat(what, ", input ", input.name);
      if (input.updates != UINT64_MAX)
        return bad(cat(where, ": only an output updates"));
      NETRA_RETURN_IF_FAILED(checkOperand(input, false, where));
    }
    std::set<uint64_t> updated;
    for (const ManifestOperand &output : step.outputs) {
      std::string where = cat(what, ", output ", output.name);
      NETRA_RETURN_IF_FAILED(checkOperand(output, true, where));
      if (output.updates == UINT64_MAX)
        continue;
      if (output.updates >= step.inputs.size())
        return bad(cat(where, ": updates input ", output.updates, " of ",
                       step.inputs.size()));
      const ManifestOperand &input = step.inputs[output.updates];
      if (!updated.insert(output.updates).second)
        return bad(cat(where, ": another output updates input ", input.name));
      if (input.type != output.type || input.shape != output.shape ||
          input.layout != output.layout || input.slot != output.slot)
        return bad(cat(where,
                       ": expected the type, layout and memory of input ",
                       input.name, ", which it updates"));
    }
    return Status::ok();
  }

  Status checkOperand(const ManifestOperand &operand, bool writes,
                      const std::string &what) {
    if (!operand.slot.isMemory())
      return bad(cat(what, ": expected memory"));
    NETRA_RETURN_IF_FAILED(checkTensor(what, operand.type, operand.shape,
                                       operand.layout, operand.slot.bytes));
    return checkMemory(operand.slot, writes, what);
  }

  const Manifest &manifest;
  const TargetLimits *limits = nullptr;
  const ManifestPlan *plan = nullptr;
  std::vector<bool> used, written; // bindings of the plan
  uint64_t arenaEnd = 0;           // of what its steps have used so far
};

} // namespace

Status netra::rt::verifyManifest(const Manifest &manifest) {
  return Verifier(manifest).run();
}

Status netra::rt::verifyCodeObject(const Manifest &manifest,
                                   const ManifestCodeObject &expected,
                                   const CodeObjectFacts &found) {
  auto differ = [&](const std::string &what, const auto &want,
                    const auto &have) {
    return Status(NETRA_MANIFEST,
                  cat(expected.path, ": ", what, ": engine.json states ", want,
                      ", the code object ", have));
  };
  if (found.architecture != manifest.architecture)
    return {NETRA_UNSUPPORTED_TARGET,
            cat(expected.path, ": expected code for ", manifest.architecture,
                ", found code for ", found.architecture)};
  if (found.version != manifest.codeObjectVersion)
    return differ("code object version", manifest.codeObjectVersion,
                  found.version);
  if (found.textSha256 != expected.textSha256)
    return differ("SHA-256 of .text", expected.textSha256, found.textSha256);
  for (const ManifestKernel &kernel : expected.kernels) {
    const KernelFacts *facts = found.find(kernel.symbol);
    if (!facts)
      return {NETRA_MANIFEST, cat(expected.path, ": there is no kernel ",
                                  kernel.symbol, " in the code object")};
    struct Field {
      const char *name;
      uint64_t want, have;
    };
    const Field fields[] = {
        {"kernel argument bytes", kernel.kernargBytes, facts->kernargBytes},
        {"static LDS", kernel.staticLds, facts->staticLds},
        {"VGPRs", kernel.vgprs, facts->vgprs},
        {"AGPRs", kernel.agprs, facts->agprs},
        {"SGPRs", kernel.sgprs, facts->sgprs},
        {"maximum work-group", kernel.maxWorkgroup, facts->maxWorkgroup},
        {"wave size", manifest.waveSize, facts->waveSize}};
    for (const Field &field : fields)
      if (field.want != field.have)
        return differ(cat(kernel.symbol, ", ", field.name), field.want,
                      field.have);
    std::vector<const ArgumentFacts *> explicitArguments;
    for (const ArgumentFacts &argument : facts->arguments)
      if (!argument.isHidden())
        explicitArguments.push_back(&argument);
    if (explicitArguments.size() != kernel.arguments.size())
      return differ(cat(kernel.symbol, ", number of arguments"),
                    kernel.arguments.size(), explicitArguments.size());
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
      const ManifestArgument &want = kernel.arguments[i];
      const ArgumentFacts &have = *explicitArguments[i];
      std::string what = cat(kernel.symbol, ", argument ", want.name);
      if (want.offset != have.offset)
        return differ(what + ", offset", want.offset, have.offset);
      if (want.bytes != have.size)
        return differ(what + ", bytes", want.bytes, have.size);
      if (want.isPointer != (have.valueKind == "global_buffer"))
        return differ(what + ", kind",
                      std::string(want.isPointer ? "pointer" : "value"),
                      have.valueKind);
    }
  }
  // A launch must also respect what only the code object says.
  for (const ManifestPlan &plan : manifest.plans)
    for (const ManifestStep &step : plan.steps) {
      if (step.kind != NETRA_STEP_LAUNCH ||
          &manifest.codeObjects[step.codeObject] != &expected)
        continue;
      const KernelFacts *facts =
          found.find(expected.kernels[step.kernel].symbol);
      if (facts && facts->requiredWorkgroup &&
          *facts->requiredWorkgroup != step.block)
        return {NETRA_MANIFEST,
                cat(expected.path, ": plan ", plan.name, ", step ", step.name,
                    ": the kernel requires a block of ",
                    (*facts->requiredWorkgroup)[0], 'x',
                    (*facts->requiredWorkgroup)[1], 'x',
                    (*facts->requiredWorkgroup)[2], ", the step has ",
                    step.block[0], 'x', step.block[1], 'x', step.block[2])};
    }
  return Status::ok();
}
