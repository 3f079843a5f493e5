/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGroupedDynamicMxQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_GROUPED_DYNAMIC_MX_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_GROUPED_DYNAMIC_MX_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGroupedDynamicMxQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *groupIndex, const char *roundMode, int64_t dstType,
    int64_t blocksize, const aclTensor *y, const aclTensor *mxscale, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGroupedDynamicMxQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
