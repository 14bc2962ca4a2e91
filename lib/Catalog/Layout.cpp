//===- Layout.cpp - Executable memory layouts -----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace llvm;

namespace netra {

/// One kind of layout. A new layout is a new entry of `layoutTable`.
struct LayoutInfo {
  StringRef name;
  /// How many parameters it takes; each of them is positive.
  unsigned minParameters, maxParameters;
  /// Why the shape is illegal; empty when it is not. Extents are not negative.
  std::string (*checkShape)(ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> parameters);
  /// Row-major offsets to offsets in memory, for a legal shape.
  ElementMap (*map)(ArrayRef<int64_t> shape, ArrayRef<int64_t> parameters);
};

static constexpr unsigned anyNumber = std::numeric_limits<unsigned>::max();

static uint64_t product(ArrayRef<int64_t> extents) {
  uint64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string acceptAny(ArrayRef<int64_t>, ArrayRef<int64_t>) {
  return {};
}

static std::string needRank(ArrayRef<int64_t> shape, unsigned rank) {
  if (shape.size() < rank)
    return "expected at least " + utostr(rank) + " dimensions, found " +
           utostr(shape.size());
  return {};
}

static std::string needMatrix(ArrayRef<int64_t> shape, ArrayRef<int64_t>) {
  return needRank(shape, 2);
}

/// The last two extents are multiples of those of a tile.
static std::string needTiles(ArrayRef<int64_t> shape, ArrayRef<int64_t> tile) {
  if (std::string message = needRank(shape, 2); !message.empty())
    return message;
  for (auto [extent, side] : zip(shape.take_back(2), tile)) {
    if (extent % side == 0)
      continue;
    if (tile[0] == tile[1])
      return "expected the last two extents to be multiples of " +
             itostr(side) + ", found " + itostr(extent);
    return "expected the last two extents to be multiples of " +
           itostr(tile[0]) + " and " + itostr(tile[1]) + ", found " +
           itostr(shape[shape.size() - 2]) + " and " + itostr(shape.back());
  }
  return {};
}

/// [..., slots, heads, head size] with parameters page size, heads, head size.
static std::string needPages(ArrayRef<int64_t> shape,
                             ArrayRef<int64_t> parameters) {
  if (std::string message = needRank(shape, 3); !message.empty())
    return message;
  ArrayRef<int64_t> last = shape.take_back(3);
  if (last[0] % parameters[0] != 0)
    return "expected whole pages of " + itostr(parameters[0]) +
           " tokens, found " + itostr(last[0]) + " tokens";
  if (last.drop_front() != parameters.drop_front())
    return "expected " + itostr(parameters[1]) + " heads of size " +
           itostr(parameters[2]) + ", found " + itostr(last[1]) + " of size " +
           itostr(last[2]);
  return {};
}

/// An extent that groups of the given widths fill; the first parameter is the
/// number of groups.
static std::string needGroups(int64_t extent, ArrayRef<int64_t> parameters) {
  // Positive numbers, so that dividing decides without overflow.
  int64_t rest = extent;
  bool fits = rest % parameters[0] == 0;
  rest /= parameters[0];
  for (int64_t width : parameters.drop_front()) {
    fits &= width <= rest;
    rest -= std::min(width, rest);
  }
  if (fits && rest == 0)
    return {};
  return "expected " + itostr(parameters[0]) + " groups of " +
         join(map_range(parameters.drop_front(),
                        [](int64_t width) { return itostr(width); }),
              " + ") +
         ", found an extent of " + itostr(extent);
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

static ElementMap keepOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t>) {
  return ElementMap::identity(product(shape));
}

static ElementMap transposeMatrix(ArrayRef<int64_t> shape, ArrayRef<int64_t>) {
  uint64_t rows = shape[shape.size() - 2], columns = shape.back();
  return ElementMap::transpose({product(shape.drop_back(2)), rows, columns},
                               {0, 2, 1});
}

static ElementMap tileMatrix(ArrayRef<int64_t> shape, ArrayRef<int64_t> tile) {
  uint64_t rows = shape[shape.size() - 2], columns = shape.back();
  uint64_t height = tile[0], width = tile[1];
  return ElementMap::transpose({product(shape.drop_back(2)), rows / height,
                                height, columns / width, width},
                               {0, 1, 3, 2, 4});
}

/// Extents [outer, extent, inner] where the segments of `extent`, which lie one
/// after the other, are dealt out to groups.
static ElementMap interleaveGroups(uint64_t outer, uint64_t inner,
                                   ArrayRef<int64_t> parameters) {
  uint64_t groups = parameters[0], groupWidth = 0;
  for (int64_t width : parameters.drop_front())
    groupWidth += width;
  uint64_t extent = groups * groupWidth;
  SmallVector<ElementMap::Box> boxes;
  uint64_t before = 0; // elements of the segments before, in a group
  for (int64_t width : parameters.drop_front()) {
    uint64_t piece = width * inner;
    boxes.push_back({groups * before,
                     before,
                     {{outer, extent * inner, extent * inner},
                      {groups, piece, groupWidth * inner},
                      {piece, 1, 1}}});
    before += piece;
  }
  return ElementMap(outer * extent * inner, boxes);
}

// Sorted by name.
static constexpr LayoutInfo layoutTable[] = {
    {"blocked", 2, 2, needTiles, tileMatrix},
    {"group_major", 0, 0, needMatrix, transposeMatrix},
    {"interleaved_columns", 2, anyNumber,
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t> parameters) {
       std::string message = needRank(shape, 1);
       return message.empty() ? needGroups(shape.back(), parameters) : message;
     },
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t> parameters) {
       return interleaveGroups(product(shape.drop_back()), 1, parameters);
     }},
    {"interleaved_rows", 2, anyNumber,
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t> parameters) {
       std::string message = needRank(shape, 2);
       return message.empty() ? needGroups(shape[shape.size() - 2], parameters)
                              : message;
     },
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t> parameters) {
       return interleaveGroups(product(shape.drop_back(2)), shape.back(),
                               parameters);
     }},
    {"k_major", 0, 0, needMatrix, keepOrder},
    {"n16k16", 0, 0,
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t>) {
       return needTiles(shape, {16, 16});
     },
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t>) {
       return tileMatrix(shape, {16, 16});
     }},
    {"paged_kv", 3, 3, needPages, keepOrder},
    {"paged_kv_head_major", 3, 3, needPages,
     [](ArrayRef<int64_t> shape, ArrayRef<int64_t> parameters) {
       uint64_t page = parameters[0], heads = parameters[1];
       return ElementMap::transpose({product(shape.drop_back(2)) / page, page,
                                     heads, uint64_t(parameters[2])},
                                    {0, 2, 1, 3});
     }},
    {"row_major", 0, 0, acceptAny, keepOrder},
    {"v_major", 0, 0, needMatrix, transposeMatrix},
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
  if (parameters.size() < info->minParameters ||
      parameters.size() > info->maxParameters)
    return createStringError(
        "layout \"" + name + "\": expected " +
        (info->minParameters == info->maxParameters ? "" : "at least ") +
        Twine(info->minParameters) + " parameters, found " +
        Twine(parameters.size()));
  for (int64_t parameter : parameters)
    if (parameter <= 0)
      return createStringError("layout \"" + name +
                               "\": expected positive parameters, found " +
                               Twine(parameter));
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

