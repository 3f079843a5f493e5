/* MOCK_ACL_STRICT: where the documentation and the implementation of the open runtime disagree, the mock
 * follows the implementation; with `doc` it follows the documentation (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

/* Words separated by commas; unknown ones have no effect. */
static int has_word(const char *list, const char *word) {
    const size_t n = strlen(word);
    for (const char *p = list; *p != '\0'; p += *p == ',') {
        const size_t length = strcspn(p, ",");
        if (length == n && memcmp(p, word, n) == 0) return 1;
        p += length;
    }
    return 0;
}

/* 0: not read yet; else the answer plus 1. Threads that read at once read the same. */
int mock_strict_doc(void) {
    static _Atomic int answer;
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known == 0) {
        const char *text = getenv("MOCK_ACL_STRICT");
        known = (text != NULL && has_word(text, "doc")) + 1;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known - 1;
}
