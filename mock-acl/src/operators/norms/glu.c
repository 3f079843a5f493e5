/* SwiGlu and RotaryPositionEmbedding: two halves of a dimension against each other (guide: aclnn, page of
 * each).
 *
 * f32, f16 and bf16, rounded once (own choice). SwiGlu: silu(first half) * second half, computed in f64.
 * Rotary embedding, computed in f32: x * cos + turned(x) * sin, where turned is, in mode 0 (half), (-second
 * half, first half) of the last dimension and, in mode 1 (interleaved), (-x[2k+1], x[2k]); cos and sin
 * broadcast to x. Other modes are refused (own choice). */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef struct halves {
    int8_t dim;
    bool interleaved;
} halves;

static float load(const mock_view *v, const char *first, const int64_t *i) {
    float buffer;
    int64_t at = 0;
    for (int d = 0; d < v->rank; d++) at += v->dims[d] == 1 ? 0 : i[d] * v->strides[d];
    return *mock_load_f32(v->dtype, first + at * (int64_t)mock_dtype_size(v->dtype), 0, 1, &buffer);
}

static void store(const mock_view *v, char *first, const int64_t *i, float value) {
    int64_t at = 0;
    for (int d = 0; d < v->rank; d++) at += i[d] * v->strides[d];
    mock_store(MOCK_F32, v->dtype, first + at * (int64_t)mock_dtype_size(v->dtype), 0, 1, &value);
}

static bool next(const mock_view *v, int64_t *i) {
    for (int d = v->rank; d-- > 0;) {
        if (++i[d] < v->dims[d]) return true;
        i[d] = 0;
    }
    return false;
}

static bool pointers(const mock_plan *plan, char **first) {
    for (unsigned k = 0; k < plan->count; k++) {
        first[k] = mock_plan_pointer(plan, k);
        if (first[k] == NULL) return false;
    }
    return true;
}

static aclError run_swiglu(void *arg) {
    const mock_plan *plan = arg;
    const int dim = MOCK_PARAMS((mock_plan *)arg, halves)->dim;
    const mock_view *x = &plan->views[0], *out = &plan->views[1];
    char *first[2];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        const double a = load(x, first[0], i);
        int64_t other[MOCK_MAX_RANK];
        memcpy(other, i, sizeof other);
        other[dim] += out->dims[dim];
        store(out, first[1], i, (float)(a * mock_logistic(a) * load(x, first[0], other)));
    } while (next(out, i));
    return 0;
}

static void check_types(mock_build *b) {
    const mock_view *views = b->plan->views;
    for (unsigned k = 0; k < b->plan->count; k++)
        if (!mock_dtype_is_float(views[k].dtype) || views[k].dtype != views[0].dtype)
            mock_build_fail(b, "operand %u has data type %s beside %s", k, mock_dtype_name(views[k].dtype),
                mock_dtype_name(views[0].dtype));
}

MOCK_OPERATOR(aclnnSwiGlu, run_swiglu)
aclnnStatus aclnnSwiGluGetWorkspaceSize(
    const aclTensor *x, int64_t dim, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSwiGluGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnSwiGlu_task, workspaceSize, executor);
    const mock_view *in = mock_build_tensor(&b, x, "x", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    check_types(&b);
    if (in->rank == 0) mock_build_fail(&b, "x has no dimension to halve");
    const int d = b.status != 0 ? -1 : mock_require_dim(&b, "dim", dim, in->rank);
    if (b.status != 0) return mock_build_finish(&b);
    if (in->dims[d] % 2 != 0) mock_build_fail(&b, "the dimension has %lld elements, which is odd",
        (long long)in->dims[d]);
    mock_view expected = *in;
    expected.dims[d] /= 2;
    mock_require_shape(&b, to, "out", &expected, "x with half of dim");
    *MOCK_PARAMS(b.plan, halves) = (halves){(int8_t)d, false};
    return mock_build_finish(&b);
}

enum { X, COS, SIN, OUT };

/* Both are read before either is written: out may be x. */
static void turn_pair(const mock_view *views, char *const *first, const int64_t *i, int last, int64_t distance) {
    int64_t other[MOCK_MAX_RANK];
    memcpy(other, i, sizeof other);
    other[last] += distance;
    const float a = load(&views[X], first[X], i), b = load(&views[X], first[X], other);
    const float one = a * load(&views[COS], first[COS], i) - b * load(&views[SIN], first[SIN], i);
    const float two = b * load(&views[COS], first[COS], other) + a * load(&views[SIN], first[SIN], other);
    store(&views[OUT], first[OUT], i, one);
    store(&views[OUT], first[OUT], other, two);
}

static aclError run_rotary(void *arg) {
    const mock_plan *plan = arg;
    const bool interleaved = MOCK_PARAMS((mock_plan *)arg, halves)->interleaved;
    const mock_view *views = plan->views, *x = &views[X];
    const int last = x->rank - 1;
    char *first[4];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(x) == 0) return 0;
    const int64_t half = x->dims[last] / 2;
    do {
        if (interleaved ? i[last] % 2 == 0 : i[last] < half)
            turn_pair(views, first, i, last, interleaved ? 1 : half);
    } while (next(x, i));
    return 0;
}

MOCK_OPERATOR(aclnnRotaryPositionEmbedding, run_rotary)
aclnnStatus aclnnRotaryPositionEmbeddingGetWorkspaceSize(const aclTensor *x, const aclTensor *cos,
    const aclTensor *sin, int64_t mode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRotaryPositionEmbeddingGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRotaryPositionEmbedding_task, workspaceSize, executor);
    const mock_view *in = mock_build_tensor(&b, x, "x", MOCK_IN);
    const mock_view *c = mock_build_tensor(&b, cos, "cos", MOCK_IN);
    const mock_view *s = mock_build_tensor(&b, sin, "sin", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_view common;
    if (b.status != 0) return mock_build_finish(&b);
    check_types(&b);
    if (mode != 0 && mode != 1)
        mock_build_fail(&b, "mode %lld is not supported, expected 0 (half) or 1 (interleaved)",
            (long long)mode);
    if (in->rank == 0 || in->dims[in->rank - 1] % 2 != 0)
        mock_build_fail(&b, "the last dimension of x cannot be halved");
    if (c->rank != in->rank || s->rank != in->rank || !mock_broadcast(c, in, &common) ||
        !mock_same_shape(&common, in) || !mock_same_shape(c, s))
        mock_build_fail(&b, "cos and sin do not broadcast to x");
    mock_require_shape(&b, to, "out", in, "the shape of x");
    *MOCK_PARAMS(b.plan, halves) = (halves){0, mode == 1};
    return mock_build_finish(&b);
}
