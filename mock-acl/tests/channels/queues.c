/* Channels of tensors, queues of bytes, routes: order, limits, copies, codes; threads on both ends. */
#include <pthread.h>
#include <unistd.h>
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "check.h"

static acltdtDataset *sent(float value, void *memory) {
    acltdtDataset *set = acltdtCreateDataset();
    float *p = memory;
    *p = value;
    OK(acltdtAddDataItem(set, acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, (int64_t[]){1, 1}, 2, ACL_FLOAT,
        p, 4)));
    OK(acltdtAddDataItem(set, acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, NULL, 0, ACL_FLOAT,
        NULL, 0)));
    return set;
}

static void free_sent(acltdtDataset *set) {
    for (size_t i = 0; i < acltdtGetDatasetSize(set); i++) OK(acltdtDestroyDataItem(acltdtGetDataItem(set,
        i)));
    OK(acltdtDestroyDataset(set));
}

static void items_say_what_they_are(void) {
    int64_t dims[4] = {0};
    size_t slices = 9, slice = 9;
    char byte;
    CHECK(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, NULL, 1, ACL_INT8, &byte, 1) == NULL);
    CHECK(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 0, ACL_INT8, &byte, 1) == NULL);
    CHECK(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 129, ACL_INT8, &byte, 1) == NULL);
    CHECK(acltdtCreateDataItem(ACL_TENSOR_DATA_ABNORMAL, dims, 1, ACL_INT8, &byte, 1) == NULL);
    acltdtDataItem *i = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, (int64_t[]){2, 3}, 2, ACL_INT8, &byte,
        6);
    CHECK(acltdtGetTensorTypeFromItem(i) == ACL_TENSOR_DATA_TENSOR &&
        acltdtGetDataTypeFromItem(i) == ACL_INT8);
    CHECK(acltdtGetDataAddrFromItem(i) == &byte && acltdtGetDataSizeFromItem(i) == 6 &&
        acltdtGetDimNumFromItem(i) == 2);
    OK(acltdtGetDimsFromItem(i, dims, 4));
    CHECK(dims[1] == 3);
    CODE(acltdtGetDimsFromItem(i, dims, 1), 100000);
    CODE(acltdtGetDimsFromItem(i, NULL, 2), 100000);
    OK(acltdtGetSliceInfoFromItem(i, &slices, &slice));
    CHECK(slices == 0 && slice == 0);
    OK(acltdtDestroyDataItem(i));
    CODE(acltdtDestroyDataItem(i), 100000);
    CHECK(acltdtGetTensorTypeFromItem(i) == ACL_TENSOR_DATA_UNDEFINED &&
        acltdtGetDataAddrFromItem(NULL) == NULL);
    i = acltdtCreateDataItem(ACL_TENSOR_DATA_ABNORMAL, NULL, 0, ACL_INT8, &byte, 1);
    CHECK(acltdtGetDataTypeFromItem(i) == ACL_DT_UNDEFINED && acltdtGetDataSizeFromItem(i) == 0);
    OK(acltdtDestroyDataItem(i));
}

static void a_channel_keeps_order_and_copies(void) {
    float memory = 0;
    size_t size = 9;
    acltdtChannelHandle *c = acltdtCreateChannelWithCapacity(0, "c", 2);
    acltdtDataset *in = sent(1, &memory), *out = acltdtCreateDataset();
    CODE(acltdtReceiveTensor(c, out, 0), 207013);
    CODE(acltdtReceiveTensor(c, in, 0), 100000);
    OK(acltdtSendTensor(c, in, 0));
    memory = 2;
    OK(acltdtSendTensor(c, in, -1));
    CODE(acltdtSendTensor(c, in, 0), 207014);
    CODE(acltdtSendTensor(c, in, 1), 207014);
    OK(acltdtQueryChannelSize(c, &size));
    CHECK(size == 2);
    memory = 3;
    for (int i = 1; i <= 2; i++) {
        OK(acltdtReceiveTensor(c, out, 0));
        CHECK(acltdtGetDatasetSize(out) == 2);
        const acltdtDataItem *first = acltdtGetDataItem(out, 0), *last = acltdtGetDataItem(out, 1);
        CHECK(*(float *)acltdtGetDataAddrFromItem(first) == (float)i && acltdtGetDimNumFromItem(first) == 2);
        CHECK(acltdtGetTensorTypeFromItem(last) == ACL_TENSOR_DATA_END_OF_SEQUENCE);
        CHECK(strcmp(acltdtGetDatasetName(out), "") == 0);
    }
    acltdtDataItem *more = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, (int64_t[]){1}, 1, ACL_FLOAT,
        &memory, 4);
    CODE(acltdtAddDataItem(out, more), 200006);
    OK(acltdtDestroyDataItem(more));
    OK(acltdtSendTensor(c, in, 0));
    OK(acltdtCleanChannel(c));
    OK(acltdtQueryChannelSize(c, &size));
    CHECK(size == 0);
    OK(acltdtStopChannel(c));
    OK(acltdtSendTensor(c, in, 0)); /* stopping means nothing to it */
    OK(acltdtDestroyChannel(c));
    CODE(acltdtSendTensor(c, in, 0), 100000);
    OK(acltdtDestroyDataset(out));
    free_sent(in);
    CHECK(acltdtCreateChannelWithCapacity(0, NULL, 2) == NULL && acltdtCreateChannelWithCapacity(0, "n",
        1) == NULL);
    CHECK(acltdtCreateChannelWithCapacity(9, "n", 2) == NULL);
}

