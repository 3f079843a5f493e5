/* Part of racl (mock-acl). Own kernels in graphs: capture, replay, task groups and their updates. */
#include "kernels/binaries/kernels.h"
#include "check.h"

typedef struct scale_args {
    float *x;
    float factor;
    uint32_t count;
} scale_args;

static aclrtFuncHandle load(const char *name, aclrtBinHandle *b) {
    aclrtFuncHandle f = NULL;
    if (*b == NULL) OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, b));
    OK(aclrtBinaryGetFunction(*b, name, &f));
    return f;
}

static float *ones(void) {
    const float one = 1;
    float *p = device(sizeof one);
    OK(aclrtMemcpy(p, sizeof one, &one, sizeof one, ACL_MEMCPY_HOST_TO_DEVICE));
    return p;
}

static float value(const float *p) {
    float v = 0;
    read_back(&v, p, sizeof v);
    return v;
}

static void launch(aclrtFuncHandle f, float *x, float factor, aclrtStream s) {
    scale_args a = {x, factor, 1};
    OK(aclrtLaunchKernelWithHostArgs(f, 1, s, NULL, &a, sizeof a, NULL, 0));
}

static void replay(aclmdlRI g, aclrtStream s) {
    OK(aclmdlRIExecuteAsync(g, s));
    OK(aclrtSynchronizeStream(s));
}

/* The graph keeps arguments and code; what lies in device memory is read in every replay. */
static void captured(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = NULL;
    aclrtFuncHandle scale = load("scale", &b);
    float *x = ones(), *y = ones();
    scale_args *memory = device(sizeof *memory), a = {y, 2, 1};
    OK(aclrtMemcpy(memory, sizeof a, &a, sizeof a, ACL_MEMCPY_HOST_TO_DEVICE));
    aclmdlRI g = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    launch(scale, x, 3, s);
    OK(aclrtLaunchKernel(scale, 1, memory, sizeof a, s));
    OK(aclmdlRICaptureEnd(s, &g));
    CHECK(value(x) == 1);
    OK(aclrtBinaryUnLoad(b));
    replay(g, s);
    a.factor = 5;
    OK(aclrtMemcpy(memory, sizeof a, &a, sizeof a, ACL_MEMCPY_HOST_TO_DEVICE));
    replay(g, s);
    CHECK(value(x) == 9 && value(y) == 10);
    OK(aclrtFree(y));
    OK(aclmdlRIExecuteAsync(g, s));
    CODE(aclrtSynchronizeStream(s), 507035);
    OK(aclmdlRIDestroy(g));
    b = NULL;
    scale = load("scale", &b);
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    launch(scale, x, 3, s);
    OK(aclmdlRICaptureEnd(s, &g));
    OK(aclmdlRIDestroy(g)); /* never run */
    OK(aclrtBinaryUnLoad(b));
}

/* The i-th launch of an update takes the i-th place. */
static void updated(void) {
    up();
    aclrtStream s = new_stream(), u = new_stream();
    aclrtBinHandle b = NULL;
    aclrtFuncHandle scale = load("scale", &b), matrix = load("matrix", &b), mix = load("report", &b);
    aclrtFuncHandle other_mix = load("report_1_1", &b);
    float *x = ones(), *y = ones();
    aclmdlRI g = NULL;
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureTaskGrpBegin(s));
    launch(scale, x, 2, s);
    launch(scale, y, 3, s);
    OK(aclmdlRICaptureTaskGrpEnd(s, &group));
    OK(aclmdlRICaptureEnd(s, &g));
    replay(g, s);
    CHECK(value(x) == 2 && value(y) == 3);
    OK(aclmdlRICaptureTaskUpdateBegin(u, group));
    launch(scale, y, 10, u);
    launch(scale, x, 100, u);
    scale_args a = {x, 1, 1};
    CODE(aclrtLaunchKernelWithHostArgs(scale, 1, u, NULL, &a, sizeof a, NULL, 0), 507000); /* one too many */
    OK(aclmdlRICaptureTaskUpdateEnd(u));
    OK(aclrtSynchronizeStream(u));
    CHECK(value(x) == 2 && value(y) == 3); /* nothing ran */
    replay(g, s);
    CHECK(value(x) == 200 && value(y) == 30);
    /* another kind counts, and stays out */
    uint64_t *out = device(64);
    OK(aclmdlRICaptureTaskUpdateBegin(u, group));
    CODE(aclrtLaunchKernelWithHostArgs(matrix, 1, u, NULL, &a, sizeof a, NULL, 0), 507000);
    launch(scale, x, 0.5f, u);
    OK(aclmdlRICaptureTaskUpdateEnd(u));
    OK(aclrtSynchronizeStream(u));
    replay(g, s);
    CHECK(value(x) == 100 && value(y) == 300);
    /* so does another ratio */
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureTaskGrpBegin(s));
    OK(aclrtLaunchKernelWithHostArgs(mix, 1, s, NULL, &out, sizeof out, NULL, 0));
    OK(aclmdlRICaptureTaskGrpEnd(s, &group));
    OK(aclmdlRICaptureEnd(s, &g));
    OK(aclmdlRICaptureTaskUpdateBegin(u, group));
    CODE(aclrtLaunchKernelWithHostArgs(other_mix, 1, u, NULL, &out, sizeof out, NULL, 0), 507000);
    OK(aclmdlRICaptureTaskUpdateEnd(u));
    OK(aclmdlRICaptureTaskUpdateBegin(u, group));
    OK(aclrtLaunchKernelWithHostArgs(mix, 7, u, NULL, &out, sizeof out, NULL, 0)); /* more blocks */
    OK(aclmdlRICaptureTaskUpdateEnd(u));
    OK(aclrtSynchronizeStream(u));
    replay(g, s);
    uint64_t seen[8];
    read_back(seen, out, sizeof seen);
    CHECK(seen[1] == 7);
    /* an update that is never run gives its launches back */
    OK(mock_acl_hold_stream(u));
    OK(aclmdlRICaptureTaskUpdateBegin(u, group));
    OK(aclrtLaunchKernelWithHostArgs(mix, 8, u, NULL, &out, sizeof out, NULL, 0));
    OK(aclmdlRICaptureTaskUpdateEnd(u));
    OK(aclrtDestroyStreamForce(u));
    OK(aclrtBinaryUnLoad(b));
}

