//! Messages of several communicators and streams that go side by side.

use std::fmt;
use std::sync::Arc;

use super::all::checked;
use super::between::Message;
use super::{Communicator, RecvBuffer, SendBuffer, Turn, named};
use crate::allocation::{Touch, not_free_standing};
use crate::call::{Caller as _, collective, forget_binding, no_collective};
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Guard;
use crate::sort;
use crate::stream::{CaptureState, InTurn, Named, State, Stream, Task};

/// Messages between ranks of several communicators, on several streams, that go side by side: none waits for another.
/// For one communicator and stream, [`Communicator::batch`] is one call. Dropped without [`Group::submit`] it does
/// nothing.
///
/// C calls: `HcclGroupStart`, `HcclSend`, `HcclRecv`, `HcclGroupEnd`.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::Result;
/// use racl::collective::{Communicator, Group};
///
/// /// Takes what both neighbours have, over communicators of their own.
/// fn halo(
///     (left, right): (&Communicator, &Communicator),
///     stream: &racl::Stream,
///     own: &racl::DeviceBuffer<f32>,
///     [from_left, from_right]: [&mut racl::DeviceBuffer<f32>; 2],
/// ) -> Result<()> {
///     let (to_left, to_right) = (1 - left.rank(), 1 - right.rank());
///     let mut group = Group::new();
///     group.send(left, stream, own, to_left)?.receive(left, stream, from_left, to_left)?;
///     group.send(right, stream, own, to_right)?.receive(right, stream, from_right, to_right)?;
///     group.submit()
/// }
/// # let _ = halo;
/// ```
#[doc(alias = "HcclGroupStart")]
#[doc(alias = "HcclGroupEnd")]
#[derive(Default)]
#[must_use = "nothing is sent before `submit`"]
pub struct Group<'a> {
    messages: Vec<Grouped<'a>>,
}

#[derive(Clone, Copy)]
struct Grouped<'a> {
    of: &'a Communicator,
    stream: &'a Stream,
    message: Message<'a>,
}

/// The streams of a group by their keys, each with its lock.
type Locked<'a> = [(usize, Guard<'a, State>)];

impl<'a> Group<'a> {
    /// One without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message to the rank `to` of `of`, on `stream`.
    ///
    /// # Errors
    ///
    /// As [`Communicator::send`]; the group is as before then. Also for memory that another message receives into.
    #[track_caller]
    pub fn send(
        &mut self,
        of: &'a Communicator,
        stream: &'a Stream,
        buffer: &'a (impl SendBuffer + ?Sized),
        to: u32,
    ) -> Result<&mut Self> {
        let message = Message::new((of, stream), buffer, to, true);
        self.add(of, stream, message, named("group"))
    }

    /// Adds a message from the rank `from` of `of`, on `stream`.
    ///
    /// # Errors
    ///
    /// As [`Group::send`].
    #[track_caller]
    pub fn receive(
        &mut self,
        of: &'a Communicator,
        stream: &'a Stream,
        buffer: &'a mut (impl RecvBuffer + ?Sized),
        from: u32,
    ) -> Result<&mut Self> {
        let message = Message::new((of, stream), &*buffer, from, false);
        self.add(of, stream, message, named("group"))
    }

    fn add(
        &mut self,
        of: &'a Communicator,
        stream: &'a Stream,
        message: Result<Message<'a>>,
        named: Named,
    ) -> Result<&mut Self> {
        let message = checked(stream, named, || {
            let message = message?.check_other(of)?;
            of.0.check_stream(stream)?;
            let others: Vec<_> = self.messages.iter().map(|other| other.message).collect();
            message.check_beside(&others).map(|()| message)
        })?;
        self.messages.push(Grouped { of, stream, message });
        Ok(self)
    }

