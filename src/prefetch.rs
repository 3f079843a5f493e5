//! Prefetch: moving memory into the L2 cache before the operator that reads it.

use std::panic::Location;
use std::sync::Arc;

use acl_sys::aclrtCmoType;

use crate::call::call;
use crate::error::{Error, Result};
use crate::memory::{Allocation, DeviceRead, Touch};
use crate::op::{Element, Tensor};
use crate::stream::{Stream, Task};

/// Longest piece that one C call is given: the call narrows the length to 32 bits. A whole number of large pages.
const MAX_CALL_BYTES: usize = (4 << 30) - (2 << 20);

/// Which bytes of a buffer or tensor to prefetch.
///
/// # Examples
///
/// ```
/// use racl::Prefetch;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let weights = device.alloc::<u8>(1000)?;
/// assert_eq!(stream.prefetch(&weights, Prefetch::bytes(600))?, 600);
/// assert_eq!(stream.prefetch(&weights, Prefetch::bytes(600).offset(500))?, 500);
/// assert_eq!(stream.prefetch(&weights, Prefetch::all())?, 1000);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "aclrtCmoType")]
pub struct Prefetch {
    max_bytes: usize,
    offset: usize,
}

impl Prefetch {
    /// At most `max_bytes` bytes from the start; fewer when the memory ends before.
    #[must_use]
    pub fn bytes(max_bytes: usize) -> Self {
        Self { max_bytes, offset: 0 }
    }

    /// Everything from the start to the end of the memory.
    #[must_use]
    pub fn all() -> Self {
        Self::bytes(usize::MAX)
    }

    /// At most the same number of bytes, from `offset` bytes after the start. A second call replaces the first.
    #[must_use]
    pub fn offset(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    /// Offset and greatest length.
    pub(crate) fn parts(self) -> (usize, usize) {
        (self.offset, self.max_bytes)
    }

    /// The bytes that this means for `available` ones: offset and length.
    pub(crate) fn clip(self, available: usize) -> Result<(usize, usize)> {
        if self.max_bytes == 0 {
            return Err(Error::invalid("a prefetch of 0 bytes; ask for at least one"));
        }
        if available == 0 {
            return Err(Error::invalid("a prefetch of empty memory; there is nothing to fetch"));
        }
        if self.offset >= available {
            let offset = self.offset;
            return Err(Error::invalid(format!(
                "a prefetch from offset {offset} of {available} bytes; the offset must be less than the size"
            )));
        }
        Ok((self.offset, self.max_bytes.min(available - self.offset)))
    }
}

/// Offset and length of each piece of `bytes` bytes.
fn pieces(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(MAX_CALL_BYTES).map(move |start| (start, MAX_CALL_BYTES.min(bytes - start)))
}

mod sealed {
    pub trait Sealed {}
    impl<M: crate::memory::DeviceRead> Sealed for M {}
    impl<T: crate::op::Element> Sealed for crate::op::Tensor<T> {}
}

/// Device memory that can be prefetched: a [`DeviceBuffer`](crate::DeviceBuffer), whatever else [`DeviceRead`] stands
/// for, or a [`Tensor`].
pub trait Prefetchable: sealed::Sealed {
    #[doc(hidden)]
    fn span(&self) -> Span<'_>;
}

/// Address range of something prefetchable.
#[doc(hidden)]
#[derive(Debug)]
pub struct Span<'a> {
    pub(crate) allocation: &'a Arc<Allocation>,
    pub(crate) address: *mut std::ffi::c_void,
    pub(crate) bytes: usize,
}

impl<M: DeviceRead> Prefetchable for M {
    #[inline]
    fn span(&self) -> Span<'_> {
        let slice = self.as_slice();
        Span { allocation: slice.allocation(), address: slice.address(), bytes: slice.size_bytes() }
    }
}

impl<T: Element> Prefetchable for Tensor<T> {
    fn span(&self) -> Span<'_> {
        let bytes = self.len() * size_of::<T>();
        Span { allocation: self.allocation(), address: self.address(), bytes }
    }
}

