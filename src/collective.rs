//! Many cards: communicators of ranks, each a card, and the operations that they do together.
//!
//! HCCL, the collective communication library of CANN, does the work. Its functions are looked for when the first
//! communicator is made: a program for one card runs without them.
//!
//! A [`RootInfo`] is made by one rank and sent to the others, by whatever the program has for that: each gives it to
//! [`Communicator::new`], which waits until all are there. A file that names the cards, a rank table, does it without
//! ([`Communicator::from_rank_table`]), and so does one thread for several cards ([`Communicator::all`]).
//!
//! Operations are methods of the [`Communicator`]. They are queued on a stream, as operators are, and run in its order;
//! every rank has to queue the same ones, with the same counts, types and reductions, in the same order. What does not
//! fit together is told by the mock, at the stream and by [`Communicator::async_error`]; a card hangs until its time
//! limit, or gives wrong numbers.
//!
//! In a capture they become part of the graph, and run with each launch; every rank launches as often. A plan has them
//! in closures: [`Launch::all_reduce`](crate::plan::Launch::all_reduce).
//!
//! # Examples
//!
//! ```standalone_crate
//! use racl::collective::{Communicator, Reduction, RootInfo};
//!
//! let device = racl::Acl::mock()?.device(0)?;
//! let root = RootInfo::new(&device)?; // on one rank, for all of them
//! let ranks = Communicator::new(&device, &root, 0, 1)?; // a rank alone, here
//! let stream = device.stream()?;
//! let mut sums = device.upload(&[1.0_f32, 2.0])?;
//! ranks.all_reduce_in_place(&stream, &mut sums, Reduction::Sum)?;
//! assert_eq!(sums.to_vec()?, [1.0, 2.0]);
//! # Ok::<(), racl::Error>(())
//! ```

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use acl_sys::{HcclComm, HcclResult, aclrtStream};

use crate::allocation::Touch;
use crate::call::{Caller as _, collective, collective_failure};
use crate::closure;
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Lock, Signal};
use crate::progress::Use;
use crate::stream::{InTurn, Named, Stream, StreamInner, Taken, Task};

mod all;
mod between;
mod buffer;
mod config;
mod create;
mod ending;
mod group;
mod ragged;
mod root;

pub use between::Batch;
pub use buffer::{RecvBuffer, Reducible, Reduction, SendBuffer};
pub use config::{CommunicatorOptions, Determinism, Expansion};
pub use group::Group;
pub use root::RootInfo;

/// A card's part in a group of ranks that work together.
///
/// Any thread may use it, one call at a time: a second one waits until the first has been queued. The guide says of its
/// creation that one thread of a card does that at a time, and of its end that it may come from any thread once no call
/// is being made (guide: HCCL, `HcclCommInitRootInfo`, `HcclCommDestroy`); of concurrent operations it says nothing, so
/// there are none. Operations of one communicator run one after the other, also on different streams: each waits on the
/// device for the one before. A launch of a graph with its operations is one of them; inside the graph the order is
/// that of the capture.
///
/// Dropping it never waits. Work that uses it, and graphs, have it until they are done; then it is destroyed, by a
/// thread of this crate where that takes longer, or where the library asks to be called again. What the others wait for
/// comes to no end with it: [`Communicator::abort`] ends that.
///
/// C calls: `HcclCommInitRootInfo` and its like, `HcclCommDestroy`, and one for each operation.
#[doc(alias = "HcclComm")]
pub struct Communicator(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    state: Lock<State>,
    /// Given when a call has come back.
    back: Signal,
    rank: u32,
    size: u32,
    name: String,
    /// The latest operation of each stream.
    uses: Lock<Vec<Use<StreamInner>>>,
    /// Who destroys it, where that is other code.
    owner: Option<Owner>,
    context: Arc<ContextInner>,
}

/// Keeps a communicator of other code.
type Owner = Box<dyn Any + Send + Sync>;

struct State {
    /// Null once it was destroyed.
    raw: HcclComm,
    /// A thread queues an operation, or destroys the communicator.
    busy: bool,
    /// Threads that ask it something.
    asking: usize,
    aborted: bool,
}

// SAFETY: the guide lets any thread of the process use a communicator (`HcclCommDestroy`: across threads, in an order
// that the program sees to); one call at a time has the handle, by `State::busy`.
unsafe impl Send for Inner {}
// SAFETY: as above; questions go beside an operation, as PyTorch's watchdog asks while others queue.
unsafe impl Sync for Inner {}

/// The right to a call with the handle.
struct Turn<'a> {
    of: &'a Inner,
    raw: HcclComm,
    alone: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.of.state.lock();
            if self.alone {
                state.busy = false;
            } else {
                state.asking -= 1;
            }
        }
        self.of.back.notify_all();
    }
}

