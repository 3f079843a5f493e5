/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRotateQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_ROTATE_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_ROTATE_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRotateQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *rotation, const aclTensor *alpha, int64_t axis, char *roundMode,
    int64_t scaleAlg, double dstTypeMax, bool trans, aclTensor *yOut, aclTensor *scaleOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnRotateQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
