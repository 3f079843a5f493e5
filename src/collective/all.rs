//! Operations of all ranks, where each has as much as the others.

use acl_sys::HcclDataType;

use super::buffer::{Part, check_times, raw_type};
use super::{Communicator, RecvBuffer, Reducible, Reduction, SendBuffer, named};
use crate::allocation::Touch;
use crate::call::collective;
use crate::error::{Error, Result};
use crate::op::{DataType, Element};
use crate::stream::{Named, Stream};

/// Memory that work of `stream` can use, and the library's name of its type.
pub(super) fn part_of<'a, B: SendBuffer + ?Sized>(
    stream: &Stream,
    buffer: &'a B,
) -> Result<(Part<'a>, HcclDataType)> {
    let part = buffer.part()?;
    stream.check_device(part.allocation.context())?;
    Ok((part, raw_type(B::Element::TYPE)?))
}

/// What a check finds; a capture lacks the operation then.
pub(super) fn checked<T>(stream: &Stream, named: Named, check: impl FnOnce() -> Result<T>) -> Result<T> {
    check().map_err(|error| stream.refuse(named, error))
}

impl Communicator {
    pub(super) fn check_rank(&self, rank: u32, what: &str) -> Result<()> {
        if rank < self.size() {
            return Ok(());
        }
        Err(Error::invalid(format!("{what} {rank} of {} ranks", self.size())))
    }

