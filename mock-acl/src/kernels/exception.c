/* What exception callbacks are told of own kernels (guide: kernel loading,
 * aclrtBinarySetExceptionCallback). */
#include "engine/engine.h"
#include "kernels/kernel.h"
#include "memory/memory.h"
#include "streams/streams.h"
#include <string.h>

/* Arguments that came from the host are copied to the device for the program to look at (own choice: the
 * mock's kernels do not need them there). The copy goes with the launch. */
static void origin(const mock_task_ops *ops, const void *arg, mock_launch_origin *out) {
    const mock_task t = {.ops = ops, .kind = MOCK_TASK_KERNEL, .u.kernel.arg = (void *)(uintptr_t)arg};
    mock_launch *l = mock_launch_of(&t);
    if (l == NULL) return;
    if (!l->on_device && l->shown == NULL && l->size != 0) {
        l->shown = mock_device_alloc(l->function->binary->device_id, l->size);
        if (l->shown != NULL) memcpy(mock_device_view(l->shown, l->size), l->args, l->size);
    }
    out->device_args = l->on_device ? (void *)(uintptr_t)l->device_args : l->shown;
    out->device_args_size = (uint32_t)l->size;
    out->function = l->function->handle;
    out->binary = l->function->binary;
}

static void call(void *binary, aclrtExceptionInfo *info) {
    mock_binary *b = binary;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclrtOpExceptionCallback callback = b->callback;
    void *data = b->callback_data;
    pthread_mutex_unlock(&mock_kernel_lock);
    if (callback != NULL) callback(info, data);
}

void mock_kernel_exceptions_on(void) {
    mock_kernel_origin = origin;
    mock_binary_exception = call;
}
