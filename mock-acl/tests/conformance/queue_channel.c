/* Part of racl (mock-acl). Channels of tensors, queues and their attributes. */
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "conform.h"

static const int64_t dims2[2] = {2, 3};

static acltdtDataItem *item(void *data) {
    acltdtDataItem *i = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims2, 2, ACL_INT8, data, 6);
    NEED(i != NULL);
    return i;
}

RULE(queue, items_keep_what_they_are_given, "guide: acltdtCreateDataItem") {
    char data[6];
    int64_t got[2] = {0, 0};
    acltdtDataItem *i = item(data);
    TRUE(acltdtGetTensorTypeFromItem(i) == ACL_TENSOR_DATA_TENSOR &&
        acltdtGetDataTypeFromItem(i) == ACL_INT8);
    TRUE(acltdtGetDataAddrFromItem(i) == data && acltdtGetDataSizeFromItem(i) == 6);
    TRUE(acltdtGetDimNumFromItem(i) == 2);
    EXPECT(acltdtGetDimsFromItem(i, got, 2), 0);
    TRUE(got[0] == 2 && got[1] == 3);
    EXPECT(acltdtDestroyDataItem(i), 0);
}

RULE(queue, dimensions_and_their_number_go_together, "implementation: acltdtCreateDataItem") {
    char data[6];
    TRUE(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, NULL, 1, ACL_INT8, data, 6) == NULL);
    TRUE(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims2, 0, ACL_INT8, data, 6) == NULL);
    TRUE(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims2, 129, ACL_INT8, data, 6) == NULL);
}

RULE(queue, only_tensors_have_dimensions, "implementation: acltdtCreateDataItem") {
    char data[6];
    TRUE(acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, dims2, 2, ACL_INT8, data, 6) == NULL);
    acltdtDataItem *i = acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, NULL, 0, ACL_INT8, data, 6);
    NEED(i != NULL);
    TRUE(acltdtGetDataTypeFromItem(i) == ACL_DT_UNDEFINED && acltdtGetDataSizeFromItem(i) == 0);
    TRUE(acltdtGetDataAddrFromItem(i) == NULL);
    OK(acltdtDestroyDataItem(i));
}

RULE(queue, room_for_dimensions_is_checked, "implementation: acltdtGetDimsFromItem") {
    char data[6];
    int64_t got[2];
    acltdtDataItem *i = item(data);
    EXPECT(acltdtGetDimsFromItem(i, got, 1), 100000);
    EXPECT(acltdtGetDimsFromItem(i, NULL, 2), 100000);
    EXPECT(acltdtGetDimsFromItem(i, got, 0), 100000);
    EXPECT(acltdtGetDimsFromItem(NULL, got, 2), 100000);
    OK(acltdtDestroyDataItem(i));
}

RULE(queue, items_of_null, "implementation: acltdtGetTensorTypeFromItem and others") {
    TRUE(acltdtGetTensorTypeFromItem(NULL) == ACL_TENSOR_DATA_UNDEFINED);
    TRUE(acltdtGetDataTypeFromItem(NULL) == ACL_DT_UNDEFINED && acltdtGetDataAddrFromItem(NULL) == NULL);
    TRUE(acltdtGetDataSizeFromItem(NULL) == 0 && acltdtGetDimNumFromItem(NULL) == 0);
    EXPECT(acltdtDestroyDataItem(NULL), 100000);
}

RULE(queue, slices_of_a_whole_item, "implementation: acltdtGetSliceInfoFromItem") {
    char data[6];
    size_t number = 7, id = 7;
    acltdtDataItem *i = item(data);
    EXPECT(acltdtGetSliceInfoFromItem(i, &number, &id), 0);
    TRUE(number == 0 && id == 0);
    EXPECT(acltdtGetSliceInfoFromItem(i, NULL, &id), 100000);
    OK(acltdtDestroyDataItem(i));
}

