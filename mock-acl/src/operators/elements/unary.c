/* Abs, Sqrt, Rsqrt and Tanh with in-place forms, Gelu and GeluV2 (guide: aclnn, page of each).
 *
 * Abs clears the sign, of NaN too; the least integer stays itself. Sqrt is correctly rounded, negative
 * values give NaN; Rsqrt is 1 / sqrt, rounded twice, and of 0 infinite. Tanh and both forms of Gelu are
 * accurate to a few units of f32; f64 uses the C library (own choice for all of it). Integers become f32,
 * except in Abs. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/elements/entry.h"
#include "operators/elements/foreach.h"
#include "operators/operators.h"

static inline f32x4 sqrt4(f32x4 x) {
    return (f32x4){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
}

MOCK_KERNEL_F32(abs_f32, mock_abs4(x))
MOCK_KERNEL_F64(abs_f64, fabs(x))
MOCK_KERNEL_I64(abs_i64, x < 0 ? MOCK_WRAP(-, 0, x) : x)
MOCK_KERNEL_F32(sqrt_f32, sqrt4(x))
MOCK_KERNEL_F64(sqrt_f64, sqrt(x))
MOCK_KERNEL_F32(rsqrt_f32, 1.0f / sqrt4(x))
MOCK_KERNEL_F64(rsqrt_f64, 1.0 / sqrt(x))
MOCK_KERNEL_F32(tanh_f32, mock_tanh4(x))
MOCK_KERNEL_F64(tanh_f64, tanh(x))
MOCK_KERNEL_F32(gelu_erf_f32, mock_gelu_erf4(x))
MOCK_KERNEL_F32(gelu_tanh_f32, mock_gelu_tanh4(x))

static const mock_kernels abs_kernels = {abs_f32, abs_f64, abs_i64, false};
static const mock_kernels sqrt_kernels = {sqrt_f32, sqrt_f64, NULL, false};
static const mock_kernels rsqrt_kernels = {rsqrt_f32, rsqrt_f64, NULL, false};
static const mock_kernels tanh_kernels = {tanh_f32, tanh_f64, NULL, false};
static const mock_kernels gelu_erf_kernels = {gelu_erf_f32, NULL, NULL, false};
static const mock_kernels gelu_tanh_kernels = {gelu_tanh_f32, NULL, NULL, false};

MOCK_OPERATOR(aclnnGeluV2, mock_elementwise_run)

/* Unlike the others, gelu takes f32, f16 and bf16 only, the same on both sides (guide: aclnn, aclnnGelu). */
static void plan_gelu(mock_build *b, const mock_kernels *kernels) {
    if (b->status != 0) return;
    const mock_view *x = &b->plan->views[0];
    const mock_view *y = &b->plan->views[1];
    if (!mock_dtype_is_float(x->dtype) || x->dtype != y->dtype) {
        mock_build_fail(b,
            "input and output must be of one type of FLOAT, FLOAT16 and BFLOAT16, not %s and %s",
            mock_dtype_name(x->dtype), mock_dtype_name(y->dtype));
    }
    mock_plan_unary(b, kernels, 1);
}

MOCK_UNARY(aclnnAbs, aclTensor, mock_plan_unary(&b, &abs_kernels, 1))
MOCK_UNARY(aclnnSqrt, aclTensor, mock_plan_unary(&b, &sqrt_kernels, 1))
MOCK_UNARY(aclnnRsqrt, aclTensor, mock_plan_unary(&b, &rsqrt_kernels, 1))
MOCK_UNARY(aclnnTanh, aclTensor, mock_plan_unary(&b, &tanh_kernels, 1))
MOCK_UNARY_INPLACE_OF(aclnnInplaceSqrt, self, aclTensor, mock_plan_unary(&b, &sqrt_kernels, 0))
MOCK_UNARY_INPLACE(aclnnInplaceRsqrt, aclTensor, mock_plan_unary(&b, &rsqrt_kernels, 0))
MOCK_UNARY_INPLACE(aclnnInplaceTanh, aclTensor, mock_plan_unary(&b, &tanh_kernels, 0))
MOCK_UNARY(aclnnGelu, aclTensor, plan_gelu(&b, &gelu_erf_kernels))

aclnnStatus aclnnGeluV2GetWorkspaceSize(
    const aclTensor *x, int64_t approximate, aclTensor *y, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGeluV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGeluV2_task, workspaceSize, executor);
    mock_build_tensor(&b, x, "x", MOCK_IN);
    mock_build_tensor(&b, y, "y", MOCK_OUT);
    /* (guide: aclnn, aclnnGeluV2) */
    if (approximate != 0 && approximate != 1) {
        mock_build_fail(&b, "approximate is %lld, expected 0 (erf) or 1 (tanh)", (long long)approximate);
    }
    plan_gelu(&b, approximate == 1 ? &gelu_tanh_kernels : &gelu_erf_kernels);
    return mock_build_finish(&b);
}

MOCK_FOREACH(aclnnForeachAbs, const aclTensorList, abs_kernels)
MOCK_FOREACH(aclnnForeachSqrt, aclTensorList, sqrt_kernels)
MOCK_FOREACH(aclnnForeachTanh, const aclTensorList, tanh_kernels)
