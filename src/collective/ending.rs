//! How communicators end: by their last owner, or before their time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use acl_sys::{HcclComm, HcclResult};

use super::{Communicator, Inner, State, Turn};
use crate::call::collective;
use crate::closure;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::lock::{Lock, Signal, caught, say};
use crate::progress::Use;
use crate::retire;
use crate::stream::Stream;

impl Communicator {
    /// Destroys the communicator now.
    ///
    /// # Errors
    ///
    /// The communicator and why: [`ErrorKind::InvalidArgument`] while work that is not done or a graph uses it;
    /// otherwise what the library says.
    #[doc(alias = "HcclCommDestroy")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        let used = self.0.is_used();
        let refused = |inner, text: &str| Err(Refused::new(Self(inner), Error::invalid(text)));
        match Arc::try_unwrap(self.0) {
            Ok(inner) if used => refused(Arc::new(inner), "work that is not done uses the communicator"),
            Ok(inner) => match inner.destroy_now() {
                Ok(()) => Ok(()),
                Err(error) => Err(Refused::new(Self(Arc::new(inner)), error)),
            },
            Err(shared) => refused(shared, "a graph uses the communicator"),
        }
    }

    /// The handle, which is not destroyed then.
    pub(crate) fn give_away(self) -> Result<HcclComm, Refused<Self>> {
        let refused = |inner, error| Err(Refused::new(Self(inner), error));
        let used = self.0.is_used();
        match Arc::try_unwrap(self.0) {
            Err(shared) => refused(shared, Error::invalid("a graph uses the communicator")),
            Ok(inner) if used => {
                let text = "work that is not done uses the communicator";
                refused(Arc::new(inner), Error::invalid(text))
            }
            Ok(inner) if inner.owner.is_some() => {
                let text = "a communicator that stays with other code";
                refused(Arc::new(inner), Error::new(ErrorKind::NotSupported, text))
            }
            Ok(mut inner) => {
                let state = inner.state.get_mut();
                match state.check() {
                    Ok(()) => Ok(std::mem::replace(&mut state.raw, std::ptr::null_mut())),
                    Err(error) => refused(Arc::new(inner), error),
                }
            }
        }
    }

    /// Ends what the communicator does, so that no rank that hangs or went away holds this one up: drops the work of
    /// the streams with operations of it that are not done, and with launches of graphs that have some, as
    /// [`Stream::abort`] does, **all** of it, and destroys the communicator. Operations are refused afterwards. Where
    /// another thread makes a call with it, that is waited for, at most as long as a drop waits
    /// ([`set_drop_limit`](crate::set_drop_limit)): the first operation makes links to the other ranks, and blocks. An
    /// operation that it queues then may fail on the device, where the communicator is broken already; its stream tells.
    ///
    /// Other ranks are not told by themselves: those of the mock find that this one went away, cards wait until their
    /// time limit; abort there as well. While there is a graph that uses it, which is launched no more, the
    /// communicator is kept, and destroyed with the last one.
    ///
    /// # Errors
    ///
    /// The first thing that did not end; the rest was tried: [`ErrorKind::CaptureForbidden`] while one of the streams
    /// records a graph; [`ErrorKind::Timeout`] when a call of another thread does not come back, or the library still
    /// uses the communicator; [`ErrorKind::NotSupported`] in a host function; otherwise as [`Stream::abort`]. After any
    /// but that of a host function it is aborted all the same, and kept while work uses it: another call tries again to
    /// destroy it, and so does its drop.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::ErrorKind;
    /// use racl::collective::Communicator;
    ///
    /// # // SAFETY: nothing else runs yet.
    /// # unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") };
    /// let acl = racl::Acl::mock()?; // with two devices here
    /// let (zero, one) = (acl.device(0)?, acl.device(1)?);
    /// let ranks = Communicator::all(&[&zero, &one])?;
    /// let stream = zero.stream()?;
    /// ranks[0].barrier(&stream)?; // rank 1 never comes
    /// assert!(!stream.is_complete()?);
    /// ranks[0].abort()?;
    /// stream.synchronize()?;
    /// assert_eq!(ranks[0].barrier(&stream).unwrap_err().kind(), ErrorKind::Aborted);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclCommDestroy")]
    #[doc(alias = "ncclCommAbort")]
    pub fn abort(&self) -> Result<()> {
        if closure::is_running() {
            return Err(Error::new(ErrorKind::NotSupported, "a communicator is aborted in a host function"));
        }
        self.0.state.lock().aborted = true;
        // Who waits for its turn looks at that.
        self.0.back.notify_all();
        let ended = self.0.abort_streams();
        ended.and(self.0.destroy_aborted(|| Arc::strong_count(&self.0) > 1))
    }
}

impl Inner {
    fn is_used(&self) -> bool {
        // A copy, so that no lock is held while streams are asked.
        let uses = self.uses.lock().clone();
        uses.iter().for_each(Use::poll);
        // Of what is lost nobody will ever know more.
        uses.iter().any(|last| !last.is_done() && !last.is_lost())
    }

    /// Tells whose work uses it longer than a drop waits.
    fn tell_late(&self) {
        let uses: Vec<_> = self.uses.lock().iter().map(Use::of_any).collect();
        let what = format!("the communicator {:?} of rank {}", self.name, self.rank);
        let error = retire::late(&format!("work that uses {what}, of {},", Use::describe_open(&uses)));
        self.context.record_drop_error(&format!("destroying {what}"), error);
    }

