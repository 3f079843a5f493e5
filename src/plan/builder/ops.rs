//! Operators of fixed types in a plan, as the functions of the same names in [`racl::op`](crate::op) have them.

use std::panic::Location;

use crate::error::Result;
use crate::op::{CubeMath, DataType, GeluForm, Scalar, aclnn};
use crate::plan::recipe::operator::Number;
use crate::plan::symbols::dim::IntoDims;

use super::state::{At, Types};
use super::{Builder, Inferred, Value};

impl Builder {
    /// Copies the bytes of `from` to `to`, which are dense and of one size; [`aclnn::inplace_copy`]
    /// takes any views.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for values with gaps, of different sizes, that
    /// overlap, or of another plan, for a copy into a constant, for an [updatable](crate::plan::Input::Updatable)
    /// input, and for views with symbols that differ in type or shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.empty([2], F32)?;
    ///     g.copy(x, y)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyAsync")]
    #[track_caller]
    pub fn copy(&self, from: Value, to: Value) -> Result<()> {
        self.state().copy(from, to)
    }

    /// Sets every byte of `value`, which is dense.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value with gaps or of another plan, for a
    /// constant, and for an [updatable](crate::plan::Input::Updatable) input.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], I32, Input::Copied)?;
    ///     let y = g.empty([2], I32)?;
    ///     g.fill_bytes(y, 0xff)?;
    ///     let sum = g.add(y, x)?;
    ///     g.output("y", sum)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1_i32, 4], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<i32>("y")?, [0, 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemsetAsync")]
    #[track_caller]
    pub fn fill_bytes(&self, value: Value, byte: u8) -> Result<()> {
        self.state().fill_bytes(value, byte)
    }

    /// A new value whose elements are all `number`, which is rounded to one of the type, as `torch.full` does: -0.0
    /// keeps its sign, infinities and NaN are what they are. Integer types take integers only.
    ///
    /// # Errors
    ///
    /// As [`Builder::empty`]; also for a number that the type cannot hold, such as 300 in [`DataType::U8`], 0.5 in
    /// [`DataType::I32`], and 1e10 in [`DataType::F16`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], I32, Input::Copied)?;
    ///     assert!(g.full([2], I32, 0.5).is_err());
    ///     let five = g.full([2], I32, 5)?;
    ///     let y = g.add(x, five)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1_i32, 4], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<i32>("y")?, [6, 9]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn full(&self, dims: impl IntoDims, dtype: DataType, number: impl Into<Number>) -> Result<Value> {
        let (dims, number, at) = (dims.into_dims(), number.into(), Location::caller());
        let scalar = self.state().number_to_fill(number, dtype, at)?;
        let mut filled = self.state().empty(dims, dtype)?;
        aclnn::inplace_fill_scalar(self, &mut filled, scalar)?;
        Ok(filled)
    }

    /// [`op::permute`](crate::op::permute): dimension `i` of the result is dimension `order[i]` of `a`.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [1, 2, 3], F32, Input::Copied)?;
    ///     let y = g.permute(x, &[2, 0, 1])?; // [3, 1, 2]
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn permute(&self, a: Value, order: &[usize]) -> Result<Value> {
        // A dimension that is larger than every integer is one that the value does not have.
        let order: Vec<i64> = order.iter().map(|dim| i64::try_from(*dim).unwrap_or(i64::MAX)).collect();
        let mut y = Inferred::new();
        aclnn::permute(self, &a, &order, &mut y)?;
        y.value()
    }

    /// [`op::softmax`](crate::op::softmax) over dimension `dim`, negative ones counted from the end.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 2], F32, Input::Copied)?;
    ///     let y = g.softmax(x, -1)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 1.0, 7.0, 7.0], [2, 2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [0.5; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn softmax(&self, a: Value, dim: i64) -> Result<Value> {
        let (_, mut y) = (self.typed("softmax", Types::Floats, &[a], Location::caller())?, Inferred::new());
        aclnn::softmax(self, &a, dim, &mut y)?;
        y.value()
    }

    /// [`op::reduce_sum`](crate::op::reduce_sum) over `dims`, all of them when there is none.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 3], F32, Input::Copied)?;
    ///     let y = g.reduce_sum(x, &[1], false)?; // [2]; [2, 1] with `true`
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [6.0, 15.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_sum(&self, a: Value, dims: &[i64], keep: bool) -> Result<Value> {
        let (typed, mut y) = (self.typed("reduce_sum", Types::Floats, &[a], Location::caller())?, Inferred::new());
        aclnn::reduce_sum(self, &a, dims, keep, typed.dtype, &mut y)?;
        y.value()
    }

    /// [`op::mean`](crate::op::mean) over `dims`, all of them when there is none.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 3], F32, Input::Copied)?;
    ///     let y = g.mean(x, &[0], false)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.5, 3.5, 4.5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn mean(&self, a: Value, dims: &[i64], keep: bool) -> Result<Value> {
        let (typed, mut y) = (self.typed("mean", Types::Floats, &[a], Location::caller())?, Inferred::new());
        aclnn::mean(self, &a, dims, keep, typed.dtype, &mut y)?;
        y.value()
    }

    /// [`op::layer_norm`](crate::op::layer_norm) over the dimensions at the end of `a` that `weight` and `bias` have.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let (weight, bias) = (g.full([2], F32, 2.0)?, g.full([2], F32, 0.5)?);
    ///     let y = g.layer_norm(x, weight, bias, 0.0)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[3.0_f32, 5.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [-1.5, 2.5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn layer_norm(&self, a: Value, weight: Value, bias: Value, eps: f64) -> Result<Value> {
        self.typed("layer_norm", Types::Floats, &[a, weight, bias], Location::caller())?;
        let (dims, mut y) = (self.dims(weight)?, Inferred::new());
        let fixed: Option<Vec<i64>> = dims.iter().map(|dim| dim.as_fixed().map(|size| size as i64)).collect();
        let (weight, bias) = (Some(&weight as _), Some(&bias as _));
        match fixed {
            Some(sizes) => aclnn::layer_norm(self, &a, &sizes, weight, bias, eps, &mut y, None, None)?,
            None => {
                let telling = self.telling("normalized_shape", dims);
                aclnn::layer_norm(&telling, &a, &[], weight, bias, eps, &mut y, None, None)?;
            }
        }
        y.value()
    }

    /// That operands are of one type that an operator takes.
    fn typed(&self, name: &'static str, types: Types, operands: &[Value], at: At) -> Result<Typed<'_>> {
        let dtype = self.state().typed(name, types, operands, at)?;
        Ok(Typed { builder: self, name, dtype, at })
    }
}

