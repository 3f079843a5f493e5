/* Activations (header: aclnnop): formulas and rounding are our own choice, as PyTorch has them.
 *
 * Floats only, integers for Relu, Hardtanh and Threshold too; NaN stays NaN. A scalar is converted to the
 * type that is computed in. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/elements/entry.h"
#include "operators/elements/foreach.h"
#include "operators/operators.h"

/* F32 is applied to each lane. */
#define FLOATS(NAME, F32, F64)                            \
    MOCK_KERNEL_F32(NAME##_f32, F32)                      \
    MOCK_KERNEL_F64(NAME##_f64, F64)                      \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NULL, false};

/* One formula in both precisions; `s` to `u` are the scalars. */
#define FORMULA(NAME, BODY_F, BODY_D)                                                               \
    static inline float NAME##_of_f(float x, float s, float t, float u) {                           \
        (void)s, (void)t, (void)u;                                                                  \
        return (BODY_F);                                                                            \
    }                                                                                               \
    static inline double NAME##_of_d(double x, double s, double t, double u) {                      \
        (void)s, (void)t, (void)u;                                                                  \
        return (BODY_D);                                                                            \
    }                                                                                               \
    FLOATS(NAME, LANES(NAME##_of_f), NAME##_of_d(x, s, t, u))
#define LANES(F)                                                                                    \
    ((f32x4){F(x[0], s[0], t[0], u[0]), F(x[1], s[0], t[0], u[0]), F(x[2], s[0], t[0], u[0]),       \
             F(x[3], s[0], t[0], u[0])})

static inline float between_f(float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
}
static inline double between_d(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* Without an overflow on the way. */
static inline float logistic_f(float x) {
    return x < 0 ? expf(x) / (1.0f + expf(x)) : 1.0f / (1.0f + expf(-x));
}

FORMULA(sigmoid, logistic_f(x), mock_logistic(x))
FORMULA(silu, x *logistic_f(x), x *mock_logistic(x))
FORMULA(swish, x *logistic_f(s *x), x *mock_logistic(s *x))
FORMULA(hardsigmoid, between_f(x / 6.0f + 0.5f, 0, 1), between_d(x / 6.0 + 0.5, 0, 1))
FORMULA(hardswish, x *between_f(x + 3.0f, 0, 6) / 6.0f, x *between_d(x + 3.0, 0, 6) / 6.0)
FORMULA(elu, x > 0 ? t * x : t * s * expm1f(u * x), x > 0 ? t * x : t * s * expm1(u * x))
FORMULA(celu, x > 0 ? x : s * expm1f(x / s), x > 0 ? x : s * expm1(x / s))
FORMULA(selu, 1.0507009873554805f * (x > 0 ? x : 1.6732632423543772f * expm1f(x)),
    1.0507009873554804934193349852946 * (x > 0 ? x : 1.6732632423543772848170429916717 * expm1(x)))
FORMULA(softplus, s *x > t ? x : log1pf(expf(s * x)) / s, s *x > t ? x : log1p(exp(s * x)) / s)
FORMULA(leaky, x > 0 ? x : s * x, x > 0 ? x : s * x)
FORMULA(log_sigmoid, (x < 0 ? x : 0) - log1pf(expf(-fabsf(x))), (x < 0 ? x : 0) - log1p(exp(-fabs(x))))
/* x * tanh(softplus(x)), as (e^2x + 2 e^x) / (e^2x + 2 e^x + 2) with n = e^x (e^x + 2). */
FORMULA(mish, x > 20 ? x : x * (expf(x) * (expf(x) + 2.0f)) / (expf(x) * (expf(x) + 2.0f) + 2.0f),
    x > 40 ? x : x * (exp(x) * (exp(x) + 2.0)) / (exp(x) * (exp(x) + 2.0) + 2.0))
/* x / (1 + e^(-1.702 |x|)) * e^(0.851 (x - |x|)), which is this (own choice). */
FORMULA(fast_gelu, x *logistic_f(1.702f * x), x *mock_logistic(1.702 * x))
FORMULA(hardshrink, x >= -s && x <= s ? 0 : x, x >= -s && x <= s ? 0 : x)
FORMULA(softshrink, x > s ? x - s : x < -s ? x + s : x != x ? x : 0,
    x > s ? x - s : x < -s ? x + s : x != x ? x : 0)

#define WITH_INTEGERS(NAME, F32, F64, I64)               \
    MOCK_KERNEL_F32(NAME##_f32, F32)                     \
    MOCK_KERNEL_F64(NAME##_f64, F64)                     \
    MOCK_KERNEL_I64(NAME##_i64, I64)                     \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NAME##_i64, false};
WITH_INTEGERS(relu, mock_choose(x < mock_splat(0), mock_splat(0), x), x < 0 ? 0 : x, x < 0 ? 0 : x)
WITH_INTEGERS(hardtanh, mock_choose(x<s, s, mock_choose(x> t, t, x)), between_d(x, s, t),
    x<s ? s : x> t ? t : x)
WITH_INTEGERS(threshold, mock_choose(x <= s, t, x), x <= s ? t : x, x <= s ? t : x)

#define PLAIN(NAME, KERNELS, OUT) MOCK_UNARY(aclnn##NAME, OUT, mock_plan_unary(&b, &KERNELS, 1))
#define INPLACE(NAME, KERNELS, SELF) \
    MOCK_UNARY_INPLACE(aclnnInplace##NAME, SELF, mock_plan_unary(&b, &KERNELS, 0))
PLAIN(Sigmoid, sigmoid_kernels, aclTensor)
INPLACE(Sigmoid, sigmoid_kernels, aclTensor)
PLAIN(Silu, silu_kernels, aclTensor)
PLAIN(Hardsigmoid, hardsigmoid_kernels, aclTensor)
MOCK_UNARY_INPLACE_OF(aclnnInplaceHardsigmoid, self, const aclTensor,
    mock_plan_unary(&b, &hardsigmoid_kernels, 0))
PLAIN(Hardswish, hardswish_kernels, const aclTensor)
MOCK_UNARY_INPLACE_OF(aclnnInplaceHardswish, self, const aclTensor,
    mock_plan_unary(&b, &hardswish_kernels, 0))
PLAIN(Selu, selu_kernels, aclTensor)
INPLACE(Selu, selu_kernels, aclTensor)
PLAIN(LogSigmoid, log_sigmoid_kernels, aclTensor)
PLAIN(Mish, mish_kernels, aclTensor)
INPLACE(Mish, mish_kernels, aclTensor)
PLAIN(FastGelu, fast_gelu_kernels, aclTensor)
PLAIN(Relu, relu_kernels, const aclTensor)
INPLACE(Relu, relu_kernels, aclTensor)

#define ONE(NAME, PARAM, KERNELS) \
    MOCK_WITH_SCALAR(aclnn##NAME, PARAM, aclTensor, mock_plan_with_numbers(&b, &KERNELS, &number, 1, 1))
ONE(Celu, alpha, celu_kernels)
ONE(LeakyRelu, negativeSlope, leaky_kernels)
ONE(Hardshrink, lambd, hardshrink_kernels)
ONE(Softshrink, lambd, softshrink_kernels)
MOCK_WITH_SCALAR_INPLACE(
    aclnnInplaceCelu, alpha, aclTensor, mock_plan_with_numbers(&b, &celu_kernels, &number, 1, 0))
MOCK_WITH_SCALAR_INPLACE(
    aclnnInplaceLeakyRelu, negativeSlope, aclTensor,
    mock_plan_with_numbers(&b, &leaky_kernels, &number, 1, 0))

#define TWO(NAME, FIRST, SECOND, KERNELS)                                                            \
    MOCK_OPERATOR(aclnn##NAME, mock_elementwise_run)                                                 \
    aclnnStatus aclnn##NAME##GetWorkspaceSize(                                                       \
        const aclTensor *self, const aclScalar *FIRST, const aclScalar *SECOND, aclTensor *out,      \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                         \
        MOCK_ENTER(aclnn##NAME##GetWorkspaceSize);                                                   \
        mock_build b = mock_build_begin(&aclnn##NAME##_task, workspaceSize, executor);               \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                \
        const mock_scalar *first = mock_build_scalar(&b, FIRST, #FIRST);                             \
        const mock_scalar *const numbers[] = {first, mock_build_scalar(&b, SECOND, #SECOND)};        \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                 \
        mock_plan_with_numbers(&b, &KERNELS, numbers, 2, 1);                                         \
        return mock_build_finish(&b);                                                                \
    }
#define TWO_INPLACE(NAME, FIRST, SECOND, KERNELS)                                                    \
    MOCK_OPERATOR(aclnnInplace##NAME, mock_elementwise_run)                                          \
    aclnnStatus aclnnInplace##NAME##GetWorkspaceSize(                                                \
        aclTensor *selfRef, const aclScalar *FIRST, const aclScalar *SECOND,                         \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                         \
        MOCK_ENTER(aclnnInplace##NAME##GetWorkspaceSize);                                            \
        mock_build b = mock_build_begin(&aclnnInplace##NAME##_task, workspaceSize, executor);        \
        mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);                                       \
        const mock_scalar *first = mock_build_scalar(&b, FIRST, #FIRST);                             \
        const mock_scalar *const numbers[] = {first, mock_build_scalar(&b, SECOND, #SECOND)};        \
        mock_plan_with_numbers(&b, &KERNELS, numbers, 2, 0);                                         \
        return mock_build_finish(&b);                                                                \
    }
TWO(Softplus, beta, threshold, softplus_kernels)
TWO(Hardtanh, clipValueMin, clipValueMax, hardtanh_kernels)
TWO_INPLACE(Hardtanh, clipValueMin, clipValueMax, hardtanh_kernels)
TWO(Threshold, threshold, value, threshold_kernels)
TWO_INPLACE(Threshold, threshold, value, threshold_kernels)

MOCK_OPERATOR(aclnnElu, mock_elementwise_run)
MOCK_OPERATOR(aclnnInplaceElu, mock_elementwise_run)
MOCK_OPERATOR(aclnnSwish, mock_elementwise_run)

static void plan_elu(
    mock_build *b, const aclScalar *alpha, const aclScalar *scale, const aclScalar *input_scale, int out) {
    const mock_scalar *first = mock_build_scalar(b, alpha, "alpha");
    const mock_scalar *second = mock_build_scalar(b, scale, "scale");
    const mock_scalar *const numbers[] = {first, second, mock_build_scalar(b, input_scale, "inputScale")};
    mock_plan_with_numbers(b, &elu_kernels, numbers, 3, out);
}

aclnnStatus aclnnEluGetWorkspaceSize(
    const aclTensor *self, const aclScalar *alpha, const aclScalar *scale, const aclScalar *inputScale,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnEluGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnElu_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_elu(&b, alpha, scale, inputScale, 1);
    return mock_build_finish(&b);
}

aclnnStatus aclnnInplaceEluGetWorkspaceSize(
    aclTensor *selfRef, const aclScalar *alpha, const aclScalar *scale, const aclScalar *inputScale,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceEluGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceElu_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    plan_elu(&b, alpha, scale, inputScale, 0);
    return mock_build_finish(&b);
}

/* A null beta is 1 (own choice). */
aclnnStatus aclnnSwishGetWorkspaceSize(
    const aclTensor *self, const aclScalar *betaOptional, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSwishGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnSwish_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (betaOptional == NULL) {
        mock_plan_unary(&b, &silu_kernels, 1);
    } else {
        const mock_scalar *beta = mock_build_scalar(&b, betaOptional, "betaOptional");
        mock_plan_with_numbers(&b, &swish_kernels, &beta, 1, 1);
    }
    return mock_build_finish(&b);
}

/* What the buffer would hold is for the gradient; it is not touched (own choice). */
MOCK_OPERATOR(aclnnLogSigmoidForward, mock_elementwise_run)
aclnnStatus aclnnLogSigmoidForwardGetWorkspaceSize(const aclTensor *self, aclTensor *out, aclTensor *buffer,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnLogSigmoidForwardGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnLogSigmoidForward_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_build_tensor(&b, buffer, "buffer", MOCK_OUT);
    mock_plan_unary(&b, &log_sigmoid_kernels, 1);
    return mock_build_finish(&b);
}

MOCK_FOREACH(aclnnForeachSigmoid, const aclTensorList, sigmoid_kernels)
