/* Ids of notifies: 8,192 a device (guide: notify, aclrtCreateNotify); own choice: a process, and as many
 * again for counting ones. With the engine lock. */
#ifndef MOCK_NOTIFY_IDS_H_
#define MOCK_NOTIFY_IDS_H_

#include "engine/core.h"

#define MOCK_NOTIFY_LIMIT 8192u

typedef struct mock_ids {
    uint32_t next, used;
    uint8_t taken[MOCK_NOTIFY_LIMIT];
} mock_ids;

/* The next free one in turn (own choice); false when none is left. */
static inline bool mock_id_take(mock_ids *ids, uint32_t *out) {
    if (ids->used == MOCK_NOTIFY_LIMIT) return false;
    while (ids->taken[ids->next]) ids->next = (ids->next + 1) % MOCK_NOTIFY_LIMIT;
    *out = ids->next;
    ids->taken[*out] = 1;
    ids->used++;
    ids->next = (ids->next + 1) % MOCK_NOTIFY_LIMIT;
    return true;
}

static inline void mock_id_give(mock_ids *ids, uint32_t id) {
    ids->taken[id] = 0;
    ids->used--;
}

/* Ids without a number, of the notifies inside of graphs; false when there are too few, and none is taken
 * then. */
bool mock_notify_ids_take(uint32_t count);
void mock_notify_ids_give(uint32_t count);

/* (header: ACL_ERROR_RT_NO_NOTIFY_RESOURCE; guide: notify, aclrtCreateNotify) */
static inline aclError mock_no_notify(void) {
    return mock_fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "EE1023", "no notify id is left");
}

/* streams/count_notify.c */
void mock_count_unref(struct mock_count *n);
mock_outcome mock_count_set_step(mock_stream *s, mock_task *t);
mock_outcome mock_count_wait_step(mock_stream *s, mock_task *t);

#endif