/// The type that an operator computes in.
struct Typed<'g> {
    builder: &'g Builder,
    name: &'static str,
    dtype: DataType,
    at: At,
}

impl Typed<'_> {
    /// A number of this type.
    fn of(&self, number: impl Into<Number>) -> Result<Scalar> {
        self.builder.state().number_of(self.name, number.into(), self.dtype, self.at)
    }

    fn one(&self) -> Result<Scalar> {
        self.of(1)
    }
}

/// `name(operands; attribute): Types = |builder, type of the operands, result| call;`
macro_rules! fixed {
    ($(
        $(#[$meta:meta])*
        $name:ident($($p:ident),+ $(; $attribute:ident: $kind:ty)?): $types:ident =
            |$g:ident, $typed:ident, $y:ident| $call:expr;
    )*) => {
        impl Builder {$(
            #[doc = concat!("[`op::", stringify!($name), "`](crate::op::", stringify!($name), "()); gives the result.")]
            $(#[$meta])*
            #[track_caller]
            pub fn $name(&self, $($p: Value,)+ $($attribute: $kind)?) -> Result<Value> {
                let $typed = self.typed(stringify!($name), Types::$types, &[$($p),+], Location::caller())?;
                let ($g, mut $y) = (self, Inferred::new());
                $call?;
                $y.value()
            }
        )*}
    };
}

fixed! {
    /// [`Builder`] has an example.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for operands that do not fit the operator, or of
    /// another plan.
    add(a, b): Numbers = |g, t, y| aclnn::add(g, &a, &b, t.one()?, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    add_scaled(a, b; alpha: impl Into<Number>): Numbers = |g, t, y| aclnn::add(g, &a, &b, t.of(alpha)?, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    sub(a, b): Numbers = |g, t, y| aclnn::sub(g, &a, &b, t.one()?, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    mul(a, b): Numbers = |g, _t, y| aclnn::mul(g, &a, &b, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    div(a, b): Floats = |g, _t, y| aclnn::div(g, &a, &b, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    maximum(a, b): Numbers = |g, _t, y| aclnn::maximum(g, &a, &b, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    adds(a; value: impl Into<Number>): Numbers = |g, t, y| aclnn::adds(g, &a, t.of(value)?, t.one()?, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    muls(a; value: impl Into<Number>): Numbers = |g, t, y| aclnn::muls(g, &a, t.of(value)?, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    divs(a; value: impl Into<Number>): Floats = |g, t, y| aclnn::divs(g, &a, t.of(value)?, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    clamp_min(a; least: impl Into<Number>): Numbers = |g, t, y| aclnn::clamp_min(g, &a, t.of(least)?, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    abs(a): Numbers = |g, _t, y| aclnn::abs(g, &a, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    sqrt(a): Floats = |g, _t, y| aclnn::sqrt(g, &a, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    rsqrt(a): Floats = |g, _t, y| aclnn::rsqrt(g, &a, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    tanh(a): Floats = |g, _t, y| aclnn::tanh(g, &a, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    gelu(a; form: GeluForm): Floats = |g, _t, y| aclnn::gelu_v2(g, &a, form.raw(), &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    cast(a; to: DataType): Any = |g, _t, y| aclnn::cast(g, &a, to, &mut y);
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    matmul(a, b): Floats = |g, _t, y| aclnn::matmul(g, &a, &b, &mut y, CubeMath::default().raw());
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    matmul_with(a, b; math: CubeMath): Floats = |g, _t, y| aclnn::matmul(g, &a, &b, &mut y, math.raw());
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    mm(a, b): Floats = |g, _t, y| aclnn::mm(g, &a, &b, &mut y, CubeMath::default().raw());
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    batch_matmul(a, b): Floats = |g, _t, y| aclnn::batch_mat_mul(g, &a, &b, &mut y, CubeMath::default().raw());
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    addmm(bias, a, b): Floats = |g, t, y| {
        aclnn::addmm(g, &bias, &a, &b, t.one()?, t.one()?, &mut y, CubeMath::default().raw())
    };
}

impl Builder {
    /// [`op::embedding`](crate::op::embedding()); gives the result.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    #[track_caller]
    pub fn embedding(&self, table: Value, indices: Value) -> Result<Value> {
        let mut y = Inferred::new();
        aclnn::embedding(self, &table, &indices, &mut y)?;
        y.value()
    }
}
