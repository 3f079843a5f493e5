/* Add, Adds, Sub, Subs and their in-place forms: self +- alpha * other; Rsub and Rsubs: other - alpha *
 * self; AddV3, whose self is a number; AddRelu, whose negative sums become 0 (guide: aclnn, page of each).
 * Product and sum are rounded separately in f32 or f64 (own choice: no fused step); alpha * other of two
 * scalars is computed in f64 first. Integers wrap (own choice). */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/elements/foreach.h"
#include "operators/operators.h"

MOCK_KERNEL_F32(add_f32, x + s * y)
MOCK_KERNEL_F64(add_f64, x + s * y)
MOCK_KERNEL_I64(add_i64, MOCK_WRAP(+, x, MOCK_WRAP(*, s, y)))
MOCK_KERNEL_F32(adds_f32, x + s)
MOCK_KERNEL_F64(adds_f64, x + s)
MOCK_KERNEL_I64(adds_i64, MOCK_WRAP(+, x, s))
MOCK_KERNEL_F32(sub_f32, x - s * y)
MOCK_KERNEL_F64(sub_f64, x - s * y)
MOCK_KERNEL_I64(sub_i64, MOCK_WRAP(-, x, MOCK_WRAP(*, s, y)))

MOCK_KERNEL_F32(rsub_f32, y - s * x)
MOCK_KERNEL_F64(rsub_f64, y - s * x)
MOCK_KERNEL_I64(rsub_i64, MOCK_WRAP(-, y, MOCK_WRAP(*, s, x)))
MOCK_KERNEL_F32(rsubs_f32, t - s * x)
MOCK_KERNEL_F64(rsubs_f64, t - s * x)
MOCK_KERNEL_I64(rsubs_i64, MOCK_WRAP(-, t, MOCK_WRAP(*, s, x)))
MOCK_KERNEL_F32(to_number_f32, t + s * x)
MOCK_KERNEL_F64(to_number_f64, t + s * x)
MOCK_KERNEL_I64(to_number_i64, MOCK_WRAP(+, t, MOCK_WRAP(*, s, x)))
static inline f32x4 positive4(f32x4 x) { return mock_choose(x < mock_splat(0), mock_splat(0), x); }
static inline double positive_d(double x) { return x < 0 ? 0 : x; }
static inline int64_t positive_i(int64_t x) { return x < 0 ? 0 : x; }
MOCK_KERNEL_F32(add_relu_f32, positive4(x + s * y))
MOCK_KERNEL_F64(add_relu_f64, positive_d(x + s * y))
MOCK_KERNEL_I64(add_relu_i64, positive_i(MOCK_WRAP(+, x, MOCK_WRAP(*, s, y))))

static const mock_kernels add_kernels = {add_f32, add_f64, add_i64, false};
static const mock_kernels adds_kernels = {adds_f32, adds_f64, adds_i64, false};
static const mock_kernels sub_kernels = {sub_f32, sub_f64, sub_i64, false};
static const mock_kernels rsub_kernels = {rsub_f32, rsub_f64, rsub_i64, false};
static const mock_kernels rsubs_kernels = {rsubs_f32, rsubs_f64, rsubs_i64, false};
static const mock_kernels to_number_kernels = {to_number_f32, to_number_f64, to_number_i64, false};
static const mock_kernels add_relu_kernels = {add_relu_f32, add_relu_f64, add_relu_i64, false};

MOCK_OPERATOR(aclnnAdd, mock_elementwise_run)
MOCK_OPERATOR(aclnnAdds, mock_elementwise_run)
MOCK_OPERATOR(aclnnInplaceAdd, mock_elementwise_run)
MOCK_OPERATOR(aclnnInplaceAdds, mock_elementwise_run)
MOCK_OPERATOR(aclnnSub, mock_elementwise_run)

/* alpha must convert to the promoted type (guide: aclnn, aclnnAdd). */
static void check_alpha(mock_build *b, const mock_scalar *alpha, int32_t type) {
    if (b->status == 0 && type != ACL_BOOL && !mock_dtype_castable(alpha->dtype, type)) {
        mock_build_fail(b, "alpha has type %s, which does not convert to %s", mock_dtype_name(alpha->dtype),
            mock_dtype_name(type));
    }
}

