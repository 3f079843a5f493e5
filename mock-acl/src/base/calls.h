/* The log of calls, as the entry of each call uses it. */
#ifndef MOCK_BASE_CALLS_H_
#define MOCK_BASE_CALLS_H_

#include <stddef.h>

void mock_note_call(int api, int injected, const void *const *given, size_t n);
/* Looks again whether calls need more than to be counted: in base/entry.c. */
void mock_entries_settle(void);

#endif
