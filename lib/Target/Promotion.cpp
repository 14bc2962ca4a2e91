//===- Promotion.cpp - Moving a tactic's maturity -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Promotion.h"

#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/Deployment.h"
#include "Netra/Target/Equivalence.h"

#include "ManifestText.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace netra {

//===----------------------------------------------------------------------===//
// Does it count?
//===----------------------------------------------------------------------===//

/// The identity of the code of today. A golden's bytes are what its record
/// says, so that they need not be there.
static Expected<std::string> currentIdentity(const Instance &instance,
                                             const KernelBuilder &builder) {
  if (instance.tactic->golden)
    return instance.tactic->golden->identitySha256;
  Expected<AssembledKernel> kernel = builder.build(instance);
  if (!kernel)
    return kernel.takeError();
  return computationalIdentity(kernel->object,
                               *kernel->object.find(instance.symbol));
}

std::string whyEvidenceDoesNotCount(const Evidence &evidence,
                                    const Tactic &tactic, Maturity level,
                                    const KernelBuilder &builder) {
  if (std::string reason = whyRecordDoesNotCount(evidence, tactic, level);
      !reason.empty())
    return reason;
  if (evidence.tests.empty())
    return "expected the tests that were run, found none";
  if (evidence.kernels.empty())
    return "expected the kernels it was gathered on, found none";
  for (const Evidence::Kernel &kernel : evidence.kernels) {
    Expected<Instance> instance = instantiate(tactic, kernel.instance);
    if (!instance)
      return llvm::toString(instance.takeError());
    Expected<std::string> identity = currentIdentity(*instance, builder);
    if (!identity)
      return llvm::toString(identity.takeError());
    if (*identity != kernel.identitySha256)
      return "kernel " + instance->symbol +
             ": expected computational identity " + *identity +
             " of the code of today, found " + kernel.identitySha256;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Editing
//===----------------------------------------------------------------------===//

// The text has been parsed before, so that this needs to know brackets and
// strings only.
std::optional<std::pair<size_t, size_t>> locateMember(StringRef text,
                                                      StringRef key) {
  size_t at = 0, depth = 0;
  bool isKey = false; // the next string of the outermost object is a key
  std::optional<size_t> begin;
  auto skipString = [&] {
    size_t start = ++at;
    while (at < text.size() && text[at] != '"')
      at += text[at] == '\\' ? 2 : 1;
    StringRef content = text.slice(start, at);
    ++at;
    return content;
  };
  while (at < text.size()) {
    char c = text[at];
    if (begin && depth == 1 && (c == ',' || c == '}'))
      return std::pair(*begin, text.slice(*begin, at).rtrim().size() + *begin);
    if (c == '"') {
      StringRef content = skipString();
      if (depth != 1 || !isKey || content != key)
        continue;
      at = text.find(':', at) + 1;
      while (at < text.size() && isSpace(text[at]))
        ++at;
      begin = at;
      isKey = false;
      continue;
    }
    if (c == '{' || c == '[') {
      isKey = ++depth == 1;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (depth == 1) {
      isKey = c == ',' || (isKey && c != ':');
    }
    ++at;
  }
  return std::nullopt;
}

/// Appends an element to the array that is the member `key`.
static bool append(std::string &text, StringRef key, StringRef element) {
  std::optional<std::pair<size_t, size_t>> array = locateMember(text, key);
  if (!array)
    return false;
  StringRef inside = StringRef(text).slice(array->first + 1, array->second - 1);
  bool isEmpty = inside.trim().empty();
  size_t end = array->first + 1 + inside.rtrim().size();
  text.replace(end, array->second - 1 - end,
               ((isEmpty ? "\n    " : ",\n    ") + element + "\n  ").str());
  return true;
}

Expected<Tactic> parseManifest(const NamedText &manifest) {
  Expected<json::Value> document = json::parse(manifest.text, manifest.name);
  if (!document)
    return document.takeError();
  bool isGolden = document->is_object() && document->contains("format") &&
                  (*document)["format"] == "netra.golden/1";
  return isGolden ? parseGolden(manifest.text, manifest.name)
                  : parseTactic(manifest.text, manifest.name);
}

/// The manifest without what a promotion changes.
static nlohmann::json withoutMaturity(StringRef text) {
  auto document = nlohmann::json::parse(text.begin(), text.end(), nullptr,
                                        /*allow_exceptions=*/false);
  document.erase("maturity");
  document.erase("evidence");
  return document;
}

Expected<std::string> promote(const NamedText &manifest, Maturity level,
                              const std::optional<NamedText> &evidence,
                              const KernelBuilder &builder) {
  Expected<Tactic> tactic = parseManifest(manifest);
  if (!tactic)
    return tactic.takeError();
  auto fail = [&](const Twine &what) {
    return createStringError(manifest.name + ": tactic " + tactic->name + ": " +
                             what);
  };
  // As whoever loads the library asks for it, which a link leads to.
  SmallString<256> file;
  if (sys::fs::real_path(manifest.name, file))
    file = manifest.name;
  if (std::string name = tactic->target + "." + sys::path::stem(file).str();
      tactic->name != name)
    return fail("/name: expected \"" + name + "\" as the file's name says");
  if (tactic->maturity == Maturity::Rejected)
    return fail("expected a tactic that is not rejected; what is rejected is "
                "not promoted");
  if (tactic->maturity >= level)
    return fail("expected a maturity below " + maturityName(level) +
                ", found " + maturityName(tactic->maturity));

  std::string text = manifest.text, reasons;
  bool counts = false;
  auto consider = [&](const Evidence &record, StringRef from) {
    std::string reason =
        whyEvidenceDoesNotCount(record, *tactic, level, builder);
    counts |= reason.empty();
    if (!reason.empty())
      reasons +=
          ("\n  " + from + record.kind + " \"" + record.what + "\": " + reason)
              .str();
    return reason.empty();
  };
  if (evidence) {
    Expected<EvidenceDocument> document =
        parseEvidence(evidence->text, evidence->name);
    if (!document)
      return document.takeError();
    if (document->tactic != tactic->name)
      return createStringError(evidence->name + ": /tactic: expected " +
                               tactic->name + ", found " + document->tactic);
    // What is added must count by itself.
    if (!consider(document->evidence, evidence->name + ": "))
      return fail("not promoted, because the evidence does not count:" +
                  reasons);
    std::optional<std::pair<size_t, size_t>> record =
        locateMember(evidence->text, "evidence");
    // A line of the document is two levels less deep than one of the manifest.
    std::string element;
    if (record)
      for (char c :
           StringRef(evidence->text).slice(record->first, record->second))
        element += c == '\n' ? "\n  " : std::string(1, c);
    if (!record || !append(text, "evidence", element))
      return fail("expected keys without escapes, found no \"evidence\"");
  } else {
    for (const Evidence &record : tactic->evidence)
      consider(record, "");
    if (!counts)
      return fail("not promoted to " + maturityName(level) +
                  ", because no evidence counts:" +
                  (reasons.empty() ? " there is none" : reasons));
  }
  std::optional<std::pair<size_t, size_t>> maturity =
      locateMember(text, "maturity");
  if (!maturity)
    return fail("expected keys without escapes, found no \"maturity\"");
  text.replace(maturity->first, maturity->second - maturity->first,
               ("\"" + maturityName(level) + "\"").str());
  Expected<Tactic> again = parseManifest({text, manifest.name});
  if (!again)
    return again.takeError();
  if (again->maturity != level ||
      withoutMaturity(text) != withoutMaturity(manifest.text))
    return fail("expected that only maturity and evidence change, found that "
                "the text is spelled in a way that cannot be edited");
  return text;
}

} // namespace netra
