/* Variables of the device that a program names by a host symbol. Only a compiler that builds host and device
 * code together registers them, and none does so with the mock: every symbol is unknown, 107043 (header:
 * ACL_ERROR_RT_INVALID_SYMBOL; own choice among that and 107042). Null and zero come first: 100000. */
#define _GNU_SOURCE
#include "core.h"

static aclError unknown(const void *symbol) {
    return mock_fail(ACL_ERROR_RT_INVALID_SYMBOL, "EE1003", "%p is no symbol of the device", symbol);
}

MOCK_EXPORT aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr) {
    MOCK_ENTER(aclrtGetSymbolAddress);
    return symbol == NULL || devPtr == NULL ? mock_null("symbol and devPtr") : unknown(symbol);
}

MOCK_EXPORT aclError aclrtGetSymbolSize(const void *symbol, size_t *size) {
    MOCK_ENTER(aclrtGetSymbolSize);
    return symbol == NULL || size == NULL ? mock_null("symbol and size") : unknown(symbol);
}

static aclError check(const void *symbol, const void *other, aclrtMemcpyKind kind) {
    if (symbol == NULL || other == NULL) return mock_null("symbol, dst and src");
    if ((int)kind < 0 || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "copy kind %d", (int)kind);
    return unknown(symbol);
}

static aclError check_async(const void *symbol, const void *other, aclrtMemcpyKind kind, aclrtStream stream) {
    mock_stream *s = NULL;
    if (symbol == NULL || other == NULL) return mock_null("symbol, dst and src");
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    mock_unlock();
    return code != 0 ? code : check(symbol, other, kind);
}

MOCK_EXPORT aclError aclrtMemcpyFromSymbol(
    void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind) {
    MOCK_ENTER(aclrtMemcpyFromSymbol);
    (void)dstMax;
    (void)count;
    (void)offset;
    return check(symbol, dst, kind);
}

MOCK_EXPORT aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, const void *symbol, size_t count,
    size_t offset, aclrtMemcpyKind kind, aclrtStream stream) {
    MOCK_ENTER(aclrtMemcpyFromSymbolAsync);
    (void)dstMax;
    (void)count;
    (void)offset;
    return check_async(symbol, dst, kind, stream);
}

MOCK_EXPORT aclError aclrtMemcpyToSymbol(
    const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind) {
    MOCK_ENTER(aclrtMemcpyToSymbol);
    (void)count;
    (void)offset;
    return check(symbol, src, kind);
}

MOCK_EXPORT aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
    size_t offset, aclrtMemcpyKind kind, aclrtStream stream) {
    MOCK_ENTER(aclrtMemcpyToSymbolAsync);
    (void)count;
    (void)offset;
    return check_async(symbol, src, kind, stream);
}
