//! What the library told of tasks that failed, until the error of their work is made.

use std::collections::VecDeque;
use std::error::Error as StdError;
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use acl_sys::{Table, aclrtExceptionInfo, aclrtFuncHandle};

use crate::call::value;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Lock;
use crate::logs;

mod heard;

pub(crate) use heard::{hear, is_heard};

/// What the library told of a task that failed on the device: an operator, a kernel of the program's own, or a copy.
/// The error of a wait that reports the failure names it, and has it ([`Error::task_failure`]).
///
/// A library that tells any number of functions of failures (`aclrtExceptionInfoCallbackRegister`, after CANN 9.1) is
/// heard from its initialisation on. Older ones tell a single function of the process, which
/// [`Acl::hear_failures`](crate::Acl::hear_failures) takes when it is asked to; kernels of the program's own are named
/// without it wherever the library tells of them (`aclrtBinarySetExceptionCallback`).
///
/// C calls: `aclrtExceptionInfoCallbackRegister`, `aclrtSetExceptionInfoCallback`,
/// `aclrtGetTaskIdFromExceptionInfo`, `aclrtGetStreamIdFromExceptionInfo`, `aclrtGetThreadIdFromExceptionInfo`,
/// `aclrtGetDeviceIdFromExceptionInfo`, `aclrtGetErrorCodeFromExceptionInfo`, `aclrtGetFuncHandleFromExceptionInfo`,
/// `aclrtGetFunctionName`.
///
/// # Examples
///
/// ```
/// use racl::Error;
///
/// fn report(error: &Error) -> String {
///     match error.task_failure() {
///         Some(failure) => format!("task {} of stream {} failed", failure.task(), failure.stream()),
///         None => error.to_string(),
///     }
/// }
/// # let error = racl::Acl::mock()?.device(99).unwrap_err();
/// # assert!(report(&error).contains("no such device"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(alias = "aclrtExceptionInfo")]
pub struct TaskFailure {
    pub(crate) kernel: Option<String>,
    pub(crate) code: i32,
    pub(crate) task: u32,
    pub(crate) stream: u32,
    pub(crate) thread: u32,
    pub(crate) device: u32,
}

impl TaskFailure {
    /// The kernel's name: that of one of the program's own, or of an operator's where the library knows it.
    #[must_use]
    #[doc(alias = "aclrtGetFuncHandleFromExceptionInfo")]
    #[doc(alias = "aclrtGetFunctionName")]
    pub fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
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

    /// What the library tells in a call of a function for failures; `name` is asked for the name of a kernel.
    ///
    /// # Safety
    ///
    /// `info` is what `table` gave to such a function, which has not returned.
    pub(crate) unsafe fn read(
        table: &Table,
        info: *const aclrtExceptionInfo,
        name: impl FnOnce(aclrtFuncHandle) -> Option<String>,
    ) -> Result<Self> {
        let mut function = std::ptr::null_mut();
        // SAFETY: by the contract, and a place for one handle. A task that is no kernel gives a code, which is no
        // error.
        let told = unsafe { value!(table, aclrtGetFuncHandleFromExceptionInfo(info, &raw mut function)) };
        let is_kernel = told.is_ok_and(|code| code == 0) && !function.is_null();
        Ok(Self {
            kernel: is_kernel.then(|| name(function)).flatten(),
            // SAFETY: by the contract; so are those below.
            code: unsafe { value!(table, aclrtGetErrorCodeFromExceptionInfo(info)) }?.cast_signed(),
            // SAFETY: as above.
            task: unsafe { value!(table, aclrtGetTaskIdFromExceptionInfo(info)) }?,
            // SAFETY: as above.
            stream: unsafe { value!(table, aclrtGetStreamIdFromExceptionInfo(info)) }?,
            // SAFETY: as above.
            thread: unsafe { value!(table, aclrtGetThreadIdFromExceptionInfo(info)) }?,
            // SAFETY: as above.
            device: unsafe { value!(table, aclrtGetDeviceIdFromExceptionInfo(info)) }?,
        })
    }

    /// The task, and its kernel if that is known.
    fn what(&self) -> String {
        let Self { kernel, task, stream, device, .. } = self;
        let kernel = kernel.as_ref().map_or_else(String::new, |kernel| format!("kernel {kernel:?}, "));
        format!("{kernel}task {task} of stream {stream} on device {device}")
    }
}

