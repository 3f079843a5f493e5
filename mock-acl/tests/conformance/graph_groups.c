/* Part of racl (mock-acl). Models: task groups, and their update by an operator's kernels. */
#include "conform.h"

/* Header sets without operators have none of these checks. */
#if __has_include("aclnnop/aclnn_add.h")
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static aclrtStream origin, update;
static float *memory; /* four tensors of eight numbers */
static aclrtTaskGrp group;
static aclmdlRI graph;

/* The first kernels of memory[8 * place] += amount. */
static aclError add(aclrtStream stream, int place, float amount) {
    const int64_t shape[] = {8}, stride[] = {1};
    float one = 1;
    aclTensor *tensor = aclCreateTensor(shape, 1, ACL_FLOAT, stride, 0, ACL_FORMAT_ND, shape, 1, memory + 8 * place);
    aclScalar *other = aclCreateScalar(&amount, ACL_FLOAT), *alpha = aclCreateScalar(&one, ACL_FLOAT);
    aclOpExecutor *executor = NULL;
    uint64_t size = 0;
    NEED(tensor != NULL && other != NULL && alpha != NULL);
    OK(aclnnInplaceAddsGetWorkspaceSize(tensor, other, alpha, &size, &executor));
    void *workspace = size == 0 ? NULL : device(size);
    const aclError code = aclnnInplaceAdds(workspace, size, executor, stream);
    aclDestroyTensor(tensor);
    aclDestroyScalar(other);
    aclDestroyScalar(alpha);
    return code;
}

static float number(int place) {
    float value = 0;
    OK(aclrtMemcpy(&value, sizeof value, memory + 8 * place, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
}

static void prepare(void) {
    up();
    memory = (float *)device(128);
    fill(memory, 0, 128);
    update = new_stream();
    origin = begin(RELAXED);
}

/* A group of `kernels` kernels, each on a tensor of its own. */
static void grouped(int kernels) {
    prepare();
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    for (int i = 0; i < kernels; i++) OK(add(origin, i, 1));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &group));
    NEED(group != NULL);
    graph = end(origin);
}

RULE(graph, group_without_a_stream, "observed: taskgrp") {
    up();
    EXPECT(aclmdlRICaptureTaskGrpBegin(NULL), 100000);
    EXPECT(aclmdlRICaptureTaskGrpEnd(NULL, &group), 100000);
}

RULE(graph, group_without_a_capture, "observed: taskgrp") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclmdlRICaptureTaskGrpBegin(stream), 107029);
    EXPECT(aclmdlRICaptureTaskGrpEnd(stream, &group), 107029);
}

RULE(graph, group_begun_twice, "observed: taskgrp") {
    prepare();
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclmdlRICaptureTaskGrpBegin(origin), 107033);
}

RULE(graph, group_on_a_stream_that_updates, "implementation: aclmdlRICaptureTaskGrpBegin") {
    grouped(1);
    aclrtStream second = begin(RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(aclrtRecordEvent(event, second));
    OK(aclrtStreamWaitEvent(update, event)); /* the stream joins a capture amid its update */
    EXPECT(aclmdlRICaptureTaskGrpBegin(update), 107033);
}

RULE(graph, group_ended_without_a_begin, "observed: taskgrp") {
    prepare();
    EXPECT(aclmdlRICaptureTaskGrpEnd(origin, &group), 107033);
    end(origin);
}

RULE(graph, group_end_needs_a_handle, "observed: taskgrp") {
    prepare();
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclmdlRICaptureTaskGrpEnd(origin, NULL), 100000);
}

RULE(graph, group_open_at_the_end, "observed: taskgrp_open_end") {
    prepare();
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclmdlRICaptureEnd(origin, &graph), 107033);
    TRUE(graph == NULL);
}

static void not_a_kernel(int which) {
    prepare();
    group = (aclrtTaskGrp)memory;
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    switch (which) {
    case 0: EXPECT(aclrtMemsetAsync(memory, 8, 0, 8, origin), 507009); break;
    case 1: EXPECT(aclrtMemcpyAsync(memory, 8, memory + 8, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, origin), 507009); break;
    case 2: EXPECT(aclrtRecordEvent(event, origin), 507009); break;
    default: EXPECT(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, origin), 507009); break;
    }
    /* The error repeats, the handle stays untouched, and the capture is lost (observed: group_calls). */
    EXPECT(aclmdlRICaptureTaskGrpEnd(origin, &group), 507009);
    TRUE(group == (aclrtTaskGrp)memory);
    EXPECT(aclmdlRICaptureEnd(origin, &graph), 507903);
}

RULE(graph, group_with_a_memset, "observed: taskgrp_memset") { not_a_kernel(0); }
RULE(graph, group_with_a_copy, "observed: taskgrp_d2d") { not_a_kernel(1); }
RULE(graph, group_with_a_record, "observed: taskgrp") { not_a_kernel(2); }
RULE(graph, group_with_cache_maintenance, "observed: taskgrp") { not_a_kernel(3); }

