//! Operators to compare, with numbers of a type.

use crate::Result;
use crate::op::{self, CubeMath, DataType, GeluForm, Recorded, Recorder, Scalar, Token, aclnn};
use crate::plan::Value;
use crate::plan::recipe::element::scalar_of;
use crate::plan::recipe::operator::Number;

/// What stands for every operand.
fn value() -> Value {
    Token { owner: 0, index: 0, version: 0 }.into()
}

/// The operator that a call is, on values that stand for any others.
fn made(call: impl FnOnce(&Recorder, &Value, &mut Value) -> Result<()>) -> Recorded {
    op::recorded(|to| call(to, &value(), &mut value())).unwrap().0
}

fn of(number: impl Into<Number>, dtype: DataType) -> Scalar {
    scalar_of(number.into(), dtype).unwrap()
}

/// Operators of one operand and a number.
pub(super) fn with_number(dtype: DataType, number: Number) -> Vec<Recorded> {
    let (number, one) = (of(number, dtype), of(1, dtype));
    let mut all = vec![
        made(|to, x, y| aclnn::adds(to, x, number, one, y)),
        made(|to, x, y| aclnn::muls(to, x, number, y)),
        made(|to, x, y| aclnn::clamp_min(to, x, number, y)),
    ];
    if dtype.is_float() {
        all.push(made(|to, x, y| aclnn::divs(to, x, number, y)));
    }
    all
}

pub(super) fn abs() -> Recorded {
    made(|to, x, y| aclnn::abs(to, x, y))
}

/// Functions of floats.
pub(super) fn functions() -> Vec<Recorded> {
    let gelu = |form: GeluForm| made(|to, x, y| aclnn::gelu_v2(to, x, form.raw(), y));
    vec![
        made(|to, x, y| aclnn::sqrt(to, x, y)),
        made(|to, x, y| aclnn::rsqrt(to, x, y)),
        made(|to, x, y| aclnn::tanh(to, x, y)),
        gelu(GeluForm::Exact),
        gelu(GeluForm::Tanh),
    ]
}

pub(super) fn add(dtype: DataType, alpha: Number) -> Recorded {
    made(|to, x, y| aclnn::add(to, x, x, of(alpha, dtype), y))
}

/// Operators of two operands.
pub(super) fn of_two(dtype: DataType) -> Vec<Recorded> {
    let mut all = vec![
        add(dtype, Number::Int(1)),
        made(|to, x, y| aclnn::sub(to, x, x, of(1, dtype), y)),
        made(|to, x, y| aclnn::mul(to, x, x, y)),
        made(|to, x, y| aclnn::maximum(to, x, x, y)),
    ];
    if dtype.is_float() {
        all.push(made(|to, x, y| aclnn::div(to, x, x, y)));
    }
    all
}

pub(super) fn matmul(math: CubeMath) -> Recorded {
    made(|to, x, y| aclnn::matmul(to, x, x, y, math.raw()))
}

pub(super) fn mm() -> Recorded {
    made(|to, x, y| aclnn::mm(to, x, x, y, 0))
}

pub(super) fn batch_matmul() -> Recorded {
    made(|to, x, y| aclnn::batch_mat_mul(to, x, x, y, 0))
}

pub(super) fn addmm(beta: f32, alpha: f32) -> Recorded {
    made(|to, x, y| aclnn::addmm(to, x, x, x, beta, alpha, y, 0))
}

pub(super) fn baddbmm(beta: f32, alpha: f32) -> Recorded {
    made(|to, x, y| aclnn::baddbmm(to, x, x, x, beta, alpha, y, 0))
}

pub(super) fn cast(to_type: DataType) -> Recorded {
    made(|to, x, y| aclnn::cast(to, x, to_type, y))
}

pub(super) fn copy() -> Recorded {
    made(|to, x, y| aclnn::inplace_copy(to, y, x))
}

pub(super) fn fill(dtype: DataType, number: impl Into<Number>) -> Recorded {
    made(|to, _, y| aclnn::inplace_fill_scalar(to, y, of(number, dtype)))
}

pub(super) fn permute(order: &[u8]) -> Recorded {
    let order: Vec<i64> = order.iter().map(|dim| i64::from(*dim)).collect();
    made(|to, x, y| aclnn::permute(to, x, &order, y))
}

pub(super) fn embedding() -> Recorded {
    made(|to, x, y| aclnn::embedding(to, x, x, y))
}

/// A sum and a mean over the dimensions of these bits.
pub(super) fn reductions(dtype: DataType, over: u8, keep: bool) -> [Recorded; 2] {
    let dims: Vec<i64> = (0..8).filter(|dim| over & (1 << dim) != 0).collect();
    [
        made(|to, x, y| aclnn::reduce_sum(to, x, &dims, keep, dtype, y)),
        made(|to, x, y| aclnn::mean(to, x, &dims, keep, dtype, y)),
    ]
}

pub(super) fn softmax(dim: i64) -> Recorded {
    made(|to, x, y| aclnn::softmax(to, x, dim, y))
}

pub(super) fn layer_norm(line: &[usize], eps: f64) -> Recorded {
    let sizes: Vec<i64> = line.iter().map(|size| *size as i64).collect();
    made(|to, x, y| aclnn::layer_norm(to, x, &sizes, Some(x), Some(x), eps, y, None, None))
}
