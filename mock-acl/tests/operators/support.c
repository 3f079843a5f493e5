#include "operators/support.h"
#include "memory/memory.h"
#include "streams/streams.h"

#include <pthread.h>
#include <stdarg.h>

static char text[512];
static aclError refusal;
static int injected;

typedef struct task {
    struct task *next;
    const mock_task_ops *ops;
    void *arg;
} task;
static task *queue;
static task **queue_end = &queue;

typedef struct object {
    void *value;
    uint32_t generation;
    mock_object_kind kind;
} object;
static object objects[4096];
static size_t live[MOCK_OBJECT_KINDS];

typedef struct range {
    struct range *next;
    char *start;
    size_t size;
} range;
static range *ranges;

int mock_enter(mock_api api) {
    const int code = injected;
    (void)api;
    injected = 0;
    return code;
}

int mock_enter_is_slow(mock_api api) {
    (void)api;
    return injected != 0;
}

int mock_enter_slowly(mock_api api, const void *const *given, size_t n) {
    (void)given;
    (void)n;
    return mock_enter(api);
}

/* There is no log here. */
atomic_bool mock_calls_logged;

void mock_note_given(const void *const *given, size_t n) {
    (void)given;
    (void)n;
}

void stub_inject(int code) {
    injected = code;
}

void mock_error_text(const char *code, const char *format, ...) {
    va_list args;
    const int used = snprintf(text, sizeof text, "%s: ", code);
    va_start(args, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, args);
    va_end(args);
}

const char *stub_text(void) {
    return text;
}

void stub_refuse(aclError code) {
    refusal = code;
}

aclError mock_submit_kernel(aclrtStream stream, const mock_task_ops *ops, void *arg) {
    (void)stream;
    if (refusal != 0) {
        ops->drop(arg);
        mock_error_text("EE9999", "refused by the runtime");
        return refusal;
    }
    task *t = malloc(sizeof *t);
    *t = (task){NULL, ops, arg};
    *queue_end = t;
    queue_end = &t->next;
    return 0;
}

int stub_drain(void) {
    int result = 0;
    while (queue != NULL) {
        task *t = queue;
        queue = t->next;
        const int code = t->ops->run(t->arg);
        if (result == 0) result = code;
        t->ops->drop(t->arg);
        free(t);
    }
    queue_end = &queue;
    return result;
}

typedef struct runner {
    pthread_t thread;
    task *task;
    int rounds, result;
} runner;

static void *run_rounds(void *arg) {
    runner *r = arg;
    for (int i = 0; i < r->rounds && r->result == 0; i++) r->result = r->task->ops->run(r->task->arg);
    return NULL;
}

int stub_drain_threads(int rounds) {
    runner runners[64];
    int count = 0, result = 0;
    for (task *t = queue; t != NULL && count < 64; t = t->next) {
        runners[count] = (runner){.task = t, .rounds = rounds};
        CHECK(pthread_create(&runners[count].thread, NULL, run_rounds, &runners[count]) == 0);
        count++;
    }
    for (int i = 0; i < count; i++) {
        pthread_join(runners[i].thread, NULL);
        if (result == 0) result = runners[i].result;
        queue = runners[i].task->next;
        runners[i].task->ops->drop(runners[i].task->arg);
        free(runners[i].task);
    }
    if (queue == NULL) queue_end = &queue;
    return result;
}

size_t stub_queued(void) {
    size_t count = 0;
    for (const task *t = queue; t != NULL; t = t->next) count++;
    return count;
}

void *mock_object_new(mock_object_kind kind, void *value) {
    for (uintptr_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        object *o = &objects[i];
        if (o->value != NULL) continue;
        o->value = value;
        o->kind = kind;
        live[kind]++;
        return (void *)((uintptr_t)++o->generation << 16 | i << 4 | 1);
    }
    return NULL;
}

static object *find(mock_object_kind kind, const void *handle) {
    const uintptr_t bits = (uintptr_t)handle;
    object *o = &objects[bits >> 4 & 4095];
    if ((bits & 15) != 1 || o->value == NULL || o->kind != kind || o->generation != bits >> 16) return NULL;
    return o;
}

void *mock_object_get(mock_object_kind kind, const void *handle) {
    const object *o = find(kind, handle);
    return o == NULL ? NULL : o->value;
}

void *mock_object_take(mock_object_kind kind, const void *handle) {
    object *o = find(kind, handle);
    if (o == NULL) return NULL;
    void *value = o->value;
    o->value = NULL;
    live[kind]--;
    return value;
}

void mock_object_take_all(mock_object_kind kind, void (*visit)(void *value)) {
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        void *value = objects[i].kind == kind ? objects[i].value : NULL;
        if (value == NULL) continue;
        objects[i].value = NULL;
        live[kind]--;
        visit(value);
    }
}

