//===- GoldenReader.cpp - Records of code objects -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A golden record is a tactic whose code is there already. This file reads what
// it has instead of a template, and the bytes themselves; TacticReader.cpp
// reads the rest.
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

#include "Names.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {

void reportOpenFields(const Reader &reader) {
  const json::Value &value = reader.get();
  auto descend = [&](StringRef key, const json::Value &member) {
    reportOpenFields(Reader(member,
                            json::childPointer(reader.getPointer(), key),
                            reader.getDiagnostics()));
  };
  if (value.is_null())
    reader.fail("a value, since the record is incomplete without");
  else if (value.is_object())
    for (const auto &[key, member] : value.items())
      descend(key, member);
  else if (value.is_array())
    for (size_t i = 0; i != value.size(); ++i)
      descend(utostr(i), value[i]);
}

GoldenCode readGoldenCode(const Reader &reader, std::string &symbol) {
  GoldenCode code;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("file"))
    if (std::optional<std::string> file = member->string()) {
      if (!isRelativePath(*file))
        member->fail("a relative path without \"..\"");
      code.file = *file;
    }
  if (std::optional<Reader> member = object.required("bytes"))
    code.bytes = member->unsignedInteger(1, uint64_t(1) << 32).value_or(0);
  code.sha256 = readSha256(object, "sha256");
  code.textSha256 = readSha256(object, "text_sha256");
  code.identitySha256 = readSha256(object, "identity_sha256");
  if (std::optional<Reader> member = object.required("symbol"))
    if (std::optional<std::string> name = member->string()) {
      if (!isSymbolName(*name))
        member->fail("a symbol of letters, digits and '_'");
      symbol = *name;
    }
  if (std::optional<Reader> member = object.required("kernarg_bytes"))
    code.kernargBytes = member->unsignedInteger(0, 65536).value_or(0);
  object.finish();
  return code;
}

void readArgumentPlace(ObjectReader &object, ArgumentSpec &argument,
                       uint64_t kernargBytes, uint64_t &end) {
  bool isPointer = argument.kind == ArgumentKind::Pointer;
  if (isPointer)
    if (std::optional<Reader> member = object.required("type"))
      argument.type = readElementType(*member);
  uint64_t size = 1;
  if (isPointer)
    size = 8;
  else if (argument.type)
    size = elementBytes(*argument.type);
  if (std::optional<Reader> member = object.required("bytes"))
    if (std::optional<uint64_t> bytes = member->unsignedInteger(1, 8))
      if (argument.type && *bytes != size)
        member->fail(
            Twine(size) + " bytes for " +
                (isPointer ? "a pointer" : elementTypeName(*argument.type)),
            Twine(*bytes));
  std::optional<Reader> member = object.required("offset");
  if (!member)
    return;
  argument.offset = member->unsignedInteger(0, 65536);
  if (!argument.offset)
    return;
  if (*argument.offset % size != 0)
    member->fail("an offset that is a multiple of " + Twine(size));
  if (*argument.offset < end)
    member->fail("an offset of at least " + Twine(end) +
                 ", the end of the argument before");
  end = *argument.offset + size;
  if (end > kernargBytes)
    member->fail("an offset inside the " + Twine(kernargBytes) +
                 " bytes of kernel arguments");
}

void checkGoldenArgument(const Reader &reader, const ArgumentSpec &argument,
                         const Tactic &tactic) {
  auto operand = tactic.operands.find(argument.role);
  if (operand == tactic.operands.end())
    return; // workspace, a value, or reported
  const std::vector<ElementType> &types = operand->second.types;
  if (argument.type && !is_contained(types, *argument.type))
    reader.fail("type " +
                    join(map_range(types,
                                   [](ElementType type) {
                                     return elementTypeName(type).str();
                                   }),
                         " or ") +
                    ", which match says of operand " + argument.role,
                elementTypeName(*argument.type));
  if (StringRef(argument.role).starts_with("result") &&
      argument.access == Access::Read)
    reader.fail("access write or readwrite of " + argument.role,
                accessName(argument.access));
  for (const ArgumentSpec &other : tactic.arguments)
    if (other.role == argument.role &&
        other.operandOffset.text() == argument.operandOffset.text())
      reader.fail("each operand once, or from different offsets",
                  argument.role + " in " + other.name + " and " +
                      argument.name);
}

Error checkGoldenRoot(StringRef goldenRoot) {
  if (goldenRoot.empty() || sys::fs::is_directory(goldenRoot))
    return Error::success();
  return createStringError(
      "expected a folder of golden code objects, found " +
      Twine(sys::fs::exists(goldenRoot) ? "no folder" : "nothing") + " at '" +
      goldenRoot + "'");
}

Expected<std::vector<uint8_t>> readGoldenFile(const Tactic &tactic,
                                              StringRef goldenRoot) {
  const GoldenCode &code = *tactic.golden;
  if (goldenRoot.empty())
    return createStringError("tactic " + tactic.name +
                             ": expected the folder with the golden code "
                             "object " +
                             code.file + " (--golden-root), found none");
  SmallString<256> path(goldenRoot);
  sys::path::append(path, code.file);
  auto fail = [&](const Twine &what) {
    return createStringError("tactic " + tactic.name + ": golden code object " +
                             path + ": " + what);
  };
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail("expected a readable file, found: " +
                buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() != code.bytes)
    return fail("expected " + Twine(code.bytes) + " bytes, found " +
                Twine(bytes.size()));
  if (std::string hash = sha256Hex(bytes); hash != code.sha256)
    return fail("expected SHA-256 " + code.sha256 + ", found " + hash);
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

} // namespace netra
