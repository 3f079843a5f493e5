/* Formats that store a tensor in blocks: FRACTAL_NZ, and of pictures NC1HWC0 and FRACTAL_Z. */
#ifndef MOCK_OBJECTS_BLOCKED_H_
#define MOCK_OBJECTS_BLOCKED_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "acl/acl.h"

#define MOCK_BLOCKED_RANK 8

/* Index i of dimension d lies i / block * outer + i % block * inner elements from the first one. */
typedef struct mock_blocked {
    int rank, storage_rank;
    int64_t dims[MOCK_BLOCKED_RANK], storage[MOCK_BLOCKED_RANK];
    int64_t block[MOCK_BLOCKED_RANK], outer[MOCK_BLOCKED_RANK], inner[MOCK_BLOCKED_RANK];
    int64_t count; /* elements stored, those of the padding too */
} mock_blocked;

#endif
