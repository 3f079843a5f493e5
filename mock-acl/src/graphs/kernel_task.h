/* What the tasks of graphs ask about kernels that were launched through a function handle. Who offers such
 * launches sets `mock_kernel_tasks_in_use` before the first one; NULL: there are none. `arg` is the
 * argument of the task that mock_submit_kernel took. Called with the engine lock. */
#ifndef MOCK_GRAPHS_KERNEL_TASK_H_
#define MOCK_GRAPHS_KERNEL_TASK_H_

#include "engine/engine.h"

typedef struct mock_kernel_tasks {
    bool (*owns)(const mock_task_ops *ops);
    /* Function handle, arguments and number of blocks; `out` is zeroed. */
    void (*params)(const void *arg, aclmdlRIKernelTaskParams *out);
    /* A task to take the place of `arg`: what stays null or 0 in `params` is taken over from it. The caller
     * drops the new argument. An error leaves nothing behind. */
    aclError (*change)(const void *arg, const aclmdlRIKernelTaskParams *params, const mock_task_ops **ops,
        void **new_arg);
    /* A launch attribute; `out` is zeroed, which is what a launch without it has. */
    aclError (*attribute)(
        const void *arg, aclrtLaunchKernelAttrId id, aclrtLaunchKernelAttrValue *out);
    /* Whether one may take the other's place in an update of a task group: equal kinds of kernel. */
    bool (*same_kind)(const void *arg, const void *other);
} mock_kernel_tasks;

#endif
