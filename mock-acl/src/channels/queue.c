/* Queues of buffers and bytes, and routes between them (guide: queues; codes: implementation of the open
 * runtime).
 *
 * On a host the real library has no buffers for queues and answers 200006 to acltdtEnqueue,
 * acltdtDequeue, Grant and Attach, which its device side has. Here they work inside the process (own
 * choice: a program of the device can be tried). A queue that is not there gives 107000. Bytes and
 * buffers in one queue do not mix: taking the wrong kind gives 107000 and leaves it there (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "channels/channels.h"
#include "channels/fifo.h"
#include "channels/queue_attr.h"
#include "engine/engine.h"
#include "memory/memory.h"

typedef struct queue {
    mock_thing thing;
    mock_fifo *fifo;
    uint32_t permission;
} queue;

typedef struct message {
    mock_message message;
    aclrtMbuf buffer; /* or bytes */
    size_t size, user_size;
    char bytes[];
} message;

static void drop_queue(void *thing) {
    queue *q = thing;
    mock_fifo_close(q->fifo);
    mock_fifo_unref(q->fifo);
}

static const mock_thing_type queue_type = {"queue", drop_queue};
static mock_ids ids = MOCK_IDS(0);

/* Bound routes; the lock is taken before the one of channels/fifo.c. */
static pthread_mutex_t routes_lock = PTHREAD_MUTEX_INITIALIZER;
static mock_route *bound;
static size_t bound_count, bound_room;

void mock_queues_reset(void) {
    mock_ids_reset(&ids);
    pthread_mutex_lock(&routes_lock);
    free(bound);
    bound = NULL;
    bound_count = bound_room = 0;
    pthread_mutex_unlock(&routes_lock);
}

#define ALL_RIGHTS \
    (ACL_TDT_QUEUE_PERMISSION_MANAGE | ACL_TDT_QUEUE_PERMISSION_DEQUEUE | ACL_TDT_QUEUE_PERMISSION_ENQUEUE)

/* A queue is destroyed with it. */
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;

static queue *look_up(uint32_t id) { return mock_thing_get(&queue_type, mock_ids_get(&ids, id)); }

/* What is in a queue, which another thread may destroy meanwhile; NULL when it is gone. */
static mock_fifo *hold(uint32_t id) {
    pthread_mutex_lock(&life_lock);
    const queue *q = look_up(id);
    mock_fifo *f = q == NULL ? NULL : q->fifo;
    if (f != NULL) mock_fifo_ref(f);
    pthread_mutex_unlock(&life_lock);
    return f;
}

static aclError find(uint32_t id, queue **out) {
    pthread_mutex_lock(&life_lock);
    *out = look_up(id);
    pthread_mutex_unlock(&life_lock);
    if (*out != NULL) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "queue %u does not exist", id);
}

static aclError needs_device(void) {
    mock_lock();
    const bool bound_thread = mock_current() != NULL;
    mock_unlock();
    return bound_thread ? 0 : ACL_ERROR_RT_CONTEXT_NULL;
}

/* Null attributes: a depth of 8. A depth below 2 or above 8,192: 107000 (implementation of the open
 * runtime). */
MOCK_EXPORT aclError acltdtCreateQueue(const acltdtQueueAttr *attr, uint32_t *qid) {
    MOCK_ENTER(acltdtCreateQueue);
    mock_queue_attr *a = NULL;
    if (qid == NULL) return mock_null("qid");
    aclError code = needs_device();
    if (code == 0 && attr != NULL) code = mock_queue_attr_find(attr, &a);
    if (code != 0) return code;
    const uint32_t depth = a == NULL ? 8 : a->depth;
    if (depth < 2 || depth > 8192) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "depth %u", depth);
    queue *q = mock_thing_new(&queue_type, sizeof *q);
    if (q == NULL) return ACL_ERROR_BAD_ALLOC;
    q->permission = ALL_RIGHTS;
    q->fifo = mock_fifo_new(depth);
    if (q->fifo == NULL || !mock_ids_add(&ids, q->thing.handle, qid)) {
        if (q->fifo == NULL) q->fifo = mock_fifo_new(0);
        mock_thing_destroy(&queue_type, q->thing.handle, "queue");
        return ACL_ERROR_BAD_ALLOC;
    }
    return 0;
}

