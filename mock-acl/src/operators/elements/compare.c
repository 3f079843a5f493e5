/* Comparisons, logic and tests of single values (guide: aclnn, page of each).
 *
 * Operands are promoted as in arithmetic and compared in that type; a comparison with NaN is false, but
 * "not equal" is true. The result, 0 or 1, can be stored in every type (own choice: the guide names bool
 * first). Anything but zero counts as true, NaN too (own choice: as PyTorch does). */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/elements/entry.h"
#include "operators/operators.h"

static inline f32x4 truth4(i32x4 mask) { return (f32x4)((u32x4)mask & 0x3f800000u); }

/* COMPARE of x and the other operand: y for tensors, s for scalars. */
#define COMPARISON(NAME, OP)                                                                   \
    MOCK_KERNEL_F32(NAME##_f32, truth4(x OP y))                                                \
    MOCK_KERNEL_F64(NAME##_f64, x OP y)                                                        \
    MOCK_KERNEL_I64(NAME##_i64, x OP y)                                                        \
    MOCK_KERNEL_F32(NAME##_scalar_f32, truth4(x OP s))                                         \
    MOCK_KERNEL_F64(NAME##_scalar_f64, x OP s)                                                 \
    MOCK_KERNEL_I64(NAME##_scalar_i64, x OP s)                                                 \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NAME##_i64, true};     \
    static const mock_kernels NAME##_scalar_kernels = {                                        \
        NAME##_scalar_f32, NAME##_scalar_f64, NAME##_scalar_i64, true};

COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(gt, >)
COMPARISON(ge, >=)
COMPARISON(lt, <)
COMPARISON(le, <=)

#define FORMS(NAME, KERNELS, SELF, SELF_OF_SCALAR)                                                    \
    MOCK_BINARY(aclnn##NAME##Tensor, aclTensor, mock_plan_binary(&b, &KERNELS##_kernels, 2))          \
    MOCK_BINARY_INPLACE(                                                                              \
        aclnnInplace##NAME##Tensor, SELF, mock_plan_binary(&b, &KERNELS##_kernels, 0))                \
    MOCK_WITH_SCALAR(aclnn##NAME##Scalar, other, aclTensor,                                           \
        mock_plan_with_scalar(&b, &KERNELS##_scalar_kernels, number, 1))                              \
    MOCK_WITH_SCALAR_INPLACE(aclnnInplace##NAME##Scalar, other, SELF_OF_SCALAR,                       \
        mock_plan_with_scalar(&b, &KERNELS##_scalar_kernels, number, 0))

FORMS(Eq, eq, const aclTensor, const aclTensor)
FORMS(Ne, ne, aclTensor, aclTensor)
FORMS(Gt, gt, const aclTensor, aclTensor)
FORMS(Ge, ge, aclTensor, aclTensor)
FORMS(Lt, lt, const aclTensor, const aclTensor)
FORMS(Le, le, aclTensor, aclTensor)

#define TEST(NAME, F32, F64, I64)      \
    MOCK_KERNEL_F32(NAME##_f32, F32)   \
    MOCK_KERNEL_F64(NAME##_f64, F64)   \
    MOCK_KERNEL_I64(NAME##_i64, I64)   \
    static const mock_kernels NAME##_kernels = {NAME##_f32, NAME##_f64, NAME##_i64, true};
#define ZERO mock_splat(0)
#define INFINITE mock_splat(INFINITY)

TEST(and, truth4((x != ZERO) & (y != ZERO)), x != 0 && y != 0, x != 0 && y != 0)
TEST(or, truth4((x != ZERO) | (y != ZERO)), x != 0 || y != 0, x != 0 || y != 0)
TEST(xor, truth4((x != ZERO) ^ (y != ZERO)), (x != 0) != (y != 0), (x != 0) != (y != 0))
TEST(not, truth4(x == ZERO), x == 0, x == 0)
TEST(finite, truth4(mock_abs4(x) < INFINITE), fabs(x) < INFINITY, 1)
TEST(infinite, truth4(mock_abs4(x) == INFINITE), fabs(x) == INFINITY, 0)
TEST(positive, truth4(x == INFINITE), x == INFINITY, 0)
TEST(negative, truth4(x == -INFINITE), x == -INFINITY, 0)
TEST(signbit, truth4((i32x4)x < 0), signbit(x) != 0, x < 0)

#define UNARY(NAME, KERNELS, OUT) MOCK_UNARY(NAME, OUT, mock_plan_unary(&b, &KERNELS, 1))
#define BINARY(NAME, KERNELS) \
    MOCK_BINARY(aclnn##NAME, aclTensor, mock_plan_binary(&b, &KERNELS, 2))
#define BINARY_INPLACE(NAME, KERNELS, SELF) \
    MOCK_BINARY_INPLACE(aclnnInplace##NAME, SELF, mock_plan_binary(&b, &KERNELS, 0))
BINARY(LogicalAnd, and_kernels)
BINARY_INPLACE(LogicalAnd, and_kernels, aclTensor)
BINARY(LogicalOr, or_kernels)
BINARY_INPLACE(LogicalOr, or_kernels, aclTensor)
BINARY(LogicalXor, xor_kernels)
UNARY(aclnnLogicalNot, not_kernels, aclTensor)
MOCK_UNARY_INPLACE(aclnnInplaceLogicalNot, aclTensor, mock_plan_unary(&b, &not_kernels, 0))
UNARY(aclnnIsFinite, finite_kernels, aclTensor)
MOCK_UNARY_OF(aclnnIsInf, x, out, const aclTensor, mock_plan_unary(&b, &infinite_kernels, 1))
UNARY(aclnnIsPosInf, positive_kernels, aclTensor)
UNARY(aclnnIsNegInf, negative_kernels, aclTensor)
UNARY(aclnnSignbit, signbit_kernels, aclTensor)
