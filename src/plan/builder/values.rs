//! Symbols, inputs, constants, memory and outputs.

use std::ops::RangeInclusive;

use crate::error::Result;
use crate::op::{DataType, Element};
use crate::plan::recipe::Input;
use crate::plan::symbols::dim::{Dim, IntoDims};

use super::{Builder, Value};

impl Builder {
    /// A named dimension that gets its value at each run: that of the inputs that have it. The plan is checked once
    /// for all values within the bounds, and planned and captured for each value that comes. The check takes no risk:
    /// where places depend on symbols such that it cannot tell whether two operators share bytes, it asks for an
    /// order and says that they may overlap.
    ///
    /// There is no empty device memory: at a run where a dimension is 0, an input that has it can be a host input,
    /// and no other.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a name that is empty or taken, bounds without a
    /// number, with no other than 0 (the plan would be about nothing at every run) or above 2³¹, or more than
    /// [`MAX_SYMBOLS`](crate::plan::MAX_SYMBOLS) symbols.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let tokens = g.symbol("tokens", 1..=256)?;
    ///     let x = g.input("x", [tokens], F32, Input::Host)?;
    ///     let more = g.adds(x, 1.0)?;
    ///     let sum = g.reduce_sum(more, &[], false)?;
    ///     g.output_to_host("sum", sum)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, sum, mut bind) = (exe.input("x")?, exe.output_id("sum")?, exe.bindings());
    /// for tokens in [4, 100, 4] {
    ///     exe.run(&stream, bind.host(x, &vec![0.0_f32; tokens], [tokens]))?;
    ///     assert_eq!(exe.host_output::<f32>(sum)?, [tokens as f32]);
    /// }
    /// assert_eq!((exe.graphs(), exe.counters().replays), (2, 3));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn symbol(&self, name: &str, bounds: RangeInclusive<usize>) -> Result<Dim> {
        self.state().symbol(name, bounds, false)
    }

    /// A number that each run gives, with [`Bindings::symbol`](crate::plan::Bindings::symbol), and that operators are
    /// [told](Builder::telling). It is no size of a value, and no part of what captured graphs are kept by: where it is
    /// another one than in the run before, the operators that are told it are replaced inside the graph, as for an
    /// [updatable](crate::plan::Input::Updatable) input. So a decoder tells its attention how many keys there are, with
    /// one graph for all of them.
    ///
    /// # Errors
    ///
    /// As [`Builder::symbol`], with which it shares the names and the greatest count.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{DataType::F32, aclnn};
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let shift = g.number("shift", 0..=8)?;
    ///     let x = g.input("x", [3], F32, Input::Copied)?;
    ///     let mut y = g.empty([3], F32)?;
    ///     aclnn::roll(&g.telling("shifts", [shift]), &x, &[], &[0], &mut y)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
    /// let (id, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// for (shift, expected) in [(0, [1.0, 2.0, 3.0]), (1, [3.0, 1.0, 2.0]), (2, [2.0, 3.0, 1.0])] {
    ///     exe.run(&stream, bind.set(id, &x).symbol("shift", shift))?;
    ///     assert_eq!(exe.output::<f32>(y)?.to_vec()?, expected);
    /// }
    /// assert_eq!((exe.graphs(), exe.counters().updates), (1, 2));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn number(&self, name: &str, bounds: RangeInclusive<usize>) -> Result<Dim> {
        self.state().symbol(name, bounds, true)
    }

    /// An input, by name and class.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a name that is empty or taken, a frozen or
    /// static input whose shape has symbols, a shape that is too large, and dimensions that plans cannot express.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::{F16, I32};
    /// use racl::plan::{Input, OnMove, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let table = g.input("table", [1000, 64], F16, Input::Frozen)?;
    ///     let ids = g.input("ids", [8], I32, Input::Host)?;
    ///     let bias = g.input("bias", [8, 64], F16, Input::Tracked(OnMove::Recapture))?;
    ///     let rows = g.embedding(table, ids)?;
    ///     let y = g.add(rows, bias)?;
    ///     g.output("y", y)
    /// })?;
    /// assert!(!plan.is_dynamic());
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn input(&self, name: &str, dims: impl IntoDims, dtype: DataType, class: Input) -> Result<Value> {
        let dims = dims.into_dims();
        self.state().input(name, dims, dtype, class)
    }

    /// Numbers that are part of the plan itself.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) when `data` does not fill the shape, and for one
    /// with symbols.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [3], F32, Input::Copied)?;
    ///     let weights = g.constant(&[0.5_f32, 2.0, 1.0], [3])?;
    ///     let y = g.mul(x, weights)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0], [3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [0.5, 4.0, 3.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn constant<T: Element>(&self, data: &[T], dims: impl IntoDims) -> Result<Value> {
        let dims = dims.into_dims();
        self.state().constant(bytemuck::cast_slice(data), dims, T::TYPE)
    }

    /// As [`Builder::constant`], of elements whose type is known when the program runs.
    ///
    /// # Errors
    ///
    /// As [`Builder::constant`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::Plan;
    ///
    /// Plan::build(|g| {
    ///     let ones = g.constant_bytes(&1.0_f32.to_ne_bytes().repeat(4), [4], F32)?;
    ///     g.output("ones", ones)
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn constant_bytes(&self, data: &[u8], dims: impl IntoDims, dtype: DataType) -> Result<Value> {
        let dims = dims.into_dims();
        self.state().constant(data, dims, dtype)
    }

    /// Memory of the plan with undefined content, for an operator to write.
    ///
    /// # Errors
    ///
    /// As [`Builder::input`], for the shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{DataType::F32, aclnn};
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.empty([4], F32)?;
    ///     for (half, root) in [(0..2, false), (2..4, true)] {
    ///         let part = g.narrow(y, 0, half)?;
    ///         if root { aclnn::sqrt(g, &x, &mut { part })? } else { aclnn::abs(g, &x, &mut { part })? }
    ///     }
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0, 1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn empty(&self, dims: impl IntoDims, dtype: DataType) -> Result<Value> {
        let dims = dims.into_dims();
        self.state().empty(dims, dtype)
    }

    /// Makes `value` an output, by name. An input, a constant and a value that is an output already is copied.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a name that is empty or taken, for a value of
    /// another plan, and for an [updatable](Input::Updatable) input, which needs an operator to copy it.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output("y", y)?; // the memory of y, no copy
    ///     g.output("x", x)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn output(&self, name: &str, value: Value) -> Result<()> {
        self.state().output(name, value)
    }

    /// As [`Builder::output`]; each run also brings the output to host memory of the executable, with what it has at
    /// this point of the plan. There it can be read until the next run, or for longer with
    /// [`RunOptions::host_output_buffers`](crate::plan::RunOptions::host_output_buffers).
    ///
    /// # Errors
    ///
    /// As [`Builder::output`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let mut bind = exe.bindings();
    /// exe.run(&stream, bind.host(exe.input("x")?, &[1.0_f32, 4.0], [2]))?; // up, sqrt, and down again
    /// assert_eq!(exe.host_output::<f32>(exe.output_id("y")?)?, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn output_to_host(&self, name: &str, value: Value) -> Result<()> {
        self.state().output_to_host(name, value)
    }
}
