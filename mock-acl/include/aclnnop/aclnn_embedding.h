/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnEmbedding. */
#ifndef MOCK_ACLNNOP_ACLNN_EMBEDDING_H_
#define MOCK_ACLNNOP_ACLNN_EMBEDDING_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnEmbeddingGetWorkspaceSize(
    const aclTensor *weight, const aclTensor *indices, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnEmbedding(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
