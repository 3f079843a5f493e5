/* Dropout in one step and in two: DropoutGenMask, DropoutDoMask, Dropout, DropoutV3 and the gradients (guide: aclnn,
 * page of each). A mask has a bit for each element in row-major order, lowest first in each byte, 1 for what stays,
 * and as many bytes as 128 bits at a time take.
 *
 * Own choice: an element is dropped where word / 2^32 < p; the bits behind the last element are 0. p counts as the
 * type that probDataType names. What stays is multiplied by 1 / (1 - p) in f64 and rounded once. Where p is 0 or 1, or
 * nothing is trained, Dropout and DropoutV3 do not write the mask (guide). DropoutV3Grad multiplies by the bit, so
 * that NaN stays (guide). */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/random/draw.h"

/* Operands: the mask, and for all but masks alone input and output. `count` bits. */
typedef struct dropout {
    mock_source source;
    double prob, scale;
    uint64_t count;
    int32_t mask, in, out;
    bool draws, keeps_all, drops_all, multiplies;
} dropout;

typedef struct bits {
    const mock_view *view;
    char *first;
    bool dense;
} bits;

static uint8_t *byte_at(const bits *m, uint64_t at) {
    int64_t i[MOCK_MAX_RANK];
    if (m->dense) return (uint8_t *)m->first + at;
    for (int d = m->view->rank; d-- > 0;) {
        i[d] = (int64_t)(at % (uint64_t)m->view->dims[d]);
        at /= (uint64_t)m->view->dims[d];
    }
    return (uint8_t *)mock_element_at(m->view, m->first, i);
}

static void draw_mask(const dropout *p, const bits *m) {
    const uint64_t bytes = (uint64_t)mock_element_count(m->view);
    for (uint64_t at = 0; at < bytes; at++) {
        uint32_t words[8];
        uint8_t kept = 0;
        if (at * 8 < p->count) mock_draw_32(&p->source, at * 8, 8, words);
        for (unsigned k = 0; k < 8 && at * 8 + k < p->count; k++)
            if ((double)words[k] * 0x1p-32 >= p->prob) kept |= (uint8_t)(1u << k);
        *byte_at(m, at) = kept;
    }
}

typedef struct masked {
    const dropout *p;
    bits mask;
} masked;

static bool apply(const void *params, mock_chunk *c) {
    const masked *a = params;
    for (size_t k = 0; k < c->n; k++) {
        const uint64_t i = c->first + k;
        const bool kept = a->p->keeps_all || (!a->p->drops_all && (*byte_at(&a->mask, i / 8) >> (i % 8) & 1) != 0);
        if (a->p->multiplies) c->real[k] = c->in[0][k] * kept * a->p->scale;
        else c->real[k] = !kept ? 0 : a->p->keeps_all ? c->in[0][k] : c->in[0][k] * a->p->scale;
    }
    return true;
}

static aclError run_dropout(void *arg) {
    const mock_plan *plan = arg;
    dropout p = *MOCK_PARAMS((mock_plan *)arg, dropout);
    const mock_view *mask = &plan->views[p.mask];
    masked a = {&p, {mask, NULL, mock_is_contiguous(mask)}};
    if (!mock_source_read(plan, &p.source)) return MOCK_DEVICE_FAULT;
    if (p.count == 0) return 0;
    a.mask.first = mock_plan_pointer(plan, (unsigned)p.mask);
    if (a.mask.first == NULL) return MOCK_DEVICE_FAULT;
    if (p.draws) draw_mask(&p, &a.mask);
    if (p.out < 0) return 0;
    return mock_fill_chunks(plan, p.out, MOCK_F64, (const int[]){p.in}, 1, apply, &a);
}

static void check_probability(mock_build *b, double p, const char *param) {
    if (!(p >= 0 && p <= 1)) mock_build_fail(b, "%s is %g, expected 0 to 1", param, p);
}

static int add_mask(mock_build *b, const aclTensor *tensor, const char *param, mock_role role, uint64_t count) {
    const mock_view *v = mock_build_tensor(b, tensor, param, role);
    const uint64_t bytes = (count + 127) / 128 * 16;
    if (b->status != 0) return -1;
    if (v->dtype != ACL_UINT8)
        mock_build_fail(b, "%s has data type %s, expected UINT8", param, mock_dtype_name(v->dtype));
    else if ((uint64_t)mock_element_count(v) != bytes)
        mock_build_fail(b, "%s has %lld elements, expected %llu for %llu bits, 128 at a time", param,
            (long long)mock_element_count(v), (unsigned long long)bytes, (unsigned long long)count);
    return b->status != 0 ? -1 : b->plan->count - 1;
}

