//===- Linker.cpp - lld inside the process --------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Linker.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace netra {

Expected<std::vector<uint8_t>> linkCodeObject(ArrayRef<StringRef> objects) {
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!usable)
    return createStringError("an earlier link left lld unusable; start again");

  // lld reads and writes files only. The folder is private (mode 0700), and
  // its name does not enter the output.
  SmallString<128> folder;
  if (std::error_code error = fs::createUniqueDirectory("netra-link", folder))
    return createStringError(error, "temporary folder: " + error.message());
  llvm::scope_exit cleanUp([&] { fs::remove_directories(folder); });
  SmallString<128> output(folder);
  sys::path::append(output, "kernel.hsaco");
  std::vector<std::string> inputs;
  for (StringRef object : objects) {
    SmallString<128> input(folder);
    sys::path::append(
        input, "kernel" + (inputs.empty() ? "" : utostr(inputs.size())) + ".o");
    std::error_code error;
    raw_fd_ostream stream(input, error);
    if (!error) {
      stream << object;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
    if (error)
      return createStringError(error, input + ": " + error.message());
    inputs.push_back(std::string(input));
  }

  // The output is bound to be loaded by symbol, so local symbols go; undefined
  // ones are an error here rather than at load time. One thread: the objects
  // are small and the order of the output must not depend on the machine.
  // Equal code of several objects is there once, with a symbol for each.
  std::vector<const char *> arguments = {
      "ld.lld",      "-shared", "--no-undefined", "--discard-all", "--icf=all",
      "--threads=1", "-o",      output.c_str()};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());
  std::string standardOutput, errors;
  raw_string_ostream outputStream(standardOutput), errorStream(errors);
  lld::Result result = lld::lldMain(arguments, outputStream, errorStream,
                                    {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode != 0) {
    // Diagnostics show the temporary path; the reader knows the kernel only.
    std::string message = StringRef(errors).trim().str();
    std::string path = (folder + sys::path::get_separator()).str();
    for (size_t at; (at = message.find(path)) != std::string::npos;)
      message.erase(at, path.size());
    return createStringError(message.empty() ? "lld failed" : message);
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> linked = MemoryBuffer::getFile(
      output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!linked)
    return createStringError(linked.getError(),
                             output + ": " + linked.getError().message());
  StringRef bytes = (*linked)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

} // namespace netra
