//! Products of matrices and vectors.

use crate::error::Result;
use crate::op::{CubeMath, aclnn};
use crate::plan::builder::{Builder, Value};

use super::{operators, pairs};

operators! {
    mv(a: Value, x: Value) => |g, y| aclnn::mv(g, &a, &x, &mut y, CubeMath::KeepType.raw());
    dot(a: Value, b: Value) => |g, y| aclnn::dot(g, &a, &b, &mut y);
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let [a, b] = [g.input("a", [1, 1, 2], F32, Input::Copied)?, g.full([1, 2, 1], F32, 1.0)?];
    ///     let bias = g.full([1], F32, 0.5)?;
    ///     let y = g.baddbmm(bias, a, b, 2.0, 10.0)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let a = device.upload_tensor(&[3.0_f32, 4.0], [1, 1, 2])?;
    /// let mut bind = exe.bindings();
    /// exe.run(&device.stream()?, bind.set(exe.input("a")?, &a))?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [71.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    baddbmm(bias: Value, a: Value, b: Value, beta: f32, alpha: f32) => |g, y| {
        aclnn::baddbmm(g, &bias, &a, &b, beta, alpha, &mut y, CubeMath::KeepType.raw())
    };
    weight_quant_matmul(a: Value, weight: Value, scale: Value, group: i32) => |g, y| {
        aclnn::weight_quant_batch_matmul_v2(g, &a, &weight, &scale, None, None, None, None, group, &mut y)
    };
}

pairs! {
    triangular_solve(a: Value, b: Value, upper: bool, transpose: bool, unit: bool) => |g, y, z| {
        aclnn::triangular_solve(g, &b, &a, upper, transpose, unit, &mut y, &mut z)
    };
}
