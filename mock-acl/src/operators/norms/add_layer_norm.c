/* AddLayerNorm: x1 + x2 + biasOptional, normalised over the trailing dimensions that gamma has, times gamma, plus beta
 * (guide: aclnn, aclnnAddLayerNorm).
 *
 * f32, f16 and bf16, all operands of one type but mean and rstd, which are f32; biasOptional has the shape of x1 or that
 * of gamma. The sums are f32 and go on unrounded; mean, variance and the rest are computed as LayerNorm does (own
 * choice). xOut gets the sum where additionalOutput says so, and is left alone otherwise (own choice). Workspace: five
 * lines. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

enum { X1, X2, GAMMA, BETA, BIAS, Y, MEAN, RSTD, SUM, OPERANDS };

typedef struct add_norm {
    double epsilon;
    bool additional;
} add_norm;

typedef struct pass {
    const mock_view *views;
    const add_norm *p;
    int outer;
    mock_line lines[OPERANDS];
    char *first[OPERANDS];
    const float *gamma, *beta, *bias;
    float *line, *other;
} pass;

static char *at(const pass *s, int index, const int64_t *i) {
    const mock_view *v = &s->views[index];
    int64_t place = 0;
    for (int d = 0; d < s->outer; d++) place += i[d] * v->strides[d];
    return s->first[index] + place * (int64_t)mock_dtype_size(v->dtype);
}

static bool next(const pass *s, int64_t *i) {
    for (int d = s->outer; d-- > 0;) {
        if (++i[d] < s->views[X1].dims[d]) return true;
        i[d] = 0;
    }
    return false;
}

static void add(float *line, const float *other, size_t n) {
    for (size_t k = 0; k < n; k++) line[k] += other[k];
}

/* The sum of a line, in `line`. */
static void sum_line(const pass *s, const int64_t *i) {
    const size_t n = s->lines[X1].count;
    const float *x = mock_line_get(&s->lines[X1], at(s, X1, i), s->line);
    if (x != s->line) memcpy(s->line, x, n * sizeof *x);
    add(s->line, mock_line_get(&s->lines[X2], at(s, X2, i), s->other), n);
    if (s->bias != NULL) add(s->line, s->bias, n);
    else if (!s->views[BIAS].absent) add(s->line, mock_line_get(&s->lines[BIAS], at(s, BIAS, i), s->other), n);
    if (s->p->additional) mock_line_put(&s->lines[SUM], at(s, SUM, i), s->line);
}

static void run_line(const pass *s, const int64_t *i) {
    const size_t n = s->lines[X1].count;
    sum_line(s, i);
    const double mean = mock_sum_f32(s->line, n) / (double)n;
    const double rstd = 1 / sqrt(mock_square_sum_f32(s->line, n, mean) / (double)n + s->p->epsilon);
    const float centre = (float)mean, scale = (float)rstd;
    for (size_t k = 0; k < n; k++) {
        const float weighted = (s->line[k] - centre) * scale * s->gamma[k];
        s->line[k] = weighted + s->beta[k];
    }
    mock_line_put(&s->lines[Y], at(s, Y, i), s->line);
    mock_store(MOCK_F32, ACL_FLOAT, at(s, MEAN, i), 0, 1, &centre);
    mock_store(MOCK_F32, ACL_FLOAT, at(s, RSTD, i), 0, 1, &scale);
}

/* gamma, beta, or what is added to each line alike; the next line of the workspace may hold it. */
static const float *whole(pass *s, int index, char **workspace, uint64_t bytes) {
    const float *line = mock_line_get(&s->lines[index], s->first[index], (float *)(void *)*workspace);
    *workspace += bytes;
    return line;
}

