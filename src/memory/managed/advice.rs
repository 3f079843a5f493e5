//! Where managed memory is to lie, and moves ahead.

use std::ffi::c_void;
use std::ops::{Range, RangeBounds};
use std::panic::Location;

use acl_sys::{
    aclrtMemManagedAdviseType, aclrtMemManagedLocation, aclrtMemManagedLocationType, aclrtMemManagedRangeAttribute,
};
use bytemuck::Pod;

use super::ManagedBuffer;
use crate::allocation::Touch;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::stream::{Stream, Task};

/// How many users of memory are asked for; more than cards of a server, and the host.
const USERS: usize = 64;

/// Where managed memory may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtMemManagedLocation")]
pub enum ManagedPlace {
    /// The device with this number.
    Device(u32),
    /// The host.
    Host,
    /// This node of the host.
    HostNode(u32),
    /// The node of the host that the calling thread runs on.
    CurrentHostNode,
}

/// What managed memory is told of its use ([`ManagedBuffer::advise`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtMemManagedAdviseType")]
pub enum ManagedAdvice {
    /// Whether it is mostly read, so that each who reads may have a copy of its own.
    ReadMostly(bool),
    /// Where it lies best, or nowhere in particular.
    Preferred(Option<ManagedPlace>),
    /// This place uses it, so that it is mapped there wherever it lies.
    AccessedBy(ManagedPlace),
    /// This place uses it no more.
    NotAccessedBy(ManagedPlace),
}

impl ManagedPlace {
    fn to_c(self) -> Result<aclrtMemManagedLocation> {
        let numbered = |number: u32| {
            i32::try_from(number)
                .map_err(|_| Error::invalid(format!("a place of managed memory with number {number}")))
        };
        let (type_, id) = match self {
            Self::Device(device) => (aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_DEVICE, numbered(device)?),
            Self::Host => (aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_HOST, 0),
            Self::HostNode(node) => (aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_HOST_NUMA, numbered(node)?),
            Self::CurrentHostNode => (aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT, 0),
        };
        Ok(aclrtMemManagedLocation { type_, id })
    }

    /// What the library answers as type and number; none for no place, or not the same one everywhere.
    fn of(kind: i32, id: i32) -> Result<Option<Self>> {
        let number = || {
            u32::try_from(id).map_err(|_| {
                Error::new(ErrorKind::UnknownValue, format!("place {id} of managed memory, type {kind}"))
            })
        };
        match aclrtMemManagedLocationType(kind.cast_unsigned()) {
            aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_INVALID => Ok(None),
            aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_DEVICE => Ok(Some(Self::Device(number()?))),
            aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_HOST => Ok(Some(Self::Host)),
            aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_HOST_NUMA => Ok(Some(Self::HostNode(number()?))),
            aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT => Ok(Some(Self::CurrentHostNode)),
            other => {
                Err(Error::new(ErrorKind::UnknownValue, format!("type {} of places of managed memory", other.0)))
            }
        }
    }
}

impl ManagedAdvice {
    fn to_c(self) -> Result<(aclrtMemManagedAdviseType, aclrtMemManagedLocation)> {
        let nowhere =
            aclrtMemManagedLocation { type_: aclrtMemManagedLocationType::ACL_MEM_LOCATIONTYPE_HOST, id: 0 };
        Ok(match self {
            Self::ReadMostly(true) => (aclrtMemManagedAdviseType::ACL_MEM_ADVISE_SET_READ_MOSTLY, nowhere),
            Self::ReadMostly(false) => (aclrtMemManagedAdviseType::ACL_MEM_ADVISE_UNSET_READ_MOSTLY, nowhere),
            Self::Preferred(Some(place)) => {
                (aclrtMemManagedAdviseType::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, place.to_c()?)
            }
            Self::Preferred(None) => (aclrtMemManagedAdviseType::ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, nowhere),
            Self::AccessedBy(place) => (aclrtMemManagedAdviseType::ACL_MEM_ADVISE_SET_ACCESSED_BY, place.to_c()?),
            Self::NotAccessedBy(place) => {
                (aclrtMemManagedAdviseType::ACL_MEM_ADVISE_UNSET_ACCESSED_BY, place.to_c()?)
            }
        })
    }
}

/// What a range is asked.
type Attribute = aclrtMemManagedRangeAttribute;

