//! Lists of errors.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};

use racl::plan::Finding;

use crate::arguments::{Sized_, fill, null, sized};
use crate::failure::{Failure, guard, last_failures, terminated};
use crate::handles::{free, get};
use crate::objects::{racl_context, racl_errors};
use crate::results::{answer, make};
use crate::status;

/// One error of a list; its texts stay as long as the list.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_error {
    /// sizeof(racl_error).
    pub size: usize,
    /// RACL_...
    pub status: i32,
    /// What the function of AscendCL gave, 0 for none.
    pub code: i32,
    /// Its name, "" for none.
    pub call: *const c_char,
    /// What went wrong.
    pub message: *const c_char,
    /// The same with all that is known beside it, a line each.
    pub details: *const c_char,
}

// SAFETY: integers and pointers, the first of them a size.
unsafe impl Sized_ for racl_error {
    // Without the details.
    const FORMER: &'static [usize] = &[std::mem::offset_of!(Self, details)];
    const WHAT: &'static str = "racl_error";
    const ZERO: Self = Self {
        size: 0,
        status: 0,
        code: 0,
        call: std::ptr::null(),
        message: std::ptr::null(),
        details: std::ptr::null(),
    };
}

/// An error of a list.
pub(crate) struct Entry {
    pub(crate) status: i32,
    pub(crate) code: i32,
    pub(crate) call: CString,
    pub(crate) message: CString,
    pub(crate) details: CString,
}

impl From<Failure> for Entry {
    fn from(failure: Failure) -> Self {
        Self {
            status: failure.status,
            code: failure.code,
            call: terminated(failure.call.as_deref().unwrap_or_default()),
            message: terminated(&failure.message),
            details: terminated(failure.details()),
        }
    }
}

/// What was found in a plan that can run.
pub(crate) fn of_findings(findings: &[Finding]) -> Vec<Entry> {
    findings.iter().map(|finding| Failure::own(status::RACL_OK, finding.message.clone()).into()).collect()
}

/// All that the last failure on the calling thread is about: more than one where a plan was refused for several
/// reasons. RACL_INVALID_ARGUMENT when there was none, which is the last failure then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_last_errors(errors: *mut *mut racl_errors) -> i32 {
    let work = || match last_failures() {
        all if all.is_empty() => Err(Failure::invalid("no failure on this thread")),
        all => Ok(all.into_iter().map(Entry::from).collect()),
    };
    // SAFETY: by the header.
    unsafe { make(errors, work) }
}

/// Makes this the last failure on the calling thread, with all that is known of it, and gives its status: as
/// racl_last_error_set(), for a failure that was kept while other calls failed. The texts are copied; `call` and `details`
/// may be NULL, for no function of AscendCL, which gave no code then, and for nothing beside the message. In a callback
/// that ends with this, whoever waits for its work gets the call, the code and the details too. Of a plan's findings it makes one, whose
/// details have them all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_last_error_put(error: *const racl_error) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let error = unsafe { sized(error) }?.ok_or_else(|| null("a racl_error"))?;
        let text = |place: *const c_char| match place.is_null() {
            true => String::new(),
            // SAFETY: not null, so it is a text by the header.
            false => unsafe { CStr::from_ptr(place) }.to_string_lossy().into_owned(),
        };
        // SAFETY: by the header.
        let mut failure = unsafe { Failure::of_caller(error.status, error.message) }?;
        let call = text(error.call);
        failure.code = if call.is_empty() { 0 } else { error.code };
        failure.call = Some(Cow::Owned(call));
        failure.details = text(error.details);
        Err(failure)
    })
}

/// The errors that ends of objects of a context met, where no call could give them: when racl_..._free() destroyed
/// something, or gave up to wait for it. Each is given once. The list may be empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_context_take_errors(
    context: *const racl_context,
    errors: *mut *mut racl_errors,
) -> i32 {
    let work = || {
        let errors = get(context)?.take_drop_errors();
        Ok(errors.into_iter().map(|error| Entry::from(Failure::from(error))).collect())
    };
    // SAFETY: by the header.
    unsafe { make(errors, work) }
}

/// How many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_errors_count(errors: *const racl_errors, count: *mut usize) -> i32 {
    let work = || Ok(get(errors)?.len());
    // SAFETY: by the header.
    unsafe { answer(count, "a count", work) }
}

/// One of them, counted from 0. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_errors_get(errors: *const racl_errors, index: usize, error: *mut racl_error) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(error, racl_error::ZERO) }?;
        let errors = get(errors)?;
        let beyond = || Failure::invalid(format!("error {index} of {}", errors.len()));
        let entry = errors.get(index).ok_or_else(beyond)?;
        let value = racl_error {
            size: 0,
            status: entry.status,
            code: entry.code,
            call: entry.call.as_ptr(),
            message: entry.message.as_ptr(),
            details: entry.details.as_ptr(),
        };
        // SAFETY: by the header.
        unsafe { fill(error, value) }
    })
}

/// Gives the list back, with its texts.
#[unsafe(no_mangle)]
pub extern "C" fn racl_errors_free(errors: *mut racl_errors) -> i32 {
    guard(|| free(errors))
}
