//! Host functions on releases that do not run them by themselves: those without `aclrtLaunchHostFunc` have callbacks
//! instead, which a thread of the program runs that is subscribed to the stream. Each context has one such thread, from
//! its first host function on.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::{Table, aclrtCallbackBlockType, aclrtStream};

use super::ContextInner;
#[cfg(feature = "mock")]
use super::older;
use crate::call::call;
use crate::error::{Error, Result};
use crate::lock::Lock;

mod thread;

use thread::Runner;

/// The code of a stream that has a subscription already, or none where one is to end.
const SUBSCRIPTION: i32 = 107_011;
/// The code of a callback for a stream without a subscription.
const NOT_SUBSCRIBED: i32 = 107_015;

/// What the library calls.
pub(crate) type Called = unsafe extern "C" fn(*mut c_void);

/// The host functions of one context.
#[derive(Default)]
pub(crate) struct Reports {
    needed: bool,
    service: Lock<Option<Arc<Service>>>,
}

/// The thread, and the streams that it runs host functions of.
pub(crate) struct Service {
    runner: Runner,
    /// A stream that nobody else has: its subscription keeps the thread known to the library while no other stream is
    /// subscribed, as graphs that outlive their stream need it, and a callback on it wakes the thread.
    anchor: aclrtStream,
    /// Null for a default stream that has no handle.
    streams: Lock<BTreeSet<aclrtStream>>,
}

// SAFETY: the handle is only passed on, and any thread may use it (guide: threads); the fields have their own locks.
unsafe impl Send for Service {}
// SAFETY: as above.
unsafe impl Sync for Service {}

impl Reports {
    pub(super) fn of(table: &Table) -> Self {
        // A library with neither says what it lacks when it is asked for the newer function.
        let callbacks = table.aclrtLaunchCallback().is_ok();
        Self { needed: is_older(table) && callbacks, service: Lock::default() }
    }

    /// Whether host functions are run by a thread of this crate.
    #[inline]
    pub(crate) fn are_needed(&self) -> bool {
        self.needed
    }

    /// The thread of a context, started when there is none. `anchor` makes a stream. No lock is held meanwhile.
    pub(crate) fn service(
        context: &ContextInner,
        anchor: impl FnOnce() -> Result<aclrtStream>,
    ) -> Result<Arc<Service>> {
        let known = context.reports.service.lock().clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Arc::new(Service::start(context, anchor)?);
        let first = {
            let mut service = context.reports.service.lock();
            Arc::clone(service.get_or_insert_with(|| Arc::clone(&made)))
        };
        if !Arc::ptr_eq(&first, &made) {
            // Another thread was faster.
            made.end_or_tell(context);
        }
        Ok(first)
    }

    /// Before an idle stream goes, or is for somebody else.
    pub(crate) fn leave(&self, context: &ContextInner, stream: aclrtStream) -> Result<()> {
        self.known().map_or(Ok(()), |service| service.leave(context, stream))
    }

    /// After a stream was destroyed, and its subscription with it.
    pub(crate) fn forget(&self, stream: aclrtStream) {
        if let Some(service) = self.known() {
            service.streams.lock().remove(&stream);
        }
    }

    /// Whether this is the thread that runs the host functions.
    pub(super) fn is_own_thread(&self) -> bool {
        self.known().is_some_and(|service| service.runner.is_this_thread())
    }

    /// Ends the thread, when nothing of the context is left; it stays when it does not end in time.
    pub(super) fn end(&self, context: &ContextInner) -> Result<()> {
        let Some(service) = self.known() else { return Ok(()) };
        service.end(context)?;
        *self.service.lock() = None;
        Ok(())
    }

    fn known(&self) -> Option<Arc<Service>> {
        if self.needed { self.service.lock().clone() } else { None }
    }
}

fn is_older(table: &Table) -> bool {
    #[cfg(feature = "mock")]
    if table.is_mock() && older::HOST_FUNCTIONS.is_on() {
        return true;
    }
    table.aclrtLaunchHostFunc().is_err()
}

/// Wakes the thread.
unsafe extern "C" fn nothing(_: *mut c_void) {}

impl Service {
    fn start(context: &ContextInner, anchor: impl FnOnce() -> Result<aclrtStream>) -> Result<Self> {
        let runner = Runner::start(context)?;
        let anchor = match anchor() {
            Ok(anchor) => anchor,
            Err(error) => {
                runner.stop();
                return runner.wait_end().and(Err(error));
            }
        };
        let service = Self { runner, anchor, streams: Lock::default() };
        let begun = service.subscribe(context, anchor).and_then(|()| service.wake(context));
        if let Err(error) = begun.and_then(|()| service.runner.begin()) {
            service.end_or_tell(context);
            return Err(error.context("starting the thread of host functions"));
        }
        Ok(service)
    }

