/* Calls that are accepted without effect: settings of things the mock does not have, and handles nothing
 * uses.
 *
 * Each checks its arguments as the real call does, as far as that is known. */
#define _GNU_SOURCE
#include "graph.h"

MOCK_EXPORT aclError aclrtCreateLabel(aclrtLabel *label) {
    MOCK_ENTER(aclrtCreateLabel);
    static char place;
    if (label == NULL) return mock_null("label");
    mock_lock();
    const bool bound = mock_current() != NULL;
    mock_unlock();
    if (bound) *label = mock_handle_new(MOCK_LABEL, &place);
    return bound ? 0 : ACL_ERROR_RT_CONTEXT_NULL;
}

MOCK_EXPORT aclError aclrtDestroyLabel(aclrtLabel label) {
    MOCK_ENTER(aclrtDestroyLabel);
    if (label == NULL) return mock_null("label");
    if (mock_handle_take(MOCK_LABEL, label) != NULL) return 0;
    return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EH0008", "%p is not a live label", label);
}

/* Labels belong to streams that are bound to a model; any other is 107005 (observed: label). */
MOCK_EXPORT aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
    MOCK_ENTER(aclrtSetLabel);
    if (label == NULL) return mock_null("label");
    if (mock_handle_get(MOCK_LABEL, label) == NULL)
        return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EH0008", "%p is not a live label", label);
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && !s->bound)
        code = mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1016", "the stream is not bound to a model");
    mock_unlock();
    return code;
}

/* A condition handle without the tasks that would use it. Flag above 1 and a model past its capture: 107000
 * (observed: cond); a model of aclmdlRIBuildBegin: 207000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclmdlRICondHandleCreate(
    aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag, aclmdlRICondHandle *handle) {
    MOCK_ENTER(aclmdlRICondHandleCreate);
    (void)defaultLaunchValue;
    if (handle == NULL) return mock_null("handle");
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0 && ((int)flag < 0 || (int)flag > ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT))
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag %d", (int)flag);
    if (code == 0 && !g->captured)
        code = mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the model is not a captured one");
    if (code == 0 && g->state != MOCK_GRAPH_CAPTURING)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the model is not being captured");
    if (code == 0) *handle = mock_handle_new(MOCK_COND, g);
    mock_unlock();
    return code;
}

/* Null: 100000 (observed: label). Else 207000 (own choice: nothing in the mock switches streams). */
MOCK_EXPORT aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
    MOCK_ENTER(aclrtActiveStream);
    if (activeStream == NULL || stream == NULL) return mock_null("activeStream and stream");
    return mock_fail(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the activation of streams is not simulated");
}

/* Others than 0 and 1: 100000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtSetTsDevice(aclrtTsId tsId) {
    MOCK_ENTER(aclrtSetTsDevice);
    if ((int)tsId < 0 || tsId > ACL_TS_ID_AIVECTOR)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "id %d", (int)tsId);
    return 0;
}

/* Not needed, the hardware is coherent (guide: memory management, aclrtMemFlush). */
MOCK_EXPORT aclError aclrtMemFlush(void *devPtr, size_t size) {
    MOCK_ENTER(aclrtMemFlush);
    return devPtr == NULL || size == 0 ? mock_null("devPtr and size") : 0;
}

MOCK_EXPORT aclError aclrtMemInvalidate(void *devPtr, size_t size) {
    MOCK_ENTER(aclrtMemInvalidate);
    return devPtr == NULL || size == 0 ? mock_null("devPtr and size") : 0;
}
