//! Foreign operators and host functions in a plan.

use crate::error::Result;
use crate::plan::recipe::function::{Foreign, HostFunction};

use super::{Builder, Value};

impl Builder {
    /// Issues a foreign operator that reads and writes the bytes of these values; one that is in both lists is read
    /// and written. [`Builder::bytes`] gives a part of a value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan, a constant to write,
    /// and an operator with an empty name.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Foreign, Input, Plan, Simulated};
    ///
    /// let copy = Foreign::new("mine.copy", 1, |launch| {
    ///     // A launch on launch.stream() from launch.address(0) to launch.address(1).
    ///     Ok(())
    /// })
    /// .simulated(|reads, writes| writes[0].copy_from_slice(&reads[0]));
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.empty([2], F32)?;
    ///     g.foreign(&copy, &[x], &[y])?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtLaunchKernel")]
    #[track_caller]
    pub fn foreign(&self, operator: &Foreign, reads: &[Value], writes: &[Value]) -> Result<()> {
        self.state().foreign(operator, reads, writes)
    }

    /// Issues a function that runs on the host when the stream gets there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a function with an empty name, and in a plan of
    /// more than 2³² operators.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use racl::plan::{Frozen, HostFunction, Plan};
    ///
    /// let steps = Arc::new(AtomicU32::new(0));
    /// let count = Arc::clone(&steps);
    /// let count = HostFunction::new("mine.count", 1, move |by| {
    ///     count.fetch_add(by[0].into(), Ordering::Relaxed);
    /// })
    /// .attributes([2]);
    /// let plan = Plan::build(|g| g.host_function(&count))?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// exe.run(&stream, &mut exe.bindings())?;
    /// stream.synchronize()?;
    /// assert_eq!(steps.load(Ordering::Relaxed), 2);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtLaunchHostFunc")]
    #[track_caller]
    pub fn host_function(&self, function: &HostFunction) -> Result<()> {
        self.state().host_function(function)
    }
}
