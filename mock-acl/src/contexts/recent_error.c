/* The texts of the calling thread's errors (guide: error handling, aclGetRecentErrMsg). */
#include "base/base.h"
#include "engine/engine.h"

/* Each read takes the text away (observed: err_msg). The pointer is good until the next read of the
 * thread (guide: error handling, aclGetRecentErrMsg). Without a context nothing is cleared, and the read
 * itself adds a text (observed, not recorded; the text of another thread without a context is in
 * err_msg); the documentation knows no such case. */
MOCK_EXPORT const char *aclGetRecentErrMsg(void) {
    MOCK_ENTER_PTR(aclGetRecentErrMsg);
    mock_lock();
    const bool bound = mock_current_quiet() != NULL || mock_strict_doc();
    mock_unlock();
    if (!bound) mock_error_text("EE1018", "the calling thread has no current context");
    return mock_error_show(bound);
}
