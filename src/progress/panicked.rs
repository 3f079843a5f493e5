//! Panics of host functions: in which submissions, and whether somebody was told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::failures::{Failures, meet};
use super::{Progress, Span};
use crate::error::{Error, ErrorKind, Result, Thrown};
use crate::lock::Lock;

/// What a function said when it panicked. Several may be asked for it: the streams whose work it may be, and its graph.
pub(crate) struct Panic {
    thrown: Thrown,
    told: AtomicBool,
    /// The streams behind it that were told, by their ids.
    inherited: Lock<Vec<u64>>,
}

/// How many there are that somebody may have to be told.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Whether no function panicked of which nobody was told.
#[inline]
pub(crate) fn no_panics() -> bool {
    OPEN.load(Ordering::Acquire) == 0
}

impl Drop for Panic {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Panic {
    pub(crate) fn new(thrown: Thrown) -> Arc<Self> {
        OPEN.fetch_add(1, Ordering::AcqRel);
        Arc::new(Self { thrown, told: AtomicBool::new(false), inherited: Lock::default() })
    }

    /// For work of the stream `id` that is behind it, once, unless who waited for its own stream was told.
    fn inherit(&self, id: u64) -> Option<Thrown> {
        if self.is_told() {
            return None;
        }
        let mut inherited = self.inherited.lock();
        if inherited.contains(&id) {
            return None;
        }
        inherited.push(id);
        Some(self.thrown.clone())
    }

    pub(crate) fn is_told(&self) -> bool {
        self.told.load(Ordering::Acquire)
    }

    /// For whoever asks first.
    pub(crate) fn take(&self) -> Option<Thrown> {
        (!self.told.swap(true, Ordering::AcqRel)).then(|| self.thrown.clone())
    }
}

/// Takes those that were told out of a list, for them to be dropped without its lock: causes of panics are the program's.
pub(crate) fn take_told<T>(all: &mut Vec<T>, panic: impl Fn(&T) -> &Panic) -> Vec<T> {
    let (told, kept) = std::mem::take(all).into_iter().partition(|of| panic(of).is_told());
    *all = kept;
    told
}

/// An error of panics; none where there are none.
pub(crate) fn told_panics(all: Vec<Thrown>) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let texts: Vec<_> = all.iter().map(Thrown::text).collect();
    let error = Error::new(ErrorKind::CallbackPanicked, texts.join("; "));
    Err(match all.into_iter().find_map(Thrown::into_cause) {
        Some(cause) => error.because_given(cause),
        None => error,
    })
}

/// Those of one stream that nobody was told here.
#[derive(Default)]
pub(super) struct Panicked {
    all: Lock<Vec<(Span, Arc<Panic>)>>,
    count: AtomicUsize,
    /// Up to which submission whoever asks is told again: those behind the panic did not fail by it.
    told: Failures,
}

impl Panicked {
    pub(super) fn were_told(&self, span: Span) -> bool {
        self.told.touch(span)
    }

    /// Whether nobody was told one that was in that submission or before it.
    pub(super) fn has_untold_up_to(&self, number: u64) -> bool {
        self.all.lock().iter().any(|(of, panic)| !panic.is_told() && of.0 < number)
    }

    fn add(&self, span: Span, panic: &Arc<Panic>) {
        let mut all = self.all.lock();
        let told = take_told(&mut all, |(_, panic)| panic);
        all.push((span, Arc::clone(panic)));
        self.count.store(all.len(), Ordering::Release);
        drop(all);
        drop(told);
    }

    /// Those of `span`, which are told up to the submission `last`: that is noted before they are gone.
    fn take(&self, span: Span, last: u64) -> Vec<Thrown> {
        let mut all = self.all.lock();
        let mut thrown = Vec::new();
        for (of, panic) in all.iter().filter(|(of, _)| meet(*of, span)) {
            self.told.note((of.0, last), ErrorKind::CallbackPanicked);
            thrown.extend(panic.take());
        }
        let told = take_told(&mut all, |(_, panic)| panic);
        self.count.store(all.len(), Ordering::Release);
        drop(all);
        drop(told);
        thrown
    }
}

impl Progress {
    /// A host function panicked in one of these submissions.
    pub(crate) fn note_panic(&self, span: Span, panic: &Arc<Panic>) {
        self.panicked.add(span, panic);
        self.note_failed(span, ErrorKind::CallbackPanicked);
    }

    /// Whether there may be panics that nobody was told.
    #[inline]
    pub(crate) fn has_panics(&self) -> bool {
        self.panicked.count.load(Ordering::Acquire) > 0
    }

    /// One of a submission that `covers`, for work of the stream `id`, which is behind that.
    pub(crate) fn inherited_panic(&self, id: u64, covers: impl Fn(u64) -> bool) -> Option<Thrown> {
        if !self.has_panics() {
            return None;
        }
        self.panicked.all.lock().iter().filter(|(of, _)| covers(of.0 + 1)).find_map(|(_, panic)| panic.inherit(id))
    }

    /// Whether nobody was told a panic which may be of `span`.
    pub(crate) fn has_untold_panic(&self, span: Span) -> bool {
        self.has_panics() && self.panicked.all.lock().iter().any(|(of, panic)| !panic.is_told() && meet(*of, span))
    }

    /// Tells those that may be of `span` and that nobody was told. Whoever asks for how work ended is told as well from
    /// now on, until there is more work.
    pub(crate) fn tell_panics(&self, span: Span) -> Result<()> {
        if !self.has_panics() {
            return Ok(());
        }
        told_panics(self.panicked.take(span, self.submitted()))
    }

    /// Somebody was told of a panic behind that submission.
    pub(crate) fn panic_was_told(&self, behind: u64) {
        self.panicked.told.note((behind, self.submitted()), ErrorKind::CallbackPanicked);
    }
}
