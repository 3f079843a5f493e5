//! RMS normalisation, rotary embedding and SwiGLU.

use racl::half::{bf16, f16};
use racl::op::{self, Float, RotaryForm};

use crate::common::device;
use crate::host::{Host, Value, indices};
use crate::run;

#[test]
fn rms_norm_runs_over_the_last_dimensions() {
    fn all<T: Value + Float>() {
        let device = device();
        let stream = device.stream().unwrap();
        for (shape, tail) in [(&[6][..], 1), (&[3, 8], 1), (&[2, 3, 4], 1), (&[2, 3, 4], 2), (&[2, 515], 1)] {
            let lead = shape.len() - tail;
            let a = Host::random::<T>(1, shape, -3.0, 5.0);
            let weight = Host::random::<T>(2, &shape[lead..], 0.5, 2.0);
            let scale = |index: &[usize]| {
                let line: Vec<f64> = indices(&shape[lead..]).map(|i| a.at(&[&index[..lead], &i].concat())).collect();
                1.0 / (line.iter().map(|v| v * v).sum::<f64>() / line.len() as f64 + 1e-5).sqrt()
            };
            let want = Host::build(shape, |index| a.at(&index) * scale(&index) * weight.at(&index));
            let (da, dw) = (a.upload::<T>(&device), weight.upload::<T>(&device));
            let ones: Vec<usize> = shape.iter().enumerate().map(|(d, n)| if d < lead { *n } else { 1 }).collect();
            let scales = device.zeros::<f32>(ones.as_slice()).unwrap();
            let got = run(
                &stream,
                || device.zeros(shape).unwrap(),
                |s, out| op::rms_norm(s, &da, &dw, 1e-5, out, &mut scales.clone()),
            );
            want.assert_close(&got, 16.0);
            Host::build(&ones, |index| scale(&index)).assert_close(&scales.to_vec().unwrap(), 4.0);
        }
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}

#[test]
fn rotary_embedding_turns_pairs() {
    fn all<T: Value + Float>() {
        let device = device();
        let stream = device.stream().unwrap();
        for (shape, small) in
            [([1, 3, 1, 8], [1, 1, 1, 8]), ([2, 3, 5, 6], [1, 3, 1, 6]), ([2, 1, 4, 2], [2, 1, 4, 2])]
        {
            let a = Host::random::<T>(1, &shape, -2.0, 2.0);
            let (cos, sin) = (Host::random::<T>(2, &small, -1.0, 1.0), Host::random::<T>(3, &small, -1.0, 1.0));
            let (da, dcos, dsin) = (a.upload::<T>(&device), cos.upload::<T>(&device), sin.upload::<T>(&device));
            for form in [RotaryForm::Halves, RotaryForm::Neighbours] {
                let want = Host::build(&shape, |index| {
                    let (i, half) = (index[3], shape[3] / 2);
                    let (other, first) = match form {
                        RotaryForm::Halves => ((i + half) % shape[3], i < half),
                        RotaryForm::Neighbours => (i ^ 1, i % 2 == 0),
                    };
                    let turned = a.at(&[index[0], index[1], index[2], other]);
                    let turned = if first { -turned } else { turned };
                    a.at(&index) * cos.at(&index) + turned * sin.at(&index)
                });
                let got = run(
                    &stream,
                    || device.zeros(shape).unwrap(),
                    |s, out| op::rotary_embedding(s, &da, &dcos, &dsin, form, out),
                );
                want.assert_close(&got, 4.0);
            }
        }
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}

#[test]
fn swiglu_gates_the_second_half_by_the_first() {
    fn all<T: Value + Float>() {
        let device = device();
        let stream = device.stream().unwrap();
        for (shape, dim, place) in [(&[8][..], -1, 0), (&[3, 10], 1, 1), (&[4, 3, 2], 0, 0), (&[2, 6, 5], -2, 1)] {
            let a = Host::random::<T>(1, shape, -6.0, 6.0);
            let half = shape[place] / 2;
            let mut small = shape.to_vec();
            small[place] = half;
            let want = Host::build(&small, |index| {
                let mut other = index.clone();
                other[place] += half;
                let gate = a.at(&index);
                gate / (1.0 + (-gate).exp()) * a.at(&other)
            });
            let da = a.upload::<T>(&device);
            let zeros = || device.zeros(small.as_slice()).unwrap();
            want.assert_close(&run(&stream, zeros, |s, out| op::swiglu(s, &da, dim, out)), 36.0);
        }
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
}
