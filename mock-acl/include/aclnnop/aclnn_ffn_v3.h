/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFFNV3. */
#ifndef MOCK_ACLNNOP_ACLNN_FFN_V3_H_
#define MOCK_ACLNNOP_ACLNN_FFN_V3_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFFNV3GetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2,
    const aclTensor *expertTokensOptional, const aclTensor *bias1Optional, const aclTensor *bias2Optional,
    const aclTensor *scaleOptional, const aclTensor *offsetOptional, const aclTensor *deqScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *antiquantScale1Optional,
    const aclTensor *antiquantScale2Optional, const aclTensor *antiquantOffset1Optional,
    const aclTensor *antiquantOffset2Optional, const char *activation, int64_t innerPrecise,
    bool tokensIndexFlag, const aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnFFNV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
