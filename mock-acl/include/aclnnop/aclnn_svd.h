/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSvd. */
#ifndef MOCK_ACLNNOP_ACLNN_SVD_H_
#define MOCK_ACLNNOP_ACLNN_SVD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSvdGetWorkspaceSize(
    const aclTensor *input, const bool fullMatrices, const bool computeUV, aclTensor *sigma, aclTensor *u,
    aclTensor *v, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSvd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
