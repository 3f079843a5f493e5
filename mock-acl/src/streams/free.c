/* Memory that is freed once the streams are done with it. */
#include "base/base.h"
#include "memory/memory.h"
#include "streams/stream.h"

/* (guide: memory management, aclrtFreeWithDevSync) */
MOCK_EXPORT aclError aclrtFreeWithDevSync(void *devPtr) {
    MOCK_ENTER_OF(aclrtFreeWithDevSync, devPtr);
    if (devPtr == NULL) return mock_null("devPtr");
    const aclError code = mock_synchronize_current();
    return code != 0 ? code : mock_device_release(devPtr);
}

MOCK_EXPORT aclError aclrtFreeHostWithDevSync(void *hostPtr) {
    MOCK_ENTER_OF(aclrtFreeHostWithDevSync, hostPtr);
    if (hostPtr == NULL) return mock_null("hostPtr");
    const aclError code = mock_synchronize_current();
    return code != 0 ? code : mock_host_release(hostPtr);
}
