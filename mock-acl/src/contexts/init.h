/* Callbacks of aclInit and aclFinalize. With the lock of contexts/init.c. */
#ifndef MOCK_CONTEXTS_INIT_H_
#define MOCK_CONTEXTS_INIT_H_

#include "base/base.h"

void mock_init_lock(void);
void mock_init_unlock(void);
/* NULL while the library is not initialised. */
const char *mock_init_text(size_t *length);

/* Calls those of one type in their order; the first code that is not 0 ends it. */
aclError mock_init_notify(aclRegisterCallbackType type, const char *text, size_t length);
aclError mock_finalize_notify(aclRegisterCallbackType type);
void mock_init_callbacks_clear(void);
/* In a child of a fork, with the engine lock. */
void mock_workers_again(void);

#endif
