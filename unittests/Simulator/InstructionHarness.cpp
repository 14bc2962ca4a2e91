//===- InstructionHarness.cpp - runs single instructions ------------------===//
// SPDX-License-Identifier: MIT
#include "InstructionHarness.h"

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace netra::sim::test {

std::vector<uint8_t> assemble(const std::string &source) {
  static const bool initialized = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    return true;
  }();
  (void)initialized;
  Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    ADD_FAILURE() << error;
    return {};
  }
  SourceMgr sources;
  std::string diagnostics;
  raw_string_ostream diagnosticStream(diagnostics);
  sources.setDiagHandler(
      [](const SMDiagnostic &d, void *out) {
        d.print(nullptr, *static_cast<raw_string_ostream *>(out), false);
      },
      &diagnosticStream);
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(source), SMLoc());
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "gfx950", ""));
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(),
                    &sources, &options);
  std::unique_ptr<MCObjectFileInfo> objectInfo(
      target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(objectInfo.get());
  SmallVector<char, 0> bytes;
  raw_svector_ostream out(bytes);
  std::unique_ptr<MCCodeEmitter> emitter(
      target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCObjectWriter> writer(backend->createObjectWriter(out));
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false)) {
    ADD_FAILURE() << diagnostics;
    return {};
  }
  auto object = object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "test"));
  if (!object) {
    ADD_FAILURE() << toString(object.takeError());
    return {};
  }
  for (const object::SectionRef &section : (*object)->sections())
    if (section.isText()) {
      Expected<StringRef> contents = section.getContents();
      if (contents)
        return {contents->bytes_begin(), contents->bytes_end()};
      ADD_FAILURE() << toString(contents.takeError());
    }
  return {};
}

std::set<std::string> &testedMnemonics() {
  static std::set<std::string> set;
  return set;
}

Sequence::Sequence(const std::vector<std::string> &lines,
                   MatrixArithmetic arithmetic)
    : count(lines.size()) {
  std::string source;
  for (const std::string &line : lines)
    source += line + "\n";
  std::vector<uint8_t> bytes = assemble(source);
  TextRange range{0, bytes};
  Expected<std::shared_ptr<const Program>> decoded =
      Program::decode(range, {0}, "gfx950", arithmetic);
  if (!decoded) {
    ADD_FAILURE() << toString(decoded.takeError());
    count = 0;
    return;
  }
  program = *decoded;
  if (program->code.size() < count) {
    ADD_FAILURE() << "decoded " << program->code.size() << " instructions of "
                  << count;
    count = 0;
  }
}

Machine::Machine()
    : file(static_cast<uint32_t *>(
               std::aligned_alloc(64, NumVectorRows * MaxLanes * 4)),
           [](uint32_t *p) { std::free(p); }) {
  std::memset(file.get(), 0, NumVectorRows * MaxLanes * 4);
  wave.vectorFile = file.get();
  wave.mode = PlainMode;
  wave.setExec(~0ull);
}

void Machine::run(const Instruction &instruction) {
  ASSERT_NE(instruction.handler, nullptr);
  instruction.handler(instruction, wave);
  ASSERT_EQ(wave.state, WaveStatus::Running) << wave.error;
}

MemoryMachine::MemoryMachine()
    : ldsBytes(Bytes), scratchBytes(PrivateBytes * MaxLanes) {
  Expected<uint64_t> allocated =
      device.allocate(Bytes, "memory", /*track=*/false);
  if (!allocated) {
    ADD_FAILURE() << toString(allocated.takeError());
    return;
  }
  address = *allocated;
  std::memset(memory(), 0, Bytes);
  context.launch = &launch;
  context.memory = &device;
  context.lds = lds();
  context.ldsBytes = Bytes;
  context.scratch = scratchBytes.data();
  context.scratchBytes = PrivateBytes;
  wave.context = &context;
}

void Machine::run(const std::string &line) {
  Sequence sequence({line});
  ASSERT_EQ(sequence.size(), 1u) << line;
  ASSERT_EQ(sequence.problem(0), "") << line;
  run(sequence[0]);
}

} // namespace netra::sim::test