static bool routed(uint32_t id) {
    bool found = false;
    pthread_mutex_lock(&routes_lock);
    for (size_t i = 0; i < bound_count; i++) found |= bound[i].from == id || bound[i].to == id;
    pthread_mutex_unlock(&routes_lock);
    return found;
}

/* Bound to another: 500001. */
MOCK_EXPORT aclError acltdtDestroyQueue(uint32_t qid) {
    MOCK_ENTER(acltdtDestroyQueue);
    queue *q = NULL;
    const aclError code = find(qid, &q);
    if (code != 0) return code;
    if (routed(qid)) return mock_fail(ACL_ERROR_FAILURE, "EE4001", "queue %u is bound to another", qid);
    pthread_mutex_lock(&life_lock);
    /* Unless another thread was faster. */
    q = look_up(qid);
    if (q != NULL) mock_ids_take(&ids, qid);
    const aclError gone = q == NULL ? mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the queue was destroyed")
                                    : mock_thing_destroy(&queue_type, q->thing.handle, "queue");
    pthread_mutex_unlock(&life_lock);
    return gone;
}

/* ---- messages ---- */

static void drop_message(mock_message *m) {
    message *e = (message *)(void *)m;
    if (e->buffer != NULL) aclrtFreeBuf(e->buffer);
    free(e);
}

static message *new_message(aclrtMbuf buffer, size_t size, size_t user_size) {
    size_t total = 0;
    message *e = NULL;
    if (!__builtin_add_overflow(size, user_size, &total) && total < SIZE_MAX - sizeof *e)
        e = malloc(sizeof *e + total);
    if (e == NULL) {
        mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for %zu bytes in a queue", size);
        return NULL;
    }
    *e = (message){{NULL, drop_message}, buffer, size, user_size};
    return e;
}

static message *copy_of(const message *e) {
    aclrtMbuf buffer = NULL;
    if (e->buffer != NULL && aclrtCopyBufRef(e->buffer, &buffer) != 0) return NULL;
    message *copy = new_message(buffer, e->size, e->user_size);
    if (copy != NULL) memcpy(copy->bytes, e->bytes, e->size + e->user_size);
    else if (buffer != NULL) aclrtFreeBuf(buffer);
    return copy;
}

/* ---- routes ---- */

/* Where a queue's messages go on to; the first of them is passed along until nothing moves. With the lock. */
static bool pass_one(uint32_t from) {
    queue *source = mock_thing_get(&queue_type, mock_ids_get(&ids, from));
    mock_message *m = NULL;
    if (source == NULL) return false;
    for (size_t i = 0; i < bound_count; i++) {
        if (bound[i].from != from) continue;
        queue *target = mock_thing_get(&queue_type, mock_ids_get(&ids, bound[i].to));
        if (target != NULL && mock_fifo_room(target->fifo) == 0) return false;
    }
    if (mock_fifo_get(source->fifo, &m, 0) != MOCK_FIFO_OK) return false;
    for (size_t i = 0; i < bound_count; i++) {
        if (bound[i].from != from) continue;
        queue *target = mock_thing_get(&queue_type, mock_ids_get(&ids, bound[i].to));
        message *copy = target == NULL ? NULL : copy_of((message *)(void *)m);
        if (copy != NULL && mock_fifo_put(target->fifo, &copy->message, 0) != MOCK_FIFO_OK)
            drop_message(&copy->message);
    }
    m->drop(m);
    return true;
}

static void pass_on(void) {
    pthread_mutex_lock(&routes_lock);
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < bound_count; i++) moved |= pass_one(bound[i].from);
    }
    pthread_mutex_unlock(&routes_lock);
}

/* Whether `to` leads back to `from`. */
static bool leads(uint32_t from, uint32_t to, unsigned depth) {
    if (from == to || depth > 64) return true;
    for (size_t i = 0; i < bound_count; i++)
        if (bound[i].from == from && leads(bound[i].to, to, depth + 1)) return true;
    return false;
}