size_t stub_live(mock_object_kind kind) {
    return live[kind];
}

void *device_alloc(size_t size) {
    range *r = malloc(sizeof *r);
    *r = (range){ranges, aligned_alloc(64, (size + 63) / 64 * 64), size};
    /* Not zero: nothing may rely on the content of fresh device memory. */
    memset(r->start, 0xa5, size);
    ranges = r;
    return r->start;
}

void device_free(void *memory) {
    for (range **at = &ranges; *at != NULL; at = &(*at)->next) {
        range *r = *at;
        if (r->start != memory) continue;
        *at = r->next;
        free(r->start);
        free(r);
        return;
    }
    abort();
}

void *mock_device_view(const void *device, size_t size) {
    const uintptr_t want = (uintptr_t)device;
    if (size == 0) return text;
    for (const range *r = ranges; r != NULL; r = r->next) {
        const uintptr_t start = (uintptr_t)r->start;
        if (want >= start && size <= r->size &&
            want - start <= r->size - size) return r->start + (want - start);
    }
    return NULL;
}

/* Races are not looked for without a runtime. */
_Atomic int mock_races_mode = MOCK_ACL_RACES_OFF;

bool mock_touch_task_pieces(const mock_pieces *what, mock_touch kind) {
    (void)what;
    (void)kind;
    return true;
}

static size_t size_of(aclDataType dtype) {
    switch ((int)dtype) {
        case ACL_INT8: case ACL_UINT8: case ACL_BOOL: return 1;
        case ACL_FLOAT16: case ACL_BF16: case ACL_INT16: return 2;
        case ACL_INT64: case ACL_DOUBLE: return 8;
        default: return 4;
    }
}

sample sample_new(aclDataType dtype, const char *layout, int rank, const int64_t *dims) {
    sample s = {.dtype = dtype, .rank = rank, .count = 1};
    const bool gaps = layout[0] == 'g';
    int64_t dense = gaps ? 2 : 1;
    int64_t span = 1;
    if (gaps) layout++;
    s.offset = gaps ? 3 : 0;
    for (int i = rank; i-- > 0;) {
        const int dim = layout[0] != 0 ? layout[i] - '0' : i;
        s.dims[dim] = dims[dim];
        s.strides[dim] = dense;
        span += (dims[dim] - 1) * dense;
        dense = dense * dims[dim] + (gaps ? 1 : 0);
        s.count *= dims[dim];
    }
    const int64_t storage = s.count == 0 ? 0 : s.offset + span;
    s.memory = device_alloc((size_t)storage * size_of(dtype));
    s.handle = aclCreateTensor(
        s.dims, (uint64_t)rank, dtype, s.strides, s.offset, ACL_FORMAT_ND, &storage, 1, s.memory);
    CHECK(s.handle != NULL);
    return s;
}

void sample_free(sample *s) {
    CHECK(aclDestroyTensor(s->handle) == 0);
    device_free(s->memory);
}

aclTensor *tensor_nowhere(aclDataType dtype, int rank, const int64_t *dims) {
    static double nowhere;
    int64_t strides[8], dense = 1;
    for (int i = rank; i-- > 0; dense *= dims[i]) strides[i] = dense;
    return aclCreateTensor(dims, (uint64_t)rank, dtype, strides, 0, ACL_FORMAT_ND, &dense, 1, &nowhere);
}

static char *element(const sample *s, int64_t index) {
    int64_t at = s->offset;
    for (int i = s->rank; i-- > 0;) {
        at += index % s->dims[i] * s->strides[i];
        index /= s->dims[i];
    }
    return s->memory + at * (int64_t)size_of(s->dtype);
}

