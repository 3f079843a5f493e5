//! Gates of updates that a failure on the device keeps shut.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventKind};
use crate::lock::{Lock, say};
use crate::progress::Beside;
use crate::retire::keepers::{self, Keeper};
use crate::stream::Stream;

use super::gate::Gates;

/// Opens the gates of one graph once the stream that should have done it has failed: the graph, and whoever waits for
/// it, would wait for ever. What the run computes then is not what the plan says, so the executable is of no use.
pub(super) struct Rescue {
    gates: Gates,
    count: usize,
    /// Where updates go.
    stream: Stream,
    failed: OnceLock<String>,
    /// What the update stream was given for each run but the latest, whose end nobody has seen: later work of that
    /// stream waits for the run, so it cannot be waited for as a whole.
    opened: Lock<VecDeque<Arc<Event>>>,
    /// That a gate could not be opened was said.
    told: AtomicBool,
    /// Something was submitted that nobody looked back at.
    due: AtomicBool,
    /// The stream of the latest run, by its id; 0 for none.
    helps: AtomicU64,
}

/// Runs ahead from which on those that are over are looked for.
const AHEAD: usize = 32;

impl Rescue {
    pub(super) fn new(gates: &Gates, count: usize, stream: &Stream) -> Arc<Self> {
        let (gates, stream) = (gates.clone(), stream.clone());
        let rescue = Arc::new(Self {
            gates,
            count,
            stream,
            failed: OnceLock::new(),
            opened: Lock::default(),
            told: AtomicBool::new(false),
            due: AtomicBool::new(false),
            helps: AtomicU64::new(0),
        });
        keepers::add(&rescue);
        rescue
    }

    /// Whoever waited for the updates was told that they failed, or that the wait did: then nobody will be told.
    pub(super) fn note(&self, error: &Error) {
        if error.is_of_work()
            && let Some(text) = of_updates(error.kind(), error)
        {
            let _ = self.failed.set(text);
        }
    }

    /// Before the update stream is given something that waits for the latest run.
    pub(super) fn mark(&self) -> Result<()> {
        let progress = self.stream.0.progress();
        if progress.has_completed(progress.submitted()) {
            return Ok(());
        }
        let event = Event::create_in(self.stream.0.context(), EventKind::Order)?;
        event.record(&self.stream)?;
        let early = {
            let mut opened = self.opened.lock();
            opened.push_back(Arc::new(event));
            (opened.len() >= AHEAD).then(|| Arc::clone(&opened[AHEAD / 2]))
        };
        match early.as_ref().and_then(|early| ended(early)) {
            Some(Ok(())) => self.forget(early.as_ref()),
            Some(Err(error)) => self.note(&error),
            None => {}
        }
        Ok(())
    }

    /// Forgets runs up to one whose updates are done.
    fn forget(&self, last: Option<&Arc<Event>>) {
        let mut opened = self.opened.lock();
        let known = opened.iter().position(|event| last.is_some_and(|last| Arc::ptr_eq(event, last)));
        let over: Vec<_> = known.map(|index| opened.drain(..=index).collect()).unwrap_or_default();
        drop(opened);
        drop(over);
    }

    /// What went wrong with the updates so far; those of the latest run, for which it may have to wait a moment, only
    /// with `of_all`.
    fn find_failure(&self, of_all: bool) -> Option<String> {
        // Others wait for that stream too, such as whoever reads memory that it used.
        if let Some(fault) = self.stream.0.fault() {
            return of_updates(ErrorKind::DeviceFault, &fault);
        }
        loop {
            let first = self.opened.lock().front().cloned();
            let Some(first) = first else {
                let (kind, text) = of_all.then(|| self.stream.0.find_failure())??;
                return of_updates(kind, &text);
            };
            if let Err(error) = ended(&first)? {
                let (kind, text) = self.stream.0.tell_later(error);
                return of_updates(kind, &text);
            }
            self.forget(Some(&first));
        }
    }

    /// A gate could not be opened behind the updates before it, which may never end: all are opened from the host.
    pub(super) fn give_up(&self, error: &Error) {
        let _ = self.failed.set(format!("the gate of an update could not be opened in order: {error}"));
        self.look();
    }

    pub(super) fn check(&self) -> Result<()> {
        let Some(text) = self.failed.get() else { return Ok(()) };
        Err(Error::new(ErrorKind::Aborted, format!("{text}; so the executable is of no use")))
    }
}

/// What an error of work of this kind, which whoever waited for updates was told, says of them.
fn of_updates(kind: ErrorKind, what: &(impl std::fmt::Display + ?Sized)) -> Option<String> {
    match kind {
        ErrorKind::CallbackPanicked => None,
        ErrorKind::DeviceFault | ErrorKind::DeviceLost | ErrorKind::Aborted => {
            Some(format!("an update of a graph failed on the device: {what}"))
        }
        _ => Some(format!("whether the updates of a graph succeeded is not known: {what}")),
    }
}

/// How the updates ended before this event; none when they have not, or when nobody can be asked now.
fn ended(event: &Event) -> Option<Result<()>> {
    let ended = match event.is_reached() {
        Ok(false) => return None,
        // It is reached, so this blocks nobody.
        Ok(true) => event.outlast().map(drop),
        Err(error) => Err(error),
    };
    ended.as_ref().map_or_else(|error| error.is_of_work(), |()| true).then_some(ended)
}

impl Rescue {
    /// After updates and signals were submitted for a run on `launched`: who waits for the run is told of them.
    pub(super) fn helped(self: &Arc<Self>, launched: &Stream) {
        self.due.store(true, Ordering::Release);
        let progress = launched.0.progress();
        if self.helps.swap(progress.id(), Ordering::AcqRel) != progress.id() {
            progress.add_helper(self);
        }
    }

    /// As [`Keeper::look`], of what is over.
    fn look_back(&self) {
        let over = self.stream.0.is_idle().unwrap_or_else(|error| {
            // A wait says more of it.
            say!(Warn, "asking whether the updates of a graph are done: {error:#}");
            true
        });
        self.look_at(|| self.find_failure(over));
    }

    fn look_at(&self, find: impl FnOnce() -> Option<String>) {
        if self.failed.get().is_none() {
            let Some(failure) = find() else { return };
            let _ = self.failed.set(failure);
        }
        let opened = (0..self.count).map(|gate| self.gates.open_from_host(gate, &self.stream));
        // Each of them is tried, at each look: it may be shut again by a run that comes to it.
        if let Some(Err(error)) = opened.reduce(Result::and)
            && !self.told.swap(true, Ordering::Relaxed)
        {
            say!(Warn, "a gate of a graph that waits for it could not be opened: {error}");
        }
    }
}

impl Keeper for Rescue {
    fn look(&self) {
        self.look_at(|| self.find_failure(true));
    }

    fn glance(&self) {
        self.look_back();
    }
}

impl Beside for Rescue {
    fn check(&self) -> Result<()> {
        if self.due.swap(false, Ordering::AcqRel) {
            self.look_back();
            let progress = self.stream.0.progress();
            if !progress.has_completed(progress.submitted()) {
                self.due.store(true, Ordering::Release);
            }
        }
        // A stream that was told forgets it, and may run it again.
        self.check().inspect_err(|_| self.helps.store(0, Ordering::Release))
    }
}
