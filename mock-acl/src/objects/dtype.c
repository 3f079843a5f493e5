#include "objects/dtype.h"
#include "objects/isa.h"
#include "objects/objects.h"
#include "objects/vector.h"

#include <string.h>

#include "acl/acl_base_rt.h"

#ifdef MOCK_ISA_X86
#include <immintrin.h>
#endif

/* `order` sorts types for promotion within their kind. */
static const mock_dtype table[] = {
    [ACL_FLOAT] = {"FLOAT", 4, MOCK_F32, 8},
    [ACL_FLOAT16] = {"FLOAT16", 2, MOCK_F32, 6},
    [ACL_INT8] = {"INT8", 1, MOCK_I64, 2},
    [ACL_INT32] = {"INT32", 4, MOCK_I64, 4},
    [ACL_UINT8] = {"UINT8", 1, MOCK_I64, 1},
    [ACL_INT16] = {"INT16", 2, MOCK_I64, 3},
    [ACL_UINT16] = {"UINT16", 2, MOCK_CLASS_NONE, 0},
    [ACL_UINT32] = {"UINT32", 4, MOCK_CLASS_NONE, 0},
    [ACL_INT64] = {"INT64", 8, MOCK_I64, 5},
    [ACL_UINT64] = {"UINT64", 8, MOCK_CLASS_NONE, 0},
    [ACL_DOUBLE] = {"DOUBLE", 8, MOCK_F64, 9},
    [ACL_BOOL] = {"BOOL", 1, MOCK_I64, 0},
    [ACL_STRING] = {"STRING", 16, MOCK_CLASS_NONE, 0},
    [ACL_COMPLEX64] = {"COMPLEX64", 8, MOCK_CLASS_NONE, 0},
    [ACL_COMPLEX128] = {"COMPLEX128", 16, MOCK_CLASS_NONE, 0},
    [ACL_BF16] = {"BFLOAT16", 2, MOCK_F32, 7},
    [ACL_INT4] = {"INT4", 1, MOCK_CLASS_NONE, 0},
    [ACL_UINT1] = {"UINT1", 1, MOCK_CLASS_NONE, 0},
    [ACL_COMPLEX32] = {"COMPLEX32", 4, MOCK_CLASS_NONE, 0},
    [ACL_HIFLOAT8] = {"HIFLOAT8", 1, MOCK_CLASS_NONE, 0},
    [ACL_FLOAT8_E5M2] = {"FLOAT8_E5M2", 1, MOCK_CLASS_NONE, 0},
    [ACL_FLOAT8_E4M3FN] = {"FLOAT8_E4M3FN", 1, MOCK_CLASS_NONE, 0},
    [ACL_FLOAT8_E8M0] = {"FLOAT8_E8M0", 1, MOCK_CLASS_NONE, 0},
    [ACL_FLOAT6_E3M2] = {"FLOAT6_E3M2", 1, MOCK_CLASS_NONE, 0},
    [ACL_FLOAT6_E2M3] = {"FLOAT6_E2M3", 1, MOCK_CLASS_NONE, 0},
    [ACL_FLOAT4_E2M1] = {"FLOAT4_E2M1", 1, MOCK_CLASS_NONE, 0},
    [ACL_FLOAT4_E1M2] = {"FLOAT4_E1M2", 1, MOCK_CLASS_NONE, 0},
};

const mock_dtype *mock_dtype_info(int32_t dtype) {
    if (dtype < 0 || (size_t)dtype >= sizeof table / sizeof table[0]) return NULL;
    return table[dtype].name == NULL ? NULL : &table[dtype];
}

const char *mock_dtype_name(int32_t dtype) {
    const mock_dtype *info = mock_dtype_info(dtype);
    return info == NULL ? "UNDEFINED" : info->name;
}

size_t mock_dtype_size(int32_t dtype) {
    const mock_dtype *info = mock_dtype_info(dtype);
    return info == NULL ? 0 : info->size;
}

mock_class mock_dtype_class(int32_t dtype) {
    const mock_dtype *info = mock_dtype_info(dtype);
    return info == NULL ? MOCK_CLASS_NONE : (mock_class)info->class;
}

