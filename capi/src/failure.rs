//! What goes wrong, and the boundary between C and Rust.

use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::error::Error as _;
use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

use racl::{Error, ErrorKind, Refused, Thrown};

use crate::names::in_c;
use crate::status;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a function fails. One word, so that results are small where nothing does.
#[derive(Debug, Clone)]
pub(crate) struct Failure(Box<Told>);

#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) status: i32,
    pub(crate) code: i32,
    pub(crate) call: Option<Cow<'static, str>>,
    pub(crate) message: String,
    /// The message with what stands behind it, a line each; empty where nothing does.
    pub(crate) details: String,
    /// All that was found in a plan.
    found: Vec<String>,
}

impl Deref for Failure {
    type Target = Told;

    fn deref(&self) -> &Told {
        &self.0
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Told {
        &mut self.0
    }
}

impl Failure {
    /// One that racl's Rust layer knows nothing of. Not put into its callers, as its likes below: they are many.
    #[cold]
    #[inline(never)]
    pub(crate) fn own(status: i32, message: impl Into<String>) -> Self {
        Self(Box::new(Told { status, message: message.into(), ..Told::default() }))
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::own(status::RACL_INVALID_ARGUMENT, message)
    }

    /// What the caller says of a failure.
    ///
    /// # Safety
    ///
    /// `message` is null or a text.
    pub(crate) unsafe fn of_caller(status: i32, message: *const c_char) -> Result<Self> {
        if message.is_null() {
            return Err(crate::arguments::null("the text of a failure"));
        }
        if status == status::RACL_OK {
            return Err(Self::invalid("RACL_OK for the status of a failure"));
        }
        // SAFETY: not null, so it is a text.
        Ok(Self::own(status, unsafe { CStr::from_ptr(message) }.to_string_lossy()))
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What ended racl itself.
    pub(crate) fn panic(payload: &(dyn Any + Send)) -> Self {
        Self::own(status::RACL_PANIC, format!("a fault of racl: {}", text_of(payload)))
    }

    /// What ended a function of the caller.
    pub(crate) fn callback(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref().map_or_else(|| text_of(payload), Thrown::text);
        let mut failure = Self::own(status::RACL_CALLBACK_PANICKED, text);
        let cause = payload.downcast_ref::<Thrown>().and_then(Thrown::cause);
        if let Some(said) = cause.and_then(|cause| cause.downcast_ref::<Self>()) {
            failure.details = format!("{text}\n  because: {}", said.details());
            failure.take_call_of(said);
        }
        failure
    }

    /// Whether it says more than its message.
    pub(crate) fn knows_more(&self) -> bool {
        !self.details.is_empty() || self.call.as_deref().is_some_and(|call| !call.is_empty())
    }

    /// It came from the function of AscendCL that `said` came from, if from one.
    fn take_call_of(&mut self, said: &Self) {
        if said.call.as_deref().is_some_and(|call| !call.is_empty()) {
            (self.call, self.code) = (said.call.clone(), said.code);
        }
    }

    fn about(&self, message: &str) -> Self {
        Self(Box::new(Told { message: message.to_owned(), details: String::new(), ..Told::clone(self) }))
    }

    /// The details, which are the message where nothing stands behind it.
    pub(crate) fn details(&self) -> &str {
        if self.details.is_empty() { &self.message } else { &self.details }
    }

    /// One for each thing that was found.
    fn apart(self) -> Vec<Self> {
        match self.found.len() {
            0 | 1 => vec![self],
            _ => self.found.iter().map(|message| self.about(message)).collect(),
        }
    }
}

/// Drops what was thrown, which may throw again then: what that gives is leaked, to end it.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        std::mem::forget(again);
    }
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a text")
}

impl From<Error> for Failure {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> Self {
        let mut failure = Self(Box::new(Told {
            found: error.findings().iter().map(|finding| in_c(finding.message.clone())).collect(),
            status: status::of_kind(error.kind()),
            code: error.code().unwrap_or(0),
            call: error.call().map(Cow::Borrowed),
            message: of_callback(error.kind(), error.to_string()),
            details: of_callback(error.kind(), format!("{error:#}")),
        }));
        // What a callback said itself, behind what racl says of it.
        let mut cause = error.source();
        while let Some(inner) = cause {
            if let Some(said) = inner.downcast_ref::<Self>() {
                failure.take_call_of(said);
                break;
            }
            cause = inner.source();
        }
        failure
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.details())
    }
}

impl std::error::Error for Failure {}

