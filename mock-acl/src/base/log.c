/* Messages of programs: to standard error when MOCK_ACL_LOG is set (own choice: the card's host writes
 * them to its log). */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "base/entry.h"

static const char *level_name(aclLogLevel level) {
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"}; /* (header: aclLogLevel) */
    return (int)level >= 0 && level <= ACL_ERROR ? names[level] : "LOG";
}

/* Nothing is written without a function, a file or a format (own choice). One line a message, 1,023 bytes
 * at most. */
MOCK_EXPORT void aclAppLog(
    aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...) {
    if (mock_enter(MOCK_API_aclAppLog) != 0 || func == NULL || file == NULL || fmt == NULL) return;
    if (getenv("MOCK_ACL_LOG") == NULL) return;
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "[%s] %s %s:%u: %s\n", level_name(logLevel), func, file, line, text);
}
