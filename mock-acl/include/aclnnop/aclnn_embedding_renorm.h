/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnEmbeddingRenorm. */
#ifndef MOCK_ACLNNOP_ACLNN_EMBEDDING_RENORM_H_
#define MOCK_ACLNNOP_ACLNN_EMBEDDING_RENORM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnEmbeddingRenormGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *indices, double maxNorm, double normType, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnEmbeddingRenorm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
