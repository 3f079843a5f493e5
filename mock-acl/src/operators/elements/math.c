/* Functions of one tensor: powers, logarithms, trigonometry, roundings, signs (guide: aclnn, page of
 * each).
 *
 * Own choice for all of it: f32, f16 and bf16 are computed with the C library's f32 functions, f64 with
 * its f64 functions; arguments outside the domain give NaN or infinity as IEEE 754 has it. Integers become
 * f32, except where a function gives integers for integers (Neg, Sign, Square, roundings), which wrap.
 * Round goes to the even neighbour of a half. Sign keeps NaN and gives a zero of the same sign. */
#include <math.h>

#include "objects/objects.h"
#include "operators/elements/entry.h"
#include "operators/elements/foreach.h"
#include "operators/operators.h"

/* float `F`f and double `F` of the C library. */
#define LIBRARY(NAME, F)                           \
    MOCK_KERNEL_F32(NAME##_f32, MOCK_EACH4(F##f, x)) \
    MOCK_KERNEL_F64(NAME##_f64, F(x))              \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NULL, false};
#define EXPRESSION(NAME, F32, F64)       \
    MOCK_KERNEL_F32(NAME##_f32, F32)     \
    MOCK_KERNEL_F64(NAME##_f64, F64)     \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NULL, false};
#define WITH_INTEGERS(NAME, F32, F64, I64) \
    MOCK_KERNEL_F32(NAME##_f32, F32)       \
    MOCK_KERNEL_F64(NAME##_f64, F64)       \
    MOCK_KERNEL_I64(NAME##_i64, I64)       \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NAME##_i64, false};

LIBRARY(exp, exp)
LIBRARY(exp2, exp2)
LIBRARY(expm1, expm1)
LIBRARY(log, log)
LIBRARY(log2, log2)
LIBRARY(log10, log10)
LIBRARY(log1p, log1p)
LIBRARY(sin, sin)
LIBRARY(cos, cos)
LIBRARY(tan, tan)
LIBRARY(asin, asin)
LIBRARY(acos, acos)
LIBRARY(atan, atan)
LIBRARY(sinh, sinh)
LIBRARY(cosh, cosh)
LIBRARY(asinh, asinh)
LIBRARY(acosh, acosh)
LIBRARY(atanh, atanh)
LIBRARY(erf, erf)
LIBRARY(erfc, erfc)
EXPRESSION(reciprocal, 1.0f / x, 1.0 / x)
WITH_INTEGERS(floor, MOCK_EACH4(floorf, x), floor(x), x)
WITH_INTEGERS(ceil, MOCK_EACH4(ceilf, x), ceil(x), x)
WITH_INTEGERS(round, MOCK_EACH4(rintf, x), rint(x), x)
WITH_INTEGERS(trunc, MOCK_EACH4(truncf, x), trunc(x), x)

static inline float fraction_f(float x) { return x - truncf(x); }
EXPRESSION(frac, MOCK_EACH4(fraction_f, x), x - trunc(x))

static inline f32x4 negate4(f32x4 x) { return (f32x4)((u32x4)x ^ 0x80000000u); }
static inline f32x4 sign4(f32x4 x) {
    const f32x4 one = (f32x4)(((u32x4)x & 0x80000000u) | 0x3f800000u);
    return mock_choose((x == x) & (x != mock_splat(0)), one, x);
}
static inline double sign_d(double x) { return x != x || x == 0 ? x : copysign(1, x); }
WITH_INTEGERS(neg, negate4(x), -x, MOCK_WRAP(-, 0, x))
WITH_INTEGERS(sign, sign4(x), sign_d(x), (x > 0) - (x < 0))
WITH_INTEGERS(square, x *x, x *x, MOCK_WRAP(*, x, x))

/* The interface declares some of them with a constant result. */
#define BOTH_OF(NAME, KERNELS, FIRST, REF, SELF)                                               \
    MOCK_UNARY_OF(aclnn##NAME, FIRST, out, aclTensor, mock_plan_unary(&b, &KERNELS, 1))        \
    MOCK_UNARY_INPLACE_OF(aclnnInplace##NAME, REF, SELF, mock_plan_unary(&b, &KERNELS, 0))
#define BOTH(NAME, KERNELS, SELF) BOTH_OF(NAME, KERNELS, self, selfRef, SELF)
#define BOTH_OF_INPUT(NAME, KERNELS) BOTH_OF(NAME, KERNELS, input, inputRef, aclTensor)

BOTH(Exp, exp_kernels, aclTensor)
BOTH(Exp2, exp2_kernels, aclTensor)
BOTH(Expm1, expm1_kernels, aclTensor)
BOTH(Log, log_kernels, aclTensor)
BOTH(Log10, log10_kernels, aclTensor)
BOTH(Log1p, log1p_kernels, aclTensor)
BOTH(Sin, sin_kernels, aclTensor)
BOTH_OF_INPUT(Cos, cos_kernels)
BOTH(Tan, tan_kernels, const aclTensor)
BOTH(Asin, asin_kernels, aclTensor)
BOTH_OF_INPUT(Acos, acos_kernels)
BOTH_OF_INPUT(Atan, atan_kernels)
BOTH(Sinh, sinh_kernels, aclTensor)
BOTH(Cosh, cosh_kernels, aclTensor)
BOTH_OF_INPUT(Asinh, asinh_kernels)
BOTH(Acosh, acosh_kernels, aclTensor)
BOTH_OF_INPUT(Atanh, atanh_kernels)
BOTH(Erf, erf_kernels, aclTensor)
BOTH(Erfc, erfc_kernels, const aclTensor)
BOTH(Reciprocal, reciprocal_kernels, const aclTensor)
BOTH(Floor, floor_kernels, aclTensor)
BOTH(Ceil, ceil_kernels, aclTensor)
BOTH(Round, round_kernels, const aclTensor)
BOTH(Trunc, trunc_kernels, aclTensor)
BOTH_OF_INPUT(Frac, frac_kernels)
BOTH(Neg, neg_kernels, aclTensor)
MOCK_UNARY_OF(aclnnSign, self, result, aclTensor, mock_plan_unary(&b, &sign_kernels, 1))
MOCK_UNARY(aclnnSquare, aclTensor, mock_plan_unary(&b, &square_kernels, 1))
MOCK_UNARY(aclnnLog2, const aclTensor, mock_plan_unary(&b, &log2_kernels, 1))
MOCK_UNARY_INPLACE(aclnnInplaceLog2, const aclTensor, mock_plan_unary(&b, &log2_kernels, 0))

MOCK_FOREACH(aclnnForeachAcos, const aclTensorList, acos_kernels)
MOCK_FOREACH(aclnnForeachAsin, const aclTensorList, asin_kernels)
MOCK_FOREACH(aclnnForeachAtan, const aclTensorList, atan_kernels)
MOCK_FOREACH(aclnnForeachCos, const aclTensorList, cos_kernels)
MOCK_FOREACH(aclnnForeachCosh, const aclTensorList, cosh_kernels)
MOCK_FOREACH(aclnnForeachErf, const aclTensorList, erf_kernels)
MOCK_FOREACH(aclnnForeachErfc, const aclTensorList, erfc_kernels)
MOCK_FOREACH(aclnnForeachExp, const aclTensorList, exp_kernels)
MOCK_FOREACH(aclnnForeachExpm1, const aclTensorList, expm1_kernels)
MOCK_FOREACH(aclnnForeachLog, const aclTensorList, log_kernels)
MOCK_FOREACH(aclnnForeachLog10, const aclTensorList, log10_kernels)
MOCK_FOREACH(aclnnForeachLog1p, const aclTensorList, log1p_kernels)
MOCK_FOREACH(aclnnForeachLog2, const aclTensorList, log2_kernels)
MOCK_FOREACH(aclnnForeachNeg, const aclTensorList, neg_kernels)
MOCK_FOREACH(aclnnForeachReciprocal, const aclTensorList, reciprocal_kernels)
MOCK_FOREACH(aclnnForeachSign, const aclTensorList, sign_kernels)
MOCK_FOREACH(aclnnForeachSin, const aclTensorList, sin_kernels)
MOCK_FOREACH(aclnnForeachSinh, const aclTensorList, sinh_kernels)
MOCK_FOREACH(aclnnForeachTan, const aclTensorList, tan_kernels)
