/* Functions of three tensors: choice by a condition, masks, limits as tensors, a product or quotient
 * added, linear interpolation (guide: aclnn, page of each).
 *
 * All operands broadcast to the shape of out. They are converted to the promoted type's class, computed
 * there with separate roundings, and rounded when stored (own choice). Conditions and masks count anything
 * but zero as true. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

#define CHUNK 256

typedef struct ternary_kernels {
    void (*f32)(float *out, const float *a, const float *b, const float *c, size_t n, float s);
    void (*f64)(double *out, const double *a, const double *b, const double *c, size_t n, double s);
    void (*i64)(int64_t *out, const int64_t *a, const int64_t *b, const int64_t *c, size_t n, int64_t s);
} ternary_kernels;

typedef struct ternary {
    const ternary_kernels *kernels;
    mock_class class;
    mock_number s;
    int8_t operand[3]; /* -1: the number s in each element */
    int8_t out;
} ternary;

#define LOOP(NAME, T, EXPR)                                                                      \
    static void NAME(T *out, const T *a, const T *b, const T *c, size_t n, T s) {                \
        for (size_t i = 0; i < n; i++) {                                                         \
            const T x = a[i], y = b[i], z = c[i];                                                \
            out[i] = (EXPR);                                                                     \
        }                                                                                        \
        (void)s;                                                                                 \
    }
