/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnIou. */
#ifndef MOCK_ACLNNOP_ACLNN_IOU_H_
#define MOCK_ACLNNOP_ACLNN_IOU_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnIouGetWorkspaceSize(
    const aclTensor *bBoxes, const aclTensor *gtBoxes, const char *mode, float eps, bool aligned,
    aclTensor *overlap, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnIou(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
