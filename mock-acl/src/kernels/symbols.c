/* Symbols: addresses of the host that stand for kernels and variables of a binary.
 *
 * On a card a compiler for host and device registers them. A program for the mock has none, so it does that
 * itself, with mock_acl_register_symbol (own choice). (header: ACL_ERROR_RT_INVALID_SYMBOL,
 * ACL_ERROR_RT_INVALID_DEVICE_FUNCTION; guide: memory management, symbols) */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "kernels/kernel.h"
#include "memory/memory.h"

typedef struct symbol {
    const void *host;
    mock_binary *binary;
    mock_function *function;
    const mock_variable *variable;
    struct symbol *next;
} symbol;
static symbol *symbols;

static const symbol *find(const void *host) {
    for (const symbol *s = symbols; s != NULL; s = s->next)
        if (s->host == host) return s;
    return NULL;
}

mock_function *mock_symbol_function(const void *host) {
    const symbol *s = host == NULL ? NULL : find(host);
    return s == NULL ? NULL : s->function;
}

void mock_symbols_forget(const mock_binary *b) {
    for (symbol **link = &symbols; *link != NULL;) {
        symbol *s = *link;
        if (s->binary != b) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        free(s);
    }
}

static int add(mock_binary *b, const void *host, const char *name) {
    const mock_variable *variable = mock_binary_variable(b, name);
    mock_function *function = variable == NULL ? mock_binary_function(b, name) : NULL;
    if ((variable == NULL && function == NULL) || find(host) != NULL) return MOCK_ACL_BAD_ARGUMENT;
    symbol *s = malloc(sizeof *s);
    if (s == NULL) return MOCK_ACL_BUSY;
    *s = (symbol){host, b, function, variable, symbols};
    symbols = s;
    return 0;
}

MOCK_EXPORT int mock_acl_register_symbol(void *binary, const void *host, const char *name) {
    if (host == NULL || name == NULL) return MOCK_ACL_BAD_ARGUMENT;
    pthread_mutex_lock(&mock_kernel_lock);
    mock_binary *b = mock_binary_get(binary);
    const int result = b == NULL ? MOCK_ACL_BAD_ARGUMENT : add(b, host, name);
    pthread_mutex_unlock(&mock_kernel_lock);
    return result;
}

/* Not registered: 107044 (header: ACL_ERROR_RT_INVALID_DEVICE_FUNCTION; implementation of the open
 * runtime). */
MOCK_EXPORT aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *funcHandle) {
    MOCK_ENTER(aclrtGetFuncBySymbol);
    if (symbol == NULL || funcHandle == NULL) return mock_null("symbol and funcHandle");
    pthread_mutex_lock(&mock_kernel_lock);
    mock_function *f = mock_symbol_function(symbol);
    aclError code = 0;
    if (f == NULL)
        code = mock_fail(
            ACL_ERROR_RT_INVALID_DEVICE_FUNCTION, "EE1017", "%p is not the symbol of a kernel", symbol);
    if (code == 0) code = mock_binary_to_device(f->binary);
    if (code == 0) code = mock_function_handle(f, funcHandle);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* ---- variables ---- */

/* Not registered: 107043 (header: ACL_ERROR_RT_INVALID_SYMBOL; implementation of the open runtime). */
static aclError place(const void *host, char **address, uint64_t *size) {
    pthread_mutex_lock(&mock_kernel_lock);
    const symbol *s = find(host);
    aclError code = 0;
    if (s == NULL || s->variable == NULL)
        code = mock_fail(ACL_ERROR_RT_INVALID_SYMBOL, "EE1017", "%p is not the symbol of a variable", host);
    if (code == 0) code = mock_binary_to_device(s->binary);
    if (code == 0) {
        *address = s->binary->device + s->variable->offset;
        *size = s->variable->size;
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

MOCK_EXPORT aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr) {
    MOCK_ENTER(aclrtGetSymbolAddress);
    if (symbol == NULL || devPtr == NULL) return mock_null("symbol and devPtr");
    char *address = NULL;
    uint64_t size = 0;
    const aclError code = place(symbol, &address, &size);
    if (code == 0) *devPtr = address;
    return code;
}

MOCK_EXPORT aclError aclrtGetSymbolSize(const void *symbol, size_t *size) {
    MOCK_ENTER(aclrtGetSymbolSize);
    if (symbol == NULL || size == NULL) return mock_null("symbol and size");
    char *address = NULL;
    uint64_t bytes = 0;
    const aclError code = place(symbol, &address, &bytes);
    if (code == 0) *size = bytes;
    return code;
}

/* ---- copies ---- */

/* Beyond the end of the variable: 107000 (own choice). */
static aclError part(const void *host, size_t count, size_t offset, char **address) {
    uint64_t size = 0;
    const aclError code = place(host, address, &size);
    if (code != 0) return code;
    if (offset > size || count > size - offset)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%zu bytes from %zu on, the variable has %llu",
            count, offset, (unsigned long long)size);
    *address += offset;
    return 0;
}

/* As in other copies: 100000. */
static aclError check(const void *symbol, const void *other, aclrtMemcpyKind kind) {
    if (symbol == NULL || other == NULL) return mock_null("symbol, dst and src");
    if ((int)kind >= 0 && kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "copy kind %d", (int)kind);
}

MOCK_EXPORT aclError aclrtMemcpyToSymbol(
    const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind) {
    MOCK_ENTER_OF(aclrtMemcpyToSymbol, src);
    char *address = NULL;
    aclError code = check(symbol, src, kind);
    if (code == 0) code = part(symbol, count, offset, &address);
    return code != 0 ? code : mock_copy_sync(address, count, src, count, kind, "aclrtMemcpyToSymbol");
}

MOCK_EXPORT aclError aclrtMemcpyToSymbolAsync(
    const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind,
    aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpyToSymbolAsync, src, stream);
    char *address = NULL;
    aclError code = check(symbol, src, kind);
    if (code == 0) code = part(symbol, count, offset, &address);
    return code != 0 ? code
                     : mock_copy_async(address, count, src, count, kind, stream, "aclrtMemcpyToSymbolAsync");
}

MOCK_EXPORT aclError aclrtMemcpyFromSymbol(
    void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind) {
    MOCK_ENTER_OF(aclrtMemcpyFromSymbol, dst);
    char *address = NULL;
    aclError code = check(symbol, dst, kind);
    if (code == 0) code = part(symbol, count, offset, &address);
    return code != 0 ? code : mock_copy_sync(dst, dstMax, address, count, kind, "aclrtMemcpyFromSymbol");
}

MOCK_EXPORT aclError aclrtMemcpyFromSymbolAsync(
    void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind,
    aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpyFromSymbolAsync, dst, stream);
    char *address = NULL;
    aclError code = check(symbol, dst, kind);
    if (code == 0) code = part(symbol, count, offset, &address);
    return code != 0
               ? code
               : mock_copy_async(dst, dstMax, address, count, kind, stream, "aclrtMemcpyFromSymbolAsync");
}
