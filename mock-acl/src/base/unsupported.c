/* A stub for every exported name that is not simulated: it names itself in the error text and returns 207000,
 * or NULL where the function returns a pointer, or 0 where it returns a size, a count or a type. A stub takes no
 * parameters, which the C calling conventions allow. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include "base/entry.h"

#ifndef MOCK_EXPORT
#define MOCK_EXPORT __attribute__((visibility("default")))
#endif

/* The name is pasted and made a string in the first macro, before a renaming macro can expand it. */
#define STUB_SIM(name, api, text)
#define STUB_ACCEPT(name, api, text)
#define STUB_NOSUP(name, api, text) \
    MOCK_EXPORT int name(void);     \
    MOCK_EXPORT int name(void) { return mock_unsupported(api, text); }
#define STUB_NOPTR(name, api, text)  \
    MOCK_EXPORT void *name(void);    \
    MOCK_EXPORT void *name(void) {   \
        mock_unsupported(api, text); \
        return NULL;                 \
    }
#define STUB_NOVAL(name, api, text)  \
    MOCK_EXPORT uint64_t name(void); \
    MOCK_EXPORT uint64_t name(void) { \
        mock_unsupported(api, text); \
        return 0;                    \
    }
#define STUB_NOVOID(name, api, text) \
    MOCK_EXPORT void name(void);     \
    MOCK_EXPORT void name(void) { mock_unsupported(api, text); }
#define RT(name, fidelity) STUB_##fidelity(name, MOCK_API_##name, #name)
#define NNBASE(name, fidelity) STUB_##fidelity(name, MOCK_API_##name, #name)
/* Those of operators are in operators/own/stubs.c. */
#define OP(name, fidelity)
#include "exports.def"
