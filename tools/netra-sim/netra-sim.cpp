//===- netra-sim.cpp - Run code objects on the simulator -----------------===//
// SPDX-License-Identifier: MIT
//
// Exit status: 0 clean, 1 findings, 2 usage or load error (or a fault of the
// kernel), 3 something is not modelled.
//
//===----------------------------------------------------------------------===//

#include "InputFile.h"
#include "Interrupts.h"
#include "Netra/Simulator/Coverage.h"
#include "Netra/Simulator/Numbers.h"
#include "Netra/Simulator/Simulator.h"
#include "OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace llvm;
using namespace netra::sim;
namespace tool = netra::tool;

namespace {

enum Status { Clean = 0, Findings = 1, Failure = 2, NotModelled = 3 };

const char usage[] =
    R"(usage: netra-sim run FILE --kernel=NAME --grid=X,Y,Z --block=X,Y,Z [ARGS] [OPTIONS]
       netra-sim info FILE
       netra-sim disasm FILE [--kernel=NAME]
       netra-sim coverage [FILE...] [--mnemonics=LIST]
       netra-sim --version

run executes a kernel of a gfx950 code object. --grid counts work-groups.
ARGS fill the explicit kernel arguments in order:
  --arg=in:FILE             a buffer with the file's bytes
  --arg=inout:FILE:OUTFILE  the same, written to OUTFILE afterwards
  --arg=out:BYTES:OUTFILE   a buffer never written before, saved afterwards
  --arg=zero:BYTES:OUTFILE  a buffer of zeros, saved afterwards (OUTFILE may be
                            empty)
  --arg=null                a null pointer
  --arg=u32:V i32:V u64:V f32:V bytes:HEX
  --arg@OFFSET=KIND:...     the same at a byte offset of the argument segment
Hidden arguments are filled in from the launch. OPTIONS:
  --lds=BYTES               dynamic LDS
  --check=all|none|LIST     memory, init, wait, hazard, race, barrier
                            (default: memory)
  --schedule=round-robin|to-barrier|random[:SEED]    how waves advance
  --workgroup-order=forward|reverse|random[:SEED]    how work-groups start
  --counters[=json]         print the counters
  --mfma=cdna3|sequential   arithmetic of matrix instructions
  --trace=WG:WAVE[:FROM-TO] print executed instructions of one wave, from
                            number FROM to before number TO; to stderr when
                            there are counters
  --memory-limit=BYTES[K|M|G]   most memory of the device: allocations, and
                            registers, LDS and private memory of the
                            work-groups that run (0: the host's memory)
  --report-limit=N          distinct findings to print (default 20)
  --limit=N                 most wave instructions (0: no limit)
  --timeout=SECONDS         (default 600; 0: no limit)
  --threads=N               host threads (default 0: one per core)

coverage prints what is modelled: of the instructions in the files, of the
mnemonics in a list file, or of all of gfx950; and, last, why the rest is not.

Exit status: 0 clean, 1 findings, 2 usage or load error or fault of the kernel,
3 something is not modelled.
)";

int failWith(const Twine &message) {
  errs() << "netra-sim: " << message << "\n";
  return Failure;
}

int failWith(Error error) {
  const bool unsupported = error.isA<UnsupportedError>();
  errs() << "netra-sim: " << toString(std::move(error)) << "\n";
  return unsupported ? NotModelled : Failure;
}

Expected<std::vector<uint8_t>> readFile(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = tool::readInput(path);
  if (!buffer)
    return buffer.takeError();
  StringRef data = (*buffer)->getBuffer();
  return std::vector<uint8_t>(data.bytes_begin(), data.bytes_end());
}

/// Reads a number that T holds; false when the text is none.
template <typename T> bool readNumber(StringRef text, T &value) {
  std::optional<uint64_t> number =
      parseNumber(text, std::numeric_limits<T>::max());
  value = T(number.value_or(0));
  return number.has_value();
}

Expected<std::shared_ptr<CodeObject>> loadFile(StringRef path) {
  auto bytes = readFile(path);
  if (!bytes)
    return bytes.takeError();
  auto object = CodeObject::load(*bytes, path);
  if (object)
    for (const std::string &warning : (*object)->warnings())
      errs() << "netra-sim: warning: " << warning << "\n";
  return object;
}

/// Options of the form --name=value; the rest are positional. A value that is
/// not given has no data.
struct CommandLine {
  std::vector<StringRef> positional;
  std::vector<std::pair<StringRef, StringRef>> options;