/* Work of the AICPU is no kernel to a group. */
static void cpu_in_groups(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = NULL;
    aclrtFuncHandle cpu = load("cpu_poke", &b);
    char *memory = device(64);
    aclmdlRI g = NULL;
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtLaunchKernelWithHostArgs(cpu, 1, s, NULL, &memory, sizeof memory, NULL, 0));
    OK(aclmdlRICaptureEnd(s, &g));
    replay(g, s);
    CHECK(byte_at(memory) == 7);
    OK(aclmdlRIDestroy(g));
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureTaskGrpBegin(s));
    CODE(aclrtLaunchKernelWithHostArgs(cpu, 1, s, NULL, &memory, sizeof memory, NULL, 0), 507009);
    CODE(aclmdlRICaptureTaskGrpEnd(s, &group), 507009);
    CODE(aclmdlRICaptureEnd(s, &g), 507903);
    OK(aclrtBinaryUnLoad(b));
}

/* A kernel that was turned off stays off. */
static void disabled(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = NULL;
    aclrtFuncHandle scale = load("scale", &b);
    float *x = ones();
    aclmdlRI g = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    launch(scale, x, 2, s);
    launch(scale, x, 3, s);
    OK(aclmdlRICaptureEnd(s, &g));
    aclrtStream inner = NULL;
    aclmdlRITask tasks[2];
    aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
    uint32_t one = 1, two = 2;
    OK(aclmdlRIGetStreams(g, &inner, &one));
    OK(aclmdlRIGetTasksByStream(inner, tasks, &two));
    OK(aclmdlRITaskGetType(tasks[0], &type));
    CHECK(type == ACL_MODEL_RI_TASK_KERNEL);
    OK(aclmdlRITaskDisable(tasks[0]));
    OK(aclmdlRIUpdate(g));
    replay(g, s);
    CHECK(value(x) == 3);
    OK(aclrtBinaryUnLoad(b));
}

/* A failing kernel in a graph is reported by the wait for the replay. */
static void failing(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = NULL;
    aclrtFuncHandle fail = load("fail", &b);
    int32_t code = 507035;
    aclmdlRI g = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtLaunchKernelWithHostArgs(fail, 1, s, NULL, &code, sizeof code, NULL, 0));
    OK(aclmdlRICaptureEnd(s, &g));
    for (int i = 0; i < 2; i++) {
        OK(aclmdlRIExecuteAsync(g, s));
        CODE(aclrtSynchronizeStream(s), 507035);
    }
    mock_acl_log_launches(1);
    OK(aclmdlRIExecuteAsync(g, s));
    CODE(aclrtSynchronizeStream(s), 507035);
    mock_acl_launch l = {.struct_size = sizeof l};
    OK(mock_acl_launch_at(0, &l));
    CHECK(strcmp(l.function, "aclrtLaunchKernelWithHostArgs") == 0 && l.cube_cores == 24);
    mock_acl_log_launches(0);
    OK(aclrtBinaryUnLoad(b));
}

/* ---- parameters of tasks ---- */

static aclmdlRITask only_task(aclmdlRI g) {
    uint32_t one = 1;
    aclrtStream inner = NULL;
    aclmdlRITask task = NULL;
    OK(aclmdlRIGetStreams(g, &inner, &one));
    OK(aclmdlRIGetTasksByStream(inner, &task, &one));
    return task;
}

