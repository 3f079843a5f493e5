//! Forks of a process: refused where the library was in use, with nothing done to what the parent has.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use racl::{Acl, Device, Error, ErrorKind, Stream, Tensor, op};

use crate::common::{assert_says, device, mock};
use crate::watchdog::Watchdog;
use crate::{Other, is_other};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
}

/// Runs `work` in a fork of this process; gives how that ended.
fn in_a_fork(work: impl FnOnce()) -> i32 {
    // SAFETY: the child uses nothing of the other threads, and ends without running what they would run.
    let child = unsafe { fork() };
    assert!(child >= 0);
    if child == 0 {
        let done = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: ends the process.
        unsafe { _exit(i32::from(done.is_err())) }
    }
    let mut status = -1;
    // SAFETY: a child of this process, and a place for one number.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    status
}

fn ones() -> (Device, Stream, Tensor<f32>) {
    let device = device();
    let stream = device.stream().unwrap();
    let mut ones = device.zeros::<f32>([4]).unwrap();
    op::fill(&stream, &mut ones, 1.0).unwrap();
    (device, stream, ones)
}

fn refused(error: &Error) {
    assert_says(error, ErrorKind::NotSupported, &["forked", "spawn"]);
}

#[test]
fn a_fork_is_refused_what_it_asks_and_drops_nothing_of_its_parent() {
    let _watched = Watchdog::new();
    if !is_other() {
        return Other::start("forks::a_fork_is_refused_what_it_asks_and_drops_nothing_of_its_parent").end();
    }
    let (device, stream, ones) = ones();
    stream.synchronize().unwrap();
    // A drop that waited for work would do so longer than the watchdog does.
    racl::set_drop_limit(Duration::from_secs(100_000));
    mock::hold(&stream).unwrap();
    let mut sum = device.zeros::<f32>([4]).unwrap();
    op::add(&stream, &ones, &ones, &mut sum).unwrap();
    let mut buffer = device.alloc::<f32>(4).unwrap();
    device.alloc::<f32>(4).unwrap();
    let lent = stream.upload(device.pinned_from(&[1.0_f32; 4]).unwrap(), &mut buffer).unwrap();
    let mut owned = Some((device.stream().unwrap(), ones, sum, lent, buffer));
    let status = in_a_fork(|| {
        refused(&stream.synchronize().unwrap_err());
        refused(&device.stream().unwrap_err());
        refused(&device.upload(&[1.0_f32]).unwrap_err());
        // The pool has some, which the parent may give out as well.
        refused(&device.alloc::<f32>(4).unwrap_err());
        refused(&device.acl().device_count().unwrap_err());
        refused(&Acl::mock().unwrap_err());
        let mut owned = owned.take().unwrap();
        refused(&op::fill(&stream, &mut owned.1, 1.0).unwrap_err());
        drop(owned);
        assert!(device.context().take_drop_errors().is_empty());
    });
    assert_eq!(status, 0);
    mock::release(&stream).unwrap();
    let (_side, _ones, sum, lent, buffer) = owned.unwrap();
    assert_eq!(*lent.wait().unwrap(), [1.0; 4]);
    assert_eq!((sum.to_vec().unwrap(), buffer.to_vec().unwrap()), (vec![2.0; 4], vec![1.0; 4]));
}

#[test]
fn a_fork_before_the_initialisation_may_use_the_library() {
    let _watched = Watchdog::new();
    if !is_other() {
        return Other::start("forks::a_fork_before_the_initialisation_may_use_the_library").end();
    }
    assert_eq!(in_a_fork(|| assert_eq!(ones().2.to_vec().unwrap(), [1.0; 4])), 0);
}
