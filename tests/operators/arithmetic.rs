//! Operators of two operands.

use racl::half::{bf16, f16};
use racl::op::{self, Float, Numeric};
use racl::{Result, Stream, Tensor};

use crate::common::device;
use crate::host::{Host, Value};
use crate::run;

type Binary<T> = fn(&Stream, &Tensor<T>, &Tensor<T>, &mut Tensor<T>) -> Result<()>;

/// Shapes that broadcast; the last ones are longer than any block that a kernel may work in.
const SHAPES: [(&[usize], &[usize]); 10] = [
    (&[6], &[6]),
    (&[2, 3], &[2, 3]),
    (&[2, 3], &[3]),
    (&[3], &[2, 3]),
    (&[2, 1], &[1, 3]),
    (&[4, 1, 3], &[2, 1]),
    (&[2, 2], &[]),
    (&[1], &[5]),
    (&[2, 1030], &[2, 1]),
    (&[1030], &[2, 1030]),
];

fn limit<T: Value>() -> f64 {
    if T::ROUNDING == 0.0 { 1000.0 } else { 4.0 }
}

/// `operator` on every pair of shapes, then on views with gaps.
fn check<T: Value + Numeric>(operator: Binary<T>, reference: fn(f64, f64) -> f64, lowest: f64) {
    let device = device();
    let stream = device.stream().unwrap();
    let high = limit::<T>();
    for (seed, (a, b)) in SHAPES.into_iter().enumerate() {
        let a = Host::random::<T>(seed as u64, a, -high, high);
        let b = Host::random::<T>(100 + seed as u64, b, lowest, high);
        let want = a.zip(&b, reference);
        let (da, db) = (a.upload::<T>(&device), b.upload::<T>(&device));
        let got = run(&stream, || device.zeros(want.shape.as_slice()).unwrap(), |s, out| operator(s, &da, &db, out));
        want.assert_close(&got, high * high);
    }
    let a = Host::random::<T>(7, &[5, 4], -high, high);
    let b = Host::random::<T>(8, &[4, 8], lowest, high);
    let want = a.permuted(&[1, 0]).zip(&b.narrowed(1, 2..7), reference);
    let da = a.upload::<T>(&device).transposed(0, 1).unwrap();
    let db = b.upload::<T>(&device).narrow(1, 2..7).unwrap();
    let got = run(
        &stream,
        || device.zeros([5, 9]).unwrap().transposed(0, 1).unwrap().narrow(0, 3..7).unwrap(),
        |s, out| operator(s, &da, &db, out),
    );
    want.assert_close(&got, high * high);
}

macro_rules! check_all {
    ($operator:path, $reference:expr) => {
        check::<f32>($operator, $reference, -4.0);
        check::<f16>($operator, $reference, -4.0);
        check::<bf16>($operator, $reference, -4.0);
        check::<i32>($operator, $reference, -1000.0);
        check::<i64>($operator, $reference, -1000.0);
    };
}

#[test]
fn add_broadcasts_and_takes_views() {
    check_all!(op::add, |a, b| a + b);
}

#[test]
fn sub_broadcasts_and_takes_views() {
    check_all!(op::sub, |a, b| a - b);
}

#[test]
fn mul_broadcasts_and_takes_views() {
    check_all!(op::mul, |a, b| a * b);
}

#[test]
fn maximum_broadcasts_and_takes_views() {
    check_all!(op::maximum, f64::max);
}

#[test]
fn div_broadcasts_and_takes_views() {
    check::<f32>(op::div, |a, b| a / b, 0.5);
    check::<f16>(op::div, |a, b| a / b, 0.5);
    check::<bf16>(op::div, |a, b| a / b, 0.5);
}

#[test]
fn add_scaled_multiplies_the_second_operand() {
    fn check<T: Value + Numeric>(alpha: f64) {
        let device = device();
        let stream = device.stream().unwrap();
        let a = Host::random::<T>(1, &[3, 4], -4.0, 4.0);
        let b = Host::random::<T>(2, &[4], -4.0, 4.0);
        let want = a.zip(&b, |a, b| a + alpha * b);
        let (da, db) = (a.upload::<T>(&device), b.upload::<T>(&device));
        let make = || device.zeros([3, 4]).unwrap();
        let got = run(&stream, make, |s, out| op::add_scaled(s, &da, &db, T::of(alpha), out));
        want.assert_close(&got, 16.0);
    }
    check::<f32>(-2.5);
    check::<f16>(-2.5);
    check::<bf16>(0.5);
    check::<i32>(-3.0);
    check::<i64>(3.0);
}

