/* TriangularSolve: X of A X = self, where A is a triangle, and mOut, a copy of A (guide: aclnn,
 * aclnnTriangularSolve). f32 and f64; solved in f64, row by row, and rounded once (own choice). The other
 * triangle is not read, nor the diagonal when unitriangular says that it is of ones; a zero on the diagonal
 * gives infinities and NaN. Complex types are refused. Batches of self and A broadcast.
 *
 * Workspace: one solution and one row of A in f64. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/products/matmul.h"

#define BATCHES (MOCK_MAX_RANK - 2)

enum { SELF, MATRIX, SOLUTION, COPY };

typedef struct solve {
    int64_t m, n;
    int64_t batch[BATCHES];
    uint8_t batch_rank;
    bool lower, turned, unit;
} solve;

static char *matrix_at(const mock_view *v, char *first, const solve *p, const int64_t *index) {
    const int lead = p->batch_rank - (v->rank - 2);
    int64_t at = 0;
    for (int i = lead; i < p->batch_rank; i++) {
        if (v->dims[i - lead] != 1) at += index[i] * v->strides[i - lead];
    }
    return first + at * (int64_t)mock_dtype_size(v->dtype);
}

static const double *load_row(const mock_view *v, const char *matrix, int64_t row, double *buffer) {
    const char *from = matrix + row * v->strides[v->rank - 2] * (int64_t)mock_dtype_size(v->dtype);
    return mock_load(MOCK_F64, v->dtype, from, v->strides[v->rank - 1], (size_t)v->dims[v->rank - 1], buffer);
}

static void store_row(const mock_view *v, char *matrix, int64_t row, const double *values) {
    char *to = matrix + row * v->strides[v->rank - 2] * (int64_t)mock_dtype_size(v->dtype);
    mock_store(MOCK_F64, v->dtype, to, v->strides[v->rank - 1], (size_t)v->dims[v->rank - 1], values);
}

/* Row i of the triangle that is solved, transposed or not. */
static const double *triangle_row(
    const solve *p, const mock_view *v, const char *matrix, int64_t i, double *row) {
    const int64_t across = v->strides[v->rank - 2], along = v->strides[v->rank - 1];
    const int64_t from = i * (p->turned ? along : across), step = p->turned ? across : along;
    const int64_t size = (int64_t)mock_dtype_size(v->dtype);
    return mock_load(MOCK_F64, v->dtype, matrix + from * size, step, (size_t)p->m, row);
}

static void solve_one(
    const solve *p, const mock_view *views, const char *self, const char *matrix, char *out, double *x) {
    double *row = x + p->m * p->n;
    const size_t n = (size_t)p->n;
    for (int64_t step = 0; step < p->m; step++) {
        const int64_t i = p->lower ? step : p->m - 1 - step;
        const double *a = triangle_row(p, &views[MATRIX], matrix, i, row);
        double *mine = x + i * p->n;
        const double *right = load_row(&views[SELF], self, i, mine);
        if (right != mine) memcpy(mine, right, n * sizeof *mine);
        const int64_t first = p->lower ? 0 : i + 1, end = p->lower ? i : p->m;
        for (int64_t j = first; j < end; j++) {
            const double *other = x + j * p->n;
            for (size_t c = 0; c < n; c++) mine[c] -= a[j] * other[c];
        }
        for (size_t c = 0; c < n && !p->unit; c++) mine[c] /= a[i];
    }
    for (int64_t i = 0; i < p->m; i++) store_row(&views[SOLUTION], out, i, x + i * p->n);
}

/* The workspace holds a row at its end. */
static void copy_one(const solve *p, const mock_view *views, const char *matrix, char *copy, double *x) {
    for (int64_t i = 0; i < p->m; i++) {
        store_row(&views[COPY], copy, i, load_row(&views[MATRIX], matrix, i, x + p->m * p->n));
    }
}

static bool advance(const solve *p, int64_t *index) {
    for (int i = p->batch_rank; i-- > 0;) {
        if (++index[i] < p->batch[i]) return true;
        index[i] = 0;
    }
    return false;
}

