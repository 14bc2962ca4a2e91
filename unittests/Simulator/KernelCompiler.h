//===- KernelCompiler.h - Code objects made in the tests --------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Compiles OpenCL C with clang and assembles gfx950 assembly, at test time, so
// that the simulator runs code that nobody wrote for it.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_SIMULATOR_KERNELCOMPILER_H
#define NETRA_UNITTESTS_SIMULATOR_KERNELCOMPILER_H

#include "Netra/Simulator/Simulator.h"
#include <memory>
#include <string>
#include <vector>

namespace netra::sim::test {

/// Whether the long sets run in full: NETRA_TEST_FULL=1 in the environment.
bool isFullTest();

/// The bytes of a linked code object; a fatal test failure when the tool
/// fails. `flags` are further clang options ("-O2").
std::vector<uint8_t> compileOpenCl(const std::string &source,
                                   const std::string &flags);
std::vector<uint8_t> assemble(const std::string &source);
/// The assembly text that clang makes of OpenCL C.
std::string openClAssembly(const std::string &source, const std::string &flags);
/// An assembly text with macros, conditions and includes carried out.
std::string expandAssembly(const std::string &source,
                           const std::string &includeFolder);

/// Both, loaded.
std::shared_ptr<CodeObject> openCl(const std::string &source,
                                   const std::string &flags = "-O2");
std::shared_ptr<CodeObject> assembly(const std::string &source);

/// The assembly of a kernel named `k`: descriptor and metadata around a body.
/// `kernargBytes` of arguments, all of them pointers; s[0:1] holds their
/// address, s2 the work-group id, v0 the work-item id.
std::string wrapKernel(const std::string &body, unsigned kernargBytes = 16,
                       unsigned lds = 0, unsigned vgprs = 64,
                       unsigned agprs = 0, unsigned scratch = 0);

/// Builds the argument segment.
class Arguments {
public:
  template <typename T> Arguments &add(T value) {
    return append(&value, sizeof(T));
  }
  /// A value given by its bytes; as many as its alignment.
  Arguments &addBytes(const std::vector<uint8_t> &value) {
    return append(value.data(), value.size());
  }
  std::vector<uint8_t> bytes;

private:
  Arguments &append(const void *value, size_t size) {
    const size_t at = (bytes.size() + size - 1) / size * size;
    bytes.resize(at + size);
    __builtin_memcpy(bytes.data() + at, value, size);
    return *this;
  }
};

/// Device memory with the contents of a vector, and back.
template <typename T>
uint64_t upload(Device &device, const std::vector<T> &data,
                const char *label = "") {
  auto address = device.allocate(data.size() * sizeof(T), label);
  if (!address) {
    llvm::consumeError(address.takeError());
    return 0;
  }
  llvm::cantFail(device.copyIn(*address, data.data(), data.size() * sizeof(T)));
  return *address;
}
template <typename T>
std::vector<T> download(const Device &device, uint64_t address, size_t count) {
  std::vector<T> data(count);
  llvm::cantFail(device.copyOut(data.data(), address, count * sizeof(T)));
  return data;
}

/// Launches and returns the findings' texts; an error's text is one entry
/// that starts with "error: ".
std::vector<std::string>
run(Device &device, const std::shared_ptr<CodeObject> &object,
    const std::string &kernel, std::array<uint32_t, 3> grid,
    std::array<uint32_t, 3> block, const Arguments &arguments,
    uint32_t dynamicLds = 0);

} // namespace netra::sim::test

#endif // NETRA_UNITTESTS_SIMULATOR_KERNELCOMPILER_H
