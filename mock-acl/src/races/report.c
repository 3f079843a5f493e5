/* Races as the program reads them: one line of text for what, one for the memory, one for what would order them. */
#define _GNU_SOURCE
#include "races/report.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096u
#define TEXT 1024u
#define BUCKETS 1024u

/* A pair of accesses, whichever tasks of a stream they belong to. */
typedef struct report {
    struct report *next; /* of its bucket */
    mock_acl_race shown;
    char *text;
} report;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static report *reports[MOST], *buckets[BUCKETS];
static uint64_t count;

/* ---- words ---- */

typedef struct words {
    char text[TEXT];
    size_t used;
} words;

static void MOCK_PRINTF(2, 3) say(words *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(w->text + w->used, TEXT - w->used, format, args);
    va_end(args);
    if (n > 0) w->used = w->used + (size_t)n < TEXT ? w->used + (size_t)n : TEXT - 1;
}

static void say_who(words *w, const mock_doing *d) {
    const unsigned long long task = d->task;
    if (d->stream < 0) say(w, "%s of the host", d->name);
    else if (d->graph != 0) say(w, "%s (task %llu of graph %u on stream %d)", d->name, task, d->graph, d->stream);
    else say(w, "%s (task %llu of stream %d)", d->name, task, d->stream);
}

static const char *verb(mock_touch kind) {
    return kind == MOCK_READS ? "reads" : kind == MOCK_FREES ? "gives back" : "writes";
}

static void say_memory(words *w, const mock_acl_race *r) {
    const unsigned long long bytes = r->bytes, offset = r->offset, size = r->block_bytes;
    say(w, "\n  memory: %p, %llu bytes", r->address, bytes);
    if (r->block == NULL) say(w, ", in no live allocation");
    else say(w, ", at offset %llu of the allocation of %llu bytes at %p", offset, size, r->block);
}

static void say_order(words *w, const mock_doing *a, const mock_doing *b) {
    const unsigned long long first = a->task, second = b->task;
    say(w, "\n  order: ");
    if (a->stream < 0 && b->graph != 0)
        say(w, "launch graph %u behind the call of the host, or let the host wait for stream %d before it", b->graph,
            b->stream);
    else if (a->stream < 0)
        say(w, "queue task %llu of stream %d behind the call, or let the host wait for it before the call", second,
            b->stream);
    else if (b->stream < 0)
        say(w, "let the host wait for stream %d, or for an event recorded there, before the call", a->stream);
    else if (a->graph != 0 && a->graph == b->graph)
        say(w, "record an event behind task %llu of the graph and wait for it in front of task %llu, or the other way "
               "round", first, second);
    else if (a->graph != 0 && b->graph != 0 && a->stream == b->stream)
        say(w, "let the stream that captured graph %u wait for an event behind what is in graph %u, or the other way "
               "round: one runs inside of the other", b->graph, a->graph);
    else
        say(w, "record an event on stream %d behind its %s and let stream %d wait for it in front of its %s", a->stream,
            a->graph != 0 ? "launch" : "task", b->stream, b->graph != 0 ? "launch" : "task");
}

static char *words_of(const mock_acl_race *r, const mock_conflict *a, const mock_doing *b, mock_touch kind) {
    words w = {.used = 0};
    say_who(&w, b);
    say(&w, " %s what ", verb(kind));
    say_who(&w, &a->who);
    say(&w, " %s, and nothing orders them", verb(a->kind));
    say_memory(&w, r);
    say_order(&w, &a->who, b);
    return strdup(w.text);
}

/* ---- the list ---- */

static uint64_t mixed(uint64_t h, uint64_t v) { return (h ^ v) * UINT64_C(0x9e3779b97f4a7c15); }

static report **bucket_of(const report *r) {
    uint64_t h = mixed((uintptr_t)r->shown.first, (uintptr_t)r->shown.second);
    h = mixed(mixed(h, (uint32_t)r->shown.first_stream), (uint32_t)r->shown.second_stream);
    h = mixed(mixed(h, r->shown.first_graph), r->shown.second_graph);
    h = mixed(h, (uintptr_t)(r->shown.block == NULL ? r->shown.address : r->shown.block));
    return &buckets[(h >> 32) % BUCKETS];
}

