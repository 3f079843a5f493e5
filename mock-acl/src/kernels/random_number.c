/* Tasks that make random numbers (guide: execution control, aclrtRandomNumAsync; header:
 * aclrtRandomNumTaskInfo).
 *
 * The generator is Philox4x32 with ten rounds, as on the card (implementation of the open runtime, which
 * names it): the key is the seed, the counter starts at the 128 bits that lie at the counter's address. What
 * follows is our own choice; a card gives other numbers. Every four words of the generator come from one
 * counter value, the next one from the counter plus 1. The memory of the counter does not change. A number
 * takes one word, or two when it has 64 bits or is normally distributed. Uniform floats are min + u * (max -
 * min) with u in [0, 1) of 24 bits, rounded to the type; integers are min + word mod (max - min), the whole
 * range when both are equal. Normal numbers are those of Box and Muller, truncated ones are drawn again
 * outside of two standard deviations. In a bitmask each bit takes a word: 0 with the probability of the
 * ratio, lowest bit first. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/memory.h"

/* ---- the generator ---- */

typedef struct generator {
    uint32_t key[2], counter[4], words[4];
    uint32_t used; /* of the words */
} generator;

static void next_counter(generator *g) {
    for (int i = 0; i < 4; i++)
        if (++g->counter[i] != 0) return;
}

static void refill(generator *g) {
    mock_philox(g->counter, g->key, g->words);
    g->used = 0;
    next_counter(g);
}

static uint32_t word(generator *g) {
    if (g->used == 4) refill(g);
    return g->words[g->used++];
}

static uint64_t long_word(generator *g) {
    const uint64_t low = word(g);
    return low | (uint64_t)word(g) << 32;
}

static float unit(generator *g) { return (float)(word(g) >> 8) * 0x1p-24f; }

static double normal(generator *g) {
    const double u = ((double)word(g) + 1) * 0x1p-32, v = (double)word(g) * 0x1p-32;
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/* ---- the task ---- */

typedef struct operand {
    bool at_address;
    uint8_t size;
    uint64_t bits;
    void *address;
} operand;

typedef struct random_task {
    aclDataType type;
    aclrtRandomNumFuncType function;
    operand first, second, seed, number;
    void *result, *counter;
} random_task;

static size_t size_of(aclDataType type) {
    switch (type) {
    case ACL_BF16:
    case ACL_FLOAT16:
        return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
        return 4;
    case ACL_INT64:
    case ACL_UINT64:
        return 8;
    default:
        return 0;
    }
}

static bool is_float(aclDataType type) {
    return type == ACL_BF16 || type == ACL_FLOAT16 || type == ACL_FLOAT;
}

static float to_float(aclDataType type, uint64_t bits) {
    if (type == ACL_FLOAT16) return mock_half_to_float((uint16_t)bits);
    if (type == ACL_BF16) return mock_brain_to_float((uint16_t)bits);
    const uint32_t low = (uint32_t)bits;
    float f = 0;
    memcpy(&f, &low, sizeof f);
    return f;
}

static uint64_t from_float(aclDataType type, float value) {
    if (type == ACL_FLOAT16) return mock_float_to_half(value);
    if (type == ACL_BF16) return mock_float_to_brain(value);
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool value_of(const operand *o, uint64_t *out) {
    *out = o->bits;
    if (!o->at_address) return true;
    const void *view = mock_device_view(o->address, o->size);
    *out = 0;
    if (view != NULL) memcpy(out, view, o->size);
    return view != NULL;
}

/* A number of the integer types, with the bits above 32 of the narrow ones 0. */
static uint64_t integer(generator *g, size_t size, uint64_t least, uint64_t most) {
    const uint64_t drawn = size == 8 ? long_word(g) : word(g);
    const uint64_t range = size == 8 ? most - least : (uint32_t)(most - least);
    return least + (range == 0 ? drawn : drawn % range);
}

static uint64_t draw(const random_task *t, generator *g, uint64_t first, uint64_t second) {
    if (!is_float(t->type)) return integer(g, size_of(t->type), first, second);
    const float a = to_float(t->type, first), b = to_float(t->type, second);
    if (t->function == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS)
        return from_float(t->type, a + unit(g) * (b - a));
    double n = normal(g);
    while (t->function == ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS && fabs(n) > 2) n = normal(g);
    return from_float(t->type, (float)(a + n * b));
}

static void bitmask(generator *g, unsigned char *out, uint64_t count, double ratio) {
    memset(out, 0, (count + 7) / 8);
    for (uint64_t i = 0; i < count; i++)
        if ((double)word(g) * 0x1p-32 >= ratio) out[i / 8] |= (unsigned char)(1u << (i % 8));
}

/* The counter has 16 bytes, or 8 at the end of its block: then the upper half is 0. */
static bool start(const random_task *t, generator *g, uint64_t seed) {
    const void *counter = mock_device_view(t->counter, 16);
    const size_t size = counter != NULL ? 16 : 8;
    if (counter == NULL) counter = mock_device_view(t->counter, 8);
    if (counter == NULL) return false;
    memset(g, 0, sizeof *g);
    memcpy(g->counter, counter, size);
    g->key[0] = (uint32_t)seed;
    g->key[1] = (uint32_t)(seed >> 32);
    g->used = 4;
    return true;
}

/* Memory that is not there: 507053, as for copies (own choice). */
static aclError run_random(void *arg) {
    const random_task *t = arg;
    uint64_t seed = 0, count = 0, first = 0, second = 0;
    generator g;
    if (!value_of(&t->seed, &seed) || !value_of(&t->number, &count) || !value_of(&t->first, &first) ||
        !value_of(&t->second, &second) || !start(t, &g, seed))
        return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    const bool bits = t->function == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK;
    const size_t size = size_of(t->type);
    if (count > UINT64_MAX / 16) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    const uint64_t bytes = bits ? (count + 7) / 8 : count * size;
    unsigned char *out = mock_device_view(t->result, bytes);
    if (out == NULL || !mock_touch_task(t->result, bytes, MOCK_WRITES)) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    if (bits) bitmask(&g, out, count, to_float(t->type, first));
    for (uint64_t i = 0; !bits && i < count; i++) {
        const uint64_t drawn = draw(t, &g, first, second);
        memcpy(out + i * size, &drawn, size);
    }
    mock_memory_changed();
    return 0;
}

static aclError run_task(void *arg) { return run_random(*(void **)arg); }
static void drop_task(void *arg) { free(*(void **)arg); }
static const mock_task_ops task_ops = {"aclrtRandomNumAsync", run_task, drop_task};

/* ---- checks ---- */

static aclError bad(const char *what, unsigned long long value) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s %llu", what, value);
}

/* The size has to be that of the type, an address not null: 107000 (implementation of the open runtime). */
static aclError read_operand(const aclrtRandomParaInfo *p, const char *what, size_t size, operand *out) {
    memset(out, 0, sizeof *out);
    if (p->isAddr > 1) return bad(what, p->isAddr);
    if (p->size != size) return bad(what, p->size);
    memcpy(&out->bits, p->valueOrAddr, p->isAddr ? sizeof out->bits : size);
    out->at_address = p->isAddr != 0;
    out->size = (uint8_t)size;
    out->address = (void *)(uintptr_t)out->bits;
    if (out->at_address && out->bits == 0)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "the address of %s must not be null", what);
    return 0;
}

