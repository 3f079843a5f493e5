/* Marks, ranges and steps in a profile (guide: profiling, msproftx; codes: implementation of the open
 * runtime's collector, whose failures are -1). They need a session that was started with
 * ACL_PROF_MSPROFTX. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "acl/acl_prof.h"
#include "base/base.h"
#include "engine/engine.h"
#include "profiling/trace.h"
#include "streams/streams.h"

#define FAILED (-1)
#define MESSAGE 128 /* guide: at most 127 bytes */
#define DEPTH 256   /* own choice */

typedef struct stamp {
    mock_thing thing;
    char message[MESSAGE];
    uint32_t id;
    bool ranging;
    uint64_t start;
} stamp;

typedef struct step {
    mock_thing thing;
    uint64_t number;
    bool started, ended;
} step;

static const mock_thing_type stamp_type = {"stamp", NULL}, step_type = {"aclprofStepInfo", NULL};
static mock_ids ranges = MOCK_IDS(1);
static _Atomic uint64_t next_step = 1;

/* Of a thread: what was pushed. */
typedef struct stack {
    uint64_t epoch;
    unsigned depth;
    struct {
        char name[MESSAGE];
        uint64_t start;
    } entries[DEPTH];
} stack;
static _Thread_local stack *pushed;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void make_key(void) { pthread_key_create(&key, free); }

static stack *own_stack(void) {
    const uint64_t epoch = atomic_load(&mock_epoch);
    if (pushed == NULL) {
        pthread_once(&key_once, make_key);
        pushed = calloc(1, sizeof *pushed);
        pthread_setspecific(key, pushed);
    }
    if (pushed != NULL && pushed->epoch != epoch) {
        pushed->depth = 0;
        pushed->epoch = epoch;
    }
    return pushed;
}

void mock_stamps_reset(void) {
    mock_ids_reset(&ranges);
    atomic_store(&next_step, 1);
}

static aclError failed(const char *why) {
    mock_error_text("EK0001", "%s", why);
    return FAILED;
}

static void add(const char *name, const char *category, uint64_t start, int64_t duration) {
    mock_trace_add(name, category, 0, mock_self()->id, start, duration);
}

MOCK_EXPORT void *aclprofCreateStamp(void) {
    MOCK_ENTER_PTR(aclprofCreateStamp);
    if (!mock_trace_marks()) {
        failed("no session records marks");
        return NULL;
    }
    stamp *s = mock_thing_new(&stamp_type, sizeof *s);
    if (s == NULL) return NULL;
    if (mock_ids_add(&ranges, s->thing.handle, &s->id)) return s->thing.handle;
    mock_thing_destroy(&stamp_type, s->thing.handle, "stamp");
    return NULL;
}

MOCK_EXPORT void aclprofDestroyStamp(void *handle) {
    if (mock_enter(MOCK_API_aclprofDestroyStamp) != 0) return;
    const stamp *s = mock_thing_get(&stamp_type, handle);
    if (s == NULL) return;
    mock_ids_take(&ranges, s->id);
    mock_thing_destroy(&stamp_type, handle, "stamp");
}

MOCK_EXPORT aclError aclprofSetStampTraceMessage(void *handle, const char *msg, uint32_t msgLen) {
    MOCK_ENTER(aclprofSetStampTraceMessage);
    stamp *s = mock_thing_get(&stamp_type, handle);
    if (s == NULL || msg == NULL ||
        msgLen >= MESSAGE) return failed("no stamp, or no message of at most 127 bytes");
    memcpy(s->message, msg, msgLen);
    s->message[msgLen] = '\0';
    return 0;
}

static stamp *recording(void *handle) {
    stamp *s = mock_trace_marks() ? mock_thing_get(&stamp_type, handle) : NULL;
    if (s == NULL) failed("no session records marks, or no stamp");
    return s;
}

MOCK_EXPORT aclError aclprofMark(void *handle) {
    MOCK_ENTER(aclprofMark);
    const stamp *s = recording(handle);
    if (s == NULL) return FAILED;
    add(s->message, "mark", mock_acl_now_ns(), -1);
    return 0;
}

static aclError push(const char *name) {
    stack *k = own_stack();
    if (k == NULL || k->depth == DEPTH) return failed("too many ranges in each other");
    memcpy(k->entries[k->depth].name, name, MESSAGE);
    k->entries[k->depth++].start = mock_acl_now_ns();
    return 0;
}

static aclError pop(void) {
    stack *k = own_stack();
    if (k == NULL || k->depth == 0) return failed("no range was pushed");
    k->depth--;
    const uint64_t start = k->entries[k->depth].start;
    add(k->entries[k->depth].name, "range", start, (int64_t)(mock_acl_now_ns() - start));
    return 0;
}

MOCK_EXPORT aclError aclprofPush(void *handle) {
    MOCK_ENTER(aclprofPush);
    const stamp *s = recording(handle);
    return s == NULL ? FAILED : push(s->message);
}

MOCK_EXPORT aclError aclprofPop(void) {
    MOCK_ENTER(aclprofPop);
    return mock_trace_marks() ? pop() : failed("no session records marks");
}

/* May end on another thread. */
MOCK_EXPORT aclError aclprofRangeStart(void *handle, uint32_t *rangeId) {
    MOCK_ENTER(aclprofRangeStart);
    stamp *s = recording(handle);
    if (s == NULL || rangeId == NULL) return s == NULL ? FAILED : failed("rangeId is null");
    s->start = mock_acl_now_ns();
    s->ranging = true;
    *rangeId = s->id;
    return 0;
}

