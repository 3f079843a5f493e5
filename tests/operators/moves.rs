//! Operators that move and convert elements.

use racl::half::{bf16, f16};
use racl::op::{self, DataType, Element, Index, Numeric};
use racl::{Device, bytemuck};

use crate::common::device;
use crate::host::{Host, Value};
use crate::run;

/// A number on its way between two types.
#[derive(Debug, Clone, Copy)]
enum Number {
    Float(f64),
    Whole(i64),
}

/// Conversion between types: floats saturate towards integers and have no number for NaN (0), integers wrap.
trait Convert: Element {
    fn number(self) -> Number;
    fn from_number(number: Number) -> Self;
    fn is_nan(self) -> bool {
        matches!(self.number(), Number::Float(v) if v.is_nan())
    }
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Convert for $type {
            fn number(self) -> Number {
                Number::Whole(self.into())
            }
            fn from_number(number: Number) -> Self {
                match number {
                    Number::Float(v) => v as Self,
                    Number::Whole(v) => v as Self,
                }
            }
        }
    )*};
}
whole!(i8, u8, i16, i32, i64);

macro_rules! float {
    ($($type:ty, $from:expr;)*) => {$(
        impl Convert for $type {
            fn number(self) -> Number {
                Number::Float(self.into())
            }
            fn from_number(number: Number) -> Self {
                match number {
                    Number::Float(v) => $from(v),
                    Number::Whole(v) => $from(v as f64),
                }
            }
        }
    )*};
}
float! {
    f32, |v| v as f32;
    f64, |v| v;
    f16, f16::from_f64;
    bf16, bf16::from_f64;
}

/// Numbers at and beyond the ends of every integer type; those that a type does not have become others.
fn extremes<T: Convert>() -> Vec<T> {
    let floats = [
        0.0,
        1.0,
        -1.0,
        1.5,
        -1.5,
        0.999,
        127.0,
        127.9,
        128.0,
        -128.0,
        -129.0,
        255.0,
        256.0,
        300.0,
        32767.0,
        32768.0,
        -32769.0,
        65504.0,
        1e9,
        2147483648.0,
        -2147483649.0,
        1e10,
        -1e10,
        1e20,
        -1e20,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.1,
        -0.1,
        3.3,
    ];
    let wholes = [0, 1, -1, 127, 128, 255, 256, -129, 32767, 32768, 40000, 1 << 20, 1 << 33, (1 << 33) + 5, i64::MIN];
    match T::from_number(Number::Whole(0)).number() {
        Number::Float(_) => floats.iter().map(|v| T::from_number(Number::Float(*v))).collect(),
        Number::Whole(_) => wholes.iter().map(|v| T::from_number(Number::Whole(*v))).collect(),
    }
}

#[track_caller]
fn assert_converted<T: Convert, U: Convert>(from: &[T], got: &[U]) {
    for (from, got) in from.iter().zip(got) {
        let want = U::from_number(from.number());
        let same = bytemuck::bytes_of(&want) == bytemuck::bytes_of(got) || (want.is_nan() && got.is_nan());
        assert!(same, "{:?} {from:?} became {:?} {got:?}, expected {want:?}", T::TYPE, U::TYPE);
    }
}

fn convert<T: Convert, U: Convert>(device: &Device) {
    let stream = device.stream().unwrap();
    let from = extremes::<T>();
    let a = device.upload_tensor(&from, [from.len()]).unwrap();
    let make = || device.zeros::<U>([from.len()]).unwrap();
    let got = run(&stream, make, |s, out| op::cast(s, &a, out));
    assert_converted(&from, &got);
    let got = run(&stream, make, |s, out| op::copy(s, &a, out));
    assert_converted(&from, &got);
}

fn convert_to_all<T: Convert>() {
    let device = device();
    convert::<T, f32>(&device);
    convert::<T, f16>(&device);
    convert::<T, bf16>(&device);
    convert::<T, f64>(&device);
    convert::<T, i8>(&device);
    convert::<T, i16>(&device);
    convert::<T, i32>(&device);
    convert::<T, i64>(&device);
    convert::<T, u8>(&device);
}

#[test]
fn floats_convert_to_every_type_and_saturate() {
    convert_to_all::<f32>();
    convert_to_all::<f16>();
    convert_to_all::<bf16>();
    convert_to_all::<f64>();
}

#[test]
fn integers_convert_to_every_type_and_wrap() {
    convert_to_all::<i8>();
    convert_to_all::<i16>();
    convert_to_all::<i32>();
    convert_to_all::<i64>();
    convert_to_all::<u8>();
}

#[test]
fn every_data_type_is_the_type_of_an_element() {
    let types = [f32::TYPE, f16::TYPE, bf16::TYPE, f64::TYPE, i8::TYPE, i16::TYPE, i32::TYPE, i64::TYPE, u8::TYPE];
    let all = [
        DataType::F32,
        DataType::F16,
        DataType::Bf16,
        DataType::F64,
        DataType::I8,
        DataType::I16,
        DataType::I32,
        DataType::I64,
        DataType::U8,
    ];
    assert_eq!(types, all);
}

