/* Stubs of the inner runtime and the driver: kernels of the vendor's compiler cannot run here, and their addresses for
 * the hardware are not there. They take no parameters, which the C calling conventions allow. */
#define _GNU_SOURCE
#include "base/base.h"
#include "toolkit/toolkit.h"

#define DRIVER_NOT_SUPPORTED 0xfffe /* (header: the driver's) */

#define STUB_SIM(name, code)
#define STUB_ACCEPT(name, code)
#define STUB_NOSUP(name, code)       \
    MOCK_EXPORT int name(void);      \
    MOCK_EXPORT int name(void) {     \
        mock_error_text("EE1017", "%s is not supported by mock-acl", #name); \
        return code;                 \
    }
#define RTS(name, fidelity) STUB_##fidelity(name, ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
#define DRIVER(name, fidelity) STUB_##fidelity(name, DRIVER_NOT_SUPPORTED)
#include "beside.def"
