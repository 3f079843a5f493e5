//! Operators that give elements another place.

use crate::error::Result;
use crate::op::{Operand, Scalar, aclnn};
use crate::plan::builder::{Builder, Inferred, Value};

use super::found::elements;
use super::operators;

/// Values as operands of a list.
pub(super) fn list(values: &[Value]) -> Vec<&dyn Operand> {
    values.iter().map(|value| value as &dyn Operand).collect()
}

operators! {
    slice(a: Value, dim: i64, start: i64, end: i64, step: i64) => |g, y| {
        aclnn::slice(g, &a, dim, start, end, step, &mut y)
    };
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let past = g.symbol("past", 1..=64)?;
    ///     let cache = g.input("cache", [past, 2.into()], F32, Input::Copied)?;
    ///     let row = g.input("row", [1, 2], F32, Input::Copied)?;
    ///     let keys = g.cat(&[cache, row], 0)?; // [past + 1, 2]
    ///     let parts = g.split(keys, &[1, 1], 1)?;
    ///     g.output("left", parts[0])
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let cache = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let row = device.upload_tensor(&[5.0_f32, 6.0], [1, 2])?;
    /// let mut bind = exe.bindings();
    /// bind.set(exe.input("cache")?, &cache).set(exe.input("row")?, &row);
    /// exe.run(&device.stream()?, &mut bind)?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("left")?)?.to_vec()?, [1.0, 3.0, 5.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    cat(parts: &[Value], dim: i64) => |g, y| aclnn::cat(g, &list(parts), dim, &mut y);
    stack(parts: &[Value], dim: i64) => |g, y| aclnn::stack(g, &list(parts), dim, &mut y);
    repeat(a: Value, repeats: &[i64]) => |g, y| aclnn::repeat(g, &a, repeats, &mut y);
    expand(a: Value, shape: &[i64]) => |g, y| aclnn::expand(g, &a, shape, &mut y);
    flip(a: Value, dims: &[i64]) => |g, y| aclnn::flip(g, &a, dims, &mut y);
    roll(a: Value, shifts: &[i64], dims: &[i64]) => |g, y| aclnn::roll(g, &a, shifts, dims, &mut y);
    pad(a: Value, borders: &[i64], value: impl Into<Scalar>) => |g, y| {
        aclnn::constant_pad_nd(g, &a, borders, value, &mut y)
    };
    tril(a: Value, diagonal: i64) => |g, y| aclnn::tril(g, &a, diagonal, &mut y);
    triu(a: Value, diagonal: i64) => |g, y| aclnn::triu(g, &a, diagonal, &mut y);
    reflection_pad1d(a: Value, borders: [i64; 2]) => |g, y| aclnn::reflection_pad1d(g, &a, &borders, &mut y);
    reflection_pad2d(a: Value, borders: [i64; 4]) => |g, y| aclnn::reflection_pad2d(g, &a, &borders, &mut y);
    ///
    /// Plans have to be able to express the number of elements of the result.
    repeat_interleave(a: Value, repeats: i64) => |g, y| {
        // The operator refuses to repeat less than nothing.
        let size = elements(&g.dims(a)?) * usize::try_from(repeats).unwrap_or(0);
        let (on, [size]) = g.sizes_told([("output_size", size)]);
        aclnn::repeat_interleave_int(&on, &a, repeats, size, &mut y)
    };
}

impl Builder {
    /// [`op::split`](crate::op::split()); gives the parts. [`Builder::narrow`] gives a part as a view, without a copy.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    #[track_caller]
    pub fn split(&self, a: Value, sizes: &[i64], dim: i64) -> Result<Vec<Value>> {
        let mut parts: Vec<Inferred> = sizes.iter().map(|_| Inferred::new()).collect();
        let mut results: Vec<&mut dyn Operand> = parts.iter_mut().map(|part| part as &mut dyn Operand).collect();
        aclnn::split_with_size(self, &a, sizes, dim, &mut results)?;
        parts.iter().map(Inferred::value).collect()
    }
}
