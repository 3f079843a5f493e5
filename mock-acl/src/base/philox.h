/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"): four random words of
 * a counter and a key, the lowest word of each first. */
#ifndef MOCK_BASE_PHILOX_H_
#define MOCK_BASE_PHILOX_H_

#include <stdint.h>

static inline void mock_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]) {
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t p = UINT64_C(0xD2511F53) * a, q = UINT64_C(0xCD9E8D57) * c;
        a = (uint32_t)(q >> 32) ^ b ^ k0;
        c = (uint32_t)(p >> 32) ^ d ^ k1;
        b = (uint32_t)q;
        d = (uint32_t)p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
}

#endif
