/* Notifies and waits for values in memory (guide: notify, memory value operations).
 *
 * Recording and waiting in a capture are captured as they are (observed: notify). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/notify.h"
#include "streams/streams.h"

static mock_notify *free_notifies;

static const mock_task_ops set_ops = {"aclrtRecordNotify", NULL, NULL};
static const mock_task_ops wait_ops = {"aclrtWaitAndResetNotify", NULL, NULL};
static const mock_task_ops value_wait_ops = {"aclrtValueWait", NULL, NULL};

void mock_notify_unref(mock_notify *n) {
    if (--n->refs != 0) return;
    mock_mark_clear(&n->mark);
    mock_id_give(&mock_notify_ids, n->id);
    mock_shared_unref(n->shared);
    n->shared = NULL;
    n->next_free = free_notifies;
    free_notifies = n;
}

aclError mock_notify_new(mock_notify **out) {
    mock_notify *n = free_notifies;
    if (n != NULL) free_notifies = n->next_free;
    else if ((n = calloc(1, sizeof *n)) != NULL) mock_list_init(&n->waiters);
    if (n == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    if (!mock_id_take(&mock_notify_ids, &n->id)) {
        n->next_free = free_notifies;
        free_notifies = n;
        return mock_no_notify();
    }
    n->handle = mock_handle_new(MOCK_NOTIFY, n);
    n->refs = 1;
    n->set = n->device_only = false;
    n->shared = NULL;
    *out = n;
    return 0;
}

/* Other flags: 107000 (observed: notify); no id left: 207009. */
MOCK_EXPORT aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag) {
    MOCK_ENTER(aclrtCreateNotify);
    if (notify == NULL) return mock_null("notify");
    if (flag > ACL_NOTIFY_DEVICE_USE_ONLY)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag %u", (unsigned)flag);
    mock_lock();
    mock_notify *n = NULL;
    const aclError code = mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : mock_notify_new(&n);
    if (code == 0) {
        n->device_only = flag == ACL_NOTIFY_DEVICE_USE_ONLY;
        *notify = n->handle;
        mock_gave(*notify);
    }
    mock_unlock();
    return code;
}

/* (observed: notify, "destroy again") */
aclError mock_notify_stale(const void *handle) {
    return mock_stale(handle, "notify");
}

static void drop(void *object) {
    mock_notify *n = object;
    mock_handle_take(MOCK_NOTIFY, n->handle);
    n->handle = NULL;
    mock_notify_unref(n);
}

/* A context is needed, whichever it is (observed: sequences). */
static aclError find(aclrtNotify notify, mock_notify **n) {
    *n = mock_handle_get(MOCK_NOTIFY, notify);
    if (*n == NULL) return mock_notify_stale(notify);
    return mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

MOCK_EXPORT aclError aclrtDestroyNotify(aclrtNotify notify) {
    MOCK_ENTER_OF(aclrtDestroyNotify, notify);
    if (notify == NULL) return mock_null("notify");
    mock_lock();
    mock_notify *n = NULL;
    const aclError code = find(notify, &n);
    if (code == 0) drop(n);
    mock_unlock();
    return code;
}

void mock_notifies_reset(void) { mock_handle_each(MOCK_NOTIFY, drop); }

static aclError queue(
    aclrtNotify notify, aclrtStream stream, const mock_task_ops *ops, mock_task_kind kind, uint32_t seconds) {
    if (notify == NULL) return mock_null("notify");
    mock_stream *s = NULL;
    mock_lock();
    mock_notify *n = mock_handle_get(MOCK_NOTIFY, notify);
    aclError code = n == NULL ? mock_notify_stale(notify) : mock_stream_to_submit(stream, &s);
    if (code == 0) {
        mock_task t = {.ops = ops, .kind = (uint8_t)kind, .u.notify = {n, seconds}};
        n->refs++;
        code = mock_submit(s, &t);
    }
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtRecordNotify, notify, stream);
    return queue(notify, stream, &set_ops, MOCK_TASK_NOTIFY_SET, 0);
}

/* Waits, then clears: a record may come first; 0 seconds wait for ever (guide: notify,
 * aclrtWaitAndResetNotify). */
