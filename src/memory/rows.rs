//! Copies of rows: matrices, and parts of matrices, whose rows lie apart.

use std::ffi::c_void;
use std::panic::Location;

use acl_sys::aclrtMemcpyKind;
use bytemuck::Pod;

use super::apart::{Side, check_rows_apart};
use super::{DeviceRead, DeviceWrite, Lent, PinnedBuffer};
use crate::allocation::Touch;
use crate::call::call;
use crate::context::ContextInner;
use crate::error::{Error, Refused, Result};
use crate::stream::{Stream, Task};

/// Most bytes of a row, and most rows, of one copy (guide: memory management, aclrtMemcpy2dAsync).
const WIDEST: usize = 5_000_000;
const MOST: usize = 5 << 20;

/// What a copy of rows moves: `height` rows of `width` elements, and how far apart they begin on each side.
///
/// All numbers are elements. Row `r` begins at element `r * pitch` of its side; what lies between the end of a row and
/// the next one is neither read nor written. Without [`from_pitch`](Self::from_pitch) and
/// [`to_pitch`](Self::to_pitch) the rows lie one behind the other.
///
/// # Examples
///
/// ```
/// use racl::Rows;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let all = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9])?; // 3 rows of 3
/// let mut left = device.alloc(6)?;
/// stream.copy_rows(&all, &mut left, Rows::new(2, 3).from_pitch(3))?;
/// assert_eq!(left.to_vec()?, [1, 2, 4, 5, 7, 8]);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
pub struct Rows {
    width: usize,
    height: usize,
    from: usize,
    to: usize,
}

/// Bytes, as the C call takes them.
struct InBytes {
    width: usize,
    from: usize,
    to: usize,
}

impl Rows {
    /// `height` rows of `width` elements.
    pub const fn new(width: usize, height: usize) -> Self {
        Self { width, height, from: width, to: width }
    }

    /// The same rows, which begin every `pitch` elements where they are read.
    pub const fn from_pitch(self, pitch: usize) -> Self {
        Self { from: pitch, ..self }
    }

    /// The same rows, which begin every `pitch` elements where they are written.
    pub const fn to_pitch(self, pitch: usize) -> Self {
        Self { to: pitch, ..self }
    }

    /// In bytes of elements of `size` bytes, when both sides have them.
    fn check(&self, size: usize, [from, to]: [usize; 2]) -> Result<InBytes> {
        let Self { width, height, .. } = *self;
        if width == 0 || height == 0 {
            return Err(Error::invalid(format!("a copy of {height} rows of {width} elements")));
        }
        for (pitch, len, side) in [(self.from, from, "read"), (self.to, to, "written")] {
            if pitch < width {
                let text = format!("rows of {width} elements that are {side} every {pitch} elements");
                return Err(Error::invalid(text));
            }
            let end = pitch.checked_mul(height - 1).and_then(|start| start.checked_add(width));
            if end.is_none_or(|end| end > len) {
                let text = format!(
                    "{height} rows of {width} elements, {side} every {pitch} elements, in memory of {len} elements"
                );
                return Err(Error::invalid(text));
            }
        }
        // Both sides have the rows, so that no number of bytes is beyond an address space.
        let bytes = width * size;
        if bytes > WIDEST || height > MOST {
            let text =
                format!("{height} rows of {bytes} bytes; one copy takes {MOST} rows of {WIDEST} bytes at most");
            return Err(Error::invalid(text));
        }
        // A single row has no distance, and the given one need not fit anything.
        let pitch = |pitch: usize| if height == 1 { bytes } else { pitch * size };
        Ok(InBytes { width: bytes, from: pitch(self.from), to: pitch(self.to) })
    }
}

impl Stream {
    /// Copies rows of `from` to `to` when the stream gets there; otherwise as [`Stream::upload`].
    ///
    /// # Errors
    ///
    /// As [`Stream::upload`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for rows that a side does
    /// not have, no rows, rows wider than their distance, or more than 5 Mi rows or 5,000,000 bytes of one;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) where the library has no such copy.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Rows;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut padded = device.alloc_zeroed::<u8>(8)?; // 2 rows of 4
    /// let rows = device.pinned_from(&[1, 2, 3, 4])?; // 2 rows of 2
    /// stream.upload_rows(rows, &mut padded, Rows::new(2, 2).to_pitch(4))?.wait()?;
    /// assert_eq!(padded.to_vec()?, [1, 2, 0, 0, 3, 4, 0, 0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpy2dAsync")]
    #[track_caller]
    pub fn upload_rows<T: Pod + Send>(
        &self,
        from: PinnedBuffer<T>,
        to: &mut impl DeviceWrite<Element = T>,
        rows: Rows,
    ) -> Result<Lent<T>, Refused<PinnedBuffer<T>>> {
        let (location, to) = (Location::caller(), to.as_slice());
        let checked = self.check_device(from.context()).and_then(|()| self.check_device(to.context_inner()));
        let bytes = match checked.and_then(|()| rows.check(size_of::<T>(), [from.len(), to.len()])) {
            Ok(bytes) => bytes,
            Err(error) => return Err(Refused::new(from, self.refuse(("upload_rows", location), error))),
        };
        let InBytes { width, from: every, to: target } = bytes;
        let kind = aclrtMemcpyKind::ACL_MEMCPY_HOST_TO_DEVICE;
        let task = Task { label: "upload_rows", location, uses: &[Touch::written(to.allocation())], scratch: None };
        Lent::start(self, from, &task, |context: &ContextInner, host, raw| {
            let to = to.address();
            // SAFETY: both sides have the rows, as was checked; the pinned one is owned by the transfer until the copy
            // is done, the device one is registered with the stream.
            unsafe { call!(context, aclrtMemcpy2dAsync(to, target, host, every, width, rows.height, kind, raw)) }
        })
    }

