//===- BufferFormats.cpp - Buffer accesses with conversion ---------------===//
// SPDX-License-Identifier: MIT
//
// buffer_*_format_* take the format of the data in memory from the descriptor,
// tbuffer_* from the instruction. Loads give 32 bits per component, or 16 in
// the d16 forms. The ISA names the formats but not to the bit what converting
// does: normalised numbers come out as the nearest value, everything else is
// done when the result is exact and refused when it would be rounded or
// clamped.
//
//===----------------------------------------------------------------------===//

#include "BufferAccess.h"
#include "FloatFormats.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace netra::sim {

namespace {

enum NumberFormat : unsigned {
  Unorm,
  Snorm,
  Uscaled,
  Sscaled,
  Uint,
  Sint,
  Float = 7
};

/// Widths of the channels from the lowest bits up; the names of the formats
/// list them from the highest down.
struct Layout {
  uint8_t channels = 0;
  uint8_t bits[4] = {};
  unsigned bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8; }
  bool isPacked() const { return bits[0] % 8; }
};
constexpr Layout layouts[16] = {
    {},                    // invalid
    {1, {8}},              //
    {1, {16}},             //
    {2, {8, 8}},           //
    {1, {32}},             //
    {2, {16, 16}},         //
    {3, {11, 11, 10}},     // 10_11_11
    {3, {10, 11, 11}},     // 11_11_10
    {4, {2, 10, 10, 10}},  // 10_10_10_2
    {4, {10, 10, 10, 2}},  // 2_10_10_10
    {4, {8, 8, 8, 8}},     //
    {2, {32, 32}},         //
    {4, {16, 16, 16, 16}}, //
    {3, {32, 32, 32}},     //
    {4, {32, 32, 32, 32}}, //
    {},                    // reserved
};

struct Format {
  Layout layout;
  unsigned number = 0;
  uint8_t select[4] = {4, 5, 6, 7};
  bool isInteger() const { return number == Uint || number == Sint; }
};

/// Formats that the ISA's table lists.
bool isDefined(unsigned data, unsigned number) {
  const Layout &layout = layouts[data];
  if (!layout.channels || number == 6)
    return false;
  const bool isFloat = number == Float;
  if (data == 6 || data == 7)
    return isFloat;
  if (layout.bits[0] == 32)
    return isFloat || number == Uint || number == Sint;
  return !isFloat || layout.bits[0] == 16;
}

bool formatOf(const Instruction &inst, Wave &w, unsigned vector, bool isTyped,
              Format &format) {
  const BufferDescriptor d(inst.ops[vector + 1], w);
  const unsigned data = isTyped ? inst.format & 0xf : d.dataFormat;
  format.number = isTyped ? inst.format >> 4 : d.numberFormat;
  format.layout = layouts[data];
  if (!isTyped)
    std::copy(d.select, d.select + 4, format.select);
  // An unbound buffer needs no format.
  if (!d.dataFormat || isDefined(data, format.number))
    return true;
  w.fail(formatv("the buffer format with data format {0} and number format "
                 "{1} is not defined",
                 data, format.number)
             .str());
  return false;
}

/// Small floats; those of 10 and 11 bits have no sign, which here stays 0.
FloatFormat floatFormat(unsigned bits) {
  switch (bits) {
  case 10:
    return {5, 5, 15, SpecialValues::Ieee};
  case 11:
    return {5, 6, 15, SpecialValues::Ieee};
  case 16:
    return formatF16;
  default:
    return formatF32;
  }
}

/// The field at `position` of an element of up to 128 bits.
uint32_t extractField(const uint8_t *element, unsigned position,
                      unsigned bits) {
  uint64_t value = 0;
  std::memcpy(&value, element + position / 8, (position % 8 + bits + 7) / 8);
  return uint32_t(value >> position % 8 & ((uint64_t(1) << bits) - 1));
}
void insertField(uint8_t *element, unsigned position, unsigned bits,
                 uint32_t field) {
  uint64_t value = 0;
  const unsigned bytes = (position % 8 + bits + 7) / 8;
  std::memcpy(&value, element + position / 8, bytes);
  value |= uint64_t(field) << position % 8;
  std::memcpy(element + position / 8, &value, bytes);
}

int32_t signedField(uint32_t field, unsigned bits) {
  return int32_t(field << (32 - bits)) >> (32 - bits);
}

