/* Folds of dimensions into one or two results: Prod, Norm, All, Any, Amax, Amin, Max, Min, Aminmax,
 * MeanV2, Var, Std, VarMean, LogSumExp, ReduceLogSum, ReduceNansum and their forms (guide: aclnn, page of
 * each).
 *
 * Own choice, as PyTorch does: floats are folded in f64 and rounded once, in an order that only depends on
 * shape and strides; integers with an integer result in s64, wrapping. NaN wins in every extreme and
 * counts as true. Products and sums of nothing are 1 and 0, its mean is NaN, its logarithms minus
 * infinity; extremes of nothing and norms of infinite or negative order of nothing are refused. The
 * variance of n elements divides by n - correction, or by 0 when that is negative. A set of noop stays as
 * it is, but functions beyond the fold are applied. No workspace. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

#define CHUNK 512

typedef struct state {
    double low, high, sum;
    int64_t whole_low, whole_high, whole;
} state;

typedef struct fold fold;

typedef struct job {
    void (*real)(state *s, double number, const double *x, size_t n);
    void (*second)(state *s, double number, const double *x, size_t n);
    void (*whole)(state *s, const int64_t *x, size_t n);
    /* Leaves the results in low and high, or in whole_low and whole_high. */
    void (*middle)(state *s, const fold *f);
    void (*finish)(state *s, const fold *f);
    state start;
} job;

struct fold {
    const job *job;
    double number; /* the order of a norm, or the correction */
    double count;
    uint32_t reduced;
    mock_class class, result;
    int8_t outs;
    bool second; /* the first output gets the second result */
    bool root;
};

static void add_product(state *s, double number, const double *x, size_t n) {
    (void)number;
    for (size_t i = 0; i < n; i++) s->low *= x[i];
}
static void add_whole_product(state *s, const int64_t *x, size_t n) {
    for (size_t i = 0; i < n; i++) s->whole_low = (int64_t)((uint64_t)s->whole_low * (uint64_t)x[i]);
}
static const job product = {
    .real = add_product, .whole = add_whole_product, .start = {.low = 1, .whole_low = 1}};

static void add_numbers(state *s, double number, const double *x, size_t n) {
    (void)number;
    for (size_t i = 0; i < n; i++) s->low += x[i] != x[i] ? 0 : x[i];
}
static void add_whole(state *s, const int64_t *x, size_t n) {
    for (size_t i = 0; i < n; i++) s->whole_low = (int64_t)((uint64_t)s->whole_low + (uint64_t)x[i]);
}
static const job sum_of_numbers = {.real = add_numbers, .whole = add_whole};

static void add_ends(state *s, double number, const double *x, size_t n) {
    (void)number;
    for (size_t i = 0; i < n; i++) {
        if (x[i] < s->low || x[i] != x[i]) s->low = x[i];
        if (x[i] > s->high || x[i] != x[i]) s->high = x[i];
    }
}
static void add_whole_ends(state *s, const int64_t *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (x[i] < s->whole_low) s->whole_low = x[i];
        if (x[i] > s->whole_high) s->whole_high = x[i];
    }
}
static const job ends = {.real = add_ends, .whole = add_whole_ends,
    .start = {.low = INFINITY, .high = -INFINITY, .whole_low = INT64_MAX, .whole_high = INT64_MIN}};

/* low: all of them, high: any of them. */
static void add_truths(state *s, double number, const double *x, size_t n) {
    (void)number;
    for (size_t i = 0; i < n; i++) {
        if (x[i] == 0) s->whole_low = 0;
        else s->whole_high = 1;
    }
}
static void add_whole_truths(state *s, const int64_t *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (x[i] == 0) s->whole_low = 0;
        else s->whole_high = 1;
    }
}
static const job truths = {.real = add_truths, .whole = add_whole_truths, .start = {.whole_low = 1}};

static void add_sum(state *s, double number, const double *x, size_t n) {
    (void)number;
    for (size_t i = 0; i < n; i++) s->sum += x[i];
}
static void finish_mean(state *s, const fold *f) { s->low = s->sum / f->count; }
static void finish_log(state *s, const fold *f) {
    (void)f;
    s->low = log(s->sum);
}
static const job mean = {.real = add_sum, .finish = finish_mean};
static const job log_of_sum = {.real = add_sum, .finish = finish_log};

