/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnReduceNansum. */
#ifndef MOCK_ACLNNOP_ACLNN_REDUCE_NANSUM_H_
#define MOCK_ACLNNOP_ACLNN_REDUCE_NANSUM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnReduceNansumGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dim, bool keepDim, aclDataType dtype, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnReduceNansum(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
