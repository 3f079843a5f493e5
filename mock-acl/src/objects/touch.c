/* What a strided view touches, in as few pieces as there can be. */
#include "base/base.h"
#include "memory/memory.h"
#include "objects/dtype.h"
#include "objects/object.h"
#include "objects/objects.h"

typedef struct mock_dim {
    uint64_t count, stride;
} dim;

/* Dimensions that go anywhere, the closest steps first, in bytes. */
static unsigned sorted(const mock_view *v, uint64_t size, dim *dims) {
    unsigned rank = 0;
    for (unsigned i = 0; i < v->rank; i++) {
        const dim d = {(uint64_t)v->dims[i], (uint64_t)v->strides[i] * size};
        if (d.count < 2 || d.stride == 0) continue;
        unsigned at = rank++;
        for (; at > 0 && dims[at - 1].stride > d.stride; at--) dims[at] = dims[at - 1];
        dims[at] = d;
    }
    return rank;
}

/* Steps that are no longer than the piece they repeat make one longer piece. */
bool mock_view_touch(const mock_view *v) {
    const uint64_t size = mock_dtype_size(v->dtype);
    dim dims[MOCK_MAX_RANK];
    if (v->span == 0) return true;
    mock_pieces p = {.from = (uintptr_t)v->address + (uintptr_t)v->offset * size, .bytes = size};
    const unsigned rank = sorted(v, size, dims);
    unsigned i = 0;
    for (; i < rank && dims[i].stride <= p.bytes; i++) p.bytes += (dims[i].count - 1) * dims[i].stride;
    for (; i < rank; i++, p.rank++) {
        p.dims[p.rank].count = dims[i].count;
        p.dims[p.rank].stride = dims[i].stride;
    }
    return mock_touch_task_pieces(&p, (v->role & MOCK_OUT) != 0 ? MOCK_WRITES : MOCK_READS);
}
