/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnElasticReceivableInfoCollect. */
#ifndef MOCK_ACLNNOP_ACLNN_ELASTIC_RECEIVABLE_INFO_COLLECT_H_
#define MOCK_ACLNNOP_ACLNN_ELASTIC_RECEIVABLE_INFO_COLLECT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnElasticReceivableInfoCollectGetWorkspaceSize(
    const char *group, int64_t worldSize, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnElasticReceivableInfoCollect(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
