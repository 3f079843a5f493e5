/* What looks at kernels while they run: profiling and dumps. */
#ifndef MOCK_PROFILING_WATCH_H_
#define MOCK_PROFILING_WATCH_H_

#include "base/base.h"

#define MOCK_WATCH_TRACE 1u
#define MOCK_WATCH_DUMP 2u
#define MOCK_WATCH_SHAPES 4u

/* The operands of a kernel that reads or has written them; `plan` is that of its executor. */
void mock_dump_operands(const char *function, const void *plan, uint64_t number, bool outputs);
uint64_t mock_dump_number(void);
void mock_dump_shapes(const char *function, const void *plan);

/* Where a kernel ran, and when it was queued, of mock_told: 0 for one of a graph. */
typedef struct mock_ran {
    int32_t stream, device;
    uint32_t graph, told;
} mock_ran;
void mock_trace_kernel(const char *function, const mock_ran *ran);

void mock_watch_set(uint32_t bit, bool on);

#endif
