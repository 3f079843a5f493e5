//! The end of a run, for whoever waits for it and does not have the executable.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::event::Event;

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
        self.end.synchronize().map_err(|error| self.outcome.told(error))
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
