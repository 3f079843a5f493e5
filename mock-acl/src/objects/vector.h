/* Four-lane float arithmetic with the vector extension: baseline SSE2 or NEON, so every machine of one
 * kind gives the same bits.
 *
 * Own choice: nothing here imitates the bits of a card. */
#ifndef MOCK_OBJECTS_VECTOR_H_
#define MOCK_OBJECTS_VECTOR_H_

#include <stdint.h>
#include <string.h>
#include "base/base.h"

typedef float f32x4 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef uint16_t u16x4 __attribute__((vector_size(8)));

static inline f32x4 mock_get(const float *from) {
    f32x4 v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void mock_put(float *to, f32x4 v) {
    memcpy(to, &v, sizeof v);
}

static inline u32x4 mock_get_u16(const uint16_t *from) {
    u16x4 v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, u32x4);
}

static inline void mock_put_u16(uint16_t *to, u32x4 wide) {
    const u16x4 v = __builtin_convertvector(wide, u16x4);
    memcpy(to, &v, sizeof v);
}

static inline f32x4 mock_splat(float value) {
    return (f32x4){value, value, value, value};
}

/* Lanes of `yes` where the comparison result `mask` is set, else of `no`. */
static inline u32x4 mock_choose_bits(i32x4 mask, u32x4 yes, u32x4 no) {
    return ((u32x4)mask & yes) | (~(u32x4)mask & no);
}

static inline f32x4 mock_choose(i32x4 mask, f32x4 yes, f32x4 no) {
    return (f32x4)mock_choose_bits(mask, (u32x4)yes, (u32x4)no);
}

/* Lanes of two vectors: alternating from the low or the high half, or the low or high halves after each
 * other. */
static inline f32x4 mock_mix_low(f32x4 a, f32x4 b) {
    return (f32x4){a[0], b[0], a[1], b[1]};
}

static inline f32x4 mock_mix_high(f32x4 a, f32x4 b) {
    return (f32x4){a[2], b[2], a[3], b[3]};
}

static inline f32x4 mock_pair_low(f32x4 a, f32x4 b) {
    return (f32x4){a[0], a[1], b[0], b[1]};
}

static inline f32x4 mock_pair_high(f32x4 a, f32x4 b) {
    return (f32x4){a[2], a[3], b[2], b[3]};
}

static inline f32x4 mock_abs4(f32x4 x) {
    return (f32x4)((u32x4)x & 0x7fffffffu);
}

/* NaN in either lane wins (own choice: as PyTorch does); of equal values, zeros of both signs too, the
 * second. */
static inline f32x4 mock_max4(f32x4 x, f32x4 y) {
    return mock_choose((x > y) | (x != x), x, y);
}

/* Halves in the low 16 bits. The exponent is rebased by a multiplication, which also normalises
 * subnormals. */
static inline f32x4 mock_halves_to_floats(u32x4 half) {
    const u32x4 sign = (half & 0x8000u) << 16;
    const u32x4 rest = (half & 0x7fffu) << 13;
    const f32x4 rebase = (f32x4)((u32x4){0x77800000u, 0x77800000u, 0x77800000u, 0x77800000u});
    const u32x4 finite = (u32x4)((f32x4)rest * rebase);
    const i32x4 special = (i32x4)((half & 0x7c00u) == 0x7c00u);
    const u32x4 quiet = (u32x4)((half & 0x3ffu) != 0) & 0x400000u;
    return (f32x4)(mock_choose_bits(special, rest | quiet | 0x7f800000u, finite) | sign);
}

/* Round to nearest even. Subnormal results are rounded by adding a number whose last place is the half's. */
static inline u32x4 mock_floats_to_halves(f32x4 x) {
    const u32x4 bits = (u32x4)x;
    const u32x4 sign = (bits >> 16) & 0x8000u;
    const u32x4 mag = bits & 0x7fffffffu;
    const u32x4 normal = (mag - 0x38000000u + 0xfffu + ((mag >> 13) & 1u)) >> 13;
    const u32x4 small = (u32x4)((f32x4)mag + 0.5f) - 0x3f000000u;
    const u32x4 nan = ((mag >> 13) & 0x3ffu) | 0x7e00u;
    u32x4 out = mock_choose_bits((i32x4)mag < 0x38800000, small, normal);
    const u32x4 infinity = {0x7c00u, 0x7c00u, 0x7c00u, 0x7c00u};
    out = mock_choose_bits((i32x4)mag >= 0x477ff000, infinity, out);
    out = mock_choose_bits((i32x4)mag > 0x7f800000, nan, out);
    return out | sign;
}

#endif