RULE(graph, group_open_on_another_stream, "observed: taskgrp_other_begin") {
    prepare();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    OK(aclrtStreamWaitEvent(update, event));
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclmdlRICaptureTaskGrpBegin(update), 107034);
    EXPECT(aclmdlRICaptureEnd(origin, &graph), 507903);
}

RULE(graph, work_beside_an_open_group, "observed: invalid_107034_status") {
    prepare();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    OK(aclrtStreamWaitEvent(update, event));
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclrtMemsetAsync(memory, 8, 0, 8, update), 107034);
    EXPECT(aclmdlRICaptureEnd(origin, &graph), 507903);
}

RULE(graph, several_groups_in_one_model, "guide: aclmdlRICaptureTaskGrpBegin") {
    prepare();
    aclrtTaskGrp other = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(add(origin, 0, 1));
    EXPECT(aclmdlRICaptureTaskGrpEnd(origin, &group), 0);
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(add(origin, 1, 1));
    EXPECT(aclmdlRICaptureTaskGrpEnd(origin, &other), 0);
    TRUE(group != NULL && other != NULL && group != other);
    end(origin);
}

RULE(graph, an_empty_group, "observed: taskgrp_empty_update") {
    grouped(0);
    EXPECT(aclmdlRICaptureTaskUpdateBegin(update, group), 0);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
}

RULE(graph, a_group_runs_like_other_tasks, "guide: aclmdlRICaptureTaskGrpBegin") {
    grouped(2);
    replay(graph, origin);
    replay(graph, origin);
    TRUE(number(0) == 2 && number(1) == 2);
}

/* ---- updates ---- */

RULE(graph, update_without_a_stream_or_group, "observed: taskgrp") {
    grouped(1);
    EXPECT(aclmdlRICaptureTaskUpdateBegin(NULL, group), 100000);
    EXPECT(aclmdlRICaptureTaskUpdateBegin(update, NULL), 100000);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(NULL), 100000);
}

RULE(graph, update_on_a_capturing_stream, "observed: taskgrp_empty_update") {
    grouped(1);
    OK(aclmdlRICaptureBegin(update, RELAXED));
    EXPECT(aclmdlRICaptureTaskUpdateBegin(update, group), 107027);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 107027);
    end(update);
}

RULE(graph, update_on_a_bound_stream, "implementation: aclmdlRICaptureTaskUpdateBegin") {
    grouped(1);
    aclrtStream bound = NULL;
    aclmdlRI model = NULL;
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBindStream(model, bound, 0));
    EXPECT(aclmdlRICaptureTaskUpdateBegin(bound, group), 107005);
}

RULE(graph, update_begun_twice, "observed: taskgrp_empty_update") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(aclmdlRICaptureTaskUpdateBegin(update, group), 107033);
    OK(add(update, 0, 1));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
}

RULE(graph, update_from_two_streams, "observed, not recorded") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(aclmdlRICaptureTaskUpdateBegin(new_stream(), group), 107033);
}

RULE(graph, update_ended_without_a_begin, "observed: taskgrp") {
    up();
    EXPECT(aclmdlRICaptureTaskUpdateEnd(new_stream()), 107033);
}

RULE(graph, update_with_a_task_that_is_no_kernel, "observed: taskgrp_empty_update") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(aclrtMemsetAsync(memory, 8, 0, 8, update), 507009);
}

RULE(graph, update_with_fewer_kernels, "implementation: aclmdlRICaptureTaskUpdateEnd") {
    grouped(2);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(add(update, 0, 2));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 507000);
}

RULE(graph, update_with_no_kernel, "implementation: aclmdlRICaptureTaskUpdateEnd") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 507000);
}

RULE_ENV(graph, documents_allow_an_update_with_no_kernel, "guide: aclmdlRICaptureTaskUpdateBegin",
    "MOCK_ACL_STRICT=doc") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
    replay(graph, origin);
    TRUE(number(0) == 1);
}

RULE_MOCK(graph, update_with_more_kernels, "observed, not recorded: the operator passes the code on") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(add(update, 0, 2));
    EITHER(add(update, 0, 3), 507000, 361001);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
}

RULE(graph, an_update_runs_nothing, "guide: aclmdlRICaptureTaskUpdateBegin") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(add(update, 0, 5));
    OK(aclmdlRICaptureTaskUpdateEnd(update));
    finish(update);
    TRUE(number(0) == 0);
}

RULE(graph, an_update_changes_later_replays, "guide: aclmdlRICaptureTaskUpdateBegin") {
    grouped(2);
    replay(graph, origin);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(add(update, 2, 10)); /* another place */
    OK(add(update, 1, 20)); /* another number */
    OK(aclmdlRICaptureTaskUpdateEnd(update));
    finish(update);
    replay(graph, origin);
    TRUE(number(0) == 1 && number(1) == 21 && number(2) == 10);
}