MOCK_EXPORT aclError aclprofRangeStop(uint32_t rangeId) {
    MOCK_ENTER(aclprofRangeStop);
    stamp *s = recording(mock_ids_get(&ranges, rangeId));
    if (s == NULL || !s->ranging) return failed("no such range");
    s->ranging = false;
    add(s->message, "range", s->start, (int64_t)(mock_acl_now_ns() - s->start));
    return 0;
}

/* ---- on streams ---- */

typedef struct mark {
    int32_t stream;
    char message[MESSAGE];
} mark;

static aclError run_mark(void *arg) {
    const mark *m = arg;
    mock_trace_add(m->message, "mark", 1, (uint64_t)(uint32_t)m->stream, mock_acl_now_ns(), -1);
    return 0;
}

static const mock_task_ops mark_ops = {"aclprofMarkEx", run_mark, free};
static const mock_task_ops tool_ops = {"mstxMarkA", run_mark, free};
static const mock_task_ops step_ops = {"aclprofGetStepTimestamp", run_mark, free};

static aclError queue_mark(const char *message, size_t length, aclrtStream stream, const mock_task_ops *ops) {
    mark *m = calloc(1, sizeof *m);
    mock_stream *s = NULL;
    if (m == NULL) return ACL_ERROR_BAD_ALLOC;
    memcpy(m->message, message, length);
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) m->stream = s->id;
    mock_unlock();
    if (code == 0) return mock_submit_kernel(stream, ops, m);
    free(m);
    return code;
}

bool mock_mark_for_tools(const char *text, aclrtStream stream) {
    const size_t length = strlen(text);
    if (length < 1 || length >= MESSAGE || queue_mark(text, length, stream, &tool_ops) != 0) return false;
    add(text, "mark", mock_acl_now_ns(), -1);
    return true;
}

/* The host's mark at once, the stream's in its turn. A null stream: -1. */
MOCK_EXPORT aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream) {
    MOCK_ENTER(aclprofMarkEx);
    if (!mock_trace_marks()) return failed("no session records marks");
    if (msg == NULL || stream == NULL || msgLen < 1 || msgLen >= MESSAGE || strnlen(msg, MESSAGE) != msgLen)
        return failed("no stream, or no message of 1 to 127 bytes");
    if (queue_mark(msg, msgLen, stream, &mark_ops) != 0) return FAILED;
    add(msg, "mark", mock_acl_now_ns(), -1);
    return 0;
}

MOCK_EXPORT aclprofStepInfo *aclprofCreateStepInfo(void) {
    MOCK_ENTER_PTR(aclprofCreateStepInfo);
    step *s = mock_thing_new(&step_type, sizeof *s);
    if (s == NULL) return NULL;
    s->number = atomic_fetch_add(&next_step, 1);
    return s->thing.handle;
}

MOCK_EXPORT void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo) {
    if (mock_enter(MOCK_API_aclprofDestroyStepInfo) == 0) mock_thing_destroy(&step_type, stepinfo,
        "stepinfo");
}

/* Each end once; a second time: 100000. Any tag but the start is the end. The stream refuses: 500002. */
MOCK_EXPORT aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag,
    aclrtStream stream) {
    MOCK_ENTER(aclprofGetStepTimestamp);
    void *found = NULL;
    const aclError code = mock_thing_find(&step_type, stepInfo, "stepInfo", &found);
    if (code != 0) return code;
    step *s = found;
    bool *done = tag == ACL_STEP_START ? &s->started : &s->ended;
    if (*done) return mock_invalid("this end of step %llu is there", (unsigned long long)s->number);
    *done = true;
    char name[MESSAGE];
    const int n = snprintf(name, sizeof name, "step %llu %s", (unsigned long long)s->number,
        tag == ACL_STEP_START ? "start" : "end");
    return queue_mark(name, (size_t)n, stream, &step_ops) == 0 ? 0 : ACL_ERROR_GE_FAILURE;
}

/* ---- ranges with tensors ---- */

/* A number for a text, the same for the same text; null: the greatest (own choice). */
MOCK_EXPORT uint64_t aclprofStr2Id(const char *message) {
    if (mock_enter(MOCK_API_aclprofStr2Id) != 0 || message == NULL) return UINT64_MAX;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (; *message != '\0'; message++) hash = (hash ^ (unsigned char)*message) * UINT64_C(0x100000001B3);
    return hash;
}

/* The tensors are not kept (own choice). */
MOCK_EXPORT aclError aclprofRangePushEx(aclprofEventAttributes *attr) {
    MOCK_ENTER(aclprofRangePushEx);
    if (attr == NULL || attr->message.tensorInfo == NULL) return mock_null("attr");
    if (attr->messageType != ACL_PROF_MESSAGE_TYPE_TENSOR_INFO) return mock_invalid("message %u",
        attr->messageType);
    if (!mock_trace_marks()) return failed("no session records marks");
    char name[MESSAGE];
    snprintf(name, sizeof name, "operator %016llx", (unsigned long long)attr->message.tensorInfo->opNameId);
    return push(name);
}

MOCK_EXPORT aclError aclprofRangePop(void) {
    MOCK_ENTER(aclprofRangePop);
    return mock_trace_marks() ? pop() : failed("no session records marks");
}
