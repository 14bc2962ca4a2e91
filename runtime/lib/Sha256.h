//===- Sha256.h - SHA-256 ---------------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// FIPS 180-4. The runtime links neither LLVM nor a cryptographic library, so it
// carries its own; processors with the SHA extensions use them.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_SHA256_H
#define NETRA_RUNTIME_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace netra::rt {

class Sha256 {
public:
  void update(const void *data, size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }

  /// 64 lower-case hexadecimal digits. Ends the computation.
  std::string finish();

  using Digest = std::array<uint8_t, 32>;
  /// The same as bytes. Ends the computation.
  Digest finishDigest();

  static std::string hash(const void *data, size_t bytes);
  static std::string hash(std::string_view text) {
    return hash(text.data(), text.size());
  }

  static Digest digest(const void *data, size_t bytes);

  /// For tests: use the portable code even where the processor has extensions.
  static void forcePortable(bool portable);

private:
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block = {};
  size_t filled = 0;
  uint64_t total = 0;
};

/// Lower-case hexadecimal digits, two a byte.
std::string hexadecimal(std::span<const uint8_t> bytes);

} // namespace netra::rt

#endif // NETRA_RUNTIME_SHA256_H
