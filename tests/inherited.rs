//! Failures of work on another stream, which is told where later work is behind it, whatever happened in between.
#![forbid(unsafe_code)]

mod common;

use std::time::Duration;

use common::{device, mock};
use racl::{Context, ErrorKind, Stream, Tensor, op};

const FAULT: i32 = 507_015;

struct Behind {
    context: Context,
    /// Its work fails.
    first: Stream,
    /// Reads what that was to make.
    second: Stream,
    x: Tensor<f32>,
    y: Tensor<f32>,
    z: Tensor<f32>,
}

impl Behind {
    fn new() -> Self {
        let context = device().context().create_context().unwrap();
        let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
        let zeros = || context.zeros::<f32>([4]).unwrap();
        let (x, y, z) = (zeros(), zeros(), zeros());
        context.synchronize().unwrap();
        let mut made = Self { context, first, second, x, y, z };
        made.fails();
        made
    }

    fn fails(&mut self) {
        mock::fail_task("aclnnAbs", 1, FAULT).unwrap();
        op::abs(&self.first, &self.x, &mut self.y).unwrap();
        op::neg(&self.second, &self.y, &mut self.z).unwrap();
        mock::run_until_idle();
    }

    #[track_caller]
    fn is_told(&self) {
        let told = self.second.synchronize().unwrap_err();
        assert_eq!(told.kind(), ErrorKind::DeviceFault, "{told:#}");
        assert!(told.to_string().contains("which this work is behind, failed"), "{told:#}");
        self.second.synchronize().unwrap();
    }
}

#[test]
fn an_abort_of_the_stream_that_failed_does_not_take_it_away() {
    common::needs_mock("it lets work fail");
    let _alone = mock::exclusive();
    let mut behind = Behind::new();
    behind.first.abort().unwrap();
    behind.is_told();
    // A read of the result is one of the wait's stream.
    behind.fails();
    behind.first.abort().unwrap();
    assert_eq!(behind.z.to_vec().unwrap_err().kind(), ErrorKind::DeviceFault);
    // Nor does it make a failure of what comes later.
    let third = behind.context.stream().unwrap();
    op::neg(&behind.first, &behind.x, &mut behind.y).unwrap();
    op::neg(&third, &behind.y, &mut behind.z).unwrap();
    third.synchronize().unwrap();
    assert_eq!(behind.z.to_vec().unwrap(), [0.0; 4]);
    let told = behind.first.synchronize();
    assert!(told.is_err_and(|error| error.task_failure().is_some()), "the library tells it still");
}

#[test]
fn a_stream_that_fails_all_the_time_does_not_take_it_away() {
    common::needs_mock("it lets work fail");
    let _alone = mock::exclusive();
    let behind = Behind::new();
    let other = behind.context.stream().unwrap();
    let mut own = behind.context.zeros::<f32>([4]).unwrap();
    for _ in 0..200 {
        mock::fail_task("aclnnInplaceAdds", 1, FAULT).unwrap();
        op::adds_inplace(&other, &mut own, 1.0).unwrap();
    }
    mock::run_until_idle();
    behind.is_told();
    let number = behind.first.id().unwrap();
    let told = behind.first.synchronize().unwrap_err();
    assert_eq!(told.task_failure().map(|failure| i64::from(failure.stream())), Some(i64::from(number)), "{told:#}");
    drop(other.synchronize());
}

#[test]
fn an_error_of_a_third_stream_does_not_take_it_away() {
    common::needs_mock("it lets a call fail");
    let _alone = mock::exclusive();
    let behind = Behind::new();
    let other = behind.context.stream().unwrap();
    other.fill_bytes(&mut behind.context.alloc::<u8>(4).unwrap(), 1).unwrap();
    mock::fail("aclrtSynchronizeStream", 1, FAULT).unwrap();
    let told = other.synchronize().unwrap_err();
    assert!(told.task_failure().is_none(), "{told:#}");
    behind.is_told();
    drop(behind.first.synchronize());
}

/// The work that failed is dropped with all others'.
#[test]
fn an_abort_of_the_device_leaves_nothing_to_be_told() {
    common::needs_mock("it aborts the device");
    let _alone = mock::exclusive();
    let behind = Behind::new();
    behind.context.abort_device(Duration::from_secs(10)).unwrap();
    let good = |stream: &Stream| {
        let mut own = behind.context.zeros::<f32>([4]).unwrap();
        op::neg(stream, &behind.x, &mut own).unwrap();
        stream.synchronize()
    };
    good(&behind.second).unwrap();
    drop(behind.first.synchronize());
    good(&behind.first).unwrap();
}
