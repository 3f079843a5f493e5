//! The log of C calls.

use std::ffi::CStr;

use acl_sys::mock as sys;

/// A call of a C function, given by [`logged_calls`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// C name of the function.
    pub function: &'static str,
    /// A number that only calls of the same thread have.
    pub thread: u64,
    /// The streams, events, contexts, graphs and their like that it was given, and addresses of device and pinned memory,
    /// in the order of its parameters; 0 for null. Of the first phase of an operator those of its operands, of a load of a
    /// model the memory for it, of its run also the number of the model and the buffers. Eight at most; calls of
    /// profiling, and those that ask for something of models and communicators, have none.
    pub given: Vec<usize>,
    /// The handle or the memory that it made.
    pub gave: Option<usize>,
    /// The code of the [failure](super::fail) that it gave instead of doing anything.
    pub injected: Option<i32>,
}

/// Begins a log of the C calls of all threads, or ends it. Either empties it, and [`reset`](super::reset) ends it.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// mock::log_calls(true);
/// let stream = device.stream()?;
/// let raw = stream.as_raw() as usize;
/// drop(stream);
/// let calls = mock::logged_calls();
/// let made = calls.iter().position(|call| call.gave == Some(raw)).unwrap();
/// assert_eq!(calls[made].function, "aclrtCreateStreamWithConfig");
/// let last = calls.iter().rfind(|call| call.given.contains(&raw)).unwrap();
/// assert_eq!((last.function, &last.given[..]), ("aclrtDestroyStream", &[raw][..]));
/// mock::log_calls(false);
/// assert_eq!(mock::call_count(), 0);
/// # Ok::<(), racl::Error>(())
/// ```
pub fn log_calls(on: bool) {
    // SAFETY: takes a number.
    unsafe { sys::mock_acl_log_calls(i32::from(on)) }
}

/// The C calls since [`log_calls`], in the order in which they began, those that the mock makes itself included. The log
/// holds 1,048,576 at most.
///
/// # Examples
///
/// [`log_calls`] shows it.
#[must_use]
pub fn logged_calls() -> Vec<Call> {
    (0..call_count()).map_while(call_at).collect()
}

/// How many calls [`logged_calls`] would give; [`calls`](super::calls) counts those of one function.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// mock::log_calls(true);
/// let stream = device.stream()?;
/// assert!(mock::call_count() > 0);
/// assert_eq!(mock::call_at(mock::call_count() - 1), mock::logged_calls().pop());
/// assert_eq!(mock::call_at(mock::call_count()), None);
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use]
pub fn call_count() -> u64 {
    // SAFETY: takes nothing.
    unsafe { sys::mock_acl_call_count() }
}

/// One of [`logged_calls`], counted from 0. [`call_count`] shows it.
#[must_use]
pub fn call_at(index: u64) -> Option<Call> {
    let mut raw = sys::mock_acl_call {
        struct_size: size_of::<sys::mock_acl_call>(),
        function: std::ptr::null(),
        thread: 0,
        injected: 0,
        given_count: 0,
        given: [std::ptr::null(); sys::MOCK_ACL_CALL_GIVEN],
        gave: std::ptr::null(),
    };
    // SAFETY: `raw` is such a structure with its size set.
    if unsafe { sys::mock_acl_call_at(index, &raw mut raw) } != 0 {
        return None;
    }
    // SAFETY: a constant of the mock, which is part of the program: a NUL-terminated string that is never unloaded.
    let function = unsafe { CStr::from_ptr::<'static>(raw.function) };
    Some(Call {
        function: function.to_str().unwrap_or_default(),
        thread: raw.thread,
        given: raw.given.iter().take(raw.given_count as usize).map(|one| one.addr()).collect(),
        gave: (!raw.gave.is_null()).then(|| raw.gave.addr()),
        injected: (raw.injected != 0).then_some(raw.injected),
    })
}