#[test]
fn cast_takes_views() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = Host::random::<f32>(1, &[40, 30], -9.0, 9.0);
    let view = a.upload::<f32>(&device).transposed(0, 1).unwrap().narrow(1, 3..33).unwrap();
    let want = a.permuted(&[1, 0]).narrowed(1, 3..33);
    let got = run(&stream, || device.zeros::<f16>([30, 30]).unwrap(), |s, out| op::cast(s, &view, out));
    want.assert_equal(&got);
    let got = run(
        &stream,
        || device.zeros::<i32>([30, 30]).unwrap().transposed(0, 1).unwrap(),
        |s, out| op::cast(s, &view, out),
    );
    want.map(f64::trunc).assert_equal(&got);
}

#[test]
fn copy_broadcasts_converts_and_takes_views() {
    let device = device();
    let stream = device.stream().unwrap();
    for shape in [&[4][..], &[3, 1], &[1, 4], &[2, 1, 4], &[], &[2, 3, 4]] {
        let a = Host::random::<f16>(1, shape, -9.0, 9.0);
        let from = a.upload::<f16>(&device);
        let got = run(&stream, || device.zeros::<f32>([2, 3, 4]).unwrap(), |s, out| op::copy(s, &from, out));
        Host::build(&[2, 3, 4], |index| a.at(&index)).assert_equal(&got);
        let make = || device.zeros::<f16>([4, 3, 2]).unwrap().transposed(0, 2).unwrap();
        let got = run(&stream, make, |s, out| op::copy(s, &from, out));
        Host::build(&[2, 3, 4], |index| a.at(&index)).assert_equal(&got);
    }
}

#[test]
fn fill_sets_every_element_of_a_view() {
    fn check<T: Value + Numeric>(value: f64) {
        let device = device();
        let stream = device.stream().unwrap();
        let got = run(&stream, || device.zeros::<T>([3, 600]).unwrap(), |s, out| op::fill(s, out, T::of(value)));
        assert_eq!(got, vec![T::of(value); 1800]);
        let whole = device.zeros::<T>([3, 4]).unwrap();
        op::fill(&stream, &mut whole.narrow(1, 1..3).unwrap(), T::of(value)).unwrap();
        let want = Host::build(&[3, 4], |i| if (1..3).contains(&i[1]) { value } else { 0.0 });
        want.assert_equal(&whole.to_vec().unwrap());
    }
    check::<f32>(-0.3);
    check::<f16>(1.5);
    check::<bf16>(-2.0);
    check::<i32>(-7.0);
    check::<i64>(f64::from(i32::MAX) * 64.0);
}

#[test]
fn fill_keeps_all_bits_of_large_integers() {
    let device = device();
    let stream = device.stream().unwrap();
    let value = i64::MAX - 12_345;
    let got = run(&stream, || device.zeros::<i64>([3]).unwrap(), |s, out| op::fill(s, out, value));
    assert_eq!(got, [value; 3]);
}

#[test]
fn embedding_looks_rows_up_by_either_type_of_index() {
    fn check<T: Value, I: Value + Index>() {
        let device = device();
        let stream = device.stream().unwrap();
        let table = Host::random::<T>(1, &[7, 5], -9.0, 9.0);
        for shape in [&[4][..], &[2, 3], &[2, 1, 2], &[1]] {
            let indices = Host::random::<I>(2, shape, 0.0, 6.99);
            let (dt, di) = (table.upload::<T>(&device), indices.upload::<I>(&device));
            let full = [shape, &[5]].concat();
            let got =
                run(&stream, || device.zeros(full.as_slice()).unwrap(), |s, out| op::embedding(s, &dt, &di, out));
            let want = Host::build(&full, |i| {
                let row = indices.at(&i[..shape.len()]) as usize;
                table.at(&[row, i[shape.len()]])
            });
            want.assert_equal(&got);
        }
        let view = table.upload::<T>(&device).transposed(0, 1).unwrap();
        let indices = Host { shape: vec![3], values: vec![4.0, 0.0, 4.0] };
        let di = indices.upload::<I>(&device);
        let got = run(&stream, || device.zeros([3, 7]).unwrap(), |s, out| op::embedding(s, &view, &di, out));
        Host::build(&[3, 7], |i| table.at(&[i[1], indices.values[i[0]] as usize])).assert_equal(&got);
    }
    check::<f32, i32>();
    check::<f32, i64>();
    check::<f16, i32>();
    check::<f16, i64>();
    check::<bf16, i64>();
    check::<i64, i32>();
}

#[test]
fn permute_reorders_dimensions() {
    fn check<T: Value>() {
        let device = device();
        let stream = device.stream().unwrap();
        let orders: [(&[usize], &[i64]); 6] = [
            (&[5], &[0]),
            (&[3, 4], &[1, 0]),
            (&[2, 3, 4], &[2, 0, 1]),
            (&[2, 3, 4], &[-1, 0, -2]),
            (&[2, 3, 4], &[0, 1, 2]),
            (&[2, 1, 3, 2], &[3, 2, 1, 0]),
        ];
        for (shape, order) in orders {
            let a = Host::random::<T>(1, shape, -9.0, 9.0);
            let da = a.upload::<T>(&device);
            let places: Vec<_> = order.iter().map(|dim| dim.rem_euclid(shape.len() as i64) as usize).collect();
            let want = a.permuted(&places);
            let make = || device.zeros(want.shape.as_slice()).unwrap();
            let got = run(&stream, make, |s, out| op::permute(s, &da, order, out));
            want.assert_equal(&got);
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
    check::<f64>();
    check::<i32>();
    check::<i64>();
}
