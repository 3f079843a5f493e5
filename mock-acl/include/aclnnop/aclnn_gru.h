/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGRU. */
#ifndef MOCK_ACLNNOP_ACLNN_GRU_H_
#define MOCK_ACLNNOP_ACLNN_GRU_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGRUGetWorkspaceSize(
    const aclTensor *input, const aclTensorList *params, const aclTensor *hx, const aclTensor *batchSizes,
    bool hasBias, int64_t numLayers, double dropout, bool train, bool bidirection, bool batchFirst,
    aclTensor *output, aclTensor *hy, aclTensorList *rOut, aclTensorList *zOut, aclTensorList *nOut,
    aclTensorList *hnOut, aclTensorList *hOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGRU(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