#define KERNELS(NAME, F, I)                                                                      \
    LOOP(NAME##_f32, float, F)                                                                   \
    LOOP(NAME##_f64, double, F)                                                                  \
    LOOP(NAME##_i64, int64_t, I)                                                                 \
    static const ternary_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NAME##_i64};
#define FLOAT_KERNELS(NAME, F)                                                                   \
    LOOP(NAME##_f32, float, F)                                                                   \
    LOOP(NAME##_f64, double, F)                                                                  \
    static const ternary_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NULL};

/* x is the condition. */
KERNELS(choose, x != 0 ? y : z, x != 0 ? y : z)
/* y is the mask. */
KERNELS(mask, y != 0 ? z : x, y != 0 ? z : x)
KERNELS(addcmul, x + s *y *z, MOCK_WRAP(+, x, MOCK_WRAP(*, MOCK_WRAP(*, s, y), z)))
FLOAT_KERNELS(addcdiv, x + s *y / z)
FLOAT_KERNELS(lerp, x + z *(y - x))
#define MAX_OF(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#define MIN_OF(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))
KERNELS(limit, MIN_OF(MAX_OF(x, y), z), MIN_OF(MAX_OF(x, y), z))

typedef union chunk {
    float f[CHUNK];
    double d[CHUNK];
    int64_t i[CHUNK];
} chunk;

static void fill(mock_class class, const mock_number *k, chunk *to) {
    for (int i = 0; i < CHUNK; i++) {
        if (class == MOCK_F32) to->f[i] = k->f;
        else if (class == MOCK_F64) to->d[i] = k->d;
        else to->i[i] = k->i;
    }
}

static void call(const ternary *t, void *out, const void *const *in, size_t n) {
    switch (t->class) {
        case MOCK_F32: t->kernels->f32(out, in[0], in[1], in[2], n, t->s.f); break;
        case MOCK_F64: t->kernels->f64(out, in[0], in[1], in[2], n, t->s.d); break;
        default: t->kernels->i64(out, in[0], in[1], in[2], n, t->s.i); break;
    }
}

/* `at[k]` is the place of operand k in the walk, 0 for the number. */
static void run_row(
    const ternary *t, const mock_plan *plan, const mock_walk *w, const int *at, chunk *buffers) {
    chunk result;
    for (size_t done = 0; done < w->n; done += CHUNK) {
        const size_t n = w->n - done < CHUNK ? w->n - done : CHUNK;
        const void *in[3];
        for (int k = 0; k < 3; k++) {
            in[k] = &buffers[k];
            if (at[k] == 0) continue;
            const char *row = w->row[at[k]] + (int64_t)done * w->step[at[k]] * (int64_t)w->size[at[k]];
            const int32_t dtype = plan->views[t->operand[k]].dtype;
            in[k] = mock_load(t->class, dtype, row, w->step[at[k]], n, &buffers[k]);
        }
        call(t, &result, in, n);
        char *out = w->row[0] + (int64_t)done * w->step[0] * (int64_t)w->size[0];
        mock_store(t->class, plan->views[t->out].dtype, out, w->step[0], n, &result);
    }
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const ternary *t = MOCK_PARAMS((mock_plan *)arg, ternary);
    const mock_view *out = &plan->views[t->out];
    void *first = mock_plan_pointer(plan, (unsigned)t->out);
    chunk buffers[3];
    int at[3] = {0};
    mock_walk w;
    if (first == NULL) return MOCK_DEVICE_FAULT;
    mock_walk_begin(&w, out->rank, out->dims);
    mock_walk_add(&w, out, first);
    for (int k = 0, next = 1; k < 3; k++) {
        if (t->operand[k] < 0) {
            fill(t->class, &t->s, &buffers[k]);
            continue;
        }
        void *start = mock_plan_pointer(plan, (unsigned)t->operand[k]);
        if (start == NULL) return MOCK_DEVICE_FAULT;
        mock_walk_add(&w, &plan->views[t->operand[k]], start);
        at[k] = next++;
    }
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) run_row(t, plan, &w, at, buffers);
    return 0;
}

static bool broadcasts_to(const mock_view *v, const mock_view *out) {
    mock_view common;
    return mock_broadcast(v, out, &common) && mock_same_shape(&common, out);
}

/* Fills the plan; the numbers of operands as in `ternary`. The common shape of the operands is that of
 * out. */
static void plan_ternary(
    mock_build *b, const ternary_kernels *kernels, int32_t type, mock_number s, const int *operands,
    int out) {
    if (b->status != 0) return;
    const mock_view *views = b->plan->views;
    const mock_class class = mock_dtype_class(type);
    mock_shape_text have, want;
    mock_view common = {.rank = 0};
    if (class == MOCK_CLASS_NONE || (class == MOCK_I64 && kernels->i64 == NULL)) {
        mock_build_fail(b, "data type %s is not supported", mock_dtype_name(type));
    } else if (!mock_dtype_castable(type, views[out].dtype)) {
        mock_build_fail(b, "a result of type %s cannot be stored as %s", mock_dtype_name(type),
            mock_dtype_name(views[out].dtype));
    }
    for (int k = 0; k < 3 && b->status == 0; k++) {
        if (operands[k] < 0) continue;
        const mock_view before = common, *v = &views[operands[k]];
        if (!mock_broadcast(&before, v, &common) || !broadcasts_to(v, &views[out])) {
            mock_build_fail(b, "shape %s does not broadcast to %s", mock_shape(v, &have),
                mock_shape(&views[out], &want));
        }
    }
    mock_require_shape(b, &views[out], "out", &common, "the common shape of the operands");
    *MOCK_PARAMS(b->plan, ternary) = (ternary){
        kernels, class, s, {(int8_t)operands[0], (int8_t)operands[1], (int8_t)operands[2]}, (int8_t)out};
}

static int32_t promoted(const mock_build *b, int first, int second) {
    return mock_dtype_promote(b->plan->views[first].dtype, b->plan->views[second].dtype);
}

static const int in_order[] = {0, 1, 2};

/* The condition is bool or u8 (own choice: as PyTorch does). */
static void check_condition(mock_build *b, int index, const char *param) {
    if (b->status != 0) return;
    const int32_t type = b->plan->views[index].dtype;
    if (type != ACL_BOOL && type != ACL_UINT8) {
        mock_build_fail(b, "%s has data type %s, expected BOOL or UINT8", param, mock_dtype_name(type));
    }
}

MOCK_OPERATOR(aclnnSWhere, run)
aclnnStatus aclnnSWhereGetWorkspaceSize(
    const aclTensor *condition, const aclTensor *self, const aclTensor *other, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSWhereGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnSWhere_task, workspaceSize, executor);
    mock_build_tensor(&b, condition, "condition", MOCK_IN);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, other, "other", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    check_condition(&b, 0, "condition");
    if (b.status == 0) plan_ternary(&b, &choose_kernels, promoted(&b, 1, 2), (mock_number){0}, in_order, 3);
    return mock_build_finish(&b);
}

/* The value becomes the tensor's type (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnInplaceMaskedFillScalar, run)
aclnnStatus aclnnInplaceMaskedFillScalarGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *mask, const aclScalar *value, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    static const int operands[] = {0, 1, -1};
    MOCK_ENTER(aclnnInplaceMaskedFillScalarGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceMaskedFillScalar_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, mask, "mask", MOCK_IN);
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    check_condition(&b, 1, "mask");
    if (b.status == 0)
        plan_ternary(&b, &mask_kernels, b.plan->views[0].dtype, mock_number_of(number), operands, 0);
    return mock_build_finish(&b);
}

/* One value in a tensor of at most one element (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnInplaceMaskedFillTensor, run)
aclnnStatus aclnnInplaceMaskedFillTensorGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *mask, const aclTensor *value, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceMaskedFillTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceMaskedFillTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, mask, "mask", MOCK_IN);
    const mock_view *v = mock_build_tensor(&b, value, "value", MOCK_IN);
    if (b.status == 0 && (mock_element_count(v) != 1 || v->rank > 1))
        mock_build_fail(&b, "value has %lld elements, expected one", (long long)mock_element_count(v));
    check_condition(&b, 1, "mask");
    if (b.status == 0) {
        b.plan->views[2].rank = 0; /* so that it fits a selfRef without dimensions */
        plan_ternary(&b, &mask_kernels, b.plan->views[0].dtype, (mock_number){0}, in_order, 0);
    }
    return mock_build_finish(&b);
}

