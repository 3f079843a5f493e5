/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLeftShift, aclnnLeftShifts. */
#ifndef MOCK_ACLNNOP_ACLNN_LEFT_SHIFT_H_
#define MOCK_ACLNNOP_ACLNN_LEFT_SHIFT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLeftShiftGetWorkspaceSize(
    const aclTensor *self, const aclTensor *shiftBits, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnLeftShift(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnLeftShiftsGetWorkspaceSize(
    const aclTensor *self, const aclScalar *shiftBits, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnLeftShifts(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
