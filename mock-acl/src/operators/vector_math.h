/* exp, tanh and the normal distribution on four lanes, within a few units in the last place of the exact
 * value. The coefficients are our own minimax fits.
 *
 * Own choice: no bit of a card is imitated. exp overflows to infinity and gives subnormal results; NaN
 * stays NaN. */
#ifndef MOCK_OPERATORS_VECTOR_MATH_H_
#define MOCK_OPERATORS_VECTOR_MATH_H_

#include <math.h>
#include "objects/objects.h"

static inline f32x4 mock_exp4(f32x4 x) {
    const f32x4 magic = mock_splat(12582912.0f);
    f32x4 c = mock_choose(x < -104.0f, mock_splat(-104.0f), x);
    c = mock_choose(c > 89.0f, mock_splat(89.0f), c);
    const f32x4 shifted = c * 1.44269504f + magic;
    const f32x4 n = shifted - magic;
    /* ln 2 in two parts, the first short enough for an exact product. */
    const f32x4 r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
    f32x4 q = r * 0.001395166964f + 0.008369602986f;
    q = q * r + 0.04166618795f;
    q = q * r + 0.1666651284f;
    q = q * r + 0.5000000101f;
    const f32x4 e = (q * (r * r) + r) + 1.0f;
    /* Two halves of the scale, so that subnormal and infinite results come out of the last product. */
    const u32x4 k = (u32x4)shifted - 0x4b400000u;
    const i32x4 half = (i32x4)k >> 1;
    const u32x4 low = ((u32x4)half + 127u) << 23;
    const u32x4 high = (k - (u32x4)half + 127u) << 23;
    return mock_choose(x != x, x, e * (f32x4)low * (f32x4)high);
}

static inline f32x4 mock_tanh4(f32x4 x) {
    const f32x4 magnitude = mock_abs4(x);
    const f32x4 s = x * x;
    f32x4 q = s * -0.005693314922f + 0.02063020943f;
    q = q * s - 0.05373754367f;
    q = q * s + 0.1333142384f;
    q = q * s - 0.333332816f;
    const f32x4 small = magnitude + magnitude * (s * q);
    const f32x4 large = 1.0f - 2.0f / (mock_exp4(magnitude + magnitude) + 1.0f);
    const f32x4 value = mock_choose(magnitude < 0.625f, small, large);
    return (f32x4)((u32x4)value | ((u32x4)x & 0x80000000u));
}

/* The distribution function of the standard normal, accurate in the lower tail too. */
static inline f32x4 mock_normal4(f32x4 x) {
    const f32x4 t = 1.0f / (mock_abs4(x) * 0.24748737f + 1.0f);
    f32x4 q = t * 0.03908945321f - 0.162772341f;
    q = q * t + 0.1907808511f;
    q = q * t - 0.04055868264f;
    q = q * t + 0.09811098771f;
    q = q * t + 0.1398415945f;
    q = q * t + 0.1534273173f;
    q = q * t + 0.1873982027f;
    q = q * t + 0.197202331f;
    q = q * t + 0.1974802937f;
    const f32x4 tail = (q * t) * (mock_exp4(x * x * -0.5f) * 0.5f);
    return mock_choose(x < 0.0f, tail, 1.0f - tail);
}

static inline f32x4 mock_gelu_erf4(f32x4 x) {
    return x * mock_normal4(x);
}

/* 0.5 x (1 + tanh u) written as x / (1 + exp(-2u)), which keeps small results exact. */
static inline f32x4 mock_gelu_tanh4(f32x4 x) {
    const f32x4 u = x * (x * x * 0.07135481283f + 1.595769122f);
    return x / (mock_exp4(-u) + 1.0f);
}

/* Without an overflow on the way. */
static inline double mock_logistic(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

#endif