static void device_memory_is_copied_and_not_mixed(void) {
    float *d = device(4), host = 7, got = 0;
    OK(aclrtMemcpy(d, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    acltdtChannelHandle *c = acltdtCreateChannelWithCapacity(0, "d", 2);
    acltdtDataset *in = acltdtCreateDataset(), *out = acltdtCreateDataset();
    acltdtDataItem *on_device = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, (int64_t[]){1}, 1, ACL_FLOAT,
        d, 4);
    acltdtDataItem *on_host = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, (int64_t[]){1}, 1, ACL_FLOAT,
        &host, 4);
    OK(acltdtAddDataItem(in, on_device));
    CODE(acltdtAddDataItem(in, on_host), 100000);
    OK(acltdtSendTensor(c, in, 0));
    OK(acltdtReceiveTensor(c, out, 0));
    memcpy(&got, acltdtGetDataAddrFromItem(acltdtGetDataItem(out, 0)), 4);
    CHECK(got == 7);
    OK(aclrtFree(d));
    CODE(acltdtSendTensor(c, in, 0), 107000);
    OK(acltdtDestroyDataItem(on_device));
    CODE(acltdtSendTensor(c, in, 0), 100000);
    up();
}

static void *receive_one(void *channel) {
    acltdtDataset *out = acltdtCreateDataset();
    const aclError code = acltdtReceiveTensor(channel, out, -1);
    OK(acltdtDestroyDataset(out));
    return (void *)(intptr_t)code;
}

static void names_meet_and_stop_wakes(void) {
    float memory;
    pthread_t thread;
    void *code = NULL;
    acltdtChannelHandle *to = acltdtCreateChannel(0, "n"), *from = acltdtCreateChannel(0, "TF_RECEIVE_n");
    acltdtDataset *in = sent(5, &memory);
    CODE(acltdtSendTensor(to, in, 0), 100000);
    CODE(acltdtReceiveTensor(to, in, -1), 100000);
    CHECK(pthread_create(&thread, NULL, receive_one, from) == 0);
    OK(acltdtSendTensor(to, in, -1));
    CHECK(pthread_join(thread, &code) == 0 && code == NULL);
    size_t size = 0;
    CODE(acltdtQueryChannelSize(from, &size), 200006);
    CODE(acltdtCleanChannel(from), 200006);
    CHECK(pthread_create(&thread, NULL, receive_one, from) == 0);
    OK(acltdtStopChannel(from));
    CHECK(pthread_join(thread, &code) == 0 && (intptr_t)code == 500001);
    free_sent(in);
    OK(acltdtDestroyChannel(to));
    OK(acltdtDestroyChannel(from));
    CHECK(acltdtCreateChannel(0, NULL) == NULL);
}

static void attributes(void) {
    const char *name = "q", *got = NULL;
    uint32_t depth = 3;
    size_t size = 0;
    char longer[200];
    memset(longer, 'x', 199);
    longer[199] = 0;
    const char *too_long = longer;
    acltdtQueueAttr *a = acltdtCreateQueueAttr();
    OK(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &size, &depth));
    CHECK(depth == 8 && size == 4);
    depth = 2;
    OK(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth));
    OK(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, 8, &name));
    CODE(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, 8, &too_long), 100000);
    CODE(acltdtSetQueueAttr(a, (acltdtQueueAttrType)2, 4, &depth), 100000);
    CODE(acltdtSetQueueAttr(NULL, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth), 100000);
    OK(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, 8, &size, &got));
    CHECK(strcmp(got, "q") == 0 && size == 8);
    CODE(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, 4, &size, &got), 100000);
    OK(acltdtDestroyQueueAttr(a));
    CODE(acltdtDestroyQueueAttr(a), 100000);
}

