//===- LaneAlu.cpp - the frame of vector instructions ---------------------===//
// SPDX-License-Identifier: MIT
#include "LaneAlu.h"
#include "FloatLanes.h"
#include "FloatOps.h"

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
  struct Control {
    uint8_t source[MaxLanes];
    uint64_t exists = 0; ///< lanes that have one
  } controls[NumControls];

  DppTables() {
    for (unsigned number = 0; number < NumControls; ++number)
      for (unsigned l = 0; l < MaxLanes; ++l) {
        Control &control = controls[number];
        control.source[l] = sourceOf(number, l);
        control.exists |= uint64_t(control.source[l] != NoLane) << l;
      }
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

const DppTables::Control &dppControl(unsigned number) {
  static const DppTables tables;
  return tables.controls[number < NumControls ? number : NumControls - 1];
}

/// Lanes whose DPP source exists and is switched on.
uint64_t dppValid(const Instruction &I, const Wave &w) {
  const auto &[source, exists] = dppControl(I.dppControl);
  const uint64_t exec = w.activeMask();
  if (w.laneCount == MaxLanes && w.allActive())
    return exists;
  uint64_t valid = 0;
  for (unsigned l = 0; l < w.laneCount; ++l)
    if (source[l] != NoLane)
      valid |= (exec >> source[l] & 1) << l;
  return valid;
}

void permute(const Instruction &I, const Wave &w, const uint32_t *from,
             uint32_t *to) {
  const uint8_t *source = dppControl(I.dppControl).source;
  const uint64_t valid = dppValid(I, w);
  const unsigned n = w.laneCount;
  for (unsigned l = 0; l < n; ++l)
    to[l] = from[source[l] & (MaxLanes - 1)];
  if (valid == w.allLanes())
    return;
  LaneVector mask;
  Wave::spread(valid, mask.lane);
  eachLane(n, [&](unsigned l) { to[l] &= mask.lane[l]; });
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

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

const uint32_t *flushLanes(unsigned n, const uint32_t *from,
                           LaneVector &scratch) {
  eachLane(n, [&](unsigned l) { scratch.lane[l] = flush32(from[l]); });
  return scratch.lane;
}

void finishLanes(const Instruction &I, unsigned n, const FloatEnv &env,
                 LaneVector &result) {
  for (unsigned l = 0; l < n; ++l)
    result.lane[l] = finishF32(result.lane[l], I.omod, I.clamp, env);
}

void settleNans(uint32_t *result, const uint32_t *a, const uint32_t *b,
                const uint32_t *c, unsigned sources) {
  for (unsigned l = 0; l < BlockLanes; ++l) {
    if (!isNan32(result[l]))
      continue;
    if (isNan32(a[l]))
      result[l] = a[l] | 0x00400000;
    else if (sources > 1 && isNan32(b[l]))
      result[l] = b[l] | 0x00400000;
    else if (sources > 2 && isNan32(c[l]))
      result[l] = c[l] | 0x00400000;
    else
      result[l] = DefaultNan32;
  }
}

namespace {

/// The bits of MODE that bring a domain off the kernel's own arithmetic, and
/// how they stand when nothing needs to be done.
struct ModeNeeds {
  uint32_t mask, plain;
};
constexpr ModeNeeds needsOf(Domain domain) {
  constexpr uint32_t round = 3u << ModeRound32Shift;
  constexpr uint32_t keepInputs = 1u << ModeDenorm32Shift;
  switch (domain) {
  case Domain::Integer:
    return {0, 0};
  case Domain::Single:
    return {round, 0};
  case Domain::FromSingle:
    return {keepInputs, keepInputs};
  case Domain::ToSingle:
    return {round, 0};
  }
  return {0, 0};
}

} // namespace

void runSingle(LaneKernel kernel, Wave &w, unsigned n,
               const uint32_t *const *source, uint32_t *out) {
  constexpr ModeNeeds needs = needsOf(Domain::Single);
  auto run = [&] {
    kernel(source[0], source[n > 1 ? 1 : 0], source[n > 2 ? 2 : 0], out,
           w.laneCount, w.mode);
  };
  if (__builtin_expect((w.mode & needs.mask) == needs.plain, 1))
    return run();
  HostRounding rounding(floatEnv(w, true).rounding);
  run();
}

namespace {

template <Domain D, unsigned N, bool Tied>
void general(const Instruction &I, Wave &w) {
  LaneVector t[N], result;
  constexpr bool fromFloat = D == Domain::Single || D == Domain::FromSingle;
  constexpr SourceType type = fromFloat ? SourceType::F32 : SourceType::Int;
  const unsigned n = w.laneCount;
  const uint32_t *source[N];
  for (unsigned k = 0; k < N; ++k)
    source[k] = Tied && k == N - 1 ? w.row(I.dst().index)
                                   : fetch(I, w, k, 0, type, t[k]);
  if constexpr (D == Domain::Single) {
    runSingle(I.kernel, w, N, source, result.lane);
  } else {
    const FloatEnv env = floatEnv(w, true);
    if (D == Domain::FromSingle && env.flushInputs)
      for (unsigned k = 0; k < N; ++k)
        source[k] = flushLanes(n, source[k], t[k]);
    auto run = [&] {
      I.kernel(source[0], source[N > 1 ? 1 : 0], source[N > 2 ? 2 : 0],
               result.lane, n, w.mode);
    };
    if (D == Domain::ToSingle && env.rounding != RoundingMode::NearestEven) {
      HostRounding rounding(env.rounding);
      run();
    } else {
      run();
    }
  }
  if ((D == Domain::Single || D == Domain::ToSingle) && (I.clamp || I.omod))
    finishLanes(I, n, floatEnv(w, true), result);
  storeResult(I, w, result.lane, writeMask(I, w));
}

template <Domain D, unsigned N, bool Tied>
void bare(const Instruction &I, Wave &w) {
  constexpr ModeNeeds needs = needsOf(D);
  if (needs.mask && __builtin_expect((w.mode & needs.mask) != needs.plain, 0))
    return general<D, N, Tied>(I, w);
  LaneVector t[N];
  uint32_t *d = w.row(I.dst().index);
  const uint32_t *a = w.lanes(I.src(0), 0, t[0]);
  const uint32_t *b = N > 1 ? w.lanes(I.src(1), 0, t[N > 1 ? 1 : 0]) : a;
  const uint32_t *c = N < 3  ? a
                      : Tied ? d
                             : w.lanes(I.src(2), 0, t[N > 2 ? 2 : 0]);
  if (__builtin_expect(w.allActive(), 1))
    return I.kernel(a, b, c, d, w.laneCount, w.mode);
  LaneVector result;
  I.kernel(a, b, c, result.lane, w.laneCount, w.mode);
  w.writeLanes(I.dst(), 0, result.lane);
}

/// The commonest of the bare ones: vector registers only, all lanes active.
template <Domain D, unsigned N, bool Tied>
void registers(const Instruction &I, Wave &w) {
  constexpr ModeNeeds needs = needsOf(D);
  if (__builtin_expect((w.mode & needs.mask) != needs.plain || !w.allActive(),
                       0))
    return bare<D, N, Tied>(I, w);
  uint32_t *d = w.row(I.ops[0].index);
  const uint32_t *a = w.row(I.ops[1].index);
  const uint32_t *b = N > 1 ? w.row(I.ops[2].index) : a;
  const uint32_t *c = N < 3 ? a : Tied ? d : w.row(I.ops[3].index);
  I.kernel(a, b, c, d, w.laneCount, w.mode);
}

bool usesRegistersOnly(const Instruction &I, unsigned sources) {
  if (I.numDst != 1)
    return false;
  for (unsigned k = 0; k < sources; ++k)
    if (!I.src(k).isVector())
      return false;
  return true;
}

} // namespace

template <Domain D, unsigned N, bool Tied>
Handler bindLanes(const Instruction &I, const char *&) {
  if (!isBare(I))
    return general<D, N, Tied>;
  return usesRegistersOnly(I, Tied ? N - 1 : N) ? registers<D, N, Tied>
                                                : bare<D, N, Tied>;
}
template Handler bindLanes<Domain::Integer, 1>(const Instruction &,
                                               const char *&);
template Handler bindLanes<Domain::Integer, 2>(const Instruction &,
                                               const char *&);
template Handler bindLanes<Domain::Integer, 3>(const Instruction &,
                                               const char *&);
template Handler bindLanes<Domain::Single, 1>(const Instruction &,
                                              const char *&);
template Handler bindLanes<Domain::Single, 2>(const Instruction &,
                                              const char *&);
template Handler bindLanes<Domain::Single, 3>(const Instruction &,
                                              const char *&);
template Handler bindLanes<Domain::Single, 3, true>(const Instruction &,
                                                    const char *&);
template Handler bindLanes<Domain::FromSingle, 1>(const Instruction &,
                                                  const char *&);
template Handler bindLanes<Domain::FromSingle, 2>(const Instruction &,
                                                  const char *&);
template Handler bindLanes<Domain::ToSingle, 1>(const Instruction &,
                                                const char *&);

template <bool Float, unsigned N, bool KeepHigh, bool Tied>
void halfLanes(const Instruction &I, Wave &w) {
  LaneVector t[N], result;
  constexpr SourceType type = Float ? SourceType::F16 : SourceType::Int16;
  const FloatEnv env = floatEnv(w, false);
  const unsigned n = w.laneCount;
  const uint32_t *source[N];
  for (unsigned k = 0; k < N; ++k) {
    if (Tied && k == N - 1) {
      const uint32_t *d = w.row(I.dst().index);
      const unsigned shift =
          I.encoding == Encoding::Plain && (I.opSel & 8) ? 16 : 0;
      eachLane(n, [&](unsigned l) { t[k].lane[l] = d[l] >> shift & 0xffff; });
      source[k] = t[k].lane;
    } else {
      source[k] = fetch(I, w, k, 0, type, t[k]);
    }
    if (Float && env.flushInputs) {
      const uint32_t *from = source[k];
      eachLane(n, [&](unsigned l) { t[k].lane[l] = flush16(from[l]); });
      source[k] = t[k].lane;
    }
  }
  I.kernel(source[0], source[N > 1 ? 1 : 0], source[N > 2 ? 2 : 0], result.lane,
           n, w.mode);
  for (unsigned l = 0; Float && (I.clamp || I.omod) && l < n; ++l)
    result.lane[l] = finishF16(result.lane[l], I, env);
  if (!Float)
    eachLane(n, [&](unsigned l) { result.lane[l] &= 0xffff; });
  storeResult16(I, w, result.lane, writeMask(I, w), KeepHigh);
}
template void halfLanes<false, 1, false>(const Instruction &, Wave &);
template void halfLanes<false, 2, false>(const Instruction &, Wave &);
template void halfLanes<false, 3, false>(const Instruction &, Wave &);
template void halfLanes<false, 3, true>(const Instruction &, Wave &);
template void halfLanes<true, 1, false>(const Instruction &, Wave &);
template void halfLanes<true, 2, false>(const Instruction &, Wave &);
template void halfLanes<true, 3, false>(const Instruction &, Wave &);
template void halfLanes<true, 3, true>(const Instruction &, Wave &);
template void halfLanes<true, 3, false, true>(const Instruction &, Wave &);

HostRounding::HostRounding(RoundingMode mode) : saved(std::fegetround()) {
  static constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                  FE_TOWARDZERO};
  std::fesetround(modes[unsigned(mode)]);
}
HostRounding::~HostRounding() { std::fesetround(saved); }

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
