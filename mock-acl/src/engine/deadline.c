/* Time-outs of waits that streams execute.
 *
 * A time-out starts when the stream reaches the wait (own choice). It passes on the virtual clock: when
 * the clock gets there, or at once when every thread of the program that uses the mock waits inside it,
 * so that nobody can end the wait any more. Beside other threads and processes it passes in real time as
 * well (own choice). The wait then fails with 107020 (header: ACL_ERROR_RT_TASK_TIMEOUT; own choice of
 * the code: the guide says only that the next synchronisation reports an error), and the stream goes on. */
#define _GNU_SOURCE
#include <time.h>
#include "contexts/context.h"
#include "engine/deadline.h"

#define SECOND UINT64_C(1000000000)

uint64_t mock_real_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint32_t seconds_of(const mock_task *t) {
    switch (t->kind) {
    case MOCK_TASK_WAIT:
        return t->u.wait.seconds;
    case MOCK_TASK_LATCH_WAIT:
        return t->u.latch.seconds;
    case MOCK_TASK_NOTIFY_WAIT:
        return t->u.notify.seconds;
    case MOCK_TASK_COUNT_WAIT:
        return t->u.count.seconds;
    case MOCK_TASK_SHARED_WAIT:
        return t->u.shared.seconds;
    case MOCK_TASK_POINT_WAIT:
        return t->u.point.seconds;
    case MOCK_TASK_GRAPH:
        return mock_graph_seconds(t);
    default:
        return 0;
    }
}

void mock_deadline_start(mock_stream *s, const mock_task *t) {
    const uint32_t seconds = seconds_of(t);
    if (seconds == 0 || s->timed || !s->blocked) return;
    const uint64_t seq = atomic_load_explicit(&s->done, memory_order_relaxed) + 1;
    /* A replay waits for one thing after the other: each gets its own time. */
    if (s->deadline_seq != seq || t->kind == MOCK_TASK_GRAPH) {
        s->deadline_seq = seq;
        s->deadline_ns = mock_engine.clock_ns + seconds * SECOND;
        s->real_deadline_ns = mock_real_ns() + seconds * SECOND;
    }
    s->timed = true;
    mock_engine.timed_waits++;
}

void mock_deadline_stop(mock_stream *s) {
    if (!s->timed) return;
    s->timed = false;
    mock_engine.timed_waits--;
}

void mock_deadline_missed(mock_stream *s, mock_task *t) {
    s->timed_out = false;
    if (t->fail == 0) t->fail = ACL_ERROR_RT_TASK_TIMEOUT;
    if (t->kind == MOCK_TASK_WAIT) t->u.wait.event->waits_done++;
    if (t->kind == MOCK_TASK_LATCH_WAIT) t->u.latch.event->waits_done++;
    if (t->kind == MOCK_TASK_POINT_WAIT) t->u.point.event->waits_done++;
}

static mock_stream *earliest;

static void look(mock_stream *s) {
    if (s->timed && (earliest == NULL || s->deadline_ns < earliest->deadline_ns)) earliest = s;
}

bool mock_deadlines_pass(uint64_t limit) {
    if (mock_engine.timed_waits == 0) return false;
    earliest = NULL;
    mock_each_stream(look);
    mock_stream *s = earliest;
    if (s == NULL) return false;
    const bool came = s->deadline_ns <= mock_engine.clock_ns || s->deadline_ns <= limit;
    if (!came && mock_real_ns() < s->real_deadline_ns) return false;
    if (mock_engine.clock_ns < s->deadline_ns) mock_engine.clock_ns = s->deadline_ns;
    s->timed_out = true;
    mock_wake(s);
    return true;
}
