/* Profiling sessions, marks and traces, and dumps of operators: what looks at kernels while they run.
 *
 * Uses the engine, whose kernels it watches, streams, devices, the configuration of contexts, the operands of
 * objects, and models for sizes of types. The control interface resets it. */
#ifndef MOCK_PROFILING_PROFILING_H_
#define MOCK_PROFILING_PROFILING_H_

#include "base/base.h"

/* ---- profiling/dump.c ---- */
void mock_dump_reset(void);

/* ---- profiling/mstx.c ---- */
void mock_mstx_reset(void);

/* ---- profiling/session.c ---- */
void mock_profiling_reset(void);

#endif
