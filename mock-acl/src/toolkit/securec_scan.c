/* sscanf_s of libc_sec: each place for text is followed by its size. One conversion after the other goes to the C
 * library, which is asked how much it would take before anything is written. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/base.h"
#include "toolkit/toolkit.h"

#define LONGEST 256

typedef struct conversion {
    const char *body; /* behind %, * and the width: length and kind */
    size_t length;
    char width[12];
    char kind;
    bool dropped, wide;
} conversion;

/* Gives the place behind the conversion at %, or null for a bad one. */
static const char *parse(const char *p, conversion *c) {
    *c = (conversion){0};
    c->dropped = *++p == '*';
    p += c->dropped;
    size_t n = strspn(p, "0123456789");
    if (n >= sizeof c->width) return NULL;
    memcpy(c->width, p, n);
    p += n;
    c->body = p;
    n = strspn(p, "hljztL");
    c->wide = memchr(p, 'l', n) != NULL;
    p += n;
    c->kind = *p++;
    if (c->kind == '\0') return NULL;
    if (c->kind == '[') {
        p += *p == '^';
        p += *p == ']';
        p = strchr(p, ']');
        if (p == NULL) return NULL;
        p++;
    }
    c->length = (size_t)(p - c->body);
    return c->length <= LONGEST ? p : NULL;
}

/* How many characters of `in` it takes; -1 for none. */
static int measure(const conversion *c, const char *in) {
    char format[LONGEST + 32];
    int n = -1;
    snprintf(format, sizeof format, "%%*%s%.*s%%n", c->width, (int)c->length, c->body);
    (void)sscanf(in, format, &n);
    return n;
}

static bool number(const conversion *c, const char *in, void *to) {
    char format[LONGEST + 32];
    snprintf(format, sizeof format, "%%%s%.*s", c->width, (int)c->length, c->body);
    return sscanf(in, format, to) == 1;
}

/* False when it does not fit. */
static bool text(const conversion *c, const char *in, int n, char *to, size_t size) {
    const size_t start = c->kind == 's' ? strspn(in, " \t\n\v\f\r") : 0;
    const size_t length = (size_t)n - start;
    const bool fits = to != NULL && (c->kind == 'c' ? length <= size : length < size);
    if (!fits) {
        if (to != NULL && size != 0) to[0] = '\0';
        return false;
    }
    memcpy(to, in + start, length);
    if (c->kind != 'c') to[length] = '\0';
    return true;
}

MOCK_EXPORT int vsscanf_s(const char *buffer, const char *format, va_list argList) {
    if (buffer == NULL || format == NULL) return -1;
    va_list list;
    va_copy(list, argList);
    const char *in = buffer, *p = format;
    int assigned = 0, code = 0;
    bool matched = true;
    while (code == 0 && matched && *p != '\0') {
        conversion c;
        if (isspace((unsigned char)*p)) {
            p++;
            in += strspn(in, " \t\n\v\f\r");
            continue;
        }
        if (*p != '%' || p[1] == '%') {
            if (*p == '%') in += strspn(in, " \t\n\v\f\r");
            matched = *in == *p;
            p += *p == '%' ? 2 : 1;
            in += matched;
            continue;
        }
        p = parse(p, &c);
        const bool texts = p != NULL && (c.kind == 's' || c.kind == 'c' || c.kind == '[');
        if (p == NULL || (texts && c.wide && !c.dropped)) {
            code = -1;
        } else if (c.kind == 'n') {
            if (!c.dropped) *va_arg(list, int *) = (int)(in - buffer);
        } else {
            const int n = measure(&c, in);
            void *to = c.dropped ? NULL : va_arg(list, void *);
            const size_t size = texts && !c.dropped ? va_arg(list, unsigned) : 0;
            matched = n >= 0;
            if (matched && !c.dropped) {
                if (texts ? !text(&c, in, n, to, size) : to == NULL || !number(&c, in, to)) code = -1;
                assigned++;
            }
            if (matched) in += n;
            else if (assigned == 0 && in[strspn(in, " \t\n\v\f\r")] == '\0') code = -1;
        }
    }
    va_end(list);
    return code != 0 ? -1 : assigned;
}

MOCK_EXPORT int sscanf_s(const char *buffer, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsscanf_s(buffer, format, list);
    va_end(list);
    return n;
}