/* high becomes the mean. */
static void middle_mean(state *s, const fold *f) {
    s->high = s->sum / f->count;
    s->sum = 0;
}
static void add_squares(state *s, double number, const double *x, size_t n) {
    (void)number;
    for (size_t i = 0; i < n; i++) s->sum += (x[i] - s->high) * (x[i] - s->high);
}
static void finish_variance(state *s, const fold *f) {
    const double divisor = f->count - f->number;
    s->low = s->sum / (divisor < 0 ? 0 : divisor);
    if (f->root) s->low = sqrt(s->low);
}
static const job variance = {
    .real = add_sum, .second = add_squares, .middle = middle_mean, .finish = finish_variance};

/* high is the greatest; infinities of one sign stay what they are. */
static void middle_log_sum(state *s, const fold *f) {
    (void)f;
    if (isinf(s->high)) s->low = 0;
    else s->low = s->high;
}
static void add_exponentials(state *s, double number, const double *x, size_t n) {
    (void)number;
    for (size_t i = 0; i < n; i++) s->sum += exp(x[i] - s->low);
}
static void finish_log_sum(state *s, const fold *f) {
    (void)f;
    s->low += log(s->sum);
}
static const job log_sum_exp = {.real = add_ends, .second = add_exponentials, .middle = middle_log_sum,
    .finish = finish_log_sum, .start = {.low = INFINITY, .high = -INFINITY}};

static void add_norm(state *s, double p, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double size = fabs(x[i]);
        if (isinf(p)) {
            if ((p > 0 ? size > s->sum : size < s->sum) || size != size) s->sum = size;
        } else if (p == 0) {
            s->sum += size != 0;
        } else {
            s->sum += p == 2 ? size * size : p == 1 ? size : pow(size, p);
        }
    }
}
static void finish_norm(state *s, const fold *f) {
    const double p = f->number;
    s->low = p == 2 ? sqrt(s->sum) : isinf(p) || p == 0 || p == 1 ? s->sum : pow(s->sum, 1 / p);
}
static const job norm = {.real = add_norm, .finish = finish_norm};
static const job least_norm = {.real = add_norm, .finish = finish_norm, .start = {.sum = INFINITY}};

/* ---- second phase ---- */

static void fold_row(const fold *f, state *s, bool second, const mock_walk *v, int32_t dtype) {
    double buffer[CHUNK];
    const int64_t bytes = v->step[0] * (int64_t)v->size[0];
    for (size_t at = 0; at < v->n; at += CHUNK) {
        const size_t n = v->n - at < CHUNK ? v->n - at : CHUNK;
        const void *x = mock_load(f->class, dtype, v->row[0] + (int64_t)at * bytes, v->step[0], n, buffer);
        if (f->class == MOCK_I64) f->job->whole(s, x, n);
        else (second ? f->job->second : f->job->real)(s, f->number, x, n);
    }
}

static void fold_line(const fold *f, state *s, bool second, const mock_view *line, char *from) {
    mock_walk v;
    mock_walk_begin(&v, line->rank, line->dims);
    mock_walk_add(&v, line, from);
    for (bool on = mock_walk_first(&v); on; on = mock_walk_next(&v)) {
        fold_row(f, s, second, &v, line->dtype);
    }
}

static void put(const fold *f, const mock_view *out, char *to, const state *s, bool second) {
    if (f->result == MOCK_F64) mock_store(MOCK_F64, out->dtype, to, 1, 1, second ? &s->high : &s->low);
    else mock_store(MOCK_I64, out->dtype, to, 1, 1, second ? &s->whole_high : &s->whole_low);
}

static void fold_one(const fold *f, const mock_plan *plan, const mock_view *line, char *const *at) {
    state s = f->job->start;
    fold_line(f, &s, false, line, at[0]);
    if (f->job->middle != NULL) f->job->middle(&s, f);
    if (f->job->second != NULL) fold_line(f, &s, true, line, at[0]);
    if (f->job->finish != NULL) f->job->finish(&s, f);
    put(f, &plan->views[1], at[1], &s, f->second);
    if (f->outs == 2) put(f, &plan->views[2], at[2], &s, true);
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const fold *f = MOCK_PARAMS((mock_plan *)arg, fold);
    const mock_view *in = &plan->views[0];
    const mock_view kept = mock_dims_part(in, f->reduced, false);
    const mock_view line = mock_dims_part(in, f->reduced, true);
    mock_walk w;
    mock_walk_begin(&w, kept.rank, kept.dims);
    for (int k = 0; k <= f->outs; k++) {
        char *first = mock_plan_pointer(plan, (unsigned)k);
        if (first == NULL) return MOCK_DEVICE_FAULT;
        const mock_view result = mock_dims_result(in, f->reduced, &plan->views[k == 0 ? 1 : k], false);
        mock_walk_add(&w, k == 0 ? &kept : &result, first);
    }
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        for (size_t i = 0; i < w.n; i++) {
            char *at[3] = {NULL, NULL, NULL};
            for (int k = 0; k <= f->outs; k++) {
                at[k] = w.row[k] + (int64_t)i * w.step[k] * (int64_t)w.size[k];
            }
            fold_one(f, plan, &line, at);
        }
    }
    return 0;
}

