//! Matrix products.

use racl::half::{bf16, f16};
use racl::op::{self, CubeMath, Float};
use racl::{Device, Tensor};

use crate::common::device;
use crate::host::{Host, Value};
use crate::run;

/// numpy's `matmul`.
fn matmul(a: &Host, b: &Host) -> Host {
    let one_row = a.shape.len() == 1;
    let one_column = b.shape.len() == 1;
    let full = |x: &Host, shape: Vec<usize>| Host { shape, values: x.values.clone() };
    let a = if one_row { full(a, vec![1, a.shape[0]]) } else { a.clone() };
    let b = if one_column { full(b, vec![b.shape[0], 1]) } else { b.clone() };
    let (ra, rb) = (a.shape.len(), b.shape.len());
    let (m, k, n) = (a.shape[ra - 2], a.shape[ra - 1], b.shape[rb - 1]);
    assert_eq!(k, b.shape[rb - 2]);
    let batch = |x: &Host| Host::build(&x.shape[..x.shape.len() - 2], |_| 0.0);
    let mut shape = batch(&a).zip(&batch(&b), |_, _| 0.0).shape;
    let lead = shape.len();
    shape.extend([m, n]);
    let mut product = Host::build(&shape, |index| {
        let (mut left, mut right) = (index.clone(), index.clone());
        (0..k)
            .map(|x| {
                left[lead + 1] = x;
                right[lead] = x;
                a.at(&left) * b.at(&right)
            })
            .sum()
    });
    if one_column {
        product.shape.pop();
    }
    if one_row {
        product.shape.remove(product.shape.len() - 1 - usize::from(!one_column));
    }
    product
}

fn check<T: Value + Float>(device: &Device, a: &Host, b: &Host, da: &Tensor<T>, db: &Tensor<T>) {
    let stream = device.stream().unwrap();
    let want = matmul(a, b);
    let make = || device.zeros(want.shape.as_slice()).unwrap();
    let got = run(&stream, make, |s, out| op::matmul(s, da, db, out));
    want.assert_close(&got, 16.0 * a.shape[a.shape.len() - 1] as f64);
}

#[test]
fn matmul_takes_vectors_matrices_and_batches() {
    fn all<T: Value + Float>() {
        let device = device();
        let shapes: [(&[usize], &[usize]); 11] = [
            (&[4], &[4]),
            (&[4], &[4, 3]),
            (&[3, 4], &[4]),
            (&[3, 4], &[4, 5]),
            (&[1, 1], &[1, 1]),
            (&[2, 3, 4], &[4, 5]),
            (&[2, 3, 4], &[2, 4, 5]),
            (&[2, 1, 3, 4], &[5, 4, 2]),
            (&[2, 3, 4], &[4]),
            (&[4], &[2, 4, 3]),
            (&[37, 70], &[70, 41]),
        ];
        for (seed, (a, b)) in shapes.into_iter().enumerate() {
            let a = Host::random::<T>(seed as u64, a, -4.0, 4.0);
            let b = Host::random::<T>(50 + seed as u64, b, -4.0, 4.0);
            check(&device, &a, &b, &a.upload::<T>(&device), &b.upload::<T>(&device));
        }
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}

#[test]
fn matmul_takes_transposed_and_narrowed_views() {
    fn all<T: Value + Float>() {
        let device = device();
        let a = Host::random::<T>(1, &[9, 6], -2.0, 2.0);
        let b = Host::random::<T>(2, &[8, 12], -2.0, 2.0);
        let (left, right) = (a.permuted(&[1, 0]), b.narrowed(0, 2..7).narrowed(1, 3..12).permuted(&[1, 0]));
        let da = a.upload::<T>(&device).transposed(0, 1).unwrap();
        let db = b.upload::<T>(&device).narrow(0, 2..7).unwrap().narrow(1, 3..12).unwrap();
        check(&device, &left, &right, &da, &db.transposed(0, 1).unwrap());
        let batch = Host::random::<T>(3, &[3, 2, 5], -2.0, 2.0);
        let view = batch.upload::<T>(&device).transposed(0, 2).unwrap();
        let right = Host::random::<T>(4, &[3, 4], -2.0, 2.0);
        check(&device, &batch.permuted(&[2, 1, 0]), &right, &view, &right.upload::<T>(&device));
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}

#[test]
fn a_product_can_be_written_to_a_view() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = Host::random::<f32>(1, &[3, 4], -2.0, 2.0);
    let da = a.upload::<f32>(&device);
    let got = run(
        &stream,
        || device.zeros([3, 7]).unwrap().narrow(1, 2..5).unwrap().transposed(0, 1).unwrap(),
        |s, out| op::matmul(s, &da, &da.transposed(0, 1)?, out),
    );
    matmul(&a, &a.permuted(&[1, 0])).permuted(&[1, 0]).assert_close(&got, 16.0);
}

#[test]
fn every_precision_of_the_cube_computes_the_product() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = Host::random::<f32>(1, &[8, 16], -1.0, 1.0);
    let da = a.upload::<f32>(&device);
    let want = matmul(&a, &a.permuted(&[1, 0]));
    for math in [CubeMath::KeepType, CubeMath::AllowLessPrecision, CubeMath::UseF16, CubeMath::UseHf32] {
        let make = || device.zeros::<f32>([8, 8]).unwrap();
        let got = run(&stream, make, |s, out| op::matmul_with(s, &da, &da.transposed(0, 1)?, out, math));
        for (got, want) in got.iter().zip(&want.values) {
            assert!((f64::from(*got) - want).abs() < 0.05, "{math:?}: {got}, expected {want}");
        }
    }
}

