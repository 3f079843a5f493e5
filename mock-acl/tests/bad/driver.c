/* Part of racl (mock-acl). Calls every exported function with bad values: a line a case, tab-separated: function,
 * parameter, kind of value, value, code. Each case starts from a fresh state. A process does the cases of a function
 * and is started anew behind a case that crashed or did not come back. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "acl/acl.h"
#include "bad.h"
#include "mock_acl.h"

enum { SCRATCH = 1 << 16, LIMIT_S = 10, FAULT = 507899, LONG_TEXT = 1 << 20 };

typedef enum phase { READY, BEFORE_INIT, AFTER_FINALIZE, NO_CONTEXT, TOLD_TO_FAIL, PHASES } phase;

typedef struct world {
    void *good[KNOWN_HANDLES + 1], *stale[KNOWN_HANDLES + 1];
    void *device[ARGUMENTS], *pinned;
} world;

typedef struct change {
    const char *kind, *name;
    uint64_t value;
} change;

static world w;
static unsigned char *scratch; /* a region for each argument */
static char *long_text;

/* ---- a fresh state ---- */

static void need(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "the driver cannot go on: %s\n", what);
    _exit(3);
}

/* The kinds that a function's cases need; a bit each. */
static uint64_t kinds_of(const function *f) {
    uint64_t bits = 0;
    for (int i = 0; i < f->count; i++) {
        const kind k = f->parameters[i].kind;
        if (k >= STREAM && k <= KNOWN_HANDLES) bits |= 1ull << k | 1ull << bad_makers[k].wrong;
        if (k == HANDLE || k == OBJECT) bits |= 1ull << STREAM;
    }
    return bits;
}

static void make(uint64_t kinds) {
    for (int k = STREAM; k <= KNOWN_HANDLES; k++) {
        const bad_maker *m = &bad_makers[k];
        if (k == CONTEXT || !(kinds >> k & 1)) continue;
        if (m->destroy != NULL) {
            w.stale[k] = m->make();
            m->destroy(w.stale[k]);
        }
        w.good[k] = m->make();
        need(k == QUEUE || w.good[k] != NULL, m->name); /* queues count from 0 */
    }
}

static void fresh(phase p, const function *f) {
    memset(&w, 0, sizeof w);
    memset(scratch, 0, (size_t)f->count * SCRATCH);
    need(mock_acl_reset() == 0, "mock_acl_reset");
    if (p == BEFORE_INIT) return;
    need(aclInit(NULL) == 0 && aclrtSetDevice(0) == 0, "aclInit");
    for (int i = 0; i == 0 || i < f->count; i++)
        need(aclrtMalloc(&w.device[i], 4096, 0) == 0, "aclrtMalloc");
    need(aclrtMallocHost(&w.pinned, 4096) == 0, "aclrtMallocHost");
    /* Creating a context makes it the current one. */
    need(aclrtCreateContext(&w.stale[CONTEXT], 0) == 0, "aclrtCreateContext");
    need(aclrtDestroyContext(w.stale[CONTEXT]) == 0, "aclrtDestroyContext");
    need(aclrtCreateContext(&w.good[CONTEXT], 0) == 0, "aclrtCreateContext");
    bad_use_memory(w.device[0]);
    make(kinds_of(f));
    if (p == AFTER_FINALIZE) {
        aclrtResetDeviceForce(0);
        aclFinalize();
    }
}

/* A function for every parameter that is one; its caller may think that it takes or returns something. */
static long long nothing(void) { return 0; }

/* ---- values ---- */

static uint64_t good(const parameter *p, int i) {
    if (p->kind >= STREAM && p->kind <= KNOWN_HANDLES) return (uint64_t)(uintptr_t)w.good[p->kind];
    switch (p->kind) {
        case DEVICE: return (uint64_t)(uintptr_t)w.device[i];
        case PINNED: return (uint64_t)(uintptr_t)w.pinned;
        case POINTER:
        case RECORD: return (uint64_t)(uintptr_t)(scratch + (size_t)i * SCRATCH);
        case FUNCTION: return (uint64_t)(uintptr_t)nothing;
        case TEXT: return (uint64_t)(uintptr_t) "name";
        case ENUM: return (uint64_t)p->good;
        case FIXED:
        case SIGNED:
        case UNSIGNED: return 1;
        default: return 0;
    }
}

static uint64_t wrong_kind(kind k) {
    return (uint64_t)(uintptr_t)w.good[k <= KNOWN_HANDLES ? bad_makers[k].wrong : STREAM];
}

static uint64_t top(const parameter *p) {
    const int bits = (int)p->high * 8;
    const uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    return p->kind == SIGNED ? all >> 1 : all;
}

