/* Part of racl (mock-acl). Handles that were destroyed or are of another kind. To use one is undefined in the
 * real runtime, which finds most of them by a number at their start; the mock finds each (own choice). */
#include "conform.h"

RULE_MOCK(handle, destroyed_labels_and_lists, "implementation: handle guard") {
    up();
    aclrtLabel label = NULL;
    aclrtLabelList list = NULL, again = NULL;
    OK(aclrtCreateLabel(&label));
    OK(aclrtCreateLabelList(&label, 1, &list));
    OK(aclrtDestroyLabelList(list));
    EXPECT(aclrtDestroyLabelList(list), 107017);
    OK(aclrtDestroyLabel(label));
    EXPECT(aclrtDestroyLabel(label), 107017);
    EXPECT(aclrtSetLabel(label, new_stream()), 107017);
    EXPECT(aclrtCreateLabelList(&label, 1, &again), 107017);
}

RULE_MOCK(handle, lists_of_kernel_arguments, "implementation: handle guard") {
    up();
    aclrtParamHandle param = NULL;
    uint64_t value = 1;
    EXPECT(aclrtKernelArgsAppend(new_stream(), &value, 8, &param), 107017);
    EXPECT(aclrtKernelArgsFinalize(new_stream()), 107017);
}

RULE_MOCK(handle, one_kind_is_not_another, "observed: stream_basic2; implementation: handle guard") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtNotify notify = NULL;
    void *memory = device(64);
    OK(aclrtCreateNotify(&notify, 0));
    EXPECT(aclrtSynchronizeStream(event), 107017);
    EXPECT(aclrtMemsetAsync(memory, 64, 0, 64, notify), 107017);
    EXPECT(aclrtRecordEvent(stream, stream), 107017);
    EXPECT(aclrtSynchronizeEvent(notify), 107017);
    EXPECT(aclrtRecordNotify(event, stream), 107017);
    EXPECT(aclmdlRIExecuteAsync(stream, stream), 107017);
    EXPECT(aclrtDestroyStream(event), 107017);
    EXPECT(aclrtDestroyEvent(stream), 107017);
    EXPECT(aclrtDestroyNotify(stream), 107017);
    EXPECT(aclrtSetCurrentContext(stream), 107000);
    finish(stream);
}

RULE_MOCK(handle, a_number_is_not_used_again_at_once, "own choice: handles have a generation") {
    up();
    aclrtEvent first = new_event(ACL_EVENT_SYNC);
    OK(aclrtDestroyEvent(first));
    for (int i = 0; i < 1000; i++) {
        aclrtEvent next = new_event(ACL_EVENT_SYNC);
        NEED(next != first);
        OK(aclrtDestroyEvent(next));
    }
    EXPECT(aclrtSynchronizeEvent(first), 107017);
}
