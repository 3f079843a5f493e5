/* Part of racl (mock-acl). Makes and destroys a handle of each kind, for good and stale values. */
#include <stdio.h>
#include <string.h>
#include "../kernels/binaries/kernels.h"
#include "../models/writer.h"
#include "acl/acl_prof.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_add.h"
#include "bad.h"

/* What a handle that has no destroying call of its own goes with. */
static aclrtBinHandle under;
static aclmdlRI graph_under;
static void *memory;

void bad_use_memory(void *device) { memory = device; }

static void *number(uint64_t n) { return (void *)(uintptr_t)n; }
static uint32_t number_of(const void *p) { return (uint32_t)(uintptr_t)p; }

/* ---- of the runtime ---- */

static void *stream(void) {
    aclrtStream s = NULL;
    aclrtCreateStream(&s);
    return s;
}
static void drop_stream(void *h) { aclrtDestroyStream(h); }

static void *event(void) {
    aclrtEvent e = NULL;
    aclrtCreateEventExWithFlag(&e, ACL_EVENT_SYNC);
    return e;
}
static void drop_event(void *h) { aclrtDestroyEvent(h); }

static void *notify(void) {
    aclrtNotify n = NULL;
    aclrtCreateNotify(&n, 0);
    return n;
}
static void drop_notify(void *h) { aclrtDestroyNotify(h); }

static void *count_notify(void) {
    aclrtCntNotify n = NULL;
    aclrtCntNotifyCreate(&n, 0);
    return n;
}
static void drop_count_notify(void *h) { aclrtCntNotifyDestroy(h); }

static void *label(void) {
    aclrtLabel l = NULL;
    aclrtCreateLabel(&l);
    return l;
}
static void drop_label(void *h) { aclrtDestroyLabel(h); }

static void *label_list(void) {
    aclrtLabel l = label();
    aclrtLabelList list = NULL;
    aclrtCreateLabelList(&l, 1, &list);
    return list;
}
static void drop_label_list(void *h) { aclrtDestroyLabelList(h); }

static void *physical(void) {
    const aclrtPhysicalMemProp p = {
        .memAttr = ACL_HBM_MEM_HUGE, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtDrvMemHandle h = NULL;
    aclrtMallocPhysical(&h, 2 << 20, &p, 0);
    return h;
}
static void drop_physical(void *h) { aclrtFreePhysical(h); }

static void *pool(void) {
    const aclrtMemPoolProps p = {.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}, .maxSize = 4096};
    aclrtMemPool h = NULL;
    aclrtMemPoolCreate(&h, &p);
    return h;
}
static void drop_pool(void *h) { aclrtMemPoolDestroy(h); }

static void *allocator(void) { return aclrtAllocatorCreateDesc(); }
static void drop_allocator(void *h) { aclrtAllocatorDestroyDesc(h); }

static void *message(void) {
    aclrtMbuf b = NULL;
    aclrtAllocBuf(&b, 64);
    return b;
}
static void drop_message(void *h) { aclrtFreeBuf(h); }

static void *group(void) { return aclrtCreateGroupInfo(); }
static void drop_group(void *h) { aclrtDestroyGroupInfo(h); }

static void *stream_config(void) { return aclrtCreateStreamConfigHandle(); }

/* ---- graphs ---- */

typedef enum inside { PLAIN, WITH_CONDITION, WITH_GROUP } inside;

static void *executor(void);

/* A captured task; `made` is what the capture made beside it. */
static aclmdlRI capture(inside what, void **made) {
    aclrtStream s = stream();
    aclmdlRI g = NULL;
    aclmdlRICaptureStatus status;
    aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    if (what == WITH_GROUP) aclmdlRICaptureTaskGrpBegin(s);
    if (what == WITH_GROUP) aclnnAdd(NULL, 0, executor(), s); /* a group takes kernels only */
    else aclrtMemsetAsync(memory, 64, 1, 64, s);
    if (what == WITH_GROUP) aclmdlRICaptureTaskGrpEnd(s, made);
    aclmdlRICaptureGetInfo(s, &status, &g);
    if (what == WITH_CONDITION) aclmdlRICondHandleCreate(g, 0, (aclmdlRICondHandleFlag)0, made);
    aclmdlRICaptureEnd(s, &g);
    return g;
}

