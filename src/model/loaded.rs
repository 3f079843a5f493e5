//! A model that the library has loaded: unloaded once no run uses it.

use std::any::Any;
use std::sync::Arc;

use super::dataset::Lists;
use super::read::Desc;
use crate::call::call;
use crate::closure;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{Lock, Signal};
use crate::memory::DeviceBuffer;
use crate::progress::Use;
use crate::retire;
use crate::stream::StreamInner;

/// How many runs are kept note of before streams are asked which of them are done.
const ASK: usize = 32;

/// How often a model that could not be unloaded in a drop is tried again by later calls.
const TRIES: u32 = 3;

/// A loaded model, with what it needs as long as that.
pub(super) struct Loaded {
    /// None once it is unloaded.
    id: Option<u32>,
    // Dropped before what the model was made of.
    desc: Option<Desc>,
    runs: Lock<Vec<Run>>,
    /// Bytes of the file, and memory.
    keeps: Vec<Box<dyn Any + Send + Sync>>,
    /// Memory for weights that the program gave.
    weights: Option<DeviceBuffer<u8>>,
    /// How often it may be tried again to unload it once it is dropped.
    tries: u32,
    context: Arc<ContextInner>,
}

/// A run that may not be done.
struct Run {
    last: Use<StreamInner>,
    _given: Arc<Lists>,
}

impl Loaded {
    /// Takes over what was loaded.
    pub(super) fn own(id: u32, context: &Arc<ContextInner>) -> Self {
        let (desc, runs, keeps, weights) = (None, Lock::default(), Vec::new(), None);
        Self { id: Some(id), desc, runs, keeps, weights, tries: TRIES, context: Arc::clone(context) }
    }

    /// Keeps `other` until the model is unloaded.
    pub(super) fn keep(&mut self, other: Box<dyn Any + Send + Sync>) {
        self.keeps.push(other);
    }

    /// As [`keep`](Self::keep), of what [`undo`](Self::undo) gives back.
    pub(super) fn keep_weights(&mut self, weights: Option<DeviceBuffer<u8>>) {
        self.weights = weights;
    }

    /// Asks the library for the description, which the model has from here on.
    pub(super) fn describe(&mut self) -> Result<&Desc> {
        let desc = Desc::of_loaded(&self.context, self.id()?)?;
        Ok(self.desc.insert(desc))
    }

    pub(super) fn id(&self) -> Result<u32> {
        self.id.ok_or_else(gone)
    }

    pub(super) fn desc(&self) -> Result<&Desc> {
        self.desc.as_ref().ok_or_else(gone)
    }

    pub(super) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    /// Notes that the submission `number` of `stream` runs the model with what is given.
    pub(super) fn note(&self, stream: &Arc<StreamInner>, number: u64, given: Arc<Lists>) {
        let crowded = {
            let mut runs = self.runs.lock();
            runs.push(Run { last: Use::of(stream, number), _given: given });
            runs.len() >= ASK
        };
        if crowded {
            self.poll();
        }
        let done = self.take_done();
        // Destroyed without the lock.
        drop(done);
    }

    fn take_done(&self) -> Vec<Run> {
        let mut runs = self.runs.lock();
        let (done, open) = std::mem::take(&mut *runs).into_iter().partition(|run: &Run| run.last.is_done());
        *runs = open;
        done
    }

    /// A copy, so that no lock is held while streams are asked.
    fn uses(&self) -> Vec<Use> {
        self.runs.lock().iter().map(|run| run.last.of_any()).collect()
    }

    fn poll(&self) {
        self.uses().iter().for_each(Use::poll);
    }

    /// Of what is lost nobody will ever know more.
    fn is_used(&self) -> bool {
        self.poll();
        self.runs.lock().iter().any(|run| !run.last.is_done() && !run.last.is_lost())
    }

    /// Waits for all runs, and tells what went wrong with them.
    pub(super) fn wait(&self) -> Result<()> {
        self.uses().iter().try_for_each(|last| last.wait(None))
    }

    /// Unloads it; no run uses it, but for those that are lost, which refuse it.
    pub(super) fn end(&mut self) -> Result<()> {
        let Some(id) = self.id else { return Ok(()) };
        Use::check_lost(&self.uses(), "the model")?;
        self.runs = Lock::default();
        // SAFETY: the model is this value's own, and unloaded once.
        unsafe { call!(&*self.context, aclmdlUnload(id)) }?;
        self.id = None;
        self.desc = None;
        Ok(())
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::InvalidHandle, "the model is unloaded")
}

impl Loaded {
    /// The model, for who ends it later.
    fn take(&mut self) -> Self {
        Self {
            id: self.id.take(),
            desc: self.desc.take(),
            runs: std::mem::take(&mut self.runs),
            keeps: std::mem::take(&mut self.keeps),
            weights: self.weights.take(),
            tries: self.tries,
            context: Arc::clone(&self.context),
        }
    }

    /// Unloads what the program does not get, and gives it its weights back; false where the library has the model still.
    pub(super) fn undo(mut self, weights: &mut Option<DeviceBuffer<u8>>) -> bool {
        match self.end() {
            Ok(()) => *weights = self.weights.take(),
            Err(error) => {
                self.put_off(error);
                return false;
            }
        }
        true
    }

    /// Leaves it, which could not be unloaded, to a later try, if there is one.
    fn put_off(&mut self, error: Error) {
        let lost = error.kind() == ErrorKind::DeviceLost;
        self.context.record_drop_error("unloading a model", error);
        let mut heir = self.take();
        if heir.tries > 0 && !lost {
            heir.tries -= 1;
            return retire::later(heir, drop);
        }
        heir.id = None;
        // The device may use it still.
        std::mem::forget((std::mem::take(&mut heir.keeps), std::mem::take(&mut heir.runs), heir.weights.take()));
    }

    /// Tells whose runs last longer than a drop waits.
    fn tell_late(&self) {
        let error = retire::late(&format!("a run of {}", Use::describe_open(&self.uses())));
        self.context.record_drop_error("unloading a model", error);
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.id.is_none() {
            return;
        }
        // No calls are allowed in a host function.
        if closure::is_running() || self.is_used() {
            let heir = self.take();
            return retire::on_thread(heir, |heir| retire::outlast(|| heir.is_used(), || heir.tell_late()));
        }
        let Err(error) = self.end() else { return };
        self.put_off(error);
    }
}

/// Whose turn it is to run a model: one thread's at a time.
#[derive(Default)]
pub(super) struct Turns {
    taken: Lock<bool>,
    given: Signal,
}

impl Turns {
    /// Waits for it. No lock is held until it ends.
    pub(super) fn take(&self) -> Turn<'_> {
        let mut taken = self.given.wait_while(self.taken.lock(), |taken| *taken);
        *taken = true;
        Turn(self)
    }
}

pub(super) struct Turn<'a>(&'a Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock() = false;
        self.0.given.notify_one();
    }
}
