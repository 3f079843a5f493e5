/* Name to address. Includes no public header: every name is declared as a plain function here, so that the
 * list works unchanged when a build renames the exported symbols with macros. */
#define _GNU_SOURCE
#include <string.h>
#include "exports/exports.h"

#define RT(name, fidelity) extern void name(void);
#define NNBASE(name, fidelity) extern void name(void);
#define OP(name, fidelity) extern void name(void);
#include "exports.def"
#undef RT
#undef NNBASE
#undef OP
#define HCCL(name, fidelity) extern void name(void);
#define MSTX(name, fidelity) extern void name(void);
#include "beside.def"

/* By the number of the name. */
static void (*const addresses[])(void) = {
#define RT(name, fidelity) name,
#define NNBASE(name, fidelity) name,
#define OP(name, fidelity) name,
#include "exports.def"
#undef RT
#undef NNBASE
#undef OP
#define HCCL(name, fidelity) name,
#define MSTX(name, fidelity) name,
#include "beside.def"
};

void *mock_lookup_address(int index) {
    void *p = NULL;
    memcpy(&p, &addresses[index], sizeof p);
    return p;
}
