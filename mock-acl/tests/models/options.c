/* Part of racl (mock-acl). Options of model loads, attributes of queues, questions about routes: each kind,
 * its size and its limits. */
#include "acl/acl_mdl.h"
#include "acl/acl_tdt_queue.h"
#include "check.h"

/* ---- loads ---- */

static aclmdlConfigHandle *config;

static aclError set_size(aclmdlConfigAttr a, size_t n) { return aclmdlSetConfigOpt(config, a, &n, sizeof n); }
static aclError set_int(aclmdlConfigAttr a, int32_t n) { return aclmdlSetConfigOpt(config, a, &n, sizeof n); }
static aclError set_pointer(aclmdlConfigAttr a, const void *p) {
    return aclmdlSetConfigOpt(config, a, &p, sizeof p);
}

/* The load itself ends with the model, 145xxx; what lacks gives 100000. */
static aclError load(void) {
    uint32_t id = 0;
    return aclmdlLoadWithConfig(config, &id);
}

static int gets_to_the_model(void) {
    const aclError code = load();
    return code / 1000 % 100 == 45; /* 145xxx and 545xxx */
}

static void options_of_loads(void) {
    up();
    config = aclmdlCreateConfigHandle();
    CODE(load(), 100000);
    CODE(aclmdlSetConfigOpt(config, ACL_MDL_PRIORITY_INT32, NULL, 4), 100000);
    CODE(set_int(ACL_MDL_PRIORITY_INT32, -1), 100000);
    CODE(set_int(ACL_MDL_PRIORITY_INT32, 8), 100000);
    OK(set_int(ACL_MDL_PRIORITY_INT32, 7));
    OK(set_int(ACL_MDL_WITHOUT_GRAPH_INT32, 0));
    OK(set_int(ACL_MDL_WITHOUT_GRAPH_INT32, 1));
    CODE(set_int(ACL_MDL_WITHOUT_GRAPH_INT32, 2), 100000);
    CODE(set_int(ACL_MDL_LOAD_TYPE_SIZET, 1), 100000); /* of another size */
    CODE(set_size(ACL_MDL_LOAD_TYPE_SIZET, 0), 100000);
    CODE(set_size(ACL_MDL_LOAD_TYPE_SIZET, ACL_MDL_LOAD_FROM_MEM_WITH_Q + 1), 100000);
    CODE(set_size((aclmdlConfigAttr)31, 0), 100000);
    CODE(set_size((aclmdlConfigAttr)-1, 0), 100000);
    OK(set_size(ACL_MDL_WORKSPACE_MEM_OPTIMIZE, ACL_WORKSPACE_MEM_OPTIMIZE_INPUTOUTPUT));
    CODE(set_size(ACL_MDL_WORKSPACE_MEM_OPTIMIZE, ACL_WORKSPACE_MEM_OPTIMIZE_INPUTOUTPUT + 1), 100000);
    CODE(set_pointer(ACL_MDL_PATH_PTR, NULL), 100000);
    OK(set_pointer(ACL_MDL_WEIGHT_ADDR_PTR, NULL));
    OK(set_pointer(ACL_MDL_WORKSPACE_ADDR_PTR, NULL));
    OK(aclmdlDestroyConfigHandle(config));
}

