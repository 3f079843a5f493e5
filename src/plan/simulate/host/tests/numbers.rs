//! Operators that compute each element on its own.

use crate::op::{DataType, Recorded};
use crate::plan::recipe::operator::Number;

use super::{Bench, Kind, LAYOUTS, Values, dense, made};

const FLOATS: [DataType; 3] = [DataType::F32, DataType::F16, DataType::Bf16];
const INTEGERS: [DataType; 2] = [DataType::I32, DataType::I64];

fn numbers(dtype: DataType) -> Vec<Number> {
    match dtype.is_float() {
        true => [0.5, -1.7, -0.0, f64::NAN, f64::INFINITY, 3e-5].map(Number::Float).to_vec(),
        false => [0, 3, -1_000_003].map(Number::Int).to_vec(),
    }
}

/// Operators of one operand that a type has.
fn unary(dtype: DataType) -> Vec<Recorded> {
    let mut all = vec![made::abs()];
    numbers(dtype).into_iter().for_each(|number| all.extend(made::with_number(dtype, number)));
    if dtype.is_float() {
        all.extend(made::functions());
    }
    all
}

fn binary(dtype: DataType) -> Vec<Recorded> {
    let mut all = made::of_two(dtype);
    all.extend(numbers(dtype).into_iter().map(|alpha| made::add(dtype, alpha)));
    all
}

#[test]
fn functions_of_every_half_are_those_of_the_mock() {
    let bench = Bench::new(1);
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect();
    for dtype in [DataType::F16, DataType::Bf16] {
        let all = dense(dtype, &[1 << 16], bytes.clone());
        for operator in unary(dtype) {
            bench.compare(&operator, &[&all], &all);
        }
    }
}

#[test]
fn functions_of_any_single_and_integer_are_those_of_the_mock() {
    let mut bench = Bench::new(2);
    for dtype in [DataType::F32, DataType::I32, DataType::I64] {
        let any = bench.memory(dtype, &[20_000], Kind::Dense, Values::Wild);
        for operator in unary(dtype) {
            bench.compare(&operator, &[&any], &any);
        }
    }
}

#[test]
fn functions_of_any_layout_are_those_of_the_mock() {
    let mut bench = Bench::new(3);
    for dtype in FLOATS.into_iter().chain(INTEGERS) {
        for dims in [&[][..], &[1], &[17], &[3, 8], &[2, 3, 1, 5], &[0, 3], &[3, 130]] {
            for kind in LAYOUTS {
                let a = bench.memory(dtype, dims, kind, Values::Wild);
                let out = bench.out(dtype, dims);
                for operator in [made::abs(), unary(dtype).pop().unwrap()] {
                    bench.compare(&operator, &[&a], &out);
                    if kind != Kind::Repeated {
                        bench.compare_in_place(&operator, &[&a]);
                    }
                }
            }
        }
    }
}

#[test]
fn arithmetic_of_any_two_layouts_is_that_of_the_mock() {
    let mut bench = Bench::new(4);
    let shapes: [(&[usize], &[usize], &[usize]); 6] = [
        (&[64], &[64], &[64]),
        (&[3, 8], &[8], &[3, 8]),
        (&[3, 1], &[1, 17], &[3, 17]),
        (&[], &[2, 3], &[2, 3]),
        (&[5, 1, 130], &[3, 1], &[5, 3, 130]),
        (&[0, 4], &[4], &[0, 4]),
    ];
    for dtype in FLOATS.into_iter().chain(INTEGERS) {
        for (dims_a, dims_b, dims) in shapes {
            for operator in binary(dtype) {
                let a = bench.any(dtype, dims_a, Values::Wild);
                let b = bench.any(dtype, dims_b, Values::Wild);
                let out = bench.out(dtype, dims);
                bench.compare(&operator, &[&a, &b], &out);
                bench.compare_in_place(&operator, &[&out, &b]);
            }
        }
    }
}
