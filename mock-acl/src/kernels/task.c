/* Own kernels inside graphs: replacement in task groups, parameters of tasks (guide: capture, task update;
 * header: aclmdlRIKernelTaskParams). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"
#include "kernels/kernel.h"

static bool same_kind(const mock_launch *a, const mock_launch *b) {
    const mock_acl_kernel *x = &a->function->kernel, *y = &b->function->kernel;
    return x->kind == y->kind && x->cube_ratio == y->cube_ratio && x->vector_ratio == y->vector_ratio;
}

static bool owns(const mock_task_ops *ops) {
    const mock_task t = {.ops = ops, .kind = MOCK_TASK_KERNEL, .u.kernel.arg = (void *)(uintptr_t)ops};
    return mock_launch_of(&t) != NULL;
}

/* The arguments are the task's own copy, or the device memory that the program gave. */
static void params(const void *arg, aclmdlRIKernelTaskParams *out) {
    const mock_launch *l = arg;
    out->funcHandle = l->function->handle;
    out->cfg = l->attributes == NULL ? NULL : (aclrtLaunchKernelCfg *)(uintptr_t)&l->config;
    out->args = l->on_device ? (void *)(uintptr_t)l->device_args : l->args;
    out->isHostArgs = !l->on_device;
    out->argsSize = l->size;
    out->numBlocks = l->blocks;
}

/* With the kernel lock. What is null or 0 stays as it was. */
static aclError build(const mock_launch *old, const aclmdlRIKernelTaskParams *p, mock_launch **out) {
    aclmdlRIKernelTaskParams now = {0};
    params(old, &now);
    const bool keep = p->args == NULL;
    mock_launch_request r = {.function = old->function,
        .blocks = p->numBlocks == 0 ? now.numBlocks : p->numBlocks,
        .config = p->cfg == NULL ? now.cfg : p->cfg,
        .on_device = keep ? old->on_device : p->isHostArgs == 0,
        .args = keep ? now.args : p->args,
        .size = keep ? now.argsSize : p->argsSize};
    aclError code = 0;
    if (p->funcHandle != NULL) code = mock_function_find(p->funcHandle, false, &r.function);
    return code != 0 ? code : mock_launch_new(&r, out);
}

/* Another kind of kernel: 107000, and the core limits of the capture stay (own choice). */
static aclError change(
    const void *arg, const aclmdlRIKernelTaskParams *p, const mock_task_ops **ops, void **fresh) {
    const mock_launch *old = arg;
    mock_launch *l = NULL;
    mock_task t;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = build(old, p, &l);
    pthread_mutex_unlock(&mock_kernel_lock);
    if (code != 0) return code;
    if (!same_kind(old, l)) {
        mock_launch_free(l);
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the task has a kernel of another kind");
    }
    l->cube = old->cube;
    l->vector = old->vector;
    mock_launch_task(l, "aclrtLaunchKernelWithHostArgs", &t);
    *ops = t.ops;
    *fresh = l;
    return 0;
}

/* The schedule mode is that of the kernel unless the launch has its own. */
static aclError attribute(const void *arg, aclrtLaunchKernelAttrId id, aclrtLaunchKernelAttrValue *out) {
    const mock_launch *l = arg;
    if (id == ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE) out->schemMode = (uint8_t)l->batch;
    for (size_t i = 0; i < l->attribute_count; i++)
        if (l->attributes[i].id == id) *out = l->attributes[i].value;
    return 0;
}

static bool kinds(const void *arg, const void *other) { return same_kind(arg, other); }

static const mock_kernel_tasks tasks = {owns, params, change, attribute, kinds};
void mock_kernel_tasks_on(void) { mock_kernel_tasks_in_use = &tasks; }
