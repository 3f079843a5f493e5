/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMultinomial, aclnnMultinomialTensor. */
#ifndef MOCK_ACLNNOP_ACLNN_MULTINOMIAL_H_
#define MOCK_ACLNNOP_ACLNN_MULTINOMIAL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMultinomialGetWorkspaceSize(
    const aclTensor *self, int64_t numsamples, bool replacement, int64_t seed, int64_t offset,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMultinomial(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnMultinomialTensorGetWorkspaceSize(
    const aclTensor *self, int64_t numsamples, bool replacement, const aclTensor *seedTensor,
    const aclTensor *offsetTensor, int64_t offset, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnMultinomialTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
