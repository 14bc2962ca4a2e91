//===- LaunchApi.cpp - HIP: launches of kernels ---------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace netra;
using namespace netra::hipsim;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Takes the arguments from a buffer, which the keys of `extra` describe.
static int takeBuffer(const sim::Kernel &kernel, void **extra,
                      KernelCall &call) {
  const void *buffer = nullptr;
  size_t bytes = 0;
  // At most two keys are known; a longer list is malformed.
  for (int i = 0; i < 6; i += 2) {
    auto key = reinterpret_cast<uintptr_t>(extra[i]);
    if (key == hip::LaunchParamEnd)
      break;
    if (key == hip::LaunchParamBufferPointer)
      buffer = extra[i + 1];
    else if (key == hip::LaunchParamBufferSize)
      bytes = extra[i + 1] ? *static_cast<size_t *>(extra[i + 1]) : 0;
    else
      return finish(
          hip::ErrorInvalidValue,
          formatv("extra holds the key {0}; expected the buffer's pointer (1), "
                  "its size (2) and the end (3)",
                  key));
  }
  if (bytes && !buffer)
    return finish(hip::ErrorInvalidValue, "extra gives a size, no buffer");
  size_t needed = 0;
  for (const sim::KernelArgument &argument : kernel.explicitArguments())
    needed = std::max<size_t>(needed, argument.offset + argument.size);
  // The end of a structure may be padded. Without argument records, the caller
  // alone knows the size.
  const size_t most = (std::max<size_t>(kernel.kernargSize, needed) + 15) & ~15;
  if (bytes < needed || (kernel.hasMetadata && bytes > most))
    return finish(
        hip::ErrorInvalidValue,
        formatv("extra gives {0} bytes of arguments; kernel {1} takes "
                "{2}, and {3} with the hidden ones",
                bytes, kernel.name, needed, kernel.kernargSize));
  const auto *first = static_cast<const uint8_t *>(buffer);
  call.kernarg.assign(first, first + bytes);
  if (kernel.hasMetadata && bytes > kernel.kernargSize)
    call.kernarg.resize(kernel.kernargSize);
  return 0;
}

