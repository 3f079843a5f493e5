/* Own kernels inside graphs: replacement in task groups, parameters of tasks (guide: capture, task update;
 * header: aclmdlRIKernelTaskParams). */
#define _GNU_SOURCE
#include <string.h>
#include "kernel.h"

static bool same_kind(const mock_acl_kernel *a, const mock_acl_kernel *b) {
    return a->kind == b->kind && a->cube_ratio == b->cube_ratio && a->vector_ratio == b->vector_ratio;
}

bool mock_kernels_match(const mock_task *old, const mock_task *fresh) {
    const mock_launch *a = mock_launch_of(old), *b = mock_launch_of(fresh);
    return a == NULL || b == NULL || same_kind(&a->function->kernel, &b->function->kernel);
}

/* The address of the arguments is that of the task's own copy, or the device memory that the program gave. */
bool mock_launch_get_params(const mock_task *t, aclmdlRIKernelTaskParams *params) {
    mock_launch *l = mock_launch_of(t);
    if (l == NULL) return false;
    memset(params, 0, sizeof *params);
    params->funcHandle = l->function->handle;
    params->cfg = l->attributes == NULL ? NULL : &l->config;
    params->args = l->on_device ? (void *)(uintptr_t)l->device_args : l->args;
    params->isHostArgs = !l->on_device;
    params->argsSize = l->size;
    params->numBlocks = l->blocks;
    return true;
}

static aclError build(const aclmdlRIKernelTaskParams *p, const mock_launch *old, mock_launch **out) {
    mock_launch_request r = {.blocks = p->numBlocks,
        .config = p->cfg,
        .on_device = p->isHostArgs == 0,
        .args = p->args,
        .size = p->argsSize};
    aclError code = mock_function_find(p->funcHandle, false, &r.function);
    if (code == 0 && !same_kind(&r.function->kernel, &old->function->kernel))
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the task has a kernel of another kind");
    if (code == 0 && p->args == NULL && p->argsSize != 0)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "args must not be null");
    return code != 0 ? code : mock_launch_new(&r, out);
}

/* The core limits of the capture stay (own choice). */
aclError mock_launch_set_params(
    const mock_task *t, const aclmdlRIKernelTaskParams *params, mock_task *fresh) {
    const mock_launch *old = mock_launch_of(t);
    mock_launch *l = NULL;
    if (old == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the kernel of an operator cannot be changed");
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = build(params, old, &l);
    pthread_mutex_unlock(&mock_kernel_lock);
    if (code != 0) return code;
    l->cube = old->cube;
    l->vector = old->vector;
    mock_launch_task(l, t->ops->name, fresh);
    fresh->chain = t->chain;
    return 0;
}

/* What the launch did not say is 0, but for the schedule mode, which the kernel has (own choice). */
aclError mock_launch_get_attribute(
    const mock_task *t, aclrtLaunchKernelAttrId id, aclrtLaunchKernelAttrValue *value) {
    const mock_launch *l = mock_launch_of(t);
    if (l == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the task has no launch attributes");
    if ((int)id < ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE || id > ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "launch attribute %d", (int)id);
    memset(value, 0, sizeof *value);
    if (id == ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE) value->schemMode = (uint8_t)l->batch;
    for (size_t i = 0; i < l->attribute_count; i++)
        if (l->attributes[i].id == id) *value = l->attributes[i].value;
    return 0;
}