/* The bad values of a parameter. A foreign handle is the address of readable memory. */
static int changes(const parameter *p, int i, change *out) {
    int n = 0;
    const int id = p->kind == MODEL || p->kind == QUEUE;
    const int handle = !id && p->kind >= STREAM && p->kind <= OBJECT;
    const uint64_t foreign = (uint64_t)(uintptr_t)(scratch + (size_t)i * SCRATCH + 64);
    if (handle || p->kind == POINTER || p->kind == TEXT || p->kind == FUNCTION || p->kind == DEVICE ||
        p->kind == PINNED)
        out[n++] = (change){"null", "null", 0};
    if (handle) {
        out[n++] = (change){"foreign", "foreign", foreign};
        out[n++] = (change){"wrong", "wrong kind", wrong_kind(p->kind)};
        if (p->kind == CONTEXT || (p->kind <= KNOWN_HANDLES && bad_makers[p->kind].destroy != NULL))
            out[n++] = (change){"stale", "stale", (uint64_t)(uintptr_t)w.stale[p->kind]};
    }
    if (id) {
        out[n++] = (change){"id", "0", 0};
        out[n++] = (change){"id", "most", UINT32_MAX};
        out[n++] = (change){"id", "stale", (uint64_t)(uintptr_t)w.stale[p->kind]};
    }
    switch (p->kind) {
        case ENUM:
            out[n++] = (change){"enum", "below", (uint64_t)(p->low - 1)};
            out[n++] = (change){"enum", "above", (uint64_t)(p->high + 1)};
            out[n++] = (change){"enum", "far above", INT32_MAX};
            break;
        case SIGNED:
            out[n++] = (change){"number", "-1", UINT64_MAX};
            out[n++] = (change){"number", "least", ~top(p)};
            /* fall through */
        case UNSIGNED:
            out[n++] = (change){"number", "0", 0};
            out[n++] = (change){"number", "most", top(p)};
            break;
        case TEXT:
            out[n++] = (change){"text", "empty", (uint64_t)(uintptr_t) ""};
            out[n++] = (change){"text", "long", (uint64_t)(uintptr_t)long_text};
            out[n++] = (change){"text", "bytes", (uint64_t)(uintptr_t) "\xff\xfe%s%n/../"};
            break;
        case RECORD:
            out[n++] = (change){"number", "zeros", foreign};
            break;
        default: break;
    }
    return n;
}

/* ---- cases ---- */

static void print_case(const function *f, const char *parameter, const char *kind, const char *value) {
    printf("%s\t%s\t%s\t%s\t", f->name, parameter, kind, value);
    fflush(stdout);
}

static void print_code(const function *f, long long code) {
    if (f->gives_code) printf("%lld\n", code);
    else printf("-\n");
    fflush(stdout);
}

static void fill(const function *f, uint64_t *a) {
    for (int i = 0; i < f->count; i++) a[i] = good(&f->parameters[i], i);
}

typedef struct call_in_thread {
    const function *f;
    const uint64_t *a;
    long long code;
} call_in_thread;

static void *other_thread(void *argument) {
    call_in_thread *c = argument;
    c->code = c->f->call(c->a);
    return NULL;
}

static long long call_without_context(const function *f, const uint64_t *a) {
    call_in_thread c = {f, a, 0};
    pthread_t thread;
    need(pthread_create(&thread, NULL, other_thread, &c) == 0, "pthread_create");
    pthread_join(thread, NULL);
    return c.code;
}

#ifdef MOCK_COVERAGE
void __gcov_dump(void);
#endif

/* Runs the cases of a function from number `from` on; tells the parent which one it is at. */
static void run_cases(const function *f, int from, int tell) {
    static const char *const phases[PHASES] = {"good", "before init", "after finalize", "no context",
                                               "told to fail"};
    uint64_t a[ARGUMENTS] = {0};
    int number = 0;
    for (int p = BEFORE_INIT; p < PHASES; p++) {
        if (number++ < from) continue;
        need(write(tell, &number, sizeof number) == sizeof number, "write");
        alarm(LIMIT_S);
        fresh((phase)p, f);
        fill(f, a);
        if (p == TOLD_TO_FAIL) need(mock_acl_fail(f->name, 1, FAULT) == 0, "mock_acl_fail");
        print_case(f, "(all)", p == TOLD_TO_FAIL ? "fault" : "phase", phases[p]);
        print_code(f, p == NO_CONTEXT ? call_without_context(f, a) : f->call(a));
    }
    for (int i = 0; i < f->count && !f->stub; i++) {
        change list[8];
        const int count = changes(&f->parameters[i], i, list);
        for (int k = 0; k < count; k++) {
            if (number++ < from) continue;
            need(write(tell, &number, sizeof number) == sizeof number, "write");
            alarm(LIMIT_S);
            fresh(READY, f);
            changes(&f->parameters[i], i, list); /* with the handles of this state */
            fill(f, a);
            a[i] = list[k].value;
            print_case(f, f->parameters[i].name, list[k].kind, list[k].name);
            print_code(f, f->call(a));
        }
    }
    fflush(stdout);
#ifdef MOCK_COVERAGE
    __gcov_dump();
#endif
    _exit(0);
}

static void run_function(const function *f) {
    int next = 0;
    for (;;) {
        int ends[2], at = 0, status = 0;
        need(pipe(ends) == 0, "pipe");
        fflush(stdout);
        const pid_t pid = fork();
        need(pid >= 0, "fork");
        if (pid == 0) {
            close(ends[0]);
            run_cases(f, next, ends[1]);
        }
        close(ends[1]);
        while (read(ends[0], &at, sizeof at) == sizeof at) next = at;
        close(ends[0]);
        need(waitpid(pid, &status, 0) == pid, "waitpid");
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
        need(!WIFEXITED(status) || WEXITSTATUS(status) != 3, f->name);
        printf("%s\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hang" : "crash");
    }
}

int main(int count, char **words) {
    setenv("MOCK_ACL_DEVICES", "2", 1); /* a good device number is 1, as any good number */
    scratch = mmap(NULL, (size_t)ARGUMENTS * SCRATCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long_text = malloc(LONG_TEXT);
    need(scratch != MAP_FAILED && long_text != NULL, "memory");
    memset(long_text, 'a', LONG_TEXT - 1);
    long_text[LONG_TEXT - 1] = 0;
    for (int i = 0; i < function_count; i++)
        if (count < 2 || strstr(functions[i].name, words[1]) != NULL) run_function(&functions[i]);
    return 0;
}
