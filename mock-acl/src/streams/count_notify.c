/* Counting notifies (guide: notify, aclrtCntNotifyCreate and its neighbours; header:
 * aclrtCntNotifyRecordMode, aclrtCntNotifyWaitMode). The documentation and the implementation have them
 * on the 950 class only; here they work on every chip (own choice), but under MOCK_ACL_STRICT=doc 207000
 * says that an Ascend910B has none. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "streams/count_notify.h"
#include "streams/streams.h"

typedef struct mock_count {
    void *handle;
    uint32_t refs, id, value;
    mock_link waiters;
    mock_mark *mark; /* of the records since a wait that cleared it */
    struct mock_count *next_free;
} mock_count;

static mock_count *free_counts;
static mock_id_pool ids;

static const mock_task_ops record_ops = {"aclrtCntNotifyRecord", NULL, NULL};
static const mock_task_ops reset_ops = {"aclrtCntNotifyReset", NULL, NULL};
static const mock_task_ops wait_ops = {"aclrtCntNotifyWaitWithTimeout", NULL, NULL};

void mock_count_unref(mock_count *n) {
    if (--n->refs != 0) return;
    mock_mark_clear(&n->mark);
    mock_id_give(&ids, n->id);
    n->next_free = free_counts;
    free_counts = n;
}

static void drop(void *object) {
    mock_count *n = object;
    mock_handle_take(MOCK_COUNT_NOTIFY, n->handle);
    mock_count_unref(n);
}

void mock_counts_reset(void) { mock_handle_each(MOCK_COUNT_NOTIFY, drop); }

/* Null where the implementation of the open runtime checks below the ACL layer. */
static aclError null_argument(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s must not be null", what);
}

static aclError unsupported(void) {
    if (!mock_strict_doc()) return 0;
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the device has no counting notifies");
}

/* Other flags than 0, and null: 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag) {
    MOCK_ENTER(aclrtCntNotifyCreate);
    aclError code = unsupported();
    if (code != 0) return code;
    if (flag != 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag %u", (unsigned)flag);
    mock_lock();
    if (mock_current() == NULL) code = ACL_ERROR_RT_CONTEXT_NULL;
    if (code == 0 && cntNotify == NULL) code = null_argument("cntNotify");
    mock_count *n = NULL;
    if (code == 0 && (n = free_counts) != NULL) free_counts = n->next_free;
    else if (code == 0 && (n = calloc(1, sizeof *n)) != NULL) mock_list_init(&n->waiters);
    if (code == 0 && n == NULL) code = mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    if (code == 0 && !mock_id_take(&ids, &n->id)) {
        code = mock_no_notify();
        n->next_free = free_counts;
        free_counts = n;
    } else if (code == 0) {
        n->handle = mock_handle_new(MOCK_COUNT_NOTIFY, n);
        n->refs = 1;
        n->value = 0;
        *cntNotify = n->handle;
        mock_gave(*cntNotify);
    }
    mock_unlock();
    return code;
}

static aclError stale(const void *handle) {
    return mock_stale(handle, "counting notify");
}

MOCK_EXPORT aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) {
    MOCK_ENTER_OF(aclrtCntNotifyDestroy, cntNotify);
    if (cntNotify == NULL) return null_argument("cntNotify");
    mock_lock();
    mock_count *n = mock_handle_take(MOCK_COUNT_NOTIFY, cntNotify);
    if (n != NULL) mock_count_unref(n);
    mock_unlock();
    return n != NULL ? 0 : stale(cntNotify);
}

MOCK_EXPORT aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId) {
    MOCK_ENTER_OF(aclrtCntNotifyGetId, cntNotify);
    if (cntNotify == NULL || notifyId == NULL) return null_argument("cntNotify and notifyId");
    mock_lock();
    const mock_count *n = mock_handle_get(MOCK_COUNT_NOTIFY, cntNotify);
    if (n != NULL) *notifyId = n->id;
    mock_unlock();
    return n != NULL ? 0 : stale(cntNotify);
}

/* ---- tasks ---- */

#define RESET 0xFFu

