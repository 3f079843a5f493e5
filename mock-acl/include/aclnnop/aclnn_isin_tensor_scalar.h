/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnIsInTensorScalar. */
#ifndef MOCK_ACLNNOP_ACLNN_ISIN_TENSOR_SCALAR_H_
#define MOCK_ACLNNOP_ACLNN_ISIN_TENSOR_SCALAR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnIsInTensorScalarGetWorkspaceSize(
    const aclTensor *element, const aclScalar *testElement, bool assumeUnique, bool invert, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnIsInTensorScalar(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