impl<T: Pod> ManagedBuffer<T> {
    /// Tells the driver how the elements `range` are used; it may move them better then. It counts for whole pages of
    /// 2 MiB, those that the elements lie in. Does not wait for work, nor change the content.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside the buffer or without an element, and a place that does not
    /// exist; [`ErrorKind::NotSupported`] where the card does not take the advice.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{ManagedAdvice, ManagedPlace};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let table = device.context().managed::<u8>(100)?;
    /// table.advise(.., ManagedAdvice::ReadMostly(true))?;
    /// table.advise(.., ManagedAdvice::Preferred(Some(ManagedPlace::Device(0))))?;
    /// assert!(table.is_read_mostly(..)?);
    /// assert_eq!(table.preferred_place(..)?, Some(ManagedPlace::Device(0)));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemManagedAdvise")]
    #[doc(alias = "cudaMemAdvise")]
    pub fn advise(&self, range: impl RangeBounds<usize>, advice: ManagedAdvice) -> Result<()> {
        let ((start, bytes), (kind, place)) = (self.pages(&range)?, advice.to_c()?);
        // SAFETY: pages of this memory; the advice changes nothing of its content.
        unsafe { call!(&**self.allocation().context(), aclrtMemManagedAdvise(start, bytes as u64, kind, place)) }
    }

    /// Whether all of the elements are said to be mostly read.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside the buffer or without an element.
    #[doc(alias = "aclrtMemManagedGetAttr")]
    pub fn is_read_mostly(&self, range: impl RangeBounds<usize>) -> Result<bool> {
        let [answer] = self.attribute(&range, Attribute::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY)?;
        Ok(answer != 0)
    }

    /// Where the elements are said to lie best; none where nothing was said, or not the same of all.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside the buffer or without an element;
    /// [`ErrorKind::UnknownValue`] for a place that this crate does not know.
    #[doc(alias = "aclrtMemManagedGetAttrs")]
    pub fn preferred_place(&self, range: impl RangeBounds<usize>) -> Result<Option<ManagedPlace>> {
        self.place(
            &range,
            [
                Attribute::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                Attribute::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
            ],
        )
    }

    /// Where the elements were last [prefetched](Stream::prefetch_managed) to, whether they are there yet or not; none
    /// where they were not, or not all to the same place.
    ///
    /// # Errors
    ///
    /// As [`preferred_place`](Self::preferred_place).
    #[doc(alias = "aclrtMemManagedGetAttrs")]
    pub fn last_prefetch(&self, range: impl RangeBounds<usize>) -> Result<Option<ManagedPlace>> {
        self.place(
            &range,
            [
                Attribute::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                Attribute::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
            ],
        )
    }

    /// The places that are said to use all of the elements.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside the buffer or without an element.
    #[doc(alias = "aclrtMemManagedGetAttr")]
    pub fn accessed_by(&self, range: impl RangeBounds<usize>) -> Result<Vec<ManagedPlace>> {
        let users: [i32; USERS] = self.attribute(&range, Attribute::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)?;
        let place = |id: i32| match u32::try_from(id) {
            Ok(device) => Some(ManagedPlace::Device(device)),
            Err(_) => (id == -1).then_some(ManagedPlace::Host),
        };
        Ok(users.into_iter().filter_map(place).collect())
    }

    /// One answer of `N` numbers.
    fn attribute<const N: usize>(&self, range: &impl RangeBounds<usize>, asked: Attribute) -> Result<[i32; N]> {
        let (start, bytes) = self.pages(range)?;
        // None, for what is not written.
        let mut answer = [-2_i32; N];
        let (to, room) = (answer.as_mut_ptr().cast(), size_of_val(&answer));
        // SAFETY: pages of this memory, and room for as many numbers.
        unsafe { call!(&**self.allocation().context(), aclrtMemManagedGetAttr(asked, start, bytes, to, room)) }?;
        Ok(answer)
    }

    /// A place by its type and its number.
    fn place(&self, range: &impl RangeBounds<usize>, asked: [Attribute; 2]) -> Result<Option<ManagedPlace>> {
        let (start, bytes) = self.pages(range)?;
        let (mut asked, mut kind, mut id) = (asked, 0_i32, 0_i32);
        let mut answers: [*mut c_void; 2] = [(&raw mut kind).cast(), (&raw mut id).cast()];
        let mut rooms = [size_of::<i32>(); 2];
        let (list, to, room) = (asked.as_mut_ptr(), answers.as_mut_ptr(), rooms.as_mut_ptr());
        // SAFETY: pages of this memory, and lists of two with room for a number each.
        unsafe { call!(&**self.allocation().context(), aclrtMemManagedGetAttrs(list, 2, start, bytes, to, room)) }?;
        ManagedPlace::of(kind, id)
    }
}

