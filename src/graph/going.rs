//! How a graph goes: destroyed at once, behind its last launch, or by a thread that waits for that.

use std::sync::Arc;
use std::time::Instant;

use super::captured::Graph;
use crate::call::call;
use crate::closure;
use crate::error::{Error, ErrorKind, Result};
use crate::retire::{self, Waited};

/// How many waits of a drop may fail while there are launches: each stream may be aborted by itself.
const WAITS: usize = 16;

impl Graph {
    /// Destroys the graph, which does not run. It is gone when the handle is null, whatever is told of its streams.
    pub(super) fn destroy(&mut self) -> Result<()> {
        if self.raw.is_null() {
            return Ok(());
        }
        let unbound = self.bound.unbind(&self.context, self.raw);
        self.in_flight.set_disturbed();
        // SAFETY: the handle is this value's own; it is set to null after success, so it is destroyed once.
        if let Err(error) = unsafe { call!(&*self.context, aclmdlRIDestroy(self.raw)) } {
            // Another try unbinds nothing, and says nothing of it.
            unbound.unwrap_or_else(|error| self.tell_of_streams(error));
            return Err(error);
        }
        self.raw = std::ptr::null_mut();
        unbound
    }

    /// Waits for its launches as a drop does, whatever becomes of them.
    fn wait_in_drop(&self) -> Result<Waited> {
        if self.in_flight.is_settled() && !closure::is_running() {
            return Ok(Waited::Done);
        }
        let wait = || retire::wait(|limit| self.in_flight.wait_within(limit));
        let again = |error: &Error| self.in_flight.may_run() && error.kind() != ErrorKind::DeviceLost;
        let mut waited = wait();
        for _ in 0..WAITS {
            if !waited.as_ref().is_err_and(again) {
                break;
            }
            // A wait that failed says nothing of the work; the next one may.
            if let Err(error) = std::mem::replace(&mut waited, wait()) {
                self.context.record_drop_error("waiting for the last launch of a graph that goes away", error);
            }
        }
        waited
    }

    /// Behind the end of its launches, which an abort ended, the library may run it for a moment.
    fn outlast_run(mut self) {
        let (until, mut told, mut rest) = (retire::deadline(), false, retire::RESTS.start);
        while let Err(error) = self.destroy() {
            if self.raw.is_null() {
                return self.tell_of_streams(error);
            }
            if error.kind() != ErrorKind::GraphRunning {
                self.leak(error);
                self.raw = std::ptr::null_mut();
                return;
            }
            if !told && Instant::now() >= until {
                told = true;
                self.tell_of_drop(retire::late("a graph whose launches are over, but which the library runs,"));
            }
            retire::pause_for(rest);
            rest = (2 * rest).min(retire::RESTS.end);
        }
    }

    fn tell_of_drop(&self, error: Error) {
        self.context.record_drop_error("a graph that goes away", error);
    }

    fn tell_of_streams(&self, error: Error) {
        self.context.record_drop_error("unbinding the streams of a graph that goes away", error);
    }

    /// What it keeps stays: the runtime may use it, and memory must wait for the last launch.
    fn leak(&mut self, error: Error) {
        if !self.in_flight.may_run() {
            // Nobody waits for it any more.
            self.keep.keepers.clear();
        }
        std::mem::forget((self.take_uses(), Arc::clone(&self.in_flight)));
        self.context.record_drop_error("a graph could not be destroyed and is leaked with its memory", error);
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        let mut waited = self.wait_in_drop();
        if let Ok(other @ (Waited::Held | Waited::Late)) = waited {
            let told = other.told(|| self.in_flight.describe());
            retire::leave(other, self.take(), drop);
            return told.into_iter().for_each(|error| self.tell_of_drop(error));
        }
        if !self.in_flight.may_run()
            && let Err(error) = std::mem::replace(&mut waited, Ok(Waited::Done))
        {
            self.context.record_drop_error("the last launch of a graph that goes away failed", error);
        }
        match waited.and_then(|_| self.destroy()) {
            Ok(()) => {}
            Err(error) if self.raw.is_null() => self.tell_of_streams(error),
            Err(error) if error.kind() == ErrorKind::GraphRunning => {
                retire::on_thread(self.take(), Self::outlast_run);
            }
            Err(error) => self.leak(error),
        }
    }
}
