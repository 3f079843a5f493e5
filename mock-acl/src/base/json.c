#define _GNU_SOURCE
#include "base/base.h"
#include "base/json.h"
#include <ctype.h>
#include <stdint.h>
#include <string.h>

typedef struct depth {
    int objects, arrays;
} depth;

/* Each of these gives the place behind what it reads, or NULL. */
static const char *skip_value(const char *p, const char *end, depth d);

static const char *skip_space(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
    return p;
}

static const char *skip_word(const char *p, const char *end, const char *word) {
    const size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0 ? p + n : NULL;
}

static const char *skip_digits(const char *p, const char *end) {
    if (p == end || !isdigit((unsigned char)*p)) return NULL;
    while (p < end && isdigit((unsigned char)*p)) p++;
    return p;
}

static const char *skip_number(const char *p, const char *end) {
    if (p < end && *p == '-') p++;
    if (p < end && *p == '0') p++;
    else p = skip_digits(p, end);
    if (p != NULL && p < end && *p == '.') p = skip_digits(p + 1, end);
    if (p == NULL || p == end || (*p != 'e' && *p != 'E')) return p;
    p++;
    if (p < end && (*p == '+' || *p == '-')) p++;
    return skip_digits(p, end);
}

/* One character outside of ASCII: well-formed, no surrogate, not longer than needed. */
static const char *skip_utf8(const char *p, const char *end) {
    const unsigned char first = (unsigned char)*p;
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (first < 0xC2 || first > 0xF4 || end - p <= more) return NULL;
    uint32_t value = first & (0x3Fu >> more);
    for (int i = 1; i <= more; i++) {
        if (((unsigned char)p[i] & 0xC0) != 0x80) return NULL;
        value = value << 6 | ((unsigned char)p[i] & 0x3Fu);
    }
    if (value < least[more] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return NULL;
    return p + more + 1;
}

static const char *skip_escape(const char *p, const char *end) {
    if (end - p < 2) return NULL;
    if (p[1] != 'u') return strchr("\"\\/bfnrt", p[1]) != NULL ? p + 2 : NULL;
    if (end - p < 6) return NULL;
    for (int i = 2; i < 6; i++)
        if (!isxdigit((unsigned char)p[i])) return NULL;
    return p + 6;
}

static const char *skip_string(const char *p, const char *end) {
    if (p == end || *p != '"') return NULL;
    p++;
    while (p != NULL && p < end && *p != '"') {
        const unsigned char c = (unsigned char)*p;
        if (c < 0x20) return NULL;
        p = c == '\\' ? skip_escape(p, end) : c < 0x80 ? p + 1 : skip_utf8(p, end);
    }
    return p == NULL || p == end ? NULL : p + 1;
}

/* Name, colon and value of a member; a value alone in an array. */
static const char *skip_item(const char *p, const char *end, bool member, depth d) {
    if (member) {
        p = skip_string(p, end);
        if (p == NULL) return NULL;
        p = skip_space(p, end);
        if (p == end || *p != ':') return NULL;
        p = skip_space(p + 1, end);
    }
    return skip_value(p, end, d);
}

static const char *skip_items(const char *p, const char *end, depth d) {
    const bool member = *p == '{';
    const char close = member ? '}' : ']';
    if ((member ? ++d.objects : ++d.arrays) > MOCK_JSON_DEPTH) return NULL;
    p = skip_space(p + 1, end);
    if (p < end && *p == close) return p + 1;
    for (;;) {
        p = skip_item(p, end, member, d);
        if (p == NULL) return NULL;
        p = skip_space(p, end);
        if (p == end) return NULL;
        if (*p == close) return p + 1;
        if (*p != ',') return NULL;
        p = skip_space(p + 1, end);
    }
}

static const char *skip_value(const char *p, const char *end, depth d) {
    if (p == end) return NULL;
    switch (*p) {
    case '{':
    case '[':
        return skip_items(p, end, d);
    case '"':
        return skip_string(p, end);
    case 't':
        return skip_word(p, end, "true");
    case 'f':
        return skip_word(p, end, "false");
    case 'n':
        return skip_word(p, end, "null");
    default:
        return skip_number(p, end);
    }
}

static mock_json value_at(const char *p, const char *end) {
    const char *behind = skip_value(p, end, (depth){0, 0});
    return behind == NULL ? (mock_json){NULL, 0} : (mock_json){p, (size_t)(behind - p)};
}

mock_json mock_json_parse(const char *text, size_t length) {
    const char *end = text + length;
    const mock_json value = value_at(skip_space(text, end), end);
    if (value.at == NULL || skip_space(value.at + value.length, end) != end) return (mock_json){NULL, 0};
    return value;
}

char mock_json_kind(mock_json value) {
    if (value.at == NULL) return 0;
    return *value.at == '-' || isdigit((unsigned char)*value.at) ? '0' : *value.at;
}

mock_json mock_json_first(mock_json array) {
    if (mock_json_kind(array) != '[') return (mock_json){NULL, 0};
    const char *end = array.at + array.length;
    const char *p = skip_space(array.at + 1, end);
    return *p == ']' ? (mock_json){NULL, 0} : value_at(p, end);
}

mock_json mock_json_after(mock_json array, mock_json element) {
    const char *end = array.at + array.length;
    const char *p = skip_space(element.at + element.length, end);
    return *p == ',' ? value_at(skip_space(p + 1, end), end) : (mock_json){NULL, 0};
}

bool mock_json_is(mock_json value, const char *text) {
    const size_t n = strlen(text);
    return mock_json_kind(value) == '"' && value.length == n + 2 && memcmp(value.at + 1, text, n) == 0;
}

mock_json mock_json_characters(mock_json value) {
    const char kind = mock_json_kind(value);
    if (kind == '0') return value;
    if (kind != '"' || memchr(value.at, '\\', value.length) != NULL) return (mock_json){NULL, 0};
    return (mock_json){value.at + 1, value.length - 2};
}

/* A name with escapes in it is no name that anybody asks for. */
mock_json mock_json_member(mock_json object, const char *name) {
    mock_json found = {NULL, 0};
    if (mock_json_kind(object) != '{') return found;
    const char *end = object.at + object.length;
    const char *p = skip_space(object.at + 1, end);
    while (*p == '"') {
        const char *behind = skip_string(p, end);
        const mock_json key = {p, (size_t)(behind - p)};
        p = skip_space(skip_space(behind, end) + 1, end);
        const mock_json value = value_at(p, end);
        if (mock_json_is(key, name)) found = value;
        p = skip_space(value.at + value.length, end);
        if (*p == ',') p = skip_space(p + 1, end);
    }
    return found;
}
