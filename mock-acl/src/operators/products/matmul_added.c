/* Products that are added to something: Addmm, Baddbmm, Addbmm, their in-place forms, Addmv and Gemm, and the
 * products of vectors, Mv and Dot (guide: aclnn, page of each). What is added broadcasts to the result. The
 * products of a batch are added in f32 in their order (own choice). */
#include <float.h>
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/products/matmul.h"

static double number(const mock_scalar *scalar) {
    return scalar == NULL ? 0 : mock_scalar_double(scalar);
}

/* So little is taken for 0, with which self is not read (implementation of the operators of CANN). */
static double added(double beta) { return fabs(beta) <= FLT_EPSILON ? 0 : beta; }

/* NAME(self, mat1, mat2, beta, alpha, out, cubeMathType) */
#define ADDED(NAME, FIRST, SECOND, RANK, ADD_UP)                                                      \
    MOCK_OPERATOR(NAME, mock_run_product)                                                             \
    aclnnStatus NAME##GetWorkspaceSize(                                                               \
        const aclTensor *self, const aclTensor *FIRST, const aclTensor *SECOND, const aclScalar *beta, \
        const aclScalar *alpha, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize,         \
        aclOpExecutor **executor) {                                                                   \
        static const char *const names[] = {"self", #FIRST, #SECOND, "out"};                          \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                           \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                       \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                 \
        mock_build_tensor(&b, FIRST, #FIRST, MOCK_IN);                                                \
        mock_build_tensor(&b, SECOND, #SECOND, MOCK_IN_NZ);                                           \
        const double of_self = added(number(mock_build_scalar(&b, beta, "beta")));                     \
        const double of_product = number(mock_build_scalar(&b, alpha, "alpha"));                       \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                  \
        mock_require_rank(&b, 1, #FIRST, RANK);                                                       \
        mock_require_rank(&b, 2, #SECOND, RANK);                                                      \
        mock_plan_product(&b, &(mock_product_parts){.self = 0, .x = 1, .y = 2, .out = 3,              \
            .math_type = cubeMathType, .add_up = ADD_UP, .alpha = of_product, .beta = of_self,        \
            .names = names});                                                                         \
        return mock_build_finish(&b);                                                                 \
    }
/* NAME(selfRef, mat1, mat2, beta, alpha, cubeMathType) */
#define ADDED_INPLACE(NAME, SELF, FIRST, SECOND, RANK, ADD_UP)                                        \
    MOCK_OPERATOR(NAME, mock_run_product)                                                             \
    aclnnStatus NAME##GetWorkspaceSize(                                                               \
        SELF *selfRef, const aclTensor *FIRST, const aclTensor *SECOND, const aclScalar *beta,        \
        const aclScalar *alpha, int8_t cubeMathType, uint64_t *workspaceSize,                         \
        aclOpExecutor **executor) {                                                                   \
        static const char *const names[] = {"selfRef", #FIRST, #SECOND};                              \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                           \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                       \
        mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);                                        \
        mock_build_tensor(&b, FIRST, #FIRST, MOCK_IN);                                                \
        mock_build_tensor(&b, SECOND, #SECOND, MOCK_IN_NZ);                                           \
        const double of_self = added(number(mock_build_scalar(&b, beta, "beta")));                     \
        const double of_product = number(mock_build_scalar(&b, alpha, "alpha"));                       \
        mock_require_rank(&b, 1, #FIRST, RANK);                                                       \
        mock_require_rank(&b, 2, #SECOND, RANK);                                                      \
        mock_plan_product(&b, &(mock_product_parts){.self = 0, .x = 1, .y = 2, .out = 0,              \
            .math_type = cubeMathType, .add_up = ADD_UP, .alpha = of_product, .beta = of_self,        \
            .names = names});                                                                         \
        return mock_build_finish(&b);                                                                 \
    }

ADDED(aclnnAddmm, mat1, mat2, 2, false)
ADDED(aclnnAddmmWeightNz, mat1, mat2, 2, false)
ADDED(aclnnBaddbmm, batch1, batch2, 3, false)
ADDED(aclnnAddbmm, batch1, batch2, 3, true)
ADDED_INPLACE(aclnnInplaceAddmm, const aclTensor, mat1, mat2, 2, false)
ADDED_INPLACE(aclnnInplaceBaddbmm, const aclTensor, batch1, batch2, 3, false)
ADDED_INPLACE(aclnnInplaceAddbmm, aclTensor, batch1, batch2, 3, true)

MOCK_OPERATOR(aclnnAddmv, mock_run_product)
MOCK_OPERATOR(aclnnGemm, mock_run_product)
MOCK_OPERATOR(aclnnMv, mock_run_product)
MOCK_OPERATOR(aclnnDot, mock_run_product)

/* Integers and f64 too (guide: aclnn, aclnnAddmv, aclnnDot). With numbers of a float type integers become f32
 * (own choice). */
aclnnStatus aclnnAddmvGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mat, const aclTensor *vec, const aclScalar *alpha,
    const aclScalar *beta, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    static const char *const names[] = {"self", "mat", "vec", "out"};
    static const int32_t more[] = {
        ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL, -1};
    MOCK_ENTER(aclnnAddmvGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAddmv_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, mat, "mat", MOCK_IN);
    mock_build_tensor(&b, vec, "vec", MOCK_IN);
    const mock_scalar *of_product = mock_build_scalar(&b, alpha, "alpha");
    const mock_scalar *of_self = mock_build_scalar(&b, beta, "beta");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_require_rank(&b, 1, "mat", 2);
    mock_require_rank(&b, 2, "vec", 1);
    if (b.status != 0) return mock_build_finish(&b);
    mock_plan_product(&b, &(mock_product_parts){.self = 0, .x = 1, .y = 2, .out = 3, .more = more,
        .math_type = cubeMathType, .alpha = number(of_product), .beta = number(of_self),
        .numbers = mock_dtype_promote(of_product->dtype, of_self->dtype), .names = names});
    return mock_build_finish(&b);
}

/* transA and transB are 0 or not (own choice). */
aclnnStatus aclnnGemmGetWorkspaceSize(
    const aclTensor *A, const aclTensor *B, const aclTensor *C, float alpha, float beta, int64_t transA,
    int64_t transB, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor) {
    static const char *const names[] = {"A", "B", "C", "out"};
    MOCK_ENTER(aclnnGemmGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGemm_task, workspaceSize, executor);
    mock_build_tensor(&b, A, "A", MOCK_IN);
    mock_build_tensor(&b, B, "B", MOCK_IN);
    mock_build_tensor(&b, C, "C", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_require_rank(&b, 0, "A", 2);
    mock_require_rank(&b, 1, "B", 2);
    mock_plan_product(&b, &(mock_product_parts){.self = 2, .x = 0, .y = 1, .out = 3,
        .math_type = cubeMathType, .turn_x = transA != 0, .turn_y = transB != 0, .alpha = alpha, .beta = beta,
        .names = names});
    return mock_build_finish(&b);
}

aclnnStatus aclnnMvGetWorkspaceSize(
    const aclTensor *self, const aclTensor *vec, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    static const char *const names[] = {"self", "vec", "out"};
    MOCK_ENTER(aclnnMvGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnMv_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, vec, "vec", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_require_rank(&b, 0, "self", 2);
    mock_require_rank(&b, 1, "vec", 1);
    mock_plan_product(&b, &(mock_product_parts){
        .self = -1, .x = 0, .y = 1, .out = 2, .math_type = cubeMathType, .names = names});
    return mock_build_finish(&b);
}

aclnnStatus aclnnDotGetWorkspaceSize(
    const aclTensor *self, const aclTensor *tensor, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    static const char *const names[] = {"self", "tensor", "out"};
    static const int32_t more[] = {ACL_INT8, ACL_UINT8, ACL_INT32, -1};
    MOCK_ENTER(aclnnDotGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnDot_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, tensor, "tensor", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_require_rank(&b, 0, "self", 1);
    mock_require_rank(&b, 1, "tensor", 1);
    mock_plan_product(&b, &(mock_product_parts){
        .self = -1, .x = 0, .y = 1, .out = 2, .same = true, .more = more, .names = names});
    return mock_build_finish(&b);
}
