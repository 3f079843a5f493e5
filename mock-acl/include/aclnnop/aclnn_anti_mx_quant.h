/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAntiMxQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_ANTI_MX_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_ANTI_MX_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAntiMxQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *mxscale, int64_t axis, int64_t dstType, const aclTensor *y,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAntiMxQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
