//! Lifetimes across streams, and waits for values.

use crate::error::Result;

use super::{Builder, Value};

impl Builder {
    /// Keeps the memory of `value` reserved until `tag` is joined: for work on that stream which the plan does not
    /// know of. What the plan knows of is taken into account without this.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan, and for a tag that no
    /// scope has used.
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
    ///     let y = g.scope("side", |g| g.muls(h, 2.0))?;
    ///     g.record_stream(h, "side")?; // nothing takes the memory of h before "side" is joined
    ///     g.output("y", y)
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "npu_record_tagged_stream")]
    #[track_caller]
    pub fn record_stream(&self, value: Value, tag: &str) -> Result<()> {
        self.state().record_stream(value, tag)
    }

    /// A later version of `value`, over the same memory: work that is given it waits for what produced `dependency`.
    /// Work that is given the earlier version does not wait; using both from here on is a lint.
    ///
    /// There is one record for each producer, however many waits, and none for work on its own stream.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value of another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let first = g.scope("1", |g| g.muls(x, 2.0))?;
    ///     let x = g.wait_value(x, first)?; // what uses x now starts after `first` is there
    ///     let sum = g.add(x, first)?;
    ///     g.output("sum", sum)
    /// })?;
    /// assert!(plan.lints().is_empty());
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "npu_wait_tensor")]
    #[track_caller]
    pub fn wait_value(&self, value: Value, dependency: Value) -> Result<Value> {
        self.state().wait_value(value, dependency)
    }

    /// Makes the surrounding stream wait for what produced the values.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) without a value, and for one of another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let a = g.scope("1", |g| g.muls(x, 2.0))?;
    ///     let b = g.scope("2", |g| g.muls(x, 3.0))?;
    ///     g.wait_all(&[a, b])?;
    ///     let y = g.add(a, b)?;
    ///     g.output("y", y)
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn wait_all(&self, values: &[Value]) -> Result<()> {
        self.state().wait_all(values)
    }
}
