/* Shows kernels to profiling and dumps. */
#define _GNU_SOURCE
#include <string.h>
#include "engine/engine.h"
#include "objects/objects.h"
#include "profiling/watch.h"

/* The bits that are on. */
static _Atomic uint32_t watching;

/* The plan of an operator; NULL for another kernel. */
static const void *operands_of(const mock_task *t) {
    if (t->ops->drop == mock_plan_drop) return t->u.kernel.arg;
    return NULL;
}

/* Runs a kernel, and shows it to whoever looks. Without the engine's lock. */
static aclError watch_kernel(mock_task *t, const mock_stream *s, uint32_t graph) {
    const uint32_t bits = atomic_load(&watching);
    const void *plan = operands_of(t);
    const bool dump = (bits & MOCK_WATCH_DUMP) != 0 && plan != NULL;
    const uint64_t number = dump ? mock_dump_number() : 0;
    if ((bits & MOCK_WATCH_SHAPES) != 0 && plan != NULL) mock_dump_shapes(t->ops->name, plan);
    if (dump) mock_dump_operands(t->ops->name, plan, number, false);
    const aclError code = t->ops->run(t->u.kernel.arg);
    if (dump) mock_dump_operands(t->ops->name, plan, number, true);
    /* Marks write events of their own. */
    const bool mark = strncmp(t->ops->name, "aclprof", 7) == 0;
    if ((bits & MOCK_WATCH_TRACE) != 0 && !mark) {
        const mock_ran ran = {s->id, s->ctx->device, graph, graph == 0 ? t->u.kernel.told : 0};
        mock_trace_kernel(t->ops->name, &ran);
    }
    return code;
}

void mock_watch_set(uint32_t bits, bool on) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    const uint32_t now = on ? atomic_load(&watching) | bits : atomic_load(&watching) & ~bits;
    atomic_store(&watching, now);
    atomic_store(&mock_watch, now != 0 ? watch_kernel : NULL);
    pthread_mutex_unlock(&lock);
}
