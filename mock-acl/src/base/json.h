/* A reader of JSON text: checks it, then finds members in place, without memory of its own. */
#ifndef MOCK_BASE_JSON_H_
#define MOCK_BASE_JSON_H_

#include <stdbool.h>
#include <stddef.h>

/* Objects and arrays inside each other, each kind counted alone. */
#define MOCK_JSON_DEPTH 10

/* A value inside a checked text; `at` is NULL where there is none. */
typedef struct mock_json {
    const char *at;
    size_t length;
} mock_json;

#endif
