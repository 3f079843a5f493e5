//! Sums, means, softmax and layer norm.

use crate::op::DataType;

use super::{Bench, LAYOUTS, Values, made};

const FLOATS: [DataType; 3] = [DataType::F32, DataType::F16, DataType::Bf16];

#[test]
fn sums_over_any_dimensions_are_those_of_the_mock() {
    let mut bench = Bench::new(21);
    let shapes: [&[usize]; 11] = [
        &[],
        &[1],
        &[130],
        &[1300],
        &[3, 8],
        &[3, 1100],
        &[600, 3],
        &[2, 17, 8],
        &[2, 1, 530, 3],
        &[3, 2, 4, 2, 5],
        &[0, 3],
    ];
    for dims in shapes {
        for over in 0..1_u8 << dims.len() {
            let keep = bench.rng.bool();
            let gone = |dim: usize| over == 0 || over & (1 << dim) != 0;
            let kept = dims.iter().enumerate().filter(|(dim, _)| keep || !gone(*dim));
            let kept: Vec<usize> = kept.map(|(dim, size)| if gone(dim) { 1 } else { *size }).collect();
            for dtype in FLOATS {
                for kind in LAYOUTS {
                    let values = [Values::Wild, Values::Tame, Values::Steep, Values::Steep][bench.rng.usize(..4)];
                    let a = bench.memory(dtype, dims, kind, values);
                    let out = bench.out(dtype, &kept);
                    for operator in made::reductions(dtype, over, keep) {
                        bench.compare(&operator, &[&a], &out);
                    }
                }
            }
        }
    }
}

#[test]
fn sums_of_long_lines_meet_in_the_order_of_the_mock() {
    let mut bench = Bench::new(24);
    for kind in LAYOUTS {
        let a = bench.memory(DataType::F32, &[200, 700], kind, Values::Steep);
        let out = bench.out(DataType::F32, &[200]);
        let [sum, _] = made::reductions(DataType::F32, 2, false);
        bench.compare(&sum, &[&a], &out);
    }
}

#[test]
fn softmax_along_any_dimension_is_that_of_the_mock() {
    let mut bench = Bench::new(22);
    let shapes: [&[usize]; 9] = [&[1], &[3], &[8], &[17], &[64], &[130], &[3, 130], &[2, 67, 3], &[0, 4]];
    for dims in shapes {
        for dim in 0..dims.len() {
            for dtype in FLOATS {
                for kind in LAYOUTS {
                    for values in [Values::Tame, Values::Wild] {
                        let a = bench.memory(dtype, dims, kind, values);
                        let out = bench.out(dtype, dims);
                        bench.compare(&made::softmax(dim as i64), &[&a], &out);
                    }
                }
            }
        }
    }
}

#[test]
fn layer_norm_over_any_end_is_that_of_the_mock() {
    let mut bench = Bench::new(23);
    let shapes: [(&[usize], usize); 8] = [
        (&[1], 1),
        (&[8], 1),
        (&[3, 17], 1),
        (&[3, 64], 1),
        (&[2, 5, 130], 1),
        (&[2, 3, 17], 2),
        (&[3, 700], 2),
        (&[0, 4], 1),
    ];
    for (dims, rank) in shapes {
        let line = &dims[dims.len() - rank..];
        for dtype in FLOATS {
            for kind in LAYOUTS {
                for values in [Values::Tame, Values::Wild] {
                    let a = bench.memory(dtype, dims, kind, values);
                    let weight = bench.any(dtype, line, Values::Tame);
                    let bias = bench.any(dtype, line, Values::Tame);
                    let out = bench.out(dtype, dims);
                    bench.compare(&made::layer_norm(line, 1e-5), &[&a, &weight, &bias], &out);
                }
            }
        }
    }
}