static aclError read_parameters(const aclrtRandomNumFuncParaInfo *f, size_t size, random_task *t) {
    aclError code = 0;
    switch ((int)f->funcType) {
    case ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK:
        return read_operand(&f->paramInfo.dropoutBitmaskInfo.dropoutRation, "the ratio", size, &t->first);
    case ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS:
        code = read_operand(&f->paramInfo.uniformDisInfo.min, "min", size, &t->first);
        return code != 0 ? code : read_operand(&f->paramInfo.uniformDisInfo.max, "max", size, &t->second);
    default:
        code = read_operand(&f->paramInfo.normalDisInfo.mean, "mean", size, &t->first);
        if (code != 0) return code;
        return read_operand(&f->paramInfo.normalDisInfo.stddev, "stddev", size, &t->second);
    }
}

/* Another function, integers but for the uniform one, null addresses: 107000 (implementation of the open
 * runtime). */
static aclError read_task(const aclrtRandomNumTaskInfo *info, random_task *t) {
    const int function = (int)info->randomNumFuncParaInfo.funcType;
    if (function < 0 || function > ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS)
        return bad("function", (unsigned)function);
    if (function != ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS && !is_float(info->dataType))
        return bad("no integers for this function: data type", (unsigned)info->dataType);
    if (info->randomCounterAddr == NULL || info->randomResultAddr == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "the counter and the result must not be null");
    *t = (random_task){.type = info->dataType,
        .function = info->randomNumFuncParaInfo.funcType,
        .result = info->randomResultAddr,
        .counter = info->randomCounterAddr};
    aclError code = read_operand(&info->randomSeed, "the seed", 8, &t->seed);
    if (code == 0) code = read_operand(&info->randomNum, "the number", 8, &t->number);
    if (code == 0) code = read_parameters(&info->randomNumFuncParaInfo, size_of(info->dataType), t);
    return code;
}

/* Null and other data types: 100000; the reserve has no effect (implementation of the open runtime). No
 * kernel to a task group (own choice). */
MOCK_EXPORT aclError aclrtRandomNumAsync(
    const aclrtRandomNumTaskInfo *taskInfo, const aclrtStream stream, void *reserve) {
    MOCK_ENTER_OF(aclrtRandomNumAsync, stream);
    (void)reserve;
    if (taskInfo == NULL) return mock_null("taskInfo");
    if (size_of(taskInfo->dataType) == 0)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "data type %d", (int)taskInfo->dataType);
    random_task read, *owned = NULL;
    aclError code = read_task(taskInfo, &read);
    if (code != 0) return code;
    owned = malloc(sizeof *owned);
    if (owned == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    *owned = read;
    mock_task t = {.ops = &task_ops, .kind = MOCK_TASK_WORK};
    t.u.kernel.arg = owned;
    mock_stream *s = NULL;
    mock_lock();
    code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = mock_submit(s, &t);
    else mock_task_release(&t);
    mock_unlock();
    return code;
}
