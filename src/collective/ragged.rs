//! Operations of all ranks, where each may have another length.

use std::ops::Range;

use super::all::{checked, part_of, touches};
use super::buffer::Ranges;
use super::{Communicator, RecvBuffer, Reducible, Reduction, SendBuffer, named};
use crate::call::collective;
use crate::error::{Error, Result};
use crate::op::Element;
use crate::stream::Stream;

impl Communicator {
    /// As [`Communicator::all_gather`], where rank `r` sends as many elements as `ranges[r]` has, and they go to that
    /// place of what is received. All ranks give the same lengths.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_gather`];
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for ranges that lie outside or overlap, another
    /// number of ranges than of ranks, and when this rank does not send what its own range has.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// let (part, mut all) = (device.upload(&[1_u8, 2])?, device.upload(&[0_u8; 4])?);
    /// ranks.all_gather_v(&device.stream()?, &part, &mut all, &[1..3])?;
    /// assert_eq!(all.to_vec()?, [0, 1, 2, 0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclAllGatherV")]
    #[track_caller]
    pub fn all_gather_v<T: Element>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
        ranges: &[Range<usize>],
    ) -> Result<()> {
        let named = named("all_gather_v");
        let (send, recv, dtype, to) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            let to = Ranges::apart("all_gather_v", ranges, recv.len, self.size())?;
            self.check_own("all_gather_v", &to, send.len)?;
            send.check_apart(&recv).map(|()| (send, recv, dtype, to))
        })?;
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            let (counts, places) = (to.counts.as_ptr().cast(), to.places.as_ptr().cast());
            let count = send.len as u64;
            // SAFETY: both lists have a number for each rank, whose parts lie inside what is received; both sides are
            // registered with the stream. The lists are read before the call returns, as PyTorch's adapter relies on.
            unsafe {
                collective!(
                    context,
                    HcclAllGatherV(send.address, count, recv.address, counts, places, dtype, comm, raw)
                )
            }
        })
    }

    /// As [`Communicator::reduce_scatter`], where `ranges[r]` of what is sent is the part of rank `r`. All ranks give the
    /// same lengths.
    ///
    /// # Errors
    ///
    /// As [`Communicator::reduce_scatter`];
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for ranges that lie outside, another number of
    /// ranges than of ranks, and when this rank does not receive what its own range has.
    #[doc(alias = "HcclReduceScatterV")]
    #[track_caller]
    pub fn reduce_scatter_v<T: Reducible>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
        ranges: &[Range<usize>],
        reduction: Reduction,
    ) -> Result<()> {
        let named = named("reduce_scatter_v");
        let (send, recv, dtype, from) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            let from = Ranges::new("reduce_scatter_v", ranges, send.len, self.size())?;
            self.check_own("reduce_scatter_v", &from, recv.len)?;
            send.check_apart(&recv).map(|()| (send, recv, dtype, from))
        })?;
        let (count, op) = (recv.len as u64, reduction.raw());
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            let (counts, places) = (from.counts.as_ptr().cast(), from.places.as_ptr().cast());
            // SAFETY: as for `all_gather_v`, with the parts in what is sent.
            unsafe {
                collective!(
                    context,
                    HcclReduceScatterV(send.address, counts, places, recv.address, count, dtype, op, comm, raw)
                )
            }
        })
    }

    /// As [`Communicator::all_to_all`], with parts of any length: `sent[r]` of what is sent goes to rank `r`, and what
    /// rank `r` sends here goes to `received[r]` of what is received. What one rank sends to another and what that one
    /// receives have the same length.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_gather_v`].
    #[doc(alias = "HcclAlltoAllV")]
    #[track_caller]
    pub fn all_to_all_v<T: Element>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        sent: &[Range<usize>],
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
        received: &[Range<usize>],
    ) -> Result<()> {
        let named = named("all_to_all_v");
        let (send, recv, dtype, from, to) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            let from = Ranges::new("all_to_all_v, sent", sent, send.len, self.size())?;
            let to = Ranges::apart("all_to_all_v, received", received, recv.len, self.size())?;
            send.check_apart(&recv).map(|()| (send, recv, dtype, from, to))
        })?;
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            let (counts, places) = (from.counts.as_ptr().cast(), from.places.as_ptr().cast());
            let (room, rooms) = (to.counts.as_ptr().cast(), to.places.as_ptr().cast());
            let (a, b) = (send.address.cast_const(), recv.address.cast_const());
            // SAFETY: as for `all_gather_v`, with parts on both sides. The second buffer is const in C alone.
            unsafe { collective!(context, HcclAlltoAllV(a, counts, places, dtype, b, room, rooms, dtype, comm, raw)) }
        })
    }

    /// As [`Communicator::all_to_all_v`], with the lengths of all ranks: `counts[i * size + j]` is how much rank `i` sends
    /// to rank `j`, and the parts lie one behind the other on both sides. All ranks give the same numbers.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_to_all_v`]; also for another number of counts, and buffers that are shorter than these say.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// let (send, mut recv) = (device.upload(&[1_i16, 2, 3])?, device.alloc(3)?);
    /// ranks.all_to_all_vc(&device.stream()?, &send, &mut recv, &[3])?;
    /// assert_eq!(recv.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclAlltoAllVC")]
    #[track_caller]
    pub fn all_to_all_vc<T: Element>(
        &self,
        stream: &Stream,
        send: &(impl SendBuffer<Element = T> + ?Sized),
        recv: &mut (impl RecvBuffer<Element = T> + ?Sized),
        counts: &[usize],
    ) -> Result<()> {
        let named = named("all_to_all_vc");
        let (send, recv, dtype) = checked(stream, named, || {
            let ((send, dtype), (recv, _)) = (part_of(stream, send)?, part_of(stream, recv)?);
            self.check_matrix(counts, send.len, recv.len)?;
            send.check_apart(&recv).map(|()| (send, recv, dtype))
        })?;
        let counts: Vec<_> = counts.iter().map(|count| *count as u64).collect();
        self.submit(stream, (named, &touches(&send, &recv)), |context, comm, raw| {
            let (from, to) = (send.address.cast_const(), recv.address.cast_const());
            let matrix = counts.as_ptr().cast();
            // SAFETY: the matrix has a number for each pair of ranks, and both sides have room for this rank's parts;
            // otherwise as for `all_to_all_v`.
            unsafe { collective!(context, HcclAlltoAllVC(from, matrix, dtype, to, dtype, comm, raw)) }
        })
    }

    fn check_own(&self, what: &str, ranges: &Ranges, len: usize) -> Result<()> {
        let own = ranges.counts[self.rank() as usize];
        if own == len as u64 {
            return Ok(());
        }
        Err(Error::invalid(format!("{what}: {len} elements, where the range of rank {} has {own}", self.rank())))
    }

    fn check_matrix(&self, counts: &[usize], sent: usize, received: usize) -> Result<()> {
        let (size, rank) = (self.size() as usize, self.rank() as usize);
        if counts.len() != size * size {
            return Err(Error::invalid(format!("all_to_all_vc: {} counts for {size} ranks", counts.len())));
        }
        let add = |sum: usize, count: &usize| sum.checked_add(*count);
        let row = counts[rank * size..][..size].iter().try_fold(0, add);
        let column = counts.iter().skip(rank).step_by(size).try_fold(0, add);
        let fits = |sum: Option<usize>, len| sum.is_some_and(|sum| sum <= len);
        if fits(row, sent) && fits(column, received) {
            return Ok(());
        }
        let text = "all_to_all_vc: the counts say more than the buffers have";
        Err(Error::invalid(format!("{text}: {sent} elements to send, {received} to receive")))
    }
}
