//! How an executable runs.

use std::time::Duration;

use crate::error::{Error, Result};

use super::pool::Pool;

/// Captured graphs that an executable keeps unless told otherwise.
const GRAPHS: usize = 64;

/// Time for signals to arrive unless told otherwise.
const SIGNAL_LIMIT: Duration = Duration::from_secs(60);

/// How the work of a plan reaches the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Recorded into a graph, then replayed with one call.
    #[default]
    Captured,
    /// Issued operator by operator at each run.
    Eager,
}

/// What a run does when it needs a further captured graph and the limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnFull {
    /// Drops the graph that was used longest ago, once the new one is there; before, when the device has no streams,
    /// events or memory left for a further one.
    #[default]
    EvictLeastRecent,
    /// Runs eagerly.
    Eager,
    /// Fails.
    Fail,
}

/// Options of [`Plan::executable`](crate::plan::Plan::executable).
///
/// # Examples
///
/// ```
/// use racl::plan::{Mode, OnFull, RunOptions};
///
/// let options = RunOptions::new().mode(Mode::Captured).graph_limit(8).on_full(OnFull::Fail);
/// let while_testing = options.clone().check_frozen().force_recapture();
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunOptions {
    pub(super) mode: Mode,
    pub(super) force_recapture: bool,
    pub(super) check_frozen: bool,
    pub(super) limit: usize,
    pub(super) on_full: OnFull,
    pub(super) pool: Option<Pool>,
    pub(super) signal_limit: Duration,
    pub(super) address_updates: bool,
    pub(super) buffers: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            force_recapture: false,
            check_frozen: false,
            limit: GRAPHS,
            on_full: OnFull::default(),
            pool: None,
            signal_limit: SIGNAL_LIMIT,
            address_updates: true,
            buffers: 1,
        }
    }
}

impl RunOptions {
    /// The defaults: captured, up to 64 graphs, the least recently used one evicted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How the work reaches the device. Results are the same either way.
    #[must_use]
    #[doc(alias = "force_eager")]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Captures anew at each run: finds memory that moved or went away.
    #[must_use]
    pub fn force_recapture(self) -> Self {
        Self { force_recapture: true, ..self }
    }

    /// Compares frozen inputs that a run is given with those that the executable has: a run with another address
    /// fails with its index, what it was and what it is now. Without this, frozen inputs are not looked at.
    #[must_use]
    pub fn check_frozen(self) -> Self {
        Self { check_frozen: true, ..self }
    }