#[test]
fn operators_in_place_change_their_first_operand() {
    fn check<T: Value + Numeric>() {
        let device = device();
        let stream = device.stream().unwrap();
        let a = Host::random::<T>(3, &[4, 3], -4.0, 4.0);
        let b = Host::random::<T>(4, &[3], -4.0, 4.0);
        let db = b.upload::<T>(&device);
        let got = run(&stream, || a.upload(&device), |s, a| op::add_inplace(s, a, &db));
        a.zip(&b, |a, b| a + b).assert_close(&got, 8.0);
        let got = run(&stream, || a.upload(&device), |s, a| op::mul_inplace(s, a, &db));
        a.zip(&b, |a, b| a * b).assert_close(&got, 16.0);
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
    check::<i32>();
    check::<i64>();
}

#[test]
fn the_result_may_be_an_operand() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = Host::random::<f32>(5, &[2, 700], -4.0, 4.0);
    let got = run(&stream, || a.upload::<f32>(&device), |s, a| op::mul(s, &a.clone(), &a.clone(), a));
    a.map(|a| a * a).assert_close(&got, 16.0);
}

#[test]
fn scalars_are_the_second_operand() {
    fn check<T: Value + Numeric>() {
        let device = device();
        let stream = device.stream().unwrap();
        let a = Host::random::<T>(6, &[3, 2, 5], -4.0, 4.0);
        let da = a.upload::<T>(&device).transposed(0, 2).unwrap();
        let view = a.permuted(&[2, 1, 0]);
        let make = || device.zeros([5, 2, 3]).unwrap();
        let got = run(&stream, make, |s, out| op::adds(s, &da, T::of(3.0), out));
        view.map(|a| a + 3.0).assert_close(&got, 7.0);
        let got = run(&stream, make, |s, out| op::muls(s, &da, T::of(-3.0), out));
        view.map(|a| a * -3.0).assert_close(&got, 12.0);
        let got = run(&stream, make, |s, out| op::clamp_min(s, &da, T::of(1.0), out));
        view.map(|a| a.max(1.0)).assert_close(&got, 0.0);
    }
    fn check_division<T: Value + Float>() {
        let device = device();
        let stream = device.stream().unwrap();
        let a = Host::random::<T>(6, &[3, 2, 5], -4.0, 4.0);
        let da = a.upload::<T>(&device);
        let got = run(&stream, || device.zeros([3, 2, 5]).unwrap(), |s, out| op::divs(s, &da, T::of(3.0), out));
        a.map(|a| a / 3.0).assert_close(&got, 2.0);
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
    check::<i32>();
    check::<i64>();
    check_division::<f32>();
    check_division::<f16>();
    check_division::<bf16>();
}

#[test]
fn integers_wrap_around() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.upload_tensor(&[i32::MAX, i32::MIN], [2]).unwrap();
    let got = run(&stream, || device.zeros([2]).unwrap(), |s, out| op::add(s, &a, &a, out));
    assert_eq!(got, [-2, 0]);
    let a = device.upload_tensor(&[i64::MAX, i64::MIN], [2]).unwrap();
    let got = run(&stream, || device.zeros([2]).unwrap(), |s, out| op::muls(s, &a, 3, out));
    assert_eq!(got, [i64::MAX.wrapping_mul(3), i64::MIN.wrapping_mul(3)]);
}

#[test]
fn writing_a_view_leaves_the_elements_between_alone() {
    let device = device();
    let stream = device.stream().unwrap();
    let whole = device.upload_tensor(&[9_i32; 12], [3, 4]).unwrap();
    let a = device.upload_tensor(&[1, 2, 3, 4], [2, 2]).unwrap();
    let mut middle = whole.narrow(0, 1..3).unwrap().narrow(1, 1..3).unwrap();
    op::adds(&stream, &a, 0, &mut middle).unwrap();
    assert_eq!(whole.to_vec().unwrap(), [9, 9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9]);
}
