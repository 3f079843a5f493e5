/* ReduceSum and Mean (guide: aclnn, page of each): sums in double (integers with an integer result in
 * int64_t, wrapping), rounded once. The order of a sum is fixed by the shape and the strides, so a result
 * is the same in every run (own choice). The mean of nothing is NaN, its sum 0.
 *
 * Workspace: one accumulator of eight bytes for each result, unless the reduced dimensions are the last
 * ones; those sums are complete one after the other and need none. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

#define CHUNK 512

typedef struct reduce {
    double divisor;
    uint32_t reduced;
    mock_class class;
    bool in_place;
} reduce;

typedef union total {
    double d;
    int64_t i;
} total;

static void add_row(
    mock_class class, total *sum, int32_t dtype, const char *row, int64_t step, size_t count) {
    double buffer[CHUNK];
    const int64_t size = (int64_t)mock_dtype_size(dtype);
    const bool narrow = mock_dtype_is_float(dtype);
    for (size_t at = 0; at < count; at += CHUNK, row += CHUNK * step * size) {
        const size_t n = count - at < CHUNK ? count - at : CHUNK;
        if (narrow) {
            sum->d += mock_sum_f32(mock_load_f32(dtype, row, step, n, (float *)buffer), n);
        } else if (class == MOCK_F64) {
            const double *x = mock_load(MOCK_F64, dtype, row, step, n, buffer);
            for (size_t i = 0; i < n; i++) sum->d += x[i];
        } else {
            const int64_t *x = mock_load(MOCK_I64, dtype, row, step, n, buffer);
            for (size_t i = 0; i < n; i++) sum->i = (int64_t)((uint64_t)sum->i + (uint64_t)x[i]);
        }
    }
}

/* Adds a row to a row of accumulators. */
static void add_to_row(
    mock_class class, total *sums, int64_t stride, int32_t dtype, const char *row, int64_t step,
    size_t count) {
    double buffer[CHUNK];
    const int64_t size = (int64_t)mock_dtype_size(dtype);
    const bool narrow = mock_dtype_is_float(dtype);
    for (size_t at = 0; at < count; at += CHUNK, row += CHUNK * step * size, sums += CHUNK * stride) {
        const size_t n = count - at < CHUNK ? count - at : CHUNK;
        const void *values = mock_load(narrow ? MOCK_F32 : class, dtype, row, step, n, buffer);
        if (narrow) {
            for (size_t i = 0; i < n; i++) sums[(int64_t)i * stride].d += (double)((const float *)values)[i];
        } else if (class == MOCK_F64) {
            for (size_t i = 0; i < n; i++) sums[(int64_t)i * stride].d += ((const double *)values)[i];
        } else {
            for (size_t i = 0; i < n; i++) {
                total *sum = sums + (int64_t)i * stride;
                sum->i = (int64_t)((uint64_t)sum->i + (uint64_t)((const int64_t *)values)[i]);
            }
        }
    }
}

static void put_total(const reduce *p, const mock_view *out, void *to, total sum) {
    if (p->class == MOCK_F64) sum.d /= p->divisor;
    mock_store(p->class, out->dtype, to, 1, 1, &sum);
}

/* Reduced dimensions last: every result is finished before the next. */
static void run_lines(const mock_plan *plan, const reduce *p, char *from, void *to) {
    const mock_view *in = &plan->views[0], *out = &plan->views[1];
    const mock_view kept = mock_dims_part(in, p->reduced, false);
    const mock_view line = mock_dims_part(in, p->reduced, true);
    const mock_view result = mock_dims_result(in, p->reduced, out, false);
    mock_walk w, v;
    mock_walk_begin(&w, kept.rank, kept.dims);
    mock_walk_add(&w, &result, to);
    mock_walk_add(&w, &kept, from);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        for (size_t i = 0; i < w.n; i++) {
            total sum = {0};
            mock_walk_begin(&v, line.rank, line.dims);
            mock_walk_add(&v, &line, w.row[1] + (int64_t)i * w.step[1] * (int64_t)w.size[1]);
            for (bool on = mock_walk_first(&v); on; on = mock_walk_next(&v)) {
                add_row(p->class, &sum, in->dtype, v.row[0], v.step[0], v.n);
            }
            put_total(p, out, w.row[0] + (int64_t)i * w.step[0] * (int64_t)w.size[0], sum);
        }
    }
}

