/* The exported names and their numbers. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include "base/base.h"
#include "base/names.h"

/* `#name` is taken before a renaming macro can expand. */
static const char *const names[] = {
#define RT(name, fidelity) #name,
#define NNBASE(name, fidelity) #name,
#define OP(name, fidelity) #name,
#include "exports.def"
#undef RT
#undef NNBASE
#undef OP
#define HCCL(name, fidelity) #name,
#define MSTX(name, fidelity) #name,
#include "beside.def"
};

#define COUNT (sizeof names / sizeof names[0])
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
        uint32_t b = hash(names[i]) % BUCKETS;
        while (buckets[b] != 0) b = (b + 1) % BUCKETS;
        buckets[b] = (uint16_t)(i + 1);
    }
}

int mock_lookup_index(const char *name) {
    for (uint32_t b = hash(name) % BUCKETS; buckets[b] != 0; b = (b + 1) % BUCKETS)
        if (strcmp(names[buckets[b] - 1], name) == 0) return buckets[b] - 1;
    return -1;
}

const char *mock_lookup_name(int index) { return names[index]; }
