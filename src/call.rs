//! The one funnel to C: finds the symbol, binds the context, calls, and turns a code into an [`Error`].

use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

use acl_sys::{HcclResult, Library, MissingSymbol, Table, aclrtContext};

use crate::error::{Error, ErrorKind, Result};
use crate::lock::{is_alive, say};
use crate::recent;

/// What a C call is made with: a table, and for most calls a context that must be current on this thread.
pub(crate) trait Caller {
    fn table(&self) -> &Table;

    /// Makes the context current on this thread, if the calls of this value need one.
    fn bind(&self) -> Result<()>;
}

/// What is made current on a thread.
pub(crate) trait Scope: Caller {
    /// Never reused.
    fn id(&self) -> u64;

    fn raw(&self) -> aclrtContext;
}

thread_local! {
    /// Id of the context that this crate last made current on this thread.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    /// This thread has the process locked; then nothing is current for this crate.
    static LOCKED: Cell<bool> = const { Cell::new(false) };
    /// A function of the program refused, on this thread, what the library was about to do.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
    /// There from the first time on that something is made current, to the end of the thread.
    static BELIEVES: Believes = const { Believes };
}

/// Nothing is believed to be current while a thread ends: the library forgets it then, and other destructors of the
/// thread's values may still call racl.
struct Believes;

impl Drop for Believes {
    fn drop(&mut self) {
        CURRENT.set(0);
    }
}

/// This context is current, until the thread ends.
fn believe(id: u64) {
    let stays = is_alive() && BELIEVES.try_with(|_| ()).is_ok();
    CURRENT.set(if stays { id } else { 0 });
}

/// The library asked before an abort, and was told not to.
pub(crate) fn refuse_abort() {
    REFUSED.set(true);
}

/// Whether it was told so since this was asked last.
pub(crate) fn take_abort_refused() -> bool {
    REFUSED.take()
}

/// Why calls of a thread are refused that has the process locked.
pub(crate) const LOCKED_PROCESS: &str =
    "this thread has the process locked (Acl::lock_process), and the call would wait until it is unlocked";

/// From now on, or no longer, calls of this thread are refused.
pub(crate) fn refuse_calls(on: bool) {
    CURRENT.set(0);
    LOCKED.set(on);
}

/// That calls of this thread are not refused.
pub(crate) fn check_not_locked() -> Result<()> {
    check_not_forked()?;
    if LOCKED.get() { Err(Error::new(ErrorKind::NotSupported, LOCKED_PROCESS)) } else { Ok(()) }
}

/// This process is a fork of one that had begun to use a library: its handles are the other's.
static FORKED: AtomicBool = AtomicBool::new(false);

#[inline]
pub(crate) fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

#[inline]
pub(crate) fn check_not_forked() -> Result<()> {
    if is_forked() { Err(forked()) } else { Ok(()) }
}

#[cold]
fn forked() -> Error {
    let text = "this process was forked from one that used a device; start it anew (spawn)";
    Error::new(ErrorKind::NotSupported, text)
}

