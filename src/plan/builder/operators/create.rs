//! Operators that make elements.

use crate::error::Result;
use crate::op::{DataType, Scalar, aclnn};
use crate::plan::builder::{Builder, Value};

use super::operators;

operators! {
    ///
    /// The type is that of the numbers.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [3], F32, Input::Copied)?;
    ///     let y = g.add(x, g.arange(0.0_f32, 3.0_f32, 1.0_f32)?)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = device.upload_tensor(&[10.0_f32; 3], [3])?;
    /// let mut bind = exe.bindings();
    /// exe.run(&device.stream()?, bind.set(exe.input("x")?, &x))?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [10.0, 11.0, 12.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    arange(start: impl Into<Scalar>, end: impl Into<Scalar>, step: impl Into<Scalar>) => |g, y| {
        aclnn::arange(g, start, end, step, &mut y)
    };
    ///
    /// The type is that of the numbers; f32 for integers.
    linspace(start: impl Into<Scalar>, end: impl Into<Scalar>, steps: i64) => |g, y| {
        aclnn::linspace(g, start, end, steps, &mut y)
    };
    one_hot(a: Value, classes: i32, on: Value, off: Value) => |g, y| {
        aclnn::one_hot(g, &a, classes, &on, &off, -1, &mut y)
    };
}

impl Builder {
    /// [`op::eye`](crate::op::eye()) of a type; gives the result.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`] and [`Builder::empty`].
    #[track_caller]
    pub fn eye(&self, rows: usize, columns: usize, dtype: DataType) -> Result<Value> {
        let mut y = self.empty([rows, columns], dtype)?;
        aclnn::eye(self, rows as i64, columns as i64, &mut y)?;
        Ok(y)
    }
}