/* ---- first phases ---- */

static const char *type_of(const mock_view *v) {
    return mock_dtype_name(v->dtype);
}

static void check_ends(mock_build *b, const fold *f, const mock_view *in, const mock_view *out) {
    if (out->dtype != in->dtype)
        mock_build_fail(b, "the result has data type %s, self has %s", type_of(out), type_of(in));
    if (f->count == 0 && mock_element_count(out) != 0) mock_build_fail(b, "there is no extreme of no elements");
}

static void check_truths(mock_build *b, const mock_view *out) {
    if (out->dtype != ACL_BOOL && out->dtype != ACL_UINT8)
        mock_build_fail(b, "out has data type %s, expected BOOL or UINT8", type_of(out));
}

static void check_products(mock_build *b, const mock_view *in, const mock_view *out) {
    if (!mock_dtype_castable(in->dtype, out->dtype) || out->dtype == ACL_BOOL)
        mock_build_fail(b, "self of type %s cannot be reduced to %s", type_of(in), type_of(out));
}

/* What gives floats. Norms and variances are of floats as well. */
static void check_floats(mock_build *b, const fold *f, const mock_view *in, const mock_view *out) {
    const bool any = f->job == &mean || f->job == &log_of_sum || f->job == &log_sum_exp;
    if (!mock_dtype_is_floating(out->dtype) || (!any && !mock_dtype_is_floating(in->dtype)))
        mock_build_fail(b, "self of type %s cannot be reduced to %s", type_of(in), type_of(out));
    if ((f->job == &norm || f->job == &least_norm) && f->count == 0 && mock_element_count(out) != 0 &&
        (isinf(f->number) || f->number < 0))
        mock_build_fail(b, "there is no norm of order %g of no elements", f->number);
}

static void check_result(mock_build *b, fold *f, int k, bool keep) {
    const mock_view *in = &b->plan->views[0], *out = &b->plan->views[k];
    const mock_view shape = mock_dims_shape(in, f->reduced, keep);
    mock_require_shape(b, out, k == 1 ? "the result" : "the second result", &shape,
        keep ? "self with reduced dimensions of 1" : "self without them");
    if (f->job == &ends) check_ends(b, f, in, out);
    else if (f->job == &truths) check_truths(b, out);
    else if (f->job == &product || f->job == &sum_of_numbers) check_products(b, in, out);
    else check_floats(b, f, in, out);
}

/* Fills in the rest of `f`, whose job, number and outputs are given. */
static aclnnStatus plan_fold(mock_build *b, fold f, uint32_t reduced, bool keep) {
    if (b->status != 0) return mock_build_finish(b);
    const mock_view *in = &b->plan->views[0], *out = &b->plan->views[1];
    const mock_view line = mock_dims_part(in, reduced, true);
    const bool whole = f.job->whole != NULL && mock_dtype_class(in->dtype) == MOCK_I64 &&
                       !mock_dtype_is_floating(out->dtype);
    f.reduced = reduced;
    f.count = (double)mock_element_count(&line);
    f.class = whole ? MOCK_I64 : MOCK_F64;
    f.result = whole || f.job == &truths ? MOCK_I64 : MOCK_F64;
    f.outs = (int8_t)(b->plan->count - 1);
    if (f.number < 0 && isinf(f.number)) f.job = &least_norm;
    for (int k = 1; k <= f.outs; k++) check_result(b, &f, k, keep);
    *MOCK_PARAMS(b->plan, fold) = f;
    return mock_build_finish(b);
}

