//! Gates between a plan and work beside it.

use crate::error::Result;

use super::Builder;

/// A gate between a plan and work beside it, from [`Builder::external`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct External {
    pub(crate) plan: u32,
    pub(crate) index: u32,
}

impl Builder {
    /// A gate between this plan and work beside it, by name. The executable gives and takes its signals.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a name that is empty or taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let mut gate = None;
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Static)?;
    ///     let ready = g.external("ready")?;
    ///     gate = Some(ready);
    ///     g.wait_external(ready)?;
    ///     let y = g.abs(x)?;
    ///     g.output("y", y)
    /// })?;
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let (stream, other) = (device.stream()?, device.stream()?);
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// exe.run(&stream, &mut exe.bindings())?; // waits at the gate
    /// exe.signal(gate.expect("the plan has it"), &other)?; // one signal for each run
    /// stream.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn external(&self, name: &str) -> Result<External> {
        self.state().external(name)
    }

    /// Makes the surrounding stream wait, in each run, for one signal of
    /// [`Executable::signal`](crate::plan::Executable::signal), or of the plan itself, and takes it. See
    /// [`Builder::external`].
    ///
    /// Without a signal the run waits until the executable is dropped, which opens the gate and tells so; or
    /// [`Executable::release_gates`](crate::plan::Executable::release_gates). Drop streams that wait after it.
    ///
    /// Waits for signals that the plan itself gives are checked when it is built: those that can never end, or that
    /// another wait can take the signal from, are [`FindingKind::Deadlock`](crate::plan::FindingKind::Deadlock). What
    /// the check does not see: a gate that gets signals from the plan and from outside, which counts as one of the
    /// plan's; a gate that the plan gives no signal to, whose signals are taken to come; signals that are left over
    /// from an earlier run; two runs or executables that share a stream. Of plans with very many ways to hand out
    /// signals only the first 4096 states are looked at.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a gate of another plan.
    #[doc(alias = "aclrtValueWait")]
    #[track_caller]
    pub fn wait_external(&self, gate: External) -> Result<()> {
        self.state().wait_external(gate)
    }

    /// Gives one signal through the gate when the surrounding stream gets there, in each run. See
    /// [`Executable::wait_signal`](crate::plan::Executable::wait_signal).
    ///
    /// # Errors
    ///
    /// As [`Builder::wait_external`].
    #[doc(alias = "aclrtValueWrite")]
    #[track_caller]
    pub fn record_external(&self, gate: External) -> Result<()> {
        self.state().record_external(gate)
    }
}
