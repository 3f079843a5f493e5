/* Operators that collect in the places that their input names: EmbeddingDenseBackward, Bincount and Histc
 * (guide: aclnn, page of each).
 *
 * Own choice: a gradient is not scaled by frequency; the rows of padding get nothing. out of Bincount is at
 * least minlength long, and a value beyond it or a negative one is a fault of the task. Histc computes in
 * f64, takes the range of the elements where both limits are equal to 0, leaves out what is beyond the limits,
 * NaN too, and fails with 507015 when its range is not finite. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/places/places.h"

MOCK_OPERATOR(aclnnEmbeddingDenseBackward, mock_places_run)
static void plan_backward(mock_build *b, uint64_t weights, uint64_t padding) {
    const mock_view *grad = &b->plan->views[0], *indices = &b->plan->views[1], *out = &b->plan->views[2];
    mock_shape_text text;
    mock_view expected = *indices;
    mock_require_index(b, indices, "indices");
    mock_require_type(b, out, "out", grad);
    if (grad->rank == 0) mock_build_fail(b, "grad has no dimension");
    if (indices->rank == MOCK_MAX_RANK) mock_build_fail(b, "indices has 8 dimensions, at most 7 fit");
    if (b->status != 0) return;
    const int64_t width = grad->dims[grad->rank - 1];
    expected.dims[expected.rank++] = width;
    mock_require_shape(b, grad, "grad", &expected, "the shape of indices and a row");
    if (b->status == 0 && (out->rank != 2 || (uint64_t)out->dims[0] != weights || out->dims[1] != width))
        mock_build_fail(b, "out has shape %s, expected [%llu, %lld]", mock_shape(out, &text),
            (unsigned long long)weights, (long long)width);
    mock_places *p = mock_places_new(b, MOCK_ADD, 2, grad->rank, grad->dims, 1, 0);
    if (p == NULL) return;
    p->clear = true;
    p->other = 0;
    mock_lookup *l = mock_places_lookup(p, 0, 1, width, out->dims[0]);
    for (int d = 0; d < indices->rank; d++) l->strides[d] = indices->strides[d];
    for (int d = 0; d < grad->rank; d++) p->other_strides[d] = grad->strides[d];
    p->data_strides[grad->rank - 1] = 1;
    l->skips = true;
    l->skipped = (int64_t)padding;
    mock_places_finish(b, p, NULL);
}
aclnnStatus aclnnEmbeddingDenseBackwardGetWorkspaceSize(const aclTensor *grad, const aclTensor *indices,
    uint64_t numWeights, uint64_t paddingIdx, bool scaleGradByFreq, const aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnEmbeddingDenseBackwardGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnEmbeddingDenseBackward_task, workspaceSize, executor);
    mock_build_tensor(&b, grad, "grad", MOCK_IN);
    mock_build_tensor(&b, indices, "indices", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (scaleGradByFreq) mock_build_fail(&b, "scaleGradByFreq is not supported");
    if (b.status == 0) plan_backward(&b, numWeights, paddingIdx);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnBincount, mock_places_run)
static void plan_bincount(mock_build *b, int64_t least) {
    const mock_view *self = &b->plan->views[0], *weights = &b->plan->views[1], *out = &b->plan->views[2];
    mock_shape_text text;
    if (!mock_dtype_is_integer(self->dtype))
        mock_build_fail(b, "self has data type %s, expected an integer", mock_dtype_name(self->dtype));
    if (self->rank != 1 || out->rank != 1)
        mock_build_fail(b, "self has %d dimensions and out %d, expected 1", self->rank, out->rank);
    if (least < 0 || (b->status == 0 && out->dims[0] < least))
        mock_build_fail(b, "minlength is %lld, out has shape %s", (long long)least, mock_shape(out, &text));
    if (!weights->absent) mock_require_shape(b, weights, "weights", self, "the shape of self");
    if (out->dtype == ACL_BOOL || (!weights->absent && !mock_dtype_castable(weights->dtype, out->dtype)))
        mock_build_fail(b, "out has data type %s, which the counts cannot be stored as",
            mock_dtype_name(out->dtype));
    mock_places *p = mock_places_new(b, MOCK_ADD, 2, 1, self->dims, 1, 0);
    if (p == NULL) return;
    p->clear = true;
    mock_places_lookup(p, 0, 0, 1, out->dims[0])->strides[0] = self->strides[0];
    mock_store(MOCK_I64, out->dtype, p->value, 1, 1, &(int64_t){1});
    if (!weights->absent) {
        p->other = 1;
        p->other_strides[0] = weights->strides[0];
    }
    mock_places_finish(b, p, NULL);
}
aclnnStatus aclnnBincountGetWorkspaceSize(const aclTensor *self, const aclTensor *weights, int64_t minlength,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnBincountGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnBincount_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_optional(&b, weights, "weights", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) plan_bincount(&b, minlength);
    return mock_build_finish(&b);
}

/* ---- Histc ---- */

