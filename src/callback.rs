//! Host functions: closures that run on the host when a stream reaches them.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::call::call;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::stream::{Stream, Task};

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

/// Functions of one context that have run. They are freed outside the runtime's threads, because what they own may
/// call it; by any call that waits, because what they own may be the very stream that they ran on.
#[derive(Default)]
pub(crate) struct Spent(Mutex<Vec<HostFunction>>);

impl Spent {
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

/// A closure together with where its panics go. A graph keeps it; an eager call frees it after its one run.
pub(crate) struct HostFunction {
    function: Mutex<Box<dyn FnMut() + Send>>,
    panics: Panics,
    /// Weak, because a function that the device never reaches is never freed.
    context: Weak<ContextInner>,
}

impl HostFunction {
    fn run(&self) {
        let mut function = self.function.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(&mut *function)) {
            self.panics.note(payload);
        }
    }
}

/// Runs a function that stays alive: one that a graph keeps.
unsafe extern "C" fn run_kept(user: *mut c_void) {
    // SAFETY: `user` is the address of a `HostFunction` that the graph keeps until no replay can run any more.
    let function = unsafe { &*user.cast::<HostFunction>() };
    function.run();
}

/// Runs a function once and puts it aside to be freed.
unsafe extern "C" fn run_once(user: *mut c_void) {
    // SAFETY: `user` came from `Box::into_raw` and the runtime calls an eager host function exactly once.
    let function = unsafe { Box::from_raw(user.cast::<HostFunction>()) };
    function.run();
    // The stream that runs it keeps the context alive.
    if let Some(context) = function.context.upgrade() {
        context.spent.0.lock().unwrap_or_else(PoisonError::into_inner).push(*function);
    }
}

impl Stream {
    /// Runs `function` on the host when the stream reaches this point; later work of the stream waits for its end. In
    /// a capture it becomes part of the graph, which keeps it, and runs at each replay.
    ///
    /// It runs on a thread of the runtime, one at a time within a context. It must not call the runtime: no
    /// allocation, no submission, no wait (the AscendCL guide on callbacks warns of deadlocks). A panic inside it is
    /// caught, logged, and reported by the next [`Stream::synchronize`] of this stream; one inside a graph by the
    /// next [`Graph::wait`](crate::Graph::wait) or by the stream that the graph was launched on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a stream destroyed beside this crate, [`ErrorKind::CaptureInvalidated`] in a
    /// capture that is ending; the function is dropped then.
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
    #[track_caller]
    pub fn host_function(&self, function: impl FnMut() + Send + 'static) -> Result<()> {
        let task = Task { label: "host function", location: Location::caller(), uses: &[], scratch: None };
        let inner = &self.0;
        let context = inner.context();
        context.spent.bury();
        let state = inner.lock();
        let function: Mutex<Box<dyn FnMut() + Send>> = Mutex::new(Box::new(function));
        if let Some(capture) = &state.capture {
            let function =
                Arc::new(HostFunction { function, panics: capture.panics.clone(), context: Arc::downgrade(context) });
            // Kept before the call, so that it outlives every replay whatever happens in between.
            capture.keep_host_function(&function);
            inner.submit_locked(&state, &task, |raw| {
                let user = Arc::as_ptr(&function).cast_mut().cast::<c_void>();
                // SAFETY: the capture, and then the graph, keeps the function alive for every run.
                unsafe { call!(&**inner.context(), aclrtLaunchHostFunc(raw, Some(run_kept), user)) }
            })?;
            return Ok(());
        }
        let function =
            Box::new(HostFunction { function, panics: inner.panics.clone(), context: Arc::downgrade(context) });
        let user = Box::into_raw(function).cast::<c_void>();
        let result = inner.submit_locked(&state, &task, |raw| {
            // SAFETY: `user` is a leaked box that `run_once` takes over.
            unsafe { call!(&**inner.context(), aclrtLaunchHostFunc(raw, Some(run_once), user)) }
        });
        // What the function owns may need the stream when it is dropped.
        drop(state);
        if let Err(error) = result {
            // SAFETY: the call failed, so the runtime will not run the function and the box is still this one's.
            drop(unsafe { Box::from_raw(user.cast::<HostFunction>()) });
            return Err(error);
        }
        Ok(())
    }
}
