/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLinalgQr. */
#ifndef MOCK_ACLNNOP_ACLNN_LINALG_QR_H_
#define MOCK_ACLNNOP_ACLNN_LINALG_QR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLinalgQrGetWorkspaceSize(
    const aclTensor *self, int64_t mode, aclTensor *Q, aclTensor *R, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnLinalgQr(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
