//===- EngineVerifier.cpp - Is an engine description sound? ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "EngineVerifier.h"
#include "BundleFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace netra {

namespace {
std::string toString(const DecisionNode &node) {
  std::string text = guardNames[node.dimension].str();
  for (const DecisionCase &next : node.cases)
    text += " " + utostr(next.from) +
            (next.kind == DecisionCase::Kind::Refuse ? ":refuse"
             : next.kind == DecisionCase::Kind::Plan ? ":plan "
                                                     : ":node ") +
            (next.kind == DecisionCase::Kind::Refuse ? "" : utostr(next.index));
  return text;
}

class Verifier : EngineChecker {
public:
  Verifier(const Engine &engine, std::vector<BundleFinding> &findings)
      : EngineChecker(engine, findings) {}

  void run() {
    checkTexts(engine, findings);
    checkTarget();
    checkFiles();
    checkCodeObjects();
    checkBindings();
    checkWeights();
    if (engine.plans.empty())
      report("/plans", "expected at least one plan, found none");
    std::set<std::string> names;
    for (size_t i = 0; i != engine.plans.size(); ++i) {
      std::string where = ("/plans/" + Twine(i)).str();
      if (!names.insert(engine.plans[i].name).second)
        report(where + "/name", "expected a name of its own, found \"" +
                                    engine.plans[i].name + "\" twice");
      verifyPlan(engine, engine.plans[i], where, findings);
    }
    checkDecisions();
  }

private:
  void checkTarget() {
    if (!target) {
      report("/target/architecture", "expected one of " + listTargets() +
                                         ", found \"" + engine.architecture +
                                         "\"");
      return;
    }
    if (engine.waveSize != target->waveSize)
      report("/target/wave_size", "expected " + Twine(target->waveSize) +
                                      " for " + target->name + ", found " +
                                      Twine(engine.waveSize));
    if (engine.codeObjectVersion != target->codeObjectVersion)
      report("/target/code_object_version",
             "expected " + Twine(target->codeObjectVersion) + ", found " +
                 Twine(engine.codeObjectVersion));
  }

  void checkFiles() {
    for (size_t i = 0; i != engine.files.size(); ++i) {
      const EngineFile &file = engine.files[i];
      std::string where = ("/files/" + Twine(i) + "/path").str();
      if (!isBundlePath(file.path) || file.path == engineFileName)
        report(where, "expected a relative path inside the bundle, found \"" +
                          file.path + "\"");
      if (i && engine.files[i - 1].path >= file.path)
        report(where, "expected paths in ascending order, found \"" +
                          file.path + "\" after \"" + engine.files[i - 1].path +
                          "\"");
    }
  }

  void checkCodeObjects() {
    std::set<std::string> names;
    std::map<std::pair<bool, std::string>, std::string> hashes;
    for (size_t i = 0; i != engine.codeObjects.size(); ++i) {
      const EngineCodeObject &object = engine.codeObjects[i];
      std::string where = ("/code_objects/" + Twine(i)).str();
      if (!names.insert(object.name).second)
        report(where + "/name", "expected a name of its own, found \"" +
                                    object.name + "\" twice");
      // Kernels of several contracts may be one machine code, in one file.
      auto [known, isNew] =
          hashes.insert({{object.isLocked(), object.path}, object.sha256});
      if (!object.path.empty() && !isNew && known->second != object.sha256)
        report(where + "/path", "expected one hash for one file, found \"" +
                                    object.path + "\" with two");
      if (object.isLocked()) {
        if (!isBundlePath(object.path))
          report(where + "/locked/file",
                 "expected a relative path without \"..\", found \"" +
                     object.path + "\"");
        // Before a bundle is written there are no files to compare with.
      } else if (!engine.files.empty()) {
        auto file = find_if(engine.files, [&](const EngineFile &candidate) {
          return candidate.path == object.path;
        });
        std::string stem =
            ("code/" + StringRef(object.textSha256).take_front(16)).str();
        std::string other =
            (stem + "-" + StringRef(object.sha256).take_front(16)).str();
        if (object.path != stem + ".hsaco" && object.path != other + ".hsaco")
          report(where + "/path", "expected " + stem +
                                      ".hsaco after the hash of .text, found "
                                      "\"" +
                                      object.path + "\"");
        if (file == engine.files.end())
          report(where + "/path",
                 "expected one of the files, found \"" + object.path + "\"");
        else if (file->sha256 != object.sha256)
          report(where + "/sha256", "expected " + file->sha256 +
                                        " as the list of files says, found " +
                                        object.sha256);
      }
      if (object.kernels.empty())
        report(where + "/kernels", "expected at least one kernel, found none");
      std::set<std::string> symbols;
      for (size_t k = 0; k != object.kernels.size(); ++k) {
        std::string at = (where + "/kernels/" + Twine(k)).str();
        if (!symbols.insert(object.kernels[k].symbol).second)
          report(at + "/symbol", "expected each symbol once, found \"" +
                                     object.kernels[k].symbol + "\" twice");
        checkKernel(object.kernels[k], at);
      }
    }
  }

