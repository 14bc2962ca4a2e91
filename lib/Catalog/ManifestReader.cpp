//===- ManifestReader.cpp - Profile manifests, and single documents -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

#include "Names.h"

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {

static std::optional<GuardRange> readGuard(const Reader &reader) {
  // Limits of the runtime's guards: the shape of a launch is given in u64, but
  // no serving point needs more than 2^48, and sums must not overflow.
  constexpr uint64_t limit = uint64_t(1) << 48;
  if (reader.get().is_array()) {
    std::optional<std::vector<Reader>> ends = reader.array(2, 2);
    if (!ends)
      return std::nullopt;
    std::optional<uint64_t> min = (*ends)[0].unsignedInteger(0, limit);
    std::optional<uint64_t> max = (*ends)[1].unsignedInteger(0, limit);
    if (!min || !max)
      return std::nullopt;
    if (*min > *max) {
      reader.fail("a range [MIN, MAX] with MIN of at most MAX",
                  "[" + Twine(*min) + ", " + Twine(*max) + "]");
      return std::nullopt;
    }
    return GuardRange{*min, *max};
  }
  if (!reader.get().is_number()) {
    reader.fail("an integer or a range [MIN, MAX]");
    return std::nullopt;
  }
  if (std::optional<uint64_t> exact = reader.unsignedInteger(0, limit))
    return GuardRange{*exact, *exact};
  return std::nullopt;
}

ServingProfile readProfile(const Reader &reader, StringRef path) {
  ServingProfile profile;
  profile.manifestPath = path.str();
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("format"))
    (void)member->choice({"netra.profile/1"});
  if (std::optional<Reader> member = object.required("name"))
    if (std::optional<std::string> name = member->string()) {
      if (!isLowerName(*name))
        member->fail("a name of lower-case letters, digits and '_'");
      profile.name = *name;
    }
  if (std::optional<Reader> member = object.optional("summary"))
    profile.summary = member->string().value_or("");
  for (StringRef key : {"m", "batch", "sequence"})
    if (std::optional<Reader> member = object.required(key))
      if (std::optional<GuardRange> range = readGuard(*member))
        profile.guards[key.str()] = *range;
  for (StringRef key : {"routed_rows", "tensor_parallel"})
    if (std::optional<Reader> member = object.optional(key))
      if (std::optional<GuardRange> range = readGuard(*member))
        profile.guards[key.str()] = *range;
  if (std::optional<Reader> member = object.required("priority"))
    profile.priority = member->integer(-1000000, 1000000).value_or(0);
  object.finish();
  return profile;
}

static NumericScheme
readNumericScheme(ObjectReader &object, StringRef key,
                  function_ref<bool(StringRef)> isConstant) {
  NumericScheme scheme;
  std::optional<Reader> member = object.required(key);
  if (!member)
    return scheme;
  std::optional<std::string> text = member->string();
  if (!text)
    return scheme;
  auto [id, rest] = StringRef(*text).split('(');
  bool hasParameters = id.size() != text->size();
  SmallVector<StringRef> parts, parameters;
  id.split(parts, '.');
  if (hasParameters && rest.consume_back(")"))
    rest.split(parameters, ", ");
  if (!all_of(parts, isLowerName) || hasParameters == parameters.empty() ||
      !all_of(parameters, isUpperName)) {
    member->fail("a scheme of numerics.json, id or id(NAME, "
                 "NAME): names of lower-case letters, digits and '_' between "
                 "dots, then what the bits depend on");
    return scheme;
  }
  scheme.id = id.str();
  for (StringRef name : parameters) {
    if (!isConstant(name))
      member->fail("names of dimensions, options and constants",
                   "the unknown name \"" + name + "\"");
    else if (is_contained(scheme.parameters, name))
      member->fail("each name once", "\"" + name + "\" twice");
    scheme.parameters.push_back(name.str());
  }
  return scheme;
}

void readNumerics(const Reader &reader, Tactic &tactic,
                  function_ref<bool(StringRef)> isConstant) {
  ObjectReader object(reader);
  tactic.accumulation = readText(object, "accumulation").value_or("");
  tactic.rounding = readNumericScheme(object, "rounding", isConstant);
  tactic.reductionOrder =
      readNumericScheme(object, "reduction_order", isConstant);
  if (std::optional<Reader> member = object.optional("error_bound"))
    tactic.errorBound = member->string().value_or("");
  object.finish();
  checkAccumulation(reader, tactic);
}

template <typename T>
static Expected<T> parseManifest(StringRef text, StringRef path,
                                 T (*read)(const Reader &, StringRef)) {
  Expected<json::Value> document = json::parse(text, path);
  if (!document)
    return document.takeError();
  json::Diagnostics diagnostics(path);
  T result = read(Reader(*document, "", diagnostics), path);
  if (Error error = diagnostics.takeError())
    return error;
  return result;
}

Expected<Tactic> parseTactic(StringRef text, StringRef path) {
  return parseManifest<Tactic>(text, path, readTactic);
}

Expected<Tactic> parseGolden(StringRef text, StringRef path) {
  return parseManifest<Tactic>(text, path, readGolden);
}

Expected<ServingProfile> parseProfile(StringRef text, StringRef path) {
  return parseManifest<ServingProfile>(text, path, readProfile);
}

Expected<Deployment> parseDeployment(StringRef text, StringRef path) {
  return parseManifest<Deployment>(text, path, readDeployment);
}

Expected<SchemeTable> parseSchemes(StringRef text, StringRef path) {
  return parseManifest<SchemeTable>(text, path, readSchemes);
}

Expected<EvidenceDocument> parseEvidence(StringRef text, StringRef path) {
  return parseManifest<EvidenceDocument>(text, path, readEvidenceDocument);
}

} // namespace netra