#[test]
fn mm_and_batch_matmul_are_matmul_of_fixed_rank() {
    fn all<T: Value + Float>() {
        let device = device();
        let stream = device.stream().unwrap();
        let (a, b) = (Host::random::<T>(1, &[5, 7], -2.0, 2.0), Host::random::<T>(2, &[3, 7], -2.0, 2.0));
        let (da, db) = (a.upload::<T>(&device), b.upload::<T>(&device).transposed(0, 1).unwrap());
        let got = run(&stream, || device.zeros([5, 3]).unwrap(), |s, out| op::mm(s, &da, &db, out));
        matmul(&a, &b.permuted(&[1, 0])).assert_close(&got, 4.0 * 7.0);
        let (a, b) = (Host::random::<T>(3, &[4, 5, 7], -2.0, 2.0), Host::random::<T>(4, &[4, 7, 2], -2.0, 2.0));
        let (da, db) = (a.upload::<T>(&device), b.upload::<T>(&device));
        let got = run(&stream, || device.zeros([4, 5, 2]).unwrap(), |s, out| op::batch_matmul(s, &da, &db, out));
        matmul(&a, &b).assert_close(&got, 4.0 * 7.0);
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}

#[test]
fn addmm_broadcasts_its_bias() {
    fn all<T: Value + Float>() {
        let device = device();
        let stream = device.stream().unwrap();
        let (a, b) = (Host::random::<T>(1, &[5, 7], -2.0, 2.0), Host::random::<T>(2, &[7, 3], -2.0, 2.0));
        let (da, db) = (a.upload::<T>(&device), b.upload::<T>(&device));
        for shape in [&[3][..], &[5, 3], &[1, 3], &[5, 1], &[1], &[1, 1]] {
            let bias = Host::random::<T>(3, shape, -4.0, 4.0);
            let dbias = bias.upload::<T>(&device);
            let got = run(&stream, || device.zeros([5, 3]).unwrap(), |s, out| op::addmm(s, &dbias, &da, &db, out));
            matmul(&a, &b).zip(&bias, |product, bias| product + bias).assert_close(&got, 4.0 * 7.0);
        }
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}
