//! Messages from one rank to another, and batches of them.

use acl_sys::{HcclDataType, HcclSendRecvItem, HcclSendRecvType};

use super::all::{checked, part_of};
use super::buffer::Part;
use super::{Communicator, RecvBuffer, SendBuffer, named};
use crate::allocation::Touch;
use crate::call::collective;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// A message, of which memory and rank were looked at.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    part: Part<'a>,
    dtype: HcclDataType,
    rank: u32,
    sends: bool,
}

impl<'a> Message<'a> {
    pub(super) fn new<B: SendBuffer + ?Sized>(
        (of, stream): (&Communicator, &Stream),
        buffer: &'a B,
        rank: u32,
        sends: bool,
    ) -> Result<Self> {
        of.check_rank(rank, "rank")?;
        let (part, dtype) = part_of(stream, buffer)?;
        Ok(Self { part, dtype, rank, sends })
    }

    /// That it goes to another rank: alone, one to the own rank would wait for itself.
    pub(super) fn check_other(self, of: &Communicator) -> Result<Self> {
        if self.rank == of.rank() {
            let text = format!("a message of rank {} to itself, outside of a batch; copy the memory", self.rank);
            return Err(Error::invalid(text));
        }
        Ok(self)
    }

    pub(super) fn touch(&self) -> Touch<'a> {
        if self.sends { Touch::read(self.part.allocation) } else { Touch::written(self.part.allocation) }
    }

    /// That messages of one batch or group, which run side by side, do not use memory that another one of them writes.
    pub(super) fn check_beside(&self, others: &[Self]) -> Result<()> {
        let mut written = others.iter().filter(|other| !(self.sends && other.sends));
        written
            .try_for_each(|other| self.part.check_apart(&other.part))
            .map_err(|_| Error::invalid("two messages side by side share memory, which one of them writes"))
    }

    /// Queues it.
    pub(super) fn submit(
        &self,
        context: &crate::context::ContextInner,
        comm: acl_sys::HcclComm,
        raw: acl_sys::aclrtStream,
    ) -> Result<()> {
        let (address, count) = (self.part.address, self.part.len as u64);
        if self.sends {
            // SAFETY: the memory has `count` elements of the type on this device and is registered with the stream.
            return unsafe { collective!(context, HcclSend(address, count, self.dtype, self.rank, comm, raw)) };
        }
        // SAFETY: as above.
        unsafe { collective!(context, HcclRecv(address, count, self.dtype, self.rank, comm, raw)) }
    }

    fn item(&self) -> HcclSendRecvItem {
        let kind = if self.sends { HcclSendRecvType::HCCL_SEND } else { HcclSendRecvType::HCCL_RECV };
        HcclSendRecvItem {
            sendRecvType: kind,
            buf: self.part.address,
            count: self.part.len as u64,
            dataType: self.dtype,
            remoteRank: self.rank,
        }
    }
}

impl Communicator {
    /// Sends `buffer` to the rank `to`, which [receives](Self::receive) as many elements of the type. Returns when it is
    /// queued; the stream goes on once the other rank has taken it. Two ranks that both send first wait for each other:
    /// such messages go in a [batch](Self::batch).
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a rank that
    /// is not there, or is this one.
    #[doc(alias = "HcclSend")]
    #[track_caller]
    pub fn send(&self, stream: &Stream, buffer: &(impl SendBuffer + ?Sized), to: u32) -> Result<()> {
        let named = named("send");
        let message = checked(stream, named, || Message::new((self, stream), buffer, to, true)?.check_other(self))?;
        self.submit(stream, (named, &[message.touch()]), |context, comm, raw| message.submit(context, comm, raw))
    }

