/* The virtual clock, and the real one.
 *
 * A kernel that says how long it takes does not move the clock: its stream is that far ahead. The clock follows when a
 * host thread waits for the stream or sees that its work is done, so that it does not matter which thread ran the
 * kernel, and when. */
#define _GNU_SOURCE
#include <time.h>
#include "base/base.h"
#include "engine/deadline.h"
#include "engine/engine.h"
#include "engine/inner.h"
#include "engine/state.h"

/* Where mock_acl_advance_ns stops: 292 years, and as much is left for tasks and deadlines. */
#define CLOCK_END_NS ((uint64_t)INT64_MAX)

static uint64_t now_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t mock_real_ns(void) { return now_of(CLOCK_MONOTONIC); }
uint64_t mock_raw_ns(void) { return now_of(CLOCK_MONOTONIC_RAW); }

static uint64_t later(uint64_t from, uint64_t ns) {
    const uint64_t left = CLOCK_END_NS > from ? CLOCK_END_NS - from : 0;
    return from + (ns < left ? ns : left);
}

void mock_spend(uint64_t ns) {
    mock_thread *self = mock_self();
    self->spent = later(self->spent, ns);
}

uint64_t mock_stream_time(const mock_stream *s) {
    return s->time_ns > mock_engine.clock_ns ? s->time_ns : mock_engine.clock_ns;
}

void mock_stream_spends(mock_stream *s, mock_thread *self) {
    s->time_ns = later(mock_stream_time(s), self->spent);
    self->spent = 0;
    if (s->time_ns > mock_engine.furthest_ns) mock_engine.furthest_ns = s->time_ns;
}

void mock_clock_follows(uint64_t ns) {
    if (mock_engine.clock_ns < ns) mock_engine.clock_ns = ns;
}

MOCK_EXPORT uint64_t mock_acl_now_ns(void) {
    mock_lock();
    const uint64_t now = mock_engine.clock_ns;
    mock_unlock();
    return now;
}

MOCK_EXPORT void mock_acl_advance_ns(uint64_t ns) {
    mock_lock();
    mock_engine.clock_ns = later(mock_engine.clock_ns, ns);
    while (mock_deadlines_pass(0)) {
    }
    mock_changed();
    mock_unlock();
}
