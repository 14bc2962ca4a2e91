/*===- netra/hipsim.h - What the simulator adds to HIP ----------------------===
 *
 * SPDX-License-Identifier: MIT
 *
 *===----------------------------------------------------------------------===
 *
 * libnetra_hipsim.so exports HIP's C interface over a simulated gfx950 device.
 * These functions, which AMD's library does not have, set its options and read
 * what it found. A program that links neither can look them up with dlsym.
 * lib/netra/hip holds the library under the names of AMD's.
 *
 * Every option can also be set by the environment, read once at the first call
 * into the library:
 *
 *   option             environment                   value
 *   check              NETRA_SIM_CHECK               all, none, or a list of
 *                                                    memory, init, wait,
 *                                                    hazard, race, barrier
 *   mfma               NETRA_SIM_MFMA                cdna3, sequential
 *   schedule           NETRA_SIM_SCHEDULE            round-robin, to-barrier,
 *                                                    random, random:SEED
 *   workgroup_order    NETRA_SIM_WORKGROUP_ORDER     forward, reverse,
 *                                                    random, random:SEED
 *   memory_limit       NETRA_SIM_MEMORY_LIMIT        bytes; k, m, g allowed
 *   instruction_limit  NETRA_SIM_INSTRUCTION_LIMIT   instructions per launch
 *   threads            NETRA_SIM_THREADS             0: one per core
 *   report_limit       NETRA_SIM_REPORT_LIMIT        findings kept per launch
 *   timeout            NETRA_SIM_TIMEOUT             seconds per launch
 *   counters           -                             on, off
 *   record             -                             on, off: keep launches
 *                                                    for netra_hipsim_launches
 *   report             NETRA_SIM_REPORT              file for findings as text
 *   -                  NETRA_SIM_COUNTERS            file for launches as JSON,
 *                                                    written at exit; implies
 *                                                    counters, record
 *
 * A finding of a checker does not stop a kernel. It makes the next
 * synchronisation with its stream return hipErrorLaunchFailure, or
 * hipErrorIllegalAddress when it concerns memory, once; the text goes to stderr
 * and to the report file. Unlike on hardware, the device stays usable
 * afterwards.
 *
 * All functions may be called from any thread. Options apply to launches that
 * start after they are set: synchronise first.
 *
 *===----------------------------------------------------------------------===*/

#ifndef NETRA_HIPSIM_H
#define NETRA_HIPSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* hipSuccess, or hipErrorInvalidValue with a sentence in
 * netra_hipsim_message. */
int netra_hipsim_set_option(const char *name, const char *value);

/* Why the last failing call of this thread into the library failed, or "".
 * Valid until the next failing call of the thread. */
const char *netra_hipsim_message(void);

/* The recorded launches as a JSON array, oldest first: kernel, grid, block,
 * dynamic_lds, milliseconds, error, findings, suppressed_findings and, when
 * counted, counters. Writes at most `size` bytes with the terminating NUL, and
 * returns the number of bytes the whole text needs without it. */
size_t netra_hipsim_launches(char *buffer, size_t size);

/* Findings and faults since the start or the last clear. */
uint64_t netra_hipsim_finding_count(void);

/* Forgets recorded launches and findings. */
void netra_hipsim_clear(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NETRA_HIPSIM_H */