static uint32_t queue_of(uint32_t depth) {
    uint32_t id = 99;
    acltdtQueueAttr *a = acltdtCreateQueueAttr();
    OK(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth));
    OK(acltdtCreateQueue(a, &id));
    OK(acltdtDestroyQueueAttr(a));
    return id;
}

static void a_queue_keeps_bytes(void) {
    char out[16] = "", user[4] = "";
    size_t size = 0;
    uint32_t rights = 0;
    const uint32_t q = queue_of(2);
    CODE(acltdtDequeueData(q, out, 16, &size, NULL, 0, 0), 207013);
    OK(acltdtEnqueueData(q, "one", 4, "u1", 3, 0, 0));
    OK(acltdtEnqueueData(q, "second", 7, NULL, 0, 0, 0));
    CODE(acltdtEnqueueData(q, "x", 2, NULL, 0, 0, 0), 207014);
    OK(acltdtDequeueData(q, out, 16, &size, user, 4, 0));
    CHECK(size == 4 && strcmp(out, "one") == 0 && strcmp(user, "u1") == 0);
    CODE(acltdtDequeueData(q, out, 3, &size, NULL, 0, 0), 107000);
    CHECK(size == 7);
    OK(acltdtDequeueData(q, out, 7, &size, user, 4, 0));
    CHECK(strcmp(out, "second") == 0);
    CODE(acltdtEnqueueData(q, NULL, 4, NULL, 0, 0, 0), 100000);
    CODE(acltdtEnqueueData(q, "x", 0, NULL, 0, 0, 0), 100000);
    CODE(acltdtDequeueData(q, out, 16, NULL, NULL, 0, 0), 100000);
    CODE(acltdtEnqueueData(q + 7, "x", 2, NULL, 0, 0, 0), 107000);
    acltdtBuf buf = NULL;
    CODE(acltdtDequeue(q, &buf, 0), 500001);
    CODE(acltdtDequeue(q, &buf, 1), 500001);
    CODE(acltdtEnqueue(q, NULL, 0), 100000);
    CODE(acltdtAllocBuf(16, 2, &buf), 100000);
    CODE(acltdtAllocBuf(16, 0, NULL), 100000);
    OK(acltdtEnqueueData(q, "bytes", 6, NULL, 0, 0, 0));
    CODE(acltdtDequeue(q, &buf, 0), 107000);
    OK(acltdtAttachQueue(q, 0, &rights));
    CHECK(rights == 7);
    OK(acltdtGrantQueue(q, (int32_t)getpid(), ACL_TDT_QUEUE_PERMISSION_DEQUEUE, 0));
    CODE(acltdtGrantQueue(q, (int32_t)getpid(), 8, 0), 100000);
    CODE(acltdtGrantQueue(q, 1, 1, 0), 107000);
    OK(acltdtDestroyQueue(q));
    CODE(acltdtDestroyQueue(q), 107000);
    CODE(acltdtCreateQueue(NULL, NULL), 100000);
}

static acltdtQueueRouteList *routes(uint32_t from, uint32_t to) {
    acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
    acltdtQueueRoute *r = acltdtCreateQueueRoute(from, to);
    OK(acltdtAddQueueRoute(list, r));
    OK(acltdtDestroyQueueRoute(r));
    return list;
}

static int32_t status_of(const acltdtQueueRouteList *list, size_t index) {
    acltdtQueueRoute *r = acltdtCreateQueueRoute(0, 0);
    int32_t status = -1;
    size_t size = 0;
    OK(acltdtGetQueueRoute(list, index, r));
    OK(acltdtGetQueueRouteParam(r, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 4, &size, &status));
    CODE(acltdtGetQueueRouteParam(r, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 3, &size, &status), 100000);
    CODE(acltdtGetQueueRoute(list, 99, r), 100000);
    OK(acltdtDestroyQueueRoute(r));
    return status;
}

