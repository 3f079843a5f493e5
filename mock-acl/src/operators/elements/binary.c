/* Functions of two tensors, or of a tensor and a scalar: ends, powers, divisions with remainder, bits
 * (guide: aclnn, page of each).
 *
 * Own choice where the guide says nothing: Minimum, Maximum and the limits give NaN when one operand is
 * NaN, and of zeros with different signs the second. Powers
 * of integers wrap; a negative exponent gives 0, or 1 and -1 of those bases. FloorDivide and Remainder go
 * towards minus infinity, Fmod towards zero; an integer divided by 0 gives 0 with remainder 0, and the
 * least integer by -1 wraps. Bits need integers or bool. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/elements/entry.h"
#include "operators/elements/foreach.h"
#include "operators/operators.h"

static inline f32x4 min4(f32x4 x, f32x4 y) { return mock_choose((x < y) | (x != x), x, y); }
MOCK_KERNEL_F32(min_f32, min4(x, y))
MOCK_KERNEL_F64(min_f64, x < y || x != x ? x : y)
MOCK_KERNEL_I64(min_i64, x < y ? x : y)
MOCK_KERNEL_F32(min_scalar_f32, min4(x, s))
MOCK_KERNEL_F64(min_scalar_f64, x < s || x != x ? x : s)
MOCK_KERNEL_I64(min_scalar_i64, x < s ? x : s)
MOCK_KERNEL_F32(max_f32, mock_max4(x, y))
MOCK_KERNEL_F64(max_f64, x > y || x != x ? x : y)
MOCK_KERNEL_I64(max_i64, x > y ? x : y)
static const mock_kernels min_kernels = {min_f32, min_f64, min_i64, false};
static const mock_kernels min_scalar_kernels = {min_scalar_f32, min_scalar_f64, min_scalar_i64, false};
MOCK_KERNEL_F32(max_scalar_f32, mock_max4(x, s))
MOCK_KERNEL_F64(max_scalar_f64, x > s || x != x ? x : s)
MOCK_KERNEL_I64(max_scalar_i64, x > s ? x : s)
static const mock_kernels max_scalar_kernels = {max_scalar_f32, max_scalar_f64, max_scalar_i64, false};
static const mock_kernels max_kernels = {max_f32, max_f64, max_i64, false};

/* x kept between two limits, the upper one last (own choice: as PyTorch does). */
MOCK_KERNEL_F32(clamp_f32, min4(mock_max4(x, s), t))
static inline double clamp_d(double x, double low, double high) {
    const double y = x > low || x != x ? x : low;
    return y < high || y != y ? y : high;
}
MOCK_KERNEL_F64(clamp_f64, clamp_d(x, s, t))
MOCK_KERNEL_I64(clamp_i64, x > s ? (x < t ? x : t) : (s < t ? s : t))
static const mock_kernels clamp_kernels = {clamp_f32, clamp_f64, clamp_i64, false};

static int64_t power(int64_t base, int64_t exponent) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    int64_t result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0) result = MOCK_WRAP(*, result, base);
        base = MOCK_WRAP(*, base, base);
    }
    return result;
}

static int64_t whole(int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (y == -1) return MOCK_WRAP(-, 0, x);
    const int64_t quotient = x / y;
    return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

static int64_t rest(int64_t x, int64_t y) {
    return y == 0 ? 0 : MOCK_WRAP(-, x, MOCK_WRAP(*, whole(x, y), y));
}
static int64_t rest_to_zero(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }

/* The remainder has the sign of the divisor. */
#define FLOAT_DIVISIONS(T, SUFFIX)                                                       \
    static inline T rest_##SUFFIX(T x, T y) {                                            \
        const T left = (T)fmod((double)x, (double)y);                                    \
        return left != 0 && (y < 0) != (left < 0) ? left + y : left;                     \
    }                                                                                    \
    static inline T whole_##SUFFIX(T x, T y) {                                           \
        if (y == 0) return x / y;                                                        \
        const T left = (T)fmod((double)x, (double)y);                                    \
        const T quotient = (x - left) / y - (left != 0 && (y < 0) != (left < 0) ? 1 : 0); \
        const T near = (T)floor((double)quotient);                                       \
        return quotient - near > (T)0.5 ? near + 1 : near;                               \
    }