typedef struct histogram {
    double low, high;
    int64_t bins;
} histogram;

static double value_of(const mock_view *v, const char *at) {
    double value = 0;
    const void *x = mock_load(MOCK_F64, v->dtype, at, 0, 1, &value);
    if (x != &value) memcpy(&value, x, sizeof value);
    return value;
}

/* Calls `use` for every element of self. */
static void each_element(
    const mock_view *self, void *first, void (*use)(double x, void *state), void *state) {
    mock_walk w;
    mock_walk_begin(&w, self->rank, self->dims);
    mock_walk_add(&w, self, first);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            use(value_of(self, w.row[0] + (int64_t)i * w.step[0] * (int64_t)w.size[0]), state);
}

static void widen(double x, void *state) {
    histogram *h = state;
    if (x < h->low || x != x) h->low = x;
    if (x > h->high || x != x) h->high = x;
}

typedef struct counting {
    histogram range;
    int64_t *counts;
} counting;

static void count(double x, void *state) {
    const counting *c = state;
    const histogram *h = &c->range;
    if (!(x >= h->low && x <= h->high)) return;
    const int64_t bin = (int64_t)((x - h->low) / (h->high - h->low) * (double)h->bins);
    c->counts[bin < h->bins ? bin : h->bins - 1]++;
}

static aclError run_histc(void *arg) {
    mock_plan *plan = arg;
    counting c = {*MOCK_PARAMS(plan, histogram), mock_plan_workspace(plan)};
    const mock_view *self = &plan->views[0], *out = &plan->views[1];
    void *first = mock_plan_pointer(plan, 0);
    char *to = mock_plan_pointer(plan, 1);
    if (first == NULL || to == NULL || c.counts == NULL) return MOCK_DEVICE_FAULT;
    histogram *h = &c.range;
    if (h->low == 0 && h->high == 0 && self->span != 0) {
        *h = (histogram){INFINITY, -INFINITY, h->bins};
        each_element(self, first, widen, h);
    }
    if (h->low == h->high) {
        h->low -= 1;
        h->high += 1;
    }
    if (!isfinite(h->low) || !isfinite(h->high)) return MOCK_DEVICE_FAULT;
    memset(c.counts, 0, (size_t)h->bins * sizeof *c.counts);
    each_element(self, first, count, &c);
    for (int64_t k = 0; k < h->bins; k++)
        mock_store(MOCK_I64, out->dtype, to + k * out->strides[0] * (int64_t)mock_dtype_size(out->dtype), 0,
        1,
            &c.counts[k]);
    return 0;
}

MOCK_OPERATOR(aclnnHistc, run_histc)
aclnnStatus aclnnHistcGetWorkspaceSize(const aclTensor *self, int64_t bins, const aclScalar *min,
    const aclScalar *max, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnHistcGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnHistc_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_scalar *low = mock_build_scalar(&b, min, "min"), *high = mock_build_scalar(&b, max, "max");
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    const histogram h = {mock_scalar_double(low), mock_scalar_double(high), bins};
    const mock_view expected = {.rank = 1, .dims = {bins}};
    if (bins <= 0) mock_build_fail(&b, "bins is %lld, expected a positive number", (long long)bins);
    if (!(h.low <= h.high)) mock_build_fail(&b, "min %g is not at most max %g", h.low, h.high);
    if (x->dtype == ACL_BOOL || to->dtype == ACL_BOOL) mock_build_fail(&b, "data type BOOL is not supported");
    mock_require_shape(&b, to, "out", &expected, "bins");
    *MOCK_PARAMS(b.plan, histogram) = h;
    b.plan->need = (uint64_t)(b.status != 0 ? 0 : bins) * sizeof(int64_t);
    return mock_build_finish(&b);
}