static aclnnStatus fold_list(
    mock_build *b, fold f, const aclIntArray *dims, const char *param, bool keep, bool noop) {
    const mock_array *list = mock_build_ints(b, dims, param);
    if (b->status != 0) return mock_build_finish(b);
    const int rank = b->plan->views[0].rank;
    const uint32_t set = noop && list->size == 0 ? 0 : mock_dims_read(b, list, param, rank);
    return plan_fold(b, f, set, keep);
}

static aclnnStatus fold_all(mock_build *b, fold f) {
    return plan_fold(b, f, b->status != 0 ? 0 : mock_dims_all(b->plan->views[0].rank), false);
}

static aclnnStatus fold_dim(mock_build *b, fold f, int64_t dim, bool keep) {
    if (b->status != 0) return mock_build_finish(b);
    const int rank = b->plan->views[0].rank;
    const int d = mock_require_dim(b, "dim", dim, rank);
    return plan_fold(b, f, d < 0 ? 0 : 1u << d & mock_dims_all(rank), keep);
}

/* The type of out (guide: aclnn, aclnnProd). */
static void check_dtype(mock_build *b, aclDataType dtype) {
    if (b->status != 0) return;
    const mock_view *out = &b->plan->views[b->plan->count - 1];
    if (out->dtype != (int32_t)dtype)
        mock_build_fail(b, "out has data type %s, but dtype is %s", type_of(out), mock_dtype_name(dtype));
}

