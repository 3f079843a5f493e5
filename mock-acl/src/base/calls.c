/* A log of the calls, for tests: which function, on which thread, with what, in the order in which they began. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/calls.h"
#include "base/entry.h"
#include "base/names.h"

#define MOST (UINT64_C(1) << 20)

typedef struct entry {
    uint64_t thread;
    const void *given[MOCK_ACL_CALL_GIVEN], *gave;
    uint32_t count;
    int api, injected;
} entry;

atomic_bool mock_calls_logged;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *entries;
static uint64_t count, room;
/* Entries of former logs: a call that began in one of these notes nothing more in the next. */
static uint64_t former;

static void grow(void) {
    const uint64_t wanted = room == 0 ? 256 : room * 2;
    entry *grown = realloc(entries, wanted * sizeof *entries);
    if (grown == NULL) return;
    entries = grown;
    room = wanted;
}

static void put(entry *e, const void *const *given, size_t more) {
    for (size_t i = 0; i < more && e->count + i < MOCK_ACL_CALL_GIVEN; i++) e->given[e->count + i] = given[i];
    e->count += (uint32_t)more;
}

void mock_note_call(int api, int injected, const void *const *given, size_t n) {
    mock_thread *self = mock_self();
    pthread_mutex_lock(&lock);
    self->noted = 0;
    if (count == room && room < MOST) grow();
    if (count < room && atomic_load(&mock_calls_logged)) {
        entries[count] = (entry){.thread = self->id, .api = api, .injected = injected};
        put(&entries[count], given, n);
        self->noted = former + ++count;
    }
    pthread_mutex_unlock(&lock);
}

/* What the thread called last. */
static entry *last_of(const mock_thread *self) {
    return self->noted > former && self->noted - former <= count ? &entries[self->noted - former - 1] : NULL;
}

void mock_note_gave(const void *gave) {
    const mock_thread *self = mock_self();
    pthread_mutex_lock(&lock);
    entry *e = last_of(self);
    if (e != NULL) e->gave = gave;
    pthread_mutex_unlock(&lock);
}

void mock_note_given(const void *const *given, size_t n) {
    const mock_thread *self = mock_self();
    pthread_mutex_lock(&lock);
    entry *e = last_of(self);
    if (e != NULL) put(e, given, n);
    pthread_mutex_unlock(&lock);
}

MOCK_EXPORT void mock_acl_log_calls(int on) {
    pthread_mutex_lock(&lock);
    free(entries);
    entries = NULL;
    former += count;
    count = room = 0;
    atomic_store(&mock_calls_logged, on != 0);
    pthread_mutex_unlock(&lock);
    mock_entries_settle();
}

MOCK_EXPORT uint64_t mock_acl_call_count(void) {
    pthread_mutex_lock(&lock);
    const uint64_t n = count;
    pthread_mutex_unlock(&lock);
    return n;
}

MOCK_EXPORT int mock_acl_call_at(uint64_t index, mock_acl_call *call) {
    mock_acl_call c = {0};
    pthread_mutex_lock(&lock);
    const bool known = index < count;
    if (known) {
        const entry *e = &entries[index];
        c.function = mock_lookup_name(e->api);
        c.thread = e->thread;
        c.injected = e->injected;
        c.given_count = e->count;
        memcpy(c.given, e->given, sizeof c.given);
        c.gave = e->gave;
    }
    pthread_mutex_unlock(&lock);
    return known ? mock_copy_out(call, &c, sizeof c) : MOCK_ACL_BAD_ARGUMENT;
}
