/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQuantize. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANTIZE_H_
#define MOCK_ACLNNOP_ACLNN_QUANTIZE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQuantizeGetWorkspaceSize(
    const aclTensor *x, const aclTensor *scales, const aclTensor *zeroPoints, aclDataType dtype,
    int32_t axis, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnQuantize(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
