//! Steps of a loop in a profile.

use std::fmt;
use std::panic::Location;

use acl_sys::{aclprofStepInfo, aclprofStepTag};

use crate::call::{call, pointer, value};
use crate::error::Result;
use crate::retire;
use crate::stream::{Stream, Task};

/// A step of a loop on a stream, from [`Stream::begin_step`] until it ends or is dropped: a profile has the times at
/// which the stream gets to both. The library numbers steps by itself. One that a host function drops, or a thread that
/// has the [process locked](crate::Acl::lock_process), ends a moment later, on another thread.
///
/// # Examples
///
/// ```
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// for _ in 0..3 {
///     let step = stream.begin_step()?;
///     stream.host_function(|| println!("some work"))?;
///     step.end()?;
/// }
/// stream.synchronize()?;
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use = "the step ends when this is dropped"]
#[doc(alias = "aclprofStepInfo")]
pub struct Step {
    raw: *mut aclprofStepInfo,
    open: bool,
    stream: Stream,
}

// SAFETY: a step is memory of the host that belongs to no thread.
unsafe impl Send for Step {}
// SAFETY: nothing is done with a shared one.
unsafe impl Sync for Step {}

impl Stream {
    /// Begins a step of a loop. Returns when its time stamp is queued.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without profiles; what the stream refuses.
    #[doc(alias = "aclprofCreateStepInfo")]
    #[doc(alias = "aclprofGetStepTimestamp")]
    #[track_caller]
    pub fn begin_step(&self) -> Result<Step> {
        // SAFETY: the call takes nothing.
        let raw = unsafe { pointer!(&**self.0.context(), aclprofCreateStepInfo()) }?;
        let mut step = Step { raw, open: false, stream: self.clone() };
        step.stamp(aclprofStepTag::ACL_STEP_START)?;
        step.open = true;
        Ok(step)
    }
}

impl Step {
    /// Ends the step where its stream is now.
    ///
    /// # Errors
    ///
    /// What the stream refuses.
    #[track_caller]
    pub fn end(mut self) -> Result<()> {
        self.open = false;
        self.stamp(aclprofStepTag::ACL_STEP_END)
    }

    #[track_caller]
    fn stamp(&self, tag: aclprofStepTag) -> Result<()> {
        let inner = &self.stream.0;
        let task = Task { label: "profile step", location: Location::caller(), uses: &[], scratch: None };
        inner
            .submit(&task, |raw| {
                // SAFETY: a live step and a live stream.
                unsafe { call!(&**inner.context(), aclprofGetStepTimestamp(self.raw, tag, raw)) }
            })
            .map(drop)
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        if retire::must_leave() {
            let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
            return retire::on_thread(Self { raw, open: self.open, stream: self.stream.clone() }, drop);
        }
        let context = self.stream.0.context();
        if self.open
            && let Err(error) = self.stamp(aclprofStepTag::ACL_STEP_END)
        {
            context.record_drop_error("ending a step of a profile", error);
        }
        // SAFETY: the step is this value's own and destroyed once; the call gives nothing.
        if let Err(error) = unsafe { value!(&**context, aclprofDestroyStepInfo(self.raw)) } {
            context.record_drop_error("destroying a step of a profile", error);
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("open", &self.open).finish_non_exhaustive()
    }
}
