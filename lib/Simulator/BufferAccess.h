//===- BufferAccess.h - Addresses through a buffer descriptor ---*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// What typed and untyped buffer instructions share: the descriptor and the way
// from index and offsets to addresses. Operands: data, vector address (index
// and/or offset), descriptor, scalar offset. Loads to LDS have no data operand.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_BUFFERACCESS_H
#define NETRA_LIB_SIMULATOR_BUFFERACCESS_H

#include "VectorAccess.h"

namespace netra::sim {

struct BufferDescriptor {
  uint64_t base = 0;
  uint32_t stride = 0, records = 0;
  uint8_t select[4] = {}; ///< of each component: 0, 1, or 4 + a channel
  uint8_t dataFormat = 0, numberFormat = 0;
  bool isSwizzled = false, addsThreadId = false;
  unsigned indexStride = 8;

  BufferDescriptor(const Operand &op, const Wave &w);
};

/// Addresses of the active lanes; lanes out of the descriptor's range are left
/// out of `active` and collected in `outOfRange`. For raw buffers, `words[l]`
/// counts the dwords of a wide access that are inside.
struct BufferAccess : LaneAccess {
  uint64_t outOfRange = 0;
  uint64_t partial = 0; ///< lanes with only the first dwords in range
  uint8_t words[MaxLanes];
};

/// How an instruction uses the descriptor's format.
enum class BufferFormatUse : uint8_t {
  None,        ///< the opcode says what is accessed
  Instruction, ///< typed: the instruction has a format of its own
  Resource     ///< format instructions: the descriptor's
};

/// Finds the addresses of an access of `bytes`. `vector` is the position of the
/// vector address among the operands. Returns false when the wave has failed.
bool locateBuffer(const Instruction &inst, Wave &w, unsigned vector,
                  BufferAccess &access, unsigned bytes,
                  BufferFormatUse use = BufferFormatUse::None);

/// buffer_load_format_*, buffer_store_format_*, tbuffer_*.
void registerBufferFormats(SemanticsTable &table);

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_BUFFERACCESS_H
