/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnConvertWeightToINT4Pack. */
#ifndef MOCK_ACLNNOP_ACLNN_CONVERT_WEIGHT_TO_INT4_PACK_H_
#define MOCK_ACLNNOP_ACLNN_CONVERT_WEIGHT_TO_INT4_PACK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnConvertWeightToINT4PackGetWorkspaceSize(
    const aclTensor *weight, aclTensor *weightInt4Pack, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnConvertWeightToINT4Pack(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
