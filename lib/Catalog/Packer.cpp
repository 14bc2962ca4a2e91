//===- Packer.cpp - Running recipes in both directions --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Casts work element by element, so they commute with everything else: a recipe
// is a concatenation, then a chain of bijections, then a chain of casts. Each
// link reads from the one before it, only what it needs for the piece it was
// asked for.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/PackRecipe.h"

#include "ExactCast.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>

using namespace llvm;

namespace netra {

/// Memory that is written before it is read.
static std::unique_ptr<uint8_t[]> allocate(uint64_t bytes) {
  return std::unique_ptr<uint8_t[]>(new uint8_t[bytes]);
}

/// The concatenation of the sources, row-major.
class ConcatReader final : public ByteReader {
public:
  ConcatReader(const Packer &packer, ArrayRef<const ByteReader *> sources)
      : packer(packer), sources(sources) {}

  /// A part of the concatenation that lies in one source.
  struct Part {
    size_t source;
    uint64_t begin, bytes;
  };

  Part find(uint64_t at, uint64_t most) const {
    uint64_t row = at / packer.rowBytes, inRow = at % packer.rowBytes;
    // The last piece that begins there or before and is not empty.
    size_t source =
        upper_bound(packer.pieceOffsets, inRow) - packer.pieceOffsets.begin();
    --source;
    uint64_t inPiece = inRow - packer.pieceOffsets[source];
    uint64_t piece = packer.pieces[source];
    return {source, row * piece + inPiece, std::min(most, piece - inPiece)};
  }

  Error read(uint64_t begin,
             MutableArrayRef<uint8_t> destination) const override {
    while (!destination.empty()) {
      Part part = find(begin, destination.size());
      if (Error error = sources[part.source]->read(
              part.begin, destination.take_front(part.bytes)))
        return error;
      destination = destination.drop_front(part.bytes);
      begin += part.bytes;
    }
    return Error::success();
  }

  const uint8_t *direct(uint64_t begin, uint64_t bytes) const override {
    if (bytes == 0)
      return nullptr;
    if (sources.size() == 1)
      return sources.front()->direct(begin, bytes);
    Part part = find(begin, bytes);
    return part.bytes == bytes ? sources[part.source]->direct(part.begin, bytes)
                               : nullptr;
  }

private:
  const Packer &packer;
  ArrayRef<const ByteReader *> sources;
};

namespace {

/// What a map makes of what another reader reads.
class MapReader final : public ByteReader {
public:
  MapReader(const ElementMap &map, unsigned size, const ByteReader &from)
      : map(map), size(size), from(from) {}

  Error read(uint64_t begin,
             MutableArrayRef<uint8_t> destination) const override {
    return map.gather(begin / size, (begin + destination.size()) / size, size,
                      from, destination.data());
  }

private:
  const ElementMap &map;
  unsigned size;
  const ByteReader &from;
};

/// What was cast, before the cast.
class NarrowReader final : public ByteReader {
public:
  NarrowReader(ElementType wide, ElementType narrow, const ByteReader &from)
      : wide(wide), narrow(narrow), from(from) {}

