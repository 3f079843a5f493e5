/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceRandom, aclnnInplaceRandomTensor, aclnnInplaceRandomWithoutFromTo,
   aclnnInplaceRandomWithoutFromToTensor. */
#ifndef MOCK_ACLNNOP_ACLNN_RANDOM_H_
#define MOCK_ACLNNOP_ACLNN_RANDOM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceRandomGetWorkspaceSize(
    const aclTensor *selfRef, int64_t from, int64_t to, int64_t seed, int64_t offset,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceRandom(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceRandomTensorGetWorkspaceSize(
    const aclTensor *selfRef, int64_t from, int64_t to, const aclTensor *seedTensor,
    const aclTensor *offsetTensor, int64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceRandomTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceRandomWithoutFromToGetWorkspaceSize(
    const aclTensor *selfRef, int64_t seed, int64_t offset, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceRandomWithoutFromTo(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceRandomWithoutFromToTensorGetWorkspaceSize(
    const aclTensor *selfRef, const aclTensor *seedTensor, const aclTensor *offsetTensor, int64_t offset,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceRandomWithoutFromToTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
