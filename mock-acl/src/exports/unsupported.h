#ifndef MOCK_UNSUPPORTED_H_
#define MOCK_UNSUPPORTED_H_

#include "base/entry.h"

/* Counts the call, sets the text and gives 207000 (or the injected code). */
int mock_unsupported(mock_api api, const char *name);

#endif
