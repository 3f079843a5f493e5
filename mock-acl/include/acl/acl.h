/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Umbrella header. */
#ifndef MOCK_ACL_ACL_H_
#define MOCK_ACL_ACL_H_

#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_rt_memory_soma.h"
#include "acl/acl_op.h"
#include "acl/acl_mdl.h"

#ifdef __cplusplus
extern "C" {
#endif



#ifdef __cplusplus
}
#endif

#endif
