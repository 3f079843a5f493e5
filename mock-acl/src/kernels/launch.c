/* Launches of own kernels: what a launch consists of, and how it runs.
 *
 * (guide: kernel loading and launch; header: aclrtLaunchKernelAttrId) Codes of launch attributes:
 * (implementation of the open runtime). A block that fails, or asks for memory that is not there, leaves
 * 507015 on the stream (header: ACL_ERROR_RT_AICORE_EXCEPTION), 507035 on vector cores alone, 507018 on the AICPU, and
 * ends the launch (own choice: the blocks of a card run side by side). One that is late leaves 507014, on vector cores
 * 507034, on the AICPU 507017 (header: ACL_ERROR_RT_AICORE_TIMEOUT, ACL_ERROR_RT_VECTOR_CORE_TIMEOUT,
 * ACL_ERROR_RT_AICPU_TIMEOUT). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "kernels/kernel.h"
#include "memory/memory.h"

/* Where placeholders point to: the launch's own arguments, for nobody else. No address of the device or of
 * the host looks like it (own choice). */
#define ARGS_BASE UINT64_C(0x5AC0000000000000)
#define MOST_BLOCKS 65535u
#define MOST_ATTRIBUTES 1024u
#define UNSET UINT32_MAX

/* ---- attributes ---- */

static aclError bad(const char *what, unsigned long long value) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s %llu", what, value);
}

/* Unknown ones: 107000 (own choice). */
static aclError read_attribute(const aclrtLaunchKernelAttr *a, mock_launch *l) {
    switch ((int)a->id) {
    case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
        l->batch = a->value.schemMode;
        return l->batch > 1 ? bad("schedule mode", l->batch) : 0;
    case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
        l->dynamic_ubuf = a->value.dynUBufSize;
        return 0;
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
        l->engine = (uint32_t)a->value.engineType;
        return 0;
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
        l->offset = a->value.blockDimOffset;
        return 0;
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
        if (a->value.isBlockTaskPrefetch <= 1) return 0;
        return bad("block task prefetch", a->value.isBlockTaskPrefetch);
    case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
        return a->value.isDataDump > 1 ? bad("data dump", a->value.isDataDump) : 0;
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
        l->timeout_ns = a->value.timeout * UINT64_C(1000000000);
        return 0;
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US: {
        const uint64_t us = ((uint64_t)a->value.timeoutUs.timeoutHigh << 32) | a->value.timeoutUs.timeoutLow;
        l->timeout_ns = us > UINT64_MAX / 1000 ? UINT64_MAX : us * 1000;
        return 0;
    }
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
        return 0;
    default:
        return bad("launch attribute", (unsigned)a->id);
    }
}

static bool has_attribute(const aclrtLaunchKernelCfg *c, aclrtLaunchKernelAttrId id) {
    for (size_t i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == id) return true;
    return false;
}

/* Both time-outs at once: 107000. */
static aclError read_config(const aclrtLaunchKernelCfg *c, mock_launch *l) {
    if (c == NULL) return 0;
    if (c->attrs == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "cfg->attrs must not be null");
    if (c->numAttrs > MOST_ATTRIBUTES) return bad("launch attributes:", c->numAttrs);
    if (has_attribute(c, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT) &&
        has_attribute(c, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US))
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "a launch has one time-out, not two");
    for (size_t i = 0; i < c->numAttrs; i++) {
        const aclError code = read_attribute(&c->attrs[i], l);
        if (code != 0) return code;
    }
    l->attributes = malloc((c->numAttrs + 1) * sizeof *l->attributes);
    if (l->attributes == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    memcpy(l->attributes, c->attrs, c->numAttrs * sizeof *l->attributes);
    l->attribute_count = c->numAttrs;
    l->config = (aclrtLaunchKernelCfg){l->attributes, l->attribute_count};
    return 0;
}

/* ---- making ---- */

/* Places outside of the arguments: 107000 (implementation of the open runtime; own choice: the last 7 bytes
 * count as outside too, where an address does not fit). */
