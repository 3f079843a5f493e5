/* Gradients of activations (guide: aclnn, page of each): gradOutput times the slope at self, or at what the
 * activation gave where the interface has that. Formulas, and the side at a corner, are our own choice, as
 * PyTorch has them. Floats only, integers become f32. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* One formula in both precisions: x is the gradient, y the other operand, s to u are the scalars. */
#define SLOPE(NAME, BODY_F, BODY_D)                                                                    \
    static inline float NAME##_of_f(float x, float y, float s, float t, float u) {                     \
        (void)s, (void)t, (void)u;                                                                     \
        return (BODY_F);                                                                               \
    }                                                                                                  \
    static inline double NAME##_of_d(double x, double y, double s, double t, double u) {               \
        (void)s, (void)t, (void)u;                                                                     \
        return (BODY_D);                                                                               \
    }                                                                                                  \
    MOCK_KERNEL_F32(NAME##_f32,                                                                        \
        ((f32x4){NAME##_of_f(x[0], y[0], s[0], t[0], u[0]), NAME##_of_f(x[1], y[1], s[0], t[0], u[0]), \
            NAME##_of_f(x[2], y[2], s[0], t[0], u[0]), NAME##_of_f(x[3], y[3], s[0], t[0], u[0])}))    \
    MOCK_KERNEL_F64(NAME##_f64, NAME##_of_d(x, y, s, t, u))                                            \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NULL, false};
/* The same text for both. */
#define SAME(NAME, BODY) SLOPE(NAME, BODY, BODY)

static inline float logistic(float x) { return x < 0 ? expf(x) / (1.0f + expf(x)) : 1.0f / (1.0f + expf(-x)); }

static inline double gelu_slope(double y) {
    return 0.5 * (1.0 + erf(y * 0.70710678118654752440)) + y * exp(-0.5 * y * y) * 0.39894228040143267794;
}

static inline double gelu_tanh_slope(double y) {
    const double c = 0.79788456080286535588, k = 0.044715, w = tanh(c * (y + k * y * y * y));
    return 0.5 * (1.0 + w) + 0.5 * y * (1.0 - w * w) * c * (1.0 + 3.0 * k * y * y);
}

static inline double mish_slope(double y) {
    const double w = tanh(y > 30 ? y : log1p(exp(y)));
    return w + y * mock_logistic(y) * (1.0 - w * w);
}

static inline double swish_slope(double y, double beta) {
    const double w = mock_logistic(beta * y);
    return w + beta * y * w * (1.0 - w);
}

SAME(threshold, y <= s ? 0 : x)
SAME(sigmoid, x * ((1 - y) * y))
SAME(tanh, x * (1 - y * y))
SLOPE(gelu, x *(float)gelu_slope((double)y), x *gelu_slope(y))
SLOPE(gelu_tanh, x *(float)gelu_tanh_slope((double)y), x *gelu_tanh_slope(y))
SLOPE(mish, x *(float)mish_slope((double)y), x *mish_slope(y))
SLOPE(swish, x *(float)swish_slope((double)y, (double)s), x *swish_slope(y, s))
SAME(leaky, y > 0 ? x : x * s)
SLOPE(elu, y <= 0 ? x * u * s * t * expf(y * u) : x * t, y <= 0 ? x * u * s * t * exp(y * u) : x * t)
SAME(elu_result, y <= 0 ? x * u * (y + s * t) : x * t)
SAME(hardtanh, y <= s || y >= t ? 0 : x)
SAME(hardsigmoid, y > -3 && y < 3 ? x / 6 : 0)
SLOPE(hardswish, y <= -3 ? 0 : y < 3 ? x * (y / 3 + 0.5f) : x, y <= -3 ? 0 : y < 3 ? x * (y / 3 + 0.5) : x)
SLOPE(softplus, y *s > t ? x : x * logistic(y * s), y *s > t ? x : x * mock_logistic(y * s))
SAME(shrink, y >= -s && y <= s ? 0 : x)
SLOPE(selu, y <= 0 ? x * (y + 1.7580993408473766f) : x * 1.0507009873554805f,
    y <= 0 ? x * (y + 1.7580993408473768599) : x * 1.0507009873554804934)
SLOPE(log_sigmoid, x *logistic(-y), x *mock_logistic(-y))

/* Operands stand as gradient, other, result. */
static void plan(mock_build *b, const mock_kernels *kernels, const mock_scalar *const *scalars, int count) {
    mock_number k[MOCK_NUMBERS] = {{0, 0, 0}};
    if (b->status != 0) return;
    for (int i = 0; i < count; i++) k[i] = mock_number_of(scalars[i]);
    const int32_t type = mock_dtype_promote(b->plan->views[0].dtype, b->plan->views[1].dtype);
    mock_elementwise_numbers(b, kernels, mock_float_type(type), k, count, 0, 1, 2);
}

static void operands(mock_build *b, const aclTensor *grad, const aclTensor *other, const char *name,
    const aclTensor *result, const char *result_name) {
    mock_build_tensor(b, grad, "gradOutput", MOCK_IN);
    mock_build_tensor(b, other, name, MOCK_IN);
    mock_build_tensor(b, result, result_name, MOCK_OUT);
}

#define BEGIN(NAME, OTHER, RESULT)                                                 \
    MOCK_ENTER(aclnn##NAME##GetWorkspaceSize);                                     \
    mock_build b = mock_build_begin(&aclnn##NAME##_task, workspaceSize, executor); \
    operands(&b, gradOutput, OTHER, #OTHER, RESULT, #RESULT)

/* NAME(gradOutput, OTHER, RESULT) */
#define PLAIN(NAME, OTHER, TYPE, RESULT, KERNELS)                                                  \
    MOCK_OPERATOR(aclnn##NAME, mock_elementwise_run)                                               \
    aclnnStatus aclnn##NAME##GetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *OTHER, \
        TYPE *RESULT, uint64_t *workspaceSize, aclOpExecutor **executor) {                         \
        BEGIN(NAME, OTHER, RESULT);                                                                \
        plan(&b, &KERNELS##_kernels, NULL, 0);                                                     \
        return mock_build_finish(&b);                                                              \
    }
/* NAME(gradOutput, self, NUMBER, RESULT) */
#define ONE(NAME, NUMBER, RESULT, KERNELS)                                                               \
    MOCK_OPERATOR(aclnn##NAME, mock_elementwise_run)                                                     \
    aclnnStatus aclnn##NAME##GetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,        \
        const aclScalar *NUMBER, aclTensor *RESULT, uint64_t *workspaceSize, aclOpExecutor **executor) { \
        BEGIN(NAME, self, RESULT);                                                                       \
        const mock_scalar *number = mock_build_scalar(&b, NUMBER, #NUMBER);                              \
        plan(&b, &KERNELS##_kernels, &number, 1);                                                        \
        return mock_build_finish(&b);                                                                    \
    }
/* NAME(gradOutput, self, FIRST, SECOND, RESULT) */
#define TWO(NAME, FIRST, SECOND, RESULT, KERNELS)                                                    \
    MOCK_OPERATOR(aclnn##NAME, mock_elementwise_run)                                                 \
    aclnnStatus aclnn##NAME##GetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,    \
        const aclScalar *FIRST, const aclScalar *SECOND, aclTensor *RESULT, uint64_t *workspaceSize, \
        aclOpExecutor **executor) {                                                                  \
        BEGIN(NAME, self, RESULT);                                                                   \
        const mock_scalar *first = mock_build_scalar(&b, FIRST, #FIRST);                             \
        const mock_scalar *const numbers[] = {first, mock_build_scalar(&b, SECOND, #SECOND)};        \
        plan(&b, &KERNELS##_kernels, numbers, 2);                                                    \
        return mock_build_finish(&b);                                                                \
    }

ONE(ThresholdBackward, threshold, out, threshold)
ONE(HardshrinkBackward, lambd, gradInput, shrink)
ONE(SoftshrinkBackward, lambda, gradInput, shrink)
TWO(HardtanhBackward, min, max, out, hardtanh)
TWO(SoftplusBackward, beta, threshold, gradInput, softplus)
PLAIN(SigmoidBackward, output, aclTensor, gradInput, sigmoid)
PLAIN(TanhBackward, output, aclTensor, gradInput, tanh)
PLAIN(GeluBackward, self, const aclTensor, gradInput, gelu)
PLAIN(HardsigmoidBackward, self, aclTensor, out, hardsigmoid)
PLAIN(HardswishBackward, self, aclTensor, out, hardswish)
PLAIN(HardswishBackwardV2, self, aclTensor, out, hardswish)
PLAIN(SeluBackward, result, aclTensor, gradInput, selu)
PLAIN(MishBackward, self, aclTensor, gradInput, mish)

MOCK_OPERATOR(aclnnSiluBackward, mock_elementwise_run)
MOCK_OPERATOR(aclnnSwishBackward, mock_elementwise_run)
MOCK_OPERATOR(aclnnFastGeluBackward, mock_elementwise_run)

static void plan_swish(mock_build *b, double beta) {
    if (b->status != 0) return;
    const mock_number k = {(float)beta, beta, (int64_t)beta};
    const int32_t type = mock_dtype_promote(b->plan->views[0].dtype, b->plan->views[1].dtype);
    mock_elementwise_numbers(b, &swish_kernels, mock_float_type(type), &k, 1, 0, 1, 2);
}

aclnnStatus aclnnSiluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor) {
    BEGIN(SiluBackward, self, gradInput);
    plan_swish(&b, 1);
    return mock_build_finish(&b);
}

aclnnStatus aclnnFastGeluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor) {
    BEGIN(FastGeluBackward, self, gradInput);
    plan_swish(&b, 1.702);
    return mock_build_finish(&b);
}

/* A null beta is 1 (own choice). */
aclnnStatus aclnnSwishBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    const aclScalar *betaOptional, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor) {
    BEGIN(SwishBackward, self, gradInput);
    const mock_scalar *beta = betaOptional == NULL ? NULL : mock_build_scalar(&b, betaOptional, "betaOptional");
    plan_swish(&b, beta == NULL ? 1 : mock_scalar_double(beta));
    return mock_build_finish(&b);
}

/* approximate is "none" or "tanh". */
MOCK_OPERATOR(aclnnGeluBackwardV2, mock_elementwise_run)
aclnnStatus aclnnGeluBackwardV2GetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    char *approximate, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor) {
    BEGIN(GeluBackwardV2, self, gradInput);
    if (b.status == 0 && approximate == NULL) b.status = mock_null_parameter(b.name, "approximate");
    const bool bent = b.status == 0 && strcmp(approximate, "tanh") == 0;
    if (b.status == 0 && !bent && strcmp(approximate, "none") != 0)
        mock_build_fail(&b, "approximate is '%.20s', expected none or tanh", approximate);
    plan(&b, bent ? &gelu_tanh_kernels : &gelu_kernels, NULL, 0);
    return mock_build_finish(&b);
}

/* The slope is the same on both sides, whichever selfIsResult says, as long as negativeSlope is positive. */
MOCK_OPERATOR(aclnnLeakyReluBackward, mock_elementwise_run)
aclnnStatus aclnnLeakyReluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    const aclScalar *negativeSlope, bool selfIsResult, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    BEGIN(LeakyReluBackward, self, out);
    const mock_scalar *slope = mock_build_scalar(&b, negativeSlope, "negativeSlope");
    if (b.status == 0 && selfIsResult && mock_scalar_double(slope) < 0)
        mock_build_fail(&b, "negativeSlope is %g, and self is a result", mock_scalar_double(slope));
    plan(&b, &leaky_kernels, &slope, 1);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnEluBackward, mock_elementwise_run)
aclnnStatus aclnnEluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclScalar *alpha,
    const aclScalar *scale, const aclScalar *inputScale, bool isResult, const aclTensor *selfOrResult,
    aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor) {
    BEGIN(EluBackward, selfOrResult, gradInput);
    const mock_scalar *first = mock_build_scalar(&b, alpha, "alpha"),
                      *second = mock_build_scalar(&b, scale, "scale");
    const mock_scalar *const numbers[] = {first, second, mock_build_scalar(&b, inputScale, "inputScale")};
    plan(&b, isResult ? &elu_result_kernels : &elu_kernels, numbers, 3);
    return mock_build_finish(&b);
}

/* The buffer has to be there and is not read (implementation of the open operators). */
MOCK_OPERATOR(aclnnLogSigmoidBackward, mock_elementwise_run)
aclnnStatus aclnnLogSigmoidBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    const aclTensor *buffer, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnLogSigmoidBackwardGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnLogSigmoidBackward_task, workspaceSize, executor);
    /* In the order of the parameters, by which aclSetTensorAddr counts. */
    const mock_view *grad = mock_build_tensor(&b, gradOutput, "gradOutput", MOCK_IN);
    const mock_view *other = mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, buffer, "buffer", MOCK_IN);
    mock_build_tensor(&b, gradInput, "gradInput", MOCK_OUT);
    if (b.status == 0) {
        const int32_t type = mock_float_type(mock_dtype_promote(grad->dtype, other->dtype));
        mock_elementwise_numbers(&b, &log_sigmoid_kernels, type, NULL, 0, 0, 1, 3);
    }
    return mock_build_finish(&b);
}
