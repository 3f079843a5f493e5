/* The events of a profile as a Chrome trace: {"traceEvents": [...]}, complete events "X" and instants "i". */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "profiling/trace.h"
#include "profiling/watch.h"

#define NAME 128
#define MOST (1u << 20) /* own choice; what comes after is lost */

typedef struct event {
    char name[NAME];
    const char *category;
    uint32_t process;
    uint64_t thread, start;
    int64_t duration;
    /* of kernels, in real time */
    int32_t device;
    uint64_t told, began;
} event;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static event *events;
static size_t count, room;
static uint64_t busy_until, really_busy_until; /* kernels of one batch follow each other */

static void add(const char *name, const event *what) {
    pthread_mutex_lock(&lock);
    if (count == room && room < MOST) {
        const size_t wanted = room == 0 ? 256 : 2 * room;
        event *grown = realloc(events, wanted * sizeof *events);
        if (grown != NULL) {
            events = grown;
            room = wanted;
        }
    }
    if (count < room) {
        event *e = &events[count++];
        *e = *what;
        snprintf(e->name, sizeof e->name, "%s", name);
    }
    pthread_mutex_unlock(&lock);
}

void mock_trace_add(const char *name, const char *category, uint32_t process, uint64_t thread,
    uint64_t start_ns,
    int64_t duration_ns) {
    const event e = {.category = category, .process = process, .thread = thread, .start = start_ns,
        .duration = duration_ns};
    add(name, &e);
}

static uint64_t follow(uint64_t *busy, uint64_t now, uint64_t length) {
    const uint64_t start = *busy > now ? *busy : now;
    *busy = start + length;
    return start;
}

/* A kernel runs within minutes of being queued; one that was held back longer seems to be of later. */
static uint64_t told_ns(uint32_t told) {
    const uint64_t now = mock_raw_ns() / MOCK_TOLD_NS;
    return told == 0 ? 0 : MOCK_TOLD_NS * (now - (uint32_t)((uint32_t)now - told));
}

/* The clock moves after a batch of kernels; inside one they follow each other. So they do in real time, for tools that
 * put them beside the host's work. */
void mock_trace_kernel(const char *function, const mock_ran *ran) {
    const uint64_t now = mock_acl_now_ns(), length = MOCK_TASK_NS + mock_self()->spent;
    event e = {.category = ran->graph == 0 ? "kernel" : "kernel in a graph", .process = 1,
        .thread = (uint32_t)ran->stream, .duration = (int64_t)length, .device = ran->device,
        .told = told_ns(ran->told)};
    pthread_mutex_lock(&lock);
    e.start = follow(&busy_until, now, length);
    e.began = follow(&really_busy_until, mock_raw_ns(), length);
    pthread_mutex_unlock(&lock);
    add(function, &e);
}

void mock_trace_clear(void) {
    pthread_mutex_lock(&lock);
    free(events);
    events = NULL;
    count = room = 0;
    busy_until = really_busy_until = 0;
    pthread_mutex_unlock(&lock);
}

static void write_text(FILE *f, const char *text) {
    fputc('"', f);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') fprintf(f, "\\%c", *p);
        else if (*p < 0x20) fprintf(f, "\\u%04x", *p);
        else fputc(*p, f);
    }
    fputc('"', f);
}

static void write_event(FILE *f, const event *e, bool first) {
    fputs(first ? "\n{\"name\": " : ",\n{\"name\": ", f);
    write_text(f, e->name);
    fprintf(f, ", \"cat\": \"%s\", \"pid\": %u, \"tid\": %llu, \"ts\": %.3f, ", e->category, e->process,
        (unsigned long long)e->thread, (double)e->start / 1000);
    if (e->duration < 0) fputs("\"ph\": \"i\", \"s\": \"t\"}", f);
    else fprintf(f, "\"ph\": \"X\", \"dur\": %.3f", (double)e->duration / 1000);
    if (e->duration >= 0 && e->began != 0)
        fprintf(f, ", \"args\": {\"device\": %d, \"told_ns\": %llu, \"began_ns\": %llu}", (int)e->device,
            (unsigned long long)e->told, (unsigned long long)e->began);
    if (e->duration >= 0) fputc('}', f);
}

aclError mock_trace_write(const char *path) {
    FILE *f = fopen(path, "w");
    if (f == NULL) return mock_fail(ACL_ERROR_WRITE_FILE, "EK0001", "%s: %s", path, strerror(errno));
    pthread_mutex_lock(&lock);
    fputs("{\"traceEvents\": [", f);
    for (size_t i = 0; i < count; i++) write_event(f, &events[i], i == 0);
    fputs("\n]}\n", f);
    pthread_mutex_unlock(&lock);
    const bool bad = ferror(f) != 0;
    return fclose(f) == 0 && !bad ? 0 : mock_fail(ACL_ERROR_WRITE_FILE, "EK0001", "%s: not all was written",
        path);
}
