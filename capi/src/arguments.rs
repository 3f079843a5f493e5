//! What C hands over, checked: results, texts, lists, and structs with a size.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::status;

/// Where a result goes.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Sets the place to `empty`, which it keeps when the call fails: of several, all are made before one is looked at.
    ///
    /// # Safety
    ///
    /// `place` is null, or may be written until the call is over.
    pub(crate) unsafe fn new(place: *mut T, empty: T, what: &str) -> Result<Self> {
        if place.is_null() || !place.is_aligned() {
            return Err(no_place(place.cast(), what));
        }
        // SAFETY: not null and aligned, so it may be written.
        unsafe { place.write(empty) };
        Ok(Self(place))
    }

    /// The same for a result that the caller may not want.
    ///
    /// # Safety
    ///
    /// As [`Out::new`].
    pub(crate) unsafe fn if_asked(place: *mut T, empty: T, what: &str) -> Result<Option<Self>> {
        if place.is_null() {
            return Ok(None);
        }
        // SAFETY: as here.
        unsafe { Self::new(place, empty, what) }.map(Some)
    }

    pub(crate) fn set(self, value: T) {
        // SAFETY: as in `new`, by the same call.
        unsafe { self.0.write(value) };
    }
}

#[cold]
#[inline(never)]
fn no_place(place: *const c_void, what: &str) -> Failure {
    if place.is_null() {
        return null(&format!("the place of {what}"));
    }
    Failure::invalid(format!("the place of {what} at {place:?}, which is not aligned"))
}

#[cold]
#[inline(never)]
pub(crate) fn null(what: &str) -> Failure {
    Failure::own(status::RACL_NULL_POINTER, format!("NULL for {what}"))
}

/// A text that has to be there.
///
/// # Safety
///
/// `text` is null, or a text with a zero at its end that nobody changes meanwhile.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    if text.is_null() {
        return Err(null(what));
    }
    // SAFETY: not null, so it is a text.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::invalid(format!("{what} is no UTF-8: {text:?}")))
}

/// The name of a file or of a folder, which any bytes but a zero may be.
///
/// # Safety
///
/// As [`text`].
pub(crate) unsafe fn path<'a>(text: *const c_char, what: &str) -> Result<&'a OsStr> {
    if text.is_null() {
        return Err(null(what));
    }
    // SAFETY: not null, so it is a text.
    Ok(OsStr::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes()))
}

/// More elements than any list has, but data, whose count is one of bytes.
pub(crate) const MOST: usize = 1 << 20;

/// A list; no elements may be at null. A count that is none, such as (uint32_t)-1, is refused before an element is looked
/// at.
///
/// # Safety
///
/// `list` is null, or `count` elements that nobody changes meanwhile.
pub(crate) unsafe fn list<'a, T>(list: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_list(list, count, what)?;
    // SAFETY: not null and aligned, and so many elements.
    Ok(unsafe { std::slice::from_raw_parts(list, count) })
}

fn check_list<T>(list: *const T, count: usize, what: &str) -> Result<()> {
    const { assert!(size_of::<T>() <= isize::MAX as usize / MOST) };
    if list.is_aligned() && !list.is_null() && count <= MOST {
        return Ok(());
    }
    Err(no_list(list.cast(), count, what))
}

fn check_bytes(place: *const c_void, size: usize, what: &str) -> Result<()> {
    if !place.is_null() && size <= isize::MAX as usize {
        return Ok(());
    }
    Err(no_list(place, size, what))
}

#[cold]
#[inline(never)]
fn no_list(list: *const c_void, count: usize, what: &str) -> Failure {
    if list.is_null() {
        return null(what);
    }
    Failure::invalid(format!("{what}: {count} elements at {list:?}"))
}

/// The same for what is written.
///
/// # Safety
///
/// `list` is null, or `count` elements that nobody else touches meanwhile.
pub(crate) unsafe fn list_mut<'a, T>(list: *mut T, count: usize, what: &str) -> Result<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_list(list, count, what)?;
    // SAFETY: not null and aligned, and so many elements.
    Ok(unsafe { std::slice::from_raw_parts_mut(list, count) })
}

