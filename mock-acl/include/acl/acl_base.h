/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Everything of the two base headers. */
#ifndef MOCK_ACL_ACL_BASE_H_
#define MOCK_ACL_ACL_BASE_H_

#include "acl/acl_base_rt.h"
#include "acl/acl_base_mdl.h"

#ifdef __cplusplus
extern "C" {
#endif



#ifdef __cplusplus
}
#endif

#endif
