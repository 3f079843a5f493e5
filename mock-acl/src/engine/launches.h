/* The log of kernels. */
#ifndef MOCK_ENGINE_LAUNCHES_H_
#define MOCK_ENGINE_LAUNCHES_H_

#include "engine/task.h"

extern atomic_bool mock_launches_on;
/* Of a kernel that is about to run; `graph` is 0 outside of one. */
void mock_launches_add(const mock_task *t, int32_t stream, uint32_t graph);

#endif