    /// Copies rows of `from` to `to` when the stream gets there; otherwise as [`Stream::download`].
    ///
    /// # Errors
    ///
    /// As [`Stream::upload_rows`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Rows;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let all = device.upload(&[1_u8, 2, 3, 4, 5, 6])?; // 2 rows of 3
    /// let last = stream.download_rows(&all.slice(2..)?, device.pinned(2)?, Rows::new(1, 2).from_pitch(3))?;
    /// assert_eq!(*last.wait()?, [3, 6]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpy2dAsync")]
    #[track_caller]
    pub fn download_rows<T: Pod + Send>(
        &self,
        from: &impl DeviceRead<Element = T>,
        to: PinnedBuffer<T>,
        rows: Rows,
    ) -> Result<Lent<T>, Refused<PinnedBuffer<T>>> {
        let (location, from) = (Location::caller(), from.as_slice());
        let checked = self.check_device(to.context()).and_then(|()| self.check_device(from.context_inner()));
        let bytes = match checked.and_then(|()| rows.check(size_of::<T>(), [from.len(), to.len()])) {
            Ok(bytes) => bytes,
            Err(error) => return Err(Refused::new(to, self.refuse(("download_rows", location), error))),
        };
        let InBytes { width, from: every, to: target } = bytes;
        let kind = aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_HOST;
        let task = Task { label: "download_rows", location, uses: &[Touch::read(from.allocation())], scratch: None };
        Lent::start(self, to, &task, |context: &ContextInner, host, raw| {
            let from = from.address();
            // SAFETY: as for `upload_rows`, in the other direction.
            unsafe { call!(context, aclrtMemcpy2dAsync(host, target, from, every, width, rows.height, kind, raw)) }
        })
    }

    /// Copies rows of `from` to `to` on the device when the stream gets there; otherwise as [`Stream::copy`].
    /// [`op::copy`](crate::op::copy()) takes views with any strides, and is an operator where this is a copy.
    ///
    /// # Errors
    ///
    /// As [`Stream::copy`], but for lengths and addresses, which may be any; and as [`Stream::upload_rows`]. Rows that lie
    /// between one another in one memory do not overlap.
    ///
    /// # Examples
    ///
    /// See [`Rows`].
    #[doc(alias = "aclrtMemcpy2dAsync")]
    #[track_caller]
    pub fn copy_rows<T: Pod>(
        &self,
        from: &impl DeviceRead<Element = T>,
        to: &mut impl DeviceWrite<Element = T>,
        rows: Rows,
    ) -> Result<()> {
        let (location, from, to) = (Location::caller(), from.as_slice(), to.as_slice());
        let checked = self.check_device(from.context_inner()).and_then(|()| self.check_device(to.context_inner()));
        let bytes = checked.and_then(|()| rows.check(size_of::<T>(), [from.len(), to.len()]));
        let InBytes { width, from: every, to: target } =
            bytes.map_err(|error| self.refuse(("copy_rows", location), error))?;
        let side = |at: *mut c_void, pitch| Side { at: at.addr(), pitch };
        let (source, place) = (side(from.address(), every), side(to.address(), target));
        check_rows_apart(source, place, width, rows.height)
            .map_err(|error| self.refuse(("copy_rows", location), error))?;
        let kind = aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_DEVICE;
        let uses = [Touch::read(from.allocation()), Touch::written(to.allocation())];
        let task = Task { label: "copy_rows", location, uses: &uses, scratch: None };
        self.0.submit(&task, |raw| {
            let (context, to, from) = (&**self.0.context(), to.address(), from.address());
            // SAFETY: both sides have the rows on this device, as was checked, and are registered with the stream.
            unsafe { call!(context, aclrtMemcpy2dAsync(to, target, from, every, width, rows.height, kind, raw)) }
        })?;
        Ok(())
    }
}
