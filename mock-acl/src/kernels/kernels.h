/* Kernels of the program: binaries, functions, argument lists, launches, symbols; and the tasks that make random
 * numbers.
 *
 * Uses streams, memory, graphs for tasks that are replaced, devices for limits, and the engine. The control
 * interface alone uses it. */
#ifndef MOCK_KERNELS_KERNELS_H_
#define MOCK_KERNELS_KERNELS_H_

#include "base/base.h"

/* ---- kernels/binary.c ---- */
uint64_t mock_live_binaries(void);
void mock_kernels_reset(void);

#endif
