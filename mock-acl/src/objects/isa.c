#include "objects/isa.h"
#include "objects/objects.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[MOCK_ISAS] = {"baseline", "avx2", "avx512", "neon"};

const char *mock_isa_name(mock_isa isa) {
    return names[isa];
}

bool mock_isa_available(mock_isa isa) {
    switch (isa) {
        case MOCK_ISA_BASELINE: return true;
#ifdef MOCK_ISA_X86
        /* Every processor with AVX2 has F16C, whose name not every compiler knows here. */
        case MOCK_ISA_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        case MOCK_ISA_AVX512:
            return __builtin_cpu_supports("avx512f") && mock_isa_available(MOCK_ISA_AVX2);
#endif
#ifdef MOCK_ISA_ARM
        case MOCK_ISA_NEON: return true;
#endif
        default: return false;
    }
}

static mock_isa best(void) {
    mock_isa isa = MOCK_ISAS - 1;
    while (!mock_isa_available(isa)) isa--;
    return isa;
}

static mock_isa wanted(void) {
    const char *text = getenv("MOCK_ACL_ISA");
    const mock_isa fallback = best();
    if (text == NULL || *text == '\0') return fallback;
    for (mock_isa isa = 0; isa < MOCK_ISAS; isa++) {
        if (strcmp(text, names[isa]) != 0) continue;
        if (mock_isa_available(isa)) return isa;
        fprintf(stderr, "mock-acl: MOCK_ACL_ISA=\"%s\" is not available here; %s is used\n", text,
            names[fallback]);
        return fallback;
    }
    fprintf(stderr, "mock-acl: MOCK_ACL_ISA=\"%.100s\" is not baseline, avx2, avx512 or neon; %s is used\n",
        text, names[fallback]);
    return fallback;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static mock_isa chosen;

static void choose(void) {
    chosen = wanted();
}

mock_isa mock_isa_used(void) {
    pthread_once(&once, choose);
    return chosen;
}
