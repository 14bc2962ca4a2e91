//===- CodeObject.cpp - What an AMDGPU code object says of itself ---------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/CodeObject.h"

#include "CodeObjectImage.h"
#include "MsgPack.h"
#include "Netra/Catalog/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <set>

using namespace llvm;

namespace netra {

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

namespace {
/// Takes fields out of a metadata map and remembers the first fault.
class FieldReader {
public:
  FieldReader(const msgpack::Value &map, std::string where)
      : map(map), where(std::move(where)) {}

  StringRef string(StringRef key, bool required = true) {
    const msgpack::Value *value = find(key, required);
    if (!value)
      return {};
    if (value->kind == msgpack::Value::Kind::String)
      return value->text;
    fail(key, "a string");
    return {};
  }

  uint64_t number(StringRef key, uint64_t max, bool required = true) {
    const msgpack::Value *value = find(key, required);
    if (!value)
      return 0;
    std::optional<uint64_t> number = value->asUnsigned();
    if (number && *number <= max)
      return *number;
    fail(key, ("an integer of at most " + Twine(max)).str());
    return 0;
  }

  bool boolean(StringRef key) {
    const msgpack::Value *value = find(key, false);
    if (!value)
      return false;
    if (value->kind == msgpack::Value::Kind::Boolean)
      return value->bits != 0;
    fail(key, "a boolean");
    return false;
  }

  std::string fault;

private:
  const msgpack::Value *find(StringRef key, bool required) {
    const msgpack::Value *value = map.find(key);
    if (!value && required)
      fail(key, "a value");
    return value;
  }
  void fail(StringRef key, StringRef expected) {
    if (fault.empty())
      fault = (where + ": expected " + expected + " of key " + key).str();
  }

