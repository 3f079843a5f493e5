/* The table of objects that base/things.h describes. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "base/handle.h"
#include "base/things.h"

void *mock_thing_new(const mock_thing_type *type, size_t size) {
    mock_thing *t = calloc(1, size);
    if (t != NULL) {
        t->type = type;
        t->handle = mock_handle_new(MOCK_THING, t);
        if (t->handle != NULL) return t;
    }
    free(t);
    mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for %s", type->name);
    return NULL;
}

void *mock_thing_get(const mock_thing_type *type, const void *handle) {
    mock_thing *t = mock_handle_get(MOCK_THING, handle);
    return t != NULL && t->type == type ? t : NULL;
}

aclError mock_thing_find(const mock_thing_type *type, const void *handle, const char *param, void **thing) {
    if (handle == NULL) return mock_null(param);
    *thing = mock_thing_get(type, handle);
    if (*thing != NULL) return 0;
    return mock_invalid("%s: %p is not a live %s", param, handle, type->name);
}

static void drop(void *object) {
    mock_thing *t = object;
    if (t->type->drop != NULL) t->type->drop(t);
    free(t);
}

aclError mock_thing_destroy(const mock_thing_type *type, const void *handle, const char *param) {
    void *thing = NULL;
    const aclError code = mock_thing_find(type, handle, param, &thing);
    if (code != 0) return code;
    if (mock_handle_take(MOCK_THING, handle) == thing) drop(thing);
    return 0;
}

uint64_t mock_things_live(void) { return mock_handle_count(MOCK_THING); }

/* An owned thing goes with its owner, so each is looked up again by its handle. */
static void take_and_drop(void *object) {
    mock_thing *t = object;
    if (mock_handle_take(MOCK_THING, t->handle) != NULL) drop(t);
}

void mock_things_reset(void) { mock_handle_each(MOCK_THING, take_and_drop); }

aclError mock_invalid(const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "%s", text);
}

bool mock_ids_add(mock_ids *ids, void *value, uint32_t *id) {
    pthread_mutex_lock(&ids->lock);
    if (ids->count == ids->room) {
        const uint32_t room = ids->room == 0 ? 16 : 2 * ids->room;
        void **values = realloc(ids->values, room * sizeof *values);
        if (values != NULL) {
            ids->values = values;
            ids->room = room;
        }
    }
    const bool added = ids->count < ids->room;
    if (added) {
        ids->values[ids->count] = value;
        *id = ids->first + ids->count++;
    }
    pthread_mutex_unlock(&ids->lock);
    if (!added) mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for an id");
    return added;
}

static void *look_up(mock_ids *ids, uint32_t id, bool take) {
    void *value = NULL;
    pthread_mutex_lock(&ids->lock);
    if (id >= ids->first && id - ids->first < ids->count) {
        value = ids->values[id - ids->first];
        if (take) ids->values[id - ids->first] = NULL;
    }
    pthread_mutex_unlock(&ids->lock);
    return value;
}

void *mock_ids_get(mock_ids *ids, uint32_t id) { return look_up(ids, id, false); }
void *mock_ids_take(mock_ids *ids, uint32_t id) { return look_up(ids, id, true); }

void mock_ids_reset(mock_ids *ids) {
    pthread_mutex_lock(&ids->lock);
    free(ids->values);
    ids->values = NULL;
    ids->count = ids->room = 0;
    pthread_mutex_unlock(&ids->lock);
}
