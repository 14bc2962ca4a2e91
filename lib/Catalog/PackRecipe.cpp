//===- PackRecipe.cpp - What a recipe makes -------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/PackRecipe.h"

#include "ExactCast.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace netra {

PackSource PackSource::getTensor(int64_t index) const {
  if (!isSeries())
    return *this;
  auto [front, back] = StringRef(checkpoint).split("{}");
  return {(front + Twine(index) + back).str(), type,
          std::vector<int64_t>(shape.begin() + 1, shape.end())};
}

std::string PackSource::whyNotNamed(StringRef name, ArrayRef<int64_t> shape) {
  if (name.empty())
    return "expected the name of a checkpoint tensor, found \"\"";
  if (!isSeriesName(name))
    return "";
  if (isSeriesName(name.split("{}").second))
    return ("expected at most one {} in the name of a checkpoint tensor, found "
            "\"" +
            name + "\"")
        .str();
  if (shape.empty() || shape.front() < 1 || shape.front() > mostInSeries)
    return ("expected 1 to " + Twine(mostInSeries) +
            " as the first extent, which counts the tensors of \"" + name +
            "\", found " +
            (shape.empty() ? Twine("none") : Twine(shape.front())))
        .str();
  return "";
}

std::string PackStep::str() const {
  switch (kind) {
  case Kind::Layout:
    return "layout " + layout;
  case Kind::Cast:
    return "cast " + elementTypeName(type).str();
  case Kind::Reshape:
    return "reshape " +
           join(map_range(shape, [](int64_t extent) { return itostr(extent); }),
                "x");
  case Kind::Reorder:
    return "reorder " + layout;
  case Kind::Restore:
    return "restore " + layout;
  }
  llvm_unreachable("unknown kind of step");
}

std::vector<int64_t> mergeLeading(ArrayRef<int64_t> shape, size_t rank) {
  size_t merged = shape.size() - rank;
  std::vector<int64_t> result(shape.drop_front(merged));
  for (int64_t extent : shape.take_front(merged))
    if (MulOverflow(result.front(), extent, result.front()))
      result.front() = std::numeric_limits<int64_t>::max();
  return result;
}

std::optional<size_t> concatenationRank(ArrayRef<size_t> ranks, int64_t axis) {
  size_t rank = *min_element(ranks);
  if (all_equal(ranks) || (axis == 0 && rank >= 2))
    return rank;
  return std::nullopt;
}

Expected<PackRecipe::Result> PackRecipe::verify() const {
  if (sources.empty())
    return createStringError("pack recipe: expected at least one source");
  const PackSource &first = sources.front();
  auto name = [&](size_t i) {
    return ("pack recipe: source " + Twine(i) + " (\"" + sources[i].checkpoint +
            "\")")
        .str();
  };
  Result result;
  result.type = first.type;
  result.shape = first.shape;
  for (size_t i = 0; i != sources.size(); ++i) {
    const PackSource &source = sources[i];
    if (std::string why =
            PackSource::whyNotNamed(source.checkpoint, source.shape);
        !why.empty())
      return createStringError("pack recipe: source " + Twine(i) + ": " + why);
    if (Expected<uint64_t> bytes = tensorBytes(source.type, source.shape);
        !bytes)
      return createStringError(name(i) + ": " + toString(bytes.takeError()));
    if (source.type != first.type)
      return createStringError(
          name(i) + ": expected type " + elementTypeName(first.type) +
          " as in source 0, found " + elementTypeName(source.type));
  }
  if (sources.size() > 1) {
    if (concatAxis < 0 || concatAxis >= int64_t(first.shape.size()))
      return createStringError(
          "pack recipe: expected a concat axis inside [0, " +
          Twine(first.shape.size()) + "), found " + Twine(concatAxis));
    SmallVector<size_t> ranks;
    for (const PackSource &source : sources)
      ranks.push_back(source.shape.size());
    std::optional<size_t> rank = concatenationRank(ranks, concatAxis);
    if (!rank) {
      size_t other = 0;
      while (ranks[other] == ranks.front())
        ++other;
      return createStringError(
          name(other) + ": expected " + Twine(ranks.front()) +
          " dimensions as in source 0, found " + Twine(ranks[other]));
    }
    result.shape = mergeLeading(first.shape, *rank);
    for (size_t i = 1; i != sources.size(); ++i) {
      std::vector<int64_t> shape = mergeLeading(sources[i].shape, *rank);
      for (size_t d = 0; d != shape.size(); ++d)
        if (int64_t(d) != concatAxis && shape[d] != result.shape[d])
          return createStringError(name(i) + ": expected extent " +
                                   Twine(result.shape[d]) + " in dimension " +
                                   Twine(d) + " as in source 0, found " +
                                   Twine(shape[d]));
      if (__builtin_add_overflow(result.shape[concatAxis], shape[concatAxis],
                                 &result.shape[concatAxis]))
        return createStringError(name(i) + ": the concatenated extent does not "
                                           "fit 64 bits");
    }
  } else if (concatAxis != 0) {
    return createStringError(
        "pack recipe: expected concat axis 0 with one source, found " +
        Twine(concatAxis));
  }
  for (size_t i = 0; i != steps.size(); ++i) {
    const PackStep &step = steps[i];
    auto bad = [&](const Twine &what) {
      return createStringError("pack recipe: step " + Twine(i) + ": " + what);
    };
    switch (step.kind) {
    case PackStep::Kind::Cast:
      if (!isExactCast(result.type, step.type))
        return bad("expected an exact cast, found " +
                   elementTypeName(result.type) + " to " +
                   elementTypeName(step.type));
      result.type = step.type;
      continue;
    case PackStep::Kind::Reshape: {
      Expected<uint64_t> before = elementCount(result.shape);
      Expected<uint64_t> after = elementCount(step.shape);
      if (!before || !after)
        return bad(toString(joinErrors(before.takeError(), after.takeError())));
      if (*before != *after)
        return bad("expected a shape of " + Twine(*before) +
                   " elements, found " + tensorName(result.type, step.shape) +
                   " with " + Twine(*after));
      result.shape = step.shape;
      continue;
    }
    case PackStep::Kind::Layout:
      if (i + 1 != steps.size())
        return bad("expected a layout only as the last step");
      break;
    case PackStep::Kind::Reorder:
    case PackStep::Kind::Restore:
      break;
    }
    Expected<Layout> layout = Layout::parse(step.layout);
    if (!layout)
      return bad(toString(layout.takeError()));
    if (Error error = layout->verify(result.shape))
      return bad(toString(std::move(error)));
    if (step.kind == PackStep::Kind::Layout)
      result.layout = *layout;
  }
  Expected<uint64_t> bytes = tensorBytes(result.type, result.shape);
  if (!bytes)
    return createStringError("pack recipe: " + toString(bytes.takeError()));
  result.bytes = *bytes;
  return result;
}

} // namespace netra
