/* Fusion of kernels: the arguments are checked, nothing is fused (guide: super kernel; own choice which
 * codes). */
#define _GNU_SOURCE
#include <string.h>
#include "acl/super_kernel.h"
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"

/* A name is not blank (guide: super kernel). */
static aclError scope(const char *name, aclrtStream stream) {
    if (name != NULL && name[strspn(name,
        " \t")] == '\0') return mock_invalid("the name of a scope is blank");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclskScopeBegin(const char *scopeName, aclrtStream stream) {
    MOCK_ENTER_OF(aclskScopeBegin, stream);
    return scope(scopeName, stream);
}

MOCK_EXPORT aclError aclskScopeEnd(const char *scopeName, aclrtStream stream) {
    MOCK_ENTER_OF(aclskScopeEnd, stream);
    return scope(scopeName, stream);
}

MOCK_EXPORT aclError aclskOptimize(aclmdlRI model, aclskOptions *options) {
    MOCK_ENTER_OF(aclskOptimize, model);
    if (model == NULL) return mock_null("model");
    if (options != NULL && options->numOptions != 0 && options->options == NULL) return mock_null("options");
    for (size_t i = 0; options != NULL && i < options->numOptions; i++)
        if ((unsigned)options->options[i].optionType >= ACLSK_OPTION_SK_OPTION_MAX)
            return mock_invalid("option %d", (int)options->options[i].optionType);
    aclError code = 0;
    mock_lock();
    mock_graph_get(model, &code);
    mock_unlock();
    return code;
}