static void *graph(void) { return capture(PLAIN, NULL); }
static void drop_graph(void *h) { aclmdlRIDestroy(h); }

static void *condition(void) {
    aclmdlRICondHandle h = NULL;
    graph_under = capture(WITH_CONDITION, &h);
    return h;
}

static void *task_group(void) {
    aclrtTaskGrp h = NULL;
    graph_under = capture(WITH_GROUP, &h);
    return h;
}

static void *task(void) {
    aclrtStream s[4];
    aclmdlRITask t[4] = {NULL};
    uint32_t n = 4;
    graph_under = capture(PLAIN, NULL);
    aclmdlRIGetStreams(graph_under, s, &n);
    n = 4;
    aclmdlRIGetTasksByStream(s[0], t, &n);
    return t[0];
}
static void drop_graph_under(void *h) {
    (void)h;
    aclmdlRIDestroy(graph_under);
}

/* ---- kernels ---- */

static void *binary_text(void) {
    static const char bytes[64];
    return aclrtCreateBinary(bytes, sizeof bytes);
}
static void drop_binary_text(void *h) { aclrtDestroyBinary(h); }

static void *binary(void) {
    aclrtBinHandle b = NULL;
    aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &b);
    return b;
}
static void drop_binary(void *h) { aclrtBinaryUnLoad(h); }

static void *kernel(void) {
    aclrtFuncHandle f = NULL;
    under = binary();
    aclrtBinaryGetFunction(under, "add", &f);
    return f;
}

static void *arguments(void) {
    aclrtArgsHandle a = NULL;
    aclrtKernelArgsInit(kernel(), &a);
    return a;
}

static void *placeholder(void) {
    aclrtParamHandle p = NULL;
    aclrtKernelArgsAppendPlaceHolder(arguments(), &p);
    return p;
}
static void drop_binary_under(void *h) {
    (void)h;
    aclrtBinaryUnLoad(under);
}

/* ---- operators ---- */

static void *tensor(void) {
    static const int64_t shape[] = {2, 2}, strides[] = {2, 1};
    return aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 2, memory);
}
static void drop_tensor(void *h) { aclDestroyTensor(h); }

static void *scalar(void) {
    float one = 1;
    return aclCreateScalar(&one, ACL_FLOAT);
}
static void drop_scalar(void *h) { aclDestroyScalar(h); }

static void *ints(void) { return aclCreateIntArray((const int64_t[]){1, 2}, 2); }
static void drop_ints(void *h) { aclDestroyIntArray(h); }
static void *floats(void) { return aclCreateFloatArray((const float[]){1, 2}, 2); }
static void drop_floats(void *h) { aclDestroyFloatArray(h); }
static void *bools(void) { return aclCreateBoolArray((const bool[]){true, false}, 2); }
static void drop_bools(void *h) { aclDestroyBoolArray(h); }

static void *tensors(void) {
    const aclTensor *const list[] = {tensor(), tensor()};
    return aclCreateTensorList(list, 2);
}
static void drop_tensors(void *h) { aclDestroyTensorList(h); }

static void *scalars(void) {
    const aclScalar *const list[] = {scalar(), scalar()};
    return aclCreateScalarList(list, 2);
}
static void drop_scalars(void *h) { aclDestroyScalarList(h); }

static void *executor(void) {
    uint64_t size = 0;
    aclOpExecutor *e = NULL;
    aclnnAddGetWorkspaceSize(tensor(), tensor(), scalar(), tensor(), &size, &e);
    return e;
}
static void drop_executor(void *h) { aclDestroyAclOpExecutor(h); }

static void *data_buffer(void) { return aclCreateDataBuffer(memory, 64); }
static void drop_data_buffer(void *h) { aclDestroyDataBuffer(h); }
static void *description(void) {
    return aclCreateTensorDesc(ACL_FLOAT, 1, (const int64_t[]){4}, ACL_FORMAT_ND);
}
static void drop_description(void *h) { aclDestroyTensorDesc(h); }
static void *attributes(void) { return aclopCreateAttr(); }
static void drop_attributes(void *h) { aclopDestroyAttr(h); }

/* ---- offline models ---- */

