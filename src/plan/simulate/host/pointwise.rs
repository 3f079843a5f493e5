//! Operators that compute each element on its own: floats in f32, integers in 64 bits, wrapping.

use crate::op::{DataType, GeluForm};
use crate::plan::recipe::element::{Class, element_of, with_type};
use crate::plan::recipe::operator::{Number, Operator};

use super::math;
use super::view::{HostLayout, HostView, store};

pub(super) fn compute(operator: &Operator, operands: &[HostView<'_>], out: &HostLayout) -> Result<Vec<u8>, String> {
    if out.dtype.is_float() { floats(operator, operands, out) } else { integers(operator, operands, out) }
}

fn floats(operator: &Operator, operands: &[HostView<'_>], out: &HostLayout) -> Result<Vec<u8>, String> {
    let each = |f: &dyn Fn(f32) -> f32| unary(operands, out, f);
    let both = |f: &dyn Fn(f32, f32) -> f32| binary(operands, out, f);
    let number = |number| rounded::<f32>(number, out.dtype);
    Ok(match *operator {
        Operator::Add => both(&|x, y| x + y),
        Operator::AddScaled { alpha } => {
            let alpha = number(alpha)?;
            both(&|x, y| x + alpha * y)
        }
        Operator::Sub => both(&|x, y| x - y),
        Operator::Mul => both(&|x, y| x * y),
        Operator::Div => both(&|x, y| x / y),
        Operator::Maximum => both(&math::maximum),
        Operator::Adds { value } => {
            let value = number(value)?;
            each(&|x| x + value)
        }
        Operator::Muls { value } => {
            let value = number(value)?;
            each(&|x| x * value)
        }
        Operator::Divs { value } => {
            let value = number(value)?;
            each(&|x| x / value)
        }
        Operator::ClampMin { least } => {
            let least = number(least)?;
            each(&|x| math::maximum(x, least))
        }
        Operator::Abs => each(&f32::abs),
        Operator::Sqrt => each(&f32::sqrt),
        Operator::Rsqrt => each(&|x| 1.0 / x.sqrt()),
        Operator::Tanh => each(&math::tanh),
        Operator::Gelu { form: GeluForm::Exact } => each(&math::gelu_exact),
        Operator::Gelu { form: GeluForm::Tanh } => each(&math::gelu_tanh),
        _ => return Err(unknown(operator, out.dtype)),
    })
}

fn integers(operator: &Operator, operands: &[HostView<'_>], out: &HostLayout) -> Result<Vec<u8>, String> {
    let each = |f: &dyn Fn(i64) -> i64| unary(operands, out, f);
    let both = |f: &dyn Fn(i64, i64) -> i64| binary(operands, out, f);
    let number = |number| rounded::<i64>(number, out.dtype);
    Ok(match *operator {
        Operator::Add => both(&i64::wrapping_add),
        Operator::AddScaled { alpha } => {
            let alpha = number(alpha)?;
            both(&|x, y| x.wrapping_add(alpha.wrapping_mul(y)))
        }
        Operator::Sub => both(&i64::wrapping_sub),
        Operator::Mul => both(&i64::wrapping_mul),
        Operator::Maximum => both(&|x, y| x.max(y)),
        Operator::Adds { value } => {
            let value = number(value)?;
            each(&|x| x.wrapping_add(value))
        }
        Operator::Muls { value } => {
            let value = number(value)?;
            each(&|x| x.wrapping_mul(value))
        }
        Operator::ClampMin { least } => {
            let least = number(least)?;
            each(&|x| x.max(least))
        }
        Operator::Abs => each(&i64::wrapping_abs),
        _ => return Err(unknown(operator, out.dtype)),
    })
}

fn unary<C: Class>(operands: &[HostView<'_>], out: &HostLayout, f: &dyn Fn(C) -> C) -> Vec<u8> {
    let mut x: Vec<C> = operands[0].read(&out.dims);
    x.iter_mut().for_each(|x| *x = f(*x));
    store(&x, out.dtype)
}

fn binary<C: Class>(operands: &[HostView<'_>], out: &HostLayout, f: &dyn Fn(C, C) -> C) -> Vec<u8> {
    let (mut x, y): (Vec<C>, Vec<C>) = (operands[0].read(&out.dims), operands[1].read(&out.dims));
    x.iter_mut().zip(&y).for_each(|(x, y)| *x = f(*x, *y));
    store(&x, out.dtype)
}

/// The number as the operand's type has it.
fn rounded<C: Class>(number: Number, dtype: DataType) -> Result<C, String> {
    let element = element_of(number, dtype)?;
    Ok(with_type!(dtype, S => C::load(bytemuck::pod_read_unaligned::<S>(&element[..size_of::<S>()]))))
}

fn unknown(operator: &Operator, dtype: DataType) -> String {
    format!("no kernel for {} of {dtype:?}", operator.name())
}
