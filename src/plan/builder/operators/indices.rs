//! Operators that read or write where indices say.

use crate::error::Result;
use crate::op::{Reduce, Scalar, aclnn};
use crate::plan::builder::{Builder, Value};

use super::layout::list;
use super::operators;

operators! {
    gather(a: Value, dim: i64, index: Value) => |g, y| aclnn::gather(g, &a, dim, &index, &mut y);
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [3, 2], F32, Input::Copied)?;
    ///     let rows = g.constant(&[2_i64, 0], [2])?;
    ///     let y = g.index_select(x, 0, rows)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])?;
    /// let mut bind = exe.bindings();
    /// exe.run(&device.stream()?, bind.set(exe.input("x")?, &x))?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [5.0, 6.0, 1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    index_select(a: Value, dim: i64, index: Value) => |g, y| aclnn::index_select(g, &a, dim, &index, &mut y);
}

operators! {
    index_copy(a: Value, dim: i64, index: Value, source: Value) => |g| {
        aclnn::inplace_index_copy(g, &mut { a }, dim, &index, &source)
    };
    index_fill(a: Value, dim: i64, index: &[i64], value: impl Into<Scalar>) => |g| {
        aclnn::inplace_index_fill_tensor(g, &mut { a }, dim, index, value)
    };
    scatter(a: Value, dim: i64, index: Value, source: Value, reduce: Reduce) => |g| {
        aclnn::inplace_scatter(g, &mut { a }, dim, &index, &source, reduce.raw())
    };
    index_put(a: Value, indices: &[Value], values: Value, accumulate: bool) => |g| {
        aclnn::index_put_impl(g, &mut { a }, &list(indices), &values, accumulate, false)
    };
}