/// The name of a kernel, as the library has it.
fn name_of(table: &Table, function: aclrtFuncHandle) -> Option<String> {
    let mut buffer = [0_u8; 4096];
    let (room, place) = (buffer.len() as u32, buffer.as_mut_ptr().cast());
    // SAFETY: a handle of a task that is being told of, and room for as many bytes as are said.
    let code = unsafe { value!(table, aclrtGetFunctionName(function, room, place)) }.ok()?;
    let name = CStr::from_bytes_until_nul(&buffer).ok().filter(|name| code == 0 && !name.is_empty())?;
    Some(name.to_string_lossy().into_owned())
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed ({}), submitted by thread {}", self.what(), self.code, self.thread)
    }
}

impl StdError for TaskFailure {}

impl Error {
    /// The task on the device whose failure this error reports, where the library told which it was.
    #[must_use]
    pub fn task_failure(&self) -> Option<&TaskFailure> {
        self.source()?.downcast_ref()
    }
}

/// How many of one stream are kept that no wait has reported: the first ones, and the latest.
const OF_STREAM: usize = 4;

/// How many of all streams: more than a device has streams.
const KEPT: usize = 4096;

/// To how many a failure is told beside those who wait for its stream, before the first of them may be told again.
const TOLD: usize = 1024;

/// How many are shown in reports, reported or not.
const SHOWN: usize = 16;

static LATEST: Lock<VecDeque<(Instant, String)>> = Lock::new(VecDeque::new());

/// The latest failures with their ages, the latest last.
pub(crate) fn latest() -> Vec<(Duration, String)> {
    LATEST.lock().iter().map(|(when, text)| (when.elapsed(), text.clone())).collect()
}

/// Those of one device of a library.
struct OfDevice {
    /// Address of the table, which lives as long as the process.
    table: usize,
    device: i32,
    failures: Arc<Failures>,
}

/// One for each device that was opened.
static ALL: Lock<Vec<OfDevice>> = Lock::new(Vec::new());

/// How many failures were noted so far.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A moment between failures.
#[inline]
pub(crate) fn now() -> u64 {
    COUNT.load(Ordering::Acquire)
}

struct Kept {
    failure: TaskFailure,
    /// Which of all it was.
    count: u64,
    /// The streams, by id, whose waits were told that they are behind it.
    told: VecDeque<u64>,
    /// An abort came behind it: whatever was behind it was told.
    past: bool,
    /// What the library logged of it, once somebody was told.
    lines: Option<Vec<String>>,
}

/// Failures of one device that no wait for their stream has reported.
#[derive(Default)]
pub(crate) struct Failures {
    kept: Lock<Vec<Kept>>,
    device: u32,
}

impl Failures {
    /// Those of a device.
    pub(crate) fn of(table: &Table, device: i32) -> Arc<Self> {
        let table = std::ptr::from_ref(table).addr();
        let mut all = ALL.lock();
        let known = all.iter().find(|known| known.table == table && known.device == device);
        if let Some(known) = known {
            return Arc::clone(&known.failures);
        }
        let number = u32::try_from(device).unwrap_or_default();
        let failures = Arc::new(Self { kept: Lock::default(), device: number });
        all.push(OfDevice { table, device, failures: Arc::clone(&failures) });
        failures
    }

    /// Those of the device that a failure is about. A library may number devices otherwise than a process that sees
    /// some of them, so the only one is meant by any number.
    fn about(table: &Table, failure: &TaskFailure) -> Option<Arc<Self>> {
        let table = std::ptr::from_ref(table).addr();
        let all = ALL.lock();
        let mut own = all.iter().filter(|known| known.table == table);
        let found = own.clone().find(|known| u32::try_from(known.device) == Ok(failure.device));
        let only = || own.next().filter(|_| own.next().is_none());
        found.or_else(only).map(|known| Arc::clone(&known.failures))
    }

