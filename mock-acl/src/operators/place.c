#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

char *mock_element_at(const mock_view *v, char *first, const int64_t *i) {
    int64_t at = 0;
    for (int d = 0; d < v->rank; d++) at += i[d] * v->strides[d];
    return first + at * (int64_t)mock_dtype_size(v->dtype);
}

bool mock_next_but(const mock_view *v, int dim, int64_t *i) {
    for (int d = v->rank; d-- > 0;) {
        if (d == dim) continue;
        if (++i[d] < v->dims[d]) return true;
        i[d] = 0;
    }
    return false;
}

bool mock_next(const mock_view *v, int64_t *i) {
    return mock_next_but(v, -1, i);
}

double mock_read_real(int32_t dtype, const char *at) {
    double buffer;
    return *(const double *)mock_load(MOCK_F64, dtype, at, 0, 1, &buffer);
}

int64_t mock_read_whole(int32_t dtype, const char *at) {
    int64_t buffer;
    return *(const int64_t *)mock_load(MOCK_I64, dtype, at, 0, 1, &buffer);
}

void mock_write_real(int32_t dtype, char *at, double value) {
    mock_store(MOCK_F64, dtype, at, 0, 1, &value);
}

void mock_write_whole(int32_t dtype, char *at, int64_t value) {
    mock_store(MOCK_I64, dtype, at, 0, 1, &value);
}

void mock_require_live(mock_build *b, const aclTensor *tensor, const char *param) {
    if (tensor != NULL && mock_object_get(MOCK_OBJECT_TENSOR, tensor) == NULL)
        mock_build_fail(b, "%s is not a live aclTensor", param);
}

bool mock_plan_pointers(const mock_plan *plan, char **first) {
    for (unsigned k = 0; k < plan->count; k++) {
        first[k] = plan->views[k].absent ? NULL : mock_plan_pointer(plan, k);
        if (first[k] == NULL && !plan->views[k].absent) return false;
    }
    return true;
}