    /// Ends the work of the streams with operations that are not done; those that ended are uses no longer. The first
    /// failure, after the others were tried.
    fn abort_streams(&self) -> Result<()> {
        let running = self.uses.lock().clone();
        let mut first = Ok(());
        for last in running {
            last.poll();
            let _pass = last.pass();
            let ended = match last.running(Duration::ZERO) {
                Ok(Some((stream, _))) => Stream(stream).abort(),
                Ok(None) => Ok(()),
                Err(error) if error.kind() == ErrorKind::DeviceLost => Ok(()),
                Err(error) => Err(error),
            };
            if ended.is_ok() {
                let key = last.stream_key();
                self.uses.lock().retain(|known| known.stream_key() != key || known.number() > last.number());
            }
            first = first.and(ended);
        }
        first
    }

    /// Destroys the handle of an aborted communicator once no thread makes a call with it, unless a graph needs it, or
    /// work that could not be ended.
    fn destroy_aborted(&self, is_kept: impl FnOnce() -> bool) -> Result<()> {
        let until = retire::deadline();
        let mut state = self.state.lock();
        while state.busy || state.asking > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let text = "a call of another thread with the communicator does not come back; abort it again";
                return Err(Error::new(ErrorKind::Timeout, text));
            }
            state = self.back.wait_timeout(state, left);
        }
        state.busy = true;
        let turn = Turn { of: self, raw: state.raw, alone: true };
        drop(state);
        // What another thread was queuing meanwhile; nobody can queue more.
        self.abort_streams()?;
        // A capture may have taken it until the turn began.
        if is_kept() || turn.raw.is_null() {
            return Ok(());
        }
        if self.is_used() {
            let text = "work that uses the communicator does not end; abort it again";
            return Err(Error::new(ErrorKind::Timeout, text));
        }
        self.destroy_handle(turn.raw, until)?;
        self.state.lock().raw = std::ptr::null_mut();
        Ok(())
    }

    /// Unless other code does.
    fn destroy_handle(&self, raw: HcclComm, until: Instant) -> Result<()> {
        if self.owner.is_some() { Ok(()) } else { destroy(&self.context, raw, until) }
    }

    /// It is code of others.
    fn end_owner(&mut self) {
        let Some(owner) = self.owner.take() else { return };
        if caught(|| drop(owner)).is_none() {
            say!(
                Error,
                "the owner of the communicator {:?} of rank {} panicked when it was dropped",
                self.name,
                self.rank
            );
        }
    }

    /// For the only owner.
    fn destroy_now(&self) -> Result<()> {
        let raw = std::mem::replace(&mut self.state.lock().raw, std::ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        self.destroy_handle(raw, retire::deadline()).inspect_err(|_| self.state.lock().raw = raw)
    }
}

/// Destroys a handle that no call has. While the library says that it is in use (guide: HCCL, `HcclCommDestroy`), it is
/// asked again.
fn destroy(context: &ContextInner, raw: HcclComm, until: Instant) -> Result<()> {
    let mut rest = retire::RESTS.start;
    loop {
        let done = destroy_once(context, raw);
        if !is_again(&done) {
            return with_log(context, done);
        }
        if Instant::now() >= until {
            let text = "the library still uses the communicator";
            return done.map_err(|error| Error::new(ErrorKind::Timeout, text).with_source(error));
        }
        retire::pause_for(rest);
        rest = (2 * rest).min(retire::RESTS.end);
    }
}

fn destroy_once(context: &ContextInner, raw: HcclComm) -> Result<()> {
    // SAFETY: a live handle, which nobody uses afterwards when this succeeds.
    unsafe { collective!(context, HcclCommDestroy(raw)) }
}

/// What failed may be work of the ranks, of which the library logs more.
fn with_log(context: &ContextInner, done: Result<()>) -> Result<()> {
    done.map_err(|error| context.explain(error, || None))
}

fn is_again(done: &Result<()>) -> bool {
    done.as_ref().is_err_and(|error| error.code() == Some(HcclResult::HCCL_E_AGAIN.0 as i32))
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let raw = std::mem::replace(&mut state.raw, std::ptr::null_mut());
        if raw.is_null() {
            return self.end_owner();
        }
        let heir = Self {
            state: Lock::new(State { raw, busy: false, asking: 0, aborted: state.aborted }),
            back: Signal::new(),
            rank: self.rank,
            size: self.size,
            name: std::mem::take(&mut self.name),
            uses: std::mem::take(&mut self.uses),
            owner: self.owner.take(),
            context: Arc::clone(&self.context),
        };
        // No calls are allowed in a host function.
        if closure::is_running() || heir.is_used() {
            return retire::on_thread(heir, |mut heir| {
                retire::outlast(|| heir.is_used(), || heir.tell_late());
                heir.end();
            });
        }
        let mut heir = heir;
        let done = if heir.owner.is_some() { Ok(()) } else { destroy_once(&heir.context, raw) };
        if is_again(&done) {
            return retire::on_thread(heir, |mut heir| heir.end());
        }
        heir.state.get_mut().raw = std::ptr::null_mut();
        heir.tell(with_log(&heir.context, done));
    }
}

impl Inner {
    /// Destroys an idle communicator; what fails is among the errors of drops, and nothing tries again.
    fn end(&mut self) {
        let raw = std::mem::replace(&mut self.state.get_mut().raw, std::ptr::null_mut());
        self.tell(self.destroy_handle(raw, retire::deadline()));
    }

    fn tell(&self, done: Result<()>) {
        if let Err(error) = done {
            let what = format!("destroying the communicator {:?} of rank {}", self.name, self.rank);
            self.context.record_drop_error(&what, error);
        }
    }
}