ElementMap Layout::map(ArrayRef<int64_t> shape) const {
  return info->map(shape, parameters);
}

uint64_t Layout::offset(ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> index) const {
  uint64_t rowMajor = 0;
  for (auto [extent, i] : zip(shape, index))
    rowMajor = rowMajor * extent + i;
  return map(shape).apply(rowMajor);
}

std::vector<int64_t> Layout::index(ArrayRef<int64_t> shape,
                                   uint64_t offset) const {
  uint64_t rest = map(shape).applyInverse(offset);
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = rest % shape[d];
    rest /= shape[d];
  }
  return index;
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
  uint64_t sliceElements = slices ? total / slices : 0;
  map(shape).scatter(begin * sliceElements, end * sliceElements,
                     bytesPerElement, source.data(), destination.data());
  return Error::success();
}

/// Whether both buffers have the size of the dense tensor.
static Error checkBuffers(const Layout &layout, ArrayRef<int64_t> shape,
                          unsigned bytesPerElement, ArrayRef<uint8_t> source,
                          ArrayRef<uint8_t> destination) {
  if (Error error = layout.verify(shape))
    return error;
  uint64_t bytes;
  if (__builtin_mul_overflow(cantFail(elementCount(shape)),
                             uint64_t(bytesPerElement), &bytes))
    return createStringError("expected fewer than 2^64 bytes");
  if (Error error = checkBuffer("source", bytes, source.size()))
    return error;
  return checkBuffer("destination", bytes, destination.size());
}

Error Layout::pack(ArrayRef<int64_t> shape, unsigned bytesPerElement,
                   ArrayRef<uint8_t> source,
                   MutableArrayRef<uint8_t> destination) const {
  if (Error error =
          checkBuffers(*this, shape, bytesPerElement, source, destination))
    return error;
  ElementMap elements = map(shape);
  elements.gather(0, elements.size(), bytesPerElement, source.data(),
                  destination.data());
  return Error::success();
}

Error Layout::unpack(ArrayRef<int64_t> shape, unsigned bytesPerElement,
                     ArrayRef<uint8_t> source,
                     MutableArrayRef<uint8_t> destination) const {
  if (Error error =
          checkBuffers(*this, shape, bytesPerElement, source, destination))
    return error;
  ElementMap elements = map(shape);
  elements.inverse().gather(0, elements.size(), bytesPerElement, source.data(),
                            destination.data());
  return Error::success();
}

} // namespace netra
