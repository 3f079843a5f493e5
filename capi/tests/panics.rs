//! Callbacks that panic, in a program of Rust that racl-capi is part of: each panic is a status or contained, and all that
//! was there stays usable. Those of host functions, launches and builds are in `steady.rs`.

#[path = "support/device.rs"]
mod device;

use std::ffi::{c_char, c_void};
use std::panic::resume_unwind;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use device::{Device, ok, text};
use racl_capi::*;

/// A call that a callback ended.
fn is_told(status: i32) {
    assert_eq!((status, racl_last_error_status()), (RACL_CALLBACK_PANICKED, RACL_CALLBACK_PANICKED), "{}", text());
    assert!(text().contains("thrown"), "{}", text());
}

fn thrown() -> ! {
    resume_unwind(Box::new("thrown"))
}

extern "C-unwind" fn launches(_: *mut c_void, _: *const racl_launch) -> i32 {
    RACL_OK
}

/// Panics the first time, and counts where its user is.
extern "C-unwind" fn simulates(
    user: *mut c_void,
    _: *const racl_bytes,
    _: usize,
    _: *const racl_bytes,
    _: usize,
) -> i32 {
    // SAFETY: the counter of the test, which outlives the plan.
    if unsafe { &*user.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed) == 0 { thrown() } else { RACL_OK }
}

#[test]
fn a_simulation_that_panics_is_a_status_and_the_plan_stays() {
    let calls = AtomicU32::new(0);
    let user = (&raw const calls).cast_mut().cast();
    let foreign = device::foreign(c"simulated", Some(launches), Some(simulates), user);
    let (mut builder, mut plan, mut simulation) = (null_mut(), null_mut(), null_mut());
    let mut y = 0;
    // SAFETY: structs, texts and places that outlive each call; so below.
    ok(unsafe { racl_builder_new(null(), &raw mut builder) });
    // SAFETY: as above.
    ok(unsafe { racl_builder_empty(builder, 0, null(), 0, &raw mut y) });
    // SAFETY: as above.
    ok(unsafe { racl_builder_foreign(builder, foreign, null(), 0, &raw const y, 1) });
    // SAFETY: as above.
    ok(unsafe { racl_builder_output(builder, c"y".as_ptr(), y) });
    // SAFETY: as above.
    ok(unsafe { racl_builder_build(builder, &raw mut plan) });
    // SAFETY: as above.
    let mut simulate = || unsafe { racl_simulation_new(plan, 0, null(), 0, null(), 0, &raw mut simulation) };
    is_told(simulate());
    ok(simulate());
    ok(racl_simulation_free(simulation));
    ok(racl_plan_free(plan));
    ok(racl_foreign_free(foreign));
    assert_eq!(calls.into_inner(), 2);
}

extern "C-unwind" fn give_panics(_: *mut c_void, _: *const racl_stream) -> i32 {
    thrown()
}

/// Doubles the tensor that it is given.
extern "C-unwind" fn give_twice(user: *mut c_void, stream: *const racl_stream) -> i32 {
    let argument = |kind, data, real| racl_arg { kind, reserved: 0, count: 0, data, integer: 0, real };
    let args = [argument(RACL_ARG_TENSOR, user.cast_const(), 0.0), argument(RACL_ARG_SCALAR_FLOAT, null(), 2.0)];
    // SAFETY: a text, and a list of so many.
    unsafe { racl_operator(stream, c"aclnnInplaceMuls".as_ptr(), args.as_ptr(), args.len()) }
}

