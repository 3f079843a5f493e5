/* What contexts/context.c offers inside of its room. */
#ifndef MOCK_CONTEXTS_CONTEXT_H_
#define MOCK_CONTEXTS_CONTEXT_H_

#include "base/base.h"

/* Whether it has its default context. Takes the lock. */
bool mock_device_open(int32_t id);

#endif
