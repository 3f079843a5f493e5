/* Copies, texts and formats with the size of the destination (libc_sec): codes and what becomes of the destination
 * (header: securec.h, as it is published with open components). */
#define _GNU_SOURCE
#include <stdbool.h>
#include "base/base.h"
#include "toolkit/toolkit.h"

static bool overlap(const void *a, const void *b, size_t n) {
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return n != 0 && (x < y ? y - x < n : x - y < n);
}

/* ---- memory ---- */

static errno_t empty(void *dest, size_t max, errno_t code) {
    memset(dest, 0, max);
    return code;
}

static errno_t check_memory(void *dest, size_t max, const void *src, size_t count) {
    if (max == 0 || max > SECUREC_MEM_MAX_LEN) return ERANGE;
    if (dest == NULL) return EINVAL;
    if (src == NULL) return empty(dest, max, EINVAL_AND_RESET);
    return count <= max ? EOK : empty(dest, max, ERANGE_AND_RESET);
}

MOCK_EXPORT errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count) {
    const errno_t code = check_memory(dest, destMax, src, count);
    if (code != EOK || dest == src) return code;
    if (overlap(dest, src, count)) return empty(dest, destMax, EOVERLAP_AND_RESET);
    memcpy(dest, src, count);
    return EOK;
}

MOCK_EXPORT errno_t memmove_s(void *dest, size_t destMax, const void *src, size_t count) {
    const errno_t code = check_memory(dest, destMax, src, count);
    if (code == EOK) memmove(dest, src, count);
    return code;
}

/* Too many: what is there is filled. */
MOCK_EXPORT errno_t memset_s(void *dest, size_t destMax, int c, size_t count) {
    if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN) return ERANGE;
    if (dest == NULL) return EINVAL;
    memset(dest, c, count < destMax ? count : destMax);
    return count <= destMax ? EOK : ERANGE_AND_RESET;
}

/* ---- texts ---- */

static errno_t cut(char *dest, errno_t code) {
    dest[0] = '\0';
    return code;
}

static errno_t check_text(char *dest, size_t max, const char *src) {
    if (max == 0 || max > SECUREC_STRING_MAX_LEN) return ERANGE;
    if (dest == NULL) return EINVAL;
    return src == NULL ? cut(dest, EINVAL_AND_RESET) : EOK;
}

/* `length` characters of src behind the first `used` of dest. */
static errno_t put(char *dest, size_t max, size_t used, const char *src, size_t length, size_t read) {
    if (length >= max - used) return cut(dest, ERANGE_AND_RESET);
    const size_t written = used + length + 1;
    const char *low = dest < src ? dest : src;
    const size_t room = dest < src ? written : read;
    if ((uintptr_t)(dest < src ? src : dest) - (uintptr_t)low < room) return cut(dest, EOVERLAP_AND_RESET);
    memcpy(dest + used, src, length);
    dest[used + length] = '\0';
    return EOK;
}

MOCK_EXPORT errno_t strcpy_s(char *strDest, size_t destMax, const char *strSrc) {
    const errno_t code = check_text(strDest, destMax, strSrc);
    if (code != EOK) return code;
    const size_t length = strnlen(strSrc, destMax);
    if (strDest == strSrc) return length < destMax ? EOK : cut(strDest, ERANGE_AND_RESET);
    return put(strDest, destMax, 0, strSrc, length, length + 1);
}

/* Up to count characters, and the end of the text. */
MOCK_EXPORT errno_t strncpy_s(char *strDest, size_t destMax, const char *strSrc, size_t count) {
    const errno_t code = check_text(strDest, destMax, strSrc);
    if (code != EOK) return code;
    if (count > SECUREC_STRING_MAX_LEN) return cut(strDest, ERANGE_AND_RESET);
    const size_t length = strnlen(strSrc, count < destMax ? count : destMax);
    if (count == 0) return cut(strDest, EOK);
    if (strDest == strSrc && length < destMax) {
        strDest[length] = '\0';
        return EOK;
    }
    return put(strDest, destMax, 0, strSrc, length, length < count ? length + 1 : length);
}

static errno_t append(char *dest, size_t max, const char *src, size_t count) {
    const size_t used = strnlen(dest, max);
    if (used == max) return cut(dest, EINVAL_AND_RESET);
    const size_t length = strnlen(src, count < max ? count : max);
    return put(dest, max, used, src, length, length < count ? length + 1 : length);
}

MOCK_EXPORT errno_t strcat_s(char *strDest, size_t destMax, const char *strSrc) {
    const errno_t code = check_text(strDest, destMax, strSrc);
    return code != EOK ? code : append(strDest, destMax, strSrc, SIZE_MAX);
}

MOCK_EXPORT errno_t strncat_s(char *strDest, size_t destMax, const char *strSrc, size_t count) {
    const errno_t code = check_text(strDest, destMax, strSrc);
    if (code != EOK) return code;
    if (count > SECUREC_STRING_MAX_LEN) return cut(strDest, ERANGE_AND_RESET);
    return append(strDest, destMax, strSrc, count);
}

MOCK_EXPORT char *strtok_s(char *strToken, const char *strDelimit, char **context) {
    if (context == NULL || strDelimit == NULL || (strToken == NULL && *context == NULL)) return NULL;
    return strtok_r(strToken, strDelimit, context);
}

/* ---- formats ---- */

static bool printable(char *dest, size_t max, const char *format) {
    const bool room = dest != NULL && max != 0 && max <= SECUREC_STRING_MAX_LEN;
    if (room && format == NULL) dest[0] = '\0';
    return room && format != NULL;
}

static int failed_print(char *dest) {
    dest[0] = '\0';
    return -1;
}

MOCK_EXPORT int vsprintf_s(char *strDest, size_t destMax, const char *format, va_list argList) {
    if (!printable(strDest, destMax, format)) return -1;
    const int n = vsnprintf(strDest, destMax, format, argList);
    return n >= 0 && (size_t)n < destMax ? n : failed_print(strDest);
}

MOCK_EXPORT int sprintf_s(char *strDest, size_t destMax, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsprintf_s(strDest, destMax, format, list);
    va_end(list);
    return n;
}

/* A count of SIZE_MAX cuts at the size of the destination. */
MOCK_EXPORT int vsnprintf_s(
    char *strDest, size_t destMax, size_t count, const char *format, va_list argList) {
    if (!printable(strDest, destMax, format)) return -1;
    if (count > SECUREC_STRING_MAX_LEN - 1 && count != SIZE_MAX) return failed_print(strDest);
    const bool cuts = count < destMax || count == SIZE_MAX;
    const int n = vsnprintf(strDest, count < destMax ? count + 1 : destMax, format, argList);
    if (n < 0 || (!cuts && (size_t)n >= destMax)) return failed_print(strDest);
    return (size_t)n > (count < destMax ? count : destMax - 1) ? -1 : n;
}

MOCK_EXPORT int snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf_s(strDest, destMax, count, format, list);
    va_end(list);
    return n;
}

MOCK_EXPORT int vsnprintf_truncated_s(char *strDest, size_t destMax, const char *format, va_list argList) {
    if (!printable(strDest, destMax, format)) return -1;
    const int n = vsnprintf(strDest, destMax, format, argList);
    if (n < 0) return failed_print(strDest);
    return (size_t)n < destMax ? n : (int)(destMax - 1);
}

MOCK_EXPORT int snprintf_truncated_s(char *strDest, size_t destMax, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf_truncated_s(strDest, destMax, format, list);
    va_end(list);
    return n;
}