/// What failed is a function of C, most of the time by a number that it gave, and not always one of the host.
fn of_callback(kind: ErrorKind, text: String) -> String {
    let text = in_c(text);
    match text.strip_prefix(&kind.to_string()) {
        Some(rest) if kind == ErrorKind::CallbackPanicked => format!("a callback failed{rest}"),
        _ => text,
    }
}

impl<T> From<Refused<T>> for Failure {
    fn from(refused: Refused<T>) -> Self {
        refused.into_error().into()
    }
}

/// The last failure of a thread, for C.
#[derive(Default)]
struct Last {
    status: i32,
    code: i32,
    call: CString,
    message: CString,
    details: CString,
    failure: Option<Failure>,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
    /// How many failures there were on this thread.
    static NOTED: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn terminated(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

fn note(failure: Failure) -> i32 {
    let status = failure.status;
    let last = Last {
        status,
        code: failure.code,
        call: terminated(failure.call.as_deref().unwrap_or_default()),
        message: terminated(&failure.message),
        details: terminated(failure.details()),
        failure: Some(failure),
    };
    // A thread that ends has no place for it any more; the status stays.
    let _ = LAST.try_with(|place| place.replace(last));
    let _ = NOTED.try_with(|noted| noted.set(noted.get() + 1));
    status
}

/// Runs a function of the caller, and gives what it said of its failure: the last one on this thread, where that came
/// meanwhile and has the status that the function gives.
pub(crate) fn heard(work: impl FnOnce() -> i32) -> (std::thread::Result<i32>, Option<Failure>) {
    let before = racl_last_error_count();
    let done = catch_unwind(AssertUnwindSafe(work));
    let said = match done {
        Ok(code) if code != status::RACL_OK && racl_last_error_count() != before => {
            LAST.try_with(|last| last.borrow().failure.clone()).ok().flatten().filter(|last| last.status == code)
        }
        _ => None,
    };
    (done, said)
}

/// What the last failure of the thread is about.
pub(crate) fn last_failures() -> Vec<Failure> {
    let last = LAST.try_with(|last| last.borrow().failure.clone()).ok().flatten();
    last.map(Failure::apart).unwrap_or_default()
}

/// Runs what a function of C does, and gives its status. Nothing unwinds into C.
pub(crate) fn guard(work: impl FnOnce() -> Result<()>) -> i32 {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => status::RACL_OK,
        failed => status_of(failed),
    }
}

/// Once, for all functions.
#[inline(never)]
fn status_of(done: std::thread::Result<Result<()>>) -> i32 {
    match done {
        Ok(Ok(())) => status::RACL_OK,
        Ok(Err(failure)) => note(failure),
        Err(payload) => {
            let status = note(Failure::panic(&*payload));
            discard(payload);
            status
        }
    }
}

/// The text of the last failure on the calling thread, "" when there was none. It stays until the next failure on this
/// thread, and ends with the thread.
#[unsafe(no_mangle)]
pub extern "C" fn racl_last_error_message() -> *const c_char {
    LAST.try_with(|last| last.borrow().message.as_ptr()).unwrap_or(c"".as_ptr())
}

/// The same text with all that is known beside it, a line each: what was being done, what the AscendCL library said,
/// what else is wrong with a plan, and what the failure came from. It stays as racl_last_error_message(), and is that
/// text where nothing is known beside it.
#[unsafe(no_mangle)]
pub extern "C" fn racl_last_error_details() -> *const c_char {
    LAST.try_with(|last| last.borrow().details.as_ptr()).unwrap_or(c"".as_ptr())
}

/// The name of the AscendCL function that the last failure on the calling thread came from, "" when it came from none.
/// It stays as racl_last_error_message().
#[unsafe(no_mangle)]
pub extern "C" fn racl_last_error_call() -> *const c_char {
    LAST.try_with(|last| last.borrow().call.as_ptr()).unwrap_or(c"".as_ptr())
}

/// The code that this function gave; 0 when the failure came from none.
#[unsafe(no_mangle)]
pub extern "C" fn racl_last_error_code() -> i32 {
    LAST.try_with(|last| last.borrow().code).unwrap_or(0)
}

/// The status of the last failure on the calling thread, RACL_OK when there was none.
#[unsafe(no_mangle)]
pub extern "C" fn racl_last_error_status() -> i32 {
    LAST.try_with(|last| last.borrow().status).unwrap_or(status::RACL_OK)
}

/// Makes this the last failure on the calling thread, and gives `status`, for callbacks and for layers over this
/// header: a callback that ends with `return racl_last_error_set(RACL_CALLBACK_PANICKED, "the disk is full");` fails
/// the work with this text. `status` is RACL_... or a number of the caller's own; RACL_INVALID_ARGUMENT for RACL_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_last_error_set(status: i32, message: *const c_char) -> i32 {
    // SAFETY: by the header.
    guard(|| Err(unsafe { Failure::of_caller(status, message) }?))
}

