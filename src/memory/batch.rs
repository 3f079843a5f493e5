//! Several copies with one call: one pinned buffer, and many places on the device.

use std::ffi::c_void;
use std::ops::Range;
use std::panic::Location;

use acl_sys::{aclrtMemLocation, aclrtMemLocationType, aclrtMemcpyBatchAttr, aclrtStream};
use bytemuck::Pod;

use super::slice::part;
use super::{DeviceRead, DeviceSlice, DeviceSliceMut, Lent, PinnedBuffer};
use crate::allocation::Touch;
use crate::call::call;
use crate::context::ContextInner;
use crate::error::{Error, Refused, Result};
use crate::sort;
use crate::stream::{Stream, Task};

mod blocking;

/// From where to where copies with memory of a device go.
fn attribute(device: i32, to_device: bool) -> aclrtMemcpyBatchAttr {
    let id = u32::try_from(device).unwrap_or_default();
    let device = aclrtMemLocation { id, type_: aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_DEVICE };
    let host = aclrtMemLocation { id: 0, type_: aclrtMemLocationType::ACL_MEM_LOCATION_TYPE_HOST };
    let (to, from) = if to_device { (device, host) } else { (host, device) };
    aclrtMemcpyBatchAttr { dstLoc: to, srcLoc: from, rsv: [0; 16] }
}

/// The error of a call with `count` copies, which may say which failed.
fn explain(error: Error, count: usize, failed: usize) -> Error {
    let which = if failed < count { format!(", copy {failed}") } else { String::new() };
    error.context(format!("a batch of {count} copies{which}"))
}

/// The copies of a batch, as the C call takes them.
struct Copies {
    /// On the device.
    places: Vec<*mut c_void>,
    /// Bytes from the begin of the pinned buffer.
    starts: Vec<usize>,
    sizes: Vec<usize>,
    device: i32,
}

impl Copies {
    /// Of elements of the pinned buffer, which has `len`, from or to as many on the device.
    fn of<'a, T: Pod>(
        stream: &Stream,
        pinned: &PinnedBuffer<T>,
        parts: impl Iterator<Item = (DeviceSlice<'a, T>, &'a Range<usize>)>,
    ) -> Result<Self> {
        stream.check_device(pinned.context())?;
        let device = pinned.context().device();
        let mut copies = Self { places: Vec::new(), starts: Vec::new(), sizes: Vec::new(), device };
        for (memory, range) in parts {
            let range = part(range, pinned.len())?;
            memory.check_len(range.len())?;
            stream.check_device(memory.context_inner())?;
            if memory.is_empty() {
                continue;
            }
            copies.places.push(memory.address());
            copies.starts.push(range.start * size_of::<T>());
            copies.sizes.push(memory.size_bytes());
        }
        if copies.places.is_empty() {
            return Err(Error::invalid("a batch of copies without an element"));
        }
        Ok(copies)
    }

    /// Makes the call; `host` is the pinned buffer.
    fn submit(mut self, context: &ContextInner, host: *mut c_void, to_device: bool, raw: aclrtStream) -> Result<()> {
        let mut hosts: Vec<*mut c_void> = self.starts.iter().map(|start| host.wrapping_byte_add(*start)).collect();
        let (count, mut most) = (self.sizes.len(), self.sizes.clone());
        let (to, from) = match to_device {
            true => (self.places.as_mut_ptr(), hosts.as_mut_ptr()),
            false => (hosts.as_mut_ptr(), self.places.as_mut_ptr()),
        };
        let mut attribute = attribute(self.device, to_device);
        let (mut first, mut failed) = (0, usize::MAX);
        let (sizes, attribute, first) = (self.sizes.as_mut_ptr(), &raw mut attribute, &raw mut first);
        let most = most.as_mut_ptr();
        // SAFETY: the lists have `count` entries and live over the call, which reads them; the parts lie in the pinned
        // buffer, which the transfer owns until the copies are done, and in memory that is registered with the stream.
        unsafe {
            call!(
                context,
                aclrtMemcpyBatchAsync(to, most, from, sizes, count, attribute, first, 1, &raw mut failed, raw)
            )
        }
        .map_err(|error| explain(error, count, failed))
    }
}