/* Differences of bool are refused (own choice: as PyTorch does). */
static void check_difference(mock_build *b, int32_t type) {
    if (type == ACL_BOOL) mock_build_fail(b, "data type BOOL is not supported");
}

/* self is operand 0, other is operand 1. */
static void plan_tensors(mock_build *b, const mock_kernels *kernels, const mock_scalar *alpha, int out) {
    if (b->status != 0) return;
    const mock_view *views = b->plan->views;
    const int32_t type = mock_dtype_promote(views[0].dtype, views[1].dtype);
    check_alpha(b, alpha, type);
    if (kernels == &sub_kernels || kernels == &rsub_kernels) check_difference(b, type);
    mock_elementwise(b, kernels, type, mock_number_of(alpha), 0, 1, out);
}

static void plan_scalar(mock_build *b, const mock_scalar *other, const mock_scalar *alpha, int out) {
    if (b->status != 0) return;
    const int32_t type = mock_promote_scalar(b->plan->views[0].dtype, other->dtype);
    check_alpha(b, alpha, type);
    const mock_number x = mock_number_of(other);
    const mock_number y = mock_number_of(alpha);
    const mock_number k = {(float)(x.d * y.d), x.d * y.d, MOCK_WRAP(*, x.i, y.i)};
    mock_elementwise(b, &adds_kernels, type, k, 0, -1, out);
}

aclnnStatus aclnnAddGetWorkspaceSize(
    const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAddGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAdd_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, other, "other", MOCK_IN);
    const mock_scalar *factor = mock_build_scalar(&b, alpha, "alpha");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_tensors(&b, &add_kernels, factor, 2);
    return mock_build_finish(&b);
}

aclnnStatus aclnnAddsGetWorkspaceSize(
    const aclTensor *self, const aclScalar *other, const aclScalar *alpha, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAddsGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAdds_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_scalar *addend = mock_build_scalar(&b, other, "other");
    const mock_scalar *factor = mock_build_scalar(&b, alpha, "alpha");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_scalar(&b, addend, factor, 1);
    return mock_build_finish(&b);
}

aclnnStatus aclnnInplaceAddGetWorkspaceSize(
    const aclTensor *selfRef, const aclTensor *other, const aclScalar *alpha, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceAddGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceAdd_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, other, "other", MOCK_IN);
    plan_tensors(&b, &add_kernels, mock_build_scalar(&b, alpha, "alpha"), 0);
    return mock_build_finish(&b);
}

aclnnStatus aclnnInplaceAddsGetWorkspaceSize(
    const aclTensor *selfRef, const aclScalar *other, const aclScalar *alpha, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceAddsGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceAdds_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    const mock_scalar *addend = mock_build_scalar(&b, other, "other");
    plan_scalar(&b, addend, mock_build_scalar(&b, alpha, "alpha"), 0);
    return mock_build_finish(&b);
}

aclnnStatus aclnnSubGetWorkspaceSize(
    const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSubGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnSub_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, other, "other", MOCK_IN);
    const mock_scalar *factor = mock_build_scalar(&b, alpha, "alpha");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_tensors(&b, &sub_kernels, factor, 2);
    return mock_build_finish(&b);
}

/* NAME(self, other, alpha, out) and NAME(selfRef, other, alpha) */
#define TENSORS(NAME, KERNELS, ALPHA)                                                                    \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                            \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *self, const aclTensor *other, ALPHA *alpha,      \
        aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {                             \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                          \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                    \
        mock_build_tensor(&b, other, "other", MOCK_IN);                                                  \
        const mock_scalar *factor = mock_build_scalar(&b, alpha, "alpha");                               \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                     \
        plan_tensors(&b, &KERNELS, factor, 2);                                                           \
        return mock_build_finish(&b);                                                                    \
    }
#define TENSORS_INPLACE(NAME, KERNELS, ALPHA)                                                            \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                            \
    aclnnStatus NAME##GetWorkspaceSize(aclTensor *selfRef, const aclTensor *other, ALPHA *alpha,         \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                             \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                          \
        mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);                                           \
        mock_build_tensor(&b, other, "other", MOCK_IN);                                                  \
        plan_tensors(&b, &KERNELS, mock_build_scalar(&b, alpha, "alpha"), 0);                            \
        return mock_build_finish(&b);                                                                    \
    }
