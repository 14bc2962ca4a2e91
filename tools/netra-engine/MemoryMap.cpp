//===- MemoryMap.cpp - Plans of an engine's arena as text and drawing -----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MemoryMap.h"

#include "Arguments.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace netra;
using namespace netra::tool;
using llvm::formatv;

namespace {

/// One value in the arena, by what the steps touch.
struct Buffer {
  uint64_t offset = 0, bytes = 0;
  std::string uses; // one character per step: W written, r read, - kept
};

template <typename Visitor>
void forEachArenaUse(const Engine &engine, const EngineStep &step,
                     Visitor visit) {
  if (step.kind == EngineStep::Kind::Fallback) {
    for (const EngineOperand &input : step.inputs)
      if (input.slot.kind == EngineSlot::Kind::Arena)
        visit(input.slot, false);
    for (const EngineOperand &output : step.outputs)
      if (output.slot.kind == EngineSlot::Kind::Arena)
        visit(output.slot, true);
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

std::string boundText(const Engine &engine, const EnginePlan &plan) {
  const uint64_t least = getArenaLowerBound(engine, plan);
  return formatv(
      "at least {0} bytes are live at once, {1:f3} times that", least,
      double(plan.arenaBytes) / double(std::max<uint64_t>(least, 1)));
}

} // namespace

std::string netra::tool::describeMemory(const Engine &engine,
                                        const EnginePlan &plan) {
  std::string text =
      formatv("  memory: arena of {0} bytes ({1}), aligned to {2}\n",
              plan.arenaBytes, byteCount(plan.arenaBytes), plan.arenaAlignment);
  std::vector<Buffer> buffers = arenaBuffers(engine, plan);
  if (buffers.empty())
    return text;
  text += "  " + boundText(engine, plan) + "\n";
  std::string ruler;
  for (size_t i = 0; i < plan.steps.size(); ++i)
    ruler += char('0' + i % 10);
  text += formatv("    {0,10} {1,10}  step {2}\n", "offset", "bytes", ruler);
  for (const Buffer &buffer : buffers)
    text += formatv("    {0,10} {1,10}       {2}\n", buffer.offset,
                    buffer.bytes, buffer.uses);
  return text + "    (W written, r read, - kept)\n";
}

static std::string escapeXml(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '&'   ? "&amp;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

std::string netra::tool::drawMemory(const Engine &engine,
                                    const EnginePlan &plan) {
  constexpr unsigned left = 90, top = 48, bottom = 30, height = 480;
  const size_t steps = std::max<size_t>(plan.steps.size(), 1);
  // Short plans get room for names, long ones still fit a page.
  const double column = std::max(1.5, std::min(60.0, 1200.0 / double(steps)));
  // The title has to fit, too.
  const double width = std::max(column * double(steps), 420.0);
  const std::vector<Buffer> buffers = arenaBuffers(engine, plan);
  const double bytes = double(std::max<uint64_t>(plan.arenaBytes, 1));
  auto x = [&](double step) { return left + step * column; };
  auto y = [&](double address) { return top + height * (1 - address / bytes); };
  std::string svg = formatv(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:f1}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<text x=\"8\" y=\"16\" font-size=\"14\">arena of {3}: {4} bytes, {5} "
      "steps</text>\n"
      "<text x=\"8\" y=\"32\">{9}</text>\n"
      "<rect x=\"{2}\" y=\"{6}\" width=\"{7:f1}\" height=\"{8}\" "
      "fill=\"none\" stroke=\"#888\"/>\n",
      left + width + 20, top + height + bottom, left, escapeXml(plan.name),
      plan.arenaBytes, plan.steps.size(), top, width, height,
      buffers.empty() ? "nothing is in it" : boundText(engine, plan));
  for (unsigned quarter = 0; quarter <= (plan.arenaBytes ? 4 : 0); ++quarter) {
    uint64_t address = plan.arenaBytes / 4 * quarter;
    svg += formatv("<text x=\"{0}\" y=\"{1:f1}\" text-anchor=\"end\">{2}"
                   "</text>\n",
                   left - 6, y(double(address)) + 4, byteCount(address));
  }
  for (size_t step = 0; step < plan.steps.size();
       step += std::max<size_t>(1, plan.steps.size() / 20))
    svg += formatv("<text x=\"{0:f1}\" y=\"{1}\">{2}</text>\n", x(double(step)),
                   top + height + 14, step);
  for (const Buffer &buffer : buffers) {
    size_t first = buffer.uses.find('W');
    size_t last = buffer.uses.find_last_not_of(' ');
    // Hues far apart for values written one after the other.
    svg += formatv("<rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" "
                   "height=\"{3:f1}\" fill=\"hsl({4}, 60%, 70%)\" "
                   "stroke=\"#444\" stroke-width=\"0.5\"><title>{5} bytes at "
                   "{6}, written by step {7} ({8})</title></rect>\n",
                   x(double(first)), y(double(buffer.offset + buffer.bytes)),
                   double(last - first + 1) * column,
                   height * double(buffer.bytes) / bytes, first * 137 % 360,
                   buffer.bytes, buffer.offset, first,
                   escapeXml(plan.steps[first].name));
  }
  return svg + "</svg>\n";
}
