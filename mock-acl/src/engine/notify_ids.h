/* Ids of notifies: 8,192 a device (guide: notify, aclrtCreateNotify); own choice: a process, and as many
 * again for counting ones. With the engine lock. */
#ifndef MOCK_ENGINE_NOTIFY_IDS_H_
#define MOCK_ENGINE_NOTIFY_IDS_H_

#include "base/base.h"

#define MOCK_NOTIFY_LIMIT 8192u

typedef struct mock_id_pool {
    uint32_t next, used;
    uint8_t taken[MOCK_NOTIFY_LIMIT];
} mock_id_pool;

/* The next free one in turn (own choice); false when none is left. */
static inline bool mock_id_take(mock_id_pool *ids, uint32_t *out) {
    if (ids->used == MOCK_NOTIFY_LIMIT) return false;
    while (ids->taken[ids->next]) ids->next = (ids->next + 1) % MOCK_NOTIFY_LIMIT;
    *out = ids->next;
    ids->taken[*out] = 1;
    ids->used++;
    ids->next = (ids->next + 1) % MOCK_NOTIFY_LIMIT;
    return true;
}

static inline void mock_id_give(mock_id_pool *ids, uint32_t id) {
    ids->taken[id] = 0;
    ids->used--;
}

/* (header: ACL_ERROR_RT_NO_NOTIFY_RESOURCE; guide: notify, aclrtCreateNotify) */
static inline aclError mock_no_notify(void) {
    return mock_fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "EE1023", "no notify id is left");
}

#endif
