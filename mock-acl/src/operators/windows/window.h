/* Windows that slide over the last one or two dimensions: pooling, convolution, Im2col. */
#ifndef MOCK_OPERATORS_WINDOWS_WINDOW_H_
#define MOCK_OPERATORS_WINDOWS_WINDOW_H_

#include "objects/objects.h"

/* Heights, then widths. */
typedef struct mock_window {
    int64_t size[2], kernel[2], stride[2], dilation[2], before[2], after[2], out[2];
} mock_window;

/* The place in the input of element k of window `at`; negative or beyond the size in the padding. */
static inline int64_t mock_window_place(const mock_window *w, int axis, int64_t at, int64_t k) {
    return at * w->stride[axis] - w->before[axis] + k * w->dilation[axis];
}

/* One by one, step one, without padding. */
mock_window mock_window_unit(void);
/* Numbers of at least `least` for the last `axes` dimensions; a single one stands for all of them. */
void mock_window_read(
    mock_build *b, const aclIntArray *array, const char *param, int64_t least, int axes, int64_t *pair);
/* Fills `size` and `out`; with `ceil` a last window may reach over the end, if it begins before it (guide:
 * aclnn, aclnnAvgPool2d). */
void mock_window_slide(mock_build *b, mock_window *w, const mock_view *planes, bool ceil);
/* The numbers of a pool; without a stride it is the window's size. */
void mock_pool_window(mock_build *b, mock_window *w, const aclIntArray *kernel, const aclIntArray *stride,
    const char *stride_name, const aclIntArray *padding, const char *padding_name);
/* Fails for more than half a window. */
void mock_pool_padding(mock_build *b, const mock_window *w);
/* The same elements with `dim` of one element put in. */
void mock_insert_dim(mock_view *v, int dim);

#endif
