/* Attributes of an operator of an offline model. The reader has checked them. */
#define _GNU_SOURCE
#include "models/file.h"
#include "models/reader.h"

/* A reader at the value, or one that is bad. */
static mock_reader find(const mock_model_op *op, const char *name, mock_attr_kind kind) {
    mock_reader r = {op->attrs, SIZE_MAX / 2, false};
    for (unsigned i = 0; i < op->attr_count; i++) {
        const char *key = mock_read_text(&r);
        const mock_attr_kind have = (mock_attr_kind)mock_read_u8(&r);
        if (have == kind && strcmp(key, name) == 0) return r;
        if (have == MOCK_ATTR_TEXT) mock_read_text(&r);
        else mock_read_bytes(&r, have == MOCK_ATTR_INTS ? 8 * (size_t)mock_read_u32(&r) : 8);
    }
    return (mock_reader){NULL, 0, true};
}

int64_t mock_attr_int(const mock_model_op *op, const char *name, int64_t fallback) {
    mock_reader r = find(op, name, MOCK_ATTR_INT);
    return r.bad ? fallback : mock_read_i64(&r);
}

double mock_attr_float(const mock_model_op *op, const char *name, double fallback) {
    mock_reader r = find(op, name, MOCK_ATTR_FLOAT);
    return r.bad ? fallback : mock_read_f64(&r);
}

size_t mock_attr_ints(const mock_model_op *op, const char *name, int64_t *values) {
    mock_reader r = find(op, name, MOCK_ATTR_INTS);
    if (r.bad) return SIZE_MAX;
    const uint32_t n = mock_read_u32(&r);
    for (uint32_t i = 0; i < n; i++) values[i] = mock_read_i64(&r);
    return n;
}

const char *mock_attr_text(const mock_model_op *op, const char *name) {
    mock_reader r = find(op, name, MOCK_ATTR_TEXT);
    return r.bad ? NULL : mock_read_text(&r);
}
