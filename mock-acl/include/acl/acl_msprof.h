/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* The place of aclprofConfigType in sets up to CANN 8.3. */
#ifndef MOCK_ACL_ACL_MSPROF_H_
#define MOCK_ACL_ACL_MSPROF_H_

#include "acl/acl_prof.h"

#ifdef __cplusplus
extern "C" {
#endif



#ifdef __cplusplus
}
#endif

#endif