/* self, two tensors and a scalar. */
#define WITH_VALUE(NAME, KERNELS, SELF_ROLE, PARAMS, SELF, OUT_INDEX, BUILD_OUT)                          \
    MOCK_OPERATOR(NAME, run)                                                                              \
    aclnnStatus NAME##GetWorkspaceSize PARAMS {                                                           \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                               \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                           \
        mock_build_tensor(&b, SELF, #SELF, SELF_ROLE);                                                    \
        mock_build_tensor(&b, tensor1, "tensor1", MOCK_IN);                                               \
        mock_build_tensor(&b, tensor2, "tensor2", MOCK_IN);                                               \
        const mock_scalar *number = mock_build_scalar(&b, value, "value");                                \
        BUILD_OUT;                                                                                        \
        if (b.status == 0) {                                                                              \
            const int32_t pair = promoted(&b, 1, 2);                                                      \
            const int32_t type = mock_dtype_promote(b.plan->views[0].dtype, pair);                        \
            plan_ternary(&b, &KERNELS, type, mock_number_of(number), in_order, OUT_INDEX);                \
        }                                                                                                 \
        return mock_build_finish(&b);                                                                     \
    }
#define OUT_PARAMS(OUT)                                                                                   \
    (const aclTensor *self, const aclTensor *tensor1, const aclTensor *tensor2, const aclScalar *value,   \
     OUT *out, uint64_t *workspaceSize, aclOpExecutor **executor)
#define INPLACE_PARAMS                                                                                    \
    (const aclTensor *selfRef, const aclTensor *tensor1, const aclTensor *tensor2, const aclScalar *value, \
     uint64_t *workspaceSize, aclOpExecutor **executor)
#define BUILD_OUT mock_build_tensor(&b, out, "out", MOCK_OUT)
WITH_VALUE(aclnnAddcmul, addcmul_kernels, MOCK_IN, OUT_PARAMS(aclTensor), self, 3, BUILD_OUT)
WITH_VALUE(aclnnAddcdiv, addcdiv_kernels, MOCK_IN, OUT_PARAMS(const aclTensor), self, 3, BUILD_OUT)
WITH_VALUE(aclnnInplaceAddcmul, addcmul_kernels, MOCK_INOUT, INPLACE_PARAMS, selfRef, 0, (void)0)
WITH_VALUE(aclnnInplaceAddcdiv, addcdiv_kernels, MOCK_INOUT, INPLACE_PARAMS, selfRef, 0, (void)0)

/* self + weight * (end - self); the weight is a tensor or a number. */
static void plan_lerp(mock_build *b, const mock_scalar *number, int out) {
    static const int with_number[] = {0, 1, -1};
    if (b->status != 0) return;
    int32_t type = promoted(b, 0, 1);
    if (number == NULL) type = mock_dtype_promote(type, b->plan->views[2].dtype);
    const mock_number weight = number == NULL ? (mock_number){0} : mock_number_of(number);
    plan_ternary(b, &lerp_kernels, type, weight, number == NULL ? in_order : with_number, out);
}

MOCK_OPERATOR(aclnnLerp, run)
aclnnStatus aclnnLerpGetWorkspaceSize(
    const aclTensor *self, const aclTensor *end, const aclTensor *weight, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnLerpGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnLerp_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, end, "end", MOCK_IN);
    mock_build_tensor(&b, weight, "weight", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_lerp(&b, NULL, 3);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnLerps, run)
aclnnStatus aclnnLerpsGetWorkspaceSize(
    const aclTensor *self, const aclTensor *end, const aclScalar *weight, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnLerpsGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnLerps_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, end, "end", MOCK_IN);
    const mock_scalar *number = mock_build_scalar(&b, weight, "weight");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_lerp(&b, number, 2);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnInplaceLerp, run)
aclnnStatus aclnnInplaceLerpGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *end, const aclTensor *weight, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceLerpGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceLerp_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, end, "end", MOCK_IN);
    mock_build_tensor(&b, weight, "weight", MOCK_IN);
    plan_lerp(&b, NULL, 0);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnInplaceLerps, run)
aclnnStatus aclnnInplaceLerpsGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *end, const aclScalar *weight, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceLerpsGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceLerps_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, end, "end", MOCK_IN);
    plan_lerp(&b, mock_build_scalar(&b, weight, "weight"), 0);
    return mock_build_finish(&b);
}

/* Both limits given: tensors that broadcast (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnClampTensor, run)
aclnnStatus aclnnClampTensorGetWorkspaceSize(
    const aclTensor *self, const aclTensor *clipValueMin, const aclTensor *clipValueMax, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnClampTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnClampTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, clipValueMin, "clipValueMin", MOCK_IN);
    mock_build_tensor(&b, clipValueMax, "clipValueMax", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) {
        const int32_t type = mock_dtype_promote(b.plan->views[0].dtype, promoted(&b, 1, 2));
        plan_ternary(&b, &limit_kernels, type, (mock_number){0}, in_order, 3);
    }
    return mock_build_finish(&b);
}
