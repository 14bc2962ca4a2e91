//===- Catalog.cpp - Loading the catalogue, and selection -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Catalog.h"

#include "ManifestReader.h"

#include "Netra/Catalog/Model.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace llvm;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace netra {

struct Catalog::Impl {
  std::string root;
  std::string target;
  std::vector<Tactic> tactics;
  std::vector<ServingProfile> profiles;
  SchemeTable schemes;
  std::map<std::pair<std::string, std::string>, std::vector<const Tactic *>>
      index;
};

Catalog::Catalog(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Catalog::Catalog(Catalog &&) = default;
Catalog &Catalog::operator=(Catalog &&) = default;
Catalog::~Catalog() = default;

StringRef Catalog::getTarget() const { return impl->target; }
StringRef Catalog::getLibraryRoot() const { return impl->root; }
ArrayRef<Tactic> Catalog::tactics() const { return impl->tactics; }
ArrayRef<ServingProfile> Catalog::profiles() const { return impl->profiles; }
const SchemeTable &Catalog::schemes() const { return impl->schemes; }

std::string Catalog::findLibraryRoot(StringRef option) {
  if (!option.empty())
    return option.str();
  if (const char *root = std::getenv("NETRA_LIBRARY_ROOT"); root && *root)
    return root;
  // An installed tool lies in bin/ beside share/netra/.
  static char anchor;
  SmallString<256> installed(
      path::parent_path(fs::getMainExecutable(nullptr, &anchor)));
  path::append(installed, "..", "share", "netra");
  path::remove_dots(installed, /*remove_dot_dot=*/true);
  if (fs::is_directory(installed))
    return installed.str().str();
  return NETRA_DEFAULT_LIBRARY_ROOT;
}

ArrayRef<const Tactic *> Catalog::tacticsFor(StringRef family,
                                             StringRef operation) const {
  auto found = impl->index.find({family.str(), operation.str()});
  if (found == impl->index.end())
    return {};
  return found->second;
}

template <typename T>
static const T *findByName(const std::vector<T> &sorted, StringRef name) {
  auto found =
      llvm::lower_bound(sorted, name, [](const T &value, StringRef key) {
        return StringRef(value.name) < key;
      });
  return found == sorted.end() || found->name != name ? nullptr : &*found;
}

const Tactic *Catalog::findTactic(StringRef name) const {
  return findByName(impl->tactics, name);
}

const ServingProfile *Catalog::findProfile(StringRef name) const {
  return findByName(impl->profiles, name);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Names of the .json files of a folder, sorted: the order of a directory
/// listing depends on the machine.
static Expected<std::vector<std::string>> listManifests(StringRef folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    StringRef name = path::filename(it->path());
    if (name.ends_with(".json") && !name.starts_with("."))
      names.push_back(name.str());
  }
  if (error)
    return createStringError(error, "expected the folder " + folder +
                                        ", found: " + error.message());
  llvm::sort(names);
  return names;
}

/// Reads a manifest, whose name is relative to the root so that messages are
/// the same wherever the tree lies. `check` may report more; nothing comes back
/// of one with faults.
template <typename T>
static std::optional<T>
loadManifest(StringRef root, const std::string &name,
             T (*read)(const json::Reader &, StringRef),
             function_ref<void(const T &, json::Diagnostics &)> check,
             std::vector<std::string> &faults) {
  SmallString<256> file(root);
  path::append(file, name);
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(file, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    faults.push_back(name + ": expected a readable file, found: " +
                     buffer.getError().message());
    return std::nullopt;
  }
  Expected<json::Value> document = json::parse((*buffer)->getBuffer(), name);
  if (!document) {
    faults.push_back(toString(document.takeError()));
    return std::nullopt;
  }
  json::Diagnostics diagnostics(name);
  T value = read(json::Reader(*document, "", diagnostics), name);
  if constexpr (std::is_same_v<T, Tactic>)
    value.manifestSha256 = sha256Hex((*buffer)->getBuffer());
  check(value, diagnostics);
  if (diagnostics.empty())
    return value;
  llvm::append_range(faults, diagnostics.getLines());
  return std::nullopt;
}

template <typename T>
static void
loadFolder(StringRef root, StringRef target, StringRef kind,
           StringRef namePrefix, T (*read)(const json::Reader &, StringRef),
           std::vector<T> &values, std::vector<std::string> &faults) {
  std::string relative = ("manifests/" + target + "/" + kind).str();
  SmallString<256> folder(root);
  path::append(folder, relative);
  Expected<std::vector<std::string>> names = listManifests(folder);
  if (!names) {
    faults.push_back(toString(names.takeError()));
    return;
  }
  for (const std::string &name : *names) {
    // Hence no two have one name either.
    auto checkName = [&](const T &value, json::Diagnostics &diagnostics) {
      std::string expected = (namePrefix + path::stem(name)).str();
      if (!value.name.empty() && value.name != expected)
        diagnostics.report("/name",
                           "\"" + expected + "\" as the file's name says",
                           "\"" + value.name + "\"");
    };
    if (std::optional<T> value = loadManifest<T>(root, relative + "/" + name,
                                                 read, checkName, faults))
      values.push_back(std::move(*value));
  }
  llvm::sort(values,
             [](const T &lhs, const T &rhs) { return lhs.name < rhs.name; });
}

/// A folder that need not be there.
template <typename T>
static void loadOptionalFolder(StringRef root, StringRef target, StringRef kind,
                               StringRef namePrefix,
                               T (*read)(const json::Reader &, StringRef),
                               std::vector<T> &values,
                               std::vector<std::string> &faults) {
  SmallString<256> folder(root);
  path::append(folder, "manifests", target, kind);
  if (fs::exists(folder))
    loadFolder(root, target, kind, namePrefix, read, values, faults);
}

/// The faults of manifests, whose paths are relative to the library.
static Error failOf(StringRef libraryRoot, ArrayRef<std::string> faults) {
  return createStringError(join(faults, "\n") + "\nin the library " +
                           libraryRoot);
}

Expected<Catalog> Catalog::load(StringRef libraryRoot, StringRef target) {
  if (!findTarget(target))
    return createStringError("target \"" + target + "\": expected one of " +
                             listTargets());
  auto impl = std::make_unique<Impl>();
  impl->root = libraryRoot.str();
  impl->target = target.str();
  std::vector<std::string> faults;
  loadFolder(libraryRoot, target, "profiles", "", readProfile, impl->profiles,
             faults);
  loadFolder(libraryRoot, target, "tactics", (target + ".").str(), readTactic,
             impl->tactics, faults);
  loadOptionalFolder(libraryRoot, target, "goldens", (target + ".").str(),
                     readGolden, impl->tactics, faults);
  std::optional<SchemeTable> schemes = loadManifest<SchemeTable>(
      libraryRoot, ("manifests/" + target + "/numerics.json").str(),
      readSchemes, [](const SchemeTable &, json::Diagnostics &) {}, faults);
  for (const Tactic &tactic : impl->tactics) {
    if (schemes) {
      json::Diagnostics diagnostics(tactic.manifestPath);
      checkSchemes(*schemes, tactic, diagnostics);
      llvm::append_range(faults, diagnostics.getLines());
    }
    // The files' names tell those of one folder apart.
    const Tactic *first = findByName(impl->tactics, tactic.name);
    if (first != &tactic)
      faults.push_back(tactic.manifestPath +
                       ": /name: expected a name of its own, found that of " +
                       first->manifestPath);
    if (tactic.target != target)
      faults.push_back(tactic.manifestPath + ": /target: expected \"" +
                       target.str() + "\" as its folder says, found \"" +
                       tactic.target + "\"");
    if (tactic.golden)
      continue;
    SmallString<256> file(libraryRoot);
    path::append(file, "kernels", target, tactic.templatePath);
    if (!fs::is_regular_file(file))
      faults.push_back(
          tactic.manifestPath + ": /template: expected a file of kernels/" +
          target.str() + ", found no \"" + tactic.templatePath + "\" there");
  }
  if (!faults.empty())
    return failOf(libraryRoot, faults);
  impl->schemes = std::move(*schemes);
  for (const Tactic &tactic : impl->tactics)
    impl->index[{tactic.family, tactic.operation}].push_back(&tactic);
  return Catalog(std::move(impl));
}

Expected<std::vector<Deployment>> loadDeployments(StringRef libraryRoot,
                                                  StringRef target) {
  std::vector<Deployment> deployments;
  std::vector<std::string> faults;
  loadOptionalFolder(libraryRoot, target, "deployments", "", readDeployment,
                     deployments, faults);
  if (!faults.empty())
    return failOf(libraryRoot, faults);
  return deployments;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

bool Standing::precedes(const Standing &other) const {
  if (maturity != other.maturity)
    return maturity > other.maturity;
  if (cost.picoseconds != other.cost.picoseconds)
    return cost.picoseconds < other.cost.picoseconds;
  if (cost.instructions != other.cost.instructions)
    return cost.instructions < other.cost.instructions;
  if (rank != other.rank)
    return rank < other.rank;
  return name < other.name;
}

std::string Standing::whyBefore(const Standing &second) const {
  if (maturity != second.maturity)
    return (maturityName(maturity) + " comes before " + second.name +
            ", which is " + maturityName(second.maturity))
        .str();
  if (cost.picoseconds != second.cost.picoseconds)
    return "estimated " + spellTime(cost.picoseconds) + " against " +
           spellTime(second.cost.picoseconds) + " of " + second.name;
  if (cost.instructions != second.cost.instructions)
    return utostr(cost.instructions.value_or(0)) + " instructions against " +
           utostr(second.cost.instructions.value_or(0)) + " of " + second.name +
           " in the same estimated time";
  if (rank != second.rank)
    return "rank " + itostr(rank) + " comes before rank " +
           itostr(second.rank) + " of " + second.name;
  return "its name comes before " + second.name;
}

Standing standingOf(const Candidate &candidate) {
  const Tactic &tactic = *candidate.tactic;
  return {tactic.name, tactic.maturity, candidate.cost, tactic.rank};
}

static bool precedes(const Candidate &lhs, const Candidate &rhs) {
  return standingOf(lhs).precedes(standingOf(rhs));
}

/// Sorts those that come first and need the same time by their instructions,
/// if they can be told.
static void breakTie(MutableArrayRef<Candidate> sorted,
                     const InstructionCounter &counter) {
  MutableArrayRef<Candidate> tied =
      sorted.take_while([&](const Candidate &candidate) {
        return candidate.tactic->maturity == sorted[0].tactic->maturity &&
               candidate.cost.picoseconds == sorted[0].cost.picoseconds;
      });
  if (tied.size() < 2)
    return;
  std::vector<uint64_t> counts;
  for (const Candidate &candidate : tied) {
    std::optional<uint64_t> count = counter.count(candidate.instance);
    if (!count)
      return;
    counts.push_back(*count);
  }
  for (auto [candidate, count] : zip_equal(tied, counts))
    candidate.cost.instructions = count;
  llvm::sort(tied, precedes);
}

Selection Catalog::select(const Problem &problem,
                          const SelectOptions &options) const {
  Selection selection;
  std::vector<Candidate> matching, others;
  ArrayRef<const Tactic *> tactics =
      tacticsFor(problem.family, problem.operation);
  for (const Tactic *tactic : tactics) {
    Candidate candidate = matchTactic(*tactic, problem, options);
    (candidate.matches() ? matching : others).push_back(std::move(candidate));
  }
  llvm::sort(matching, precedes);
  if (options.counter)
    breakTie(matching, *options.counter);
  llvm::sort(others, [](const Candidate &lhs, const Candidate &rhs) {
    if (lhs.mismatches.size() != rhs.mismatches.size())
      return lhs.mismatches.size() < rhs.mismatches.size();
    return lhs.tactic->name < rhs.tactic->name;
  });
  if (!matching.empty()) {
    selection.reason =
        matching.size() == 1
            ? "the only one of " + utostr(tactics.size()) + " that matches"
            : standingOf(matching[0]).whyBefore(standingOf(matching[1]));
    selection.winner = std::move(matching.front());
    selection.runnersUp.assign(std::make_move_iterator(matching.begin() + 1),
                               std::make_move_iterator(matching.end()));
  } else if (tactics.empty()) {
    selection.reason = "no tactic of " + impl->target + " computes " +
                       problem.family + "." + problem.operation;
  } else {
    std::vector<std::string> differences;
    for (const Mismatch &mismatch : others.front().mismatches)
      differences.push_back(mismatch.str());
    selection.reason =
        "none of " + utostr(tactics.size()) + " tactics matches; nearest " +
        others.front().tactic->name + " differs in " + join(differences, "; ");
  }
  if (others.size() > options.nearestMisses)
    others.resize(options.nearestMisses);
  selection.nearest = std::move(others);
  return selection;
}

Error checkProfiles(const ModelDescription &model, StringRef libraryRoot,
                    StringRef target) {
  if (model.profiles.empty())
    return Error::success();
  SmallString<256> folder(libraryRoot);
  path::append(folder, "manifests", target, "profiles");
  Expected<std::vector<std::string>> files = listManifests(folder);
  if (!files)
    return files.takeError();
  std::string known;
  for (const std::string &file : *files)
    known += (known.empty() ? "" : ", ") + path::stem(file).str();
  json::Diagnostics diagnostics(model.path);
  for (auto [index, name] : enumerate(model.profiles))
    if (!is_contained(*files, name + ".json"))
      diagnostics.report("/profiles/" + std::to_string(index),
                         "one of the profiles of " + target + " (" + known +
                             ")",
                         "\"" + name + "\"");
  return diagnostics.takeError();
}

} // namespace netra
