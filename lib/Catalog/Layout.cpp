//===- Layout.cpp - Executable memory layouts -----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;

namespace netra {

/// One kind of layout. A new layout is a new entry of `layoutTable`.
struct LayoutInfo {
  StringRef name;
  unsigned parameterCount;
  /// Why the parameters are illegal; empty when they are not.
  std::string (*checkParameters)(ArrayRef<int64_t> parameters);
  /// Why the shape is illegal; empty when it is not. Extents are not negative.
  std::string (*checkShape)(ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> parameters);
  uint64_t (*offset)(ArrayRef<int64_t> shape, ArrayRef<int64_t> parameters,
                     ArrayRef<int64_t> index);
  /// How many elements of the last dimension, starting at a multiple of this
  /// number, lie contiguously. Divides the last extent.
  int64_t (*run)(ArrayRef<int64_t> shape, ArrayRef<int64_t> parameters);
};

static std::string acceptAny(ArrayRef<int64_t>) { return {}; }

static std::string needMatrix(ArrayRef<int64_t> shape) {
  if (shape.size() < 2)
    return "expected at least 2 dimensions, found " + utostr(shape.size());
  return {};
}

/// Offset of the matrix of the last two dimensions that `index` lies in.
static uint64_t matrixBase(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  uint64_t base = 0;
  for (size_t i = 0, e = shape.size() - 2; i != e; ++i)
    base = base * shape[i] + index[i];
  return base * shape[shape.size() - 2] * shape.back();
}

static constexpr LayoutInfo layoutTable[] = {
    {"group_major", 0, acceptAny,
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t>) {
       return needMatrix(shape);
     },
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t>, ArrayRef<int64_t> index) {
       uint64_t rows = shape[shape.size() - 2];
       return matrixBase(shape, index) + index.back() * rows +
              index[index.size() - 2];
     },
     [](ArrayRef<int64_t>, ArrayRef<int64_t>) -> int64_t { return 1; }},
    {"n16k16", 0, acceptAny,
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t>) -> std::string {
       if (std::string message = needMatrix(shape); !message.empty())
         return message;
       for (int64_t extent : shape.take_back(2))
         if (extent % 16 != 0)
           return "expected the last two extents to be multiples of 16, "
                  "found " +
                  itostr(extent);
       return {};
     },
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t>, ArrayRef<int64_t> index) {
       uint64_t columns = shape.back();
       uint64_t n = index[index.size() - 2], k = index.back();
       return matrixBase(shape, index) + (n / 16) * 16 * columns +
              (k / 16) * 256 + (n % 16) * 16 + k % 16;
     },
     [](ArrayRef<int64_t>, ArrayRef<int64_t>) -> int64_t { return 16; }},
    {"row_major", 0, acceptAny,
     [](ArrayRef<int64_t>, ArrayRef<int64_t>) { return std::string(); },
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t>, ArrayRef<int64_t> index) {
       uint64_t offset = 0;
       for (size_t i = 0, e = shape.size(); i != e; ++i)
         offset = offset * shape[i] + index[i];
       return offset;
     },
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t>) -> int64_t {
       return shape.empty() ? 1 : shape.back();
     }},
};

static const LayoutInfo *findLayout(StringRef name) {
  const LayoutInfo *found = find_if(
      layoutTable, [&](const LayoutInfo &info) { return info.name == name; });
  return found == std::end(layoutTable) ? nullptr : found;
}

Layout::Layout() : info(findLayout("row_major")) {}

std::vector<std::string> Layout::knownNames() {
  std::vector<std::string> names;
  for (const LayoutInfo &info : layoutTable)
    names.push_back(info.name.str());
  llvm::sort(names);
  return names;
}

Expected<Layout> Layout::get(StringRef name, ArrayRef<int64_t> parameters) {
  const LayoutInfo *info = findLayout(name);
  if (!info)
    return createStringError("layout \"" + name + "\": expected one of " +
                             join(knownNames(), ", "));
  if (parameters.size() != info->parameterCount)
    return createStringError("layout \"" + name + "\": expected " +
                             Twine(info->parameterCount) +
                             " parameters, found " + Twine(parameters.size()));
  if (std::string message = info->checkParameters(parameters); !message.empty())
    return createStringError("layout \"" + name + "\": " + message);
  return Layout(info, parameters.vec());
}

Expected<Layout> Layout::parse(StringRef spelling) {
  auto [name, rest] = spelling.split('<');
  SmallVector<int64_t> parameters;
  if (name.size() != spelling.size()) {
    if (!rest.consume_back(">"))
      return createStringError("layout \"" + spelling +
                               "\": expected '>' at the end");
    SmallVector<StringRef> parts;
    rest.split(parts, ',');
    for (StringRef part : parts) {
      int64_t value;
      if (part.trim(' ').getAsInteger(10, value))
        return createStringError("layout \"" + spelling +
                                 "\": expected an integer parameter, found \"" +
                                 part + "\"");
      parameters.push_back(value);
    }
  }
  return get(name, parameters);
}

StringRef Layout::getName() const { return info->name; }

bool Layout::isRowMajor() const { return info->name == "row_major"; }

