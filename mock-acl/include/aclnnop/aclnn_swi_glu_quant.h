/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSwiGluQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_SWI_GLU_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_SWI_GLU_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSwiGluQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *offsetsOptional,
    const aclTensor *groupIndexOptional, bool activateLeft, char *quantModeOptional, const aclTensor *yOut,
    const aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSwiGluQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
