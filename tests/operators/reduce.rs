//! Reductions.

use racl::half::{bf16, f16};
use racl::op::{self, Float};

use crate::common::device;
use crate::host::{Host, Value, indices};
use crate::run;

/// Sum and number of summands of each result.
fn reduce(a: &Host, dims: &[i64], keep: bool) -> (Host, usize) {
    let rank = a.shape.len();
    let gone: Vec<bool> = (0..rank as i64)
        .map(|dim| dims.is_empty() || dims.contains(&dim) || dims.contains(&(dim - rank as i64)))
        .collect();
    let kept: Vec<usize> = a.shape.iter().zip(&gone).map(|(size, gone)| if *gone { 1 } else { *size }).collect();
    let mut sums = Host::build(&kept, |index| {
        indices(&a.shape)
            .filter(|at| at.iter().zip(&index).zip(&gone).all(|((a, b), gone)| *gone || a == b))
            .map(|at| a.at(&at))
            .sum()
    });
    if !keep {
        sums.shape = kept.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(size, _)| *size).collect();
    }
    let count = a.values.len() / sums.values.len();
    (sums, count)
}

fn check<T: Value + Float>(a: &Host, dims: &[i64], transposed: bool) {
    let device = device();
    let stream = device.stream().unwrap();
    let mut da = a.upload::<T>(&device);
    let mut a = a.clone();
    if transposed {
        let last = a.shape.len() - 1;
        da = da.transposed(0, last).unwrap();
        let mut order: Vec<_> = (0..=last).collect();
        order.swap(0, last);
        a = a.permuted(&order);
    }
    let scale = a.values.iter().map(|v| v.abs()).sum::<f64>();
    for keep in [false, true] {
        let (want, count) = reduce(&a, dims, keep);
        let make = || device.zeros(want.shape.as_slice()).unwrap();
        let got = run(&stream, make, |s, out| op::reduce_sum(s, &da, dims, keep, out));
        want.assert_close(&got, scale);
        let got = run(&stream, make, |s, out| op::mean(s, &da, dims, keep, out));
        want.map(|sum| sum / count as f64).assert_close(&got, scale);
    }
}

#[test]
fn reduce_sum_and_mean_over_any_dimensions() {
    fn all<T: Value + Float>() {
        let a = Host::random::<T>(1, &[3, 4, 5], -2.0, 2.0);
        for dims in [&[][..], &[0], &[1], &[2], &[-1], &[-3], &[0, 1], &[0, 2], &[2, 0], &[1, -1], &[0, 1, 2]] {
            check::<T>(&a, dims, false);
            check::<T>(&a, dims, true);
        }
        for shape in [&[1][..], &[9], &[2, 600], &[600, 2], &[1, 3, 1]] {
            let a = Host::random::<T>(2, shape, -2.0, 2.0);
            check::<T>(&a, &[], false);
            check::<T>(&a, &[-1], false);
            check::<T>(&a, &[0], false);
        }
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}

#[test]
fn sums_of_many_small_numbers_do_not_stall() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.upload_tensor(&vec![f16::from_f32(0.25); 8192], [8192]).unwrap();
    let got = run(&stream, || device.zeros([]).unwrap(), |s, out| op::reduce_sum(s, &a, &[], false, out));
    assert_eq!(got, [f16::from_f32(2048.0)]);
}
