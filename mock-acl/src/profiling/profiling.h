/* Profiling sessions, marks and traces, and dumps of operators: what looks at kernels while they run.
 *
 * Uses the configuration of contexts and the operands of objects. */
#ifndef MOCK_PROFILING_PROFILING_H_
#define MOCK_PROFILING_PROFILING_H_

#include "base/base.h"

/* ---- profiling/dump.c ---- */
void mock_dump_reset(void);

/* ---- profiling/session.c ---- */
void mock_profiling_reset(void);

#endif