/* Fills count and in. */
static const mock_view *add_input(mock_build *b, const aclTensor *tensor, const char *param, dropout *p) {
    const mock_view *v = mock_build_tensor(b, tensor, param, MOCK_IN);
    if (b->status == 0 && !mock_dtype_is_floating(v->dtype))
        mock_build_fail(b, "%s has data type %s, expected a floating one", param, mock_dtype_name(v->dtype));
    if (b->status != 0) return v;
    p->count = (uint64_t)mock_element_count(v);
    p->in = b->plan->count - 1;
    return v;
}

static int add_output(mock_build *b, const aclTensor *tensor, const char *param, const mock_view *input) {
    const mock_view *v = mock_build_tensor(b, tensor, param, MOCK_OUT);
    if (b->status != 0) return -1;
    if (!mock_dtype_is_floating(v->dtype))
        mock_build_fail(b, "%s has data type %s, expected a floating one", param, mock_dtype_name(v->dtype));
    mock_require_shape(b, v, param, input, "the shape of the input");
    return b->status != 0 ? -1 : b->plan->count - 1;
}

static aclnnStatus finish_dropout(mock_build *b, dropout p) {
    if (b->status == 0) *MOCK_PARAMS(b->plan, dropout) = p;
    return mock_build_finish(b);
}

/* ---- masks ---- */

/* The elements of a shape, 0 after failing. */
static uint64_t shape_count(mock_build *b, const aclIntArray *shape) {
    const mock_array *dims = mock_build_ints(b, shape, "shape");
    uint64_t count = 1;
    for (uint64_t d = 0; b->status == 0 && d < dims->size; d++) {
        const int64_t n = ((const int64_t *)dims->values)[d];
        if (n < 0 || (n != 0 && count > (uint64_t)INT64_MAX / 128 / (uint64_t)n))
            mock_build_fail(b, "shape has %lld, or too many elements", (long long)n);
        else count *= (uint64_t)n;
    }
    return b->status != 0 ? 0 : count;
}

static double rounded(mock_build *b, double p, int32_t dtype) {
    unsigned char stored[sizeof(double)];
    if (!mock_dtype_is_float(dtype)) {
        mock_build_fail(b, "probDataType is %d, expected FLOAT, FLOAT16 or BFLOAT16", dtype);
        return p;
    }
    mock_write_real(dtype, (char *)stored, p);
    return mock_read_real(dtype, (const char *)stored);
}

static aclnnStatus plan_mask(mock_build b, const aclIntArray *shape, double prob, int32_t type,
    mock_source source, const aclTensor *out) {
    dropout p = {.source = source, .in = -1, .out = -1, .draws = true};
    check_probability(&b, prob, "prob");
    p.prob = b.status != 0 || type == ACL_DOUBLE ? prob : rounded(&b, prob, type);
    p.count = shape_count(&b, shape);
    p.mask = add_mask(&b, out, "out", MOCK_OUT, p.count);
    return finish_dropout(&b, p);
}

MOCK_OPERATOR(aclnnDropoutGenMask, run_dropout)
aclnnStatus aclnnDropoutGenMaskGetWorkspaceSize(const aclIntArray *shape, double prob, int64_t seed,
    int64_t offset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnDropoutGenMaskGetWorkspaceSize);
    return plan_mask(mock_build_begin(&aclnnDropoutGenMask_task, workspaceSize, executor), shape, prob,
        ACL_DOUBLE, mock_source_numbers(seed, offset), out);
}

static int32_t named(aclDataType type) {
    return type == ACL_DOUBLE ? ACL_DT_UNDEFINED : (int32_t)type;
}

MOCK_OPERATOR(aclnnDropoutGenMaskV2, run_dropout)
aclnnStatus aclnnDropoutGenMaskV2GetWorkspaceSize(const aclIntArray *shape, double prob, int64_t seed,
    int64_t offset, aclDataType probDataType, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnDropoutGenMaskV2GetWorkspaceSize);
    return plan_mask(mock_build_begin(&aclnnDropoutGenMaskV2_task, workspaceSize, executor), shape, prob,
        named(probDataType), mock_source_numbers(seed, offset), out);
}

