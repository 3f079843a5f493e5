//! All streams of a context at once.

use std::panic::Location;
use std::sync::Arc;

use super::abort::of_context;
use super::inherited::number_of;
use crate::call::call;
use crate::closure;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::failures;
use crate::progress::{Progress, note_device_failed};
use crate::retire::{self, keepers};

impl Context {
    /// Waits until all work of all streams of this context is done.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::CaptureForbidden`](crate::ErrorKind::CaptureForbidden) while any stream of the context captures, which
    /// may [cost the capture its graph](crate::CaptureMode);
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) in a host function; the error of a stream whose work
    /// failed.
    #[doc(alias = "aclrtSynchronizeDevice")]
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        if closure::is_running() {
            return Err(closure::refusal("a host function waits for the device, which waits for it"));
        }
        let inner = &**self.inner();
        inner.check_may_block("Context::synchronize", Location::caller())?;
        let moment = failures::now();
        let before: Vec<_> = of_context(inner).into_iter().map(|stream| (stream.unreported().0, stream)).collect();
        let waited = keepers::wait_long(|limit| match limit {
            // SAFETY: takes nothing.
            None => unsafe { call!(inner, aclrtSynchronizeDevice()) },
            // SAFETY: takes a number.
            Some(ms) => unsafe { call!(inner, aclrtSynchronizeDeviceWithTimeout(ms)) },
        });
        let mut noted = Vec::new();
        if let Err(error) = &waited
            && error.is_of_work()
        {
            note_device_failed(inner.device());
            // Whose work it was the library does not say.
            let note =
                |(told, stream): &(u64, Arc<Progress>)| stream.note_failed((*told, stream.submitted()), error.kind());
            noted.extend(before.iter().map(note));
        }
        let waited = waited.map_err(|error| inner.failures.explain(error, || None, Vec::new));
        if let Err(error) = &waited {
            before.iter().zip(noted).for_each(|((_, stream), number)| stream.note_log(number, error));
        }
        if !inner.failures.are_none() && waited.as_ref().err().is_none_or(Error::is_of_work) {
            // The library has told what there was of these.
            let numbers = before.iter().filter_map(|(_, stream)| number_of(stream));
            numbers.for_each(|number| inner.failures.settle(number, moment));
        }
        inner.spent.bury();
        retire::collect_for_a_moment();
        waited?;
        inner.reclaim.collect(inner);
        Ok(())
    }
}
