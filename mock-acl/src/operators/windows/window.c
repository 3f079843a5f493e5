#include "objects/objects.h"
#include "operators/windows/window.h"

mock_window mock_window_unit(void) {
    return (mock_window){.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
}

void mock_window_read(
    mock_build *b, const aclIntArray *array, const char *param, int64_t least, int axes, int64_t *pair) {
    const mock_array *list = mock_build_ints(b, array, param);
    if (b->status != 0) return;
    const int64_t *values = list->values;
    if (list->size != 1 && list->size != (uint64_t)axes) {
        mock_build_fail(b, "%s has %llu numbers, expected %d", param, (unsigned long long)list->size, axes);
        return;
    }
    for (int k = 0; k < axes; k++) {
        const int64_t value = values[list->size == 1 ? 0 : k];
        /* Sums and products of such numbers do not overflow. */
        if (value < least || value > INT32_MAX)
            mock_build_fail(b, "%s has %lld, expected %lld to %d", param, (long long)value, (long long)least,
                INT32_MAX);
        pair[2 - axes + k] = value;
    }
}

void mock_window_slide(mock_build *b, mock_window *w, const mock_view *planes, bool ceil) {
    for (int k = 0; k < 2 && b->status == 0; k++) {
        const int64_t reach = w->dilation[k] * (w->kernel[k] - 1) + 1;
        w->size[k] = planes->dims[planes->rank - 2 + k];
        const int64_t room = w->size[k] + w->before[k] + w->after[k] - reach;
        /* One that reaches past what is behind counts with `ceil`. */
        const int64_t past = ceil ? w->stride[k] - 1 : 0;
        const int64_t count = room + past < 0 ? 0 : (room + past) / w->stride[k] + 1;
        const bool begins_behind = ceil && (count - 1) * w->stride[k] >= w->size[k] + w->before[k];
        w->out[k] = begins_behind ? count - 1 : count;
        if (w->size[k] > INT32_MAX || w->out[k] < 1) {
            mock_build_fail(b, "a window of %lld does not fit into %lld elements with their padding",
                (long long)reach, (long long)w->size[k]);
            return;
        }
    }
}

void mock_insert_dim(mock_view *v, int dim) {
    for (int d = v->rank; d > dim; d--) {
        v->dims[d] = v->dims[d - 1];
        v->strides[d] = v->strides[d - 1];
    }
    v->dims[dim] = 1;
    v->strides[dim] = 0;
    v->rank++;
}