static aclError copy_args(const mock_launch_request *r, mock_launch *l) {
    for (size_t i = 0; i < r->place_count; i++)
        if (r->places[i].data >= r->size || (uint64_t)r->places[i].address + sizeof(uint64_t) > r->size)
            return mock_fail(
                ACL_ERROR_RT_PARAM_INVALID, "EE1003", "placeholder %zu lies outside of the arguments", i);
    l->args = malloc(r->size == 0 ? 1 : r->size);
    if (l->args == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    if (r->size != 0) memcpy(l->args, r->args, r->size);
    for (size_t i = 0; i < r->place_count; i++) {
        const uint64_t address = ARGS_BASE + r->places[i].data;
        memcpy(l->args + r->places[i].address, &address, sizeof address);
    }
    return 0;
}

/* No blocks: 107000 (implementation of the open runtime); more than 65,535: 107000 (guide: kernel launch; own
 * choice of the code). */
aclError mock_launch_new(const mock_launch_request *r, mock_launch **out) {
    if (r->blocks == 0 || r->blocks > MOST_BLOCKS) return bad("number of blocks", r->blocks);
    mock_launch *l = calloc(1, sizeof *l);
    if (l == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    l->blocks = r->blocks;
    l->batch = r->function->kernel.batch;
    l->engine = UNSET;
    l->on_device = r->on_device;
    l->size = r->size;
    aclError code = 0;
    if (r->on_device) l->device_args = r->args;
    else code = copy_args(r, l);
    if (code == 0) code = read_config(r->config, l);
    if (code == 0) code = mock_binary_to_device(r->function->binary);
    if (code != 0) {
        mock_launch_free(l);
        return code;
    }
    l->function = r->function;
    atomic_fetch_add(&r->function->binary->refs, 1);
    *out = l;
    return 0;
}

void mock_launch_free(void *launch) {
    mock_launch *l = launch;
    if (l->function != NULL) mock_binary_unref(l->function->binary);
    if (l->shown != NULL) mock_device_free(l->shown);
    free(l->args);
    free(l->attributes);
    free(l);
}

/* Vector cores alone: its kind, a mix without cube cores, or, of a kind for either, what the launch says. */
static bool on_vector(const mock_launch *l) {
    const mock_acl_kernel *k = &l->function->kernel;
    if (k->kind == MOCK_ACL_KERNEL_AICORE) return l->engine == ACL_RT_ENGINE_TYPE_AIV;
    return k->kind == MOCK_ACL_KERNEL_VECTOR ||
           (k->kind == MOCK_ACL_KERNEL_MIX && k->cube_ratio == 0 && k->vector_ratio != 0);
}

/* A batch starts all blocks together, so they need a core each (guide: kernel launch, schedule mode; own
 * choice of the code: a card would wait for ever). */
aclError mock_launch_limit(mock_launch *l, const mock_ctx *ctx) {
    const mock_acl_kernel *k = &l->function->kernel;
    mock_kernel limits = {0};
    mock_limits_in_use(ctx, &limits);
    l->cube = limits.cube;
    l->vector = limits.vector;
    const uint32_t cores = on_vector(l) ? l->vector : l->cube;
    if (l->batch == 0 || k->kind == MOCK_ACL_KERNEL_AICPU || l->blocks <= cores) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
        "a batch of %u blocks needs as many cores, there are %u", l->blocks, cores);
}

/* ---- running ---- */

typedef struct running {
    mock_acl_block block;
    const mock_launch *launch;
    char *args;
    uint64_t spent;
    bool fault;
} running;

static void *to_host(mock_acl_block *block, uint64_t address, uint64_t bytes) {
    running *r = MOCK_OWNER(block, running, block);
    const uint64_t offset = address - ARGS_BASE;
    if (offset <= r->launch->size && bytes <= r->launch->size - offset) return r->args + offset;
    void *view = mock_device_view((const void *)(uintptr_t)address, bytes);
    r->fault |= view == NULL;
    return view;
}

static uint64_t variable(mock_acl_block *block, const char *name) {
    const mock_binary *b = MOCK_OWNER(block, running, block)->launch->function->binary;
    const mock_variable *v = name == NULL ? NULL : mock_binary_variable(b, name);
    return v == NULL ? 0 : (uint64_t)(uintptr_t)b->device + v->offset;
}

static void spend(mock_acl_block *block, uint64_t nanoseconds) {
    running *r = MOCK_OWNER(block, running, block);
    if (__builtin_add_overflow(r->spent, nanoseconds, &r->spent)) r->spent = UINT64_MAX;
}

static bool on_cpu(const mock_launch *l) { return l->function->kernel.kind == MOCK_ACL_KERNEL_AICPU; }

static aclError failure(const mock_launch *l) {
    if (on_vector(l)) return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    return on_cpu(l) ? ACL_ERROR_RT_AICPU_EXCEPTION : ACL_ERROR_RT_AICORE_EXCEPTION;
}

static aclError result(const mock_launch *l, const running *r, int code) {
    if (!r->fault && (code == 0 || (code >= 507000 && code <= 507999))) return code;
    return failure(l);
}

static aclError run(mock_launch *l) {
    running r = {.launch = l, .args = l->args};
    if (l->on_device) {
        r.args = mock_device_view(l->device_args, l->size);
        if (r.args == NULL) return failure(l);
    }
    r.block = (mock_acl_block){.struct_size = sizeof r.block,
        .blocks = l->blocks,
        .args = r.args,
        .args_size = l->size,
        .cube_cores = l->cube,
        .vector_cores = l->vector,
        .batch = l->batch,
        .engine = l->engine,
        .offset = l->offset,
        .dynamic_ubuf = l->dynamic_ubuf,
        .to_host = to_host,
        .variable = variable,
        .spend = spend};
    aclError code = 0;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < l->blocks && code == 0; i++) {
        r.block.block = i;
        r.spent = 0;
        code = result(l, &r, l->function->kernel.run(&r.block));
        if (r.spent > longest) longest = r.spent;
    }
    const bool late = l->timeout_ns != 0 && longest > l->timeout_ns;
    if (longest != 0) mock_spend(late ? l->timeout_ns : longest);
    if (code != 0 || !late) return code;
    if (on_vector(l)) return ACL_ERROR_RT_VECTOR_CORE_TIMEOUT;
    return on_cpu(l) ? ACL_ERROR_RT_AICPU_TIMEOUT : ACL_ERROR_RT_AICORE_TIMEOUT;
}