  CommandLine(int argc, char **argv) {
    for (int i = 2; i < argc; ++i) {
      StringRef text = argv[i];
      if (text.starts_with("--")) {
        const size_t equals = text.find('=');
        options.emplace_back(text.slice(2, equals),
                             equals == StringRef::npos
                                 ? StringRef()
                                 : text.drop_front(equals + 1));
      } else
        positional.push_back(text);
    }
  }
};

bool parseTriple(StringRef text, std::array<uint32_t, 3> &triple) {
  SmallVector<StringRef, 3> parts;
  text.split(parts, ',');
  if (parts.empty() || parts.size() > 3)
    return false;
  triple = {1, 1, 1};
  for (size_t i = 0; i < parts.size(); ++i)
    if (!readNumber(parts[i].trim(), triple[i]))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// run
//===----------------------------------------------------------------------===//

/// One --arg, parsed.
struct Argument {
  StringRef text;
  std::optional<uint64_t> offset;
  bool isPointer = false;
  std::vector<uint8_t> value; ///< bytes in the argument segment
  std::string outFile;
  uint64_t address = 0, bytes = 0; ///< of the buffer to save
};

class Run {
public:
  int main(const CommandLine &line);

private:
  Error parseOption(StringRef name, StringRef value);
  Error makeArgument(Argument &argument, StringRef spec);
  Error placeArguments();

  DeviceOptions options;
  LaunchParams params;
  std::string kernelName, counterFormat;
  std::vector<std::pair<std::optional<uint64_t>, StringRef>> specs;
  std::vector<Argument> arguments;
  std::unique_ptr<Device> device;
  const Kernel *kernel = nullptr;
  std::vector<uint8_t> kernarg;
  std::map<std::string, std::pair<uint64_t, uint64_t>> aliases;
  bool hasGrid = false, hasBlock = false, hasTrace = false;
};

/// Options of `run` that take a value; what is not here is told to be unknown.
bool isKnown(StringRef name) {
  return is_contained({"arg", "kernel", "grid", "block", "lds", "check",
                       "schedule", "workgroup-order", "mfma", "trace",
                       "memory-limit", "timeout", "limit", "report-limit",
                       "threads"},
                      name) ||
         name.starts_with("arg@");
}

Error Run::parseOption(StringRef name, StringRef value) {
  const StringRef option = name;
  auto wrong = [&](const Twine &expected) {
    return createStringError("--" + option + ": expected " + expected +
                             ", found \"" + value + "\"");
  };
  auto named = [&](Error error) -> Error {
    if (!error)
      return error;
    return createStringError("--" + option + ": " + toString(std::move(error)));
  };
  if (!value.data() && name != "counters" && isKnown(name))
    return createStringError("--" + name + " needs a value: --" + name +
                             "=VALUE; see netra-sim --help");
  if (name == "arg") {
    specs.emplace_back(std::nullopt, value);
  } else if (name.consume_front("arg@")) {
    std::optional<uint64_t> offset = parseNumber(name, (1u << 20) - 1);
    if (!offset)
      return createStringError("--arg@" + name +
                               ": expected a byte offset below 1 MiB");
    specs.emplace_back(offset, value);
  } else if (name == "kernel") {
    kernelName = value.str();
  } else if (name == "grid" || name == "block") {
    if (!parseTriple(value, name == "grid" ? params.grid : params.block))
      return wrong("X, X,Y or X,Y,Z with numbers below 2^32");
    (name == "grid" ? hasGrid : hasBlock) = true;
  } else if (name == "lds") {
    uint64_t bytes;
    if (Error error = parseByteCount(value, bytes))
      return named(std::move(error));
    if (bytes > (1u << 20))
      return wrong("at most 1 MiB");
    params.dynamicLds = uint32_t(bytes);
  } else if (name == "check") {
    auto checks = parseChecks(value);
    if (!checks)
      return named(checks.takeError());
    options.checks = *checks;
  } else if (name == "schedule") {
    return named(parseSchedule(value, options));
  } else if (name == "workgroup-order") {
    return named(parseWorkgroupOrder(value, options));
  } else if (name == "mfma") {
    return named(parseMfmaModel(value, options));
  } else if (name == "memory-limit") {
    return named(parseByteCount(value, options.memoryLimit));
  } else if (name == "timeout") {
    return named(parseTimeout(value, options));
  } else if (name == "threads") {
    return named(parseThreads(value, options));
  } else if (name == "counters") {
    if (!value.empty() && value != "json" && value != "text")
      return wrong("text or json");
    counterFormat = value == "json" ? "json" : "text";
    options.counters = true;
  } else if (name == "trace") {
    SmallVector<StringRef, 3> parts;
    value.split(parts, ':');
    bool good = parts.size() == 2 || parts.size() == 3;
    good = good && readNumber(parts[0], params.traceWorkgroup) &&
           readNumber(parts[1], params.traceWave);
    if (good && parts.size() == 3) {
      auto [from, to] = parts[2].split('-');
      good = readNumber(from, params.traceFrom) &&
             readNumber(to, params.traceUntil) &&
             params.traceFrom < params.traceUntil;
    }
    if (!good)
      return wrong("WORKGROUP:WAVE or WORKGROUP:WAVE:FROM-TO with FROM below "
                   "TO");
    hasTrace = true;
  } else if (name == "limit") {
    if (!readNumber(value, options.instructionLimit))
      return wrong("a number of instructions below 2^64, or 0 for no limit");
  } else if (name == "report-limit") {
    if (!readNumber(value, options.reportLimit))
      return wrong("a number of findings below 2^32");
  } else
    return createStringError("unknown option --" + name +
                             "; see netra-sim --help");
  return Error::success();
}

Error Run::makeArgument(Argument &argument, StringRef spec) {
  auto [kind, rest] = spec.split(':');
  auto wrong = [&](const Twine &expected) {
    return createStringError("--arg=" + spec + ": expected " + expected);
  };
  auto setValue = [&](uint64_t value, unsigned bytes) {
    argument.value.resize(bytes);
    std::memcpy(argument.value.data(), &value, bytes);
  };
  auto buffer = [&](uint64_t bytes, StringRef label) -> Error {
    auto address = device->allocate(bytes, label);
    if (!address)
      return address.takeError();
    argument.isPointer = true;
    argument.address = *address;
    argument.bytes = bytes;
    setValue(*address, 8);
    return Error::success();
  };
  if (kind == "in" || kind == "inout") {
    StringRef file = rest, out;
    if (kind == "inout") {
      std::tie(file, out) = rest.rsplit(':');
      if (file.empty() || out.empty())
        return wrong("inout:FILE:OUTFILE");
      argument.outFile = out.str();
    }
    if (file.empty())
      return wrong("a file name");
    if (kind == "inout") {
      // The same file named twice is one buffer.
      auto alias = aliases.find(file.str());
      if (alias != aliases.end()) {
        argument.isPointer = true;
        argument.address = alias->second.first;
        argument.bytes = alias->second.second;
        setValue(argument.address, 8);
        return Error::success();
      }
    }
    auto bytes = readFile(file);
    if (!bytes)
      return bytes.takeError();
    if (bytes->empty())
      return createStringError("'" + file + "' is empty; use --arg=null");
    if (Error error = buffer(bytes->size(), file))
      return error;
    if (kind == "inout")
      aliases[file.str()] = {argument.address, argument.bytes};
    return device->copyIn(argument.address, bytes->data(), bytes->size());
  }
  if (kind == "out" || kind == "zero") {
    auto [size, out] = rest.split(':');
    uint64_t bytes;
    if (Error error = parseByteCount(size, bytes)) {
      consumeError(std::move(error));
      bytes = 0;
    }
    if (!bytes || (kind == "out" && out.empty()))
      return wrong(kind + ":BYTES:OUTFILE");
    argument.outFile = out.str();
    if (Error error = buffer(bytes, out.empty() ? kind : out))
      return error;
    return kind == "zero" ? device->fill(argument.address, 0, bytes)
                          : Error::success();
  }
  if (kind == "null") {
    if (spec != "null")
      return wrong("null, which has no value");
    argument.isPointer = true;
    setValue(0, 8);
    return Error::success();
  }
  if (kind == "u32" || kind == "u64") {
    const unsigned bytes = kind == "u32" ? 4 : 8;
    std::optional<uint64_t> value = parseNumber(rest, maxUIntN(8 * bytes));
    if (!value)
      return wrong("a number below 2^" + Twine(8 * bytes));
    setValue(*value, bytes);
    return Error::success();
  }
  if (kind == "i32") {
    const bool isNegative = rest.consume_front("-");
    std::optional<uint64_t> magnitude =
        parseNumber(rest, uint64_t(INT32_MAX) + isNegative);
    if (!magnitude)
      return wrong("a number from -2^31 to 2^31 - 1");
    setValue(isNegative ? -*magnitude : *magnitude, 4);
    return Error::success();
  }
  if (kind == "f32") {
    double value;
    if (rest.getAsDouble(value))
      return wrong("a number");
    const float single = float(value);
    if (std::isinf(single) && !std::isinf(value))
      return wrong("a number that f32 can hold");
    uint32_t bits;
    std::memcpy(&bits, &single, 4);
    setValue(bits, 4);
    return Error::success();
  }
  if (kind == "bytes") {
    std::string raw;
    if (rest.empty() || rest.size() % 2 || !tryGetFromHex(rest, raw))
      return wrong("hexadecimal digits, two for each byte");
    argument.value.assign(raw.begin(), raw.end());
    return Error::success();
  }
  return wrong("in, inout, out, zero, null, u32, i32, u64, f32 or bytes");
}

Error Run::placeArguments() {
  const std::vector<KernelArgument> records = kernel->explicitArguments();
  size_t next = 0;
  uint64_t packed = 0;
  std::map<uint64_t, const Argument *> placed; // by the end
  auto put = [&](const Argument &argument, uint64_t offset) -> Error {
    const std::vector<uint8_t> &value = argument.value;
    // The first that ends behind this one's start begins behind its end.
    auto next = placed.upper_bound(offset);
    if (next != placed.end() &&
        next->first - next->second->value.size() < offset + value.size())
      return createStringError(
          "--arg=" + argument.text +
          ": its bytes overlap those of --arg=" + next->second->text);
    placed[offset + value.size()] = &argument;
    if (kernarg.size() < offset + value.size())
      kernarg.resize(offset + value.size());
    std::copy(value.begin(), value.end(),
              kernarg.begin() + static_cast<long>(offset));
    return Error::success();
  };
  for (Argument &argument : arguments) {
    if (argument.offset) {
      if (Error error = put(argument, *argument.offset))
        return error;
      continue;
    }
    if (!kernel->hasMetadata) {
      // Natural alignment, one after the other.
      const uint64_t align =
          std::min<uint64_t>(8, PowerOf2Ceil(argument.value.size()));
      packed = alignTo(packed, align);
      if (Error error = put(argument, packed))
        return error;
      packed += argument.value.size();
      continue;
    }
    if (next >= records.size())
      return createStringError("--arg=" + argument.text + ": kernel '" +
                               kernel->name + "' has " + Twine(records.size()) +
                               " explicit arguments");
    const KernelArgument &record = records[next++];
    if (record.size != argument.value.size())
      return createStringError(
          formatv("--arg={0}: argument {1} ('{2}') of kernel '{3}' has {4} "
                  "bytes, this value {5}",
                  argument.text, next - 1, record.name, kernel->name,
                  record.size, argument.value.size())
              .str());
    if (record.isPointer() && !argument.isPointer &&
        argument.text.split(':').first != "u64" &&
        argument.text.split(':').first != "bytes")
      return createStringError("--arg=" + argument.text + ": argument '" +
                               record.name + "' of kernel '" + kernel->name +
                               "' is a pointer");
    if (Error error = put(argument, record.offset))
      return error;
  }
  const bool anyPlaced =
      any_of(arguments, [](const Argument &a) { return a.offset.has_value(); });
  if (kernel->hasMetadata && next < records.size() && !anyPlaced)
    return createStringError(
        formatv("kernel '{0}' has {1} explicit arguments, {2} given; argument "
                "{2} is '{3}' ({4}, {5} bytes)",
                kernel->name, records.size(), next, records[next].name,
                records[next].kind, records[next].size)
            .str());
  for (; kernel->hasMetadata && next < records.size(); ++next) {
    const KernelArgument &record = records[next];
    auto over = placed.upper_bound(record.offset);
    if (over == placed.end() ||
        over->first - over->second->value.size() >= record.offset + record.size)
      errs() << formatv("netra-sim: warning: argument {0} ('{1}', {2} bytes at "
                        "{3}) of kernel '{4}' is not given and zero\n",
                        next, record.name, record.size, record.offset,
                        kernel->name);
  }
  return Error::success();
}

int Run::main(const CommandLine &line) {
  options.checks = CheckMemory;
  options.timeout = 600;
  for (auto [name, value] : line.options)
    if (Error error = parseOption(name, value))
      return failWith(std::move(error));
  if (line.positional.size() != 1)
    return failWith("run: expected one code object file; see --help");
  auto object = loadFile(line.positional[0]);
  if (!object)
    return failWith(object.takeError());
  if (kernelName.empty() && (*object)->kernels().size() == 1)
    kernelName = (*object)->kernels()[0].name;
  if (kernelName.empty())
    return failWith("run: --kernel=NAME is missing; 'netra-sim info' lists "
                    "the kernels");
  kernel = (*object)->findKernel(kernelName);
  if (!kernel) {
    std::string names;
    for (const Kernel &k : (*object)->kernels())
      names += (names.empty() ? "" : ", ") + k.name;
    return failWith("no kernel '" + kernelName + "' in " + line.positional[0] +
                    "; it has: " + names);
  }
  if (!hasGrid || !hasBlock)
    return failWith("run: --grid and --block are needed");

  device = std::make_unique<Device>(options);
  for (auto &[offset, spec] : specs) {
    Argument argument;
    argument.text = spec;
    argument.offset = offset;
    if (Error error = makeArgument(argument, spec))
      return failWith(std::move(error));
    arguments.push_back(std::move(argument));
  }
  if (Error error = placeArguments())
    return failWith(std::move(error));
  params.kernarg = kernarg;
  if (hasTrace) {
    const uint64_t groups =
        uint64_t(params.grid[0]) * params.grid[1] * params.grid[2];
    const uint64_t waves =
        (uint64_t(params.block[0]) * params.block[1] * params.block[2] + 63) /
        64;
    if (groups && waves &&
        (params.traceWorkgroup >= groups || params.traceWave >= waves))
      return failWith(formatv("--trace={0}:{1}: the launch has work-groups 0 "
                              "to {2}, each with waves 0 to {3}",
                              params.traceWorkgroup, params.traceWave,
                              groups - 1, waves - 1)
                          .str());
    // Counters have the output for themselves.
    params.traceTo = options.counters ? &errs() : &outs();
  }
  auto result = device->launch(*object, *kernel, params);
  outs().flush();
  if (!result)
    return failWith(result.takeError());

  for (const Finding &finding : result->findings)
    errs() << finding.str();
  if (result->suppressed)
    errs() << "and " << result->suppressed << " more findings\n";
  if (result->counters)
    outs() << (counterFormat == "json" ? result->counters->json()
                                       : result->counters->text());
  int status = result->findings.empty() ? Clean : Findings;
  // One output that cannot be written does not keep the others.
  for (const Argument &argument : arguments) {
    if (argument.outFile.empty())
      continue;
    std::string bytes(argument.bytes, 0);
    Error error = device->copyOut(bytes.data(), argument.address, bytes.size());
    if (!error)
      error = tool::writeOutput(argument.outFile, bytes);
    if (error)
      status = failWith(std::move(error));
  }
  return status;
}

//===----------------------------------------------------------------------===//
// info, disasm, coverage
//===----------------------------------------------------------------------===//

int info(const CommandLine &line) {
  if (line.positional.size() != 1 || !line.options.empty())
    return failWith("info: expected one code object file; see --help");
  auto object = loadFile(line.positional[0]);
  if (!object)
    return failWith(object.takeError());
  outs() << "target " << (*object)->target() << "\n";
  for (const Kernel &k : (*object)->kernels()) {
    outs() << "kernel " << k.name << "\n"
           << formatv("  registers  {0} VGPRs, {1} AGPRs, {2} SGPRs\n", k.vgprs,
                      k.agprs, k.sgprs)
           << formatv("  LDS        {0} bytes\n", k.groupSegment)
           << formatv("  scratch    {0} bytes per work-item{1}\n",
                      k.privateSegment,
                      k.usesDynamicStack ? " and a dynamic stack" : "")
           << formatv("  work-group at most {0} work-items\n", k.maxWorkgroup)
           << formatv("  arguments  {0} bytes{1}\n", k.kernargSize,
                      k.hasMetadata ? "" : ", not described");
    for (const KernelArgument &a : k.arguments)
      outs() << formatv("    {0,4} +{1,-3} {2,-24} {3}\n", a.offset, a.size,
                        a.kind, a.name);
  }
  for (const CodeObject::Variable &v : (*object)->variables())
    outs() << formatv("variable {0} at {1:x}, {2} bytes\n", v.name, v.address,
                      v.size);
  return Clean;
}

int disasm(const CommandLine &line) {
  StringRef name;
  for (auto [option, value] : line.options) {
    if (option != "kernel")
      return failWith("disasm: unknown option --" + option);
    name = value;
  }
  if (line.positional.size() != 1)
    return failWith("disasm: expected one code object file; see --help");
  auto object = loadFile(line.positional[0]);
  if (!object)
    return failWith(object.takeError());
  const Kernel *kernel = nullptr;
  if (!name.empty()) {
    kernel = (*object)->findKernel(name);
    if (!kernel)
      return failWith("no kernel '" + name + "' in " + line.positional[0]);
  }
  if (Error error = (*object)->disassemble(outs(), kernel))
    return failWith(std::move(error));
  return Clean;
}

int coverage(const CommandLine &line) {
  using Coverage = CodeObject::Coverage;
  std::map<std::string, Coverage> total;
  for (auto [option, value] : line.options) {
    if (option != "mnemonics")
      return failWith("coverage: unknown option --" + option);
    auto bytes = readFile(value);
    if (!bytes)
      return failWith(bytes.takeError());
    // One mnemonic per line, perhaps with a count before or after it.
    StringRef text(reinterpret_cast<const char *>(bytes->data()),
                   bytes->size());
    SmallVector<StringRef> lines;
    text.split(lines, '\n');
    for (StringRef entry : lines) {
      SmallVector<StringRef, 4> words;
      SplitString(entry.split('#').first, words);
      for (StringRef word : words) {
        if (!isAlpha(word[0]))
          continue;
        auto known = mnemonicCoverage(word);
        if (known) {
          known->count = 1;
          total[known->mnemonic] = *known;
        }
      }
    }
  }
  for (StringRef path : line.positional) {
    auto object = loadFile(path);
    if (!object)
      return failWith(object.takeError());
    for (Coverage &entry : (*object)->coverage()) {
      Coverage &sum = total[entry.mnemonic];
      const uint64_t count = sum.count + entry.count;
      if (sum.count == 0 || entry.level > sum.level)
        sum = entry;
      sum.count = count;
    }
  }
  if (line.positional.empty() && line.options.empty()) {
    auto known = knownCoverage();
    if (!known)
      return failWith(known.takeError());
    for (Coverage &entry : *known)
      total[entry.mnemonic] = entry;
  }
  uint64_t numbers[3] = {}, uses[3] = {};
  std::map<std::string, std::string> refused; // mnemonics by reason
  for (auto &[name, entry] : total) {
    static const char *const levels[] = {"exact", "bounded", "unsupported"};
    outs() << formatv("{0,-44} {1,8}  {2,-12}{3}\n", name, entry.count,
                      levels[entry.level], entry.note);
    ++numbers[entry.level];
    uses[entry.level] += entry.count;
    if (entry.level == Coverage::Unsupported) {
      std::string &names = refused[entry.note];
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  outs() << formatv("exact {0} mnemonics ({1} uses), bounded {2} ({3}), "
                    "unsupported {4} ({5})\n",
                    numbers[0], uses[0], numbers[1], uses[1], numbers[2],
                    uses[2]);
  for (auto &[why, names] : refused)
    outs() << "unsupported: " << names << ": " << why << "\n";
  return numbers[2] ? NotModelled : Clean;
}

} // namespace

static int runCommand(int argc, char **argv) {
  StringRef command = argc > 1 ? argv[1] : "";
  CommandLine line(argc, argv);
  const bool wantsHelp =
      command == "--help" || command == "help" || command == "-h" ||
      any_of(line.options, [](auto &option) { return option.first == "help"; });
  if (wantsHelp) {
    outs() << usage;
    return Clean;
  }
  if (command == "--version") {
    outs() << "netra-sim " << NETRA_VERSION << "\n";
    return Clean;
  }
  if (command == "run")
    return Run().main(line);
  if (command == "info")
    return info(line);
  if (command == "disasm")
    return disasm(line);
  if (command == "coverage")
    return coverage(line);
  errs() << (command.empty() ? "netra-sim: a command is missing"
                             : "netra-sim: unknown command '" + command.str() +
                                   "'; expected run, info, disasm or coverage")
         << "\n\n"
         << usage;
  return Failure;
}

int main(int argc, char **argv) {
  netra::tool::treatFileSizeLimitAsError();
  const int status = runCommand(argc, argv);
  outs().flush();
  if (!outs().has_error())
    return status;
  const std::error_code code = outs().error();
  outs().clear_error();
  return failWith(
      createStringError(code, "cannot write the output: " + code.message()));
}
