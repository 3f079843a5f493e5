/* RoundDecimals, NanToNum and their in-place forms (guide: aclnn, page of each).
 *
 * Own choice, as PyTorch does: numbers are multiplied by the power of ten, rounded to the nearest, ties to
 * even, and divided by it, each step rounded; for negative decimals the other way round. Integers become
 * f32. NanToNum gives the three numbers for NaN and the infinities, converted to the computed type;
 * integers stay. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* s: the power of ten. */
static inline float up_f(float x, float s) { return rintf(x * s) / s; }
static inline double up_d(double x, double s) { return rint(x * s) / s; }
static inline float down_f(float x, float s) { return rintf(x / s) * s; }
static inline double down_d(double x, double s) { return rint(x / s) * s; }
MOCK_KERNEL_F32(up_f32, MOCK_EACH4_OF_2(up_f, x, s))
MOCK_KERNEL_F64(up_f64, up_d(x, s))
MOCK_KERNEL_F32(down_f32, MOCK_EACH4_OF_2(down_f, x, s))
MOCK_KERNEL_F64(down_f64, down_d(x, s))
static const mock_kernels up_kernels = {up_f32, up_f64, NULL, false};
static const mock_kernels down_kernels = {down_f32, down_f64, NULL, false};

/* s for NaN, t and u for the infinities. */
static inline f32x4 number4(f32x4 x, f32x4 s, f32x4 t, f32x4 u) {
    const f32x4 bounded = mock_choose(x == mock_splat(INFINITY), t, mock_choose(x == mock_splat(-INFINITY),
        u, x));
    return mock_choose(x != x, s, bounded);
}
MOCK_KERNEL_F32(number_f32, number4(x, s, t, u))
MOCK_KERNEL_F64(number_f64, x != x ? s : x == (double)INFINITY ? t : x == -(double)INFINITY ? u : x)
MOCK_KERNEL_I64(number_i64, x)
static const mock_kernels number_kernels = {number_f32, number_f64, number_i64, false};

static void plan_decimals(mock_build *b, int64_t decimals, int out) {
    if (b->status != 0) return;
    if (decimals < -300 || decimals > 300) {
        mock_build_fail(b, "decimals is %lld, expected -300 to 300", (long long)decimals);
        return;
    }
    const double power = pow(10, (double)(decimals < 0 ? -decimals : decimals));
    const int32_t type = mock_float_type(b->plan->views[0].dtype);
    const mock_number k = {(float)power, power, 0};
    mock_elementwise(b, decimals < 0 ? &down_kernels : &up_kernels, type, k, 0, -1, out);
}

static void plan_numbers(mock_build *b, float nan, float posinf, float neginf, int out) {
    if (b->status != 0) return;
    const mock_number k[] = {{nan, (double)nan, 0}, {posinf, (double)posinf, 0}, {neginf, (double)neginf, 0}};
    mock_elementwise_numbers(b, &number_kernels, b->plan->views[0].dtype, k, 3, 0, -1, out);
}

#define PHASE uint64_t *workspaceSize, aclOpExecutor **executor
#define TIDY(NAME, PARAMS, PLAN)                                                                    \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                       \
    aclnnStatus NAME##GetWorkspaceSize PARAMS {                                                     \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                         \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                     \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                               \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                \
        PLAN;                                                                                       \
        return mock_build_finish(&b);                                                               \
    }
#define TIDY_INPLACE(NAME, PARAMS, PLAN)                                                            \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                       \
    aclnnStatus NAME##GetWorkspaceSize PARAMS {                                                     \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                         \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                     \
        mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);                                      \
        PLAN;                                                                                       \
        return mock_build_finish(&b);                                                               \
    }
TIDY(aclnnRoundDecimals, (const aclTensor *self, int64_t decimals, aclTensor *out, PHASE),
    plan_decimals(&b, decimals, 1))
TIDY_INPLACE(aclnnInplaceRoundDecimals, (aclTensor *selfRef, int64_t decimals, PHASE),
    plan_decimals(&b, decimals, 0))
TIDY(aclnnNanToNum, (const aclTensor *self, float nan, float posinf, float neginf, aclTensor *out, PHASE),
    plan_numbers(&b, nan, posinf, neginf, 1))
TIDY_INPLACE(aclnnInplaceNanToNum, (aclTensor *selfRef, float nan, float posinf, float neginf, PHASE),
    plan_numbers(&b, nan, posinf, neginf, 0))