    pub(crate) fn note(&self, failure: TaskFailure) {
        let text = failure.to_string();
        {
            let mut latest = LATEST.lock();
            if latest.len() == SHOWN {
                latest.pop_front();
            }
            latest.push_back((Instant::now(), text));
        }
        let mut failures = self.kept.lock();
        let mut own = failures.iter().enumerate().filter(|(_, kept)| kept.failure.stream == failure.stream);
        // A stream that fails again and again leaves room for the failures of others.
        let over =
            own.nth(OF_STREAM - 1).or_else(|| failures.iter().enumerate().nth(KEPT - 1).map(|_| (0, &failures[0])));
        if let Some((at, _)) = over {
            failures.remove(at);
        }
        let count = COUNT.fetch_add(1, Ordering::AcqRel) + 1;
        failures.push(Kept { failure, count, told: VecDeque::new(), past: false, lines: None });
    }

    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.kept.lock().is_empty()
    }

    /// The first of a stream that is there since `born`, for the waits of another one, by its id: all there are now count
    /// as told to that. With what the library logged of it, which is the same for all.
    pub(crate) fn of_stream(&self, of: (u32, u64), waits: u64) -> Option<(TaskFailure, Vec<String>)> {
        let (count, failure, known) = self.find_of_stream(of, waits)?;
        let lines = known.unwrap_or_else(|| {
            let lines = logs::errors_since(failure.device());
            let mut failures = self.kept.lock();
            let kept = failures.iter_mut().find(|kept| kept.count == count);
            kept.map_or(lines.clone(), |kept| kept.lines.get_or_insert(lines).clone())
        });
        Some((failure, lines))
    }

    fn find_of_stream(
        &self,
        (stream, born): (u32, u64),
        waits: u64,
    ) -> Option<(u64, TaskFailure, Option<Vec<String>>)> {
        let mut found = None;
        let mut failures = self.kept.lock();
        // An earlier stream may have had the number.
        let own = |kept: &&mut Kept| {
            kept.failure.stream == stream && kept.count > born && !kept.past && !kept.told.contains(&waits)
        };
        for kept in failures.iter_mut().filter(own) {
            if kept.told.len() == TOLD {
                kept.told.pop_front();
            }
            kept.told.push_back(waits);
            found.get_or_insert_with(|| (kept.count, kept.failure.clone(), kept.lines.clone()));
        }
        found
    }

    /// Those of a stream that were noted until `moment` are of work that nothing new is behind.
    pub(crate) fn pass_over(&self, stream: u32, moment: u64) {
        let mut failures = self.kept.lock();
        let until = failures.iter_mut().filter(|kept| kept.count <= moment && kept.failure.stream == stream);
        until.for_each(|kept| kept.past = true);
    }

    /// The library has nothing more to say of those of a stream that were noted until `moment`.
    pub(crate) fn settle(&self, stream: u32, moment: u64) {
        self.kept.lock().retain(|kept| kept.count > moment || kept.failure.stream != stream);
    }

    /// Adds to the error of a wait which task it is about, and what the library logged of it. `id` asks for the number of
    /// the stream that was waited for; none for a wait for others as well. `others` gives the numbers of streams whose
    /// failures their own waits tell.
    pub(crate) fn explain(
        &self,
        error: Error,
        id: impl FnOnce() -> Option<u32>,
        others: impl FnOnce() -> Vec<u32>,
    ) -> Error {
        let Some(code) = error.code().filter(|_| error.is_of_work()) else { return error };
        let (error, known) = if self.are_none() { (error, None) } else { self.name(error, code, id, others) };
        // Of these the program itself is the reason.
        if matches!(error.kind(), ErrorKind::Aborted | ErrorKind::CallbackPanicked) {
            return error;
        }
        let device = error.task_failure().map_or(self.device, TaskFailure::device);
        let mut lines = known.unwrap_or_default();
        lines.extend(logs::errors_since(device));
        error.with_log(lines)
    }

    fn name(
        &self,
        error: Error,
        code: i32,
        id: impl FnOnce() -> Option<u32>,
        others: impl FnOnce() -> Vec<u32>,
    ) -> (Error, Option<Vec<String>>) {
        let stream = id();
        let own = self.take(|failure| Some(failure.stream) == stream && failure.code == code);
        let failure = own.or_else(|| {
            let others = others();
            self.take(|failure| failure.code == code && !others.contains(&failure.stream))
        });
        let Some((failure, lines)) = failure else { return (error, None) };
        let what = failure.what();
        let what = match stream {
            Some(stream) if stream != failure.stream => {
                format!("{what} failed so, whose stream may be one of a graph")
            }
            _ => what,
        };
        (error.context_in_front(what).with_source(failure), lines)
    }

    /// The work that they are about is dropped.
    pub(crate) fn forget(&self) {
        self.kept.lock().clear();
    }

    fn take(&self, is_it: impl Fn(&TaskFailure) -> bool) -> Option<(TaskFailure, Option<Vec<String>>)> {
        let mut failures = self.kept.lock();
        let at = failures.iter().position(|kept| is_it(&kept.failure))?;
        let Kept { failure: found, lines, .. } = failures.remove(at);
        // What came with it is told by no other wait.
        failures.retain(|kept| kept.failure.stream != found.stream);
        Some((found, lines))
    }
}

