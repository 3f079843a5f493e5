/* Part of racl (mock-acl). Repeatable executors: second phases with other addresses. */
#include "add.h"

static void repeatable(add *o) {
    first_phase(o);
    OK(aclSetAclOpExecutorRepeatable(o->executor));
}

/* Every second phase takes the addresses of its moment; what is queued keeps them. */
static void eager_addresses(void) {
    up();
    aclrtStream s = new_stream();
    add o = new_add();
    repeatable(&o);
    OK(mock_acl_hold_stream(s));
    float *out[4], *in = vector(10), *in2 = vector(20);
    OK(aclnnAdd(NULL, 0, o.executor, s));
    for (int i = 0; i < 4; i++) out[i] = vector(0);
    OK(aclSetInputTensorAddr(o.executor, 0, o.ta, in));
    OK(aclSetOutputTensorAddr(o.executor, 0, o.tout, out[0]));
    OK(aclnnAdd(NULL, 0, o.executor, s));
    OK(aclSetInputTensorAddr(o.executor, 1, o.tb, in2));
    OK(aclSetOutputTensorAddr(o.executor, 0, o.tout, out[1]));
    OK(aclnnAdd(NULL, 0, o.executor, s));
    /* Counted over all operands, inputs first. */
    OK(aclSetTensorAddr(o.executor, 0, o.ta, o.a));
    OK(aclSetTensorAddr(o.executor, 1, o.tb, in));
    OK(aclSetTensorAddr(o.executor, 2, o.tout, out[2]));
    OK(aclnnAdd(NULL, 0, o.executor, s));
    CODE(aclSetTensorAddr(o.executor, 3, o.tout, out[3]), 161002);
    CODE(aclSetInputTensorAddr(o.executor, 2, o.ta, in), 161002);
    CODE(aclSetOutputTensorAddr(o.executor, 1, o.tout, in), 161002);
    CODE(aclSetInputTensorAddr(o.executor, 0, o.ta, NULL), 161001);
    OK(aclnnAdd(NULL, 0, o.executor, s)); /* refused calls changed nothing */
    OK(aclDestroyAclOpExecutor(o.executor));
    CODE(aclnnAdd(NULL, 0, o.executor, s), 561101);
    CHECK(first_of(out[0]) == 0);
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(first_of(o.out) == 3 && first_of(out[0]) == 12 && first_of(out[1]) == 30 && first_of(out[2]) == 11);
    CHECK(first_of(out[3]) == 0);
    end_add(&o);
    CHECK(live().executors == 0 && live().tensors == 0);
}

/* One executor for a capture and for each update: a captured launch keeps the addresses of its moment, an
 * update that comes while the replay waits brings new ones. */
static void addresses_in_updates(void) {
    up();
    aclrtStream s = new_stream(), update = new_stream();
    add o = new_add();
    repeatable(&o);
    uint64_t *flag = device(8);
    aclmdlRI graph = NULL;
    aclrtTaskGrp group = NULL;
    float *out[3] = {vector(0), vector(0), vector(0)}, *in[3] = {vector(10), vector(20), vector(30)};
    OK(aclrtMemset(flag, 8, 0, 8));
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclnnAdd(NULL, 0, o.executor, s));
    OK(aclrtValueWait(flag, 1, ACL_STREAM_WAIT_VALUE_EQ, s));
    OK(aclrtValueWrite(flag, 0, 0, s));
    OK(aclmdlRICaptureTaskGrpBegin(s));
    OK(aclSetOutputTensorAddr(o.executor, 0, o.tout, out[0]));
    OK(aclnnAdd(NULL, 0, o.executor, s));
    OK(aclmdlRICaptureTaskGrpEnd(s, &group));
    OK(aclmdlRICaptureEnd(s, &graph));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtValueWrite(flag, 1, 0, update));
    OK(aclrtSynchronizeStream(s));
    CHECK(first_of(o.out) == 3 && first_of(out[0]) == 3);
    for (int i = 0; i < 300; i++) {
        const int k = i % 3;
        OK(aclrtMemset(out[k], 16, 0, 16));
        OK(aclmdlRIExecuteAsync(graph, s));
        OK(aclmdlRICaptureTaskUpdateBegin(update, group));
        OK(aclSetInputTensorAddr(o.executor, 0, o.ta, in[k]));
        OK(aclSetOutputTensorAddr(o.executor, 0, o.tout, out[k]));
        OK(aclnnAdd(NULL, 0, o.executor, update));
        OK(aclmdlRICaptureTaskUpdateEnd(update));
        OK(aclrtValueWrite(flag, 1, 0, update));
        OK(aclrtSynchronizeStream(s));
        CHECK(first_of(out[k]) == (float)(10 * k + 12));
    }
    OK(aclDestroyAclOpExecutor(o.executor)); /* the graph has what it needs */
    OK(aclrtMemset(out[2], 16, 0, 16));
    OK(aclrtValueWrite(flag, 1, 0, update));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(first_of(out[2]) == 32);
    OK(aclmdlRIDestroy(graph));
    end_add(&o);
    CHECK(live().executors == 0);
}

int main(void) {
    eager_addresses();
    addresses_in_updates();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
