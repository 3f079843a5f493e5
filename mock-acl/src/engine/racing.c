/* Races as the engine sees them: streams are racers, and the host comes after what it waited for.
 *
 * (guide: stream management, event management: work of different streams is ordered by events, notifies and waits of
 * the host alone) */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "engine/inner.h"
#include "engine/state.h"

static mock_mark *outside; /* what other processes may have been told */

static mock_racer *racer_of(const mock_stream *s) { return atomic_load_explicit(&s->racer, memory_order_acquire); }

static uint64_t done(const mock_stream *s) { return atomic_load_explicit(&s->done, memory_order_acquire); }

/* ---- streams and the host ---- */

static mock_racer *made(mock_stream *s, uint64_t first) {
    mock_racer *r = racer_of(s);
    if (r != NULL) return r;
    r = mock_racer_new(mock_host_racer);
    mock_racer_serve(r, &s->done, first);
    atomic_store_explicit(&s->racer, r, memory_order_release);
    return r;
}

void mock_racing_queued(mock_stream *s) { mock_racer_queued(made(s, s->tail), s->tail); }

void mock_racing_next(mock_stream *s, mock_mark *m) {
    if (mock_races()) mock_racer_later(made(s, s->tail + 1), s->tail + 1, m);
}

void mock_racing_over(const mock_stream *s) { mock_racer_follow(mock_host_racer, racer_of(s)); }

static void over_if_idle(mock_stream *s) {
    if (done(s) == s->tail) mock_racing_over(s);
}

void mock_racing_idle(void) { mock_each_stream(over_if_idle); }

void mock_racing_leave(mock_stream *s) {
    mock_racer *r = racer_of(s);
    if (r == NULL) return;
    mock_racing_over(s);
    atomic_store_explicit(&s->racer, NULL, memory_order_release);
    mock_racer_free(r);
}

/* ---- what runs ---- */

mock_racer *mock_racing_now(const mock_stream *s) {
    if (!mock_races() || s == NULL) return NULL;
    const mock_thread *self = mock_self();
    if (self->racer != NULL) return self->racer;
    mock_racer *r = racer_of(s);
    return r != NULL && mock_racer_reach(r, done(s) + 1) ? r : NULL;
}

void mock_racing_calls(mock_racer *r) { mock_racer_follow(mock_host_racer, r); }
void mock_racing_called(mock_racer *r) { mock_racer_follow(r, mock_host_racer); }

void mock_racing_tells(const mock_stream *s) { mock_mark_add(&outside, mock_racing_now(s)); }
void mock_racing_hears(const mock_stream *s) { mock_racer_join(mock_racing_now(s), outside); }
void mock_racing_hears_next(mock_stream *s) { mock_racing_next(s, outside); }
void mock_racing_host_hears(void) { mock_racer_join(mock_host_racer, outside); }

/* ---- accesses ---- */

/* A node is counted in its graph, as its calls were. */
bool mock_racing_task(mock_touch kind, const mock_pieces *what) {
    const mock_thread *self = mock_self();
    const mock_stream *s = self->stream;
    mock_racer *r = mock_racing_now(s);
    if (r == NULL) return true;
    const bool inside = self->racer != NULL;
    const mock_task *t = inside ? self->node : mock_next_task(s);
    const mock_doing who = {.name = t->ops->name,
        .stream = s->id,
        .graph = inside ? self->graph : 0,
        .task = inside ? self->place : done(s) + 1 - s->base};
    return mock_race_touch(r, &who, kind, what);
}

void mock_racing_host(const char *call, mock_touch kind, const mock_pieces *what) {
    const mock_doing who = {.name = call, .stream = -1};
    mock_race_touch(mock_host_racer, &who, kind, what);
}

/* ---- on and off ---- */

static void from_now_on(mock_stream *s) {
    mock_racer *r = racer_of(s);
    mock_racer_serve(r, &s->done, s->tail + 1);
}

/* What is queued already nobody looked at when it was, so it is not looked at when it runs. */
static int set_mode(int mode) {
    mock_lock();
    const int before = atomic_exchange(&mock_races_mode, mode);
    mock_each_stream(from_now_on);
    mock_racers_begin();
    mock_races_reset();
    mock_unlock();
    return before;
}

static bool started;

MOCK_EXPORT int mock_acl_check_races(int mode) {
    if (mode < MOCK_ACL_RACES_OFF || mode > MOCK_ACL_RACES_FAIL) return MOCK_ACL_BAD_ARGUMENT;
    if (mock_forked()) return MOCK_ACL_BUSY;
    mock_racing_start();
    return set_mode(mode);
}

static int told(void) {
    const char *text = getenv("MOCK_ACL_RACES");
    if (text == NULL || strcmp(text, "off") == 0 || *text == '\0') return MOCK_ACL_RACES_OFF;
    if (strcmp(text, "report") == 0) return MOCK_ACL_RACES_REPORT;
    if (strcmp(text, "fail") == 0) return MOCK_ACL_RACES_FAIL;
    fprintf(stderr, "mock-acl: MOCK_ACL_RACES=\"%.100s\" is not off, report or fail; report is used\n", text);
    return MOCK_ACL_RACES_REPORT;
}

void mock_racing_start(void) {
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    const int mode = started ? MOCK_ACL_RACES_OFF : told();
    started = true;
    if (mode != MOCK_ACL_RACES_OFF) set_mode(mode);
    pthread_mutex_unlock(&once);
}