    /// Receives into `buffer` what the rank `from` [sends](Self::send).
    ///
    /// # Errors
    ///
    /// As [`Communicator::send`].
    #[doc(alias = "HcclRecv")]
    #[doc(alias = "recv")]
    #[track_caller]
    pub fn receive(&self, stream: &Stream, buffer: &mut (impl RecvBuffer + ?Sized), from: u32) -> Result<()> {
        let named = named("receive");
        let message =
            checked(stream, named, || Message::new((self, stream), &*buffer, from, false)?.check_other(self))?;
        self.submit(stream, (named, &[message.touch()]), |context, comm, raw| message.submit(context, comm, raw))
    }

    /// Messages that go side by side, in one call. One to the own rank needs its counterpart in the same batch.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::Result;
    /// use racl::collective::Communicator;
    ///
    /// /// Sends a part to the next rank of a ring, and takes one of the rank before.
    /// fn shift(ranks: &Communicator, stream: &racl::Stream, own: &racl::DeviceBuffer<f32>) -> Result<Vec<f32>> {
    ///     let (rank, size) = (ranks.rank(), ranks.size());
    ///     let mut taken = stream.context().alloc::<f32>(own.len())?;
    ///     let mut batch = ranks.batch(stream);
    ///     batch.send(own, (rank + 1) % size)?.receive(&mut taken, (rank + size - 1) % size)?;
    ///     batch.submit()?;
    ///     taken.to_vec()
    /// }
    /// # let _ = shift;
    /// ```
    #[doc(alias = "HcclBatchSendRecv")]
    pub fn batch<'a>(&'a self, stream: &'a Stream) -> Batch<'a> {
        Batch { of: self, stream, messages: Vec::new() }
    }
}

/// Messages between ranks that go side by side, from [`Communicator::batch`]: none waits for another. Dropped without
/// [`Batch::submit`] it does nothing.
#[must_use = "nothing is sent before `submit`"]
pub struct Batch<'a> {
    of: &'a Communicator,
    stream: &'a Stream,
    messages: Vec<Message<'a>>,
}

impl<'a> Batch<'a> {
    /// Adds a message to the rank `to`.
    ///
    /// # Errors
    ///
    /// As [`Communicator::send`]; the batch is as before then. Also for memory that another message receives into.
    #[track_caller]
    pub fn send(&mut self, buffer: &'a (impl SendBuffer + ?Sized), to: u32) -> Result<&mut Self> {
        let message = Message::new((self.of, self.stream), buffer, to, true);
        self.add(message)
    }

    /// Adds a message from the rank `from`.
    ///
    /// # Errors
    ///
    /// As [`Batch::send`].
    #[track_caller]
    pub fn receive(&mut self, buffer: &'a mut (impl RecvBuffer + ?Sized), from: u32) -> Result<&mut Self> {
        let message = Message::new((self.of, self.stream), &*buffer, from, false);
        self.add(message)
    }

    #[track_caller]
    fn add(&mut self, message: Result<Message<'a>>) -> Result<&mut Self> {
        let message = message.and_then(|message| message.check_beside(&self.messages).map(|()| message));
        let message = message.map_err(|error| self.stream.refuse(named("batch"), error))?;
        self.messages.push(message);
        Ok(self)
    }

    /// Queues the messages. The stream goes on once all of them have been taken and received.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a batch of
    /// nothing.
    #[track_caller]
    pub fn submit(self) -> Result<()> {
        let named = named("batch");
        let mut items: Vec<_> = self.messages.iter().map(Message::item).collect();
        let count = checked(self.stream, named, || match u32::try_from(items.len()) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(Error::invalid(format!("a batch of {} messages", items.len()))),
        })?;
        let uses: Vec<_> = self.messages.iter().map(Message::touch).collect();
        self.of.submit(self.stream, (named, &uses), |context, comm, raw| {
            // SAFETY: a list of `count` messages, whose memory is registered with the stream; it is read before the call
            // returns.
            unsafe { collective!(context, HcclBatchSendRecv(items.as_mut_ptr(), count, comm, raw)) }
        })
    }
}

impl std::fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("messages", &self.messages.len()).finish_non_exhaustive()
    }
}