  Error read(uint64_t begin,
             MutableArrayRef<uint8_t> destination) const override {
    uint64_t first = begin / elementBytes(narrow);
    uint64_t count = destination.size() / elementBytes(narrow);
    uint64_t bytes = count * elementBytes(wide);
    const uint8_t *source = from.direct(first * elementBytes(wide), bytes);
    std::unique_ptr<uint8_t[]> buffer;
    if (!source) {
      buffer = allocate(bytes);
      source = buffer.get();
      if (Error error = from.read(first * elementBytes(wide),
                                  MutableArrayRef(buffer.get(), bytes)))
        return error;
    }
    uint64_t good =
        narrowElements(wide, narrow, count, source, destination.data());
    if (good == count)
      return Error::success();
    return createStringError("element " + Twine(first + good) +
                             ": expected a " + elementTypeName(narrow) +
                             " that was cast to " + elementTypeName(wide) +
                             ", found another value");
  }

private:
  ElementType wide, narrow;
  const ByteReader &from;
};

} // namespace

Expected<Packer> Packer::create(PackRecipe recipe) {
  Expected<PackRecipe::Result> result = recipe.verify();
  if (!result)
    return result.takeError();
  Packer packer;
  packer.result = std::move(*result);
  packer.types = {recipe.sources.front().type};
  // What the concatenation alone makes has been checked with the rest.
  std::vector<int64_t> shape =
      cantFail(PackRecipe{recipe.sources, recipe.concatAxis, {}}.verify())
          .shape;
  for (const PackStep &step : recipe.steps) {
    if (step.kind == PackStep::Kind::Cast) {
      if (step.type != packer.types.back())
        packer.types.push_back(step.type);
      continue;
    }
    if (step.kind == PackStep::Kind::Reshape) {
      shape = step.shape;
      continue;
    }
    ElementMap map = cantFail(Layout::parse(step.layout)).map(shape);
    if (map.isIdentity())
      continue;
    packer.maps.push_back(
        step.kind == PackStep::Kind::Restore ? map.inverse() : std::move(map));
  }
  for (const PackSource &source : recipe.sources) {
    uint64_t piece = elementBytes(source.type);
    for (int64_t extent : ArrayRef(source.shape).drop_front(recipe.concatAxis))
      piece *= extent;
    packer.pieces.push_back(piece);
    packer.pieceOffsets.push_back(packer.rowBytes);
    packer.rowBytes += piece;
  }
  packer.recipe = std::move(recipe);
  return packer;
}

uint64_t Packer::getSourceBytes(size_t source) const {
  return cantFail(
      tensorBytes(recipe.sources[source].type, recipe.sources[source].shape));
}

static Error checkPiece(const Twine &what, uint64_t begin, uint64_t bytes,
                        uint64_t total) {
  if (begin <= total && bytes <= total - begin)
    return Error::success();
  return createStringError("pack recipe: " + what + ": expected a piece of " +
                           Twine(total) + " bytes, found [" + Twine(begin) +
                           ", +" + Twine(bytes) + ")");
}

/// Reads a piece that need not consist of whole elements.
static Error readAny(const ByteReader &reader, unsigned size, uint64_t begin,
                     MutableArrayRef<uint8_t> destination) {
  uint64_t end = begin + destination.size();
  uint64_t from = begin / size * size, to = (end + size - 1) / size * size;
  if (from == begin && to == end)
    return reader.read(begin, destination);
  std::unique_ptr<uint8_t[]> buffer = allocate(to - from);
  if (Error error = reader.read(from, MutableArrayRef(buffer.get(), to - from)))
    return error;
  std::copy_n(buffer.get() + (begin - from), destination.size(),
              destination.data());
  return Error::success();
}

namespace {

/// What is read, cast exactly.
class WidenReader final : public ByteReader {
public:
  WidenReader(ElementType narrow, ElementType wide, const ByteReader &from)
      : narrow(narrow), wide(wide), from(from) {}

