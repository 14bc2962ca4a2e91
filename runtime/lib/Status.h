//===- Status.h - A status code with its sentence ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_STATUS_H
#define NETRA_RUNTIME_STATUS_H

#include "netra/engine.h"

#include <string>
#include <utility>

namespace netra::rt {

/// The outcome of an operation of the runtime. Success carries no text, so that
/// returning it costs nothing.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(netra_status code, std::string message)
      : code(code), message(std::move(message)) {}

  static Status ok() { return {}; }
  bool failed() const { return code != NETRA_OK; }
  netra_status getCode() const { return code; }
  const std::string &getMessage() const { return message; }

private:
  netra_status code = NETRA_OK;
  std::string message;
};

template <typename... Args> std::string cat(Args &&...args) {
  std::string text;
  auto append = [&text](auto &&value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, char>)
      text += value;
    else if constexpr (std::is_arithmetic_v<T>)
      text += std::to_string(value);
    else
      text += value;
  };
  (append(std::forward<Args>(args)), ...);
  return text;
}

} // namespace netra::rt

#define NETRA_RETURN_IF_FAILED(expression)                                     \
  do {                                                                         \
    if (::netra::rt::Status netraStatus = (expression); netraStatus.failed())  \
      return netraStatus;                                                      \
  } while (false)

#endif // NETRA_RUNTIME_STATUS_H
