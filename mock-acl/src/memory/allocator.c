/* Allocators that a program registers for a stream (guide: memory management, aclrtAllocatorRegister).
 * Single-operator models alone would call them, so the mock never does.
 *
 * Null handles, objects and functions: 100000; the registration keeps a copy of the description, for any
 * stream value (implementation of the open runtime). A description that is gone: 107017 (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "memory/arena.h"

typedef struct allocator {
    void *handle;
    aclrtAllocator object;
    aclrtAllocatorAllocFunc alloc;
    aclrtAllocatorFreeFunc free;
    aclrtAllocatorAllocAdviseFunc advise;
    aclrtAllocatorGetAddrFromBlockFunc address;
} allocator;

typedef struct registration {
    struct registration *next;
    aclrtStream stream;
    allocator copy;
} registration;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static registration *registrations;

static registration **place_of(aclrtStream stream) {
    registration **at = &registrations;
    while (*at != NULL && (*at)->stream != stream) at = &(*at)->next;
    return at;
}

static aclError find(aclrtAllocatorDesc desc, allocator **out) {
    if (desc == NULL) return mock_null("allocatorDesc");
    *out = mock_handle_get(MOCK_ALLOCATOR, desc);
    if (*out != NULL) return 0;
    return mock_stale(desc, "description");
}

MOCK_EXPORT aclrtAllocatorDesc aclrtAllocatorCreateDesc(void) {
    MOCK_ENTER_PTR(aclrtAllocatorCreateDesc);
    allocator *a = calloc(1, sizeof *a);
    if (a != NULL) a->handle = mock_handle_new(MOCK_ALLOCATOR, a);
    return a == NULL ? NULL : a->handle;
}

MOCK_EXPORT aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
    MOCK_ENTER(aclrtAllocatorDestroyDesc);
    allocator *a = NULL;
    const aclError code = find(allocatorDesc, &a);
    if (code == 0) free(mock_handle_take(MOCK_ALLOCATOR, allocatorDesc));
    return code;
}

#define SETTER(name, type, field)                                               \
    MOCK_EXPORT aclError name(aclrtAllocatorDesc allocatorDesc, type value) {   \
        MOCK_ENTER(name);                                                       \
        allocator *a = NULL;                                                    \
        if (allocatorDesc != NULL && value == NULL) return mock_null(#field);   \
        const aclError code = find(allocatorDesc, &a);                          \
        if (code == 0) a->field = value;                                        \
        return code;                                                            \
    }
SETTER(aclrtAllocatorSetObjToDesc, aclrtAllocator, object)
SETTER(aclrtAllocatorSetAllocFuncToDesc, aclrtAllocatorAllocFunc, alloc)
SETTER(aclrtAllocatorSetFreeFuncToDesc, aclrtAllocatorFreeFunc, free)
SETTER(aclrtAllocatorSetAllocAdviseFuncToDesc, aclrtAllocatorAllocAdviseFunc, advise)
SETTER(aclrtAllocatorSetGetAddrFromBlockFuncToDesc, aclrtAllocatorGetAddrFromBlockFunc, address)

/* Another registration of the stream takes the place of the first. The advising function may be missing. */
MOCK_EXPORT aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
    MOCK_ENTER_OF(aclrtAllocatorRegister, stream);
    allocator *a = NULL;
    if (stream == NULL) return mock_null("stream");
    aclError code = find(allocatorDesc, &a);
    if (code != 0) return code;
    if (a->object == NULL || a->alloc == NULL || a->free == NULL || a->address == NULL)
        return mock_null("object and functions of the description");
    pthread_mutex_lock(&lock);
    registration **at = place_of(stream);
    if (*at == NULL) *at = calloc(1, sizeof **at);
    if (*at != NULL) {
        (*at)->stream = stream;
        (*at)->copy = *a;
    } else {
        code = ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

MOCK_EXPORT aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc,
    aclrtAllocator *allocatorObject, aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc,
    aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
    aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc) {
    MOCK_ENTER_OF(aclrtAllocatorGetByStream, stream);
    if (allocatorDesc == NULL || stream == NULL) return mock_null("allocatorDesc and stream");
    allocator a = {.handle = NULL};
    pthread_mutex_lock(&lock);
    const registration *r = *place_of(stream);
    if (r != NULL) a = r->copy;
    pthread_mutex_unlock(&lock);
    if (a.handle == NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0012", "the stream has no allocator");
    *allocatorDesc = a.handle;
    mock_gave(*allocatorDesc);
    if (allocatorObject != NULL) *allocatorObject = a.object;
    if (allocFunc != NULL) *allocFunc = a.alloc;
    if (freeFunc != NULL) *freeFunc = a.free;
    if (allocAdviseFunc != NULL) *allocAdviseFunc = a.advise;
    if (getAddrFromBlockFunc != NULL) *getAddrFromBlockFunc = a.address;
    return 0;
}

static void drop(registration **at) {
    registration *r = *at;
    if (r == NULL) return;
    *at = r->next;
    free(r);
}

/* An unknown stream is fine (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtAllocatorUnregister(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtAllocatorUnregister, stream);
    if (stream == NULL) return mock_null("stream");
    pthread_mutex_lock(&lock);
    drop(place_of(stream));
    pthread_mutex_unlock(&lock);
    return 0;
}

static void forget(void *object) { free(mock_handle_take(MOCK_ALLOCATOR, ((allocator *)object)->handle)); }

void mock_allocators_reset(void) {
    pthread_mutex_lock(&lock);
    while (registrations != NULL) drop(&registrations);
    pthread_mutex_unlock(&lock);
    mock_handle_each(MOCK_ALLOCATOR, forget);
}