/* Tasks inside of a graph are told apart, those of a stream not: they count on. An operator that reads and writes an
 * operand is one pair with another one. */
static bool same(const report *a, const report *b) {
    const mock_acl_race *x = &a->shown, *y = &b->shown;
    if (x->first != y->first || x->second != y->second) return false;
    if (x->first_stream != y->first_stream || x->second_stream != y->second_stream) return false;
    if (x->first_graph != y->first_graph || x->second_graph != y->second_graph) return false;
    if (x->first_graph != 0 && x->first_task != y->first_task) return false;
    if (x->second_graph != 0 && x->second_task != y->second_task) return false;
    return x->block == y->block && (x->block != NULL || x->address == y->address);
}

static report *find(const report *r) {
    for (report *old = *bucket_of(r); old != NULL; old = old->next)
        if (same(old, r)) return old;
    return NULL;
}

/* Returns whether it is new, and the program has to hear of it; takes its text over then. */
static bool add(const report *r) {
    report *old = find(r);
    if (old != NULL) {
        old->shown.times++;
        return false;
    }
    report *kept = count == MOST ? NULL : malloc(sizeof *kept);
    if (kept == NULL) return false;
    *kept = *r;
    kept->next = *bucket_of(r);
    *bucket_of(r) = kept;
    reports[count++] = kept;
    return true;
}

void mock_race_report(const mock_conflict *earlier, const mock_doing *who, mock_touch kind) {
    const mock_doing *a = &earlier->who;
    report r = {.text = NULL};
    r.shown = (mock_acl_race){.struct_size = sizeof r.shown,
        .first = a->name,
        .second = who->name,
        .first_stream = a->stream,
        .second_stream = who->stream,
        .first_task = a->task,
        .second_task = who->task,
        .first_graph = a->graph,
        .second_graph = who->graph,
        .first_writes = earlier->kind != MOCK_READS,
        .second_writes = kind != MOCK_READS,
        .address = (const void *)(uintptr_t)earlier->from,
        .bytes = earlier->to - earlier->from,
        .times = 1};
    void *block = NULL;
    if (mock_race_parts.block(r.shown.address, &block, &r.shown.block_bytes)) {
        r.shown.block = block;
        r.shown.offset = earlier->from - (uintptr_t)block;
    }
    r.text = words_of(&r.shown, earlier, who, kind);
    pthread_mutex_lock(&lock);
    const bool fresh = add(&r);
    if (fresh) fprintf(stderr, "mock-acl: race %llu: %s\n", (unsigned long long)count, r.text == NULL ? "" : r.text);
    pthread_mutex_unlock(&lock);
    if (!fresh) free(r.text);
}

void mock_races_reset(void) {
    mock_race_forget_all();
    pthread_mutex_lock(&lock);
    for (uint64_t i = 0; i < count; i++) {
        free(reports[i]->text);
        free(reports[i]);
    }
    memset(buckets, 0, sizeof buckets);
    count = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- exported ---- */

MOCK_EXPORT uint64_t mock_acl_race_count(void) {
    if (mock_forked()) return 0;
    pthread_mutex_lock(&lock);
    const uint64_t n = count;
    pthread_mutex_unlock(&lock);
    return n;
}

MOCK_EXPORT int mock_acl_race_at(uint64_t index, mock_acl_race *race) {
    mock_acl_race r = {0};
    if (mock_forked()) return MOCK_ACL_BUSY;
    pthread_mutex_lock(&lock);
    const bool known = index < count;
    if (known) r = reports[index]->shown;
    pthread_mutex_unlock(&lock);
    return known ? mock_copy_out(race, &r, sizeof r) : MOCK_ACL_BAD_ARGUMENT;
}

MOCK_EXPORT uint64_t mock_acl_race_text(uint64_t index, char *text, uint64_t size) {
    uint64_t length = 0;
    if (text != NULL && size != 0) *text = '\0';
    if (mock_forked()) return 0;
    pthread_mutex_lock(&lock);
    const char *kept = index < count ? reports[index]->text : NULL;
    if (kept != NULL) length = strlen(kept);
    if (kept != NULL && text != NULL && size != 0) snprintf(text, size, "%s", kept);
    pthread_mutex_unlock(&lock);
    return length;
}
