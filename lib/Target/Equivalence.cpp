//===- Equivalence.cpp - Is it the same machine code? ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Equivalence.h"

#include "BundleFiles.h"
#include "Netra/Catalog/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace llvm;

namespace netra {

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

std::vector<std::pair<std::string, std::string>>
normalizedMetadata(const CodeObject &object, const KernelMetadata &kernel) {
  std::vector<std::pair<std::string, std::string>> fields;
  auto add = [&](const Twine &field, const Twine &value) {
    fields.emplace_back(field.str(), value.str());
  };
  add("target", object.isa);
  add("code object version", Twine(object.codeObjectVersion));
  add("wave size", Twine(kernel.waveSize));
  add("kernarg bytes", Twine(kernel.kernargBytes));
  add("kernarg alignment", Twine(kernel.kernargAlignment));
  add("static LDS bytes", Twine(kernel.staticLds));
  add("private bytes", Twine(kernel.privateBytes));
  add("dynamic stack", kernel.dynamicStack ? "yes" : "no");
  add("VGPRs", Twine(kernel.vgprs));
  add("AGPRs", Twine(kernel.agprs));
  add("SGPRs", Twine(kernel.sgprs));
  add("maximum work-group", Twine(kernel.maxWorkgroup));
  add("required work-group", Twine(kernel.requiredWorkgroup[0]) + "x" +
                                 Twine(kernel.requiredWorkgroup[1]) + "x" +
                                 Twine(kernel.requiredWorkgroup[2]));
  add("number of arguments", Twine(kernel.arguments.size()));
  for (const auto &[index, argument] : llvm::enumerate(kernel.arguments))
    add("argument " + Twine(index),
        argument.valueKind + Twine(" at ") + Twine(argument.offset) + ", " +
            Twine(argument.bytes) + " bytes" +
            (argument.access.empty() ? "" : ", " + argument.access));
  // Words 4 and 5 say where the code lies in the file.
  for (const auto &[index, word] : llvm::enumerate(kernel.descriptor.words))
    if (index != 4 && index != 5)
      add("descriptor word " + Twine(index), "0x" + Twine::utohexstr(word));
  if (!object.otherText.empty())
    add("other code", sha256Hex(object.otherText));
  for (const auto &[section, bytes] : object.data)
    add("data of " + section, sha256Hex(bytes));
  return fields;
}

std::string computationalIdentity(const CodeObject &object,
                                  const KernelMetadata &kernel) {
  nlohmann::json metadata = nlohmann::json::array();
  for (const auto &[field, value] : normalizedMetadata(object, kernel))
    metadata.push_back({field, value});
  return sha256Hex(json::print({{"code", sha256Hex(object.codeOf(kernel))},
                                {"metadata", std::move(metadata)}},
                               /*indent=*/-1));
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

namespace {
/// What stands between two runs of equal elements.
struct Hunk {
  size_t leftBegin, leftEnd, rightBegin, rightEnd;
};
} // namespace

/// The shortest edit script (Myers, 1986) as hunks. Sequences that need more
/// than `limit` edits are one hunk between their common beginning and end.
static std::vector<Hunk> findHunks(size_t leftSize, size_t rightSize,
                                   function_ref<bool(size_t, size_t)> isEqual) {
  constexpr int64_t limit = 500;
  size_t prefix = 0, common = std::min(leftSize, rightSize);
  while (prefix < common && isEqual(prefix, prefix))
    ++prefix;
  size_t suffix = 0;
  while (suffix < common - prefix &&
         isEqual(leftSize - 1 - suffix, rightSize - 1 - suffix))
    ++suffix;
  auto lefts = static_cast<int64_t>(leftSize - prefix - suffix);
  auto rights = static_cast<int64_t>(rightSize - prefix - suffix);
  if (lefts == 0 && rights == 0)
    return {};
  std::vector<Hunk> whole = {
      {prefix, leftSize - suffix, prefix, rightSize - suffix}};
  if (lefts == 0 || rights == 0)
    return whole;

  // furthest[k + limit + 1] is how far left one gets on diagonal k = left -
  // right; a copy of each round leads the way back.
  std::vector<int64_t> furthest(2 * limit + 3, 0);
  std::vector<std::vector<int64_t>> rounds;
  auto at = [](int64_t k) { return static_cast<size_t>(k + limit + 1); };
  auto comesDown = [&](const std::vector<int64_t> &from, int64_t k, int64_t d) {
    return k == -d || (k != d && from[at(k - 1)] < from[at(k + 1)]);
  };
  bool found = false;
  for (int64_t d = 0; d <= limit && !found; ++d) {
    rounds.push_back(furthest);
    for (int64_t k = -d; k <= d && !found; k += 2) {
      int64_t x = comesDown(furthest, k, d) ? furthest[at(k + 1)]
                                            : furthest[at(k - 1)] + 1;
      int64_t y = x - k;
      while (x < lefts && y < rights && y >= 0 &&
             isEqual(prefix + static_cast<size_t>(x),
                     prefix + static_cast<size_t>(y)))
        ++x, ++y;
      furthest[at(k)] = x;
      found = k == lefts - rights && x >= lefts;
    }
  }
  if (!found)
    return whole;

  std::vector<std::pair<size_t, size_t>> equal; // backwards
  int64_t x = lefts, y = rights;
  for (int64_t d = static_cast<int64_t>(rounds.size()) - 1; d >= 0; --d) {
    const std::vector<int64_t> &from = rounds[static_cast<size_t>(d)];
    int64_t k = x - y;
    int64_t before = comesDown(from, k, d) ? k + 1 : k - 1;
    int64_t startX = d == 0 ? 0 : from[at(before)];
    int64_t startY = d == 0 ? 0 : startX - before;
    while (x > startX && y > startY) {
      --x, --y;
      equal.emplace_back(prefix + static_cast<size_t>(x),
                         prefix + static_cast<size_t>(y));
    }
    x = startX, y = startY;
  }
  std::vector<Hunk> hunks;
  size_t left = prefix, right = prefix;
  auto close = [&](size_t leftEnd, size_t rightEnd) {
    if (left != leftEnd || right != rightEnd)
      hunks.push_back({left, leftEnd, right, rightEnd});
  };
  for (auto [l, r] : llvm::reverse(equal)) {
    close(l, r);
    left = l + 1;
    right = r + 1;
  }
  close(leftSize - suffix, rightSize - suffix);
  return hunks;
}

namespace {
/// A kernel and the code object it belongs to.
struct KernelRef {
  const CodeObject *object;
  const KernelMetadata *kernel;
};
} // namespace

static Error compareInstructions(const KernelRef &left, const KernelRef &right,
                                 KernelComparison &comparison) {
  ArrayRef<uint8_t> leftCode = left.object->codeOf(*left.kernel);
  ArrayRef<uint8_t> rightCode = right.object->codeOf(*right.kernel);
  Expected<std::vector<DisassembledInstruction>> lefts =
      disassemble(leftCode, left.object->isa);
  if (!lefts)
    return lefts.takeError();
  Expected<std::vector<DisassembledInstruction>> rights =
      disassemble(rightCode, right.object->isa);
  if (!rights)
    return rights.takeError();
  comparison.leftInstructions = lefts->size();
  comparison.rightInstructions = rights->size();
  auto bytesOf = [](ArrayRef<uint8_t> code,
                    ArrayRef<DisassembledInstruction> instructions, size_t i) {
    uint64_t end = i + 1 == instructions.size() ? code.size()
                                                : instructions[i + 1].address;
    return code.slice(instructions[i].address, end - instructions[i].address);
  };
  for (const Hunk &hunk :
       findHunks(lefts->size(), rights->size(), [&](size_t i, size_t j) {
         return bytesOf(leftCode, *lefts, i) == bytesOf(rightCode, *rights, j);
       })) {
    InstructionDifference difference;
    difference.left.assign(lefts->begin() + hunk.leftBegin,
                           lefts->begin() + hunk.leftEnd);
    difference.right.assign(rights->begin() + hunk.rightBegin,
                            rights->begin() + hunk.rightEnd);
    comparison.instructions.push_back(std::move(difference));
  }
  return Error::success();
}

static Expected<KernelComparison> compareKernels(const KernelRef &left,
                                                 const KernelRef &right) {
  KernelComparison comparison;
  comparison.leftSymbol = left.kernel->symbol;
  comparison.rightSymbol = right.kernel->symbol;
  comparison.leftCodeSha256 = sha256Hex(left.object->codeOf(*left.kernel));
  comparison.rightCodeSha256 = sha256Hex(right.object->codeOf(*right.kernel));
  if (Error error = compareInstructions(left, right, comparison))
    return error;
  // A field that one side does not have is a difference too.
  auto lefts = normalizedMetadata(*left.object, *left.kernel);
  auto rights = normalizedMetadata(*right.object, *right.kernel);
  std::map<std::string, std::string> onRight(rights.begin(), rights.end());
  std::set<std::string> onLeft;
  for (const auto &[field, value] : lefts) {
    onLeft.insert(field);
    auto found = onRight.find(field);
    std::string other = found == onRight.end() ? "none" : found->second;
    if (other != value)
      comparison.metadata.push_back({field, value, other});
  }
  for (const auto &[field, value] : rights)
    if (!onLeft.count(field))
      comparison.metadata.push_back({field, "none", value});
  return comparison;
}

bool Equivalence::isEqual() const {
  return onlyLeft.empty() && onlyRight.empty() &&
         all_of(kernels, [](const KernelComparison &comparison) {
           return comparison.isEqual();
         });
}

static std::vector<KernelRef> allKernels(ArrayRef<CodeObject> objects) {
  std::vector<KernelRef> kernels;
  for (const CodeObject &object : objects)
    for (const KernelMetadata &kernel : object.kernels)
      kernels.push_back({&object, &kernel});
  // The same symbol in two objects: the object that was named first.
  llvm::sort(kernels, [](const KernelRef &lhs, const KernelRef &rhs) {
    return std::tie(lhs.kernel->symbol, lhs.object, lhs.kernel) <
           std::tie(rhs.kernel->symbol, rhs.object, rhs.kernel);
  });
  return kernels;
}

static Expected<std::vector<KernelRef>>
pickKernels(ArrayRef<CodeObject> objects, StringRef symbol, StringRef side) {
  std::vector<KernelRef> kernels = allKernels(objects);
  if (symbol.empty())
    return kernels;
  std::vector<std::string> symbols;
  for (const KernelRef &kernel : kernels) {
    if (kernel.kernel->symbol == symbol)
      return std::vector<KernelRef>{kernel};
    symbols.push_back(kernel.kernel->symbol);
  }
  return createStringError(side + ": expected a kernel \"" + symbol +
                           "\", found " +
                           (symbols.empty() ? "none" : join(symbols, ", ")));
}

Expected<Equivalence> compareCode(ArrayRef<CodeObject> left,
                                  ArrayRef<CodeObject> right,
                                  StringRef leftSymbol, StringRef rightSymbol) {
  Expected<std::vector<KernelRef>> lefts =
      pickKernels(left, leftSymbol, "left side");
  if (!lefts)
    return lefts.takeError();
  Expected<std::vector<KernelRef>> rights =
      pickKernels(right, rightSymbol, "right side");
  if (!rights)
    return rights.takeError();

  std::vector<size_t> partner(lefts->size(), rights->size());
  std::vector<bool> taken(rights->size(), false);
  // The first partner that is still free, by some property of a kernel.
  auto pairBy = [&](function_ref<std::string(const KernelRef &)> property) {
    std::map<std::string, std::vector<size_t>> free;
    for (size_t j = rights->size(); j-- > 0;)
      if (!taken[j])
        free[property((*rights)[j])].push_back(j);
    for (size_t i = 0; i != lefts->size(); ++i) {
      if (partner[i] != rights->size())
        continue;
      auto found = free.find(property((*lefts)[i]));
      if (found == free.end() || found->second.empty())
        continue;
      partner[i] = found->second.back();
      taken[partner[i]] = true;
      found->second.pop_back();
    }
  };
  auto symbolOf = [](const KernelRef &ref) { return ref.kernel->symbol; };
  auto identityOf = [](const KernelRef &ref) {
    return computationalIdentity(*ref.object, *ref.kernel);
  };
  if (lefts->size() == 1 && rights->size() == 1) {
    partner[0] = 0;
    taken[0] = true;
  } else {
    // Both: an engine may hold one symbol twice, in code objects that differ.
    pairBy([&](const KernelRef &ref) {
      return symbolOf(ref) + " " + identityOf(ref);
    });
    pairBy(symbolOf);
    pairBy(identityOf);
  }
  Equivalence result;
  for (size_t i = 0; i != lefts->size(); ++i) {
    if (partner[i] == rights->size()) {
      result.onlyLeft.push_back(symbolOf((*lefts)[i]));
      continue;
    }
    Expected<KernelComparison> comparison =
        compareKernels((*lefts)[i], (*rights)[partner[i]]);
    if (!comparison)
      return comparison.takeError();
    result.kernels.push_back(std::move(*comparison));
  }
  for (size_t j = 0; j != rights->size(); ++j)
    if (!taken[j])
      result.onlyRight.push_back(symbolOf((*rights)[j]));
  return result;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Expected<CodeObject> readCodeObjectFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(),
                             path + ": expected a code object, found: " +
                                 buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  Expected<CodeObject> object = readCodeObject(
      std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end()));
  if (!object)
    return createStringError(path + ": " + llvm::toString(object.takeError()));
  return object;
}

Expected<std::vector<CodeObject>> loadCode(StringRef path,
                                           StringRef goldenRoot) {
  std::vector<CodeObject> objects;
  if (!sys::fs::is_directory(path)) {
    Expected<CodeObject> object = readCodeObjectFile(path);
    if (!object)
      return object.takeError();
    objects.push_back(std::move(*object));
    return objects;
  }
  Expected<Engine> engine = readBundle(path);
  if (!engine)
    return engine.takeError();
  std::set<std::string> loaded;
  for (const EngineCodeObject &entry : engine->codeObjects) {
    // Several kernels may be in one file.
    if (!loaded.insert(entry.path).second)
      continue;
    if (!isBundlePath(entry.path))
      return createStringError(path +
                               ": expected a code object inside the "
                               "engine, found \"" +
                               entry.path + "\"");
    if (entry.isLocked() && goldenRoot.empty())
      return createStringError(
          path + ": expected the bytes of code object " + entry.name +
          ", SHA-256 " + entry.sha256 +
          ", which the engine only locks; name the folder that has " +
          entry.path + " with --golden-root");
    SmallString<256> file(entry.isLocked() ? goldenRoot : path);
    sys::path::append(file, entry.path);
    Expected<CodeObject> object = readCodeObjectFile(file);
    if (!object)
      return object.takeError();
    if (object->sha256 != entry.sha256)
      return createStringError(file + ": expected SHA-256 " + entry.sha256 +
                               " as engine.json says, found " + object->sha256);
    objects.push_back(std::move(*object));
  }
  return objects;
}

} // namespace netra
