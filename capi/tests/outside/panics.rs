//! A callback that panics, in a program of Rust that is bound to libracl and so has another standard library.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

type Handle = *mut c_void;
type Run = unsafe extern "C-unwind" fn(*mut c_void, *const c_void, usize) -> i32;

#[link(name = "racl_capi", kind = "dylib")]
unsafe extern "C" {
    fn racl_library_open(path: *const c_char, library: *mut Handle) -> i32;
    fn racl_context_primary(library: Handle, device: i32, context: *mut Handle) -> i32;
    fn racl_stream_new(context: Handle, options: *const c_void, stream: *mut Handle) -> i32;
    fn racl_stream_host_function(stream: Handle, run: Run, user: *mut c_void, release: *const c_void) -> i32;
    fn racl_stream_synchronize(stream: Handle, nanoseconds: i64) -> i32;
}

unsafe extern "C-unwind" fn panics(_: *mut c_void, _: *const c_void, _: usize) -> i32 {
    panic!("the disk is full")
}

/// Gives a stream of the mock the callback, and waits for it.

fn main() {
    let (mut library, mut context, mut stream) = (null_mut(), null_mut(), null_mut());
    // SAFETY: places of this function, and handles that are there: a call that fails gives NULL, which the next refuses.
    let given = unsafe {
        [
            racl_library_open(c"mock".as_ptr(), &mut library),
            racl_context_primary(library, 0, &mut context),
            racl_stream_new(context, null(), &mut stream),
            racl_stream_host_function(stream, panics, null_mut(), null()),
        ]
    };
    assert_eq!(given, [0; 4]);
    // SAFETY: as above.
    let waited = unsafe { racl_stream_synchronize(stream, -1) };
    println!("the wait gave {waited}");
}
