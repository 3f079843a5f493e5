/* Events and notifies between processes.
 *
 * Own choice, for the real driver has ways of its own: the exporting process makes an anonymous file of
 * one page, which others open through /proc/PID/fd; a key names process and descriptor, and has a random
 * token that stands in the page as well. The file is sealed against shrinking, which an import checks
 * before it maps anything. Waiting means looking again every 0.3 ms, because no process tells another. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "engine/engine.h"
#include "engine/inner.h"
#include "engine/objects.h"
#include "engine/parts.h"
#include "engine/shared.h"
#include "engine/state.h"

#define MAGIC UINT64_C(0x636170696b636f6d)
#define PAGE_BYTES 4096u
_Static_assert(sizeof(mock_page) <= PAGE_BYTES, "one page");

/* ---- processes ---- */

/* When the process started, in ticks since boot; 0 when there is none. */
uint64_t mock_process_start(int32_t pid) {
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    errno = 0;
    if (n <= 0) return 0;
    text[n] = '\0';
    /* The name in parentheses may have anything; the state and 19 numbers follow. */
    const char *p = strrchr(text, ')');
    if (p == NULL || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X') return 0;
    p += 2;
    for (int i = 0; i < 19 && p != NULL; i++) {
        p = strchr(p, ' ');
        if (p != NULL) p++;
    }
    return p == NULL ? 0 : strtoull(p, NULL, 10);
}

/* Without a descriptor to look with, one that is there counts as running. */
bool mock_process_gone(int32_t pid, uint64_t started) {
    const uint64_t start = mock_process_start(pid);
    if (start != 0) return start != started;
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM) return true;
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static uint64_t own_start(void) {
    static _Atomic uint64_t known;
    uint64_t start = atomic_load(&known);
    if (start == 0) {
        start = mock_process_start((int32_t)getpid());
        atomic_store(&known, start);
    }
    return start;
}

/* A free place or, when there is none, that of a process which died in it. */
static bool take_place(mock_member *m, bool dead) {
    int32_t there = 0;
    if (dead) {
        there = atomic_load(&m->pid);
        uint64_t started = atomic_load(&m->started);
        if (there == 0 || there == (int32_t)getpid()) return false;
        const uint64_t runs = mock_process_start(there);
        if (started == 0 ? runs != 0 : runs == started) return false;
        /* Nobody may see the new process with the start of the old one, and call it dead. */
        if (!atomic_compare_exchange_strong(&m->started, &started, 0)) return false;
    }
    if (!atomic_compare_exchange_strong(&m->pid, &there, (int32_t)getpid())) return false;
    atomic_store(&m->started, own_start());
    return true;
}

static int32_t join(mock_page *page) {
    for (uint32_t i = 0; i < 2 * MOCK_MEMBERS; i++)
        if (take_place(&page->members[i % MOCK_MEMBERS], i >= MOCK_MEMBERS))
            return (int32_t)(i % MOCK_MEMBERS);
    return -1;
}

static void leave(mock_page *page, int32_t member) {
    if (member < 0) return;
    atomic_store(&page->members[member].started, 0);
    atomic_store(&page->members[member].pid, 0);
}

bool mock_shared_lost(mock_shared *p) {
    bool dead = false;
    if (p->lost) return true;
    for (uint32_t i = 0; i < MOCK_MEMBERS; i++) {
        const int32_t pid = atomic_load(&p->page->members[i].pid);
        const uint64_t started = atomic_load(&p->page->members[i].started);
        if (pid == 0 || started == 0) continue;
        if (pid == (int32_t)getpid()) continue;
        if (!mock_process_gone(pid, started)) return false;
        dead = true;
    }
    p->lost = dead;
    return dead;
}

/* ---- pages ---- */

static mock_shared *attach(mock_page *page, int fd) {
    mock_shared *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    *p = (mock_shared){.refs = 1, .page = page, .fd = fd};
    p->member = join(page);
    return p;
}

static void *map(int fd) {
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

mock_shared *mock_shared_new(mock_shared_kind kind) {
    const int fd = memfd_create("mock-acl", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return NULL;
    mock_page *page = NULL;
    if (ftruncate(fd, PAGE_BYTES) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        page = map(fd);
    mock_shared *p = NULL;
    if (page != NULL) {
        page->magic = MAGIC;
        page->kind = kind;
        page->pid = (int32_t)getpid();
        const ssize_t got = getrandom(page->token, sizeof page->token, 0);
        if (got == (ssize_t)sizeof page->token) p = attach(page, fd);
        if (p != NULL) return p;
        munmap(page, PAGE_BYTES);
    }
    close(fd);
    return NULL;
}

mock_shared *mock_shared_ref(mock_shared *p) {
    p->refs++;
    return p;
}

void mock_shared_unref(mock_shared *p) {
    if (p == NULL || --p->refs != 0) return;
    leave(p->page, p->member);
    munmap(p->page, PAGE_BYTES);
    if (p->fd >= 0) close(p->fd);
    free(p);
}

uint64_t mock_shared_magic(void) { return MAGIC; }

void mock_shared_export(const mock_shared *p, mock_shared_key *key) {
    *key = (mock_shared_key){.magic = MAGIC,
        .token = {p->page->token[0], p->page->token[1]},
        .pid = (int32_t)getpid(),
        .fd = p->fd,
        .started = own_start(),
        .kind = p->page->kind};
}

static aclError bad_key(void) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the key is not one that was exported");
}

static aclError gone(void) {
    return mock_fail(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "EE9999", "the exported object is gone");
}

int mock_process_file(int32_t pid, uint64_t started, int32_t of, const char *name, int64_t size) {
    char path[64], target[64] = "", wanted[64];
    struct stat st;
    if (pid <= 0 || of < 0 || started == 0 || mock_process_start(pid) != started) return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, of);
    snprintf(wanted, sizeof wanted, "/memfd:%s ", name);
    if (readlink(path, target, sizeof target - 1) < 0 || strncmp(target, wanted, strlen(wanted)) != 0) return -1;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return -1;
    const int seals = fcntl(fd, F_GET_SEALS);
    const bool good = seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &st) == 0;
    if (good && (size < 0 || st.st_size == (off_t)size)) return fd;
    close(fd);
    return -1;
}

static aclError open_page(const mock_shared_key *key, mock_page **out) {
    const int fd = mock_process_file(key->pid, key->started, key->fd, "mock-acl", PAGE_BYTES);
    if (fd < 0) return gone();
    mock_page *page = map(fd);
    close(fd);
    if (page == NULL) return gone();
    const bool token = page->token[0] == key->token[0] && page->token[1] == key->token[1];
    if (token && page->magic == MAGIC && page->kind == key->kind && page->pid == key->pid) {
        *out = page;
        return 0;
    }
    munmap(page, PAGE_BYTES);
    return gone();
}

static bool allowed(const mock_page *page) {
    if (atomic_load(&page->any_process) != 0) return true;
    for (uint32_t i = 0; i < 64; i++)
        if (atomic_load(&page->allowed[i]) == (int32_t)getpid()) return true;
    return false;
}

aclError mock_shared_import(const mock_shared_key *key, mock_shared_kind kind, mock_shared **out) {
    if (key->magic != MAGIC || key->kind != (uint32_t)kind || key->pid <= 0 || key->fd < 0) return bad_key();
    if (key->started == 0 || mock_process_start(key->pid) != key->started) return gone();
    mock_page *page = NULL;
    const aclError code = open_page(key, &page);
    if (code != 0) return code;
    if (key->pid != (int32_t)getpid() && !allowed(page)) {
        munmap(page, PAGE_BYTES);
        return mock_fail(ACL_ERROR_RT_NO_PERMISSION, "EE1016", "the exporter does not list this process");
    }
    *out = attach(page, -1);
    if (*out != NULL) return 0;
    munmap(page, PAGE_BYTES);
    return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
}

/* ---- waiting ---- */

bool mock_shared_waiting(void) {
    return mock_engine.shared_waits != 0 || !mock_list_empty(&mock_engine.shared_waiters);
}

bool mock_shared_poll(void) {
    bool any = false;
    for (mock_link *l = mock_engine.shared_waiters.next, *next; l != &mock_engine.shared_waiters; l = next) {
        next = l->next;
        mock_stream *s = MOCK_OWNER(l, mock_stream, in_queue);
        const uint64_t done = atomic_load_explicit(&s->done, memory_order_relaxed);
        if (!mock_parts.shared_ready(&s->ring[done & (MOCK_QUEUE_DEPTH - 1)])) continue;
        mock_wake(s);
        any = any || !mock_list_empty(&s->in_queue);
    }
    return any;
}

/* ---- tickets ---- */

uint64_t mock_ticket_take(mock_shared *p) { return atomic_fetch_add(&p->page->latest, 1) + 1; }

void mock_ticket_done(mock_shared *p, uint64_t ticket) {
    _Atomic uint64_t *place = &p->page->executed[ticket % MOCK_TICKETS];
    uint64_t old = atomic_load(place);
    while (old < ticket && !atomic_compare_exchange_weak(place, &old, ticket)) {
    }
}

/* A later ticket in its place: 128 records ago, which counts as executed (own choice). */
bool mock_ticket_reached(const mock_shared *p, uint64_t ticket) {
    return atomic_load(&p->page->executed[ticket % MOCK_TICKETS]) >= ticket;
}
