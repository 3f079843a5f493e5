/* Softmax and LogSoftmax. Workspace: one line of f32 unless both tensors are f32 and contiguous along the
 * dimension.
 *
 * f32, f16 and bf16 (guide: aclnn, aclnnSoftmax), computed in f32: exp(x - max) to a few units of f32,
 * the sum collected in f64 in a fixed order, one multiplication by its inverse, then rounded once to the
 * type of out. LogSoftmax: x - max - log of that sum, in f64 (guide: aclnn, aclnnLogSoftmax). A NaN or
 * +infinity in a line, and a line of -infinity only, make the whole line NaN (own choice). */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef struct softmax {
    int32_t dim;
    bool logarithm;
} softmax;

static float line_max(const float *x, size_t n) {
    f32x4 most = mock_splat(x[0]);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) most = mock_max4(mock_get(x + i), most);
    for (; i < n; i++) most = mock_max4(mock_splat(x[i]), most);
    most = mock_max4(most, (f32x4){most[1], most[0], most[3], most[2]});
    most = mock_max4(most, (f32x4){most[2], most[3], most[0], most[1]});
    return most[0];
}

/* Writes exp(x - most) and gives the sum, collected in double every 64 values. */
static double line_exp(const float *x, float *out, size_t n, float most) {
    double sum = 0;
    for (size_t at = 0; at < n; at += 64) {
        const size_t end = n - at < 64 ? n : at + 64;
        f32x4 part = mock_splat(0);
        size_t i = at;
        for (; i + 4 <= end; i += 4) {
            const f32x4 e = mock_exp4(mock_get(x + i) - most);
            mock_put(out + i, e);
            part += e;
        }
        if (i < end) {
            f32x4 v = mock_splat(-INFINITY);
            memcpy(&v, x + i, (end - i) * sizeof *x);
            /* Lanes beyond the end become exp(-inf) = 0, whatever `most` is. */
            f32x4 e = mock_exp4(v - most);
            for (size_t j = end - i; j < 4; j++) e[j] = 0;
            memcpy(out + i, &e, (end - i) * sizeof *out);
            part += e;
        }
        sum += ((double)part[0] + (double)part[1]) + ((double)part[2] + (double)part[3]);
    }
    return sum;
}

static void line_scale(float *x, size_t n, float factor) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) mock_put(x + i, mock_get(x + i) * factor);
    for (; i < n; i++) x[i] *= factor;
}

/* Without keeping the exponentials: x may lie where the result goes. Summed in f64 one by one, since the
 * logarithm of a sum near 1 is small. */
static double line_exp_sum(const float *x, size_t n, float most) {
    float part[64];
    double sum = 0;
    for (size_t at = 0; at < n; at += 64) {
        const size_t count = n - at < 64 ? n - at : 64;
        line_exp(x + at, part, count, most);
        sum += mock_sum_f32(part, count);
    }
    return sum;
}

static void log_line(const float *x, float *y, size_t n) {
    const float most = line_max(x, n);
    const double sum = log(line_exp_sum(x, n, most));
    for (size_t i = 0; i < n; i++) y[i] = (float)((double)x[i] - (double)most - sum);
}

static void run_line(const softmax *p, const mock_line *in, const mock_line *out, const void *from, void *to,
    float *scratch) {
    const float *x = mock_line_get(in, from, scratch);
    float *y = out->direct ? to : scratch;
    if (p->logarithm) {
        log_line(x, y, in->count);
        mock_line_put(out, to, y);
        return;
    }
    const double sum = line_exp(x, y, in->count, line_max(x, in->count));
    line_scale(y, in->count, (float)(1 / sum));
    mock_line_put(out, to, y);
}

/* A view with the softmax dimension reduced to its first element. */
static mock_view first_elements(const mock_view *v, int dim) {
    mock_view outer = *v;
    if (v->rank != 0) outer.dims[dim] = 1;
    return outer;
}

static mock_line line_along(const mock_view *v, int dim) {
    return mock_line_of(v, dim, v->rank == 0 ? 0 : 1);
}

static aclError run_softmax(void *arg) {
    const mock_plan *plan = arg;
    const softmax *p = MOCK_PARAMS((mock_plan *)arg, softmax);
    const int dim = p->dim;
    const mock_view from = first_elements(&plan->views[0], dim), to = first_elements(&plan->views[1], dim);
    const mock_line in = line_along(&plan->views[0], dim), out = line_along(&plan->views[1], dim);
    void *source = mock_plan_pointer(plan, 0), *target = mock_plan_pointer(plan, 1);
    float *scratch = mock_plan_workspace(plan);
    mock_walk w;
    if (source == NULL || target == NULL || scratch == NULL) return MOCK_DEVICE_FAULT;
    if (plan->views[1].span == 0) return 0;
    mock_walk_begin(&w, to.rank, to.dims);
    mock_walk_add(&w, &to, target);
    mock_walk_add(&w, &from, source);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        for (size_t i = 0; i < w.n; i++) {
            const char *x = w.row[1] + (int64_t)i * w.step[1] * (int64_t)w.size[1];
            char *y = w.row[0] + (int64_t)i * w.step[0] * (int64_t)w.size[0];
            run_line(p, &in, &out, x, y, scratch);
        }
    }
    return 0;
}

static aclnnStatus plan_softmax(
    mock_build b, const aclTensor *self, int64_t dim, const aclTensor *out, bool logarithm) {
    const mock_view *from = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    if (!mock_dtype_is_float(from->dtype) || !mock_dtype_is_float(to->dtype)) {
        mock_build_fail(&b, "self has data type %s and out %s; FLOAT, FLOAT16 and BFLOAT16 are supported",
            mock_dtype_name(from->dtype), mock_dtype_name(to->dtype));
    }
    mock_require_shape(&b, to, "out", from, "the shape of self");
    const int along = mock_require_dim(&b, "dim", dim, from->rank);
    if (b.status != 0) return mock_build_finish(&b);
    const mock_line in = line_along(from, along), result = line_along(to, along);
    *MOCK_PARAMS(b.plan, softmax) = (softmax){along, logarithm};
    if (!in.direct || !result.direct) b.plan->need = mock_workspace_bytes(in.count, sizeof(float));
    return mock_build_finish(&b);
}

#define SOFTMAX(NAME, LOGARITHM)                                                                         \
    MOCK_OPERATOR(NAME, run_softmax)                                                                     \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out,               \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                             \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        return plan_softmax(mock_build_begin(&NAME##_task, workspaceSize, executor), self, dim, out,     \
            LOGARITHM);                                                                                  \
    }
SOFTMAX(aclnnSoftmax, false)
SOFTMAX(aclnnLogSoftmax, true)
