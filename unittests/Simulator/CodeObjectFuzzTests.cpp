//===- CodeObjectFuzzTests.cpp - Damaged code objects give errors --------===//
// SPDX-License-Identifier: MIT
//
// Changes valid code objects by a generator with a fixed seed and does with
// each all that the tools do: load, list, disassemble, coverage, short runs.
// Nothing may crash, hang or allocate without bound; what does not load gives
// an error with a text. 2,000 inputs; 100,000 with NETRA_TEST_FULL=1. A crash
// names the input; NETRA_FUZZ_FIRST=N begins with that one, NETRA_FUZZ_END=M
// ends before that one, and NETRA_FUZZ_SAVE names a file to write the first to.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"
#include "Programs.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>
#include <random>
#include <sys/resource.h>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

/// The parts of a file that mean something of their own.
enum Part {
  Header,      ///< of the ELF
  Tables,      ///< program and section headers
  Notes,       ///< the metadata
  Descriptors, ///< of the kernels
  Text,
  Other, ///< symbols, names, relocations, data, debug information
  NumParts
};

/// A valid code object and where its parts lie.
struct Seed {
  std::string name;
  Bytes bytes;
  std::vector<std::pair<size_t, size_t>> parts[NumParts]; ///< begin, end
};

llvm::StringRef asText(const Bytes &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// Finds the parts; false when the bytes are no code object.
bool findParts(Seed &seed) {
  using Elf = llvm::object::ELF64LEFile;
  auto file = Elf::create(asText(seed.bytes));
  auto object = CodeObject::load(seed.bytes, seed.name);
  if (!file || !object) {
    llvm::consumeError(file.takeError());
    llvm::consumeError(object.takeError());
    return false;
  }
  auto add = [&](Part part, size_t begin, size_t size) {
    if (size && begin <= seed.bytes.size() && size <= seed.bytes.size() - begin)
      seed.parts[part].push_back({begin, begin + size});
  };
  const auto &header = file->getHeader();
  add(Header, 0, sizeof(header));
  add(Tables, header.e_phoff,
      header.e_phnum * sizeof(llvm::object::ELF64LE::Phdr));
  add(Tables, header.e_shoff,
      header.e_shnum * sizeof(llvm::object::ELF64LE::Shdr));
  auto sections = file->sections();
  if (!sections) {
    llvm::consumeError(sections.takeError());
    return false;
  }
  for (const llvm::object::ELF64LE::Shdr &section : *sections) {
    if (section.sh_type == llvm::ELF::SHT_NOBITS)
      continue;
    add(section.sh_type == llvm::ELF::SHT_NOTE        ? Notes
        : section.sh_flags & llvm::ELF::SHF_EXECINSTR ? Text
                                                      : Other,
        section.sh_offset, section.sh_size);
    for (const Kernel &kernel : (*object)->kernels())
      if (section.sh_flags & llvm::ELF::SHF_ALLOC &&
          kernel.descriptorAddress >= section.sh_addr &&
          kernel.descriptorAddress < section.sh_addr + section.sh_size)
        add(Descriptors,
            section.sh_offset + (kernel.descriptorAddress - section.sh_addr),
            64);
  }
  for (const auto &part : seed.parts)
    if (part.empty())
      return false;
  return true;
}

std::vector<Seed> seeds() {
  std::vector<Seed> all;
  auto add = [&](const std::string &name, const Bytes &bytes) {
    Seed seed{name, bytes, {}};
    if (findParts(seed))
      all.push_back(std::move(seed));
    else
      ADD_FAILURE() << name << " is no code object with all parts";
  };
  // Functions, calls, LDS, scratch, global tables, matrices, debug information.
  const std::pair<const char *, const char *> programs[] = {
      {"vector_add", "-O0 -g"},    {"function_pointers", "-O3"},
      {"recursion", "-O0"},        {"exclusive_scan_dynamic", "-O3"},
      {"gemm_i8_16", "-O3"},       {"sha256", "-O2"},
      {"structs_by_value", "-O0"}, {"structs_by_value", "-O3 -g"}};
  for (auto [name, level] : programs)
    for (const Theme &theme : themes())
      for (const test::Program &program : theme.programs)
        if (program.name == name)
          add(std::string(name) + " " + level,
              compileOpenCl(themeSource(theme, {&program}), level));
  // Several kernels in one object.
  const Theme scans = scanPrograms();
  add("two scans",
      compileOpenCl(
          themeSource(scans, {&scans.programs[0], &scans.programs[1]}), "-O3"));
  auto addTactic = [&](const char *tactic, const netra::Problem &problem) {
    auto instance = llvm::cantFail(kernels::instantiate(tactic, problem));
    auto kernel = llvm::cantFail(kernels::assembler().assemble(instance));
    add(tactic, kernel.object.bytes);
  };
  addTactic("gfx950.rms_norm_bf16",
            kernels::rmsNormProblem(1, 256, false, false));
  addTactic("gfx950.dense_bf16_m1", kernels::denseBf16Problem(1, 16, 512));
  addTactic("gfx950.dense_fp8_block128_m16",
            kernels::denseFp8Problem(2, 16, 512));
  return all;
}

class Generator {
public:
  Generator(const std::vector<Seed> &seeds, unsigned input)
      : seeds(seeds), random(input * 0x9e3779b97f4a7c15ull + 1) {}

  Bytes next() {
    const Seed &seed = one(seeds);
    if (random() % 64 == 0)
      return nonsense();
    Bytes bytes = seed.bytes;
    const unsigned changes = 1 + below(4);
    for (unsigned k = 0; k < changes; ++k)
      change(bytes, seed);
    // The end of a file is lost most often.
    if (random() % 16 == 0)
      bytes.resize(below(bytes.size() + 1));
    return bytes;
  }

  std::mt19937_64 &engine() { return random; }

private:
  size_t below(size_t limit) { return limit ? random() % limit : 0; }
  template <typename T> const T &one(const std::vector<T> &of) {
    return of[below(of.size())];
  }

  /// Bytes that never were a code object.
  Bytes nonsense() {
    Bytes bytes(below(300));
    for (uint8_t &byte : bytes)
      byte = uint8_t(random());
    const Bytes &start = seeds[0].bytes;
    std::copy_n(start.begin(), std::min(bytes.size(), below(65)),
                bytes.begin());
    return bytes;
  }

  /// Values that sizes, offsets and counts break at.
  uint64_t unkindValue() {
    switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return ~uint64_t(0);
    case 2:
      return uint64_t(1) << random() % 64;
    case 3:
      return (uint64_t(1) << random() % 64) - 1;
    case 4:
      return ~uint64_t(0) << random() % 64;
    case 5:
      return random() % 256;
    case 6:
      return random() % 65536;
    default:
      return random();
    }
  }

  void change(Bytes &bytes, const Seed &seed) {
    const Part part = Part(below(NumParts));
    auto [begin, end] = one(seed.parts[part]);
    end = std::min(end, bytes.size());
    if (begin >= end)
      return;
    const size_t at = begin + below(end - begin);
    switch (random() % 12) {
    case 0:
    case 1:
      bytes[at] ^= uint8_t(1u << random() % 8);
      break;
    case 2:
      bytes[at] = uint8_t(random());
      break;
    case 3:
    case 4:
    case 5:
    case 6: {
      // A field of 2, 4 or 8 bytes at its natural alignment.
      const size_t size = size_t(2) << random() % 3, place = at / size * size;
      const uint64_t value = unkindValue();
      if (place + size <= bytes.size())
        std::memcpy(bytes.data() + place, &value, size);
      break;
    }
    case 7: {
      const size_t count = std::min<size_t>(below(64), end - at);
      bytes.erase(bytes.begin() + long(at), bytes.begin() + long(at + count));
      break;
    }
    case 8:
      bytes.insert(bytes.begin() + long(at), below(64), uint8_t(random()));
      break;
    case 9: {
      // A piece of another place.
      const size_t from = below(bytes.size()),
                   count = std::min({below(64), end - at, bytes.size() - from});
      std::memmove(bytes.data() + at, bytes.data() + from, count);
      break;
    }
    case 10: {
      // The same part of another file.
      const Seed &other = one(seeds);
      auto [otherBegin, otherEnd] = one(other.parts[part]);
      const size_t count = std::min(end - begin, otherEnd - otherBegin);
      std::memcpy(bytes.data() + begin, other.bytes.data() + otherBegin, count);
      break;
    }
    default: {
      // From here on another file.
      const Bytes &other = one(seeds).bytes;
      const size_t from =
          random() % 2 ? std::min(at, other.size()) : below(other.size());
      bytes.resize(at);
      bytes.insert(bytes.end(), other.begin() + long(from), other.end());
      break;
    }
    }
  }

  const std::vector<Seed> &seeds;
  std::mt19937_64 random;
};

