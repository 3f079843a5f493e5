/* Which instructions the operators use: the best that the processor has, or what MOCK_ACL_ISA names
 * (baseline, avx2, avx512, neon). Chosen once, so that one process always computes the same bits (own
 * choice). An unknown name, or one that this processor lacks, is named once on standard error and has no
 * effect. */
#ifndef MOCK_OBJECTS_ISA_H_
#define MOCK_OBJECTS_ISA_H_

#include <stdbool.h>
#include "base/base.h"

#if defined(__x86_64__) && !defined(MOCK_PORTABLE)
#define MOCK_ISA_X86
#elif defined(__aarch64__) && !defined(MOCK_PORTABLE)
#define MOCK_ISA_ARM
#endif

/* AVX2 is with FMA and F16C, AVX-512 is its foundation. */
typedef enum mock_isa {
    MOCK_ISA_BASELINE, MOCK_ISA_AVX2, MOCK_ISA_AVX512, MOCK_ISA_NEON, MOCK_ISAS
} mock_isa;

const char *mock_isa_name(mock_isa isa);
bool mock_isa_available(mock_isa isa);

#endif
