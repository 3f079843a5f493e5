/* Time-outs of waits that streams execute.
 *
 * A time-out starts when the stream reaches the wait (own choice). It passes on the virtual clock: when
 * the clock gets there, or at once when every thread of the program that uses the mock waits inside it,
 * so that nobody can end the wait any more. Beside other threads and processes it passes in real time as
 * well (own choice). The wait then fails with 107020 (header: ACL_ERROR_RT_TASK_TIMEOUT; own choice of
 * the code: the guide says only that the next synchronisation reports an error), and the stream goes on. */
#include "engine/deadline.h"
#include "engine/engine.h"
#include "engine/inner.h"
#include "engine/objects.h"
#include "engine/parts.h"
#include "engine/state.h"
#include "engine/task.h"

#define SECOND UINT64_C(1000000000)

void mock_deadline_start(mock_stream *s, const mock_task *t) {
    const uint32_t seconds = mock_parts.seconds(t);
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
    mock_parts.missed(t);
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
