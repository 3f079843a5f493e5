/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMoeFinalizeRouting. */
#ifndef MOCK_ACLNNOP_ACLNN_MOE_FINALIZE_ROUTING_H_
#define MOCK_ACLNNOP_ACLNN_MOE_FINALIZE_ROUTING_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMoeFinalizeRoutingGetWorkspaceSize(
    const aclTensor *expandedX, const aclTensor *x1, const aclTensor *x2Optional, const aclTensor *bias,
    const aclTensor *scales, const aclTensor *expandedRowIdx, const aclTensor *expandedExpertIdx,
    const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMoeFinalizeRouting(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
