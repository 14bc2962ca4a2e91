//===- SafeTensors.cpp - Reading checkpoints ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SafeTensors.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace netra::tool;
using nlohmann::json;

static std::string engineType(const std::string &dtype) {
  static const std::map<std::string, std::string> names = {
      {"BF16", "bf16"},
      {"F16", "f16"},
      {"F32", "f32"},
      {"F64", "f64"},
      {"F8_E4M3", "f8E4M3FN"},
      {"F8_E5M2", "f8E5M2"},
      {"I8", "i8"},
      {"U8", "u8"},
      {"I16", "i16"},
      {"U16", "u16"},
      {"I32", "i32"},
      {"U32", "u32"},
      {"I64", "i64"},
      {"U64", "u64"}};
  auto found = names.find(dtype);
  return found != names.end() ? found->second : dtype;
}

static llvm::Error bad(const std::string &path, const std::string &what) {
  return llvm::createStringError(path + ": " + what);
}

llvm::Error Checkpoint::addFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return bad(path, buffer.getError().message());
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() < 8)
    return bad(path, "expected a safetensors file, found " +
                         std::to_string(bytes.size()) + " bytes");
  uint64_t header = llvm::support::endian::read64le(bytes.data());
  if (header > bytes.size() - 8)
    return bad(path, "the header is said to have " + std::to_string(header) +
                         " bytes; the file ends before");
  llvm::StringRef data = bytes.substr(8 + header);
  json document = json::parse(bytes.data() + 8, bytes.data() + 8 + header,
                              nullptr, /*allow_exceptions=*/false);
  if (!document.is_object())
    return bad(path, "the header is not a JSON object");
  for (auto it = document.begin(); it != document.end(); ++it) {
    if (it.key() == "__metadata__")
      continue;
    std::string where = path + ", tensor " + it.key();
    const json &entry = *it;
    auto dtype = entry.is_object() ? entry.find("dtype") : entry.end();
    auto shape = entry.is_object() ? entry.find("shape") : entry.end();
    auto offsets = entry.is_object() ? entry.find("data_offsets") : entry.end();
    if (!entry.is_object() || dtype == entry.end() || !dtype->is_string() ||
        shape == entry.end() || !shape->is_array() || offsets == entry.end() ||
        !offsets->is_array() || offsets->size() != 2 ||
        !(*offsets)[0].is_number_unsigned() ||
        !(*offsets)[1].is_number_unsigned())
      return bad(where, "expected dtype, shape and data_offsets");
    CheckpointTensor tensor;
    tensor.file = path;
    tensor.dtype = engineType(dtype->get<std::string>());
    for (const json &extent : *shape) {
      if (!extent.is_number_unsigned() ||
          extent.get<uint64_t>() > uint64_t(INT64_MAX))
        return bad(where, "expected extents that are not negative");
      tensor.shape.push_back(extent.get<int64_t>());
    }
    uint64_t begin = (*offsets)[0].get<uint64_t>();
    uint64_t end = (*offsets)[1].get<uint64_t>();
    if (begin > end || end > data.size())
      return bad(where, "its data [" + std::to_string(begin) + ", " +
                            std::to_string(end) + ") lies outside the " +
                            std::to_string(data.size()) + " bytes of data");
    tensor.data = {data.bytes_begin() + begin, data.bytes_begin() + end};
    auto [place, fresh] = tensors.emplace(it.key(), std::move(tensor));
    if (!fresh)
      return bad(where, "is also in " + place->second.file);
  }
  files.push_back(std::move(*buffer));
  return llvm::Error::success();
}

llvm::Error Checkpoint::add(const std::string &path) {
  if (!llvm::sys::fs::is_directory(path))
    return addFile(path);
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end;
       it != end && !error; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".safetensors")
      names.push_back(it->path());
  if (error)
    return bad(path, error.message());
  if (names.empty())
    return bad(path, "holds no *.safetensors file");
  std::sort(names.begin(), names.end());
  for (const std::string &name : names)
    if (llvm::Error failed = addFile(name))
      return failed;
  return llvm::Error::success();
}

const CheckpointTensor *Checkpoint::find(const std::string &name) const {
  auto found = tensors.find(name);
  return found != tensors.end() ? &found->second : nullptr;
}
