/* Events of a profile, and the file they end in. */
#ifndef MOCK_PROFILING_TRACE_H_
#define MOCK_PROFILING_TRACE_H_

#include "base/base.h"

/* Whether marks and ranges of the host are recorded. */
bool mock_trace_marks(void);

void mock_stamps_reset(void);

/* A mark of the host at once, and of the stream in its turn; false where that does not take it. */
bool mock_mark_for_tools(const char *text, aclrtStream stream);

/* `process` 0 is the host; `duration_ns` of -1 is a mark. */
void mock_trace_add(const char *name, const char *category, uint32_t process, uint64_t thread,
    uint64_t start_ns,
    int64_t duration_ns);
void mock_trace_clear(void);
/* 100004 when it cannot be written. */
aclError mock_trace_write(const char *path);

#endif