static int takeParameters(const sim::Kernel &kernel, void **parameters,
                          KernelCall &call) {
  std::vector<sim::KernelArgument> arguments = kernel.explicitArguments();
  if (!kernel.hasMetadata && kernel.kernargSize)
    return finish(hip::ErrorInvalidValue,
                  formatv("the code object does not describe the arguments of "
                          "kernel {0}; pass them as a buffer, with `extra`",
                          kernel.name));
  if (arguments.empty())
    return 0;
  if (!parameters)
    return finish(hip::ErrorInvalidValue,
                  formatv("kernel {0} takes {1} arguments, none are given",
                          kernel.name, arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const sim::KernelArgument &argument = arguments[i];
    if (!parameters[i])
      return finish(hip::ErrorInvalidValue,
                    formatv("argument {0} ({1}) of kernel {2} is null", i,
                            argument.name, kernel.name));
    size_t end = argument.offset + argument.size;
    if (call.kernarg.size() < end)
      call.kernarg.resize(end);
    std::memcpy(call.kernarg.data() + argument.offset, parameters[i],
                argument.size);
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static int checkShape(const sim::Kernel &kernel,
                      const std::array<uint32_t, 3> &grid,
                      const std::array<uint32_t, 3> &block) {
  auto shape = [](const std::array<uint32_t, 3> &of) {
    return formatv("({0}, {1}, {2})", of[0], of[1], of[2]).str();
  };
  auto wrong = [&](int code, const std::string &expected) {
    return finish(code,
                  formatv("kernel {0}: a grid of {1} blocks of {2} "
                          "work-items; expected {3}",
                          kernel.name, shape(grid), shape(block), expected));
  };
  constexpr std::array<uint32_t, 3> mostBlocks = {MaxGridX, MaxGridYZ,
                                                  MaxGridYZ};
  for (int i = 0; i < 3; ++i)
    if (!grid[i] || grid[i] > mostBlocks[i])
      return wrong(hip::ErrorInvalidValue,
                   "1 to " + shape(mostBlocks) + " blocks");
  uint64_t items = 1;
  for (int i = 0; i < 3; ++i) {
    if (!block[i] || block[i] > MaxBlockItems)
      return wrong(hip::ErrorInvalidConfiguration,
                   formatv("1 to {0} work-items in each dimension of a block",
                           MaxBlockItems));
    if (uint64_t(grid[i]) * block[i] > UINT32_MAX)
      return wrong(hip::ErrorInvalidConfiguration,
                   "less than 2^32 work-items in each dimension");
    items *= block[i];
  }
  if (items > MaxBlockItems)
    return wrong(hip::ErrorInvalidConfiguration,
                 formatv("at most {0} work-items in a block", MaxBlockItems));
  if (items > kernel.maxWorkgroup)
    return wrong(hip::ErrorLaunchFailure,
                 formatv("at most {0} work-items in a block, as the kernel was "
                         "built for",
                         kernel.maxWorkgroup));
  for (int i = 0; i < 3; ++i)
    if (kernel.requiredWorkgroup[i] && kernel.requiredWorkgroup[i] != block[i])
      return wrong(hip::ErrorInvalidConfiguration,
                   formatv("blocks of ({0}, {1}, {2}), as the kernel requires",
                           kernel.requiredWorkgroup[0],
                           kernel.requiredWorkgroup[1],
                           kernel.requiredWorkgroup[2]));
  return 0;
}

int hipsim::makeCall(void *handle, std::array<uint32_t, 3> grid,
                     std::array<uint32_t, 3> block, uint32_t dynamicLds,
                     void **parameters, void **extra, int unknown,
                     KernelCall &call) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  const Function *function;
  if (int code = findFunction(handle, function, unknown))
    return code;
  const sim::Kernel &kernel = *function->kernel;
  if (int code = checkShape(kernel, grid, block))
    return code;
  if (uint64_t(dynamicLds) + kernel.groupSegment > LdsLimit)
    return finish(
        hip::ErrorInvalidValue,
        formatv("kernel {0}: {1} static and {2} dynamic bytes of LDS; "
                "a work-group has {3}",
                kernel.name, kernel.groupSegment, dynamicLds, LdsLimit));
  if (parameters && extra)
    return finish(hip::ErrorInvalidValue,
                  "kernelParams and extra are both given");
  call.function = function;
  call.object = function->object;
  call.kernel = function->kernel;
  call.grid = grid;
  call.block = block;
  call.dynamicLds = dynamicLds;
  return extra ? takeBuffer(kernel, extra, call)
               : takeParameters(kernel, parameters, call);
}

/// `items` are those of the grid, where the last blocks are not full.
static int launch(void *function, std::array<uint32_t, 3> grid,
                  std::array<uint32_t, 3> block, uint32_t dynamicLds,
                  void *stream, void **parameters, void **extra,
                  std::array<uint32_t, 3> items = {0, 0, 0}) {
  {
    Runtime &runtime = Runtime::get();
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Stream> found;
    if (int code = findStream(stream, found))
      return code;
  }
  auto node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeKernel;
  if (int code = makeCall(function, grid, block, dynamicLds, parameters, extra,
                          hip::ErrorInvalidHandle, node->kernel))
    return code;
  node->kernel.items = items;
  return submitNode(stream, std::move(node));
}

NETRA_HIP_EXPORT int hipModuleLaunchKernel(void *function, unsigned gridX,
                                           unsigned gridY, unsigned gridZ,
                                           unsigned blockX, unsigned blockY,
                                           unsigned blockZ, unsigned dynamicLds,
                                           void *stream, void **parameters,
                                           void **extra) {
  return launch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                dynamicLds, stream, parameters, extra);
}

/// The grid counts work-items; the last blocks may be partial.
NETRA_HIP_EXPORT int
hipExtModuleLaunchKernel(void *function, uint32_t itemsX, uint32_t itemsY,
                         uint32_t itemsZ, uint32_t blockX, uint32_t blockY,
                         uint32_t blockZ, size_t dynamicLds, void *stream,
                         void **parameters, void **extra, void *startEvent,
                         void *stopEvent, uint32_t) {
  if (startEvent || stopEvent)
    return finish(hip::ErrorNotSupported,
                  "events around one launch are not supported by the "
                  "simulator; record them with hipEventRecord");
  if (dynamicLds > LdsLimit)
    return finish(hip::ErrorInvalidValue,
                  formatv("{0} bytes of dynamic LDS; a work-group has {1}",
                          dynamicLds, LdsLimit));
  auto groups = [](uint32_t items, uint32_t block) {
    return block ? uint32_t((uint64_t(items) + block - 1) / block) : items;
  };
  return launch(
      function,
      {groups(itemsX, blockX), groups(itemsY, blockY), groups(itemsZ, blockZ)},
      {blockX, blockY, blockZ}, uint32_t(dynamicLds), stream, parameters, extra,
      {itemsX, itemsY, itemsZ});
}

// hip_ext.h declares it without extern "C".
extern "C" __attribute__((visibility("default"),
                          alias("hipExtModuleLaunchKernel"))) int
_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
    void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t,
    void *, void **, void **, void *, void *, uint32_t);
