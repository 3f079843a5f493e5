/* Operators that do the same to every tensor of a list. The macros stand beside the kernels they use.
 *
 * All tensors have the type of the first, results the shape of their tensor (guide: aclnn, pages of the
 * Foreach operators; own choice: exactly that shape). Integers where the kernels have them; a scalar of
 * floats does not go with them (own choice). A number that comes as an aclTensor is one element of device
 * memory and read by the task (own choice). No workspace.
 */
#ifndef MOCK_OPERATORS_ELEMENTS_FOREACH_H_
#define MOCK_OPERATORS_ELEMENTS_FOREACH_H_

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* What goes with the tensors of `x`: nothing, another list, or numbers as a scalar, scalars or a tensor,
 * which kernels know as `s`; the other list with a number as `y` and `s`. */
typedef struct mock_foreach_call {
    const aclTensorList *x, *other, *out;
    const aclScalar *scalar;
    const aclScalarList *scalars;
    const aclTensor *number;
    const char *x_name, *number_name;
    bool has_other, has_scalar, has_scalars, has_number;
} mock_foreach_call;

#define MOCK_FOREACH_PHASE(NAME, KERNELS, PARAMS, ...)                                                   \
    MOCK_OPERATOR(NAME, mock_foreach_run)                                                                \
    aclnnStatus NAME##GetWorkspaceSize(PARAMS, uint64_t *workspaceSize, aclOpExecutor **executor) {      \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        const mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                    \
        return mock_foreach_plan(b, &KERNELS, &(const mock_foreach_call){__VA_ARGS__, .out = out});      \
    }
#define MOCK_FOREACH_COMMA ,
#define MOCK_FOREACH(NAME, OUT, KERNELS)                                                                   \
    MOCK_FOREACH_PHASE(                                                                                    \
        NAME, KERNELS, const aclTensorList *x MOCK_FOREACH_COMMA OUT *out, .x = x, .x_name = "x")
#define MOCK_FOREACH_SCALAR(NAME, OUT, KERNELS)                                                            \
    MOCK_FOREACH_PHASE(NAME, KERNELS,                                                                      \
        const aclTensorList *x MOCK_FOREACH_COMMA const aclScalar *scalar MOCK_FOREACH_COMMA OUT *out,     \
        .x = x, .x_name = "x", .scalar = scalar, .has_scalar = true, .number_name = "scalar")
#define MOCK_FOREACH_NUMBER(NAME, OUT, KERNELS)                                                            \
    MOCK_FOREACH_PHASE(NAME, KERNELS,                                                                      \
        const aclTensorList *x MOCK_FOREACH_COMMA const aclTensor *scalar MOCK_FOREACH_COMMA OUT *out,     \
        .x = x, .x_name = "x", .number = scalar, .has_number = true, .number_name = "scalar")
#define MOCK_FOREACH_SCALARS(NAME, OUT, KERNELS)                                                           \
    MOCK_FOREACH_PHASE(NAME, KERNELS,                                                                      \
        const aclTensorList *x MOCK_FOREACH_COMMA const aclScalarList *scalars MOCK_FOREACH_COMMA OUT *out, \
        .x = x, .x_name = "x", .scalars = scalars, .has_scalars = true, .number_name = "scalars")
#define MOCK_FOREACH_LISTS(NAME, OUT, KERNELS)                                                             \
    MOCK_FOREACH_PHASE(NAME, KERNELS,                                                                      \
        const aclTensorList *x1 MOCK_FOREACH_COMMA const aclTensorList *x2 MOCK_FOREACH_COMMA OUT *out,    \
        .x = x1, .x_name = "x1", .other = x2, .has_other = true)
#define MOCK_FOREACH_ALPHA(NAME, OUT, KERNELS)                                                             \
    MOCK_FOREACH_PHASE(NAME, KERNELS,                                                                      \
        const aclTensorList *x1 MOCK_FOREACH_COMMA const aclTensorList *x2 MOCK_FOREACH_COMMA              \
            const aclTensor *alpha MOCK_FOREACH_COMMA OUT *out,                                            \
        .x = x1, .x_name = "x1", .other = x2, .has_other = true, .number = alpha, .has_number = true,      \
        .number_name = "alpha")
#define MOCK_FOREACH_ALPHA_SCALAR(NAME, OUT, KERNELS)                                                      \
    MOCK_FOREACH_PHASE(NAME, KERNELS,                                                                      \
        const aclTensorList *x1 MOCK_FOREACH_COMMA const aclTensorList *x2 MOCK_FOREACH_COMMA              \
            const aclScalar *alpha MOCK_FOREACH_COMMA OUT *out,                                            \
        .x = x1, .x_name = "x1", .other = x2, .has_other = true, .scalar = alpha, .has_scalar = true,      \
        .number_name = "alpha")
/* Once with a scalar of each kind, for the operators that have all three. */
#define MOCK_FOREACH_NUMBERS(NAME, OUT, KERNELS)                                                           \
    MOCK_FOREACH_NUMBER(aclnnForeach##NAME##Scalar, OUT, KERNELS)                                          \
    MOCK_FOREACH_SCALAR(aclnnForeach##NAME##ScalarV2, aclTensorList, KERNELS)                              \
    MOCK_FOREACH_SCALARS(aclnnForeach##NAME##ScalarList, const aclTensorList, KERNELS)

aclnnStatus mock_foreach_plan(mock_build b, const mock_kernels *kernels, const mock_foreach_call *call);
aclError mock_foreach_run(void *arg);

#endif