MOCK_OPERATOR(aclnnDropoutGenMaskV2Tensor, run_dropout)
aclnnStatus aclnnDropoutGenMaskV2TensorGetWorkspaceSize(const aclIntArray *shape, double prob,
    const aclTensor *seedTensor, const aclTensor *offsetTensor, int64_t offset, aclDataType probDataType,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnDropoutGenMaskV2TensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnDropoutGenMaskV2Tensor_task, workspaceSize, executor);
    const mock_source source = mock_source_tensors(&b, seedTensor, offsetTensor, (uint64_t)offset);
    return plan_mask(b, shape, prob, named(probDataType), source, out);
}

/* ---- with a mask ---- */

MOCK_OPERATOR(aclnnDropoutDoMask, run_dropout)
aclnnStatus aclnnDropoutDoMaskGetWorkspaceSize(const aclTensor *self, const aclTensor *mask, double prob,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnDropoutDoMaskGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnDropoutDoMask_task, workspaceSize, executor);
    dropout p = {.scale = 1 / (1 - prob), .keeps_all = prob == 0, .drops_all = prob == 1};
    const mock_view *input = add_input(&b, self, "self", &p);
    p.mask = add_mask(&b, mask, "mask", MOCK_IN, p.count);
    check_probability(&b, prob, "prob");
    p.source = mock_source_numbers(0, 0);
    p.out = add_output(&b, out, "out", input);
    return finish_dropout(&b, p);
}

static aclnnStatus plan_backward(mock_build b, const aclTensor *grad, const char *param, const aclTensor *mask,
    dropout p, const aclTensor *out, const char *result) {
    const mock_view *input = add_input(&b, grad, param, &p);
    p.mask = add_mask(&b, mask, "mask", MOCK_IN, p.count);
    p.source = mock_source_numbers(0, 0);
    p.out = add_output(&b, out, result, input);
    return finish_dropout(&b, p);
}

/* A scale of 0 drops all, one of 1 keeps all (guide). */
MOCK_OPERATOR(aclnnDropoutBackward, run_dropout)
aclnnStatus aclnnDropoutBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *mask,
    double scale, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnDropoutBackwardGetWorkspaceSize);
    const dropout p = {.scale = scale, .keeps_all = scale == 1, .drops_all = scale == 0};
    return plan_backward(mock_build_begin(&aclnnDropoutBackward_task, workspaceSize, executor), gradOutput,
        "gradOutput", mask, p, out, "out");
}

MOCK_OPERATOR(aclnnDropoutV3Grad, run_dropout)
aclnnStatus aclnnDropoutV3GradGetWorkspaceSize(const aclTensor *gradY, const aclTensor *mask, double scale,
    aclTensor *gradX, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnDropoutV3GradGetWorkspaceSize);
    const dropout p = {.scale = scale, .multiplies = true};
    return plan_backward(mock_build_begin(&aclnnDropoutV3Grad_task, workspaceSize, executor), gradY, "gradY",
        mask, p, gradX, "gradX");
}

/* ---- in one step ---- */

static aclnnStatus plan_whole(mock_build b, const aclTensor *input, double prob, bool train, int64_t seed,
    int64_t offset, const aclTensor *out, const aclTensor *mask) {
    dropout p = {.source = mock_source_numbers(seed, offset), .prob = prob, .scale = 1 / (1 - prob)};
    const mock_view *from = add_input(&b, input, "input", &p);
    check_probability(&b, prob, "p");
    p.keeps_all = !train || prob == 0;
    p.drops_all = !p.keeps_all && prob == 1;
    p.draws = !p.keeps_all && !p.drops_all;
    p.out = add_output(&b, out, "out", from);
    p.mask = add_mask(&b, mask, "maskOut", MOCK_OUT, p.count);
    return finish_dropout(&b, p);
}

MOCK_OPERATOR(aclnnDropout, run_dropout)
aclnnStatus aclnnDropoutGetWorkspaceSize(const aclTensor *input, double p, bool train, int64_t seed,
    int64_t offset, aclTensor *out, aclTensor *maskOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnDropoutGetWorkspaceSize);
    return plan_whole(mock_build_begin(&aclnnDropout_task, workspaceSize, executor), input, p, train, seed,
        offset, out, maskOut);
}

MOCK_OPERATOR(aclnnDropoutV3, run_dropout)
aclnnStatus aclnnDropoutV3GetWorkspaceSize(const aclTensor *input, const aclTensor *optionalNoiseShape, double p,
    int64_t seed, int64_t offset, aclTensor *out, aclTensor *maskOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnDropoutV3GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnDropoutV3_task, workspaceSize, executor);
    if (optionalNoiseShape != NULL) mock_build_fail(&b, "optionalNoiseShape is reserved, expected null");
    return plan_whole(b, input, p, true, seed, offset, out, maskOut);
}
