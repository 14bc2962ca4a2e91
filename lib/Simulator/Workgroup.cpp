//===- Workgroup.cpp - Launch state and the run loops --------------------===//
// SPDX-License-Identifier: MIT

#include "Execution.h"
#include "Monitor.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>

using namespace llvm;
using support::endian::read16le;
using support::endian::read32le;

namespace netra::sim {

/// Contents of registers and LDS that nothing has written. Not zero, so that a
/// kernel which relies on zeros does not pass by luck.
constexpr uint32_t Poison = 0x7fb5a5a5;

static void *mapMemory(size_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

Workgroup::Workgroup(LaunchState &launch)
    : launch(launch), unallocated(launch.unallocated.get()) {
  const unsigned lanes = launch.kernel->waveSize;
  const size_t perWave = size_t(NumVectorRows) * lanes * 4;
  vectorFileBytes = perWave * launch.wavesPerWorkgroup;
  vectorFiles = static_cast<uint32_t *>(mapMemory(vectorFileBytes));
  scratchTotal = size_t(launch.scratchBytes) * lanes * launch.wavesPerWorkgroup;
  if (scratchTotal)
    scratch = static_cast<uint8_t *>(mapMemory(scratchTotal));
  lds.resize(launch.ldsBytes + 64);
  if (launch.options.checks || launch.options.counters)
    monitor = std::make_unique<Monitor>(*this, launch);
}

Workgroup::~Workgroup() {
  if (vectorFiles)
    munmap(vectorFiles, vectorFileBytes);
  if (scratch)
    munmap(scratch, scratchTotal);
}

uint64_t Workgroup::storageBytes(const LaunchState &launch) {
  const uint64_t lanes =
      uint64_t(launch.kernel->waveSize) * launch.wavesPerWorkgroup;
  return lanes * (4 * (launch.kernel->vgprs + launch.kernel->agprs) +
                  launch.scratchBytes) +
         launch.ldsBytes;
}

bool Workgroup::isUsable() const {
  return vectorFiles && (scratch || !scratchTotal);
}

std::string Workgroup::describe() const {
  return formatv("work-group ({0}, {1}, {2})", id[0], id[1], id[2]).str();
}

void Workgroup::start(uint64_t index) {
  linear = index;
  const auto &grid = launch.params.grid;
  id = {uint32_t(index % grid[0]), uint32_t(index / grid[0] % grid[1]),
        uint32_t(index / grid[0] / grid[1])};
  failed = nullptr;
  uint64_t count = 1;
  for (unsigned d = 0; d < 3; ++d)
    count *= std::min<uint64_t>(launch.params.block[d],
                                launch.items[d] -
                                    uint64_t(id[d]) * launch.params.block[d]);
  const unsigned lanes = launch.kernel->waveSize;
  const unsigned numWaves = unsigned((count + lanes - 1) / lanes);
  waves.resize(numWaves);
  contexts.resize(numWaves);
  running = numWaves;
  random.seed(launch.options.seed * 0x9e3779b97f4a7c15ull + index);
  for (size_t i = 0; i + 4 <= lds.size(); i += 4)
    std::memcpy(lds.data() + i, &Poison, 4);
  isTraced = launch.params.traceTo && launch.params.traceWorkgroup == index;
  isWatched = isTraced || launch.params.observer;
  for (unsigned i = 0; i < numWaves; ++i)
    initWave(i);
  if (monitor)
    monitor->startGroup();
}

void Workgroup::initWave(unsigned index) {
  const Kernel &kernel = *launch.kernel;
  const unsigned lanes = kernel.waveSize;
  WaveContext &context = contexts[index];
  Wave &w = waves[index];
  w = Wave();
  w.laneCount = lanes;
  w.vectorFile = vectorFiles + size_t(index) * NumVectorRows * lanes;
  w.context = &context;
  w.pc = launch.entry;
  context = WaveContext();
  context.group = this;
  context.launch = &launch;
  context.memory = launch.memory;
  context.monitor = monitor.get();
  context.lds = lds.data();
  context.ldsBytes = launch.ldsBytes;
  context.scratch =
      scratch ? scratch + size_t(index) * launch.scratchBytes * lanes : nullptr;
  context.scratchBytes = launch.scratchBytes;
  context.index = index;

  std::fill(w.row(0), w.row(std::min(kernel.vgprs, 256u)), Poison);
  std::fill(w.row(AccumulationBase),
            w.row(AccumulationBase) +
                size_t(std::min(kernel.agprs, 256u)) * lanes,
            Poison);
  std::fill(w.scalarFile, w.scalarFile + M0, Poison);
  w.scalarFile[M0] = Poison;
  w.scalarFile[Null] = 0;

  const uint8_t *d = kernel.descriptor.data();
  const uint32_t rsrc1 = read32le(d + 48), rsrc2 = read32le(d + 52);
  const unsigned properties = read16le(d + 56), preload = read16le(d + 58);
  w.mode = (rsrc1 >> 12 & 0xff) |
           (rsrc1 >> 21 & 1 ? uint32_t(ModeDx10Clamp) : 0u) |
           (rsrc1 >> 23 & 1 ? uint32_t(ModeIeee) : 0u) |
           (rsrc1 >> 26 & 1 ? uint32_t(ModeFp16Overflow) : 0u);

  // User SGPRs in the order that the descriptor fixes.
  unsigned s = 0;
  auto push = [&](uint32_t value) {
    if (s < 102)
      w.scalarFile[s] = value;
    ++s;
  };
  auto push64 = [&](uint64_t value) {
    push(uint32_t(value));
    push(uint32_t(value >> 32));
  };
  if (properties & 1) // private segment buffer
    for (unsigned i = 0; i < 4; ++i)
      push(0);
  if (properties >> 1 & 1)
    push64(launch.dispatchAddress);
  if (properties >> 2 & 1)
    push64(launch.queueAddress);
  if (properties >> 3 & 1)
    push64(launch.kernargAddress);
  if (properties >> 4 & 1)
    push64(launch.dispatchId);
  if (properties >> 5 & 1) // flat scratch init: architected on this target
    push64(0);
  if (properties >> 6 & 1)
    push(launch.scratchBytes);
  const unsigned preloadLength = preload & 0x7f, preloadOffset = preload >> 7;
  const unsigned userSgprs = rsrc2 >> 1 & 0x1f;
  for (unsigned i = 0; i < preloadLength; ++i) {
    uint32_t value = 0;
    const uint64_t address =
        launch.kernargAddress + uint64_t(preloadOffset + i) * 4;
    if (launch.memory->resolve(address, 4))
      std::memcpy(&value, reinterpret_cast<const void *>(address), 4);
    push(value);
  }
  s = std::max(s, userSgprs);
  for (unsigned dim = 0; dim < 3; ++dim)
    if (rsrc2 >> (7 + dim) & 1)
      push(id[dim]);
  if (rsrc2 >> 10 & 1) // first wave, wave in the group, waves in the group
    push((index == 0 ? 1u << 31 : 0) | index << 20 | uint32_t(waves.size()));

  // Work-item ids: only those the descriptor asks for are packed in. Code that
  // uses x alone takes v0 as it is.
  const unsigned numIds = 1 + (rsrc2 >> 11 & 3);
  const auto &block = launch.params.block;
  uint32_t dims[3];
  for (unsigned dim = 0; dim < 3; ++dim)
    dims[dim] = uint32_t(std::min<uint64_t>(
        block[dim], launch.items[dim] - uint64_t(id[dim]) * block[dim]));
  const uint64_t total = uint64_t(dims[0]) * dims[1] * dims[2];
  uint64_t exec = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    const uint64_t item = uint64_t(index) * lanes + l;
    if (item >= total)
      break;
    exec |= uint64_t(1) << l;
    const uint32_t x = uint32_t(item % dims[0]),
                   y = uint32_t(item / dims[0] % dims[1]),
                   z = uint32_t(item / dims[0] / dims[1]);
    w.row(0)[l] = x | (numIds > 1 ? y << 10 : 0) | (numIds > 2 ? z << 20 : 0);
  }
  w.setExec(exec);
  if (monitor && scratch)
    std::memset(context.scratch, 0xa5, size_t(launch.scratchBytes) * lanes);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

bool Workgroup::releaseBarrier() {
  bool any = false;
  for (Wave &w : waves)
    if (w.state == WaveStatus::AtBarrier) {
      w.state = WaveStatus::Running;
      any = true;
    }
  if (any && monitor)
    monitor->barrierReleased();
  return any;
}

/// Executes with s_set_gpr_idx_on or s_setvskip in force: vector instructions
/// run on a copy whose operands are moved by M0, or not at all.
void Workgroup::stepIndexed(Wave &w) {
  const Program &program = *launch.program;
  const Instruction &inst = program.code[w.pc];
  const InstructionInfo &info = program.info[w.pc];
  const bool isVector = info.cls != InstructionClass::Salu &&
                        info.cls != InstructionClass::ScalarMemory &&
                        info.cls != InstructionClass::Branch &&
                        info.cls != InstructionClass::Message;
  if (!isVector) {
    inst.handler(inst, w);
    return;
  }
  if (w.mode & ModeVskip)
    return;
  const bool isValu = info.cls == InstructionClass::Valu ||
                      info.cls == InstructionClass::Transcendental;
  if (!isValu) {
    inst.handler(inst, w);
    return;
  }
  // M0: index in bits 7:0; bits 15:12 enable src0, src1, src2, dst.
  const unsigned offset = w.m0() & 0xff, enable = w.m0() >> 12 & 0xf;
  Instruction moved = inst;
  for (unsigned k = 0; k < moved.numOps; ++k) {
    const bool isDst = k < moved.numDst;
    const unsigned bit = isDst ? 3 : k - moved.numDst;
    if (bit > 3 || (!isDst && bit > 2) || !(enable >> bit & 1) ||
        !moved.ops[k].isVector())
      continue;
    const unsigned file = moved.ops[k].index & AccumulationBase;
    const unsigned index = (moved.ops[k].index & 255u) + offset;
    if (index + moved.ops[k].words > 256) {
      w.fail("register index " + std::to_string(index) +
             " by s_set_gpr_idx_on is past the last register");
      return;
    }
    std::string missing = missingRegister(*launch.kernel, RegisterFile::Vector,
                                          file + index, moved.ops[k].words);
    if (!missing.empty()) {
      raise(w, FaultKind::Trap, missing + "; M0 moves the index");
      return;
    }
    moved.ops[k].index = uint16_t(file + index);
  }
  moved.handler(moved, w);
}

std::string Workgroup::missingNow(const Instruction &inst,
                                  const Wave &w) const {
  const InstructionInfo &info = launch.program->info[inst.index];
  std::string missing = missingRegister(*launch.kernel, info);
  const StringRef text = info.text;
  const bool movesSource = text.starts_with("s_movrels");
  // What leaves the file of registers, the instruction itself refuses.
  if (missing.empty() && (movesSource || text.starts_with("s_movreld")) &&
      w.m0() < FlatScratchLo) {
    const Operand &moved = inst.ops[movesSource ? 1 : 0];
    missing = missingRegister(*launch.kernel, RegisterFile::Scalar,
                              moved.index + w.m0(), moved.words);
    if (!missing.empty())
      missing += "; M0 moves the index";
  }
  return missing;
}

template <bool Monitored>
inline void Workgroup::step(Wave &w, const Instruction &inst) {
  w.nextPc = inst.index + 1;
  if (__builtin_expect(unallocated != nullptr, 0) &&
      unallocated->test(inst.index)) {
    if (std::string missing = missingNow(inst, w); !missing.empty()) {
      raise(w, FaultKind::Trap, std::move(missing));
      return;
    }
  }
  if constexpr (Monitored) {
    monitor->before(inst, w);
    if (__builtin_expect(w.state == WaveStatus::Failed, 0))
      return;
  }
  if (__builtin_expect(w.mode & (ModeGprIndex | ModeVskip), 0))
    stepIndexed(w);
  else
    inst.handler(inst, w);
  if constexpr (Monitored)
    if (__builtin_expect(w.state != WaveStatus::Failed, 1))
      monitor->after(inst, w);
}

template <bool Monitored> uint64_t Workgroup::runWave(Wave &w, uint64_t left) {
  const Instruction *code = launch.program->code.data();
  const Instruction *inst = code + w.pc;
  while (left && w.state == WaveStatus::Running) {
    // The next instruction is found without waiting for what the handler of
    // this one has stored: only a branch takes it from there.
    const uint32_t following = inst->index + 1;
    step<Monitored>(w, *inst);
    --left;
    if (__builtin_expect(w.state == WaveStatus::Failed, 0))
      return left;
    w.pc = w.nextPc;
    if (__builtin_expect(w.nextPc == following, 1))
      ++inst;
    else
      inst = code + w.nextPc;
  }
  return left;
}

template <bool Monitored>
Workgroup::Outcome Workgroup::runImpl(uint64_t budget) {
  uint64_t left = budget;
  auto finish = [&](Outcome outcome) {
    launch.executed.fetch_add(budget - left, std::memory_order_relaxed);
    return outcome;
  };
  const Schedule schedule = launch.options.schedule;
  const Instruction *code = launch.program->code.data();
  auto advance = [&](Wave &w) {
    step<Monitored>(w, code[w.pc]);
    if (__builtin_expect(w.state != WaveStatus::Failed, 1))
      w.pc = w.nextPc;
  };
  while (true) {
    // Waves that can run now.
    unsigned runnable = 0, lastRunnable = 0;
    for (unsigned i = 0; i < waves.size(); ++i)
      if (waves[i].state == WaveStatus::Running) {
        ++runnable;
        lastRunnable = i;
      }
    if (!runnable) {
      if (releaseBarrier())
        continue;
      return finish(Outcome::Done);
    }
    if (left == 0 || launch.stop.load(std::memory_order_relaxed))
      return finish(Outcome::Yielded);

    auto watched = [&](Wave &w) {
      const Instruction &inst = code[w.pc];
      if (launch.params.observer)
        observe(w);
      const bool isIt = isTraced &&
                        w.context->index == launch.params.traceWave &&
                        w.context->executed >= launch.params.traceFrom &&
                        w.context->executed < launch.params.traceUntil;
      if (isIt) {
        traceBefore = std::make_unique<Wave>(w);
        const InstructionInfo &info = launch.program->info[w.pc];
        traceRows.clear();
        for (const RegisterRange &r : info.writes)
          if (r.file == RegisterFile::Vector)
            traceRows.insert(traceRows.end(), w.row(r.first),
                             w.row(r.first) + r.count * w.laneCount);
      }
      advance(w);
      ++w.context->executed;
      if (isIt)
        trace(w, inst);
    };

    if (runnable == 1 || schedule == Schedule::ToBarrier) {
      // One wave alone, or one after the other up to the barrier.
      for (unsigned i = 0; i < waves.size() && left; ++i) {
        Wave &w = waves[i];
        if (w.state != WaveStatus::Running ||
            (runnable == 1 && i != lastRunnable))
          continue;
        if (isWatched)
          for (; left && w.state == WaveStatus::Running; --left)
            watched(w);
        else
          left = runWave<Monitored>(w, left);
        if (w.state == WaveStatus::Failed) {
          failed = &w;
          return finish(Outcome::Failed);
        }
      }
      continue;
    }

    if (schedule == Schedule::Random) {
      unsigned pick = unsigned(random() % runnable);
      for (Wave &w : waves)
        if (w.state == WaveStatus::Running && pick-- == 0) {
          // A burst of random length, so that waves drift far apart.
          for (uint64_t burst = random() % 16 + 1;
               burst && left && w.state == WaveStatus::Running;
               --burst, --left) {
            if (isWatched)
              watched(w);
            else
              advance(w);
          }
          if (w.state == WaveStatus::Failed) {
            failed = &w;
            return finish(Outcome::Failed);
          }
          break;
        }
      continue;
    }

    // Round robin, an instruction each, until some wave stops.
    bool stopped = false;
    while (!stopped && left) {
      for (Wave &w : waves) {
        if (w.state != WaveStatus::Running)
          continue;
        if (isWatched)
          watched(w);
        else
          advance(w);
        if (left)
          --left;
        if (__builtin_expect(w.state != WaveStatus::Running, 0)) {
          stopped = true;
          if (w.state == WaveStatus::Failed) {
            failed = &w;
            return finish(Outcome::Failed);
          }
        }
      }
    }
  }
}

Workgroup::Outcome Workgroup::run(uint64_t budget) {
  // Memory handlers find the monitor by themselves; only the other checkers
  // and the counters look at every instruction.
  const bool watchesAll =
      monitor && ((launch.options.checks & ~CheckMemory) || launch.counters);
  const Outcome outcome =
      watchesAll ? runImpl<true>(budget) : runImpl<false>(budget);
  if (outcome == Outcome::Done && monitor)
    monitor->endGroup();
  return outcome;
}

void Workgroup::observe(const Wave &w) {
  const InstructionInfo &info = launch.program->info[w.pc];
  WaveStep step;
  step.workgroup = linear;
  step.wave = w.context->index;
  step.pc = info.pc;
  step.text = info.text;
  step.exec = w.exec();
  step.scalars = ArrayRef(w.scalarFile, unsigned(NumScalarRegisters));
  step.vectors = ArrayRef(w.row(0), size_t(AccumulationBase) * w.laneCount);
  step.lanes = w.laneCount;
  launch.params.observer->step(step);
}

/// Prints one executed instruction and what it changed.
void Workgroup::trace(const Wave &w, const Instruction &inst) {
  raw_ostream &os = *launch.params.traceTo;
  const InstructionInfo &info = launch.program->info[inst.index];
  os << formatv("{0,6}  {1,8:x-}  {2}\n", w.context->executed - 1, info.pc,
                info.text);
  const Wave &old = *traceBefore;
  for (unsigned i = 0; i < NumScalarRegisters; ++i)
    if (w.scalarFile[i] != old.scalarFile[i]) {
      const std::string name = registerName(RegisterFile::Scalar, i);
      os << formatv("        {0} = {1:x8}\n", name, w.scalarFile[i]);
    }
  if (w.scc != old.scc)
    os << "        scc = " << (w.scc ? 1 : 0) << "\n";
  if (w.mode != old.mode)
    os << formatv("        mode = {0:x8}\n", w.mode);
  size_t position = 0;
  for (const RegisterRange &r : info.writes) {
    if (r.file != RegisterFile::Vector)
      continue;
    for (unsigned k = 0; k < r.count; ++k) {
      const unsigned row = r.first + k;
      bool changed = false;
      for (unsigned l = 0; l < w.laneCount; ++l)
        changed |= w.row(row)[l] != traceRows[position + l];
      position += w.laneCount;
      if (!changed)
        continue;
      os << "        " << (row >= AccumulationBase ? "a" : "v")
         << row % AccumulationBase << " =";
      for (unsigned l = 0; l < w.laneCount; ++l) {
        if (l && l % 8 == 0)
          os << "\n            ";
        os << formatv(" {0:x-8}", w.row(row)[l]);
      }
      os << "\n";
    }
  }
}

} // namespace netra::sim