/// From now on forks of this process are refused what they ask of a library.
#[cfg(unix)]
pub(crate) fn watch_forks() {
    use std::ffi::c_int;
    use std::sync::Once;

    static WATCHED: Once = Once::new();
    type Handler = Option<unsafe extern "C" fn()>;
    unsafe extern "C" {
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    /// In the child, on the one thread that it has: nothing but stores.
    unsafe extern "C" fn forked() {
        FORKED.store(true, Ordering::Relaxed);
        CURRENT.set(0);
    }

    WATCHED.call_once(|| {
        // SAFETY: a function that lasts as long as the program, and does what may be done after a fork: both stores are
        // to places without a destructor that are there from the start of the thread.
        let code = unsafe { pthread_atfork(None, None, Some(forked)) };
        if code != 0 {
            say!(Warn, "forks of this process will not be refused: pthread_atfork gave {code}");
        }
    });
}

/// There are no forks.
#[cfg(not(unix))]
pub(crate) fn watch_forks() {}

/// What this crate made current last is not trusted.
static VERIFY: AtomicBool = AtomicBool::new(false);

/// Whether each call asks the library which context is current on the thread (`aclrtGetCurrentContext`), instead of
/// trusting what this crate made current last. When other code has changed it, the call makes its own current again,
/// and the first time that is said in the log. The environment variable `RACL_VERIFY_CONTEXT` set to 1 turns it on when
/// a library is initialised. Any thread may call it; it counts for the whole process.
///
/// Off at first, since it is one more C call for each. Code that changes the context of a thread beside this crate, as
/// PyTorch does, is better put into [`Acl::beside`](crate::Acl::beside), and calls of this crate in a callback of such
/// code into [`Context::within`](crate::Context::within).
///
/// # Examples
///
/// ```standalone_crate
/// racl::set_verify_context(true);
/// let device = racl::Acl::mock()?.device(0)?;
/// device.stream()?.synchronize()?; // each of these calls asks first
/// racl::set_verify_context(false);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtGetCurrentContext")]
pub fn set_verify_context(on: bool) {
    VERIFY.store(on, Ordering::Relaxed);
}

/// Makes `context` current on this thread; cheap when this crate did so last.
#[inline]
pub(crate) fn bind(context: &impl Scope) -> Result<()> {
    if CURRENT.get() == context.id() && !VERIFY.load(Ordering::Relaxed) { Ok(()) } else { bind_or_ask(context) }
}

#[cold]
fn bind_or_ask(context: &impl Scope) -> Result<()> {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if CURRENT.get() != context.id() {
        return bind_anew(context);
    }
    let current = current_of(context.table());
    if current == context.raw() {
        return Ok(());
    }
    if !TOLD.swap(true, Ordering::Relaxed) {
        say!(Warn, "other code made the context {current:p} current on a thread that works with {:p}", context.raw());
    }
    bind_anew(context)
}

/// What is current on this thread, for the library; null for nothing.
pub(crate) fn current_of(table: &Table) -> aclrtContext {
    let mut current = std::ptr::null_mut();
    if check_not_locked().is_err() {
        return current;
    }
    if let Ok(function) = table.aclrtGetCurrentContext() {
        // SAFETY: a place for one handle; a thread without a context gets a code and no handle.
        let code = unsafe { function(&raw mut current) };
        return if code == 0 { current } else { std::ptr::null_mut() };
    }
    current
}

/// The id of the context that this crate believes to be current on this thread, and zero for none.
pub(crate) fn believed() -> u64 {
    CURRENT.get()
}

/// Makes a context current that other code had, and believes what was believed then; after null nothing is believed.
pub(crate) fn restore(table: &Table, context: aclrtContext, believed: u64) -> Result<()> {
    CURRENT.set(0);
    if context.is_null() {
        return Ok(());
    }
    // SAFETY: a stale handle gives an error code.
    unsafe { call!(table, aclrtSetCurrentContext(context)) }?;
    believe(believed);
    Ok(())
}

/// Makes `context` current without trusting what this crate did last: other code may have changed it since.
#[cold]
pub(crate) fn bind_anew(context: &impl Scope) -> Result<()> {
    check_not_locked()?;
    let table = context.table();
    let function = table.aclrtSetCurrentContext()?;
    // SAFETY: the handle is that of a live context; a stale one gives an error code.
    let code = unsafe { function(context.raw()) };
    check(table, "aclrtSetCurrentContext", code)?;
    believe(context.id());
    Ok(())
}

/// The thread's context was changed by a call of this crate itself.
pub(crate) fn forget_binding() {
    CURRENT.set(0);
}

impl Caller for Table {
    fn table(&self) -> &Table {
        self
    }

    /// For the calls that need no context: initialisation and its end.
    fn bind(&self) -> Result<()> {
        check_not_forked()
    }
}

/// Turns the code of a call into a result; a failure takes the library's message along.
#[inline]
pub(crate) fn check(table: &Table, call: &'static str, code: i32) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(failure(table, call, code)) }
}

/// The error of a call that failed on this thread just now.
#[cold]
pub(crate) fn failure(table: &Table, call: &'static str, code: i32) -> Error {
    let message = recent_message(table);
    let error = Error::from_call(call, code, message.map(|text| about(code, &text)).filter(|text| !text.is_empty()));
    recent::note(&error);
    error
}

/// As [`check`], for calls of HCCL.
pub(crate) fn check_collective(table: &Table, call: &'static str, code: HcclResult) -> Result<()> {
    if code == HcclResult::HCCL_SUCCESS { Ok(()) } else { Err(collective_failure(table, call, code)) }
}

/// The error of a call of HCCL that failed on this thread just now, or told of one.
#[cold]
pub(crate) fn collective_failure(table: &Table, call: &'static str, code: HcclResult) -> Error {
    let message = recent_message(table).or_else(|| collective_words(table, code));
    let error = Error::from_collective(call, code.0, message);
    recent::note(&error);
    error
}

fn collective_words(table: &Table, code: HcclResult) -> Option<String> {
    let function = table.HcclGetErrorString().ok()?;
    // SAFETY: takes any number.
    let text = unsafe { function(code) };
    // SAFETY: a constant text, or null.
    unsafe { text_of(text) }
}

/// A function of HCCL that is not there: libhccl as a whole, which programs for one card go without, or just this one.
#[cold]
pub(crate) fn no_collective(table: &Table, missing: MissingSymbol) -> Error {
    if table.is_found(Library::Collectives) {
        return missing.into();
    }
    let MissingSymbol { symbol, searched } = missing;
    let text = format!("{symbol} is not in {searched}; cards work together through libhccl.so of the CANN toolkit");
    Error::new(ErrorKind::LibraryNotFound, text)
}

/// Without a context each read of the text adds a message about that, which says nothing about other codes; the same
/// code in texts stands for other things as well.
fn about(code: i32, text: &str) -> String {
    let own = code == 107_002 || (code == 107_000 && text.lines().count() == 1);
    let added = |line: &str| line.contains("EE1018") && line.to_ascii_lowercase().contains("context");
    let lines = text.lines().filter(|line| own || !added(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The error of a call that gave a null pointer on this thread just now.
#[cold]
pub(crate) fn null_result(table: &Table, call: &'static str) -> Error {
    let error = Error::from_null(call, recent_message(table));
    recent::note(&error);
    error
}

/// The handle or the address that a call gave which succeeded.
pub(crate) fn non_null<T>(raw: *mut T, call: &'static str) -> Result<*mut T> {
    if raw.is_null() {
        return Err(Error::new(ErrorKind::Internal, format!("{call} succeeded and gave nothing")));
    }
    Ok(raw)
}

fn recent_message(table: &Table) -> Option<String> {
    let function = table.aclGetRecentErrMsg().ok()?;
    // SAFETY: takes nothing; the text that it gives stays valid until this thread's next call of it.
    let text = unsafe { function() };
    // SAFETY: such a text, or null, copied before any other call of this thread.
    unsafe { text_of(text) }
}

/// A copy of a text of the library, of which null stands for none.
///
/// # Safety
///
/// A pointer that is not null leads to a NUL-terminated string, which stays during the call.
unsafe fn text_of(text: *const std::ffi::c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by the contract.
    let text = unsafe { CStr::from_ptr(text) };
    let text = text.to_string_lossy().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// `call!(caller, aclrtName(arguments))`: the unsafe call through the funnel, as `Result<()>`.
macro_rules! call {
    ($caller:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let caller = $caller;
        $crate::call::Caller::bind(caller).and_then(|()| {
            let table = $crate::call::Caller::table(caller);
            let function = table.$name()?;
            #[cfg(debug_assertions)]
            $crate::lock::before_call(stringify!($name));
            let code = function($($argument),*);
            $crate::call::check(table, stringify!($name), code)
        })
    }};
}
pub(crate) use call;

/// `collective!(caller, HcclName(arguments))`: the same for calls of HCCL, which has codes of its own.
macro_rules! collective {
    ($caller:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let caller = $caller;
        $crate::call::Caller::bind(caller).and_then(|()| {
            let table = $crate::call::Caller::table(caller);
            let function = table.$name().map_err(|missing| $crate::call::no_collective(table, missing))?;
            #[cfg(debug_assertions)]
            $crate::lock::before_call(stringify!($name));
            let code = function($($argument),*);
            $crate::call::check_collective(table, stringify!($name), code)
        })
    }};
}
pub(crate) use collective;

/// `pointer!(caller, aclName(arguments))`: the same for calls that give a pointer; null is an error.
macro_rules! pointer {
    ($caller:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let caller = $caller;
        $crate::call::Caller::bind(caller).and_then(|()| {
            let table = $crate::call::Caller::table(caller);
            let function = table.$name()?;
            let pointer = function($($argument),*);
            if pointer.is_null() { Err($crate::call::null_result(table, stringify!($name))) } else { Ok(pointer) }
        })
    }};
}
pub(crate) use pointer;

/// `value!(caller, aclName(arguments))`: the same for calls that give a value which is no code, with nothing that tells a
/// failure.
macro_rules! value {
    ($caller:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let caller = $caller;
        $crate::call::Caller::bind(caller).and_then(|()| {
            let table = $crate::call::Caller::table(caller);
            let function = table.$name()?;
            Ok(function($($argument),*))
        })
    }};
}
pub(crate) use value;

#[cfg(test)]
mod tests {
    use super::{about, non_null};
    use crate::error::ErrorKind;

    #[test]
    fn a_call_that_succeeds_and_gives_nothing_is_an_error() {
        let error = non_null(std::ptr::null_mut::<u8>(), "aclrtCreateNotify").unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Internal, None));
        assert!(error.to_string().ends_with("aclrtCreateNotify succeeded and gave nothing"), "{error}");
        let mut place = 1_u8;
        assert_eq!(non_null(&raw mut place, "aclrtCreateNotify").unwrap(), &raw mut place);
    }

    #[test]
    fn the_message_of_a_thread_without_context_is_left_out_of_other_errors() {
        let both = "EE1016: the stream captures\nEE1018: the thread has no context";
        assert_eq!(about(107_027, both), "EE1016: the stream captures");
        assert_eq!(about(107_002, both), both);
        assert_eq!(about(107_029, "EE1018: the stream does not capture"), "EE1018: the stream does not capture");
        assert_eq!(about(107_000, "EE1018: 0x1 is not a live context"), "EE1018: 0x1 is not a live context");
        assert_eq!(about(507_000, "EE1018: The current Context is null"), "");
    }
}
