/* The shared part of operators that compute every element on its own.
 *
 * Operands broadcast to the shape of out, which is exactly the common one (guide: aclnn, broadcasting).
 * They are converted to the promoted type's class, computed there, and rounded once when stored (own
 * choice: f16 operands are never rounded in between). out may be an operand; other overlaps are not defined
 * (own choice). No workspace. The result does not depend on layout or thread. */
#ifndef MOCK_OPERATORS_ELEMENTWISE_H_
#define MOCK_OPERATORS_ELEMENTWISE_H_

#include "base/base.h"
#include "objects/objects.h"

/* A number for each class. */
typedef struct mock_number {
    float f;
    double d;
    int64_t i;
} mock_number;

#define MOCK_NUMBERS 3

/* out[i] = f(a[i], b[i], k[0] to k[2]). Operators of one tensor get `a` as `b` too. `out` may be `a` or
 * `b`. */
typedef struct mock_kernels {
    void (*f32)(float *out, const float *a, const float *b, size_t n, const mock_number *k);
    void (*f64)(double *out, const double *a, const double *b, size_t n, const mock_number *k);
    void (*i64)(int64_t *out, const int64_t *a, const int64_t *b, size_t n, const mock_number *k);
    bool truth; /* gives 0 or 1, which any type of out can hold */
} mock_kernels;

/* A kernel for one class from an expression of x, y and the numbers s, t and u. */
#define MOCK_KERNEL_F32(NAME, EXPR)                                                                        \
    static void NAME(float *out, const float *a, const float *b, size_t n, const mock_number *k) {         \
        const f32x4 s = mock_splat(k[0].f), t = mock_splat(k[1].f), u = mock_splat(k[2].f);                \
        size_t i = 0;                                                                                      \
        for (; i + 4 <= n; i += 4) {                                                                       \
            const f32x4 x = mock_get(a + i), y = mock_get(b + i);                                          \
            mock_put(out + i, (EXPR));                                                                     \
            (void)s, (void)t, (void)u, (void)x, (void)y;                                                   \
        }                                                                                                  \
        if (i < n) {                                                                                       \
            f32x4 x = mock_splat(1.0f), y = x;                                                             \
            memcpy(&x, a + i, (n - i) * sizeof *a);                                                        \
            memcpy(&y, b + i, (n - i) * sizeof *b);                                                        \
            const f32x4 r = (EXPR);                                                                        \
            memcpy(out + i, &r, (n - i) * sizeof *out);                                                    \
        }                                                                                                  \
    }
#define MOCK_KERNEL_SCALAR(NAME, T, MEMBER, EXPR)                                             \
    static void NAME(T *out, const T *a, const T *b, size_t n, const mock_number *k) {        \
        const T s = k[0].MEMBER, t = k[1].MEMBER, u = k[2].MEMBER;                            \
        for (size_t i = 0; i < n; i++) {                                                      \
            const T x = a[i], y = b[i];                                                       \
            out[i] = (EXPR);                                                                  \
            (void)s, (void)t, (void)u, (void)x, (void)y;                                              \
        }                                                                                     \
    }
/* A function of the C library for each of four lanes. */
#define MOCK_EACH4(F, x) ((f32x4){F((x)[0]), F((x)[1]), F((x)[2]), F((x)[3])})
#define MOCK_EACH4_OF_2(F, x, y) \
    ((f32x4){F((x)[0], (y)[0]), F((x)[1], (y)[1]), F((x)[2], (y)[2]), F((x)[3], (y)[3])})
#define MOCK_KERNEL_F64(NAME, EXPR) MOCK_KERNEL_SCALAR(NAME, double, d, EXPR)
#define MOCK_KERNEL_I64(NAME, EXPR) MOCK_KERNEL_SCALAR(NAME, int64_t, i, EXPR)
/* Two's complement arithmetic without undefined behaviour (own choice: integers wrap). */
#define MOCK_WRAP(OP, x, y) ((int64_t)((uint64_t)(x) OP (uint64_t)(y)))

#endif