std::string Layout::str() const {
  std::string result = info->name.str();
  if (parameters.empty())
    return result;
  return result + "<" +
         join(
             map_range(parameters, [](int64_t value) { return itostr(value); }),
             ",") +
         ">";
}

Error Layout::verify(ArrayRef<int64_t> shape) const {
  Expected<uint64_t> count = elementCount(shape);
  if (!count)
    return count.takeError();
  if (std::string message = info->checkShape(shape, parameters);
      !message.empty())
    return createStringError("layout " + str() + ": " + message);
  return Error::success();
}

uint64_t Layout::offset(ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> index) const {
  return info->offset(shape, parameters, index);
}

/// Visits the elements of slices [begin, end) in row-major order as runs: gives
/// the offset of a run in the layout and its length, in elements.
template <typename Visit>
static void forEachRun(const LayoutInfo &info, ArrayRef<int64_t> parameters,
                       ArrayRef<int64_t> shape, uint64_t begin, uint64_t end,
                       Visit visit) {
  if (shape.empty()) {
    visit(0, 1);
    return;
  }
  if (begin >= end || is_contained(shape, 0))
    return;
  size_t last = shape.size() - 1;
  int64_t run = info.run(shape, parameters);
  SmallVector<int64_t> index(shape.size(), 0);
  // The first dimension may be the last as well; then a slice is one element,
  // and a range of slices need not start at a run.
  if (last == 0) {
    for (uint64_t i = begin; i != end; ++i) {
      index[0] = i;
      visit(info.offset(shape, parameters, index), 1);
    }
    return;
  }
  index[0] = begin;
  while (static_cast<uint64_t>(index[0]) != end) {
    for (index[last] = 0; index[last] != shape[last]; index[last] += run)
      visit(info.offset(shape, parameters, index), run);
    index[last] = 0;
    for (size_t d = last; d-- > 0;) {
      if (++index[d] != shape[d] || d == 0)
        break;
      index[d] = 0;
    }
  }
}

static Error checkBuffer(StringRef what, uint64_t expected, uint64_t found) {
  if (expected == found)
    return Error::success();
  return createStringError(what + ": expected " + Twine(expected) +
                           " bytes, found " + Twine(found));
}

Error Layout::packSlices(ArrayRef<int64_t> shape, unsigned bytesPerElement,
                         uint64_t begin, uint64_t end, ArrayRef<uint8_t> source,
                         MutableArrayRef<uint8_t> destination) const {
  if (Error error = verify(shape))
    return error;
  uint64_t slices = shape.empty() ? 1 : shape.front();
  if (begin > end || end > slices)
    return createStringError("slices [" + Twine(begin) + ", " + Twine(end) +
                             "): expected a range inside [0, " + Twine(slices) +
                             ")");
  uint64_t total = cantFail(elementCount(shape)), bytes;
  if (__builtin_mul_overflow(total, uint64_t(bytesPerElement), &bytes))
    return createStringError("expected fewer than 2^64 bytes");
  if (Error error = checkBuffer("destination", bytes, destination.size()))
    return error;
  uint64_t sliceBytes = slices ? bytes / slices : 0;
  if (Error error =
          checkBuffer("source", sliceBytes * (end - begin), source.size()))
    return error;
  const uint8_t *from = source.data();
  uint8_t *to = destination.data();
  if (isRowMajor()) {
    if (!source.empty())
      std::memcpy(to + begin * sliceBytes, from, source.size());
    return Error::success();
  }
  forEachRun(
      *info, parameters, shape, begin, end, [&](uint64_t offset, uint64_t run) {
        std::memcpy(to + offset * bytesPerElement, from, run * bytesPerElement);
        from += run * bytesPerElement;
      });
  return Error::success();
}

Error Layout::pack(ArrayRef<int64_t> shape, unsigned bytesPerElement,
                   ArrayRef<uint8_t> source,
                   MutableArrayRef<uint8_t> destination) const {
  return packSlices(shape, bytesPerElement, 0,
                    shape.empty() ? 1 : std::max<int64_t>(shape.front(), 0),
                    source, destination);
}

Error Layout::unpack(ArrayRef<int64_t> shape, unsigned bytesPerElement,
                     ArrayRef<uint8_t> source,
                     MutableArrayRef<uint8_t> destination) const {
  if (Error error = verify(shape))
    return error;
  uint64_t bytes;
  if (__builtin_mul_overflow(cantFail(elementCount(shape)),
                             uint64_t(bytesPerElement), &bytes))
    return createStringError("expected fewer than 2^64 bytes");
  if (Error error = checkBuffer("source", bytes, source.size()))
    return error;
  if (Error error = checkBuffer("destination", bytes, destination.size()))
    return error;
  const uint8_t *from = source.data();
  uint8_t *to = destination.data();
  forEachRun(*info, parameters, shape, 0, shape.empty() ? 1 : shape.front(),
             [&](uint64_t offset, uint64_t run) {
               std::memcpy(to, from + offset * bytesPerElement,
                           run * bytesPerElement);
               to += run * bytesPerElement;
             });
  return Error::success();
}

} // namespace netra
