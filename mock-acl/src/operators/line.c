#include "objects/objects.h"
#include "operators/line.h"
#include "operators/operators.h"
#include "operators/walk.h"

#include <string.h>

#include "acl/acl_base_rt.h"

mock_line mock_line_of(const mock_view *v, int first, int rank) {
    mock_line line = {.view = {.dtype = v->dtype, .rank = (uint8_t)rank}};
    for (int i = 0; i < rank; i++) {
        line.view.dims[i] = v->dims[first + i];
        line.view.strides[i] = v->strides[first + i];
    }
    line.count = (size_t)mock_element_count(&line.view);
    line.direct = v->dtype == ACL_FLOAT && mock_is_contiguous(&line.view);
    return line;
}

/* A walk over the line's memory and a dense f32 line, in the order of the latter. */
static void walk_line(mock_walk *w, const mock_line *line, void *memory, float *dense) {
    mock_view flat = {.dtype = ACL_FLOAT, .rank = line->view.rank};
    int64_t stride = 1;
    for (int i = flat.rank; i-- > 0;) {
        flat.dims[i] = line->view.dims[i];
        flat.strides[i] = stride;
        stride *= flat.dims[i];
    }
    mock_walk_begin(w, flat.rank, flat.dims);
    mock_walk_add(w, &flat, dense);
    mock_walk_add(w, &line->view, memory);
}

const float *mock_line_get(const mock_line *line, const void *from, float *scratch) {
    mock_walk w;
    if (line->direct) return from;
    /* The walk does not write through its second operand here. */
    walk_line(&w, line, (void *)(uintptr_t)from, scratch);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        const void *row = mock_load_f32(line->view.dtype, w.row[1], w.step[1], w.n,
            (float *)(void *)w.row[0]);
        if (row != w.row[0]) memcpy(w.row[0], row, w.n * sizeof(float));
    }
    return scratch;
}

void mock_line_put(const mock_line *line, void *to, const float *values) {
    mock_walk w;
    if (values == to) return;
    walk_line(&w, line, to, (float *)(uintptr_t)values);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        mock_store(MOCK_F32, line->view.dtype, w.row[1], w.step[1], w.n, w.row[0]);
    }
}

/* Whole blocks of 512 bytes (own choice). */
uint64_t mock_workspace_bytes(uint64_t count, size_t size) {
    return (count * size + 511) / 512 * 512;
}

/* Four running sums hide the latency of the additions. */
#define SUM(TERM)                                                          \
    double sums[4] = {0};                                                  \
    size_t i = 0;                                                          \
    for (; i + 4 <= n; i += 4) {                                           \
        for (size_t j = 0; j < 4; j++) sums[j] += TERM(x[i + j]);          \
    }                                                                      \
    for (; i < n; i++) sums[0] += TERM(x[i]);                              \
    return (sums[0] + sums[1]) + (sums[2] + sums[3])

#define ITSELF(v) ((double)(v))
#define SQUARE(v) (((double)(v) - mean) * ((double)(v) - mean))

double mock_sum_f32(const float *x, size_t n) {
    SUM(ITSELF);
}

double mock_square_sum_f32(const float *x, size_t n, double mean) {
    SUM(SQUARE);
}
