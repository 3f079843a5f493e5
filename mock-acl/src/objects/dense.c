/* Operands in FRACTAL_NZ: kernels see a dense copy, made when they run (own choice). A weight may be the
 * transposed view of what is stored: then the storage is that of the transposed dimensions. */
#include <stdlib.h>

#include "base/base.h"
#include "memory/memory.h"
#include "objects/objects.h"

/* The dimensions of what is stored. */
static void stored_dims(const mock_view *v, bool turned, int64_t *dims) {
    for (int i = 0; i < v->rank; i++) dims[i] = v->dims[i];
    if (!turned) return;
    dims[v->rank - 1] = v->dims[v->rank - 2];
    dims[v->rank - 2] = v->dims[v->rank - 1];
}

static bool dense_strides(const mock_view *v, bool turned) {
    int64_t dims[MOCK_MAX_RANK], step = 1;
    stored_dims(v, turned, dims);
    for (int i = v->rank; i-- > 0; step *= dims[i]) {
        const int from = turned && i >= v->rank - 2 ? 2 * v->rank - 3 - i : i;
        if (dims[i] > 1 && v->strides[from] != step) return false;
    }
    return true;
}

static bool lay_out(const mock_view *v, bool turned, int64_t width, mock_blocked *l) {
    int64_t dims[MOCK_MAX_RANK];
    stored_dims(v, turned, dims);
    return mock_blocked_lay(l, ACL_FORMAT_FRACTAL_NZ, mock_dtype_size(v->dtype), dims, v->rank, width);
}

void mock_build_blocked(mock_build *b, mock_view *v, const mock_tensor *t, const char *param) {
    const int64_t width = t->storage_rank == 0 ? 0 : t->storage[t->storage_rank - 1];
    mock_blocked l;
    for (int turned = 0; turned < 2 && v->rank >= 2 && width != 0; turned++) {
        if (v->offset != 0 || !dense_strides(v, turned) || !lay_out(v, turned, width, &l)) continue;
        if (!mock_blocked_is(&l, t->storage, t->storage_rank)) continue;
        v->width = (uint8_t)width;
        v->turned = turned;
        if (b->plan->dense == NULL && !mock_plan_make_dense(b->plan)) b->status = ACLNN_ERR_INNER;
        return;
    }
    mock_build_fail(b,
        "%s has format 29 (FRACTAL_NZ), but not the storage dimensions (n1, m1, 16, n0) of its shape, "
        "dense strides and offset 0",
        param);
}

bool mock_plan_make_dense(mock_plan *plan) {
    plan->dense = calloc(MOCK_MAX_OPERANDS, sizeof *plan->dense);
    return plan->dense != NULL;
}

void mock_plan_drop_dense(mock_plan *plan) {
    for (int i = 0; plan->dense != NULL && i < MOCK_MAX_OPERANDS; i++) free(plan->dense[i]);
    free(plan->dense);
    plan->dense = NULL;
}

void *mock_plan_dense(const mock_plan *plan, unsigned index) {
    const mock_view *v = &plan->views[index];
    const size_t size = mock_dtype_size(v->dtype);
    mock_blocked l;
    if (!lay_out(v, v->turned, v->width, &l) || (uintptr_t)v->address % size != 0) return NULL;
    const void *stored = mock_device_view(v->address, (size_t)l.count * size);
    if (stored == NULL || !mock_touch_task(v->address, (size_t)l.count * size, MOCK_READS)) return NULL;
    if (plan->dense[index] == NULL) plan->dense[index] = malloc((size_t)v->span * size + 1);
    if (plan->dense[index] != NULL) mock_blocked_unpack(&l, size, stored, plan->dense[index]);
    return plan->dense[index];
}
