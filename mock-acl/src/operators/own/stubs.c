/* A stub for every operator that the mock does not compute: 207000 with a text that names it, or the
 * program's own functions (own choice). Definitions and parameters are in operators/own/operators.def. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/own/operator.h"

#define SCALAR(name) POINTER(name, MOCK_OWN_SCALAR)
#define SCALARS(name) POINTER(name, MOCK_OWN_SCALARS)
#define INTS(name) POINTER(name, MOCK_OWN_INTS)
#define FLOATS(name) POINTER(name, MOCK_OWN_FLOATS)
#define BOOLS(name) POINTER(name, MOCK_OWN_BOOLS)
#define TEXT(name) POINTER(name, MOCK_OWN_TEXT)

/* What is known of the parameters. */
#define TENSOR(name, role, optional) {#name, MOCK_OWN_TENSOR, role, optional}
#define TENSORS(name, role, optional) {#name, MOCK_OWN_TENSORS, role, optional}
#define POINTER(name, kind) {#name, kind, 0, false}
#define INTEGER(name) {#name, MOCK_OWN_INTEGER, 0, false}
#define BOOLEAN(name) {#name, MOCK_OWN_BOOLEAN, 0, false}
#define NUMBER(name) {#name, MOCK_OWN_NUMBER, 0, false}
#define OWN(NAME, PARAMETERS, ...)                                                                     \
    static const mock_own_parameter NAME##_parameters[] = {__VA_ARGS__};                               \
    static const mock_own_operator NAME##_own = {                                                      \
        {#NAME, mock_own_run, mock_plan_drop}, MOCK_API_##NAME##GetWorkspaceSize, MOCK_API_##NAME,     \
        #NAME "GetWorkspaceSize", NAME##_parameters,                                                   \
        sizeof NAME##_parameters / sizeof *NAME##_parameters};
#define PLAIN(NAME)
#include "operators/own/operators.def"
#undef TENSOR
#undef TENSORS
#undef POINTER
#undef INTEGER
#undef BOOLEAN
#undef NUMBER
#undef OWN
#undef PLAIN

/* The functions, which hand over the values. */
#define TENSOR(name, role, optional) {.pointer = name}
#define TENSORS(name, role, optional) {.pointer = name}
#define POINTER(name, kind) {.pointer = name}
#define INTEGER(name) {.integer = (int64_t)(name)}
#define BOOLEAN(name) {.integer = name}
#define NUMBER(name) {.number = (double)(name)}
#define OWN(NAME, PARAMETERS, ...)                                                                     \
    MOCK_EXPORT aclnnStatus NAME##GetWorkspaceSize PARAMETERS;                                         \
    MOCK_EXPORT aclnnStatus NAME##GetWorkspaceSize PARAMETERS {                                        \
        const mock_own_value mock_values[] = {__VA_ARGS__};                                            \
        return mock_own_first(&NAME##_own, mock_values, workspaceSize, executor);                      \
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
