//===- InstanceSource.cpp - The assembly source of one instance -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "InstanceSource.h"

#include "Netra/Catalog/Numerics.h"
#include "Netra/Catalog/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace netra {

static StringRef metadataAccess(Access access) {
  switch (access) {
  case Access::Read:
    return "read_only";
  case Access::Write:
    return "write_only";
  default:
    return "read_write";
  }
}

/// The metadata of one kernel.
static void writeKernel(raw_ostream &os, const Instance &instance) {
  const Contract &contract = instance.contract;
  uint64_t workItems = 1;
  for (uint32_t extent : contract.block)
    workItems *= extent;
  // .vgpr_count counts both kinds of registers; accumulation registers start
  // at a multiple of four.
  uint64_t vgprs = instance.agprs
                       ? alignTo(uint64_t(instance.vgprs), 4) + instance.agprs
                       : instance.vgprs;
  os << "  - .name: " << instance.symbol << "\n"
     << "    .symbol: " << instance.symbol << ".kd\n"
     << "    .kernarg_segment_size: " << contract.kernargBytes << "\n"
     << "    .kernarg_segment_align: 8\n"
     << "    .group_segment_fixed_size: " << contract.staticLds << "\n"
     << "    .private_segment_fixed_size: 0\n"
     << "    .wavefront_size: " << contract.waveSize << "\n"
     << "    .vgpr_count: " << vgprs << "\n"
     << "    .agpr_count: " << instance.agprs << "\n"
     << "    .sgpr_count: " << instance.sgprs << "\n"
     << "    .max_flat_workgroup_size: " << workItems << "\n";
  if (contract.arguments.empty())
    os << "    .args: []\n";
  else
    os << "    .args:\n";
  for (const Argument &argument : contract.arguments) {
    os << "      - .name: " << argument.name << "\n"
       << "        .offset: " << argument.offset << "\n"
       << "        .size: " << argument.bytes << "\n";
    if (argument.kind == ArgumentKind::Value)
      os << "        .value_kind: by_value\n";
    else
      os << "        .value_kind: global_buffer\n"
         << "        .address_space: global\n"
         << "        .access: " << metadataAccess(argument.access) << "\n";
  }
}

std::string metadataSource(ArrayRef<Instance> instances,
                           const TargetInfo &target) {
  std::string text;
  raw_string_ostream os(text);
  os << ".amdgpu_metadata\n"
     << "---\n"
     << "amdhsa.version: [1, 2]\n"
     << "amdhsa.target: " << target.isaName << "\n"
     << "amdhsa.kernels:\n";
  for (const Instance &instance : instances)
    writeKernel(os, instance);
  os << "...\n"
     << ".end_amdgpu_metadata\n";
  return text;
}

std::string targetDirectives(const TargetInfo &target) {
  return (".amdgcn_target \"" + target.isaName + "\"\n" +
          ".amdhsa_code_object_version " + Twine(target.codeObjectVersion) +
          "\n")
      .str();
}

std::vector<std::pair<std::string, uint64_t>>
launchDefinitions(const Contract &contract) {
  std::vector<std::pair<std::string, uint64_t>> values;
  for (const Argument &argument : contract.arguments)
    values.emplace_back("ARG_" + StringRef(argument.name).upper(),
                        argument.offset);
  values.emplace_back("KERNARG_BYTES", contract.kernargBytes);
  // Where dimensions vary, the code is made for the greatest of them.
  std::array<uint32_t, 3> grid = contract.greatestGrid();
  static constexpr const char *axes[] = {"X", "Y", "Z"};
  for (size_t i = 0; i != 3; ++i)
    values.emplace_back(std::string("GRID_") + axes[i], grid[i]);
  for (size_t i = 0; i != 3; ++i)
    values.emplace_back(std::string("BLOCK_") + axes[i], contract.block[i]);
  values.emplace_back("STATIC_LDS", contract.staticLds);
  values.emplace_back("DYNAMIC_LDS", contract.dynamicLds);
  values.emplace_back("WORKSPACE_BYTES", contract.workspaceBytes);
  return values;
}

std::vector<std::string> compareDefinitions(StringRef source,
                                            const Contract &contract) {
  std::map<std::string, std::string> defined;
  while (!source.empty()) {
    StringRef line;
    std::tie(line, source) = source.split('\n');
    if (!line.consume_front(".set NETRA_"))
      continue;
    auto [name, value] = line.split(", ");
    defined[name.str()] = value.str();
  }
  std::map<std::string, std::string> expected;
  for (const auto &[name, value] : contract.problem.dimensions)
    expected[name] = itostr(value);
  for (const auto &[name, value] : launchDefinitions(contract))
    expected[name] = utostr(value);
  for (const std::string *spelling :
       {&contract.numerics.rounding, &contract.numerics.reductionOrder})
    if (std::optional<SchemeInstance> scheme = parseSchemeInstance(*spelling))
      for (const auto &[name, value] : scheme->values)
        expected[name] = itostr(value);
  std::vector<std::string> differences;
  for (const auto &[name, value] : expected) {
    auto found = defined.find(name);
    if (found == defined.end() || found->second != value)
      differences.push_back(
          "NETRA_" + name + ": expected " + value + ", found " +
          (found == defined.end() ? std::string("none") : found->second));
  }
  return differences;
}

std::string Assembler::instanceSource(const Instance &instance) const {
  return codeSource(instance) + metadataSource(instance, *findTarget(target));
}

std::string Assembler::codeSource(const Instance &instance) const {
  const Contract &contract = instance.contract;
  std::string text;
  raw_string_ostream os(text);
  os << "// Netra instance of " << instance.tactic->templatePath << "\n"
     << targetDirectives(*findTarget(target));
  auto set = [&](const Twine &name, int64_t value) {
    os << ".set NETRA_" << name << ", " << value << "\n";
  };
  // std::map keeps the names sorted, whatever order the manifest has.
  for (const auto &[name, value] : instance.constants)
    set(name, value);
  for (const auto &[name, value] : launchDefinitions(contract))
    set(name, int64_t(value));
  set("VGPRS", instance.vgprs);
  set("AGPRS", instance.agprs);
  set("SGPRS", instance.sgprs);
  os << ".include \"" << instance.tactic->templatePath << "\"\n"
     << "netra_template " << instance.symbol << "\n";
  return text;
}

} // namespace netra
