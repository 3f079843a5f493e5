/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* The part of the model interface that the runtime shares: flags of explicitly built model instances. The instances themselves (aclmdlRI...) are in acl/acl_rt.h. */
#ifndef MOCK_ACL_ACL_MDL_H_
#define MOCK_ACL_ACL_MDL_H_

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_MODEL_STREAM_FLAG_HEAD 0x00000000U
#define ACL_MODEL_STREAM_FLAG_DEFAULT 0x7FFFFFFFU

#ifdef __cplusplus
}
#endif

#endif
