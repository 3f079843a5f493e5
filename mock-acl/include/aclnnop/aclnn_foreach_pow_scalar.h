/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachPowScalar. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_POW_SCALAR_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_POW_SCALAR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachPowScalarGetWorkspaceSize(
    const aclTensorList *x, const aclTensor *scalar, const aclTensorList *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnForeachPowScalar(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