/// A channel as a 32-bit component, or a 16-bit one; false: it has no exact
/// form.
bool fromFormat(uint32_t field, unsigned bits, unsigned number, bool isHalf,
                uint32_t &result) {
  const FloatFormat &target = isHalf ? formatF16 : formatF32;
  auto round = [&](double value) {
    result = uint32_t(convertFloat(formatF64, target, asBits(value)));
    return result;
  };
  auto isExact = [&](double value) {
    return asDouble(convertFloat(target, formatF64, round(value))) == value;
  };
  const int32_t integer = signedField(field, bits);
  switch (number) {
  case Unorm:
    round(double(field) / ((1u << bits) - 1));
    return true;
  case Snorm:
    round(std::max(double(integer) / ((1u << (bits - 1)) - 1), -1.0));
    return true;
  case Uscaled:
    return isExact(field);
  case Sscaled:
    return isExact(integer);
  case Uint:
    result = field;
    return !isHalf || field <= 0xffff;
  case Sint:
    result = isHalf ? uint32_t(integer) & 0xffff : uint32_t(integer);
    return !isHalf || integer == int16_t(integer);
  default: {
    const FloatFormat source = floatFormat(bits);
    if (source.width() == target.width()) {
      result = field;
      return true;
    }
    result = uint32_t(convertFloat(source, target, field));
    const UnpackedFloat u = unpackFloat(source, field);
    return u.kind == UnpackedFloat::Nan ||
           convertFloat(target, source, result) == field;
  }
  }
}

/// The reverse.
bool toFormat(uint32_t value, unsigned bits, unsigned number, bool isHalf,
              uint32_t &field) {
  const FloatFormat &source = isHalf ? formatF16 : formatF32;
  const uint32_t all = bits == 32 ? ~0u : (1u << bits) - 1;
  const double real = asDouble(convertFloat(source, formatF64, value));
  const int64_t low = -(int64_t(1) << (bits - 1)), high = -low - 1;
  switch (number) {
  case Unorm:
    field = std::isnan(real)
                ? 0
                : uint32_t(std::nearbyint(std::clamp(real, 0.0, 1.0) * all));
    return true;
  case Snorm:
    field = std::isnan(real)
                ? 0
                : uint32_t(int32_t(std::nearbyint(std::clamp(real, -1.0, 1.0) *
                                                  double(high)))) &
                      all;
    return true;
  case Uscaled:
    if (!(real >= 0 && real <= all && real == std::trunc(real)))
      return false;
    field = uint32_t(real);
    return true;
  case Sscaled:
    if (!(real >= low && real <= high && real == std::trunc(real)))
      return false;
    field = uint32_t(int32_t(real)) & all;
    return true;
  case Uint:
    field = value;
    return value <= all;
  case Sint: {
    const int32_t integer = isHalf ? int16_t(value) : int32_t(value);
    field = uint32_t(integer) & all;
    return integer >= low && integer <= high;
  }
  default: {
    const FloatFormat target = floatFormat(bits);
    if (target.width() == source.width()) {
      field = value;
      return true;
    }
    field = uint32_t(convertFloat(source, target, value));
    const bool isNan = std::isnan(real);
    return field <= all &&
           (isNan || convertFloat(target, source, field) == value);
  }
  }
}

/// How an instruction accesses its components.
struct Shape {
  unsigned components = 1;
  bool isHalf = false, isHigh = false, isTyped = false;

  BufferFormatUse use() const {
    return isTyped ? BufferFormatUse::Instruction : BufferFormatUse::Resource;
  }
};

void failInexact(Wave &w, const char *what) {
  w.fail(formatv("a {0} with a buffer format whose result would be rounded or "
                 "clamped, which the ISA does not define",
                 what)
             .str());
}

__attribute__((noinline)) void load(const Instruction &inst, Wave &w,
                                    const Shape &shape) {
  const unsigned vector = inst.lds ? 0 : 1;
  Format format;
  BufferAccess access;
  if (!formatOf(inst, w, vector, shape.isTyped, format))
    return;
  for (unsigned k = 0; k < shape.components; ++k) {
    const unsigned select = format.select[k];
    const bool isMissing = select >= 4u + format.layout.channels;
    if (format.layout.channels &&
        (select == 2 || select == 3 || (isMissing && !shape.isTyped))) {
      w.fail(formatv("destination select {0} of component {1} is not defined "
                     "with this data format",
                     select, k)
                 .str());
      return;
    }
  }
  const unsigned bytes = std::max(format.layout.bytes(), 1u);
  if (!locateBuffer(inst, w, vector, access, bytes, shape.use()))
    return;
  const uint64_t lanes = access.active | access.outOfRange;
  resolveGlobal(inst, w, access, bytes, AccessKind::Load);
  const uint32_t one = format.isInteger() ? 1
                       : shape.isHalf     ? 0x3c00
                                          : 0x3f800000;
  uint32_t result[4][MaxLanes] = {};
  bool isExact = true;
  forEachLane(lanes, [&](unsigned l) {
    uint8_t element[24] = {};
    const bool isValid = access.valid >> l & 1;
    if (isValid)
      std::memcpy(element, reinterpret_cast<const void *>(access.host[l]),
                  bytes);
    for (unsigned k = 0; k < shape.components; ++k) {
      const unsigned select = format.select[k];
      if (select == 1 && format.layout.channels)
        result[k][l] = one;
      if (!isValid || select < 4 || select >= 4u + format.layout.channels)
        continue;
      unsigned position = 0;
      for (unsigned c = 0; c + 4 < select; ++c)
        position += format.layout.bits[c];
      const unsigned bits = format.layout.bits[select - 4];
      isExact &= fromFormat(extractField(element, position, bits), bits,
                            format.number, shape.isHalf, result[k][l]);
    }
  });
  if (!isExact)
    return failInexact(w, "load");
  if (inst.lds) {
    uint32_t target[MaxLanes];
    forEachLane(placeInLds(inst, w, lanes, 4, target), [&](unsigned l) {
      std::memcpy(w.context->lds + target[l], &result[0][l], 4);
    });
    return;
  }
  const unsigned dst = inst.ops[0].index;
  forEachLane(lanes, [&](unsigned l) {
    if (!shape.isHalf) {
      for (unsigned k = 0; k < shape.components; ++k)
        w.row(dst + k)[l] = result[k][l];
      return;
    }
    for (unsigned k = 0; k < shape.components; k += 2)
      w.row(dst + k / 2)[l] =
          shape.isHigh
              ? result[0][l] << 16
              : result[k][l] |
                    (k + 1 < shape.components ? result[k + 1][l] << 16 : 0);
  });
}