static uint32_t load_model(void) {
    static model_writer w;
    const int64_t dims[] = {4};
    uint32_t id = 0;
    m_begin(&w);
    const uint32_t x = m_tensor(&w, "x", ACL_FLOAT, M_INPUT, 1, dims, NULL);
    const uint32_t y = m_tensor(&w, "y", ACL_FLOAT, M_OUTPUT, 1, dims, NULL);
    m_op(&w, "Abs", 1, (const uint32_t[]){x}, y, 0);
    m_finish(&w);
    aclmdlLoadFromMem(w.bytes, w.size, &id);
    return id;
}

static void *model(void) { return number(load_model()); }
static void drop_model(void *h) { aclmdlUnload(number_of(h)); }
static void *model_description(void) {
    aclmdlDesc *d = aclmdlCreateDesc();
    aclmdlGetDesc(d, load_model());
    return d;
}
static void drop_model_description(void *h) { aclmdlDestroyDesc(h); }

static void *dataset(void) {
    aclmdlDataset *d = aclmdlCreateDataset();
    aclmdlAddDatasetBuffer(d, data_buffer());
    return d;
}
static void drop_dataset(void *h) { aclmdlDestroyDataset(h); }
static void *aipp(void) { return aclmdlCreateAIPP(1); }
static void drop_aipp(void *h) { aclmdlDestroyAIPP(h); }
static void *load_config(void) { return aclmdlCreateConfigHandle(); }
static void drop_load_config(void *h) { aclmdlDestroyConfigHandle(h); }
static void *run_config(void) { return aclmdlCreateExecConfigHandle(); }
static void drop_run_config(void *h) { aclmdlDestroyExecConfigHandle(h); }
static void *bundle_query(void) { return aclmdlBundleCreateQueryInfo(); }
static void drop_bundle_query(void *h) { aclmdlBundleDestroyQueryInfo(h); }

/* ---- channels, queues, profiling ---- */

static void *queue(void) {
    uint32_t id = 0;
    acltdtCreateQueue(NULL, &id);
    return number(id);
}
static void drop_queue(void *h) { acltdtDestroyQueue(number_of(h)); }
static void *queue_attributes(void) { return acltdtCreateQueueAttr(); }
static void drop_queue_attributes(void *h) { acltdtDestroyQueueAttr(h); }
static void *route(void) { return acltdtCreateQueueRoute(number_of(queue()), number_of(queue())); }
static void drop_route(void *h) { acltdtDestroyQueueRoute(h); }
static void *routes(void) {
    acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
    acltdtAddQueueRoute(list, route());
    return list;
}
static void drop_routes(void *h) { acltdtDestroyQueueRouteList(h); }
static void *route_query(void) { return acltdtCreateQueueRouteQueryInfo(); }
static void drop_route_query(void *h) { acltdtDestroyQueueRouteQueryInfo(h); }

static void *message_of_queue(void) {
    acltdtBuf b = NULL;
    acltdtAllocBuf(64, 0, &b);
    return b;
}
static void drop_message_of_queue(void *h) { acltdtFreeBuf(h); }

static void *channel(void) { return acltdtCreateChannel(0, "channel"); }
static void drop_channel(void *h) { acltdtDestroyChannel(h); }
static void *item(void) {
    static float values[4];
    return acltdtCreateDataItem(
        ACL_TENSOR_DATA_TENSOR, (const int64_t[]){4}, 1, ACL_FLOAT, values, sizeof values);
}
static void drop_item(void *h) { acltdtDestroyDataItem(h); }
static void *items(void) {
    acltdtDataset *d = acltdtCreateDataset();
    acltdtAddDataItem(d, item());
    return d;
}
static void drop_items(void *h) { acltdtDestroyDataset(h); }

static void *profile(void) {
    uint32_t devices[] = {0};
    return aclprofCreateConfig(devices, 1, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API);
}
static void drop_profile(void *h) { aclprofDestroyConfig(h); }
static void *step(void) { return aclprofCreateStepInfo(); }
static void drop_step(void *h) { aclprofDestroyStepInfo(h); }

/* Arguments outlive their binary in the mock, and an address of a configuration is given out again: none of them is
 * stale for certain. Contexts are the driver's: making one makes it current. */