RULE(graph, an_update_applies_when_its_stream_reaches_it, "guide: aclmdlRICaptureTaskUpdateBegin") {
    grouped(1);
    aclrtEvent latch = hold(update);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(add(update, 0, 10));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
    replay(graph, origin);
    TRUE(number(0) == 1);
    let_go(latch);
    finish(update);
    replay(graph, origin);
    TRUE(number(0) == 11);
}

RULE(graph, an_update_before_the_first_replay, "guide: aclmdlRICaptureTaskUpdateBegin") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(add(update, 0, 4));
    OK(aclmdlRICaptureTaskUpdateEnd(update));
    finish(update);
    replay(graph, origin);
    TRUE(number(0) == 4);
}

RULE(graph, an_update_behind_a_gate, "guide: aclmdlRICaptureTaskUpdateBegin") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(add(origin, 0, 1));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &group));
    graph = end(origin);
    for (int i = 1; i < 4; i++) {
        fill(memory, 0, 32);
        OK(aclmdlRIExecuteAsync(graph, origin));
        OK(aclmdlRICaptureTaskUpdateBegin(update, group));
        OK(add(update, 0, (float)(10 * i)));
        OK(aclmdlRICaptureTaskUpdateEnd(update));
        OK(aclrtRecordEvent(gate, update));
        finish(origin);
        TRUE(number(0) == (float)(10 * i));
    }
}

RULE(graph, an_update_is_ordered_by_an_event, "guide: aclmdlRICaptureTaskUpdateEnd") {
    grouped(1);
    aclrtEvent latch = hold(update), applied = new_event(ACL_EVENT_SYNC);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(add(update, 0, 7));
    OK(aclmdlRICaptureTaskUpdateEnd(update));
    OK(aclrtRecordEvent(applied, update));
    OK(aclrtStreamWaitEvent(origin, applied));
    OK(aclmdlRIExecuteAsync(graph, origin));
    let_go(latch);
    finish(origin);
    TRUE(number(0) == 7);
}

RULE(graph, an_update_may_begin_before_the_capture_ends, "observed, not recorded") {
    prepare();
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(add(origin, 0, 1));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &group));
    EXPECT(aclmdlRICaptureTaskUpdateBegin(update, group), 0);
    OK(add(update, 0, 3));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
    graph = end(origin);
    finish(update);
    replay(graph, origin);
    TRUE(number(0) == 3);
}

RULE(graph, updates_of_two_groups_at_once, "guide: aclmdlRICaptureTaskUpdateBegin") {
    prepare();
    aclrtTaskGrp second = NULL;
    aclrtStream other = new_stream();
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(add(origin, 0, 1));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &group));
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(add(origin, 1, 1));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &second));
    graph = end(origin);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(aclmdlRICaptureTaskUpdateBegin(other, second));
    OK(add(other, 1, 20));
    OK(add(update, 0, 10));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(other), 0);
    finish(update);
    finish(other);
    replay(graph, origin);
    TRUE(number(0) == 10 && number(1) == 20);
}

RULE(graph, a_group_is_updated_again_and_again, "guide: aclmdlRICaptureTaskUpdateBegin") {
    grouped(1);
    for (int i = 1; i <= 3; i++) {
        fill(memory, 0, 32);
        OK(aclmdlRICaptureTaskUpdateBegin(update, group));
        OK(add(update, 0, (float)i));
        EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
        finish(update);
        replay(graph, origin);
        TRUE(number(0) == (float)i);
    }
}

RULE(graph, more_tasks_that_no_update_takes, "observed: taskgrp_empty_update, with other tasks") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, update), 507009);
    EXPECT(aclrtValueWrite(memory, 1, 0, update), 507009);
    EXPECT(aclrtLaunchHostFunc(update, free, NULL), 507009);
    OK(add(update, 0, 2));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
}


RULE_MOCK(graph, a_group_goes_with_its_model, "implementation: handle guard") {
    grouped(1);
    OK(aclmdlRIDestroy(graph));
    EXPECT(aclmdlRICaptureTaskUpdateBegin(update, group), 107017);
}

RULE(graph, waiting_inside_an_update, "observed, not recorded") {
    grouped(1);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(aclrtSynchronizeStream(update), 0);
    EXPECT(aclrtDestroyStream(update), 0);
}

/* The event is one of the capture then, and nothing can wait for it. */
RULE(graph, a_record_that_the_group_of_another_stream_refused, "observed: sequences") {
    prepare();
    aclrtStream other = new_stream(), outside = new_stream();
    aclrtEvent fork = new_event(ACL_EVENT_SYNC), refused = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(fork, origin));
    OK(aclrtStreamWaitEvent(other, fork));
    OK(aclmdlRICaptureTaskGrpBegin(other));
    EXPECT(aclrtRecordEvent(refused, origin), 107034);
    EXPECT(aclrtStreamWaitEvent(outside, refused), 507000);
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    OK(aclmdlRICaptureGetInfo(outside, &status, NULL));
    TRUE(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
}
#endif
