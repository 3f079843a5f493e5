/* The plans of operators/elements/entry.h. */
#include "objects/objects.h"
#include "operators/elements/entry.h"
#include "operators/operators.h"

/* Kernels without one for integers compute floats. */
static int32_t computed(const mock_kernels *kernels, int32_t type) {
    return kernels->i64 == NULL ? mock_float_type(type) : type;
}

void mock_plan_unary(mock_build *b, const mock_kernels *kernels, int out) {
    if (b->status != 0) return;
    mock_elementwise(b, kernels, computed(kernels, b->plan->views[0].dtype), (mock_number){0}, 0, -1, out);
}

void mock_plan_binary(mock_build *b, const mock_kernels *kernels, int out) {
    if (b->status != 0) return;
    const mock_view *views = b->plan->views;
    const int32_t type = mock_dtype_promote(views[0].dtype, views[1].dtype);
    mock_elementwise(b, kernels, computed(kernels, type), (mock_number){0}, 0, 1, out);
}

void mock_plan_with_scalar(mock_build *b, const mock_kernels *kernels, const mock_scalar *number, int out) {
    if (b->status != 0) return;
    const int32_t type = mock_promote_scalar(b->plan->views[0].dtype, number->dtype);
    mock_elementwise(b, kernels, computed(kernels, type), mock_number_of(number), 0, -1, out);
}

void mock_plan_with_numbers(
    mock_build *b, const mock_kernels *kernels, const mock_scalar *const *numbers, int count, int out) {
    mock_number k[MOCK_NUMBERS] = {{0, 0, 0}};
    if (b->status != 0) return;
    for (int i = 0; i < count; i++) k[i] = mock_number_of(numbers[i]);
    mock_elementwise_numbers(
        b, kernels, computed(kernels, b->plan->views[0].dtype), k, count, 0, -1, out);
}