impl Stream {
    /// Asks the device to move bytes of `memory` into its L2 cache when the stream gets there. Returns when the
    /// request is queued. Nothing is computed and no residency is promised. Put it on a side stream to overlap it
    /// with computation. In a capture it becomes part of the graph.
    ///
    /// Gives the number of bytes really asked for: a request that is longer than the memory is clipped. What is
    /// longer than a call can say (4 GiB) goes out as several calls. For a strided tensor the dense range from its
    /// first element is meant, as torch_npu does.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for 0 bytes, empty memory, an offset at or
    /// past the end, or memory of another device; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on a
    /// chip without the feature; [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a stream destroyed
    /// beside this crate; [`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated) when the stream's
    /// capture is ending.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{Prefetch, op};
    ///
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// let weights = device.upload_tensor(&[1.0_f32, 0.0, 0.0, 1.0], [2, 2])?;
    /// let x = device.upload_tensor(&[3.0, 4.0], [1, 2])?;
    /// let mut out = device.zeros([1, 2])?;
    /// let side = device.stream()?;
    /// assert_eq!(side.prefetch(&weights, Prefetch::all())?, 16); // meanwhile other work runs on `stream`
    /// op::matmul(&stream, &x, &weights, &mut out)?;
    /// assert_eq!(out.to_vec()?, [3.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtCmoAsync")]
    #[doc(alias = "npu_prefetch")]
    #[track_caller]
    pub fn prefetch(&self, memory: &impl Prefetchable, what: Prefetch) -> Result<usize> {
        self.prefetch_span(&memory.span(), what, Location::caller())
    }

    fn prefetch_span(&self, span: &Span<'_>, what: Prefetch, location: &'static Location<'static>) -> Result<usize> {
        let refused = |error| self.refuse(("prefetch", location), error);
        let (offset, bytes) = what.clip(span.bytes).map_err(refused)?;
        self.check_device(span.allocation.context()).map_err(refused)?;
        prefetch_range(self, span.allocation, span.address.wrapping_byte_add(offset), bytes, location)?;
        Ok(bytes)
    }
}

/// Asks for `bytes` bytes from `address`, inside the allocation, in as many calls as that takes.
pub(crate) fn prefetch_range(
    stream: &Stream,
    allocation: &Arc<Allocation>,
    address: *mut std::ffi::c_void,
    bytes: usize,
    location: &'static Location<'static>,
) -> Result<()> {
    for (start, length) in pieces(bytes) {
        let address = address.wrapping_byte_add(start);
        let task = Task { label: "prefetch", location, uses: &[Touch::kept(allocation)], scratch: None };
        stream.0.submit(&task, |raw| {
            let kind = aclrtCmoType::ACL_RT_CMO_TYPE_PREFETCH;
            // SAFETY: the range lies inside device memory that is registered with the stream; the length fits the
            // 32 bits that the call has for it.
            unsafe { call!(&**stream.0.context(), aclrtCmoAsync(address, length, kind, raw)) }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_clipped_to_the_buffer() {
        assert_eq!(Prefetch::bytes(10).clip(100).unwrap(), (0, 10));
        assert_eq!(Prefetch::bytes(10).offset(95).clip(100).unwrap(), (95, 5));
        assert_eq!(Prefetch::all().offset(1).clip(100).unwrap(), (1, 99));
    }

    #[test]
    fn nothing_and_offsets_past_the_end_are_refused() {
        for what in [Prefetch::bytes(0), Prefetch::bytes(1).offset(100), Prefetch::bytes(1).offset(usize::MAX)] {
            assert!(what.clip(100).is_err(), "{what:?}");
        }
    }

    #[test]
    fn pieces_cover_the_range_and_fit_32_bits() {
        for bytes in [1, MAX_CALL_BYTES, MAX_CALL_BYTES + 1, 5 << 30, (4 << 30) + 7] {
            let mut next = 0;
            for (start, length) in pieces(bytes) {
                assert_eq!(start, next);
                assert!(length > 0 && u32::try_from(length).is_ok());
                next = start + length;
            }
            assert_eq!(next, bytes);
        }
    }
}
