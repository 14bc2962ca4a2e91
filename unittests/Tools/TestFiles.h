//===- TestFiles.h - Checkpoints and folders for tests ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_TOOLS_TESTFILES_H
#define NETRA_UNITTESTS_TOOLS_TESTFILES_H

#include <cstdint>
#include <string>
#include <vector>

namespace netra::test {

using Bytes = std::vector<uint8_t>;

/// A folder that is removed with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  std::string file(const std::string &name) const { return path + "/" + name; }
  /// The names of the files in it, sorted.
  std::vector<std::string> names() const;
  std::string path;
};

std::string readText(const std::string &path);
void writeText(const std::string &path, const std::string &text);
Bytes randomBytes(size_t size, unsigned seed);

struct TestTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  Bytes bytes = {};
};

/// The bytes of a safetensors file.
std::string safetensors(const std::vector<TestTensor> &tensors);
/// A header in front of data, whatever the header says.
std::string withHeader(const std::string &header, const std::string &data);

} // namespace netra::test

#endif // NETRA_UNITTESTS_TOOLS_TESTFILES_H
