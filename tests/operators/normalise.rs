//! Softmax and layer normalisation.

use racl::half::{bf16, f16};
use racl::op::{self, Float, LayerNorm};

use crate::common::device;
use crate::host::{Host, Value, indices};
use crate::run;

fn softmax(a: &Host, dim: usize) -> Host {
    Host::build(&a.shape, |index| {
        let line = (0..a.shape[dim]).map(|i| {
            let mut at = index.clone();
            at[dim] = i;
            a.at(&at)
        });
        let largest = line.clone().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = line.map(|v| (v - largest).exp()).sum();
        (a.at(&index) - largest).exp() / sum
    })
}

#[test]
fn softmax_runs_over_any_dimension() {
    fn all<T: Value + Float>() {
        let device = device();
        let stream = device.stream().unwrap();
        for (shape, dims) in [(&[5][..], &[0, -1][..]), (&[3, 4], &[0, 1, -1, -2]), (&[2, 3, 70], &[0, 1, 2, -3])] {
            let a = Host::random::<T>(1, shape, -8.0, 8.0);
            let da = a.upload::<T>(&device);
            for dim in dims {
                let got = run(&stream, || device.zeros(shape).unwrap(), |s, out| op::softmax(s, &da, *dim, out));
                let place = if *dim < 0 { *dim + shape.len() as i64 } else { *dim };
                softmax(&a, place as usize).assert_close(&got, 4.0);
            }
        }
        let a = Host::random::<T>(2, &[6, 9], -8.0, 8.0);
        let view = a.upload::<T>(&device).transposed(0, 1).unwrap().narrow(0, 2..7).unwrap();
        let want = softmax(&a.permuted(&[1, 0]).narrowed(0, 2..7), 1);
        let got = run(&stream, || device.zeros([5, 6]).unwrap(), |s, out| op::softmax(s, &view, -1, out));
        want.assert_close(&got, 4.0);
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}

#[test]
fn softmax_of_large_numbers_does_not_overflow() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.upload_tensor(&[1e30_f32, 1e30, -1e30, f32::MIN], [4]).unwrap();
    let got = run(&stream, || device.zeros([4]).unwrap(), |s, out| op::softmax(s, &a, 0, out));
    assert_eq!(got, [0.5, 0.5, 0.0, 0.0]);
}

#[test]
fn layer_norm_runs_over_the_last_dimensions() {
    fn all<T: Value + Float>() {
        let device = device();
        let stream = device.stream().unwrap();
        for (shape, tail) in [(&[6][..], 1), (&[3, 8], 1), (&[2, 3, 4], 1), (&[2, 3, 4], 2), (&[2, 515], 1)] {
            let norm = &shape[shape.len() - tail..];
            let a = Host::random::<T>(1, shape, -3.0, 5.0);
            let (weight, bias) = (Host::random::<T>(2, norm, 0.5, 2.0), Host::random::<T>(3, norm, -1.0, 1.0));
            let want = Host::build(shape, |index| {
                let lead = &index[..shape.len() - tail];
                let line: Vec<f64> = indices(norm).map(|i| a.at(&[lead, &i].concat())).collect();
                let mean = line.iter().sum::<f64>() / line.len() as f64;
                let variance = line.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / line.len() as f64;
                (a.at(&index) - mean) / (variance + 1e-5).sqrt() * weight.at(&index) + bias.at(&index)
            });
            let (da, dw, db) = (a.upload::<T>(&device), weight.upload::<T>(&device), bias.upload::<T>(&device));
            let norm = LayerNorm { weight: &dw, bias: &db, eps: 1e-5 };
            let got = run(&stream, || device.zeros(shape).unwrap(), |s, out| op::layer_norm(s, &da, &norm, out));
            want.assert_close(&got, 32.0);
        }
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}
