//===- InstructionHarness.h - runs single instructions ----------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Assembles instructions with LLVM MC, decodes them with the simulator's own
// decoder and runs their handlers on a wave whose registers the test sets and
// reads. There is no control flow; memory only for those who ask for it.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_UNITTESTS_SIMULATOR_INSTRUCTIONHARNESS_H
#define NETRA_UNITTESTS_SIMULATOR_INSTRUCTIONHARNESS_H

#include "../../lib/Simulator/Execution.h"
#include "../../lib/Simulator/Program.h"
#include "../../lib/Simulator/Wave.h"

#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace netra::sim::test {

/// The machine code of \p source for gfx950; a test failure if it does not
/// assemble.
std::vector<uint8_t> assemble(const std::string &source);

/// Mnemonics, without the suffixes of encodings, of the instructions that tests
/// have taken out of a Sequence to run them.
std::set<std::string> &testedMnemonics();

/// A decoded sequence of instructions.
class Sequence {
public:
  explicit Sequence(const std::vector<std::string> &lines,
                    MatrixArithmetic arithmetic = MatrixArithmetic::Cdna3);
  size_t size() const { return count; }
  const Instruction &operator[](size_t k) const {
    testedMnemonics().insert(program->mnemonics[program->info[k].mnemonicId]);
    return program->code[k];
  }
  /// Why instruction \p k cannot run; empty if it can.
  const std::string &problem(size_t k) const {
    return program->info[k].problem;
  }
  const std::string &text(size_t k) const { return program->info[k].text; }

private:
  std::shared_ptr<const Program> program;
  size_t count = 0;
};

/// A wave with all of its registers.
class Machine {
public:
  Machine();
  uint32_t &v(unsigned row, unsigned lane) {
    return wave.vectorFile[row * wave.laneCount + lane];
  }
  uint32_t &s(unsigned index) { return wave.scalarFile[index]; }
  /// Runs one instruction.
  void run(const Instruction &instruction);
  /// Assembles and runs; for tests of few instructions.
  void run(const std::string &line);

  Wave wave;

private:
  std::unique_ptr<uint32_t[], void (*)(uint32_t *)> file;
};

/// A machine with 64 KiB each of device memory and LDS and 1 KiB of private
/// memory per lane, all zero.
class MemoryMachine : public Machine {
public:
  MemoryMachine();
  static constexpr uint32_t Bytes = 1 << 16, PrivateBytes = 1024;

  /// The address of the device memory, and all of it.
  uint64_t address = 0;
  uint8_t *memory() { return reinterpret_cast<uint8_t *>(address); }
  uint8_t *lds() { return ldsBytes.data(); }
  uint8_t *scratch(unsigned lane) {
    return scratchBytes.data() + size_t(lane) * PrivateBytes;
  }
  void setPair(unsigned row, unsigned lane, uint64_t value) {
    v(row, lane) = uint32_t(value);
    v(row + 1, lane) = uint32_t(value >> 32);
  }

private:
  DeviceMemory device;
  LaunchState launch;
  WaveContext context;
  std::vector<uint8_t> ldsBytes, scratchBytes;
};

/// MODE as kernels compiled for IEEE results have it: nearest even, denormals
/// kept, DX10_CLAMP and IEEE set.
constexpr uint32_t PlainMode = 0xf0 | ModeDx10Clamp | ModeIeee;

} // namespace netra::sim::test

#endif // NETRA_UNITTESTS_SIMULATOR_INSTRUCTIONHARNESS_H
