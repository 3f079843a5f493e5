/* The first line of every exported function: counts the call, logs it and applies an injected failure. */
#ifndef MOCK_BASE_ENTRY_H_
#define MOCK_BASE_ENTRY_H_

#include <stddef.h>

typedef enum mock_api {
#define RT(name, fidelity) MOCK_API_##name,
#define NNBASE(name, fidelity) MOCK_API_##name,
#define OP(name, fidelity) MOCK_API_##name,
#include "exports.def"
#undef RT
#undef NNBASE
#undef OP
#define HCCL(name, fidelity) MOCK_API_##name,
#define MSTX(name, fidelity) MOCK_API_##name,
#include "beside.def"
    MOCK_API_COUNT
} mock_api;

/* Counts the call, sets the text and gives 207000 (or the injected code). */
int mock_unsupported(mock_api api, const char *name);
/* Counts the call; returns the code injected for it, or 0. An injected code also sets an error text. */
int mock_enter(mock_api api);

/* The same in two halves, of which a call that is only counted has the first: whether there is more to do, and that. */
int mock_enter_is_slow(mock_api api);
int mock_enter_slowly(mock_api api, const void *const *given, size_t n);

#define MOCK_ENTER(name)                                   \
    do {                                                   \
        const int mock_injected = mock_enter(MOCK_API_##name); \
        if (mock_injected != 0) return mock_injected;      \
    } while (0)

/* With the handles and the memory that the call was given, for the log; they are looked at by that alone. */
#define MOCK_ENTER_OF(name, ...)                                                                       \
    do {                                                                                               \
        if (MOCK_UNLIKELY(mock_enter_is_slow(MOCK_API_##name))) {                                      \
            const void *const mock_given[] = {__VA_ARGS__};                                            \
            const int mock_injected =                                                                  \
                mock_enter_slowly(MOCK_API_##name, mock_given, sizeof mock_given / sizeof *mock_given); \
            if (mock_injected != 0) return mock_injected;                                              \
        }                                                                                              \
    } while (0)

/* For functions that return a pointer. */
#define MOCK_ENTER_PTR(name)                               \
    do {                                                   \
        if (mock_enter(MOCK_API_##name) != 0) return NULL; \
    } while (0)

#endif
