//===- TestFiles.cpp - Checkpoints and folders for tests ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

using namespace netra::test;
namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string pattern = NETRA_TEST_BINARY_DIR "/tool-test-XXXXXX";
  if (!mkdtemp(pattern.data())) {
    std::perror(pattern.c_str());
    std::abort();
  }
  path = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> result;
  for (const fs::directory_entry &entry : fs::directory_iterator(path))
    result.push_back(entry.path().filename().string());
  std::sort(result.begin(), result.end());
  return result;
}

std::string netra::test::readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void netra::test::writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

Bytes netra::test::randomBytes(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  return bytes;
}

std::string netra::test::withHeader(const std::string &header,
                                    const std::string &data) {
  std::string size;
  for (int i = 0; i < 8; ++i)
    size += char(uint64_t(header.size()) >> (8 * i));
  return size + header + data;
}

std::string netra::test::safetensors(const std::vector<TestTensor> &tensors) {
  std::string header = "{", data;
  for (const TestTensor &tensor : tensors) {
    std::string shape;
    for (int64_t extent : tensor.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    header += (header.size() > 1 ? ",\"" : "\"") + tensor.name +
              "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + tensor.bytes.size()) + "]}";
    data.append(tensor.bytes.begin(), tensor.bytes.end());
  }
  return withHeader(header + "}", data);
}