impl Communicator {
    /// The number of this rank, from 0 on.
    #[doc(alias = "HcclGetRankId")]
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.0.rank
    }

    /// The number of ranks.
    #[doc(alias = "HcclGetRankSize")]
    #[must_use]
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// The name that the library gave it, or that of its [options](CommunicatorOptions::name). Operators that
    /// communicate, such as `aclnnMatmulAllReduce`, take it.
    #[doc(alias = "HcclGetCommName")]
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The context that the rank's card is used by.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(&self.0.context)
    }

    /// The raw handle, null once it was [aborted](Self::abort). Valid as long as this value, while nobody aborts it;
    /// one call at a time may use it.
    #[must_use]
    pub fn as_raw(&self) -> HcclComm {
        self.0.state.lock().raw
    }

    /// What broke the communicator while its operations ran, if anything did: another rank went away, did not come in
    /// time, or does something else. Asks the library and does not block, also while another thread queues work. One
    /// that broke stays broken.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Aborted`] once it was aborted.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
    /// assert!(ranks.async_error()?.is_none());
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclGetCommAsyncError")]
    pub fn async_error(&self) -> Result<Option<Error>> {
        let turn = self.0.ask()?;
        let mut found = HcclResult::HCCL_SUCCESS;
        let context = &*self.0.context;
        // SAFETY: a live handle, which stays while it is asked, and a place for one code.
        unsafe { collective!(context, HcclGetCommAsyncError(turn.raw, &raw mut found)) }?;
        let broken = found != HcclResult::HCCL_SUCCESS;
        let failure = || collective_failure(context.table(), "HcclGetCommAsyncError", found);
        Ok(broken.then(|| context.explain(failure(), || None)))
    }

    pub(super) fn submit(
        &self,
        stream: &Stream,
        (named, uses): (Named, &[Touch<'_>]),
        call: impl FnOnce(&ContextInner, HcclComm, aclrtStream) -> Result<()>,
    ) -> Result<()> {
        let refused = |error| stream.refuse(named, error);
        self.0.check_stream(stream).map_err(refused)?;
        let turn = self.0.begin().map_err(refused)?;
        stream.0.order(uses)?;
        self.0.follow(stream).map_err(refused)?;
        let task = Task { label: named.0, location: named.1, uses, scratch: None };
        let inner = &stream.0;
        let state = inner.lock();
        if let Some(capture) = &state.capture {
            // Before the call, so that it outlives every replay whatever happens in between.
            capture.keep_in_turn(Arc::clone(&self.0) as Arc<dyn InTurn>);
            return inner.submit_locked(&state, &task, |raw| call(inner.context(), turn.raw, raw)).map(drop);
        }
        let mut failed = None;
        let number = inner.submit_locked(&state, &task, |raw| {
            // Some of its tasks may be queued although it failed: memory and communicator count as used.
            failed = call(inner.context(), turn.raw, raw).err();
            Ok(())
        })?;
        drop(state);
        self.0.used_by(inner, number);
        failed.map_or(Ok(()), Err)
    }
}

impl Inner {
    /// That work of `stream` can use it, and that this thread may queue any.
    fn check_stream(&self, stream: &Stream) -> Result<()> {
        if closure::is_running() {
            let text = "a host function queues work of a communicator, which a thread that has it may wait for";
            return Err(Error::new(ErrorKind::NotSupported, text));
        }
        if stream.0.lock().only_keeps {
            let text = "an update of a graph replaces kernels and operators, and no operations of communicators";
            return Err(Error::new(ErrorKind::NotSupported, text));
        }
        stream.0.context().check_memory(&self.context, || "a communicator".to_owned())
    }

    /// Waits until no other thread queues an operation.
    fn begin(&self) -> Result<Turn<'_>> {
        let mut state = self.back.wait_while(self.state.lock(), |state| state.busy && !state.aborted);
        state.check()?;
        state.busy = true;
        Ok(Turn { of: self, raw: state.raw, alone: true })
    }

    /// Beside operations that are queued.
    fn ask(&self) -> Result<Turn<'_>> {
        let mut state = self.state.lock();
        state.check()?;
        state.asking += 1;
        Ok(Turn { of: self, raw: state.raw, alone: false })
    }

    /// Makes a stream wait for the operations on others.
    fn follow(&self, stream: &Stream) -> Result<()> {
        if stream.is_capturing() {
            return Ok(());
        }
        let others: Vec<_> =
            self.uses.lock().iter().filter(|last| !last.is_of(&*stream.0)).map(Use::of_any).collect();
        for last in others {
            if !stream.0.follow_always(&last)? {
                let text = "the communicator's operation before, on another stream, waits at a gate of a plan";
                return Err(Error::new(ErrorKind::NotSupported, text));
            }
        }
        Ok(())
    }

    fn used_by(&self, stream: &Arc<StreamInner>, number: u64) {
        let mut uses = self.uses.lock();
        match uses.iter_mut().find(|known| known.is_of(&**stream)) {
            Some(known) => known.renew(number),
            None => {
                uses.retain(|known| !known.is_done());
                uses.push(Use::of(stream, number));
            }
        }
    }
}

impl InTurn for Inner {
    fn begin<'a>(&'a self, stream: &Stream) -> Result<Box<dyn Taken + 'a>> {
        if closure::is_running() {
            let text =
                "a host function launches a graph with communicators, which a thread that has them may wait for";
            return Err(closure::refusal(text));
        }
        let turn = Self::begin(self)?;
        self.follow(stream)?;
        Ok(Box::new(turn))
    }
}

impl Taken for Turn<'_> {
    fn used(&self, stream: &Arc<StreamInner>, number: u64) {
        self.of.used_by(stream, number);
    }
}

impl State {
    fn check(&self) -> Result<()> {
        if self.aborted || self.raw.is_null() {
            return Err(Error::new(ErrorKind::Aborted, "the communicator was aborted"));
        }
        Ok(())
    }
}

/// What errors and captures call an operation.
#[track_caller]
fn named(what: &'static str) -> Named {
    (what, Location::caller())
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { name, rank, size, .. } = &*self.0;
        f.debug_struct("Communicator")
            .field("name", name)
            .field("rank", rank)
            .field("size", size)
            .finish_non_exhaustive()
    }
}
