//===- Programs.cpp - Compiled programs with the host's answers ----------===//
// SPDX-License-Identifier: MIT

#include "Programs.h"

namespace netra::sim::test {

static const char prelude[] = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
#define LID ((int)__builtin_amdgcn_workitem_id_x())
#define GRP ((int)__builtin_amdgcn_workgroup_id_x())
#define BARRIER                                                                \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                       \
  __builtin_amdgcn_s_barrier();                                                \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned char uchar;
typedef unsigned short ushort;
)";

const std::vector<Theme> &themes() {
  static const std::vector<Theme> all = {
      controlPrograms(), handshakePrograms(), integerPrograms(),
      lanePrograms(),    matrixPrograms(),    numericPrograms(),
      scanPrograms(),    sortPrograms(),      chainPrograms()};
  return all;
}

std::string themeSource(const Theme &theme,
                        const std::vector<const Program *> &programs) {
  std::string source = prelude + theme.common;
  for (const Program *program : programs)
    source += program->source;
  return source;
}

std::string ProgramRun::findingsText() const {
  std::string text;
  for (const Finding &finding : findings)
    text += finding.str() + "\n";
  return text;
}

ProgramRun runProgram(const std::shared_ptr<CodeObject> &object,
                      const std::string &kernelName, const ProgramCase &launch,
                      const DeviceOptions &options, const LaunchParams &base) {
  ProgramRun done;
  const Kernel *kernel = object ? object->findKernel(kernelName) : nullptr;
  if (!kernel) {
    done.error = "no kernel " + kernelName;
    return done;
  }
  Device device(options);
  Arguments arguments;
  std::vector<std::pair<const ProgramArgument *, uint64_t>> outputs;
  for (const ProgramArgument &argument : launch.arguments) {
    if (!argument.isBuffer) {
      arguments.addBytes(argument.bytes);
      continue;
    }
    auto address = device.allocate(
        argument.size, "p" + std::to_string(&argument - &launch.arguments[0]));
    if (!address) {
      done.error = llvm::toString(address.takeError());
      return done;
    }
    if (argument.written)
      llvm::cantFail(
          device.copyIn(*address, argument.bytes.data(), argument.size));
    arguments.add(*address);
    if (argument.check)
      outputs.push_back({&argument, *address});
  }
  LaunchParams params = base;
  params.grid = launch.grid;
  params.block = launch.block;
  params.dynamicLds = launch.dynamicLds;
  params.kernarg = arguments.bytes;
  auto result = device.launch(object, *kernel, params);
  if (!result) {
    done.error = llvm::toString(result.takeError());
    return done;
  }
  done.findings = std::move(result->findings);
  done.instructions = result->instructions;
  for (auto [argument, address] : outputs) {
    done.outputs.push_back(download<uint8_t>(device, address, argument->size));
    if (done.wrong.empty())
      done.wrong = argument->check(done.outputs.back());
  }
  return done;
}

} // namespace netra::sim::test
