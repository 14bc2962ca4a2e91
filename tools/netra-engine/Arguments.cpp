//===- Arguments.cpp - Command lines of netra-engine ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Number.h"

#include "Netra/Catalog/Catalog.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>

using namespace netra;
using namespace netra::tool;

int netra::tool::fail(const std::string &message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "netra-engine: %s\n", message.c_str());
  return code;
}

void Arguments::printHelp() const {
  std::printf("usage: netra-engine %s %s%s\n\n%s\n\noptions:\n",
              command.c_str(), "[options]",
              positional.empty() ? "" : (" " + positional).c_str(),
              summary.c_str());
  for (const Option &option : options) {
    std::string left = "--" + option.name;
    if (option.arity == Optional)
      left += "[=" + option.what + "]";
    else if (option.arity != None)
      left += "=" + option.what;
    if (option.arity == Many)
      left += " ...";
    std::printf("  %-28s %s%s\n", left.c_str(), option.help.c_str(),
                option.arity == Many ? " (one or more; may be repeated)" : "");
  }
  std::printf("  %-28s %s\n", "--help", "this text");
}

/// Whether a word is an option rather than a value; "-" is a value.
static bool isOption(const std::string &word) {
  return word.size() > 1 && word[0] == '-';
}

std::optional<int> Arguments::parse(int argc, char **argv) {
  auto usage = [&](const std::string &message) {
    return fail(command + ": " + message + "; see netra-engine " + command +
                    " --help",
                ExitUsage);
  };
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    if (text == "--help" || text == "-h") {
      printHelp();
      return ExitSuccess;
    }
    if (text == "-o")
      text = "--output";
    if (!isOption(text)) {
      if (positional.empty() || text.empty())
        return usage("unexpected argument \"" + text + '"');
      unnamed.push_back(text);
      continue;
    }
    size_t dashes = text.find_first_not_of('-');
    size_t equals = text.find('=');
    std::string name = dashes == std::string::npos
                           ? text
                           : text.substr(dashes, equals == std::string::npos
                                                     ? equals
                                                     : equals - dashes);
    const Option *found = nullptr;
    for (const Option &option : options)
      if (option.name == name)
        found = &option;
    if (!found)
      return usage("unknown option " + text);
    if (found->arity != Many && has(name))
      return usage("option --" + name + " is given twice");
    std::vector<std::string> &given = values[name];
    const bool needsValue = found->arity == One || found->arity == Many;
    const size_t before = given.size();
    if (equals != std::string::npos) {
      if (found->arity == None)
        return usage("option --" + name + " takes no value");
      given.push_back(text.substr(equals + 1));
    } else if (!needsValue) {
      given.emplace_back();
    }
    const auto takesMore = [&] {
      return needsValue && (found->arity == Many || given.size() == before);
    };
    while (takesMore() && i + 1 != argc && !isOption(argv[i + 1]))
      given.push_back(argv[++i]);
    const std::string needs = "option --" + name + " needs " + found->what;
    if (given.size() == before)
      return usage(needs + (i + 1 == argc ? ""
                                          : ", found the option " +
                                                std::string(argv[i + 1])));
    if (needsValue && llvm::is_contained(given, ""))
      return usage(needs + ", found an empty word");
  }
  if (llvm::Error error = checkGoldenRoot(get("golden-root")))
    return usage("--golden-root: " + llvm::toString(std::move(error)));
  return std::nullopt;
}

std::optional<int> Arguments::parseEngine(int argc, char **argv,
                                          std::string &directory) {
  if (std::optional<int> code = parse(argc, argv))
    return code;
  directory = get("engine");
  if (directory.empty() && unnamed.size() == 1)
    directory = unnamed.front();
  else if (directory.empty() || !unnamed.empty())
    return fail(command + ": expected one engine directory", ExitUsage);
  return std::nullopt;
}

std::string Arguments::get(const std::string &name,
                           const std::string &fallback) const {
  auto found = values.find(name);
  return found != values.end() ? found->second.back() : fallback;
}

std::vector<std::string> Arguments::all(const std::string &name) const {
  auto found = values.find(name);
  return found != values.end() ? found->second : std::vector<std::string>();
}

llvm::Expected<uint64_t> Arguments::number(const std::string &name,
                                           uint64_t least,
                                           uint64_t most) const {
  llvm::Expected<uint64_t> value = parseNumber(get(name), least, most);
  if (!value)
    return llvm::createStringError("--" + name + ": " +
                                   llvm::toString(value.takeError()));
  return value;
}

std::optional<std::pair<std::string, std::string>>
netra::tool::splitAssignment(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}
