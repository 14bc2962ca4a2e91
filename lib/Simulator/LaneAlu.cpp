//===- LaneAlu.cpp - the frame of vector instructions ---------------------===//
// SPDX-License-Identifier: MIT
#include "LaneAlu.h"

#include <cfenv>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

bool isBare(const Instruction &I) {
  if (I.encoding != Encoding::Plain || I.clamp || I.omod || I.opSel ||
      I.negLo || I.negHi)
    return false;
  for (unsigned k = 0; k < I.numSrc(); ++k)
    if (I.src(k).modifiers & (ModNeg | ModAbs | ModOpSel | ModSext))
      return false;
  return true;
}

namespace {

constexpr uint8_t NoLane = 0xff;
constexpr unsigned NumControls = 0x160;

/// For each DPP control, the lane each lane reads; NoLane if it has none.
struct DppTables {
  uint8_t source[NumControls][MaxLanes];

  DppTables() {
    for (unsigned control = 0; control < NumControls; ++control)
      for (unsigned l = 0; l < MaxLanes; ++l)
        source[control][l] = sourceOf(control, l);
  }

  static uint8_t sourceOf(unsigned control, unsigned l) {
    const unsigned row = l & ~15u, at = l & 15;
    const unsigned amount = control & 15;
    if (control < 0x100)
      return uint8_t((l & ~3u) | (control >> (2 * (l & 3)) & 3));
    switch (control & ~15u) {
    case DppRowShl:
      return at + amount < 16 ? uint8_t(l + amount) : NoLane;
    case DppRowShr:
      return at >= amount ? uint8_t(l - amount) : NoLane;
    case DppRowRor:
      return uint8_t(row | ((at - amount) & 15));
    case DppRowNewBcast:
      return uint8_t(row | amount);
    default:
      break;
    }
    switch (control) {
    case DppWaveShl:
      return l + 1 < MaxLanes ? uint8_t(l + 1) : NoLane;
    case DppWaveRol:
      return uint8_t((l + 1) % MaxLanes);
    case DppWaveShr:
      return l ? uint8_t(l - 1) : NoLane;
    case DppWaveRor:
      return uint8_t((l + MaxLanes - 1) % MaxLanes);
    case DppRowMirror:
      return uint8_t(row | (15 - at));
    case DppRowHalfMirror:
      return uint8_t((l & ~7u) | (7 - (l & 7)));
    case DppRowBcast15: // lane 15 of each row to the next row
      return row ? uint8_t(row - 1) : NoLane;
    case DppRowBcast31: // lane 31 to rows 2 and 3
      return l >= 32 ? 31 : NoLane;
    default:
      return NoLane;
    }
  }
};

const uint8_t *dppSource(unsigned control) {
  static const DppTables tables;
  return tables.source[control < NumControls ? control : NumControls - 1];
}

/// Lanes whose DPP source exists and is switched on.
uint64_t dppValid(const Instruction &I, const Wave &w) {
  const uint8_t *source = dppSource(I.dppControl);
  const uint64_t exec = w.activeMask();
  uint64_t valid = 0;
  for (unsigned l = 0; l < w.laneCount; ++l)
    if (source[l] != NoLane)
      valid |= (exec >> source[l] & 1) << l;
  return valid;
}

void permute(const Instruction &I, const Wave &w, const uint32_t *from,
             uint32_t *to) {
  const uint8_t *source = dppSource(I.dppControl);
  const uint64_t valid = dppValid(I, w);
  const unsigned n = w.laneCount;
  for (unsigned l = 0; l < n; ++l) {
    uint32_t value = from[source[l] & (MaxLanes - 1)];
    to[l] = value & (0u - uint32_t(valid >> l & 1));
  }
}

unsigned selShift(SdwaSel sel) {
  switch (sel) {
  case SdwaSel::Byte1:
    return 8;
  case SdwaSel::Byte2:
  case SdwaSel::Word1:
    return 16;
  case SdwaSel::Byte3:
    return 24;
  default:
    return 0;
  }
}
unsigned selBits(SdwaSel sel) {
  switch (sel) {
  case SdwaSel::Dword:
    return 32;
  case SdwaSel::Word0:
  case SdwaSel::Word1:
    return 16;
  default:
    return 8;
  }
}

} // namespace