  const msgpack::Value &map;
  std::string where;
};
} // namespace

static Expected<KernelArgument> readArgument(const msgpack::Value &value,
                                             const std::string &where) {
  FieldReader fields(value, where);
  KernelArgument argument;
  argument.name = fields.string(".name", /*required=*/false).str();
  argument.offset = fields.number(".offset", UINT32_MAX);
  argument.bytes = fields.number(".size", UINT32_MAX);
  StringRef kind = fields.string(".value_kind");
  argument.kind = kind == "by_value" || kind.starts_with("hidden_")
                      ? ArgumentKind::Value
                      : ArgumentKind::Pointer;
  argument.hidden = kind.starts_with("hidden_");
  argument.valueKind = kind.str();
  argument.access =
      StringSwitch<std::string>(fields.string(".access", /*required=*/false))
          .Case("read_only", "read")
          .Case("write_only", "write")
          .Case("read_write", "readwrite")
          .Default("");
  if (!fields.fault.empty())
    return createStringError(fields.fault);
  return argument;
}

static Expected<KernelDescriptor> readDescriptor(const hsa::Image &image,
                                                 StringRef symbol,
                                                 KernelMetadata &kernel) {
  std::string fault;
  auto bytes = image.findDescriptor(symbol, fault);
  if (!bytes)
    return createStringError(fault);
  std::array<uint32_t, 16> words;
  static_assert(sizeof(words) == hsa::descriptorBytes);
  std::memcpy(words.data(), bytes->data(), sizeof(words));
  const hsa::Section &text = image.getText();
  uint64_t entry = image.findSymbol(symbol)->value +
                   (words[4] | static_cast<uint64_t>(words[5]) << 32);
  if (entry < text.address || entry - text.address >= text.size ||
      text.size - (entry - text.address) < 4)
    return createStringError("kernel descriptor " + symbol +
                             ": expected an entry inside .text, found address "
                             "0x" +
                             Twine::utohexstr(entry));
  kernel.codeOffset = entry - text.address;
  uint64_t size = 0;
  if (const hsa::Symbol *function = image.findSymbol(kernel.symbol);
      function && function->value == entry)
    size = function->size;
  if (size == 0)
    size = image.findSize(kernel.symbol, entry).value_or(0);
  if (size <= text.size - kernel.codeOffset)
    kernel.codeBytes = size;
  KernelDescriptor descriptor;
  descriptor.words = words;
  descriptor.staticLds = words[0];
  descriptor.privateBytes = words[1];
  descriptor.kernargBytes = words[2];
  uint32_t rsrc3 = words[11], rsrc1 = words[12], properties = words[14];
  bool wave32 = (properties >> 10) & 1;
  descriptor.waveSize = wave32 ? 32 : 64;
  descriptor.dynamicStack = (properties >> 11) & 1;
  // Granules of gfx90a and later: 8 VGPRs, 8 SGPRs; accumulation registers
  // start at a multiple of 4.
  descriptor.allocatedVgprs = ((rsrc1 & 63) + 1) * 8;
  descriptor.allocatedSgprs = (((rsrc1 >> 6) & 15) + 1) * 8;
  descriptor.accumOffset = ((rsrc3 & 63) + 1) * 4;
  return descriptor;
}

static Expected<KernelMetadata>
readKernel(const hsa::Image &image, const msgpack::Value &value, size_t index) {
  std::string where = ("kernel " + Twine(index)).str();
  FieldReader fields(value, where);
  KernelMetadata kernel;
  StringRef name = fields.string(".name");
  StringRef symbol = fields.string(".symbol");
  kernel.kernargBytes = fields.number(".kernarg_segment_size", UINT32_MAX);
  kernel.kernargAlignment = fields.number(".kernarg_segment_align", UINT32_MAX);
  kernel.waveSize = fields.number(".wavefront_size", 64);
  kernel.staticLds = fields.number(".group_segment_fixed_size", UINT32_MAX);
  kernel.privateBytes =
      fields.number(".private_segment_fixed_size", UINT32_MAX);
  kernel.dynamicStack = fields.boolean(".uses_dynamic_stack");
  kernel.agprs = fields.number(".agpr_count", 512, /*required=*/false);
  uint32_t vgprs = fields.number(".vgpr_count", 1024);
  kernel.sgprs = fields.number(".sgpr_count", 1024);
  kernel.maxWorkgroup = fields.number(".max_flat_workgroup_size", 65536);
  if (!fields.fault.empty())
    return createStringError(fields.fault);
  // .vgpr_count counts both kinds when there are accumulation registers.
  kernel.vgprs = vgprs >= kernel.agprs ? vgprs - kernel.agprs : 0;
  kernel.symbol = symbol.str();
  if (!StringRef(kernel.symbol).ends_with(".kd"))
    return createStringError(where +
                             ": expected a symbol that ends with "
                             "\".kd\", found \"" +
                             symbol + "\"");
  kernel.symbol.resize(kernel.symbol.size() - 3);
  if (name != kernel.symbol)
    return createStringError(where + ": expected .name \"" + kernel.symbol +
                             "\" as its symbol says, found \"" + name + "\"");
  if (const msgpack::Value *list = value.find(".args")) {
    if (list->kind != msgpack::Value::Kind::Array)
      return createStringError(where + ": expected an array of key .args");
    for (size_t i = 0; i != list->elements.size(); ++i) {
      Expected<KernelArgument> argument = readArgument(
          list->elements[i], (where + " argument " + Twine(i)).str());
      if (!argument)
        return argument.takeError();
      kernel.arguments.push_back(std::move(*argument));
    }
  }
  if (const msgpack::Value *required = value.find(".reqd_workgroup_size")) {
    bool fits = required->kind == msgpack::Value::Kind::Array &&
                required->elements.size() == 3;
    for (size_t i = 0; fits && i != 3; ++i) {
      std::optional<uint64_t> extent = required->elements[i].asUnsigned();
      fits = extent && *extent <= 65536;
      if (fits)
        kernel.requiredWorkgroup[i] = static_cast<uint32_t>(*extent);
    }
    if (!fits)
      return createStringError(where + ": expected three integers of key "
                                       ".reqd_workgroup_size");
  }
  Expected<KernelDescriptor> descriptor = readDescriptor(image, symbol, kernel);
  if (!descriptor)
    return descriptor.takeError();
  kernel.descriptor = *descriptor;
  return kernel;
}

/// Kernels whose symbol has no size end where the next one begins; what is left
/// of .text is other code.
static void endKernels(CodeObject &object) {
  std::vector<KernelMetadata *> order;
  for (KernelMetadata &kernel : object.kernels)
    order.push_back(&kernel);
  llvm::sort(order, [](const KernelMetadata *lhs, const KernelMetadata *rhs) {
    return lhs->codeOffset < rhs->codeOffset;
  });
  ArrayRef<uint8_t> text = object.text;
  auto addOther = [&](uint64_t begin, uint64_t end) {
    for (; begin + 4 <= end; begin += 4) {
      ArrayRef<uint8_t> word = text.slice(begin, 4);
      // s_nop 0, s_code_end and zeros fill the space to the next kernel.
      static constexpr uint32_t padding[] = {0, 0xbf800000, 0xbf9f0000};
      uint32_t value;
      std::memcpy(&value, word.data(), 4);
      if (!is_contained(padding, value))
        object.otherText.insert(object.otherText.end(), word.begin(),
                                word.end());
    }
  };
  uint64_t next = text.size();
  for (size_t i = order.size(); i-- > 0;) {
    KernelMetadata &kernel = *order[i];
    if (kernel.codeBytes == 0)
      kernel.codeBytes = next - kernel.codeOffset;
    // Several symbols may share one entry.
    if (i > 0 && order[i - 1]->codeOffset < kernel.codeOffset)
      next = kernel.codeOffset;
  }
  uint64_t end = 0;
  for (const KernelMetadata *kernel : order) {
    if (kernel->codeOffset > end)
      addOther(end, kernel->codeOffset);
    end = std::max(end, kernel->codeOffset + kernel->codeBytes);
  }
  addOther(end, text.size());
}

/// Loaded sections that hold data a kernel may read, and how they are
/// relocated. Kernel descriptors are part of what is known of kernels and are
/// left out.
static void collectData(const hsa::Image &image, CodeObject &object) {
  std::set<uint64_t> descriptors;
  for (const KernelMetadata &kernel : object.kernels)
    descriptors.insert(image.findSymbol(kernel.symbol + ".kd")->value);
  for (const hsa::Section &section : image.getSections()) {
    if (!section.isLoaded() || !section.hasBytes() ||
        section.isForTheLoader() || &section == &image.getText())
      continue;
    std::span<const uint8_t> bytes = *image.at(section.address, section.size);
    ArrayRef<uint8_t> contents(bytes.data(), bytes.size());
    std::vector<uint8_t> data;
    for (uint64_t at = 0; at < contents.size();) {
      auto next = descriptors.lower_bound(section.address + at);
      uint64_t end =
          next == descriptors.end()
              ? contents.size()
              : std::min<uint64_t>(contents.size(), *next - section.address);
      if (end == at) {
        at += hsa::descriptorBytes;
        continue;
      }
      llvm::append_range(data, contents.slice(at, end - at));
      at = end;
    }
    if (!data.empty())
      llvm::append_range(object.data[std::string(image.nameOf(section))], data);
  }
}

Expected<CodeObject> readCodeObject(std::vector<uint8_t> bytes) {
  CodeObject object;
  object.bytes = std::move(bytes);
  auto fail = [](const Twine &message) {
    return createStringError("code object: " + message);
  };
  hsa::Image image;
  if (std::string fault = image.open(object.bytes); !fault.empty())
    return fail(fault);
  object.codeObjectVersion = image.getVersion();
  std::span<const uint8_t> code = image.getTextBytes();
  object.text.assign(code.begin(), code.end());

  std::span<const uint8_t> note = image.getMetadata();
  Expected<msgpack::Value> document =
      msgpack::read(toStringRef(ArrayRef(note.data(), note.size())));
  if (!document)
    return fail("metadata: " + llvm::toString(document.takeError()));
  const msgpack::Value *isa = document->find("amdhsa.target");
  if (!isa || isa->kind != msgpack::Value::Kind::String)
    return fail("metadata: expected a string of key amdhsa.target");
  object.isa = isa->text.str();
  if (std::string fault = image.checkTarget(object.isa); !fault.empty())
    return fail(fault);
  const msgpack::Value *kernels = document->find("amdhsa.kernels");
  if (!kernels || kernels->kind != msgpack::Value::Kind::Array)
    return fail("metadata: expected an array of key amdhsa.kernels");
  for (size_t i = 0; i != kernels->elements.size(); ++i) {
    Expected<KernelMetadata> kernel =
        readKernel(image, kernels->elements[i], i);
    if (!kernel)
      return fail("metadata: " + llvm::toString(kernel.takeError()));
    object.kernels.push_back(std::move(*kernel));
  }
  llvm::sort(object.kernels,
             [](const KernelMetadata &lhs, const KernelMetadata &rhs) {
               return lhs.symbol < rhs.symbol;
             });
  endKernels(object);
  collectData(image, object);
  object.sha256 = sha256Hex(object.bytes);
  object.textSha256 = sha256Hex(object.text);
  return object;
}

std::string argumentName(const KernelArgument &argument, size_t index) {
  std::string result;
  for (char c : argument.name)
    result += isAlnum(c) ? toLower(c) : '_';
  if (result.empty() || !isAlpha(result.front()))
    return "argument" + utostr(index);
  return result;
}

const KernelMetadata *CodeObject::find(StringRef symbol) const {
  auto found = find_if(kernels, [&](const KernelMetadata &kernel) {
    return kernel.symbol == symbol;
  });
  return found == kernels.end() ? nullptr : &*found;
}

//===----------------------------------------------------------------------===//
// Comparison with the contract
//===----------------------------------------------------------------------===//

/// A lock of these constants says what machine code must come out.
static void compareWithLocks(const CodeObject &object,
                             const KernelMetadata &kernel,
                             const Instance &instance,
                             std::vector<std::string> &differences) {
  for (const TextLock &lock : instance.tactic->locks) {
    if (lock.constants != instance.constants)
      continue;
    std::string found = object.kernels.size() == 1
                            ? object.textSha256
                            : sha256Hex(object.codeOf(kernel));
    if (lock.textSha256 != found)
      differences.push_back(
          "SHA-256 of .text: the lock in " + instance.tactic->manifestPath +
          " says " + lock.textSha256 + ", the code object says " + found);
  }
}

std::vector<std::string> compareWithInstance(const CodeObject &object,
                                             const Instance &instance,
                                             size_t kernels) {
  std::vector<std::string> differences;
  auto differ = [&](const Twine &what, const Twine &contract,
                    const Twine &found) {
    differences.push_back((what + ": the contract says " + contract +
                           ", the code object says " + found)
                              .str());
  };
  auto compare = [&](const Twine &what, uint64_t contract, uint64_t found) {
    if (contract != found)
      differ(what, Twine(contract), Twine(found));
  };
  const Contract &contract = instance.contract;
  const TargetInfo &target = *findTarget(contract.target);
  if (object.isa != target.isaName)
    differ("target", target.isaName, object.isa);
  compare("code object version", target.codeObjectVersion,
          object.codeObjectVersion);
  bool isGolden = instance.tactic->golden.has_value();
  const KernelMetadata *foundKernel = object.find(instance.symbol);
  if (!foundKernel || (!isGolden && object.kernels.size() != kernels)) {
    std::vector<std::string> symbols;
    for (const KernelMetadata &kernel : object.kernels)
      symbols.push_back(kernel.symbol);
    std::string count = kernels == 1 ? "one, " : utostr(kernels) + ", with ";
    differ("kernels", (isGolden ? "" : count) + instance.symbol,
           symbols.empty() ? "none" : join(symbols, ", "));
    return differences;
  }
  const KernelMetadata &kernel = *foundKernel;
  const KernelDescriptor &descriptor = kernel.descriptor;
  uint64_t workItems = 1;
  for (uint32_t extent : contract.block)
    workItems *= extent;
  compare("wave size (metadata)", contract.waveSize, kernel.waveSize);
  compare("wave size (descriptor)", contract.waveSize, descriptor.waveSize);
  compare("kernarg bytes (metadata)", contract.kernargBytes,
          kernel.kernargBytes);
  compare("kernarg bytes (descriptor)", contract.kernargBytes,
          descriptor.kernargBytes);
  compare("static LDS bytes (metadata)", contract.staticLds, kernel.staticLds);
  compare("static LDS bytes (descriptor)", contract.staticLds,
          descriptor.staticLds);
  compare("private bytes (metadata)", 0, kernel.privateBytes);
  compare("private bytes (descriptor)", 0, descriptor.privateBytes);
  compare("dynamic stack", 0, kernel.dynamicStack || descriptor.dynamicStack);
  if (!isGolden)
    compare("maximum work-group", workItems, kernel.maxWorkgroup);
  else if (kernel.maxWorkgroup < workItems)
    differ("maximum work-group", "at least " + Twine(workItems),
           Twine(kernel.maxWorkgroup));
  for (size_t i = 0; i != 3; ++i)
    if (kernel.requiredWorkgroup[i])
      compare("required work-group, dimension " + Twine(i), contract.block[i],
              kernel.requiredWorkgroup[i]);
  // Accumulation registers start at a multiple of four. A golden's record says
  // what its metadata says.
  uint64_t vgprs = instance.agprs && !isGolden
                       ? alignTo(uint64_t(instance.vgprs), 4)
                       : uint64_t(instance.vgprs);
  compare("VGPRs (metadata)", vgprs, kernel.vgprs);
  compare("AGPRs (metadata)", instance.agprs, kernel.agprs);
  compare("SGPRs (metadata)", instance.sgprs, kernel.sgprs);
  if (!isGolden) {
    compare("allocated VGPRs (descriptor)", alignTo(vgprs + instance.agprs, 8),
            descriptor.allocatedVgprs);
    if (instance.agprs)
      compare("first accumulation register (descriptor)", vgprs,
              descriptor.accumOffset);
    if (descriptor.allocatedSgprs < instance.sgprs)
      differ("allocated SGPRs (descriptor)",
             "at least " + Twine(instance.sgprs),
             Twine(descriptor.allocatedSgprs));
  }
  compare("number of arguments", contract.arguments.size(),
          kernel.arguments.size());
  for (size_t i = 0,
              e = std::min(contract.arguments.size(), kernel.arguments.size());
       i != e; ++i) {
    const Argument &expected = contract.arguments[i];
    const KernelArgument &found = kernel.arguments[i];
    std::string what =
        ("argument " + Twine(i) + " (" + expected.name + ")").str();
    if (std::string name = argumentName(found, i); expected.name != name)
      differ(what + " name", expected.name, name);
    compare(what + " offset", expected.offset, found.offset);
    compare(what + " bytes", expected.bytes, found.bytes);
    if (expected.kind != found.kind || found.hidden)
      differ(what + " kind", argumentKindName(expected.kind),
             found.hidden ? "hidden" : argumentKindName(found.kind));
    // Compilers need not say how an argument is accessed.
    bool mayBeSilent = isGolden && found.access.empty();
    if (expected.kind == ArgumentKind::Pointer && !mayBeSilent &&
        found.access != accessName(expected.access))
      differ(what + " access", accessName(expected.access),
             found.access.empty() ? "nothing" : found.access);
  }
  compareWithLocks(object, kernel, instance, differences);
  return differences;
}

} // namespace netra
