/* Configurations of streams to be created.
 *
 * The structure is public, so that a program may have one of its own, which only destroying tells apart. The
 * memory of a destroyed one is kept for a while: using it gives 100000 (own choice: the real runtime reads
 * freed memory). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "streams/stream.h"
#include "streams/streams.h"

#define MOST_DEAD 1024u

typedef struct config {
    aclrtStreamConfigHandle handle;
    struct config *next;
} config;
static config *configs; /* with the engine lock */
static config *dead[MOST_DEAD];
static uint64_t ended;

static aclError unknown(const aclrtStreamConfigHandle *handle) {
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "%p is no live configuration", (const void *)handle);
}

static bool is_dead(const aclrtStreamConfigHandle *handle) {
    for (size_t i = 0; i < MOST_DEAD && dead[i] != NULL; i++)
        if (&dead[i]->handle == handle) return true;
    return false;
}

MOCK_EXPORT aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void) {
    MOCK_ENTER_PTR(aclrtCreateStreamConfigHandle);
    config *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    mock_lock();
    c->next = configs;
    configs = c;
    mock_unlock();
    return &c->handle;
}

/* One that was not created: 100000 (own choice: the real runtime frees it). */
MOCK_EXPORT aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle) {
    MOCK_ENTER(aclrtDestroyStreamConfigHandle);
    if (handle == NULL) return mock_null("handle");
    mock_lock();
    config **at = &configs;
    while (*at != NULL && &(*at)->handle != handle) at = &(*at)->next;
    config *found = *at;
    if (found != NULL) {
        *at = found->next;
        free(dead[ended % MOST_DEAD]);
        dead[ended++ % MOST_DEAD] = found;
    }
    mock_unlock();
    return found != NULL ? 0 : unknown(handle);
}

/* (header: aclrtStreamConfigAttr); another size: 100000 (own choice). */
MOCK_EXPORT aclError aclrtSetStreamConfigOpt(
    aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *attrValue, size_t valueSize) {
    MOCK_ENTER(aclrtSetStreamConfigOpt);
    if (handle == NULL || attrValue == NULL) return mock_null("handle and attrValue");
    void *const places[] = {&handle->workptr, &handle->workSize, &handle->flag, &handle->priority};
    const size_t sizes[] = {
        sizeof handle->workptr, sizeof handle->workSize, sizeof handle->flag, sizeof handle->priority};
    if ((int)attr < 0 || attr > ACL_RT_STREAM_PRIORITY || valueSize != sizes[attr])
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "attribute %d of size %zu", (int)attr, valueSize);
    mock_lock();
    const bool gone = is_dead(handle);
    if (!gone) memcpy(places[attr], attrValue, valueSize);
    mock_unlock();
    return gone ? unknown(handle) : 0;
}

MOCK_EXPORT aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle) {
    MOCK_ENTER(aclrtCreateStreamV2);
    if (handle == NULL) return mock_null("handle");
    mock_lock();
    const bool gone = is_dead(handle);
    const aclrtStreamConfigHandle c = gone ? (aclrtStreamConfigHandle){0} : *handle;
    mock_unlock();
    if (gone) return unknown(handle);
    return mock_stream_create(stream, (uint32_t)c.priority, (uint32_t)c.flag & 0x3Fu);
}

uint64_t mock_stream_configs_live(void) {
    uint64_t n = 0;
    for (const config *c = configs; c != NULL; c = c->next) n++;
    return n;
}

/* Those that a program still holds become stale as well. */
void mock_stream_configs_reset(void) {
    while (configs != NULL) {
        config *c = configs;
        configs = c->next;
        free(dead[ended % MOST_DEAD]);
        dead[ended++ % MOST_DEAD] = c;
    }
}
