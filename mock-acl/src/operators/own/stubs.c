/* A stub for every operator that the mock does not compute: 207000 with a text that names it, or the
 * program's own functions (own choice). Definitions and parameters are in operators/own/operators.def. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/own/operator.h"


#define MOCK_EXPORT __attribute__((visibility("default")))
#define TENSOR(name, role, optional) {#name, MOCK_OWN_TENSOR, role, optional, name, 0, 0}
#define TENSORS(name, role, optional) {#name, MOCK_OWN_TENSORS, role, optional, name, 0, 0}
#define POINTER(name, kind) {#name, kind, 0, false, name, 0, 0}
#define SCALAR(name) POINTER(name, MOCK_OWN_SCALAR)
#define SCALARS(name) POINTER(name, MOCK_OWN_SCALARS)
#define INTS(name) POINTER(name, MOCK_OWN_INTS)
#define FLOATS(name) POINTER(name, MOCK_OWN_FLOATS)
#define BOOLS(name) POINTER(name, MOCK_OWN_BOOLS)
#define TEXT(name) POINTER(name, MOCK_OWN_TEXT)
#define INTEGER(name) {#name, MOCK_OWN_INTEGER, 0, false, NULL, (int64_t)(name), 0}
#define BOOLEAN(name) {#name, MOCK_OWN_BOOLEAN, 0, false, NULL, name, 0}
#define NUMBER(name) {#name, MOCK_OWN_NUMBER, 0, false, NULL, 0, (double)(name)}

#define OWN(NAME, PARAMETERS, ...)                                                                     \
    static const mock_own_operator NAME##_own = {                                                      \
        {#NAME, mock_own_run, mock_plan_drop}, MOCK_API_##NAME##GetWorkspaceSize, MOCK_API_##NAME,     \
        #NAME "GetWorkspaceSize"};                                                                     \
    MOCK_EXPORT aclnnStatus NAME##GetWorkspaceSize PARAMETERS;                                         \
    MOCK_EXPORT aclnnStatus NAME##GetWorkspaceSize PARAMETERS {                                        \
        const mock_own_argument arguments[] = {__VA_ARGS__};                                           \
        return mock_own_first(                                                                         \
            &NAME##_own, arguments, sizeof arguments / sizeof *arguments, workspaceSize, executor);    \
    }                                                                                                  \
    MOCK_EXPORT aclnnStatus NAME(                                                                      \
        void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);         \
    MOCK_EXPORT aclnnStatus NAME(                                                                      \
        void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream) {        \
        return mock_own_second(&NAME##_own, workspace, workspaceSize, executor, stream);               \
    }
#define PLAIN(NAME)             \
    MOCK_EXPORT int NAME(void); \
    MOCK_EXPORT int NAME(void) { return mock_unsupported(MOCK_API_##NAME, #NAME); }
#include "operators/own/operators.def"
