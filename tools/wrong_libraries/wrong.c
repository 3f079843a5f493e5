/* Libraries that are wrong in one way each: `cc -DWRONG=1 -shared -fPIC wrong.c -lascendcl`. Everything but the function
 * that is defined here comes from the library behind. check.py builds them, and asks whether some test sees each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "hccl/hccl.h"

/* The right one, of the same type. */
#define RIGHT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#if WRONG == 1
const char *what = "the last byte of a copy is not copied";
aclError aclrtMemcpyAsync(
    void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
    return RIGHT(aclrtMemcpyAsync)(dst, room, src, count > 1 ? count - 1 : count, kind, stream);
}
#elif WRONG == 2
const char *what = "a copy that waits copies nothing";
aclError aclrtMemcpy(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind kind) {
    (void)dst, (void)room, (void)src, (void)count, (void)kind;
    return ACL_SUCCESS;
}
#elif WRONG == 3
const char *what = "a fill writes another byte";
aclError aclrtMemsetAsync(void *place, size_t room, int32_t value, size_t count, aclrtStream stream) {
    return RIGHT(aclrtMemsetAsync)(place, room, value + 1, count, stream);
}
#elif WRONG == 4
const char *what = "a stream does not wait for an event";
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    (void)stream, (void)event;
    return ACL_SUCCESS;
}
#elif WRONG == 5
const char *what = "the host does not wait for a stream";
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    (void)stream, (void)timeout;
    return ACL_SUCCESS;
}
aclError aclrtSynchronizeStream(aclrtStream stream) {
    (void)stream;
    return ACL_SUCCESS;
}
#elif WRONG == 6
const char *what = "an event is never recorded";
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    (void)event, (void)stream;
    return ACL_SUCCESS;
}
#elif WRONG == 7
const char *what = "each event is said to be reached";
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
    (void)event;
    *status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    return ACL_SUCCESS;
}
#elif WRONG == 8
const char *what = "each stream is said to be idle";
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status) {
    (void)stream;
    *status = ACL_STREAM_STATUS_COMPLETE;
    return ACL_SUCCESS;
}
#elif WRONG == 9
const char *what = "a graph is launched and nothing runs";
aclError aclmdlRIExecuteAsync(aclmdlRI graph, aclrtStream stream) {
    (void)graph, (void)stream;
    return ACL_SUCCESS;
}
#elif WRONG == 10
const char *what = "a graph runs twice at each launch";
aclError aclmdlRIExecuteAsync(aclmdlRI graph, aclrtStream stream) {
    aclError code = RIGHT(aclmdlRIExecuteAsync)(graph, stream);
    return code == ACL_SUCCESS ? RIGHT(aclmdlRIExecuteAsync)(graph, stream) : code;
}
#elif WRONG == 11
const char *what = "the end of a capture gives no graph and no error";
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *graph) {
    aclError code = RIGHT(aclmdlRICaptureEnd)(stream, graph);
    *graph = NULL;
    return code;
}
#elif WRONG == 12
const char *what = "two pieces of memory overlap";
aclError aclrtMallocAlign32(void **place, size_t size, aclrtMemMallocPolicy policy) {
    static void *first;
    static size_t room;
    if (first != NULL && size <= room) {
        *place = first;
        return ACL_SUCCESS;
    }
    aclError code = RIGHT(aclrtMallocAlign32)(place, size, policy);
    first = *place, room = size;
    return code;
}
aclError aclrtMalloc(void **place, size_t size, aclrtMemMallocPolicy policy) {
    (void)policy;
    return aclrtMallocAlign32(place, size, policy);
}
aclError aclrtFree(void *place) {
    (void)place;
    return ACL_SUCCESS;
}
#elif WRONG == 13
const char *what = "a sum is a difference";
aclnnStatus aclnnAddGetWorkspaceSize(
    const aclTensor *a, const aclTensor *b, const aclScalar *alpha, aclTensor *out, uint64_t *size,
    aclOpExecutor **executor) {
    typedef aclnnStatus first_phase(
        const aclTensor *, const aclTensor *, const aclScalar *, aclTensor *, uint64_t *, aclOpExecutor **);
    return ((first_phase *)dlsym(RTLD_NEXT, "aclnnSubGetWorkspaceSize"))(a, b, alpha, out, size, executor);
}
aclnnStatus aclnnAdd(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream) {
    typedef aclnnStatus second_phase(void *, uint64_t, aclOpExecutor *, aclrtStream);
    return ((second_phase *)dlsym(RTLD_NEXT, "aclnnSub"))(workspace, size, executor, stream);
}
#elif WRONG == 14
const char *what = "the factors of a product are exchanged";
aclnnStatus aclnnMatmulGetWorkspaceSize(
    const aclTensor *a, const aclTensor *b, aclTensor *out, int8_t type, uint64_t *size, aclOpExecutor **executor) {
    typedef aclnnStatus first_phase(
        const aclTensor *, const aclTensor *, aclTensor *, int8_t, uint64_t *, aclOpExecutor **);
    return ((first_phase *)dlsym(RTLD_NEXT, "aclnnMatmulGetWorkspaceSize"))(b, a, out, type, size, executor);
}
#elif WRONG == 15
const char *what = "more memory is free than there is";
aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *unused, size_t *total) {
    aclError code = RIGHT(aclrtGetMemInfo)(attr, unused, total);
    *unused = *total * 2;
    return code;
}
#elif WRONG == 16
const char *what = "all events are one";
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) {
    static aclrtEvent only;
    aclError code = only == NULL ? RIGHT(aclrtCreateEventExWithFlag)(&only, flag) : ACL_SUCCESS;
    *event = only;
    return code;
}
aclError aclrtDestroyEvent(aclrtEvent event) {
    (void)event;
    return ACL_SUCCESS;
}
#elif WRONG == 17
const char *what = "a host function is never called";
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc function, void *argument) {
    (void)stream, (void)function, (void)argument;
    return ACL_SUCCESS;
}
#elif WRONG == 18
const char *what = "time runs backwards";
aclError aclrtEventElapsedTime(float *ms, aclrtEvent start, aclrtEvent end) {
    aclError code = RIGHT(aclrtEventElapsedTime)(ms, start, end);
    *ms = -1.0f - *ms;
    return code;
}
#elif WRONG == 19
const char *what = "rows are copied one behind the other";
aclError aclrtMemcpy2dAsync(
    void *dst, size_t to_pitch, const void *src, size_t from_pitch, size_t width, size_t height, aclrtMemcpyKind kind,
    aclrtStream stream) {
    (void)to_pitch, (void)from_pitch;
    return RIGHT(aclrtMemcpy2dAsync)(dst, width, src, width, width, height, kind, stream);
}
#elif WRONG == 20
const char *what = "a reduction replaces what was there";
aclError aclrtReduceAsync(
    void *dst, const void *src, uint64_t count, aclrtReduceKind kind, aclDataType type, aclrtStream stream, void *more) {
    (void)kind, (void)type, (void)more;
    return RIGHT(aclrtMemcpyAsync)(dst, count, src, count, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
}
#elif WRONG == 21
const char *what = "a stream does not wait for a value";
aclError aclrtValueWait(void *place, uint64_t value, uint32_t flag, aclrtStream stream) {
    (void)place, (void)value, (void)flag, (void)stream;
    return ACL_SUCCESS;
}
#elif WRONG == 22
const char *what = "the card has no name";
const char *aclrtGetSocName(void) {
    return NULL;
}
#elif WRONG == 23
const char *what = "a sum over all ranks is the greatest of their numbers";
HcclResult HcclAllReduce(
    void *from, void *to, uint64_t count, HcclDataType type, HcclReduceOp op, HcclComm comm, aclrtStream stream) {
    return RIGHT(HcclAllReduce)(from, to, count, type, op == HCCL_REDUCE_SUM ? HCCL_REDUCE_MAX : op, comm, stream);
}
#elif WRONG == 24
const char *what = "a broadcast is that of the rank behind its root";
HcclResult HcclBroadcast(
    void *place, uint64_t count, HcclDataType type, uint32_t root, HcclComm comm, aclrtStream stream) {
    uint32_t ranks = 1;
    RIGHT(HcclGetRankSize)(comm, &ranks);
    return RIGHT(HcclBroadcast)(place, count, type, (root + 1) % ranks, comm, stream);
}
#elif WRONG == 25
const char *what = "a communicator says that it is another rank";
HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank) {
    uint32_t ranks = 1;
    RIGHT(HcclGetRankSize)(comm, &ranks);
    HcclResult code = RIGHT(HcclGetRankId)(comm, rank);
    *rank = ranks - 1 - *rank;
    return code;
}
#elif WRONG == 26
const char *what = "a kernel gets no last argument";
aclError aclrtLaunchKernelWithHostArgs(
    aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, aclrtLaunchKernelCfg *config, void *arguments,
    size_t size, aclrtPlaceHolderInfo *places, size_t count) {
    memset((char *)arguments + size - 8, 0, 8);
    return RIGHT(aclrtLaunchKernelWithHostArgs)(kernel, blocks, stream, config, arguments, size, places, count);
}
#elif WRONG == 27
const char *what = "the first two arguments of a kernel are exchanged";
aclError aclrtLaunchKernelWithHostArgs(
    aclrtFuncHandle kernel, uint32_t blocks, aclrtStream stream, aclrtLaunchKernelCfg *config, void *arguments,
    size_t size, aclrtPlaceHolderInfo *places, size_t count) {
    uint64_t *first = arguments, second = size < 16 ? 0 : first[1];
    if (size >= 16) first[1] = first[0], first[0] = second;
    return RIGHT(aclrtLaunchKernelWithHostArgs)(kernel, blocks, stream, config, arguments, size, places, count);
}
#elif WRONG == 28
const char *what = "the first body of a choice always runs";
aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams task, aclrtStream stream, uint32_t flags) {
    uint64_t *number = NULL;
    if (task.type == ACL_MODEL_RI_COND_TYPE_IF &&
        RIGHT(aclmdlRICondHandleGetCondPtr)(task.handle, &number) == ACL_SUCCESS)
        RIGHT(aclrtMemsetAsync)(number, 8, 1, 8, stream);
    return RIGHT(aclmdlRIAddCondTask)(task, stream, flags);
}
#elif WRONG == 29
const char *what = "a loop runs its body once";
aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams task, aclrtStream stream, uint32_t flags) {
    if (task.type == ACL_MODEL_RI_COND_TYPE_WHILE) task.type = ACL_MODEL_RI_COND_TYPE_IF;
    return RIGHT(aclmdlRIAddCondTask)(task, stream, flags);
}
#elif WRONG == 30
const char *what = "memory of another process is other memory";
aclError aclrtIpcMemImportByKey(void **place, const char *key, uint64_t flags) {
    aclError code = RIGHT(aclrtIpcMemImportByKey)(place, key, flags);
    return code == ACL_SUCCESS ? RIGHT(aclrtMalloc)(place, 2 << 20, ACL_MEM_MALLOC_HUGE_FIRST) : code;
}
#elif WRONG == 31
const char *what = "a model runs with a batch of one";
aclError aclmdlSetDynamicBatchSize(uint32_t model, aclmdlDataset *dataset, size_t index, uint64_t batch) {
    (void)batch;
    return RIGHT(aclmdlSetDynamicBatchSize)(model, dataset, index, 1);
}
#elif WRONG == 32
const char *what = "a model that is given to a stream does not run";
aclError aclmdlExecuteAsync(uint32_t model, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream) {
    (void)model, (void)input, (void)output, (void)stream;
    return ACL_SUCCESS;
}
#elif WRONG == 33
const char *what = "the first two inputs of a model are exchanged";
aclError aclmdlExecuteAsync(uint32_t model, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream) {
    if (aclmdlGetDatasetNumBuffers(input) > 1) {
        aclDataBuffer *one = aclmdlGetDatasetBuffer(input, 0), *two = aclmdlGetDatasetBuffer(input, 1);
        void *place = aclGetDataBufferAddr(one);
        size_t size = aclGetDataBufferSizeV2(one);
        aclUpdateDataBuffer(one, aclGetDataBufferAddr(two), aclGetDataBufferSizeV2(two));
        aclUpdateDataBuffer(two, place, size);
    }
    return RIGHT(aclmdlExecuteAsync)(model, input, output, stream);
}
#endif
