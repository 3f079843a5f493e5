/* Part of racl (mock-acl). Own kernels in graphs and task groups. */
#include "../kernels/binaries/kernels.h"
#include "conform.h"

static aclrtBinHandle binary;

static aclrtFuncHandle function(const char *name) {
    aclrtFuncHandle handle = NULL;
    if (binary == NULL) OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &binary));
    OK(aclrtBinaryGetFunction(binary, name, &handle));
    return handle;
}

static aclError launch(const char *name, void *address, aclrtStream stream) {
    return aclrtLaunchKernelWithHostArgs(function(name), 1, stream, NULL, &address, sizeof address, NULL, 0);
}

/* A graph with one group of two kernels that write to two places. */
static aclmdlRI grouped(unsigned char *memory, aclrtTaskGrp *group) {
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    OK(launch("poke", memory, stream));
    OK(launch("poke", memory + 1, stream));
    OK(aclmdlRICaptureTaskGrpEnd(stream, group));
    return end(stream);
}

RULE_MOCK(kernel, a_capture_runs_nothing, "guide: capture") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(launch("poke", memory, stream));
    aclmdlRI graph = end(stream);
    TRUE(byte_at(memory) == 1);
    replay(graph, stream);
    TRUE(byte_at(memory) == 7);
    fill(memory, 1, 64);
    replay(graph, stream);
    TRUE(byte_at(memory) == 7);
}

RULE_MOCK(kernel, a_graph_owns_its_arguments, "guide: capture") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    void *address = memory;
    fill(memory, 1, 64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtLaunchKernelWithHostArgs(function("poke"), 1, stream, NULL, &address, 8, NULL, 0));
    address = memory + 1;
    replay(end(stream), stream);
    TRUE(byte_at(memory) == 7 && byte_at(memory + 1) == 1);
}

RULE_MOCK(kernel, an_update_is_positional, "guide: aclmdlRICaptureTaskUpdateBegin") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtTaskGrp group = NULL;
    aclmdlRI graph = grouped(memory, &group);
    aclrtStream update = new_stream(), stream = new_stream();
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(launch("poke", memory + 2, update));
    OK(launch("poke", memory + 3, update));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
    finish(update);
    TRUE(byte_at(memory + 2) == 1); /* nothing was executed */
    replay(graph, stream);
    TRUE(byte_at(memory) == 1 && byte_at(memory + 2) == 7 && byte_at(memory + 3) == 7);
}

RULE_MOCK(kernel, an_update_applies_when_its_stream_gets_there, "guide: aclmdlRICaptureTaskUpdateEnd") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtTaskGrp group = NULL;
    aclmdlRI graph = grouped(memory, &group);
    aclrtStream update = new_stream(), stream = new_stream();
    aclrtEvent latch = hold(update);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(launch("poke", memory + 2, update));
    OK(launch("poke", memory + 3, update));
    OK(aclmdlRICaptureTaskUpdateEnd(update));
    replay(graph, stream);
    TRUE(byte_at(memory) == 7 && byte_at(memory + 2) == 1);
    let_go(latch);
    finish(update);
    replay(graph, stream);
    TRUE(byte_at(memory + 2) == 7);
}

RULE_MOCK(kernel, an_update_with_too_few_or_many, "guide: task update; observed: taskgrp_empty_update") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    aclrtTaskGrp group = NULL;
    grouped(memory, &group);
    aclrtStream update = new_stream();
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(launch("poke", memory, update));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 507000);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(launch("poke", memory, update));
    OK(launch("poke", memory, update));
    EXPECT(launch("poke", memory, update), 507000);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
}

RULE_MOCK(kernel, an_update_keeps_the_kind, "guide: aclmdlRICaptureTaskUpdateBegin; observed, not recorded") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtTaskGrp group = NULL;
    aclmdlRI graph = grouped(memory, &group);
    aclrtStream update = new_stream(), stream = new_stream();
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(launch("matrix", memory + 2, update), 507000);
    OK(launch("poke", memory + 3, update));
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0); /* a part of an update is silent */
    finish(update);
    replay(graph, stream);
    TRUE(byte_at(memory) == 7 && byte_at(memory + 1) == 1 && byte_at(memory + 3) == 7);
}

