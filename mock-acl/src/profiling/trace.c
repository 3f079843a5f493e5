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
} event;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static event *events;
static size_t count, room;
static uint64_t busy_until; /* kernels of one batch follow each other */

void mock_trace_add(const char *name, const char *category, uint32_t process, uint64_t thread,
    uint64_t start_ns,
    int64_t duration_ns) {
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
        *e = (event){.category = category, .process = process, .thread = thread, .start = start_ns};
        e->duration = duration_ns;
        snprintf(e->name, sizeof e->name, "%s", name);
    }
    pthread_mutex_unlock(&lock);
}

/* The clock moves after a batch of kernels; inside one they follow each other. */
void mock_trace_kernel(const char *function, int32_t stream, uint32_t graph) {
    const uint64_t now = mock_acl_now_ns(), length = MOCK_TASK_NS + mock_self()->spent;
    pthread_mutex_lock(&lock);
    const uint64_t start = busy_until > now ? busy_until : now;
    busy_until = start + length;
    pthread_mutex_unlock(&lock);
    mock_trace_add(function, graph == 0 ? "kernel" : "kernel in a graph", 1, (uint64_t)(uint32_t)stream,
        start, (int64_t)length);
}

void mock_trace_clear(void) {
    pthread_mutex_lock(&lock);
    free(events);
    events = NULL;
    count = room = 0;
    busy_until = 0;
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
    else fprintf(f, "\"ph\": \"X\", \"dur\": %.3f}", (double)e->duration / 1000);
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