TENSORS(aclnnRsub, rsub_kernels, const aclScalar)
TENSORS(aclnnAddRelu, add_relu_kernels, aclScalar)
TENSORS_INPLACE(aclnnInplaceSub, sub_kernels, const aclScalar)
TENSORS_INPLACE(aclnnInplaceAddRelu, add_relu_kernels, aclScalar)

/* self - alpha * other of a number is self + their negative product. */
static void plan_difference(mock_build *b, const mock_scalar *other, const mock_scalar *alpha, int out) {
    if (b->status != 0) return;
    const int32_t type = mock_promote_scalar(b->plan->views[0].dtype, other->dtype);
    check_alpha(b, alpha, type);
    check_difference(b, type);
    const mock_number x = mock_number_of(other), y = mock_number_of(alpha);
    const mock_number k = {(float)-(x.d * y.d), -(x.d * y.d), MOCK_WRAP(-, 0, MOCK_WRAP(*, x.i, y.i))};
    mock_elementwise(b, &adds_kernels, type, k, 0, -1, out);
}

/* alpha first, then the number. */
static void plan_numbers(
    mock_build *b, const mock_kernels *kernels, const mock_scalar *number, const mock_scalar *alpha,
    int out) {
    if (b->status != 0) return;
    const int32_t type = mock_promote_scalar(b->plan->views[0].dtype, number->dtype);
    check_alpha(b, alpha, type);
    if (kernels == &rsubs_kernels) check_difference(b, type);
    const mock_number k[] = {mock_number_of(alpha), mock_number_of(number)};
    mock_elementwise_numbers(b, kernels, type, k, 2, 0, -1, out);
}

#define NUMBER(NAME, PLAN)                                                                               \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                            \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *self, const aclScalar *other,                    \
        const aclScalar *alpha, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {     \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                          \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                    \
        const mock_scalar *number = mock_build_scalar(&b, other, "other");                               \
        const mock_scalar *factor = mock_build_scalar(&b, alpha, "alpha");                               \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                     \
        PLAN;                                                                                            \
        return mock_build_finish(&b);                                                                    \
    }
NUMBER(aclnnSubs, plan_difference(&b, number, factor, 1))
NUMBER(aclnnRsubs, plan_numbers(&b, &rsubs_kernels, number, factor, 1))

MOCK_OPERATOR(aclnnInplaceSubs, mock_elementwise_run)
aclnnStatus aclnnInplaceSubsGetWorkspaceSize(
    aclTensor *selfRef, const aclScalar *other, const aclScalar *alpha, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceSubsGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceSubs_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    const mock_scalar *number = mock_build_scalar(&b, other, "other");
    plan_difference(&b, number, mock_build_scalar(&b, alpha, "alpha"), 0);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnAddV3, mock_elementwise_run)
aclnnStatus aclnnAddV3GetWorkspaceSize(
    const aclScalar *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAddV3GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAddV3_task, workspaceSize, executor);
    const mock_scalar *number = mock_build_scalar(&b, self, "self");
    mock_build_tensor(&b, other, "other", MOCK_IN);
    const mock_scalar *factor = mock_build_scalar(&b, alpha, "alpha");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_numbers(&b, &to_number_kernels, number, factor, 1);
    return mock_build_finish(&b);
}

MOCK_KERNEL_F32(subs_f32, x - s)
MOCK_KERNEL_F64(subs_f64, x - s)
MOCK_KERNEL_I64(subs_i64, MOCK_WRAP(-, x, s))
static const mock_kernels subs_kernels = {subs_f32, subs_f64, subs_i64, false};
MOCK_FOREACH_NUMBERS(Add, const aclTensorList, adds_kernels)
MOCK_FOREACH_NUMBERS(Sub, const aclTensorList, subs_kernels)
MOCK_FOREACH_ALPHA(aclnnForeachAddList, aclTensorList, add_kernels)
MOCK_FOREACH_ALPHA_SCALAR(aclnnForeachAddListV2, aclTensorList, add_kernels)
MOCK_FOREACH_ALPHA(aclnnForeachSubList, const aclTensorList, sub_kernels)
MOCK_FOREACH_ALPHA_SCALAR(aclnnForeachSubListV2, aclTensorList, sub_kernels)
