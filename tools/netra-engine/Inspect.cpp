//===- Inspect.cpp - netra-engine inspect ---------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Netra/Target/Bundle.h"

#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstdio>

using namespace netra;
using namespace netra::tool;

namespace {

std::string dimensions(const std::array<uint64_t, 3> &value) {
  return std::to_string(value[0]) + "x" + std::to_string(value[1]) + "x" +
         std::to_string(value[2]);
}

std::string guardText(const EngineProfile &profile) {
  std::string text;
  for (const auto &[name, range] : profile.guards) {
    text +=
        (text.empty() ? "" : ", ") + name + " = " + std::to_string(range.min);
    if (range.max != range.min)
      text += ".." + std::to_string(range.max);
  }
  return text.empty() ? "any shape" : text;
}

const char *roleName(BindingRole role) {
  return role == BindingRole::Input    ? "input"
         : role == BindingRole::Output ? "output"
                                       : "state";
}

/// One value in the arena, by what the steps touch.
struct Buffer {
  uint64_t offset = 0, bytes = 0;
  std::string uses; // one character per step: W written, r read, - kept
};

template <typename Visitor>
void forEachArenaUse(const Engine &engine, const EngineStep &step,
                     Visitor visit) {
  if (step.kind == EngineStep::Kind::Fallback) {
    for (const EngineSlot &slot : step.inputs)
      if (slot.kind == EngineSlot::Kind::Arena)
        visit(slot, false);
    for (const EngineSlot &slot : step.outputs)
      if (slot.kind == EngineSlot::Kind::Arena)
        visit(slot, true);
    return;
  }
  if (step.codeObject >= engine.codeObjects.size() ||
      step.kernel >= engine.codeObjects[step.codeObject].kernels.size())
    return;
  const auto &arguments =
      engine.codeObjects[step.codeObject].kernels[step.kernel].arguments;
  for (size_t i = 0; i < std::min(arguments.size(), step.arguments.size()); ++i)
    if (step.arguments[i].kind == EngineSlot::Kind::Arena)
      visit(step.arguments[i], arguments[i].access != Access::Read);
}

std::vector<Buffer> arenaBuffers(const Engine &engine, const EnginePlan &plan) {
  std::vector<Buffer> buffers;
  size_t count = plan.steps.size();
  // The value that a read of a step sees was written by an earlier step.
  auto findValue = [&](const EngineSlot &slot) -> Buffer * {
    for (size_t i = buffers.size(); i-- > 0;)
      if (buffers[i].offset <= slot.offset &&
          slot.offset - buffers[i].offset <
              std::max<uint64_t>(buffers[i].bytes, 1))
        return &buffers[i];
    return nullptr;
  };
  for (size_t step = 0; step < count; ++step) {
    forEachArenaUse(engine, plan.steps[step],
                    [&](const EngineSlot &slot, bool writes) {
                      if (writes)
                        return;
                      if (Buffer *buffer = findValue(slot))
                        buffer->uses[step] = 'r';
                    });
    forEachArenaUse(
        engine, plan.steps[step], [&](const EngineSlot &slot, bool writes) {
          if (!writes)
            return;
          Buffer buffer = {slot.offset, slot.bytes, std::string(count, ' ')};
          buffer.uses[step] = 'W';
          buffers.push_back(std::move(buffer));
        });
  }
  for (Buffer &buffer : buffers) {
    size_t last = buffer.uses.find_last_not_of(' ');
    for (size_t i = buffer.uses.find('W') + 1; i < last; ++i)
      if (buffer.uses[i] == ' ')
        buffer.uses[i] = '-';
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const Buffer &a, const Buffer &b) {
              return std::pair(a.offset, a.uses.find('W')) <
                     std::pair(b.offset, b.uses.find('W'));
            });
  return buffers;
}

void printMemory(const Engine &engine, const EnginePlan &plan) {
  std::printf("\n  memory: arena of %llu bytes (%s), aligned to %llu\n",
              (unsigned long long)plan.arenaBytes,
              byteCount(plan.arenaBytes).c_str(),
              (unsigned long long)plan.arenaAlignment);
  std::vector<Buffer> buffers = arenaBuffers(engine, plan);
  if (buffers.empty())
    return;
  std::string ruler;
  for (size_t i = 0; i < plan.steps.size(); ++i)
    ruler += char('0' + i % 10);
  std::printf("    %10s %10s  step %s\n", "offset", "bytes", ruler.c_str());
  for (const Buffer &buffer : buffers)
    std::printf("    %10llu %10llu       %s\n",
                (unsigned long long)buffer.offset,
                (unsigned long long)buffer.bytes, buffer.uses.c_str());
  std::printf("    (W written, r read, - kept)\n");
}