  void checkKernel(const EngineKernel &kernel, const std::string &where) {
    uint64_t end = 0;
    std::set<std::string> names;
    for (size_t i = 0; i != kernel.arguments.size(); ++i) {
      const EngineKernelArgument &argument = kernel.arguments[i];
      std::string at = (where + "/arguments/" + Twine(i)).str();
      bool isPointer = argument.kind == ArgumentKind::Pointer;
      uint64_t size = isPointer ? 8 : elementBytes(argument.type);
      if (!names.insert(argument.name).second)
        report(at + "/name", "expected each name once, found \"" +
                                 argument.name + "\" twice");
      if (argument.bytes != size)
        report(at + "/bytes",
               "expected " + Twine(size) + ", found " + Twine(argument.bytes));
      if (isPointer == (argument.access == Access::Value))
        report(at + "/access",
               "expected read, write or readwrite for a pointer and value for "
               "a value, found " +
                   accessName(argument.access));
      if (argument.offset % size != 0)
        report(at + "/offset", "expected a multiple of " + Twine(size) +
                                   ", found " + Twine(argument.offset));
      if (argument.offset < end)
        report(at + "/offset", "expected at least " + Twine(end) +
                                   ", the end of the argument before, found " +
                                   Twine(argument.offset));
      if (!isInside(argument.offset, size, kernel.kernargBytes))
        report(at + "/offset", "expected it inside the " +
                                   Twine(kernel.kernargBytes) +
                                   " bytes of kernel arguments, found " +
                                   Twine(argument.offset));
      end = argument.offset + size;
    }
    if (target && kernel.staticLds > target->maxLds)
      report(where + "/static_lds", "expected at most " +
                                        Twine(target->maxLds) + ", found " +
                                        Twine(kernel.staticLds));
  }

  void checkBindings() {
    std::set<std::string> names;
    std::set<uint64_t> indices[3];
    for (size_t i = 0; i != engine.bindings.size(); ++i) {
      const EngineBinding &binding = engine.bindings[i];
      std::string where = ("/bindings/" + Twine(i)).str();
      if (!names.insert(binding.name).second)
        report(where + "/name", "expected a name of its own, found \"" +
                                    binding.name + "\" twice");
      if (!indices[static_cast<size_t>(binding.role)]
               .insert(binding.index)
               .second)
        report(where + "/index", "expected each index of a role once, found " +
                                     Twine(binding.index) + " twice");
      checkTensor(binding.type, binding.shape, binding.layout, binding.bytes,
                  "/bytes", where);
    }
    for (const std::set<uint64_t> &used : indices)
      if (!used.empty() && *used.rbegin() != used.size() - 1)
        report("/bindings", "expected the indices of a role without a gap, "
                            "found " +
                                Twine(used.size()) + " with the largest " +
                                Twine(*used.rbegin()));
  }

