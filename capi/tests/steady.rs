//! A bound run through the C ABI allocates nothing of the host. A binary of its own: its allocator counts.

#[path = "support/device.rs"]
mod device;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

use device::{Device, ok, text};
use racl_capi::*;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: each call is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// `y = |x|`, of four floats, on the host and back.
fn plan() -> *mut racl_plan {
    let (mut builder, mut plan, mut x, mut y) = (null_mut(), null_mut(), 0, 0);
    // SAFETY: texts, lists and places that outlive each call.
    ok(unsafe { racl_builder_new(null(), &raw mut builder) });
    // SAFETY: as above.
    let made = unsafe { racl_builder_input(builder, c"x".as_ptr(), 0, [4].as_ptr(), 1, RACL_INPUT_HOST, &raw mut x) };
    ok(made);
    let argument = |kind, data, integer| racl_arg { kind, reserved: 0, count: 0, data, integer, real: 0.0 };
    let args = [
        argument(RACL_ARG_VALUE, null(), x.cast_signed()),
        argument(RACL_ARG_RESULT, (&raw mut y).cast::<c_void>(), 0),
    ];
    // SAFETY: as above.
    ok(unsafe { racl_builder_operator(builder, c"aclnnAbs".as_ptr(), args.as_ptr(), args.len()) });
    // SAFETY: as above.
    ok(unsafe { racl_builder_output_to_host(builder, c"y".as_ptr(), y) });
    // SAFETY: as above.
    ok(unsafe { racl_builder_build(builder, &raw mut plan) });
    plan
}

#[test]
fn a_bound_run_allocates_nothing() {
    let (device, plan) = (Device::new(), plan());
    let (context, stream) = (device.context, device.stream);
    let (mut executable, mut bindings) = (null_mut(), null_mut());
    // SAFETY: a place.
    ok(unsafe { racl_executable_new(plan, context, null(), null(), 0, &raw mut executable) });
    // SAFETY: as above.
    ok(unsafe { racl_bindings_new(executable, &raw mut bindings) });
    let mut got = [0.0_f32; 4];
    let mut run = |number: f32| {
        let x = [number; 4];
        let shape = [4_usize];
        // SAFETY: a shape and data that outlive the call.
        ok(unsafe { racl_bindings_host(bindings, 0, 0, shape.as_ptr(), 1, x.as_ptr().cast(), 16) });
        ok(racl_executable_run(executable, stream, bindings));
        // SAFETY: a place of so many bytes.
        ok(unsafe { racl_executable_read_host(executable, 0, got.as_mut_ptr().cast(), 16) });
        assert_eq!(got, [number.abs(); 4]);
    };
    let mut other = null_mut();
    // SAFETY: a place.
    ok(unsafe { racl_stream_new(context, null(), &raw mut other) });
    // The first call of each C function looks it up by its name, also of those that are called behind failures alone.
    fail(other);
    (0..16).for_each(|_| run(-1.0));
    let before = COUNT.get();
    (0..100).for_each(|step| run(-(step as f32)));
    assert_eq!(COUNT.get() - before, 0, "allocations in 100 runs");
    // What fails elsewhere in the process takes from the next run what it was sure of.
    let mut allocations = 0;
    for step in 0..16 {
        fail(other);
        let before = COUNT.get();
        run(-(step as f32));
        allocations += COUNT.get() - before;
    }
    assert_eq!(allocations, 0, "allocations in 16 runs, each behind a failure of another stream");
    // A panic elsewhere of which nobody is told.
    // SAFETY: a function that takes no user.
    ok(unsafe { racl_stream_host_function(other, Some(panics), null_mut(), None) });
    let mut tasks = 0;
    // SAFETY: a place.
    ok(unsafe { racl_mock_run(&raw mut tasks) });
    let before = COUNT.get();
    (0..16).for_each(|step| run(-(step as f32)));
    assert_eq!(COUNT.get() - before, 0, "allocations in 16 runs beside a panic of another stream");
    assert_eq!(racl_stream_synchronize(other, -1), RACL_CALLBACK_PANICKED);
    ok(racl_stream_close(other));
    ok(racl_bindings_free(bindings));
    ok(racl_executable_free(executable));
    ok(racl_plan_free(plan));
    device.close();
}

extern "C-unwind" fn panics(_: *mut c_void, _: *const c_void, _: usize) -> i32 {
    std::panic::resume_unwind(Box::new("thrown"))
}

extern "C-unwind" fn build_panics(_: *mut c_void, _: *mut racl_builder) -> i32 {
    std::panic::resume_unwind(Box::new("thrown"))
}

extern "C-unwind" fn launch_panics(_: *mut c_void, _: *const racl_launch) -> i32 {
    std::panic::resume_unwind(Box::new("thrown"))
}

/// Work of the stream fails, which is told.
fn fail(stream: *mut racl_stream) {
    // SAFETY: a function that takes no user.
    ok(unsafe { racl_stream_host_function(stream, Some(panics), null_mut(), None) });
    assert_eq!(racl_stream_synchronize(stream, -1), RACL_CALLBACK_PANICKED);
    assert!(text().contains("thrown"), "{}", text());
}

#[test]
fn panics_of_callbacks_are_caught_and_everything_stays_usable() {
    let device = Device::new();
    let (context, stream) = (device.context, device.stream);
    for _ in 0..2 {
        fail(stream);
    }
    let foreign = device::foreign(c"throws", Some(launch_panics), None, null_mut());
    let (mut builder, mut plan, mut executable) = (null_mut(), null_mut(), null_mut());
    // SAFETY: structs, lists and places that outlive each call; so below.
    ok(unsafe { racl_builder_new(null(), &raw mut builder) });
    // SAFETY: as above.
    ok(unsafe { racl_builder_foreign(builder, foreign, null(), 0, null(), 0) });
    // SAFETY: as above.
    ok(unsafe { racl_builder_build(builder, &raw mut plan) });
    // SAFETY: as above.
    let status = unsafe { racl_executable_new(plan, context, null(), null(), 0, &raw mut executable) };
    assert_eq!((status, executable.is_null()), (RACL_CALLBACK_PANICKED, true));

    let folder = tempfile::tempdir().unwrap();
    let path = std::ffi::CString::new(folder.path().to_str().unwrap()).unwrap();
    let options = racl_cache_options {
        size: size_of::<racl_cache_options>(),
        name: c"Model".as_ptr(),
        folder: path.as_ptr(),
        salt: null(),
        plans: null(),
        flags: 0,
        world_size: 0,
        global_rank: 0,
        lock_timeout: 0,
    };
    let what = racl_compile {
        size: size_of::<racl_compile>(),
        function: c"decode".as_ptr(),
        build: Some(build_panics),
        user: null_mut(),
        registry: null(),
        parts: null(),
        part_count: 0,
        flags: 0,
    };
    let (mut cache, mut none) = (null_mut(), null_mut());
    // SAFETY: as above.
    ok(unsafe { racl_cache_new(&raw const options, &raw mut cache) });
    // SAFETY: as above.
    assert_eq!(unsafe { racl_cache_compile(cache, context, &raw const what, &raw mut none) }, RACL_CALLBACK_PANICKED);
    ok(racl_cache_free(cache));
    ok(racl_plan_free(plan));
    ok(racl_foreign_free(foreign));
    device.close();
}
