//===- Interrupts.cpp - Ending a tool by a signal -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Interrupts.h"

#include <csignal>
#include <thread>

void netra::tool::treatFileSizeLimitAsError() {
  // Blocked, not ignored: LLVM installs a handler when it first opens a file
  // that is to vanish on signals.
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
}

void netra::tool::cleanUpOnInterrupt(std::function<void()> cleanUp) {
  sigset_t waited;
  sigemptyset(&waited);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 &&
        action.sa_handler != SIG_IGN)
      sigaddset(&waited, number);
  }
  // Threads inherit the mask, so that only the one below sees these signals.
  pthread_sigmask(SIG_BLOCK, &waited, nullptr);
  std::thread([waited, cleanUp = std::move(cleanUp)] {
    int number = 0;
    if (sigwait(&waited, &number) != 0)
      return;
    cleanUp();
    std::signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &waited, nullptr);
    std::raise(number);
  }).detach();
}