static aclError run_solve(void *arg) {
    const mock_plan *plan = arg;
    const solve *p = MOCK_PARAMS((mock_plan *)arg, solve);
    int64_t index[BATCHES] = {0};
    char *first[4];
    double *x = mock_plan_workspace(plan);
    for (unsigned i = 0; i < 4; i++) {
        first[i] = mock_plan_pointer(plan, i);
        if (first[i] == NULL || x == NULL) return MOCK_DEVICE_FAULT;
    }
    const mock_view *v = plan->views;
    if (mock_views_share(&v[SOLUTION], first[SOLUTION], &v[MATRIX], first[MATRIX]) ||
        mock_views_share(&v[SOLUTION], first[SOLUTION], &v[COPY], first[COPY])) return MOCK_DEVICE_FAULT;
    if (v[COPY].span == 0) return 0;
    do {
        const char *matrix = matrix_at(&v[MATRIX], first[MATRIX], p, index);
        solve_one(p, v, matrix_at(&v[SELF], first[SELF], p, index), matrix,
            matrix_at(&v[SOLUTION], first[SOLUTION], p, index), x);
        copy_one(p, v, matrix, matrix_at(&v[COPY], first[COPY], p, index), x);
    } while (advance(p, index));
    return 0;
}

static void check_types(mock_build *b) {
    static const char *const names[] = {"self", "A", "xOut", "mOut"};
    const mock_view *views = b->plan->views;
    for (int i = 0; i < 4; i++) {
        mock_shape_text text;
        if (views[i].dtype != ACL_FLOAT && views[i].dtype != ACL_DOUBLE) {
            mock_build_fail(b, "%s has data type %s; FLOAT and DOUBLE are supported", names[i],
                mock_dtype_name(views[i].dtype));
        } else if (views[i].dtype != views[0].dtype) {
            mock_build_fail(b, "%s has data type %s, self has %s", names[i], mock_dtype_name(views[i].dtype),
                mock_dtype_name(views[0].dtype));
        } else if (views[i].rank < 2) {
            mock_build_fail(b, "%s has shape %s; it must have 2 to 8 dimensions", names[i],
                mock_shape(&views[i], &text));
        }
    }
}

static mock_view with_matrix(const mock_view *batch, int64_t rows, int64_t columns) {
    mock_view shape = *batch;
    shape.dims[shape.rank++] = rows;
    shape.dims[shape.rank++] = columns;
    return shape;
}

static void plan_solve(mock_build *b, bool upper, bool transpose, bool unit) {
    if (b->status != 0) return;
    const mock_view *self = &b->plan->views[SELF], *matrix = &b->plan->views[MATRIX];
    solve *p = MOCK_PARAMS(b->plan, solve);
    mock_shape_text sx, sa;
    mock_view batch_self = *self, batch_matrix = *matrix, batch;
    check_types(b);
    if (b->status != 0) return;
    batch_self.rank = (uint8_t)(self->rank - 2);
    batch_matrix.rank = (uint8_t)(matrix->rank - 2);
    *p = (solve){.m = self->dims[self->rank - 2], .n = self->dims[self->rank - 1],
        .lower = upper == transpose, .turned = transpose, .unit = unit};
    if (matrix->dims[matrix->rank - 1] != p->m || matrix->dims[matrix->rank - 2] != p->m) {
        mock_build_fail(b, "A has shape %s, but self %s needs square matrices of its rows",
            mock_shape(matrix, &sa), mock_shape(self, &sx));
    } else if (!mock_broadcast(&batch_self, &batch_matrix, &batch)) {
        mock_build_fail(b, "the batch dimensions of self %s and A %s do not broadcast", mock_shape(self, &sx),
            mock_shape(matrix, &sa));
    }
    if (b->status != 0) return;
    p->batch_rank = batch.rank;
    for (int i = 0; i < batch.rank; i++) p->batch[i] = batch.dims[i];
    const mock_view x_shape = with_matrix(&batch, p->m, p->n), m_shape = with_matrix(&batch, p->m, p->m);
    mock_require_shape(b, &b->plan->views[SOLUTION], "xOut", &x_shape, "the shape of self");
    mock_require_shape(b, &b->plan->views[COPY], "mOut", &m_shape, "the shape of A");
    if (b->status == 0 && b->plan->views[COPY].span != 0) {
        b->plan->need = mock_workspace_bytes((uint64_t)(p->m * p->n + p->m), sizeof(double));
    }
}

MOCK_OPERATOR(aclnnTriangularSolve, run_solve)

aclnnStatus aclnnTriangularSolveGetWorkspaceSize(
    const aclTensor *self, const aclTensor *A, bool upper, bool transpose, bool unitriangular,
    aclTensor *xOut, aclTensor *mOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnTriangularSolveGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnTriangularSolve_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, A, "A", MOCK_IN);
    mock_build_tensor(&b, xOut, "xOut", MOCK_OUT);
    mock_build_tensor(&b, mOut, "mOut", MOCK_OUT);
    plan_solve(&b, upper, transpose, unitriangular);
    return mock_build_finish(&b);
}
