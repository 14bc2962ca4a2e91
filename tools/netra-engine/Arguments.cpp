//===- Arguments.cpp - Command lines of netra-engine ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <cstdio>

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
    std::printf("  %-28s %s%s\n", left.c_str(), option.help.c_str(),
                option.arity == Many ? " (may be repeated)" : "");
  }
  std::printf("  %-28s %s\n", "--help", "this text");
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
    if (text.size() < 2 || text[0] != '-') {
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
    std::string value;
    if (equals != std::string::npos) {
      if (found->arity == None)
        return usage("option --" + name + " takes no value");
      value = text.substr(equals + 1);
    } else if (found->arity == One || found->arity == Many) {
      if (++i == argc)
        return usage("option --" + name + " needs " + found->what);
      value = argv[i];
    }
    if (found->arity != Many && has(name))
      return usage("option --" + name + " is given twice");
    values[name].push_back(value);
  }
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

std::optional<std::pair<std::string, std::string>>
netra::tool::splitAssignment(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}