/// How many failures there were on the calling thread: another number than before tells that something failed meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn racl_last_error_count() -> u64 {
    NOTED.try_with(Cell::get).unwrap_or(0)
}

/// Copies the text of racl_last_error_message() to `text`, of `size` bytes with the zero at its end; characters that have
/// no room are left out. Gives the bytes that all of it needs. `text` may be NULL when `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_last_error_copy(text: *mut c_char, size: usize) -> usize {
    let copy = |last: &RefCell<Last>| {
        let last = last.borrow();
        // SAFETY: what the header asks of `text` and `size` is what `copy_text` asks.
        unsafe { copy_text(&last.message, text, size) }
    };
    LAST.try_with(copy).unwrap_or(0)
}

/// Copies as much of a text as has room, in whole characters, with a zero at its end, and gives the bytes of all of it.
///
/// # Safety
///
/// `to` is null, or `size` bytes may be written there.
pub(crate) unsafe fn copy_text(text: &CStr, to: *mut c_char, size: usize) -> usize {
    let bytes = text.to_bytes();
    if !to.is_null() && size > 0 {
        let is_within = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
        let count = (0..=bytes.len().min(size - 1)).rev().find(|at| !is_within(at)).unwrap_or(0);
        let to = to.cast::<u8>();
        // SAFETY: at most `size - 1` bytes, of another place: the text is this library's own.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, count) };
        // SAFETY: `count` is below `size`.
        let end = unsafe { to.add(count) };
        // SAFETY: as above.
        unsafe { end.write(0) };
    }
    bytes.len() + 1
}

/// The name of a status, such as "RACL_BUSY"; "" for another number.
#[unsafe(no_mangle)]
pub extern "C" fn racl_status_name(status: i32) -> *const c_char {
    status::name(status).unwrap_or("\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;
    use std::ptr::{null_mut, without_provenance_mut};

    use super::*;
    use crate::objects::racl_plan;
    use crate::results::{answer, answer_bytes, answer_list, make, tell};

    fn thrown<T>() -> Result<T> {
        resume_unwind(Box::new("inside"))
    }

    fn is_told(status: i32) {
        assert_eq!((status, racl_last_error_status()), (status::RACL_PANIC, status::RACL_PANIC));
        assert_eq!(racl_last_error_code(), 0);
        // SAFETY: a text of this thread, which makes no other failure meanwhile.
        let text = unsafe { CStr::from_ptr(racl_last_error_message()) };
        assert_eq!(text, c"a fault of racl: inside");
        note(Failure::invalid("another one"));
    }

    /// It stands for all functions: each is one call of these, with what it does as a closure. Nothing that a program can
    /// do makes one of them panic: what its callbacks throw, its logger too, is caught before.
    #[test]
    fn a_panic_inside_a_function_is_a_status_and_leaves_no_result() {
        is_told(guard(thrown));
        let (mut number, mut handle, mut list, mut text) =
            (7, without_provenance_mut::<racl_plan>(8), [7; 2], [7; 4]);
        // SAFETY: places of this test; so below.
        is_told(unsafe { answer::<usize>(&raw mut number, "a number", thrown) });
        assert_eq!(number, 0);
        // SAFETY: as above.
        is_told(unsafe { make::<racl_plan>(&raw mut handle, thrown) });
        assert!(handle.is_null());
        number = 7;
        // SAFETY: as above.
        is_told(unsafe {
            answer_list::<u64>((list.as_mut_ptr(), list.len()), &raw mut number, ("a list", "a count"), |_| thrown())
        });
        assert_eq!((number, list), (0, [0; 2]));
        number = 7;
        // SAFETY: as above.
        is_told(unsafe { answer_bytes((null_mut(), 0), &raw mut number, "bytes", |_| thrown()) });
        assert_eq!(number, 0);
        number = 7;
        // SAFETY: as above.
        is_told(unsafe { tell::<String>(text.as_mut_ptr(), text.len(), &raw mut number, thrown) });
        assert_eq!((number, text[0]), (0, 0));
    }
}