static size_t index_of(const mock_route *r) {
    size_t i = 0;
    while (i < bound_count && (bound[i].from != r->from || bound[i].to != r->to)) i++;
    return i;
}

static bool bind(mock_route *r) {
    queue *q = NULL;
    if (find(r->from, &q) != 0 || find(r->to, &q) != 0 || leads(r->to, r->from, 0)) return false;
    if (index_of(r) == bound_count) {
        if (bound_count == bound_room) {
            const size_t room = bound_room == 0 ? 16 : 2 * bound_room;
            mock_route *more = realloc(bound, room * sizeof *more);
            if (more == NULL) return false;
            bound = more;
            bound_room = room;
        }
        bound[bound_count++] = (mock_route){r->from, r->to, ACL_TDT_QUEUE_ROUTE_BIND};
    }
    r->status = ACL_TDT_QUEUE_ROUTE_BIND;
    return true;
}

static bool unbind(mock_route *r) {
    const size_t i = index_of(r);
    if (i == bound_count) return false;
    bound[i] = bound[--bound_count];
    r->status = ACL_TDT_QUEUE_ROUTE_UNBIND;
    return true;
}

/* Each route tells its state; one that failed makes it 500001. A circle cannot be bound (own choice). */
static aclError change(acltdtQueueRouteList *list, bool (*action)(mock_route *)) {
    mock_routes *r = NULL;
    aclError code = needs_device();
    if (code == 0) code = mock_routes_find(list, &r);
    if (code != 0) return code;
    bool good = true;
    pthread_mutex_lock(&routes_lock);
    for (size_t i = 0; i < r->count; i++) good &= action(&r->routes[i]);
    pthread_mutex_unlock(&routes_lock);
    pass_on();
    return good ? 0 : mock_fail(ACL_ERROR_FAILURE, "EE4001", "a route could not be changed");
}

MOCK_EXPORT aclError acltdtBindQueueRoutes(acltdtQueueRouteList *qRouteList) {
    MOCK_ENTER(acltdtBindQueueRoutes);
    return change(qRouteList, bind);
}

MOCK_EXPORT aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList *qRouteList) {
    MOCK_ENTER(acltdtUnbindQueueRoutes);
    return change(qRouteList, unbind);
}

/* The list is emptied first. */
MOCK_EXPORT aclError acltdtQueryQueueRoutes(
    const acltdtQueueRouteQueryInfo *queryInfo, acltdtQueueRouteList *qRouteList) {
    MOCK_ENTER(acltdtQueryQueueRoutes);
    mock_routes *r = NULL;
    mock_route_query *q = NULL;
    if (queryInfo == NULL) return mock_null("queryInfo");
    aclError code = mock_routes_find(qRouteList, &r);
    if (code != 0) return code;
    r->count = 0;
    code = mock_route_query_find(queryInfo, &q);
    if (code == 0) code = needs_device();
    if (code != 0 || q->mode == ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL) return code;
    const bool from = q->mode != ACL_TDT_QUEUE_ROUTE_QUERY_DST, to = q->mode != ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
    pthread_mutex_lock(&routes_lock);
    for (size_t i = 0; i < bound_count && code == 0; i++)
        if ((!from || bound[i].from == q->from) && (!to || bound[i].to == q->to)) code = mock_routes_add(r,
            bound[i]);
    pthread_mutex_unlock(&routes_lock);
    return code;
}

/* ---- in and out ---- */

static aclError put(uint32_t id, message *e, int32_t timeout, aclError late) {
    if (e == NULL) return ACL_ERROR_BAD_ALLOC;
    mock_fifo *f = hold(id);
    const mock_fifo_result result = f == NULL ? MOCK_FIFO_CLOSED : mock_fifo_put(f, &e->message, timeout);
    mock_fifo_unref(f);
    if (result == MOCK_FIFO_OK) {
        pass_on();
        return 0;
    }
    free(e); /* the buffer stays the program's */
    return result == MOCK_FIFO_LATE ? mock_fail(late, "EE1023", "the queue is full")
                                    : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
                                        "the queue was destroyed");
}