static void what_a_load_needs(void) {
    static const char model[64];
    up();
    config = aclmdlCreateConfigHandle();
    OK(set_size(ACL_MDL_LOAD_TYPE_SIZET, ACL_MDL_LOAD_FROM_FILE));
    CODE(load(), 100000);
    OK(set_pointer(ACL_MDL_PATH_PTR, "/nowhere"));
    CHECK(gets_to_the_model());
    OK(set_size(ACL_MDL_LOAD_TYPE_SIZET, ACL_MDL_LOAD_FROM_MEM));
    CODE(load(), 100000);
    OK(set_pointer(ACL_MDL_MEM_ADDR_PTR, model));
    CODE(load(), 100000);
    OK(set_size(ACL_MDL_MEM_SIZET, sizeof model));
    CHECK(gets_to_the_model());
    OK(set_size(ACL_MDL_WEIGHT_SIZET, 0));
    OK(set_size(ACL_MDL_WORKSPACE_SIZET, 0));
    OK(set_size(ACL_MDL_LOAD_TYPE_SIZET, ACL_MDL_LOAD_FROM_MEM_WITH_Q));
    CODE(load(), 100000);
    OK(set_size(ACL_MDL_INPUTQ_NUM_SIZET, 0));
    OK(set_size(ACL_MDL_OUTPUTQ_NUM_SIZET, 0));
    OK(set_pointer(ACL_MDL_INPUTQ_ADDR_PTR, model));
    CODE(load(), 100000);
    OK(set_pointer(ACL_MDL_OUTPUTQ_ADDR_PTR, model));
    CODE(load(), 207000); /* no models that wait at queues */
    OK(set_size(ACL_MDL_LOAD_TYPE_SIZET, ACL_MDL_LOAD_FROM_MEM));
    OK(set_pointer(ACL_MDL_WEIGHT_PATH_PTR, "/weights"));
    CHECK(gets_to_the_model());
    OK(set_size(ACL_MDL_LOAD_TYPE_SIZET, ACL_MDL_LOAD_FROM_MEM_WITH_MEM));
    CODE(load(), 100000); /* a path of weights beside memory */
    OK(set_size(ACL_MDL_LOAD_TYPE_SIZET, ACL_MDL_LOAD_FROM_FILE_WITH_MEM));
    CODE(load(), 100000);
    CODE(aclmdlSetExternalWeightAddress(config, NULL, device(64), 64), 100000);
    CODE(aclmdlSetExternalWeightAddress(config, "w", NULL, 64), 100000);
    CODE(aclmdlSetExternalWeightAddress(config, "w", device(64), 0), 100000);
    CODE(aclmdlSetExternalWeightAddress(config, "w", device(64), 33), 100000);
    OK(aclmdlSetExternalWeightAddress(config, "w", device(64), 64));
    OK(aclmdlSetExternalWeightAddress(config, "v", device(64), 32));
    OK(aclmdlDestroyConfigHandle(config));
    CODE(set_size(ACL_MDL_MEM_SIZET, 1), 100000);
}

static void options_of_runs(void) {
    aclmdlExecConfigHandle *run = aclmdlCreateExecConfigHandle();
    int32_t ms = 5;
    OK(aclmdlSetExecConfigOpt(run, ACL_MDL_STREAM_SYNC_TIMEOUT, &ms, sizeof ms));
    OK(aclmdlSetExecConfigOpt(run, ACL_MDL_EVENT_SYNC_TIMEOUT, &ms, sizeof ms));
    CODE(aclmdlSetExecConfigOpt(run, ACL_MDL_EVENT_SYNC_TIMEOUT, &ms, 8), 100000);
    CODE(aclmdlSetExecConfigOpt(run, ACL_MDL_EVENT_SYNC_TIMEOUT, NULL, 4), 100000);
    CODE(aclmdlSetExecConfigOpt(run, (aclmdlExecConfigAttr)9, &ms, 4), 100000);
    ms = -2;
    CODE(aclmdlSetExecConfigOpt(run, ACL_MDL_STREAM_SYNC_TIMEOUT, &ms, sizeof ms), 100000);
    OK(aclmdlDestroyExecConfigHandle(run));
    CODE(aclmdlDestroyExecConfigHandle(run), 100000);
}

/* ---- queues ---- */

