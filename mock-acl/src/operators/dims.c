#include "objects/objects.h"
#include "operators/operators.h"

const bool *mock_build_mask(mock_build *b, const aclBoolArray *outputMask, uint64_t count) {
    const mock_array *mask = mock_object_get(MOCK_OBJECT_ARRAY, outputMask);
    if (b->status != 0) return NULL;
    if (outputMask == NULL) b->status = mock_null_parameter(b->name, "outputMask");
    else if (mask == NULL || mask->dtype != ACL_BOOL) mock_build_fail(b, "outputMask is not a live aclBoolArray");
    else if (mask->size != count)
        mock_build_fail(b, "outputMask has %llu members, expected %llu", (unsigned long long)mask->size,
            (unsigned long long)count);
    return b->status != 0 ? NULL : mask->values;
}

uint32_t mock_dims_all(int rank) {
    return (1u << rank) - 1;
}

uint32_t mock_dims_read(mock_build *b, const mock_array *dims, const char *param, int rank) {
    uint32_t set = 0;
    for (uint64_t i = 0; i < dims->size && b->status == 0; i++) {
        const int dim = mock_require_dim(b, param, ((const int64_t *)dims->values)[i], rank);
        if (dim < 0) return 0;
        if ((set & 1u << dim) != 0) mock_build_fail(b, "%s names dimension %d twice", param, dim);
        set |= 1u << dim;
    }
    return dims->size == 0 ? mock_dims_all(rank) : set & mock_dims_all(rank);
}

mock_view mock_dims_shape(const mock_view *in, uint32_t reduced, bool keep) {
    mock_view shape = {.rank = 0};
    for (int i = 0; i < in->rank; i++) {
        const bool gone = (reduced >> i & 1) != 0;
        if (!gone || keep) shape.dims[shape.rank++] = gone ? 1 : in->dims[i];
    }
    return shape;
}

mock_view mock_dims_part(const mock_view *v, uint32_t reduced, bool want_reduced) {
    mock_view part = *v;
    for (int i = 0; i < v->rank; i++) {
        if (((reduced >> i & 1) != 0) != want_reduced) part.dims[i] = 1;
    }
    return part;
}

mock_view mock_dims_result(const mock_view *in, uint32_t reduced, const mock_view *out, bool dense) {
    mock_view result = {.dtype = dense ? ACL_DOUBLE : out->dtype, .rank = in->rank};
    const bool kept = out->rank == in->rank;
    int64_t stride = 1;
    for (int i = in->rank, j = out->rank; i-- > 0;) {
        const bool gone = (reduced >> i & 1) != 0;
        if (!gone || kept) j--;
        result.dims[i] = gone ? 1 : in->dims[i];
        result.strides[i] = gone ? 0 : dense ? stride : out->strides[j];
        if (!gone) stride *= in->dims[i];
    }
    return result;
}

bool mock_dims_last(const mock_view *in, uint32_t reduced) {
    bool kept = false;
    for (int i = in->rank; i-- > 0;) {
        if (in->dims[i] == 1) continue;
        if ((reduced >> i & 1) == 0) kept = true;
        else if (kept) return false;
    }
    return true;
}