/* Takes the buffer over. Full until the time-out: 500001. */
MOCK_EXPORT aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout) {
    MOCK_ENTER(acltdtEnqueue);
    queue *q = NULL;
    size_t size = 0;
    if (buf == NULL) return mock_null("buf");
    aclError code = find(qid, &q);
    if (code == 0) code = aclrtGetBufDataLen(buf, &size);
    return code != 0 ? code : put(qid, new_message(buf, 0, 0), timeout, ACL_ERROR_FAILURE);
}

/* The bytes and the user's are copied. Full until the time-out: 207014. */
static aclError no_memory_there(void) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "data outside a live device allocation");
}

/* From the memory of the program, or to it; false outside of what is live. */
static bool copy_bytes(void *own, const void *data, size_t size, bool out) {
    mock_views_take();
    void *there = mock_host_address(data, size);
    if (there != NULL && out) memcpy(there, own, size);
    else if (there != NULL) memcpy(own, there, size);
    mock_views_give();
    return there != NULL;
}

MOCK_EXPORT aclError acltdtEnqueueData(uint32_t qid, const void *data, size_t dataSize, const void *userData,
    size_t userDataSize, int32_t timeout, uint32_t rsv) {
    MOCK_ENTER(acltdtEnqueueData);
    (void)rsv;
    queue *q = NULL;
    if (data == NULL || dataSize == 0) return mock_null("data and dataSize");
    if (userData == NULL && userDataSize != 0) return mock_null("userData");
    aclError code = needs_device();
    if (code == 0) code = find(qid, &q);
    if (code != 0) return code;
    message *e = new_message(NULL, dataSize, userDataSize);
    if (e != NULL && !copy_bytes(e->bytes, data, dataSize, false)) {
        free(e);
        return no_memory_there();
    }
    if (e != NULL && userDataSize != 0) memcpy(e->bytes + dataSize, userData, userDataSize);
    return put(qid, e, timeout, ACL_ERROR_RT_QUEUE_FULL);
}

typedef struct wish {
    bool buffer;
    size_t room, found;
} wish;

static bool suits(const mock_message *m, void *user) {
    const message *e = (const message *)(const void *)m;
    wish *w = user;
    w->found = e->size;
    return w->buffer ? e->buffer != NULL : e->buffer == NULL && e->size <= w->room;
}

static aclError get(uint32_t id, wish *w, int32_t timeout, aclError late, message **out) {
    mock_message *m = NULL;
    mock_fifo *f = hold(id);
    const mock_fifo_result result =
        f == NULL ? MOCK_FIFO_CLOSED : mock_fifo_look(f, suits, w, timeout, &m);
    mock_fifo_unref(f);
    *out = (message *)(void *)m;
    if (result == MOCK_FIFO_LATE) return mock_fail(late, "EE1023", "the queue is empty");
    if (result == MOCK_FIFO_CLOSED)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the queue was destroyed");
    if (m == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
            "what comes next is of another kind or %zu bytes",
            w->found);
    pass_on();
    return 0;
}

/* Empty until the time-out: 500001. */
MOCK_EXPORT aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout) {
    MOCK_ENTER(acltdtDequeue);
    queue *q = NULL;
    message *e = NULL;
    wish w = {true, 0, 0};
    if (buf == NULL) return mock_null("buf");
    aclError code = find(qid, &q);
    if (code == 0) code = get(qid, &w, timeout, ACL_ERROR_FAILURE, &e);
    if (code != 0) return code;
    *buf = e->buffer;
    free(e);
    return 0;
}

/* Empty until the time-out: 207013. Too little room: 107000, `retDataSize` says how much it takes, and it
 * stays there; memory that is freed while the call waits: 107000, and the message is lost (own choice). */
