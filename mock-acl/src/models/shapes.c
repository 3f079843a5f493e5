/* The shape that an operator of an offline model gives, from those of its operands. */
#define _GNU_SOURCE
#include <string.h>
#include "models/file.h"
#include "models/kinds.h"

typedef const mock_model_shape *const *operands;

bool mock_shape_same(const mock_model_op *op, operands in, mock_model_shape *out) {
    (void)op;
    *out = *in[0];
    return true;
}

/* `skip` dimensions at the end are left out. */
static bool broadcast(const mock_model_shape *a, const mock_model_shape *b, unsigned skip,
    mock_model_shape *out) {
    const unsigned n = a->rank > b->rank ? a->rank : b->rank;
    for (unsigned i = 0; i + skip < n; i++) {
        const int64_t x = i + a->rank < n ? 1 : a->dims[i + a->rank - n];
        const int64_t y = i + b->rank < n ? 1 : b->dims[i + b->rank - n];
        if (x != y && x != 1 && y != 1) return false;
        out->dims[i] = x == 1 ? y : x;
    }
    out->rank = (uint8_t)n;
    return true;
}

bool mock_shape_broadcast(const mock_model_op *op, operands in, mock_model_shape *out) {
    (void)op;
    mock_model_shape shape;
    if (!broadcast(in[0], in[1], 0, &shape)) return false;
    *out = shape;
    return true;
}

bool mock_shape_matmul(const mock_model_op *op, operands in, mock_model_shape *out) {
    (void)op;
    const mock_model_shape *a = in[0], *b = in[1];
    mock_model_shape shape;
    if (a->rank < 2 || b->rank < 2 || a->dims[a->rank - 1] != b->dims[b->rank - 2]) return false;
    if (!broadcast(a, b, 2, &shape)) return false;
    shape.dims[shape.rank - 2] = a->dims[a->rank - 2];
    shape.dims[shape.rank - 1] = b->dims[b->rank - 1];
    *out = shape;
    return true;
}

/* Scale and offset have the shape of the last dimensions. */
bool mock_shape_norm(const mock_model_op *op, operands in, mock_model_shape *out) {
    for (unsigned i = 1; i < op->input_count; i++) {
        const mock_model_shape *s = in[i];
        if (s->rank == 0 || s->rank > in[0]->rank || s->rank != in[1]->rank) return false;
        const int64_t *last = in[0]->dims + (in[0]->rank - s->rank);
        if (memcmp(s->dims, last, s->rank * sizeof *last) != 0) return false;
    }
    *out = *in[0];
    return true;
}

bool mock_shape_reduce(const mock_model_op *op, operands in, mock_model_shape *out) {
    int64_t axes[MOCK_MODEL_RANK];
    size_t n = mock_attr_ints(op, "dims", axes);
    const bool keep = mock_attr_int(op, "keep_dims", 0) != 0;
    const int64_t rank = in[0]->rank;
    bool gone[MOCK_MODEL_RANK] = {false};
    if (n == SIZE_MAX) n = 0; /* not given */
    for (size_t i = 0; i < n; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank || gone[axis]) return false;
        gone[axis] = true;
    }
    out->rank = 0;
    for (int64_t i = 0; i < rank; i++) {
        const bool reduced = n == 0 || gone[i];
        if (!reduced || keep) out->dims[out->rank++] = reduced ? 1 : in[0]->dims[i];
    }
    return true;
}

bool mock_shape_permute(const mock_model_op *op, operands in, mock_model_shape *out) {
    int64_t axes[MOCK_MODEL_RANK];
    bool used[MOCK_MODEL_RANK] = {false};
    if (mock_attr_ints(op, "dims", axes) != in[0]->rank) return false;
    out->rank = in[0]->rank;
    for (unsigned i = 0; i < out->rank; i++) {
        if (axes[i] < 0 || axes[i] >= out->rank || used[axes[i]]) return false;
        used[axes[i]] = true;
        out->dims[i] = in[0]->dims[axes[i]];
    }
    return true;
}

/* Rows of a table by index: the table is the first operand. */
bool mock_shape_gather(const mock_model_op *op, operands in, mock_model_shape *out) {
    (void)op;
    if (in[0]->rank != 2 || in[1]->rank + 1 > MOCK_MODEL_RANK) return false;
    *out = *in[1];
    out->dims[out->rank++] = in[0]->dims[1];
    return true;
}