    /// Queues the messages, each on its stream, as the library groups them. In a capture they become part of the graph,
    /// which all of the streams record then.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; [`ErrorKind::InvalidArgument`] for a group of nothing, and of several
    /// libraries; [`ErrorKind::CaptureForbidden`] while one of the streams records a graph that another does not; the
    /// graph is lost then. [`ErrorKind::MissingSymbol`] on a libhccl without groups.
    #[track_caller]
    pub fn submit(self) -> Result<()> {
        let named = named("group");
        let Some(first) = self.messages.first() else { return Err(Error::invalid("a group of no messages")) };
        let context = &*first.of.0.context;
        let refused = |error| self.messages.iter().fold(error, |error, each| each.stream.refuse(named, error));
        for each in &self.messages {
            context.check_library(&each.of.0.context, "a communicator").map_err(refused)?;
        }
        self.messages.iter().try_for_each(|each| each.stream.0.check_thread())?;
        let turns = self.turns().map_err(refused)?;
        self.order().map_err(refused)?;
        let mut streams: Vec<_> = self.messages.iter().map(|each| each.stream).collect();
        sort::by_key(&mut streams, |stream| stream.0.key());
        streams.dedup();
        // Held to the end of the group: what others submit meanwhile would be in front of it, and numbered behind.
        let states: Vec<_> = streams.iter().map(|stream| (stream.0.key(), stream.0.lock())).collect();
        let captures: Vec<_> = states.iter().map(|(_, state)| state.capture.clone()).collect();
        let same = |capture: &Option<Arc<CaptureState>>| match (capture, &captures[0]) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        if !captures.iter().all(same) {
            let index = captures.iter().position(Option::is_some).unwrap_or_default();
            drop(states);
            let text = format!("{} records a graph, and another stream of the group does not", streams[index].name());
            let error = Error::new(ErrorKind::CaptureForbidden, text);
            return Err(captures.iter().flatten().fold(error, |error, capture| capture.lacks(named, error)));
        }
        if states.iter().any(|(_, state)| state.only_keeps) {
            let text = "a group on a stream of a graph that is complete or was given up, or that only updates one";
            return Err(Error::new(ErrorKind::NotSupported, text));
        }
        let Some(capture) = &captures[0] else { return self.run(context, (&turns, &states), named) };
        // What the capture does not take must not reach the library: nobody would keep it.
        capture.check_open()?;
        for each in &self.messages {
            let takes = capture.check_takes(&each.stream.0, &[each.message.touch()]);
            takes.map_err(|error| capture.lacks(named, error))?;
        }
        // Before the call, so that they outlive every replay whatever happens in between.
        self.messages.iter().for_each(|each| capture.keep_in_turn(Arc::clone(&each.of.0) as Arc<dyn InTurn>));
        self.run(context, (&turns, &states), named).map_err(|error| capture.lacks(named, error))
    }

    /// Makes the calls, with the locks of all streams.
    fn run(&self, context: &ContextInner, with: (&[Turn<'_>], &Locked<'_>), named: Named) -> Result<()> {
        let table = context.table();
        // A group that was begun and cannot be ended would hold every later call of the thread.
        table.HcclGroupEnd().map_err(|missing| no_collective(table, missing))?;
        for each in &self.messages {
            if with.1[0].1.capture.is_none() && each.message.touch().memory.is_of_capture() {
                return Err(not_free_standing());
            }
        }
        // SAFETY: takes nothing; the group of this thread is ended below, whatever comes.
        unsafe { collective!(context, HcclGroupStart()) }?;
        let queued = self.queue(with.0);
        // Of no context: nothing may keep it from being called.
        // SAFETY: as above.
        let ended = unsafe { collective!(table, HcclGroupEnd()) };
        // It visits the cards of the group.
        forget_binding();
        // The library queues only now. What it queued although something failed is not known: all counts as used.
        let noted = self.messages.iter().map(|each| each.note(with.1, named)).collect::<Vec<_>>();
        queued.and(ended).and(noted.into_iter().collect())
    }

    /// One for each communicator, in an order that is the same for all threads.
    fn turns(&self) -> Result<Vec<Turn<'a>>> {
        let mut communicators: Vec<_> = self.messages.iter().map(|each| each.of).collect();
        let address = |of: &&'a Communicator| Arc::as_ptr(&of.0).addr();
        sort::by_key(&mut communicators, address);
        communicators.dedup_by_key(|of| address(of));
        communicators.into_iter().map(|of| of.0.begin()).collect()
    }

    fn order(&self) -> Result<()> {
        for each in &self.messages {
            each.stream.0.order(&[each.message.touch()])?;
            each.of.0.follow(each.stream)?;
        }
        Ok(())
    }

    fn queue(&self, turns: &[Turn<'_>]) -> Result<()> {
        for each in &self.messages {
            let Some(turn) = turns.iter().find(|turn| std::ptr::eq(turn.of, &raw const *each.of.0)) else {
                return Err(Error::new(ErrorKind::Internal, "a group without a turn"));
            };
            let stream = &each.stream.0;
            each.message.submit(stream.context(), turn.raw, stream.raw())?;
        }
        Ok(())
    }
}

impl Grouped<'_> {
    /// Takes its number, now that the library has it, for memory and communicator.
    fn note(&self, states: &Locked<'_>, named: Named) -> Result<()> {
        let stream = &self.stream.0;
        let Some((_, state)) = states.iter().find(|(key, _)| *key == stream.key()) else {
            return Err(Error::new(ErrorKind::Internal, "a group without a stream"));
        };
        let touch: [Touch<'_>; 1] = [self.message.touch()];
        let task = Task { label: named.0, location: named.1, uses: &touch, scratch: None };
        let number = stream.submit_locked(state, &task, |_| Ok(()))?;
        if state.capture.is_none() {
            self.of.0.used_by(stream, number);
        }
        Ok(())
    }
}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("messages", &self.messages.len()).finish_non_exhaustive()
    }
}