RULE(queue, a_dataset_keeps_items_in_order, "guide: acltdtAddDataItem") {
    up();
    char data[12];
    acltdtDataset *set = acltdtCreateDataset();
    acltdtDataItem *a = item(data), *b = item(data + 6);
    NEED(set != NULL);
    TRUE(acltdtGetDatasetSize(set) == 0 && acltdtGetDataItem(set, 0) == NULL);
    OK(acltdtAddDataItem(set, a));
    OK(acltdtAddDataItem(set, b));
    TRUE(acltdtGetDatasetSize(set) == 2 && acltdtGetDataItem(set, 0) == a && acltdtGetDataItem(set, 1) == b);
    EXPECT(acltdtAddDataItem(set, NULL), 100000);
    EXPECT(acltdtAddDataItem(NULL, a), 100000);
    EXPECT(acltdtDestroyDataset(set), 0);
    EXPECT(acltdtDestroyDataset(NULL), 100000);
    EXPECT(acltdtDestroyDataItem(a), 0);
    EXPECT(acltdtDestroyDataItem(b), 0);
}

RULE(queue, host_and_device_memory_do_not_mix, "implementation: acltdtAddDataItem") {
    up();
    char data[6];
    acltdtDataset *set = acltdtCreateDataset();
    OK(acltdtAddDataItem(set, item(device(64))));
    EXPECT(acltdtAddDataItem(set, item(data)), 100000);
}

RULE(queue, channels_need_names, "implementation: acltdtCreateChannelWithCapacity") {
    up();
    char name[200];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    TRUE(acltdtCreateChannelWithCapacity(0, NULL, 2) == NULL);
    TRUE(acltdtCreateChannelWithCapacity(0, name, 2) == NULL);
    EXPECT(acltdtDestroyChannel(NULL), 100000);
    EXPECT(acltdtStopChannel(NULL), 100000);
    EXPECT(acltdtCleanChannel(NULL), 100000);
}

static acltdtChannelHandle *channel(const char *name) {
    acltdtChannelHandle *c = acltdtCreateChannelWithCapacity(0, name, 2);
    if (c == NULL) SKIP("this driver has no queues");
    return c;
}

RULE(queue, an_empty_channel_gives_nothing, "guide: acltdtReceiveTensor") {
    up();
    size_t size = 7;
    acltdtChannelHandle *c = channel("conform_empty");
    acltdtDataset *set = acltdtCreateDataset();
    EXPECT(acltdtReceiveTensor(c, set, 0), 207013);
    EXPECT(acltdtReceiveTensor(c, NULL, 0), 100000);
    OK(acltdtQueryChannelSize(c, &size));
    TRUE(size == 0);
    EXPECT(acltdtDestroyChannel(c), 0);
}

RULE(queue, a_full_channel_takes_no_more, "guide: acltdtSendTensor") {
    up();
    char data[6] = "12345";
    size_t size = 0;
    acltdtChannelHandle *c = channel("conform_full");
    acltdtDataset *set = acltdtCreateDataset();
    OK(acltdtAddDataItem(set, item(data)));
    OK(acltdtSendTensor(c, set, 0));
    OK(acltdtSendTensor(c, set, 0));
    EXPECT(acltdtSendTensor(c, set, 0), 207014);
    OK(acltdtQueryChannelSize(c, &size));
    TRUE(size == 2);
    OK(acltdtCleanChannel(c));
    OK(acltdtQueryChannelSize(c, &size));
    TRUE(size == 0);
    OK(acltdtDestroyChannel(c));
}

RULE(queue, what_is_sent_is_received_in_order, "guide: acltdtSendTensor, acltdtReceiveTensor") {
    up();
    char data[6] = "first";
    acltdtChannelHandle *c = channel("conform_order");
    acltdtDataset *in = acltdtCreateDataset(), *out = acltdtCreateDataset();
    OK(acltdtAddDataItem(in, item(data)));
    OK(acltdtSendTensor(c, in, 0));
    memcpy(data, "later", 6);
    OK(acltdtSendTensor(c, in, 0));
    OK(acltdtReceiveTensor(c, out, 0));
    NEED(acltdtGetDatasetSize(out) == 1);
    TRUE(memcmp(acltdtGetDataAddrFromItem(acltdtGetDataItem(out, 0)), "first", 6) == 0);
    OK(acltdtReceiveTensor(c, out, 0));
    TRUE(memcmp(acltdtGetDataAddrFromItem(acltdtGetDataItem(out, 0)), "later", 6) == 0);
    EXPECT(acltdtAddDataItem(out, acltdtGetDataItem(in, 0)), 200006);
    OK(acltdtDestroyChannel(c));
}