bool mock_dtype_is_float(int32_t dtype) {
    return mock_dtype_class(dtype) == MOCK_F32;
}

bool mock_dtype_is_floating(int32_t dtype) {
    return mock_dtype_is_float(dtype) || dtype == ACL_DOUBLE;
}

bool mock_dtype_is_integer(int32_t dtype) {
    return mock_dtype_class(dtype) == MOCK_I64 && dtype != ACL_BOOL;
}

/* The table of the guide (aclnn, type promotion between tensors): f16 with bf16 is f32, s8 with u8 is
 * s16. */
int32_t mock_dtype_promote(int32_t a, int32_t b) {
    if (a == b) return a;
    if ((a == ACL_FLOAT16 && b == ACL_BF16) || (a == ACL_BF16 && b == ACL_FLOAT16)) return ACL_FLOAT;
    if ((a == ACL_UINT8 && b == ACL_INT8) || (a == ACL_INT8 && b == ACL_UINT8)) return ACL_INT16;
    return table[a].order > table[b].order ? a : b;
}

bool mock_dtype_castable(int32_t from, int32_t to) {
    if (mock_dtype_class(to) == MOCK_CLASS_NONE) return false;
    if (to == ACL_BOOL) return from == ACL_BOOL;
    return mock_dtype_is_floating(to) || !mock_dtype_is_floating(from);
}

static float mock_f16_to_f32(uint16_t half) {
    const f32x4 wide = mock_halves_to_floats((u32x4){half, 0, 0, 0});
    return wide[0];
}

static uint16_t mock_f32_to_f16(float value) {
    const u32x4 bits = mock_floats_to_halves((f32x4){value, 0, 0, 0});
    return (uint16_t)bits[0];
}

static float mock_bf16_to_f32(uint16_t bits) {
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static uint16_t mock_f32_to_bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value) return (uint16_t)((bits >> 16) | 0x40u);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* Rounds to odd, so that a second rounding to a narrower type gives the correctly rounded result: f64 and
 * integers to f16 or bf16 round once (own choice: no card was compared). */
