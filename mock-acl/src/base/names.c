/* Name to address. Includes no public header: every name is declared as a plain function here, so that the
 * list works unchanged when a build renames the exported symbols with macros. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include "base/names.h"

#define RT(name, fidelity) extern void name(void);
#define NNBASE(name, fidelity) extern void name(void);
#define OP(name, fidelity) extern void name(void);
#include "base/exports.def"
#undef RT
#undef NNBASE
#undef OP

typedef struct entry {
    const char *name;
    void (*address)(void);
} entry;

/* `#name` is taken before a renaming macro can expand, the bare `name` after it. */
static const entry entries[] = {
#define RT(name, fidelity) {#name, name},
#define NNBASE(name, fidelity) {#name, name},
#define OP(name, fidelity) {#name, name},
#include "base/exports.def"
#undef RT
#undef NNBASE
#undef OP
};

#define COUNT (sizeof entries / sizeof entries[0])
#define BUCKETS 8192u
_Static_assert(2 * COUNT < BUCKETS, "the hash table must stay sparse");

static uint32_t hash(const char *s) {
    uint32_t h = 2166136261u;
    for (; *s != '\0'; s++) h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

static uint16_t buckets[BUCKETS]; /* index + 1 */

__attribute__((constructor)) static void fill(void) {
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t b = hash(entries[i].name) % BUCKETS;
        while (buckets[b] != 0) b = (b + 1) % BUCKETS;
        buckets[b] = (uint16_t)(i + 1);
    }
}

int mock_lookup_index(const char *name) {
    for (uint32_t b = hash(name) % BUCKETS; buckets[b] != 0; b = (b + 1) % BUCKETS)
        if (strcmp(entries[buckets[b] - 1].name, name) == 0) return buckets[b] - 1;
    return -1;
}

const char *mock_lookup_name(int index) { return entries[index].name; }

void *mock_lookup_address(int index) {
    void *p = NULL;
    memcpy(&p, &entries[index].address, sizeof p);
    return p;
}