/* What follows OUT begins with the operands SELF and OUT built and gives the end of the first phase. */
#define FOLD(NAME, PARAMS, SELF, OUT, ...)                                                           \
    MOCK_OPERATOR(NAME, run)                                                                         \
    aclnnStatus NAME##GetWorkspaceSize PARAMS {                                                      \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                          \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                      \
        mock_build_tensor(&b, SELF, #SELF, MOCK_IN);                                                 \
        mock_build_tensor(&b, OUT, #OUT, MOCK_OUT);                                                  \
        __VA_ARGS__                                                                                  \
    }
#define SIZES uint64_t *workspaceSize, aclOpExecutor **executor
#define LIST_PARAMS(DIM, KEEP) \
    (const aclTensor *self, const aclIntArray *DIM, bool KEEP, aclTensor *out, SIZES)

FOLD(aclnnAmax, LIST_PARAMS(dim, keepDim), self, out,
    return fold_list(&b, (fold){.job = &ends, .second = true}, dim, "dim", keepDim, false);)
FOLD(aclnnAmin, LIST_PARAMS(dim, keepDim), self, out,
    return fold_list(&b, (fold){.job = &ends}, dim, "dim", keepDim, false);)
FOLD(aclnnAll, LIST_PARAMS(dim, keepdim), self, out,
    return fold_list(&b, (fold){.job = &truths}, dim, "dim", keepdim, false);)
FOLD(aclnnAny, LIST_PARAMS(dim, keepdim), self, out,
    return fold_list(&b, (fold){.job = &truths, .second = true}, dim, "dim", keepdim, false);)
FOLD(aclnnLogSumExp, LIST_PARAMS(dim, keepDim), self, out,
    return fold_list(&b, (fold){.job = &log_sum_exp}, dim, "dim", keepDim, false);)

FOLD(aclnnMax, (const aclTensor *self, aclTensor *out, SIZES), self, out,
    return fold_all(&b, (fold){.job = &ends, .second = true});)
FOLD(aclnnMin, (const aclTensor *self, aclTensor *out, SIZES), self, out,
    return fold_all(&b, (fold){.job = &ends});)
FOLD(aclnnMaxV2,
    (const aclTensor *self, const aclIntArray *dims, bool keepDims, bool noopWithEmptyDims, aclTensor *out,
        SIZES), self, out,
    return fold_list(&b, (fold){.job = &ends, .second = true}, dims, "dims", keepDims, noopWithEmptyDims);)
FOLD(aclnnMeanV2,
    (const aclTensor *self, const aclIntArray *dim, bool keepDim, bool noopWithEmptyAxes, aclTensor *out,
        SIZES), self, out,
    return fold_list(&b, (fold){.job = &mean}, dim, "dim", keepDim, noopWithEmptyAxes);)
FOLD(aclnnReduceLogSum,
    (const aclTensor *data, const aclIntArray *axes, bool keepDims, bool noopWithEmptyAxes,
        aclTensor *reduce, SIZES), data, reduce,
    return fold_list(&b, (fold){.job = &log_of_sum}, axes, "axes", keepDims, noopWithEmptyAxes);)

FOLD(aclnnAminmax,
    (const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *minOut, aclTensor *maxOut,
        SIZES), self, minOut,
    mock_build_tensor(&b, maxOut, "maxOut", MOCK_OUT);
    return fold_list(&b, (fold){.job = &ends}, dim, "dim", keepDim, false);)
FOLD(aclnnAminmaxDim,
    (const aclTensor *self, const int64_t dim, bool keepDim, aclTensor *minOut, aclTensor *maxOut, SIZES),
    self, minOut,
    mock_build_tensor(&b, maxOut, "maxOut", MOCK_OUT);
    return fold_dim(&b, (fold){.job = &ends}, dim, keepDim);)
FOLD(aclnnAminmaxAll, (const aclTensor *self, aclTensor *minOut, aclTensor *maxOut, SIZES), self, minOut,
    mock_build_tensor(&b, maxOut, "maxOut", MOCK_OUT);
    return fold_all(&b, (fold){.job = &ends});)

FOLD(aclnnProd, (const aclTensor *self, const aclDataType dtype, aclTensor *out, SIZES), self, out,
    check_dtype(&b, dtype);
    return fold_all(&b, (fold){.job = &product});)
FOLD(aclnnProdDim,
    (const aclTensor *self, int64_t dim, bool keepDim, const aclDataType dtype, aclTensor *out, SIZES),
    self, out,
    check_dtype(&b, dtype);
    return fold_dim(&b, (fold){.job = &product}, dim, keepDim);)
FOLD(aclnnReduceNansum,
    (const aclTensor *self, const aclIntArray *dim, bool keepDim, aclDataType dtype, aclTensor *out, SIZES),
    self, out,
    check_dtype(&b, dtype);
    return fold_list(&b, (fold){.job = &sum_of_numbers}, dim, "dim", keepDim, false);)

FOLD(aclnnNorm,
    (const aclTensor *self, const aclScalar *pScalar, const aclIntArray *dim, bool keepdim, aclTensor *out,
        SIZES), self, out,
    const mock_scalar *p = mock_build_scalar(&b, pScalar, "pScalar");
    const double order = p == NULL ? 0 : mock_scalar_double(p);
    return fold_list(&b, (fold){.job = &norm, .number = order}, dim, "dim", keepdim, false);)
FOLD(aclnnLinalgVectorNorm,
    (const aclTensor *self, const aclScalar *ord, const aclIntArray *dims, bool keepDims,
        const aclDataType dtype, aclTensor *out, SIZES), self, out,
    const mock_scalar *p = mock_build_scalar(&b, ord, "ord");
    const double order = p == NULL ? 0 : mock_scalar_double(p);
    check_dtype(&b, dtype);
    return fold_list(&b, (fold){.job = &norm, .number = order}, dims, "dims", keepDims, false);)

FOLD(aclnnVar,
    (const aclTensor *self, const aclIntArray *dim, bool unbiased, bool keepdim, aclTensor *out, SIZES),
    self, out,
    return fold_list(&b, (fold){.job = &variance, .number = unbiased}, dim, "dim", keepdim, false);)
#define CORRECTED(CONST) (const aclTensor *self, const aclIntArray *dim, CONST int64_t correction,   \
    bool keepdim, aclTensor *out, SIZES)
FOLD(aclnnVarCorrection, CORRECTED(), self, out,
    return fold_list(&b, (fold){.job = &variance, .number = (double)correction}, dim, "dim", keepdim, false);)
FOLD(aclnnStd, CORRECTED(const), self, out,
    const fold f = {.job = &variance, .number = (double)correction, .root = true};
    return fold_list(&b, f, dim, "dim", keepdim, false);)
#define WITH_MEAN(OUT) (const aclTensor *self, const aclIntArray *dim, int64_t correction, bool keepdim, \
    aclTensor *OUT, aclTensor *meanOut, SIZES)
FOLD(aclnnVarMean, WITH_MEAN(varOut), self, varOut,
    mock_build_tensor(&b, meanOut, "meanOut", MOCK_OUT);
    return fold_list(&b, (fold){.job = &variance, .number = (double)correction}, dim, "dim", keepdim, false);)
FOLD(aclnnStdMeanCorrection, WITH_MEAN(stdOut), self, stdOut,
    mock_build_tensor(&b, meanOut, "meanOut", MOCK_OUT);
    const fold f = {.job = &variance, .number = (double)correction, .root = true};
    return fold_list(&b, f, dim, "dim", keepdim, false);)
