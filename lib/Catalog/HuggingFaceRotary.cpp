//===- HuggingFaceRotary.cpp - Rotations in a config.json -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceRotary.h"

using namespace llvm;

namespace netra::config {
namespace {

constexpr NumberRange scalingRange = {1, 1e30, "a number from 1 to 1e30"};

/// What the fields of one kind of layer say.
struct Rotation {
  Rotation(double theta, double part)
      : theta(theta), part(part),
        // A class that rotates whole heads cannot compute anything else.
        partRange(part == 1 ? wholeRange : fractionRange) {}

  void read(const Reader &reader) {
    ObjectReader object(reader);
    if (!object.isValid())
      return;
    bool hasKind = false, isClear = true;
    auto sayKind = [&](const Reader &member, std::optional<std::string> said,
                       const std::string &text) {
      kind.say(member, said, text);
      hasKind = true;
      isClear &= said == kind.get();
    };
    for (StringRef key : {"type", "rope_type"})
      if (std::optional<Reader> member = set(object, key); member && isClear)
        sayKind(*member, member->choice({"default", "linear", "llama3"}),
                json::describe(member->get()));
    // Which is a kind as well.
    if (!hasKind)
      sayKind(reader, "default", "no rope_type, which means \"default\"");
    sayShares(object);
    // Which other fields there may be depends on the kind.
    if (!isClear)
      return;
    // The three sections of multimodal positions rotate text tokens alike.
    skip(object, {"mrope_section", "mrope_interleaved"});
    if (kind.get() != "default")
      sayNeeded(object, "factor", factor, scalingRange);
    if (kind.get() == "llama3") {
      sayNeeded(object, "low_freq_factor", low, positiveRange);
      sayNeeded(object, "high_freq_factor", high, positiveRange);
      if (std::optional<Reader> member =
              object.required("original_max_position_embeddings"))
        positions.say(*member, member->integer(1, maxExtent));
    }
    object.finish();
  }

  /// `pointer` is that of the rotation in a manifest.
  RotaryModel make(int64_t headDim, const std::string &pointer,
                   FieldNames &names) const {
    RotaryModel rotary;
    rotary.dimensions = int64_t(part.get() * double(headDim));
    rotary.theta = theta.get();
    if (!part.getPointer().empty())
      names[pointer + "/dimensions"] = part.getPointer().str();
    if (kind.get() == "default")
      return rotary;
    rotary.scaling = kind.get();
    rotary.factor = factor.get();
    rotary.lowFrequencyFactor = low.get();
    rotary.highFrequencyFactor = high.get();
    rotary.originalPositions = positions.get();
    names[pointer + "/low_frequency_factor"] = low.getPointer().str();
    names[pointer + "/high_frequency_factor"] = high.getPointer().str();
    return rotary;
  }

  /// What does not depend on the kind, and older configurations say outside.
  void sayShares(ObjectReader &object) {
    theta.sayNumber(object, "rope_theta", thetaRange);
    part.sayNumber(object, "partial_rotary_factor", partRange);
  }

  Agreed<double> theta, part;

private:
  static void sayNeeded(ObjectReader &object, StringRef key,
                        Agreed<double> &number, const NumberRange &range) {
    if (std::optional<Reader> member = object.required(key))
      number.say(*member, readNumber(*member, range));
  }

  NumberRange partRange;
  Agreed<std::string> kind{"default"};
  Agreed<double> factor{0}, low{0}, high{0};
  Agreed<int64_t> positions{0};
};

} // namespace

void readRotary(ObjectReader &object, const HuggingFaceFamily &family,
                AttentionModel &attention, FieldNames &names) {
  const HuggingFaceDefaults &defaults = family.defaults;
  Rotation rotation(defaults.theta, defaults.rotated),
      local(defaults.windowTheta, defaults.rotated);
  rotation.sayShares(object);
  local.part = rotation.part;
  if (family.windowRotary)
    local.theta.sayNumber(object, "rope_local_base_freq", thetaRange);
  if (std::optional<Reader> member = set(object, "rope_parameters")) {
    if (family.windowRotary && member->get().is_object() &&
        member->get().contains("full_attention")) {
      // By kind of layer.
      ObjectReader kinds(*member);
      if (std::optional<Reader> kind = kinds.required("full_attention"))
        rotation.read(*kind);
      if (std::optional<Reader> kind = kinds.required("sliding_attention"))
        local.read(*kind);
      kinds.finish();
    } else {
      rotation.read(*member);
    }
  }
  // Layers with windows have nothing to scale.
  if (std::optional<Reader> member = set(object, "rope_scaling"))
    rotation.read(*member);
  attention.rotary =
      rotation.make(attention.headDim, "/attention/rotary", names);
  if (family.windowRotary)
    attention.windowRotary =
        local.make(attention.headDim, "/attention/window_rotary", names);
}

} // namespace netra::config