/// The mock, whose tables are given by address, was reset: nobody waits for work from before.
#[cfg(feature = "mock")]
pub(crate) fn forget(tables: &[usize]) {
    ALL.lock()
        .iter()
        .filter(|known| tables.contains(&known.table))
        .for_each(|known| known.failures.kept.lock().clear());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kernel: &str, stream: u32, code: i32) -> TaskFailure {
        let kernel = (!kernel.is_empty()).then(|| kernel.to_owned());
        TaskFailure { kernel, code, task: 3, stream, thread: 7, device: 0 }
    }

    fn fault(code: i32) -> Error {
        Error::from_call("aclrtSynchronizeStream", code, None)
    }

    fn named(error: &Error) -> Option<&str> {
        error.task_failure().and_then(TaskFailure::kernel)
    }

    #[test]
    fn the_kernel_of_the_stream_comes_before_one_with_the_same_code() {
        let failures = Failures::default();
        failures.note(failure("other", 1, 507_015));
        failures.note(failure("own", 2, 507_015));
        let told = failures.explain(fault(507_015), || Some(2), Vec::new);
        assert_eq!(named(&told), Some("own"));
        assert!(told.to_string().contains("[kernel \"own\", task 3 of stream 2 on device 0]"), "{told}");
        let told = failures.explain(fault(507_015), || Some(2), Vec::new);
        assert_eq!(named(&told), Some("other"));
        assert!(told.to_string().contains("whose stream may be one of a graph"), "{told}");
        assert!(failures.explain(fault(507_015), || Some(2), Vec::new).task_failure().is_none());
    }

    #[test]
    fn a_task_without_a_kernel_is_told_by_its_numbers() {
        let failures = Failures::default();
        failures.note(failure("", 2, 507_015));
        let told = failures.explain(fault(507_015), || None, Vec::new);
        assert!(told.to_string().contains("[task 3 of stream 2 on device 0]"), "{told}");
        let whole = "because: task 3 of stream 2 on device 0 failed (507015), submitted by thread 7";
        assert!(format!("{told:#}").contains(whole), "{told:#}");
    }

    #[test]
    fn other_errors_are_left_alone_and_old_failures_go() {
        let failures = Failures::default();
        failures.note(failure("one", 1, 507_015));
        assert!(
            failures.explain(fault(507_046), || Some(1), Vec::new).task_failure().is_none(),
            "a time-out of the wait"
        );
        assert!(failures.explain(fault(507_035), || Some(2), Vec::new).task_failure().is_none(), "another code");
        (0..KEPT as u32).for_each(|stream| failures.note(failure("later", 2 + stream, 507_015)));
        let told = failures.explain(fault(507_015), || Some(1), Vec::new);
        assert_eq!(named(&told), Some("later"));
    }

    #[test]
    fn a_stream_that_fails_all_the_time_pushes_out_none_but_its_own() {
        let failures = Failures::default();
        failures.note(failure("one", 1, 507_015));
        (0..1000).for_each(|_| failures.note(failure("first", 2, 507_015)));
        failures.note(failure("latest", 2, 507_035));
        assert_eq!(failures.kept.lock().len(), 1 + OF_STREAM);
        assert_eq!(named(&failures.explain(fault(507_035), || Some(2), Vec::new)), Some("latest"));
        assert_eq!(named(&failures.explain(fault(507_015), || Some(1), Vec::new)), Some("one"));
    }

    #[test]
    fn what_another_stream_tells_itself_explains_no_error_of_this_one() {
        let failures = Failures::default();
        failures.note(failure("other", 1, 507_015));
        failures.note(failure("of a graph", 7, 507_015));
        let told = failures.explain(fault(507_015), || Some(2), || vec![1, 2]);
        assert_eq!(named(&told), Some("of a graph"));
        assert!(failures.explain(fault(507_015), || Some(2), || vec![1, 2]).task_failure().is_none());
        assert_eq!(named(&failures.explain(fault(507_015), || Some(1), || vec![1, 2])), Some("other"));
    }
}