const uint32_t *fetch(const Instruction &I, Wave &w, unsigned k, unsigned word,
                      SourceType type, LaneVector &scratch) {
  const Operand &op = I.src(k);
  const unsigned n = w.laneCount;
  uint32_t *to = scratch.lane;
  const uint32_t *from = w.lanes(op, word, scratch);
  auto apply = [&](auto change) {
    eachLane(n, [&](unsigned l) { to[l] = change(from[l]); });
    from = to;
  };
  if (I.encoding == Encoding::Dpp && k == 0) {
    LaneVector source;
    std::memcpy(source.lane, from, sizeof source);
    permute(I, w, source.lane, to);
    from = to;
  }
  if (I.encoding == Encoding::Sdwa && op.sel != SdwaSel::Dword) {
    const unsigned up = 32 - selBits(op.sel) - selShift(op.sel);
    const unsigned down = 32 - selBits(op.sel);
    if (op.modifiers & ModSext)
      apply([=](uint32_t v) { return uint32_t(int32_t(v << up) >> down); });
    else
      apply([=](uint32_t v) { return v << up >> down; });
  }
  switch (type) {
  case SourceType::Int:
    break;
  case SourceType::F32:
  case SourceType::F64High:
    if (op.modifiers & ModAbs)
      apply([](uint32_t v) { return v & 0x7fffffff; });
    if (op.modifiers & ModNeg)
      apply([](uint32_t v) { return v ^ 0x80000000; });
    break;
  case SourceType::F16:
  case SourceType::Int16: {
    const bool high =
        I.encoding == Encoding::Plain && (op.modifiers & ModOpSel);
    const unsigned shift = high ? 16 : 0;
    uint32_t keep = 0xffff, flip = 0;
    if (type == SourceType::F16) {
      if (op.modifiers & ModAbs)
        keep = 0x7fff;
      if (op.modifiers & ModNeg)
        flip = 0x8000;
    }
    apply([=](uint32_t v) { return ((v >> shift) & keep) ^ flip; });
    break;
  }
  }
  return from;
}

uint64_t writeMask(const Instruction &I, const Wave &w) {
  uint64_t mask = w.activeMask();
  if (I.encoding != Encoding::Dpp)
    return mask;
  if (!I.dppBoundControl)
    mask &= dppValid(I, w);
  if (I.dppRowMask == 0xf && I.dppBankMask == 0xf)
    return mask;
  uint64_t enabled = 0;
  for (unsigned l = 0; l < w.laneCount; ++l)
    enabled |=
        uint64_t(I.dppRowMask >> (l / 16) & 1 & I.dppBankMask >> (l % 16 / 4))
        << l;
  return mask & enabled;
}

void storeWord(Wave &w, const Operand &op, unsigned word, const uint32_t *value,
               uint64_t mask) {
  uint32_t *out = w.row(op.index + word);
  if (mask == w.allLanes()) {
    eachLane(w.laneCount, [&](unsigned l) { out[l] = value[l]; });
    return;
  }
  LaneVector spread;
  const uint32_t *m = spread.lane;
  if (mask == w.exec())
    m = w.execLanes();
  else
    Wave::spread(mask, spread.lane);
  eachLane(w.laneCount,
           [&](unsigned l) { out[l] = (value[l] & m[l]) | (out[l] & ~m[l]); });
}

void storeResult(const Instruction &I, Wave &w, const uint32_t *value,
                 uint64_t mask) {
  if (I.encoding != Encoding::Sdwa || I.sdwaDst == SdwaSel::Dword)
    return storeWord(w, I.dst(), 0, value, mask);
  const unsigned shift = selShift(I.sdwaDst), bits = selBits(I.sdwaDst);
  const uint32_t field = ((1u << bits) - 1) << shift;
  const uint32_t *old = w.row(I.dst().index);
  LaneVector merged;
  eachLane(w.laneCount, [&](unsigned l) {
    uint32_t placed = (value[l] << shift) & field;
    switch (I.sdwaUnused) {
    case SdwaUnused::Pad:
      break;
    case SdwaUnused::Sext: {
      const unsigned up = 32 - bits - shift;
      placed = uint32_t(int32_t(placed << up) >> up);
      break;
    }
    case SdwaUnused::Preserve:
      placed |= old[l] & ~field;
      break;
    }
    merged.lane[l] = placed;
  });
  storeWord(w, I.dst(), 0, merged.lane, mask);
}

void storeResult16(const Instruction &I, Wave &w, const uint32_t *value,
                   uint64_t mask, bool keepHigh) {
  if (I.encoding == Encoding::Sdwa)
    return storeResult(I, w, value, mask);
  const bool toHigh = I.encoding == Encoding::Plain && (I.opSel & 8);
  if (!toHigh && !keepHigh)
    return storeWord(w, I.dst(), 0, value, mask);
  const uint32_t *old = w.row(I.dst().index);
  LaneVector merged;
  eachLane(w.laneCount, [&](unsigned l) {
    merged.lane[l] = toHigh ? (old[l] & 0xffff) | value[l] << 16
                            : (old[l] & 0xffff0000) | (value[l] & 0xffff);
  });
  storeWord(w, I.dst(), 0, merged.lane, mask);
}

void storeCondition(Wave &w, const Operand &op, const uint32_t *value,
                    uint64_t mask) {
  w.setScalar64(op, Wave::gather(value, w.laneCount) & mask);
}

HostRounding::HostRounding(RoundingMode mode) : saved(std::fegetround()) {
  static constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                  FE_TOWARDZERO};
  std::fesetround(modes[unsigned(mode)]);
}
HostRounding::~HostRounding() { std::fesetround(saved); }

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
