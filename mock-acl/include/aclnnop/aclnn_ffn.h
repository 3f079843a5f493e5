/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFFN. */
#ifndef MOCK_ACLNNOP_ACLNN_FFN_H_
#define MOCK_ACLNNOP_ACLNN_FFN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFFNGetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2,
    const aclIntArray *expertTokens, const aclTensor *bias1, const aclTensor *bias2,
    const aclTensor *scale, const aclTensor *offset, const aclTensor *deqScale1,
    const aclTensor *deqScale2, const aclTensor *antiquantScale1, const aclTensor *antiquantScale2,
    const aclTensor *antiquantOffset1, const aclTensor *antiquantOffset2, const char *activation,
    int64_t innerPrecise, const aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnFFN(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
