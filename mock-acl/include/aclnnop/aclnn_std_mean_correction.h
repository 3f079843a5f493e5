/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnStdMeanCorrection. */
#ifndef MOCK_ACLNNOP_ACLNN_STD_MEAN_CORRECTION_H_
#define MOCK_ACLNNOP_ACLNN_STD_MEAN_CORRECTION_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnStdMeanCorrectionGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dim, int64_t correction, bool keepdim, aclTensor *stdOut,
    aclTensor *meanOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnStdMeanCorrection(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
