//! Operators that compute each element on its own: floats in f32, integers in 64 bits, wrapping.

use crate::op::{DataType, GeluForm};
use crate::plan::recipe::element::{Class, with_type};

use super::view::{HostLayout, HostView, store};
use super::{Call, math};

/// None of what is no such operator.
pub(super) fn compute(call: &Call<'_>) -> Option<Vec<u8>> {
    if call.out.dtype.is_float() { floats(call) } else { integers(call) }
}

fn floats(call: &Call<'_>) -> Option<Vec<u8>> {
    let each = |f: &dyn Fn(f32) -> f32| unary(call.operands, call.out, f);
    let both = |f: &dyn Fn(f32, f32) -> f32| binary(call.operands, call.out, f);
    let number = |parameter| number::<f32>(call, parameter);
    Some(match call.name {
        "Add" => {
            let alpha = number(2)?;
            both(&|x, y| x + alpha * y)
        }
        "Sub" => both(&|x, y| x - y),
        "Mul" => both(&|x, y| x * y),
        "Div" => both(&|x, y| x / y),
        "Maximum" => both(&math::maximum),
        "Adds" => {
            let value = number(1)?;
            each(&|x| x + value)
        }
        "Muls" => {
            let value = number(1)?;
            each(&|x| x * value)
        }
        "Divs" => {
            let value = number(1)?;
            each(&|x| x / value)
        }
        "ClampMin" => {
            let least = number(1)?;
            each(&|x| math::maximum(x, least))
        }
        "Abs" => each(&f32::abs),
        "Sqrt" => each(&f32::sqrt),
        "Rsqrt" => each(&|x| 1.0 / x.sqrt()),
        "Tanh" => each(&math::tanh),
        "GeluV2" if call.int(1) == Some(GeluForm::Exact.raw()) => each(&math::gelu_exact),
        "GeluV2" if call.int(1) == Some(GeluForm::Tanh.raw()) => each(&math::gelu_tanh),
        _ => return None,
    })
}

fn integers(call: &Call<'_>) -> Option<Vec<u8>> {
    let each = |f: &dyn Fn(i64) -> i64| unary(call.operands, call.out, f);
    let both = |f: &dyn Fn(i64, i64) -> i64| binary(call.operands, call.out, f);
    let number = |parameter| number::<i64>(call, parameter);
    Some(match call.name {
        "Add" => {
            let alpha = number(2)?;
            both(&|x, y| x.wrapping_add(alpha.wrapping_mul(y)))
        }
        "Sub" => both(&i64::wrapping_sub),
        "Mul" => both(&i64::wrapping_mul),
        "Maximum" => both(&|x, y| x.max(y)),
        "Adds" => {
            let value = number(1)?;
            each(&|x| x.wrapping_add(value))
        }
        "Muls" => {
            let value = number(1)?;
            each(&|x| x.wrapping_mul(value))
        }
        "ClampMin" => {
            let least = number(1)?;
            each(&|x| x.max(least))
        }
        "Abs" => each(&i64::wrapping_abs),
        _ => return None,
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

/// A number of the type that is computed in.
fn number<C: Class>(call: &Call<'_>, parameter: usize) -> Option<C> {
    let dtype: DataType = call.out.dtype;
    let element = call.scalar(parameter)?.element_of(dtype)?;
    Some(with_type!(dtype, S => C::load(bytemuck::pod_read_unaligned::<S>(&element[..size_of::<S>()]))))
}
