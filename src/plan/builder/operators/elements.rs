//! Operators that work element by element.

use crate::error::Result;
use crate::op::{Scalar, aclnn};
use crate::plan::builder::{Builder, Value};

use super::operators;

operators! {
    neg(a: Value) => |g, y| aclnn::neg(g, &a, &mut y);
    exp(a: Value) => |g, y| aclnn::exp(g, &a, &mut y);
    log(a: Value) => |g, y| aclnn::log(g, &a, &mut y);
    sin(a: Value) => |g, y| aclnn::sin(g, &a, &mut y);
    cos(a: Value) => |g, y| aclnn::cos(g, &a, &mut y);
    sign(a: Value) => |g, y| aclnn::sign(g, &a, &mut y);
    floor(a: Value) => |g, y| aclnn::floor(g, &a, &mut y);
    ceil(a: Value) => |g, y| aclnn::ceil(g, &a, &mut y);
    round(a: Value) => |g, y| aclnn::round(g, &a, &mut y);
    reciprocal(a: Value) => |g, y| aclnn::reciprocal(g, &a, &mut y);
    relu(a: Value) => |g, y| aclnn::relu(g, &a, &mut y);
    sigmoid(a: Value) => |g, y| aclnn::sigmoid(g, &a, &mut y);
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let rows = g.symbol("rows", 1..=8)?;
    ///     let x = g.input("x", [rows, 2.into()], F32, Input::Copied)?;
    ///     let gate = g.greater_than(x, 0.0_f32)?; // truth values, [rows, 2]
    ///     let y = g.select(gate, x, g.silu(x)?)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = device.upload_tensor(&[3.0_f32, 0.0], [1, 2])?;
    /// let mut bind = exe.bindings();
    /// exe.run(&device.stream()?, bind.set(exe.input("x")?, &x))?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [3.0, 0.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    silu(a: Value) => |g, y| aclnn::silu(g, &a, &mut y);
    hard_swish(a: Value) => |g, y| aclnn::hardswish(g, &a, &mut y);
    hard_sigmoid(a: Value) => |g, y| aclnn::hardsigmoid(g, &a, &mut y);
    elu(a: Value, alpha: f32) => |g, y| aclnn::elu(g, &a, alpha, 1.0_f32, 1.0_f32, &mut y);
    leaky_relu(a: Value, slope: f32) => |g, y| aclnn::leaky_relu(g, &a, slope, &mut y);
    softplus(a: Value, beta: f32, threshold: f32) => |g, y| aclnn::softplus(g, &a, beta, threshold, &mut y);
    pow(a: Value, exponent: Value) => |g, y| aclnn::pow_tensor_tensor(g, &a, &exponent, &mut y);
    pows(a: Value, exponent: f32) => |g, y| aclnn::pow_tensor_scalar(g, &a, exponent, &mut y);
    clamp(a: Value, least: impl Into<Scalar>, most: impl Into<Scalar>) => |g, y| {
        aclnn::clamp(g, &a, Some(least.into()), Some(most.into()), &mut y)
    };
    minimum(a: Value, b: Value) => |g, y| aclnn::minimum(g, &a, &b, &mut y);
}

operators! {
    equal(a: Value, b: Value) => |g, y| aclnn::eq_tensor(g, &a, &b, &mut y);
    not_equal(a: Value, b: Value) => |g, y| aclnn::ne_tensor(g, &a, &b, &mut y);
    less(a: Value, b: Value) => |g, y| aclnn::lt_tensor(g, &a, &b, &mut y);
    less_equal(a: Value, b: Value) => |g, y| aclnn::le_tensor(g, &a, &b, &mut y);
    greater(a: Value, b: Value) => |g, y| aclnn::gt_tensor(g, &a, &b, &mut y);
    greater_equal(a: Value, b: Value) => |g, y| aclnn::ge_tensor(g, &a, &b, &mut y);
    equal_to(a: Value, value: impl Into<Scalar>) => |g, y| aclnn::eq_scalar(g, &a, value, &mut y);
    not_equal_to(a: Value, value: impl Into<Scalar>) => |g, y| aclnn::ne_scalar(g, &a, value, &mut y);
    less_than(a: Value, value: impl Into<Scalar>) => |g, y| aclnn::lt_scalar(g, &a, value, &mut y);
    at_most(a: Value, value: impl Into<Scalar>) => |g, y| aclnn::le_scalar(g, &a, value, &mut y);
    greater_than(a: Value, value: impl Into<Scalar>) => |g, y| aclnn::gt_scalar(g, &a, value, &mut y);
    at_least(a: Value, value: impl Into<Scalar>) => |g, y| aclnn::ge_scalar(g, &a, value, &mut y);
    logical_and(a: Value, b: Value) => |g, y| aclnn::logical_and(g, &a, &b, &mut y);
    logical_or(a: Value, b: Value) => |g, y| aclnn::logical_or(g, &a, &b, &mut y);
    logical_xor(a: Value, b: Value) => |g, y| aclnn::logical_xor(g, &a, &b, &mut y);
    logical_not(a: Value) => |g, y| aclnn::logical_not(g, &a, &mut y);
    select(condition: Value, a: Value, b: Value) => |g, y| aclnn::s_where(g, &condition, &a, &b, &mut y);
}

operators! {
    masked_fill(a: Value, mask: Value, value: impl Into<Scalar>) => |g| {
        aclnn::inplace_masked_fill_scalar(g, &mut { a }, &mask, value)
    };
    add_inplace(a: Value, b: Value) => |g| aclnn::inplace_add(g, &mut { a }, &b, 1_i64);
    sub_inplace(a: Value, b: Value) => |g| aclnn::inplace_sub(g, &mut { a }, &b, 1_i64);
    mul_inplace(a: Value, b: Value) => |g| aclnn::inplace_mul(g, &mut { a }, &b);
    div_inplace(a: Value, b: Value) => |g| aclnn::inplace_div(g, &mut { a }, &b);
    adds_inplace(a: Value, value: impl Into<Scalar>) => |g| aclnn::inplace_adds(g, &mut { a }, value, 1_i64);
    muls_inplace(a: Value, value: impl Into<Scalar>) => |g| aclnn::inplace_muls(g, &mut { a }, value);
    zero(a: Value) => |g| aclnn::inplace_zero(g, &mut { a });
    fill(a: Value, value: impl Into<Scalar>) => |g| aclnn::inplace_fill_scalar(g, &mut { a }, value);
}
