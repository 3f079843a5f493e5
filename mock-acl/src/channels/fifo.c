/* Messages between threads: one lock for all of them, which is a leaf. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "channels/fifo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_condition(void) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_condattr_destroy(&attr);
}

mock_fifo *mock_fifo_new(size_t depth) {
    pthread_once(&once, make_condition);
    mock_fifo *f = calloc(1, sizeof *f);
    if (f == NULL) return NULL;
    f->refs = 1;
    f->depth = depth;
    f->last = &f->first;
    return f;
}

void mock_fifo_ref(mock_fifo *f) {
    pthread_mutex_lock(&lock);
    f->refs++;
    pthread_mutex_unlock(&lock);
}

static mock_message *pop(mock_fifo *f) {
    mock_message *m = f->first;
    f->first = m->next;
    if (f->first == NULL) f->last = &f->first;
    f->count--;
    m->next = NULL;
    return m;
}

static void drop_all(mock_message *m) {
    while (m != NULL) {
        mock_message *next = m->next;
        m->drop(m);
        m = next;
    }
}

static mock_message *take_all(mock_fifo *f) {
    mock_message *m = f->first;
    f->first = NULL;
    f->last = &f->first;
    f->count = 0;
    return m;
}

void mock_fifo_unref(mock_fifo *f) {
    if (f == NULL) return;
    pthread_mutex_lock(&lock);
    const bool gone = --f->refs == 0;
    pthread_mutex_unlock(&lock);
    if (!gone) return;
    drop_all(f->first);
    free(f);
}

void mock_fifo_close(mock_fifo *f) {
    pthread_mutex_lock(&lock);
    f->closed = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void mock_fifo_clear(mock_fifo *f) {
    pthread_mutex_lock(&lock);
    mock_message *m = take_all(f);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    drop_all(m);
}

static struct timespec deadline_of(int32_t timeout) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += timeout / 1000;
    t.tv_nsec += (long)(timeout % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* Until there is room, or something: with the lock. */
static mock_fifo_result wait(mock_fifo *f, bool room, int32_t timeout) {
    const struct timespec deadline = deadline_of(timeout < 0 ? 0 : timeout);
    while (!f->closed && (room ? f->depth != 0 && f->count == f->depth : f->count == 0)) {
        if (timeout == 0) return MOCK_FIFO_LATE;
        if (timeout < 0) pthread_cond_wait(&changed, &lock);
        else if (pthread_cond_timedwait(&changed, &lock, &deadline) == ETIMEDOUT) return MOCK_FIFO_LATE;
    }
    return f->closed ? MOCK_FIFO_CLOSED : MOCK_FIFO_OK;
}

mock_fifo_result mock_fifo_put(mock_fifo *f, mock_message *m, int32_t timeout) {
    pthread_mutex_lock(&lock);
    f->refs++;
    const mock_fifo_result result = wait(f, true, timeout);
    if (result == MOCK_FIFO_OK) {
        m->next = NULL;
        *f->last = m;
        f->last = &m->next;
        f->count++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    mock_fifo_unref(f);
    return result;
}

mock_fifo_result mock_fifo_look(mock_fifo *f, bool (*look)(const mock_message *m, void *user), void *user,
    int32_t timeout, mock_message **taken) {
    *taken = NULL;
    pthread_mutex_lock(&lock);
    f->refs++;
    const mock_fifo_result result = wait(f, false, timeout);
    if (result == MOCK_FIFO_OK && (look == NULL || look(f->first, user))) {
        *taken = pop(f);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    mock_fifo_unref(f);
    return result;
}

mock_fifo_result mock_fifo_get(mock_fifo *f, mock_message **m, int32_t timeout) {
    return mock_fifo_look(f, NULL, NULL, timeout, m);
}

size_t mock_fifo_count(mock_fifo *f) {
    pthread_mutex_lock(&lock);
    const size_t n = f->count;
    pthread_mutex_unlock(&lock);
    return n;
}

size_t mock_fifo_room(mock_fifo *f) {
    pthread_mutex_lock(&lock);
    const size_t n = f->depth == 0 ? SIZE_MAX : f->depth - f->count;
    pthread_mutex_unlock(&lock);
    return n;
}
