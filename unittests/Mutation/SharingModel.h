//===- SharingModel.h - Which bytes do waves share? -------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Answers from a recording whether waves touch the same bytes in a way that
// depends on their order, with or without a barrier. The rule, which does not
// ask the simulator's checkers:
//
//  - accesses of two waves of a work-group are ordered when one lies in an
//    earlier interval between barriers than the other; a barrier that is left
//    out makes one interval of two;
//  - unordered accesses to the same bytes make the result depend on timing
//    when one of them writes, unless both are atomic operations or accesses at
//    device or system scope;
//  - waves without a common number of barriers do not meet at all;
//  - a barrier also lets a wave tell other work-groups, or learn from them, on
//    behalf of another wave: that matters when the other wave accesses, in the
//    same interval, bytes in which work-groups conflict.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MUTATION_SHARINGMODEL_H
#define NETRA_UNITTESTS_MUTATION_SHARINGMODEL_H

#include "Recording.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <tuple>

namespace netra::mutation {

class SharingModel {
public:
  explicit SharingModel(const Recording &recording);

  /// Why the program without the barrier at `pc` can give another result; ""
  /// when it cannot.
  std::string barrierCanChange(uint64_t pc) const;

  /// Two accesses of the recorded execution that nothing orders, in words; ""
  /// when there are none, or when the program orders waves by more than
  /// barriers, which this does not follow.
  std::string race() const;

  /// Whether another wave of the group accesses the bytes of `access` in an
  /// interval from `first` to `last`, so that the order matters, by an access
  /// that counts.
  bool isUsedByOthers(uint64_t group, unsigned wave, const Access &access,
                      uint64_t first, uint64_t last,
                      llvm::function_ref<bool(const Access &)> counts) const;

  /// Whether work-groups conflict in bytes of the access.
  bool isSharedByGroups(const Access &access) const;

private:
  /// A range that a wave, or a work-group, touches.
  struct Item {
    ByteRange range;
    unsigned owner;
    Use use;
    unsigned operation;
    bool operator<(const Item &other) const {
      return std::tie(range.begin, range.end, owner, use) <
             std::tie(other.range.begin, other.range.end, other.owner,
                      other.use);
    }
  };
  using Visitor = std::function<bool(const Item &, const Item &)>;
  static void addItems(const Access &access, unsigned owner,
                       std::vector<Item> &items);
  static void visitConflicts(std::vector<Item> &items, const Visitor &visit);
  std::string describe(unsigned first, unsigned second) const;
  /// Accesses with the waves they are of.
  using OfWaves = std::vector<std::pair<unsigned, const Access *>>;
  std::string intervalCanChange(const OfWaves &accesses) const;

  const Recording &recording;
  std::vector<ByteRange> shared; ///< by work-groups
  std::string sharedBy;          ///< the first conflict, in words
  bool sharesEverything = false;
};

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_SHARINGMODEL_H
