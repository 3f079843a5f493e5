/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnTfScatterAdd. */
#ifndef MOCK_ACLNNOP_ACLNN_TF_SCATTER_ADD_H_
#define MOCK_ACLNNOP_ACLNN_TF_SCATTER_ADD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnTfScatterAddGetWorkspaceSize(
    aclTensor *varRef, const aclTensor *indices, const aclTensor *updates, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnTfScatterAdd(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
