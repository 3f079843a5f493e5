//! Functions that give a result: its place is checked and cleared, and filled when the work is done.

use std::ffi::{CString, c_char};

use crate::arguments::{Out, null};
use crate::failure::{Result, copy_text, guard};
use crate::handles::{Handle, reserve};

/// What the place of a result holds when there is none.
pub(crate) trait Blank: Copy {
    const BLANK: Self;
}

macro_rules! blanks {
    ($($number:ty),*) => {$(
        impl Blank for $number {
            const BLANK: Self = 0;
        }
    )*};
}

blanks!(i32, i64, u32, u64, usize);

impl<T> Blank for *mut T {
    const BLANK: Self = std::ptr::null_mut();
}

/// Gives a number or an address.
///
/// # Safety
///
/// `place` is null, or may be written until the call is over.
pub(crate) unsafe fn answer<T: Blank>(place: *mut T, what: &str, work: impl FnOnce() -> Result<T>) -> i32 {
    guard(|| {
        // SAFETY: as here.
        let out = unsafe { Out::new(place, T::BLANK, what) }?;
        out.set(work()?);
        Ok(())
    })
}

/// Gives a handle of a new object.
///
/// # Safety
///
/// As [`answer`].
pub(crate) unsafe fn make<H: Handle>(place: *mut *mut H, work: impl FnOnce() -> Result<H::Value>) -> i32 {
    guard(|| {
        // SAFETY: as here.
        let out = unsafe { Out::new(place, std::ptr::null_mut(), H::WHAT) }?;
        // Before the object is made, which must not be lost because it has no place.
        let reserved = reserve::<H>()?;
        out.set(reserved.fill(work()?));
        Ok(())
    })
}

/// Gives a number that the caller may not want.
///
/// # Safety
///
/// As [`answer`].
pub(crate) unsafe fn answer_if_asked(place: *mut usize, work: impl FnOnce() -> Result<usize>) -> i32 {
    let mut unused = 0;
    let place = if place.is_null() { &raw mut unused } else { place };
    // SAFETY: as here; not null.
    unsafe { answer(place, "", work) }
}

/// Copies a text to a place of `size` bytes, with a zero at its end, and gives the bytes of all of it to `needed`,
/// which may be null.
///
/// # Safety
///
/// `text` is null or has so many bytes, and `needed` is null or a place; nobody else uses them meanwhile.
pub(crate) unsafe fn tell(
    text: *mut c_char,
    size: usize,
    needed: *mut usize,
    work: impl FnOnce() -> Result<String>,
) -> i32 {
    let work = || {
        if size > 0 {
            if text.is_null() {
                return Err(null("a place for a text"));
            }
            // SAFETY: not null, and it has a byte.
            unsafe { text.write(0) };
        }
        let whole = CString::new(work()?.replace('\0', "\u{fffd}")).unwrap_or_default();
        // SAFETY: as here.
        Ok(unsafe { copy_text(&whole, text, size) })
    };
    // SAFETY: as here.
    unsafe { answer_if_asked(needed, work) }
}
