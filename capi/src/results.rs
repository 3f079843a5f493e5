//! Functions that give a result: its place is checked and cleared, and filled when the work is done.

use std::ffi::{CString, NulError, c_char, c_void};

use crate::arguments::{Out, bytes_mut, list_mut};
use crate::failure::{Failure, Result, copy_text, guard, terminated};
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
    unsafe { answer(place, "a size", work) }
}

/// Gives a list, such as a shape, as far as there is room for it, and how much of it there is: `work` fills the one and
/// says the other.
///
/// # Safety
///
/// `list` is null or has `room` places, and `count` is as [`answer`] wants it; nobody else uses them meanwhile.
pub(crate) unsafe fn answer_list<T: Blank>(
    (list, room): (*mut T, usize),
    count: *mut usize,
    (what, what_count): (&str, &str),
    work: impl FnOnce(&mut [T]) -> Result<usize>,
) -> i32 {
    guard(|| {
        // SAFETY: as here.
        let mut list = unsafe { list_mut(list, room, what) };
        if let Ok(places) = &mut list {
            places.fill(T::BLANK);
        }
        // SAFETY: as here.
        let count = unsafe { Out::new(count, 0, what_count) };
        let (list, count) = (list?, count?);
        count.set(work(list)?);
        Ok(())
    })
}

/// A place for bytes, and one for how many there are.
pub(crate) struct Room<'a> {
    place: &'a mut [u8],
    needed: Out<usize>,
    what: &'static str,
}

impl<'a> Room<'a> {
    /// Says how many bytes there are, and has them copied to their place, if it has bytes: of none it is the question how
    /// many. Nothing is said where the copy fails.
    pub(crate) fn fill(self, bytes: usize, copy: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        let (size, what) = (self.place.len(), self.what);
        let place = self.place.get_mut(..bytes);
        let is_little = place.is_none();
        if let (Some(place), true) = (place, size > 0) {
            copy(place)?;
        }
        self.needed.set(bytes);
        if is_little && size > 0 {
            return Err(Failure::invalid(format!("{what} has {bytes} bytes, and there is room for {size}")));
        }
        Ok(())
    }
}

/// Gives bytes, and how many there are.
///
/// # Safety
///
/// `place` is null or has `size` bytes, and `needed` is as [`answer`] wants it; nobody else uses them meanwhile.
pub(crate) unsafe fn answer_bytes(
    (place, size): (*mut c_void, usize),
    needed: *mut usize,
    what: &'static str,
    work: impl FnOnce(Room<'_>) -> Result<()>,
) -> i32 {
    guard(|| {
        // SAFETY: as here.
        let needed = unsafe { Out::new(needed, 0, "a size") }?;
        // SAFETY: as here.
        let place = unsafe { bytes_mut(place, size, &format!("the place of {what}")) }?;
        work(Room { place, needed, what })
    })
}

/// Copies a text to a place of `size` bytes, with a zero at its end, and gives the bytes of all of it to `needed`,
/// which may be null.
///
/// # Safety
///
/// `text` is null or has so many bytes, and `needed` is null or a place; nobody else uses them meanwhile.
pub(crate) unsafe fn tell<T: Into<Vec<u8>>>(
    text: *mut c_char,
    size: usize,
    needed: *mut usize,
    work: impl FnOnce() -> Result<T>,
) -> i32 {
    guard(|| {
        // SAFETY: as here.
        let needed = unsafe { Out::if_asked(needed, 0, "a size") };
        if size > 0 {
            // SAFETY: null, or it has a byte.
            unsafe { Out::new(text, 0, "a text") }?;
        }
        let needed = needed?;
        let inside = |error: NulError| terminated(&String::from_utf8_lossy(&error.into_vec()));
        let whole = CString::new(work()?).unwrap_or_else(inside);
        // SAFETY: as here.
        let bytes = unsafe { copy_text(&whole, text, size) };
        if let Some(needed) = needed {
            needed.set(bytes);
        }
        Ok(())
    })
}
