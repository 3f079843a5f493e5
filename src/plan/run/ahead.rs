//! Graphs captured before the first run that needs them.

use std::panic::Location;

use crate::error::Result;

use super::bindings::Bindings;
use super::budget;
use super::executable::Executable;
use super::options::Mode;

impl Executable {
    /// Captures the graph that a run with these bindings would need, without running it: on this thread, until the
    /// graph is there. Nothing when it is there already, or in eager mode.
    ///
    /// # Errors
    ///
    /// Those of [`Executable::run`] before anything is launched.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=8)?;
    ///     let x = g.input("x", [n * 2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, mut bind) = (exe.input("x")?, exe.bindings());
    /// for n in [1, 2, 4] {
    ///     exe.capture(bind.host(x, &vec![0.0_f32; 2 * n], [2 * n]))?; // in any order, at the start
    /// }
    /// exe.run(&stream, bind.host(x, &[0.0_f32; 4], [4]))?;
    /// assert_eq!((exe.graphs(), exe.counters().replays), (3, 1));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRICaptureBegin")]
    #[track_caller]
    pub fn capture(&mut self, bind: &mut Bindings) -> Result<()> {
        let at = Location::caller();
        self.check_bindings(bind)?;
        self.find(bind, at, None).map(drop)
    }

    /// How many more graphs can be captured: up to the limit of
    /// [`RunOptions::graph_limit`](super::RunOptions::graph_limit), and with the streams that the device has left,
    /// where it tells. None in eager mode.
    ///
    /// # Errors
    ///
    /// Those of asking the device.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=8)?;
    ///     let x = g.input("x", [n * 2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, mut bind) = (exe.input("x")?, exe.bindings());
    /// let room = exe.graph_room()?;
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]))?;
    /// assert!(exe.graph_room()? < room);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn graph_room(&self) -> Result<usize> {
        if self.options.mode == Mode::Eager {
            return Ok(0);
        }
        let by_limit = self.options.limit.saturating_sub(self.store.len());
        let by_streams = budget::graphs_left(&self.plan.0, &self.context, self.form)?;
        Ok(by_streams.map_or(by_limit, |graphs| graphs.min(by_limit)))
    }
}
