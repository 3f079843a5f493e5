/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnElasticReceivableTest. */
#ifndef MOCK_ACLNNOP_ACLNN_ELASTIC_RECEIVABLE_TEST_H_
#define MOCK_ACLNNOP_ACLNN_ELASTIC_RECEIVABLE_TEST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnElasticReceivableTestGetWorkspaceSize(
    aclTensor *dstRank, const char *group, int64_t worldSize, int64_t rank_num, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnElasticReceivableTest(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