/* Any dimensions: the input is read once in the order of its memory, the sums grow side by side. */
static void run_accumulators(const mock_plan *plan, const reduce *p, char *from, void *to, total *sums) {
    const mock_view *in = &plan->views[0], *out = &plan->views[1];
    const mock_view spread = mock_dims_result(in, p->reduced, out, true);
    const mock_view result = mock_dims_result(in, p->reduced, out, false);
    mock_walk w;
    memset(sums, 0, (size_t)mock_element_count(out) * sizeof *sums);
    mock_walk_begin(&w, in->rank, in->dims);
    mock_walk_add(&w, in, from);
    mock_walk_add(&w, &spread, sums);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        total *row = (total *)(void *)w.row[1];
        if (w.step[1] == 0) add_row(p->class, row, in->dtype, w.row[0], w.step[0], w.n);
        else add_to_row(p->class, row, w.step[1], in->dtype, w.row[0], w.step[0], w.n);
    }
    mock_walk_begin(&w, in->rank, result.dims);
    mock_walk_add(&w, &result, to);
    mock_walk_add(&w, &spread, sums);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        for (size_t i = 0; i < w.n; i++) {
            const total *sum = (const total *)(const void *)w.row[1] + (int64_t)i * w.step[1];
            put_total(p, out, w.row[0] + (int64_t)i * w.step[0] * (int64_t)w.size[0], *sum);
        }
    }
}

static aclError run_reduce(void *arg) {
    const mock_plan *plan = arg;
    const reduce *p = MOCK_PARAMS((mock_plan *)arg, reduce);
    void *from = mock_plan_pointer(plan, 0), *to = mock_plan_pointer(plan, 1);
    void *workspace = mock_plan_workspace(plan);
    if (from == NULL || to == NULL || workspace == NULL) return MOCK_DEVICE_FAULT;
    if (p->in_place) run_lines(plan, p, from, to);
    else run_accumulators(plan, p, from, to, workspace);
    return 0;
}

MOCK_OPERATOR(aclnnReduceSum, run_reduce)
MOCK_OPERATOR(aclnnMean, run_reduce)

/* dtype is the type of out (guide: aclnn, aclnnReduceSum); bool results, and integer means, are refused
 * (own choice). */
static void check_types(
    mock_build *b, const mock_view *in, const mock_view *out, aclDataType dtype, bool mean) {
    if (out->dtype != (int32_t)dtype) {
        mock_build_fail(b, "out has data type %s, but dtype is %s", mock_dtype_name(out->dtype),
            mock_dtype_name(dtype));
    } else if (!mock_dtype_castable(in->dtype, out->dtype) || out->dtype == ACL_BOOL ||
               (mean && !mock_dtype_is_floating(out->dtype))) {
        mock_build_fail(b, "self of type %s cannot be reduced to %s", mock_dtype_name(in->dtype),
            mock_dtype_name(out->dtype));
    }
}

static void plan_reduce(
    mock_build *b, const mock_array *dims, const char *param, bool keep, aclDataType dtype, bool mean) {
    if (b->status != 0) return;
    const mock_view *in = &b->plan->views[0], *out = &b->plan->views[1];
    const uint32_t reduced = mock_dims_read(b, dims, param, in->rank);
    mock_view shape = mock_dims_shape(in, reduced, keep);
    const mock_view line = mock_dims_part(in, reduced, true);
    check_types(b, in, out, dtype, mean);
    /* ReduceSum takes [1] for a scalar (implementation of the open operators). */
    if (!mean && shape.rank == 0 && out->rank == 1) shape = (mock_view){.rank = 1, .dims = {1}};
    mock_require_shape(b, out, "out", &shape,
        keep ? "self with reduced dimensions of 1" : "self without dims");
    if (b->status != 0) return;
    const bool whole = mock_dtype_class(in->dtype) == MOCK_I64 && mock_dtype_is_integer(out->dtype);
    *MOCK_PARAMS(b->plan, reduce) = (reduce){
        .divisor = mean ? (double)mock_element_count(&line) : 1,
        .reduced = reduced,
        .class = whole ? MOCK_I64 : MOCK_F64,
        .in_place = mock_dims_last(in, reduced),
    };
    if (mock_dims_last(in, reduced)) return;
    b->plan->need = mock_workspace_bytes((uint64_t)mock_element_count(out), sizeof(total));
}

aclnnStatus aclnnReduceSumGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dims, bool keepDims, aclDataType dtype, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnReduceSumGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnReduceSum_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *list = mock_build_ints(&b, dims, "dims");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_reduce(&b, list, "dims", keepDims, dtype, false);
    return mock_build_finish(&b);
}

aclnnStatus aclnnMeanGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dim, bool keepDim, aclDataType dtype, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnMeanGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnMean_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *list = mock_build_ints(&b, dim, "dim");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_reduce(&b, list, "dim", keepDim, dtype, true);
    return mock_build_finish(&b);
}
