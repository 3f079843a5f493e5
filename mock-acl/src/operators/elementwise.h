/* The shared part of operators that compute every element on its own.
 *
 * Operands broadcast to the shape of out, which is exactly the common one (guide: aclnn, broadcasting).
 * They are converted to the promoted type's class, computed there, and rounded once when stored (own
 * choice: f16 operands are never rounded in between). out may be an operand; other overlaps are not defined
 * (own choice). No workspace. The result does not depend on layout or thread. */
#ifndef MOCK_OP_ELEMENTWISE_H_
#define MOCK_OP_ELEMENTWISE_H_

#include "objects/object.h"
#include "objects/dtype.h"
#include "objects/vector.h"
#include "operators/walk.h"

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

mock_number mock_number_of(const mock_scalar *scalar);

/* Fills the plan: kernels, the type to compute in and the operands (`b` -1 for none). The operands
 * broadcast to out; fails when they do not, when `type` cannot be stored in out, or when the kernels lack
 * its class. */
void mock_elementwise(
    mock_build *b, const mock_kernels *kernels, int32_t type, mock_number k, int first, int second, int out);
/* With `count` numbers. */
void mock_elementwise_numbers(
    mock_build *b, const mock_kernels *kernels, int32_t type, const mock_number *k, int count, int first,
    int second, int out);
aclError mock_elementwise_run(void *arg);
/* The same for views and MOCK_NUMBERS numbers that are given; `second` NULL for none. */
aclError mock_elementwise_views(
    const mock_kernels *kernels, mock_class class, const mock_number *k, const mock_view *out,
    const mock_view *first, const mock_view *second);
bool mock_has_class(const mock_kernels *kernels, mock_class class);

/* The type of tensor and scalar together: the tensor's, unless the scalar is of a higher kind; a float scalar
 * with an integer tensor gives f32 (guide: aclnn, type promotion of tensor and scalar). */
int32_t mock_promote_scalar(int32_t tensor, int32_t scalar);
/* Integers become f32 where only floats are computed (own choice: as PyTorch does). */
int32_t mock_float_type(int32_t type);

#endif
