/* Shows kernels to profiling and dumps. */
#define _GNU_SOURCE
#include <string.h>
#include "profiling/watch.h"
#ifndef MOCK_WITHOUT_OPERATORS
#include "objects/object.h"
#endif

_Atomic uint32_t mock_watching;

void mock_watch_set(uint32_t bit, bool on) {
    if (on) atomic_fetch_or(&mock_watching, bit);
    else atomic_fetch_and(&mock_watching, ~bit);
}

/* The operands of an operator of the operator part; NULL for another kernel. */
static const void *operands_of(const mock_task *t) {
#ifndef MOCK_WITHOUT_OPERATORS
    if (t->ops->drop == mock_plan_drop) return t->u.kernel.arg;
#endif
    (void)t;
    return NULL;
}

aclError mock_watch_kernel(mock_task *t, int32_t stream, uint32_t graph) {
    const uint32_t bits = atomic_load(&mock_watching);
    const void *plan = operands_of(t);
    const bool dump = (bits & MOCK_WATCH_DUMP) != 0 && plan != NULL;
    const uint64_t number = dump ? mock_dump_number() : 0;
    if ((bits & MOCK_WATCH_SHAPES) != 0 && plan != NULL) mock_dump_shapes(t->ops->name, plan);
    if (dump) mock_dump_operands(t->ops->name, plan, number, false);
    const aclError code = t->ops->run(t->u.kernel.arg);
    if (dump) mock_dump_operands(t->ops->name, plan, number, true);
    /* Marks write events of their own. */
    const bool mark = strncmp(t->ops->name, "aclprof", 7) == 0;
    if ((bits & MOCK_WATCH_TRACE) != 0 && !mark) mock_trace_kernel(t->ops->name, stream, graph);
    return code;
}