static float double_to_odd_float(double value) {
    const float near = (float)value;
    uint32_t bits;
    memcpy(&bits, &near, sizeof bits);
    if ((double)near == value || value != value || (bits & 1u) != 0) return near;
    if ((bits & 0x7fffffffu) == 0x7f800000u) return near;
    const bool grew = (near > value) == (value > 0);
    bits += grew ? 0xffffffffu : 1u;
    float odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

/* As double_to_odd_float. What of a large number a double has no room for is much less than what two
 * neighbours have between them: it matters only whether it is 0. */
static float int_to_odd_float(int64_t value) {
    const int64_t room = INT64_C(1) << 53;
    if (value < room && value > -room) return double_to_odd_float((double)value);
    const int64_t low = value & 0xffff;
    return double_to_odd_float((double)(value - low + (low == 0 ? 0 : 0x8000)));
}

/* Float to integer: towards zero, saturating (own choice), NaN gives 0 (guide: aclnn, aclnnCast). */
static int64_t clamp_to_int(double value, double low, double high) {
    if (!(value > low)) return value != value ? 0 : (int64_t)low;
    if (value >= high) return high >= 9.2e18 ? INT64_MAX : (int64_t)high;
    return (int64_t)value;
}

/* One named conversion per pair: NAME(value) from the class's type, and to it. */
#define FLOAT_FROM_F32(v) (v)
#define FLOAT_FROM_F64(v) ((float)(v))
#define FLOAT_FROM_I64(v) ((float)(v))
#define HALF_FROM_F32(v) mock_f32_to_f16(v)
#define HALF_FROM_F64(v) mock_f32_to_f16(double_to_odd_float(v))
#define HALF_FROM_I64(v) mock_f32_to_f16(int_to_odd_float(v))
#define BRAIN_FROM_F32(v) mock_f32_to_bf16(v)
#define BRAIN_FROM_F64(v) mock_f32_to_bf16(double_to_odd_float(v))
#define BRAIN_FROM_I64(v) mock_f32_to_bf16(int_to_odd_float(v))
#define DOUBLE_FROM_F32(v) ((double)(v))
#define DOUBLE_FROM_F64(v) (v)
#define DOUBLE_FROM_I64(v) ((double)(v))
/* Anything but 0 is true, NaN too (own choice). */
#define BOOL_FROM(v) ((uint8_t)((v) != 0))
#define I8_FROM_F(v) ((int8_t)clamp_to_int((double)(v), INT8_MIN, INT8_MAX))
#define U8_FROM_F(v) ((uint8_t)clamp_to_int((double)(v), 0, UINT8_MAX))
#define I16_FROM_F(v) ((int16_t)clamp_to_int((double)(v), INT16_MIN, INT16_MAX))
#define I32_FROM_F(v) ((int32_t)clamp_to_int((double)(v), INT32_MIN, INT32_MAX))
#define I64_FROM_F(v) clamp_to_int((double)(v), -9223372036854775808.0, 9223372036854775808.0)
/* Integer to narrower integer: the low bits (own choice; the guide promises s32 to s8 only for small
 * values). */
#define I8_FROM_I64(v) ((int8_t)(uint8_t)(uint64_t)(v))
#define U8_FROM_I64(v) ((uint8_t)(uint64_t)(v))
#define I16_FROM_I64(v) ((int16_t)(uint16_t)(uint64_t)(v))
#define I32_FROM_I64(v) ((int32_t)(uint32_t)(uint64_t)(v))
#define I64_FROM_I64(v) (v)

/* X(data type, element type, to float, to double, to int64_t, from float, from double, from int64_t). An
 * arithmetic kernel's class holds every operand exactly or as its promoted type does; the narrowing columns
 * serve casts. */
#define PLAIN(v) (v)
#define EACH_DTYPE(X)                                                                                       \
    X(ACL_FLOAT, float, PLAIN, PLAIN, I64_FROM_F, FLOAT_FROM_F32, FLOAT_FROM_F64, FLOAT_FROM_I64)           \
    X(ACL_FLOAT16, uint16_t, mock_f16_to_f32, mock_f16_to_f32, half_to_int, HALF_FROM_F32, HALF_FROM_F64,   \
      HALF_FROM_I64)                                                                                        \
    X(ACL_BF16, uint16_t, mock_bf16_to_f32, mock_bf16_to_f32, brain_to_int, BRAIN_FROM_F32, BRAIN_FROM_F64, \
      BRAIN_FROM_I64)                                                                                       \
    X(ACL_DOUBLE, double, (float), PLAIN, I64_FROM_F, DOUBLE_FROM_F32, DOUBLE_FROM_F64, DOUBLE_FROM_I64)    \
    X(ACL_BOOL, uint8_t, truth, truth, truth, BOOL_FROM, BOOL_FROM, BOOL_FROM)                              \
    X(ACL_INT8, int8_t, PLAIN, PLAIN, PLAIN, I8_FROM_F, I8_FROM_F, I8_FROM_I64)                             \
    X(ACL_UINT8, uint8_t, PLAIN, PLAIN, PLAIN, U8_FROM_F, U8_FROM_F, U8_FROM_I64)                           \
    X(ACL_INT16, int16_t, PLAIN, PLAIN, PLAIN, I16_FROM_F, I16_FROM_F, I16_FROM_I64)                        \
    X(ACL_INT32, int32_t, (float), PLAIN, PLAIN, I32_FROM_F, I32_FROM_F, I32_FROM_I64)                      \
    X(ACL_INT64, int64_t, (float), (double), PLAIN, I64_FROM_F, I64_FROM_F, I64_FROM_I64)

static int64_t half_to_int(uint16_t half) {
    return I64_FROM_F(mock_f16_to_f32(half));
}

static int64_t brain_to_int(uint16_t bits) {
    return I64_FROM_F(mock_bf16_to_f32(bits));
}

static int truth(uint8_t value) {
    return value != 0;
}

/* The processor's own conversion gives the same bits, eight at a time. Both convert what they can and give
 * the number of elements. */
#ifdef MOCK_ISA_X86
__attribute__((target("avx,f16c")))
static size_t wide_halves_to_floats(const uint16_t *from, float *to, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + i))));
    }
    return i;
}

