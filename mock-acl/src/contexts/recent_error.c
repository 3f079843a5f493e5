/* The texts of the calling thread's errors (guide: error handling, aclGetRecentErrMsg). */
#include "base/base.h"
#include "engine/engine.h"

/* Each read takes the text away (observed: err_msg). The pointer is good until the next read of the thread (guide:
 * error handling, aclGetRecentErrMsg). Without a context the read itself fails behind what there is: it adds a text and
 * sets the last error (observed: err_msg, text_without_context, before_set_device); the documentation knows no such
 * case. */
MOCK_EXPORT const char *aclGetRecentErrMsg(void) {
    MOCK_ENTER_PTR(aclGetRecentErrMsg);
    mock_lock();
    const bool bound = mock_current_quiet() != NULL || mock_strict_doc();
    if (!bound) mock_self()->ctx = NULL;
    mock_unlock();
    if (!bound) mock_no_context();
    return mock_error_show();
}
