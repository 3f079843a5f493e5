/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGroupNormSiluQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_GROUP_NORM_SILU_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_GROUP_NORM_SILU_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGroupNormSiluQuantGetWorkspaceSize(
    const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, const aclTensor *quantScale,
    int64_t group, double eps, bool activateSilu, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGroupNormSiluQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