impl Stream {
    /// Moves the elements `range` of managed memory to `place` when the stream gets there, in whole pages of 2 MiB, so
    /// that work there finds them. Returns when that is queued. Their content stays what it is.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a range outside the buffer or without an element, a place that does not
    /// exist, and memory of another library; [`ErrorKind::NotSupported`] where the card has none.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::ManagedPlace;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let table = device.context().managed::<u8>(100)?;
    /// stream.prefetch_managed(&table, .., ManagedPlace::Device(0))?;
    /// stream.synchronize()?;
    /// assert_eq!(table.last_prefetch(..)?, Some(ManagedPlace::Device(0)));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemManagedPrefetchAsync")]
    #[doc(alias = "cudaMemPrefetchAsync")]
    #[track_caller]
    pub fn prefetch_managed<T: Pod>(
        &self,
        memory: &ManagedBuffer<T>,
        range: impl RangeBounds<usize>,
        place: ManagedPlace,
    ) -> Result<()> {
        let named = ("prefetch_managed", Location::caller());
        let checked = self.0.context().check_library(memory.allocation().context(), "memory");
        let checked = checked.and_then(|()| Ok((memory.pages(&range)?, place.to_c()?)));
        let ((start, bytes), place) = checked.map_err(|error| self.refuse(named, error))?;
        let uses = [Touch::read(memory.allocation())];
        let task = Task { label: named.0, location: named.1, uses: &uses, scratch: None };
        self.0.submit(&task, |raw| {
            // SAFETY: pages of memory that is registered with the stream.
            unsafe { call!(&**self.0.context(), aclrtMemManagedPrefetchAsync(start, bytes, place, 0, raw)) }
        })?;
        Ok(())
    }

    /// As [`prefetch_managed`](Self::prefetch_managed), several parts with one call.
    ///
    /// # Errors
    ///
    /// As [`prefetch_managed`](Self::prefetch_managed); [`ErrorKind::InvalidArgument`] for no part at all. After an
    /// error of the call some parts may be moved.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::ManagedPlace;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let (a, b) = (device.context().managed::<u8>(100)?, device.context().managed::<u8>(100)?);
    /// stream.prefetch_managed_batch(&[(&a, 0..100, ManagedPlace::Device(0)), (&b, 0..1, ManagedPlace::Host)])?;
    /// stream.synchronize()?;
    /// assert_eq!(b.last_prefetch(..)?, Some(ManagedPlace::Host));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemManagedPrefetchBatchAsync")]
    #[track_caller]
    pub fn prefetch_managed_batch<T: Pod>(
        &self,
        parts: &[(&ManagedBuffer<T>, Range<usize>, ManagedPlace)],
    ) -> Result<()> {
        let named = ("prefetch_managed_batch", Location::caller());
        let (mut starts, mut sizes, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let checked = parts.iter().try_for_each(|(memory, range, place)| {
            self.0.context().check_library(memory.allocation().context(), "memory")?;
            let (start, bytes) = memory.pages(range)?;
            starts.push(start.cast_const());
            sizes.push(bytes);
            places.push(place.to_c()?);
            Ok(())
        });
        let checked = checked.and_then(|()| match parts {
            [] => Err(Error::invalid("a batch of prefetches without a part")),
            _ => Ok(()),
        });
        checked.map_err(|error| self.refuse(named, error))?;
        let uses: Vec<_> = parts.iter().map(|(memory, ..)| Touch::read(memory.allocation())).collect();
        let task = Task { label: named.0, location: named.1, uses: &uses, scratch: None };
        let mut indices: Vec<usize> = (0..parts.len()).collect();
        let (count, starts, sizes) = (parts.len(), starts.as_mut_ptr(), sizes.as_mut_ptr());
        let (places, indices) = (places.as_mut_ptr(), indices.as_mut_ptr());
        self.0.submit(&task, |raw| {
            let context = &**self.0.context();
            // SAFETY: lists of `count` entries that live over the call, of pages of memory that is registered with the
            // stream; each part has a place of its own.
            unsafe {
                call!(
                    context,
                    aclrtMemManagedPrefetchBatchAsync(starts, sizes, count, places, indices, count, 0, raw)
                )
            }
        })?;
        Ok(())
    }
}
