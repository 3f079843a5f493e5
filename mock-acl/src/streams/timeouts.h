/* What streams/timeouts.c offers inside of its room. */
#ifndef MOCK_STREAMS_TIMEOUTS_H_
#define MOCK_STREAMS_TIMEOUTS_H_

#include "base/base.h"

/* The time-out of a wait for an event without one of its own, in seconds. */
uint32_t mock_op_wait_seconds(void);

#endif
