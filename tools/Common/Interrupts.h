//===- Interrupts.h - Ending a tool by a signal -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_COMMON_INTERRUPTS_H
#define NETRA_TOOLS_COMMON_INTERRUPTS_H

#include <functional>

namespace netra::tool {

/// Calls \p cleanUp when SIGINT, SIGTERM or SIGHUP arrives, in a thread of its
/// own, and then ends the process as the signal does by default. A signal that
/// is ignored stays so. To be called once, before any other thread is started.
void cleanUpOnInterrupt(std::function<void()> cleanUp);

/// From here on, writing beyond the size that files may have (`ulimit -f`)
/// fails as on a full disk, instead of ending the process with half a file. To
/// be called before any other thread is started.
void treatFileSizeLimitAsError();

} // namespace netra::tool

#endif // NETRA_TOOLS_COMMON_INTERRUPTS_H
