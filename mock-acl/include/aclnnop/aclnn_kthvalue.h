/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnKthvalue. */
#ifndef MOCK_ACLNNOP_ACLNN_KTHVALUE_H_
#define MOCK_ACLNNOP_ACLNN_KTHVALUE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnKthvalueGetWorkspaceSize(
    const aclTensor *self, int64_t k, int64_t dim, bool keepdim, aclTensor *valuesOut,
    aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnKthvalue(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