/// A struct that begins with its size and may grow.
///
/// # Safety
///
/// Any bytes are one, and so are those of a shorter one with zeroes behind it; the first field is a `usize`.
pub(crate) unsafe trait Sized_: Copy {
    /// Of the versions before this one, in bytes.
    const FORMER: &'static [usize] = &[];
    const WHAT: &'static str;
    const ZERO: Self;
}

/// What `place` says, with zeroes for what its version does not have.
///
/// # Safety
///
/// `place` is null, or begins with a size and has so many bytes.
pub(crate) unsafe fn sized<T: Sized_>(place: *const T) -> Result<Option<T>> {
    if place.is_null() {
        return Ok(None);
    }
    if !place.is_aligned() {
        return Err(Failure::invalid(format!("{} at {place:?}, which is not aligned", T::WHAT)));
    }
    // SAFETY: not null and aligned, and it begins with a size, of so many bytes.
    let known = unsafe { known(place.cast(), (size_of::<T>(), T::FORMER), T::WHAT) }?;
    let mut value = T::ZERO;
    let to = (&raw mut value).cast::<u8>();
    // SAFETY: at most the bytes of the value, of which any are one.
    unsafe { std::ptr::copy_nonoverlapping(known.as_ptr(), to, known.len()) };
    Ok(Some(value))
}

/// The bytes of a struct that its newest version has, which has `newest` bytes. Compiled once for all of them.
///
/// # Safety
///
/// `place` has a size, and so many bytes.
unsafe fn known<'a>(place: *const usize, (newest, former): (usize, &[usize]), what: &str) -> Result<&'a [u8]> {
    // SAFETY: as here.
    let size = unsafe { place.read() };
    let odd = || Failure::own(status::RACL_STRUCT_SIZE, format!("{what} of {size} bytes"));
    // Between two versions a field would be there in part.
    let is_known = former.contains(&size) || (newest..=4096).contains(&size);
    if !is_known {
        return Err(odd());
    }
    // SAFETY: the caller says that there are so many bytes.
    let bytes = unsafe { list(place.cast::<u8>(), size, what) }?;
    let (known, beyond) = bytes.split_at(size.min(newest));
    if beyond.iter().any(|byte| *byte != 0) {
        return Err(odd());
    }
    Ok(known)
}

/// Writes what the caller's version of a struct has room for; its size stays.
///
/// # Safety
///
/// As [`sized`], and the bytes may be written.
pub(crate) unsafe fn fill<T: Sized_>(place: *mut T, value: T) -> Result<()> {
    // SAFETY: as here.
    unsafe { sized(place.cast_const()) }?.ok_or_else(|| null(T::WHAT))?;
    // SAFETY: not null, as was just seen, and it begins with a size.
    let size = unsafe { place.cast::<usize>().read() };
    let head = size_of::<usize>();
    let from = (&raw const value).cast::<u8>();
    let count = size.min(size_of::<T>()) - head;
    // SAFETY: within the value, which is larger.
    let from = unsafe { from.add(head) };
    // SAFETY: within what the caller has, which is at least its first version.
    let to = unsafe { place.cast::<u8>().add(head) };
    // SAFETY: both have so many bytes, and the value is this call's own.
    unsafe { std::ptr::copy_nonoverlapping(from, to, count) };
    Ok(())
}

/// Whether something is so, such as "an event takes the time": 1 or 0.
pub(crate) fn whether(number: i32, what: &str) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Failure::invalid(format!("{other} for whether {what}"))),
    }
}

/// A limit of a wait in nanoseconds; none below 0.
pub(crate) fn limit(nanoseconds: i64) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

/// The bytes of a place, for copies.
///
/// # Safety
///
/// As [`list`].
pub(crate) unsafe fn bytes<'a>(place: *const c_void, size: usize, what: &str) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    check_bytes(place, size, what)?;
    // SAFETY: not null, and so many bytes.
    Ok(unsafe { std::slice::from_raw_parts(place.cast(), size) })
}

/// The same for what is written.
///
/// # Safety
///
/// As [`list_mut`].
pub(crate) unsafe fn bytes_mut<'a>(place: *mut c_void, size: usize, what: &str) -> Result<&'a mut [u8]> {
    if size == 0 {
        return Ok(&mut []);
    }
    check_bytes(place, size, what)?;
    // SAFETY: not null, and so many bytes.
    Ok(unsafe { std::slice::from_raw_parts_mut(place.cast(), size) })
}
