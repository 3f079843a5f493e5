/* What collective communication lacks: every function says so. */
#define _GNU_SOURCE
#include "base/base.h"
#include "toolkit/toolkit.h"

#define NOT_SUPPORTED 5 /* HCCL_E_NOT_SUPPORT (header: hccl_types) */

#define STUB_SIM(name)
#define STUB_NOSUP(name)             \
    MOCK_EXPORT int name(void);      \
    MOCK_EXPORT int name(void) {     \
        mock_error_text("EI0001", "%s is not supported by mock-acl", #name); \
        return NOT_SUPPORTED;        \
    }
#define HCCL(name, fidelity) STUB_##fidelity(name)
#include "beside.def"
