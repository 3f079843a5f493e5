/* First and second phases of operators that differ in their kernels only. PLAN is a statement that reads
 * the operands from `b` in the order of their parameters. `OUT` and `SELF` are the types that the
 * interface gives what is written: aclTensor or const aclTensor. Errors name parameters as the interface
 * does; forms that end in OF are for those that it calls otherwise. */
#ifndef MOCK_OPERATORS_ELEMENTS_ENTRY_H_
#define MOCK_OPERATORS_ELEMENTS_ENTRY_H_

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* NAME(SELF, RESULT) */
#define MOCK_UNARY_OF(NAME, SELF, RESULT, OUT, PLAN)                                                 \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                        \
    aclnnStatus NAME##GetWorkspaceSize(                                                              \
        const aclTensor *SELF, OUT *RESULT, uint64_t *workspaceSize, aclOpExecutor **executor) {     \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                          \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                      \
        mock_build_tensor(&b, SELF, #SELF, MOCK_IN);                                                 \
        mock_build_tensor(&b, RESULT, #RESULT, MOCK_OUT);                                            \
        PLAN;                                                                                        \
        return mock_build_finish(&b);                                                                \
    }
/* NAME(SELF) */
#define MOCK_UNARY_INPLACE_OF(NAME, SELF, TYPE, PLAN)                                                \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                        \
    aclnnStatus NAME##GetWorkspaceSize(                                                              \
        TYPE *SELF, uint64_t *workspaceSize, aclOpExecutor **executor) {                             \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                          \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                      \
        mock_build_tensor(&b, SELF, #SELF, MOCK_INOUT);                                              \
        PLAN;                                                                                        \
        return mock_build_finish(&b);                                                                \
    }
/* NAME(self, OTHER, out) */
#define MOCK_BINARY_OF(NAME, OTHER, OUT, PLAN)                                                       \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                        \
    aclnnStatus NAME##GetWorkspaceSize(                                                              \
        const aclTensor *self, const aclTensor *OTHER, OUT *out, uint64_t *workspaceSize,            \
        aclOpExecutor **executor) {                                                                  \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                          \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                      \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                \
        mock_build_tensor(&b, OTHER, #OTHER, MOCK_IN);                                               \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                 \
        PLAN;                                                                                        \
        return mock_build_finish(&b);                                                                \
    }
/* NAME(SELF, OTHER) */
#define MOCK_BINARY_INPLACE_OF(NAME, SELF, OTHER, TYPE, PLAN)                                        \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                        \
    aclnnStatus NAME##GetWorkspaceSize(                                                              \
        TYPE *SELF, const aclTensor *OTHER, uint64_t *workspaceSize, aclOpExecutor **executor) {     \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                          \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                      \
        mock_build_tensor(&b, SELF, #SELF, MOCK_INOUT);                                              \
        mock_build_tensor(&b, OTHER, #OTHER, MOCK_IN);                                               \
        PLAN;                                                                                        \
        return mock_build_finish(&b);                                                                \
    }
/* NAME(self, PARAM, out); PLAN has `number`. */
#define MOCK_WITH_SCALAR(NAME, PARAM, OUT, PLAN)                                                     \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                        \
    aclnnStatus NAME##GetWorkspaceSize(                                                              \
        const aclTensor *self, const aclScalar *PARAM, OUT *out, uint64_t *workspaceSize,            \
        aclOpExecutor **executor) {                                                                  \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                          \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                      \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                \
        const mock_scalar *number = mock_build_scalar(&b, PARAM, #PARAM);                            \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                 \
        PLAN;                                                                                        \
        return mock_build_finish(&b);                                                                \
    }
/* NAME(SELF, PARAM) */
#define MOCK_WITH_SCALAR_INPLACE_OF(NAME, SELF, PARAM, TYPE, PLAN)                                   \
    MOCK_OPERATOR(NAME, mock_elementwise_run)                                                        \
    aclnnStatus NAME##GetWorkspaceSize(                                                              \
        TYPE *SELF, const aclScalar *PARAM, uint64_t *workspaceSize, aclOpExecutor **executor) {     \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                          \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                      \
        mock_build_tensor(&b, SELF, #SELF, MOCK_INOUT);                                              \
        const mock_scalar *number = mock_build_scalar(&b, PARAM, #PARAM);                            \
        PLAN;                                                                                        \
        return mock_build_finish(&b);                                                                \
    }

#define MOCK_UNARY(NAME, OUT, PLAN) MOCK_UNARY_OF(NAME, self, out, OUT, PLAN)
#define MOCK_UNARY_INPLACE(NAME, SELF, PLAN) MOCK_UNARY_INPLACE_OF(NAME, selfRef, SELF, PLAN)
#define MOCK_BINARY(NAME, OUT, PLAN) MOCK_BINARY_OF(NAME, other, OUT, PLAN)
#define MOCK_BINARY_INPLACE(NAME, SELF, PLAN) MOCK_BINARY_INPLACE_OF(NAME, selfRef, other, SELF, PLAN)
#define MOCK_WITH_SCALAR_INPLACE(NAME, PARAM, SELF, PLAN) \
    MOCK_WITH_SCALAR_INPLACE_OF(NAME, selfRef, PARAM, SELF, PLAN)

/* The plans of these forms. Two tensors are promoted, a tensor and a scalar as well; where the kernels
 * have none for integers these become f32. `out` is the index of the result. */
void mock_plan_unary(mock_build *b, const mock_kernels *kernels, int out);
void mock_plan_binary(mock_build *b, const mock_kernels *kernels, int out);
void mock_plan_with_scalar(mock_build *b, const mock_kernels *kernels, const mock_scalar *number, int out);
/* One tensor and up to MOCK_NUMBERS scalars that do not change the type. A null one has failed before. */
void mock_plan_with_numbers(
    mock_build *b, const mock_kernels *kernels, const mock_scalar *const *numbers, int count, int out);

#endif
