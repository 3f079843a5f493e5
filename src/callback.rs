//! Host functions: closures that run on the host when a stream reaches them.

use std::ffi::c_void;
use std::panic::Location;
use std::sync::{Arc, Weak};

use acl_sys::aclrtStream;

use crate::call::call;
use crate::closure::{Function, Kept, PartOf, RunsOn, Single};
use crate::context::ContextInner;
use crate::context::reports::{Called, Reports, Service};
use crate::error::Result;
use crate::stream::{Before, Stream, Task};

/// A function that an eager call frees after its one run. A graph [keeps](Kept) its own.
struct Once {
    function: Single,
    /// The key of its stream.
    stream: usize,
    before: Before,
    /// Weak, because what the library has of a function that the device never reaches is never freed.
    context: Weak<ContextInner>,
}

/// Runs a function that a graph keeps, if it still does.
unsafe extern "C" fn run_kept(number: *mut c_void) {
    Kept::run(number.addr());
}

/// Runs a function once and puts it aside to be freed.
unsafe extern "C" fn run_once(user: *mut c_void) {
    // SAFETY: `user` came from `Box::into_raw` and the runtime calls an eager host function exactly once.
    let once = *unsafe { Box::from_raw(user.cast::<Once>()) };
    // Otherwise the stream has ended without it.
    let Some(function) = once.function.take() else { return };
    once.before.is_done();
    function.run(RunsOn::Stream(once.stream));
    // The stream that runs it keeps the context alive.
    if let Some(context) = once.context.upgrade() {
        context.spent.add(function);
    }
}

impl Stream {
    /// Runs `function` on the host when the stream reaches this point; later work of the stream waits for its end. In
    /// a capture it becomes part of the graph, which keeps it, and runs at each replay.
    ///
    /// It runs on a thread of the runtime, one at a time within a context. Releases up to CANN 8.3 have no such thread:
    /// there it is one of this crate, `racl-callbacks`, which the first host function of a context starts, and which
    /// ends with the context; it takes one stream of the device. Each stream with host functions is subscribed to it.
    ///
    /// One that the device never reaches, since work before it failed for good or was [aborted](Self::abort), is freed
    /// with what it owns when the stream is closed, or dropped, and done: a stream or context that it holds itself
    /// cannot be closed before.
    ///
    /// It must not call the runtime: no allocation,
    /// no submission, no wait (the AscendCL guide on callbacks warns of deadlocks). Work for its own stream, and a wait
    /// for that, are refused ([`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported)), in a graph for every
    /// stream: they would be behind the function itself. A panic inside it is caught, logged, and reported by the next
    /// [`Stream::synchronize`] of this stream, with its cause where it is a [`Thrown`](crate::Thrown); one inside a graph
    /// by the next [`Graph::wait`](crate::Graph::wait) or by the stream that the graph was launched on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a stream destroyed beside this crate,
    /// [`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated) in a capture that is ending. On the
    /// older releases also [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a stream that other
    /// code has subscribed a thread to, [`ErrorKind::NoStreams`](crate::ErrorKind::NoStreams),
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) when the library gives its thread no callback within 10
    /// seconds, and [`ErrorKind::Other`](crate::ErrorKind::Other) when no thread can be started. The function is dropped
    /// then.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let stream = acl.device(0)?.stream()?;
    /// let (sender, receiver) = mpsc::channel();
    /// stream.host_function(move || sender.send("reached").unwrap())?;
    /// stream.synchronize()?;
    /// assert_eq!(receiver.try_recv(), Ok("reached"));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtLaunchHostFunc")]
    #[doc(alias = "aclrtLaunchCallback")]
    #[doc(alias = "aclrtSubscribeReport")]
    #[track_caller]
    pub fn host_function(&self, function: impl FnMut() + Send + 'static) -> Result<()> {
        let task = Task { label: "host function", location: Location::caller(), uses: &[], scratch: None };
        let inner = &self.0;
        let context = inner.context();
        context.spent.bury();
        inner.check_thread()?;
        let service = self.service(&task)?;
        let service = service.as_deref();
        let state = inner.lock();
        let function = Box::new(function);
        if let Some(capture) = &state.capture {
            let kept = Kept::new(Function::new(function, PartOf::Graph(capture.panics.clone())));
            // Kept before the call, so that it outlives every replay whatever happens in between.
            capture.keep_host_function(&kept);
            inner.submit_locked(&state, &task, |raw| {
                let user = std::ptr::without_provenance_mut(kept.number());
                // SAFETY: the function looks for the number, and may be called with any at any time.
                unsafe { launch(inner.context(), service, raw, run_kept, user) }
            })?;
            return Ok(());
        }
        // It may run before the call of the library is back.
        let of = PartOf::Work((Arc::clone(inner.progress()), inner.progress().submitted() + 1));
        let function = inner.unrun.add(Function::new(function, of));
        let before = inner.before();
        let once = Box::new(Once { function, stream: inner.key(), before, context: Arc::downgrade(context) });
        let user = Box::into_raw(once).cast::<c_void>();
        let result = inner.submit_locked(&state, &task, |raw| {
            // SAFETY: `user` is a leaked box that `run_once` takes over.
            unsafe { launch(inner.context(), service, raw, run_once, user) }
        });
        // What the function owns may need the stream when it is dropped.
        drop(state);
        if let Err(error) = result {
            // SAFETY: the call failed, so the runtime will not run the function and the box is still this one's.
            let once = unsafe { Box::from_raw(user.cast::<Once>()) };
            drop(once.function.take());
            return Err(error);
        }
        Ok(())
    }

    /// Who runs host functions where the library does not.
    #[inline]
    fn service(&self, task: &Task<'_>) -> Result<Option<Arc<Service>>> {
        let context = self.0.context();
        if !context.reports.are_needed() {
            return Ok(None);
        }
        let service = Reports::service(context, || Self::lease_raw(context));
        service.map(Some).map_err(|error| self.refuse((task.label, task.location), error))
    }
}

/// # Safety
///
/// As for [`Service::launch`].
#[inline]
unsafe fn launch(
    context: &ContextInner,
    service: Option<&Service>,
    stream: aclrtStream,
    function: Called,
    user: *mut c_void,
) -> Result<()> {
    match service {
        // SAFETY: the caller's promise.
        None => unsafe { call!(context, aclrtLaunchHostFunc(stream, Some(function), user)) },
        // SAFETY: as above.
        Some(service) => unsafe { service.launch(context, stream, function, user) },
    }
}