FLOAT_DIVISIONS(float, f)
FLOAT_DIVISIONS(double, d)

/* Tensor with tensor, and tensor with scalar. F32 and F64 name functions of two values. */
#define PAIR(NAME, F32, F64, I64)                                                                \
    MOCK_KERNEL_F32(NAME##_f32, MOCK_EACH4_OF_2(F32, x, y))                                      \
    MOCK_KERNEL_F64(NAME##_f64, F64(x, y))                                                       \
    MOCK_KERNEL_I64(NAME##_i64, I64(x, y))                                                       \
    MOCK_KERNEL_F32(NAME##_scalar_f32, MOCK_EACH4_OF_2(F32, x, s))                               \
    MOCK_KERNEL_F64(NAME##_scalar_f64, F64(x, s))                                                \
    MOCK_KERNEL_I64(NAME##_scalar_i64, I64(x, s))                                                \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NAME##_i64, false};      \
    static const mock_kernels NAME##_scalar_kernels = {                                          \
        NAME##_scalar_f32, NAME##_scalar_f64, NAME##_scalar_i64, false};
PAIR(pow, powf, pow, power)
PAIR(whole, whole_f, whole_d, whole)
PAIR(rest, rest_f, rest_d, rest)
PAIR(rest_to_zero, fmodf, fmod, rest_to_zero)

/* The scalar first. */
MOCK_KERNEL_F32(pow_of_f32, MOCK_EACH4_OF_2(powf, s, x))
MOCK_KERNEL_F64(pow_of_f64, pow(s, x))
MOCK_KERNEL_I64(pow_of_i64, power(s, x))
static const mock_kernels pow_of_kernels = {pow_of_f32, pow_of_f64, pow_of_i64, false};
MOCK_KERNEL_F32(rest_of_f32, MOCK_EACH4_OF_2(rest_f, s, x))
MOCK_KERNEL_F64(rest_of_f64, rest_d(s, x))
MOCK_KERNEL_I64(rest_of_i64, rest(s, x))
static const mock_kernels rest_of_kernels = {rest_of_f32, rest_of_f64, rest_of_i64, false};

MOCK_KERNEL_F32(atan2_f32, MOCK_EACH4_OF_2(atan2f, x, y))
MOCK_KERNEL_F64(atan2_f64, atan2(x, y))
static const mock_kernels atan2_kernels = {atan2_f32, atan2_f64, NULL, false};

#define BITS(NAME, OP)                                                                              \
    MOCK_KERNEL_I64(NAME##_i64, x OP y)                                                             \
    MOCK_KERNEL_I64(NAME##_scalar_i64, x OP s)                                                      \
    static const mock_kernels NAME##_kernels = {NULL, NULL, NAME##_i64, false};                     \
    static const mock_kernels NAME##_scalar_kernels = {NULL, NULL, NAME##_scalar_i64, false};
BITS(and, &)
BITS(or, |)
BITS(xor, ^)
/* Of bool the other truth value: its number is 0 or 1. */
MOCK_KERNEL_I64(not_i64, ~x)
MOCK_KERNEL_I64(not_bool_i64, x == 0)
static const mock_kernels not_kernels = {NULL, NULL, not_i64, false};
static const mock_kernels not_bool_kernels = {NULL, NULL, not_bool_i64, false};

#define TENSORS_OF(NAME, OTHER, KERNELS) \
    MOCK_BINARY_OF(aclnn##NAME, OTHER, aclTensor, mock_plan_binary(&b, &KERNELS, 2))
#define TENSORS_INPLACE_OF(NAME, REF, OTHER, KERNELS, SELF) \
    MOCK_BINARY_INPLACE_OF(aclnnInplace##NAME, REF, OTHER, SELF, mock_plan_binary(&b, &KERNELS, 0))
#define SCALAR_OF(NAME, OTHER, KERNELS, OUT) \
    MOCK_WITH_SCALAR(aclnn##NAME, OTHER, OUT, mock_plan_with_scalar(&b, &KERNELS, number, 1))
#define SCALAR_INPLACE_OF(NAME, REF, OTHER, KERNELS, SELF)          \
    MOCK_WITH_SCALAR_INPLACE_OF(aclnnInplace##NAME, REF, OTHER, SELF, \
        mock_plan_with_scalar(&b, &KERNELS, number, 0))
#define TENSORS(NAME, KERNELS) TENSORS_OF(NAME, other, KERNELS)
#define TENSORS_INPLACE(NAME, KERNELS, SELF) TENSORS_INPLACE_OF(NAME, selfRef, other, KERNELS, SELF)
#define SCALAR(NAME, KERNELS, OUT) SCALAR_OF(NAME, other, KERNELS, OUT)
#define SCALAR_INPLACE(NAME, KERNELS, SELF) SCALAR_INPLACE_OF(NAME, selfRef, other, KERNELS, SELF)
TENSORS(Minimum, min_kernels)
TENSORS(Maximum, max_kernels)
TENSORS_OF(ClampMinTensor, clipValueMin, max_kernels)
TENSORS_INPLACE_OF(ClampMinTensor, selfRef, clipValueMin, max_kernels, aclTensor)
TENSORS_OF(ClampMaxTensor, max, min_kernels)
TENSORS_INPLACE_OF(ClampMaxTensor, selfRef, max, min_kernels, aclTensor)
MOCK_WITH_SCALAR(aclnnClampMin, clipValueMin, aclTensor,
    mock_plan_with_scalar(&b, &max_scalar_kernels, number, 1))
SCALAR_OF(ClampMax, clipValueMax, min_scalar_kernels, aclTensor)
SCALAR_INPLACE_OF(ClampMax, selfRef, clipValueMax, min_scalar_kernels, const aclTensor)
TENSORS_OF(PowTensorTensor, exponent, pow_kernels)
TENSORS_INPLACE_OF(PowTensorTensor, self, exponent, pow_kernels, const aclTensor)
SCALAR_OF(PowTensorScalar, exponent, pow_scalar_kernels, const aclTensor)
SCALAR_INPLACE_OF(PowTensorScalar, self, exponent, pow_scalar_kernels, const aclTensor)
TENSORS(FloorDivide, whole_kernels)
TENSORS_INPLACE(FloorDivide, whole_kernels, aclTensor)
SCALAR(FloorDivides, whole_scalar_kernels, aclTensor)
SCALAR_INPLACE(FloorDivides, whole_scalar_kernels, aclTensor)
TENSORS(RemainderTensorTensor, rest_kernels)
TENSORS_INPLACE(RemainderTensorTensor, rest_kernels, aclTensor)
SCALAR(RemainderTensorScalar, rest_scalar_kernels, aclTensor)
SCALAR_INPLACE(RemainderTensorScalar, rest_scalar_kernels, aclTensor)
TENSORS(FmodTensor, rest_to_zero_kernels)
TENSORS_INPLACE(FmodTensor, rest_to_zero_kernels, aclTensor)
SCALAR(FmodScalar, rest_to_zero_scalar_kernels, aclTensor)
SCALAR_INPLACE(FmodScalar, rest_to_zero_scalar_kernels, aclTensor)
TENSORS(Atan2, atan2_kernels)
TENSORS(BitwiseAndTensor, and_kernels)
TENSORS_INPLACE(BitwiseAndTensor, and_kernels, const aclTensor)
SCALAR(BitwiseAndScalar, and_scalar_kernels, aclTensor)
SCALAR_INPLACE(BitwiseAndScalar, and_scalar_kernels, const aclTensor)
TENSORS(BitwiseAndTensorOut, and_kernels)
TENSORS_INPLACE_OF(BitwiseAndTensorOut, self, other, and_kernels, const aclTensor)
TENSORS(BitwiseOrTensor, or_kernels)
TENSORS_INPLACE(BitwiseOrTensor, or_kernels, aclTensor)
SCALAR(BitwiseOrScalar, or_scalar_kernels, aclTensor)
SCALAR_INPLACE(BitwiseOrScalar, or_scalar_kernels, aclTensor)
TENSORS(BitwiseXorTensor, xor_kernels)
TENSORS_INPLACE(BitwiseXorTensor, xor_kernels, aclTensor)
SCALAR(BitwiseXorScalar, xor_scalar_kernels, aclTensor)
SCALAR_INPLACE(BitwiseXorScalar, xor_scalar_kernels, aclTensor)

static void plan_not(mock_build *b) {
    if (b->status != 0) return;
    mock_plan_unary(b, b->plan->views[0].dtype == ACL_BOOL ? &not_bool_kernels : &not_kernels, 1);
}
MOCK_UNARY(aclnnBitwiseNot, aclTensor, plan_not(&b))

/* Mode 0 divides, 1 rounds the quotient towards zero, 2 to minus infinity (guide: aclnn, aclnnDivMod). The
 * quotient of mode 0 is a float, the others keep integers. */
static int64_t quotient(int64_t x, int64_t y) { return y == 0 ? 0 : y == -1 ? MOCK_WRAP(-, 0, x) : x / y; }
static inline float quotient_f(float x, float y) { return truncf(x / y); }
static inline double quotient_d(double x, double y) { return trunc(x / y); }
PAIR(quotient, quotient_f, quotient_d, quotient)
MOCK_KERNEL_F32(divide_f32, x / y)
MOCK_KERNEL_F64(divide_f64, x / y)
MOCK_KERNEL_F32(divide_scalar_f32, x / s)
MOCK_KERNEL_F64(divide_scalar_f64, x / s)
static const mock_kernels divide_kernels = {divide_f32, divide_f64, NULL, false};
static const mock_kernels divide_scalar_kernels = {divide_scalar_f32, divide_scalar_f64, NULL, false};

static const mock_kernels *kernels_of_mode(mock_build *b, int mode, bool scalar) {
    static const mock_kernels *const kernels[][2] = {{&divide_kernels, &divide_scalar_kernels},
        {&quotient_kernels, &quotient_scalar_kernels}, {&whole_kernels, &whole_scalar_kernels}};
    if (mode >= 0 && mode <= 2) return kernels[mode][scalar];
    mock_build_fail(b, "mode is %d, expected 0 (as it is), 1 (towards zero) or 2 (down)", mode);
    return kernels[0][scalar];
}

#define DIVISION(NAME, FIRST, SECOND, PARAM, BUILD, PLAN)                                           \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                       \
    aclnnStatus NAME##GetWorkspaceSize FIRST {                                                      \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                         \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                     \
        mock_build_tensor(&b, PARAM, #PARAM, SECOND);                                               \
        BUILD;                                                                                      \
        PLAN;                                                                                       \
        return mock_build_finish(&b);                                                               \
    }
#define PHASE uint64_t *workspaceSize, aclOpExecutor **executor
#define OTHER_TENSOR mock_build_tensor(&b, other, "other", MOCK_IN)
#define OTHER_NUMBER const mock_scalar *number = mock_build_scalar(&b, other, "other")
#define OUT_TENSOR mock_build_tensor(&b, out, "out", MOCK_OUT)
DIVISION(aclnnDivMod, (const aclTensor *self, const aclTensor *other, int mode, aclTensor *out, PHASE),
    MOCK_IN, self, OTHER_TENSOR; OUT_TENSOR, mock_plan_binary(&b, kernels_of_mode(&b, mode, false), 2))
DIVISION(aclnnDivMods, (const aclTensor *self, const aclScalar *other, int mode, aclTensor *out, PHASE),
    MOCK_IN, self, OTHER_NUMBER; OUT_TENSOR,
    mock_plan_with_scalar(&b, kernels_of_mode(&b, mode, true), number, 1))
DIVISION(aclnnInplaceDivMod, (aclTensor *selfRef, const aclTensor *other, int mode, PHASE), MOCK_INOUT,
    selfRef, OTHER_TENSOR, mock_plan_binary(&b, kernels_of_mode(&b, mode, false), 0))
DIVISION(aclnnInplaceDivMods, (aclTensor *selfRef, const aclScalar *other, int mode, PHASE), MOCK_INOUT,
    selfRef, OTHER_NUMBER, mock_plan_with_scalar(&b, kernels_of_mode(&b, mode, true), number, 0))

/* The scalar is the first parameter. */
#define SCALAR_FIRST(NAME, PARAM, KERNELS, OUT)                                                     \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                       \
    aclnnStatus NAME##GetWorkspaceSize(                                                             \
        const aclScalar *self, const aclTensor *PARAM, OUT *out, uint64_t *workspaceSize,           \
        aclOpExecutor **executor) {                                                                 \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                         \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                     \
        const mock_scalar *number = mock_build_scalar(&b, self, "self");                            \
        mock_build_tensor(&b, PARAM, #PARAM, MOCK_IN);                                              \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                \
        mock_plan_with_scalar(&b, &KERNELS, number, 1);                                             \
        return mock_build_finish(&b);                                                               \
    }
SCALAR_FIRST(aclnnPowScalarTensor, exponent, pow_of_kernels, const aclTensor)
SCALAR_FIRST(aclnnRemainderScalarTensor, other, rest_of_kernels, aclTensor)

MOCK_OPERATOR(aclnnInplaceAtan2, mock_elementwise_run)
aclnnStatus aclnnInplaceAtan2GetWorkspaceSize(
    aclTensor *selfRef, aclTensor *other, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceAtan2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceAtan2_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, other, "other", MOCK_IN);
    mock_plan_binary(&b, &atan2_kernels, 0);
    return mock_build_finish(&b);
}

/* One limit may be null, not both (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnClamp, mock_elementwise_run)
aclnnStatus aclnnClampGetWorkspaceSize(
    const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnClampGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnClamp_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    const mock_scalar *low = NULL, *high = NULL;
    mock_number k[2] = {{-INFINITY, -INFINITY, INT64_MIN}, {INFINITY, INFINITY, INT64_MAX}};
    if (clipValueMin != NULL || clipValueMax == NULL)
        low = mock_build_scalar(&b, clipValueMin, "clipValueMin");
    if (clipValueMax != NULL) high = mock_build_scalar(&b, clipValueMax, "clipValueMax");
    if (b.status != 0) return mock_build_finish(&b);
    int32_t type = b.plan->views[0].dtype;
    if (low != NULL) {
        k[0] = mock_number_of(low);
        type = mock_promote_scalar(type, low->dtype);
    }
    if (high != NULL) {
        k[1] = mock_number_of(high);
        type = mock_promote_scalar(type, high->dtype);
    }
    mock_elementwise_numbers(&b, &clamp_kernels, type, k, 2, 0, -1, 1);
    return mock_build_finish(&b);
}

MOCK_FOREACH_NUMBERS(Maximum, const aclTensorList, max_scalar_kernels)
MOCK_FOREACH_NUMBERS(Minimum, const aclTensorList, min_scalar_kernels)
MOCK_FOREACH_NUMBERS(Pow, const aclTensorList, pow_scalar_kernels)
MOCK_FOREACH_LISTS(aclnnForeachMaximumList, const aclTensorList, max_kernels)
MOCK_FOREACH_LISTS(aclnnForeachMinimumList, const aclTensorList, min_kernels)
MOCK_FOREACH_LISTS(aclnnForeachPowList, const aclTensorList, pow_kernels)
