/* Profiles of cards, as data.
 *
 * (own choice: cores, memory and L2 as public descriptions of these cards name them, of which none is
 * normative; AI CPUs as cluster schedulers count them; the architecture is the compiler's dav-2201 for
 * all of the family) */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "devices/devices.h"
#include "devices/profile.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static const mock_profile profiles[] = {
    {"Ascend910B1", 24, 48, 6, 192 * MIB, 64 * GIB, 2201},
    {"Ascend910B2", 24, 48, 6, 192 * MIB, 64 * GIB, 2201},
    {"Ascend910B3", 20, 40, 7, 192 * MIB, 64 * GIB, 2201},
    {"Ascend910B4", 20, 40, 7, 96 * MIB, 32 * GIB, 2201},
};
#define PROFILES (sizeof profiles / sizeof profiles[0])
#define FALLBACK 1

/* With or without "Ascend", in any case. */
static size_t find(const char *name) {
    for (size_t i = 0; i < PROFILES; i++)
        if (strcasecmp(name, profiles[i].soc) == 0 || strcasecmp(name, profiles[i].soc + 6) == 0) return i;
    return PROFILES;
}

static size_t choose(void) {
    const char *name = getenv("MOCK_ACL_SOC");
    if (name == NULL) return FALLBACK;
    const size_t i = find(name);
    if (i < PROFILES) return i;
    fprintf(stderr, "mock-acl: MOCK_ACL_SOC=\"%.100s\" is not Ascend910B1, B2, B3 or B4; %s is used\n", name,
        profiles[FALLBACK].soc);
    return FALLBACK;
}

/* 0: not read yet; else the index plus 1. */
const mock_profile *mock_profile_get(void) {
    static _Atomic size_t chosen;
    size_t i = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (i == 0) {
        i = choose() + 1;
        atomic_store_explicit(&chosen, i, memory_order_relaxed);
    }
    return &profiles[i - 1];
}
