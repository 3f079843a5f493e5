/* Mul, Muls, Div, Divs and their in-place forms (guide: aclnn, page of each).
 *
 * Division gives floats, f32 for integers; by 0 it gives infinity or NaN (own choice: IEEE 754, and as PyTorch
 * does). Integers wrap. */
#include "objects/objects.h"
#include "operators/elements/entry.h"
#include "operators/elements/foreach.h"
#include "operators/operators.h"

MOCK_KERNEL_F32(mul_f32, x *y)
MOCK_KERNEL_F64(mul_f64, x *y)
MOCK_KERNEL_I64(mul_i64, MOCK_WRAP(*, x, y))
MOCK_KERNEL_F32(muls_f32, x *s)
MOCK_KERNEL_F64(muls_f64, x *s)
MOCK_KERNEL_I64(muls_i64, MOCK_WRAP(*, x, s))
MOCK_KERNEL_F32(div_f32, x / y)
MOCK_KERNEL_F64(div_f64, x / y)
MOCK_KERNEL_F32(divs_f32, x / s)
MOCK_KERNEL_F64(divs_f64, x / s)

static const mock_kernels mul_kernels = {mul_f32, mul_f64, mul_i64, false};
static const mock_kernels muls_kernels = {muls_f32, muls_f64, muls_i64, false};
static const mock_kernels div_kernels = {div_f32, div_f64, NULL, false};
static const mock_kernels divs_kernels = {divs_f32, divs_f64, NULL, false};

MOCK_BINARY(aclnnMul, aclTensor, mock_plan_binary(&b, &mul_kernels, 2))
MOCK_BINARY_INPLACE(aclnnInplaceMul, aclTensor, mock_plan_binary(&b, &mul_kernels, 0))
MOCK_WITH_SCALAR(aclnnMuls, other, aclTensor, mock_plan_with_scalar(&b, &muls_kernels, number, 1))
MOCK_WITH_SCALAR_INPLACE(
    aclnnInplaceMuls, other, aclTensor, mock_plan_with_scalar(&b, &muls_kernels, number, 0))
MOCK_BINARY(aclnnDiv, aclTensor, mock_plan_binary(&b, &div_kernels, 2))
MOCK_WITH_SCALAR(aclnnDivs, other, aclTensor, mock_plan_with_scalar(&b, &divs_kernels, number, 1))
MOCK_BINARY_INPLACE(aclnnInplaceDiv, aclTensor, mock_plan_binary(&b, &div_kernels, 0))
MOCK_WITH_SCALAR_INPLACE(
    aclnnInplaceDivs, other, aclTensor, mock_plan_with_scalar(&b, &divs_kernels, number, 0))


MOCK_FOREACH_NUMBERS(Mul, const aclTensorList, muls_kernels)
MOCK_FOREACH_NUMBERS(Div, aclTensorList, divs_kernels)
MOCK_FOREACH_LISTS(aclnnForeachMulList, aclTensorList, mul_kernels)
MOCK_FOREACH_LISTS(aclnnForeachDivList, aclTensorList, div_kernels)