static void routes_pass_messages_on(void) {
    const uint32_t a = queue_of(2), b = queue_of(2), c = queue_of(2);
    char out[8];
    size_t size;
    acltdtQueueRouteList *ab = routes(a, b), *ac = routes(a, c), *ba = routes(b, a), *none = routes(a, 999);
    OK(acltdtBindQueueRoutes(ab));
    OK(acltdtBindQueueRoutes(ac));
    CHECK(status_of(ab, 0) == ACL_TDT_QUEUE_ROUTE_BIND);
    CODE(acltdtBindQueueRoutes(ba), 500001);
    CODE(acltdtBindQueueRoutes(none), 500001);
    CODE(acltdtDestroyQueue(b), 500001);
    for (int i = 0; i < 3; i++) OK(acltdtEnqueueData(a, i == 0 ? "0" : i == 1 ? "1" : "2", 2, NULL, 0, 0, 0));
    CODE(acltdtDequeueData(c, out, 1, &size, NULL, 0, 0), 107000);
    for (int i = 0; i < 2; i++) {
        OK(acltdtDequeueData(b, out, 8, &size, NULL, 0, 0));
        CHECK(out[0] == '0' + i);
    }
    CODE(acltdtDequeueData(b, out, 8, &size, NULL, 0, 0), 207013); /* c has no room for the third */
    OK(acltdtDequeueData(c, out, 8, &size, NULL, 0, 0));
    OK(acltdtDequeueData(b, out, 8, &size, NULL, 0, 0));
    CHECK(out[0] == '2');
    acltdtQueueRouteQueryInfo *q = acltdtCreateQueueRouteQueryInfo();
    acltdtQueueRouteList *found = acltdtCreateQueueRouteList();
    CODE(acltdtQueryQueueRoutes(q, found), 100000);
    const acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
    OK(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, &mode));
    CODE(acltdtQueryQueueRoutes(q, found), 100000);
    OK(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32, 4, &a));
    OK(acltdtQueryQueueRoutes(q, found));
    CHECK(acltdtGetQueueRouteNum(found) == 2);
    OK(acltdtUnbindQueueRoutes(ab));
    CODE(acltdtUnbindQueueRoutes(ab), 500001);
    OK(acltdtQueryQueueRoutes(q, found));
    CHECK(acltdtGetQueueRouteNum(found) == 1);
    OK(acltdtDestroyQueue(b));
    OK(acltdtDestroyQueueRouteQueryInfo(q));
    up(); /* lists, queues and messages that are left */
}

#define MESSAGES 500

static void *produce(void *queue) {
    OK(aclrtSetDevice(0));
    for (int i = 0; i < MESSAGES; i++) OK(acltdtEnqueueData(*(uint32_t *)queue, &i, sizeof i, NULL, 0, -1,
        0));
    return NULL;
}

static void threads_on_both_ends(void) {
    pthread_t thread;
    uint32_t q = queue_of(2);
    CHECK(pthread_create(&thread, NULL, produce, &q) == 0);
    for (int i = 0, got = -1; i < MESSAGES; i++) {
        size_t size = 0;
        OK(acltdtDequeueData(q, &got, sizeof got, &size, NULL, 0, -1));
        CHECK(got == i);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    OK(acltdtDestroyQueue(q));
}

static void *enqueue_later(void *queue) {
    OK(aclrtSetDevice(0));
    OK(acltdtEnqueueData(*(uint32_t *)queue, "x", 2, NULL, 0, 0, 0));
    return NULL;
}

static void *destroy_later(void *queue) {
    OK(aclrtSetDevice(0));
    OK(acltdtDestroyQueue(*(uint32_t *)queue));
    return NULL;
}

static void *enqueue_buffer_later(void *queue) {
    acltdtBuf b = NULL;
    OK(acltdtAllocBuf(16, ACL_TDT_NORMAL_MEM, &b));
    OK(acltdtEnqueue(*(uint32_t *)queue, b, 0));
    return NULL;
}

/* Waiting without end: another thread ends it, with a message or with the queue. */
static void without_time_out(void) {
    void *(*const ends[])(void *) = {enqueue_later, destroy_later, enqueue_buffer_later, destroy_later};
    const int codes[] = {0, 107000, 0, 107000};
    for (int i = 0; i < 4; i++) {
        uint32_t q = queue_of(2);
        pthread_t thread;
        char out[8];
        size_t size = 0;
        acltdtBuf b = NULL;
        CHECK(pthread_create(&thread, NULL, ends[i], &q) == 0);
        if (i < 2) CODE(acltdtDequeueData(q, out, sizeof out, &size, NULL, 0, -1), codes[i]);
        else CODE(acltdtDequeue(q, &b, -1), codes[i]);
        CHECK(pthread_join(thread, NULL) == 0);
        if (b != NULL) OK(acltdtFreeBuf(b));
        if (codes[i] == 0) OK(acltdtDestroyQueue(q));
    }
}

int main(void) {
    up();
    items_say_what_they_are();
    a_channel_keeps_order_and_copies();
    device_memory_is_copied_and_not_mixed();
    names_meet_and_stop_wakes();
    attributes();
    a_queue_keeps_bytes();
    routes_pass_messages_on();
    threads_on_both_ends();
    without_time_out();
    up();
    CHECK(live().library_objects == 0);
    return 0;
}