RULE_MOCK(kernel, an_update_keeps_the_ratio, "guide: aclmdlRICaptureTaskUpdateBegin") {
    up();
    void *memory = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), update = NULL;
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    OK(launch("report", memory, stream));
    OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    end(stream);
    update = new_stream();
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    EXPECT(launch("report_1_1", memory, update), 507000);
    OK(aclmdlRICaptureTaskUpdateEnd(update));
}

RULE_MOCK(kernel, an_update_may_change_the_number_of_blocks, "guide: aclmdlRICaptureTaskUpdateBegin") {
    up();
    uint64_t *memory = (uint64_t *)device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), update = NULL;
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    OK(launch("report", memory, stream));
    OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    aclmdlRI graph = end(stream);
    replay(graph, stream);
    TRUE(u64_at(memory + 1) == 1);
    update = new_stream();
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(aclrtLaunchKernelWithHostArgs(function("report"), 9, update, NULL, &memory, 8, NULL, 0));
    OK(aclmdlRICaptureTaskUpdateEnd(update));
    finish(update);
    replay(graph, stream);
    TRUE(u64_at(memory + 1) == 9);
}

RULE_MOCK(kernel, no_aicpu_kernel_in_a_group, "guide: aclmdlRICaptureTaskGrpBegin") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtTaskGrp group = NULL;
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(launch("cpu_poke", device(64), stream), 507009);
    EXPECT(aclmdlRICaptureTaskGrpEnd(stream, &group), 507009);
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 507903);
}

RULE_MOCK(kernel, a_captured_kernel_is_a_kernel_task, "guide: aclmdlRITaskGetType") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), inner = NULL;
    OK(launch("poke", device(64), stream));
    aclmdlRI graph = end(stream);
    uint32_t streams = 1, tasks = 1;
    aclmdlRITask task = NULL;
    aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
    OK(aclmdlRIGetStreams(graph, &inner, &streams));
    OK(aclmdlRIGetTasksByStream(inner, &task, &tasks));
    EXPECT(aclmdlRITaskGetType(task, &type), 0);
    TRUE(type == ACL_MODEL_RI_TASK_KERNEL);
}

RULE_MOCK(kernel, a_graph_keeps_the_cores_of_its_capture, "guide: aclrtSetStreamResLimit") {
    up();
    uint64_t *memory = (uint64_t *)device(64);
    aclrtStream stream = new_stream();
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, 4));
    OK(aclrtUseStreamResInCurrentThread(stream));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(launch("report", memory, stream));
    aclmdlRI graph = end(stream);
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, 2));
    OK(aclrtUseStreamResInCurrentThread(stream));
    replay(graph, stream);
    TRUE(u64_at(memory + 4) == 4);
    OK(launch("report", memory, stream));
    finish(stream);
    TRUE(u64_at(memory + 4) == 2);
}