/// What came of an input.
struct Outcome {
  bool isLoaded = false;
  unsigned launches = 0, ended = 0; ///< without an error
};

/// What the tools do with a file.
Outcome exercise(Device &device, const Bytes &bytes, std::mt19937_64 &random,
                 uint64_t memory) {
  Outcome outcome;
  auto loaded = CodeObject::load(bytes, "damaged");
  if (!loaded) {
    EXPECT_NE(llvm::toString(loaded.takeError()), "");
    return outcome;
  }
  outcome.isLoaded = true;
  const std::shared_ptr<CodeObject> &object = *loaded;
  (void)object->coverage();
  llvm::raw_null_ostream nowhere;
  if (llvm::Error error = object->disassemble(nowhere)) {
    EXPECT_NE(llvm::toString(std::move(error)), "");
  }
  for (const Kernel &kernel : object->kernels()) {
    (void)kernel.explicitArguments();
    if (outcome.launches == 2)
      break;
    DeviceOptions options = device.options();
    options.checks = random() % 2 ? unsigned(CheckAll) : 0u;
    options.counters = random() % 4 == 0;
    device.setOptions(options);
    Arguments arguments;
    for (unsigned k = 0; k < 4; ++k)
      arguments.add(memory + 4096 * k);
    LaunchParams params;
    params.grid = {1 + uint32_t(random() % 2), 1, 1};
    params.block = {random() % 4 ? 64u : 1 + uint32_t(random() % 1024), 1, 1};
    params.kernarg = arguments.bytes;
    params.dynamicLds = random() % 2 ? 0 : 1024;
    auto result = device.launch(object, kernel, params);
    ++outcome.launches;
    outcome.ended += bool(result);
    if (!result) {
      EXPECT_NE(llvm::toString(result.takeError()), "");
    }
  }
  device.unloadData(*object);
  return outcome;
}