static aclError queue(aclrtCntNotify cntNotify, aclrtStream stream, mock_task *t) {
    mock_stream *s = NULL;
    mock_lock();
    mock_count *n = mock_handle_get(MOCK_COUNT_NOTIFY, cntNotify);
    aclError code = n == NULL ? stale(cntNotify) : mock_stream_to_submit(stream, &s);
    if (code == 0) {
        t->u.count.count = n;
        n->refs++;
        code = mock_submit(s, t);
    }
    mock_unlock();
    return code;
}

/* info null: 100000; the notify null, or another mode (3 is none): 107000 (implementation of the open
 * runtime). */
MOCK_EXPORT aclError aclrtCntNotifyRecord(
    aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo *info) {
    MOCK_ENTER_OF(aclrtCntNotifyRecord, cntNotify, stream);
    if (info == NULL) return mock_null("info");
    if (cntNotify == NULL) return null_argument("cntNotify");
    const int mode = (int)info->mode;
    if (mode < 0 || mode > ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE || mode == 3)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "record mode %d", mode);
    mock_task t = {.ops = &record_ops, .kind = MOCK_TASK_COUNT_SET};
    t.u.count.mode = (uint8_t)mode;
    t.u.count.value = info->value;
    return queue(cntNotify, stream, &t);
}

MOCK_EXPORT aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtCntNotifyReset, cntNotify, stream);
    if (cntNotify == NULL) return null_argument("cntNotify");
    mock_task t = {.ops = &reset_ops, .kind = MOCK_TASK_COUNT_SET};
    t.u.count.mode = RESET;
    return queue(cntNotify, stream, &t);
}

/* The same checks as for a record. The time-out is in seconds, 0 waits for ever; isClear sets the count
 * to 0 when the wait ends (guide: aclrtCntNotifyWaitInfo). */
MOCK_EXPORT aclError aclrtCntNotifyWaitWithTimeout(
    aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo *info) {
    MOCK_ENTER_OF(aclrtCntNotifyWaitWithTimeout, cntNotify, stream);
    if (info == NULL) return mock_null("info");
    if (cntNotify == NULL) return null_argument("cntNotify");
    const int mode = (int)info->mode;
    if (mode < 0 || mode > ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "wait mode %d", mode);
    mock_task t = {.ops = &wait_ops, .kind = MOCK_TASK_COUNT_WAIT};
    t.u.count.mode = (uint8_t)mode;
    t.u.count.value = info->value;
    t.u.count.seconds = info->timeout;
    t.u.count.clear = info->isClear != 0;
    return queue(cntNotify, stream, &t);
}

/* Sums wrap at 32 bits (own choice). */
mock_outcome mock_count_set_step(mock_stream *s, mock_task *t) {
    mock_count *n = t->u.count.count;
    const uint32_t value = t->u.count.value;
    if (mock_races()) mock_mark_add(&n->mark, mock_racing_now(s));
    switch (t->u.count.mode) {
    case ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE:
        n->value = value;
        break;
    case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE:
        n->value += value;
        break;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE:
        n->value |= value;
        break;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE:
        n->value &= value;
        break;
    default:
        n->value = 0;
    }
    mock_wake_all(&n->waiters);
    return MOCK_DONE;
}

/* Unsigned comparisons (guide: aclrtCntNotifyWaitMode). */
static bool holds(uint32_t now, uint32_t value, uint8_t mode) {
    switch (mode) {
    case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE:
        return now < value;
    case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE:
        return now == value;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE:
        return now > value;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE:
        return now >= value;
    default:
        return (now & value) == value;
    }
}

mock_outcome mock_count_wait_step(mock_stream *s, mock_task *t) {
    mock_count *n = t->u.count.count;
    if (!holds(n->value, t->u.count.value, t->u.count.mode)) {
        mock_block_on(s, &n->waiters);
        return MOCK_BLOCKED;
    }
    if (mock_races()) mock_racer_join(mock_racing_now(s), n->mark);
    if (t->u.count.clear) {
        n->value = 0;
        mock_mark_clear(&n->mark);
        mock_wake_all(&n->waiters); /* others may wait for less */
    }
    return MOCK_DONE;
}