static void parameters(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = NULL;
    aclrtFuncHandle poke = load("poke", &b), matrix = load("matrix", &b);
    char *memory = device(64), *second = memory + 1;
    OK(aclrtMemset(memory, 64, 1, 64));
    aclrtLaunchKernelAttr attribute = {ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, {.timeout = 9}};
    aclrtLaunchKernelCfg config = {&attribute, 1};
    aclrtLaunchKernelAttrValue value_of;
    aclmdlRI g = NULL;
    aclmdlRITaskParams p;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtLaunchKernelWithHostArgs(poke, 2, s, &config, &memory, 8, NULL, 0));
    OK(aclmdlRICaptureEnd(s, &g));
    const aclmdlRITask task = only_task(g);
    OK(aclmdlRITaskGetParams(task, &p));
    aclmdlRIKernelTaskParams *k = &p.kernelTaskParams;
    CHECK(k->funcHandle == poke && k->numBlocks == 2 && k->isHostArgs == 1 && k->cfg->numAttrs == 1);
    CHECK(memcmp(k->args, &memory, 8) == 0);
    OK(aclmdlRIKernelTaskGetAttribute(task, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &value_of));
    CHECK(value_of.timeout == 9);
    k->args = &second;
    k->numBlocks = 5;
    OK(aclmdlRITaskSetParams(task, &p));
    OK(aclmdlRIUpdate(g));
    replay(g, s);
    CHECK(byte_at(memory) == 1 && byte_at(second) == 7);
    OK(aclmdlRITaskGetParams(task, &p));
    CHECK(k->numBlocks == 5 && k->cfg->numAttrs == 1);
    k->funcHandle = matrix;
    CODE(aclmdlRITaskSetParams(task, &p), 107000); /* another kind */
    OK(aclrtBinaryUnLoad(b));
}

/* What is left out of a change stays as it was; arguments may move to device memory. */
static void parts_of_parameters(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = NULL, c = NULL;
    aclrtFuncHandle poke = load("poke", &b), same = load("poke", &c);
    char *memory = device(64), *second = memory + 1;
    void *arguments = device(8);
    OK(aclrtMemset(memory, 64, 1, 64));
    OK(aclrtMemcpy(arguments, 8, &second, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    aclrtLaunchKernelAttrValue value_of;
    aclmdlRI g = NULL;
    aclmdlRITaskParams p, change;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtLaunchKernelWithHostArgs(poke, 2, s, NULL, &memory, 8, NULL, 0));
    OK(aclmdlRICaptureEnd(s, &g));
    const aclmdlRITask task = only_task(g);
    OK(aclmdlRITaskGetParams(task, &p));
    CHECK(p.kernelTaskParams.cfg == NULL);
    OK(aclmdlRIKernelTaskGetAttribute(task, ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, &value_of));
    CHECK(value_of.schemMode == 0);
    OK(aclmdlRIKernelTaskGetAttribute(task, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &value_of));
    CHECK(value_of.timeout == 0);
    memset(&change, 0, sizeof change);
    change.type = p.type;
    change.kernelTaskParams.funcHandle = same; /* and nothing else */
    OK(aclmdlRITaskSetParams(task, &change));
    OK(aclmdlRIUpdate(g));
    OK(aclrtBinaryUnLoad(b)); /* the graph has the other one now */
    replay(g, s);
    CHECK(byte_at(memory) == 7 && byte_at(second) == 1);
    change.kernelTaskParams = (aclmdlRIKernelTaskParams){.args = arguments, .argsSize = 8, .isHostArgs = 0};
    OK(aclmdlRITaskSetParams(task, &change));
    OK(aclmdlRIUpdate(g));
    OK(aclmdlRITaskGetParams(task, &p));
    CHECK(p.kernelTaskParams.isHostArgs == 0 && p.kernelTaskParams.args == arguments);
    CHECK(p.kernelTaskParams.numBlocks == 2 && p.kernelTaskParams.funcHandle == same);
    replay(g, s);
    CHECK(byte_at(second) == 7);
    /* arguments in device memory stay there when only the number of blocks changes */
    change.kernelTaskParams = (aclmdlRIKernelTaskParams){.numBlocks = 3};
    OK(aclmdlRITaskSetParams(task, &change));
    OK(aclmdlRIUpdate(g));
    OK(aclmdlRITaskGetParams(task, &p));
    CHECK(p.kernelTaskParams.args == arguments && p.kernelTaskParams.numBlocks == 3);
    change.kernelTaskParams.funcHandle = poke; /* unloaded */
    CODE(aclmdlRITaskSetParams(task, &change), 107017);
    CODE(aclmdlRIExecuteAsync(g, s), 507011);
    OK(aclrtBinaryUnLoad(c));
}

int main(void) {
    captured();
    updated();
    parts_of_parameters();
    cpu_in_groups();
    disabled();
    failing();
    parameters();
    CHECK(mock_acl_reset() == 0);
    CHECK(live().binaries == 0);
    return 0;
}
