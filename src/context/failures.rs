//! What the library told of kernels that failed, until the error of their work is made.

use std::error::Error as StdError;
use std::fmt;

use crate::error::Error;
use crate::lock::Lock;

/// What the library told of a kernel of the program's own that failed on the device. The error of a wait that reports
/// the failure names it, and has it ([`Error::kernel_failure`]).
///
/// # Examples
///
/// ```
/// use racl::Error;
///
/// fn report(error: &Error) -> String {
///     match error.kernel_failure() {
///         Some(failure) => format!("{} failed with {}", failure.kernel(), failure.code()),
///         None => error.to_string(),
///     }
/// }
/// # let error = racl::Acl::mock()?.device(99).unwrap_err();
/// # assert!(report(&error).contains("no such device"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(alias = "aclrtExceptionInfo")]
pub struct KernelFailure {
    pub(crate) kernel: String,
    pub(crate) code: i32,
    pub(crate) task: u32,
    pub(crate) stream: u32,
    pub(crate) thread: u32,
    pub(crate) device: u32,
}

impl KernelFailure {
    /// The kernel's name.
    #[must_use]
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The code of the failure, as the wait reports it.
    #[must_use]
    #[doc(alias = "aclrtGetErrorCodeFromExceptionInfo")]
    pub fn code(&self) -> i32 {
        self.code
    }

    /// The runtime's number of the task on its stream.
    #[must_use]
    #[doc(alias = "aclrtGetTaskIdFromExceptionInfo")]
    pub fn task(&self) -> u32 {
        self.task
    }

    /// The runtime's number of the stream, [`Stream::id`](crate::Stream::id); inside a graph it is a stream of the
    /// graph.
    #[must_use]
    #[doc(alias = "aclrtGetStreamIdFromExceptionInfo")]
    pub fn stream(&self) -> u32 {
        self.stream
    }

    /// The system's number of the thread that submitted the work.
    #[must_use]
    #[doc(alias = "aclrtGetThreadIdFromExceptionInfo")]
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// The number of the device.
    #[must_use]
    #[doc(alias = "aclrtGetDeviceIdFromExceptionInfo")]
    pub fn device(&self) -> u32 {
        self.device
    }
}

impl fmt::Display for KernelFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, code, task, stream, thread, device } = self;
        write!(f, "kernel {kernel:?} failed ({code}): task {task} of stream {stream} on device {device}")?;
        write!(f, ", submitted by thread {thread}")
    }
}

impl StdError for KernelFailure {}

impl Error {
    /// The kernel of the program's own whose failure this error reports, where the library told which it was.
    #[must_use]
    pub fn kernel_failure(&self) -> Option<&KernelFailure> {
        self.source()?.downcast_ref()
    }
}

/// How many are kept that no wait has reported.
const KEPT: usize = 64;

/// Failures of one device that no wait has reported.
#[derive(Default)]
pub(crate) struct Failures(Lock<Vec<KernelFailure>>);

impl Failures {
    pub(crate) fn note(&self, failure: KernelFailure) {
        let mut failures = self.0.lock();
        if failures.len() == KEPT {
            failures.remove(0);
        }
        failures.push(failure);
    }

    /// Adds to the error of a wait for a stream which kernel it is about. `id` asks for the stream's number.
    pub(crate) fn explain(&self, error: Error, id: impl FnOnce() -> Option<u32>) -> Error {
        let Some(code) = error.code().filter(|_| error.kind().is_of_work()) else { return error };
        if self.0.lock().is_empty() {
            return error;
        }
        let Some(stream) = id() else { return error };
        let Some(failure) = self.take(stream, code) else { return error };
        let KernelFailure { kernel, task, stream: on, .. } = &failure;
        let what = match *on == stream {
            true => format!("kernel {kernel:?}, task {task} of stream {on}"),
            false => format!("kernel {kernel:?} failed so, task {task} of stream {on}, which may be one of a graph"),
        };
        error.context_in_front(what).with_source(failure)
    }

    /// The first of the stream with this number; else the first with the same code, of a stream that may be one of a
    /// graph that was launched there.
    fn take(&self, stream: u32, code: i32) -> Option<KernelFailure> {
        let mut failures = self.0.lock();
        let own = |failure: &KernelFailure| failure.stream == stream && failure.code == code;
        let at = failures.iter().position(own);
        let at = at.or_else(|| failures.iter().position(|failure| failure.code == code))?;
        let found = failures.remove(at);
        // What came with it is told by no other wait.
        failures.retain(|failure| failure.stream != found.stream);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kernel: &str, stream: u32, code: i32) -> KernelFailure {
        KernelFailure { kernel: kernel.to_owned(), code, task: 3, stream, thread: 7, device: 0 }
    }

    fn fault(code: i32) -> Error {
        Error::from_call("aclrtSynchronizeStream", code, None)
    }

    #[test]
    fn the_kernel_of_the_stream_comes_before_one_with_the_same_code() {
        let failures = Failures::default();
        failures.note(failure("other", 1, 507_015));
        failures.note(failure("own", 2, 507_015));
        let told = failures.explain(fault(507_015), || Some(2));
        assert_eq!(told.kernel_failure().map(KernelFailure::kernel), Some("own"));
        assert!(told.to_string().contains("[kernel \"own\", task 3 of stream 2]"), "{told}");
        let told = failures.explain(fault(507_015), || Some(2));
        assert_eq!(told.kernel_failure().map(KernelFailure::kernel), Some("other"));
        assert!(told.to_string().contains("which may be one of a graph"), "{told}");
        assert!(failures.explain(fault(507_015), || Some(2)).kernel_failure().is_none());
    }

    #[test]
    fn other_errors_are_left_alone_and_old_failures_go() {
        let failures = Failures::default();
        failures.note(failure("one", 1, 507_015));
        assert!(failures.explain(fault(507_046), || Some(1)).kernel_failure().is_none(), "a time-out of the wait");
        assert!(failures.explain(fault(507_035), || Some(2)).kernel_failure().is_none(), "another code");
        (0..KEPT).for_each(|_| failures.note(failure("later", 2, 507_015)));
        let told = failures.explain(fault(507_015), || Some(1));
        assert_eq!(told.kernel_failure().map(KernelFailure::kernel), Some("later"));
    }
}