const bad_maker bad_makers[KNOWN_HANDLES + 1] = {
    [STREAM] = {"stream", stream, drop_stream, EVENT},
    [EVENT] = {"event", event, drop_event, STREAM},
    [NOTIFY] = {"notify", notify, drop_notify, COUNT_NOTIFY},
    [CONTEXT] = {NULL, NULL, NULL, STREAM},
    [GRAPH] = {"graph", graph, drop_graph, STREAM},
    [TENSOR] = {"tensor", tensor, drop_tensor, SCALAR},
    [SCALAR] = {"scalar", scalar, drop_scalar, TENSOR},
    [INTS] = {"ints", ints, drop_ints, FLOATS},
    [FLOATS] = {"floats", floats, drop_floats, BOOLS},
    [BOOLS] = {"bools", bools, drop_bools, INTS},
    [LIST] = {"tensors", tensors, drop_tensors, SCALARS},
    [SCALARS] = {"scalars", scalars, drop_scalars, LIST},
    [EXECUTOR] = {"executor", executor, drop_executor, TENSOR},
    [BUFFER] = {"data buffer", data_buffer, drop_data_buffer, DATASET},
    [COUNT_NOTIFY] = {"counting notify", count_notify, drop_count_notify, NOTIFY},
    [LABEL] = {"label", label, drop_label, LABELS},
    [LABELS] = {"label list", label_list, drop_label_list, LABEL},
    [CONDITION] = {"condition", condition, drop_graph_under, GRAPH},
    [TASK_GROUP] = {"task group", task_group, drop_graph_under, GRAPH},
    [TASK] = {"task", task, drop_graph_under, TASK_GROUP},
    [BINARY_TEXT] = {"binary's text", binary_text, drop_binary_text, BINARY},
    [BINARY] = {"binary", binary, drop_binary, BINARY_TEXT},
    [KERNEL] = {"kernel", kernel, drop_binary_under, BINARY},
    [KERNEL_ARGUMENTS] = {"arguments", arguments, NULL, KERNEL},
    [PLACEHOLDER] = {"placeholder", placeholder, NULL, KERNEL},
    [PHYSICAL] = {"physical memory", physical, drop_physical, POOL},
    [POOL] = {"pool", pool, drop_pool, PHYSICAL},
    [ALLOCATOR] = {"allocator", allocator, drop_allocator, POOL},
    [MESSAGE] = {"message", message, drop_message, POOL},
    [QUEUE_MESSAGE] = {"queue's message", message_of_queue, drop_message_of_queue, POOL},
    [GROUP] = {"core groups", group, drop_group, DATASET},
    [STREAM_CONFIG] = {"stream's configuration", stream_config, NULL, STREAM},
    [DESCRIPTION] = {"tensor description", description, drop_description, DATASET},
    [ATTRIBUTES] = {"attributes", attributes, drop_attributes, DESCRIPTION},
    [MODEL] = {"model", model, drop_model, QUEUE},
    [MODEL_DESCRIPTION] = {"model description", model_description, drop_model_description, DATASET},
    [DATASET] = {"dataset", dataset, drop_dataset, MODEL_DESCRIPTION},
    [AIPP] = {"preprocessing", aipp, drop_aipp, DATASET},
    [LOAD_CONFIG] = {"load configuration", load_config, drop_load_config, RUN_CONFIG},
    [RUN_CONFIG] = {"run configuration", run_config, drop_run_config, LOAD_CONFIG},
    [BUNDLE_QUERY] = {"bundle query", bundle_query, drop_bundle_query, MODEL_DESCRIPTION},
    [QUEUE] = {"queue", queue, drop_queue, MODEL},
    [QUEUE_ATTRIBUTES] = {"queue's attributes", queue_attributes, drop_queue_attributes, ROUTE},
    [ROUTE] = {"route", route, drop_route, ROUTES},
    [ROUTES] = {"routes", routes, drop_routes, ROUTE},
    [ROUTE_QUERY] = {"route query", route_query, drop_route_query, ROUTE},
    [CHANNEL] = {"channel", channel, drop_channel, ITEMS},
    [ITEM] = {"item", item, drop_item, ITEMS},
    [ITEMS] = {"items", items, drop_items, ITEM},
    [PROFILE] = {"profile's configuration", profile, drop_profile, STEP},
    [STEP] = {"step", step, drop_step, PROFILE},
};