MOCK_EXPORT aclError acltdtDequeueData(uint32_t qid, void *data, size_t dataSize, size_t *retDataSize,
    void *userData, size_t userDataSize, int32_t timeout) {
    MOCK_ENTER(acltdtDequeueData);
    queue *q = NULL;
    message *e = NULL;
    wish w = {false, dataSize, 0};
    if (data == NULL || retDataSize == NULL ||
        dataSize == 0) return mock_null("data, retDataSize and dataSize");
    aclError code = needs_device();
    if (code == 0) code = find(qid, &q);
    if (code == 0 && mock_host_address(data, dataSize) == NULL) code = no_memory_there();
    if (code == 0) code = get(qid, &w, timeout, ACL_ERROR_RT_QUEUE_EMPTY, &e);
    if (w.found != 0) *retDataSize = w.found;
    if (code != 0) return code;
    /* The call may have waited, and the memory be gone. */
    if (!copy_bytes(e->bytes, data, e->size, true)) code = no_memory_there();
    const size_t user = userData == NULL ? 0 : userDataSize < e->user_size ? userDataSize : e->user_size;
    if (user != 0) memcpy(userData, e->bytes + e->size, user);
    free(e);
    return code;
}

/* ---- rights ---- */

/* Of this process; another one cannot be reached: 107000 (own choice). */
MOCK_EXPORT aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout) {
    MOCK_ENTER(acltdtGrantQueue);
    (void)timeout;
    queue *q = NULL;
    const aclError code = find(qid, &q);
    if (code != 0) return code;
    if (permission == 0 || (permission & ~(uint32_t)ALL_RIGHTS) != 0) return mock_invalid("permission %u",
        permission);
    if (pid != (int32_t)getpid())
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "process %d is not this one", pid);
    q->permission |= permission;
    return 0;
}

MOCK_EXPORT aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t *permission) {
    MOCK_ENTER(acltdtAttachQueue);
    (void)timeout;
    queue *q = NULL;
    if (permission == NULL) return mock_null("permission");
    const aclError code = find(qid, &q);
    if (code == 0) *permission = q->permission;
    return code;
}

/* ---- buffers: those of the runtime ---- */

MOCK_EXPORT aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf) {
    MOCK_ENTER(acltdtAllocBuf);
    if (type > ACL_TDT_DVPP_MEM) return mock_invalid("kind of memory %u", type);
    if (buf == NULL) return mock_null("buf");
    return aclrtAllocBuf(buf, size);
}

MOCK_EXPORT aclError acltdtFreeBuf(acltdtBuf buf) {
    MOCK_ENTER(acltdtFreeBuf);
    return aclrtFreeBuf(buf);
}

MOCK_EXPORT aclError acltdtGetBufData(const acltdtBuf buf, void **dataPtr, size_t *size) {
    MOCK_ENTER(acltdtGetBufData);
    return aclrtGetBufData(buf, dataPtr, size);
}

MOCK_EXPORT aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len) {
    MOCK_ENTER(acltdtSetBufDataLen);
    return aclrtSetBufDataLen(buf, len);
}

MOCK_EXPORT aclError acltdtGetBufDataLen(acltdtBuf buf, size_t *len) {
    MOCK_ENTER(acltdtGetBufDataLen);
    return aclrtGetBufDataLen(buf, len);
}

MOCK_EXPORT aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf) {
    MOCK_ENTER(acltdtAppendBufChain);
    return aclrtAppendBufChain(headBuf, buf);
}

MOCK_EXPORT aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t *num) {
    MOCK_ENTER(acltdtGetBufChainNum);
    return aclrtGetBufChainNum(headBuf, num);
}

MOCK_EXPORT aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf *buf) {
    MOCK_ENTER(acltdtGetBufFromChain);
    return aclrtGetBufFromChain(headBuf, index, buf);
}

MOCK_EXPORT aclError acltdtGetBufUserData(const acltdtBuf buf, void *dataPtr, size_t size, size_t offset) {
    MOCK_ENTER(acltdtGetBufUserData);
    return aclrtGetBufUserData(buf, dataPtr, size, offset);
}

MOCK_EXPORT aclError acltdtSetBufUserData(acltdtBuf buf, const void *dataPtr, size_t size, size_t offset) {
    MOCK_ENTER(acltdtSetBufUserData);
    return aclrtSetBufUserData(buf, dataPtr, size, offset);
}

MOCK_EXPORT aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf *newBuf) {
    MOCK_ENTER(acltdtCopyBufRef);
    return aclrtCopyBufRef(buf, newBuf);
}
