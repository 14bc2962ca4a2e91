//===- Arguments.h - Command lines of netra-engine --------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_ENGINE_ARGUMENTS_H
#define NETRA_TOOLS_ENGINE_ARGUMENTS_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace netra::tool {

enum ExitCode { ExitSuccess = 0, ExitFailure = 1, ExitUsage = 2 };

/// Prints "netra-engine: MESSAGE" on stderr and returns `code`.
int fail(const std::string &message, int code = ExitFailure);

/// The options of one command.
class Arguments {
public:
  /// `positional` names what stands without an option, "" if nothing may.
  Arguments(std::string command, std::string summary, std::string positional)
      : command(std::move(command)), summary(std::move(summary)),
        positional(std::move(positional)) {}

  /// An option without value, one with, one that may have one, and one that may
  /// be repeated and takes all words up to the next option.
  void flag(const char *name, const char *help) { add(name, "", help, None); }
  void value(const char *name, const char *what, const char *help) {
    add(name, what, help, One);
  }
  void optional(const char *name, const char *what, const char *help) {
    add(name, what, help, Optional);
  }
  void list(const char *name, const char *what, const char *help) {
    add(name, what, help, Many);
  }
  /// For parseEngine.
  void engine() { value("engine", "DIR", "the engine, instead of ENGINE"); }

  /// For a command that needs code that engines only lock; `parse` looks
  /// whether the folder is there.
  void goldenRoot(const char *help) { value("golden-root", "DIR", help); }

  /// Reads the arguments after the command. Nothing to go on; otherwise the
  /// exit code: after --help, or an error that has been printed.
  std::optional<int> parse(int argc, char **argv);

  /// The same of a command that looks at one engine, ENGINE or --engine DIR.
  std::optional<int> parseEngine(int argc, char **argv, std::string &directory);

  bool has(const std::string &name) const { return values.count(name) != 0; }
  std::string get(const std::string &name,
                  const std::string &fallback = "") const;
  std::vector<std::string> all(const std::string &name) const;
  /// The value as a number from `least` to `most`; the error names the option.
  llvm::Expected<uint64_t> number(const std::string &name, uint64_t least,
                                  uint64_t most) const;
  const std::vector<std::string> &rest() const { return unnamed; }

private:
  enum Arity { None, One, Optional, Many };
  struct Option {
    std::string name, what, help;
    Arity arity;
  };
  void add(const char *name, const char *what, const char *help, Arity arity) {
    options.push_back({name, what, help, arity});
  }
  void printHelp() const;

  std::string command, summary, positional;
  std::vector<Option> options;
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> unnamed;
};

/// "NAME=VALUE"; nothing without '='.
std::optional<std::pair<std::string, std::string>>
splitAssignment(const std::string &text);

/// "22.0 MiB".
std::string byteCount(uint64_t bytes);

// The commands. `argv[0]` is the command's name.
int inspectMain(int argc, char **argv);
int explainMain(int argc, char **argv);
int validateMain(int argc, char **argv);
int runMain(int argc, char **argv);
int packWeightsMain(int argc, char **argv);
int equivalenceMain(int argc, char **argv);
int recordGoldenMain(int argc, char **argv);
int promoteMain(int argc, char **argv);

} // namespace netra::tool

#endif // NETRA_TOOLS_ENGINE_ARGUMENTS_H
