/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnUpsampleBilinear2dAA. */
#ifndef MOCK_ACLNNOP_ACLNN_UPSAMPLE_BILINEAR2D_AA_H_
#define MOCK_ACLNNOP_ACLNN_UPSAMPLE_BILINEAR2D_AA_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnUpsampleBilinear2dAAGetWorkspaceSize(
    const aclTensor *input, const aclIntArray *outputSize, bool alignCorners, double scalesH,
    double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnUpsampleBilinear2dAA(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
