/* Small checks for the C tests: a failed one prints where and ends the program. */
#ifndef MOCK_CHECK_H_
#define MOCK_CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "acl/acl.h"
#include "mock_acl.h"

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

#define CODE(call, expected)                                                                             \
    do {                                                                                                 \
        const int got_ = (int)(call);                                                                    \
        if (got_ != (expected)) {                                                                        \
            fprintf(stderr, "%s:%d: %s gave %d, not %d\n", __FILE__, __LINE__, #call, got_, (expected)); \
            exit(1);                                                                                     \
        }                                                                                                \
    } while (0)

#define OK(call) CODE(call, 0)

/* Work runs as it is queued: what a test wants to see before it has run, it holds back. */
static inline int workers(void) { return getenv("MOCK_ACL_WORKERS") != NULL; }

/* Without workers nothing runs before the test waits for it. */
static inline void up(void) {
    if (!workers()) mock_acl_stand_still(1);
    CHECK(mock_acl_reset() == 0);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
}

static inline aclrtStream new_stream(void) {
    aclrtStream s = NULL;
    OK(aclrtCreateStream(&s));
    return s;
}

static inline aclrtEvent new_event(uint32_t flags) {
    aclrtEvent e = NULL;
    OK(aclrtCreateEventExWithFlag(&e, flags));
    return e;
}

static inline void *device(size_t size) {
    void *p = NULL;
    OK(aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return p;
}

static inline void *pinned(size_t size) {
    void *p = NULL;
    OK(aclrtMallocHost(&p, size));
    return p;
}

static inline void read_back(void *host, const void *from, size_t size) {
    OK(aclrtMemcpy(host, size, from, size, ACL_MEMCPY_DEVICE_TO_HOST));
}

static inline unsigned char byte_at(const void *p) {
    unsigned char b = 0;
    read_back(&b, p, 1);
    return b;
}

static inline mock_acl_live live(void) {
    mock_acl_live l = {.struct_size = sizeof l};
    OK(mock_acl_live_handles(&l));
    return l;
}

#endif