__attribute__((noinline)) void store(const Instruction &inst, Wave &w,
                                     const Shape &shape) {
  Format format;
  BufferAccess access;
  if (!formatOf(inst, w, 1, shape.isTyped, format))
    return;
  const Layout &layout = format.layout;
  const unsigned written =
      std::min<unsigned>(shape.components, layout.channels);
  for (unsigned k = 0; k < written; ++k)
    if (format.select[k] != 4 + k) {
      w.fail("a store through a buffer descriptor whose channel selects are "
             "not x, y, z, w in order is not defined");
      return;
    }
  if (layout.isPacked() && written < layout.channels) {
    w.fail("a store of some channels of a buffer format whose channels share "
           "bytes is not defined");
    return;
  }
  // Of channels of whole bytes only those that are given are written.
  const unsigned bytes = std::max(
      layout.isPacked() ? layout.bytes() : written * layout.bits[0] / 8, 1u);
  if (!locateBuffer(inst, w, 1, access, bytes, shape.use()))
    return;
  const unsigned data = inst.ops[0].index;
  uint8_t element[MaxLanes][24] = {};
  bool isExact = true;
  forEachLane(access.active, [&](unsigned l) {
    unsigned position = 0;
    for (unsigned k = 0; k < written; ++k) {
      uint32_t value = w.row(data + (shape.isHalf ? k / 2 : k))[l];
      if (shape.isHalf)
        value = (k % 2 || shape.isHigh ? value >> 16 : value) & 0xffff;
      uint32_t field = 0;
      isExact &=
          toFormat(value, layout.bits[k], format.number, shape.isHalf, field);
      insertField(element[l], position, layout.bits[k], field);
      position += layout.bits[k];
    }
  });
  if (!isExact)
    return failInexact(w, "store");
  resolveGlobal(inst, w, access, bytes, AccessKind::Store);
  forEachLane(access.valid, [&](unsigned l) {
    std::memcpy(reinterpret_cast<void *>(access.host[l]), element[l], bytes);
  });
}

template <unsigned Components, bool Half, bool High, bool Typed>
void loadFormat(const Instruction &inst, Wave &w) {
  load(inst, w, {Components, Half, High, Typed});
}
template <unsigned Components, bool Half, bool High, bool Typed>
void storeFormat(const Instruction &inst, Wave &w) {
  store(inst, w, {Components, Half, High, Typed});
}

const char *const note =
    "normalised numbers within 1 unit in the last place, computed as the "
    "nearest; other conversions exact, those that would round are refused";

template <unsigned Components, bool Half, bool High, bool Typed>
void addForm(SemanticsTable &table, const std::string &name) {
  const std::string prefix = Typed ? "tbuffer_" : "buffer_";
  constexpr unsigned plain = unsigned(Encoding::Plain);
  table.add(prefix + "load_format_" + name,
            loadFormat<Components, Half, High, Typed>, plain, Fidelity::Bounded,
            note);
  table.add(prefix + "store_format_" + name,
            storeFormat<Components, Half, High, Typed>, plain,
            Fidelity::Bounded, note);
}

template <bool Typed> void addForms(SemanticsTable &table) {
  addForm<1, false, false, Typed>(table, "x");
  addForm<2, false, false, Typed>(table, "xy");
  addForm<3, false, false, Typed>(table, "xyz");
  addForm<4, false, false, Typed>(table, "xyzw");
  addForm<1, true, false, Typed>(table, "d16_x");
  addForm<2, true, false, Typed>(table, "d16_xy");
  addForm<3, true, false, Typed>(table, "d16_xyz");
  addForm<4, true, false, Typed>(table, "d16_xyzw");
}

} // namespace

void registerBufferFormats(SemanticsTable &table) {
  addForms<false>(table);
  addForms<true>(table);
  addForm<1, true, true, false>(table, "d16_hi_x");
}

} // namespace netra::sim
