//! Indices that no element has: a fault of the device on the mock, and no memory but that of the result is touched.

use racl::op::{self, Reduce};
use racl::{Device, ErrorKind, Result, Stream, Tensor};

use crate::common::device;

const FAR: [i64; 5] = [3, 4_000_000_000, -4, i64::MAX, i64::MIN];

/// What lies before and behind the six numbers that are written.
const AROUND: [f32; 8] = [-5.0; 8];

/// Gives `work` an index and a window of a larger buffer, [3, 2], that it reads or writes.
fn faults(name: &str, work: impl Fn(&Device, &Stream, &Tensor<i64>, &mut Tensor<f32>) -> Result<()>) {
    for far in FAR {
        let device = device();
        let stream = device.stream().unwrap();
        let numbers = [AROUND.as_slice(), &[0.0; 6], &AROUND].concat();
        let all = device.upload_tensor(&numbers, [22]).unwrap();
        let mut window = all.narrow(0, 8..14).unwrap().reshaped([3, 2]).unwrap();
        let index = device.upload_tensor(&[far], [1]).unwrap();
        work(&device, &stream, &index, &mut window).unwrap_or_else(|error| panic!("{name} {far}: {error}"));
        let error = stream.synchronize().expect_err(name);
        assert_eq!(error.kind(), ErrorKind::DeviceFault, "{name} {far}: {error}");
        let after = all.to_vec().unwrap();
        assert_eq!((&after[..8], &after[14..]), (AROUND.as_slice(), AROUND.as_slice()), "{name} {far}");
        // The stream goes on.
        op::fill(&stream, &mut window, 1.0).unwrap();
        assert_eq!(window.to_vec().unwrap(), [1.0; 6], "{name} {far}");
    }
}

#[test]
fn gather() {
    faults("gather", |device, s, index, window| {
        let mut out = device.zeros([1, 1])?;
        op::gather(s, window, 0, &index.reshaped([1, 1])?, &mut out)
    });
}

#[test]
fn index_select() {
    faults("index_select", |device, s, index, window| {
        let mut out = device.zeros([1, 2])?;
        op::index_select(s, window, 0, index, &mut out)
    });
}

#[test]
fn index_copy() {
    faults("index_copy", |device, s, index, window| {
        let row = device.upload_tensor(&[7.0, 8.0], [1, 2])?;
        op::index_copy(s, window, 0, index, &row)
    });
}

#[test]
fn scatter() {
    for reduce in [Reduce::None, Reduce::Add, Reduce::Multiply] {
        faults("scatter", |device, s, index, window| {
            let one = device.upload_tensor(&[7.0], [1, 1])?;
            op::scatter(s, window, 0, &index.reshaped([1, 1])?, &one, reduce)
        });
    }
}

#[test]
fn index_put() {
    for accumulate in [false, true] {
        faults("index_put", |device, s, index, window| {
            let row = device.upload_tensor(&[7.0, 8.0], [1, 2])?;
            op::index_put(s, window, &[index], &row, accumulate)
        });
    }
}

#[test]
fn embedding() {
    faults("embedding", |device, s, index, window| {
        let mut out = device.zeros([1, 2])?;
        op::embedding(s, window, index, &mut out)
    });
}
