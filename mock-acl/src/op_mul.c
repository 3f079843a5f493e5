/* Mul, Muls, their in-place forms, Div, Divs, Maximum and ClampMin (guide: aclnn, page of each).
 *
 * Maximum gives NaN when one operand is NaN; of zeros with different signs the second operand. ClampMin
 * likewise, a NaN limit gives NaN (own choice: as PyTorch does). Division by 0 gives infinity or NaN (own
 * choice: IEEE 754). Integers wrap. */
#include "op_elementwise.h"

MOCK_KERNEL_F32(mul_f32, x *y)
MOCK_KERNEL_F64(mul_f64, x *y)
MOCK_KERNEL_I64(mul_i64, MOCK_WRAP(*, x, y))
MOCK_KERNEL_F32(muls_f32, x *s)
MOCK_KERNEL_F64(muls_f64, x *s)
MOCK_KERNEL_I64(muls_i64, MOCK_WRAP(*, x, s))
MOCK_KERNEL_F32(div_f32, x / y)
MOCK_KERNEL_F64(div_f64, x / y)
MOCK_KERNEL_F32(divs_f32, x / s)
MOCK_KERNEL_F64(divs_f64, x / s)
MOCK_KERNEL_F32(max_f32, mock_max4(x, y))
MOCK_KERNEL_F64(max_f64, x > y || x != x ? x : y)
MOCK_KERNEL_I64(max_i64, x > y ? x : y)
MOCK_KERNEL_F32(clamp_f32, mock_max4(x, s))
MOCK_KERNEL_F64(clamp_f64, x > s || x != x ? x : s)
MOCK_KERNEL_I64(clamp_i64, x > s ? x : s)

static const mock_kernels mul_kernels = {mul_f32, mul_f64, mul_i64, false};
static const mock_kernels muls_kernels = {muls_f32, muls_f64, muls_i64, false};
static const mock_kernels div_kernels = {div_f32, div_f64, NULL, false};
static const mock_kernels divs_kernels = {divs_f32, divs_f64, NULL, false};
static const mock_kernels max_kernels = {max_f32, max_f64, max_i64, false};
static const mock_kernels clamp_kernels = {clamp_f32, clamp_f64, clamp_i64, false};

MOCK_OPERATOR(aclnnMul, mock_elementwise_run)
MOCK_OPERATOR(aclnnMuls, mock_elementwise_run)
MOCK_OPERATOR(aclnnInplaceMul, mock_elementwise_run)
MOCK_OPERATOR(aclnnInplaceMuls, mock_elementwise_run)
MOCK_OPERATOR(aclnnDiv, mock_elementwise_run)
MOCK_OPERATOR(aclnnDivs, mock_elementwise_run)
MOCK_OPERATOR(aclnnMaximum, mock_elementwise_run)
MOCK_OPERATOR(aclnnClampMin, mock_elementwise_run)

/* self is operand 0, other operand 1, out operand 2; or self is the output too. Division gives floats: f32
 * for integers (own choice: as PyTorch does). */
static void plan_tensors(mock_build *b, const mock_kernels *kernels, int out) {
    if (b->status != 0) return;
    const mock_view *views = b->plan->views;
    int32_t type = mock_dtype_promote(views[0].dtype, views[1].dtype);
    if (kernels->i64 == NULL) type = mock_float_type(type);
    mock_elementwise(b, kernels, type, (mock_number){0}, 0, 1, out);
}

static void plan_scalar(mock_build *b, const mock_kernels *kernels, const mock_scalar *other, int out) {
    if (b->status != 0) return;
    int32_t type = mock_promote_scalar(b->plan->views[0].dtype, other->dtype);
    if (kernels->i64 == NULL) type = mock_float_type(type);
    mock_elementwise(b, kernels, type, mock_number_of(other), 0, -1, out);
}

#define TENSOR_FORM(NAME, KERNELS)                                                              \
    aclnnStatus NAME##GetWorkspaceSize(                                                         \
        const aclTensor *self, const aclTensor *other, aclTensor *out, uint64_t *workspaceSize, \
        aclOpExecutor **executor) {                                                             \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                     \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                 \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                           \
        mock_build_tensor(&b, other, "other", MOCK_IN);                                         \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                            \
        plan_tensors(&b, &KERNELS, 2);                                                          \
        return mock_build_finish(&b);                                                           \
    }

#define SCALAR_FORM(NAME, KERNELS, PARAM)                                                       \
    aclnnStatus NAME##GetWorkspaceSize(                                                         \
        const aclTensor *self, const aclScalar *PARAM, aclTensor *out, uint64_t *workspaceSize, \
        aclOpExecutor **executor) {                                                             \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                     \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                 \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                           \
        const mock_scalar *number = mock_build_scalar(&b, PARAM, #PARAM);                       \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                            \
        plan_scalar(&b, &KERNELS, number, 1);                                                   \
        return mock_build_finish(&b);                                                           \
    }

TENSOR_FORM(aclnnMul, mul_kernels)
TENSOR_FORM(aclnnDiv, div_kernels)
TENSOR_FORM(aclnnMaximum, max_kernels)
SCALAR_FORM(aclnnMuls, muls_kernels, other)
SCALAR_FORM(aclnnDivs, divs_kernels, other)
SCALAR_FORM(aclnnClampMin, clamp_kernels, clipValueMin)

aclnnStatus aclnnInplaceMulGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *other, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceMulGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceMul_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, other, "other", MOCK_IN);
    plan_tensors(&b, &mul_kernels, 0);
    return mock_build_finish(&b);
}

aclnnStatus aclnnInplaceMulsGetWorkspaceSize(
    aclTensor *selfRef, const aclScalar *other, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceMulsGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceMuls_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    plan_scalar(&b, &muls_kernels, mock_build_scalar(&b, other, "other"), 0);
    return mock_build_finish(&b);
}
