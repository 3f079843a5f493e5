/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGetPytorchRandom, aclnnSetPytorchRandom. */
#ifndef MOCK_ACLNNOP_ACLNN_SET_PYTORCH_RANDOM_H_
#define MOCK_ACLNNOP_ACLNN_SET_PYTORCH_RANDOM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

int32_t aclnnGetPytorchRandom(void);

aclnnStatus aclnnSetPytorchRandom(int32_t pytorchRandom);

#ifdef __cplusplus
}
#endif

#endif
