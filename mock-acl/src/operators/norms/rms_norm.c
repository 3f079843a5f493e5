/* RmsNorm and AddRmsNorm: x / sqrt(mean(x^2) + epsilon) * gamma over the trailing dimensions that gamma has
 * (guide: aclnn, page of each).
 *
 * f32, f16 and bf16, all operands of one type but rstd, which is f32. Squares are summed in f64, the rest is
 * computed in f32 and rounded once (own choice). AddRmsNorm gives x1 + x2, rounded to its type, in xOut as
 * well, and goes on with the unrounded sum (own choice). The mean of nothing is NaN. Workspace: three
 * lines. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef struct rms_norm {
    double epsilon;
    bool adds;
} rms_norm;

/* The operands: x, [x2], gamma, y, rstd, [xOut]. */
typedef struct operands {
    int gamma, y, rstd, sum;
} operands;

static operands operands_of(bool adds) {
    return adds ? (operands){2, 3, 4, 5} : (operands){1, 2, 3, -1};
}

static void add(float *line, const float *other, size_t n) {
    for (size_t i = 0; i < n; i++) line[i] += other[i];
}

static char *at(const mock_view *v, char *first, const int64_t *i, int outer) {
    int64_t place = 0;
    for (int d = 0; d < outer; d++) place += i[d] * v->strides[d];
    return first + place * (int64_t)mock_dtype_size(v->dtype);
}

static bool next(const mock_view *v, int outer, int64_t *i) {
    for (int d = outer; d-- > 0;) {
        if (++i[d] < v->dims[d]) return true;
        i[d] = 0;
    }
    return false;
}

typedef struct pass {
    const mock_plan *plan;
    const rms_norm *p;
    operands of;
    int outer;
    mock_view rstd;
    mock_line lines[6];
    char *first[6];
    const float *gamma;
    float *line, *other;
} pass;

/* rstd may leave out dimensions at its end: those that it has are compared, and where one of them is wanted for
 * more than its size it is written as the dense list of all results (implementation of the open operators). */
static mock_view whole_rstd(const mock_view *rstd, const mock_view *x, int outer) {
    mock_view v = *rstd;
    if (v.rank < outer) v.span = 1;
    for (int d = outer; v.rank < outer && d-- > 0; v.span *= x->dims[d]) {
        v.dims[d] = x->dims[d];
        v.strides[d] = v.span;
    }
    for (int d = v.rank < outer ? outer : v.rank; d < x->rank; d++) {
        v.dims[d] = 1;
        v.strides[d] = 0;
    }
    v.rank = x->rank;
    return v;
}

static void run_line(const pass *s, const int64_t *i) {
    const mock_view *views = s->plan->views;
    const size_t n = s->lines[0].count;
    const float *x = mock_line_get(&s->lines[0], at(&views[0], s->first[0], i, s->outer), s->line);
    if (x != s->line) memcpy(s->line, x, n * sizeof *x);
    if (s->p->adds) {
        const float *more = mock_line_get(&s->lines[1], at(&views[1], s->first[1], i, s->outer), s->other);
        add(s->line, more, n);
        mock_line_put(&s->lines[s->of.sum], at(&views[s->of.sum], s->first[s->of.sum], i, s->outer), s->line);
    }
    double squares = 0;
    for (size_t k = 0; k < n; k++) squares += (double)s->line[k] * (double)s->line[k];
    const float rstd = (float)(1 / sqrt(squares / (double)n + s->p->epsilon));
    for (size_t k = 0; k < n; k++) s->line[k] = s->line[k] * rstd * s->gamma[k];
    mock_line_put(&s->lines[s->of.y], at(&views[s->of.y], s->first[s->of.y], i, s->outer), s->line);
    const mock_view *r = &s->rstd;
    mock_store(MOCK_F32, r->dtype, at(r, s->first[s->of.rstd], i, s->outer), 0, 1, &rstd);
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const rms_norm *p = MOCK_PARAMS((mock_plan *)arg, rms_norm);
    pass s = {.plan = plan, .p = p, .of = operands_of(p->adds)};
    const mock_view *x = &plan->views[0];
    const int inner = plan->views[s.of.gamma].rank;
    char *workspace = mock_plan_workspace(plan);
    int64_t i[MOCK_MAX_RANK] = {0};
    s.outer = x->rank - inner;
    s.rstd = whole_rstd(&plan->views[s.of.rstd], x, s.outer);
    for (unsigned k = 0; k < plan->count; k++) {
        s.first[k] = (int)k == s.of.rstd ? mock_view_pointer(&s.rstd) : mock_plan_pointer(plan, k);
        if (s.first[k] == NULL) return MOCK_DEVICE_FAULT;
        if ((int)k == s.of.rstd) continue;
        const int from = (int)k == s.of.gamma ? 0 : s.outer;
        s.lines[k] = mock_line_of(&plan->views[k], from, inner);
    }
    if (workspace == NULL) return MOCK_DEVICE_FAULT;
    if (mock_element_count(&s.rstd) == 0) return 0;
    const uint64_t bytes = mock_workspace_bytes(s.lines[0].count, sizeof(float));
    s.line = (float *)(void *)workspace;
    s.other = (float *)(void *)(workspace + bytes);
    s.gamma = mock_line_get(
        &s.lines[s.of.gamma], s.first[s.of.gamma], (float *)(void *)(workspace + 2 * bytes));
    do {
        run_line(&s, i);
    } while (next(x, s.outer, i));
    return 0;
}

