//! Matrix products.

use crate::op::{CubeMath, DataType, Recorded};

use super::{Bench, LAYOUTS, Values, made};

const FLOATS: [DataType; 3] = [DataType::F32, DataType::F16, DataType::Bf16];

fn compare(bench: &mut Bench, operator: &Recorded, dims: &[&[usize]]) {
    let (out, operands) = dims.split_last().unwrap();
    for dtype in FLOATS {
        for kind in LAYOUTS {
            let wild = bench.rng.u8(..5) == 0;
            let values = if wild { Values::Wild } else { Values::Tame };
            let mut kinds = vec![kind];
            kinds.resize_with(operands.len(), || LAYOUTS[bench.rng.usize(..LAYOUTS.len())]);
            let operands: Vec<_> =
                operands.iter().zip(kinds).map(|(dims, kind)| bench.memory(dtype, dims, kind, values)).collect();
            let out = bench.out(dtype, out);
            bench.compare(operator, &operands.iter().collect::<Vec<_>>(), &out);
        }
    }
}

#[test]
fn products_of_all_sizes_are_those_of_the_mock() {
    let mut bench = Bench::new(31);
    let sizes = [
        [1, 1, 1],
        [3, 8, 1],
        [1, 17, 3],
        [8, 3, 17],
        [17, 64, 130],
        [6, 256, 16],
        [7, 257, 17],
        [100, 130, 3],
        [3, 600, 530],
        [3, 0, 4],
        [0, 3, 4],
    ];
    for [m, k, n] in sizes {
        compare(&mut bench, &made::mm(), &[&[m, k], &[k, n], &[m, n]]);
        compare(&mut bench, &made::matmul(CubeMath::KeepType), &[&[m, k], &[k, n], &[m, n]]);
        compare(&mut bench, &made::addmm(1.0, 1.0), &[&[n], &[m, k], &[k, n], &[m, n]]);
    }
    compare(&mut bench, &made::addmm(1.0, 1.0), &[&[3, 1], &[3, 8], &[8, 5], &[3, 5]]);
    compare(&mut bench, &made::addmm(1.0, 1.0), &[&[], &[3, 8], &[8, 5], &[3, 5]]);
    compare(&mut bench, &made::addmm(1.0, 1.0), &[&[3, 5], &[3, 300], &[300, 5], &[3, 5]]);
}

#[test]
fn products_that_are_added_with_factors_are_those_of_the_mock() {
    let mut bench = Bench::new(33);
    // The last but one is taken for 0.
    for [beta, alpha] in [[1.0, 1.0], [0.3, -1.7], [0.0, 0.5], [2.0, 0.0], [1.1e-7, 1e-6], [1.3e-7, 1e-6]] {
        for bias in [&[5][..], &[3, 1], &[3, 5], &[]] {
            compare(&mut bench, &made::addmm(beta, alpha), &[bias, &[3, 300], &[300, 5], &[3, 5]]);
        }
        for bias in [&[5][..], &[2, 1, 1], &[3, 1], &[2, 3, 5]] {
            compare(&mut bench, &made::baddbmm(beta, alpha), &[bias, &[2, 3, 17], &[2, 17, 5], &[2, 3, 5]]);
        }
    }
}

#[test]
fn products_of_stacks_and_vectors_are_those_of_the_mock() {
    let mut bench = Bench::new(32);
    compare(&mut bench, &made::batch_matmul(), &[&[3, 8, 17], &[3, 17, 5], &[3, 8, 5]]);
    compare(&mut bench, &made::batch_matmul(), &[&[1, 3, 300], &[4, 300, 2], &[4, 3, 2]]);
    let products: [[&[usize]; 3]; 8] = [
        [&[17], &[17], &[]],
        [&[17], &[17, 3], &[3]],
        [&[3, 17], &[17], &[3]],
        [&[2, 3, 8], &[8], &[2, 3]],
        [&[8], &[2, 8, 3], &[2, 3]],
        [&[2, 3, 8], &[8, 5], &[2, 3, 5]],
        [&[2, 1, 3, 8], &[4, 8, 5], &[2, 4, 3, 5]],
        [&[3, 1, 2, 4, 8], &[2, 1, 8, 3], &[3, 2, 2, 4, 3]],
    ];
    for dims in products {
        compare(&mut bench, &made::matmul(CubeMath::KeepType), &dims);
    }
    for math in [CubeMath::AllowLessPrecision, CubeMath::UseF16, CubeMath::UseHf32] {
        compare(&mut bench, &made::matmul(math), &[&[3, 17], &[17, 8], &[3, 8]]);
    }
}