RULE_MOCK(kernel, a_graph_owns_what_its_placeholders_hold, "guide: capture") {
    up();
    struct arguments {
        uint64_t a, b, out, shape;
        uint32_t rows, inner, columns, pad;
    } args;
    float *numbers = (float *)device(64), two = 2, three = 3;
    OK(aclrtMemcpy(numbers, 4, &two, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(numbers + 1, 4, &three, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(&args, 0, sizeof args);
    args.a = (uint64_t)(uintptr_t)numbers;
    args.b = (uint64_t)(uintptr_t)(numbers + 1);
    args.out = (uint64_t)(uintptr_t)(numbers + 2);
    args.rows = args.inner = args.columns = 1;
    aclrtPlaceHolderInfo place = {24, 32};
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtLaunchKernelWithHostArgs(function("matrix"), 1, stream, NULL, &args, sizeof args, &place, 1));
    memset(&args, 0xFF, sizeof args);
    replay(end(stream), stream);
    float product = 0;
    OK(aclrtMemcpy(&product, 4, numbers + 2, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    TRUE(product == 6);
}

RULE_MOCK(kernel, kinds_of_kernels_in_a_group, "guide: aclmdlRICaptureTaskGrpBegin") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtTaskGrp group = NULL;
    void *memory = device(64);
    uint64_t four[4] = {0};
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(launch("poke", memory, stream), 0);   /* vector */
    EXPECT(launch("report", memory, stream), 0); /* mixed */
    EXPECT(aclrtLaunchKernelWithHostArgs(function("matrix"), 1, stream, NULL, four, sizeof four, NULL, 0), 0);
    EXPECT(aclmdlRICaptureTaskGrpEnd(stream, &group), 0);
    TRUE(group != NULL);
    end(stream);
}

RULE_MOCK(kernel, an_update_may_change_the_function, "guide: aclmdlRICaptureTaskUpdateBegin") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    uint64_t half[2] = {(uint64_t)(uintptr_t)memory, 0};
    float number = 8, factor = 0.5f;
    const uint32_t one = 1;
    memcpy(&half[1], &factor, 4);
    memcpy((char *)&half[1] + 4, &one, 4);
    OK(aclrtMemcpy(memory, 4, &number, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), update = new_stream();
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    OK(launch("poke", memory + 32, stream));
    OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    aclmdlRI graph = end(stream);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    OK(aclrtLaunchKernelWithHostArgs(function("scale"), 1, update, NULL, half, sizeof half, NULL, 0));
    half[0] = 0; /* the update has a copy */
    EXPECT(aclmdlRICaptureTaskUpdateEnd(update), 0);
    finish(update);
    replay(graph, stream);
    OK(aclrtMemcpy(&number, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    TRUE(number == 4);
}

RULE_MOCK(kernel, a_kernel_beside_an_open_group, "observed: invalid_107034_status, with another task") {
    up();
    void *memory = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), side = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclmdlRI graph = NULL;
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtStreamWaitEvent(side, event));
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(launch("poke", memory, side), 107034);
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 507903);
}

static aclmdlRITask only_task(aclmdlRI graph) {
    aclrtStream inner = NULL;
    aclmdlRITask listed[2] = {NULL, NULL};
    uint32_t streams = 1, tasks = 2; /* the first launch adds one (observed: graph_tasks) */
    OK(aclmdlRIGetStreams(graph, &inner, &streams));
    OK(aclmdlRIGetTasksByStream(inner, listed, &tasks));
    return listed[0];
}

RULE_MOCK(kernel, parameters_of_a_kernel_task,
    "guide: aclmdlRITaskGetParams; header: aclmdlRIKernelTaskParams") {
    up();
    void *memory = device(64);
    aclrtTaskGrp group = NULL;
    aclmdlRITaskParams p;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    OK(launch("poke", memory, stream));
    OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    EXPECT(aclmdlRITaskGetParams(only_task(end(stream)), &p), 0);
    TRUE(p.type == ACL_MODEL_RI_TASK_KERNEL && p.taskGrp == group);
    TRUE(p.kernelTaskParams.funcHandle == function("poke") && p.kernelTaskParams.numBlocks == 1);
    TRUE(p.kernelTaskParams.argsSize == 8);
}

RULE_MOCK(kernel, a_kernel_task_is_changed_or_disabled, "guide: aclmdlRITaskSetParams, aclmdlRITaskDisable") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    void *other = memory + 1;
    fill(memory, 1, 64);
    aclmdlRITaskParams p;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(launch("poke", memory, stream));
    aclmdlRI graph = end(stream);
    OK(aclmdlRITaskGetParams(only_task(graph), &p));
    p.kernelTaskParams.args = &other;
    EXPECT(aclmdlRITaskSetParams(only_task(graph), &p), 0);
    OK(aclmdlRIUpdate(graph));
    replay(graph, stream);
    TRUE(byte_at(memory) == 1 && byte_at(memory + 1) == 7);
    fill(memory, 1, 64);
    EXPECT(aclmdlRITaskDisable(only_task(graph)), 0);
    OK(aclmdlRIUpdate(graph));
    replay(graph, stream);
    TRUE(byte_at(memory) == 1 && byte_at(memory + 1) == 1);
}

RULE_MOCK(kernel, attributes_of_a_kernel_task, "guide: aclmdlRIKernelTaskGetAttribute") {
    up();
    void *memory = device(64);
    aclrtLaunchKernelAttr attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    attribute.value.timeout = 9;
    aclrtLaunchKernelCfg config = {&attribute, 1};
    aclrtLaunchKernelAttrValue value;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtLaunchKernelWithHostArgs(function("poke"), 1, stream, &config, &memory, 8, NULL, 0));
    aclmdlRITask task = only_task(end(stream));
    EXPECT(aclmdlRIKernelTaskGetAttribute(task, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &value), 0);
    TRUE(value.timeout == 9);
}
