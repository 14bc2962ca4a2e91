//===- program.h - What the HIP programs have in common ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_RUNTIME_HIPPROGRAMS_PROGRAM_H
#define NETRA_UNITTESTS_RUNTIME_HIPPROGRAMS_PROGRAM_H

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/// Ends the program when a call fails.
#define CHECK(call)                                                            \
  do {                                                                         \
    hipError_t code = (call);                                                  \
    if (code != hipSuccess) {                                                  \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,       \
                   hipGetErrorString(code));                                   \
      std::exit(2);                                                            \
    }                                                                          \
  } while (false)

/// Arguments of every program: the code object, and --break to compute
/// something else than what is expected.
struct Program {
  const char *codeObject = nullptr;
  bool isBroken = false;

  Program(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
      if (!std::strcmp(argv[i], "--break"))
        isBroken = true;
      else
        codeObject = argv[i];
    }
    if (!codeObject) {
      std::fprintf(stderr, "usage: %s CODE-OBJECT [--break]\n", argv[0]);
      std::exit(2);
    }
    hipDeviceProp_t properties;
    int version;
    CHECK(hipGetDeviceProperties(&properties, 0));
    CHECK(hipRuntimeGetVersion(&version));
    std::printf("device %s, %s, HIP %d\n", properties.name,
                properties.gcnArchName, version / 10000000);
  }
};

template <typename T> T *allocate(size_t count) {
  void *pointer = nullptr;
  CHECK(hipMalloc(&pointer, count * sizeof(T)));
  return static_cast<T *>(pointer);
}

/// 0 when all is as expected; else says what is not, and gives 1.
template <typename T>
int compare(const std::vector<T> &found, const std::vector<T> &expected) {
  size_t wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (found[i] != expected[i] && !wrong++)
      std::printf("element %zu: expected %g, found %g\n", i,
                  double(expected[i]), double(found[i]));
  std::printf("%zu of %zu elements are wrong\n", wrong, expected.size());
  return wrong ? 1 : 0;
}

#endif // NETRA_UNITTESTS_RUNTIME_HIPPROGRAMS_PROGRAM_H
