/* The virtual clock, and the real one. */
#define _GNU_SOURCE
#include <time.h>
#include "base/base.h"
#include "engine/deadline.h"
#include "engine/engine.h"
#include "engine/state.h"

/* Where mock_acl_advance_ns stops: 292 years, and as much is left for tasks and deadlines. */
#define CLOCK_END_NS ((uint64_t)INT64_MAX)

uint64_t mock_real_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

MOCK_EXPORT uint64_t mock_acl_now_ns(void) {
    mock_lock();
    const uint64_t now = mock_engine.clock_ns;
    mock_unlock();
    return now;
}

MOCK_EXPORT void mock_acl_advance_ns(uint64_t ns) {
    mock_lock();
    const uint64_t left = CLOCK_END_NS > mock_engine.clock_ns ? CLOCK_END_NS - mock_engine.clock_ns : 0;
    mock_engine.clock_ns += ns < left ? ns : left;
    while (mock_deadlines_pass(0)) {
    }
    mock_changed();
    mock_unlock();
}
