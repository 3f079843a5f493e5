/* The first line of every exported function: counts the call and applies an injected failure. */
#ifndef MOCK_BASE_ENTRY_H_
#define MOCK_BASE_ENTRY_H_

typedef enum mock_api {
#define RT(name, fidelity) MOCK_API_##name,
#define NNBASE(name, fidelity) MOCK_API_##name,
#define OP(name, fidelity) MOCK_API_##name,
#include "exports.def"
#undef RT
#undef NNBASE
#undef OP
#define HCCL(name, fidelity) MOCK_API_##name,
#include "beside.def"
    MOCK_API_COUNT
} mock_api;

/* Counts the call, sets the text and gives 207000 (or the injected code). */
int mock_unsupported(mock_api api, const char *name);
/* Counts the call; returns the code injected for it, or 0. An injected code also sets an error text. */
int mock_enter(mock_api api);

#define MOCK_ENTER(name)                                   \
    do {                                                   \
        const int mock_injected = mock_enter(MOCK_API_##name); \
        if (mock_injected != 0) return mock_injected;      \
    } while (0)

/* For functions that return a pointer. */
#define MOCK_ENTER_PTR(name)                               \
    do {                                                   \
        if (mock_enter(MOCK_API_##name) != 0) return NULL; \
    } while (0)

#endif
