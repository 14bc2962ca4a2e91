//===- GoldenRecord.cpp - What a code object says, as a record ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/KernelBuilder.h"

#include "Netra/Catalog/TargetInfo.h"
#include "Netra/Target/Equivalence.h"

#include <nlohmann/json.hpp>

using namespace llvm;
using Json = nlohmann::ordered_json;

namespace netra {

static Json describeArgument(const KernelArgument &argument, size_t index) {
  bool isPointer = argument.kind == ArgumentKind::Pointer;
  Json result = {{"name", argumentName(argument, index)},
                 {"kind", argumentKindName(argument.kind).str()},
                 {"type", nullptr}};
  if (isPointer) {
    result["role"] = nullptr;
    if (argument.access.empty())
      result["access"] = nullptr;
    else
      result["access"] = argument.access;
  } else {
    result["value"] = nullptr;
  }
  result["offset"] = argument.offset;
  result["bytes"] = argument.bytes;
  return result;
}

std::string writeGoldenRecord(const CodeObject &object,
                              const KernelMetadata &kernel, StringRef name,
                              StringRef file) {
  Json target = nullptr, arguments = Json::array(), block = Json::array();
  std::string prefix;
  for (const TargetInfo &info : allTargets())
    if (info.isaName == object.isa) {
      target = info.name.str();
      prefix = info.name.str() + ".";
    }
  for (size_t i = 0; i != kernel.arguments.size(); ++i)
    arguments.push_back(describeArgument(kernel.arguments[i], i));
  for (uint32_t extent : kernel.requiredWorkgroup)
    block.push_back(extent ? Json(extent) : Json(nullptr));
  Json record = {{"format", "netra.golden/1"},
                 {"name", prefix + name.str()},
                 {"target", target},
                 {"family", nullptr},
                 {"operation", nullptr},
                 {"maturity", "experiment"},
                 {"rank", nullptr},
                 {"summary", nullptr},
                 {"code",
                  {{"file", file.str()},
                   {"bytes", object.bytes.size()},
                   {"sha256", object.sha256},
                   {"text_sha256", object.textSha256},
                   {"identity_sha256", computationalIdentity(object, kernel)},
                   {"symbol", kernel.symbol},
                   {"kernarg_bytes", kernel.kernargBytes}}},
                 {"match",
                  {{"dimensions", nullptr},
                   {"operands", nullptr},
                   {"attributes", nullptr}}},
                 {"arguments", arguments},
                 {"launch",
                  {{"grid", {nullptr, nullptr, nullptr}},
                   {"block", block},
                   {"static_lds", kernel.staticLds},
                   {"dynamic_lds", nullptr}}},
                 {"registers",
                  {{"vgprs", kernel.vgprs},
                   {"agprs", kernel.agprs},
                   {"sgprs", kernel.sgprs}}},
                 {"numerics",
                  {{"accumulation", nullptr},
                   {"rounding", nullptr},
                   {"reduction_order", nullptr},
                   {"error_bound", nullptr}}},
                 {"graph_capture", nullptr},
                 {"deterministic", nullptr},
                 {"evidence", Json::array()}};
  return record.dump(2, ' ', /*ensure_ascii=*/false,
                     Json::error_handler_t::replace) +
         "\n";
}

} // namespace netra
