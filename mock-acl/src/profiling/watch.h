/* What looks at kernels while they run: profiling and dumps. */
#ifndef MOCK_WATCH_H_
#define MOCK_WATCH_H_

#include "engine/core.h"

#define MOCK_WATCH_TRACE 1u
#define MOCK_WATCH_DUMP 2u
#define MOCK_WATCH_SHAPES 4u

/* The bits that are on. */
extern _Atomic uint32_t mock_watching;
void mock_watch_set(uint32_t bit, bool on);
/* Runs a kernel, and shows it to whoever looks. Without the engine's lock. */
aclError mock_watch_kernel(mock_task *t, int32_t stream, uint32_t graph);

/* profiling/session.c: a kernel ran on a stream. */
void mock_trace_kernel(const char *function, int32_t stream, uint32_t graph);
/* profiling/dump.c: the operands of a kernel that reads or has written them; `plan` is the operator part's. */
void mock_dump_operands(const char *function, const void *plan, uint64_t number, bool outputs);
uint64_t mock_dump_number(void);
void mock_dump_shapes(const char *function, const void *plan);

/* contexts/init.c */
bool mock_initialized(void);
/* contexts/config.c: the text of a JSON file: 100003 without one, 100006 when it is not JSON. The caller frees it. */
aclError mock_read_config(const char *path, char **text);

#endif
