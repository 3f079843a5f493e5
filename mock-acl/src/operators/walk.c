#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/walk.h"

#include <stdio.h>
#include <string.h>


void mock_walk_begin(mock_walk *w, int rank, const int64_t *dims) {
    w->rank = rank;
    w->operands = 0;
    for (int i = 0; i < rank; i++) w->dims[i] = dims[i];
}

void mock_walk_add(mock_walk *w, const mock_view *view, void *first) {
    const unsigned k = w->operands++;
    const int lead = w->rank - view->rank;
    w->row[k] = first;
    w->size[k] = mock_dtype_size(view->dtype);
    for (int i = 0; i < w->rank; i++) {
        const bool fixed = i < lead || view->dims[i - lead] == 1;
        w->strides[k][i] = fixed ? 0 : view->strides[i - lead];
    }
}

static void move_dim(mock_walk *w, int to, int from) {
    w->dims[to] = w->dims[from];
    for (unsigned k = 0; k < w->operands; k++) w->strides[k][to] = w->strides[k][from];
}

static void swap_dims(mock_walk *w, int a, int b) {
    const int64_t dim = w->dims[a];
    w->dims[a] = w->dims[b];
    w->dims[b] = dim;
    for (unsigned k = 0; k < w->operands; k++) {
        const int64_t stride = w->strides[k][a];
        w->strides[k][a] = w->strides[k][b];
        w->strides[k][b] = stride;
    }
}

/* Whether dimension `outer` continues dimension `inner` in every operand. */
static bool mergeable(const mock_walk *w, int outer, int inner) {
    for (unsigned k = 0; k < w->operands; k++) {
        if (w->strides[k][outer] != w->strides[k][inner] * w->dims[inner]) return false;
    }
    return true;
}

/* Drops dimensions of one, sorts by the first operand's stride and merges. */
static void simplify(mock_walk *w) {
    int rank = 0;
    for (int i = 0; i < w->rank; i++) {
        if (w->dims[i] != 1) move_dim(w, rank++, i);
    }
    for (int i = 1; i < rank; i++) {
        for (int j = i; j > 0 && w->strides[0][j - 1] < w->strides[0][j] && w->strides[0][j - 1] != 0; j--) {
            swap_dims(w, j - 1, j);
        }
    }
    int last = 0;
    for (int i = 1; i < rank; i++) {
        if (mergeable(w, last, i)) {
            const int64_t merged = w->dims[last] * w->dims[i];
            move_dim(w, last, i);
            w->dims[last] = merged;
        } else {
            move_dim(w, ++last, i);
        }
    }
    w->rank = rank == 0 ? 0 : last + 1;
}

bool mock_walk_first(mock_walk *w) {
    for (int i = 0; i < w->rank; i++) {
        if (w->dims[i] == 0) return false;
    }
    simplify(w);
    w->n = 1;
    for (unsigned k = 0; k < w->operands; k++) w->step[k] = 1;
    if (w->rank == 0) return true;
    w->rank--;
    w->n = (size_t)w->dims[w->rank];
    for (unsigned k = 0; k < w->operands; k++) {
        w->step[k] = w->strides[k][w->rank];
        for (int i = 0; i < w->rank; i++) w->strides[k][i] *= (int64_t)w->size[k];
    }
    for (int i = 0; i < w->rank; i++) w->index[i] = 0;
    return true;
}

bool mock_walk_next(mock_walk *w) {
    for (int i = w->rank; i-- > 0;) {
        if (++w->index[i] < w->dims[i]) {
            for (unsigned k = 0; k < w->operands; k++) w->row[k] += w->strides[k][i];
            return true;
        }
        w->index[i] = 0;
        for (unsigned k = 0; k < w->operands; k++) w->row[k] -= w->strides[k][i] * (w->dims[i] - 1);
    }
    return false;
}

bool mock_broadcast(const mock_view *a, const mock_view *b, mock_view *out) {
    const int rank = a->rank > b->rank ? a->rank : b->rank;
    out->rank = (uint8_t)rank;
    for (int i = 0; i < rank; i++) {
        const int ia = i - (rank - a->rank);
        const int ib = i - (rank - b->rank);
        const int64_t da = ia < 0 ? 1 : a->dims[ia];
        const int64_t db = ib < 0 ? 1 : b->dims[ib];
        if (da != db && da != 1 && db != 1) return false;
        out->dims[i] = da == 1 ? db : da;
    }
    return true;
}

bool mock_same_shape(const mock_view *a, const mock_view *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

int64_t mock_element_count(const mock_view *v) {
    int64_t count = 1;
    for (int i = 0; i < v->rank; i++) count *= v->dims[i];
    return count;
}

bool mock_is_contiguous(const mock_view *v) {
    int64_t dense = 1;
    for (int i = v->rank; i-- > 0;) {
        if (v->dims[i] != 1 && v->strides[i] != dense) return false;
        dense *= v->dims[i];
    }
    return true;
}

const char *mock_shape(const mock_view *v, mock_shape_text *buffer) {
    size_t used = 0;
    for (int i = 0; i < v->rank; i++) {
        used += (size_t)snprintf(buffer->text + used, sizeof buffer->text - used, "%s%lld",
            i == 0 ? "[" : ", ", (long long)v->dims[i]);
    }
    snprintf(buffer->text + used, sizeof buffer->text - used, v->rank == 0 ? "[]" : "]");
    return buffer->text;
}

void mock_require_shape(
    mock_build *b, const mock_view *out, const char *param, const mock_view *expected, const char *because) {
    mock_shape_text have, want;
    if (b->status != 0 || mock_same_shape(out, expected)) return;
    mock_build_fail(b, "%s has shape %s, expected %s (%s)", param, mock_shape(out, &have),
        mock_shape(expected, &want), because);
}

int mock_require_dim(mock_build *b, const char *param, int64_t dim, int rank) {
    const int64_t range = rank == 0 ? 1 : rank;
    if (dim >= -range && dim < range) return (int)(dim < 0 ? dim + range : dim);
    mock_build_fail(b, "%s %lld is out of range for a tensor of %d dimensions", param, (long long)dim, rank);
    return -1;
}