static void attributes_of_queues(void) {
    up();
    acltdtQueueAttr *a = acltdtCreateQueueAttr();
    const char *name = "one", *got = NULL, *none = NULL;
    char longest[200];
    uint32_t depth = 7, read = 0;
    size_t size = 0;
    OK(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name));
    OK(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
    OK(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, sizeof got, &size, &got));
    CHECK(size == sizeof got && strcmp(got, "one") == 0);
    OK(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof read, &size, &read));
    CHECK(size == 4 && read == 7);
    CODE(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, 3, &name), 100000);
    CODE(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, sizeof none, &none), 100000);
    CODE(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 2, &depth), 100000);
    CODE(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 4, NULL), 100000);
    CODE(acltdtSetQueueAttr(a, (acltdtQueueAttrType)9, 4, &depth), 100000);
    memset(longest, 'x', sizeof longest);
    longest[199] = 0;
    const char *long_name = longest;
    CODE(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_NAME_PTR, sizeof long_name, &long_name), 100000);
    CODE(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 3, &size, &read), 100000);
    CODE(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 4, NULL, &read), 100000);
    CODE(acltdtGetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &size, NULL), 100000);
    CODE(acltdtGetQueueAttr(a, (acltdtQueueAttrType)9, 4, &size, &read), 100000);
    for (uint32_t d = 0; d < 3; d++) { /* 2 is the least */
        uint32_t q = 0;
        OK(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof d, &d));
        CODE(acltdtCreateQueue(a, &q), d < 2 ? 107000 : 0);
        if (d == 2) OK(acltdtDestroyQueue(q));
    }
    depth = 8193;
    OK(acltdtSetQueueAttr(a, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
    CODE(acltdtCreateQueue(a, &read), 107000);
    OK(acltdtDestroyQueueAttr(a));
}

/* ---- routes ---- */

static uint32_t queue(void) {
    uint32_t q = 0;
    OK(acltdtCreateQueue(NULL, &q));
    return q;
}

static void bind(uint32_t from, uint32_t to) {
    acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
    acltdtQueueRoute *r = acltdtCreateQueueRoute(from, to);
    OK(acltdtAddQueueRoute(list, r));
    OK(acltdtBindQueueRoutes(list));
    OK(acltdtDestroyQueueRoute(r));
    OK(acltdtDestroyQueueRouteList(list));
}

/* -1: the question is refused. */
static int answers(int mode, const uint32_t *from, const uint32_t *to) {
    acltdtQueueRouteQueryInfo *q = acltdtCreateQueueRouteQueryInfo();
    acltdtQueueRouteList *found = acltdtCreateQueueRouteList();
    const uint32_t m = (uint32_t)mode;
    OK(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, 4, &m));
    if (from != NULL) OK(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32, 4, from));
    if (to != NULL) OK(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, 4, to));
    const aclError code = acltdtQueryQueueRoutes(q, found);
    const int n = code == 0 ? (int)acltdtGetQueueRouteNum(found) : -1;
    CHECK(code == 0 || code == 100000);
    OK(acltdtDestroyQueueRouteQueryInfo(q));
    OK(acltdtDestroyQueueRouteList(found));
    return n;
}

static void questions(void) {
    up();
    const uint32_t a = queue(), b = queue(), c = queue();
    bind(a, b);
    bind(a, c);
    bind(b, c);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_SRC, &a, NULL) == 2);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_SRC, &c, NULL) == 0);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_DST, NULL, &c) == 2);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST, &a, &c) == 1);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST, &c, &a) == 0);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL, NULL, NULL) == 0); /* none has an error */
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_SRC, NULL, &a) == -1);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_DST, &a, NULL) == -1);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST, &a, NULL) == -1);
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST, NULL, &a) == -1);
    CHECK(answers(99, &a, &b) == -1);
    acltdtQueueRouteQueryInfo *q = acltdtCreateQueueRouteQueryInfo();
    CODE(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, 8, &a), 100000);
    CODE(acltdtSetQueueRouteQueryInfo(q, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, 4, NULL), 100000);
    CODE(acltdtSetQueueRouteQueryInfo(q, (acltdtQueueRouteQueryInfoParamType)9, 4, &a), 100000);
    OK(acltdtDestroyQueueRouteQueryInfo(q));
    for (int i = 0; i < 20; i++) bind(a, queue()); /* more than a list has room for at first */
    CHECK(answers(ACL_TDT_QUEUE_ROUTE_QUERY_SRC, &a, NULL) == 22);
    char out[8];
    size_t size = 0;
    OK(acltdtEnqueueData(a, "x", 2, NULL, 0, 0, 0));
    OK(acltdtDequeueData(c, out, sizeof out, &size, NULL, 0, 0)); /* straight from a */
    OK(acltdtDequeueData(c, out, sizeof out, &size, NULL, 0, 0)); /* by way of b */
    CODE(acltdtDequeueData(c, out, sizeof out, &size, NULL, 0, 0), 207013);
}

int main(void) {
    options_of_loads();
    what_a_load_needs();
    options_of_runs();
    attributes_of_queues();
    questions();
    CHECK(mock_acl_reset() == 0 && live().library_objects == 0);
    return 0;
}