__attribute__((target("avx,f16c")))
static size_t wide_floats_to_halves(const float *from, uint16_t *to, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(to + i), halves);
    }
    return i;
}

static bool has_wide(void) {
    return mock_isa_used() != MOCK_ISA_BASELINE;
}
#else
static size_t wide_halves_to_floats(const uint16_t *from, float *to, size_t n) {
    (void)from, (void)to, (void)n;
    return 0;
}

static size_t wide_floats_to_halves(const float *from, uint16_t *to, size_t n) {
    (void)from, (void)to, (void)n;
    return 0;
}

static bool has_wide(void) {
    return false;
}
#endif

static void halves_to_floats(const uint16_t *from, float *to, size_t n) {
    size_t i = has_wide() ? wide_halves_to_floats(from, to, n) : 0;
    for (; i + 4 <= n; i += 4) mock_put(to + i, mock_halves_to_floats(mock_get_u16(from + i)));
    for (; i < n; i++) to[i] = mock_f16_to_f32(from[i]);
}

static void floats_to_halves(const float *from, uint16_t *to, size_t n) {
    size_t i = has_wide() ? wide_floats_to_halves(from, to, n) : 0;
    for (; i + 4 <= n; i += 4) mock_put_u16(to + i, mock_floats_to_halves(mock_get(from + i)));
    for (; i < n; i++) to[i] = mock_f32_to_f16(from[i]);
}

static void brains_to_floats(const uint16_t *from, float *to, size_t n) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) mock_put(to + i, (f32x4)(mock_get_u16(from + i) << 16));
    for (; i < n; i++) to[i] = mock_bf16_to_f32(from[i]);
}

#define LOAD_LOOP(T, OUT, CONVERT) \
    for (size_t i = 0; i < n; i++) ((OUT *)buffer)[i] = (OUT)CONVERT(((const T *)row)[(int64_t)i * step])
#define LOAD_CASE(DTYPE, T, TO_F32, TO_F64, TO_I64, FROM_F32, FROM_F64, FROM_I64) \
    case DTYPE:                                                                   \
        if (class == MOCK_F32) LOAD_LOOP(T, float, TO_F32);                       \
        else if (class == MOCK_F64) LOAD_LOOP(T, double, TO_F64);                 \
        else LOAD_LOOP(T, int64_t, TO_I64);                                       \
        break;

#define STORE_LOOP(T, IN, CONVERT) \
    for (size_t i = 0; i < n; i++) ((T *)row)[(int64_t)i * step] = CONVERT(((const IN *)values)[i])
#define STORE_CASE(DTYPE, T, TO_F32, TO_F64, TO_I64, FROM_F32, FROM_F64, FROM_I64) \
    case DTYPE:                                                                    \
        if (class == MOCK_F32) STORE_LOOP(T, float, FROM_F32);                     \
        else if (class == MOCK_F64) STORE_LOOP(T, double, FROM_F64);               \
        else STORE_LOOP(T, int64_t, FROM_I64);                                     \
        break;

bool mock_is_direct(mock_class class, int32_t dtype, int64_t step) {
    static const int32_t same[MOCK_CLASSES] = {ACL_FLOAT, ACL_DOUBLE, ACL_INT64};
    return step == 1 && dtype == same[class];
}

const void *mock_load(
    mock_class class, int32_t dtype, const void *row, int64_t step, size_t n, void *buffer) {
    if (mock_is_direct(class, dtype, step)) return row;
    if (class == MOCK_F32 && dtype == ACL_FLOAT16 && step == 1) {
        halves_to_floats(row, buffer, n);
        return buffer;
    }
    if (class == MOCK_F32 && dtype == ACL_BF16 && step == 1) {
        brains_to_floats(row, buffer, n);
        return buffer;
    }
    switch (dtype) { EACH_DTYPE(LOAD_CASE) }
    return buffer;
}

void mock_store(mock_class class, int32_t dtype, void *row, int64_t step, size_t n, const void *values) {
    if (values == row) return;
    if (class == MOCK_F32 && dtype == ACL_FLOAT16 && step == 1) {
        floats_to_halves(values, row, n);
        return;
    }
    switch (dtype) { EACH_DTYPE(STORE_CASE) }
}
