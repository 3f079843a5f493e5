/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBlendImagesCustom. */
#ifndef MOCK_ACLNNOP_ACLNN_BLEND_IMAGES_CUSTOM_H_
#define MOCK_ACLNNOP_ACLNN_BLEND_IMAGES_CUSTOM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBlendImagesCustomGetWorkspaceSize(
    const aclTensor *rgb, const aclTensor *alpha, const aclTensor *frame, const aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnBlendImagesCustom(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
