//! Foreign operators that call the C interface themselves.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::plan::{Foreign, Launch};
use racl::sys::{self, Table};
use racl::{Device, Result, StreamOptions, op};

/// What a foreign operator does at its launches.
pub(crate) const WORK: u32 = 0;
pub(crate) const FAIL: u32 = 1;
pub(crate) const PANIC: u32 = 2;

/// Copies value 0, 32-bit floats, to value 1.
pub(crate) fn copy() -> Foreign {
    Foreign::new("test.copy", 1, submit_copy)
}

/// A copy that works, fails or panics, as the number says at each launch.
pub(crate) fn copy_as_told(now: &Arc<AtomicU32>) -> Foreign {
    let now = Arc::clone(now);
    Foreign::new("test.told", 1, move |launch| match now.load(Ordering::Relaxed) {
        WORK => submit_copy(launch),
        // There is no priority 9.
        FAIL => launch.stream().context().stream_with(StreamOptions::new().priority(9)).map(drop),
        _ => panic!("told to panic"),
    })
}

/// A copy, and after it so many kernels on memory of its own as the number says at each launch.
pub(crate) fn copy_and(device: &Device, more: &Arc<AtomicU32>) -> Foreign {
    let (own, more) = (device.zeros::<f32>([4]).unwrap(), Arc::clone(more));
    Foreign::new("test.and", 1, move |launch| {
        submit_copy(launch)?;
        (0..more.load(Ordering::Relaxed)).try_for_each(|_| op::abs(launch.stream(), &own, &mut own.clone()))
    })
}

/// What the runtime says of the stream that the operator is launched on: its priority.
pub(crate) fn tell_priority(told: &Arc<AtomicU32>) -> Foreign {
    let told = Arc::clone(told);
    Foreign::new("test.priority", 1, move |launch| {
        let (ask, mut priority) = (crate::common::acl().table().aclrtStreamGetPriority()?, u32::MAX);
        // SAFETY: a live stream, and a place for one number.
        assert_eq!(unsafe { ask(launch.stream().as_raw(), &raw mut priority) }, 0);
        told.store(priority, Ordering::Relaxed);
        submit_copy(launch)
    })
}

fn submit_copy(launch: &Launch<'_>) -> Result<()> {
    let acl = crate::common::acl();
    let table = acl.table();
    let (from, to) = (tensor(table, launch, 0), tensor(table, launch, 1));
    let (mut bytes, mut executor) = (0, std::ptr::null_mut());
    let prepare = table.aclnnInplaceCopyGetWorkspaceSize()?;
    // SAFETY: two live tensors, and places for one number and one handle.
    let code = unsafe { prepare(to, from, &raw mut bytes, &raw mut executor) };
    assert_eq!((code, bytes), (0, 0));
    let submit = table.aclnnInplaceCopy()?;
    // SAFETY: the executor is that of the call before; the operator asked for no workspace.
    let code = unsafe { submit(std::ptr::null_mut(), 0, executor, launch.stream().as_raw()) };
    for made in [from, to] {
        let destroy = table.aclDestroyTensor()?;
        // SAFETY: made here and not used any more.
        assert_eq!(unsafe { destroy(made) }, 0);
    }
    assert_eq!(code, 0);
    Ok(())
}

fn tensor(table: &Table, launch: &Launch<'_>, index: usize) -> *mut sys::aclTensor {
    let count = (launch.bytes(index) / 4) as i64;
    let data: *mut c_void = launch.address(index);
    let create = table.aclCreateTensor().unwrap();
    let (kind, format) = (sys::aclDataType::ACL_FLOAT, sys::aclFormat::ACL_FORMAT_ND);
    // SAFETY: a shape and strides of one dimension, and an address that the launch gave.
    let made = unsafe { create(&raw const count, 1, kind, &1, 0, format, &raw const count, 1, data) };
    assert!(!made.is_null());
    made
}
