//===- FakeHip.h - Control of the fake HIP library --------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A HIP library for tests: executes the one test kernel on host memory, counts
// what is alive, and fails where it is told to. The test looks these functions
// up in the library that the runtime has opened.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_RUNTIME_FAKEHIP_H
#define NETRA_UNITTESTS_RUNTIME_FAKEHIP_H

#include <cstdint>

extern "C" {
/// From now on the `nth` call (from 0) of `function` ("hipMalloc") fails with
/// hipErrorUnknown, or the code last set; nullptr: none.
void fakeHipFail(const char *function, int nth);
void fakeHipFailCode(int code);
/// Whether the failure has happened.
int fakeHipHasFailed();
/// Modules, allocations, streams, events, graphs and executables in existence.
int fakeHipLive();
/// Calls of `function` since the library was opened.
int fakeHipCalls(const char *function);
/// What the device says it is.
void fakeHipDevice(const char *architecture, int waveSize);
}

#endif // NETRA_UNITTESTS_RUNTIME_FAKEHIP_H
