/* What the tests of races share. */
#ifndef MOCK_TESTS_RACES_H_
#define MOCK_TESTS_RACES_H_

#include "check.h"

#define BYTES 4096u

/* Everything from here on is looked at. */
static inline void start(void) {
    up();
    mock_acl_stand_still(1);
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_REPORT) >= 0);
    CHECK(mock_acl_race_count() == 0);
}

static inline void fill(void *p, size_t size, aclrtStream s) { OK(aclrtMemsetAsync(p, size, 1, size, s)); }

static inline void copy(void *to, const void *from, size_t size, aclrtStream s) {
    OK(aclrtMemcpyAsync(to, size, from, size, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
}

static inline void wait_for(aclrtStream s) { OK(aclrtSynchronizeStream(s)); }

static inline mock_acl_race race_at(uint64_t i) {
    mock_acl_race r = {.struct_size = sizeof r};
    OK(mock_acl_race_at(i, &r));
    return r;
}

/* All work ran, and there are as many pairs; what follows comes after it. */
static inline void races(uint64_t expected) {
    mock_acl_run_until_idle(); /* orders nothing */
    const uint64_t found = mock_acl_race_count();
    char text[2048];
    for (uint64_t i = expected; i < found; i++) {
        mock_acl_race_text(i, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    CHECK(found == expected);
    aclrtSynchronizeDevice();
}

static inline int has(uint64_t i, const char *words) {
    char text[2048];
    CHECK(mock_acl_race_text(i, text, sizeof text) == strlen(text));
    if (strstr(text, words) == NULL) fprintf(stderr, "\"%s\" is not in: %s\n", words, text);
    return strstr(text, words) != NULL;
}

#endif