/* The operands of the plan by their roles. */
static aclnnStatus finish(mock_build *b, bool adds, double epsilon) {
    const operands of = operands_of(adds);
    const mock_view *views = b->plan->views, *x = &views[0], *gamma = &views[of.gamma];
    if (b->status != 0) return mock_build_finish(b);
    for (unsigned k = 0; k < b->plan->count; k++) {
        const int32_t type = views[k].dtype;
        const bool same = mock_dtype_is_float(type) && type == x->dtype;
        const bool good = (int)k == of.rstd ? type == ACL_FLOAT : same;
        if (!good) mock_build_fail(b, "operand %u has data type %s beside %s", k, mock_dtype_name(type),
            mock_dtype_name(x->dtype));
    }
    mock_view tail = *gamma, statistics = *x;
    const int outer = x->rank - gamma->rank;
    if (outer < 0 || gamma->rank == 0)
        mock_build_fail(b, "gamma has %d dimensions, x has %d", gamma->rank, x->rank);
    for (int d = 0; d < gamma->rank && outer >= 0; d++) {
        tail.dims[d] = x->dims[outer + d];
        statistics.dims[outer + d] = 1;
    }
    mock_require_shape(b, gamma, "gamma", &tail, "the end of the shape of x");
    if (adds) mock_require_shape(b, &views[1], "x2", x, "the shape of x1");
    if (adds) mock_require_shape(b, &views[of.sum], "xOut", x, "the shape of x1");
    mock_require_shape(b, &views[of.y], "yOut", x, "the shape of x");
    if (views[of.rstd].rank < x->rank) statistics.rank = views[of.rstd].rank;
    mock_require_shape(b, &views[of.rstd], "rstdOut", &statistics, "x with 1 where gamma is");
    if (views[of.rstd].rank < outer && !mock_is_contiguous(&views[of.rstd]))
        mock_build_fail(b, "rstdOut has fewer dimensions than there are results, and gaps");
    *MOCK_PARAMS(b->plan, rms_norm) = (rms_norm){epsilon, adds};
    b->plan->need = 3 * mock_workspace_bytes((uint64_t)mock_element_count(gamma), sizeof(float));
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnRmsNorm, run)
aclnnStatus aclnnRmsNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, double epsilon,
    const aclTensor *yOut, const aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRmsNormGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRmsNorm_task, workspaceSize, executor);
    mock_build_tensor(&b, x, "x", MOCK_IN);
    mock_build_tensor(&b, gamma, "gamma", MOCK_IN);
    mock_build_tensor(&b, yOut, "yOut", MOCK_OUT);
    mock_build_tensor(&b, rstdOut, "rstdOut", MOCK_OUT);
    return b.status != 0 ? mock_build_finish(&b) : finish(&b, false, epsilon);
}

MOCK_OPERATOR(aclnnAddRmsNorm, run)
aclnnStatus aclnnAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
    double epsilon, aclTensor *yOut, aclTensor *rstdOut, aclTensor *xOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAddRmsNormGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAddRmsNorm_task, workspaceSize, executor);
    mock_build_tensor(&b, x1, "x1", MOCK_IN);
    mock_build_tensor(&b, x2, "x2", MOCK_IN);
    mock_build_tensor(&b, gamma, "gamma", MOCK_IN);
    mock_build_tensor(&b, yOut, "yOut", MOCK_OUT);
    mock_build_tensor(&b, rstdOut, "rstdOut", MOCK_OUT);
    mock_build_tensor(&b, xOut, "xOut", MOCK_OUT);
    return b.status != 0 ? mock_build_finish(&b) : finish(&b, true, epsilon);
}
