/* What every element operator shares; its rules stand in operators/elementwise.h. */
#include "objects/objects.h"
#include "operators/elementwise.h"
#include "operators/operators.h"
#include "operators/walk.h"

#define CHUNK 512

typedef struct elementwise {
    const mock_kernels *kernels;
    mock_class class;
    mock_number k[MOCK_NUMBERS];
    int8_t first;
    int8_t second;
    int8_t out;
} elementwise;

mock_number mock_number_of(const mock_scalar *scalar) {
    const double d = mock_scalar_double(scalar);
    return (mock_number){(float)d, d, mock_scalar_int(scalar)};
}

int32_t mock_float_type(int32_t type) {
    return mock_dtype_is_floating(type) ? type : ACL_FLOAT;
}

static int kind_of(int32_t type) {
    return mock_dtype_is_floating(type) ? 2 : type != ACL_BOOL;
}

int32_t mock_promote_scalar(int32_t tensor, int32_t scalar) {
    if (kind_of(scalar) <= kind_of(tensor)) return tensor;
    return kind_of(scalar) == 2 ? ACL_FLOAT : scalar;
}

bool mock_has_class(const mock_kernels *kernels, mock_class class) {
    if (class == MOCK_F32) return kernels->f32 != NULL;
    if (class == MOCK_F64) return kernels->f64 != NULL;
    return class == MOCK_I64 && kernels->i64 != NULL;
}

static void check_shapes(mock_build *b, const mock_view *x, const mock_view *y, const mock_view *out) {
    mock_view common;
    mock_shape_text sx, sy, so;
    if (!mock_broadcast(x, y, &common)) {
        mock_build_fail(b, "shapes %s and %s do not broadcast", mock_shape(x, &sx), mock_shape(y, &sy));
    } else if (!mock_same_shape(&common, out) && y != x) {
        mock_build_fail(b, "the result has shape %s, expected the common shape %s of %s and %s",
            mock_shape(out, &so), mock_shape(&common, &(mock_shape_text){{0}}), mock_shape(x, &sx),
            mock_shape(y, &sy));
    } else {
        mock_require_shape(b, out, "out", &common, "the shape of the input");
    }
}

void mock_elementwise(
    mock_build *b, const mock_kernels *kernels, int32_t type, mock_number k, int first, int second, int out) {
    mock_elementwise_numbers(b, kernels, type, &k, 1, first, second, out);
}

void mock_elementwise_numbers(
    mock_build *b, const mock_kernels *kernels, int32_t type, const mock_number *k, int count, int first,
    int second, int out) {
    if (b->status != 0) return;
    const mock_view *views = b->plan->views;
    const mock_view *x = &views[first];
    const mock_view *y = second < 0 ? x : &views[second];
    if (!mock_has_class(kernels, mock_dtype_class(type))) {
        mock_build_fail(b, "data type %s is not supported", mock_dtype_name(type));
    } else if (!kernels->truth && !mock_dtype_castable(type, views[out].dtype)) {
        mock_build_fail(b, "a result of type %s (from %s and %s) cannot be stored as %s",
            mock_dtype_name(type),
            mock_dtype_name(x->dtype), mock_dtype_name(y->dtype), mock_dtype_name(views[out].dtype));
    }
    check_shapes(b, x, y, &views[out]);
    elementwise *e = MOCK_PARAMS(b->plan, elementwise);
    *e = (elementwise){
        kernels, mock_dtype_class(type), {{0, 0, 0}}, (int8_t)first, (int8_t)second, (int8_t)out};
    for (int i = 0; i < count; i++) e->k[i] = k[i];
}

typedef union row_buffer {
    float f[CHUNK];
    double d[CHUNK];
    int64_t i[CHUNK];
} row_buffer;

static void call(const elementwise *e, void *out, const void *a, const void *b, size_t n) {
    switch (e->class) {
        case MOCK_F32: e->kernels->f32(out, a, b, n, e->k); break;
        case MOCK_F64: e->kernels->f64(out, a, b, n, e->k); break;
        default: e->kernels->i64(out, a, b, n, e->k); break;
    }
}

/* The source rows of one walk row: a broadcast element is spread into its buffer once. */
typedef struct source {
    int32_t dtype;
    bool spread;
    row_buffer buffer;
} source;

static void spread_row(const elementwise *e, source *s, const void *row, int64_t step, size_t n) {
    s->spread = step == 0 && n > 1;
    if (s->spread) mock_load(e->class, s->dtype, row, 0, n < CHUNK ? n : CHUNK, &s->buffer);
}

static const void *source_at(
    const elementwise *e, source *s, const char *row, int64_t step, size_t at, size_t n) {
    if (s->spread) return &s->buffer;
    const int64_t bytes = (int64_t)at * step * (int64_t)mock_dtype_size(s->dtype);
    return mock_load(e->class, s->dtype, row + bytes, step, n, &s->buffer);
}

static void run_row(const elementwise *e, const mock_walk *w, int32_t out_type, source *a, source *b) {
    row_buffer result;
    const bool direct = mock_is_direct(e->class, out_type, w->step[0]);
    spread_row(e, a, w->row[1], w->step[1], w->n);
    if (b != NULL) spread_row(e, b, w->row[2], w->step[2], w->n);
    for (size_t at = 0; at < w->n; at += CHUNK) {
        const size_t n = w->n - at < CHUNK ? w->n - at : CHUNK;
        char *out = w->row[0] + (int64_t)at * w->step[0] * (int64_t)w->size[0];
        const void *x = source_at(e, a, w->row[1], w->step[1], at, n);
        const void *y = b == NULL ? x : source_at(e, b, w->row[2], w->step[2], at, n);
        call(e, direct ? (void *)out : &result, x, y, n);
        if (!direct) mock_store(e->class, out_type, out, w->step[0], n, &result);
    }
}

/* The views of out and the operands, the last one NULL for one operand. */
static aclError run_views(const elementwise *e, const mock_view *const *views) {
    const mock_view *out = views[0];
    const int count = views[2] == NULL ? 2 : 3;
    mock_walk w;
    source a, b;
    mock_walk_begin(&w, out->rank, out->dims);
    for (int i = 0; i < count; i++) {
        void *first = mock_view_pointer(views[i]);
        if (first == NULL) return MOCK_DEVICE_FAULT;
        mock_walk_add(&w, views[i], first);
    }
    a.dtype = views[1]->dtype;
    if (count == 3) b.dtype = views[2]->dtype;
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        run_row(e, &w, out->dtype, &a, count == 3 ? &b : NULL);
    }
    return 0;
}

aclError mock_elementwise_run(void *arg) {
    const mock_view *views = ((const mock_plan *)arg)->views;
    const elementwise *e = MOCK_PARAMS((mock_plan *)arg, elementwise);
    const mock_view *used[] = {&views[e->out], &views[e->first], e->second < 0 ? NULL : &views[e->second]};
    return run_views(e, used);
}

aclError mock_elementwise_views(
    const mock_kernels *kernels, mock_class class, const mock_number *k, const mock_view *out,
    const mock_view *first, const mock_view *second) {
    const elementwise e = {kernels, class, {k[0], k[1], k[2]}, 0, 0, 0};
    const mock_view *used[] = {out, first, second};
    return run_views(&e, used);
}