static aclError run_add_layer_norm(void *arg) {
    const mock_plan *plan = arg;
    pass s = {.views = plan->views, .p = MOCK_PARAMS((mock_plan *)arg, add_norm)};
    const int inner = s.views[GAMMA].rank;
    char *workspace = mock_plan_workspace(plan);
    int64_t i[MOCK_MAX_RANK] = {0};
    s.outer = s.views[X1].rank - inner;
    for (unsigned k = 0; k < OPERANDS; k++) {
        if (s.views[k].absent) continue;
        s.first[k] = mock_plan_pointer(plan, k);
        if (s.first[k] == NULL) return MOCK_DEVICE_FAULT;
        if (k == MEAN || k == RSTD) continue;
        s.lines[k] = mock_line_of(&s.views[k], s.views[k].rank == inner ? 0 : s.outer, inner);
    }
    if (workspace == NULL) return MOCK_DEVICE_FAULT;
    if (mock_element_count(&s.views[MEAN]) == 0) return 0;
    const uint64_t bytes = mock_workspace_bytes(s.lines[X1].count, sizeof(float));
    s.gamma = whole(&s, GAMMA, &workspace, bytes);
    s.beta = whole(&s, BETA, &workspace, bytes);
    if (!s.views[BIAS].absent && s.views[BIAS].rank == inner && s.outer != 0) {
        s.bias = whole(&s, BIAS, &workspace, bytes);
    } else {
        workspace += bytes;
    }
    s.line = (float *)(void *)workspace;
    s.other = (float *)(void *)(workspace + bytes);
    do {
        run_line(&s, i);
    } while (next(&s, i));
    return 0;
}

static void check_types(mock_build *b) {
    const mock_view *views = b->plan->views;
    for (int k = 0; k < OPERANDS; k++) {
        if (views[k].absent) continue;
        const int32_t type = views[k].dtype;
        const bool same = mock_dtype_is_float(type) && type == views[X1].dtype;
        if (k == MEAN || k == RSTD ? type != ACL_FLOAT : !same)
            mock_build_fail(b, "operand %d has data type %s beside %s", k, mock_dtype_name(type),
                mock_dtype_name(views[X1].dtype));
    }
}

static void check_shapes(mock_build *b) {
    const mock_view *views = b->plan->views, *x = &views[X1], *gamma = &views[GAMMA], *bias = &views[BIAS];
    mock_view tail = *gamma, statistics = *x;
    const int outer = x->rank - gamma->rank;
    if (outer < 0 || gamma->rank == 0) {
        mock_build_fail(b, "gamma has %d dimensions, x1 has %d", gamma->rank, x->rank);
        return;
    }
    for (int d = 0; d < gamma->rank; d++) {
        tail.dims[d] = x->dims[outer + d];
        statistics.dims[outer + d] = 1;
    }
    mock_require_shape(b, &views[X2], "x2", x, "the shape of x1");
    mock_require_shape(b, gamma, "gamma", &tail, "the end of the shape of x1");
    mock_require_shape(b, &views[BETA], "beta", &tail, "the end of the shape of x1");
    if (!bias->absent)
        mock_require_shape(b, bias, "biasOptional", bias->rank == x->rank ? x : &tail, "the shape of x1 or gamma");
    mock_require_shape(b, &views[Y], "yOut", x, "the shape of x1");
    mock_require_shape(b, &views[MEAN], "meanOut", &statistics, "x1 with 1 where gamma is");
    mock_require_shape(b, &views[RSTD], "rstdOut", &statistics, "x1 with 1 where gamma is");
    mock_require_shape(b, &views[SUM], "xOut", x, "the shape of x1");
}

MOCK_OPERATOR(aclnnAddLayerNorm, run_add_layer_norm)
aclnnStatus aclnnAddLayerNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
    const aclTensor *beta, const aclTensor *biasOptional, double epsilon, bool additionalOutput,
    const aclTensor *yOut, const aclTensor *meanOut, const aclTensor *rstdOut, const aclTensor *xOut,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAddLayerNormGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAddLayerNorm_task, workspaceSize, executor);
    mock_build_tensor(&b, x1, "x1", MOCK_IN);
    mock_build_tensor(&b, x2, "x2", MOCK_IN);
    mock_build_tensor(&b, gamma, "gamma", MOCK_IN);
    mock_build_tensor(&b, beta, "beta", MOCK_IN);
    mock_build_optional(&b, biasOptional, "biasOptional", MOCK_IN);
    mock_build_tensor(&b, yOut, "yOut", MOCK_OUT);
    mock_build_tensor(&b, meanOut, "meanOut", MOCK_OUT);
    mock_build_tensor(&b, rstdOut, "rstdOut", MOCK_OUT);
    mock_build_tensor(&b, xOut, "xOut", MOCK_OUT);
    if (b.status == 0) {
        check_types(&b);
        check_shapes(&b);
        *MOCK_PARAMS(b.plan, add_norm) = (add_norm){epsilon, additionalOutput};
        b.plan->need = 5 * mock_workspace_bytes((uint64_t)mock_element_count(&b.plan->views[GAMMA]), sizeof(float));
    }
    return mock_build_finish(&b);
}
