//! Operators that fold dimensions, order them, or look for something along them.

use crate::error::Result;
use crate::op::aclnn;
use crate::plan::builder::{Builder, Value};

use super::{operators, pairs};

operators! {
    amax(a: Value, dims: &[i64], keep_dims: bool) => |g, y| aclnn::amax(g, &a, dims, keep_dims, &mut y);
    amin(a: Value, dims: &[i64], keep_dims: bool) => |g, y| aclnn::amin(g, &a, dims, keep_dims, &mut y);
    all(a: Value, dims: &[i64], keep_dims: bool) => |g, y| aclnn::all(g, &a, dims, keep_dims, &mut y);
    any(a: Value, dims: &[i64], keep_dims: bool) => |g, y| aclnn::any(g, &a, dims, keep_dims, &mut y);
    prod(a: Value, dim: i64, keep_dim: bool) => |g, y| {
        aclnn::prod_dim(g, &a, dim, keep_dim, g.dtype(a)?, &mut y)
    };
    norm(a: Value, p: f32, dims: &[i64], keep_dims: bool) => |g, y| aclnn::norm(g, &a, p, dims, keep_dims, &mut y);
    ///
    /// The places are i64.
    argmax(a: Value, dim: i64, keep_dim: bool) => |g, y| aclnn::arg_max(g, &a, dim, keep_dim, &mut y);
    ///
    /// The places are i64.
    argmin(a: Value, dim: i64, keep_dim: bool) => |g, y| aclnn::arg_min(g, &a, dim, keep_dim, &mut y);
    argsort(a: Value, dim: i64, descending: bool) => |g, y| aclnn::argsort(g, &a, dim, descending, &mut y);
    cumsum(a: Value, dim: i64) => |g, y| aclnn::cumsum(g, &a, dim, g.dtype(a)?, &mut y);
}

pairs! {
    ///
    /// The places are i64.
    max_dim(a: Value, dim: i64, keep_dim: bool) => |g, y, z| {
        aclnn::max_dim(g, &a, dim, keep_dim, &mut y, &mut z)
    };
    ///
    /// The places are i64.
    min_dim(a: Value, dim: i64, keep_dim: bool) => |g, y, z| {
        aclnn::min_dim(g, &a, dim, keep_dim, &mut y, &mut z)
    };
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let logits = g.input("logits", [1, 4], F32, Input::Copied)?;
    ///     let (best, tokens) = g.topk(logits, 2, -1, true)?; // [1, 2] each
    ///     let (_, order) = g.sort(best, -1, false)?;
    ///     g.output("tokens", tokens)?;
    ///     g.output("order", order)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let logits = device.upload_tensor(&[1.0_f32, 4.0, 2.0, 3.0], [1, 4])?;
    /// let mut bind = exe.bindings();
    /// exe.run(&device.stream()?, bind.set(exe.input("logits")?, &logits))?;
    /// assert_eq!(exe.output::<i64>(exe.output_id("tokens")?)?.to_vec()?, [1, 3]);
    /// assert_eq!(exe.output::<i64>(exe.output_id("order")?)?.to_vec()?, [1, 0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    sort(a: Value, dim: i64, descending: bool) => |g, y, z| {
        aclnn::sort(g, &a, true, dim, descending, &mut y, &mut z)
    };
    topk(a: Value, k: i64, dim: i64, largest: bool) => |g, y, z| {
        aclnn::topk(g, &a, k, dim, largest, true, &mut y, &mut z)
    };
}