/* ---- attributes and routes ---- */

RULE(queue, attributes_have_defaults, "guide: acltdtCreateQueueAttr") {
    uint32_t depth = 0;
    size_t size = 0;
    const char *name = NULL;
    acltdtQueueAttr *a = acltdtCreateQueueAttr();
    NEED(a != NULL);
    EXPECT(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &size, &depth), 0);
    TRUE(depth == 8 && size == 4);
    EXPECT(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &size, &name), 0);
    TRUE(name != NULL && name[0] == '\0');
    EXPECT(acltdtDestroyQueueAttr(a), 0);
    EXPECT(acltdtDestroyQueueAttr(NULL), 100000);
}

RULE(queue, attributes_are_copied, "guide: acltdtSetQueueAttr") {
    char text[4] = "abc";
    const char *name = text;
    size_t size = 0;
    acltdtQueueAttr *a = acltdtCreateQueueAttr();
    EXPECT(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name), 0);
    text[0] = 'x';
    OK(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &size, &name));
    TRUE(strcmp(name, "abc") == 0);
    OK(acltdtDestroyQueueAttr(a));
}

RULE(queue, attributes_are_checked, "implementation: acltdtSetQueueAttr, acltdtGetQueueAttr") {
    uint32_t depth = 4;
    size_t size = 0;
    char text[200];
    const char *name = text;
    memset(text, 'n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    acltdtQueueAttr *a = acltdtCreateQueueAttr();
    EXPECT(acltdtSetQueueAttr(NULL, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth), 100000);
    EXPECT(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 4, NULL), 100000);
    EXPECT(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 8, &depth), 100000);
    EXPECT(acltdtSetQueueAttr(a, (acltdtQueueAttrType)9, 4, &depth), 100000);
    EXPECT(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name), 100000);
    EXPECT(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 3, &size, &depth), 100000);
    OK(acltdtDestroyQueueAttr(a));
}

RULE(queue, a_route_keeps_its_ends, "guide: acltdtCreateQueueRoute, acltdtGetQueueRouteParam") {
    uint32_t number = 0;
    int32_t status = 7;
    size_t size = 0;
    acltdtQueueRoute *r = acltdtCreateQueueRoute(3, 4);
    NEED(r != NULL);
    OK(acltdtGetQueueRouteParam(r, ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 4, &size, &number));
    TRUE(number == 3 && size == 4);
    OK(acltdtGetQueueRouteParam(r, ACL_TDT_QUEUE_ROUTE_DST_UINT32, 4, &size, &number));
    TRUE(number == 4);
    OK(acltdtGetQueueRouteParam(r, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 4, &size, &status));
    TRUE(status == 0);
    EXPECT(acltdtGetQueueRouteParam(r, ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 3, &size, &number), 100000);
    EXPECT(acltdtDestroyQueueRoute(r), 0);
}

RULE(queue, lists_of_routes_copy, "guide: acltdtAddQueueRoute, acltdtGetQueueRoute") {
    uint32_t number = 0;
    size_t size = 0;
    acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
    acltdtQueueRoute *r = acltdtCreateQueueRoute(3, 4), *other = acltdtCreateQueueRoute(0, 0);
    TRUE(acltdtGetQueueRouteNum(list) == 0 && acltdtGetQueueRouteNum(NULL) == 0);
    OK(acltdtAddQueueRoute(list, r));
    OK(acltdtDestroyQueueRoute(r));
    TRUE(acltdtGetQueueRouteNum(list) == 1);
    OK(acltdtGetQueueRoute(list, 0, other));
    OK(acltdtGetQueueRouteParam(other, ACL_TDT_QUEUE_ROUTE_DST_UINT32, 4, &size, &number));
    TRUE(number == 4);
    EXPECT(acltdtGetQueueRoute(list, 1, other), 100000);
    EXPECT(acltdtAddQueueRoute(list, NULL), 100000);
    EXPECT(acltdtDestroyQueueRouteList(list), 0);
}

