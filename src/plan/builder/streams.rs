//! Streams and events inside a plan.

use std::panic::Location;

use crate::error::Result;
use crate::lock::theirs;
use crate::plan::recipe::Cores;

use super::Builder;
use super::state::Over;

/// When the work of a scope may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fork {
    /// After what was issued on the surrounding stream so far.
    #[default]
    Here,
    /// With the plan itself, as TorchAir has it: other dependencies are the caller's, by events.
    AtStart,
}

/// Options of [`Builder::scope_with`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    pub(super) priority: Option<u32>,
    pub(super) fork: Fork,
    pub(super) cores: Option<Cores>,
}

impl Scope {
    /// The defaults: priority 0, forked here, no core limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Priority of the stream, 0 (highest) to 7, from the tag's first scope on: a hint that is passed on.
    #[must_use]
    pub fn priority(self, priority: u32) -> Self {
        Self { priority: Some(priority), ..self }
    }

    /// When the work may start.
    #[must_use]
    pub fn fork(self, fork: Fork) -> Self {
        Self { fork, ..self }
    }

    /// Limits the operators of the scope to so many cores; 0 leaves a number as it is. Checked against the device
    /// when an executable is made.
    #[must_use]
    #[doc(alias = "aclrtSetStreamResLimit")]
    #[doc(alias = "limit_core_num")]
    pub fn cores(self, cores: Cores) -> Self {
        Self { cores: Some(cores), ..self }
    }
}

/// Leaves the scope also when the code in it panics.
struct Open<'a>(&'a Builder, Over, usize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.1.leave(self.2);
        // At once where the builder still has what the scope was opened in.
        drop(self.0.state());
    }
}

impl Builder {
    /// Issues the work of `work` on the stream named `tag`, after what was issued on the surrounding stream so far.
    ///
    /// The same tag is the same stream; scopes nest. Work after the scope does not wait for it: record an event in
    /// the scope and wait for it, or [`join`](Self::join) the tag. Every tag is joined at the end of the plan.
    ///
    /// # Errors
    ///
    /// The error of `work`. [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an empty tag, or with
    /// [`Options::single_stream`](crate::plan::Options::single_stream).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let side = g.scope("side", |g| g.muls(x, 2.0))?;
    ///     let main = g.adds(x, 1.0)?; // meanwhile
    ///     g.join("side")?;
    ///     let sum = g.add(main, side)?;
    ///     g.output("sum", sum)
    /// })?;
    /// assert_eq!(plan.streams(), 2);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "npu_stream_switch")]
    #[track_caller]
    pub fn scope<T>(&self, tag: &str, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        self.scope_with(tag, Scope::default(), work)
    }

    /// As [`Builder::scope`], with options.
    ///
    /// # Errors
    ///
    /// As [`Builder::scope`]; also for a priority above 7, or another one than the tag has.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Cores, Fork, Input, Plan, Scope};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let half = Scope::new().priority(1).fork(Fork::AtStart).cores(Cores { cube: 12, vector: 24 });
    ///     let y = g.scope_with("side", half, |g| g.muls(x, 2.0))?;
    ///     g.output("y", y)?; // every tag is joined at the end
    ///     Ok(())
    /// })?;
    /// assert_eq!(plan.streams(), 2);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtCreateStreamWithConfig")]
    #[track_caller]
    pub fn scope_with<T>(&self, tag: &str, options: Scope, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let (over, depth) = self.state().enter_scope(tag, options, Location::caller())?;
        let open = Open(self, over, depth);
        theirs(|| work(open.0))
    }

    /// Makes the surrounding stream wait for all work of `tag` so far, which ends there: work that is given to the
    /// tag later is forked anew.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a tag that has no work to join, and for the tag
    /// of the surrounding scope.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let side = g.scope("side", |g| g.muls(x, 2.0))?;
    ///     g.join("side")?;
    ///     let y = g.add(x, side)?; // refused without the join
    ///     g.output("y", y)
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn join(&self, tag: &str) -> Result<()> {
        self.state().join(tag)
    }
}
