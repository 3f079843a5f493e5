//! The end of a run, for whoever waits for it and does not have the executable.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll};

use crate::error::Result;
use crate::event::Event;
use crate::future::Reached;

use super::executable::Executable;
use super::outcome::Outcome;

/// The end of a run that waits at gates, from [`Executable::run_end`].
pub struct RunEnd {
    end: Arc<Event>,
    outcome: Arc<Outcome>,
}

impl RunEnd {
    /// Blocks until the run is over.
    ///
    /// # Errors
    ///
    /// The error of the run, unless somebody was told before.
    #[doc(alias = "aclrtSynchronizeEvent")]
    pub fn wait(&self) -> Result<()> {
        self.end.outlast().map_err(|error| self.outcome.told(error))?;
        self.outcome.tell_panics()
    }

    /// A future that is ready when the run is over. Any thread may poll it, with any executor; polling does not block, and
    /// dropping it takes nothing back.
    ///
    /// Runs that wait at no gate have no end of their own: [`Stream::finished`](crate::Stream::finished) behind
    /// [`Executable::run`] is that.
    ///
    /// # Errors
    ///
    /// Of the await: the error of the run, unless somebody was told before.
    ///
    /// # Examples
    ///
    /// ```
    /// async fn signalled(exe: &racl::plan::Executable) -> racl::Result<()> {
    ///     match exe.run_end()? {
    ///         Some(end) => end.reached().await, // others signal meanwhile
    ///         None => Ok(()),
    ///     }
    /// }
    /// ```
    pub fn reached(&self) -> RunReached {
        RunReached { reached: self.end.outlasted(), outcome: Arc::clone(&self.outcome) }
    }
}

/// A run is over: a future, from [`RunEnd::reached`].
#[must_use = "a future does nothing unless it is awaited"]
pub struct RunReached {
    reached: Reached,
    outcome: Arc<Outcome>,
}

impl Future for RunReached {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Result<()>> {
        let reached = Pin::new(&mut self.reached).poll(task);
        reached.map(|ended| ended.map_err(|error| self.outcome.told(error)).and_then(|()| self.outcome.tell_panics()))
    }
}

impl fmt::Debug for RunReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunReached").field("reached", &self.reached).finish_non_exhaustive()
    }
}

impl fmt::Debug for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunEnd").finish_non_exhaustive()
    }
}

impl Executable {
    /// The end of the latest run, where that may wait at gates and is not over: whoever waits for the run lets others
    /// have the executable meanwhile, who give the signals. Does not block.
    ///
    /// # Errors
    ///
    /// Those of asking the device, which does not say how the run ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{Frozen, Plan};
    ///
    /// let mut gate = None;
    /// let plan = Plan::build(|g| {
    ///     let it = *gate.insert(g.external("gate")?);
    ///     g.wait_external(it)
    /// })?;
    /// let gate = gate.expect("the plan has it");
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (stream, other) = (device.stream()?, device.stream()?);
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// exe.run(&stream, &mut exe.bindings())?; // waits
    /// let end = exe.run_end()?.expect("nobody signalled");
    /// let waits = std::thread::spawn(move || end.wait());
    /// exe.signal(gate, &other)?;
    /// waits.join().expect("it does not panic")?;
    /// assert!(exe.run_end()?.is_none());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn run_end(&self) -> Result<Option<RunEnd>> {
        let end = self.last.as_ref().and_then(|last| match last.captured {
            Some(captured) => self.store.peek(captured)?.end.as_ref(),
            None => self.eager.end.as_ref(),
        });
        let Some(end) = end else { return Ok(None) };
        if end.is_reached()? {
            return Ok(None);
        }
        Ok(Some(RunEnd { end: Arc::clone(end), outcome: Arc::clone(&self.outcome) }))
    }
}
