//! Closures of the user that run on the host: their panics, and their end.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, ErrorKind, Result};

/// Panics of host functions, waiting for the next synchronising call to report them.
#[derive(Clone, Default)]
pub(crate) struct Panics(Arc<Slot>);

#[derive(Default)]
struct Slot {
    texts: Mutex<Vec<String>>,
    /// Slots of the graphs that were launched on a stream.
    adopted: Mutex<Vec<Panics>>,
}

impl Panics {
    fn note(&self, payload: Box<dyn Any + Send>) {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        log::error!("a host function panicked: {text}");
        self.0.texts.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        // A payload may panic once more when it is dropped; what that gives is leaked, to end it.
        if let Err(again) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
            std::mem::forget(again);
        }
    }

    /// Reports the panics of `other` together with these from now on.
    pub(crate) fn adopt(&self, other: &Self) {
        let mut adopted = self.0.adopted.lock().unwrap_or_else(PoisonError::into_inner);
        // A slot that nobody else holds belongs to a graph that is gone.
        adopted.retain(|known| Arc::strong_count(&known.0) > 1 && !Arc::ptr_eq(&known.0, &other.0));
        adopted.push(other.clone());
    }

    pub(crate) fn report(&self) -> Result<()> {
        let mut texts = self.take();
        for other in &*self.0.adopted.lock().unwrap_or_else(PoisonError::into_inner) {
            texts.append(&mut other.take());
        }
        if texts.is_empty() { Ok(()) } else { Err(Error::new(ErrorKind::CallbackPanicked, texts.join("; "))) }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A closure together with where its panics go.
pub(crate) struct Function {
    function: Mutex<Box<dyn FnMut() + Send>>,
    panics: Panics,
}

impl Function {
    pub(crate) fn new(function: Box<dyn FnMut() + Send>, panics: &Panics) -> Self {
        Self { function: Mutex::new(function), panics: panics.clone() }
    }

    pub(crate) fn run(&self) {
        let mut function = self.function.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(&mut *function)) {
            self.panics.note(payload);
        }
    }
}

/// Functions of one context that have run. They are freed outside the runtime's threads, because what they own may
/// call it; by any call that waits, because what they own may be the very stream that they ran on.
#[derive(Default)]
pub(crate) struct Spent(Mutex<Vec<Function>>);

impl Spent {
    pub(crate) fn add(&self, function: Function) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(function);
    }

    pub(crate) fn bury(&self) {
        let spent = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for function in spent {
            let panics = function.panics.clone();
            if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(function))) {
                panics.note(payload);
            }
        }
    }
}
