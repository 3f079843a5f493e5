//! Functions of one tensor.

use racl::half::{bf16, f16};
use racl::op::{self, GeluForm, Numeric};
use racl::{Result, Stream, Tensor};

use crate::common::device;
use crate::host::{Host, Value};
use crate::run;

type Unary<T> = fn(&Stream, &Tensor<T>, &mut Tensor<T>) -> Result<()>;

fn check<T: Value + Numeric>(operator: Unary<T>, reference: fn(f64) -> f64, low: f64, high: f64) {
    let device = device();
    let stream = device.stream().unwrap();
    for shape in [&[1][..], &[7], &[3, 5], &[2, 3, 4], &[1037], &[2, 600]] {
        let a = Host::random::<T>(shape.len() as u64, shape, low, high);
        let da = a.upload::<T>(&device);
        let got = run(&stream, || device.zeros(shape).unwrap(), |s, out| operator(s, &da, out));
        a.map(reference).assert_close(&got, 1.0);
    }
    let a = Host::random::<T>(9, &[6, 5], low, high);
    let da = a.upload::<T>(&device).narrow(0, 1..5).unwrap().transposed(0, 1).unwrap();
    let got = run(&stream, || device.zeros([5, 4]).unwrap(), |s, out| operator(s, &da, out));
    a.narrowed(0, 1..5).permuted(&[1, 0]).map(reference).assert_close(&got, 1.0);
}

macro_rules! check_floats {
    ($operator:expr, $reference:expr, $low:expr, $high:expr) => {
        check::<f32>($operator, $reference, $low, $high);
        check::<f16>($operator, $reference, $low, $high);
        check::<bf16>($operator, $reference, $low, $high);
    };
}

#[test]
fn abs_of_floats_and_integers() {
    check_floats!(op::abs, f64::abs, -100.0, 100.0);
    check::<i32>(op::abs, f64::abs, -100.0, 100.0);
    check::<i64>(op::abs, f64::abs, -100.0, 100.0);
}

#[test]
fn sqrt_and_rsqrt() {
    check_floats!(op::sqrt, f64::sqrt, 0.0, 50.0);
    check_floats!(op::rsqrt, |a| 1.0 / a.sqrt(), 0.01, 50.0);
}

#[test]
fn tanh_from_flat_to_steep() {
    check_floats!(op::tanh, f64::tanh, -6.0, 6.0);
    check_floats!(op::tanh, f64::tanh, -0.01, 0.01);
}

#[test]
fn gelu_has_an_exact_form_and_one_with_tanh() {
    check_floats!(
        |s, a, out| op::gelu(s, a, GeluForm::Exact, out),
        |x| 0.5 * x * (1.0 + erf(x / 2_f64.sqrt())),
        -5.0,
        5.0
    );
    check_floats!(
        |s, a, out| op::gelu(s, a, GeluForm::Tanh, out),
        |x| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh()),
        -5.0,
        5.0
    );
}

#[test]
fn values_outside_the_range_of_a_function_give_no_number() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.upload_tensor(&[-1.0_f32, 0.0, f32::INFINITY, f32::NAN], [4]).unwrap();
    let root = run(&stream, || device.zeros([4]).unwrap(), |s, out| op::sqrt(s, &a, out));
    assert!(root[0].is_nan() && root[1] == 0.0 && root[2] == f32::INFINITY && root[3].is_nan(), "{root:?}");
    let inverse = run(&stream, || device.zeros([4]).unwrap(), |s, out| op::rsqrt(s, &a, out));
    assert!(inverse[0].is_nan() && inverse[1] == f32::INFINITY && inverse[2] == 0.0, "{inverse:?}");
    let flat = run(&stream, || device.zeros([4]).unwrap(), |s, out| op::tanh(s, &a, out));
    assert!(flat[2] == 1.0 && flat[3].is_nan(), "{flat:?}");
}

/// The error function by its series around zero, which converges everywhere.
fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}
