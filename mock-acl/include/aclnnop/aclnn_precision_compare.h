/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnPrecisionCompare. */
#ifndef MOCK_ACLNNOP_ACLNN_PRECISION_COMPARE_H_
#define MOCK_ACLNNOP_ACLNN_PRECISION_COMPARE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnPrecisionCompareGetWorkspaceSize(
    const aclTensor *golden, const aclTensor *realdata, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnPrecisionCompare(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
