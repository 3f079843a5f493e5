//! The one funnel to C: finds the symbol, binds the context, calls, and turns a code into an [`Error`].

use std::cell::Cell;
use std::ffi::CStr;

use acl_sys::{Table, aclrtContext};

use crate::error::{Error, Result};

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
}

/// Makes `context` current on this thread; cheap when this crate did so last.
#[inline]
pub(crate) fn bind(context: &impl Scope) -> Result<()> {
    if CURRENT.get() == context.id() { Ok(()) } else { bind_anew(context) }
}

/// Makes `context` current without trusting what this crate did last: other code may have changed it since.
#[cold]
pub(crate) fn bind_anew(context: &impl Scope) -> Result<()> {
    let table = context.table();
    let function = table.aclrtSetCurrentContext()?;
    // SAFETY: the handle is that of a live context; a stale one gives an error code.
    let code = unsafe { function(context.raw()) };
    check(table, "aclrtSetCurrentContext", code)?;
    CURRENT.set(context.id());
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
        Ok(())
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
    Error::from_call(call, code, message.map(|text| about(code, &text)).filter(|text| !text.is_empty()))
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
    Error::from_null(call, recent_message(table))
}

fn recent_message(table: &Table) -> Option<String> {
    let function = table.aclGetRecentErrMsg().ok()?;
    // SAFETY: takes nothing; the text that it gives stays valid until this thread's next call of it.
    let text = unsafe { function() };
    if text.is_null() {
        return None;
    }
    // SAFETY: a non-null result is a NUL-terminated string, copied before any other call of this thread.
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
            let code = function($($argument),*);
            $crate::call::check(table, stringify!($name), code)
        })
    }};
}
pub(crate) use call;

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

#[cfg(test)]
mod tests {
    use super::about;

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
