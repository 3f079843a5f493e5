/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAdvanceStep. */
#ifndef MOCK_ACLNNOP_ACLNN_ADVANCE_STEP_H_
#define MOCK_ACLNNOP_ACLNN_ADVANCE_STEP_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAdvanceStepGetWorkspaceSize(
    const aclTensor *inputTokens, const aclTensor *sampledTokenIds, const aclTensor *inputPositions,
    const aclTensor *seqLens, const aclTensor *slotMapping, const aclTensor *blockTables, int64_t numSeqs,
    int64_t numQueries, int64_t blockSize, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAdvanceStep(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
