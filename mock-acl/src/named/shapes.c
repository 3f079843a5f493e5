/* Shapes of outputs that a program leaves open: false where the inputs do not tell. */
#include <string.h>

#include "named/call.h"
#include "operators/operators.h"

static bool set(mock_named_call *c, int rank, const int64_t *dims) {
    mock_named_operand *o = &c->outputs[0];
    if (rank > MOCK_MAX_RANK) return false;
    o->rank = rank;
    for (int i = 0; i < rank; i++) o->dims[i] = dims[i];
    return true;
}

bool mock_named_shape_same(mock_named_call *c) { return set(c, c->inputs[0].rank, c->inputs[0].dims); }

bool mock_named_shape_both(mock_named_call *c) {
    mock_view a = {.rank = (uint8_t)c->inputs[0].rank}, b = {.rank = (uint8_t)c->inputs[1].rank}, both;
    memcpy(a.dims, c->inputs[0].dims, sizeof a.dims);
    memcpy(b.dims, c->inputs[1].dims, sizeof b.dims);
    return mock_broadcast(&a, &b, &both) && set(c, both.rank, both.dims);
}

/* The sizes are the second input. */
bool mock_named_shape_of_ints(mock_named_call *c) {
    int64_t dims[MOCK_MAX_RANK];
    const int rank = mock_named_ints(c, 1, dims, MOCK_MAX_RANK);
    return rank >= 0 && set(c, rank, dims);
}

bool mock_named_shape_permuted(mock_named_call *c) {
    int64_t order[MOCK_MAX_RANK], dims[MOCK_MAX_RANK];
    const int rank = c->inputs[0].rank;
    if (mock_named_ints(c, 1, order, MOCK_MAX_RANK) != rank) return false;
    for (int i = 0; i < rank; i++) {
        const int from = mock_named_dim(c, order[i], rank);
        if (from < 0) return false;
        dims[i] = c->inputs[0].dims[from];
    }
    return set(c, rank, dims);
}

/* Of matrices, with the dimensions before them from the first factor. */
bool mock_named_shape_product(mock_named_call *c) {
    const mock_named_operand *x = &c->inputs[0], *y = &c->inputs[1];
    int64_t dims[MOCK_MAX_RANK];
    if (x->rank < 2 || y->rank < 2) return false;
    const bool batch = strcmp(c->row->type, "MatMul") != 0 && strcmp(c->row->type, "MatMulV2") != 0;
    const bool turn_x = mock_named_bool_attr(c, batch ? "adj_x1" : "transpose_x1", false);
    const bool turn_y = mock_named_bool_attr(c, batch ? "adj_x2" : "transpose_x2", false);
    memcpy(dims, x->dims, sizeof dims);
    dims[x->rank - 2] = x->dims[x->rank - (turn_x ? 1 : 2)];
    dims[x->rank - 1] = y->dims[y->rank - (turn_y ? 2 : 1)];
    return set(c, x->rank, dims);
}