void printPlan(const Engine &engine, const EnginePlan &plan) {
  std::printf("\nplan %s: profile %s, priority %lld, for %s\n",
              plan.name.c_str(), plan.profile.name.c_str(),
              (long long)plan.profile.priority,
              guardText(plan.profile).c_str());
  std::printf("  %4s  %-28s %-16s %-10s %-28s %s\n", "step", "name", "grid",
              "block", "tactic", "waits for");
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const EngineStep &step = plan.steps[i];
    std::string after;
    for (uint64_t before : step.after)
      after += (after.empty() ? "" : ",") + std::to_string(before);
    if (after.empty())
      after = "-";
    if (step.kind == EngineStep::Kind::Fallback)
      std::printf("  %4zu  %-28s falls back to %s: %s (after %s)\n", i,
                  step.name.c_str(), step.operation.c_str(),
                  step.reason.c_str(), after.c_str());
    else
      std::printf("  %4zu  %-28s %-16s %-10s %-28s %s\n", i, step.name.c_str(),
                  dimensions(step.grid).c_str(), dimensions(step.block).c_str(),
                  step.tactic.c_str(), after.c_str());
  }
  printMemory(engine, plan);
}

void printEngine(const Engine &engine) {
  uint64_t fileBytes = 0;
  for (const EngineFile &file : engine.files)
    fileBytes += file.bytes;
  std::printf("engine %s, id %s\n", engine.name.c_str(), engine.id.c_str());
  std::printf("  target        %s, wave %llu, code object version %llu\n",
              engine.architecture.c_str(), (unsigned long long)engine.waveSize,
              (unsigned long long)engine.codeObjectVersion);
  std::printf("  files         %zu, %s\n", engine.files.size() + 1,
              byteCount(fileBytes).c_str());
  std::printf(
      "  weights       %s in %zu tensors%s%s\n",
      byteCount(engine.weights.bytes).c_str(), engine.weights.entries.size(),
      engine.weights.id.empty() ? "" : ", id ", engine.weights.id.c_str());

  std::printf("\nbindings\n");
  for (const EngineBinding &binding : engine.bindings)
    std::printf("  %-6s %llu  %-20s %-24s %-12s %llu bytes\n",
                roleName(binding.role), (unsigned long long)binding.index,
                binding.name.c_str(),
                tensorName(binding.type, binding.shape).c_str(),
                binding.layout.c_str(), (unsigned long long)binding.bytes);

  if (!engine.weights.entries.empty()) {
    std::printf("\nweights\n");
    for (const EngineWeight &weight : engine.weights.entries) {
      std::string sources;
      for (const PackSource &source : weight.pack.sources)
        sources += (sources.empty() ? "" : " + ") + source.checkpoint;
      std::printf("  %12llu  %-20s %-24s %-12s from %s\n",
                  (unsigned long long)weight.offset, weight.name.c_str(),
                  tensorName(weight.type, weight.shape).c_str(),
                  weight.layout.c_str(), sources.c_str());
    }
  }

  std::printf("\ncode objects\n");
  for (const EngineCodeObject &object : engine.codeObjects)
    for (const EngineKernel &kernel : object.kernels)
      std::printf("  %-6s %s\n         VGPRs %llu, AGPRs %llu, SGPRs %llu, LDS "
                  "%llu, arguments %zu in %llu bytes\n",
                  object.name.c_str(), kernel.symbol.c_str(),
                  (unsigned long long)kernel.vgprs,
                  (unsigned long long)kernel.agprs,
                  (unsigned long long)kernel.sgprs,
                  (unsigned long long)kernel.staticLds, kernel.arguments.size(),
                  (unsigned long long)kernel.kernargBytes);

  for (const EnginePlan &plan : engine.plans)
    printPlan(engine, plan);
}

} // namespace

int netra::tool::inspectMain(int argc, char **argv) {
  Arguments arguments("inspect",
                      "Prints what an engine holds: bindings, weights, code "
                      "objects, and for each plan its launches and its memory.",
                      "ENGINE");
  arguments.value("engine", "DIR", "the engine, instead of ENGINE");
  arguments.flag("json", "print engine.json instead");
  if (std::optional<int> code = arguments.parse(argc, argv))
    return *code;
  std::string directory = arguments.get("engine");
  if (directory.empty() && arguments.rest().size() == 1)
    directory = arguments.rest().front();
  else if (directory.empty() || !arguments.rest().empty())
    return fail("inspect: expected one engine directory", ExitUsage);

  llvm::Expected<Engine> engine = readBundle(directory);
  if (!engine)
    return fail(llvm::toString(engine.takeError()));
  if (arguments.has("json")) {
    auto text = llvm::MemoryBuffer::getFile(directory + "/engine.json");
    if (!text)
      return fail(directory + "/engine.json: " + text.getError().message());
    std::fwrite((*text)->getBufferStart(), 1, (*text)->getBufferSize(), stdout);
    return ExitSuccess;
  }
  printEngine(*engine);
  return ExitSuccess;
}
