/* Kernels on their way to a stream. */
#include "devices/devices.h"
#include "engine/engine.h"
#include "streams/streams.h"

aclError mock_submit_kernel(aclrtStream stream, const mock_task_ops *ops, void *arg) {
    mock_stream *s = NULL;
    mock_task t = {.ops = ops, .kind = MOCK_TASK_KERNEL, .type = ACL_MODEL_RI_TASK_KERNEL};
    t.u.kernel.arg = arg;
    t.u.kernel.told = mock_told();
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) {
        mock_limits_in_use(s->ctx, &t.u.kernel);
        code = mock_submit(s, &t);
    } else {
        mock_task_release(&t);
    }
    mock_unlock();
    return code;
}