static double decode_small(unsigned bits, int exponent_bits, int fraction_bits) {
    const int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = (int)bits & ((1 << fraction_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double sign = (bits >> (exponent_bits + fraction_bits)) & 1 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

#define DECODE(T)             \
    {                         \
        T value;              \
        memcpy(&value, from, sizeof value); \
        return (double)value; \
    }

double reference_decode(aclDataType dtype, const void *from) {
    uint16_t bits;
    memcpy(&bits, from, size_of(dtype) == 2 ? 2 : 1);
    switch ((int)dtype) {
        case ACL_FLOAT16: return decode_small(bits, 5, 10);
        case ACL_BF16: return decode_small(bits, 8, 7);
        case ACL_FLOAT: DECODE(float)
        case ACL_DOUBLE: DECODE(double)
        case ACL_INT64: DECODE(int64_t)
        case ACL_INT32: DECODE(int32_t)
        case ACL_INT16: DECODE(int16_t)
        case ACL_INT8: DECODE(int8_t)
        default: DECODE(uint8_t)
    }
}

static int fraction_bits(aclDataType dtype) {
    return dtype == ACL_FLOAT16 ? 10 : dtype == ACL_BF16 ? 7 : dtype == ACL_FLOAT ? 23 : 52;
}

/* The distance between neighbours of the type around a value. */
static double unit(aclDataType dtype, double value) {
    int exponent;
    const int lowest = dtype == ACL_FLOAT16 ? -14 : -126;
    frexp(value, &exponent);
    exponent = exponent - 1 < lowest ? lowest : exponent - 1;
    return ldexp(1, exponent - fraction_bits(dtype));
}

double reference_round(aclDataType dtype, double value) {
    if (dtype == ACL_DOUBLE || value == 0 || !isfinite(value)) return value;
    const double step = unit(dtype, value);
    const double rounded = nearbyint(value / step) * step;
    const double limit = dtype == ACL_FLOAT16 ? 65504.0 : dtype == ACL_BF16 ? 0x1.fep127 : 0x1.fffffep127;
    return fabs(rounded) > limit ? copysign((double)INFINITY, value) : rounded;
}

/* The encoding is searched for, not computed: slow, and independent of the code under test. */
static uint16_t encode_small(aclDataType dtype, double value) {
    const double want = reference_round(dtype, value);
    uint32_t low = 0, high = dtype == ACL_FLOAT16 ? 0x7c00 : 0x7f80;
    if (isnan(value)) return 0x7fff;
    while (low < high) {
        const uint16_t middle = (uint16_t)((low + high) / 2);
        if (reference_decode(dtype, &middle) < fabs(want)) low = middle + 1u;
        else high = middle;
    }
    return (uint16_t)(low | (signbit(want) ? 0x8000u : 0));
}

#define ENCODE(T)                        \
    {                                    \
        const T v = (T)value;            \
        memcpy(to, &v, sizeof v);        \
        break;                           \
    }

void sample_set(sample *s, int64_t index, double value) {
    char *to = element(s, index);
    switch ((int)s->dtype) {
        case ACL_FLOAT16: case ACL_BF16: {
            const uint16_t bits = encode_small(s->dtype, value);
            memcpy(to, &bits, sizeof bits);
            break;
        }
        case ACL_FLOAT: ENCODE(float)
        case ACL_DOUBLE: ENCODE(double)
        case ACL_INT64: ENCODE(int64_t)
        case ACL_INT32: ENCODE(int32_t)
        case ACL_INT16: ENCODE(int16_t)
        case ACL_INT8: ENCODE(int8_t)
        case ACL_BOOL: ENCODE(bool)
        default: ENCODE(uint8_t)
    }
}

double sample_get(const sample *s, int64_t index) {
    return reference_decode(s->dtype, element(s, index));
}

int64_t sample_get_int(const sample *s, int64_t index) {
    int64_t value;
    CHECK(s->dtype == ACL_INT64);
    memcpy(&value, element(s, index), sizeof value);
    return value;
}

void sample_fill(sample *s, double low, double high) {
    static uint64_t state = 88172645463325252u;
    const bool whole = s->dtype != ACL_FLOAT && s->dtype != ACL_FLOAT16 && s->dtype != ACL_BF16 &&
                       s->dtype != ACL_DOUBLE;
    for (int64_t i = 0; i < s->count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const double value = low + (double)(state >> 11) * 0x1p-53 * (high - low);
        sample_set(s, i, whole ? floor(value) : value);
    }
}

double sample_seen(const sample *s, const sample *out, int64_t index) {
    int64_t mine = 0, scale = 1;
    for (int i = out->rank; i-- > 0;) {
        const int dim = i - (out->rank - s->rank);
        const int64_t at = index % out->dims[i];
        index /= out->dims[i];
        if (dim < 0) continue;
        mine += (s->dims[dim] == 1 ? 0 : at) * scale;
        scale *= s->dims[dim];
    }
    return sample_get(s, mine);
}

bool close_to(aclDataType dtype, double got, double want, double ulps) {
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    const bool floating = dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16 ||
        dtype == ACL_DOUBLE;
    if (!floating) return got == want;
    const double rounded = reference_round(dtype, want);
    if (got == rounded || ulps == 0) return got == rounded;
    return fabs(got - want) <= ulps * unit(dtype, want);
}

aclScalar *scalar_float(float value) {
    return aclCreateScalar(&value, ACL_FLOAT);
}

aclScalar *scalar_double(double value) {
    return aclCreateScalar(&value, ACL_DOUBLE);
}

aclScalar *scalar_int(int64_t value) {
    return aclCreateScalar(&value, ACL_INT64);
}