MOCK_EXPORT aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
    MOCK_ENTER_OF(aclrtWaitAndResetNotify, notify, stream);
    return queue(notify, stream, &wait_ops, MOCK_TASK_NOTIFY_WAIT, timeout);
}

MOCK_EXPORT aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId) {
    MOCK_ENTER_OF(aclrtGetNotifyId, notify);
    if (notify == NULL || notifyId == NULL) return mock_null("notify and notifyId");
    mock_lock();
    mock_notify *n = NULL;
    const aclError code = find(notify, &n);
    if (code == 0) *notifyId = n->id;
    mock_unlock();
    return code;
}

/* At once, not in the order of a stream (own choice); none: 107000, and what comes before a bad handle is
 * reset (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num) {
    MOCK_ENTER(aclrtNotifyBatchReset);
    if (notifies == NULL) return mock_null("notifies");
    if (num == 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "no notify to reset");
    aclError code = 0;
    mock_lock();
    for (size_t i = 0; i < num && code == 0; i++) {
        mock_notify *n = mock_handle_get(MOCK_NOTIFY, notifies[i]);
        if (notifies[i] == NULL)
            code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "a notify must not be null");
        else if (n == NULL) code = mock_notify_stale(notifies[i]);
        else if (n->shared != NULL) atomic_store(&n->shared->page->set, 0);
        else n->set = false;
    }
    mock_unlock();
    return code;
}

/* ---- values in memory ---- */

static aclError run_value_write(void *arg) {
    const mock_value *w = arg;
    mock_touch_task(w->address, sizeof(uint64_t), MOCK_SIGNALS);
    _Atomic uint64_t *cell = mock_device_view(w->address, sizeof(uint64_t));
    if (cell == NULL) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    /* A misaligned address is accepted at the call (observed: valuewait); what the device does with it is
     * our own choice. */
    if ((uintptr_t)w->address % 8 != 0) memcpy(mock_device_view(w->address, 8), &w->value, 8);
    else atomic_store_explicit(cell, w->value, memory_order_release);
    return 0;
}

static const mock_task_ops value_write_ops = {"aclrtValueWrite", run_value_write, NULL};

static aclError queue_value(aclrtStream stream, mock_task *t) {
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = mock_submit(s, t);
    mock_unlock();
    return code;
}

static bool of_host(const void *p) {
    return mock_place_of(p) != MOCK_DEVICE;
}

/* flag is 0 (guide: memory value operations, aclrtValueWrite); null: 100000 (observed: valuewait); a host address:
 * 107000; both after the handle, before the context (observed: live_stream, other_context_stream, sequences). */
static aclError check_write(const void *address, uint32_t flag, aclrtStream stream) {
    mock_stream *s = NULL;
    if (stream != NULL) {
        mock_lock();
        const aclError code = mock_stream_to_look_at(stream, &s);
        mock_unlock();
        if (code != 0) return code;
    }
    if (flag != 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag %u", flag);
    if (!of_host(address)) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1001", "%p is not an address of the device", address);
}

MOCK_EXPORT aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtValueWrite, devAddr, stream);
    if (devAddr == NULL) return mock_null("devAddr");
    const aclError code = check_write(devAddr, flag, stream);
    if (code != 0) return code;
    mock_task t = {.ops = &value_write_ops, .kind = MOCK_TASK_WORK, .type = ACL_MODEL_RI_TASK_VALUE_WRITE};
    t.u.value.address = devAddr;
    t.u.value.value = value;
    return queue_value(stream, &t);
}

/* Flags 0 to 3, others 107000 (observed: valuewait). */
MOCK_EXPORT aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtValueWait, devAddr, stream);
    if (devAddr == NULL) return mock_null("devAddr");
    if (flag > ACL_STREAM_WAIT_VALUE_NOR)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag %u", flag);
    mock_task t = {
        .ops = &value_wait_ops, .kind = MOCK_TASK_VALUE_WAIT, .type = ACL_MODEL_RI_TASK_VALUE_WAIT};
    t.u.value.address = devAddr;
    t.u.value.value = value;
    t.u.value.flag = flag;
    return queue_value(stream, &t);
}
