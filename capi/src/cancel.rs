//! `pthread_cancel` of a thread that waits inside racl.
//!
//! The C library ends such a thread by an unwind from the call that it waits in, which would cross frames of Rust and of
//! the AscendCL library, and ends the process for that. It is put off instead until the function of racl returns.

#[cfg(target_os = "linux")]
use std::ffi::c_int;

#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, former: *mut c_int) -> c_int;
}

/// `PTHREAD_CANCEL_DISABLE` of glibc and of musl.
#[cfg(target_os = "linux")]
const DISABLE: c_int = 1;

/// While it is there a cancellation of the thread that made it waits, also in callbacks on that thread. It costs two
/// atomic operations: functions that only queue work go without.
pub(crate) struct Uncancelled {
    #[cfg(target_os = "linux")]
    former: c_int,
}

impl Uncancelled {
    #[cfg(target_os = "linux")]
    pub(crate) fn new() -> Self {
        let mut former = 0;
        // SAFETY: a state that there is, and a place for the former one.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut former) };
        Self { former }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new() -> Self {
        Self {}
    }
}

#[cfg(target_os = "linux")]
impl Drop for Uncancelled {
    fn drop(&mut self) {
        // SAFETY: the state that the thread had, and no place.
        unsafe { pthread_setcancelstate(self.former, std::ptr::null_mut()) };
    }
}
