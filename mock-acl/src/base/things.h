/* Objects of the libraries around the runtime: descriptors, datasets, configurations, stamps. Each is a
 * handle of one kind that knows its own type, so that a stale, foreign or wrong one is told apart
 * without touching it. */
#ifndef MOCK_LIBRARY_H_
#define MOCK_LIBRARY_H_

#include "engine/core.h"

typedef struct mock_thing_type {
    const char *name;
    void (*drop)(void *thing); /* frees what it owns, not the thing itself; may be NULL */
} mock_thing_type;

/* The first member of every such object. */
typedef struct mock_thing {
    const mock_thing_type *type;
    void *handle;
} mock_thing;

/* A zeroed object of `size` bytes; NULL and a text without memory or handles. */
void *mock_thing_new(const mock_thing_type *type, size_t size);
/* NULL for null, stale, foreign and wrong handles. */
void *mock_thing_get(const mock_thing_type *type, const void *handle);
/* The same with a text and the code 100000 (implementation of the open graph engine for null; own choice
 * for the others, which crash there). */
aclError mock_thing_find(const mock_thing_type *type, const void *handle, const char *param, void **thing);
aclError mock_thing_destroy(const mock_thing_type *type, const void *handle, const char *param);
uint64_t mock_things_live(void);
void mock_things_reset(void);

/* Numbers that a program sees, in the order of their making; none is used twice before a reset. */
typedef struct mock_ids {
    pthread_mutex_t lock;
    void **values;
    uint32_t count, room, first;
} mock_ids;
#define MOCK_IDS(first_id) {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, first_id}
bool mock_ids_add(mock_ids *ids, void *value, uint32_t *id);
void *mock_ids_get(mock_ids *ids, uint32_t id);
void *mock_ids_take(mock_ids *ids, uint32_t id);
void mock_ids_reset(mock_ids *ids);

/* 100000 with a text. */
aclError mock_invalid(const char *format, ...) MOCK_PRINTF(1, 2);

/* Resets, in control/control.c's order. */
void mock_models_reset(void);
void mock_bundles_reset(void);
void mock_queues_reset(void);
void mock_channels_reset(void);
void mock_profiling_reset(void);
void mock_dump_reset(void);
void mock_options_reset(void);

#endif
