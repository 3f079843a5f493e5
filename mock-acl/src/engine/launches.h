/* The log of kernels. */
#ifndef MOCK_LAUNCHES_H_
#define MOCK_LAUNCHES_H_

#include "engine/core.h"

extern atomic_bool mock_launches_on;
/* Of a kernel that is about to run; `graph` is 0 outside of one. */
void mock_launches_add(const mock_task *t, int32_t stream, uint32_t graph);
/* Copies as much of `full` as the caller's structure holds; control/control.c. */
int mock_copy_out(void *out, const void *full, size_t size);

#endif
