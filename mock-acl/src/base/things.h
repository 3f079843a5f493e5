/* Objects of the libraries around the runtime: descriptors, datasets, configurations, stamps. Each is a
 * handle of one kind that knows its own type, so that a stale, foreign or wrong one is told apart
 * without touching it. */
#ifndef MOCK_BASE_THINGS_H_
#define MOCK_BASE_THINGS_H_

#include <pthread.h>
#include <stdint.h>

typedef struct mock_thing_type {
    const char *name;
    void (*drop)(void *thing); /* frees what it owns, not the thing itself; may be NULL */
} mock_thing_type;

/* The first member of every such object. */
typedef struct mock_thing {
    const mock_thing_type *type;
    void *handle;
} mock_thing;

/* Numbers that a program sees, in the order of their making; none is used twice before a reset. */
typedef struct mock_ids {
    pthread_mutex_t lock;
    void **values;
    uint32_t count, room, first;
} mock_ids;
#define MOCK_IDS(first_id) {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, first_id}

/* Defines aclError NAME(const HANDLE *handle, OBJECT **out), which finds a thing of the type TYPE. */
#define MOCK_THING_FINDER(NAME, HANDLE, OBJECT, TYPE, PARAM)               \
    aclError NAME(const HANDLE *handle, OBJECT **out) {                    \
        void *found = NULL;                                                \
        const aclError code = mock_thing_find(&(TYPE), handle, PARAM, &found); \
        if (code == 0) *out = found;                                       \
        return code;                                                       \
    }

#endif