    /// Reduces what all ranks send, element by element, and gives each rank the result. Returns when it is queued; so
    /// do all operations. Both buffers have the same length, and share no memory or are one.
    ///
    /// All ranks have the same length, type and reduction. Which order sums are added in is the library's choice
    /// ([`Determinism`](super::Determinism)); the mock adds in the order of the ranks.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for lengths that differ, memory that overlaps
    /// or has gaps, and a stream or memory of another device or library;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for a type or reduction that the card does not have,
    /// and in a host function; [`ErrorKind::Aborted`](crate::ErrorKind::Aborted) after an
    /// [abort](Communicator::abort); [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a libhccl without
    /// the function; [`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated) when the stream's capture is
    /// ending. What fails while it runs is told by the stream, and by [`Communicator::async_error`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, Reduction, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// let stream = device.stream()?;
    /// let part = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
    /// let mut sum = device.zeros([2])?;
    /// ranks.all_reduce(&stream, &part, &mut sum, Reduction::Sum)?;
    /// assert_eq!(sum.to_vec()?, [1.0, 2.0]); // of one rank
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclAllReduce")]
    #[track_caller]
    pub fn all_reduce<T: Reducible>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
        reduction: Reduction,
    ) -> Result<()> {
        let named = named("all_reduce");
        let (send, recv, dtype) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            check_times("all_reduce", recv.len, send.len, 1)?;
            send.check_apart_or_same(&recv).map(|()| (send, recv, dtype))
        })?;
        self.all_reduce_parts(stream, named, send, recv, dtype, reduction)
    }

    /// As [`Communicator::all_reduce`], with the result in the place of what was sent.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`].
    #[doc(alias = "HcclAllReduce")]
    #[track_caller]
    pub fn all_reduce_in_place<T: Reducible>(
        &self,
        stream: &Stream,
        buffer: &mut (impl RecvBuffer<Element = T> + ?Sized),
        reduction: Reduction,
    ) -> Result<()> {
        let named = named("all_reduce_in_place");
        let (part, dtype) = checked(stream, named, || part_of(stream, buffer))?;
        self.all_reduce_parts(stream, named, part, part, dtype, reduction)
    }

    fn all_reduce_parts(
        &self,
        stream: &Stream,
        named: Named,
        send: Part<'_>,
        recv: Part<'_>,
        dtype: HcclDataType,
        reduction: Reduction,
    ) -> Result<()> {
        let (count, op) = (send.len as u64, reduction.raw());
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            // SAFETY: both sides have `count` elements of the type on this device and are registered with the stream.
            unsafe { collective!(context, HcclAllReduce(send.address, recv.address, count, dtype, op, comm, raw)) }
        })
    }

    /// As [`Communicator::all_reduce`], of memory of a plan.
    ///
    /// # Safety
    ///
    /// Both addresses have `count` elements of the type on the stream's device, are one or share no memory, and the
    /// caller registers them with the stream.
    #[track_caller]
    pub(crate) unsafe fn all_reduce_at(
        &self,
        stream: &Stream,
        [from, to]: [*mut std::ffi::c_void; 2],
        (count, dtype): (usize, DataType),
        reduction: Reduction,
    ) -> Result<()> {
        let named = named("all_reduce");
        let dtype = checked(stream, named, || raw_type(dtype))?;
        self.submit(stream, (named, &[]), |context, comm, raw| {
            // SAFETY: by the contract.
            unsafe { collective!(context, HcclAllReduce(from, to, count as u64, dtype, reduction.raw(), comm, raw)) }
        })
    }

    /// Reduces what all ranks send, element by element, and gives the result to the rank `root`. The other ranks give
    /// memory of the same length as well, whose content is undefined then.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a rank that
    /// is not there.
    #[doc(alias = "HcclReduce")]
    #[track_caller]
    pub fn reduce<T: Reducible>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
        reduction: Reduction,
        root: u32,
    ) -> Result<()> {
        let named = named("reduce");
        let (send, recv, dtype) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            check_times("reduce", recv.len, send.len, 1)?;
            self.check_rank(root, "root")?;
            send.check_apart_or_same(&recv).map(|()| (send, recv, dtype))
        })?;
        let (count, op) = (send.len as u64, reduction.raw());
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            // SAFETY: as for `all_reduce`; the root is a rank.
            unsafe { collective!(context, HcclReduce(send.address, recv.address, count, dtype, op, root, comm, raw)) }
        })
    }

    /// Gives all ranks what the rank `root` has in `buffer`.
    ///
    /// # Errors
    ///
    /// As [`Communicator::reduce`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// let stream = device.stream()?;
    /// let mut weights = device.upload(&[1.0_f32, 2.0])?;
    /// ranks.broadcast(&stream, &mut weights, 0)?;
    /// stream.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclBroadcast")]
    #[track_caller]
    pub fn broadcast(&self, stream: &Stream, buffer: &mut (impl RecvBuffer + ?Sized), root: u32) -> Result<()> {
        let named = named("broadcast");
        let (part, dtype) = checked(stream, named, || {
            self.check_rank(root, "root")?;
            part_of(stream, buffer)
        })?;
        let touch = if root == self.rank() { Touch::read(part.allocation) } else { Touch::written(part.allocation) };
        self.submit(stream, (named, &[touch]), |context, comm, raw| {
            // SAFETY: the memory has so many elements of the type on this device and is registered with the stream.
            unsafe { collective!(context, HcclBroadcast(part.address, part.len as u64, dtype, root, comm, raw)) }
        })
    }

    /// Gives each rank its part of what the rank `root` sends, which has the parts of all ranks one behind the other.
    /// Only the root sends; others give `None`.
    ///
    /// # Errors
    ///
    /// As [`Communicator::reduce`]; also when the root sends nothing, or as many elements as do not make a part for each
    /// rank.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// let (all, mut part) = (device.upload(&[5_u8, 6])?, device.alloc(2)?);
    /// ranks.scatter(&device.stream()?, Some(&all), &mut part, 0)?;
    /// assert_eq!(part.to_vec()?, [5, 6]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclScatter")]
    #[track_caller]
    pub fn scatter<T: Element>(
        &self,
        stream: &Stream,
        send: Option<&dyn SendBuffer<Element = T>>,
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
        root: u32,
    ) -> Result<()> {
        let named = named("scatter");
        let (send, recv, dtype) = checked(stream, named, || {
            self.check_rank(root, "root")?;
            let (recv, dtype) = part_of(stream, recv)?;
            // What others would send is nobody's (guide: HCCL, `HcclScatter`: it may be empty).
            let Some(send) = send.filter(|_| root == self.rank()) else {
                let sends = root == self.rank();
                return if sends {
                    Err(Error::invalid("the root of a scatter sends"))
                } else {
                    Ok((None, recv, dtype))
                };
            };
            let (send, _) = part_of(stream, send)?;
            check_times("scatter", send.len, recv.len, self.size())?;
            send.check_apart(&recv).map(|()| (Some(send), recv, dtype))
        })?;
        let uses: Vec<_> = send.iter().map(|part| Touch::read(part.allocation)).collect();
        let uses = [uses, vec![Touch::written(recv.allocation)]].concat();
        let from = send.map_or(std::ptr::null_mut(), |part| part.address);
        self.submit(stream, (named, &uses), |context, comm, raw| {
            // SAFETY: the root's memory has a part of the received length for each rank; both are registered with the
            // stream.
            unsafe { collective!(context, HcclScatter(from, recv.address, recv.len as u64, dtype, root, comm, raw)) }
        })
    }

    /// Gives all ranks what each sends, one behind the other in the order of the ranks.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; what is received has the length of what is sent for each rank, and they share
    /// no memory.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// let part = device.upload(&[1_u32, 2])?;
    /// let mut all = device.alloc(part.len() * ranks.size() as usize)?;
    /// ranks.all_gather(&device.stream()?, &part, &mut all)?;
    /// assert_eq!(all.to_vec()?, [1, 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclAllGather")]
    #[track_caller]
    pub fn all_gather<T: Element>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
    ) -> Result<()> {
        let named = named("all_gather");
        let (send, recv, dtype) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            check_times("all_gather", recv.len, send.len, self.size())?;
            send.check_apart(&recv).map(|()| (send, recv, dtype))
        })?;
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            let count = send.len as u64;
            // SAFETY: there is room for `count` elements of each rank; both sides are registered with the stream.
            unsafe { collective!(context, HcclAllGather(send.address, recv.address, count, dtype, comm, raw)) }
        })
    }

    /// Reduces what all ranks send, element by element, and gives each rank its part of the result: what is sent has a
    /// part for each rank, one behind the other.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; what is sent has the length of what is received for each rank, and they share
    /// no memory.
    #[doc(alias = "HcclReduceScatter")]
    #[track_caller]
    pub fn reduce_scatter<T: Reducible>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
        reduction: Reduction,
    ) -> Result<()> {
        let named = named("reduce_scatter");
        let (send, recv, dtype) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            check_times("reduce_scatter", send.len, recv.len, self.size())?;
            send.check_apart(&recv).map(|()| (send, recv, dtype))
        })?;
        let (count, op) = (recv.len as u64, reduction.raw());
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            // SAFETY: what is sent has `count` elements for each rank; both sides are registered with the stream.
            unsafe {
                collective!(context, HcclReduceScatter(send.address, recv.address, count, dtype, op, comm, raw))
            }
        })
    }

    /// Gives each rank a part of what this one sends, and takes one of each: part `r` of what is sent goes to rank `r`,
    /// and what rank `r` sends here becomes part `r` of what is received.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; both have the same length, of as many parts as there are ranks, and share no
    /// memory.
    #[doc(alias = "HcclAlltoAll")]
    #[track_caller]
    pub fn all_to_all<T: Element>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
    ) -> Result<()> {
        let named = named("all_to_all");
        let (send, recv, dtype, each) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            let each = send.len / self.size() as usize;
            check_times("all_to_all", send.len, each, self.size())?;
            check_times("all_to_all", recv.len, each, self.size())?;
            send.check_apart(&recv).map(|()| (send, recv, dtype, each as u64))
        })?;
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            let (from, to) = (send.address.cast_const(), recv.address.cast_const());
            // SAFETY: both sides have `each` elements for each rank and are registered with the stream. The second
            // pointer is const in C alone: its memory is written, and registered for that.
            unsafe { collective!(context, HcclAlltoAll(from, each, dtype, to, each, dtype, comm, raw)) }
        })
    }

    /// Makes later work of `stream` wait until all ranks have come here.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// let stream = device.stream()?;
    /// ranks.barrier(&stream)?;
    /// stream.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclBarrier")]
    #[track_caller]
    pub fn barrier(&self, stream: &Stream) -> Result<()> {
        self.submit(stream, (named("barrier"), &[]), |context, comm, raw| {
            // SAFETY: live handles.
            unsafe { collective!(context, HcclBarrier(comm, raw)) }
        })
    }
}

pub(super) fn touches<'a>(send: &Part<'a>, recv: &Part<'a>) -> [Touch<'a>; 2] {
    [Touch::read(send.allocation), Touch::written(recv.allocation)]
}
