//===- ManifestReader.h - Manifests to typed values -------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_MANIFESTREADER_H
#define NETRA_LIB_CATALOG_MANIFESTREADER_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/Deployment.h"
#include "Netra/Catalog/Json.h"
#include "Netra/Catalog/Numerics.h"

namespace netra {

/// Reads a tactic, reporting every fault to the reader's diagnostics; the value
/// is meaningful only when there were none.
Tactic readTactic(const json::Reader &reader, llvm::StringRef path);
Tactic readGolden(const json::Reader &reader, llvm::StringRef path);
ServingProfile readProfile(const json::Reader &reader, llvm::StringRef path);
Deployment readDeployment(const json::Reader &reader, llvm::StringRef path);
EvidenceDocument readEvidenceDocument(const json::Reader &reader,
                                      llvm::StringRef path);
SchemeTable readSchemes(const json::Reader &reader, llvm::StringRef path);

//===----------------------------------------------------------------------===//
// Parts that several manifests have
//===----------------------------------------------------------------------===//

/// The elements of an array; none when it is no array.
std::vector<json::Reader> readElements(const json::Reader &reader,
                                       size_t min = 0);
/// A required string that is not empty.
std::optional<std::string> readText(json::ObjectReader &object,
                                    llvm::StringRef key);
std::optional<Maturity> readMaturity(const json::Reader &reader);
/// The required key "target", a known one.
std::string readTarget(json::ObjectReader &object);
/// A required SHA-256: 64 lower-case hexadecimal digits.
std::string readSha256(json::ObjectReader &object, llvm::StringRef key);
std::optional<ElementType> readElementType(const json::Reader &reader);
/// A string, a number, true or false.
std::optional<AttributeValue> readScalar(const json::Reader &reader);
/// An object of integers by upper-case names; empty when the key is absent.
std::map<std::string, int64_t> readIntegers(json::ObjectReader &object,
                                            llvm::StringRef key);

/// The key `numerics` of a tactic, whose parts it sets. `isConstant` knows the
/// names that parameters of schemes may have.
void readNumerics(const json::Reader &reader, Tactic &tactic,
                  llvm::function_ref<bool(llvm::StringRef)> isConstant);

/// The schemes that a tactic names are known, with their parameters.
void checkSchemes(const SchemeTable &table, const Tactic &tactic,
                  json::Diagnostics &diagnostics);
/// `reader` is at "numerics", which `tactic` has like its "match".
void checkAccumulation(const json::Reader &reader, const Tactic &tactic);

/// The keys dimensions, attributes, operands and options of `object`.
InstanceSpec readInstanceSpec(json::ObjectReader &object);

Evidence readEvidence(const json::Reader &reader);
/// Whether a record of the tactic counts for its maturity.
void checkMaturity(const json::Reader &reader, const Tactic &tactic);

/// The key `code` of a golden record.
GoldenCode readGoldenCode(const json::Reader &reader, std::string &symbol);
/// Type, size and place of an argument of a golden, whose other keys have been
/// read. `end` is where the argument before ends.
void readArgumentPlace(json::ObjectReader &object, ArgumentSpec &argument,
                       uint64_t kernargBytes, uint64_t &end);
/// What an argument that has been read says against `match` or the arguments
/// before it, which `tactic` has.
void checkGoldenArgument(const json::Reader &reader,
                         const ArgumentSpec &argument, const Tactic &tactic);
/// A fault for each null: what nobody has filled in yet.
void reportOpenFields(const json::Reader &reader);

} // namespace netra

#endif // NETRA_LIB_CATALOG_MANIFESTREADER_H
