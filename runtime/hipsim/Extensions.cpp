//===- Extensions.cpp - What the simulator adds to HIP --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "State.h"
#include "netra/hipsim.h"

#include <cstring>

using namespace netra;
using namespace netra::hipsim;

NETRA_HIP_EXPORT int netra_hipsim_set_option(const char *name,
                                             const char *value) {
  if (!name || !value)
    return finish(hip::ErrorInvalidValue, "the name or value is null");
  std::string error;
  if (int code = Runtime::get().setOption(name, value, error))
    return finish(code, std::move(error));
  return 0;
}

NETRA_HIP_EXPORT const char *netra_hipsim_message(void) {
  return lastMessage().c_str();
}

NETRA_HIP_EXPORT size_t netra_hipsim_launches(char *buffer, size_t size) {
  std::string text = Runtime::get().launchesJson();
  if (buffer && size) {
    size_t length = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  }
  return text.size();
}

NETRA_HIP_EXPORT uint64_t netra_hipsim_finding_count(void) {
  return Runtime::get().findingCount();
}

NETRA_HIP_EXPORT void netra_hipsim_clear(void) {
  Runtime::get().clearLaunches();
}
