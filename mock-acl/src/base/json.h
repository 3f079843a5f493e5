/* A reader of JSON text: checks it, then finds members in place, without memory of its own. */
#ifndef MOCK_JSON_H_
#define MOCK_JSON_H_

#include <stdbool.h>
#include <stddef.h>

/* Objects and arrays inside each other, each kind counted alone. */
#define MOCK_JSON_DEPTH 10

/* A value inside a checked text; `at` is NULL where there is none. */
typedef struct mock_json {
    const char *at;
    size_t length;
} mock_json;

/* The one value that the text is, or none where it is not JSON (RFC 8259, in UTF-8) or nested too deeply. */
mock_json mock_json_parse(const char *text, size_t length);
/* '{', '[', '"', '0' for numbers, 't', 'f', 'n'; 0 for none. */
char mock_json_kind(mock_json value);
/* Of members of one name the last counts. */
mock_json mock_json_member(mock_json object, const char *name);
/* The first element of an array, and the one after `element` in it. */
mock_json mock_json_first(mock_json array);
mock_json mock_json_after(mock_json array, mock_json element);
/* Whether the value is this string. */
bool mock_json_is(mock_json value, const char *text);
/* The characters of a string that has no escapes in it, or of a number; none for anything else. */
mock_json mock_json_characters(mock_json value);

#endif