static aclError run_kernel(void *arg) { return run(arg); }

/* Tasks of the AICPU are not kernels to task groups: they own the launch through a pointer. */
static aclError run_work(void *arg) { return run(((mock_kernel *)arg)->arg); }
static void drop_work(void *arg) { mock_launch_free(((mock_kernel *)arg)->arg); }

#define CALLS(X)                     \
    X(aclrtLaunchKernel)             \
    X(aclrtLaunchKernelV2)           \
    X(aclrtLaunchKernelWithConfig)   \
    X(aclrtLaunchKernelWithHostArgs) \
    X(aclrtLaunchKernelWithArgsArray)
#define KERNEL(name) {#name, run_kernel, mock_launch_free},
#define WORK(name) {#name, run_work, drop_work},
static const mock_task_ops kernel_ops[] = {CALLS(KERNEL)};
static const mock_task_ops work_ops[] = {CALLS(WORK)};
#define OPS (sizeof kernel_ops / sizeof kernel_ops[0])

mock_launch *mock_launch_of(const mock_task *t) {
    const bool kernel = t->kind == MOCK_TASK_KERNEL && t->ops->run == run_kernel;
    const bool work = t->kind == MOCK_TASK_WORK && t->ops->run == run_work;
    return kernel || work ? t->u.kernel.arg : NULL;
}

void mock_launch_task(mock_launch *l, const char *call, mock_task *out) {
    size_t i = 0;
    while (i < OPS - 1 && strcmp(kernel_ops[i].name, call) != 0) i++;
    const bool cpu = l->function->kernel.kind == MOCK_ACL_KERNEL_AICPU;
    *out = (mock_task){.ops = cpu ? &work_ops[i] : &kernel_ops[i],
        .kind = cpu ? MOCK_TASK_WORK : MOCK_TASK_KERNEL,
        .type = ACL_MODEL_RI_TASK_KERNEL};
    out->u.kernel = (mock_kernel){l, (uint16_t)l->cube, (uint16_t)l->vector, mock_told()};
}