#[test]
fn a_group_and_an_update_that_panic_are_a_status_and_both_can_be_tried_again() {
    let device = Device::new();
    let stream = device.stream;
    let tensor = device.tensor([1.0, -3.0]);
    let (mut capture, mut group, mut graph) = (null_mut(), null_mut(), null_mut());
    // SAFETY: places that outlive each call, and a function that takes no user; so below.
    ok(unsafe { racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &raw mut capture) });
    // SAFETY: as above.
    is_told(unsafe { racl_stream_task_group(stream, Some(give_panics), null_mut(), &raw mut group) });
    assert!(group.is_null());
    // SAFETY: as above.
    assert_eq!(unsafe { racl_capture_end(capture, &raw mut graph) }, RACL_CAPTURE_INVALIDATED);
    // SAFETY: as above.
    ok(unsafe { racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &raw mut capture) });
    // SAFETY: as above, and the handle of a tensor for a user.
    ok(unsafe { racl_stream_task_group(stream, Some(give_twice), tensor.cast(), &raw mut group) });
    // SAFETY: as above.
    ok(unsafe { racl_capture_end(capture, &raw mut graph) });
    // SAFETY: as above.
    is_told(unsafe { racl_graph_update(graph, group, Some(give_panics), null_mut()) });
    // SAFETY: as above.
    ok(unsafe { racl_graph_update(graph, group, Some(give_twice), tensor.cast()) });
    ok(racl_graph_launch(graph, stream));
    device.synchronize();
    let mut got = [0.0_f32; 2];
    // SAFETY: a place of so many bytes.
    ok(unsafe { racl_tensor_read(tensor, got.as_mut_ptr().cast(), 8) });
    assert_eq!(got, [2.0, -6.0]);
    ok(racl_task_group_free(group));
    ok(racl_graph_close(graph));
    ok(racl_tensor_free(tensor));
    device.close();
}

static LINES: AtomicU32 = AtomicU32::new(0);

extern "C-unwind" fn log_panics(_: *mut c_void, _: i32, _: *const c_char, _: *const c_char) {
    LINES.fetch_add(1, Ordering::Relaxed);
    thrown()
}

extern "C-unwind" fn fails(_: *mut c_void, _: *const c_void, _: usize) -> i32 {
    7
}

extern "C-unwind" fn runs(_: *mut c_void, _: *const c_void, _: usize) -> i32 {
    RACL_OK
}

#[test]
fn a_log_that_panics_is_asked_again_and_changes_nothing() {
    let device = Device::new();
    // SAFETY: a function that takes no user.
    ok(unsafe { racl_log_set(RACL_LOG_ERROR, Some(log_panics), null_mut()) });
    for round in 1..=2 {
        let before = LINES.load(Ordering::Relaxed);
        // SAFETY: as above.
        ok(unsafe { racl_stream_host_function(device.stream, Some(fails), null_mut(), None) });
        assert_eq!(racl_stream_synchronize(device.stream, -1), RACL_CALLBACK_PANICKED);
        assert!(text().contains("gave 7"), "{}", text());
        assert!(LINES.load(Ordering::Relaxed) > before, "no line in round {round}");
    }
    // SAFETY: as above.
    ok(unsafe { racl_log_set(RACL_LOG_OFF, None, null_mut()) });
    device.close();
}

/// Counts itself where its user is.
extern "C-unwind" fn release_panics(user: *mut c_void) {
    // SAFETY: the counter of a test, which outlives all that has it.
    unsafe { &*user.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
    thrown()
}

#[test]
fn a_release_that_panics_is_called_once_and_fails_nothing() {
    let (device, released) = (Device::new(), AtomicU32::new(0));
    let count = || released.load(Ordering::Relaxed);
    let user = (&raw const released).cast_mut().cast::<c_void>();
    // Of a host function, on whatever thread that ends.
    // SAFETY: functions, and a counter that outlives them; so below.
    ok(unsafe { racl_stream_host_function(device.stream, Some(runs), user, Some(release_panics)) });
    device.synchronize();
    assert_eq!(count(), 1);
    // Of memory of other code.
    let (mut buffer, mut address, mut theirs) = (null_mut(), null_mut(), null_mut());
    // SAFETY: places that outlive each call; so below.
    ok(unsafe { racl_buffer_new(device.context, 64, &raw mut buffer) });
    // SAFETY: as above.
    ok(unsafe { racl_buffer_address(buffer, &raw mut address) });
    // SAFETY: as above.
    ok(unsafe { racl_buffer_ref_with(device.context, address, 64, Some(release_panics), user, &raw mut theirs) });
    ok(racl_buffer_free(theirs));
    assert_eq!(count(), 2);
    ok(racl_buffer_free(buffer));
    // Of a function of plans.
    let info = racl_host_function_info {
        size: size_of::<racl_host_function_info>(),
        name: c"released".as_ptr(),
        version: 1,
        attributes: null(),
        attributes_size: 0,
        run: Some(runs),
        user,
        release: Some(release_panics),
    };
    let mut function = null_mut();
    // SAFETY: as above.
    ok(unsafe { racl_host_function_new(&raw const info, &raw mut function) });
    ok(racl_host_function_free(function));
    assert_eq!(count(), 3);
    device.close();
}