  Error read(uint64_t begin,
             MutableArrayRef<uint8_t> destination) const override {
    uint64_t first = begin / elementBytes(wide);
    uint64_t count = destination.size() / elementBytes(wide);
    uint64_t bytes = count * elementBytes(narrow);
    std::unique_ptr<uint8_t[]> buffer = allocate(bytes);
    if (Error error = from.read(first * elementBytes(narrow),
                                MutableArrayRef(buffer.get(), bytes)))
      return error;
    widenElements(narrow, wide, count, buffer.get(), destination.data());
    return Error::success();
  }

private:
  ElementType narrow, wide;
  const ByteReader &from;
};

} // namespace

Error Packer::pack(ArrayRef<const ByteReader *> sources, uint64_t begin,
                   MutableArrayRef<uint8_t> destination) const {
  if (sources.size() != recipe.sources.size())
    return createStringError("pack recipe: expected the bytes of " +
                             Twine(recipe.sources.size()) + " sources, found " +
                             Twine(sources.size()));
  if (Error error =
          checkPiece("result", begin, destination.size(), result.bytes))
    return error;
  if (destination.empty())
    return Error::success();
  ConcatReader concatenation(*this, sources);
  const ByteReader *chain = &concatenation;
  std::deque<MapReader> mapped; // pointers to its elements stay valid
  for (const ElementMap &map : maps)
    chain = &mapped.emplace_back(map, elementBytes(types.front()), *chain);
  std::deque<WidenReader> widened;
  for (size_t i = 1; i != types.size(); ++i)
    chain = &widened.emplace_back(types[i - 1], types[i], *chain);
  return readAny(*chain, elementBytes(result.type), begin, destination);
}

Error Packer::unpack(const ByteReader &packed, size_t source, uint64_t begin,
                     MutableArrayRef<uint8_t> destination) const {
  if (source >= recipe.sources.size())
    return createStringError("pack recipe: expected a source below " +
                             Twine(recipe.sources.size()) + ", found " +
                             Twine(source));
  if (Error error = checkPiece("source " + Twine(source), begin,
                               destination.size(), getSourceBytes(source)))
    return error;
  if (destination.empty())
    return Error::success();
  const ByteReader *chain = &packed;
  std::deque<NarrowReader> narrowed;
  for (size_t i = types.size(); i-- > 1;)
    chain = &narrowed.emplace_back(types[i], types[i - 1], *chain);
  unsigned size = elementBytes(types.front());
  std::vector<ElementMap> inverses;
  inverses.reserve(maps.size());
  std::deque<MapReader> mapped;
  for (const ElementMap &map : reverse(maps)) {
    inverses.push_back(map.inverse());
    chain = &mapped.emplace_back(inverses.back(), size, *chain);
  }

  // Whole rows of pieces are read where pieces are short.
  uint64_t piece = pieces[source];
  constexpr uint64_t longPiece = 4096, mostBytes = uint64_t(4) << 20;
  if (piece >= longPiece || rowBytes == piece || rowBytes > mostBytes) {
    while (!destination.empty()) {
      uint64_t row = begin / piece, inPiece = begin % piece;
      uint64_t bytes = std::min<uint64_t>(destination.size(), piece - inPiece);
      if (rowBytes == piece)
        bytes = destination.size();
      if (Error error = readAny(*chain, size,
                                row * rowBytes + pieceOffsets[source] + inPiece,
                                destination.take_front(bytes)))
        return error;
      begin += bytes;
      destination = destination.drop_front(bytes);
    }
    return Error::success();
  }
  uint64_t mostRows = mostBytes / rowBytes;
  std::unique_ptr<uint8_t[]> buffer = allocate(mostRows * rowBytes);
  while (!destination.empty()) {
    uint64_t firstRow = begin / piece;
    uint64_t endRow = (begin + destination.size() + piece - 1) / piece;
    uint64_t rows = std::min(endRow - firstRow, mostRows);
    if (Error error =
            chain->read(firstRow * rowBytes,
                        MutableArrayRef(buffer.get(), rows * rowBytes)))
      return error;
    for (uint64_t row = 0; row != rows && !destination.empty(); ++row) {
      uint64_t inPiece = begin % piece;
      uint64_t bytes = std::min<uint64_t>(destination.size(), piece - inPiece);
      std::copy_n(buffer.get() + row * rowBytes + pieceOffsets[source] +
                      inPiece,
                  bytes, destination.data());
      begin += bytes;
      destination = destination.drop_front(bytes);
    }
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

template <typename Bytes>
static Error checkSizes(const Packer &packer, ArrayRef<Bytes> data,
                        StringRef packedName, uint64_t packedBytes) {
  const std::vector<PackSource> &sources = packer.getRecipe().sources;
  if (data.size() != sources.size())
    return createStringError("pack recipe: expected the bytes of " +
                             Twine(sources.size()) + " sources, found " +
                             Twine(data.size()));
  for (size_t i = 0; i != sources.size(); ++i)
    if (uint64_t bytes = packer.getSourceBytes(i); bytes != data[i].size())
      return createStringError("pack recipe: source " + Twine(i) + " (\"" +
                               sources[i].checkpoint + "\"): expected " +
                               Twine(bytes) + " bytes, found " +
                               Twine(data[i].size()));
  if (packedBytes != packer.getResult().bytes)
    return createStringError("pack recipe: " + packedName + ": expected " +
                             Twine(packer.getResult().bytes) +
                             " bytes, found " + Twine(packedBytes));
  return Error::success();
}

/// Bounds the memory for intermediate results.
static constexpr uint64_t stripeBytes = uint64_t(4) << 20;

Error PackRecipe::execute(ArrayRef<ArrayRef<uint8_t>> data,
                          MutableArrayRef<uint8_t> destination) const {
  Expected<Packer> packer = Packer::create(*this);
  if (!packer)
    return packer.takeError();
  if (Error error =
          checkSizes(*packer, data, "destination", destination.size()))
    return error;
  std::deque<MemoryReader> memory;
  std::vector<const ByteReader *> readers;
  for (ArrayRef<uint8_t> bytes : data)
    readers.push_back(&memory.emplace_back(bytes));
  for (uint64_t at = 0; at < destination.size(); at += stripeBytes)
    if (Error error = packer->pack(
            readers, at,
            destination.slice(
                at, std::min<uint64_t>(stripeBytes, destination.size() - at))))
      return error;
  return Error::success();
}

Error PackRecipe::unpack(ArrayRef<uint8_t> packed,
                         ArrayRef<MutableArrayRef<uint8_t>> data) const {
  Expected<Packer> packer = Packer::create(*this);
  if (!packer)
    return packer.takeError();
  if (Error error = checkSizes(*packer, data, "packed bytes", packed.size()))
    return error;
  MemoryReader reader(packed);
  for (size_t i = 0; i != data.size(); ++i)
    for (uint64_t at = 0; at < data[i].size(); at += stripeBytes) {
      MutableArrayRef<uint8_t> part = data[i].slice(
          at, std::min<uint64_t>(stripeBytes, data[i].size() - at));
      if (Error error = packer->unpack(reader, i, at, part))
        return error;
    }
  return Error::success();
}

} // namespace netra