    /// Most captured graphs to keep. With 0 no executable is made: [`Mode::Eager`] runs without graphs.
    #[must_use]
    #[doc(alias = "capture_limit")]
    pub fn graph_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.limit == 0 {
            return Err(Error::invalid("a limit of 0 captured graphs; use Mode::Eager to run without"));
        }
        if self.buffers == 0 {
            return Err(Error::invalid("0 buffers for host outputs; 1 is the least, and the default"));
        }
        Ok(())
    }

    /// What to do when the limit is reached.
    #[must_use]
    pub fn on_full(self, on_full: OnFull) -> Self {
        Self { on_full, ..self }
    }

    /// Takes temporary memory from a pool that other executables use too.
    #[must_use]
    #[doc(alias = "use_graph_pool")]
    pub fn pool(self, pool: &Pool) -> Self {
        Self { pool: Some(pool.clone()), ..self }
    }

    /// How long signals that were given may take to arrive at their gates when the executable, or a graph of it, is
    /// dropped while a run waits; then its gates are opened, as [`Executable`](super::Executable) tells. A minute
    /// unless told otherwise; at least a millisecond and at most 24 days. The drop itself waits no longer than
    /// [drops do](crate::set_drop_limit): a thread does the rest.
    #[must_use]
    pub fn signal_limit(self, limit: Duration) -> Self {
        Self { signal_limit: limit, ..self }
    }

    /// Runs whose [host outputs](crate::plan::Builder::output_to_host) may be under way, or read, at the same time.
    ///
    /// With 1, the default, a captured graph downloads them to one memory, and they can be read until the next run.
    /// With more, each run has pinned memory of its own, which it copies to behind the graph, with two C calls for each
    /// output; one that the plan writes again behind its download is also copied on the device.
    /// [`Executable::take_host_outputs`](super::Executable::take_host_outputs) gives what a run brought, to be read
    /// while later ones are under way. Results are the same either way.
    ///
    /// A run waits for the copies of the oldest run when those of `count` runs are under way and nobody took them; what
    /// was taken is neither counted nor waited for, and replaced by further memory. Host inputs have [a bound of
    /// their own](crate::plan::Input::Host). Each graph keeps memory for as many runs as were under way, up to one more
    /// than `count`: a program that has no more than `count` [`HostOutputs`](super::HostOutputs) at a time, and reads
    /// them, allocates none from then on.
    ///
    /// [`Plan::executable`](crate::plan::Plan::executable) refuses 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.muls(x, 2.0)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.executable(&device, &RunOptions::new().host_output_buffers(3), Frozen::new())?;
    /// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// let mut kept = Vec::new();
    /// for step in 1..=3 {
    ///     exe.run(&stream, bind.host(x, &[step as f32, 0.0], [2]))?;
    ///     kept.push(exe.take_host_outputs()?);
    /// }
    /// for (mut outputs, first) in kept.into_iter().zip([2.0, 4.0, 6.0]) {
    ///     assert_eq!(outputs.read::<f32>(y)?, [first, 0.0]);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    #[doc(alias = "double_buffering")]
    #[doc(alias = "triple_buffering")]
    pub fn host_output_buffers(self, count: usize) -> Self {
        Self { buffers: count, ..self }
    }

    /// Whether operators that use an updatable input which moved may be replaced by its address alone, without
    /// planning them again; the default is yes. An operator or a library that does not allow it is updated whole
    /// either way, and results are the same. Off, each update runs both phases of its operators, and no executor is
    /// kept. [`Counters`](super::Counters) tell what happened.
    ///
    /// An executable that moves to another thread is not planned again: the executors go with it. Only the first launch of
    /// one has to be on the thread that planned it (source of CANN's operator engine, opbase). What a run submits operator
    /// by operator, and what a capture records, is planned [once on each thread](crate::op#executors).
    ///
    /// Under another [limit of cores](crate::Stream::limit_cores) than it was planned with, and after a change of
    /// [options](crate::Context::set_option), an operator is planned again, in place of the executor that was kept.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Updatable)?;
    ///     let y = g.muls(x, 2.0)?;
    ///     g.output("y", y)
    /// })?;
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let stream = device.stream()?;
    /// for (allowed, by_address) in [(true, 2), (false, 0)] {
    ///     let options = RunOptions::new().address_updates(allowed);
    ///     let mut exe = plan.executable(&device, &options, Frozen::new())?;
    ///     let (x, y) = (exe.input("x")?, exe.output_id("y")?);
    ///     let memory = [1.0_f32, 2.0, 3.0, 4.0].map(|value| device.upload_tensor(&[value; 2], [2]));
    ///     let mut bind = exe.bindings();
    ///     for (value, memory) in (1..=4).zip(memory) {
    ///         exe.run(&stream, bind.set(x, &memory?))?; // the second of them plans the operator for those after it
    ///         assert_eq!(exe.output::<f32>(y)?.to_vec()?, [2.0 * value as f32; 2]);
    ///     }
    ///     let counters = exe.counters();
    ///     assert_eq!((counters.updates, counters.updates_by_address), (3, by_address));
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    #[doc(alias = "aclSetAclOpExecutorRepeatable")]
    #[doc(alias = "aclSetTensorAddr")]
    pub fn address_updates(self, allowed: bool) -> Self {
        Self { address_updates: allowed, ..self }
    }
}