unsigned environment(const char *name, unsigned otherwise) {
  const char *value = std::getenv(name);
  return value ? unsigned(std::strtoul(value, nullptr, 10)) : otherwise;
}

/// Most memory that the process ever had, in bytes.
uint64_t peakMemory() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss) * 1024;
}

TEST(CodeObjectFuzz, DamagedFilesGiveErrorsAndNoCrash) {
  const std::vector<Seed> all = seeds();
  ASSERT_EQ(all.size(), 12u);
  DeviceOptions options;
  options.instructionLimit = 2000;
  options.timeout = 10;
  options.threads = 1;
  options.memoryLimit = 64 << 20;
  Device device(options);
  const uint64_t memory =
      upload(device, std::vector<uint8_t>(16 * 4096, 0), "memory");
  for (const Seed &seed : all) {
    std::mt19937_64 random(1);
    EXPECT_TRUE(exercise(device, seed.bytes, random, memory).isLoaded)
        << seed.name;
  }
  const unsigned first = environment("NETRA_FUZZ_FIRST", 0),
                 end = environment("NETRA_FUZZ_END",
                                   isFullTest() ? 100'000 : 2'000),
                 inputs = end - std::min(first, end);
  llvm::EnablePrettyStackTrace();
  const uint64_t memoryBefore = peakMemory();
  unsigned loaded = 0, launches = 0, ended = 0;
  std::error_code code;
  for (unsigned input = first; input < end; ++input) {
    // Each input depends on its number alone.
    llvm::PrettyStackTraceFormat crash("NETRA_FUZZ_FIRST=%u", input);
    Generator generator(all, input);
    const Bytes bytes = generator.next();
    const char *save = std::getenv("NETRA_FUZZ_SAVE");
    if (save && input == first)
      llvm::raw_fd_ostream(save, code) << asText(bytes);
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = exercise(device, bytes, generator.engine(), memory);
    const std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    // Two launches may take their time limit.
    EXPECT_LT(time.count(), 60) << "NETRA_FUZZ_FIRST=" << input;
    loaded += outcome.isLoaded;
    launches += outcome.launches;
    ended += outcome.ended;
    if (input % 10'000 == 9'999) {
      std::printf("%u inputs\n", input + 1 - first);
      std::fflush(stdout);
    }
  }
  const uint64_t grown = peakMemory() - memoryBefore;
  std::printf("%u inputs: %u load, %u of %u launches end without an error; "
              "%llu MiB more than before at most\n",
              inputs, loaded, ended, launches,
              (unsigned long long)(grown >> 20));
  EXPECT_LT(grown, uint64_t(1) << 30);
  // The generator must reach what lies behind the loader as well.
  if (inputs >= 1'000) {
    EXPECT_GT(loaded, inputs / 10);
    EXPECT_LT(loaded, inputs * 9 / 10);
    EXPECT_GT(launches, inputs / 10);
    EXPECT_GT(ended, launches / 20);
    EXPECT_LT(ended, launches * 19 / 20);
  }
}

} // namespace
