//! Events of a plan, by tags.

use std::sync::Arc;

use crate::error::Result;

use super::Builder;

/// An event of a plan with a tag of its own, from [`Builder::event`]. Dropping it frees the tag for another event.
#[derive(Debug)]
pub struct TaggedEvent {
    pub(super) plan: u32,
    pub(super) tag: String,
    pub(super) _alive: Arc<()>,
}

impl Builder {
    /// A new event with a tag.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) while another event of the plan has the tag, and for
    /// an empty one.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let h = g.tanh(x)?;
    ///     let ready = g.event("66")?;
    ///     g.record(&ready)?;
    ///     let y = g.scope("side", |g| {
    ///         g.wait(&ready)?;
    ///         g.muls(h, 2.0)
    ///     })?;
    ///     g.rerecord(&ready)?; // later waits are for this point
    ///     g.scope("side", |g| g.wait(&ready))?;
    ///     g.output("y", y)
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "npu_create_tagged_event")]
    #[track_caller]
    pub fn event(&self, tag: &str) -> Result<TaggedEvent> {
        self.state().event(tag)
    }

    /// Marks the point that the surrounding stream has reached. See [`Builder::event`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an event of another plan, and for one that was
    /// recorded already: [`Builder::rerecord`] says so.
    #[doc(alias = "npu_tagged_event_record")]
    #[doc(alias = "aclrtRecordEvent")]
    #[track_caller]
    pub fn record(&self, event: &TaggedEvent) -> Result<()> {
        self.state().record(event)
    }

    /// Records an event again: later waits are for this point, earlier ones for the point before. See
    /// [`Builder::event`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an event of another plan.
    #[track_caller]
    pub fn rerecord(&self, event: &TaggedEvent) -> Result<()> {
        self.state().rerecord(event)
    }

    /// Makes the surrounding stream wait for the latest record of the event. On the stream that recorded it this has
    /// no effect. See [`Builder::event`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an event of another plan, and for one that was
    /// not recorded yet.
    #[doc(alias = "npu_tagged_event_wait")]
    #[doc(alias = "aclrtStreamWaitEvent")]
    #[track_caller]
    pub fn wait(&self, event: &TaggedEvent) -> Result<()> {
        self.state().wait(event)
    }
}
