/* Half precision and bfloat16, for the runtime part. */
#ifndef MOCK_BASE_HALF_H_
#define MOCK_BASE_HALF_H_

#include <stdint.h>
#include <string.h>

/* Exact (own choice: IEEE 754). */
static inline float mock_half_to_float(uint16_t value) {
    const uint32_t sign = (uint32_t)(value >> 15) << 31, exponent = (value >> 10) & 31u,
                   fraction = value & 1023u;
    uint32_t bits = sign | ((exponent + 112) << 23) | (fraction << 13);
    if (exponent == 31) bits = sign | 0x7F800000u | (fraction << 13);
    float f = 0;
    if (exponent == 0) {
        f = (float)fraction * 0x1p-24f;
        return sign != 0 ? -f : f;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Rounds to the nearest, ties to even; too large a value becomes infinite, any NaN one quiet NaN (own choice:
 * IEEE 754). */
static inline uint16_t mock_float_to_half(float value) {
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return (uint16_t)(sign | 0x7E00u);
    if (magnitude >= 0x47800000u) return (uint16_t)(sign | 0x7C00u);
    uint32_t kept = 0, rest = 0, half = 0;
    if (magnitude >= 0x38800000u) {
        kept = (magnitude - 0x38000000u) >> 13;
        rest = magnitude & 0x1FFFu;
        half = 0x1000u;
    } else {
        const uint32_t shift = 126u - (magnitude >> 23);
        if (shift > 24) return sign;
        const uint32_t fraction = (magnitude & 0x7FFFFFu) | 0x800000u;
        kept = fraction >> shift;
        rest = fraction & ((1u << shift) - 1);
        half = 1u << (shift - 1);
    }
    if (rest > half || (rest == half && (kept & 1) != 0)) kept++;
    return (uint16_t)(sign | kept);
}

static inline float mock_brain_to_float(uint16_t value) {
    const uint32_t bits = (uint32_t)value << 16;
    float f = 0;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* To the nearest, ties to even. */
static inline uint16_t mock_float_to_brain(float value) {
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)((bits >> 16) | 0x40u);
    return (uint16_t)((bits + 0x7FFFu + ((bits >> 16) & 1)) >> 16);
}

#endif