impl Stream {
    /// Copies parts of one pinned buffer to many places on the device when the stream gets there, with one call: the
    /// elements `range` of `from` to each `(memory, range)`, which has as many. Returns when the copies are queued;
    /// otherwise as [`Stream::upload`]. Among themselves the copies have no order. Parts without elements are left out.
    ///
    /// # Errors
    ///
    /// As [`Stream::upload`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a range outside the
    /// pinned buffer, another length than its memory has, memory that overlaps, or no element at all;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) where the library has no batches, and
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) where the card has none. An error that came after
    /// some of the copies were queued is given back when the stream is done with them, as [`Stream::upload`] says.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let (mut a, mut b) = (device.alloc::<i32>(2)?, device.alloc::<i32>(1)?);
    /// let staged = device.pinned_from(&[1, 2, 3])?;
    /// let lent = stream.upload_batch(staged, &mut [(a.slice_mut(..)?, 0..2), (b.slice_mut(..)?, 2..3)])?;
    /// lent.wait()?;
    /// assert_eq!((a.to_vec()?, b.to_vec()?), (vec![1, 2], vec![3]));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyBatchAsync")]
    #[track_caller]
    pub fn upload_batch<T: Pod + Send>(
        &self,
        from: PinnedBuffer<T>,
        to: &mut [(DeviceSliceMut<'_, T>, Range<usize>)],
    ) -> Result<Lent<T>, Refused<PinnedBuffer<T>>> {
        let location = Location::caller();
        let uses: Vec<_> = to.iter().map(|(memory, _)| Touch::written(memory.as_slice().allocation())).collect();
        let parts = to.iter().map(|(memory, range)| (memory.as_slice(), range));
        let apart = check_places(to.iter().map(|(memory, _)| memory.as_slice()));
        let copies = match apart.and_then(|()| Copies::of(self, &from, parts)) {
            Ok(copies) => copies,
            Err(error) => return Err(Refused::new(from, self.refuse(("upload_batch", location), error))),
        };
        let task = Task { label: "upload_batch", location, uses: &uses, scratch: None };
        Lent::start_several(self, from, &task, |context, host, raw| copies.submit(context, host, true, raw), true)
    }

    /// Copies many places on the device to parts of one pinned buffer when the stream gets there, with one call;
    /// otherwise as [`Stream::upload_batch`]. What no part covers stays as it is in the buffer.
    ///
    /// # Errors
    ///
    /// As [`Stream::upload_batch`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for ranges of the
    /// pinned buffer that overlap.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let (a, b) = (device.upload(&[1_u8, 2])?, device.upload(&[3_u8])?);
    /// let lent = stream.download_batch(&[(b.slice(..)?, 0..1), (a.slice(..)?, 1..3)], device.pinned(3)?)?;
    /// assert_eq!(*lent.wait()?, [3, 1, 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyBatchAsync")]
    #[track_caller]
    pub fn download_batch<T: Pod + Send>(
        &self,
        from: &[(DeviceSlice<'_, T>, Range<usize>)],
        to: PinnedBuffer<T>,
    ) -> Result<Lent<T>, Refused<PinnedBuffer<T>>> {
        let location = Location::caller();
        let uses: Vec<_> = from.iter().map(|(memory, _)| Touch::read(memory.allocation())).collect();
        let copies = Copies::of(self, &to, from.iter().map(|(memory, range)| (*memory, range)));
        let copies = match copies.and_then(|copies| check_apart(from).map(|()| copies)) {
            Ok(copies) => copies,
            Err(error) => return Err(Refused::new(to, self.refuse(("download_batch", location), error))),
        };
        let task = Task { label: "download_batch", location, uses: &uses, scratch: None };
        Lent::start_several(self, to, &task, |context, host, raw| copies.submit(context, host, false, raw), true)
    }
}

/// That no two places on the device overlap: the copies to them have no order.
fn check_places<'a, T: Pod>(places: impl Iterator<Item = DeviceSlice<'a, T>>) -> Result<()> {
    let range = |place: DeviceSlice<'a, T>| {
        let start = place.address().addr();
        start..start + place.size_bytes()
    };
    match overlapping(places.map(range).collect()) {
        Some((a, b)) => Err(Error::invalid(format!("copies to {a:#x?} and {b:#x?} of the device, which overlap"))),
        None => Ok(()),
    }
}

/// That no two parts of the pinned buffer overlap: the copies have no order.
fn check_apart<T: Pod>(parts: &[(DeviceSlice<'_, T>, Range<usize>)]) -> Result<()> {
    match overlapping(parts.iter().map(|(_, range)| range.clone()).collect()) {
        Some((a, b)) => Err(Error::invalid(format!("copies to {a:?} and {b:?} of one buffer, which overlap"))),
        None => Ok(()),
    }
}

/// The first two of these that share something.
fn overlapping(mut ranges: Vec<Range<usize>>) -> Option<(Range<usize>, Range<usize>)> {
    ranges.retain(|range| !range.is_empty());
    sort::by_key(&mut ranges, |range| range.start);
    let pair = ranges.windows(2).find(|pair| pair[1].start < pair[0].end)?;
    Some((pair[0].clone(), pair[1].clone()))
}
