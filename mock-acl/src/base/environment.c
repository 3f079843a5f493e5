/* Numbers in environment variables. A bad one is named in one line, and the program goes on (own choice). */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

static void warn_once(const char *name, const char *text, unsigned least, unsigned limit, const char *instead) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *warned[8];
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < 8 && warned[i] != NULL && strcmp(warned[i], name) != 0) i++;
    if (i < 8 && warned[i] == NULL) {
        warned[i] = name;
        fprintf(stderr, "mock-acl: %s=\"%.100s\" is not a number from %u to %u; %s\n", name, text,
            least, limit, instead);
    }
    pthread_mutex_unlock(&lock);
}

unsigned mock_config_number(const char *name, unsigned fallback, unsigned least, unsigned limit) {
    const char *text = getenv(name);
    if (text == NULL) return fallback;
    char *end = NULL;
    errno = 0;
    const unsigned long n = strtoul(text, &end, 10);
    const bool number = isdigit((unsigned char)*text) && *end == '\0';
    if (number && errno == 0 && n >= least && n <= limit) return (unsigned)n;
    const unsigned nearest = n < least ? least : limit;
    char instead[32] = "it counts as unset";
    if (number) snprintf(instead, sizeof instead, "%u is used", nearest);
    warn_once(name, text, least, limit, instead);
    return number ? nearest : fallback;
}