RULE(queue, questions_need_a_mode, "implementation: acltdtQueryQueueRoutes") {
    up();
    acltdtQueueRouteQueryInfo *q = acltdtCreateQueueRouteQueryInfo();
    acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
    const acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
    EXPECT(acltdtQueryQueueRoutes(q, list), 100000);
    OK(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, &mode));
    EXPECT(acltdtQueryQueueRoutes(q, list), 100000);
    EXPECT(acltdtQueryQueueRoutes(NULL, list), 100000);
    EXPECT(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, NULL), 100000);
    EXPECT(acltdtDestroyQueueRouteQueryInfo(q), 0);
}

/* ---- queues ---- */

RULE(queue, bytes_go_through_a_queue, "guide: acltdtEnqueueData, acltdtDequeueData") {
    up();
    uint32_t q = 0;
    char out[8] = "";
    size_t size = 0;
    if (acltdtCreateQueue(NULL, &q) != 0) SKIP("this driver has no queues");
    EXPECT(acltdtDequeueData(q, out, sizeof out, &size, NULL, 0, 0), 207013);
    OK(acltdtEnqueueData(q, "one", 4, NULL, 0, 0, 0));
    OK(acltdtEnqueueData(q, "two", 4, NULL, 0, 0, 0));
    OK(acltdtDequeueData(q, out, sizeof out, &size, NULL, 0, 0));
    TRUE(size == 4 && strcmp(out, "one") == 0);
    EXPECT(acltdtDestroyQueue(q), 0);
}

RULE(queue, queues_of_null, "implementation: acltdtCreateQueue, acltdtEnqueueData") {
    up();
    size_t size = 0;
    char byte = 0;
    EXPECT(acltdtCreateQueue(NULL, NULL), 100000);
    EXPECT(acltdtEnqueueData(0, NULL, 1, NULL, 0, 0, 0), 100000);
    EXPECT(acltdtEnqueueData(0, &byte, 0, NULL, 0, 0, 0), 100000);
    EXPECT(acltdtDequeueData(0, NULL, 1, &size, NULL, 0, 0), 100000);
    EXPECT(acltdtDequeueData(0, &byte, 1, NULL, NULL, 0, 0), 100000);
}

RULE(queue, kinds_of_buffers, "implementation: acltdtAllocBuf") {
    up();
    acltdtBuf buf = NULL;
    EXPECT(acltdtAllocBuf(16, 2, &buf), 100000);
    EXPECT(acltdtAllocBuf(16, 0, NULL), 100000);
}

RULE(queue, rights_inside_a_host_process, "implementation: acltdtAttachQueue on a host") {
    up();
    uint32_t q = 0, rights = 0;
    if (acltdtCreateQueue(NULL, &q) != 0) SKIP("this driver has no queues");
    EITHER(acltdtAttachQueue(q, 0, &rights), 200006, 0);
}

RULE_MOCK(queue, routes_pass_messages_on, "own choice: in the process") {
    up();
    uint32_t a = 0, b = 0;
    char out[8] = "";
    size_t size = 0;
    acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
    OK(acltdtCreateQueue(NULL, &a));
    OK(acltdtCreateQueue(NULL, &b));
    OK(acltdtAddQueueRoute(list, acltdtCreateQueueRoute(a, b)));
    OK(acltdtEnqueueData(a, "before", 7, NULL, 0, 0, 0));
    OK(acltdtBindQueueRoutes(list));
    OK(acltdtDequeueData(b, out, sizeof out, &size, NULL, 0, 0));
    TRUE(strcmp(out, "before") == 0);
    EXPECT(acltdtDestroyQueue(a), 500001);
    OK(acltdtUnbindQueueRoutes(list));
    EXPECT(acltdtDestroyQueue(a), 0);
}