  void checkWeights() {
    const EngineWeights &weights = engine.weights;
    if (!isPowerOf2_64(weights.alignment))
      report("/weights/alignment",
             "expected a power of two, found " + Twine(weights.alignment));
    if (!weights.id.empty() && weights.id != computeWeightsId(weights))
      report("/weights/id", "expected " + computeWeightsId(weights) +
                                " as its entries say, found " + weights.id);
    std::set<std::string> names;
    std::vector<size_t> order;
    for (size_t i = 0; i != weights.entries.size(); ++i) {
      const EngineWeight &weight = weights.entries[i];
      std::string where = ("/weights/entries/" + Twine(i)).str();
      if (!names.insert(weight.name).second)
        report(where + "/name", "expected a name of its own, found \"" +
                                    weight.name + "\" twice");
      checkTensor(weight.type, weight.shape, weight.layout, weight.bytes,
                  "/bytes", where);
      if (weights.alignment && weight.offset % weights.alignment != 0)
        report(where + "/offset", "expected a multiple of the alignment " +
                                      Twine(weights.alignment) + ", found " +
                                      Twine(weight.offset));
      if (!isInside(weight.offset, weight.bytes, weights.bytes))
        report(where + "/offset", "expected [" + Twine(weight.offset) + ", +" +
                                      Twine(weight.bytes) + ") inside the " +
                                      Twine(weights.bytes) +
                                      " bytes of weights");
      else
        order.push_back(i);
      checkPack(weight, where);
    }
    llvm::sort(order, [&](size_t lhs, size_t rhs) {
      return std::pair(weights.entries[lhs].offset, lhs) <
             std::pair(weights.entries[rhs].offset, rhs);
    });
    for (size_t i = 1; i < order.size(); ++i) {
      const EngineWeight &before = weights.entries[order[i - 1]];
      const EngineWeight &weight = weights.entries[order[i]];
      if (weight.offset < before.offset + before.bytes)
        report(("/weights/entries/" + Twine(order[i]) + "/offset").str(),
               "expected at least " + Twine(before.offset + before.bytes) +
                   ", the end of " + before.name + ", found " +
                   Twine(weight.offset));
    }
    // Sizes and places that are wrong have been reported.
    if (order.size() != weights.entries.size() ||
        !isPowerOf2_64(weights.alignment))
      return;
    uint64_t end = 0;
    for (const EngineWeight &weight : weights.entries)
      end = std::max(end, weight.offset + weight.bytes);
    if (uint64_t bytes = alignTo(end, weights.alignment);
        weights.bytes != bytes)
      report("/weights/bytes",
             "expected " + Twine(bytes) +
                 ", the end of the last weight up to a multiple of the "
                 "alignment, found " +
                 Twine(weights.bytes));
  }

  void checkPack(const EngineWeight &weight, const std::string &where) {
    Expected<PackRecipe::Result> result = weight.pack.verify();
    if (!result) {
      report(where + "/pack", llvm::toString(result.takeError()));
      return;
    }
    if (result->type != weight.type || result->shape != weight.shape)
      report(where + "/pack",
             "expected a recipe for " + tensorName(weight.type, weight.shape) +
                 ", found one for " + tensorName(result->type, result->shape));
    else if (result->layout.str() != weight.layout)
      report(where + "/pack", "expected layout " + weight.layout +
                                  " at the end, found " + result->layout.str());
  }

  /// The table must be the one that follows from the plans.
  void checkDecisions() {
    if (engine.plans.empty())
      return;
    Expected<DecisionTable> table = decidePlans(engine);
    if (!table) {
      std::string text = llvm::toString(table.takeError());
      SmallVector<StringRef> lines;
      StringRef(text).split(lines, '\n');
      for (StringRef line : lines)
        report("/decisions", line);
      return;
    }
    const auto &expected = table->nodes, &found = engine.decisions.nodes;
    auto [want, have] = std::mismatch(expected.begin(), expected.end(),
                                      found.begin(), found.end());
    if (want == expected.end() && have == found.end())
      return;
    std::string where =
        ("/decisions/nodes/" + Twine(want - expected.begin())).str();
    if (want == expected.end() || have == found.end())
      report(where, "expected " + Twine(expected.size()) +
                        " nodes as the guards say, found " +
                        Twine(found.size()));
    else
      report(where, "expected " + toString(*want) +
                        " as the guards say, found " + toString(*have));
  }
};
} // namespace

void EngineChecker::checkTensor(ElementType type,
                                const std::vector<int64_t> &shape,
                                StringRef layout, uint64_t stated,
                                StringRef bytesKey, const std::string &where) {
  Expected<Layout> parsed = Layout::parse(layout);
  if (!parsed) {
    report(where + "/layout", llvm::toString(parsed.takeError()));
  } else if (Error error = parsed->verify(shape)) {
    report(where + "/shape", llvm::toString(std::move(error)));
    return;
  }
  Expected<uint64_t> bytes = tensorBytes(type, shape);
  if (!bytes)
    report(where + "/shape", llvm::toString(bytes.takeError()));
  else if (*bytes != stated)
    report(where + bytesKey, "expected " + Twine(*bytes) + " for " +
                                 tensorName(type, shape) + ", found " +
                                 Twine(stated));
}

Expected<DecisionTable> decidePlans(const Engine &engine) {
  std::vector<DecisionPlan> plans;
  for (const EnginePlan &plan : engine.plans)
    plans.push_back({plan.name, plan.profile.priority, plan.profile.guards});
  return compileDecisions(plans, engine.domain);
}

std::vector<BundleFinding> verifyEngine(const Engine &engine) {
  std::vector<BundleFinding> findings;
  Verifier(engine, findings).run();
  return findings;
}

} // namespace netra