    /// The end of one that nobody uses.
    fn end_or_tell(&self, context: &ContextInner) {
        if let Err(error) = self.end(context) {
            context.record_drop_error("ending the thread of host functions", error);
        }
    }

    fn wake(&self, context: &ContextInner) -> Result<()> {
        let kind = aclrtCallbackBlockType::ACL_CALLBACK_NO_BLOCK;
        // SAFETY: the function uses no argument, so that it may run at any time, or never.
        unsafe { call!(context, aclrtLaunchCallback(Some(nothing), std::ptr::null_mut(), kind, self.anchor)) }
    }

    /// Wakes the thread, which sleeps.
    fn wake_now(&self, context: &ContextInner) -> Result<()> {
        self.wake(context)?;
        // Work that nobody asks for may begin late.
        let mut status = acl_sys::aclrtStreamStatus::ACL_STREAM_STATUS_NOT_READY;
        // SAFETY: `status` is a place for one value; the anchor is this value's own.
        unsafe { call!(context, aclrtStreamQuery(self.anchor, &raw mut status)) }
    }

    /// Makes the thread run the host functions of a stream.
    fn subscribe(&self, context: &ContextInner, stream: aclrtStream) -> Result<()> {
        let mut streams = self.streams.lock();
        if streams.contains(&stream) {
            return Ok(());
        }
        // SAFETY: takes a number and a handle; a stale one gives a code.
        let subscribed = unsafe { call!(context, aclrtSubscribeReport(self.runner.pthread(), stream)) };
        subscribed.map_err(explain_foreign)?;
        streams.insert(stream);
        Ok(())
    }

    /// Queues `function`, which the stream waits for.
    ///
    /// # Safety
    ///
    /// `function` may be called with `user` on another thread until the stream is done with it, or until the graph
    /// that it is recorded in is destroyed.
    pub(crate) unsafe fn launch(
        &self,
        context: &ContextInner,
        stream: aclrtStream,
        function: Called,
        user: *mut c_void,
    ) -> Result<()> {
        let kind = aclrtCallbackBlockType::ACL_CALLBACK_BLOCK;
        // SAFETY: the caller's promise; a stale handle gives a code.
        let launch = || unsafe { call!(context, aclrtLaunchCallback(Some(function), user, kind, stream)) };
        self.subscribe(context, stream)?;
        match launch() {
            // Other code ended the subscription, or the handle is that of another stream by now.
            Err(error) if error.code() == Some(NOT_SUBSCRIBED) => {
                self.streams.lock().remove(&stream);
                self.subscribe(context, stream)?;
                launch()
            }
            launched => launched,
        }
    }

    fn leave(&self, context: &ContextInner, stream: aclrtStream) -> Result<()> {
        if !self.streams.lock().remove(&stream) {
            return Ok(());
        }
        // SAFETY: as for `subscribe`.
        match unsafe { call!(context, aclrtUnSubscribeReport(self.runner.pthread(), stream)) } {
            // Other code did it.
            Err(error) if error.code() == Some(SUBSCRIPTION) => Ok(()),
            left => left,
        }
    }

    /// Ends the thread and what it has.
    fn end(&self, context: &ContextInner) -> Result<()> {
        if self.runner.is_of_parent() {
            return Ok(());
        }
        self.runner.stop();
        // Where it cannot be woken it looks by itself, within its time limit.
        if self.runner.is_asking()
            && let Err(error) = self.wake_now(context)
        {
            context.record_drop_error("waking the thread of host functions", error);
        }
        self.runner.wait_end()?;
        let streams: Vec<_> = self.streams.lock().iter().copied().collect();
        for stream in streams {
            if let Err(error) = self.leave(context, stream) {
                context.record_drop_error("ending the callbacks of a stream", error);
            }
        }
        // SAFETY: nobody else has the stream, and the thread, which ends once, has ended by now.
        if let Err(error) = unsafe { call!(context, aclrtDestroyStream(self.anchor)) } {
            context.record_drop_error("destroying the stream of the thread of host functions", error);
        }
        Ok(())
    }
}

fn explain_foreign(error: Error) -> Error {
    if error.code() != Some(SUBSCRIPTION) {
        return error;
    }
    let text = "other code has subscribed a thread to the stream (aclrtSubscribeReport), and there is no second one; \
                use another stream, or let that code end its subscription";
    error.with_detail(text)
}
